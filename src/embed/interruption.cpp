#include "src/embed/interruption.h"

#include <array>
#include <cstdio>
#include <string_view>
#include <thread>

#include "bindings/session/traceback.h"
#include "src/runtime/context.h"

namespace gpulua::embed {
namespace {

char interruption_key;

}  // namespace

const char* reason_text(Interruption::Reason reason) {
  return reason == Interruption::Reason::deadline ? "the call's deadline has passed"
                                                  : "interrupted by the host program";
}

std::string with_reason(std::string text, Interruption::Reason reason, double deadline_ms) {
  constexpr std::string_view mark = "] interrupted";
  const std::string_view why = reason_text(reason);
  const std::size_t end = text.find(mark), begin = end == text.npos ? end : text.rfind('[', end);
  if (begin != text.npos) text.replace(begin, end + mark.size() - begin, why);
  const std::size_t at = reason == Interruption::Reason::deadline ? text.find(why) : text.npos;
  if (at == text.npos) return text;
  std::array<char, 64> passed;
  std::snprintf(passed.data(), passed.size(), "the call's deadline of %g ms has passed", deadline_ms);
  return text.replace(at, why.size(), passed.data());
}

Interruption::Interruption(lua_State* L, Context& context) : L_(L), context_(context) {
  lua_pushlightuserdata(L, &interruption_key);
  lua_pushlightuserdata(L, this);
  lua_rawset(L, LUA_REGISTRYINDEX);
}

void Interruption::look() noexcept {
  if (looks_.load(std::memory_order_relaxed)) return;
  previous_ = {lua_gethook(L_), lua_gethookmask(L_), lua_gethookcount(L_)};
  lua_sethook(L_, &on_hook, LUA_MASKCOUNT, instructions_between_looks);
  looks_.store(true, std::memory_order_relaxed);
}

void Interruption::go_on() noexcept {
  auto word = word_.load(std::memory_order_acquire);
  while (static_cast<Reason>(word & reason_mask) == Reason::deadline)
    if (word_.compare_exchange_weak(word, word & ~reason_mask, std::memory_order_acq_rel)) {
      while (raising_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
      context_.interrupted() = false;
      lua_sethook(L_, &on_hook, LUA_MASKCOUNT, instructions_between_looks);
      return;
    }
}

std::uint64_t Interruption::begin(bool looks) noexcept {
  looks_.store(false, std::memory_order_relaxed);
  if (looks) look();
  const std::uint64_t generation = word_.load(std::memory_order_relaxed) / one_generation + 1;
  word_.store(generation * one_generation | running, std::memory_order_release);
  return generation;
}

Interruption::Reason Interruption::end() noexcept {
  const std::uint64_t word = word_.fetch_and(~(running | reason_mask), std::memory_order_acq_rel);
  const auto reason = static_cast<Reason>(word & reason_mask);
  while (raising_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  const bool looks = looks_.exchange(false, std::memory_order_relaxed);
  if (looks)
    lua_sethook(L_, previous_.function, previous_.mask, previous_.count);
  else if (reason != Reason::none)
    lua_sethook(L_, nullptr, 0, 0);
  if (reason != Reason::none) context_.interrupted() = false;
  return reason;
}

bool Interruption::raise(Reason reason) noexcept {
  const std::uint64_t word = word_.load(std::memory_order_acquire);
  return raise(word / one_generation, reason, (word & reason_mask) != 0);
}

bool Interruption::raise(std::uint64_t generation, Reason reason, bool force) noexcept {
  raising_.fetch_add(1, std::memory_order_acq_rel);
  std::uint64_t word = generation * one_generation | running;
  const bool first =
      word_.compare_exchange_strong(word, word | static_cast<std::uint64_t>(reason), std::memory_order_acq_rel);
  const bool runs = first || (word / one_generation == generation && (word & running) != 0);
  if (runs) {
    context_.interrupt();
    // lua_sethook may be called from anywhere while the state lives. But it reads and writes the word in which LuaJIT
    // notes that a hook or a finalizer runs: where that ends in between, LuaJIT calls no hook any more. So the call's
    // own hook is to find the reason, and this comes when that could not.
    if (force || !looks_.load(std::memory_order_relaxed)) lua_sethook(L_, &on_hook, LUA_MASKCOUNT, 1);
  }
  raising_.fetch_sub(1, std::memory_order_acq_rel);
  return runs;
}

void Interruption::on_hook(lua_State* L, lua_Debug*) {
  lua_pushlightuserdata(L, &interruption_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  const auto& self = *static_cast<const Interruption*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (self.reason() == Reason::none) return;
  lua_sethook(L, &on_hook, LUA_MASKCOUNT, 1);
  push_running_line(L);
  lua_pushstring(L, reason_text(self.reason()));
  lua_concat(L, 2);
  lua_error(L);
}

}  // namespace gpulua::embed

// Compiled code is made of traces. LuaJIT tells where each lies (jit.attach and jit.util, as its own jit.dump uses
// them). Machine code runs round in two ways: from the end of a trace to its loop's start, and from the end of a trace
// to the beginning of a root trace. So there are breakpoints at both. Exit 0 of such a trace restores nothing: the
// interpreter goes on where the trace begins, with the variables as they were when the loop was entered. (A side trace
// has a loop of its own only where it begins at an exit 0.)

#include "src/cli/compiled_loops.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace gpulua {
namespace {

constexpr std::uint8_t breakpoint = 0xCC;

/// No Ctrl-C finds the places while they change.
class Undisturbed {
 public:
  Undisturbed() {
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before_);
  }
  ~Undisturbed() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_;
};

/// Where the code of a trace goes on when it has noted which trace runs, `mov dword [r14+disp32], trace`: the exit
/// reads that. 0 when there is no such instruction at its beginning.
std::size_t behind_entry(std::string_view code, std::uint32_t trace) {
  constexpr std::string_view store = "\x41\xC7\x86";
  constexpr std::size_t furthest = 64, displacement = 4;
  const std::size_t number = code.substr(0, furthest).find(store) + store.size() + displacement;
  if (number < store.size() + displacement || number + sizeof trace >= code.size()) return 0;
  const bool is_number = std::memcmp(&code[number], &trace, sizeof trace) == 0;
  return is_number ? number + sizeof trace : 0;
}

void put(CompiledLoops::Address address, std::uint8_t byte) {
  // LuaJIT may be writing to these pages now, or find them executable: both stays possible until it protects them next.
  const auto page = static_cast<CompiledLoops::Address>(sysconf(_SC_PAGESIZE));
  void* const start = reinterpret_cast<void*>(address & ~(page - 1));
  if (mprotect(start, page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
    *reinterpret_cast<volatile std::uint8_t*>(address) = byte;
}

}  // namespace

void CompiledLoops::watch(lua_State* L) {
#if defined(__x86_64__)
  const int top = lua_gettop(L);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "jit.util");
  lua_call(L, 1, 1);
  lua_getglobal(L, "jit");
  lua_getfield(L, -1, "attach");
  lua_pushvalue(L, -1);
  lua_pushlightuserdata(L, this);
  lua_getfield(L, top + 1, "tracemc");
  lua_getfield(L, top + 1, "traceexitstub");
  lua_pushcclosure(L, on_trace, 3);
  lua_pushliteral(L, "trace");
  lua_call(L, 2, 0);
  lua_pushlightuserdata(L, this);
  lua_insert(L, -2);
  lua_pushcclosure(L, attach, 2);
  lua_setfield(L, top + 2, "attach");
  lua_settop(L, top);
#else
  static_cast<void>(L);
#endif
}

void CompiledLoops::forget() {
  const Undisturbed undisturbed;
  places_.clear();
}

/// jit.attach, for the script: LuaJIT tells of its traces once only, to jit.dump for one.
int CompiledLoops::attach(lua_State* L) {
  const char* const event = lua_tostring(L, 2);
  if (event && std::string_view(event) == "trace")
    static_cast<CompiledLoops*>(lua_touserdata(L, lua_upvalueindex(1)))->forget();
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 0);
  return 0;
}

/// (what, trace, function, position, parent, exit)
int CompiledLoops::on_trace(lua_State* L) {
  auto& loops = *static_cast<CompiledLoops*>(lua_touserdata(L, lua_upvalueindex(1)));
  const std::string_view what = lua_tostring(L, 1);
  if (what == "start") loops.is_root_ = lua_isnoneornil(L, 5);
  if (what == "stop") loops.note(L);
  if (what == "flush") loops.forget();
  return 0;
}

void CompiledLoops::note(lua_State* L) {
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, 2);
  lua_call(L, 1, 3);
  lua_pushvalue(L, lua_upvalueindex(3));
  lua_pushinteger(L, 0);
  lua_call(L, 1, 1);
  if (lua_type(L, -4) != LUA_TSTRING || lua_type(L, -1) != LUA_TNUMBER) return;
  std::size_t size = 0;
  const char* const bytes = lua_tolstring(L, -4, &size);
  const std::string_view code(bytes, size);
  const auto begin = static_cast<Address>(lua_tonumber(L, -3));
  const auto loop = static_cast<std::size_t>(lua_tonumber(L, -2));

  const Undisturbed undisturbed;
  exit_ = static_cast<Address>(lua_tonumber(L, -1));
  const auto add = [&](std::size_t place) {
    if (place != 0 && place < size) places_.push_back({begin + place, static_cast<std::uint8_t>(code[place])});
  };
  add(loop);
  if (is_root_) add(behind_entry(code, static_cast<std::uint32_t>(lua_tonumber(L, 2))));
}

void CompiledLoops::put_all(bool breakpoints) const noexcept {
  for (const Place& place : places_) put(place.address, breakpoints ? breakpoint : place.instruction);
}

CompiledLoops::Address CompiledLoops::exit_after(Address next) const noexcept {
  const bool is_ours = std::ranges::any_of(places_, [&](const Place& place) { return place.address + 1 == next; });
  return is_ours ? exit_ : 0;
}

}  // namespace gpulua

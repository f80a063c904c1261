#include "src/device/cpu/runtime/shared_arena.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "src/device/cpu/abi/kernel_failure.h"

namespace gpulua::cpu {
namespace {

constexpr std::size_t arena_page = 4096;
constexpr std::size_t alignment = 128;
// Bytes between the memory's end and the guard. A masked vector access spans up to 512 bytes past the end, whose lanes
// are off; it would be slow if it spanned a arena_page that is not there.
constexpr std::size_t reach = 512;
// A kernel whose shared memory was counted in floats, not bytes, writes up to three times the memory past its end. A
// block has at most 227 KB.
constexpr std::size_t guard_bytes = 1 << 20;
constexpr int arena_pattern = 0xA7;

/// The arenas with guards, by where their memory ends.
struct GuardedArenas {
  std::mutex mutex;
  std::map<const char*, const SharedArena*> arenas;
};

GuardedArenas& guarded_arenas() {
  static GuardedArenas& arenas = *new GuardedArenas;  // threads may outlive this file's own
  return arenas;
}

}  // namespace

SharedArena::~SharedArena() {
  if (!memory_) return;
  GuardedArenas& guarded = guarded_arenas();
  std::lock_guard lock(guarded.mutex);
  guarded.arenas.erase(end());
}

char* SharedArena::reserve(std::size_t static_bytes, std::size_t dynamic_bytes) {
  const std::size_t bytes = static_bytes + dynamic_bytes;
  if (bytes == 0) {
    pattern_ = nullptr;
    return nullptr;
  }
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (rounded + reach > mapped_bytes_ || !memory_) {
    const std::size_t wanted = (rounded + reach + arena_page - 1) / arena_page * arena_page;
    auto memory = std::make_unique<GuardedMapping>(wanted, arena_page, guard_bytes);
    if (memory->data() == nullptr) throw std::bad_alloc();
    GuardedArenas& guarded = guarded_arenas();
    std::lock_guard lock(guarded.mutex);
    if (memory->guarded()) guarded.arenas.emplace(memory->data() + wanted, this);
    if (memory_) guarded.arenas.erase(end());
    memory_ = std::move(memory);
    mapped_bytes_ = wanted;
    intact_ = nullptr;
  }
  char* const first = end() - reach - rounded;
  pattern_ = first + bytes;
  if (intact_ != pattern_) std::memset(pattern_, arena_pattern, static_cast<std::size_t>(end() - pattern_));
  intact_ = nullptr;
  static_bytes_ = static_bytes;
  dynamic_bytes_ = dynamic_bytes;
  return first;
}

void SharedArena::check_end() {
  if (pattern_ == nullptr) return;
  const auto length = static_cast<std::size_t>(end() - pattern_);
  // All bytes are the pattern's when the first is, and each is the next one's.
  if (static_cast<unsigned char>(*pattern_) == arena_pattern && std::memcmp(pattern_, pattern_ + 1, length - 1) == 0) {
    intact_ = pattern_;
    return;
  }
  throw KernelFailure{describe(true), true};
}

std::optional<std::string> SharedArena::describe_overrun(const void* address, bool is_write) {
  GuardedArenas& guarded = guarded_arenas();
  std::lock_guard lock(guarded.mutex);
  auto next = guarded.arenas.upper_bound(static_cast<const char*>(address));
  if (next == guarded.arenas.begin()) return {};
  const auto& [end, arena] = *std::prev(next);
  if (static_cast<const char*>(address) - end >= static_cast<std::ptrdiff_t>(guard_bytes)) return {};
  return arena->describe(is_write);
}

std::string SharedArena::describe(bool is_write) const {
  std::string bytes;
  if (static_bytes_ != 0) bytes = std::to_string(static_bytes_);
  if (static_bytes_ != 0 && dynamic_bytes_ != 0) bytes += " static and ";
  if (dynamic_bytes_ != 0) bytes += std::to_string(dynamic_bytes_);
  if (static_bytes_ != 0 && dynamic_bytes_ != 0) bytes += " dynamic";
  return std::string(is_write ? "wrote" : "read") + " past its " + bytes + " bytes of shared memory" +
         (dynamic_bytes_ != 0 ? "; the option shared counts bytes" : "");
}

}  // namespace gpulua::cpu

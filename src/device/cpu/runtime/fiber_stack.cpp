#include "src/device/cpu/runtime/fiber_stack.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <new>

#include "src/device/cpu/runtime/guarded_mapping.h"
#include "src/device/cpu/runtime/sanitized_stack.h"

namespace gpulua::cpu {
namespace {

// For calls, recursion and the C library, in addition to a kernel's local variables. Untouched pages take no memory.
constexpr std::size_t call_bytes = 128 << 10;

// Linux gives a process 65530 memory mappings. Each guarded stack takes two of them: the guards between neighbours are
// one. Past this number of stacks the rest goes without guards, and neighbours share a mapping.
constexpr std::size_t most_guarded_stacks = 16'384;

// Fibers of a block touch the same depth of their stacks in turn. Were the stacks aligned alike, those lines would
// fight for the same few places of the cache; so each stack starts a bit lower than the one before.
constexpr std::size_t colour_step = 256, colours_end = 4096;
std::atomic<std::size_t> stacks_made{0};

/// The stacks with guards: where each ends, by where it starts.
struct Guarded {
  std::mutex mutex;
  std::map<const char*, const char*> ends;
};

Guarded& guarded_stacks() {
  static Guarded& stacks = *new Guarded;  // devices of static storage duration may outlive this file's own
  return stacks;
}

/// False where no more guards may be had.
bool guard(char* low, std::size_t bytes) {
  Guarded& stacks = guarded_stacks();
  std::lock_guard lock(stacks.mutex);
  if (stacks.ends.size() >= most_guarded_stacks || mprotect(low, page_bytes(), PROT_NONE) != 0) return false;
  mprotect(low + bytes, page_bytes(), PROT_NONE);
  stacks.ends.emplace(low, low + bytes);
  return true;
}

}  // namespace

std::size_t FiberStack::bytes_for(std::size_t local_bytes) {
  return call_bytes + local_bytes;
}

FiberStack::FiberStack(std::size_t bytes)
    : bytes_((bytes + colours_end + page_bytes() - 1) / page_bytes() * page_bytes() + page_bytes()),
      colour_(stacks_made.fetch_add(1) * colour_step % colours_end) {
  void* memory = mmap(nullptr, bytes_ + page_bytes(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  low_ = static_cast<char*>(memory);
  try {
    guarded_ = guard(low_, bytes_);
  } catch (const std::bad_alloc&) {
    munmap(low_, bytes_ + page_bytes());
    throw;
  }
}

FiberStack::~FiberStack() {
  if (guarded_) {
    Guarded& stacks = guarded_stacks();
    std::lock_guard lock(stacks.mutex);
    stacks.ends.erase(low_);
  }
  SanitizedStack::release(low_, bytes_);
  munmap(low_, bytes_ + page_bytes());
}

FiberStack::Range FiberStack::around(const void* address) {
  Guarded& stacks = guarded_stacks();
  std::lock_guard lock(stacks.mutex);
  auto above = stacks.ends.upper_bound(static_cast<const char*>(address));
  if (above == stacks.ends.begin()) return {};
  const Range range{std::prev(above)->first, std::prev(above)->second};
  return range.contains(address) ? range : Range{};
}

bool FiberStack::overflows(const void* address, const void* stack_pointer) {
  const Range range = around(stack_pointer);
  return address >= range.low && address < range.low + page_bytes() && range.low != nullptr;
}

}  // namespace gpulua::cpu

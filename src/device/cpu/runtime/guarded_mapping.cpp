#include "src/device/cpu/runtime/guarded_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "src/device/cpu/runtime/sanitized_memory.h"

namespace gpulua::cpu {
namespace {

// A guarded mapping costs the process two or three of the 65530 that Linux gives it; one without guards may be one with
// its neighbours.
constexpr int most_guarded_mappings = 8'192;
std::atomic<int> guarded_mappings{0};

std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

GuardedMapping::GuardedMapping(std::size_t bytes, std::size_t alignment, std::size_t guard_bytes) noexcept {
  const std::size_t page = page_bytes();
  const std::size_t inner = round_up(bytes, page);
  const std::size_t whole = inner + alignment + 2 * page + guard_bytes;
  if (inner < bytes || whole < inner) return;
  void* memory = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  guarded_ = guarded_mappings.fetch_add(1) < most_guarded_mappings;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  char* data = static_cast<char*>(memory) + (round_up(address + page, alignment) - address);
  const int failed =
      guarded_ ? mprotect(data, inner, PROT_READ | PROT_WRITE) : mprotect(memory, whole, PROT_READ | PROT_WRITE);
  if (failed != 0) {
    guarded_mappings.fetch_sub(1);
    munmap(memory, whole);
    return;
  }
  whole_ = memory;
  whole_bytes_ = whole;
  data_ = data;
}

GuardedMapping::~GuardedMapping() {
  if (data_ == nullptr) return;
  unpoison(whole_, whole_bytes_);
  munmap(whole_, whole_bytes_);
  guarded_mappings.fetch_sub(1);
}

}  // namespace gpulua::cpu

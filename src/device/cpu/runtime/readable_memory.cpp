#include "src/device/cpu/runtime/readable_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "src/device/cpu/runtime/guarded_mapping.h"

namespace gpulua::cpu {
namespace {

constexpr std::size_t signal_set_bytes = 8;  // of the kernel

/// The system reads a set of signals at the address before it refuses `how`.
bool is_readable_at(std::uintptr_t address) {
  constexpr int no_such_how = -1;
  address &= ~std::uintptr_t{signal_set_bytes - 1};
  return syscall(SYS_rt_sigprocmask, no_such_how, reinterpret_cast<const void*>(address), nullptr, signal_set_bytes) !=
             -1 ||
         errno != EFAULT;
}

}  // namespace

bool is_readable(const void* first, std::size_t bytes) {
  const int before = errno;
  const auto begin = reinterpret_cast<std::uintptr_t>(first), page = begin & ~(std::uintptr_t{page_bytes()} - 1);
  // An asynchronous one does nothing but look for the pages.
  const bool is_there = msync(reinterpret_cast<void*>(page), bytes + (begin - page), MS_ASYNC) == 0 || errno != ENOMEM;
  const bool result = is_there && is_readable_at(begin) && is_readable_at(begin + bytes - 1);
  errno = before;
  return result;
}

}  // namespace gpulua::cpu

#include "src/device/cpu/runtime/fault_text.h"

#include <signal.h>

#include <cstdint>
#include <cstdio>

#include "src/device/cpu/runtime/fiber_stack.h"
#include "src/device/cpu/runtime/shared_arena.h"
#include "src/device/cpu/runtime/thread_stack.h"

namespace gpulua::cpu {
namespace {

// No memory lies in the first pages, whatever is added to a null pointer to index an element.
constexpr std::uintptr_t null_pages = 0x10000;

bool overflows_stack(const Fault& fault) {
  if (!fault.is_access() || fault.code == SI_KERNEL) return false;
  return ThreadStack::current().overflows(fault.address) || FiberStack::overflows(fault.address, fault.stack_pointer);
}

KernelFailure describe_access(const Fault& fault) {
  if (fault.address == fault.instruction) return {"call of a function that is not there"};
  if (fault.code == SI_KERNEL)  // the processor tells no address where no memory can be
    return {"access to memory that is not there", true};
  if (const auto overrun = SharedArena::describe_overrun(fault.address, fault.is_write)) return {*overrun, true};
  char address[32];
  std::snprintf(address, sizeof address, "%p", fault.address);
  const std::string what = std::string("access to memory that is not there at address ") + address;
  if (reinterpret_cast<std::uintptr_t>(fault.address) < null_pages)
    return {what + ", next to the null pointer (gpu.null)", true, true};
  return {what, true};
}

}  // namespace

KernelFailure describe(const Fault& fault) {
  if (overflows_stack(fault)) return {"stack overflow: functions call each other too deeply"};
  if (fault.stack_destroyed) return {"its stack was written over, as by writes past the end of a local array", true};
  switch (fault.signal) {
    case SIGILL:
      return {"__builtin_trap() was called, or a place was reached that the source says cannot be"};
    case SIGTRAP:
      return {"__builtin_debugtrap() was called"};
    case SIGFPE:
      return {"an arithmetic instruction trapped"};
    default:
      return describe_access(fault);
  }
}

}  // namespace gpulua::cpu

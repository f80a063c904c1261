#pragma once

// The registers of a thread that a signal has interrupted, as its handler sees and changes them.

#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>

namespace gpulua::cpu {

#if defined(__x86_64__)

class Registers {
 public:
  static constexpr int trap_code = SI_KERNEL;  // siginfo_t::si_code of an instruction that traps

  explicit Registers(ucontext_t& thread) : registers_(thread.uc_mcontext.gregs) {}

  const void* instruction() const { return reinterpret_cast<const void*>(registers_[REG_RIP]); }
  const void* stack_pointer() const { return reinterpret_cast<const void*>(registers_[REG_RSP]); }
  /// True iff the access that faulted was to write.
  bool is_write() const { return (registers_[REG_ERR] & 2) != 0; }
  /// Into the instruction that has trapped, which may be its function's last.
  void leave_trap() { --registers_[REG_RIP]; }
  /// Into the call that led to code that is not there.
  void leave_call() {
    registers_[REG_RIP] = *static_cast<const greg_t*>(stack_pointer()) - 1;
    registers_[REG_RSP] += sizeof(greg_t);
  }

 private:
  gregset_t& registers_;
};

#elif defined(__aarch64__)

class Registers {
 public:
  static constexpr int trap_code = TRAP_BRKPT;

  explicit Registers(ucontext_t& thread) : registers_(thread.uc_mcontext) {}

  const void* instruction() const { return reinterpret_cast<const void*>(registers_.pc); }
  const void* stack_pointer() const { return reinterpret_cast<const void*>(registers_.sp); }
  bool is_write() const {
    constexpr std::uint64_t write_bit = 1 << 6;
    for (const unsigned char* record = registers_.__reserved;;) {
      _aarch64_ctx head;
      std::memcpy(&head, record, sizeof head);
      if (head.magic == 0) return false;
      if (head.magic == ESR_MAGIC) {
        esr_context syndrome;
        std::memcpy(&syndrome, record, sizeof syndrome);
        return (syndrome.esr & write_bit) != 0;
      }
      record += head.size;
    }
  }
  void leave_trap() {}
  void leave_call() { registers_.pc = registers_.regs[30] - 1; }

 private:
  mcontext_t& registers_;
};

#else
#error "expected x86-64 or AArch64: another processor needs its registers here"
#endif

}  // namespace gpulua::cpu

#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gpulua {

/// While one lives, its thread's floating-point arithmetic is as the C language starts it: rounded to nearest, with
/// subnormals, without traps. Then it is again what the program had chosen. Some nanoseconds.
class DefaultArithmetic {
 public:
  DefaultArithmetic(const DefaultArithmetic&) = delete;
  DefaultArithmetic& operator=(const DefaultArithmetic&) = delete;

#if defined(__x86_64__)
  DefaultArithmetic() : vectors_(_mm_getcsr()) {
    asm volatile("fnstcw %0" : "=m"(x87_));
    changed_ = (vectors_ & ~flags) != default_vectors || x87_ != default_x87;
    if (changed_) set(default_vectors, default_x87);
  }
  ~DefaultArithmetic() {
    if (changed_) set(vectors_, x87_);
  }

 private:
  static constexpr unsigned flags = 0x3F, default_vectors = 0x1F80;
  static constexpr unsigned short default_x87 = 0x037F;

  static void set(unsigned vectors, unsigned short x87) {
    _mm_setcsr(vectors);
    // A flag that arithmetic has left would trap where the program's word lets it.
    asm volatile("fnclex; fldcw %0" : : "m"(x87));
  }

  unsigned vectors_;
  unsigned short x87_;
  bool changed_;
#else
  DefaultArithmetic() {
    fegetenv(&program_);
    fesetenv(FE_DFL_ENV);
  }
  ~DefaultArithmetic() {
    fesetenv(&program_);
  }

 private:
  fenv_t program_;
#endif
};

}  // namespace gpulua

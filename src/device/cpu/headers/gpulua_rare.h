// What CUDA C++ has without an #include and few kernels use.
#pragma once
#include "gpulua_rounding.h"
#include "gpulua_words.h"
#include "gpulua_dpx.h"
#include "gpulua_ordered_atomics.h"
#pragma clang force_cuda_host_device begin

// ---- addresses: those of shared memory count from the dynamic part, and fit 32 bits with a sign ------------------------------

__device__ inline size_t gpulua_shared_origin() {
  extern __shared__ char gpulua_dynamic_shared[];
  return (size_t)gpulua_dynamic_shared;
}
__device__ inline size_t __cvta_generic_to_shared(const void* address) { return (unsigned)((size_t)address - gpulua_shared_origin()); }
__device__ inline void* __cvta_shared_to_generic(size_t address) {
  return (void*)(gpulua_shared_origin() + (long)(int)(unsigned)address);
}
inline size_t __cvta_generic_to_global(const void* address) { return (size_t)address; }
inline void* __cvta_global_to_generic(size_t address) { return (void*)address; }

// ---- launches: a kernel begins when the one ahead of it has ended ----------------------------------------------------------------

inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

#define GPULUA_FLOAT_OVERLOAD(name)                                \
  inline float name##f(float x) { return (float)name((double)x); } \
  inline float name(float x) { return name##f(x); }

// ---- Bessel functions of any order from 0: the C library's, with a GPU's values at the edges ----------------------------------

extern "C" {
double gpulua_libc_jn(int, double) __asm__("jn");
float gpulua_libc_jnf(int, float) __asm__("jnf");
double gpulua_libc_yn(int, double) __asm__("yn");
float gpulua_libc_ynf(int, float) __asm__("ynf");
}
inline double jn(int order, double x) { return order < 0 ? __builtin_nan("") : gpulua_libc_jn(order, x); }
/// From order 2 on a GPU's recurrence overflows for arguments next to 0: at 1e-30 it does, at 1e-7 it does not.
inline float jnf(int order, float x) {
  return order < 0 || (order > 1 && fabsf(x) < 2e-30f) ? __builtin_nanf("") : gpulua_libc_jnf(order, x);
}
/// A GPU takes -0 for a negative number in its recurrence, so every second order has the other sign there.
inline double yn(int order, double x) {
  if (x == 0.0 && order > 1 && order % 2 == 0) return -1.0 / x;
  return order < 0 ? __builtin_nan("") : gpulua_libc_yn(order, x);
}
inline float ynf(int order, float x) {
  if (x == 0.0f && order > 1 && order % 2 == 0) return -1.0f / x;
  return order < 0 ? __builtin_nanf("") : gpulua_libc_ynf(order, x);
}

// ---- modified Bessel functions: the power series, whose terms are all positive, then the asymptotic one -----------------------

inline double gpulua_bessel_i(int order, double size) {
  double sum = 1.0, term = 1.0;
  if (size < 20.0) {
    // The square's rounding error counts about size / 2 times, so that is put back to first order.
    double square = 0.25 * size * size, lost = 0.25 * fma(size, size, -4.0 * square);
    for (int k = 50; k > 0; --k) sum = fma(square / (k * (k + order)), sum, 1.0);
    sum += sum * lost / (0.5 * size + 1.0);
    return order == 0 ? sum : 0.5 * size * sum;
  }
  if (size == __builtin_inf()) return size;
  for (int k = 1; k < 40; ++k) {
    double odd = 2 * k - 1;
    term *= (odd * odd - 4.0 * order * order) / (8.0 * k * size);
    sum += term;
  }
  double root = exp(0.5 * size);  // of the exponential, which alone may overflow
  return root * (sum * 0.39894228040143267794 / sqrt(size)) * root;
}
inline double cyl_bessel_i0(double x) { return gpulua_bessel_i(0, fabs(x)); }
inline double cyl_bessel_i1(double x) { return copysign(gpulua_bessel_i(1, fabs(x)), x); }
GPULUA_FLOAT_OVERLOAD(cyl_bessel_i0)
GPULUA_FLOAT_OVERLOAD(cyl_bessel_i1)

// ---- lengths of vectors ----------------------------------------------------------------------------------------------------

/// A power of two that keeps the squares of numbers up to `largest` in range.
inline double gpulua_norm_scale(double largest) { return largest > 0x1p500 ? 0x1p-600 : largest < 0x1p-450 ? 0x1p600 : 1.0; }
inline double norm(int count, const double* p) {
  double largest = 0.0, sum = 0.0;
  for (int i = 0; i < count; ++i) largest = fmax(largest, fabs(p[i]));
  if (largest == __builtin_inf()) return largest;
  double scale = gpulua_norm_scale(largest);
  for (int i = 0; i < count; ++i) sum = fma(p[i] * scale, p[i] * scale, sum);
  return sqrt(sum) / scale;
}
inline double norm4d(double a, double b, double c, double d) {
  double largest = fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(d)));
  if (largest == __builtin_inf()) return largest;
  double scale = gpulua_norm_scale(largest);
  a *= scale, b *= scale, c *= scale, d *= scale;
  return sqrt(fma(a, a, fma(b, b, fma(c, c, d * d)))) / scale;
}
inline double norm3d(double a, double b, double c) { return norm4d(a, b, c, 0.0); }
inline double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
inline double rnorm(int count, const double* p) { return 1.0 / norm(count, p); }

// Squares of floats are in range as doubles.
inline double gpulua_norm4(double a, double b, double c, double d) {
  if (fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(d))) == __builtin_inf()) return __builtin_inf();
  return sqrt(a * a + b * b + c * c + d * d);
}
inline float norm4df(float a, float b, float c, float d) { return (float)gpulua_norm4(a, b, c, d); }
inline float norm3df(float a, float b, float c) { return (float)gpulua_norm4(a, b, c, 0.0); }
inline float rhypotf(float a, float b) { return (float)(1.0 / gpulua_norm4(a, b, 0.0, 0.0)); }
inline float rnorm3df(float a, float b, float c) { return (float)(1.0 / gpulua_norm4(a, b, c, 0.0)); }
inline float rnorm4df(float a, float b, float c, float d) { return (float)(1.0 / gpulua_norm4(a, b, c, d)); }
inline float rhypot(float a, float b) { return rhypotf(a, b); }
inline double gpulua_norm(int count, const float* p) {
  double sum = 0.0, largest = 0.0;
  for (int i = 0; i < count; ++i) sum += (double)p[i] * p[i], largest = fmax(largest, fabs((double)p[i]));
  return largest == __builtin_inf() ? largest : sqrt(sum);
}
inline float normf(int count, const float* p) { return (float)gpulua_norm(count, p); }
inline float rnormf(int count, const float* p) { return (float)(1.0 / gpulua_norm(count, p)); }

#undef GPULUA_FLOAT_OVERLOAD
#include "gpulua_ptx.h"
#include "gpulua_ptx_halves.h"
#include "gpulua_matrices.h"
#pragma clang force_cuda_host_device end

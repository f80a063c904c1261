#ifndef GPULUA_CUDA_FP6_H
#define GPULUA_CUDA_FP6_H
// Floating-point numbers of 6 and 4 bits, by the Open Compute Project's "Microscaling Formats": E3M2, E2M3 and E2M1, which have neither
// infinities nor NaN. cuda_fp6.h and cuda_fp4.h. Arithmetic is float's.
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_fp8.h"
#pragma clang force_cuda_host_device begin

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 };
enum __nv_fp4_interpretation_t { __NV_E2M1 };

struct gpulua_tiny_float {
  int fraction, least, bits;  // bits of the fraction; the exponent of subnormal numbers; all bits
  double largest;

  /// To nearest even, at most the largest number; of NaN the largest one.
  unsigned char encoded(double x) const {
    const unsigned char top = (unsigned char)((1 << (bits - 1)) - 1), sign = __builtin_signbit(x) ? top + 1 : 0;
    if (x != x) return top;
    const double size = fabs(x);
    if (size >= largest) return sign | top;
    int exponent = size == 0.0 ? least : ilogb(size);
    if (exponent < least) exponent = least;
    const int steps = (int)rint(ldexp(size, fraction - exponent));
    // What rounds up to the next power of two, or from a subnormal number to a normal one, carries into the exponent.
    return sign | (unsigned char)(((exponent - least) << fraction) + steps);
  }
  float decoded(unsigned char x) const {
    const int exponent = (x & ((1 << (bits - 1)) - 1)) >> fraction, steps = x & ((1 << fraction) - 1);
    const float size = exponent == 0 ? ldexpf((float)steps, least - fraction)
                                     : ldexpf((float)(steps + (1 << fraction)), exponent - 1 + least - fraction);
    return x >> (bits - 1) & 1 ? -size : size;
  }
};
inline gpulua_tiny_float gpulua_tiny(__nv_fp6_interpretation_t kind) {
  return kind == __NV_E3M2 ? gpulua_tiny_float{2, -2, 6, 28.0} : gpulua_tiny_float{3, 0, 6, 7.5};
}
inline gpulua_tiny_float gpulua_tiny(__nv_fp4_interpretation_t) { return {1, 0, 4, 6.0}; }

/// The conversions of one format; the second of two numbers is `shift` bits above the first.
#define GPULUA_TINY(fp, shift)                                                                                                    \
  inline __nv_##fp##_storage_t __nv_cvt_double_to_##fp(double x, __nv_##fp##_interpretation_t kind, cudaRoundMode) {              \
    return gpulua_tiny(kind).encoded(x);                                                                                          \
  }                                                                                                                               \
  inline __nv_##fp##_storage_t __nv_cvt_float_to_##fp(float x, __nv_##fp##_interpretation_t kind, cudaRoundMode mode) {           \
    return __nv_cvt_double_to_##fp(x, kind, mode);                                                                                \
  }                                                                                                                               \
  inline __nv_##fp##_storage_t __nv_cvt_halfraw_to_##fp(__half_raw x, __nv_##fp##_interpretation_t kind, cudaRoundMode mode) {    \
    return __nv_cvt_double_to_##fp((float)__half(x), kind, mode);                                                                 \
  }                                                                                                                               \
  inline __nv_##fp##_storage_t __nv_cvt_bfloat16raw_to_##fp(__nv_bfloat16_raw x, __nv_##fp##_interpretation_t kind,               \
                                                            cudaRoundMode mode) {                                                 \
    return __nv_cvt_double_to_##fp((float)__nv_bfloat16(x), kind, mode);                                                          \
  }                                                                                                                               \
  inline __nv_##fp##x2_storage_t __nv_cvt_double2_to_##fp##x2(double2 x, __nv_##fp##_interpretation_t kind, cudaRoundMode mode) { \
    return (__nv_##fp##x2_storage_t)(__nv_cvt_double_to_##fp(x.x, kind, mode) |                                                   \
                                     __nv_cvt_double_to_##fp(x.y, kind, mode) << shift);                                          \
  }                                                                                                                               \
  inline __nv_##fp##x2_storage_t __nv_cvt_float2_to_##fp##x2(float2 x, __nv_##fp##_interpretation_t kind, cudaRoundMode mode) {   \
    return __nv_cvt_double2_to_##fp##x2(double2{x.x, x.y}, kind, mode);                                                           \
  }                                                                                                                               \
  inline __half_raw __nv_cvt_##fp##_to_halfraw(__nv_##fp##_storage_t x, __nv_##fp##_interpretation_t kind) {                      \
    return __half(gpulua_tiny(kind).decoded(x));                                                                                  \
  }
GPULUA_TINY(fp6, 8)
GPULUA_TINY(fp4, 4)
#undef GPULUA_TINY

/// A type, and vectors of two and four.
#define GPULUA_TINY(fp, kind, name, shift, Two, Four)                                                              \
  struct __nv_##fp##_##name {                                                                                      \
    __nv_##fp##_storage_t __x;                                                                                     \
    __nv_##fp##_##name() = default;                                                                                \
    explicit __nv_##fp##_##name(double x) : __x(gpulua_tiny(kind).encoded(x)) {}                                   \
    explicit __nv_##fp##_##name(float x) : __nv_##fp##_##name((double)x) {}                                        \
    explicit __nv_##fp##_##name(__half x) : __nv_##fp##_##name((double)(float)x) {}                                \
    explicit __nv_##fp##_##name(__nv_bfloat16 x) : __nv_##fp##_##name((double)(float)x) {}                         \
    template <class _Ip, class = gpulua_from_integer<_Ip>>                                                         \
    explicit __nv_##fp##_##name(_Ip x) : __nv_##fp##_##name((double)x) {}                                          \
    explicit operator float() const { return gpulua_tiny(kind).decoded(__x); }                                     \
    explicit operator double() const { return (float)*this; }                                                      \
    explicit operator __half() const { return __half((float)*this); }                                              \
    explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }                                \
    explicit operator int() const { return (int)(float)*this; }                                                    \
    explicit operator bool() const { return (float)*this != 0; }                                                   \
  };                                                                                                               \
  struct __align__(sizeof(Two)) __nv_##fp##x2_##name {                                                             \
    Two __x;                                                                                                       \
    __nv_##fp##x2_##name() = default;                                                                              \
    explicit __nv_##fp##x2_##name(double2 v) : __x(__nv_cvt_double2_to_##fp##x2(v, kind, cudaRoundNearest)) {}     \
    explicit __nv_##fp##x2_##name(float2 v) : __nv_##fp##x2_##name(double2{v.x, v.y}) {}                           \
    explicit __nv_##fp##x2_##name(__half2 v) : __nv_##fp##x2_##name(float2{(float)v.x, (float)v.y}) {}             \
    explicit __nv_##fp##x2_##name(__nv_bfloat162 v) : __nv_##fp##x2_##name(float2{(float)v.x, (float)v.y}) {}      \
    explicit operator float2() const {                                                                             \
      return {gpulua_tiny(kind).decoded(__x & ((1 << shift) - 1)), gpulua_tiny(kind).decoded(__x >> shift)};       \
    }                                                                                                              \
    explicit operator __half2() const { return __half2(__half(float2(*this).x), __half(float2(*this).y)); }        \
  };                                                                                                               \
  struct __align__(sizeof(Four)) __nv_##fp##x4_##name {                                                            \
    Four __x;                                                                                                      \
    __nv_##fp##x4_##name() = default;                                                                              \
    explicit __nv_##fp##x4_##name(__nv_##fp##x2_##name low, __nv_##fp##x2_##name high)                             \
        : __x((Four)(low.__x | (unsigned)high.__x << 2 * shift)) {}                                                \
    explicit __nv_##fp##x4_##name(__half2 low, __half2 high)                                                       \
        : __nv_##fp##x4_##name(__nv_##fp##x2_##name(low), __nv_##fp##x2_##name(high)) {}                           \
    explicit __nv_##fp##x4_##name(__nv_bfloat162 low, __nv_bfloat162 high)                                         \
        : __nv_##fp##x4_##name(__nv_##fp##x2_##name(low), __nv_##fp##x2_##name(high)) {}                           \
    explicit __nv_##fp##x4_##name(double4 v)                                                                       \
        : __nv_##fp##x4_##name(__nv_##fp##x2_##name(double2{v.x, v.y}), __nv_##fp##x2_##name(double2{v.z, v.w})) {} \
    explicit __nv_##fp##x4_##name(float4 v) : __nv_##fp##x4_##name(double4{v.x, v.y, v.z, v.w}) {}                 \
    explicit operator float4() const {                                                                             \
      __nv_##fp##x2_##name low, high;                                                                              \
      low.__x = (Two)(__x & ((1u << 2 * shift) - 1)), high.__x = (Two)(__x >> 2 * shift);                          \
      const float2 a = (float2)low, b = (float2)high;                                                              \
      return {a.x, a.y, b.x, b.y};                                                                                 \
    }                                                                                                              \
  };
GPULUA_TINY(fp6, __NV_E3M2, e3m2, 8, __nv_fp6x2_storage_t, __nv_fp6x4_storage_t)
GPULUA_TINY(fp6, __NV_E2M3, e2m3, 8, __nv_fp6x2_storage_t, __nv_fp6x4_storage_t)
GPULUA_TINY(fp4, __NV_E2M1, e2m1, 4, __nv_fp4x2_storage_t, __nv_fp4x4_storage_t)
#undef GPULUA_TINY
#pragma clang force_cuda_host_device end
#endif

#ifndef GPULUA_CUDA_FP8_H
#define GPULUA_CUDA_FP8_H
// Floating-point numbers of 8 bits: E4M3, which has no infinity, and E5M2. Arithmetic is float's.
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#pragma clang force_cuda_host_device begin

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

/// To nearest even. Too large a number becomes the largest one or, without saturation, an infinity or NaN.
inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
  const int fraction = kind == __NV_E4M3 ? 3 : 2, least = kind == __NV_E4M3 ? -6 : -14;
  const double largest = kind == __NV_E4M3 ? 448.0 : 57344.0;
  const unsigned char sign = __builtin_signbit(x) ? 0x80 : 0, top = kind == __NV_E4M3 ? 0x7e : 0x7b;
  if (x != x) return 0x7f;
  const double size = fabs(x);
  // Half of the next step above the largest one rounds up, as a tie between an odd and an even number.
  const bool too_large = kind == __NV_E4M3 ? size > 464.0 : size >= 61440.0;
  if (too_large || size > largest)
    return sign | (saturation == __NV_SATFINITE || !too_large ? top : kind == __NV_E4M3 ? 0x7f : 0x7c);
  int exponent = size == 0.0 ? least : ilogb(size);
  if (exponent < least) exponent = least;
  const int steps = (int)rint(ldexp(size, fraction - exponent));
  // What rounds up to the next power of two, or from a subnormal number to a normal one, carries into the exponent.
  return sign | (unsigned char)(((exponent - least) << fraction) + steps);
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(x, saturation, kind);
}
inline float gpulua_fp8_to_float(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind) {
  const int fraction = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  const int exponent = (bits & 0x7f) >> fraction, steps = bits & ((1 << fraction) - 1);
  float size = exponent == 0 ? ldexpf((float)steps, 1 - bias - fraction)
                             : ldexpf((float)(steps + (1 << fraction)), exponent - bias - fraction);
  if (kind == __NV_E4M3 ? (bits & 0x7f) == 0x7f : exponent == 31) size = kind == __NV_E5M2 && steps == 0 ? __builtin_inff() : __builtin_nanf("");
  return bits & 0x80 ? -size : size;
}
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind) {
  return __half(gpulua_fp8_to_float(bits, kind));
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(x.x, saturation, kind) |
                                __nv_cvt_float_to_fp8(x.y, saturation, kind) << 8);
}

/// A power of two, 2^(bits - 127), or NaN.
inline __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t bits) {
  return {(unsigned short)(bits == 0xff ? 0x7fff : bits == 0 ? 0x0040 : bits << 7)};
}

#define GPULUA_FP8(name, kind)                                                                               \
  struct name {                                                                                              \
    __nv_fp8_storage_t __x;                                                                                  \
    name() = default;                                                                                        \
    explicit name(double x) : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, kind)) {}                        \
    explicit name(float x) : name((double)x) {}                                                              \
    explicit name(__half x) : name((double)(float)x) {}                                                      \
    explicit name(__nv_bfloat16 x) : name((double)(float)x) {}                                               \
    template <class _Ip, class = gpulua_from_integer<_Ip>>                                                   \
    explicit name(_Ip x) : name((double)x) {}                                                                \
    explicit operator float() const { return gpulua_fp8_to_float(__x, kind); }                               \
    explicit operator double() const { return (float)*this; }                                                \
    explicit operator __half() const { return __half((float)*this); }                                        \
    explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }                          \
    explicit operator int() const { return (int)(float)*this; }                                              \
    explicit operator bool() const { return (__x & 0x7f) != 0; }                                             \
  };
GPULUA_FP8(__nv_fp8_e4m3, __NV_E4M3)
GPULUA_FP8(__nv_fp8_e5m2, __NV_E5M2)
#undef GPULUA_FP8
#define GPULUA_FP8(one, name2, name4)                                                                        \
  struct __align__(2) name2 {                                                                                \
    __nv_fp8x2_storage_t __x;                                                                                \
    name2() = default;                                                                                       \
    explicit name2(double2 v) : __x((__nv_fp8x2_storage_t)(one(v.x).__x | one(v.y).__x << 8)) {}             \
    explicit name2(__half2 v) : name2(float2{(float)v.x, (float)v.y}) {}                                     \
    explicit name2(__nv_bfloat162 v) : name2(float2{(float)v.x, (float)v.y}) {}                              \
    explicit operator __half2() const { return __half2(__half(float2(*this).x), __half(float2(*this).y)); }  \
    explicit name2(float2 v) : __x((__nv_fp8x2_storage_t)(one(v.x).__x | one(v.y).__x << 8)) {}              \
    explicit operator float2() const {                                                                       \
      one a, b;                                                                                              \
      a.__x = __x & 0xff, b.__x = __x >> 8;                                                                  \
      return {(float)a, (float)b};                                                                           \
    }                                                                                                        \
  };                                                                                                         \
  struct __align__(4) name4 {                                                                                \
    __nv_fp8x4_storage_t __x;                                                                                \
    name4() = default;                                                                                       \
    explicit name4(double4 v)                                                                                \
        : __x(name2(double2{v.x, v.y}).__x | (unsigned)name2(double2{v.z, v.w}).__x << 16) {}                \
    explicit name4(__half2 low, __half2 high) : __x(name2(low).__x | (unsigned)name2(high).__x << 16) {}     \
    explicit name4(__nv_bfloat162 low, __nv_bfloat162 high)                                                  \
        : __x(name2(low).__x | (unsigned)name2(high).__x << 16) {}                                           \
    explicit name4(float4 v) : __x(name2(float2{v.x, v.y}).__x | (unsigned)name2(float2{v.z, v.w}).__x << 16) {} \
    explicit operator float4() const {                                                                       \
      name2 a, b;                                                                                            \
      a.__x = __x & 0xffff, b.__x = __x >> 16;                                                               \
      const float2 low = (float2)a, high = (float2)b;                                                        \
      return {low.x, low.y, high.x, high.y};                                                                 \
    }                                                                                                        \
  };
GPULUA_FP8(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3)
GPULUA_FP8(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2)
#undef GPULUA_FP8
#pragma clang force_cuda_host_device end
#endif

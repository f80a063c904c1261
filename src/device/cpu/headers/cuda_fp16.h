#ifndef GPULUA_CUDA_FP16_H
#define GPULUA_CUDA_FP16_H
// IEEE binary16 under CUDA's names.
#include "gpulua_rounding.h"
#pragma clang force_cuda_host_device begin

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};
struct __half {
  _Float16 number;
  __half() = default;
  constexpr __half(_Float16 x) : number(x) {}
  constexpr __half(float x) : number((_Float16)x) {}
  __half(double x) : number((_Float16)gpulua_to_float<gpulua_odd>(x)) {}
  __half(__half_raw raw) : number(__builtin_bit_cast(_Float16, raw.x)) {}
  template <class _Ip, class = gpulua_from_integer<_Ip>>
  __half(_Ip x) : __half((double)x) {}
  constexpr operator float() const { return (float)number; }
  operator __half_raw() const { return {__builtin_bit_cast(unsigned short, number)}; }
};
struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  constexpr __half2(__half a, __half b) : x(a), y(b) {}
  __half2(__half2_raw raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  operator __half2_raw() const { return {__half_raw(x).x, __half_raw(y).x}; }
};
using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;

inline __half gpulua_flip_bits(__half x, unsigned int bits) {
  return __half_raw{(unsigned short)(__builtin_bit_cast(unsigned short, x) ^ bits)};
}
inline __half gpulua_canonical(__half x) { return (float)x != (float)x ? __half(__half_raw{0x7fff}) : x; }

/// The number in a rounding mode: the nearest and the sign of its error give the others, on the bits as they are ordered.
template <gpulua_mode mode>
inline __half gpulua_small(double x, __half) {
  __half nearest(x);
  double error = x - (float)nearest;
  if (mode == gpulua_rn || error == 0.0 || error != error) return nearest;
  bool negative = __builtin_signbit((float)nearest), up = error > 0.0;
  if (mode == gpulua_ru ? !up : mode == gpulua_rd ? up : up != negative || (float)nearest == 0.0f) return nearest;
  unsigned short bits = __builtin_bit_cast(unsigned short, nearest);
  if ((bits & 0x7fff) == 0) return __half_raw{(unsigned short)(up ? 1 : 0x8001)};
  return __half_raw{(unsigned short)(up != negative ? bits + 1 : bits - 1)};
}

#define GPULUA_SMALL __half
#define GPULUA_SMALL2 __half2
#define GPULUA_PASTE(before, after) before##half##after
#define GPULUA_PASTE2(before, middle, after) before##half##middle##half##after
#include "gpulua_small_float.h"
#undef GPULUA_SMALL
#undef GPULUA_SMALL2
#undef GPULUA_PASTE
#undef GPULUA_PASTE2

#pragma clang force_cuda_host_device end
#endif

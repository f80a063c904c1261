#ifndef GPULUA_CUDA_BF16_H
#define GPULUA_CUDA_BF16_H
// bfloat16 under CUDA's names: the upper half of a float.
#include "gpulua_rounding.h"
#pragma clang force_cuda_host_device begin

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};
struct __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __nv_bfloat16(float x) {
    unsigned int word = __float_as_uint(x);
    // Half of the last place kept, less one where that place is even; a NaN is the canonical one.
    bits = (unsigned short)(x != x ? 0x7fff : (word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
  __nv_bfloat16(double x) : __nv_bfloat16(gpulua_to_float<gpulua_odd>(x)) {}
  __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
  template <class _Ip, class = gpulua_from_integer<_Ip>>
  __nv_bfloat16(_Ip x) : __nv_bfloat16((double)x) {}
  operator float() const { return __uint_as_float((unsigned int)bits << 16); }
  operator __nv_bfloat16_raw() const { return {bits}; }
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
  __nv_bfloat162(__nv_bfloat162_raw raw) : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  operator __nv_bfloat162_raw() const { return {x.bits, y.bits}; }
};
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat16 gpulua_flip_bits(__nv_bfloat16 x, unsigned int bits) {
  return __nv_bfloat16_raw{(unsigned short)(x.bits ^ bits)};
}
inline __nv_bfloat16 gpulua_canonical(__nv_bfloat16 x) {
  return (float)x != (float)x ? __nv_bfloat16(__nv_bfloat16_raw{0x7fff}) : x;
}

/// The number in a rounding mode: the nearest and the sign of its error give the others, on the bits as they are ordered.
template <gpulua_mode mode>
inline __nv_bfloat16 gpulua_small(double x, __nv_bfloat16) {
  __nv_bfloat16 nearest(x);
  double error = x - (float)nearest;
  if (mode == gpulua_rn || error == 0.0 || error != error) return nearest;
  bool negative = nearest.bits >> 15, up = error > 0.0;
  if (mode == gpulua_ru ? !up : mode == gpulua_rd ? up : up != negative || (float)nearest == 0.0f) return nearest;
  if ((nearest.bits & 0x7fff) == 0) return __nv_bfloat16_raw{(unsigned short)(up ? 1 : 0x8001)};
  return __nv_bfloat16_raw{(unsigned short)(up != negative ? nearest.bits + 1 : nearest.bits - 1)};
}

#define GPULUA_SMALL __nv_bfloat16
#define GPULUA_SMALL2 __nv_bfloat162
#define GPULUA_PASTE(before, after) before##bfloat16##after
#define GPULUA_PASTE2(before, middle, after) before##bfloat16##middle##bfloat16##after
#include "gpulua_small_float.h"
#undef GPULUA_SMALL
#undef GPULUA_SMALL2
#undef GPULUA_PASTE
#undef GPULUA_PASTE2

#pragma clang force_cuda_host_device end
#endif

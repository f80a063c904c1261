#ifndef GPULUA_CUDA_BF16_H
#define GPULUA_CUDA_BF16_H
// bfloat16 under CUDA's names: the upper half of a float. Arithmetic is float's, rounded once to nearest even.
#pragma clang force_cuda_host_device begin

struct __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __nv_bfloat16(float x) {
    unsigned int word = __float_as_uint(x);
    // Half of the last place kept, less one where that place is even; a NaN stays one.
    bits = (unsigned short)(x != x ? word >> 16 | 0x40 : (word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
  __nv_bfloat16(double x) : __nv_bfloat16((float)x) {}
  __nv_bfloat16(int x) : __nv_bfloat16((float)x) {}
  operator float() const { return __uint_as_float((unsigned int)bits << 16); }
  __nv_bfloat16& operator+=(__nv_bfloat16 y) { return *this = __nv_bfloat16((float)*this + (float)y); }
  __nv_bfloat16& operator-=(__nv_bfloat16 y) { return *this = __nv_bfloat16((float)*this - (float)y); }
  __nv_bfloat16& operator*=(__nv_bfloat16 y) { return *this = __nv_bfloat16((float)*this * (float)y); }
  __nv_bfloat16& operator/=(__nv_bfloat16 y) { return *this = __nv_bfloat16((float)*this / (float)y); }
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat16 operator-(__nv_bfloat16 x) { return __nv_bfloat16(-(float)x); }
#define GPULUA_ARITHMETIC(sign, name)                                                                                      \
  inline __nv_bfloat16 operator sign(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat16((float)x sign(float) y); }    \
  inline __nv_bfloat16 name(__nv_bfloat16 x, __nv_bfloat16 y) { return x sign y; }
GPULUA_ARITHMETIC(+, __hadd)
GPULUA_ARITHMETIC(-, __hsub)
GPULUA_ARITHMETIC(*, __hmul)
GPULUA_ARITHMETIC(/, __hdiv)
#undef GPULUA_ARITHMETIC
#define GPULUA_COMPARISON(sign, name)                                                                  \
  inline bool operator sign(__nv_bfloat16 x, __nv_bfloat16 y) { return (float)x sign(float) y; }        \
  inline bool name(__nv_bfloat16 x, __nv_bfloat16 y) { return (float)x sign(float) y; }
GPULUA_COMPARISON(==, __heq)
GPULUA_COMPARISON(!=, __hne)
GPULUA_COMPARISON(<, __hlt)
GPULUA_COMPARISON(<=, __hle)
GPULUA_COMPARISON(>, __hgt)
GPULUA_COMPARISON(>=, __hge)
#undef GPULUA_COMPARISON

inline __nv_bfloat16 __hfma(__nv_bfloat16 x, __nv_bfloat16 y, __nv_bfloat16 z) { return __nv_bfloat16(fmaf(x, y, z)); }
inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
inline float __bfloat162float(__nv_bfloat16 x) { return x; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
  __nv_bfloat16 result;
  result.bits = x;
  return result;
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 x) { return {x.x, x.y}; }

#pragma clang force_cuda_host_device end
#endif

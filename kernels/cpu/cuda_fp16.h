#ifndef GPULUA_CUDA_FP16_H
#define GPULUA_CUDA_FP16_H
// IEEE binary16 under CUDA's names.
#pragma clang force_cuda_host_device begin

struct __half {
  _Float16 number;
  __half() = default;
  constexpr __half(_Float16 x) : number(x) {}
  constexpr __half(float x) : number((_Float16)x) {}
  constexpr __half(double x) : number((_Float16)x) {}
  constexpr __half(int x) : number((_Float16)x) {}
  constexpr __half(unsigned int x) : number((_Float16)x) {}
  constexpr operator float() const { return (float)number; }
  __half& operator+=(__half y) { return *this = __half((_Float16)(number + y.number)); }
  __half& operator-=(__half y) { return *this = __half((_Float16)(number - y.number)); }
  __half& operator*=(__half y) { return *this = __half((_Float16)(number * y.number)); }
  __half& operator/=(__half y) { return *this = __half((_Float16)(number / y.number)); }
};
struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  constexpr __half2(__half a, __half b) : x(a), y(b) {}
};
using half = __half;
using half2 = __half2;

inline __half operator-(__half x) { return __half((_Float16)-x.number); }
#define GPULUA_ARITHMETIC(sign, name)                                                                 \
  inline __half operator sign(__half x, __half y) { return __half((_Float16)(x.number sign y.number)); } \
  inline __half name(__half x, __half y) { return x sign y; }                                         \
  inline __half2 operator sign(__half2 x, __half2 y) { return {x.x sign y.x, x.y sign y.y}; }          \
  inline __half2 name##2(__half2 x, __half2 y) { return x sign y; }
GPULUA_ARITHMETIC(+, __hadd)
GPULUA_ARITHMETIC(-, __hsub)
GPULUA_ARITHMETIC(*, __hmul)
GPULUA_ARITHMETIC(/, __hdiv)
#undef GPULUA_ARITHMETIC
#define GPULUA_COMPARISON(sign, name)                                                   \
  inline bool operator sign(__half x, __half y) { return x.number sign y.number; }      \
  inline bool name(__half x, __half y) { return x.number sign y.number; }
GPULUA_COMPARISON(==, __heq)
GPULUA_COMPARISON(!=, __hne)
GPULUA_COMPARISON(<, __hlt)
GPULUA_COMPARISON(<=, __hle)
GPULUA_COMPARISON(>, __hgt)
GPULUA_COMPARISON(>=, __hge)
#undef GPULUA_COMPARISON

// The product is exact in double and the sum is rounded to 53 bits first, which shows only in ties among far exponents.
inline __half __hfma(__half x, __half y, __half z) { return __half((double)(float)x * (double)(float)y + (double)(float)z); }
inline __half2 __hfma2(__half2 x, __half2 y, __half2 z) { return {__hfma(x.x, y.x, z.x), __hfma(x.y, y.y, z.y)}; }
inline __half __hneg(__half x) { return -x; }
inline __half __habs(__half x) { return __half(fabsf(x)); }
inline __half __hmin(__half x, __half y) { return __half(fminf(x, y)); }
inline __half __hmax(__half x, __half y) { return __half(fmaxf(x, y)); }
inline bool __hisnan(__half x) { return x.number != x.number; }

inline __half hsqrt(__half x) { return __half(sqrtf(x)); }
inline __half hrsqrt(__half x) { return __half(rsqrtf(x)); }
inline __half hexp(__half x) { return __half(expf(x)); }
inline __half hlog(__half x) { return __half(logf(x)); }
inline __half hsin(__half x) { return __half(sinf(x)); }
inline __half hcos(__half x) { return __half(cosf(x)); }

inline __half __float2half(float x) { return __half(x); }
inline __half __float2half_rn(float x) { return __half(x); }
inline __half __double2half(double x) { return __half(x); }
inline float __half2float(__half x) { return x; }
inline __half __int2half_rn(int x) { return __half(x); }
inline int __half2int_rn(__half x) { return __float2int_rn(x); }
inline int __half2int_rz(__half x) { return __float2int_rz(x); }
inline __half __ushort_as_half(unsigned short x) { return __half(__builtin_bit_cast(_Float16, x)); }
inline __half __short_as_half(short x) { return __half(__builtin_bit_cast(_Float16, x)); }
inline unsigned short __half_as_ushort(__half x) { return __builtin_bit_cast(unsigned short, x.number); }
inline short __half_as_short(__half x) { return __builtin_bit_cast(short, x.number); }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float22half2_rn(float2 x) { return {__half(x.x), __half(x.y)}; }
inline float2 __half22float2(__half2 x) { return {x.x, x.y}; }
inline __half __low2half(__half2 x) { return x.x; }
inline __half __high2half(__half2 x) { return x.y; }
inline float __low2float(__half2 x) { return x.x; }
inline float __high2float(__half2 x) { return x.y; }

#pragma clang force_cuda_host_device end
#endif

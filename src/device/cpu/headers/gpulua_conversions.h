// Conversions, and arithmetic to nearest under the names that forbid fusing it with what is around it.
#pragma once

inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline int __double2hiint(double x) { return (int)(__builtin_bit_cast(unsigned long long, x) >> 32); }
inline int __double2loint(double x) { return (int)__builtin_bit_cast(unsigned long long, x); }
inline double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, (unsigned long long)(unsigned int)high << 32 | (unsigned int)low);
}

#pragma float_control(precise, on, push)
#define GPULUA_EXACT _Pragma("clang fp contract(off)")
inline float __fadd_rn(float x, float y) { GPULUA_EXACT return x + y; }
inline float __fsub_rn(float x, float y) { GPULUA_EXACT return x - y; }
inline float __fmul_rn(float x, float y) { GPULUA_EXACT return x * y; }
inline float __fdiv_rn(float x, float y) { GPULUA_EXACT return x / y; }
inline float __frcp_rn(float x) { GPULUA_EXACT return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return (float)(1.0 / sqrt((double)x)); }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { GPULUA_EXACT return x + y; }
inline double __dsub_rn(double x, double y) { GPULUA_EXACT return x - y; }
inline double __dmul_rn(double x, double y) { GPULUA_EXACT return x * y; }
inline double __ddiv_rn(double x, double y) { GPULUA_EXACT return x / y; }
inline double __drcp_rn(double x) { GPULUA_EXACT return 1.0 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
#undef GPULUA_EXACT
#pragma float_control(pop)

inline float __int2float_rn(int x) { return (float)x; }
inline float __uint2float_rn(unsigned int x) { return (float)x; }
inline float __ll2float_rn(long long x) { return (float)x; }
inline float __ull2float_rn(unsigned long long x) { return (float)x; }
inline double __int2double_rn(int x) { return (double)x; }
inline double __uint2double_rn(unsigned int x) { return (double)x; }
inline double __ll2double_rn(long long x) { return (double)x; }
inline double __ull2double_rn(unsigned long long x) { return (double)x; }
inline float __double2float_rn(double x) { return (float)x; }

// To integers they saturate, as a cast does on this device, which also knows what a NaN gives.
#define GPULUA_TO_INTEGER(from, suffix, From, to, To)                           \
  inline To __##from##2##to##_rn(From x) { return (To)rint##suffix(x); }        \
  inline To __##from##2##to##_rz(From x) { return (To)x; }                      \
  inline To __##from##2##to##_rd(From x) { return (To)floor##suffix(x); }       \
  inline To __##from##2##to##_ru(From x) { return (To)ceil##suffix(x); }
GPULUA_TO_INTEGER(float, f, float, int, int)
GPULUA_TO_INTEGER(float, f, float, uint, unsigned int)
GPULUA_TO_INTEGER(float, f, float, ll, long long)
GPULUA_TO_INTEGER(float, f, float, ull, unsigned long long)
GPULUA_TO_INTEGER(double, , double, int, int)
GPULUA_TO_INTEGER(double, , double, uint, unsigned int)
GPULUA_TO_INTEGER(double, , double, ll, long long)
GPULUA_TO_INTEGER(double, , double, ull, unsigned long long)
#undef GPULUA_TO_INTEGER

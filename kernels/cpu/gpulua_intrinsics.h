// CUDA's intrinsic functions: fast and rounded arithmetic, conversions, bits, cached loads.
#pragma once

// ---- arithmetic ------------------------------------------------------------------------------------------------------

inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline float __frsqrt_rn(float x) { return (float)(1.0 / sqrt((double)x)); }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

// These are never fused with what is around them.
#define GPULUA_ROUNDED(T, name, operation) \
  inline T name(T x, T y) {                \
    _Pragma("clang fp contract(off)") return x operation y; \
  }
GPULUA_ROUNDED(float, __fadd_rn, +)
GPULUA_ROUNDED(float, __fsub_rn, -)
GPULUA_ROUNDED(float, __fmul_rn, *)
GPULUA_ROUNDED(float, __fdiv_rn, /)
GPULUA_ROUNDED(double, __dadd_rn, +)
GPULUA_ROUNDED(double, __dsub_rn, -)
GPULUA_ROUNDED(double, __dmul_rn, *)
GPULUA_ROUNDED(double, __ddiv_rn, /)
#undef GPULUA_ROUNDED

// ---- conversions: saturating, NaN to 0, which a cast is too on this device ----------------------------------------------

#define GPULUA_TO_INTEGER(from, suffix, From, to, To)                             \
  inline To __##from##2##to##_rn(From x) { return (To)rint##suffix(x); }          \
  inline To __##from##2##to##_rz(From x) { return (To)x; }                        \
  inline To __##from##2##to##_rd(From x) { return (To)floor##suffix(x); }         \
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

inline float __int2float_rn(int x) { return (float)x; }
inline float __uint2float_rn(unsigned int x) { return (float)x; }
inline float __ll2float_rn(long long x) { return (float)x; }
inline float __ull2float_rn(unsigned long long x) { return (float)x; }
inline double __int2double_rn(int x) { return (double)x; }
inline double __uint2double_rn(unsigned int x) { return (double)x; }
inline double __ll2double_rn(long long x) { return (double)x; }
inline double __ull2double_rn(unsigned long long x) { return (double)x; }
inline float __double2float_rn(double x) { return (float)x; }

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

// ---- bits ------------------------------------------------------------------------------------------------------------

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
inline unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
inline unsigned int __umulhi(unsigned int x, unsigned int y) { return (unsigned int)((unsigned long long)x * y >> 32); }
inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
inline int __mul24(int x, int y) { return (int)(((long long)(x << 8) >> 8) * ((long long)(y << 8) >> 8)); }
inline unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffffu) * (y & 0xffffffu); }
inline int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
inline int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
inline unsigned int __uhadd(unsigned int x, unsigned int y) { return (unsigned int)(((unsigned long long)x + y) >> 1); }
inline unsigned int __sad(int x, int y, unsigned int z) { return (x > y ? (unsigned int)x - y : (unsigned int)y - x) + z; }
inline unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return (x > y ? x - y : y - x) + z; }

/// Four bytes out of the eight of y:x; the top bit of a selector's nibble spreads the byte's sign instead.
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned int result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned int nibble = selector >> 4 * i & 15;
    unsigned int byte = (unsigned int)(bytes >> 8 * (nibble & 7)) & 255;
    if (nibble & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return (unsigned int)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return (unsigned int)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// ---- loads and stores with cache hints, which are plain ones here ----------------------------------------------------------

#define GPULUA_LOAD(name)          \
  template <class T>               \
  inline T name(const T* address) { \
    return *address;               \
  }
GPULUA_LOAD(__ldg)
GPULUA_LOAD(__ldca)
GPULUA_LOAD(__ldcg)
GPULUA_LOAD(__ldcs)
GPULUA_LOAD(__ldcv)
GPULUA_LOAD(__ldlu)
#undef GPULUA_LOAD
template <class T, class U>
inline void __stwb(T* address, U value) { *address = value; }
template <class T, class U>
inline void __stcg(T* address, U value) { *address = value; }
template <class T, class U>
inline void __stcs(T* address, U value) { *address = value; }
template <class T, class U>
inline void __stwt(T* address, U value) { *address = value; }

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// The functions of one 16-bit floating-point type. cuda_fp16.h and cuda_bf16.h include this with GPULUA_SMALL, the type,
// GPULUA_SMALL2, two of it, and GPULUA_PASTE(a, b), which puts the type's name in CUDA's functions between a and b.
// Arithmetic is float's, rounded once more, which gives the right bits as a float has more than twice the digits.

// ---- arithmetic ------------------------------------------------------------------------------------------------------------

inline GPULUA_SMALL gpulua_saturated(GPULUA_SMALL x) { return GPULUA_SMALL(__saturatef((float)x)); }
/// A NaN stays one, and -0 becomes 0.
inline GPULUA_SMALL gpulua_relu(GPULUA_SMALL x) { return (float)x <= 0.0f ? GPULUA_SMALL(0.0f) : x; }
inline GPULUA_SMALL operator-(GPULUA_SMALL x) { return gpulua_flip_bits(x, 0x8000); }
inline GPULUA_SMALL operator+(GPULUA_SMALL x) { return x; }
inline GPULUA_SMALL2 operator-(GPULUA_SMALL2 x) { return {-x.x, -x.y}; }

#define GPULUA_ARITHMETIC(sign, name)                                                                                   \
  inline GPULUA_SMALL operator sign(GPULUA_SMALL x, GPULUA_SMALL y) { return GPULUA_SMALL((float)x sign (float)y); }      \
  inline GPULUA_SMALL& operator sign##=(GPULUA_SMALL& x, GPULUA_SMALL y) { return x = x sign y; }                        \
  inline GPULUA_SMALL name(GPULUA_SMALL x, GPULUA_SMALL y) { return x sign y; }                                          \
  inline GPULUA_SMALL2 operator sign(GPULUA_SMALL2 x, GPULUA_SMALL2 y) { return {x.x sign y.x, x.y sign y.y}; }           \
  inline GPULUA_SMALL2& operator sign##=(GPULUA_SMALL2& x, GPULUA_SMALL2 y) { return x = x sign y; }
#define GPULUA_VARIANTS(sign, name)                                                                                     \
  GPULUA_ARITHMETIC(sign, name)                                                                                         \
  inline GPULUA_SMALL name##_rn(GPULUA_SMALL x, GPULUA_SMALL y) { return x sign y; }                                     \
  inline GPULUA_SMALL name##_sat(GPULUA_SMALL x, GPULUA_SMALL y) { return gpulua_saturated(x sign y); }                  \
  inline GPULUA_SMALL2 name##2(GPULUA_SMALL2 x, GPULUA_SMALL2 y) { return x sign y; }                                    \
  inline GPULUA_SMALL2 name##2_rn(GPULUA_SMALL2 x, GPULUA_SMALL2 y) { return x sign y; }                                 \
  inline GPULUA_SMALL2 name##2_sat(GPULUA_SMALL2 x, GPULUA_SMALL2 y) { return {name##_sat(x.x, y.x), name##_sat(x.y, y.y)}; }
GPULUA_VARIANTS(+, __hadd)
GPULUA_VARIANTS(-, __hsub)
GPULUA_VARIANTS(*, __hmul)
GPULUA_ARITHMETIC(/, __hdiv)
inline GPULUA_SMALL2 __h2div(GPULUA_SMALL2 x, GPULUA_SMALL2 y) { return x / y; }
inline GPULUA_SMALL& operator++(GPULUA_SMALL& x) { return x += GPULUA_SMALL(1.0f); }
inline GPULUA_SMALL& operator--(GPULUA_SMALL& x) { return x -= GPULUA_SMALL(1.0f); }

/// The sum is rounded to a float with an odd last place, which keeps what the second rounding has to know.
inline GPULUA_SMALL __hfma(GPULUA_SMALL x, GPULUA_SMALL y, GPULUA_SMALL z) {
  return GPULUA_SMALL(gpulua_multiply_add<gpulua_odd>((float)x, (float)y, (float)z));
}
inline GPULUA_SMALL __hfma_sat(GPULUA_SMALL x, GPULUA_SMALL y, GPULUA_SMALL z) { return gpulua_saturated(__hfma(x, y, z)); }
inline GPULUA_SMALL __hfma_relu(GPULUA_SMALL x, GPULUA_SMALL y, GPULUA_SMALL z) { return gpulua_relu(__hfma(x, y, z)); }
#define GPULUA_FUSED(name, name2)                                                                  \
  inline GPULUA_SMALL2 name2(GPULUA_SMALL2 x, GPULUA_SMALL2 y, GPULUA_SMALL2 z) {                  \
    return {name(x.x, y.x, z.x), name(x.y, y.y, z.y)};                                             \
  }
GPULUA_FUSED(__hfma, __hfma2)
GPULUA_FUSED(__hfma_sat, __hfma2_sat)
GPULUA_FUSED(__hfma_relu, __hfma2_relu)
inline GPULUA_SMALL2 __hcmadd(GPULUA_SMALL2 x, GPULUA_SMALL2 y, GPULUA_SMALL2 z) {
  return {__hfma(-x.y, y.y, __hfma(x.x, y.x, z.x)), __hfma(x.y, y.x, __hfma(x.x, y.y, z.y))};
}

inline GPULUA_SMALL __hneg(GPULUA_SMALL x) { return -x; }
inline GPULUA_SMALL __habs(GPULUA_SMALL x) { return gpulua_flip_bits(x, __builtin_bit_cast(unsigned short, x) & 0x8000); }
inline GPULUA_SMALL2 __hneg2(GPULUA_SMALL2 x) { return -x; }
inline GPULUA_SMALL2 __habs2(GPULUA_SMALL2 x) { return {__habs(x.x), __habs(x.y)}; }

// ---- comparisons -----------------------------------------------------------------------------------------------------------

#define GPULUA_COMPARISON(sign, name, ordered_too)                                                                       \
  inline bool operator sign(GPULUA_SMALL x, GPULUA_SMALL y) { return (float)x sign (float)y; }                            \
  inline bool operator sign(GPULUA_SMALL2 x, GPULUA_SMALL2 y) { return x.x sign y.x && x.y sign y.y; }                     \
  inline bool name(GPULUA_SMALL x, GPULUA_SMALL y) { return ordered_too && (float)x sign (float)y; }                      \
  inline bool name##u(GPULUA_SMALL x, GPULUA_SMALL y) { return gpulua_unordered(x, y) || (float)x sign (float)y; }        \
  inline GPULUA_SMALL2 name##2(GPULUA_SMALL2 x, GPULUA_SMALL2 y) {                                                       \
    return {GPULUA_SMALL(name(x.x, y.x) ? 1.0f : 0.0f), GPULUA_SMALL(name(x.y, y.y) ? 1.0f : 0.0f)};                     \
  }                                                                                                                      \
  inline GPULUA_SMALL2 name##u2(GPULUA_SMALL2 x, GPULUA_SMALL2 y) {                                                      \
    return {GPULUA_SMALL(name##u(x.x, y.x) ? 1.0f : 0.0f), GPULUA_SMALL(name##u(x.y, y.y) ? 1.0f : 0.0f)};               \
  }                                                                                                                      \
  inline unsigned int name##2_mask(GPULUA_SMALL2 x, GPULUA_SMALL2 y) {                                                   \
    return (name(x.x, y.x) ? 0xffffu : 0u) | (name(x.y, y.y) ? 0xffff0000u : 0u);                                        \
  }                                                                                                                      \
  inline unsigned int name##u2_mask(GPULUA_SMALL2 x, GPULUA_SMALL2 y) {                                                  \
    return (name##u(x.x, y.x) ? 0xffffu : 0u) | (name##u(x.y, y.y) ? 0xffff0000u : 0u);                                  \
  }
inline bool gpulua_unordered(GPULUA_SMALL x, GPULUA_SMALL y) { return (float)x != (float)x || (float)y != (float)y; }
GPULUA_COMPARISON(==, __heq, true)
GPULUA_COMPARISON(!=, __hne, !gpulua_unordered(x, y))
GPULUA_COMPARISON(<, __hlt, true)
GPULUA_COMPARISON(<=, __hle, true)
GPULUA_COMPARISON(>, __hgt, true)
GPULUA_COMPARISON(>=, __hge, true)
#undef GPULUA_COMPARISON
#define GPULUA_BOTH(name)                                                                                          \
  inline bool __hb##name##2(GPULUA_SMALL2 x, GPULUA_SMALL2 y) { return __h##name(x.x, y.x) && __h##name(x.y, y.y); } \
  inline bool __hb##name##u2(GPULUA_SMALL2 x, GPULUA_SMALL2 y) { return __h##name##u(x.x, y.x) && __h##name##u(x.y, y.y); }
GPULUA_BOTH(eq)
GPULUA_BOTH(ne)
GPULUA_BOTH(lt)
GPULUA_BOTH(le)
GPULUA_BOTH(gt)
GPULUA_BOTH(ge)
#undef GPULUA_BOTH

inline bool __hisnan(GPULUA_SMALL x) { return (float)x != (float)x; }
inline int __hisinf(GPULUA_SMALL x) { return __builtin_isinf((float)x) ? ((float)x > 0 ? 1 : -1) : 0; }
inline GPULUA_SMALL2 __hisnan2(GPULUA_SMALL2 x) {
  return {GPULUA_SMALL(__hisnan(x.x) ? 1.0f : 0.0f), GPULUA_SMALL(__hisnan(x.y) ? 1.0f : 0.0f)};
}
// The operand that is no NaN, -0 below +0; the _nan forms give a NaN where one operand is one.
inline GPULUA_SMALL __hmin(GPULUA_SMALL x, GPULUA_SMALL y) {
  bool first = __hisnan(y) || (float)x < (float)y || ((float)x == (float)y && __builtin_signbit((float)x));
  return gpulua_canonical(first ? x : y);
}
inline GPULUA_SMALL __hmax(GPULUA_SMALL x, GPULUA_SMALL y) {
  bool first = __hisnan(y) || (float)x > (float)y || ((float)x == (float)y && !__builtin_signbit((float)x));
  return gpulua_canonical(first ? x : y);
}
inline GPULUA_SMALL __hmin_nan(GPULUA_SMALL x, GPULUA_SMALL y) { return gpulua_unordered(x, y) ? x + y : __hmin(x, y); }
inline GPULUA_SMALL __hmax_nan(GPULUA_SMALL x, GPULUA_SMALL y) { return gpulua_unordered(x, y) ? x + y : __hmax(x, y); }
#define GPULUA_PAIRS(name, name2) \
  inline GPULUA_SMALL2 name2(GPULUA_SMALL2 x, GPULUA_SMALL2 y) { return {name(x.x, y.x), name(x.y, y.y)}; }
GPULUA_PAIRS(__hmin, __hmin2)
GPULUA_PAIRS(__hmax, __hmax2)
GPULUA_PAIRS(__hmin_nan, __hmin2_nan)
GPULUA_PAIRS(__hmax_nan, __hmax2_nan)

// ---- functions -------------------------------------------------------------------------------------------------------------

#define GPULUA_FUNCTION(name, function)                                                  \
  inline GPULUA_SMALL h##name(GPULUA_SMALL x) { return GPULUA_SMALL(function((float)x)); } \
  inline GPULUA_SMALL2 h2##name(GPULUA_SMALL2 x) { return {h##name(x.x), h##name(x.y)}; }
GPULUA_FUNCTION(sqrt, sqrtf)
GPULUA_FUNCTION(rsqrt, rsqrtf)
GPULUA_FUNCTION(rcp, 1.0f /)
GPULUA_FUNCTION(exp, expf)
GPULUA_FUNCTION(exp2, exp2f)
GPULUA_FUNCTION(exp10, exp10f)
GPULUA_FUNCTION(log, logf)
GPULUA_FUNCTION(log2, log2f)
GPULUA_FUNCTION(log10, log10f)
GPULUA_FUNCTION(sin, sinf)
GPULUA_FUNCTION(cos, cosf)
GPULUA_FUNCTION(tanh, tanhf)
GPULUA_FUNCTION(tanh_approx, tanhf)
GPULUA_FUNCTION(floor, floorf)
GPULUA_FUNCTION(ceil, ceilf)
GPULUA_FUNCTION(trunc, truncf)
GPULUA_FUNCTION(rint, rintf)
#undef GPULUA_FUNCTION

// ---- conversions -----------------------------------------------------------------------------------------------------------

inline GPULUA_SMALL GPULUA_PASTE(__float2, )(float x) { return GPULUA_SMALL(x); }
inline GPULUA_SMALL GPULUA_PASTE(__double2, )(double x) { return GPULUA_SMALL(x); }
inline float GPULUA_PASTE(__, 2float)(GPULUA_SMALL x) { return (float)x; }
inline GPULUA_SMALL GPULUA_PASTE(__float2, _rn)(float x) { return GPULUA_SMALL(x); }
inline GPULUA_SMALL GPULUA_PASTE(__float2, _rz)(float x) { return gpulua_small<gpulua_rz>(x, GPULUA_SMALL()); }
inline GPULUA_SMALL GPULUA_PASTE(__float2, _ru)(float x) { return gpulua_small<gpulua_ru>(x, GPULUA_SMALL()); }
inline GPULUA_SMALL GPULUA_PASTE(__float2, _rd)(float x) { return gpulua_small<gpulua_rd>(x, GPULUA_SMALL()); }

#define GPULUA_INTEGER(T, name)                                                                                            \
  inline GPULUA_SMALL GPULUA_PASTE(__##name##2, _rn)(T x) { return gpulua_small<gpulua_rn>(x, GPULUA_SMALL()); }             \
  inline GPULUA_SMALL GPULUA_PASTE(__##name##2, _rz)(T x) { return gpulua_small<gpulua_rz>(x, GPULUA_SMALL()); }             \
  inline GPULUA_SMALL GPULUA_PASTE(__##name##2, _ru)(T x) { return gpulua_small<gpulua_ru>(x, GPULUA_SMALL()); }             \
  inline GPULUA_SMALL GPULUA_PASTE(__##name##2, _rd)(T x) { return gpulua_small<gpulua_rd>(x, GPULUA_SMALL()); }             \
  inline T GPULUA_PASTE(__, 2##name##_rn)(GPULUA_SMALL x) { return (T)rintf((float)x); }              \
  inline T GPULUA_PASTE(__, 2##name##_rz)(GPULUA_SMALL x) { return (T)(float)x; }                     \
  inline T GPULUA_PASTE(__, 2##name##_ru)(GPULUA_SMALL x) { return (T)ceilf((float)x); }              \
  inline T GPULUA_PASTE(__, 2##name##_rd)(GPULUA_SMALL x) { return (T)floorf((float)x); }
GPULUA_INTEGER(short, short)
GPULUA_INTEGER(unsigned short, ushort)
GPULUA_INTEGER(int, int)
GPULUA_INTEGER(unsigned int, uint)
GPULUA_INTEGER(long long, ll)
GPULUA_INTEGER(unsigned long long, ull)
#undef GPULUA_INTEGER

inline unsigned short GPULUA_PASTE(__, _as_ushort)(GPULUA_SMALL x) { return __builtin_bit_cast(unsigned short, x); }
inline short GPULUA_PASTE(__, _as_short)(GPULUA_SMALL x) { return __builtin_bit_cast(short, x); }
inline GPULUA_SMALL GPULUA_PASTE(__ushort_as_, )(unsigned short x) { return __builtin_bit_cast(GPULUA_SMALL, x); }
inline GPULUA_SMALL GPULUA_PASTE(__short_as_, )(short x) { return __builtin_bit_cast(GPULUA_SMALL, x); }

inline GPULUA_SMALL2 GPULUA_PASTE(make_, 2)(GPULUA_SMALL x, GPULUA_SMALL y) { return {x, y}; }
inline GPULUA_SMALL2 GPULUA_PASTE(__halves2, 2)(GPULUA_SMALL x, GPULUA_SMALL y) { return {x, y}; }
inline GPULUA_SMALL2 GPULUA_PASTE2(__, 2, 2)(GPULUA_SMALL x) { return {x, x}; }
inline GPULUA_SMALL2 GPULUA_PASTE(__float2, 2_rn)(float x) { return {GPULUA_SMALL(x), GPULUA_SMALL(x)}; }
inline GPULUA_SMALL2 GPULUA_PASTE(__floats2, 2_rn)(float x, float y) { return {GPULUA_SMALL(x), GPULUA_SMALL(y)}; }
inline GPULUA_SMALL2 GPULUA_PASTE(__float22, 2_rn)(float2 v) { return {GPULUA_SMALL(v.x), GPULUA_SMALL(v.y)}; }
inline float2 GPULUA_PASTE(__, 22float2)(GPULUA_SMALL2 v) { return {(float)v.x, (float)v.y}; }
inline GPULUA_SMALL GPULUA_PASTE(__low2, )(GPULUA_SMALL2 v) { return v.x; }
inline GPULUA_SMALL GPULUA_PASTE(__high2, )(GPULUA_SMALL2 v) { return v.y; }
inline GPULUA_SMALL2 GPULUA_PASTE(__low2, 2)(GPULUA_SMALL2 v) { return {v.x, v.x}; }
inline GPULUA_SMALL2 GPULUA_PASTE(__high2, 2)(GPULUA_SMALL2 v) { return {v.y, v.y}; }
inline GPULUA_SMALL2 GPULUA_PASTE(__lows2, 2)(GPULUA_SMALL2 a, GPULUA_SMALL2 b) { return {a.x, b.x}; }
inline GPULUA_SMALL2 GPULUA_PASTE(__highs2, 2)(GPULUA_SMALL2 a, GPULUA_SMALL2 b) { return {a.y, b.y}; }
inline GPULUA_SMALL2 __lowhigh2highlow(GPULUA_SMALL2 v) { return {v.y, v.x}; }
inline float __low2float(GPULUA_SMALL2 v) { return (float)v.x; }
inline float __high2float(GPULUA_SMALL2 v) { return (float)v.y; }

// ---- shuffles --------------------------------------------------------------------------------------------------------------

#define GPULUA_SHUFFLE(name, Lane)                                                                                 \
  inline GPULUA_SMALL name(unsigned int mask, GPULUA_SMALL value, Lane lane, int width = 32) {                     \
    unsigned int word = __builtin_bit_cast(unsigned short, value);                                                 \
    return __builtin_bit_cast(GPULUA_SMALL, (unsigned short)name(mask, word, lane, width));                        \
  }                                                                                                                \
  inline GPULUA_SMALL2 name(unsigned int mask, GPULUA_SMALL2 value, Lane lane, int width = 32) {                   \
    return __builtin_bit_cast(GPULUA_SMALL2, name(mask, __builtin_bit_cast(unsigned int, value), lane, width));    \
  }
GPULUA_SHUFFLE(__shfl_sync, int)
GPULUA_SHUFFLE(__shfl_up_sync, unsigned int)
GPULUA_SHUFFLE(__shfl_down_sync, unsigned int)
GPULUA_SHUFFLE(__shfl_xor_sync, int)
#undef GPULUA_SHUFFLE

// ---- atomics ---------------------------------------------------------------------------------------------------------------

inline GPULUA_SMALL atomicAdd(GPULUA_SMALL* address, GPULUA_SMALL value) {
  return __builtin_bit_cast(GPULUA_SMALL, gpulua_atomic_update((unsigned short*)address, [=](unsigned short old) {
    return __builtin_bit_cast(unsigned short, __builtin_bit_cast(GPULUA_SMALL, old) + value);
  }));
}
inline GPULUA_SMALL2 atomicAdd(GPULUA_SMALL2* address, GPULUA_SMALL2 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}

#undef GPULUA_ARITHMETIC
#undef GPULUA_VARIANTS
#undef GPULUA_FUSED
#undef GPULUA_PAIRS

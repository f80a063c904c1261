// PTX's arithmetic of f16, bf16 and pairs of them. Names and parameters are as in gpulua_ptx.h. Sums and products are exact enough in
// float32 to round to the nearest from there; the fused ones round to odd first.
#pragma once

inline float gpulua_half_to_float(gpulua_u16 a) { return gpulua_ptx_cvt_f32_f16(a); }
inline float gpulua_bfloat_to_float(gpulua_u16 a) { return gpulua_ptx_cvt_f32_bf16(a); }

#define GPULUA_PAIR(name, t)                                                                                           \
  GPULUA_PTX(gpulua_u32, name##_##t##x2)(gpulua_u32 a) {                                                               \
    return (gpulua_u32)gpulua_ptx_##name##_##t((gpulua_u16)(a >> 16)) << 16 | gpulua_ptx_##name##_##t((gpulua_u16)a);  \
  }
#define GPULUA_PAIR_2(name, t)                                                                                         \
  GPULUA_PTX(gpulua_u32, name##_##t##x2)(gpulua_u32 a, gpulua_u32 b) {                                                 \
    return (gpulua_u32)gpulua_ptx_##name##_##t((gpulua_u16)(a >> 16), (gpulua_u16)(b >> 16)) << 16 |                   \
           gpulua_ptx_##name##_##t((gpulua_u16)a, (gpulua_u16)b);                                                      \
  }
#define GPULUA_PAIR_3(name, t)                                                                                         \
  GPULUA_PTX(gpulua_u32, name##_##t##x2)(gpulua_u32 a, gpulua_u32 b, gpulua_u32 c) {                                   \
    const gpulua_u32 high = gpulua_ptx_##name##_##t((gpulua_u16)(a >> 16), (gpulua_u16)(b >> 16), (gpulua_u16)(c >> 16)); \
    return high << 16 | gpulua_ptx_##name##_##t((gpulua_u16)a, (gpulua_u16)b, (gpulua_u16)c);                          \
  }
#define GPULUA_OF_1(name, t, from, expression)                                                                         \
  GPULUA_PTX(gpulua_u16, name##_##t)(gpulua_u16 a) {                                                                   \
    const float x = from(a);                                                                                           \
    return gpulua_ptx_cvt_rn_##t##_f32(expression);                                                                    \
  }                                                                                                                    \
  GPULUA_PAIR(name, t)
#define GPULUA_OF_2(name, t, from, expression)                                                                         \
  GPULUA_PTX(gpulua_u16, name##_##t)(gpulua_u16 a, gpulua_u16 b) {                                                     \
    const float x = from(a), y = from(b);                                                                              \
    return gpulua_ptx_cvt_rn_##t##_f32(expression);                                                                    \
  }                                                                                                                    \
  GPULUA_PAIR_2(name, t)
#define GPULUA_OF_3(name, t, from, expression)                                                                         \
  GPULUA_PTX(gpulua_u16, name##_##t)(gpulua_u16 a, gpulua_u16 b, gpulua_u16 c) {                                       \
    const float fused = gpulua_multiply_add<gpulua_odd>(from(a), from(b), from(c));                                    \
    return gpulua_ptx_cvt_rn_##t##_f32(expression);                                                                    \
  }                                                                                                                    \
  GPULUA_PAIR_3(name, t)
#define GPULUA_HALVES(t, from)                                                     \
  GPULUA_OF_2(add, t, from, x + y)                                                 \
  GPULUA_OF_2(sub, t, from, x - y)                                                 \
  GPULUA_OF_2(mul, t, from, x * y)                                                 \
  GPULUA_OF_2(min, t, from, gpulua_ptx_min_f32(x, y))                              \
  GPULUA_OF_2(max, t, from, gpulua_ptx_max_f32(x, y))                              \
  GPULUA_OF_2(min_NaN, t, from, gpulua_ptx_min_NaN_f32(x, y))                      \
  GPULUA_OF_2(max_NaN, t, from, gpulua_ptx_max_NaN_f32(x, y))                      \
  GPULUA_OF_3(fma, t, from, fused)                                                 \
  GPULUA_OF_3(fma_relu, t, from, fused <= 0.0f ? 0.0f : fused)                     \
  GPULUA_OF_1(abs, t, from, fabsf(x))                                              \
  GPULUA_OF_1(neg, t, from, -x)                                                    \
  GPULUA_OF_1(ex2, t, from, exp2f(x))                                              \
  GPULUA_OF_1(tanh, t, from, tanhf(x))
GPULUA_HALVES(f16, gpulua_half_to_float)
GPULUA_HALVES(bf16, gpulua_bfloat_to_float)
#undef GPULUA_PAIR
#undef GPULUA_PAIR_2
#undef GPULUA_PAIR_3
#undef GPULUA_OF_1
#undef GPULUA_OF_2
#undef GPULUA_OF_3
#undef GPULUA_HALVES

// ---- to integers, which all saturate -----------------------------------------------------------------------------------------

#define GPULUA_FROM_HALF(to)                                                                                           \
  GPULUA_PTX(gpulua_##to, cvt_rzi_##to##_f16)(gpulua_u16 a) { return gpulua_ptx_cvt_rzi_##to##_f32(gpulua_half_to_float(a)); } \
  GPULUA_PTX(gpulua_##to, cvt_rni_##to##_f16)(gpulua_u16 a) { return gpulua_ptx_cvt_rni_##to##_f32(gpulua_half_to_float(a)); } \
  GPULUA_PTX(gpulua_##to, cvt_rmi_##to##_f16)(gpulua_u16 a) { return gpulua_ptx_cvt_rmi_##to##_f32(gpulua_half_to_float(a)); } \
  GPULUA_PTX(gpulua_##to, cvt_rpi_##to##_f16)(gpulua_u16 a) { return gpulua_ptx_cvt_rpi_##to##_f32(gpulua_half_to_float(a)); }
GPULUA_FROM_HALF(s8)
GPULUA_FROM_HALF(u8)
GPULUA_FROM_HALF(s16)
GPULUA_FROM_HALF(u16)
GPULUA_FROM_HALF(s32)
GPULUA_FROM_HALF(u32)
GPULUA_FROM_HALF(s64)
GPULUA_FROM_HALF(u64)
#undef GPULUA_FROM_HALF

// CUDA's DPX functions: sums held against a third number, the greatest and least of three, and which of two it is; on 32-bit
// numbers and on the two halves of a word. Sums wrap.
#pragma once
#pragma clang force_cuda_host_device begin

#define GPULUA_DPX(T, type, add, min, max)                                                              \
  inline T __viaddmax_##type(T a, T b, T c) { return max(add(a, b), c); }                               \
  inline T __viaddmin_##type(T a, T b, T c) { return min(add(a, b), c); }                               \
  inline T __vimax3_##type(T a, T b, T c) { return max(max(a, b), c); }                                 \
  inline T __vimin3_##type(T a, T b, T c) { return min(min(a, b), c); }
/// None below 0.
#define GPULUA_DPX_RELU(T, type, min, max)                                                              \
  inline T __viaddmax_##type##_relu(T a, T b, T c) { return max(__viaddmax_##type(a, b, c), 0); }       \
  inline T __viaddmin_##type##_relu(T a, T b, T c) { return max(__viaddmin_##type(a, b, c), 0); }       \
  inline T __vimax3_##type##_relu(T a, T b, T c) { return max(__vimax3_##type(a, b, c), 0); }           \
  inline T __vimin3_##type##_relu(T a, T b, T c) { return max(__vimin3_##type(a, b, c), 0); }           \
  inline T __vimax_##type##_relu(T a, T b) { return max(max(a, b), 0); }                                \
  inline T __vimin_##type##_relu(T a, T b) { return max(min(a, b), 0); }
/// Whether it is the first one, equal or not.
#define GPULUA_DPX_CHOICE(T, type)                                                                      \
  inline T __vibmax_##type(T a, T b, bool* first) { return *first = a >= b, max(a, b); }                \
  inline T __vibmin_##type(T a, T b, bool* first) { return *first = a <= b, min(a, b); }
#define GPULUA_DPX_CHOICES(T, type)                                                                     \
  inline unsigned int __vibmax_##type##16x2(unsigned int a, unsigned int b, bool* high, bool* low) {    \
    *high = (T)(a >> 16) >= (T)(b >> 16);                                                               \
    *low = (T)a >= (T)b;                                                                                \
    return __vmax##type##2(a, b);                                                                       \
  }                                                                                                     \
  inline unsigned int __vibmin_##type##16x2(unsigned int a, unsigned int b, bool* high, bool* low) {    \
    *high = (T)(a >> 16) <= (T)(b >> 16);                                                               \
    *low = (T)a <= (T)b;                                                                                \
    return __vmin##type##2(a, b);                                                                       \
  }
inline int gpulua_wrapping_sum(int a, int b) { return (int)((unsigned int)a + (unsigned int)b); }
inline unsigned int gpulua_wrapping_sum(unsigned int a, unsigned int b) { return a + b; }
GPULUA_DPX(int, s32, gpulua_wrapping_sum, min, max)
GPULUA_DPX(unsigned int, u32, gpulua_wrapping_sum, min, max)
GPULUA_DPX(unsigned int, s16x2, __vadd2, __vmins2, __vmaxs2)
GPULUA_DPX(unsigned int, u16x2, __vadd2, __vminu2, __vmaxu2)
GPULUA_DPX_RELU(int, s32, min, max)
GPULUA_DPX_RELU(unsigned int, s16x2, __vmins2, __vmaxs2)
GPULUA_DPX_CHOICE(int, s32)
GPULUA_DPX_CHOICE(unsigned int, u32)
GPULUA_DPX_CHOICES(short, s)
GPULUA_DPX_CHOICES(unsigned short, u)
#undef GPULUA_DPX
#undef GPULUA_DPX_RELU
#undef GPULUA_DPX_CHOICE
#undef GPULUA_DPX_CHOICES
#pragma clang force_cuda_host_device end

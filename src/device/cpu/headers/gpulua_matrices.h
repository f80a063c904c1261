// PTX's products of matrices that a warp holds, mma and ldmatrix, by the layouts of "PTX ISA". Names and parameters are as in
// gpulua_ptx.h. Products are added in float32, or in the integers or float64 of the type; a GPU adds several at once and may round
// otherwise.
#pragma once

// The elements of a 32-bit register.
struct gpulua_halves {
  static constexpr int count = 2;
  typedef float sum;
  static float element(unsigned bits, int i) { return (float)__builtin_bit_cast(_Float16, (unsigned short)(bits >> 16 * i)); }
};
struct gpulua_bfloats {
  static constexpr int count = 2;
  typedef float sum;
  static float element(unsigned bits, int i) { return __uint_as_float(bits >> 16 * i << 16); }
};
/// The lower 13 bits do not count.
struct gpulua_tf32s {
  static constexpr int count = 1;
  typedef float sum;
  static float element(unsigned bits, int) { return __uint_as_float(bits & 0xffffe000u); }
};
template <class T>
struct gpulua_bytes {
  static constexpr int count = 4;
  typedef int sum;
  static int element(unsigned bits, int i) { return (T)(bits >> 8 * i); }
};

/// D = A B + C of 16 by 8 with `registers` registers of A, and half as many of B, in each lane. A lane has of A the rows r and r + 8, where
/// r is its number by 4, and of D these rows and the columns c and c + 1, where c is twice the rest. The registers of a row lie in the four
/// lanes of r side by side, and then again.
template <class A, class B, int registers, class Sum>
__device__ inline void gpulua_multiply_matrices(Sum* d, const unsigned* a, const unsigned* b, const Sum* c) {
  const unsigned lane = gpulua_lane(), row = lane & 28, column = (lane & 3) * 8;
  Sum sums[4] = {c[0], c[1], c[2], c[3]};
#pragma unroll
  for (int part = 0; part < registers / 2; ++part)
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned upper = gpulua_shuffle(~0u, a[2 * part], row + i), lower = gpulua_shuffle(~0u, a[2 * part + 1], row + i);
      const unsigned left = gpulua_shuffle(~0u, b[part], column + i), right = gpulua_shuffle(~0u, b[part], column + 4 + i);
#pragma unroll
      for (int k = 0; k < A::count; ++k) {
        sums[0] += A::element(upper, k) * B::element(left, k);
        sums[1] += A::element(upper, k) * B::element(right, k);
        sums[2] += A::element(lower, k) * B::element(left, k);
        sums[3] += A::element(lower, k) * B::element(right, k);
      }
    }
#pragma unroll
  for (int i = 0; i < 4; ++i) d[i] = sums[i];
}

#define GPULUA_MMA(shape, registers, a_type, b_type, A, B, sum_type, Sum)                                                     \
  GPULUA_PTX(void, mma_sync_##shape##_row_col_##sum_type##_##a_type##_##b_type##_##sum_type)                                  \
  (Sum * d, const unsigned* a, const unsigned* b, const Sum* c) { gpulua_multiply_matrices<A, B, registers>(d, a, b, c); }
GPULUA_MMA(m16n8k8, 2, f16, f16, gpulua_halves, gpulua_halves, f32, float)
GPULUA_MMA(m16n8k16, 4, f16, f16, gpulua_halves, gpulua_halves, f32, float)
GPULUA_MMA(m16n8k8, 2, bf16, bf16, gpulua_bfloats, gpulua_bfloats, f32, float)
GPULUA_MMA(m16n8k16, 4, bf16, bf16, gpulua_bfloats, gpulua_bfloats, f32, float)
GPULUA_MMA(m16n8k4, 2, tf32, tf32, gpulua_tf32s, gpulua_tf32s, f32, float)
GPULUA_MMA(m16n8k8, 4, tf32, tf32, gpulua_tf32s, gpulua_tf32s, f32, float)
GPULUA_MMA(m16n8k16, 2, s8, s8, gpulua_bytes<signed char>, gpulua_bytes<signed char>, s32, int)
GPULUA_MMA(m16n8k16, 2, u8, u8, gpulua_bytes<unsigned char>, gpulua_bytes<unsigned char>, s32, int)
GPULUA_MMA(m16n8k16, 2, s8, u8, gpulua_bytes<signed char>, gpulua_bytes<unsigned char>, s32, int)
GPULUA_MMA(m16n8k16, 2, u8, s8, gpulua_bytes<unsigned char>, gpulua_bytes<signed char>, s32, int)
GPULUA_MMA(m16n8k32, 4, s8, s8, gpulua_bytes<signed char>, gpulua_bytes<signed char>, s32, int)
GPULUA_MMA(m16n8k32, 4, u8, u8, gpulua_bytes<unsigned char>, gpulua_bytes<unsigned char>, s32, int)
GPULUA_MMA(m16n8k32, 4, s8, u8, gpulua_bytes<signed char>, gpulua_bytes<unsigned char>, s32, int)
GPULUA_MMA(m16n8k32, 4, u8, s8, gpulua_bytes<unsigned char>, gpulua_bytes<signed char>, s32, int)
#undef GPULUA_MMA

/// With sums in halves, two in a register, rounded at the end.
#define GPULUA_MMA_HALF(shape, registers)                                                                                     \
  GPULUA_PTX(void, mma_sync_##shape##_row_col_f16_f16_f16_f16)                                                                \
  (unsigned* d, const unsigned* a, const unsigned* b, const unsigned* c) {                                                    \
    float sums[4] = {gpulua_halves::element(c[0], 0), gpulua_halves::element(c[0], 1), gpulua_halves::element(c[1], 0),       \
                     gpulua_halves::element(c[1], 1)};                                                                        \
    gpulua_multiply_matrices<gpulua_halves, gpulua_halves, registers>(sums, a, b, sums);                                      \
    d[0] = gpulua_ptx_cvt_rn_f16x2_f32(sums[1], sums[0]);                                                                     \
    d[1] = gpulua_ptx_cvt_rn_f16x2_f32(sums[3], sums[2]);                                                                     \
  }
GPULUA_MMA_HALF(m16n8k8, 2)
GPULUA_MMA_HALF(m16n8k16, 4)
#undef GPULUA_MMA_HALF

/// A lane has A's element at its number by 4 and the rest, B's the other way round, and of D two elements of that row.
GPULUA_PTX(void, mma_sync_m8n8k4_row_col_f64_f64_f64_f64)(double* d, const double* a, const double* b, const double* c) {
  const unsigned lane = gpulua_lane();
  double left = c[0], right = c[1];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const double from_a = __shfl_sync(~0u, a[0], (int)(lane & 28) + k);
    left += from_a * __shfl_sync(~0u, b[0], (int)(lane & 3) * 8 + k);
    right += from_a * __shfl_sync(~0u, b[0], (int)(lane & 3) * 8 + 4 + k);
  }
  d[0] = left;
  d[1] = right;
}

// ---- matrices of 8 by 8 between shared memory and registers: lane 8 i + r has the address of row r of the i-th ----------------

__device__ inline char* gpulua_row_address(char* own, unsigned lane) {
  return (char*)gpulua_exchange(~0u, (unsigned long long)own, lane);
}
#define GPULUA_MATRICES(number)                                                                                               \
  GPULUA_PTX(void, ldmatrix_sync_m8n8_x##number##_b16)(unsigned* to, char* address) {                                         \
    const unsigned lane = gpulua_lane();                                                                                      \
    _Pragma("unroll") for (unsigned i = 0; i < number; ++i) to[i] =                                                           \
        *(const unsigned*)(gpulua_row_address(address, 8 * i + lane / 4) + 4 * (lane % 4));                                   \
  }                                                                                                                           \
  GPULUA_PTX(void, ldmatrix_sync_m8n8_x##number##_trans_b16)(unsigned* to, char* address) {                                   \
    const unsigned lane = gpulua_lane();                                                                                      \
    _Pragma("unroll") for (unsigned i = 0; i < number; ++i) {                                                                 \
      const char *first = gpulua_row_address(address, 8 * i + 2 * (lane % 4)),                                                \
                 *second = gpulua_row_address(address, 8 * i + 2 * (lane % 4) + 1);                                           \
      to[i] = ((const unsigned short*)first)[lane / 4] | (unsigned)((const unsigned short*)second)[lane / 4] << 16;           \
    }                                                                                                                         \
  }                                                                                                                           \
  GPULUA_PTX(void, stmatrix_sync_m8n8_x##number##_b16)(char* address, const unsigned* from) {                                 \
    const unsigned lane = gpulua_lane();                                                                                      \
    _Pragma("unroll") for (unsigned i = 0; i < number; ++i)                                                                   \
        *(unsigned*)(gpulua_row_address(address, 8 * i + lane / 4) + 4 * (lane % 4)) = from[i];                               \
  }
GPULUA_MATRICES(1)
GPULUA_MATRICES(2)
GPULUA_MATRICES(4)
#undef GPULUA_MATRICES
#undef GPULUA_PTX

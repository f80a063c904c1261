// nvcuda::wmma: matrices that a warp holds and multiplies. CUDA leaves open which lane has which element; here lane l of A has row l % m,
// of B and of sums column l % n, and of these an equal part each lane. Products are added in the type of the sums.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32 {};
}  // namespace precision

inline __device__ float __float_to_tf32(float x) { return __uint_as_float(gpulua_ptx_cvt_rna_tf32_f32(x)); }

namespace gpulua {

/// What a fragment's element is stored as, how it is read from memory, and in what it is multiplied.
template <class T>
struct element {
  typedef T stored;
  typedef T sum;
};
template <>
struct element<__half> {
  typedef __half stored;
  typedef float sum;
};
template <>
struct element<__nv_bfloat16> {
  typedef __nv_bfloat16 stored;
  typedef float sum;
};
template <>
struct element<precision::tf32> {
  typedef float stored;
  typedef float sum;
};
template <>
struct element<signed char> {
  typedef signed char stored;
  typedef int sum;
};
template <>
struct element<unsigned char> {
  typedef unsigned char stored;
  typedef int sum;
};

/// The lines along which lanes lie, and the elements of a line.
template <class Use, int m, int n, int k>
struct shape;
template <int m, int n, int k>
struct shape<matrix_a, m, n, k> {
  static constexpr int lines = m, length = k;
};
template <int m, int n, int k>
struct shape<matrix_b, m, n, k> {
  static constexpr int lines = n, length = k;
};
template <int m, int n, int k>
struct shape<accumulator, m, n, k> {
  static constexpr int lines = n, length = m;
};

/// The shapes that CUDA has for a type.
template <int m, int n, int k, class T>
struct is_known {
  static constexpr bool value = m * n == 256 && k == 16 && (m == 8 || m == 16 || m == 32);
};
template <int m, int n, int k>
struct is_known<m, n, k, precision::tf32> {
  static constexpr bool value = m == 16 && n == 16 && k == 8;
};
template <int m, int n, int k>
struct is_known<m, n, k, double> {
  static constexpr bool value = m == 8 && n == 8 && k == 4;
};

/// A value of another lane, whatever its type.
template <class T>
inline __device__ T from_lane(T value, unsigned lane) {
  return __shfl_sync(~0u, value, (int)lane);
}

}  // namespace gpulua

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  typedef gpulua::shape<Use, m, n, k> shape;

 public:
  typedef typename gpulua::element<T>::stored element_type;
  typedef element_type storage_element_type;
  // Lanes that share a line, and the elements that each has of it.
  static constexpr int lanes_of_line = 32 / shape::lines;
  static constexpr int num_elements = shape::length / lanes_of_line;
  static constexpr int num_storage_elements = num_elements;
  element_type x[num_elements];
};

namespace gpulua {

/// Where element `i` of this lane's part lies along its line.
template <class Use, int m, int n, int k>
inline __device__ unsigned place_of(int i) {
  typedef shape<Use, m, n, k> s;
  return gpulua_lane() / s::lines * (s::length * s::lines / 32) + i;
}

template <class Use, int m, int n, int k, class T, class Layout, class U>
inline __device__ void load(fragment<Use, m, n, k, T, Layout>& a, const U* from, unsigned stride, bool is_along_lines) {
  typedef shape<Use, m, n, k> s;
  const unsigned line = gpulua_lane() % s::lines;
#pragma unroll
  for (int i = 0; i < a.num_elements; ++i) {
    const unsigned place = place_of<Use, m, n, k>(i);
    a.x[i] = is_along_lines ? from[line * stride + place] : from[place * stride + line];
  }
}

template <class T>
inline __device__ T sum_of(T x, T y, bool) {
  return x + y;
}
inline __device__ int sum_of(int x, int y, bool saturates) {
  return saturates ? gpulua_ptx_add_sat_s32(x, y) : (int)((unsigned)x + (unsigned)y);
}

template <class Layout>
struct is_row_major {
  static constexpr bool value = false;
};
template <>
struct is_row_major<row_major> {
  static constexpr bool value = true;
};

}  // namespace gpulua

template <int m, int n, int k, class T, class Layout, class U>
inline __device__ void load_matrix_sync(fragment<matrix_a, m, n, k, T, Layout>& a, const U* from, unsigned stride) {
  static_assert(gpulua::is_known<m, n, k, T>::value, "expected a shape that CUDA has for the type: 16x16x16, 32x8x16, 8x32x16; 16x16x8; 8x8x4");
  gpulua::load(a, from, stride, gpulua::is_row_major<Layout>::value);
}
template <int m, int n, int k, class T, class Layout, class U>
inline __device__ void load_matrix_sync(fragment<matrix_b, m, n, k, T, Layout>& b, const U* from, unsigned stride) {
  static_assert(gpulua::is_known<m, n, k, T>::value, "expected a shape that CUDA has for the type: 16x16x16, 32x8x16, 8x32x16; 16x16x8; 8x8x4");
  gpulua::load(b, from, stride, !gpulua::is_row_major<Layout>::value);
}
template <int m, int n, int k, class T, class U>
inline __device__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& c, const U* from, unsigned stride, layout_t layout) {
  gpulua::load(c, from, stride, layout == mem_col_major);
}

template <int m, int n, int k, class T, class U>
inline __device__ void store_matrix_sync(U* to, const fragment<accumulator, m, n, k, T>& c, unsigned stride, layout_t layout) {
  const unsigned column = gpulua_lane() % n;
#pragma unroll
  for (int i = 0; i < c.num_elements; ++i) {
    const unsigned row = gpulua::place_of<accumulator, m, n, k>(i);
    to[layout == mem_row_major ? row * stride + column : column * stride + row] = c.x[i];
  }
}

template <class Use, int m, int n, int k, class T, class Layout, class U>
inline __device__ void fill_fragment(fragment<Use, m, n, k, T, Layout>& a, U value) {
#pragma unroll
  for (int i = 0; i < a.num_elements; ++i) a.x[i] = (typename gpulua::element<T>::stored)value;
}

/// D = A B + C. With `saturates`, integers are held to int's range at the end.
template <int m, int n, int k, class A, class LayoutA, class LayoutB, class D, class C>
inline __device__ void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, A, LayoutA>& a,
                                const fragment<matrix_b, m, n, k, A, LayoutB>& b, const fragment<accumulator, m, n, k, C>& c,
                                bool saturates = false) {
  typedef typename gpulua::element<A>::sum Sum;
  constexpr int count = fragment<accumulator, m, n, k, D>::num_elements;
  constexpr int of_a = fragment<matrix_a, m, n, k, A, LayoutA>::num_elements, of_b = fragment<matrix_b, m, n, k, A, LayoutB>::num_elements;
  const unsigned column = gpulua_lane() % n, first = gpulua::place_of<accumulator, m, n, k>(0);
  Sum products[count] = {};
#pragma unroll
  for (int p = 0; p < k; ++p) {
    const Sum right = (Sum)gpulua::from_lane(b.x[p % of_b], column + p / of_b * n);
#pragma unroll
    for (int i = 0; i < count; ++i) products[i] += (Sum)gpulua::from_lane(a.x[p % of_a], first + i + p / of_a * m) * right;
  }
#pragma unroll
  for (int i = 0; i < count; ++i) 
    d.x[i] = (typename gpulua::element<D>::stored)gpulua::sum_of((Sum)c.x[i], products[i], saturates);
}

// ---- elements of 4 bits and 1 bit: a lane has a word of each line --------------------------------------------------------------------

namespace experimental {
namespace precision {
struct u4 {};
struct s4 {};
struct b1 {};
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

#define GPULUA_WORDS(T, k)                                                                                           \
  template <>                                                                                                        \
  class fragment<matrix_a, 8, 8, k, experimental::precision::T, row_major> : public gpulua::word_of_line<32 * 4 / k> {}; \
  template <>                                                                                                        \
  class fragment<matrix_b, 8, 8, k, experimental::precision::T, col_major> : public gpulua::word_of_line<32 * 4 / k> {}; \
  template <class U>                                                                                                 \
  inline __device__ void load_matrix_sync(fragment<matrix_a, 8, 8, k, experimental::precision::T, row_major>& a, const U* from, unsigned stride) { \
    a.load(from, stride);                                                                                            \
  }                                                                                                                  \
  template <class U>                                                                                                 \
  inline __device__ void load_matrix_sync(fragment<matrix_b, 8, 8, k, experimental::precision::T, col_major>& b, const U* from, unsigned stride) { \
    b.load(from, stride);                                                                                            \
  }
namespace gpulua {

/// Lane l has word l / 8 of line l % 8. A stride counts elements, of `bits` bits each.
template <int bits>
struct word_of_line {
  typedef unsigned element_type, storage_element_type;
  static constexpr int num_elements = 32 / bits, num_storage_elements = 1;
  unsigned x[1];
  __device__ void load(const void* from, unsigned stride) {
    x[0] = ((const unsigned*)from)[gpulua_lane() % 8 * (stride / num_elements) + gpulua_lane() / 8];
  }
};

inline __device__ int nibble(experimental::precision::s4, unsigned word, int i) { return (int)(word << (28 - 4 * i)) >> 28; }
inline __device__ int nibble(experimental::precision::u4, unsigned word, int i) { return (int)(word >> (4 * i) & 15); }

/// In each lane the sum of product(word of A's row, word of B's column) for element `i` of its part of the sums.
template <class Product>
inline __device__ unsigned sum_of_words(unsigned a, unsigned b, int i, Product product) {
  const unsigned column = gpulua_lane() % 8, row = place_of<accumulator, 8, 8, 4>(i);
  unsigned sum = 0;
#pragma unroll
  for (unsigned word = 0; word < 4; ++word) sum += product(from_lane(a, row + 8 * word), from_lane(b, column + 8 * word));
  return sum;
}

}  // namespace gpulua
GPULUA_WORDS(u4, 32)
GPULUA_WORDS(s4, 32)
GPULUA_WORDS(b1, 128)
#undef GPULUA_WORDS

#define GPULUA_PRODUCT(T)                                                                                              \
  inline __device__ void mma_sync(fragment<accumulator, 8, 8, 32, int>& d,                                             \
                                  const fragment<matrix_a, 8, 8, 32, experimental::precision::T, row_major>& a,        \
                                  const fragment<matrix_b, 8, 8, 32, experimental::precision::T, col_major>& b,        \
                                  const fragment<accumulator, 8, 8, 32, int>& c, bool saturates = false) {             \
    for (int i = 0; i < 2; ++i) {                                                                                      \
      const unsigned sum = gpulua::sum_of_words(a.x[0], b.x[0], i, [](unsigned left, unsigned right) {                 \
        int part = 0;                                                                                                  \
        for (int e = 0; e < 8; ++e)                                                                                    \
          part += gpulua::nibble(experimental::precision::T(), left, e) * gpulua::nibble(experimental::precision::T(), right, e); \
        return (unsigned)part;                                                                                         \
      });                                                                                                              \
      d.x[i] = gpulua::sum_of(c.x[i], (int)sum, saturates);                                                            \
    }                                                                                                                  \
  }
GPULUA_PRODUCT(u4)
GPULUA_PRODUCT(s4)
#undef GPULUA_PRODUCT

inline __device__ void bmma_sync(fragment<accumulator, 8, 8, 128, int>& d,
                                 const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major>& a,
                                 const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major>& b,
                                 const fragment<accumulator, 8, 8, 128, int>& c,
                                 experimental::bmmaBitOp operation = experimental::bmmaBitOpXOR,
                                 experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
  for (int i = 0; i < 2; ++i)
    d.x[i] = (int)((unsigned)c.x[i] + gpulua::sum_of_words(a.x[0], b.x[0], i, [operation](unsigned left, unsigned right) {
      return (unsigned)__popc(operation == experimental::bmmaBitOpAND ? left & right : left ^ right);
    }));
}

}  // namespace wmma
}  // namespace nvcuda

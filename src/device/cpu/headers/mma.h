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

}  // namespace wmma
}  // namespace nvcuda

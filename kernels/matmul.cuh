// Products of matrices of integers, which wrap, and of bool: true where a product of the sum is true.

template <class T, bool wide = (sizeof(T) > 4)>
struct gpulua_products {
  using Sum = unsigned int;
  __device__ static Sum from(T x) { return (Sum)x; }
  __device__ static Sum add(Sum sum, Sum x, Sum y) { return sum + x * y; }
  __device__ static T result(Sum sum) { return (T)sum; }
};
template <class T>
struct gpulua_products<T, true> {
  using Sum = unsigned long long;
  __device__ static Sum from(T x) { return (Sum)x; }
  __device__ static Sum add(Sum sum, Sum x, Sum y) { return sum + x * y; }
  __device__ static T result(Sum sum) { return (T)sum; }
};
template <>
struct gpulua_products<bool, false> {
  using Sum = unsigned int;
  __device__ static Sum from(bool x) { return x; }
  __device__ static Sum add(Sum sum, Sum x, Sum y) { return sum | (x & y); }
  __device__ static bool result(Sum sum) { return sum != 0; }
};

// The matrices of one product of a batch, by the strides between them or, if not null, by their addresses.
template <class T>
struct gpulua_matrices {
  const T *a, *b;
  T* c;
  __device__ gpulua_matrices(const T* a_, const T* b_, T* c_, long long stride_a, long long stride_b, long long stride_c,
                             const long long* addresses_a, const long long* addresses_b, const long long* addresses_c,
                             long long which) {
    if (addresses_c) {
      a = (const T*)addresses_a[which];
      b = (const T*)addresses_b[which];
      c = (T*)addresses_c[which];
    } else {
      a = a_ + which * stride_a;
      b = b_ + which * stride_b;
      c = c_ + which * stride_c;
    }
  }
};

constexpr int gpulua_matmul_height = 8;

// For a core: a warp computes 8 rows of 32 neighbouring columns, which are neighbours in b too.
template <class T>
__device__ inline void gpulua_matmul_rows(const T* all_a, const T* all_b, T* all_c, long long m, long long n, long long k,
                                          long long a_row, long long a_column, long long b_row, long long, long long c_row,
                                          long long stride_a, long long stride_b, long long stride_c,
                                          const long long* addresses_a, const long long* addresses_b,
                                          const long long* addresses_c) {
  using Products = gpulua_products<T>;
  using Sum = typename Products::Sum;
  const long long down = (m + gpulua_matmul_height - 1) / gpulua_matmul_height, across = (n + 31) / 32;
  const gpulua_matrices<T> of(all_a, all_b, all_c, stride_a, stride_b, stride_c, addresses_a, addresses_b, addresses_c,
                              blockIdx.x / (down * across));
  const long long tile = blockIdx.x % (down * across);
  // Rows first: neighbouring blocks read the same columns of b.
  const long long first_row = tile % down * gpulua_matmul_height, first_column = tile / down * 32;
  const T* row[gpulua_matmul_height];
#pragma unroll
  for (int i = 0; i < gpulua_matmul_height; ++i) row[i] = of.a + min(first_row + i, m - 1) * a_row;
  Sum sum[gpulua_matmul_height] = {};
  const bool mine = first_column + threadIdx.x < n;
  const T* column = of.b + first_column + threadIdx.x;
  if (mine)
    for (long long l = 0; l < k; ++l) {
      const Sum y = Products::from(column[l * b_row]);
#pragma unroll
      for (int i = 0; i < gpulua_matmul_height; ++i)
        sum[i] = Products::add(sum[i], Products::from(row[i][l * a_column]), y);
    }
#pragma unroll
  for (int i = 0; i < gpulua_matmul_height; ++i)
    if (mine && first_row + i < m) of.c[(first_row + i) * c_row + first_column + threadIdx.x] = Products::result(sum[i]);
}

constexpr int gpulua_matmul_tile = 64, gpulua_matmul_depth = 16;

// For a GPU: a block of 256 threads computes 64 x 64 elements of c, a thread 4 x 4, from slices of a and b in shared memory.
template <class T>
__device__ inline void gpulua_matmul_tiles(const T* all_a, const T* all_b, T* all_c, long long m, long long n, long long k,
                                           long long a_row, long long a_column, long long b_row, long long b_column,
                                           long long c_row, long long stride_a, long long stride_b, long long stride_c,
                                           const long long* addresses_a, const long long* addresses_b,
                                           const long long* addresses_c) {
  using Products = gpulua_products<T>;
  using Sum = typename Products::Sum;
  constexpr int tile = gpulua_matmul_tile, depth = gpulua_matmul_depth;
  // One more, so that threads that go down a column of the tile meet different banks.
  __shared__ Sum slice_a[depth][tile + 1], slice_b[depth][tile + 1];
  const long long down = (m + tile - 1) / tile, across = (n + tile - 1) / tile;
  const gpulua_matrices<T> of(all_a, all_b, all_c, stride_a, stride_b, stride_c, addresses_a, addresses_b, addresses_c,
                              blockIdx.x / (down * across));
  const long long at = blockIdx.x % (down * across);
  const long long first_row = at / across * tile, first_column = at % across * tile;
  const int thread = threadIdx.x, x = thread % 16, y = thread / 16;
  // Neighbouring threads read neighbours in memory: along a row of the matrix where its columns are neighbours.
  const bool a_along = a_column == 1, b_along = b_column == 1;
  Sum sum[4][4] = {};
  for (long long l = 0; l < k; l += depth) {
#pragma unroll
    for (int turn = 0; turn < 4; ++turn) {
      const int deep_a = a_along ? x : thread / tile + 4 * turn, row = a_along ? y + 16 * turn : thread % tile;
      const int deep_b = b_along ? thread / tile + 4 * turn : x, column = b_along ? thread % tile : y + 16 * turn;
      slice_a[deep_a][row] = l + deep_a < k && first_row + row < m
                                 ? Products::from(of.a[(first_row + row) * a_row + (l + deep_a) * a_column])
                                 : Sum(0);
      slice_b[deep_b][column] = l + deep_b < k && first_column + column < n
                                    ? Products::from(of.b[(l + deep_b) * b_row + (first_column + column) * b_column])
                                    : Sum(0);
    }
    __syncthreads();
#pragma unroll
    for (int deep = 0; deep < depth; ++deep) {
      Sum of_a[4], of_b[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) of_a[i] = slice_a[deep][y + 16 * i], of_b[i] = slice_b[deep][x + 16 * i];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = Products::add(sum[i][j], of_a[i], of_b[j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const long long row = first_row + y + 16 * i, column = first_column + x + 16 * j;
      if (row < m && column < n) of.c[row * c_row + column] = Products::result(sum[i][j]);
    }
}

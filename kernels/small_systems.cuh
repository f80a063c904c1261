// Systems of equations, inverses, determinants, Cholesky factors and orthogonal factors of many matrices of up to 32 rows. A group of
// `width` lanes of a warp has a matrix: a lane has a row, in registers. A square matrix with fewer rows is continued by the identity.

__device__ inline float gpulua_from_lane(float x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
__device__ inline double gpulua_from_lane(double x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
__device__ inline int gpulua_from_lane(int x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
template <class R>
__device__ inline gpulua_complex<R> gpulua_from_lane(gpulua_complex<R> x, int lane) {
  return {__shfl_sync(0xffffffffu, x.re, lane), __shfl_sync(0xffffffffu, x.im, lane)};
}

// What pivots are compared by, as in LAPACK.
__device__ inline float gpulua_pivot_size(float x) { return fabsf(x); }
__device__ inline double gpulua_pivot_size(double x) { return fabs(x); }
template <class R>
__device__ inline R gpulua_pivot_size(gpulua_complex<R> x) {
  return fabs(x.re) + fabs(x.im);
}

__device__ inline float gpulua_conjugate(float x) { return x; }
__device__ inline double gpulua_conjugate(double x) { return x; }
template <class R>
__device__ inline gpulua_complex<R> gpulua_conjugate(gpulua_complex<R> x) {
  return {x.re, -x.im};
}
__device__ inline float gpulua_real_part(float x) { return x; }
__device__ inline double gpulua_real_part(double x) { return x; }
template <class R>
__device__ inline R gpulua_real_part(gpulua_complex<R> x) {
  return x.re;
}

template <class T, int width>
struct gpulua_small_matrix {
  T row[width];
  long long matrix;  // in the batch
  int lane, group;   // in the group; the group's first lane
  bool inside;       // there is such a matrix
  int n;

  __device__ gpulua_small_matrix(const T* from, long long batch, int extent, long long stride) : n(extent) {
    const long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    matrix = thread / width;
    lane = (int)(threadIdx.x % width);
    group = (int)(threadIdx.x % 32) - lane;
    inside = matrix < batch;
    const T* const own = from + (inside ? matrix : 0) * stride + (lane < n ? lane : 0) * n;
#pragma unroll
    for (int j = 0; j < width; ++j) row[j] = lane < n && j < n ? own[j] : T(lane == j ? 1 : 0);
  }

  __device__ T of(T x, int of_lane) const { return gpulua_from_lane(x, group + of_lane); }

  // ---- LU, with exchanges of rows: a lane keeps its row and notes in which step it was the pivot's --------------------------------

  int step = width;   // in which this lane's row was the pivot's
  int pivot_lane = 0;  // whose row was the pivot's in the step with the number of this lane
  T pivot{};           // of this lane's step
  int failed = 0;      // from 1: the first step without a pivot other than 0

  __device__ void factorise() {
#pragma unroll
    for (int k = 0; k < width; ++k) {
      auto most = gpulua_pivot_size(row[k]);
      if (most != most) most = (decltype(most))INFINITY;
      if (step < width) most = -1;
      int at = lane;
#pragma unroll
      for (int distance = width / 2; distance > 0; distance /= 2) {
        const auto other = __shfl_xor_sync(0xffffffffu, most, distance);
        const int other_at = __shfl_xor_sync(0xffffffffu, at, distance);
        const bool takes = other > most || (other == most && other_at < at);
        most = takes ? other : most;
        at = takes ? other_at : at;
      }
      if (most == 0 && failed == 0) failed = k + 1;
      if (lane == k) pivot_lane = at;
      const T value = of(row[k], at);
      if (lane == at) {
        step = k;
        pivot = value;
      }
      // Without a pivot, the rest of the column is 0, too.
      const T factor = step > k && most != 0 ? row[k] / value : T(0);
#pragma unroll
      for (int j = k + 1; j < width; ++j) {
        const T above = of(row[j], at);
        row[j] = row[j] - factor * above;
      }
      if (step > k) row[k] = factor;
    }
  }

  // The element of x of this lane's number, where x is the solution for the right-hand side of which each lane has an element.
  __device__ T solve(T b) const {
    const T inverse = T(1) / pivot;
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const T above = of(b, gpulua_from_lane(pivot_lane, group + k));
      if (step > k) b = b - row[k] * above;
    }
    T x{};
#pragma unroll
    for (int k = width - 1; k >= 0; --k) {
      const T value = of(b * inverse, gpulua_from_lane(pivot_lane, group + k));
      if (step < k) b = b - row[k] * value;
      if (lane == k) x = value;
    }
    return x;
  }

  __device__ T determinant() const {
    T product(1);
    int exchanges = 0;
#pragma unroll
    for (int k = 0; k < width; ++k) {
      product = product * of(pivot, k);
      const int other = gpulua_from_lane(step, group + k);
      exchanges += k < lane && other > step;
    }
#pragma unroll
    for (int distance = width / 2; distance > 0; distance /= 2) exchanges += __shfl_xor_sync(0xffffffffu, exchanges, distance);
    return exchanges % 2 == 0 ? product : T(0) - product;
  }

  // ---- Cholesky -------------------------------------------------------------------------------------------------------------------

  // The lower triangle becomes the factor. `row` above the diagonal has no meaning then.
  __device__ void factorise_positive() {
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const auto square = gpulua_real_part(of(row[k], k));
      if (!(square > 0) && failed == 0) failed = k + 1;
      const auto root = sqrt(square);
      const T below = lane == k ? T(root) : row[k] / T(root);
      row[k] = below;
#pragma unroll
      for (int j = k + 1; j < width; ++j) row[j] = row[j] - below * gpulua_conjugate(of(below, j));
    }
  }
};

// x = A^-1 B for each matrix of the batch: A is n x n, B and x are n x columns, row-major. Null B: x is the inverse. The strides, from
// one matrix to the next, are 0 for one matrix that all have.
template <class T, int width>
__device__ inline void gpulua_solve_small(const T* a, const T* b, T* x, int* info, long long batch, int n, long long columns,
                                          long long a_stride, long long b_stride) {
  gpulua_small_matrix<T, width> matrix(a, batch, n, a_stride);
  matrix.factorise();
  const int lane = matrix.lane;
  const bool own = matrix.inside && lane < n;
  for (long long column = 0; column < columns; ++column) {
    T value(lane == column ? 1 : 0);
    if (b != nullptr) value = own ? b[matrix.matrix * b_stride + lane * columns + column] : T(0);
    const T result = matrix.solve(value);
    if (own) x[(matrix.matrix * n + lane) * columns + column] = result;
  }
  if (matrix.inside && lane == 0) info[matrix.matrix] = matrix.failed;
}

template <class T, int width>
__device__ inline void gpulua_determinant_small(const T* a, T* out, long long batch, int n) {
  gpulua_small_matrix<T, width> matrix(a, batch, n, (long long)n * n);
  matrix.factorise();
  const T value = matrix.determinant();
  if (matrix.inside && matrix.lane == 0) out[matrix.matrix] = value;
}

// The lower triangles L of A = L L', with zeros above.
template <class T, int width>
__device__ inline void gpulua_cholesky_small(const T* a, T* out, int* info, long long batch, int n) {
  gpulua_small_matrix<T, width> matrix(a, batch, n, (long long)n * n);
  matrix.factorise_positive();
  T* const own = out + (matrix.matrix * n + matrix.lane) * n;
#pragma unroll
  for (int j = 0; j < width; ++j)
    if (matrix.inside && matrix.lane < n && j < n) own[j] = j <= matrix.lane ? matrix.row[j] : T(0);
  if (matrix.inside && matrix.lane == 0) info[matrix.matrix] = matrix.failed;
}

// ---- QR ---------------------------------------------------------------------------------------------------------------------------

__device__ inline int gpulua_from_other(int x, int distance) { return __shfl_xor_sync(0xffffffffu, x, distance); }
__device__ inline float gpulua_from_other(float x, int distance) { return __shfl_xor_sync(0xffffffffu, x, distance); }
__device__ inline double gpulua_from_other(double x, int distance) { return __shfl_xor_sync(0xffffffffu, x, distance); }
template <class R>
__device__ inline gpulua_complex<R> gpulua_from_other(gpulua_complex<R> x, int distance) {
  return {gpulua_from_other(x.re, distance), gpulua_from_other(x.im, distance)};
}

// The same bits in each lane of a group.
template <int width, class T>
__device__ inline T gpulua_sum_of_group(T x) {
#pragma unroll
  for (int distance = width / 2; distance > 0; distance /= 2) x = x + gpulua_from_other(x, distance);
  return x;
}

__device__ inline float gpulua_square_size(float x) { return x * x; }
__device__ inline double gpulua_square_size(double x) { return x * x; }
template <class R>
__device__ inline R gpulua_square_size(gpulua_complex<R> x) {
  return x.re * x.re + x.im * x.im;
}

// The least number of full precision.
__device__ inline float gpulua_least(float) { return 1.17549435e-38f; }
__device__ inline double gpulua_least(double) { return 2.2250738585072014e-308; }

// Q (m x columns) and R (columns x n) of m x n matrices, row-major; m, n and columns up to `width`. Reflectors as LAPACK's: I - tau v v',
// with 1 as the first element of v other than 0. A matrix with an element that is not finite gives NaN.
template <class T, int width>
__device__ inline void gpulua_qr_small(const T* a, T* q, T* r, long long batch, int m, int n, int columns) {
  const long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const long long matrix = thread / width;
  const int lane = (int)(threadIdx.x % width), group = (int)(threadIdx.x % 32) - lane;
  const bool inside = matrix < batch;
  const T* const own = a + ((inside ? matrix : 0) * m + (lane < m ? lane : 0)) * n;
  T row[width];
  int wrong = 0;
#pragma unroll
  for (int j = 0; j < width; ++j) {
    row[j] = lane < m && j < n ? own[j] : T(0);
    wrong += !(gpulua_pivot_size(row[j]) < INFINITY);
  }
  wrong = gpulua_sum_of_group<width>(wrong);
#pragma unroll
  for (int j = 0; j < width; ++j)
    if (wrong > 0) row[j] = T(NAN) * T(NAN);

  T product[width];  // this lane's row of Q
#pragma unroll
  for (int j = 0; j < width; ++j) product[j] = T(lane == j ? 1 : 0);

  // Column k of what is left is always the first: a loop over k that is not unrolled compiles quickly.
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    T v(0), tau(0), diagonal = row[0];
    if (k < m) {
      // Scaled, so that no square is out of range.
      auto most = lane < k ? 0 : gpulua_pivot_size(row[0]);
#pragma unroll
      for (int distance = width / 2; distance > 0; distance /= 2) most = fmax(most, gpulua_from_other(most, distance));
      most = fmax(most, gpulua_least(most));
      const T scaled = row[0] * T(1 / most);
      const T alpha = gpulua_from_lane(scaled, group + k);
      const auto real = gpulua_real_part(alpha);
      const auto below = gpulua_sum_of_group<width>(lane > k ? gpulua_square_size(scaled) : 0);
      if (below != 0 || gpulua_pivot_size(alpha - T(real)) != 0) {
        const auto length = sqrt(gpulua_square_size(alpha) + below);
        const auto beta = real < 0 ? length : -length;
        tau = (T(beta) - alpha) / T(beta);
        v = lane == k ? T(1) : lane > k ? scaled / (alpha - T(beta)) : T(0);
        diagonal = T(beta * most);
      }
    }
    if (inside && lane < columns) r[(matrix * columns + lane) * n + k] = lane < k ? row[0] : lane == k ? diagonal : T(0);
#pragma unroll
    for (int j = 1; j < width; ++j)
      row[j - 1] = row[j] - gpulua_conjugate(tau) * gpulua_sum_of_group<width>(gpulua_conjugate(v) * row[j]) * v;
    T along(0);
#pragma unroll
    for (int j = 0; j < width; ++j) along = along + product[j] * gpulua_from_lane(v, group + j);
#pragma unroll
    for (int j = 0; j < width; ++j)
      product[j] = product[j] - tau * along * gpulua_conjugate(gpulua_from_lane(v, group + j));
  }
#pragma unroll
  for (int j = 0; j < width; ++j)
    if (inside && lane < m && j < columns) q[(matrix * m + lane) * columns + j] = product[j];
}

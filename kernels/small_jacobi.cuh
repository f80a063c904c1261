// Eigenvalues and eigenvectors of many symmetric or Hermitian matrices, and singular values of many matrices, of up to 32 rows and
// columns, by Jacobi's method. A group of lanes of a warp has a matrix: a lane has two rows, or columns, in registers. A turn rotates
// pairs of neighbours, which makes an element 0 or two columns orthogonal, and exchanges the two; the next turn pairs each with its
// other neighbour. So after as many turns as there are rows, a sweep, each pair has met once: F. T. Luk and H. Park, "On parallel
// Jacobi orderings", 1989.

// The spacing of numbers next to 1.
__device__ inline float gpulua_unit(float) { return 1.1920929e-7f; }
__device__ inline double gpulua_unit(double) { return 2.220446049250313e-16; }

// Moves the elements of a row forward by one, and appends one. Gives the first one. So a loop that is not unrolled, and compiles
// quickly, goes through a row in registers.
template <class T, int width>
__device__ inline T gpulua_shift(T (&row)[width], T last) {
  const T first = row[0];
#pragma unroll
  for (int j = 1; j < width; ++j) row[j - 1] = row[j];
  row[width - 1] = last;
  return first;
}

// The lanes of one matrix, and what rotates its pairs.
template <class T, int lanes>
struct gpulua_jacobi {
  using R = decltype(gpulua_real_part(T()));

  long long matrix;  // in the batch
  bool inside;       // there is such a matrix
  int lane, group;   // in the group; the group's first lane
  int n;             // rows that are rotated
  bool unsettled = false, settled = false;
  R cosine;
  T sine;

  __device__ gpulua_jacobi(long long batch, int rotated) : n(rotated) {
    matrix = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / lanes;
    inside = matrix < batch;
    lane = (int)(threadIdx.x % lanes);
    group = (int)(threadIdx.x % 32) - lane;
  }

  __device__ R most_of_group(R most) const {
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2) most = fmax(most, gpulua_from_other(most, distance));
    return most;
  }

  // For the elements above, beside and below of a Hermitian matrix: the rotation that makes `beside` 0 and exchanges the two others.
  __device__ void find_rotation(bool is_pair, R above, T beside, R below, R negligible) {
    const R unit = gpulua_unit(R()), distance = below - above, square = gpulua_square_size(beside), product = fabs(above * below);
    // An element that is 0 compared with both on the diagonal stays: small eigenvalues of a graded matrix are accurate, too, and a
    // rotation by a great angle that it may give would spoil what others have made 0.
    const bool rotates =
        is_pair && !settled && gpulua_pivot_size(beside) > negligible && square > unit * unit * product;
    const T tangent =
        rotates ? beside * ((distance < 0 ? R(-2) : R(2)) / (fabs(distance) + sqrt(distance * distance + 4 * square))) : T(0);
    const R angle = gpulua_square_size(tangent), small = unit / n;
    // After a sweep by small angles, what is left is as small as their square.
    unsettled = unsettled || (rotates && (angle > small || square > small * product));
    cosine = is_pair ? 1 / sqrt(1 + angle) : R(0);
    sine = is_pair ? tangent * cosine : T(1);
  }

  // Sweeps until no matrix of the warp needs one; false without an end. One that is settled is exchanged only, so the others have no
  // part in its result, save the order of equal values.
  template <class Turns>
  __device__ bool sweep(Turns two_turns) {
    constexpr int most_sweeps = 40;
#pragma unroll 1
    for (int count = 0; count < most_sweeps; ++count) {
      unsettled = false;
#pragma unroll 1
      for (int turn = 0; turn < n; turn += 2) two_turns();
      const unsigned int votes = __ballot_sync(0xffffffffu, unsettled);
      settled = (votes >> group & ((1u << lanes) - 1)) == 0;
      if (votes == 0) break;
    }
    return settled;
  }

  template <int height>
  __device__ void move(T (&row)[height], int from) const {
#pragma unroll
    for (int j = 0; j < height; ++j) row[j] = gpulua_from_lane(row[j], group + from % lanes);
  }

  // The places of this lane's two values among those of the group, in ascending order.
  __device__ void find_ranks(R first, R second, int& first_rank, int& second_rank) const {
    first_rank = second < first;
    second_rank = !first_rank;
#pragma unroll 1
    for (int j = 0; j < lanes; ++j) {
      const R one = gpulua_from_lane(first, group + j), other = gpulua_from_lane(second, group + j);
      if (j == lane) continue;
      const bool is_before = j < lane;
      first_rank += (one < first || (one == first && is_before)) + (other < first || (other == first && is_before));
      second_rank += (one < second || (one == second && is_before)) + (other < second || (other == second && is_before));
    }
  }
};

// ---- eigenvalues ------------------------------------------------------------------------------------------------------------------

template <class T, int width, bool vectors>
struct gpulua_small_symmetric : gpulua_jacobi<T, width / 2> {
  using base = gpulua_jacobi<T, width / 2>;
  using R = typename base::R;
  using base::lane, base::group, base::n, base::cosine, base::sine;
  static constexpr int lanes = width / 2;

  T first[width], second[width];  // rows 2 * lane and 2 * lane + 1; before an odd turn, `first` becomes the next lane's
  T first_of_vectors[width], second_of_vectors[width];
  R negligible;  // up to this, elements count as 0

  using base::base;

  // The element of a row with the number `offset` in lane 0, and 2 more in each lane after it.
  template <int offset, int count = lanes>
  __device__ T pick(const T (&row)[width]) const {
    if constexpr (count == 1) {
      return row[offset % width];
    } else {
      const T low = pick<offset, count / 2>(row), high = pick<offset + count, count / 2>(row);
      return (lane & count / 2) != 0 ? high : low;
    }
  }

  __device__ static void rotate(T (&row)[width], int at, R c, T s) {
    const T x = row[at], y = row[at + 1];
    row[at] = s * x + y * c;
    row[at + 1] = x * c - gpulua_conjugate(s) * y;
  }

  // Rows p and q of this lane have the positions 2 * lane + odd and the one after.
  template <int odd>
  __device__ void turn(T (&p)[width], T (&q)[width]) {
    // Rounding makes the two elements differ, and rotations keep their difference. Their mean gets as small as it should.
    const T beside = (pick<odd + 1>(p) + gpulua_conjugate(pick<odd>(q))) * R(0.5);
    const bool is_pair = 2 * lane + odd + 1 < n;
    base::find_rotation(is_pair, gpulua_real_part(pick<odd>(p)), beside, gpulua_real_part(pick<odd + 1>(q)), negligible);
#pragma unroll
    for (int j = 0; j < lanes - odd; ++j) {
      const R c = gpulua_from_lane(cosine, group + j);
      const T s = gpulua_from_lane(sine, group + j);
      rotate(p, 2 * j + odd, c, s);
      rotate(q, 2 * j + odd, c, s);
      if (vectors) rotate(first_of_vectors, 2 * j + odd, c, s);
      if (vectors) rotate(second_of_vectors, 2 * j + odd, c, s);
    }
    const T below = is_pair ? sine : T(-1);
#pragma unroll
    for (int j = 0; j < width; ++j) {
      const T x = p[j], y = q[j];
      p[j] = gpulua_conjugate(sine) * x + y * cosine;
      q[j] = x * cosine - below * y;
    }
  }

  __device__ bool diagonalise() {
    return base::sweep([&] {
      turn<0>(first, second);
      base::move(first, lane + 1);
      turn<1>(second, first);
      base::move(first, lane + lanes - 1);
    });
  }
};

// The eigenvalues w (n) of matrices a (n x n), row-major, in ascending order; with `vectors`, the columns of v (n x n) are the
// eigenvectors. One triangle of a is read. info: 0, -1 for a matrix with an element that is not finite, or 1 for one without a result.
template <class T, int width, bool vectors>
__device__ inline void gpulua_eigen_small(const T* a, decltype(gpulua_real_part(T())) * w, T* v, int* info, long long batch, int n,
                                          int upper) {
  using R = decltype(gpulua_real_part(T()));
  gpulua_small_symmetric<T, width, vectors> x(batch, n);
  const T* const own = a + (x.inside ? x.matrix : 0) * n * n;
  const int row = 2 * x.lane;
  const auto element = [&](int i, int j) {
    if (i >= n || j >= n || !x.inside) return T(0);
    const bool is_read = upper != 0 ? i < j : j < i;
    const T value = own[is_read ? i * n + j : j * n + i];
    return i == j ? T(gpulua_real_part(value)) : is_read ? value : gpulua_conjugate(value);
  };
  R most(0);
#pragma unroll 1
  for (int j = 0; j < width; ++j) {
    const T one = element(row, j), other = element(row + 1, j);
    const R size = gpulua_pivot_size(one), other_size = gpulua_pivot_size(other);
    most = size < INFINITY && other_size < INFINITY ? fmax(most, fmax(size, other_size)) : R(INFINITY);
    gpulua_shift(x.first, one);
    gpulua_shift(x.second, other);
  }
  most = x.most_of_group(most);
  const bool is_finite = most < INFINITY;
  // Scaled where squares of elements may be out of range.
  const R scale = most > R(1e-3) && most < R(1e10) ? R(1) : 1 / fmax(most, gpulua_least(most));
#pragma unroll
  for (int j = 0; j < width; ++j) {
    x.first[j] = is_finite ? x.first[j] * scale : T(0);
    x.second[j] = is_finite ? x.second[j] * scale : T(0);
    x.first_of_vectors[j] = T(j == row ? 1 : 0);
    x.second_of_vectors[j] = T(j == row + 1 ? 1 : 0);
  }
  // What rounding makes of elements that are rounding errors themselves.
  x.negligible = is_finite ? 16 * gpulua_unit(most) * gpulua_unit(most) * most * scale : R(0);
  const bool settled = x.diagonalise();
  if (x.inside && x.lane == 0) info[x.matrix] = !is_finite ? -1 : settled ? 0 : 1;

  const bool has_first = x.inside && row < n, has_second = x.inside && row + 1 < n;
  const R first = row < n ? gpulua_real_part(x.template pick<0>(x.first)) : R(INFINITY);
  const R second = row + 1 < n ? gpulua_real_part(x.template pick<1>(x.second)) : R(INFINITY);
  int first_rank, second_rank;
  x.find_ranks(first, second, first_rank, second_rank);
  if (has_first) w[x.matrix * n + first_rank] = first / scale;
  if (has_second) w[x.matrix * n + second_rank] = second / scale;
  if constexpr (vectors) {
#pragma unroll 1
    for (int j = 0; j < n; ++j) {
      const int rank = gpulua_from_lane(j % 2 == 0 ? first_rank : second_rank, x.group + j / 2);
      const T one = gpulua_shift(x.first_of_vectors, T(0)), other = gpulua_shift(x.second_of_vectors, T(0));
      if (has_first) v[(x.matrix * n + row) * n + rank] = one;
      if (has_second) v[(x.matrix * n + row + 1) * n + rank] = other;
    }
  }
}

// ---- singular values --------------------------------------------------------------------------------------------------------------

// The rotations that make columns orthogonal are those of the columns' products with each other; the lengths are the singular values.
template <class T, int height, int width>
struct gpulua_small_columns : gpulua_jacobi<T, width / 2> {
  using base = gpulua_jacobi<T, width / 2>;
  using R = typename base::R;
  using base::lane, base::n, base::cosine, base::sine;

  T first[height], second[height];  // columns 2 * lane and 2 * lane + 1; before an odd turn, `first` becomes the next lane's

  using base::base;

  __device__ static R square_of(const T (&x)[height]) {
    R sum(0);
#pragma unroll
    for (int i = 0; i < height; ++i) sum += gpulua_square_size(x[i]);
    return sum;
  }

  __device__ void turn(T (&p)[height], T (&q)[height], bool is_pair) {
    T product(0);
#pragma unroll
    for (int i = 0; i < height; ++i) product = product + gpulua_conjugate(p[i]) * q[i];
    base::find_rotation(is_pair, square_of(p), product, square_of(q), R(0));
#pragma unroll
    for (int i = 0; i < height; ++i) {
      const T x = p[i], y = q[i];
      p[i] = sine * x + y * cosine;
      q[i] = x * cosine - gpulua_conjugate(sine) * y;
    }
  }

  __device__ bool orthogonalise() {
    return base::sweep([&] {
      turn(first, second, 2 * lane + 1 < n);
      base::move(first, lane + 1);
      turn(second, first, 2 * lane + 2 < n);
      base::move(first, lane + width / 2 - 1);
    });
  }
};

// The singular values s (columns), in descending order, of matrices a with elements a[matrix * rows * columns + i * row_step +
// j * column_step], and as many rows as columns or more. info as above.
template <class T, int height, int width>
__device__ inline void gpulua_singular_small(const T* a, decltype(gpulua_real_part(T())) * s, int* info, long long batch, int rows,
                                             int columns, int row_step, int column_step) {
  using R = decltype(gpulua_real_part(T()));
  gpulua_small_columns<T, height, width> x(batch, columns);
  const T* const own = a + (x.inside ? x.matrix : 0) * rows * columns;
  const int column = 2 * x.lane;
  const auto element = [&](int i, int j) {
    return i < rows && j < columns && x.inside ? own[i * row_step + j * column_step] : T(0);
  };
  R most(0);
#pragma unroll 1
  for (int i = 0; i < height; ++i) {
    const T one = element(i, column), other = element(i, column + 1);
    const R size = gpulua_pivot_size(one), other_size = gpulua_pivot_size(other);
    most = size < INFINITY && other_size < INFINITY ? fmax(most, fmax(size, other_size)) : R(INFINITY);
    gpulua_shift(x.first, one);
    gpulua_shift(x.second, other);
  }
  most = x.most_of_group(most);
  const bool is_finite = most < INFINITY;
  // Scaled where fourth powers of lengths may be out of range.
  const R scale = most > R(1e-3) && most < R(1e7) ? R(1) : 1 / fmax(most, gpulua_least(most));
#pragma unroll
  for (int i = 0; i < height; ++i) {
    x.first[i] = is_finite ? x.first[i] * scale : T(0);
    x.second[i] = is_finite ? x.second[i] * scale : T(0);
  }
  const bool settled = x.orthogonalise();
  if (x.inside && x.lane == 0) info[x.matrix] = !is_finite ? -1 : settled ? 0 : 1;

  const R first = sqrt(x.square_of(x.first)), second = sqrt(x.square_of(x.second));
  int first_rank, second_rank;
  x.find_ranks(column < columns ? -first : R(INFINITY), column + 1 < columns ? -second : R(INFINITY), first_rank, second_rank);
  if (x.inside && column < columns) s[x.matrix * columns + first_rank] = first / scale;
  if (x.inside && column + 1 < columns) s[x.matrix * columns + second_rank] = second / scale;
}

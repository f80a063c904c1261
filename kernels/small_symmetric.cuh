// Eigenvalues and eigenvectors of many symmetric or Hermitian matrices of up to 32 rows, by Jacobi's method. A group of width / 2 lanes
// of a warp has a matrix: a lane has two rows, in registers, and those of the eigenvectors. A turn rotates rows and columns that are
// neighbours, for an element 0 in each pair, and exchanges the two; the next turn pairs each with its other neighbour. So after as many
// turns as there are rows, a sweep, each pair has met once: F. T. Luk and H. Park, "On parallel Jacobi orderings", 1989.

template <class T, int width, bool vectors>
struct gpulua_small_symmetric {
  using R = decltype(gpulua_real_part(T()));
  static constexpr int lanes = width / 2;
  // `noise`: what rounding makes of elements that are rounding errors themselves, relative to the greatest element.
  static constexpr R unit = sizeof(R) == 4 ? R(1.1920929e-7) : R(2.220446049250313e-16), noise = 16 * unit * unit;

  T first[width], second[width];  // rows 2 * lane and 2 * lane + 1; before an odd turn, `first` becomes the next lane's
  T first_of_vectors[width], second_of_vectors[width];
  int lane, group, n;
  R negligible;  // up to this, elements count as 0
  bool unsettled = false;

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

  __device__ static void rotate(T (&row)[width], int at, R cosine, T sine) {
    const T x = row[at], y = row[at + 1];
    row[at] = sine * x + y * cosine;
    row[at + 1] = x * cosine - gpulua_conjugate(sine) * y;
  }

  // Rows p and q of this lane have the positions 2 * lane + odd and the one after.
  template <int odd>
  __device__ void turn(T (&p)[width], T (&q)[width]) {
    const R above = gpulua_real_part(pick<odd>(p)), below = gpulua_real_part(pick<odd + 1>(q));
    // Rounding makes the two elements differ, and rotations keep their difference. Their mean gets as small as it should.
    const T beside = (pick<odd + 1>(p) + gpulua_conjugate(pick<odd>(q))) * R(0.5);
    const bool is_pair = 2 * lane + odd + 1 < n;
    const R distance = below - above, square = gpulua_square_size(beside), product = fabs(above * below);
    // An element that is 0 compared with both on the diagonal stays: small eigenvalues of a graded matrix are accurate, too, and a
    // rotation by a great angle that it may give would spoil what others have made 0.
    const bool rotates = is_pair && gpulua_pivot_size(beside) > negligible && square > unit * unit * product;
    const T tangent =
        rotates ? beside * ((distance < 0 ? R(-2) : R(2)) / (fabs(distance) + sqrt(distance * distance + 4 * square))) : T(0);
    const R angle = gpulua_square_size(tangent), small = unit / n;
    // After a sweep by small angles, what is left is as small as their square.
    unsettled = unsettled || (rotates && (angle > small || square > small * product));
    const R cosine = is_pair ? 1 / sqrt(1 + angle) : R(0);
    const T sine = is_pair ? tangent * cosine : T(1), sine_below = is_pair ? sine : T(-1);
#pragma unroll
    for (int j = 0; j < lanes - odd; ++j) {
      const R c = gpulua_from_lane(cosine, group + j);
      const T s = gpulua_from_lane(sine, group + j);
      rotate(p, 2 * j + odd, c, s);
      rotate(q, 2 * j + odd, c, s);
      if (vectors) rotate(first_of_vectors, 2 * j + odd, c, s);
      if (vectors) rotate(second_of_vectors, 2 * j + odd, c, s);
    }
#pragma unroll
    for (int j = 0; j < width; ++j) {
      const T x = p[j], y = q[j];
      p[j] = gpulua_conjugate(sine) * x + y * cosine;
      q[j] = x * cosine - sine_below * y;
    }
  }

  __device__ void move_first(int from) {
#pragma unroll
    for (int j = 0; j < width; ++j) first[j] = gpulua_from_lane(first[j], group + from % lanes);
  }

  // False: this lane's matrix is not diagonal yet. The others of the warp have no part in the result, save the order of equal values.
  __device__ bool diagonalise() {
    constexpr int most_sweeps = 40;
    bool settled = false;
#pragma unroll 1
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      unsettled = false;
#pragma unroll 1
      for (int turns = 0; turns < n; turns += 2) {
        turn<0>(first, second);
        move_first(lane + 1);
        turn<1>(second, first);
        move_first(lane + lanes - 1);
      }
      const unsigned int votes = __ballot_sync(0xffffffffu, unsettled);
      settled = (votes >> group & ((1u << lanes) - 1)) == 0;
      if (settled) negligible = INFINITY;
      if (votes == 0) break;
    }
    return settled;
  }
};

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

// The eigenvalues w (n) of matrices a (n x n), row-major, in ascending order; with `vectors`, the columns of v (n x n) are the
// eigenvectors. One triangle of a is read. info: 0, -1 for a matrix with an element that is not finite, or 1 for one without a result.
template <class T, int width, bool vectors>
__device__ inline void gpulua_eigen_small(const T* a, decltype(gpulua_real_part(T())) * w, T* v, int* info, long long batch, int n,
                                          int upper) {
  using R = decltype(gpulua_real_part(T()));
  constexpr int lanes = width / 2;
  const long long matrix = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / lanes;
  const bool inside = matrix < batch;
  const T* const own = a + (inside ? matrix : 0) * n * n;
  gpulua_small_symmetric<T, width, vectors> x;
  x.lane = (int)(threadIdx.x % lanes);
  x.group = (int)(threadIdx.x % 32) - x.lane;
  x.n = n;

  const auto element = [&](int i, int j) {
    if (i >= n || j >= n || !inside) return T(0);
    const bool is_read = upper != 0 ? i < j : j < i;
    const T value = own[is_read ? i * n + j : j * n + i];
    return i == j ? T(gpulua_real_part(value)) : is_read ? value : gpulua_conjugate(value);
  };
  R most(0);
  const auto include = [&](T value) {
    const R size = gpulua_pivot_size(value);
    most = size < INFINITY ? fmax(most, size) : R(INFINITY);
  };
  const int row = 2 * x.lane;
#pragma unroll 1
  for (int j = 0; j < width; ++j) {
    const T one = element(row, j), other = element(row + 1, j);
    include(one);
    include(other);
    gpulua_shift(x.first, one);
    gpulua_shift(x.second, other);
  }
#pragma unroll
  for (int j = 0; j < width; ++j) {
    x.first_of_vectors[j] = T(j == row ? 1 : 0);
    x.second_of_vectors[j] = T(j == row + 1 ? 1 : 0);
  }
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2) most = fmax(most, gpulua_from_other(most, distance));
  const bool is_finite = most < INFINITY;
  // Scaled where squares of elements may be out of range.
  const R scale = most > R(1e-3) && most < R(1e10) ? R(1) : 1 / fmax(most, gpulua_least(most));
#pragma unroll
  for (int j = 0; j < width; ++j) {
    x.first[j] = is_finite ? x.first[j] * scale : T(0);
    x.second[j] = is_finite ? x.second[j] * scale : T(0);
  }
  x.negligible = is_finite ? x.noise * most * scale : R(0);
  const bool settled = x.diagonalise();
  if (inside && x.lane == 0) info[matrix] = !is_finite ? -1 : settled ? 0 : 1;

  const R first = row < n ? gpulua_real_part(x.template pick<0>(x.first)) : R(INFINITY);
  const R second = row + 1 < n ? gpulua_real_part(x.template pick<1>(x.second)) : R(INFINITY);
  int first_rank = second < first, second_rank = !first_rank;
#pragma unroll 1
  for (int j = 0; j < lanes; ++j) {
    const R one = gpulua_from_lane(first, x.group + j), other = gpulua_from_lane(second, x.group + j);
    if (j == x.lane) continue;
    const bool is_before = j < x.lane;
    first_rank += (one < first || (one == first && is_before)) + (other < first || (other == first && is_before));
    second_rank += (one < second || (one == second && is_before)) + (other < second || (other == second && is_before));
  }
  if (inside && row < n) w[matrix * n + first_rank] = first / scale;
  if (inside && row + 1 < n) w[matrix * n + second_rank] = second / scale;
  if constexpr (vectors) {
#pragma unroll 1
    for (int j = 0; j < n; ++j) {
      const int rank = gpulua_from_lane(j % 2 == 0 ? first_rank : second_rank, x.group + j / 2);
      const T one = gpulua_shift(x.first_of_vectors, T(0)), other = gpulua_shift(x.second_of_vectors, T(0));
      if (inside && row < n) v[(matrix * n + row) * n + rank] = one;
      if (inside && row + 1 < n) v[(matrix * n + row + 1) * n + rank] = other;
    }
  }
}

// What reductions accumulate: identity(), add(x, position), merge(another), result(). And how the threads of a block merge:
// in a fixed order, so that a result is bitwise the same each time.

template <class T>
struct gpulua_extreme_values {  // integers
  __device__ static T highest() { return gpulua_limits<T>::max; }
  __device__ static T lowest() { return gpulua_limits<T>::min; }
};
template <>
struct gpulua_extreme_values<bool> {
  __device__ static bool highest() { return true; }
  __device__ static bool lowest() { return false; }
};
template <>
struct gpulua_extreme_values<float> {
  __device__ static float highest() { return __int_as_float(0x7f800000); }
  __device__ static float lowest() { return -highest(); }
};
template <>
struct gpulua_extreme_values<double> {
  __device__ static double highest() { return __longlong_as_double(0x7ff0000000000000); }
  __device__ static double lowest() { return -highest(); }
};

template <class T>
struct gpulua_sum {
  T total;
  __device__ static gpulua_sum identity() { return {T(0)}; }
  __device__ void add(T x, gpulua_index_t) { total = gpulua_add(total, x); }
  __device__ void merge(const gpulua_sum& other) { total = gpulua_add(total, other.total); }
  __device__ T result() const { return total; }
};

template <class T>
struct gpulua_plain_prod {  // integers
  T total;
  __device__ static gpulua_plain_prod identity() { return {T(1)}; }
  __device__ void add(T x, gpulua_index_t) { total = gpulua_multiply(total, x); }
  __device__ void merge(const gpulua_plain_prod& other) { total = gpulua_multiply(total, other.total); }
  __device__ T result() const { return total; }
};

// A product of finite numbers is 0 when one of them is 0, in any order. But a partial product may overflow to infinity, and 0 times
// infinity is NaN. So a mark goes along that tells whether all factors are finite: for real numbers it is 0, or NaN if one is not.
template <class R>
struct gpulua_mark {
  using type = R;
  __device__ static R of(R x) { return x * R(0); }
  __device__ static R both(R x, R y) { return x + y; }
  __device__ static R product(R total, R mark) { return total == total || mark != mark ? total : R(0); }
};
// For complex numbers two bits: 1, a factor is zero; 2, a factor is not finite. Without a zero their products can be NaN, too.
template <class R>
struct gpulua_mark<gpulua_complex<R>> {
  using type = int;
  __device__ static int of(gpulua_complex<R> x) {
    return x.re == 0 && x.im == 0 ? 1 : isfinite(x.re) && isfinite(x.im) ? 0 : 2;
  }
  __device__ static int both(int x, int y) { return x | y; }
  __device__ static gpulua_complex<R> product(gpulua_complex<R> total, int mark) {
    if (mark != 1) return total;
    return {total.re == total.re ? total.re : R(0), total.im == total.im ? total.im : R(0)};
  }
};

template <class T>
struct gpulua_marked_prod {
  using Mark = gpulua_mark<T>;
  T total;
  typename Mark::type mark;
  __device__ static gpulua_marked_prod identity() { return {T(1), 0}; }
  __device__ static gpulua_marked_prod of(T x) { return {x, Mark::of(x)}; }
  __device__ void add(T x, gpulua_index_t) { merge(of(x)); }
  __device__ void merge(const gpulua_marked_prod& other) {
    total = gpulua_multiply(total, other.total);
    mark = Mark::both(mark, other.mark);
  }
  __device__ T result() const { return Mark::product(total, mark); }
};

template <class T>
struct gpulua_prod_of {
  using type = gpulua_plain_prod<T>;
};
template <>
struct gpulua_prod_of<float> {
  using type = gpulua_marked_prod<float>;
};
template <>
struct gpulua_prod_of<double> {
  using type = gpulua_marked_prod<double>;
};
template <class R>
struct gpulua_prod_of<gpulua_complex<R>> {
  using type = gpulua_marked_prod<gpulua_complex<R>>;
};
template <class T>
using gpulua_prod = typename gpulua_prod_of<T>::type;

template <class T>
struct gpulua_max {
  T most;
  __device__ static gpulua_max identity() { return {gpulua_extreme_values<T>::lowest()}; }
  __device__ void add(T x, gpulua_index_t) { most = gpulua_maximum(most, x); }
  __device__ void merge(const gpulua_max& other) { most = gpulua_maximum(most, other.most); }
  __device__ T result() const { return most; }
};

template <class T>
struct gpulua_min {
  T least;
  __device__ static gpulua_min identity() { return {gpulua_extreme_values<T>::highest()}; }
  __device__ void add(T x, gpulua_index_t) { least = gpulua_minimum(least, x); }
  __device__ void merge(const gpulua_min& other) { least = gpulua_minimum(least, other.least); }
  __device__ T result() const { return least; }
};

// The first position of the greatest element (or the least); NaN counts as that. A thread adds in the order of positions.
template <class T, bool greatest>
struct gpulua_best {
  T best;
  gpulua_index_t position;  // none: no element is better than what there is at first
  static constexpr gpulua_index_t none = ~gpulua_index_t(0);
  __device__ static gpulua_best identity() {
    return {greatest ? gpulua_extreme_values<T>::lowest() : gpulua_extreme_values<T>::highest(), none};
  }
  __device__ bool is_beaten_by(T x) const { return (greatest ? !(x <= best) : !(x >= best)) && best == best; }
  __device__ void add(T x, gpulua_index_t at) {
    if (!is_beaten_by(x)) return;
    best = x;
    position = at;
  }
  __device__ void merge(const gpulua_best& other) {
    const bool equal = other.best == best || (other.best != other.best && best != best);
    if (equal ? other.position < position : is_beaten_by(other.best)) *this = other;
  }
  __device__ long long result() const { return position == none ? 1 : (long long)position + 1; }
};
template <class T>
using gpulua_argmax = gpulua_best<T, true>;
template <class T>
using gpulua_argmin = gpulua_best<T, false>;

template <class T>
struct gpulua_any {
  int found;
  __device__ static gpulua_any identity() { return {0}; }
  __device__ void add(bool x, gpulua_index_t) { found |= x; }
  __device__ void merge(const gpulua_any& other) { found |= other.found; }
  __device__ bool result() const { return found != 0; }
};

template <class T>
struct gpulua_all {
  int missing;
  __device__ static gpulua_all identity() { return {0}; }
  __device__ void add(bool x, gpulua_index_t) { missing |= !x; }
  __device__ void merge(const gpulua_all& other) { missing |= other.missing; }
  __device__ bool result() const { return missing == 0; }
};

template <class T>
struct gpulua_count {
  long long count;
  __device__ static gpulua_count identity() { return {0}; }
  __device__ void add(bool x, gpulua_index_t) { count += x; }
  __device__ void merge(const gpulua_count& other) { count += other.count; }
  __device__ long long result() const { return count; }
};

// x - y after x and y were rounded. Otherwise the compiler may contract the product that gave x with this subtraction, and equal
// elements would have different distances.
__device__ inline float gpulua_distance(float x, float y) { return __fsub_rn(x, y); }
__device__ inline double gpulua_distance(double x, double y) { return __dsub_rn(x, y); }

// A quotient whose last bits do not matter: a mean that is off by them takes nothing from the deviations.
__device__ inline float gpulua_share(float x, float count) { return __fdividef(x, count); }
__device__ inline double gpulua_share(double x, double count) { return x / count; }

// The sum of squared deviations from the mean, in one pass and without cancellation: Welford 1962; merged as in Chan, Golub
// and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979. It is that of the halved
// elements, whose differences are finite where the elements are.
template <class T>
struct gpulua_variance {
  T count, mean, deviation;
  __device__ static gpulua_variance identity() { return {T(0), T(0), T(0)}; }
  __device__ void add(T x, gpulua_index_t) {
    count += T(1);
    x *= T(0.5);
    const T delta = gpulua_distance(x, mean);
    mean += gpulua_share(delta, count);
    deviation += delta * gpulua_distance(x, mean);
  }
  __device__ void merge(const gpulua_variance& other) {
    if (other.count == T(0)) return;
    const T total = count + other.count, delta = other.mean - mean;
    mean += delta * (other.count / total);
    deviation += other.deviation + delta * (delta * (count * (other.count / total)));
    count = total;
  }
  __device__ T result() const { return deviation * T(4); }
};

// ---- merging the threads of a block ---------------------------------------------------------------------------------------------

// `move` gives each thread an int of another thread, and so takes the accumulators over word by word.
template <class Accumulators, class Move>
__device__ inline Accumulators gpulua_shuffle(const Accumulators& mine, const Move& move) {
  constexpr int words = sizeof(Accumulators) / sizeof(int);
  union Bits {
    Accumulators value;
    int at[words];
    __device__ Bits() {}
  };
  Bits from, to;
  from.value = mine;
#pragma unroll
  for (int i = 0; i < words; ++i) to.at[i] = move(from.at[i]);
  return to.value;
}

template <class Accumulators>
__device__ inline Accumulators gpulua_shuffle_down(const Accumulators& mine, unsigned int distance) {
  return gpulua_shuffle(mine, [=](int word) { return __shfl_down_sync(0xffffffffu, word, distance); });
}

// What the first of each `near` threads has.
template <unsigned int near, class Accumulators>
__device__ inline Accumulators gpulua_shuffle_first(const Accumulators& mine) {
  return gpulua_shuffle(mine, [](int word) { return __shfl_sync(0xffffffffu, word, 0, near); });
}

// Merges of larger accumulators are long, as those of variances. On a GPU, their loops stay loops, which compile sooner.
#ifdef GPULUA_CPU
template <class Accumulators>
constexpr bool gpulua_unrolls_merges = true;
#else
template <class Accumulators>
constexpr bool gpulua_unrolls_merges = sizeof(Accumulators) <= 8;
#endif

// Afterwards lane 0 of each of the block's `slots` results has what its `lanes` threads had. All threads call it.
template <unsigned int lanes, unsigned int slots, bool adjacent, class Accumulators>
__device__ inline void gpulua_merge_block(Accumulators& sum, unsigned int lane, unsigned int slot) {
  if constexpr (adjacent) {
#pragma unroll(gpulua_unrolls_merges<Accumulators> ? 5 : 1)
    for (unsigned int distance = (lanes < 32 ? lanes : 32) / 2; distance > 0; distance /= 2)
      sum.merge(gpulua_shuffle_down(sum, distance));
    if constexpr (lanes > 32) {
      constexpr unsigned int warps = lanes / 32;
      __shared__ Accumulators parts[slots * warps];
      if (lane % 32 == 0) parts[slot * warps + lane / 32] = sum;
      __syncthreads();
      if (lane == 0)
#pragma unroll(gpulua_unrolls_merges<Accumulators> ? 32 : 1)
        for (unsigned int warp = 1; warp < warps; ++warp) sum.merge(parts[slot * warps + warp]);
      __syncthreads();
    }
  } else if constexpr (lanes > 1) {
    __shared__ Accumulators parts[lanes * slots];
    parts[lane * slots + slot] = sum;
    for (unsigned int half = lanes / 2; half > 0; half /= 2) {
      __syncthreads();
      if (lane < half) {
        sum.merge(parts[(lane + half) * slots + slot]);
        parts[lane * slots + slot] = sum;
      }
    }
    __syncthreads();
  }
}

// True in all threads of the block that is the last of `blocks` to come here: it sees what the others wrote before.
template <unsigned int threads>
__device__ inline bool gpulua_is_last_block(unsigned int* ticket, unsigned int blocks) {
  __threadfence();
  if constexpr (threads <= 32) {
    __syncwarp();
#ifdef GPULUA_CPU
    // Where each thread adds 1, a warp adds a constant. One thread of all gets the last number.
    const bool last = __any_sync(0xffffffffu, atomicAdd(ticket, 1u) == threads * blocks - 1);
#else
    unsigned int mine = 0;
    if (threadIdx.x == 0) mine = atomicAdd(ticket, 1u);
    const bool last = __shfl_sync(0xffffffffu, mine, 0) == blocks - 1;
#endif
    __threadfence();
    return last;
  } else {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == blocks - 1;
    __syncthreads();
    __threadfence();
    return last;
  }
}


// Scans along the last axis of row-major rows: each element combined with all elements before it in its row. The order in
// which elements are combined depends on the shape alone, so a result is bitwise the same each time.

// ---- what is combined: the first operand comes before the second -----------------------------------------------------------

struct gpulua_scan_operation {
  static constexpr bool commutes = true;
  // What is stored of a value.
  template <bool exclusive, class T>
  __device__ static T result(T x) {
    return x;
  }
};

template <class T>
struct gpulua_scan_sum : gpulua_scan_operation {
  // -0 + x is x for every x. An exclusive sum starts with 0, though.
  __device__ static T identity() { return -T(0); }
  __device__ static T combine(T x, T y) { return gpulua_add(x, y); }
  template <bool exclusive>
  __device__ static T result(T x) {
    return exclusive ? x + T(0) : x;
  }
};

template <class T>
struct gpulua_scan_prod : gpulua_scan_operation {  // integers
  __device__ static T identity() { return T(1); }
  __device__ static T combine(T x, T y) { return gpulua_multiply(x, y); }
};

template <class Complex>
struct gpulua_scan_sum_complex : gpulua_scan_operation {
  __device__ static Complex identity() { return {-0.0f, -0.0f}; }
  __device__ static Complex combine(Complex x, Complex y) { return {x.re + y.re, x.im + y.im}; }
  template <bool exclusive>
  __device__ static Complex result(Complex x) {
    return exclusive ? Complex{x.re + 0.0f, x.im + 0.0f} : x;
  }
};
template <>
struct gpulua_scan_sum<gpulua_complex64> : gpulua_scan_sum_complex<gpulua_complex64> {};
template <>
struct gpulua_scan_sum<gpulua_complex128> : gpulua_scan_sum_complex<gpulua_complex128> {};

// Products of other numbers, with the marks of their factors.
template <class T>
struct gpulua_convert<gpulua_marked_prod<T>> {
  template <class Number>
  __device__ static gpulua_marked_prod<T> from(Number x) {
    return gpulua_marked_prod<T>::of(gpulua_convert<T>::from(x));
  }
};
__device__ inline float gpulua_scan_multiply(float x, float y) { return x * y; }
__device__ inline double gpulua_scan_multiply(double x, double y) { return x * y; }
template <class R>
__device__ inline gpulua_complex<R> gpulua_scan_multiply(gpulua_complex<R> x, gpulua_complex<R> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
template <class T>
struct gpulua_scan_prod<gpulua_marked_prod<T>> : gpulua_scan_operation {
  using Product = gpulua_marked_prod<T>;
  __device__ static Product identity() { return Product::identity(); }
  __device__ static Product combine(const Product& x, const Product& y) {
    return {gpulua_scan_multiply(x.total, y.total), Product::Mark::both(x.mark, y.mark)};
  }
  template <bool>
  __device__ static T result(const Product& x) {
    return x.result();
  }
};

template <class T>
struct gpulua_scan_max : gpulua_scan_operation {
  __device__ static T identity() { return gpulua_extreme_values<T>::lowest(); }
  __device__ static T combine(T x, T y) { return gpulua_maximum(x, y); }
};
template <class T>
struct gpulua_scan_min : gpulua_scan_operation {
  __device__ static T identity() { return gpulua_extreme_values<T>::highest(); }
  __device__ static T combine(T x, T y) { return gpulua_minimum(x, y); }
};

// An operation without an identity goes over values that may be missing.
template <class T>
struct gpulua_scan_maybe {
  T value;
  bool there;
};
template <class T>
struct gpulua_convert<gpulua_scan_maybe<T>> {
  template <class Number>
  __device__ static gpulua_scan_maybe<T> from(Number x) {
    return {gpulua_convert<T>::from(x), true};
  }
};
template <class Op, class T>
struct gpulua_scan_without_identity {
  static constexpr bool commutes = Op::commutes;
  using Maybe = gpulua_scan_maybe<T>;
  __device__ static Maybe identity() { return {T(), false}; }
  __device__ static Maybe combine(const Maybe& x, const Maybe& y) {
    if (!x.there) return y;
    if (!y.there) return x;
    return {Op::combine(x.value, y.value), true};
  }
  template <bool>
  __device__ static T result(const Maybe& x) {
    return x.value;
  }
};

// ---- shuffles of every type ---------------------------------------------------------------------------------------------------

template <class T>
__device__ inline T gpulua_scan_up(T x, int distance) {
  return (T)__shfl_up_sync(0xffffffffu, x, distance);
}
__device__ inline gpulua_complex64 gpulua_scan_up(gpulua_complex64 x, int distance) {
  return {gpulua_scan_up(x.re, distance), gpulua_scan_up(x.im, distance)};
}
__device__ inline gpulua_complex128 gpulua_scan_up(gpulua_complex128 x, int distance) {
  return {gpulua_scan_up(x.re, distance), gpulua_scan_up(x.im, distance)};
}

template <class T>
__device__ inline gpulua_scan_maybe<T> gpulua_scan_up(gpulua_scan_maybe<T> x, int distance) {
  return {gpulua_scan_up(x.value, distance), gpulua_scan_up((int)x.there, distance) != 0};
}
template <class T>
__device__ inline gpulua_marked_prod<T> gpulua_scan_up(gpulua_marked_prod<T> x, int distance) {
  return {gpulua_scan_up(x.total, distance), gpulua_scan_up(x.mark, distance)};
}

template <class T>
__device__ inline T gpulua_scan_from(T x, int lane) {
  return (T)__shfl_sync(0xffffffffu, x, lane);
}
__device__ inline gpulua_complex64 gpulua_scan_from(gpulua_complex64 x, int lane) {
  return {gpulua_scan_from(x.re, lane), gpulua_scan_from(x.im, lane)};
}
__device__ inline gpulua_complex128 gpulua_scan_from(gpulua_complex128 x, int lane) {
  return {gpulua_scan_from(x.re, lane), gpulua_scan_from(x.im, lane)};
}
template <class T>
__device__ inline gpulua_scan_maybe<T> gpulua_scan_from(gpulua_scan_maybe<T> x, int lane) {
  return {gpulua_scan_from(x.value, lane), gpulua_scan_from((int)x.there, lane) != 0};
}
template <class T>
__device__ inline gpulua_marked_prod<T> gpulua_scan_from(gpulua_marked_prod<T> x, int lane) {
  return {gpulua_scan_from(x.total, lane), gpulua_scan_from(x.mark, lane)};
}

// Each lane gets what it and the lanes before it have.
template <class Op, class T>
__device__ inline T gpulua_scan_lanes(T x) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const T other = gpulua_scan_up(x, distance);
    if (lane >= distance) x = Op::combine(other, x);
  }
  return x;
}

// ---- a warp's share of a tile: `chunks` times 32 * width neighbouring elements ---------------------------------------------------

template <class Op, class In, class T, class Out, bool exclusive, int chunks, int width>
struct gpulua_scan_share {
  static constexpr int chunk = 32 * width, size = chunks * chunk;
  T x[chunks][width];
  T before[chunks];  // what the share's earlier elements give

  // `count`: how many elements there are from `in` on. Those past the end change nothing.
  __device__ void load(const In* in, long long count) {
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      const int at = c * chunk + threadIdx.x % 32 * width;
      if (at + width <= count) {
        const gpulua_pack<In, width> pack = gpulua_pack<In, width>::stream(in + at);
#pragma unroll
        for (int k = 0; k < width; ++k) x[c][k] = gpulua_convert<T>::from(pack.at[k]);
      } else {
#pragma unroll
        for (int k = 0; k < width; ++k) x[c][k] = at + k < count ? gpulua_convert<T>::from(in[at + k]) : Op::identity();
      }
    }
  }

  // Sets `before`; gives the whole share's.
  __device__ T scan() {
    T carry = Op::identity();
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      T mine = x[c][0];
#pragma unroll
      for (int k = 1; k < width; ++k) mine = Op::combine(mine, x[c][k]);
      mine = gpulua_scan_lanes<Op>(mine);
      T earlier = gpulua_scan_up(mine, 1);
      if (threadIdx.x % 32 == 0) earlier = Op::identity();
      before[c] = Op::combine(carry, earlier);
      carry = Op::combine(carry, gpulua_scan_from(mine, 31));
    }
    return carry;
  }

  // `base`: the total of what comes before the share.
  __device__ void store(Out* out, long long count, T base) const {
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      const int at = c * chunk + threadIdx.x % 32 * width;
      const T start = Op::combine(base, before[c]);
      T local = Op::identity();
      gpulua_pack<Out, width> pack;
#pragma unroll
      for (int k = 0; k < width; ++k) {
        const T earlier = local;
        local = Op::combine(local, x[c][k]);
        pack.at[k] = gpulua_convert<Out>::from(Op::template result<exclusive>(Op::combine(start, exclusive ? earlier : local)));
      }
      if (at + width <= count) {
        pack.stream_to(out + at);
      } else {
#pragma unroll
        for (int k = 0; k < width; ++k)
          if (at + k < count) out[at + k] = pack.at[k];
      }
    }
  }
};

// ---- rows, or chunks of rows, one tile after the other -----------------------------------------------------------------------

// `lanes` threads go through one chunk of a row: a warp, or the whole block. totals: the total of each chunk; not read where
// a row is one chunk.
template <class Op, class In, class T, class Out, bool exclusive, int threads, int lanes, int chunks, int width>
__device__ inline void gpulua_scan_rows(const In* in, Out* out, const T* totals, long long rows, long long size,
                                        long long row_chunk, long long row_chunks) {
  using Share = gpulua_scan_share<Op, In, T, Out, exclusive, chunks, width>;
  constexpr int warps = lanes / 32;
  const int warp = threadIdx.x % lanes / 32;
  const long long item = (long long)blockIdx.x * (threads / lanes) + threadIdx.x / lanes;
  if (item >= rows * row_chunks) return;
  const long long row = item / row_chunks, first = (item - row * row_chunks) * row_chunk;
  const long long last = first + row_chunk < size ? first + row_chunk : size;

  T carry = Op::identity();
  for (long long p = row * row_chunks; p < item; ++p) carry = Op::combine(carry, totals[p]);
  for (long long tile = first; tile < last; tile += warps * Share::size) {
    const long long at = tile + warp * Share::size;
    Share share;
    share.load(in + row * size + at, last - at);
    const T total = share.scan();
    T base = carry;
    if constexpr (warps > 1) {
      __shared__ T parts[warps];
      __syncthreads();
      if (threadIdx.x % 32 == 0) parts[warp] = total;
      __syncthreads();
#pragma unroll
      for (int w = 0; w < warps; ++w) {
        if (w == warp) base = carry;
        carry = Op::combine(carry, parts[w]);
      }
    } else {
      carry = Op::combine(carry, total);
    }
    share.store(out + row * size + at, last - at, base);
  }
}

// ---- columns: the axis is not the last one, and a thread goes along it --------------------------------------------------------

template <class Op, class In, class T, class Out, bool exclusive>
__device__ inline void gpulua_scan_columns(const In* in, Out* out, long long outer, long long size, long long inner) {
  const long long column = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= outer * inner) return;
  const long long row = column / inner, start = row * size * inner + (column - row * inner);
  in += start;
  out += start;
  T sum = Op::identity();
  for (long long i = 0; i < size; ++i) {
    const T earlier = sum;
    sum = Op::combine(sum, gpulua_convert<T>::from(in[i * inner]));
    out[i * inner] = gpulua_convert<Out>::from(Op::template result<exclusive>(exclusive ? earlier : sum));
  }
}

// Scans along the last axis of row-major rows: each element combined with all that stand before it in its row. The order in
// which elements are combined depends on the shape alone, so a result is bitwise the same each time.

// ---- what is combined: the first operand stands before the second -----------------------------------------------------------

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
struct gpulua_scan_prod : gpulua_scan_operation {
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

template <class Complex>
struct gpulua_scan_prod_complex : gpulua_scan_operation {
  __device__ static Complex identity() { return {1, 0}; }
  __device__ static Complex combine(Complex x, Complex y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
  }
};
template <>
struct gpulua_scan_prod<gpulua_complex64> : gpulua_scan_prod_complex<gpulua_complex64> {};
template <>
struct gpulua_scan_prod<gpulua_complex128> : gpulua_scan_prod_complex<gpulua_complex128> {};

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

  // `base`: what stands before the share.
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

// ---- rows, or pieces of rows, one tile after the other -----------------------------------------------------------------------

// `lanes` threads go through one piece of a row: a warp, or the whole block. totals: what each piece comes to; not read
// where there is one piece a row.
template <class Op, class In, class T, class Out, bool exclusive, int threads, int lanes, int chunks, int width>
__device__ inline void gpulua_scan_rows(const In* in, Out* out, const T* totals, long long rows, long long size,
                                        long long piece, long long pieces) {
  using Share = gpulua_scan_share<Op, In, T, Out, exclusive, chunks, width>;
  constexpr int warps = lanes / 32;
  const int warp = threadIdx.x % lanes / 32;
  const long long item = (long long)blockIdx.x * (threads / lanes) + threadIdx.x / lanes;
  if (item >= rows * pieces) return;
  const long long row = item / pieces, first = (item - row * pieces) * piece;
  const long long last = first + piece < size ? first + piece : size;

  T carry = Op::identity();
  for (long long p = row * pieces; p < item; ++p) carry = Op::combine(carry, totals[p]);
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

// What each piece of each row comes to: a warp for each.
template <class Op, class In, class T, int threads, int chunks, int width>
__device__ inline void gpulua_scan_totals(const In* in, T* totals, long long rows, long long size, long long piece,
                                          long long pieces) {
  const long long item = (long long)blockIdx.x * (threads / 32) + threadIdx.x / 32;
  if (item >= rows * pieces) return;
  const long long row = item / pieces, first = (item - row * pieces) * piece;
  const long long last = first + piece < size ? first + piece : size;
  const int lane = threadIdx.x % 32;
  T sum = Op::identity();
  if constexpr (Op::commutes) {
    for (long long at = first + lane; at < last; at += 32) sum = Op::combine(sum, gpulua_convert<T>::from(in[row * size + at]));
    sum = gpulua_scan_lanes<Op>(sum);
  } else {
    gpulua_scan_share<Op, In, T, In, false, chunks, width> share;
    for (long long at = first; at < last; at += share.size) {
      share.load(in + row * size + at, last - at);
      sum = Op::combine(sum, share.scan());
    }
  }
  if (lane == 31) totals[item] = sum;
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

// ---- long rows in one pass -------------------------------------------------------------------------------------------------------

// Decoupled look-back: Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016. Each block
// takes a tile, tells what it comes to, and waits for what stands before it. To be bitwise the same each time, the tiles are
// put together in one order only, whichever have told theirs: 32 tiles make a group; a tile adds up those of its own group
// before it, the last one tells the group's total, and the groups' totals are added from the left. Which of those sums are
// there to read does not change them.

// A value that another block waits for, in words of 32 bits that each carry the state: no fence is needed between them.
template <class T>
struct gpulua_scan_message {
  static constexpr int words = (sizeof(T) + 3) / 4;
  union Bits {
    T value;
    unsigned int at[words];
    __device__ Bits() {}
  };
  __device__ static void tell(volatile unsigned long long* to, const T& value, unsigned int state) {
    Bits bits;
    bits.at[words - 1] = 0;
    bits.value = value;
#pragma unroll
    for (int w = 0; w < words; ++w) to[w] = (unsigned long long)state << 32 | bits.at[w];
  }
  // The state; 0 while there is no value.
  __device__ static unsigned int hear(const volatile unsigned long long* from, T& value) {
    Bits bits;
    unsigned int state = 0;
    bool whole = true;
#pragma unroll
    for (int w = 0; w < words; ++w) {
      const unsigned long long word = from[w];
      bits.at[w] = (unsigned int)word;
      const unsigned int its = (unsigned int)(word >> 32);
      whole = whole && (w == 0 || its == state);
      state = its;
    }
    value = bits.value;
    return whole ? state : 0;
  }
};

enum : unsigned int { gpulua_scan_total = 1, gpulua_scan_prefix = 2 };

// The groups of a row before `group`, put together from the left. All lanes of a warp call it.
template <class Op, class T>
__device__ inline T gpulua_scan_groups_before(const unsigned long long* groups, long long group) {
  using Message = gpulua_scan_message<T>;
  const int lane = threadIdx.x % 32;
  const long long mine = group - 1 - lane;
  T value = Op::identity();
  unsigned int state = 0;
  // The farthest one to be read tells a prefix, if only in the end; so there is one to start from.
  if (mine >= 0)
    while ((state = Message::hear(groups + mine * Message::words, value)) <
           (lane == 31 ? gpulua_scan_prefix : gpulua_scan_total)) {
    }
  const int nearest = __ffs(__ballot_sync(0xffffffffu, state == gpulua_scan_prefix)) - 1;
  T sum = gpulua_scan_from(value, nearest);
  for (int from = nearest - 1; from >= 0; --from) sum = Op::combine(sum, gpulua_scan_from(value, from));
  return sum;
}

// tickets, tiles and groups are zero before the launch; each row has `count` tiles.
template <class Op, class In, class T, class Out, bool exclusive, int threads, int chunks, int width>
__device__ inline void gpulua_scan_in_one_pass(const In* in, Out* out, long long size, unsigned int count,
                                               unsigned int* tickets, unsigned long long* tiles,
                                               unsigned long long* groups) {
  using Share = gpulua_scan_share<Op, In, T, Out, exclusive, chunks, width>;
  using Message = gpulua_scan_message<T>;
  constexpr int warps = threads / 32;
  __shared__ unsigned int ticket;
  __shared__ T parts[warps], before_tile;
  // By ticket, so that the tiles that a block waits for have all begun.
  if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
  __syncthreads();
  const unsigned int item = ticket, row = item / count, tile = item - row * count;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const long long at = ((long long)tile * warps + warp) * Share::size;
  Share share;
  share.load(in + row * size + at, size - at);
  const T total = share.scan();
  if (lane == 0) parts[warp] = total;
  __syncthreads();

  if (warp == 0) {
    T whole = parts[0];
#pragma unroll
    for (int w = 1; w < warps; ++w) whole = Op::combine(whole, parts[w]);
    if (lane == 0) Message::tell(tiles + (long long)item * Message::words, whole, gpulua_scan_total);
    const int member = tile % 32;
    T value = lane == member ? whole : Op::identity();
    if (lane < member)
      while (Message::hear(tiles + (long long)(item - member + lane) * Message::words, value) == 0) {
      }
    const T sums = gpulua_scan_lanes<Op>(value);
    const T group_total = gpulua_scan_from(sums, 31);
    T before = gpulua_scan_from(sums, member > 0 ? member - 1 : 0);
    if (member == 0) before = Op::identity();

    const unsigned int group = tile / 32, group_count = (count + 31) / 32;
    unsigned long long* const row_groups = groups + (long long)row * group_count * Message::words;
    unsigned long long* const own = row_groups + (long long)group * Message::words;
    if (member == 31 && lane == 0) Message::tell(own, group_total, group == 0 ? gpulua_scan_prefix : gpulua_scan_total);
    if (group > 0) {
      const T earlier = gpulua_scan_groups_before<Op, T>(row_groups, group);
      before = Op::combine(earlier, before);
      if (member == 31 && lane == 0) Message::tell(own, Op::combine(earlier, group_total), gpulua_scan_prefix);
    }
    if (lane == 0) before_tile = before;
  }
  __syncthreads();
  T base = before_tile;
  for (int w = 0; w < warp; ++w) base = Op::combine(base, parts[w]);
  share.store(out + row * size + at, size - at, base);
}

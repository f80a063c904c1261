// Scans for devices whose blocks are single warps, in the order of scan.cuh: a share's chunks one after the other. A warp knows
// what comes before its share, so it holds no more than a chunk, in loops that are compiled once.

// Gives the lane's element of the chunk of 32 at `first`, and sets what the elements before it in its share give. `carry`: what
// the share's earlier chunks give.
template <class Op, class In, class T>
__device__ inline T gpulua_scan_chunk(const In* in, int first, int length, T& before, T& carry) {
  const int lane = threadIdx.x % 32;
  T x = Op::identity();
  if (lane < length - first) x = gpulua_convert<T>::from(in[first + lane]);
  const T mine = gpulua_scan_lanes<Op>(x);
  T earlier = gpulua_scan_up(mine, 1);
  if (lane == 0) earlier = Op::identity();
  before = Op::combine(carry, earlier);
  carry = Op::combine(carry, gpulua_scan_from(mine, 31));
  return x;
}

template <int chunks>
__device__ inline int gpulua_scan_length(long long count) {
  return count < chunks * 32 ? (int)count : chunks * 32;
}

// The chunk `item` of a row: a warp takes one.
struct gpulua_scan_chunk_of_row {
  long long row, first, last;
  __device__ gpulua_scan_chunk_of_row(long long item, long long size, long long row_chunk, long long row_chunks)
      : row(item / row_chunks), first((item - row * row_chunks) * row_chunk),
        last(first + row_chunk < size ? first + row_chunk : size) {}
};

template <class Op, class In, class T, class Out, bool exclusive, int chunks>
__device__ inline void gpulua_scan_rows_in_turn(const In* in, Out* out, const T* totals, long long rows, long long size,
                                                long long row_chunk, long long row_chunks) {
  const long long item = blockIdx.x;
  const gpulua_scan_chunk_of_row part(item, size, row_chunk, row_chunks);
  T base = Op::identity();
  for (long long p = part.row * row_chunks; p < item; ++p) base = Op::combine(base, totals[p]);
  in += part.row * size;
  out += part.row * size;
#pragma unroll 1
  for (long long at = part.first; at < part.last; at += chunks * 32) {
    const int length = gpulua_scan_length<chunks>(part.last - at), lane = threadIdx.x % 32;
    T carry = Op::identity();
#pragma unroll 1
    for (int first = 0; first < length; first += 32) {
      T before;
      const T x = gpulua_scan_chunk<Op>(in + at, first, length, before, carry);
      const T start = Op::combine(base, before), local = exclusive ? Op::identity() : Op::combine(Op::identity(), x);
      if (lane < length - first)
        out[at + first + lane] = gpulua_convert<Out>::from(Op::template result<exclusive>(Op::combine(start, local)));
    }
    base = Op::combine(base, carry);
  }
}

// The total of each chunk of each row.
template <class Op, class In, class T, int chunks>
__device__ inline void gpulua_scan_totals_in_turn(const In* in, T* totals, long long rows, long long size, long long row_chunk,
                                                  long long row_chunks) {
  const gpulua_scan_chunk_of_row part(blockIdx.x, size, row_chunk, row_chunks);
  const int lane = threadIdx.x % 32;
  in += part.row * size;
  T sum = Op::identity();
  if constexpr (Op::commutes) {
    const long long whole = part.first + (part.last - part.first) / 32 * 32;
    for (long long at = part.first; at < whole; at += 32) sum = Op::combine(sum, gpulua_convert<T>::from(in[at + lane]));
    if (lane < part.last - whole) sum = Op::combine(sum, gpulua_convert<T>::from(in[whole + lane]));
    sum = gpulua_scan_lanes<Op>(sum);
  } else {
#pragma unroll 1
    for (long long at = part.first; at < part.last; at += chunks * 32) {
      const int length = gpulua_scan_length<chunks>(part.last - at);
      T before, carry = Op::identity();
#pragma unroll 1
      for (int first = 0; first < length; first += 32) gpulua_scan_chunk<Op>(in + at, first, length, before, carry);
      sum = Op::combine(sum, carry);
    }
  }
  if (lane == 31) totals[blockIdx.x] = sum;
}

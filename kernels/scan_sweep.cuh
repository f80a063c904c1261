// Scans of long rows in one pass, for devices whose blocks can wait for each other.
//
// Decoupled look-back: Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016. Each block
// takes a tile, publishes the tile's total, and polls the totals of the tiles before it. Results are bitwise the same each
// time, because totals are combined in one order, whichever are there first: 32 tiles make a group; a tile adds up the totals of
// its group before it; the last tile of a group publishes the group's total; and the groups' totals are added from the left.

// A value that a block publishes for others, in words of 32 bits that each carry the state: no fence is needed between them.
template <class T>
struct gpulua_scan_message {
  static constexpr int words = (sizeof(T) + 3) / 4;
  union Bits {
    T value;
    unsigned int at[words];
    __device__ Bits() {}
  };
  __device__ static void publish(volatile unsigned long long* to, const T& value, unsigned int state) {
    Bits bits;
    bits.at[words - 1] = 0;
    bits.value = value;
#pragma unroll
    for (int w = 0; w < words; ++w) to[w] = (unsigned long long)state << 32 | bits.at[w];
  }
  // The state; 0 while no value was published.
  __device__ static unsigned int poll(const volatile unsigned long long* from, T& value) {
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

// The total of the groups of a row before `group`, combined from the left. All lanes of a warp call it.
template <class Op, class T>
__device__ inline T gpulua_scan_groups_before(const unsigned long long* groups, long long group) {
  using Message = gpulua_scan_message<T>;
  const int lane = threadIdx.x % 32;
  const long long mine = group - 1 - lane;
  T value = Op::identity();
  unsigned int state = 0;
  // The farthest group that is read publishes a prefix sooner or later, so there is one to start from.
  if (mine >= 0)
    while ((state = Message::poll(groups + mine * Message::words, value)) <
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
    if (lane == 0) Message::publish(tiles + (long long)item * Message::words, whole, gpulua_scan_total);
    const int member = tile % 32;
    T value = lane == member ? whole : Op::identity();
    if (lane < member)
      while (Message::poll(tiles + (long long)(item - member + lane) * Message::words, value) == 0) {
      }
    const T sums = gpulua_scan_lanes<Op>(value);
    const T group_total = gpulua_scan_from(sums, 31);
    T before = gpulua_scan_from(sums, member > 0 ? member - 1 : 0);
    if (member == 0) before = Op::identity();

    const unsigned int group = tile / 32, group_count = (count + 31) / 32;
    unsigned long long* const row_groups = groups + (long long)row * group_count * Message::words;
    unsigned long long* const own = row_groups + (long long)group * Message::words;
    if (member == 31 && lane == 0) Message::publish(own, group_total, group == 0 ? gpulua_scan_prefix : gpulua_scan_total);
    if (group > 0) {
      const T earlier = gpulua_scan_groups_before<Op, T>(row_groups, group);
      before = Op::combine(earlier, before);
      if (member == 31 && lane == 0) Message::publish(own, Op::combine(earlier, group_total), gpulua_scan_prefix);
    }
    if (lane == 0) before_tile = before;
  }
  __syncthreads();
  T base = before_tile;
  for (int w = 0; w < warp; ++w) base = Op::combine(base, parts[w]);
  share.store(out + row * size + at, size - at, base);
}

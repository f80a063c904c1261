#ifndef GPULUA_COOPERATIVE_GROUPS_H
#define GPULUA_COOPERATIVE_GROUPS_H
// Cooperative groups: the block, the grid, tiles of a block and the lanes that run together. Capital letters stay out of the
// names: a user's macros are defined by now.
// How the toolkit's headers write an address as an operand of inline PTX, which sources borrow.
#define _CG_ASM_PTR_CONSTRAINT(pointer) "l"(pointer)
#pragma clang force_cuda_host_device begin
namespace cooperative_groups {

/// A block, or the lanes of `mask_` of a warp. What all groups have in common.
class thread_group {
 public:
  unsigned long long size() const { return size_; }
  unsigned long long num_threads() const { return size_; }
  unsigned long long thread_rank() const { return rank_; }
  void sync(GPULUA_SOURCE_LINE) const {
    if (mask_ == 0)
      gpulua_barrier(file, line);
    else
      __syncwarp(mask_);
  }

 protected:
  thread_group(unsigned int mask, unsigned int size, unsigned int rank) : mask_(mask), size_(size), rank_(rank) {}
  unsigned int mask_, size_, rank_;
  friend thread_group tiled_partition(const thread_group& parent, unsigned int size, const char* file, unsigned int line);
};

/// CUDA keeps in it what tiles of more than a warp need; here they need nothing.
template <unsigned int threads = 1024>
struct block_tile_memory {
  char unused;
};

class thread_block : public thread_group {
 public:
  struct arrival_token {};
  static dim3 group_index() { return dim3(blockIdx); }
  static dim3 thread_index() { return dim3(threadIdx); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  static void sync(GPULUA_SOURCE_LINE) { gpulua_barrier(file, line); }
  /// All wait where they may.
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token&&, GPULUA_SOURCE_LINE) { gpulua_barrier(file, line); }
  static unsigned int thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  static unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned int num_threads() { return size(); }

 private:
  thread_block() : thread_group(0, size(), thread_rank()) {}
  friend thread_block this_thread_block();
};
inline thread_block this_thread_block() { return thread_block(); }
template <unsigned int threads>
inline thread_block this_thread_block(block_tile_memory<threads>&) {
  return this_thread_block();
}

/// All blocks of a cooperative launch.
class grid_group {
 public:
  using arrival_token = unsigned int;
  static bool is_valid() { return true; }
  static void sync(GPULUA_SOURCE_LINE) { gpulua_grid_barrier(file, line); }
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token&&, GPULUA_SOURCE_LINE) { gpulua_grid_barrier(file, line); }
  static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() { return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
  static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return dim3(blockIdx); }
};
inline grid_group this_grid() { return {}; }

/// The cluster of a block that is alone in it: this device launches no others.
class cluster_group {
 public:
  struct arrival_token {};
  static void sync(GPULUA_SOURCE_LINE) { gpulua_barrier(file, line); }
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token&&, GPULUA_SOURCE_LINE) { gpulua_barrier(file, line); }
  static void barrier_wait(GPULUA_SOURCE_LINE) { gpulua_barrier(file, line); }
  static unsigned int num_blocks() { return 1; }
  static unsigned int num_threads() { return thread_block::size(); }
  static unsigned int size() { return num_threads(); }
  static unsigned int block_rank() { return 0; }
  static unsigned int thread_rank() { return thread_block::thread_rank(); }
  static unsigned int query_shared_rank(const void*) { return 0; }
  static dim3 dim_blocks() { return dim3(1, 1, 1); }
  static dim3 dim_threads() { return blockDim; }
  static dim3 block_index() { return dim3(0, 0, 0); }
  static dim3 thread_index() { return dim3(threadIdx); }
  template <class _Tp>
  static _Tp* map_shared_rank(_Tp* address, int) {
    return address;
  }
};
inline cluster_group this_cluster() { return {}; }

namespace details {
/// Whether a barrier's word shows its other side: sources borrow it from the toolkit's headers for barriers of their own.
inline bool bar_has_flipped(unsigned int before, unsigned int now) { return ((before ^ now) & 0x80000000u) != 0; }
/// The votes of a group within a warp; the group says its lanes, and which of them has a rank.
template <class _Group>
class warp_part : public thread_group {
 public:
  unsigned int size() const { return size_; }
  unsigned int num_threads() const { return size_; }
  unsigned int thread_rank() const { return rank_; }
  void sync(GPULUA_SOURCE_LINE) const {
    (void)file, (void)line;
    __syncwarp(mask_);
  }
  int any(int predicate) const { return __any_sync(mask_, predicate); }
  int all(int predicate) const { return __all_sync(mask_, predicate); }
  unsigned int ballot(int predicate) const { return ranks(__ballot_sync(mask_, predicate)); }
  template <class _Tp>
  unsigned int match_any(_Tp value) const {
    return ranks(__match_any_sync(mask_, value));
  }
  template <class _Tp>
  unsigned int match_all(_Tp value, int& same) const {
    return ranks(__match_all_sync(mask_, value, &same));
  }
  template <class _Tp>
  _Tp shfl(_Tp value, int rank) const {
    return move(value, (unsigned int)rank < size_ ? (unsigned int)rank : rank_);
  }
  template <class _Tp>
  _Tp shfl_up(_Tp value, unsigned int delta) const {
    return move(value, delta <= rank_ ? rank_ - delta : rank_);
  }
  template <class _Tp>
  _Tp shfl_down(_Tp value, unsigned int delta) const {
    return move(value, delta < size_ - rank_ ? rank_ + delta : rank_);
  }
  template <class _Tp>
  _Tp shfl_xor(_Tp value, unsigned int bits) const {
    return move(value, (rank_ ^ bits) < size_ ? rank_ ^ bits : rank_);
  }
  /// The values of all threads, combined in the order of a tree; every thread gets the result.
  template <class _Tp, class _Operation>
  _Tp combine_all(_Tp value, _Operation& combine) const {
    const unsigned int count = static_cast<const _Group&>(*this).num_threads();
    for (unsigned int step = 1; step < count; step *= 2) {
      _Tp other = shfl_down(value, step);
      if (rank_ + step < count) value = combine(value, other);
    }
    return shfl(value, 0);
  }
  /// The values of the threads up to and with this one, combined; and of those before it, for the first a value of zero.
  template <class _Tp, class _Operation>
  _Tp combine_up_to(_Tp value, _Operation& combine) const {
    for (unsigned int step = 1; step < static_cast<const _Group&>(*this).num_threads(); step *= 2) {
      _Tp other = shfl_up(value, step);
      if (rank_ >= step) value = combine(other, value);
    }
    return value;
  }
  template <class _Tp, class _Operation>
  _Tp combine_before(_Tp value, _Operation& combine) const {
    _Tp before = shfl_up(combine_up_to(value, combine), 1);
    return rank_ == 0 ? _Tp() : before;
  }

 protected:
  warp_part(unsigned int mask, unsigned int size, unsigned int rank) : thread_group(mask, size, rank) {}

 private:
  /// A value of any type goes between lanes in words.
  template <class _Tp>
  _Tp move(const _Tp& value, unsigned int rank) const {
    constexpr int count = (sizeof(_Tp) + 3) / 4;
    const unsigned int lane = static_cast<const _Group&>(*this).lane_of(rank);
    unsigned int words[count] = {};
    memcpy(words, &value, sizeof(_Tp));
    for (int i = 0; i < count; ++i) words[i] = gpulua_shuffle(mask_, words[i], lane);
    _Tp result;
    memcpy(&result, words, sizeof(_Tp));
    return result;
  }
  unsigned int ranks(unsigned int lanes) const { return static_cast<const _Group&>(*this).ranks_of(lanes); }
};

/// `count` threads of a warp, a power of two.
template <unsigned int count>
class small_tile : public warp_part<small_tile<count>> {
 public:
  small_tile()
      : warp_part<small_tile>((count == 32 ? ~0u : (1u << count % 32) - 1) << first(), count,
                                            gpulua_lane() - first()) {}
  static constexpr unsigned int num_threads() { return count; }
  static constexpr unsigned int size() { return count; }
  static unsigned int lane_of(unsigned int rank) { return first() + rank; }
  static unsigned int ranks_of(unsigned int lanes) { return lanes >> first(); }

 private:
  static unsigned int first() { return gpulua_lane() & (32 - count); }
};

/// The engines know of this one that a warp's are neighbours.
inline unsigned int block_rank() { return gpulua_thread_context.linear; }
inline unsigned int rank_in(const thread_block&) { return block_rank(); }
template <class _Group>
inline unsigned int rank_in(const _Group& group) {
  return group.thread_rank();
}

/// A value of each warp of the block. CUDA's tiles exchange 8 bytes, too.
inline unsigned long long* values_of_warps() {
  __shared__ unsigned long long values[32];
  return values;
}

/// `count` threads of a block, a power of two of more than a warp.
template <unsigned int count>
class large_tile {
 public:
  static void sync(GPULUA_SOURCE_LINE) { gpulua_tile_barrier(count, file, line); }
  static unsigned int thread_rank() { return block_rank() % count; }
  static constexpr unsigned int num_threads() { return count; }
  static constexpr unsigned int size() { return count; }
  int any(int predicate) const {
    auto either = [](int a, int b) { return a | b; };
    return combine_all((int)(predicate != 0), either);
  }
  int all(int predicate) const { return !any(!predicate); }
  /// All threads name the same rank.
  template <class _Tp>
  _Tp shfl(_Tp value, unsigned int rank) const {
    const unsigned int source = rank % count;
    if (thread_rank() == source) put(value);
    sync();
    const _Tp result = get<_Tp>(source / 32);
    sync();
    return result;
  }
  template <class _Tp, class _Operation>
  _Tp combine_all(_Tp value, _Operation& combine) const {
    value = warp().combine_all(value, combine);
    if (gpulua_lane() == 0) put(value);
    sync();
    _Tp result = get<_Tp>(0);
    for (unsigned int i = 1; i < warps(); ++i) result = combine(result, get<_Tp>(i));
    sync();
    return result;
  }
  template <class _Tp, class _Operation>
  _Tp combine_up_to(_Tp value, _Operation& combine) const {
    value = warp().combine_up_to(value, combine);
    const unsigned int own = thread_rank() / 32;
    if (gpulua_lane() == 31) put(value);
    sync();
    if (own != 0) {
      _Tp before = get<_Tp>(0);
      for (unsigned int i = 1; i < own; ++i) before = combine(before, get<_Tp>(i));
      value = combine(before, value);
    }
    sync();
    return value;
  }
  template <class _Tp, class _Operation>
  _Tp combine_before(_Tp value, _Operation& combine) const {
    const _Tp scanned = combine_up_to(value, combine);
    _Tp before = warp().shfl_up(scanned, 1);
    if (gpulua_lane() == 31) put(scanned);
    sync();
    if (gpulua_lane() == 0) before = thread_rank() == 0 ? _Tp() : get<_Tp>(thread_rank() / 32 - 1);
    sync();
    return before;
  }

 private:
  static small_tile<32> warp() { return {}; }
  /// Of the tile; a block's last one may lack some.
  static unsigned int warps() {
    const unsigned int first = block_rank() / count * count, left = thread_block::size() - first;
    return ((left < count ? left : count) + 31) / 32;
  }
  template <class _Tp>
  static void put(const _Tp& value) {
    static_assert(sizeof(_Tp) <= 8, "tiles of more than 32 threads exchange values of up to 8 bytes");
    memcpy(&values_of_warps()[block_rank() / 32], &value, sizeof(_Tp));
  }
  /// What the tile's warp of that rank has put.
  template <class _Tp>
  static _Tp get(unsigned int warp) {
    _Tp result;
    memcpy(&result, &values_of_warps()[block_rank() / count * (count / 32) + warp], sizeof(_Tp));
    return result;
  }
};

template <bool large, unsigned int count>
struct tile_kind {
  using type = small_tile<count>;
};
template <unsigned int count>
struct tile_kind<true, count> {
  using type = large_tile<count>;
};
}  // namespace details

/// `count` neighbours of the threads of a block, or of another tile, in their order.
template <unsigned int count, class _Parent = void>
class thread_block_tile : public details::tile_kind<(count > 32), count>::type {
  static_assert(count >= 1 && count <= 1024 && (count & (count - 1)) == 0,
                "a tile has a power of two of threads, up to 1024");

 public:
  template <class _Other>
  thread_block_tile(const thread_block_tile<count, _Other>& tile)
      : meta_rank_(tile.meta_group_rank()), meta_size_(tile.meta_group_size()) {}
  unsigned int meta_group_rank() const { return meta_rank_; }
  unsigned int meta_group_size() const { return meta_size_; }

 private:
  thread_block_tile(unsigned int rank, unsigned int size) : meta_rank_(rank), meta_size_(size) {}
  unsigned int meta_rank_, meta_size_;  // among the tiles of the parent
  template <unsigned int _count, class _Group>
  friend thread_block_tile<_count, _Group> tiled_partition(const _Group& parent);
  friend thread_block_tile<1> this_thread();
};
inline thread_block_tile<1> this_thread() { return {0, 1}; }

/// Some lanes of a warp, in their order.
class coalesced_group : public details::warp_part<coalesced_group> {
 public:
  explicit coalesced_group(unsigned int mask, unsigned int meta_rank = 0, unsigned int meta_size = 1)
      : warp_part(mask, __popc(mask), __popc(mask & ((1u << gpulua_lane()) - 1))),
        meta_rank_(meta_rank),
        meta_size_(meta_size) {}
  unsigned int meta_group_rank() const { return meta_rank_; }
  unsigned int meta_group_size() const { return meta_size_; }
  unsigned int lane_of(unsigned int rank) const { return __fns(mask_, 0, (int)rank + 1); }
  unsigned int ranks_of(unsigned int lanes) const {
    unsigned int result = 0, rank = 0;
    for (unsigned int left = mask_; left != 0; left &= left - 1, ++rank)
      if (lanes & left & -left) result |= 1u << rank;
    return result;
  }

 private:
  unsigned int meta_rank_, meta_size_;  // among the groups that the lanes were parted into
};
inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int count, class _Parent>
inline thread_block_tile<count, _Parent> tiled_partition(const _Parent& parent) {
  return {details::rank_in(parent) / count, ((unsigned int)parent.num_threads() + count - 1) / count};
}

namespace details {
inline void check_size(unsigned int size, const char* file, unsigned int line) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0)
    gpulua_fail("a tile whose size is an argument has 1, 2, 4, 8, 16 or 32 threads", file, line);
}
}  // namespace details

inline thread_group tiled_partition(const thread_group& parent, unsigned int size, GPULUA_SOURCE_LINE) {
  details::check_size(size, file, line);
  const unsigned int first = parent.rank_ / size * size, lane = gpulua_lane() - (parent.rank_ - first);
  return thread_group((size == 32 ? ~0u : (1u << size) - 1) << lane, size, parent.rank_ - first);
}
namespace details {
template <class _Group>
inline unsigned int lanes_of(const _Group& group, unsigned int ranks) {
  unsigned int lanes = 0;
  for (; ranks != 0; ranks &= ranks - 1) lanes |= 1u << group.lane_of(__builtin_ctz(ranks));
  return lanes;
}
}  // namespace details

inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size, GPULUA_SOURCE_LINE) {
  details::check_size(size, file, line);
  const unsigned int tile = parent.thread_rank() / size, ranks = (size == 32 ? ~0u : (1u << size) - 1) << tile * size;
  const unsigned int lanes = details::lanes_of(parent, ranks & parent.ballot(1));
  return coalesced_group(lanes, tile, (parent.size() + size - 1) / size);
}
/// The lanes of the group with the same predicate, or the same label.
template <class _Group>
inline coalesced_group binary_partition(const _Group& group, bool predicate) {
  const unsigned int yes = group.ballot(predicate), all = group.ballot(1);
  return coalesced_group(details::lanes_of(group, predicate ? yes : all & ~yes), predicate, 2);
}
template <class _Label, class _Group>
inline coalesced_group labeled_partition(const _Group& group, _Label label) {
  const unsigned int same = group.match_any(label), leader = __builtin_ctz(same);
  const unsigned int leaders = group.ballot(group.thread_rank() == leader);
  return coalesced_group(details::lanes_of(group, same), __popc(leaders & ((1u << leader) - 1)), __popc(leaders));
}

template <class _Group>
inline void sync(const _Group& group, GPULUA_SOURCE_LINE) {
  group.sync(file, line);
}

/// One thread of the group calls the function; and all get what it gave.
template <class _Group, class _Function, class... _Arguments>
inline void invoke_one(const _Group& group, _Function&& function, _Arguments&&... arguments) {
  if (group.thread_rank() == 0) static_cast<_Function&&>(function)(static_cast<_Arguments&&>(arguments)...);
}
template <class _Group, class _Function, class... _Arguments>
inline auto invoke_one_broadcast(const _Group& group, _Function&& function, _Arguments&&... arguments)
    -> __remove_reference_t(decltype(static_cast<_Function&&>(function)(static_cast<_Arguments&&>(arguments)...))) {
  __remove_reference_t(decltype(static_cast<_Function&&>(function)(static_cast<_Arguments&&>(arguments)...))) result{};
  if (group.thread_rank() == 0) result = static_cast<_Function&&>(function)(static_cast<_Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups
#pragma clang force_cuda_host_device end
#endif

#ifndef GPULUA_COOPERATIVE_GROUPS_H
#define GPULUA_COOPERATIVE_GROUPS_H
// Cooperative groups: the block, the grid, tiles of a warp and the lanes that run together. Capital letters stay out of the
// names: a user's macros are defined by now.
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
  friend thread_group tiled_partition(const thread_group& parent, unsigned int size);
};

class thread_block : public thread_group {
 public:
  static dim3 group_index() { return dim3(blockIdx); }
  static dim3 thread_index() { return dim3(threadIdx); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  static void sync(GPULUA_SOURCE_LINE) { gpulua_barrier(file, line); }
  static unsigned int thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  static unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned int num_threads() { return size(); }

 private:
  thread_block() : thread_group(0, size(), thread_rank()) {}
  friend thread_block this_thread_block();
};
inline thread_block this_thread_block() { return thread_block(); }

/// All blocks of a cooperative launch.
class grid_group {
 public:
  static bool is_valid() { return true; }
  static void sync(GPULUA_SOURCE_LINE) { gpulua_grid_barrier(file, line); }
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

/// The votes of a group within a warp; the group says its lanes, and which of them has a rank.
template <class _Group>
class gpulua_warp_part : public thread_group {
 public:
  unsigned int size() const { return size_; }
  unsigned int num_threads() const { return size_; }
  unsigned int thread_rank() const { return rank_; }
  void sync() const { __syncwarp(mask_); }
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

 protected:
  gpulua_warp_part(unsigned int mask, unsigned int size, unsigned int rank) : thread_group(mask, size, rank) {}

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

/// `count` neighbours, a power of two up to 32, of a block's threads in their order.
template <unsigned int count, class _Parent = void>
class thread_block_tile : public gpulua_warp_part<thread_block_tile<count, _Parent>> {
  static_assert(count >= 1 && count <= 32 && (count & (count - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  using Part = gpulua_warp_part<thread_block_tile>;

 public:
  thread_block_tile() : Part((count == 32 ? ~0u : (1u << count % 32) - 1) << first(), count, gpulua_lane() - first()) {}
  template <class _Other>
  thread_block_tile(const thread_block_tile<count, _Other>&) : thread_block_tile() {}
  static constexpr unsigned int num_threads() { return count; }
  static constexpr unsigned int size() { return count; }
  static unsigned int meta_group_rank() { return thread_block::thread_rank() / count; }
  static unsigned int meta_group_size() { return (thread_block::size() + count - 1) / count; }
  static unsigned int lane_of(unsigned int rank) { return first() + rank; }
  static unsigned int ranks_of(unsigned int lanes) { return lanes >> first(); }

 private:
  static unsigned int first() { return gpulua_lane() & (32 - count); }
};

/// Some lanes of a warp, in their order.
class coalesced_group : public gpulua_warp_part<coalesced_group> {
 public:
  explicit coalesced_group(unsigned int mask)
      : gpulua_warp_part(mask, __popc(mask), __popc(mask & ((1u << gpulua_lane()) - 1))) {}
  unsigned int lane_of(unsigned int rank) const { return __fns(mask_, 0, (int)rank + 1); }
  unsigned int ranks_of(unsigned int lanes) const {
    unsigned int result = 0, rank = 0;
    for (unsigned int left = mask_; left != 0; left &= left - 1, ++rank)
      if (lanes & left & -left) result |= 1u << rank;
    return result;
  }
};
inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int count, class _Parent>
inline thread_block_tile<count, _Parent> tiled_partition(const _Parent&) {
  return {};
}
inline thread_group tiled_partition(const thread_group& parent, unsigned int size) {
  const unsigned int first = parent.rank_ / size * size, lane = gpulua_lane() - (parent.rank_ - first);
  return thread_group((size == 32 ? ~0u : (1u << size) - 1) << lane, size, parent.rank_ - first);
}
/// The lanes of the group with the same predicate, or the same label.
template <class _Group>
inline coalesced_group binary_partition(const _Group& group, bool predicate) {
  return labeled_partition(group, (int)predicate);
}
template <class _Group>
inline coalesced_group labeled_partition(const _Group& group, int label) {
  unsigned int same = group.match_any(label), lanes = 0;
  for (unsigned int left = same; left != 0; left &= left - 1) lanes |= 1u << group.lane_of(__builtin_ctz(left));
  return coalesced_group(lanes);
}

inline void sync(const thread_group& group) { group.sync(); }
inline void sync(const thread_block& group) { group.sync(); }
inline void sync(const grid_group& group) { group.sync(); }

}  // namespace cooperative_groups
#pragma clang force_cuda_host_device end
#endif

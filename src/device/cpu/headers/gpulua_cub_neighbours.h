// cub's classes that compare each item of a block with the one before or after it. Included by cub.h.
#ifndef GPULUA_CUB_NEIGHBOURS
#define GPULUA_CUB_NEIGHBOURS
namespace cub {
namespace gpulua {

/// The items of a block, thread after thread: what is before a thread's first item and after its last one.
template <class T, int x, int y, int z>
class neighbours {
  static constexpr int threads = x * y * z;

 public:
  struct TempStorage {
    room<T, threads> first_, last_;
  };
  __device__ neighbours() : storage_(private_storage<TempStorage>()) {}
  __device__ neighbours(TempStorage& storage) : storage_(storage) {}

 protected:
  template <int items>
  __device__ void share(const T (&in)[items]) {
    check_block(x, y, z);
    storage_.first_[rank()] = in[0];
    storage_.last_[rank()] = in[items - 1];
    __syncthreads();
  }
  static __device__ int rank() { return (int)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x); }
  /// `edge` is null where the block has nothing before or after it.
  template <int items>
  __device__ const T* before(const T (&in)[items], int i, const T* edge) {
    return i > 0 ? &in[i - 1] : rank() > 0 ? &storage_.last_[rank() - 1] : edge;
  }
  template <int items>
  __device__ const T* after(const T (&in)[items], int i, const T* edge) {
    return i + 1 < items ? &in[i + 1] : rank() + 1 < threads ? &storage_.first_[rank() + 1] : edge;
  }
  TempStorage& storage_;
};

}  // namespace gpulua

/// Flags an item where `operation(before, item)` or `operation(item, after)` is true, and those without a neighbour.
template <class T, int x, int y = 1, int z = 1, int = 0>
class BlockDiscontinuity : gpulua::neighbours<T, x, y, z> {
  using Base = gpulua::neighbours<T, x, y, z>;

 public:
  using TempStorage = typename Base::TempStorage;
  using Base::Base;
  template <int items, class Flag, class Operation>
  __device__ void FlagHeads(Flag (&flags)[items], T (&in)[items], Operation operation) {
    this->share(in);
    heads(flags, in, operation, nullptr);
  }
  template <int items, class Flag, class Operation>
  __device__ void FlagHeads(Flag (&flags)[items], T (&in)[items], Operation operation, T before_block) {
    this->share(in);
    heads(flags, in, operation, &before_block);
  }
  template <int items, class Flag, class Operation>
  __device__ void FlagTails(Flag (&flags)[items], T (&in)[items], Operation operation) {
    this->share(in);
    tails(flags, in, operation, nullptr);
  }
  template <int items, class Flag, class Operation>
  __device__ void FlagTails(Flag (&flags)[items], T (&in)[items], Operation operation, T after_block) {
    this->share(in);
    tails(flags, in, operation, &after_block);
  }
  template <int items, class Flag, class Operation>
  __device__ void FlagHeadsAndTails(Flag (&head)[items], Flag (&tail)[items], T (&in)[items], Operation operation) {
    this->share(in);
    heads(head, in, operation, nullptr);
    tails(tail, in, operation, nullptr);
  }

 private:
  template <int items, class Flag, class Operation>
  __device__ void heads(Flag (&flags)[items], T (&in)[items], Operation& operation, const T* edge) {
    for (int i = 0; i < items; ++i) {
      const T* before = this->before(in, i, edge);
      flags[i] = before == nullptr ? Flag(1) : Flag(operation(*before, in[i]));
    }
  }
  template <int items, class Flag, class Operation>
  __device__ void tails(Flag (&flags)[items], T (&in)[items], Operation& operation, const T* edge) {
    for (int i = 0; i < items; ++i) {
      const T* after = this->after(in, i, edge);
      flags[i] = after == nullptr ? Flag(1) : Flag(operation(in[i], *after));
    }
  }
};

/// `operation(item, neighbour)`; an item without a neighbour stays as it is.
template <class T, int x, int y = 1, int z = 1, int = 0>
class BlockAdjacentDifference : gpulua::neighbours<T, x, y, z> {
  using Base = gpulua::neighbours<T, x, y, z>;
  static constexpr int all = 0x7fffffff;

 public:
  using TempStorage = typename Base::TempStorage;
  using Base::Base;
  template <int items, class Out, class Operation>
  __device__ void SubtractLeft(T (&in)[items], Out (&out)[items], Operation operation) {
    left(in, out, operation, all, nullptr);
  }
  template <int items, class Out, class Operation>
  __device__ void SubtractLeft(T (&in)[items], Out (&out)[items], Operation operation, T before_block) {
    left(in, out, operation, all, &before_block);
  }
  template <int items, class Out, class Operation>
  __device__ void SubtractLeftPartialTile(T (&in)[items], Out (&out)[items], Operation operation, int valid) {
    left(in, out, operation, valid, nullptr);
  }
  template <int items, class Out, class Operation>
  __device__ void SubtractLeftPartialTile(T (&in)[items], Out (&out)[items], Operation operation, int valid, T before_block) {
    left(in, out, operation, valid, &before_block);
  }
  template <int items, class Out, class Operation>
  __device__ void SubtractRight(T (&in)[items], Out (&out)[items], Operation operation) {
    right(in, out, operation, all, nullptr);
  }
  template <int items, class Out, class Operation>
  __device__ void SubtractRight(T (&in)[items], Out (&out)[items], Operation operation, T after_block) {
    right(in, out, operation, all, &after_block);
  }
  template <int items, class Out, class Operation>
  __device__ void SubtractRightPartialTile(T (&in)[items], Out (&out)[items], Operation operation, int valid) {
    right(in, out, operation, valid - 1, nullptr);
  }

 private:
  /// Backwards and forwards, as `out` may be `in`.
  template <int items, class Out, class Operation>
  __device__ void left(T (&in)[items], Out (&out)[items], Operation& operation, int end, const T* edge) {
    this->share(in);
    for (int i = items - 1; i >= 0; --i) {
      const T* before = this->before(in, i, edge);
      const bool has_pair = before != nullptr && this->rank() * items + i < end;
      out[i] = has_pair ? Out(operation(in[i], *before)) : Out(in[i]);
    }
  }
  template <int items, class Out, class Operation>
  __device__ void right(T (&in)[items], Out (&out)[items], Operation& operation, int end, const T* edge) {
    this->share(in);
    for (int i = 0; i < items; ++i) {
      const T* after = this->after(in, i, edge);
      const bool has_pair = after != nullptr && this->rank() * items + i < end;
      out[i] = has_pair ? Out(operation(in[i], *after)) : Out(in[i]);
    }
  }
};

}  // namespace cub
#endif

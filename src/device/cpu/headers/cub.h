// cub: what the threads of a block or a warp do together. The names and their meaning are CUB's documentation's. Threads of a block are
// numbered with x running fastest.
#ifndef GPULUA_CUB
#define GPULUA_CUB

#include "gpulua/functional"
#include "gpulua/type_traits"

namespace cub {

// ---- operations ----------------------------------------------------------------------------------------------------------------

struct NullType {};

#define GPULUA_OPERATION(name, value)                                            \
  struct name {                                                                  \
    template <class T, class U>                                                  \
    __host__ __device__ typename std::common_type<T, U>::type operator()(const T& a, const U& b) const { \
      return value;                                                              \
    }                                                                            \
  };
GPULUA_OPERATION(Sum, a + b)
GPULUA_OPERATION(Difference, a - b)
GPULUA_OPERATION(Max, b > a ? b : a)
GPULUA_OPERATION(Min, b < a ? b : a)
#undef GPULUA_OPERATION
struct Equality {
  template <class T, class U>
  __host__ __device__ bool operator()(const T& a, const U& b) const {
    return a == b;
  }
};
struct Inequality {
  template <class T, class U>
  __host__ __device__ bool operator()(const T& a, const U& b) const {
    return a != b;
  }
};

template <class Key, class Value>
struct KeyValuePair {
  typedef Key key_type;
  typedef Value value_type;
  Key key;
  Value value;
  KeyValuePair() = default;
  __host__ __device__ KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
  __host__ __device__ bool operator!=(const KeyValuePair& other) const { return value != other.value || key != other.key; }
};
/// Of equal values the one with the smaller key.
struct ArgMax {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return b.value > a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return b.value < a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

// ---- what the classes share ------------------------------------------------------------------------------------------------------

namespace gpulua {

inline __device__ int thread() { return (int)gpulua_thread_context.linear; }

/// The template's block has to be the launch's.
inline __device__ void check_block(int x, int y, int z) {
  if (blockDim.x != (unsigned)x || blockDim.y != (unsigned)y || blockDim.z != (unsigned)z)
    gpulua_fail("cub: the block size in the template's arguments is not that of the launch", "", 0);
}

/// The value of lane `lane` of the lanes in `mask`, of any type.
template <class T>
inline __device__ T shuffle(unsigned mask, const T& value, unsigned lane) {
  constexpr int count = (sizeof(T) + 3) / 4;
  unsigned words[count] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < count; ++i) words[i] = gpulua_shuffle(mask, words[i], lane);
  T result;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}

/// The lanes of a warp that a block of `threads` threads has.
inline __device__ unsigned lanes(int threads) {
  const int left = threads - thread() / 32 * 32;
  return left >= 32 ? ~0u : (1u << left) - 1;
}

/// In the first of each `width` lanes: the values of `valid` lanes from it on, in order.
template <int width, class T, class Operation>
inline __device__ T reduce_lanes(unsigned mask, T value, int valid, Operation operation) {
  const int lane = (int)gpulua_lane(), own = lane % width;
#pragma unroll
  for (int step = 1; step < width; step *= 2) {
    const T other = shuffle(mask, value, (unsigned)(own + step < width ? lane + step : lane));
    if (own + step < valid) value = operation(value, other);
  }
  return value;
}

/// The values of a lane's segment of `width` lanes up to its own.
template <int width, class T, class Operation>
inline __device__ T scan_lanes(unsigned mask, T value, Operation operation) {
  const int lane = (int)gpulua_lane(), own = lane % width;
#pragma unroll
  for (int step = 1; step < width; step *= 2) {
    const T other = shuffle(mask, value, (unsigned)(own >= step ? lane - step : lane));
    if (own >= step) value = operation(other, value);
  }
  return value;
}

template <class T, int count, class Operation>
inline __device__ T reduce_items(const T (&items)[count], Operation operation) {
  T result = items[0];
#pragma unroll
  for (int i = 1; i < count; ++i) result = operation(result, items[i]);
  return result;
}

/// The places of a thread's item `i` in a block of so many threads, side by side or `threads` apart.
template <int items>
inline __device__ int blocked(int i) {
  return thread() * items + i;
}
template <int threads>
inline __device__ int striped(int i) {
  return i * threads + thread();
}

/// Room for values of a type. It has no constructor, which shared memory could not run.
template <class T, int count>
struct room {
  alignas(T) unsigned char bytes[count * sizeof(T)];
  __device__ T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

/// The storage of a class that is made without any.
template <class Storage>
inline __device__ Storage& private_storage() {
  __shared__ Storage storage;
  return storage;
}

}  // namespace gpulua

// ---- warps -----------------------------------------------------------------------------------------------------------------------

template <class T, int width = 32, int = 0>
class WarpReduce {
  static_assert(width >= 1 && width <= 32, "expected a warp of 1 to 32 threads");
  static constexpr bool is_power = (width & (width - 1)) == 0;
  static_assert(is_power, "expected a number of lanes that is a power of 2 here");

 public:
  struct TempStorage {};
  __device__ WarpReduce() {}
  __device__ WarpReduce(TempStorage&) {}

  template <class Operation>
  __device__ T Reduce(T value, Operation operation) {
    return gpulua::reduce_lanes<width>(lanes(), value, width, operation);
  }
  template <class Operation>
  __device__ T Reduce(T value, Operation operation, int valid) {
    return gpulua::reduce_lanes<width>(lanes(), value, valid, operation);
  }
  __device__ T Sum(T value) { return Reduce(value, cub::Sum()); }
  __device__ T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
  __device__ T Max(T value) { return Reduce(value, cub::Max()); }
  __device__ T Min(T value) { return Reduce(value, cub::Min()); }

  /// Where a segment begins, or with `tail` ends, the flag is set. The results are in the first lanes of segments.
  template <class Flag, class Operation>
  __device__ T HeadSegmentedReduce(T value, Flag flag, Operation operation) {
    const unsigned heads = gpulua_ballot(lanes(), flag != 0) >> first() & within(width);
    const unsigned after = heads >> own() >> 1;
    return gpulua::reduce_lanes<width>(lanes(), value, after == 0 ? width : own() + __builtin_ctz(after) + 1, operation);
  }
  template <class Flag, class Operation>
  __device__ T TailSegmentedReduce(T value, Flag flag, Operation operation) {
    const unsigned tails = gpulua_ballot(lanes(), flag != 0) >> first() & within(width);
    const unsigned after = tails >> own();
    return gpulua::reduce_lanes<width>(lanes(), value, after == 0 ? width : own() + __builtin_ctz(after) + 1, operation);
  }
  template <class Flag>
  __device__ T HeadSegmentedSum(T value, Flag flag) {
    return HeadSegmentedReduce(value, flag, cub::Sum());
  }
  template <class Flag>
  __device__ T TailSegmentedSum(T value, Flag flag) {
    return TailSegmentedReduce(value, flag, cub::Sum());
  }

 private:
  static __device__ int own() { return (int)gpulua_lane() % width; }
  static __device__ int first() { return (int)gpulua_lane() / width * width; }
  static __device__ unsigned within(int count) { return count == 32 ? ~0u : (1u << count) - 1; }
  static __device__ unsigned lanes() { return width == 32 ? gpulua::lanes((int)(blockDim.x * blockDim.y * blockDim.z)) : within(width) << first(); }
};

template <class T, int width = 32, int = 0>
class WarpScan {
  static_assert(width >= 1 && width <= 32 && (width & (width - 1)) == 0, "expected a number of lanes that is a power of 2");

 public:
  struct TempStorage {};
  __device__ WarpScan(TempStorage&) {}

  template <class Operation>
  __device__ void InclusiveScan(T value, T& result, Operation operation) {
    result = gpulua::scan_lanes<width>(lanes(), value, operation);
  }
  template <class Operation>
  __device__ void InclusiveScan(T value, T& result, Operation operation, T& total) {
    result = gpulua::scan_lanes<width>(lanes(), value, operation);
    total = last(result);
  }
  /// Without a first value, the first lane's result is not defined.
  template <class Operation>
  __device__ void ExclusiveScan(T value, T& result, Operation operation) {
    result = before(gpulua::scan_lanes<width>(lanes(), value, operation));
  }
  template <class Operation>
  __device__ void ExclusiveScan(T value, T& result, T initial, Operation operation) {
    T total;
    ExclusiveScan(value, result, initial, operation, total);
  }
  template <class Operation>
  __device__ void ExclusiveScan(T value, T& result, T initial, Operation operation, T& total) {
    const T inclusive = gpulua::scan_lanes<width>(lanes(), value, operation);
    const T previous = before(inclusive);
    result = gpulua_lane() % width == 0 ? initial : operation(initial, previous);
    total = last(inclusive);
  }
  __device__ void InclusiveSum(T value, T& result) { InclusiveScan(value, result, cub::Sum()); }
  __device__ void InclusiveSum(T value, T& result, T& total) { InclusiveScan(value, result, cub::Sum(), total); }
  __device__ void ExclusiveSum(T value, T& result) { ExclusiveScan(value, result, T(), cub::Sum()); }
  __device__ void ExclusiveSum(T value, T& result, T& total) { ExclusiveScan(value, result, T(), cub::Sum(), total); }
  template <class Operation>
  __device__ void Scan(T value, T& inclusive, T& exclusive, Operation operation) {
    inclusive = gpulua::scan_lanes<width>(lanes(), value, operation);
    exclusive = before(inclusive);
  }
  template <class Operation>
  __device__ void Scan(T value, T& inclusive, T& exclusive, T initial, Operation operation) {
    const T own = gpulua::scan_lanes<width>(lanes(), value, operation);
    const T previous = before(own);
    inclusive = operation(initial, own);
    exclusive = gpulua_lane() % width == 0 ? initial : operation(initial, previous);
  }
  __device__ T Broadcast(T value, unsigned lane) { return gpulua::shuffle(lanes(), value, gpulua_lane() / width * width + lane); }

 private:
  static __device__ unsigned lanes() {
    if (width == 32) return gpulua::lanes((int)(blockDim.x * blockDim.y * blockDim.z));
    return ((1u << (width & 31)) - 1) << (gpulua_lane() / width * width);
  }
  static __device__ T before(T value) {
    return gpulua::shuffle(lanes(), value, gpulua_lane() % width == 0 ? gpulua_lane() : gpulua_lane() - 1);
  }
  static __device__ T last(T value) {
    const unsigned end = gpulua_lane() / width * width + width - 1, mask = lanes();
    return gpulua::shuffle(mask, value, mask >> end & 1 ? end : 31 - (unsigned)__builtin_clz(mask));
  }
};

// ---- blocks ------------------------------------------------------------------------------------------------------------------------

template <class T, int x, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int y = 1, int z = 1, int = 0>
class BlockReduce {
  static constexpr int threads = x * y * z, warps = (threads + 31) / 32;

 public:
  struct TempStorage {
    gpulua::room<T, warps> warp;
  };
  __device__ BlockReduce() : storage_(gpulua::private_storage<TempStorage>()) {}
  __device__ BlockReduce(TempStorage& storage) : storage_(storage) {}

  /// The result is the first thread's.
  template <class Operation>
  __device__ T Reduce(T value, Operation operation, int valid) {
    gpulua::check_block(x, y, z);
    const int number = gpulua::thread() / 32, own = valid - number * 32;
    value = gpulua::reduce_lanes<32>(gpulua::lanes(threads), value, own < 32 ? own : 32, operation);
    if (gpulua_lane() == 0 && own > 0) storage_.warp[number] = value;
    __syncthreads();
    if (gpulua::thread() == 0)
      for (int i = 1; i < warps && i * 32 < valid; ++i) value = operation(value, storage_.warp[i]);
    return value;
  }
  template <class Operation>
  __device__ T Reduce(T value, Operation operation) {
    return Reduce(value, operation, threads);
  }
  template <int count, class Operation>
  __device__ T Reduce(T (&items)[count], Operation operation) {
    return Reduce(gpulua::reduce_items(items, operation), operation, threads);
  }
  __device__ T Sum(T value) { return Reduce(value, cub::Sum(), threads); }
  __device__ T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
  template <int count>
  __device__ T Sum(T (&items)[count]) {
    return Reduce(items, cub::Sum());
  }

 private:
  TempStorage& storage_;
};

template <class T, int x, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int y = 1, int z = 1, int = 0>
class BlockScan {
  static constexpr int threads = x * y * z, warps = (threads + 31) / 32;

 public:
  struct TempStorage {
    gpulua::room<T, warps> warp;
    gpulua::room<T, 1> prefix;
  };
  __device__ BlockScan() : storage_(gpulua::private_storage<TempStorage>()) {}
  __device__ BlockScan(TempStorage& storage) : storage_(storage) {}

  // A callback gets the block's total in the first warp, and gives what comes before the block in the first thread.

  template <class... More>
  __device__ void InclusiveSum(T value, T& result, More&&... more) {
    T in[1] = {value}, out[1];
    InclusiveSum(in, out, more...);
    result = out[0];
  }
  template <class... More>
  __device__ void ExclusiveSum(T value, T& result, More&&... more) {
    T in[1] = {value}, out[1];
    ExclusiveSum(in, out, more...);
    result = out[0];
  }
  template <int count, class... More>
  __device__ void InclusiveSum(T (&in)[count], T (&out)[count], More&&... more) {
    InclusiveScan(in, out, cub::Sum(), more...);
  }
  template <int count, class... More>
  __device__ void ExclusiveSum(T (&in)[count], T (&out)[count]) {
    ExclusiveScan(in, out, T(), cub::Sum());
  }
  template <int count>
  __device__ void ExclusiveSum(T (&in)[count], T (&out)[count], T& total) {
    ExclusiveScan(in, out, T(), cub::Sum(), total);
  }
  template <int count, class Callback>
  __device__ void ExclusiveSum(T (&in)[count], T (&out)[count], Callback& callback) {
    ExclusiveScan(in, out, cub::Sum(), callback);
  }

  template <class Operation, class... More>
  __device__ void InclusiveScan(T value, T& result, Operation operation, More&&... more) {
    T in[1] = {value}, out[1];
    InclusiveScan(in, out, operation, more...);
    result = out[0];
  }
  template <class... More>
  __device__ void ExclusiveScan(T value, T& result, More&&... more) {
    T in[1] = {value}, out[1];
    ExclusiveScan(in, out, more...);
    result = out[0];
  }

  template <int count, class Operation>
  __device__ void InclusiveScan(T (&in)[count], T (&out)[count], Operation operation) {
    T total;
    InclusiveScan(in, out, operation, total);
  }
  template <int count, class Operation>
  __device__ void InclusiveScan(T (&in)[count], T (&out)[count], Operation operation, T& total) {
    bool has_prefix;
    const T prefix = before(in, operation, total, has_prefix);
    inclusive(in, out, operation, prefix, has_prefix);
  }
  template <int count, class Operation, class Callback>
  __device__ void InclusiveScan(T (&in)[count], T (&out)[count], Operation operation, Callback& callback) {
    T total;
    bool has_prefix;
    const T own = before(in, operation, total, has_prefix), block = prefix_of(callback, total);
    inclusive(in, out, operation, has_prefix ? operation(block, own) : block, true);
  }
  /// Without a first value, the first result is not defined.
  template <int count, class Operation>
  __device__ void ExclusiveScan(T (&in)[count], T (&out)[count], Operation operation) {
    T total;
    bool has_prefix;
    exclusive(in, out, operation, before(in, operation, total, has_prefix));
  }
  template <int count, class Initial, class Operation, class = typename std::enable_if<std::is_convertible<Initial, T>::value>::type>
  __device__ void ExclusiveScan(T (&in)[count], T (&out)[count], Initial initial, Operation operation) {
    T total;
    ExclusiveScan(in, out, (T)initial, operation, total);
  }
  template <int count, class Operation>
  __device__ void ExclusiveScan(T (&in)[count], T (&out)[count], T initial, Operation operation, T& total) {
    bool has_prefix;
    const T own = before(in, operation, total, has_prefix);
    exclusive(in, out, operation, has_prefix ? operation(initial, own) : initial);
  }
  template <int count, class Operation, class Callback, class = typename std::enable_if<!std::is_convertible<Operation, T>::value>::type, class = void>
  __device__ void ExclusiveScan(T (&in)[count], T (&out)[count], Operation operation, Callback& callback) {
    T total;
    bool has_prefix;
    const T own = before(in, operation, total, has_prefix), block = prefix_of(callback, total);
    exclusive(in, out, operation, has_prefix ? operation(block, own) : block);
  }

 private:
  /// The values of the threads before this one, which all but the first have, and of all.
  template <int count, class Operation>
  __device__ T before(T (&in)[count], Operation operation, T& total, bool& has_prefix) {
    gpulua::check_block(x, y, z);
    const unsigned mask = gpulua::lanes(threads), lane = gpulua_lane();
    const int number = gpulua::thread() / 32;
    const T scanned = gpulua::scan_lanes<32>(mask, gpulua::reduce_items(in, operation), operation);
    if (lane == 31 || gpulua::thread() == threads - 1) storage_.warp[number] = scanned;
    T result = gpulua::shuffle(mask, scanned, lane == 0 ? 0 : lane - 1);
    __syncthreads();
    T warp = storage_.warp[0];
    total = warp;
    for (int i = 1; i < warps; ++i) {
      if (i == number) warp = total;
      total = operation(total, storage_.warp[i]);
    }
    if (number > 0) result = lane == 0 ? warp : operation(warp, result);
    has_prefix = gpulua::thread() > 0;
    return result;
  }
  template <class Callback>
  __device__ T prefix_of(Callback& callback, T total) {
    if (gpulua::thread() < 32) {
      const T prefix = callback(total);
      if (gpulua::thread() == 0) storage_.prefix[0] = prefix;
    }
    __syncthreads();
    return storage_.prefix[0];
  }
  template <int count, class Operation>
  static __device__ void inclusive(T (&in)[count], T (&out)[count], Operation operation, T prefix, bool has_prefix) {
    T sum = has_prefix ? operation(prefix, in[0]) : in[0];
    out[0] = sum;
#pragma unroll
    for (int i = 1; i < count; ++i) out[i] = sum = operation(sum, in[i]);
  }
  template <int count, class Operation>
  static __device__ void exclusive(T (&in)[count], T (&out)[count], Operation operation, T prefix) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const T value = in[i];
      out[i] = prefix;
      prefix = operation(prefix, value);
    }
  }
  TempStorage& storage_;
};

// Functions for threads that know their number in the block. Items are side by side, a block apart, or a warp apart.
#define GPULUA_DIRECT(arrangement, parameter, place)                                                                \
  template <parameter class Pointer, class T, int items>                                                            \
  __device__ void LoadDirect##arrangement(int thread, Pointer from, T (&to)[items]) {                               \
    for (int i = 0; i < items; ++i) to[i] = from[place];                                                            \
  }                                                                                                                 \
  template <parameter class Pointer, class T, int items>                                                            \
  __device__ void LoadDirect##arrangement(int thread, Pointer from, T (&to)[items], int valid) {                    \
    for (int i = 0; i < items; ++i)                                                                                 \
      if ((place) < valid) to[i] = from[place];                                                                     \
  }                                                                                                                 \
  template <parameter class Pointer, class T, int items, class Default>                                             \
  __device__ void LoadDirect##arrangement(int thread, Pointer from, T (&to)[items], int valid, Default other) {     \
    for (int i = 0; i < items; ++i)                                                                                 \
      if ((place) < valid) to[i] = from[place]; else to[i] = other;                                                 \
  }                                                                                                                 \
  template <parameter class Pointer, class T, int items>                                                            \
  __device__ void StoreDirect##arrangement(int thread, Pointer to, T (&from)[items]) {                              \
    for (int i = 0; i < items; ++i) to[place] = from[i];                                                            \
  }                                                                                                                 \
  template <parameter class Pointer, class T, int items>                                                            \
  __device__ void StoreDirect##arrangement(int thread, Pointer to, T (&from)[items], int valid) {                   \
    for (int i = 0; i < items; ++i)                                                                                 \
      if ((place) < valid) to[place] = from[i];                                                                     \
  }
#define GPULUA_BLOCK int threads,
GPULUA_DIRECT(Blocked, , thread * items + i)
GPULUA_DIRECT(Striped, GPULUA_BLOCK, i * threads + thread)
GPULUA_DIRECT(WarpStriped, , thread / 32 * 32 * items + i * 32 + thread % 32)
#undef GPULUA_BLOCK
#undef GPULUA_DIRECT
template <class T, int items>
__device__ void LoadDirectBlockedVectorized(int thread, T* from, T (&to)[items]) {
  LoadDirectBlocked(thread, from, to);
}
template <class T, int items>
__device__ void StoreDirectBlockedVectorized(int thread, T* to, T (&from)[items]) {
  StoreDirectBlocked(thread, to, from);
}

/// `striped`: thread t has the items t, t + threads ... ; else it has `items` side by side.
template <class T, int x, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT, int y = 1, int z = 1, int = 0>
class BlockLoad {
  static constexpr int threads = x * y * z;
  static __device__ int place(int i) {
    return algorithm == BLOCK_LOAD_STRIPED ? gpulua::striped<threads>(i) : gpulua::blocked<items>(i);
  }

 public:
  struct TempStorage {};
  __device__ BlockLoad() {}
  __device__ BlockLoad(TempStorage&) {}
  template <class Pointer>
  __device__ void Load(Pointer from, T (&to)[items]) {
    gpulua::check_block(x, y, z);
#pragma unroll
    for (int i = 0; i < items; ++i) to[i] = from[place(i)];
  }
  template <class Pointer>
  __device__ void Load(Pointer from, T (&to)[items], int valid) {
    gpulua::check_block(x, y, z);
#pragma unroll
    for (int i = 0; i < items; ++i)
      if (place(i) < valid) to[i] = from[place(i)];
  }
  template <class Pointer, class Default>
  __device__ void Load(Pointer from, T (&to)[items], int valid, Default other) {
#pragma unroll
    for (int i = 0; i < items; ++i) to[i] = other;
    Load(from, to, valid);
  }
};

template <class T, int x, int items, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT, int y = 1, int z = 1, int = 0>
class BlockStore {
  static constexpr int threads = x * y * z;
  static __device__ int place(int i) {
    return algorithm == BLOCK_STORE_STRIPED ? gpulua::striped<threads>(i) : gpulua::blocked<items>(i);
  }

 public:
  struct TempStorage {};
  __device__ BlockStore() {}
  __device__ BlockStore(TempStorage&) {}
  template <class Pointer>
  __device__ void Store(Pointer to, T (&from)[items]) {
    gpulua::check_block(x, y, z);
#pragma unroll
    for (int i = 0; i < items; ++i) to[place(i)] = from[i];
  }
  template <class Pointer>
  __device__ void Store(Pointer to, T (&from)[items], int valid) {
    gpulua::check_block(x, y, z);
#pragma unroll
    for (int i = 0; i < items; ++i)
      if (place(i) < valid) to[place(i)] = from[i];
  }
};

template <class T, int x, int items, bool = false, int y = 1, int z = 1, int = 0>
class BlockExchange {
  static constexpr int threads = x * y * z;
  static __device__ int blocked(int i) { return gpulua::blocked<items>(i); }
  static __device__ int striped(int i) { return gpulua::striped<threads>(i); }
  /// The lanes of each warp side by side; the last warp may have fewer.
  static __device__ int warp_striped(int i) {
    const int first = gpulua::thread() / 32 * 32, lanes = threads - first < 32 ? threads - first : 32;
    return first * items + i * lanes + gpulua::thread() % 32;
  }

 public:
  struct TempStorage {
    gpulua::room<T, threads * items> items_;
  };
  __device__ BlockExchange() : storage_(gpulua::private_storage<TempStorage>()) {}
  __device__ BlockExchange(TempStorage& storage) : storage_(storage) {}

  template <class U>
  __device__ void StripedToBlocked(const T (&in)[items], U (&out)[items]) {
    exchange(in, out, [](int i) { return striped(i); }, [](int i) { return blocked(i); });
  }
  template <class U>
  __device__ void BlockedToStriped(const T (&in)[items], U (&out)[items]) {
    exchange(in, out, [](int i) { return blocked(i); }, [](int i) { return striped(i); });
  }
  template <class U>
  __device__ void WarpStripedToBlocked(const T (&in)[items], U (&out)[items]) {
    exchange(in, out, [](int i) { return warp_striped(i); }, [](int i) { return blocked(i); });
  }
  template <class U>
  __device__ void BlockedToWarpStriped(const T (&in)[items], U (&out)[items]) {
    exchange(in, out, [](int i) { return blocked(i); }, [](int i) { return warp_striped(i); });
  }
  template <class U, class Rank>
  __device__ void ScatterToBlocked(const T (&in)[items], U (&out)[items], Rank (&ranks)[items]) {
    exchange(in, out, [&](int i) { return (int)ranks[i]; }, [](int i) { return blocked(i); });
  }
  template <class U, class Rank>
  __device__ void ScatterToStriped(const T (&in)[items], U (&out)[items], Rank (&ranks)[items]) {
    exchange(in, out, [&](int i) { return (int)ranks[i]; }, [](int i) { return striped(i); });
  }
  __device__ void StripedToBlocked(T (&both)[items]) { StripedToBlocked(both, both); }
  __device__ void BlockedToStriped(T (&both)[items]) { BlockedToStriped(both, both); }
  __device__ void WarpStripedToBlocked(T (&both)[items]) { WarpStripedToBlocked(both, both); }
  __device__ void BlockedToWarpStriped(T (&both)[items]) { BlockedToWarpStriped(both, both); }
  template <class Rank>
  __device__ void ScatterToBlocked(T (&both)[items], Rank (&ranks)[items]) {
    ScatterToBlocked(both, both, ranks);
  }
  template <class Rank>
  __device__ void ScatterToStriped(T (&both)[items], Rank (&ranks)[items]) {
    ScatterToStriped(both, both, ranks);
  }

 private:
  template <class U, class To, class From>
  __device__ void exchange(const T (&in)[items], U (&out)[items], To to, From from) {
    gpulua::check_block(x, y, z);
#pragma unroll
    for (int i = 0; i < items; ++i) storage_.items_[to(i)] = in[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < items; ++i) out[i] = storage_.items_[from(i)];
  }
  TempStorage& storage_;
};

namespace gpulua {
template <int size>
struct bits_of;
template <>
struct bits_of<1> {
  typedef unsigned char type;
};
template <>
struct bits_of<2> {
  typedef unsigned short type;
};
template <>
struct bits_of<4> {
  typedef unsigned int type;
};
template <>
struct bits_of<8> {
  typedef unsigned long long type;
};
}  // namespace gpulua

/// Numbers as unsigned ones in the same order.
template <class T>
struct Traits {
  typedef typename gpulua::bits_of<sizeof(T)>::type UnsignedBits;
  static __host__ __device__ UnsignedBits TwiddleIn(UnsignedBits key) { return key ^ (key & top ? of_negative : of_positive); }
  static __host__ __device__ UnsignedBits TwiddleOut(UnsignedBits key) { return key ^ (key & top ? of_positive : of_negative); }

 private:
  static constexpr bool has_sign = T(-1) < T(0), is_integer = T(0.5f) == T(0);
  static constexpr UnsignedBits top = UnsignedBits(1) << (8 * sizeof(T) - 1);
  static constexpr UnsignedBits of_positive = has_sign ? top : 0;
  static constexpr UnsignedBits of_negative = is_integer ? of_positive : UnsignedBits(~UnsignedBits(0));
};

/// Sorts by the bits begin to end - 1 of keys, which are numbers; equal keys keep their order. Four bits at a time.
template <class Key, int x, int items, class Value = NullType, int = 4, bool = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int y = 1,
          int z = 1, int = 0>
class BlockRadixSort {
  static constexpr int threads = x * y * z, digits = 16;
  typedef typename gpulua::bits_of<sizeof(Key)>::type Bits;
  typedef typename std::conditional<(threads * items < 65536), unsigned short, unsigned>::type Count;
  typedef BlockScan<int, x, BLOCK_SCAN_WARP_SCANS, y, z> Scan;

 public:
  struct TempStorage {
    union {  // as small as on a GPU, where sources fill the shared memory with it
      Count counts[digits * threads];
      typename BlockExchange<Bits, x, items, false, y, z>::TempStorage keys;
      typename BlockExchange<Value, x, items, false, y, z>::TempStorage values;
    };
    typename Scan::TempStorage scan;
  };
  __device__ BlockRadixSort() : storage_(gpulua::private_storage<TempStorage>()) {}
  __device__ BlockRadixSort(TempStorage& storage) : storage_(storage) {}

  __device__ void Sort(Key (&keys)[items], int begin = 0, int end = sizeof(Key) * 8) { sort(keys, none(), begin, end, false); }
  __device__ void SortDescending(Key (&keys)[items], int begin = 0, int end = sizeof(Key) * 8) { sort(keys, none(), begin, end, true); }
  __device__ void Sort(Key (&keys)[items], Value (&values)[items], int begin = 0, int end = sizeof(Key) * 8) {
    sort(keys, values, begin, end, false);
  }
  __device__ void SortDescending(Key (&keys)[items], Value (&values)[items], int begin = 0, int end = sizeof(Key) * 8) {
    sort(keys, values, begin, end, true);
  }
  __device__ void SortBlockedToStriped(Key (&keys)[items], int begin = 0, int end = sizeof(Key) * 8) {
    Sort(keys, begin, end);
    to_striped(keys, none());
  }
  __device__ void SortDescendingBlockedToStriped(Key (&keys)[items], int begin = 0, int end = sizeof(Key) * 8) {
    SortDescending(keys, begin, end);
    to_striped(keys, none());
  }
  __device__ void SortBlockedToStriped(Key (&keys)[items], Value (&values)[items], int begin = 0, int end = sizeof(Key) * 8) {
    Sort(keys, values, begin, end);
    to_striped(keys, values);
  }
  __device__ void SortDescendingBlockedToStriped(Key (&keys)[items], Value (&values)[items], int begin = 0, int end = sizeof(Key) * 8) {
    SortDescending(keys, values, begin, end);
    to_striped(keys, values);
  }

 private:
  typedef Value Values[items];
  static constexpr bool has_values = !std::is_same<Value, NullType>::value;
  __device__ Values& none() {
    __builtin_memset(&none_, 0, sizeof none_);
    return none_;
  }

  /// Bits whose order as an unsigned number is that of the keys; -0 and 0 are equal.
  static __device__ Bits ordered(Key key) {
    constexpr Bits top = (Bits)((Bits)1 << (sizeof(Key) * 8 - 1));
    Bits bits;
    __builtin_memcpy(&bits, &key, sizeof bits);
    if (std::is_integral<Key>::value) return std::is_signed<Key>::value ? (Bits)(bits ^ top) : bits;
    if (bits == top) bits = 0;
    return bits & top ? (Bits)~bits : (Bits)(bits | top);
  }

  __device__ void sort(Key (&keys)[items], Values& values, int begin, int end, bool descends) {
    gpulua::check_block(x, y, z);
    for (int bit = begin; bit < end; bit += 4) {
      const int width = end - bit < 4 ? end - bit : 4, thread = gpulua::thread();
      for (int d = 0; d < digits; ++d) storage_.counts[d * threads + thread] = 0;
      const auto digit = [&](int i) {
        const int d = (int)(ordered(keys[i]) >> bit & (((Bits)1 << width) - 1));
        return descends ? (1 << width) - 1 - d : d;
      };
#pragma unroll
      for (int i = 0; i < items; ++i) ++storage_.counts[digit(i) * threads + thread];
      __syncthreads();
      // By digits, then by threads: a count becomes the place of that thread's first key with the digit.
      int sum = 0;
      for (int i = 0; i < digits; ++i) sum += storage_.counts[thread * digits + i];
      Scan(storage_.scan).ExclusiveSum(sum, sum);
      for (int i = 0; i < digits; ++i) {
        const int count = storage_.counts[thread * digits + i];
        storage_.counts[thread * digits + i] = (Count)sum;
        sum += count;
      }
      __syncthreads();
      int ranks[items];
#pragma unroll
      for (int i = 0; i < items; ++i) ranks[i] = storage_.counts[digit(i) * threads + thread]++;
      __syncthreads();
      Key moved[items];
      exchange_keys(keys, moved, [&](int i) { return ranks[i]; }, [&](int i) { return thread * items + i; });
#pragma unroll
      for (int i = 0; i < items; ++i) keys[i] = moved[i];
      __syncthreads();
      if (!has_values) continue;
      BlockExchange<Value, x, items, false, y, z>(storage_.values).ScatterToBlocked(values, ranks);
      __syncthreads();
    }
  }
  template <class To, class From>
  __device__ void exchange_keys(Key (&in)[items], Key (&out)[items], To to, From from) {
#pragma unroll
    for (int i = 0; i < items; ++i) __builtin_memcpy(&storage_.keys.items_[to(i)], &in[i], sizeof(Key));
    __syncthreads();
#pragma unroll
    for (int i = 0; i < items; ++i) __builtin_memcpy(&out[i], &storage_.keys.items_[from(i)], sizeof(Key));
  }
  __device__ void to_striped(Key (&keys)[items], Values& values) {
    Key moved[items];
    const int thread = gpulua::thread();
    exchange_keys(keys, moved, [&](int i) { return thread * items + i; }, [&](int i) { return i * threads + thread; });
#pragma unroll
    for (int i = 0; i < items; ++i) keys[i] = moved[i];
    __syncthreads();
    if (!has_values) return;
    BlockExchange<Value, x, items, false, y, z>(storage_.values).BlockedToStriped(values);
    __syncthreads();
  }

  TempStorage& storage_;
  Values none_;
};

}  // namespace cub
#include "gpulua_cub_neighbours.h"
#include "gpulua_cub_threads.h"
#endif

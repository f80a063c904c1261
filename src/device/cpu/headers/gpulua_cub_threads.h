// cub: what one thread does, and what lanes of a warp tell each other. Included by cub.h.
#ifndef GPULUA_CUB_THREADS
#define GPULUA_CUB_THREADS
namespace cub {

/// Of pairs of a number of segment ends and a value: a segment's sum does not go on into the next.
template <class Operation>
struct ReduceBySegmentOp {
  Operation op;
  __host__ __device__ ReduceBySegmentOp() {}
  __host__ __device__ ReduceBySegmentOp(Operation operation) : op(operation) {}
  template <class Pair>
  __host__ __device__ Pair operator()(const Pair& a, const Pair& b) {
    Pair result;
    result.key = a.key + b.key;
    result.value = b.key ? b.value : op(a.value, b.value);
    return result;
  }
};
/// Of pairs of a key and a value: values of equal keys are summed up, another key begins anew.
template <class Operation>
struct ReduceByKeyOp {
  Operation op;
  __host__ __device__ ReduceByKeyOp() {}
  __host__ __device__ ReduceByKeyOp(Operation operation) : op(operation) {}
  template <class Pair>
  __host__ __device__ Pair operator()(const Pair& a, const Pair& b) {
    Pair result = b;
    if (a.key == b.key) result.value = op(a.value, b.value);
    return result;
  }
};
template <class Operation>
struct InequalityWrapper {
  Operation op;
  __host__ __device__ InequalityWrapper(Operation operation) : op(operation) {}
  template <class T, class U>
  __host__ __device__ bool operator()(T&& a, U&& b) {
    return !op(a, b);
  }
};
template <class T>
struct CastOp {
  template <class U>
  __host__ __device__ T operator()(U&& value) const {
    return (T)value;
  }
};

// ---- memory: hints for a GPU's caches have no effect here --------------------------------------------------------------------------

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

namespace gpulua {
/// Bit for bit, in words of the type's alignment: a volatile object of a class cannot be copied.
template <class T>
using volatile_word = typename std::conditional<
    alignof(T) % 8 == 0, unsigned long long,
    typename std::conditional<alignof(T) % 4 == 0, unsigned,
                              typename std::conditional<alignof(T) % 2 == 0, unsigned short, unsigned char>::type>::type>::type;
template <class T>
inline __device__ T load_volatile(const T* from) {
  using Word = volatile_word<T>;
  constexpr int count = sizeof(T) / sizeof(Word);
  Word words[count];
#pragma unroll
  for (int i = 0; i < count; ++i) words[i] = ((const volatile Word*)from)[i];
  T result;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}
template <class T>
inline __device__ void store_volatile(T* to, const T& value) {
  using Word = volatile_word<T>;
  constexpr int count = sizeof(T) / sizeof(Word);
  Word words[count];
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < count; ++i) ((volatile Word*)to)[i] = words[i];
}
}  // namespace gpulua

template <CacheLoadModifier modifier, class T>
__device__ T ThreadLoad(const T* from) {
  if constexpr (modifier == LOAD_VOLATILE || modifier == LOAD_CV) return gpulua::load_volatile(from);
  return *from;
}
template <CacheLoadModifier, class Iterator>
__device__ typename std::iterator_traits<Iterator>::value_type ThreadLoad(Iterator from) {
  return *from;
}
template <CacheStoreModifier modifier, class T, class U>
__device__ void ThreadStore(T* to, U value) {
  if constexpr (modifier == STORE_VOLATILE)
    gpulua::store_volatile(to, (T)value);
  else
    *to = (T)value;
}
template <CacheStoreModifier, class Iterator, class U>
__device__ void ThreadStore(Iterator to, U value) {
  *to = value;
}

// ---- lanes ---------------------------------------------------------------------------------------------------------------------------

inline __device__ int RowMajorTid(int x, int y, int) {
  return (int)((threadIdx.z * (unsigned)y + threadIdx.y) * (unsigned)x + threadIdx.x);
}
/// Lanes before `first` and behind `last`, which count within the `width` lanes, keep their own values.
template <int width, class T>
__device__ T ShuffleUp(T value, int by, int first, unsigned mask) {
  const int lane = (int)gpulua_lane();
  return gpulua::shuffle(mask, value, (unsigned)(lane % width - by >= first ? lane - by : lane));
}
template <int width, class T>
__device__ T ShuffleDown(T value, int by, int last, unsigned mask) {
  const int lane = (int)gpulua_lane();
  return gpulua::shuffle(mask, value, (unsigned)(lane % width + by <= last ? lane + by : lane));
}
template <int width, class T>
__device__ T ShuffleIndex(T value, int lane, unsigned mask) {
  const int own = (int)gpulua_lane();
  return gpulua::shuffle(mask, value, (unsigned)(own / width * width + lane % width));
}

}  // namespace cub
#endif

// cuda::atomic and cuda::atomic_ref. The scopes are one here: memory is coherent for all.
#ifndef GPULUA_CUDA_ATOMIC
#define GPULUA_CUDA_ATOMIC
#include "cuda/std/utility"

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
namespace std {
enum memory_order {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_consume = __ATOMIC_CONSUME,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
};
}  // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

/// The operations on an object of `T` at `address()`, which Self has.
template <class Self, class T>
class gpulua_atomic_operations {
  __device__ T* place() const { return const_cast<T*>(static_cast<const Self*>(this)->address()); }

 public:
  typedef T value_type;
  static constexpr bool is_always_lock_free = true;
  __device__ bool is_lock_free() const { return true; }
  __device__ T load(memory_order order = memory_order_seq_cst) const {
    T value;
    __atomic_load(place(), &value, order);
    return value;
  }
  __device__ void store(T value, memory_order order = memory_order_seq_cst) const { __atomic_store(place(), &value, order); }
  __device__ T exchange(T value, memory_order order = memory_order_seq_cst) const {
    T old;
    __atomic_exchange(place(), &value, &old, order);
    return old;
  }
  __device__ bool compare_exchange_strong(T& expected, T value, memory_order order = memory_order_seq_cst) const {
    return __atomic_compare_exchange(place(), &expected, &value, false, order, __ATOMIC_SEQ_CST);
  }
  __device__ bool compare_exchange_weak(T& expected, T value, memory_order order = memory_order_seq_cst) const {
    return __atomic_compare_exchange(place(), &expected, &value, true, order, __ATOMIC_SEQ_CST);
  }
  __device__ bool compare_exchange_strong(T& expected, T value, memory_order order, memory_order) const {
    return compare_exchange_strong(expected, value, order);
  }
  __device__ bool compare_exchange_weak(T& expected, T value, memory_order order, memory_order) const {
    return compare_exchange_weak(expected, value, order);
  }
  __device__ operator T() const { return load(); }
  __device__ T operator=(T value) const {
    store(value);
    return value;
  }
#define GPULUA_FETCH(name, function) \
  __device__ T name(T value, memory_order = memory_order_seq_cst) const { return function(place(), value); }
  GPULUA_FETCH(fetch_add, atomicAdd)
  GPULUA_FETCH(fetch_sub, gpulua_fetch_sub)
  GPULUA_FETCH(fetch_min, atomicMin)
  GPULUA_FETCH(fetch_max, atomicMax)
  GPULUA_FETCH(fetch_and, atomicAnd)
  GPULUA_FETCH(fetch_or, atomicOr)
  GPULUA_FETCH(fetch_xor, atomicXor)
#undef GPULUA_FETCH
  __device__ T operator+=(T value) const { return fetch_add(value) + value; }
  __device__ T operator-=(T value) const { return fetch_sub(value) - value; }
  __device__ T operator++() const { return fetch_add(T(1)) + T(1); }
  __device__ T operator--() const { return fetch_sub(T(1)) - T(1); }
  __device__ T operator++(int) const { return fetch_add(T(1)); }
  __device__ T operator--(int) const { return fetch_sub(T(1)); }

 private:
  static __device__ T gpulua_fetch_sub(T* address, T value) { return atomicAdd(address, T(0) - value); }
};

template <class T, thread_scope scope = thread_scope_system>
class atomic : public gpulua_atomic_operations<atomic<T, scope>, T> {
  T value_;

 public:
  atomic() = default;
  __host__ __device__ constexpr atomic(T value) : value_(value) {}
  __device__ const T* address() const { return &value_; }
  using gpulua_atomic_operations<atomic<T, scope>, T>::operator=;
};
template <class T, thread_scope scope = thread_scope_system>
class atomic_ref : public gpulua_atomic_operations<atomic_ref<T, scope>, T> {
  T* place_;

 public:
  __device__ explicit atomic_ref(T& value) : place_(&value) {}
  __device__ const T* address() const { return place_; }
  using gpulua_atomic_operations<atomic_ref<T, scope>, T>::operator=;
};
inline __device__ void atomic_thread_fence(memory_order order, thread_scope = thread_scope_system) { __atomic_thread_fence(order); }

namespace std {
template <class T>
using atomic = ::cuda::atomic<T>;
template <class T>
using atomic_ref = ::cuda::atomic_ref<T>;
using ::cuda::atomic_thread_fence;
}  // namespace std
}  // namespace cuda
#endif

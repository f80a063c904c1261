// CUDA's atomic functions that take an order and a scope. The scopes are one here: memory is coherent for all.
#pragma once
#pragma clang force_cuda_host_device begin

enum {
  __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME = __ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE = __ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL = __ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST = __ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

/// The second argument does not decide the type.
template <class T>
struct gpulua_value {
  using type = T;
};
template <class T>
struct gpulua_value<const T> {
  using type = T;
};
template <class T>
struct gpulua_value<volatile T> {
  using type = T;
};
template <class T>
using gpulua_value_t = typename gpulua_value<T>::type;

#define GPULUA_SCOPE int = __NV_THREAD_SCOPE_SYSTEM
template <class T>
inline gpulua_value_t<T> __nv_atomic_load_n(T* address, int order, GPULUA_SCOPE) {
  return __atomic_load_n(address, order);
}
template <class T>
inline void __nv_atomic_load(T* address, gpulua_value_t<T>* result, int order, GPULUA_SCOPE) {
  __atomic_load(address, result, order);
}
template <class T>
inline void __nv_atomic_store_n(T* address, gpulua_value_t<T> value, int order, GPULUA_SCOPE) {
  __atomic_store_n(address, value, order);
}
template <class T>
inline void __nv_atomic_store(T* address, gpulua_value_t<T>* value, int order, GPULUA_SCOPE) {
  __atomic_store(address, value, order);
}
template <class T>
inline gpulua_value_t<T> __nv_atomic_exchange_n(T* address, gpulua_value_t<T> value, int order, GPULUA_SCOPE) {
  return __atomic_exchange_n(address, value, order);
}
template <class T>
inline void __nv_atomic_exchange(T* address, gpulua_value_t<T>* value, gpulua_value_t<T>* result, int order, GPULUA_SCOPE) {
  __atomic_exchange(address, value, result, order);
}
template <class T>
inline bool __nv_atomic_compare_exchange_n(T* address, gpulua_value_t<T>* expected, gpulua_value_t<T> value, bool weak,
                                           int success, int failure, GPULUA_SCOPE) {
  (void)weak;
  return __atomic_compare_exchange_n(address, expected, value, false, success, failure);
}
template <class T>
inline bool __nv_atomic_compare_exchange(T* address, gpulua_value_t<T>* expected, gpulua_value_t<T>* value, bool weak,
                                         int success, int failure, GPULUA_SCOPE) {
  (void)weak;
  return __atomic_compare_exchange(address, expected, value, false, success, failure);
}
inline void __nv_atomic_thread_fence(int order, GPULUA_SCOPE) { __atomic_thread_fence(order); }

#define GPULUA_ORDERED(name)                                                                                  \
  template <class T>                                                                                          \
  inline gpulua_value_t<T> __nv_atomic_fetch_##name(T* address, gpulua_value_t<T> value, int order, GPULUA_SCOPE) { \
    return __atomic_fetch_##name(address, value, order);                                                      \
  }                                                                                                           \
  template <class T>                                                                                          \
  inline void __nv_atomic_##name(T* address, gpulua_value_t<T> value, int order, GPULUA_SCOPE) {              \
    __atomic_fetch_##name(address, value, order);                                                             \
  }
GPULUA_ORDERED(add)
GPULUA_ORDERED(sub)
GPULUA_ORDERED(and)
GPULUA_ORDERED(or)
GPULUA_ORDERED(xor)
GPULUA_ORDERED(min)
GPULUA_ORDERED(max)
#undef GPULUA_ORDERED
#undef GPULUA_SCOPE
#pragma clang force_cuda_host_device end

// Atomic functions, on the types for which CUDA has them and on long. Relaxed, as CUDA's are; blocks run on several cores, so
// they are real ones.
#pragma once

#define GPULUA_ATOMIC(T, name, operation) \
  inline T name(T* address, T value) { return operation(address, value, __ATOMIC_RELAXED); }
#define GPULUA_ATOMICS(T)                           \
  GPULUA_ATOMIC(T, atomicAdd, __atomic_fetch_add)   \
  GPULUA_ATOMIC(T, atomicSub, __atomic_fetch_sub)   \
  GPULUA_ATOMIC(T, atomicMin, __atomic_fetch_min)   \
  GPULUA_ATOMIC(T, atomicMax, __atomic_fetch_max)   \
  GPULUA_ATOMIC(T, atomicAnd, __atomic_fetch_and)   \
  GPULUA_ATOMIC(T, atomicOr, __atomic_fetch_or)     \
  GPULUA_ATOMIC(T, atomicXor, __atomic_fetch_xor)   \
  GPULUA_ATOMIC(T, atomicExch, __atomic_exchange_n) \
  GPULUA_ATOMIC_CAS(T)
#define GPULUA_ATOMIC_CAS(T)                                                                                       \
  inline T atomicCAS(T* address, T expected, T value) {                                                            \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);             \
    return expected;                                                                                               \
  }
GPULUA_ATOMICS(int)
GPULUA_ATOMICS(unsigned int)
GPULUA_ATOMICS(long long)
GPULUA_ATOMICS(unsigned long long)
GPULUA_ATOMICS(long)
GPULUA_ATOMICS(unsigned long)
GPULUA_ATOMIC_CAS(unsigned short)
GPULUA_ATOMIC(float, atomicAdd, __atomic_fetch_add)
GPULUA_ATOMIC(double, atomicAdd, __atomic_fetch_add)
#undef GPULUA_ATOMIC
#undef GPULUA_ATOMICS
#undef GPULUA_ATOMIC_CAS

/// Replaces the word by what `next` makes of it, and gives the old one.
template <class T, class Next>
inline T gpulua_atomic_update(T* address, Next next) {
  T old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &old, next(old), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}

inline float atomicExch(float* address, float value) {
  return __int_as_float(atomicExch((int*)address, __float_as_int(value)));
}
/// Counts up to `limit` and starts again at 0.
inline unsigned int atomicInc(unsigned int* address, unsigned int limit) {
  return gpulua_atomic_update(address, [=](unsigned int old) { return old >= limit ? 0 : old + 1; });
}
/// Counts down and starts again at `limit`.
inline unsigned int atomicDec(unsigned int* address, unsigned int limit) {
  return gpulua_atomic_update(address, [=](unsigned int old) { return old == 0 || old > limit ? limit : old - 1; });
}

// Vectors: each component atomic by itself, as on a GPU.
inline float2 atomicAdd(float2* address, float2 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
inline float4 atomicAdd(float4* address, float4 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y), atomicAdd(&address->z, value.z),
          atomicAdd(&address->w, value.w)};
}

// Any type of 16 bytes with their alignment.
template <class T>
inline typename gpulua_enable<sizeof(T) == 16 && alignof(T) == 16, T>::type atomicExch(T* address, T value) {
  return __builtin_bit_cast(T, __atomic_exchange_n((unsigned __int128*)address, __builtin_bit_cast(unsigned __int128, value),
                                                   __ATOMIC_RELAXED));
}
template <class T>
inline typename gpulua_enable<sizeof(T) == 16 && alignof(T) == 16, T>::type atomicCAS(T* address, T expected, T value) {
  unsigned __int128 old = __builtin_bit_cast(unsigned __int128, expected);
  __atomic_compare_exchange_n((unsigned __int128*)address, &old, __builtin_bit_cast(unsigned __int128, value), false,
                              __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return __builtin_bit_cast(T, old);
}

// The scopes are one here: memory is coherent for all.
#define GPULUA_SCOPE(name, scope)                                \
  template <class T, class U>                                    \
  inline T name##scope(T* address, U value) {                    \
    return name(address, (T)value);                              \
  }
#define GPULUA_SCOPES(name) GPULUA_SCOPE(name, _block) GPULUA_SCOPE(name, _system)
GPULUA_SCOPES(atomicAdd)
GPULUA_SCOPES(atomicSub)
GPULUA_SCOPES(atomicMin)
GPULUA_SCOPES(atomicMax)
GPULUA_SCOPES(atomicAnd)
GPULUA_SCOPES(atomicOr)
GPULUA_SCOPES(atomicXor)
GPULUA_SCOPES(atomicExch)
GPULUA_SCOPES(atomicInc)
GPULUA_SCOPES(atomicDec)
#undef GPULUA_SCOPES
#undef GPULUA_SCOPE
template <class T, class U, class V>
inline T atomicCAS_block(T* address, U expected, V value) {
  return atomicCAS(address, (T)expected, (T)value);
}
template <class T, class U, class V>
inline T atomicCAS_system(T* address, U expected, V value) {
  return atomicCAS(address, (T)expected, (T)value);
}

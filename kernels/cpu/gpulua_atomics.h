// Atomic functions. Relaxed, as CUDA's are; blocks run on several cores, so they are real ones.
#pragma once

#define GPULUA_ATOMIC(T, name, operation)                                                   \
  inline T name(T* address, T value) { return operation(address, value, __ATOMIC_RELAXED); } \
  inline T name##_block(T* address, T value) { return name(address, value); }               \
  inline T name##_system(T* address, T value) { return name(address, value); }

#define GPULUA_ATOMICS(T)                              \
  GPULUA_ATOMIC(T, atomicAdd, __atomic_fetch_add)      \
  GPULUA_ATOMIC(T, atomicSub, __atomic_fetch_sub)      \
  GPULUA_ATOMIC(T, atomicMin, __atomic_fetch_min)      \
  GPULUA_ATOMIC(T, atomicMax, __atomic_fetch_max)      \
  GPULUA_ATOMIC(T, atomicAnd, __atomic_fetch_and)      \
  GPULUA_ATOMIC(T, atomicOr, __atomic_fetch_or)        \
  GPULUA_ATOMIC(T, atomicXor, __atomic_fetch_xor)      \
  GPULUA_ATOMIC(T, atomicExch, __atomic_exchange_n)    \
  GPULUA_ATOMIC_CAS(T)

#define GPULUA_ATOMIC_CAS(T)                                                                                       \
  inline T atomicCAS(T* address, T expected, T value) {                                                            \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);             \
    return expected;                                                                                               \
  }                                                                                                                \
  inline T atomicCAS_block(T* address, T expected, T value) { return atomicCAS(address, expected, value); }        \
  inline T atomicCAS_system(T* address, T expected, T value) { return atomicCAS(address, expected, value); }

GPULUA_ATOMICS(int)
GPULUA_ATOMICS(unsigned int)
GPULUA_ATOMICS(long long)
GPULUA_ATOMICS(unsigned long long)
GPULUA_ATOMICS(long)
GPULUA_ATOMICS(unsigned long)
GPULUA_ATOMIC_CAS(unsigned short)
GPULUA_ATOMIC(float, atomicAdd, __atomic_fetch_add)
GPULUA_ATOMIC(double, atomicAdd, __atomic_fetch_add)

inline float atomicExch(float* address, float value) {
  return __int_as_float(atomicExch((int*)address, __float_as_int(value)));
}
inline float atomicExch_block(float* address, float value) { return atomicExch(address, value); }
inline float atomicExch_system(float* address, float value) { return atomicExch(address, value); }

/// Counts up to `limit` and starts again at 0.
inline unsigned int atomicInc(unsigned int* address, unsigned int limit) {
  unsigned int old = __atomic_load_n(address, __ATOMIC_RELAXED), next;
  do next = old >= limit ? 0 : old + 1;
  while (!__atomic_compare_exchange_n(address, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
/// Counts down and starts again at `limit`.
inline unsigned int atomicDec(unsigned int* address, unsigned int limit) {
  unsigned int old = __atomic_load_n(address, __ATOMIC_RELAXED), next;
  do next = old == 0 || old > limit ? limit : old - 1;
  while (!__atomic_compare_exchange_n(address, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
inline unsigned int atomicInc_block(unsigned int* address, unsigned int limit) { return atomicInc(address, limit); }
inline unsigned int atomicInc_system(unsigned int* address, unsigned int limit) { return atomicInc(address, limit); }
inline unsigned int atomicDec_block(unsigned int* address, unsigned int limit) { return atomicDec(address, limit); }
inline unsigned int atomicDec_system(unsigned int* address, unsigned int limit) { return atomicDec(address, limit); }

#undef GPULUA_ATOMIC
#undef GPULUA_ATOMICS
#undef GPULUA_ATOMIC_CAS

// CUDA's intrinsic functions that are no better than the plain ones here: fast arithmetic, loads with cache hints; fences.
#pragma once

inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }

// ---- loads and stores with cache hints, which are plain ones here ----------------------------------------------------------

#define GPULUA_LOAD(name)          \
  template <class T>               \
  inline T name(const T* address) { \
    return *address;               \
  }
GPULUA_LOAD(__ldg)
GPULUA_LOAD(__ldca)
GPULUA_LOAD(__ldcg)
GPULUA_LOAD(__ldcs)
GPULUA_LOAD(__ldcv)
GPULUA_LOAD(__ldlu)
#undef GPULUA_LOAD
template <class T, class U>
inline void __stwb(T* address, U value) { *address = value; }
template <class T, class U>
inline void __stcg(T* address, U value) { *address = value; }
template <class T, class U>
inline void __stcs(T* address, U value) { *address = value; }
template <class T, class U>
inline void __stwt(T* address, U value) { *address = value; }

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// What Lua functions of gpu.vectorize and gpu.jit need in addition: bits, errors with their text, and checks of indices.

// The bits of `x` moved up by `count`, taken modulo the width; those that leave come in from below.
template <class T>
__device__ inline T gpulua_rotate_left(T x, int count) {
  constexpr int width = 8 * sizeof(T);
  count &= width - 1;
  return count == 0 ? x : (T)((T)(x << count) | (T)(x >> (width - count)));
}

// The integer part of x, and the rest, both with the sign of x.
template <class T>
struct gpulua_parts_of {
  T result1, result2;
};
template <class T>
__device__ inline gpulua_parts_of<T> gpulua_parts(T x) {
  return {trunc(x), copysign(isinf(x) ? T(0) : x - trunc(x), x)};
}

// The number at `index`, from 1, of a table of `size`; outside of it NaN, or the least integer.
template <int size, class I>
__device__ inline int gpulua_entry(const int* table, I index) {
  return index >= 1 && index <= size ? table[index - 1] : (int)0x80000000u;
}
template <int size, class I>
__device__ inline long long gpulua_entry(const long long* table, I index) {
  return index >= 1 && index <= size ? table[index - 1] : (long long)(1ull << 63);
}
template <int size, class T, class I>
__device__ inline T gpulua_entry(const T* table, I index) {
  return index >= 1 && index <= size ? table[index - 1] : T(__uint_as_float(0x7fc00000u));
}

// ---- atomic operations on floating numbers that CUDA has for integers alone: on their bits

__device__ inline unsigned int gpulua_word(float x) { return __float_as_uint(x); }
__device__ inline unsigned long long gpulua_word(double x) { return (unsigned long long)__double_as_longlong(x); }
__device__ inline float gpulua_from_word(unsigned int bits) { return __uint_as_float(bits); }
__device__ inline double gpulua_from_word(unsigned long long bits) { return __longlong_as_double((long long)bits); }

template <class T>
__device__ inline T gpulua_atomic_exchange(T* at, T value) {
  using Bits = decltype(gpulua_word(value));
  return gpulua_from_word(atomicExch((Bits*)at, gpulua_word(value)));
}

template <class T>
__device__ inline T gpulua_atomic_compare(T* at, T expected, T value) {
  using Bits = decltype(gpulua_word(value));
  return gpulua_from_word(atomicCAS((Bits*)at, gpulua_word(expected), gpulua_word(value)));
}

// Stores `value` where it is better than the element, which no comparison with a NaN says: it is not stored, and stays.
template <class T, class Better>
__device__ inline T gpulua_atomic_best(T* at, T value, Better better) {
  T old = gpulua_atomic_compare(at, T(0), T(0));
  while (better(value, old)) {
    const T seen = old;
    old = gpulua_atomic_compare(at, seen, value);
    if (gpulua_word(old) == gpulua_word(seen)) break;
  }
  return old;
}
template <class T>
__device__ inline T gpulua_atomic_max(T* at, T value) {
  return gpulua_atomic_best(at, value, [](T x, T y) { return x > y; });
}
template <class T>
__device__ inline T gpulua_atomic_min(T* at, T value) {
  return gpulua_atomic_best(at, value, [](T x, T y) { return x < y; });
}

#ifdef GPULUA_CPU
#define gpulua_lua_error(text) gpulua_fail(text, __FILE__, __LINE__)
#define gpulua_lua_assert(condition, text) ((condition) ? (void)0 : gpulua_fail(text, __FILE__, __LINE__))

// A text that a kernel puts together.
struct gpulua_short_text {
  char at[200];
  int length;

  __device__ gpulua_short_text() : at{}, length(0) {}
  __device__ void add(char c) {
    if (length < 199) at[length++] = c;
  }
  __device__ void add(const char* text) {
    for (; *text; ++text) add(*text);
  }
  __device__ void add(long long number) {
    char digits[20];
    int count = 0;
    unsigned long long rest = number < 0 ? 0ull - (unsigned long long)number : (unsigned long long)number;
    for (; rest != 0 || count == 0; rest /= 10) digits[count++] = (char)('0' + rest % 10);
    if (number < 0) add('-');
    while (count > 0) add(digits[--count]);
  }
};

// Ends the kernel for an index that is not in 1 to `size`. `axis` counts from 1; 0 stands for the only one.
__device__ inline void gpulua_check_index(long long index, long long size, int axis, const char* array, const char* file,
                                          unsigned int line) {
  if (index >= 1 && index <= size) return;
  gpulua_short_text text;
  text.add("index ");
  text.add(index);
  text.add(" of ");
  text.add(array);
  if (axis > 0) {
    text.add(", axis ");
    text.add((long long)axis);
  }
  if (size == 0) {
    text.add(", which has no elements");
  } else {
    text.add(", whose indices are 1 to ");
    text.add(size);
  }
  gpulua_fail(text.at, file, line);
}
#else
#include <assert.h>
#define gpulua_lua_error(text) assert(!text)
#define gpulua_lua_assert(condition, text) assert((condition) && text)
#endif

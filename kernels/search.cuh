// Binary searches in sorted vectors.

template <class T>
__device__ inline T gpulua_search_number(T x) {
  return x;
}
__device__ inline float gpulua_search_number(gpulua_half x) { return gpulua_widen(x); }
__device__ inline float gpulua_search_number(gpulua_bfloat16 x) { return gpulua_widen(x); }

// NaN is greater than every number.
template <class T>
__device__ inline bool gpulua_search_less(T x, T y) {
  return x < y || (y != y && x == x);
}

template <class T, bool right>
__device__ inline void gpulua_search_sorted(const T* sorted, long long size, const T* values, long long count,
                                            long long* positions) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const auto value = gpulua_search_number(values[i]);
  long long first = 0, last = size;
  while (first < last) {
    const long long middle = first + (last - first) / 2;
    const auto element = gpulua_search_number(sorted[middle]);
    const bool after = right ? !gpulua_search_less(value, element) : gpulua_search_less(element, value);
    if (after)
      first = middle + 1;
    else
      last = middle;
  }
  positions[i] = first;
}

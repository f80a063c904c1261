// Binary searches in sorted vectors.

template <class T>
__device__ inline T gpulua_search_number(T x) {
  return x;
}
__device__ inline float gpulua_search_number(gpulua_half x) { return gpulua_widen(x); }
__device__ inline float gpulua_search_number(gpulua_bfloat16 x) { return gpulua_widen(x); }

// Whether an element of a sorted vector, whose NaN come last, lies before a number, which is not NaN.
template <bool right, class T>
__device__ inline bool gpulua_search_before(T element, T number) {
  return right ? element <= number : element < number;
}

// The elements of a sorted vector that are not NaN.
template <class T>
__device__ inline long long gpulua_search_nan(const T* sorted, long long size) {
  long long first = 0, last = size;
  while (first < last) {
    const long long middle = first + (last - first) / 2;
    const auto element = gpulua_search_number(sorted[middle]);
    if (element == element)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

// The number of elements before each value, plus `origin`. All searches take equal steps, so that those of a thread, `turns` at a time,
// have their loads underway together. With a `table`, they begin in shared memory, with a tree of 1 << levels groups of `stride`
// elements: node n, from 1 on, has the nodes 2 n and 2 n + 1 below it. The last element stands for those after it.
template <class T, class Value, class Index, bool right, bool table, int turns>
__device__ inline void gpulua_search_sorted(const T* sorted, Index size, const Value* values, long long count, long long* positions,
                                            long long origin, int levels, Index stride) {
  using Number = decltype(gpulua_search_number(*sorted));
  extern __shared__ double gpulua_search_shared[];
  Number* const nodes = (Number*)gpulua_search_shared;
  if constexpr (table) {
    for (int node = 1 + threadIdx.x; node < 1 << levels; node += blockDim.x) {
      const int level = 31 - __clz(node);
      const long long before = (long long)((2 * (node - (1 << level)) + 1) << (levels - 1 - level)) * stride;
      nodes[node] = gpulua_search_number(sorted[min(before, (long long)size) - 1]);
    }
    __syncthreads();
  }
  const Index within = !table ? size : stride > 1 ? stride : 0;  // elements that a search goes on in
  const long long share = (long long)turns * blockDim.x;
  for (long long begin = blockIdx.x * share + threadIdx.x; begin < count; begin += gridDim.x * share) {
    Number number[turns];
    Index position[turns];
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const long long i = begin + turn * (long long)blockDim.x;
      number[turn] = gpulua_search_number(gpulua_convert<T>::from(values[i < count ? i : begin]));
      position[turn] = 0;
    }
    if constexpr (table) {
      int node[turns];
#pragma unroll
      for (int turn = 0; turn < turns; ++turn) node[turn] = 1;
      for (int level = 0; level < levels; ++level)
#pragma unroll
        for (int turn = 0; turn < turns; ++turn)
          node[turn] = 2 * node[turn] + gpulua_search_before<right>(nodes[node[turn]], number[turn]);
#pragma unroll
      for (int turn = 0; turn < turns; ++turn)
        position[turn] = (Index)min((node[turn] - (1 << levels)) * (long long)stride, (long long)(size - within));
    }
    for (Index left = within; left > 0; left /= 2) {
      const Index step = (left + 1) / 2;
#pragma unroll
      for (int turn = 0; turn < turns; ++turn) {
        const auto element = gpulua_search_number(sorted[position[turn] + (step - 1)]);
        position[turn] += gpulua_search_before<right>(element, number[turn]) ? step : 0;
      }
    }
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const long long i = begin + turn * (long long)blockDim.x;
      long long before = position[turn];
      if (number[turn] != number[turn]) before = right ? size : gpulua_search_nan(sorted, size);
      if (i < count) positions[i] = before + origin;
    }
  }
}

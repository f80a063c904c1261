// Elements at positions that index arrays give: counted from 1, or from the end where they are negative. One that is out of
// range is noted for the host to find at its next synchronisation; reading there gives 0, writing there does nothing.

// What the host is told: the first index that was found out of range. As IndexFault in src/core/index_faults.h.
struct gpulua_index_fault {
  unsigned int found;
  int axis;
  long long index, extent;
  unsigned long long chunk;  // the line of the script, which only the host can read
  long long line;
};

__device__ inline long long gpulua_position(unsigned long long x) { return x >> 63 ? (long long)(~0ull >> 1) : (long long)x; }
template <class Integer>
__device__ inline long long gpulua_position(Integer x) {
  return (long long)x;
}

struct gpulua_indexed_axis {
  long long extent, stride, number;
};

template <int count>
struct gpulua_indexed {
  gpulua_index_fault* fault;
  unsigned long long chunk;
  long long line;
  gpulua_indexed_axis axes[count];

  __device__ void report(int axis, long long index) const {
    if (atomicCAS(&fault->found, 0u, 1u) != 0u) return;
    fault->axis = (int)axes[axis].number;
    fault->index = index;
    fault->extent = axes[axis].extent;
    fault->chunk = chunk;
    fault->line = line;
  }

  // Moves `offset` to the element; false where there is none.
  template <class... Indices>
  __device__ bool find(gpulua_offset_t& offset, Indices... indices) const {
    const long long given[count] = {gpulua_position(indices)...};
    bool inside = true;
#pragma unroll
    for (int axis = 0; axis < count; ++axis) {
      const long long at = given[axis] > 0 ? given[axis] - 1 : given[axis] + axes[axis].extent;
      if ((unsigned long long)at >= (unsigned long long)axes[axis].extent) {
        if (inside) report(axis, given[axis]);
        inside = false;
      }
      offset += (gpulua_offset_t)at * (gpulua_offset_t)axes[axis].stride;
    }
    return inside;
  }
};

template <class T, int count, class... Indices>
__device__ inline T gpulua_gather(const T* from, gpulua_offset_t offset, const gpulua_indexed<count>& at,
                                  Indices... indices) {
  return at.find(offset, indices...) ? from[offset] : T{};
}

template <class T, int count, class... Indices>
__device__ inline void gpulua_scatter(T* to, gpulua_offset_t offset, const gpulua_indexed<count>& at, T value,
                                      Indices... indices) {
  if (at.find(offset, indices...)) to[offset] = value;
}

// ---- sums at positions that several threads may write ----------------------------------------------------------------------

template <class T>
__device__ inline void gpulua_atomic_add(T* to, T value) {
  atomicAdd(to, value);
}
__device__ inline void gpulua_atomic_add(long long* to, long long value) {
  atomicAdd((unsigned long long*)to, (unsigned long long)value);
}
__device__ inline void gpulua_atomic_add(gpulua_complex64* to, gpulua_complex64 value) {
  atomicAdd(&to->re, value.re);
  atomicAdd(&to->im, value.im);
}
__device__ inline void gpulua_atomic_add(gpulua_complex128* to, gpulua_complex128 value) {
  atomicAdd(&to->re, value.re);
  atomicAdd(&to->im, value.im);
}

template <class T, int count, class... Indices>
__device__ inline void gpulua_scatter_add(T* to, gpulua_offset_t offset, const gpulua_indexed<count>& at, T value,
                                          Indices... indices) {
  if (at.find(offset, indices...)) gpulua_atomic_add(to + offset, value);
}

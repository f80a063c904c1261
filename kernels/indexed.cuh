// Elements at positions that index arrays give: counted from 1, or from the end where they are negative. One that is out of
// range is noted for the host to find at its next synchronisation; reading there gives 0, writing there does nothing.

// What the host is told: the first index that was found out of range, or the first matrix that a decomposition has failed
// for. As IndexFault in src/runtime/index_faults.h.
struct gpulua_index_fault {
  unsigned int found;
  int axis;
  long long index, extent;
  unsigned long long chunk;  // the line of the script, which only the host can read
  long long line;
  unsigned long long op;
  long long at;
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

// The bits of an element of 8 or 16 bits, and of one added to it.
template <class T>
__device__ inline unsigned short gpulua_added(unsigned short bits, T value) {
  return (unsigned short)(bits + (unsigned short)value);
}
__device__ inline unsigned short gpulua_added(unsigned short bits, bool value) { return bits | value; }
__device__ inline unsigned short gpulua_added(unsigned short bits, gpulua_half value) {
  return gpulua_to_half(gpulua_widen(gpulua_half{bits}) + gpulua_widen(value)).bits;
}
__device__ inline unsigned short gpulua_added(unsigned short bits, gpulua_bfloat16 value) {
  return gpulua_to_bfloat16(gpulua_widen(gpulua_bfloat16{bits}) + gpulua_widen(value)).bits;
}

// Where there are no atomic sums, what a thread has read is exchanged for the sum unless another thread was there first.
template <class T>
__device__ inline void gpulua_exchange_for_sum(T* to, T value) {
#ifdef GPULUA_CPU
  if constexpr (sizeof(T) == 1)
    gpulua_atomic_update((unsigned char*)to, [=](unsigned char old) { return (unsigned char)gpulua_added(old, value); });
  else
    gpulua_atomic_update((unsigned short*)to, [=](unsigned short old) { return gpulua_added(old, value); });
#else
  // No word of 8 bits is exchanged: the other half of its 16 stays as it is.
  const unsigned long long at = (unsigned long long)to;
  const int shift = sizeof(T) == 1 && at % 2 != 0 ? 8 : 0;
  const unsigned short own = (unsigned short)((sizeof(T) == 1 ? 0xff : 0xffff) << shift);
  unsigned short* const word = (unsigned short*)(at & ~1ull);
  unsigned short seen = *(const volatile unsigned short*)word, old;
  do {
    old = seen;
    const unsigned short sum = gpulua_added((unsigned short)((old & own) >> shift), value);
    seen = atomicCAS(word, old, (unsigned short)((old & ~own) | ((sum << shift) & own)));
  } while (seen != old);
#endif
}

template <class T>
__device__ inline void gpulua_atomic_add(T* to, T value) {
  if constexpr (sizeof(T) < 4)
    gpulua_exchange_for_sum(to, value);
  else
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

// Positions in an iteration, and where the elements of a strided operand lie. 32 bits unless GPULUA_WIDE is defined.

#ifdef GPULUA_WIDE

using gpulua_index_t = unsigned long long;
using gpulua_offset_t = long long;

struct gpulua_extent {
  unsigned long long extent;
  __device__ unsigned long long divide(unsigned long long n) const { return n / extent; }
};

#else

using gpulua_index_t = unsigned int;
using gpulua_offset_t = int;

// Division by multiplication, for n < 2^31: Granlund and Montgomery, "Division by invariant integers using multiplication",
// 1994.
struct gpulua_extent {
  unsigned int extent, multiplier, shift;
  __device__ unsigned int divide(unsigned int n) const { return (__umulhi(n, multiplier) + n) >> shift; }
};

#endif

template <int ndim>
struct gpulua_extents {
  gpulua_extent at[ndim];
};

template <int ndim>
struct gpulua_strides {
  gpulua_offset_t at[ndim];
};

// Splits the row-major position `index` into one position an axis.
template <int ndim>
__device__ inline void gpulua_unravel(gpulua_index_t index, const gpulua_extents<ndim>& extents,
                                      gpulua_offset_t (&at)[ndim]) {
#pragma unroll
  for (int axis = ndim - 1; axis > 0; --axis) {
    const gpulua_index_t rest = extents.at[axis].divide(index);
    at[axis] = (gpulua_offset_t)(index - rest * extents.at[axis].extent);
    index = rest;
  }
  at[0] = (gpulua_offset_t)index;
}

// The offset of a position along the axes from `first` on; there may be more strides than positions.
template <int ndim, int all>
__device__ inline gpulua_offset_t gpulua_offset(const gpulua_offset_t (&at)[ndim], const gpulua_strides<all>& strides,
                                                int first = 0) {
  gpulua_offset_t offset = 0;
#pragma unroll
  for (int axis = 0; axis < ndim; ++axis) offset += at[axis] * strides.at[first + axis];
  return offset;
}

// The same where the stride of the last of those axes is 1.
template <int ndim, int all>
__device__ inline gpulua_offset_t gpulua_unit_offset(const gpulua_offset_t (&at)[ndim],
                                                     const gpulua_strides<all>& strides) {
  gpulua_offset_t offset = at[ndim - 1];
#pragma unroll
  for (int axis = 0; axis < ndim - 1; ++axis) offset += at[axis] * strides.at[axis];
  return offset;
}

// Elements that are moved at once.
template <class T, int width>
struct alignas(sizeof(T) * width) gpulua_pack {
  T at[width];
  gpulua_pack() = default;
  __device__ explicit gpulua_pack(const T* from) { *this = *reinterpret_cast<const gpulua_pack*>(from); }
  __device__ void store(T* to) const { *reinterpret_cast<gpulua_pack*>(to) = *this; }
  // Elements that lie `step` apart, each by an access of its own.
  __device__ gpulua_pack(const T* from, gpulua_index_t step) {
#pragma unroll
    for (int k = 0; k < width; ++k) at[k] = from[k * step];
  }
  __device__ void store(T* to, gpulua_index_t step) const {
#pragma unroll
    for (int k = 0; k < width; ++k) to[k * step] = at[k];
  }

  // For elements that are not needed again soon: they leave the caches first.
  static constexpr bool streams = sizeof(T) * width == 16;
  __device__ static gpulua_pack stream(const T* from) {
    gpulua_pack pack;
    if constexpr (streams)
      *reinterpret_cast<int4*>(&pack) = __ldcs(reinterpret_cast<const int4*>(from));
    else
      pack = gpulua_pack(from);
    return pack;
  }
  __device__ void stream_to(T* to) const {
    if constexpr (streams)
      __stcs(reinterpret_cast<int4*>(to), *reinterpret_cast<const int4*>(this));
    else
      store(to);
  }
};


// What functions that a script wrote get: all elements of an array by their row-major position, and how many elements there
// are. Elements of 16-bit floating types come as float.
template <class T>
constexpr bool gpulua_is_small_float = false;
template <>
constexpr bool gpulua_is_small_float<gpulua_half> = true;
template <>
constexpr bool gpulua_is_small_float<gpulua_bfloat16> = true;

template <class T>
struct gpulua_raw {
  const T* at;
  long long count;
  __device__ auto operator[](long long i) const {
    if constexpr (gpulua_is_small_float<T>)
      return gpulua_widen(at[i]);
    else
      return at[i];
  }
  __device__ long long size() const { return count; }
};

struct gpulua_item_count {
  long long count;
  __device__ gpulua_item_count(long long count_) : count(count_) {}
  __device__ long long size() const { return count; }
};

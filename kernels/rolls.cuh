// Rolled operands: along an axis, the elements that leave the end come in at the front.

template <int axes>
struct gpulua_shifts {
  gpulua_index_t at[axes];
};

// Offset from `at` to the source element of a roll by `shift` along an axis.
__device__ inline gpulua_offset_t gpulua_move(gpulua_index_t at, gpulua_index_t shift, gpulua_index_t extent) {
  return (gpulua_offset_t)(at < shift ? extent - shift : (gpulua_index_t)0 - shift);
}

// The source position, along the outer axes, of the elements that a roll has moved to `at`.
template <int ndim>
__device__ inline void gpulua_roll(const gpulua_offset_t (&at)[ndim], const gpulua_shifts<ndim>& shifts,
                                   const gpulua_extents<ndim>& outer, gpulua_offset_t (&from)[ndim]) {
#pragma unroll
  for (int axis = 0; axis < ndim; ++axis)
    from[axis] = at[axis] + gpulua_move((gpulua_index_t)at[axis], shifts.at[axis], outer.at[axis].extent);
}

// The wrap point at `shift` if it lies between `begin` and `end`, else `end`.
__device__ inline gpulua_index_t gpulua_next_seam(gpulua_index_t begin, gpulua_index_t end, gpulua_index_t shift) {
  return begin < shift && shift < end ? shift : end;
}

// Columns of a block for which each rolled operand has one offset. A wrap point, where an operand continues at its front, cuts
// off the columns on its shorter side.
struct gpulua_window {
  gpulua_index_t begin, end;
  __device__ gpulua_window(gpulua_index_t first, gpulua_index_t count, gpulua_index_t extent)
      : begin(first), end(extent - first < count ? extent : first + count) {}
  // Gives the operand's move in the columns that are left.
  __device__ gpulua_offset_t cut(gpulua_index_t shift, gpulua_index_t extent) {
    if (begin < shift && shift < end) {
      if (shift - begin < end - shift)
        begin = shift;
      else
        end = shift;
    }
    return gpulua_move(begin, shift, extent);
  }
};

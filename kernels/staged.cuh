// The rows of a short reduction in shared memory. A block copies the rows of its results in the order in which they lie in
// memory; then each thread reads a row.

template <class T, int count, int rows>
struct gpulua_staged_rows {
  // Words of 4 bytes from one row to the next. The number is odd, so the threads of a warp read different banks.
  static constexpr int word = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
  static constexpr int pitch = ((count + word - 1) / word | 1) * word;
  // Elements that a thread loads before it stores the first of them.
  static constexpr int most = sizeof(T) < 4 ? 32 : 128 / sizeof(T), batch = count < most ? count : most;

  T elements[rows * pitch];

  // Called by `rows` threads. The rows from `first` on, of `all`, are `stride` apart.
  __device__ void copy(const T* from, gpulua_index_t first, gpulua_index_t all, gpulua_offset_t stride) {
    const T* const block = from + (gpulua_offset_t)first * stride;
    const unsigned int here = all - first < rows ? all - first : rows, size = here * count;
#pragma unroll 1
    for (int begin = 0; begin < count; begin += batch) {
      T moved[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const unsigned int at = threadIdx.x + (begin + i) * rows;
        if (at < size) moved[i] = block[(gpulua_offset_t)(at / count) * stride + (gpulua_offset_t)(at % count)];
      }
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const unsigned int at = threadIdx.x + (begin + i) * rows;
        if (at < size) elements[at / count * pitch + at % count] = moved[i];
      }
    }
  }

  __device__ const T& at(unsigned int row, gpulua_index_t position) const { return elements[row * pitch + position]; }
};

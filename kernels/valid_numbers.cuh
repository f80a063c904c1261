// Whether the elements of a parameter are valid. The first thread that finds one which is not tells the host
// (src/runtime/index_faults.h).

template <class T>
__device__ inline void gpulua_check_numbers(const T* x, long long size, double least, bool above, double most, bool below,
                                            bool whole, bool* done, int axes, int kind, gpulua_index_fault* fault,
                                            const void* chunk, long long line, const void* op) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i == 0) *done = true;
  if (i >= size) return;
  const double value = gpulua_convert<double>::from(x[i]);
  const bool valid = (above ? value > least : value >= least) && (below ? value < most : value <= most) &&
                     (!whole || value == floor(value));
  if (valid || atomicCAS(&fault->found, 0u, (unsigned int)kind) != 0u) return;
  fault->axis = axes;
  fault->index = __double_as_longlong(value);
  fault->extent = size;
  fault->at = i + 1;
  fault->chunk = (unsigned long long)chunk;
  fault->line = line;
  fault->op = (unsigned long long)op;
}

// The matrices of a batch that a decomposition has failed for.

// `info`: for each matrix 0, or the number of what went wrong. A matrix whose `values` are not numbers has failed, too. One of
// those is reported, and the results of each become NaN. A block is a warp: it looks at 32 matrices, each thread at one.
template <class T>
__device__ inline void gpulua_check_decomposition(const int* info, long long batch, int kind, const T* values,
                                                  long long value_count, T* first, long long first_count, T* second,
                                                  long long second_count, T* third, long long third_count,
                                                  gpulua_index_fault* fault, const void* chunk, long long line,
                                                  const void* op) {
  const long long start = blockIdx.x * 32ll, i = start + threadIdx.x;
  int found = 0;
  if (i < batch) {
    bool wrong = false;
    for (long long j = 0; j < value_count; ++j) {
      const T value = values[i * value_count + j];
      wrong = wrong || value != value;
    }
    found = info[i] != 0 ? info[i] : wrong ? -1 : 0;
  }
  if (found != 0 && atomicCAS(&fault->found, 0u, (unsigned int)kind) == 0u) {
    fault->axis = found;
    fault->index = i + 1;
    fault->extent = batch;
    fault->chunk = (unsigned long long)chunk;
    fault->line = line;
    fault->op = (unsigned long long)op;
  }
  const T nan = (T)nanf("");
  for (unsigned int failed = __ballot_sync(0xffffffffu, found != 0); failed != 0; failed &= failed - 1) {
    const long long at = start + __ffs((int)failed) - 1;
    for (long long j = threadIdx.x; j < first_count; j += 32) first[at * first_count + j] = nan;
    for (long long j = threadIdx.x; j < second_count; j += 32) second[at * second_count + j] = nan;
    for (long long j = threadIdx.x; j < third_count; j += 32) third[at * third_count + j] = nan;
  }
}

// For each matrix of the batch, the rows that its k exchanges bring to the m positions. A thread follows one matrix's.
__device__ inline void gpulua_permutation(const int* pivots, int* rows, long long batch, long long k, long long m) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= batch) return;
  int* const own = rows + i * m;
  for (long long j = 0; j < m; ++j) own[j] = (int)j + 1;
  for (long long j = 0; j < k; ++j) {
    const long long other = pivots[i * k + j] - 1;
    const int row = own[j];
    own[j] = own[other];
    own[other] = row;
  }
}

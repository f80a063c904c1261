// Sorting, each kernel within one block.

__device__ void order(unsigned& a, unsigned& b, bool up) {
  if ((a > b) == up) {
    unsigned t = a;
    a = b;
    b = t;
  }
}

__global__ void bitonic_sort(unsigned* keys, int n) {
  extern __shared__ unsigned memory[];
  int t = threadIdx.x;
  memory[t] = keys[t];
  memory[t + n / 2] = keys[t + n / 2];
  for (int size = 2; size < n; size *= 2) {
    bool up = (t & (size / 2)) == 0;
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      int at = 2 * t - (t & (stride - 1));
      order(memory[at], memory[at + stride], up);
    }
  }
  for (int stride = n / 2; stride > 0; stride /= 2) {
    __syncthreads();
    int at = 2 * t - (t & (stride - 1));
    order(memory[at], memory[at + stride], true);
  }
  __syncthreads();
  keys[t] = memory[t];
  keys[t + n / 2] = memory[t + n / 2];
}

__global__ void odd_even_merge_sort(unsigned* keys, int n) {
  extern __shared__ unsigned memory[];
  int t = threadIdx.x;
  memory[t] = keys[t];
  memory[t + n / 2] = keys[t + n / 2];
  for (int size = 2; size <= n; size *= 2) {
    int stride = size / 2, offset = t & (stride - 1);
    __syncthreads();
    int at = 2 * t - (t & (stride - 1));
    order(memory[at], memory[at + stride], true);
    for (stride /= 2; stride > 0; stride /= 2) {
      __syncthreads();
      at = 2 * t - (t & (stride - 1));
      if (offset >= stride) order(memory[at - stride], memory[at], true);
    }
  }
  __syncthreads();
  keys[t] = memory[t];
  keys[t + n / 2] = memory[t + n / 2];
}

// One pass over one bit, stable: where each key goes comes from ballots.
__global__ void radix_pass(const unsigned* in, unsigned* out, int n, int bit) {
  __shared__ int zeros_before[33];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  bool zero = (in[t] >> bit & 1) == 0;
  unsigned vote = __ballot_sync(0xffffffffu, zero);
  if (lane == 0) zeros_before[warp + 1] = __popc(vote);
  __syncthreads();
  if (t == 0) {
    zeros_before[0] = 0;
    for (int i = 1; i <= n / 32; ++i) zeros_before[i] += zeros_before[i - 1];
  }
  __syncthreads();
  int before = zeros_before[warp] + __popc(vote & ((1u << lane) - 1));
  out[zero ? before : zeros_before[n / 32] + t - before] = in[t];
}

// Two sorted halves into one: an item's place is its own number plus its rank in the other half.
__global__ void merge_step(const unsigned* in, unsigned* out, int half) {
  int t = threadIdx.x;
  bool left = t < half;
  const unsigned* other = in + (left ? half : 0);
  int low = 0, high = half;
  while (low < high) {
    int middle = (low + high) / 2;
    if (left ? other[middle] < in[t] : other[middle] <= in[t])
      low = middle + 1;
    else
      high = middle;
  }
  out[t % half + low] = in[t];
}

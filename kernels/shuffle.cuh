// Equal keys of a random order.

// `positions` are in the order of the sorted `keys`. Those of equal keys, which are rare, get an order drawn from the seed: Fisher
// and Yates, by one thread for each run. The numbers are SplitMix64's.
__device__ inline void gpulua_shuffle_equal(const unsigned int* keys, unsigned int* positions, long long size,
                                            const unsigned long long* seed) {
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (first + 1 >= size) return;
  const unsigned int key = keys[first];
  if (keys[first + 1] != key || (first > 0 && keys[first - 1] == key)) return;
  long long last = first + 1;
  while (last + 1 < size && keys[last + 1] == key) ++last;
  for (long long at = last; at > first; --at) {
    unsigned long long random = *seed + (unsigned long long)at * 0x9E3779B97F4A7C15ull;
    random = (random ^ random >> 30) * 0xBF58476D1CE4E5B9ull;
    random = (random ^ random >> 27) * 0x94D049BB133111EBull;
    random ^= random >> 31;
    const long long other = first + (long long)__umul64hi(random, (unsigned long long)(at - first + 1));
    const unsigned int kept = positions[at];
    positions[at] = positions[other];
    positions[other] = kept;
  }
}

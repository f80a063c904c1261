// gpu.random.at(seed, sequence) of Lua functions: the draws of one block of a stream, number by number.

struct gpulua_sequence {
  unsigned long long key, block;
  unsigned int draw, left;
  unsigned int word[4];
  float normal_float;
  double normal_double;
  bool has_float, has_double;

  __device__ static gpulua_sequence of(unsigned long long seed, unsigned long long sequence) {
    return gpulua_sequence{seed, sequence, 0, 0, {0, 0, 0, 0}, 0, 0, false, false};
  }
  __device__ unsigned int next() {
    if (left == 0) {
      const gpulua_philox drawn = gpulua_philox::of(key, block, draw++);
      for (int k = 0; k < 4; ++k) word[k] = drawn.word[k];
      left = 4;
    }
    const unsigned int first = word[0];
    word[0] = word[1];
    word[1] = word[2];
    word[2] = word[3];
    --left;
    return first;
  }
  __device__ unsigned long long next_long() {
    const unsigned int low = next();
    return low | (unsigned long long)next() << 32;
  }

  // In (0, 1].
  __device__ float uniform_float() { return gpulua_uniform<float>::from(next()); }
  __device__ double uniform_double() { return gpulua_uniform<double>::from(next_long()); }
  // Two words give two numbers; the second is kept.
  __device__ float standard_float() {
    has_float = !has_float;
    if (!has_float) return normal_float;
    const unsigned int a = next(), b = next();
    float first;
    gpulua_normal<float>::pair(a, b, first, normal_float);
    return first;
  }
  __device__ double standard_double() {
    has_double = !has_double;
    if (!has_double) return normal_double;
    const unsigned long long a = next_long(), b = next_long();
    double first;
    gpulua_normal<double>::pair(a, b, first, normal_double);
    return first;
  }
  // 1 to `count`.
  __device__ long long integer(long long count) {
    return (long long)gpulua_in_range(next_long(), (unsigned long long)count, 1);
  }
};

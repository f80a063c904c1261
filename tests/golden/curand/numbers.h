// What the tests ask of each generator of curand_kernel.h. Kernels of curand_kernel_spec.lua include this on a device,
// and make.cpp on the host.

template <class State>
__device__ void integers(int i, unsigned int* out) {
  State s;
  curand_init(0x123456789abcdefull * (i % 3), i * 1000003ull, i * 100000000003ull, &s);
  for (int k = 0; k < 6; ++k) out[k] = curand(&s);
  skipahead(1000ull + i, &s);
  for (int k = 6; k < 8; ++k) out[k] = curand(&s);
  skipahead_sequence(3ull + i, &s);
  for (int k = 8; k < 10; ++k) out[k] = curand(&s);
}
__device__ inline void subsequences(int i, unsigned int* out) {
  curandStateMRG32k3a_t s;
  curand_init(7ull, 0ull, 0ull, &s);
  skipahead_subsequence(5ull + 100ull * i, &s);
  for (int k = 0; k < 2; ++k) out[k] = curand(&s);
}
template <class State>
__device__ void uniforms(int i, double* out) {
  State s;
  curand_init(99ull, i, 1ull, &s);
  for (int k = 0; k < 4; ++k) out[k] = curand_uniform(&s);
  for (int k = 4; k < 8; ++k) out[k] = curand_uniform_double(&s);
}
/// Pairs of all kinds, begun and left, in both precisions.
template <class State>
__device__ void normals(int i, double* out) {
  State s;
  curand_init(5ull, i, 0ull, &s);
  *out++ = curand_normal(&s);
  *out++ = curand_normal(&s);
  *out++ = curand_normal(&s);
  *out++ = curand_log_normal(&s, 0.5f, 0.25f);
  *out++ = curand_log_normal(&s, 0.5f, 0.25f);
  *out++ = curand_log_normal(&s, -0.5f, 0.25f);
  *out++ = curand_normal(&s);
  float2 pair = curand_normal2(&s);
  *out++ = pair.x, *out++ = pair.y;
  *out++ = curand_normal(&s);
  pair = curand_log_normal2(&s, 0.25f, 0.5f);
  *out++ = pair.x, *out++ = pair.y;
}
template <class State>
__device__ void normal_doubles(int i, double* out) {
  State s;
  curand_init(6ull, i, 0ull, &s);
  *out++ = curand_normal_double(&s);
  *out++ = curand_normal_double(&s);
  *out++ = curand_normal_double(&s);
  *out++ = curand_log_normal_double(&s, 0.5, 0.25);
  *out++ = curand_log_normal_double(&s, 0.5, 0.25);
  *out++ = curand_log_normal_double(&s, -0.5, 0.25);
  *out++ = curand_normal_double(&s);
  double2 pair = curand_normal2_double(&s);
  *out++ = pair.x, *out++ = pair.y;
  *out++ = curand_normal_double(&s);
  pair = curand_log_normal2_double(&s, 0.25, 0.5);
  *out++ = pair.x, *out++ = pair.y;
}
template <class T, class Four>
__device__ T* put(T* out, Four v) {
  *out++ = v.x, *out++ = v.y, *out++ = v.z, *out++ = v.w;
  return out;
}
__device__ inline void fours(int i, double* out) {
  curandStatePhilox4_32_10_t s;
  curand_init(11ull, i, i % 4, &s);
  out = put(out, curand4(&s));
  out = put(out, curand_uniform4(&s));
  out = put(out, curand_normal4(&s));
  out = put(out, curand_log_normal4(&s, 0.5f, 0.25f));
}
__device__ inline void four_doubles(int i, double* out) {
  curandStatePhilox4_32_10_t s;
  curand_init(12ull, i, i % 4, &s);
  double2 pair = curand_uniform2_double(&s);
  *out++ = pair.x, *out++ = pair.y;
  out = put(out, curand_uniform4_double(&s));
  out = put(out, curand_normal4_double(&s));
  out = put(out, curand_log_normal4_double(&s, 0.5, 0.25));
}
/// Five numbers of each mean: of small ones, of those for which candidates are rejected, and of large ones.
template <class State>
__device__ void poissons(int i, unsigned int* out) {
  const double means[] = {0.5, 4.0, 63.5, 64.0, 150.0, 1000.0, 4000.0, 4000.5, 1e6};
  for (double mean : means) {
    State s;
    curand_init(13ull, i, 0ull, &s);
    for (int k = 0; k < 5; ++k) *out++ = curand_poisson(&s, mean);
  }
}
__device__ inline void poisson_fours(int i, unsigned int* out) {
  const double means[] = {4.0, 150.0, 1e6};
  for (double mean : means) {
    curandStatePhilox4_32_10_t s;
    curand_init(14ull, i, 2ull, &s);
    out = put(out, curand_poisson4(&s, mean));
    out = put(out, curand_poisson4(&s, mean));
  }
}

// Options and random points.
#include <curand_kernel.h>

__device__ float cumulative(float d) { return 0.5f * erfcf(-d * 0.70710678f); }

__global__ void black_scholes(const float* stock, const float* strike, const float* years, float* call, float* put, float rate,
                              float volatility, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float root = sqrtf(years[i]);
  float d1 = (logf(stock[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
  float d2 = d1 - volatility * root, discount = expf(-rate * years[i]);
  call[i] = stock[i] * cumulative(d1) - strike[i] * discount * cumulative(d2);
  put[i] = strike[i] * discount * cumulative(-d2) - stock[i] * cumulative(-d1);
}

// One option a block; a thread for each leaf of the tree.
__global__ void binomial_option(const float* stock, const float* strike, float* value, float years, float rate, float volatility,
                                int steps) {
  extern __shared__ float leaves[];
  int t = threadIdx.x;
  float dt = years / steps, up = expf(volatility * sqrtf(dt)), down = 1 / up;
  float probability = (expf(rate * dt) - down) / (up - down), discount = expf(-rate * dt);
  leaves[t] = fmaxf(stock[blockIdx.x] * powf(up, (float)(2 * t - steps)) - strike[blockIdx.x], 0.0f);
  for (int left = steps; left > 0; --left) {
    __syncthreads();
    float next = t < left ? discount * (probability * leaves[t + 1] + (1 - probability) * leaves[t]) : 0;
    __syncthreads();
    if (t < left) leaves[t] = next;
  }
  if (t == 0) value[blockIdx.x] = leaves[0];
}

__global__ void monte_carlo_pi(unsigned long long seed, int tries, unsigned* inside) {
  curandStatePhilox4_32_10_t state;
  curand_init(seed, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
  unsigned count = 0;
  for (int i = 0; i < tries; i += 2) {
    float4 p = curand_uniform4(&state);
    count += (p.x * p.x + p.y * p.y <= 1) + (p.z * p.z + p.w * p.w <= 1);
  }
  atomicAdd(inside, count);
}

__device__ float radical_inverse(unsigned i, unsigned base) {
  float result = 0, digit = 1.0f / base;
  for (; i > 0; i /= base, digit /= base) result += digit * (i % base);
  return result;
}
__global__ void halton(float2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = make_float2(radical_inverse(i + 1, 2), radical_inverse(i + 1, 3));
}

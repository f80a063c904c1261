-- cuRAND's device generators: integers and uniform numbers exact, normal ones by what logarithm, sine and cosine allow.
local group = { prologue = [[
#include <curand_kernel.h>
template <class State> __device__ void integers(unsigned int* out) {
  int i = threadIdx.x;
  State s;
  curand_init(1234ull + i % 3, i, i * 7 % 5, &s);
  for (int k = 0; k < 8; ++k) out[i * 16 + k] = curand(&s);
  curand_init(0x123456789abcdefull, i * 1000000007ull, i * 100000000003ull, &s);
  for (int k = 8; k < 12; ++k) out[i * 16 + k] = curand(&s);
  skipahead(1000ull + i, &s);
  out[i * 16 + 12] = curand(&s);
  skipahead_sequence(3ull, &s);
  for (int k = 13; k < 16; ++k) out[i * 16 + k] = curand(&s);
}
template <class State> __device__ void uniforms(float* out) {
  int i = threadIdx.x; State s; curand_init(99, i, 0, &s);
  for (int k = 0; k < 8; ++k) out[i * 8 + k] = curand_uniform(&s);
}
template <class State> __device__ void doubles(double* out) {
  int i = threadIdx.x; State s; curand_init(5, i, 2, &s);
  for (int k = 0; k < 6; ++k) out[i * 6 + k] = curand_uniform_double(&s);
}
template <class State> __device__ void normals(float* out) {
  int i = threadIdx.x; State s; curand_init(7, i, 1, &s);
  for (int k = 0; k < 5; ++k) out[i * 8 + k] = curand_normal(&s);
  float2 pair = curand_normal2(&s);
  out[i * 8 + 5] = pair.x; out[i * 8 + 6] = pair.y; out[i * 8 + 7] = curand_log_normal(&s, 0.5f, 0.25f);
}
template <class State> __device__ void normal_doubles(double* out) {
  int i = threadIdx.x; State s; curand_init(8, i, 1, &s);
  for (int k = 0; k < 3; ++k) out[i * 4 + k] = curand_normal_double(&s);
  out[i * 4 + 3] = curand_log_normal_double(&s, 0.5, 0.25);
}
__global__ void xorwow_integers(unsigned int* out) { integers<curandState>(out); }
__global__ void philox_integers(unsigned int* out) { integers<curandStatePhilox4_32_10_t>(out); }
__global__ void xorwow_uniforms(float* out) { uniforms<curandState>(out); }
__global__ void philox_uniforms(float* out) { uniforms<curandStatePhilox4_32_10_t>(out); }
__global__ void xorwow_doubles(double* out) { doubles<curandState>(out); }
__global__ void philox_doubles(double* out) { doubles<curandStatePhilox4_32_10_t>(out); }
__global__ void xorwow_normals(float* out) { normals<curandState>(out); }
__global__ void philox_normals(float* out) { normals<curandStatePhilox4_32_10_t>(out); }
__global__ void xorwow_normal_doubles(double* out) { normal_doubles<curandState>(out); }
__global__ void philox_normal_doubles(double* out) { normal_doubles<curandStatePhilox4_32_10_t>(out); }
__global__ void philox_fours(float* out) {
  int i = threadIdx.x; curandStatePhilox4_32_10_t s; curand_init(11, i, i % 4, &s);
  uint4 u = curand4(&s); float4 f = curand_uniform4(&s), n = curand_normal4(&s);
  float* o = out + i * 12;
  o[0] = u.x >> 8; o[1] = u.y >> 8; o[2] = u.z >> 8; o[3] = u.w >> 8; o[4] = f.x; o[5] = f.y; o[6] = f.z; o[7] = f.w;
  o[8] = n.x; o[9] = n.y; o[10] = n.z; o[11] = n.w;
}
]] }
for _, generator in ipairs { "xorwow", "philox" } do
  for _, row in ipairs {
    { "integers", "uint", 16 }, { "uniforms", "float", 8 }, { "doubles", "double", 6 },
    { "normals", "float", 8, 4e-6 }, { "normal_doubles", "double", 4, 1e-14 },
  } do
    local name = generator .. "_" .. row[1]
    group[#group + 1] = { name = name, kernel = name, output = row[2], count = 32 * row[3], block = 32, absolute = row[4] }
  end
end
group[#group + 1] = { name = "philox_fours", kernel = "philox_fours", output = "float", count = 32 * 12, block = 32, absolute = 4e-6 }
return group

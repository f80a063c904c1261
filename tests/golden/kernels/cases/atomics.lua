-- Atomic functions, in ways whose results do not depend on the order.
local group = { prologue = [[
__global__ void integers(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned int* u = (unsigned int*)out;
  atomicAdd(out + 0, i); atomicSub(out + 1, i); atomicMin(out + 2, 5 - i); atomicMax(out + 3, i * 3);
  atomicAnd(out + 4, i); atomicOr(out + 5, i); atomicXor(out + 6, i * 7); atomicInc(u + 7, 100); atomicDec(u + 8, 100);
  atomicMin(u + 9, (unsigned)i); atomicMax(u + 10, (unsigned)(0 - i)); atomicAdd_block(u + 11, 2u); atomicAdd_system(u + 12, 3u);
  atomicExch(out + 13, 42); atomicCAS(out + 14, 0, 17); atomicCAS((unsigned short*)(out + 15), (unsigned short)0, (unsigned short)9);
}
__global__ void wide(long long* out) {
  long long i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long* u = (unsigned long long*)out;
  atomicAdd(u + 0, (unsigned long long)i << 32); atomicMin(out + 1, -i << 33); atomicMax(out + 2, i << 33);
  atomicAnd(u + 3, i); atomicOr(u + 4, i << 40); atomicXor(u + 5, i * 0x123456789ull); atomicMax(u + 6, 0 - (unsigned long long)i);
  atomicExch(u + 7, 77ull); atomicCAS(u + 8, 0ull, 99ull);
}
__global__ void numbers(float* out) {
  atomicAdd(out + 0, 0.25f); atomicAdd((float2*)(out + 2), make_float2(0.5f, 2.0f)); atomicAdd((float4*)(out + 4), make_float4(1, 2, 3, 0.125f));
  atomicExch(out + 8, 1.5f);
}
__global__ void doubles(double* out) { atomicAdd(out + blockIdx.x % 2, 0.125); atomicAdd(out + 2, 1e300); }
__global__ void halves(float* out) {
  __shared__ __half h[2]; __shared__ __nv_bfloat162 b;
  if (threadIdx.x == 0) { h[0] = h[1] = __float2half(0.0f); b.x = b.y = __float2bfloat16(0.0f); }
  __syncthreads();
  atomicAdd(h, __float2half(0.5f)); atomicAdd(&b, __floats2bfloat162_rn(1.0f, 0.25f));
  __syncthreads();
  if (threadIdx.x == 0) { out[0] = __half2float(h[0]); out[1] = __bfloat162float(b.x); out[2] = __bfloat162float(b.y); }
}
__global__ void histogram(unsigned int* out) {
  __shared__ unsigned int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < 20; ++i) { x = x * 1664525u + 1013904223u; atomicAdd(&bins[x >> 26], 1u); }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}
]] }
group.prologue = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" .. group.prologue
local function add(kernel, output, count, grid, block)
  group[#group + 1] = { name = kernel, kernel = kernel, output = output, count = count, grid = grid, block = block }
end
add("integers", "int", 16, 5, 100)
add("wide", "ll", 16, 5, 100)
add("numbers", "float", 16, 4, 64)
add("doubles", "double", 4, 4, 64)
group[#group].ulp = 128 -- 256 sums, each rounded, in any order
add("halves", "float", 4, 1, 64)
add("histogram", "uint", 64, 6, 128)
return group

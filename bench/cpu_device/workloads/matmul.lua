local gpu = require "gpu"
local side = require "side"

local tile = tonumber(side.variant)
local matmul = gpu.kernel([[
template <int tile>
__global__ void matmul(const float* A, const float* B, float* C, int n) {
  __shared__ float a[tile][tile], b[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < n; first += tile) {
    a[threadIdx.y][threadIdx.x] = A[row * n + first + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + column] = sum;
}
]], ("matmul<%d>"):format(tile))

local n = side.size
assert(n % tile == 0, "the size must be a multiple of the tile's")
local A, B, C = side.input("A", "float32"), side.input("B", "float32"), gpu.empty(n, n)
local launch = matmul { grid = { n / tile, n / tile }, block = { tile, tile } }
local function work() launch(A, B, C, n) end

work()
side.check("C", C, 1e-5)
side.time(work)

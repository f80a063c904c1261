local gpu = require "gpu"
local side = require "side"

-- A block computes 16 columns of 64 rows, out of a tile in shared memory that has the column of a thread contiguous.
local columns = gpu.kernel([[
constexpr int width = 16, height = 8, steps = 8, halo = 1, radius = 8;
__global__ void columns(const float* x, const float* weights, float* y, int n) {
  __shared__ float tile[width][(steps + 2 * halo) * height + 1];
  const int c = blockIdx.x * width + threadIdx.x;
  const int first = (blockIdx.y * steps - halo) * height + threadIdx.y;
  x += first * n + c;
  y += first * n + c;
#pragma unroll
  for (int k = halo; k < halo + steps; ++k) tile[threadIdx.x][threadIdx.y + k * height] = x[k * height * n];
#pragma unroll
  for (int k = 0; k < halo; ++k) tile[threadIdx.x][threadIdx.y + k * height] = first >= -k * height ? x[k * height * n] : 0;
#pragma unroll
  for (int k = halo + steps; k < steps + 2 * halo; ++k)
    tile[threadIdx.x][threadIdx.y + k * height] = n - first > k * height ? x[k * height * n] : 0;
  __syncthreads();
#pragma unroll
  for (int k = halo; k < halo + steps; ++k) {
    float sum = 0;
#pragma unroll
    for (int j = -radius; j <= radius; ++j) sum += weights[radius - j] * tile[threadIdx.x][threadIdx.y + k * height + j];
    y[k * height * n] = sum;
  }
}
]], "columns")

local n = side.size
assert(n % 64 == 0, "the size must be a multiple of 64")
local x, weights, y = side.input("x", "float32"), side.input("weights", "float32"), gpu.empty(n, n)
local launch = columns { grid = { n / 16, n / 64 }, block = { 16, 8 } }
local function work() launch(x, weights, y, n) end

work()
side.check("y", y, 1e-5)
side.time(work)

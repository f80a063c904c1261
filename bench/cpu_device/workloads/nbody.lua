local gpu = require "gpu"
local side = require "side"

local nbody = gpu.kernel([[
__device__ int cell_of(float position, int cells) { return min((int)position, cells - 1); }

__global__ void nbody(const float* x, const float* y, const float* z, const int* starts, float* ax, float* ay,
                      float* az, int cells, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int cx = cell_of(x[i], cells), cy = cell_of(y[i], cells), cz = cell_of(z[i], cells);
  float sx = 0, sy = 0, sz = 0;
  for (int w = max(cz - 1, 0); w <= min(cz + 1, cells - 1); ++w)
    for (int v = max(cy - 1, 0); v <= min(cy + 1, cells - 1); ++v) {
      const int row = (w * cells + v) * cells;
      const int end = starts[row + min(cx + 1, cells - 1) + 1];
      for (int j = starts[row + max(cx - 1, 0)]; j < end; ++j) {
        const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        const float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 >= 1) continue;
        const float force = (1 - r2) / (sqrtf(r2) + 0.05f);
        sx += force * dx;
        sy += force * dy;
        sz += force * dz;
      }
    }
  ax[i] = sx;
  ay[i] = sy;
  az[i] = sz;
}
]], "nbody")

local cells = side.size
local n = 8 * cells ^ 3
local x, y, z = side.input("x", "float32"), side.input("y", "float32"), side.input("z", "float32")
local starts = side.input("starts", "int32")
local ax, ay, az = gpu.empty(n), gpu.empty(n), gpu.empty(n)
local launch = nbody { grid = math.ceil(n / 128), block = 128 }
local function work() launch(x, y, z, starts, ax, ay, az, cells, n) end

work()
side.check("ax", ax, 1e-5)
side.check("ay", ay, 1e-5)
side.check("az", az, 1e-5)
side.time(work)

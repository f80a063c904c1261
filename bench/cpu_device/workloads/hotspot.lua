local gpu = require "gpu"
local side = require "side"

-- A block takes its tile two steps on at a time, in shared memory: the outer threads are those of the neighbours, too.
local hotspot = gpu.kernel([[
constexpr int width = 16, steps = 2;
__global__ void hotspot(const float* power, const float* from, float* to, int n) {
  __shared__ float heat[width][width], next[width][width], source[width][width];
  const float across = 0.1f, along = 0.2f, up = 0.05f, around = 80;
  const int tx = threadIdx.x, ty = threadIdx.y, inner = width - 2 * steps;
  const int first_row = inner * blockIdx.y - steps, first_column = inner * blockIdx.x - steps;
  const int row = first_row + ty, column = first_column + tx;
  const int at = n * row + column;
  if (row >= 0 && row < n && column >= 0 && column < n) {
    heat[ty][tx] = from[at];
    source[ty][tx] = power[at];
  }
  __syncthreads();
  const int least_y = first_row < 0 ? -first_row : 0, most_y = first_row + width > n ? n - 1 - first_row : width - 1;
  const int least_x = first_column < 0 ? -first_column : 0;
  const int most_x = first_column + width > n ? n - 1 - first_column : width - 1;
  int above = ty - 1, below = ty + 1, left = tx - 1, right = tx + 1;
  above = above < least_y ? least_y : above;
  below = below > most_y ? most_y : below;
  left = left < least_x ? least_x : left;
  right = right > most_x ? most_x : right;

  bool computed = false;
  for (int k = 0; k < steps; ++k) {
    computed = false;
    if (tx >= k + 1 && tx <= width - k - 2 && ty >= k + 1 && ty <= width - k - 2 && tx >= least_x && tx <= most_x &&
        ty >= least_y && ty <= most_y) {
      computed = true;
      next[ty][tx] = heat[ty][tx] + source[ty][tx] + (heat[below][tx] + heat[above][tx] - 2 * heat[ty][tx]) * along +
                     (heat[ty][right] + heat[ty][left] - 2 * heat[ty][tx]) * across + (around - heat[ty][tx]) * up;
    }
    __syncthreads();
    if (k == steps - 1) break;
    if (computed) heat[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  if (computed) to[at] = next[ty][tx];
}
]], "hotspot")

local n, steps, inner = side.size, 8, 12
local power, start = side.input("power", "float32"), side.input("start", "float32")
local heat = { [0] = gpu.empty(n * n), gpu.empty(n * n) }
local launch = hotspot { grid = { math.ceil(n / inner), math.ceil(n / inner) }, block = { 16, 16 } }
local function work()
  launch(power, start, heat[1], n)
  for k = 1, steps / 2 - 1 do launch(power, heat[k % 2], heat[(k + 1) % 2], n) end
end

work()
side.check("heat", heat[steps / 2 % 2], 1e-5)
side.time(work)

-- Source text made at run time: a scaling kernel with its loop unrolled by a factor, several factors compiled and timed.
--
--   gpulua scripts/unroll.lua

local gpu = require "gpu"

local n, scale, block = 2000000, 2.5, 256

--- A kernel in which each thread scales `factor` elements.
local function scaling_kernel(factor)
  local lines = {}
  for i = 0, factor - 1 do
    lines[#lines + 1] = ("  if (first + %d < n) x[first + %d] *= scale;"):format(i, i)
  end
  local source = ([[
__global__ void scale_by(float* x, float scale, int n) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * %d;
%s
}
]]):format(factor, table.concat(lines, "\n"))
  return gpu.kernel(source, "scale_by")
end

print(("scaling %d elements on %s"):format(n, tostring(gpu.device())))
for _, factor in ipairs { 1, 2, 4, 8 } do
  local x = gpu.arange(n, "float32")
  local grid = math.ceil(n / (block * factor))
  local launch = scaling_kernel(factor) { grid = grid, block = block }
  launch(x, 1, n) -- warm up; the values stay
  local start, stop = gpu.event(), gpu.event()
  start:record()
  launch(x, scale, n)
  stop:record()
  stop:sync()
  local host, wrong = x:host(), 0
  for i = 0, n - 1, 97 do
    if host[i] ~= i * scale then wrong = wrong + 1 end
  end
  print(("  unrolled by %d: %.4f ms, %d wrong"):format(factor, start:elapsed(stop), wrong))
  assert(wrong == 0, "the device's results differ from the reference")
end

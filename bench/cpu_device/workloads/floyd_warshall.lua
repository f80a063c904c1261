local gpu = require "gpu"
local side = require "side"

local pass = gpu.kernel([[
__global__ void pass(unsigned* length, unsigned* node, unsigned n, unsigned k) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  const int before = length[r * n + c];
  const int through = length[r * n + k] + length[k * n + c];
  if (through < before) {
    length[r * n + c] = through;
    node[r * n + c] = k;
  }
}
]], "pass")

local n = side.size
assert(n % 16 == 0, "the size must be a multiple of 16")
local start = side.input("start", "uint32")
local length, node = gpu.empty(n * n, "uint32"), gpu.empty(n * n, "uint32")
local launch = pass { grid = { n / 16, n / 16 }, block = { 16, 16 } }
local function work()
  length:copy_(start)
  node:fill_(0)
  for k = 0, n - 1 do launch(length, node, n, k) end
end

work()
side.check("length", length, 0)
side.check("node", node, 0)
side.time(work)

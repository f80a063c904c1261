local gpu = require "gpu"
local side = require "side"

local exchange = gpu.kernel([[
__global__ void exchange(int* x, unsigned j, unsigned k) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other <= i) return;
  const int a = x[i], b = x[other];
  if ((i & k) == 0 ? a > b : a < b) {
    x[i] = b;
    x[other] = a;
  }
}
]], "exchange")

local n = side.size
local start, x = side.input("start", "int32"), gpu.empty(side.size, "int32")
local launch = exchange:over(n)
local function work()
  x:copy_(start)
  local k = 2
  while k <= n do
    local j = k / 2
    while j >= 1 do
      launch(x, j, k)
      j = j / 2
    end
    k = k * 2
  end
end

work()
side.check("sorted", x, 0)
side.time(work)

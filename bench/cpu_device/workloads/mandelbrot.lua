local gpu = require "gpu"
local side = require "side"

local mandelbrot = gpu.kernel([[
__device__ unsigned char escape_time(double re, double im, int most) {
  double x = 0, y = 0;
  for (int i = 0; i < most; ++i) {
    const double next = x * x - y * y + re;
    y = 2 * x * y + im;
    x = next;
    if (x * x + y * y >= 4) return i;
  }
  return most;
}

__global__ void mandelbrot(unsigned char* image, int height, int width, int most) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  const double dx = 3.0 / width, dy = 2.0 / height;
  image[row * width + column] = escape_time(-2 + column * dx, -1 + row * dy, most);
}
]], "mandelbrot")

local height = side.size
local width = math.floor(height * 3 / 2)
local image = gpu.empty(height, width, "uint8")
local launch = mandelbrot { grid = { math.ceil(width / 32), math.ceil(height / 8) }, block = { 32, 8 } }
local function work() launch(image, height, width, 200) end

work()
side.check("image", image, 0, 1e-3)
side.time(work)

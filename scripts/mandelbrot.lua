-- The Mandelbrot set as in Numba's tutorial: a device function, a two-dimensional grid-stride kernel, a picture.
-- 1024 x 1536 points of [-2, 1] x [-1, 1], 20 iterations.
--
--   gpulua scripts/mandelbrot.lua [file.png]

local gpu = require "gpu"

local path = arg and arg[1] or "mandelbrot.png"
local height, width, iterations = 1024, 1536, 20

local kernel = gpu.kernel([[
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

__global__ void mandelbrot(unsigned char* image, int height, int width, double left, double right, double bottom,
                           double top, int most) {
  const double dx = (right - left) / width, dy = (top - bottom) / height;
  for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < width; column += gridDim.x * blockDim.x)
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < height; row += gridDim.y * blockDim.y)
      image[row * width + column] = escape_time(left + column * dx, bottom + row * dy, most);
}
]], "mandelbrot", { options = { "--fmad=false" } })

local image = gpu.zeros(height, width, "uint8")
local launch = kernel { grid = { 32, 16 }, block = { 32, 8 } }
launch(image, height, width, -2, 1, -1, 1, iterations) -- warm up
gpu.sync()

local start, stop = gpu.event(), gpu.event()
start:record()
launch(image, height, width, -2, 1, -1, 1, iterations)
stop:record()
stop:sync()

-- The reference on a sample of points; with --fmad=false both round in the same way.
local function escape_time(re, im)
  local x, y = 0, 0
  for i = 0, iterations - 1 do
    x, y = x * x - y * y + re, 2 * x * y + im
    if x * x + y * y >= 4 then return i end
  end
  return iterations
end

local pixels = image:host()
local wrong, checked = 0, 0
local dx, dy = 3 / width, 2 / height
for row = 0, height - 1, 7 do
  for column = 0, width - 1, 11 do
    checked = checked + 1
    if pixels[row * width + column] ~= escape_time(-2 + column * dx, -1 + row * dy) then wrong = wrong + 1 end
  end
end

gpu.image.save(path, image, { colormap = "viridis" })
print(("Mandelbrot %d x %d on %s: %.3f ms, %d of %d points wrong, written to %s"):format(height, width, tostring(gpu.device()),
  start:elapsed(stop), wrong, checked, path))
assert(wrong == 0, "the device's picture differs from the reference")

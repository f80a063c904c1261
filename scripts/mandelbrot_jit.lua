-- The Mandelbrot set by a kernel that is written in Lua, with a grid-stride loop in both directions. Its twin is the kernel of
-- scripts/mandelbrot.lua, in CUDA C++: the pictures are equal.
--
--   gpulua scripts/mandelbrot_jit.lua [file.png]
local gpu = require "gpu"

local path = arg and arg[1] or "mandelbrot_jit.png"
local height, width, iterations = 1024, 1536, 20
local left, right, bottom, top = -2, 1, -1, 1

local function escape_time(re, im)
  local x, y = 0, 0
  for i = 0, iterations - 1 do
    x, y = x * x - y * y + re, 2 * x * y + im
    if x * x + y * y >= 4 then return i end
  end
  return iterations
end

-- In double precision, and rounded after each operation, as Lua computes.
local mandelbrot = gpu.jit(function(image, dx, dy)
  local first_column, first_row = gpu.grid(2)
  local columns, rows = gpu.grid_size(2)
  for row = first_row, image.shape[1], rows do
    for column = first_column, image.shape[2], columns do
      image[row][column] = escape_time(left + gpu.float64(column - 1) * dx, bottom + gpu.float64(row - 1) * dy)
    end
  end
end, {name = "mandelbrot", fmad = false})

local image = gpu.zeros(height, width, "uint8")
local dx, dy = (right - left) / width, (top - bottom) / height
local launch = mandelbrot {grid = {32, 16}, block = {32, 8}}
launch(image, dx, dy)

-- ---- the twin ---------------------------------------------------------------------------------------------------------------

local twin = gpu.kernel([[
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
__global__ void twin(unsigned char* image, int height, int width, double left, double bottom, double dx, double dy, int most) {
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < height; row += gridDim.y * blockDim.y)
    for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < width; column += gridDim.x * blockDim.x)
      image[row * width + column] = escape_time(left + column * dx, bottom + row * dy, most);
}]], "twin", {options = {"--fmad=false"}})
local other = gpu.zeros(height, width, "uint8")
local twin_launch = twin {grid = {32, 16}, block = {32, 8}}
twin_launch(other, height, width, left, bottom, dx, dy, iterations)

local pixels, wrong, checked = image:host(), 0, 0
for row = 0, height - 1, 7 do
  for column = 0, width - 1, 11 do
    checked = checked + 1
    if pixels[row * width + column] ~= escape_time(left + column * dx, bottom + row * dy) then wrong = wrong + 1 end
  end
end

gpu.image.save(path, image, {colormap = "viridis"})
local function milliseconds(fn) return gpu.benchmark(fn, {repeats = 10}).device.median end
print(("Mandelbrot %d x %d on %s: %.3f ms, the twin's %.3f ms, %d of %d points wrong, written to %s"):format(height, width,
  tostring(gpu.device()), milliseconds(function() launch(image, dx, dy) end),
  milliseconds(function() twin_launch(other, height, width, left, bottom, dx, dy, iterations) end), wrong, checked, path))
assert(wrong == 0, "the picture differs from Lua's")
assert(image:equal(other), "the picture differs from the twin's")

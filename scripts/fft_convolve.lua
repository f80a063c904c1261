-- The edges in a picture: a convolution with the 5 x 5 Laplacian of a Gaussian, by Fourier transforms, checked against the sum of
-- products that a kernel computes. Writes the picture and its edges side by side.
--
--   gpulua scripts/fft_convolve.lua [picture.png] [edges.png]

local gpu = require "gpu"

local input, output = arg and arg[1], arg and arg[2] or "edges.png"

--- Discs and stripes, 0 to 255.
local function draw(height, width)
  local y, x = gpu.arange(height):reshape(height, 1), gpu.arange(width)
  local picture = gpu.zeros(height, width)
  for i = 1, 12 do
    local row, column, radius = i * 97 % height, i * 151 % width, 20 + i * 37 % 70
    local is_inside = ((y - row):square() + (x - column):square()):lt(radius * radius)
    picture = gpu.where(is_inside, 60 + i * 16, picture)
  end
  return picture + 20 * ((x + 2 * y) / 9):sin() + 20
end

local picture
if input then
  picture = assert(gpu.image.load(input)):astype "float32"
  if picture.ndim == 3 then picture = picture(":", ":", { 1, math.min(picture.shape[3], 3) }):mean(3) end
else
  picture = draw(720, 1080)
end
picture:eval()
local height, width = picture.shape[1], picture.shape[2]

local laplacian = gpu.array {
  { 0, 0, -1, 0, 0 },
  { 0, -1, -2, -1, 0 },
  { -1, -2, 16, -2, -1 },
  { 0, -1, -2, -1, 0 },
  { 0, 0, -1, 0, 0 },
}

-- A thread adds up the products for one point; beyond the border the picture is 0.
local convolve = gpu.kernel([[
__global__ void convolve(const float* picture, const float* kernel, float* out, int height, int width) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  float sum = 0;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) {
      const int r = row + 2 - i, c = column + 2 - j;
      if (r >= 0 && r < height && c >= 0 && c < width) sum += picture[r * width + c] * kernel[i * 5 + j];
    }
  out[row * width + column] = sum;
}]], "convolve")
local direct = gpu.empty(height, width)
local launch = convolve { grid = { math.ceil(width / 32), math.ceil(height / 8) }, block = { 32, 8 } }
local function by_kernel() launch(picture, laplacian, direct, height, width) end
local edges
local function by_transforms() edges = gpu.fftconvolve(picture, laplacian, "same"):eval() end

print(("%d x %d on %s"):format(height, width, tostring(gpu.device())))
print("by transforms:      ", gpu.benchmark(by_transforms, { repeats = 10 }))
print("by sums of products:", gpu.benchmark(by_kernel, { repeats = 10 }))

local difference = (edges - direct):abs():max():item() / direct:abs():max():item()
print(("greatest difference, of the greatest edge: %.2g"):format(difference))
assert(difference < 1e-5, "the two ways differ")

local shown = edges:abs() * (255 / edges:abs():max())
gpu.image.save(output, gpu.concat({ picture, shown }, 2):clip(0, 255):astype "uint8")
print("written to " .. output)

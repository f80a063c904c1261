local gpu = require "gpu"
local side = require "side"

local at_2d = [[
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
]]
local at_1d = [[
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
]]

local n = side.size
local m, edge = math.floor(math.sqrt(n)), math.floor(n ^ (1 / 3) + 1e-6)
local channels = math.floor(n / (9 * 58 * 58))
local a, b, x = side.input("a", "float32"), side.input("b", "float32"), side.input("x", "float32")
local out = gpu.zeros(n)

local function line(count) return { grid = math.ceil(count / 256), block = 256 } end
local function plane(columns, rows, threads)
  threads = threads or { 32, 8 }
  return { grid = { math.ceil(columns / threads[1]), math.ceil(rows / threads[2]) }, block = threads }
end

-- The kernel's parameters after its name, its body, its grid and its arguments.
local loops = {
  copy = { "int n, const float* a, float* out", at_1d .. "if (i < n) out[i] = a[i];", line(n), n, a, out },
  triad = { "int n, const float* a, const float* b, float* out", at_1d .. "if (i < n) out[i] = a[i] + 2.5f * b[i];", line(n), n, a, b, out },
  axpy = { "int n, const float* a, float* out", at_1d .. "if (i < n) out[i] += 0x1p-20f * a[i];", line(n), n, a, out },
  stencil3 = {
    "int n, const float* a, float* out",
    at_1d .. "if (i > 0 && i < n - 1) out[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];",
    line(n), n, a, out,
  },
  stencil7 = {
    "int m, const float* a, float* out",
    at_2d .. [[
  const int z = blockIdx.z;
  if (x > 0 && x < m - 1 && y > 0 && y < m - 1 && z > 0 && z < m - 1) {
    const int i = (z * m + y) * m + x;
    out[i] = 0.4f * a[i] + 0.1f * (a[i - 1] + a[i + 1] + a[i - m] + a[i + m] + a[i - m * m] + a[i + m * m]);
  }]],
    { grid = { math.ceil(edge / 32), math.ceil(edge / 8), edge }, block = { 32, 8 } }, edge, a, out,
  },
  jacobi = {
    "int m, const float* a, float* out",
    at_2d .. [[
  if (x > 0 && x < m - 1 && y > 0 && y < m - 1) {
    const int i = y * m + x;
    out[i] = 0.25f * (a[i - 1] + a[i + 1] + a[i - m] + a[i + m]);
  }]],
    plane(m, m, { 16, 16 }), m, a, out,
  },
  fdtd = {
    "int m, const float* a, const float* b, float* out",
    at_2d .. "if (x < m && y > 0 && y < m) out[y * m + x] = b[y * m + x] - 0.5f * (a[y * m + x] - a[(y - 1) * m + x]);",
    plane(m, m), m, a, b, out,
  },
  normalise = {
    "int m, const float* a, float* out",
    at_1d .. [[
  const float mean[] = {0.485f, 0.456f, 0.406f}, scale[] = {4.367f, 4.464f, 4.444f};
  const int c = blockIdx.y;
  if (i < m) out[c * m + i] = (a[c * m + i] - mean[c]) * scale[c];]],
    { grid = { math.ceil(math.floor(n / 3) / 256), 3 }, block = 256 }, math.floor(n / 3), a, out,
  },
  maxpool = {
    "int m, const float* a, float* out",
    at_2d .. [[
  const int h = m / 2;
  if (x < h && y < h) {
    const float* p = &a[2 * y * m + 2 * x];
    const float top = p[0] > p[1] ? p[0] : p[1], below = p[m] > p[m + 1] ? p[m] : p[m + 1];
    out[y * h + x] = top > below ? top : below;
  }]],
    plane(math.floor(m / 2), math.floor(m / 2)), m, a, out,
  },
  upsample = {
    "int m, const float* a, float* out",
    at_2d .. "if (x < m && y < m) out[y * m + x] = a[y / 2 * (m / 2) + x / 2];",
    plane(m, m), m, a, out,
  },
  convolution = {
    "int m, const float* a, const float* b, float* out",
    at_2d .. [[
  if (x > 0 && x < m - 1 && y > 0 && y < m - 1) {
    float sum = 0;
    for (int v = 0; v < 3; ++v)
      for (int u = 0; u < 3; ++u) sum += b[v * 3 + u] * a[(y + v - 1) * m + x + u - 1];
    out[y * m + x] = sum;
  }]],
    plane(m, m), m, a, b, out,
  },
  im2col = { -- a thread for a place of a channel, as in Caffe
    "int n, int h, int w, const float* a, float* out",
    [[
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    const int x = i % w, y = i / w % h, c = i / w / h;
    const float* from = a + (c * (h + 2) + y) * (w + 2) + x;
    float* to = out + (c * 9 * h + y) * w + x;
    for (int u = 0; u < 3; ++u)
      for (int v = 0; v < 3; ++v) {
        *to = from[u * (w + 2) + v];
        to += h * w;
      }
  }]],
    line(channels * 56 * 56), channels * 56 * 56, 56, 56, a, out,
  },
  gemm = {
    "int rows, const float* a, const float* b, float* out",
    at_2d .. [[
  if (x < 256 && y < rows) {
    float sum = 0;
    for (int k = 0; k < 256; ++k) sum += a[y * 256 + k] * b[k * 256 + x];
    out[y * 256 + x] = sum;
  }]],
    plane(256, math.floor(n / 256)), math.floor(n / 256), a, b, out,
  },
  atax = {
    "int m, const float* a, const float* v, float* out",
    at_1d .. [[
  if (i < m) {
    float sum = 0;
    for (int k = 0; k < m; ++k) sum += a[k * m + i] * v[k];
    out[i] = sum;
  }]],
    line(m), m, a, x, out,
  },
  spmv = {
    "int rows, const int* first, const int* columns, const float* a, const float* v, float* out",
    at_1d .. [=[
  if (i < rows) {
    float sum = 0;
    for (int k = first[i]; k < first[i + 1]; ++k) sum += a[k] * v[columns[k]];
    out[i] = sum;
  }]=],
    line(m), m, side.input("first", "int32"), side.input("columns", "int32"), a, x, out,
  },
}

local parameters, body, grid = unpack(loops[side.variant])
local kernel = gpu.kernel(("__global__ void loop(%s) {\n%s\n}"):format(parameters, body), "loop")
local launch, arguments = kernel(grid), { unpack(loops[side.variant], 4) }
local function work() launch(unpack(arguments)) end

work()
side.check("out", out, 1e-5)
side.time(work)

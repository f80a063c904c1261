// Pictures: convolutions, transforms, fractals, cells.

constexpr int radius = 4;
__constant__ float taps[2 * radius + 1];

// A row of 64 with its borders in shared memory.
__global__ void convolve_rows(const float* in, float* out, int width, int height) {
  __shared__ float line[64 + 2 * radius];
  int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y;
  for (int i = threadIdx.x; i < 64 + 2 * radius; i += 64) {
    int at = blockIdx.x * 64 + i - radius;
    line[i] = at >= 0 && at < width ? in[y * width + at] : 0;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = -radius; k <= radius; ++k) sum += taps[k + radius] * line[threadIdx.x + radius + k];
  if (x < width) out[y * width + x] = sum;
}
__global__ void convolve_columns(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int k = -radius; k <= radius; ++k)
    if (y + k >= 0 && y + k < height) sum += taps[k + radius] * in[(y + k) * width + x];
  out[y * width + x] = sum;
}

__global__ void sobel(const unsigned char* in, unsigned char* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  auto at = [=](int dx, int dy) { return (int)in[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)]; };
  int horizontal = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  int vertical = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  out[y * width + x] = (unsigned char)min(abs(horizontal) + abs(vertical), 255);
}

// A block of 8 x 8: rows, then columns.
__global__ void dct8x8(const float* in, float* out, int width) {
  __shared__ float block[8][8];
  int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
  auto factor = [](int frequency, int place) {
    return (frequency == 0 ? 0.35355339f : 0.5f) * cospif((2 * place + 1) * frequency / 16.0f);
  };
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += factor(x, i) * in[at - x + i];
  block[y][x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < 8; ++i) sum += factor(y, i) * block[i][x];
  out[at] = sum;
}

__device__ int escape(float x, float y, float a, float b, int limit) {
  int count = 0;
  for (; count < limit && x * x + y * y < 4.0f; ++count) {
    float next = x * x - y * y + a;
    y = 2 * x * y + b;
    x = next;
  }
  return count;
}
__global__ void mandelbrot(int* out, int width, int height, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = escape(0, 0, -2 + x * 0.0625f, -1 + y * 0.0625f, limit);
}
__global__ void julia(int* out, int width, int height, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = escape(-1.5f + x * 0.0625f, -1 + y * 0.0625f, -0.75f, 0.125f, limit);
}

__global__ void life(const unsigned char* in, unsigned char* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int alive = 0;
  for (int dy = height - 1; dy <= height + 1; ++dy)
    for (int dx = width - 1; dx <= width + 1; ++dx)
      if (dx != width || dy != height) alive += in[(y + dy) % height * width + (x + dx) % width];
  out[y * width + x] = alive == 3 || (alive == 2 && in[y * width + x]);
}

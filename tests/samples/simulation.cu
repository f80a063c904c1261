// Physics, clusters and the Fourier transform.

// Positions with masses pass through shared memory, a tile at a time.
__global__ void n_body(const float4* bodies, float4* acceleration, int n) {
  extern __shared__ float4 tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 own = bodies[i];
  float3 sum = {0, 0, 0};
  for (int first = 0; first < n; first += blockDim.x) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k) {
      float4 other = tile[k];
      float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
      float inverse = rsqrtf(x * x + y * y + z * z + 0.01f), weight = other.w * inverse * inverse * inverse;
      sum.x += x * weight, sum.y += y * weight, sum.z += z * weight;
    }
    __syncthreads();
  }
  acceleration[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

// A seven-point stencil; a block goes through z with the neighbours in registers.
__global__ void fdtd3d(const float* in, float* out, int nx, int ny, int nz) {
  __shared__ float plane[10][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  auto at = [=](int i, int j, int k) {
    return i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz ? in[(k * ny + j) * nx + i] : 0.0f;
  };
  float behind = 0, now = at(x, y, 0), ahead = at(x, y, 1);
  for (int z = 0; z < nz; ++z) {
    __syncthreads();
    plane[ty][tx] = now;
    if (threadIdx.x == 0) plane[ty][0] = at(x - 1, y, z);
    if (threadIdx.x == 31) plane[ty][33] = at(x + 1, y, z);
    if (threadIdx.y == 0) plane[0][tx] = at(x, y - 1, z);
    if (threadIdx.y == 7) plane[9][tx] = at(x, y + 1, z);
    __syncthreads();
    float sum = behind + ahead + plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx];
    if (x < nx && y < ny) out[(z * ny + y) * nx + x] = 0.5f * now + sum / 12;
    behind = now, now = ahead, ahead = at(x, y, z + 2);
  }
}

__global__ void k_means(const float2* points, const float2* centres, int* label, float* sums, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = 0;
  float least = 3.4e38f;
  for (int c = 0; c < k; ++c) {
    float x = points[i].x - centres[c].x, y = points[i].y - centres[c].y, distance = x * x + y * y;
    if (distance < least) least = distance, best = c;
  }
  label[i] = best;
  atomicAdd(&sums[3 * best], points[i].x);
  atomicAdd(&sums[3 * best + 1], points[i].y);
  atomicAdd(&sums[3 * best + 2], 1.0f);
}

// Radix 2 in shared memory, half as many threads as items.
__global__ void fft(const float2* in, float2* out, int log2n) {
  extern __shared__ float2 items[];
  int t = threadIdx.x, n = 1 << log2n;
  for (int i = t; i < n; i += n / 2) items[__brev(i) >> (32 - log2n)] = in[i];
  for (int size = 1; size < n; size *= 2) {
    __syncthreads();
    int k = t % size, even = 2 * (t - k) + k, odd = even + size;
    float s, c;
    sincospif(-(float)k / size, &s, &c);
    float2 a = items[even], b = items[odd], turned = {b.x * c - b.y * s, b.x * s + b.y * c};
    items[even] = make_float2(a.x + turned.x, a.y + turned.y);
    items[odd] = make_float2(a.x - turned.x, a.y - turned.y);
  }
  __syncthreads();
  for (int i = t; i < n; i += n / 2) out[i] = items[i];
}

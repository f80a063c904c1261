local gpu = require "gpu"
local side = require "side"

local type_name = side.variant == "float64" and "double" or "float"
local black_scholes = gpu.kernel([[
template <class T>
__device__ T cnd(T d) {
  const T k = 1 / (1 + T(0.2316419) * abs(d));
  const T tail = T(0.39894228040143267793994605993438) * exp(T(-0.5) * d * d) *
      (k * (T(0.31938153) + k * (T(-0.356563782) + k * (T(1.781477937) + k * (T(-1.821255978) + k * T(1.330274429))))));
  return d > 0 ? 1 - tail : tail;
}

template <class T>
__global__ void black_scholes(T* call, T* put, const T* S, const T* X, const T* years, T r, T v, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T root = sqrt(years[i]);
  const T d1 = (log(S[i] / X[i]) + (r + T(0.5) * v * v) * years[i]) / (v * root);
  const T d2 = d1 - v * root;
  const T discounted = X[i] * exp(-r * years[i]);
  call[i] = S[i] * cnd(d1) - discounted * cnd(d2);
  put[i] = discounted * (1 - cnd(d2)) - S[i] * (1 - cnd(d1));
}
]], ("black_scholes<%s>"):format(type_name))

local n, dtype = side.size, side.variant
local S, X, T = side.input("S", dtype), side.input("X", dtype), side.input("T", dtype)
local call, put = gpu.empty(n, dtype), gpu.empty(n, dtype)
local launch = black_scholes { grid = math.ceil(n / 256), block = 256 }
local function work() launch(call, put, S, X, T, 0.02, 0.30, n) end

work()
local tolerance = dtype == "float64" and 1e-13 or 1e-5
side.check("call", call, tolerance)
side.check("put", put, tolerance)
side.time(work)

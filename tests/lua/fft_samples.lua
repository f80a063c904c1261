-- Numbers for the specs of Fourier transforms, and the transform by its definition.
local gpu = require "gpu"

local epsilon = { complex64 = 2 ^ -23, complex128 = 2 ^ -52, float32 = 2 ^ -23, float64 = 2 ^ -52 }

local function numbers(shape, dtype)
  local re, im = gpu.randn(shape, "float64"), gpu.randn(shape, "float64")
  return (re + im * gpu.complex(0, 1)):astype(dtype):eval()
end

--- The transform by its definition, in float64, along the last axis.
local function transform(x)
  local n = x.shape[x.ndim]
  local k = gpu.arange(n, "int64")
  local angle = ((k:reshape(n, 1) * k) % n):astype "float64" * (-2 * math.pi / n)
  return x:astype("complex128"):matmul(angle:cos() + angle:sin() * gpu.complex(0, 1)):eval()
end

--- Fails unless the relative error of `got`, in the norm, is as small as that of a good transform of n points.
local function near(expected, got, n, where)
  local wide = got.dtype:find "^complex" and "complex128" or "float64"
  local size = gpu.norm(expected:ravel()):item()
  local err = gpu.norm((got:astype(wide) - expected):ravel()):item()
  local limit = epsilon[got.dtype] * (2 + math.log(n) / math.log(2)) * size
  if not (err <= limit) then error(("%s of %d: error %.3g, limit %.3g"):format(where, n, err, limit), 2) end
end

return { numbers = numbers, transform = transform, near = near }

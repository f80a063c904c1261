-- Fourier transforms by the library of an array's device, or by our own kernels where it has none.
local gpu, methods, core, import = ...
local fft_plans = import("fft_plans").plans
local kinds = import "kinds"

local own = import "fft_kernels"
local engine = {}

-- FftKind in C++
local complex, real, to_real = 0, 1, 2

local function bytes_of(x) return (x.dtype == "complex128" and 16) or (x.dtype == "float32" and 4) or 8 end
local function real_of(dtype) return dtype == "complex128" and "float64" or "float32" end
local function complex_of(dtype) return dtype == "float64" and "complex128" or "complex64" end

--- True where the device's library serves: cuFFT for all transforms, the libraries of a CPU for rows along the last axis.
local function has_library(x, is_last)
  local name = core.fft_library(x)
  return name == "cuFFT" or name ~= nil and is_last
end

--- Queues transforms by the library; false where it does not take them. `n`: the extents of a transform. `rows`: {extent, in, out}.
local function queue(x, out, kind, inverse, n, in_step, out_step, rows)
  local extent, in_distance, out_distance = unpack(rows)
  local is_double = out.dtype == "float64" or out.dtype == "complex128"
  local numbers = {kind, is_double and 1 or 0, inverse and 1 or 0, #n, n[1], n[2] or 0, n[3] or 0, in_step, out_step, extent,
    in_distance, out_distance}
  local key = ("%s %s %s %s %s"):format(core.fft_library(x), table.concat(n, "x"), is_double and "complex128" or "complex64",
    x.device, table.concat(numbers, ","))
  local entry = fft_plans:get(key, function()
    local plan = core.fft_plan(x, numbers) or false -- false: the library does not take it
    return {plan = plan}
  end)
  if not entry.plan then return false end
  core.transform_by_library(entry.plan, x, out)
  return true
end

--- False for real numbers that do not begin where a complex number could: cuFFT does not take them.
local function is_aligned(x) return kinds.is_complex(x) or core.address(x) % (2 * bytes_of(x)) == 0 end

--- True for rows with one distance between them, at ascending addresses.
local function is_simple(rows, in_step)
  return #rows <= 1 and in_step >= 1 and (#rows == 0 or (rows[1][2] >= 1 and rows[1][3] >= 1))
end

--- Transforms along the axis into a new array with `extent` elements along it; nil where the library does not take them. `n`: the
--- points of a transform.
local function along(x, axis, kind, inverse, n, extent, dtype)
  if not has_library(x, axis == x.ndim) then return nil end
  x:eval()
  local function prepare(from)
    local shape = from.shape
    shape[axis] = extent
    local out = gpu.empty(shape, {dtype = dtype, device = from.device})
    return from, out, own.rows_of(from, out, axis, bytes_of(from), bytes_of(out)), from.strides[axis] / bytes_of(from)
  end
  local from, out, rows, in_step = prepare(x)
  if kind == to_real or not is_simple(rows, in_step) or not is_aligned(x) then
    from, out, rows, in_step = prepare(x:copy())
  end
  if not is_simple(rows, in_step) then
    local value = along(x:moveaxis(axis, -1):copy(), x.ndim, kind, inverse, n, extent, dtype)
    return value and value:moveaxis(-1, axis):contiguous()
  end
  if not queue(from, out, kind, inverse, {n}, in_step, out.strides[axis] / bytes_of(out), rows[1] or {1, 1, 1}) then return nil end
  return out
end

function engine.complex(x, axis, inverse)
  return along(x, axis, complex, inverse, x.shape[axis], x.shape[axis], x.dtype) or own.complex(x, axis, inverse)
end

function engine.real(x, axis)
  local n = x.shape[axis]
  return along(x, axis, real, false, n, math.floor(n / 2) + 1, complex_of(x.dtype)) or own.real(x, axis)
end

function engine.to_real(x, axis, n)
  return along(x, axis, to_real, true, n, n, real_of(x.dtype)) or own.to_real(x, axis, n)
end

--- Transforms along the last two or three axes at once; nil without a library. `kind`: "complex", "real" or "to_real", for which
--- `n` is the length on the last axis.
function engine.together(x, count, kind, inverse, n)
  if count < 2 or count > 3 or not has_library(x, false) then return nil end
  x = x:contiguous():eval()
  if kind == "to_real" or not is_aligned(x) then x = x:copy() end
  local shape, lengths, batch = x.shape, {}, 1
  local last = #shape
  local in_distance, out_distance = 1, 1
  for i = 1, last do
    if i <= last - count then
      batch = batch * shape[i]
    else
      lengths[#lengths + 1] = shape[i]
      in_distance = in_distance * shape[i]
    end
  end
  local dtype = x.dtype
  if kind == "real" then
    shape[last], dtype = math.floor(shape[last] / 2) + 1, complex_of(dtype)
  elseif kind == "to_real" then
    shape[last], lengths[count], dtype = n, n, real_of(dtype)
  end
  for i = last - count + 1, last do out_distance = out_distance * shape[i] end
  local out = gpu.empty(shape, {dtype = dtype, device = x.device})
  local number = kind == "real" and real or kind == "to_real" and to_real or complex
  return queue(x, out, number, inverse, lengths, 1, 1, {batch, in_distance, out_distance}) and out or nil
end

return engine

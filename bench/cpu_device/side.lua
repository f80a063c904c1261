-- What our side of each workload shares: `gpulua workloads/NAME.lua folder size variant`. side.h makes the inputs and results.

local gpu = require "gpu"
local ffi = require "ffi"

ffi.cdef "size_t fread(void* target, size_t size, size_t count, void* file);"

local ctypes = { uint8 = "uint8_t", int32 = "int32_t", uint32 = "uint32_t", float32 = "float", float64 = "double" }

local side = { size = tonumber(arg[2]), variant = arg[3] }

local function load(name, dtype)
  local file = assert(io.open(arg[1] .. "/" .. name, "rb"))
  local bytes = file:seek "end"
  file:seek "set"
  local count = bytes / ffi.sizeof(ctypes[dtype])
  local values = ffi.new(ctypes[dtype] .. "[?]", count)
  assert(ffi.C.fread(values, 1, bytes, file) == bytes, name .. " cannot be read")
  file:close()
  return values, count
end

--- An input that the C++ side made, as an array on the device.
function side.input(name, dtype) return gpu.array((load(name, dtype))) end

--- Raises an error if x differs from the C++ side's results of that name: if more than `share` (0) of the elements are further
--- off than `tolerance` times the largest.
function side.check(name, x, tolerance, share)
  local expected, count = load(name, x.dtype)
  local values = x:host()
  assert(x.size == count, name .. ": another number of results")
  local largest = 0
  for i = 0, count - 1 do largest = math.max(largest, math.abs(expected[i])) end
  local wrong = 0
  for i = 0, count - 1 do
    -- Negated so that a NaN is wrong too.
    if not (math.abs(values[i] - expected[i]) <= tolerance * largest) then wrong = wrong + 1 end
  end
  if wrong > (share or 0) * count then error(("%s: %d of %d results are wrong"):format(name, wrong, count), 0) end
end

--- Prints the median time of `work` in milliseconds: at least 5 repeats and half a second. The caller has run it once already.
function side.time(work)
  local times, total = {}, 0
  local start, stop = gpu.event(), gpu.event()
  while #times < 5 or total < 500 do
    start:record()
    work()
    stop:record()
    times[#times + 1] = start:elapsed(stop)
    total = total + times[#times]
  end
  table.sort(times)
  print(("%.4f"):format(times[math.floor(#times / 2) + 1]))
end

return side

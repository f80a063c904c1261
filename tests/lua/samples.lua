-- Shared by the specs of tests/samples/*.cu: loading, inputs, comparison.
local gpu = require "gpu"
local assert = require "luassert"
local support = require "support"
local folder = (debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or ".") .. "/../samples/"

local samples = {}

function samples.load(name, options)
  local file = assert(io.open(folder .. name .. ".cu"))
  local text = file:read "*a"
  file:close()
  return gpu.module(text, options or {})
end

--- n whole numbers from 0 to limit - 1, the same each time.
function samples.integers(n, limit)
  local t, x = {}, 12345
  for i = 1, n do
    x = (x * 16807) % 2147483647
    t[i] = x % limit
  end
  return t
end
--- n multiples of 1/64 from low up to high: exact as floats.
function samples.numbers(n, low, high)
  local t = samples.integers(n, (high - low) * 64)
  for i = 1, n do t[i] = low + t[i] / 64 end
  return t
end
function samples.device(t, dtype) return gpu.array(t, dtype or "float32") end
function samples.int(t) return gpu.array(t, "int32") end
function samples.sum(t)
  local total = 0
  for _, x in ipairs(t) do total = total + x end
  return total
end
function samples.sorted(t)
  local copy = { unpack(t) }
  table.sort(copy)
  return copy
end
function samples.same(expected, array) assert.are.same(expected, array:table()) end
function samples.near(expected, array, tolerance) support.near(expected, array:table(), tolerance or 1e-5) end

return samples

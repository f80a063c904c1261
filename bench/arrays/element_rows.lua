-- Workloads of one function each: bits, sets, counts, diagonals, inverses of the normal distribution, medians of windows.
local gpu = require "gpu"
local data = require "data"

local size, spread = data.size, data.spread

--- Adds them by workload(name, make).
return function(workload)
  local function add(name, prepare, run, check)
    workload(name, function()
      local operands, y = { prepare() }, nil
      return function() y = run(unpack(operands)):eval() end, function() return check(y) end
    end)
  end
  local function mean(y) return y:mean { dtype = "float64" }:item() end

  add("packbits", function() return spread(size(64e6, 4e6, 1000), 0, 2, "uint8") end, gpu.packbits, mean)
  add("unpackbits", function() return spread(size(64e6, 1e6, 1000), 0, 256, "uint8") end, gpu.unpackbits, mean)
  add("isin", function()
    return spread(size(16e6, 1e6, 1000), 0, 1e6, "int64"), spread(1000, 0, 1e6, "int64")
  end, gpu.isin, function(y) return y:sum():item() end)
  add("isin5", function()
    return spread(size(16e6, 1e6, 1000), 0, 100, "float64"):floor():eval(), gpu.array({ 3, 14, 15, 92, 65 }, "float64")
  end, gpu.isin, function(y) return y:sum():item() end)
  add("bincount", function() return spread(size(64e6, 4e6, 1000), 0, 1000, "int64") end, gpu.bincount, function(y) return y[10] end)
  add("diagonal", function()
    local n = size(2048, 1024, 16)
    local m = n * n
    local values = { spread(m, 1, 2, "float32"), spread(m - 1, 0, 1, "float32"), spread(m - n, 0, 1, "float32") }
    return gpu.sparse.diags({ values[1], values[2], values[2], values[3], values[3] }, { 0, 1, -1, n, -n })
  end, function(A) return A:diagonal() end, mean)
  for _, dtype in ipairs { "float64", "float32" } do
    local digits = dtype:sub(-2)
    add("erfinv" .. digits, function() return spread(size(64e6, 1e6, 1000), -0.999, 0.999, dtype) end, gpu.erfinv,
      function(y) return mean(y * y) end)
    add("normcdfinv" .. digits, function() return spread(size(64e6, 1e6, 1000), 0.001, 0.999, dtype) end, gpu.normcdfinv,
      function(y) return mean(y * y) end)
  end
  for _, width in ipairs { 3, 5, 7, 9 } do
    add("median" .. width, function()
      local n = size(4096, 512, 32)
      return spread(n * n, 0, 1, "float32"):reshape(n, n)
    end, function(x) return gpu.ndimage.median_filter(x, width) end, mean)
  end
end

-- Workloads of linear algebra: of one matrix, and of many small ones.
local gpu = require "gpu"
local data = require "data"

local size, spread = data.size, data.spread

local function dominant(batch, n)
  return spread(batch * n * n, 0, 1, "float32"):reshape(batch, n, n) + gpu.eye(n) * n
end
local function positive(batch, n)
  local x = dominant(batch, n)
  return x:matmul(x:swapaxes(-1, -2))
end
local function mean(y) return y:astype("float64"):mean():item() end

--- Adds them by workload(name, make).
return function(workload)
  local function add(name, function_name, make, count)
    workload(name, function()
      local x, y = make():eval(), nil
      local fn = gpu.linalg[function_name]
      return function() y = fn(x):eval() end, function() return mean(y) / (count or 1) end
    end)
  end
  local large, middle, many, few = size(4096, 1024, 32), size(2048, 512, 32), size(100000, 100000, 20), size(1000, 100000, 20)
  add("inv", "inv", function() return dominant(1, large) end)
  workload("solve", function()
    local a, b, x = dominant(1, large), spread(large * 64, 0, 1, "float32"):reshape(1, large, 64), nil
    return function() x = gpu.linalg.solve(a, b) end, function() return mean(x) end
  end)
  add("cholesky", "cholesky", function() return positive(1, large) end)
  add("eigvalsh", "eigvalsh", function() return positive(1, middle) end, middle)
  add("svdvals", "svdvals", function() return dominant(1, middle) end)
  add("inv8", "inv", function() return dominant(many, 8) end)
  add("det8", "det", function() return dominant(many, 8) end)
  add("cholesky8", "cholesky", function() return positive(many, 8) end)
  add("qr8", "qr", function() return dominant(few, 8) end)
  add("svdvals8", "svdvals", function() return dominant(few, 8) end)
  workload("solve8", function()
    local a, b, x = dominant(many, 8):eval(), spread(many * 8, 0, 1, "float32"):reshape(many, 8, 1), nil
    return function() x = gpu.linalg.solve(a, b) end, function() return mean(x) end
  end)
  workload("eigh16", function()
    local x, y = positive(size(10000, 10000, 20), 16):eval(), nil
    return function() y = gpu.linalg.eigvalsh(x) end, function() return mean(y(":", 1)) end
  end)
  workload("lstsq", function()
    local n = size(100000, 10000, 200)
    local a, b, x = spread(n * 64, 0, 1, "float32"):reshape(n, 64), spread(n, 0, 1, "float32"), nil
    return function() x = gpu.linalg.lstsq(a, b) end, function() return 100 * mean(x:abs()) end
  end)
end

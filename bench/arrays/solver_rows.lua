-- Workloads of gpu.integrate: many small systems, each with steps of its own.
local gpu = require "gpu"
local data = require "data"

local size, spread = data.size, data.spread

local function lorenz(_, y, dy, rho)
  dy[1] = 10 * (y[2] - y[1])
  dy[2] = y[1] * (rho - y[3]) - y[2]
  dy[3] = y[1] * y[2] - 8 / 3 * y[3]
end

--- Adds them by workload(name, make).
return function(workload)
  local function ensemble(dtype)
    local n, y = size(1e6, 1e5, 100), nil
    local rho, start = spread(n, 20, 30, dtype), spread(3 * n, 1, 2, dtype):reshape(n, 3)
    local options = { each = true, rtol = 1e-6, atol = 1e-6, args = { rho } }
    return function() y = gpu.integrate.solve_ivp(lorenz, { 0, 1 }, start, options):eval() end,
      function() return y:abs():mean { dtype = "float64" }:item() end
  end
  workload("ensemble", function() return ensemble "float64" end)
  workload("ensemble_diffrax", function() return ensemble "float64" end)
  workload("ensemble32", function() return ensemble "float32" end)
end

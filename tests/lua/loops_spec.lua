-- Loops without gpu.eval: the number of kernels that they compile does not grow with their steps, and their results are those of
-- plain Lua.
local gpu = require "gpu"
local samples = require "loop_samples"
local support = require "support"

local size = 1000

--- The kernels that a loop compiles in a process of its own with an empty cache, its own start and end included.
local function kernels_of(name, steps)
  local output, status, count = support.run_cold(([[
    package.path = %q
    local samples = require "loop_samples"
    local loop = samples.elementwise[%q]
    if not loop then return assert(samples.others[%q](%d)) end
    for _, x in ipairs {loop(samples.arrays(%d), %d)} do x:mean():item() end]]):format(package.path, name, name, steps, size, steps))
  assert(status == 0, output)
  return count
end

describe("the kernels of a loop", function()
  for _, case in ipairs {
    {"heston", 4}, {"stochastic_rates", 4}, {"running_mean", 6}, {"random_walk", 3}, {"kalman_filter", 5}, {"adam", 6},
    {"newton", 3}, {"leapfrog", 5},
    {"lorenz_rk4", 7}, {"momentum", 10}, {"logistic_regression", 10}, {"heat_by_slices", 8}, {"power_iteration", 10},
    {"pagerank", 10}, {"expectation_maximisation", 10},
  } do
    local name, most = unpack(case)
    it(name .. " are few, and no more for 300 steps than for 100", function()
      local some, many = kernels_of(name, 100), kernels_of(name, 300)
      assert(some <= most and many <= some, ("%d kernels for 100 steps, %d for 300"):format(some, many))
    end)
  end
end)

describe("a line that compiles many kernels", function()
  local function warnings(steps)
    local output, status = support.run(([[
      local gpu = require "gpu"
      local x = gpu.ones(4):eval()
      for n = 1, %d do
        local y = x
        for _ = 1, n do y = -y + 1 end
        y:eval()
      end]]):format(steps), "GPULUA_DEVICE=" .. gpu.device().name, "many.lua")
    assert(status == 0, output)
    return output
  end

  it("is warned of, once", function()
    local output = warnings(30)
    local message = "many.lua:6: this line has compiled more than 20 kernels"
    assert(output:find(message, 1, true) and select(2, output:gsub("compiled more than", "")) == 1, output)
  end)

  it("is not warned of before", function() assert(warnings(20) == "") end)

  it("is not warned of when functions of the library compile them", function()
    local output, status = support.run([[
      local gpu = require "gpu"
      local A, b, m, x = gpu.sparse.csr(gpu.eye(8)), gpu.ones(8), gpu.eye(6), gpu.rand(400)
      gpu.linalg.expm(m) gpu.sparse.linalg.gmres((A + A) * A + A:matmul(A), b) gpu.welch(x)]], "GPULUA_DEVICE=" .. gpu.device().name)
    assert(status == 0 and output == "", output)
  end)
end)

describe("the results of a loop", function()
  for name, loop in pairs(samples.elementwise) do
    it(name .. " are those of plain Lua", function()
      for _, steps in ipairs {1, 7, 50, 101} do
        local arrays = {loop(samples.arrays(size), steps)}
        for _, i in ipairs {1, 17, size} do
          local numbers = {loop(samples.numbers(size, i), steps)}
          for k, number in ipairs(numbers) do
            support.near(number, arrays[k][i], 2e-4, ("result %d of element %d after %d steps"):format(k, i, steps))
          end
        end
      end
    end)
  end
end)

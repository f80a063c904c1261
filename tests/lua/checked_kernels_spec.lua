-- The kernels of sorts, selections and additions at positions, which a GPU runs. While kernels are checked the CPU device runs them
-- too, in place of its host code, so the checker sees what a GPU would leave undefined: lanes that miss a shuffle, races, accesses
-- out of bounds. The host code is the reference.
local gpu = require "gpu"
if gpu.device().kind ~= "cpu" then
  describe("checked kernels", function()
    it("give what the host code gives", function() return pending "a GPU has no host code to compare with" end)
  end)
  return
end

--- Calls make() with the host code, then with checked kernels, and compares the arrays that it returns.
local function compare(make)
  local function run()
    gpu.random.seed(7)
    local arrays = {make()}
    for i, x in ipairs(arrays) do arrays[i] = x:eval() end
    return arrays
  end
  local expected = run()
  gpu.check(true)
  local ok, got = pcall(run)
  gpu.check(false)
  assert.is_true(ok, got)
  for i, x in ipairs(got) do
    local same = gpu.isclose(x:astype "float64", expected[i]:astype "float64", {rtol = 0, atol = 0, equal_nan = true})
    assert.is_true(same:all():item(), ("result %d: %s\n%s"):format(i, tostring(x), tostring(expected[i])))
  end
end

describe("checked kernels give what the host code gives:", function()
  for _, dtype in ipairs {"float32", "int8", "uint64"} do
    for _, shape in ipairs {{7}, {300}, {20000}, {3, 1000}} do
      local function numbers(least) return (gpu.rand(shape) * 200 - least):astype(dtype) end
      local name = ("%s of %s"):format(dtype, table.concat(shape, "x"))
      it("sorts, " .. name, function()
        compare(function()
          local x = numbers(dtype == "uint64" and 0 or 100)
          return x:sort(), x:argsort(-1, {descending = true})
        end)
      end)
      it("selections, " .. name, function()
        compare(function()
          local x = numbers(dtype == "uint64" and 0 or 100)
          local values, positions = gpu.topk(x, 5)
          return values, positions, gpu.partition(x, 3):take(gpu.array({3}, "int64"), -1), x:median(-1), x:quantile({0.1, 0.11, 0.9}, -1)
        end)
      end)
    end
  end

  it("medians of NaN, infinities and zeros", function()
    compare(function()
      local x = gpu.array({{1, 0 / 0, 3, -1 / 0}, {0, -0.0, 1 / 0, 5}})
      return x:median(2), gpu.nanmedian(x, 2), gpu.nanquantile(x, {0.2, 0.8}, 1)
    end)
  end)

  it("quantiles of rows that a warp takes, and of more than a block takes", function()
    compare(function()
      local x = gpu.rand(70000)
      return x:quantile({0, 0.3, 0.5, 1}), x:reshape(700, 100):median(2), gpu.unique(x:round(2))
    end)
  end)

  it("permutations, and additions at positions", function()
    compare(function()
      local at = gpu.random.integers({3000}, 1, 50)
      local sums = gpu.zeros(50, "int32")
      gpu.scatter_add(sums, at, gpu.ones(3000, "int32"))
      return gpu.random.permutation(5000), sums
    end)
  end)
end)

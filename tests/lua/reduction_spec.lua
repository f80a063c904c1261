-- Reductions, and functions composed of reductions.
local gpu = require "gpu"
local golden = require "golden_cases"
local support = require "support"
local fails = support.fails

local function kernels(...) return tonumber(gpu.explain(...):match "^(%d+) kernel") end

describe("reductions", function()
  it("are as NumPy's", function() golden.run "reductions" end)
end)

describe("reductions together", function()
  it("store several results of more than one dimension", function()
    local t = gpu.arange(60, "int32"):reshape(3, 4, 5):eval()
    local total = t:sum(2)
    local large, last = total:gt(130), total * 2
    gpu.eval(total, large, last)
    assert.are.same({ { 30, 34, 38, 42, 46 }, { 110, 114, 118, 122, 126 }, { 190, 194, 198, 202, 206 } }, total:table())
    assert.are.equal(412, last[3][5])
    assert.is_false(large[2][5])
    assert.is_true(large[3][1])
  end)

  it("fuse with what they are composed of", function()
    local x = gpu.linspace(0, 1, 1000):eval()
    assert.are.equal(1, kernels(x:ptp()))
    assert.are.equal(1, kernels(x:nansum()))
    assert.are.equal(1, kernels(x:nanmean()))
    assert.are.equal(1, kernels(x:norm()))
    assert.are.equal(1, kernels(x:average { weights = x }))
    assert.are.equal(1, kernels(gpu.isclose(x, x * 2)))
    assert.are.equal(1, kernels(gpu.polyval({ 1, 2, 3, 4 }, x)))
  end)

  it("of equal elements computed in the same kernel have no deviation", function()
    local x = gpu.array({ 26, 33, -119, -12, 88 }, "int8"):reshape(5, 1)
    for _, n in ipairs { 1, 33 } do
      local wide = x:broadcast_to(5, n)
      for name, y in pairs { degrees = gpu.degrees(wide), square = (wide:astype "float64" / 7):square() } do
        for what, r in pairs { std = y:std(2), masked = y:var(2, { where = wide:lt(120) }) } do
          for row, v in ipairs(r:table()) do
            assert(v >= 0 and v < (n == 1 and 1e-300 or 1e-3), ("%s of %d elements, %s, row %d: %g"):format(what, n, name, row, v))
          end
        end
        if n == 1 then -- a value that is used twice is computed once
          assert.are.equal(0, (y - y:mean(2, { keepdims = true })):abs():max():item(), name)
          assert.are.equal(0, (y - y:sum(2, { keepdims = true })):norm():item(), name)
        end
      end
    end
    local whole = gpu.array({ 3, 5, 7 }, "float32") / 3 * 3 -- 3, 5, 7 as they are rounded
    assert.is_true((whole - whole:floor()):min():item() >= 0)
  end)

  it("of one variable, its covariance and correlation, have no dimensions", function()
    local row = gpu.array { { 1, 2, 3 } }
    assert.are.same({ 0, 0, 1, 1 }, { row:cov().ndim, row:corrcoef().ndim, row:cov():item(), row:corrcoef():item() })
    assert.are.same({ 0, 1 }, { row.T:cov({ rowvar = false }).ndim, row.T:cov({ rowvar = false }):item() })
  end)

  it("write to out", function()
    local m, out = gpu.ones(2, 3), gpu.zeros(3, "float64")
    m:nansum(1, { out = out })
    assert.are.same({ 2, 2, 2 }, out:table())
    m:norm({ axis = 1, out = out })
    support.near({ math.sqrt(2), math.sqrt(2), math.sqrt(2) }, out:table())
    fails("[ptp] expected an array to write to of the result's shape (2,), got (3,)", function() m:ptp(2, { out = out }) end)
  end)
end)

describe("what does not fit", function()
  it("is named", function()
    local m = gpu.zeros(3, 4)
    for _, name in ipairs { "sum", "mean", "max", "nansum", "nanmean", "ptp", "average", "logsumexp" } do
      fails("[" .. name .. "] axis 3 is out of range for an array of 2 dimensions", function() m[name](m, 3) end)
      fails("[" .. name .. "] axes start at 1, got 0", function() m[name](m, 0) end)
      fails("[" .. name .. "] expected an axis: an integer, got NaN", function() m[name](m, 0 / 0) end)
      fails("[" .. name .. "] expected an axis: an integer, got 1.5", function() m[name](m, 1.5) end)
      fails("[" .. name .. "] expected each axis once", function() m[name](m, { 1, -2 }) end)
      fails("keepdims", function() m[name](m, 1, { keep = true }) end)
    end
    local none = gpu.zeros(0, 3)
    fails("zero-size array to reduction operation max which has no identity", function() none:max(1) end)
    fails("zero-size array to reduction operation min which has no identity", function() none:min() end)
    fails("zero-size array to reduction operation argmax which has no identity", function() none:argmax() end)
    assert.are.same({ 0 }, none:max(2).shape)
    fails("[nanargmax] expected a number among the elements, got NaN alone",
      function() gpu.full(3, 0 / 0):nanargmax() end)
    fails("[average] expected weights of shape (3,4)", function() m:average { weights = gpu.ones(3) } end)
    fails("[norm] expected one axis of a vector or two of a matrix", function() gpu.zeros(2, 2, 2):norm(1) end)
    fails('[norm] expected 1, -1, 2, -2, math.huge, -math.huge, "fro" or "nuc" as a matrix norm, got 3', function() m:norm(3) end)
    fails('[norm] expected a number, math.huge, "fro" or "nuc" as the order, got "nuk"', function() m:norm "nuk" end)
    fails("[cov] expected a vector or a matrix", function() gpu.zeros(1, 1, 1):cov() end)
    fails("[diff] expected a number of times of 0 or more, got -1", function() m:diff(-1) end)
    fails("[gradient] expected at least 2 elements on axis 1, got 1", function() gpu.zeros(1):gradient() end)
    fails("[gradient] expected a spacing for each of 2 axes, got 3", function() m:gradient(1, 2, 3) end)
    fails("[gradient] expected coordinates of shape (4,) for axis 2, got (3,)",
      function() m:gradient(1, gpu.zeros(3)) end)
    fails("[cross] expected vectors of 3 elements, got shapes (3,4) and (3,4)", function() m:cross(m) end)
    fails("[polyval] expected coefficients", function() gpu.polyval({}, m) end)
    fails("[equal] expected an array, got 1", function() m:equal(1) end)
    fails("[allclose] expected rtol = a number of 0 or more, got -1", function() m:allclose(m, -1) end)
    fails("could not be broadcast together with shapes (3,4) (3,)", function() m:allclose(gpu.zeros(3)) end)
  end)

  it("is reported at the script's line", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local message = fails("[nansum]", function() local _ = gpu.zeros(2):nansum(2) end)
    assert.is_truthy(message:find("reduction_spec.lua:" .. line, 1, true), message)
  end)
end)

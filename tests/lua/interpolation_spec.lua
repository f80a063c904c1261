-- Linear interpolation. Golden data: tests/golden/arrays/interpolation.py.
local gpu = require "gpu"
local support = require "support"
local golden = require "golden_cases"
local fails = support.fails

describe("interp", function()
  it("agrees with NumPy", function() golden.run "interpolation" end)

  it("names what does not fit", function()
    local x, xp = gpu.ones(4), gpu.arange(3, "float32")
    fails("[interp] expected points in two vectors of one length, got shapes (3,) and (4,)", function() return x:interp(xp, x) end)
    fails("[interp] expected points in two vectors of one length, got shapes (0,) and (0,)", function() return x:interp({}, {}) end)
    fails("[interp] expected points in two vectors", function() return x:interp(gpu.ones(1, 3), xp) end)
    fails("[interp] expected fp, an array, a table or a number, got nil", function() return x:interp(xp) end)
    fails("[interp] expected x, an array, a table or a number, got nil", gpu.interp, nil, { 1 }, { 2 })
    fails("[interp] expected left, a number, got true", function() return x:interp(xp, xp, { left = true }) end)
    fails("[interp] expected a period other than 0, got 0", function() return x:interp(xp, xp, { period = 0 }) end)
    fails("[interp] expected real numbers", function() return x:interp(xp, xp:astype "complex64") end)
    local message = fails("[interp] expected the options left, right and period", function()
      local result = x:interp(xp, xp, { kind = "cubic" })
      return result
    end)
    assert.is_truthy(message:find("interpolation_spec.lua:", 1, true), message)
  end)
end)

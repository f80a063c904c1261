-- Every function is differentiable, constant or refuses, as derivatives.txt says.
local gpu = require "gpu"
local checks = require "derivative_checks"

local helpers = debug.getregistry()["gpulua.helpers"]
helpers.load_library()
local kinds, normal, total = checks.kinds, checks.normal, checks.total

describe("each function", function()
  it("is in the table", function()
    local missing = {}
    for line in helpers.signatures():gmatch "[^\n]+" do
      local name = line:match "^([%w_.]+[.:][%w_]+)[({]"
      if name and not kinds[name] then missing[#missing + 1] = name end
    end
    for name, value in pairs(helpers.functions_of(gpu)) do
      if type(value) == "function" and not kinds["gpu." .. name] then missing[#missing + 1] = "gpu." .. name end
    end
    table.sort(missing)
    assert(#missing == 0, table.concat(missing, "\n"))
  end)

  local of_gpu = "^gpu%.%w+$" -- derivatives_parts_spec has the others
  it("has the derivative that differences have", function() checks.each("d", of_gpu, checks.differences) end)
  it("has an adjoint map", function() checks.each("d", of_gpu, checks.adjoint) end)

  it("that is constant gives no dependence", function()
    checks.each("c", "", function(sample)
      local x = normal(7, unpack(sample.shape))
      local g = gpu.grad(function(z) return z:sum() + total(sample, z) end)(x)
      assert(gpu.array_equal(g, gpu.ones_like(g)), "a derivative")
    end)
  end)

  it("that refuses says which one it is, and what to do", function()
    checks.each("r", "", function(sample)
      local ok, message = pcall(gpu.grad(function(z) return total(sample, z) end), normal(7, unpack(sample.shape)))
      assert(not ok, "a derivative")
      local name = sample.name:gsub("^gpu%.", ""):gsub("^%a:", "")
      assert(message:find("[" .. name .. "]", 1, true), message)
      assert(message:find "^[^\n]-:%d+: %[", message) -- the script's line
      assert(message:find "gpu%.custom" or message:find "a new array" or message:find "a call outside" or message:find "has one"
        or message:find "reduce the gradient after it" or message:find "x:detach%(%):", message)
    end)
  end)
end)

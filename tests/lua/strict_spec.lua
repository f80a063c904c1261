-- gpu.strict: waits that a script does not ask for are errors.
local gpu = require "gpu"
local fails = require("support").fails

describe("gpu.strict", function()
  after_each(function() gpu.strict(false) end)

  it("tells whether it is on", function()
    assert.is_false(gpu.strict())
    assert.is_true(gpu.strict(true))
    assert.is_true(gpu.strict())
    assert.is_false(gpu.strict(false))
    fails("[strict] expected true or false, got 1", function() gpu.strict(1) end)
  end)

  it("refuses to read an element by its index", function()
    local x = gpu.arange(6):reshape(2, 3) * 2
    gpu.strict(true)
    fails("[index] reading an element by its index waits for the device, which gpu.strict(true) refuses; "
      .. "x:table() or x:host() reads all, x(i):item() one", function() return x[2][3] end)
    gpu.strict(false)
    assert.are.equal(10, x[2][3])
  end)

  it("refuses to show an array, and to search exponents", function()
    local x = gpu.array({ 1, 2 }, "int32")
    gpu.strict(true)
    fails("[tostring] showing an array waits for the device", function() return tostring(x) end)
    fails("[power] an integer power whose exponents are an array of signed integers waits for the device",
      function() return x ^ x end)
    assert.are.same({ 1, 4 }, (x ^ 2):table())
    assert.are.same({ 1, 4 }, (x:astype "float32" ^ x):table())
  end)

  it("refuses to compare two arrays as objects", function()
    local x, y = gpu.ones(3), gpu.ones(3)
    assert.is_false(x == y)
    gpu.strict(true)
    fails("[compare] expected x:eq(y), which gives an array, or x:equal(y), which gives a boolean; x == y tells whether both are the "
      .. "same object, which gpu.strict(true) refuses", function() return x == y end)
    assert.is_true(x == x)
    assert.is_true(x:equal(y))
  end)

  it("says so at the script's line", function()
    local x = gpu.ones(3)
    gpu.strict(true)
    local line = debug.getinfo(1, "l").currentline + 1
    local message = fails("[index]", function() local _ = x[1] end)
    assert.is_truthy(message:find("strict_spec.lua:" .. line, 1, true), message)
  end)

  it("leaves views, writes and what asks for a wait as they are", function()
    gpu.strict(true)
    local x = gpu.arange(6):reshape(2, 3)
    x[1] = 7
    x[2][1] = x(1, 1)
    assert.are.same({ { 7, 7, 7 }, { 7, 4, 5 } }, x:table())
    assert.are.equal(4, x(2, 2):item())
    assert.are.equal(5, x:host()[5])
    assert.are.equal(37, x:sum():item())
    assert.are.equal(4, x[x:eq(7)].size)
    gpu.sync()
  end)
end)

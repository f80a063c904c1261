-- Arrays of two devices: copies between them, their order, and what is refused.
local gpu = require "gpu"
local support = require "support"

-- The current device beside each other one that computes here: the CPU device may lack its compiler.
local here = gpu.device().name
local others = {}
for _, device in ipairs(gpu.devices()) do
  local computes = pcall(function() return (gpu.zeros(3, { device = device.name }) + 1):table() end)
  if device.name ~= here and computes then others[#others + 1] = device.name end
end

describe("gpu.can_access", function()
  it("is true for a device and itself", function()
    assert.is_true(gpu.can_access(here, here))
    assert.is_true(gpu.can_access(gpu.device(), here))
  end)

  it("is false between a GPU and the CPU device, and symmetric between GPUs", function()
    for _, other in ipairs(others) do
      assert.are.equal(gpu.can_access(here, other), gpu.can_access(other, here))
      if (here == "cpu") ~= (other == "cpu") then assert.is_false(gpu.can_access(here, other)) end
    end
  end)

  it("refuses what is no device", function()
    support.fails("[can_access] expected a device or its name", function() return gpu.can_access(here) end)
    support.fails("[can_access] expected a device or its name", function() return gpu.can_access(1, here) end)
    support.fails("tpu", function() return gpu.can_access("tpu", here) end)
  end)
end)

for _, other in ipairs(others) do
  describe("arrays of " .. here .. " and " .. other .. ":", function()
    it("every dtype and layout keeps its values", function()
      for _, dtype in ipairs { "bool", "int8", "uint16", "float16", "float32", "int64", "float64", "complex128" } do
        local x = gpu.arange(60):reshape(3, 4, 5):astype(dtype)
        for _, view in ipairs { x, x[2], x["::2"], x:transpose(), x + x, gpu.zeros({ 0, 3 }, dtype) } do
          local moved = view:to(other)
          assert.are.equal(other, moved.device)
          assert.are.equal(here, view.device)
          assert.are.same(view:table(), moved:table())
          assert.are.same(view:table(), moved:to(here):table())
        end
      end
    end)

    it("copy_ writes into an array of the other device, also with another dtype or layout", function()
      local x = gpu.arange(12):reshape(3, 4)
      local y = gpu.zeros({ 3, 4 }, { device = other })
      y:copy_(x)
      assert.are.same(x:table(), y:table())
      local z = gpu.zeros({ 4, 3 }, { dtype = "float64", device = other }):transpose()
      z:copy_(x * 2)
      assert.are.same((x * 2):table(), z:table())
    end)

    it("a copy takes the values of its line, whatever both devices do next", function()
      local x = gpu.zeros(2 ^ 20)
      local copies = {}
      for step = 1, 20 do
        x:add_(1)
        copies[step] = x:to(other)
        if step % 3 == 0 then copies[step]:mul_(2) end
      end
      for step, copy in ipairs(copies) do
        local wanted = step % 3 == 0 and 2 * step or step
        assert.are.same({ wanted, wanted }, { copy:min():item(), copy:max():item() })
      end
    end)

    it("streams other than the first keep that order", function()
      local a = gpu.stream()
      local x = gpu.with(a, function()
        local x = gpu.zeros(2 ^ 20)
        for _ = 1, 50 do x:add_(1) end
        return x
      end)
      local copy = x:to(other)
      gpu.with(a, function() x:fill_(0) end)
      assert.are.same({ 50, 50 }, { copy:min():item(), copy:max():item() })
    end)

    it("an index out of range is named when its values were copied", function()
      local x = gpu.arange(10)
      local index = gpu.array({ 1, 11 }, "int32")
      assert.has_error(function() return x:take(index):to(other):table() end)
    end)

    it("a graph of one is not begun within a function that is recorded for the other", function()
      local function inner() return gpu.ones(4) * 2 end
      local fused = gpu.fuse(function(x)
        gpu.device(other)
        local ok, message = pcall(gpu.graph, inner)
        gpu.device(here)
        if not ok then error(message, 0) end
        return x + 1
      end)
      support.fails("[graph] expected a call outside of a function that gpu.graph or gpu.fuse records", fused, gpu.ones(4))
    end)

    it("are not mixed in one expression", function()
      assert.has_error(function() return gpu.ones(3) + gpu.ones(3, { device = other }) end)
    end)
  end)
end

describe("a function that is recorded on one device", function()
  it("launches no graph and enters no stream of another, which its recording would leave out", function()
    if #others == 0 then return pending "there is one device" end
    for _, other in ipairs(others) do
      local graph, stream
      gpu.device(other)
      graph = gpu.graph(function() return gpu.ones(3) + 1 end)
      stream = gpu.stream()
      gpu.device(here)
      for _, recorded in ipairs {gpu.fuse, function(fn) return function(x) return gpu.graph(fn, x) end end} do
        local launches = recorded(function(x) graph:launch() return x + 1 end)
        local enters = recorded(function(x) gpu.with(stream, function() end) return x + 1 end)
        support.fails("[launch] expected a call outside of a function that", launches, gpu.ones(3))
        support.fails("[with] expected a call outside of a function that", enters, gpu.ones(3))
      end
    end
  end)
end)

-- gpu.devices, gpu.device, gpu.sync, gpu.debug, gpu.version.
local gpu = require "gpu"
local support = require "support"

describe("devices", function()
  it("are listed by name and kind", function()
    local current = gpu.device()
    local found = false
    for _, device in ipairs(gpu.devices()) do
      assert.are.equal(device.kind, device.name:match "^%a+")
      if device.name == current.name then
        found = true
        assert.are.equal(current.architecture, device.architecture)
        assert.are.equal(current.total_memory, device.total_memory)
      end
    end
    assert.is_true(found)
  end)

  it("have properties", function()
    local device = gpu.device()
    assert.are.equal(device.name, tostring(device))
    assert.are.equal("string", type(device.description))
    assert.is_true(device.total_memory > 0)
    assert.is_true(device.multiprocessors > 0)
    assert.are.equal(32, device.warp_size)
    assert.is_true(device.max_threads_per_block >= 512)
    assert.is_true(device.max_shared_bytes >= 16384)
    support.fails("[device] expected one of name, kind, description", function() return device.colour end)
  end)

  it("compare by what they are", function()
    local device = gpu.device()
    assert.is_true(device == gpu.device(device.name))
    assert.is_true(device == gpu.device(device))
    assert.are.equal(device.name, gpu.zeros(1).device)
  end)

  it("that are absent give nil and a message", function()
    local before = gpu.device()
    local device, message = gpu.device "cpu:99"
    assert.is_nil(device)
    assert.is_truthy(message:find('got "cpu:99"', 1, true))
    assert.is_true(before == gpu.device())
    support.fails("[device] expected a device or its name, such as \"cpu\" or \"cuda:0\", got a table", gpu.device, {})
  end)
end)

describe("gpu", function()
  it("has a version", function() assert.is_truthy(gpu.version:match "^%d+%.%d+%.%d+$") end)

  it("waits for all work", function() assert.are.equal(0, select("#", gpu.sync())) end)

  it("keeps its debug mode", function()
    assert.is_false(gpu.debug())
    assert.is_true(gpu.debug(true))
    gpu.zeros(3)[1] = 1
    assert.is_true(gpu.debug())
    assert.is_false(gpu.debug(false))
    support.fails("[debug] expected true or false, got 1", gpu.debug, 1)
  end)
end)

describe("an option that there is none of", function()
  it("is an error that names the ones there are", function()
    local fails = support.fails
    fails('[image.save] expected the options colormap, min and max, got "colourmap"', gpu.image.save, "x.png",
      gpu.zeros(2, 2, "uint8"), { colourmap = "gray" })
    fails('[copy_from] expected the option async, got "asynch"', function()
      gpu.zeros(1):copy_from({ 1 }, { asynch = true })
    end)
    fails('[load_module] expected the option device, got "dev"', gpu.load_module, "x", { dev = 1 })
    fails('[random.generator] expected the options seed, dimensions, offset and device, got "sed"', gpu.random.generator, "xorwow", { sed = 1 })
    fails("[arange] expected integers for int32, got 0 in steps of 0.25", gpu.arange, 0, 1, 0.25, "int32")
    fails('[array] expected a number, a boolean or a complex number, got "x"', gpu.array, "x")
  end)
end)

-- Memory that others own: gpu.view, x:dlpack, gpu.from_dlpack.
local gpu = require "gpu"
local ffi = require "ffi"
local support = require "support"

local function fails(message, fn, ...)
  local ok, why = pcall(fn, ...)
  assert.is_false(ok)
  assert.is_truthy(tostring(why):find(message, 1, true), why)
end

-- A staged build on another machine has no compiler of the cpu device.
local cpu_compiles = pcall(function() return (gpu.ones(1, { device = "cpu" }) + 1):item() end)

-- A case that computes on the cpu device.
local function computes(name, case)
  it(name, function()
    if not cpu_compiles then return pending "the cpu device has no compiler here" end
    case()
  end)
end

describe("gpu.view", function()
  computes("is the memory of an FFI array, which it keeps", function()
    local t = ffi.new("double[6]", {1, 2, 3, 4, 5, 6})
    local x = gpu.view(t, {2, 3}, "float64", {device = "cpu"})
    assert.same({{1, 2, 3}, {4, 5, 6}}, x:table())
    x:copy_(x * 10)
    assert.equal(60, t[5])
    t[0] = -1
    assert.equal(-1, x[{1, 1}]:item())
    t = nil
    collectgarbage()
    collectgarbage()
    assert.equal(60, x[{2, 3}]:item())
  end)

  it("takes strides in bytes, a number as shape and an address as a number", function()
    local t = ffi.new("float[8]", {0, 1, 2, 3, 4, 5, 6, 7})
    local x = gpu.view(t + 7, 4, "float32", {device = "cpu", strides = {-8}, owner = t})
    assert.same({7, 5, 3, 1}, x:table())
    local whole = gpu.view(t, 8, "float32", {device = "cpu"})
    local same = gpu.view(whole.pointer, {8}, "float32", {device = "cpu"})
    assert.same(whole:table(), same:table())
  end)

  it("is an array over another array's elements on every device", function()
    local x = gpu.arange(12)
    local y = gpu.view(x.pointer, {3, 4}, x.dtype, {owner = x})
    assert.same({{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, y:table())
    assert.equal(x.device, y.device)
  end)

  it("keeps its owner until it goes", function()
    local gone = false
    local owner = newproxy(true)
    getmetatable(owner).__gc = function() gone = true end
    local t = ffi.new("float[4]")
    local x = gpu.view(t, 4, "float32", {device = "cpu", owner = owner})
    owner = nil
    collectgarbage()
    collectgarbage()
    assert.is_false(gone)
    x = nil
    for _ = 1, 4 do collectgarbage() end
    assert.is_true(gone)
  end)

  computes("gives what waits to read the memory its elements before the memory is lent again", function()
    local t = ffi.new("float[4]", {1, 2, 3, 4})
    local x = gpu.view(t, 4, "float32", {device = "cpu"})
    local y = x + 1
    gpu.view(t, 4, "float32", {device = "cpu"}):fill_(9)
    assert.same({2, 3, 4, 5}, y:table())
  end)

  computes("refuses writes to memory that is lent for reading", function()
    local t = ffi.new("float[4]", {1, 2, 3, 4})
    local x = gpu.view(t, 4, "float32", {device = "cpu", read_only = true})
    assert.equal(10, x:sum():item())
    fails("lends for reading only", x.fill_, x, 0)
    fails("lends for reading only", function() x[1] = 0 end)
    assert.equal(1, t[0])
  end)

  it("says what is wrong", function()
    local t = ffi.new("float[4]")
    fails("[view] expected an address: a number, or an FFI pointer or array, got nil", gpu.view, nil, 4, "float32")
    fails("[view] expected the name of a dtype, got nothing", gpu.view, t, 4)
    fails("expected strides in multiples of 4 bytes", gpu.view, t, 2, "float32", {strides = {6}, device = "cpu"})
    fails("expected a stride for each of 1 axes, got 2", gpu.view, t, 2, "float32", {strides = {4, 4}, device = "cpu"})
    fails("multiple of 8", gpu.view, ffi.cast("char *", t) + 4, 1, "float64", {device = "cpu"})
    fails("expected the options owner, device, strides and read_only", gpu.view, t, 2, "float32", {stride = {4}})
  end)

  computes("refuses addresses without memory, at which the host's own reads would end the process", function()
    local output, status = support.run([[
      local gpu = require "gpu"
      local ffi = require "ffi"
      ffi.cdef "void* mmap(void*, size_t, int, int, int, long); int munmap(void*, size_t); int mprotect(void*, size_t, int);"
      local page, private_anonymous = 65536, 0x22
      local function refused(address, count)
        local ok, message = pcall(gpu.view, address, {count}, "float64", {device = "cpu"})
        assert(not ok and message:find("[view] expected memory that cpu can reach, got an address where this process has not", 1, true), message)
      end
      refused(2 ^ 44, 10)
      refused(4096, 10)
      refused(ffi.cast("void*", 0x4000000000000000ULL), 1)
      local p = ffi.cast("char*", ffi.C.mmap(nil, 3 * page, 3, private_anonymous, -1, 0))
      gpu.view(p, {3 * page / 8}, "float64", {device = "cpu"})
      ffi.C.munmap(p + page, page)
      refused(p, 3 * page / 8)
      refused(p, page / 8 + 1)
      assert(gpu.view(p, {page / 8}, "float64", {device = "cpu"}):sum():item() == 0)
      ffi.C.mprotect(p, page, 0)
      refused(p, 1)
      ffi.C.mprotect(p, page, 3)
      local x = gpu.view(p, {page / 8}, "float64", {device = "cpu"})
      ffi.C.mprotect(p, page, 1)
      for _, write in ipairs {function() x[1] = 5 end, function() x:fill_(3) end, function() x:copy_(gpu.ones(page / 8, {dtype = "float64", device = "cpu"})) end} do
        local ok, message = pcall(write)
        if ok then ok, message = pcall(gpu.sync) end
        assert(not ok and message:find("memory that is not there at address", 1, true), message)
      end
      assert(x:sum():item() == 0 and x[1] == 0)
      ffi.C.mprotect(p, page, 0)
      for _, read in ipairs {function() return x[1] end, function() return tostring(x) end, function() return x:table() end, function() return x:copy():eval() end} do
        local ok, message = pcall(read)
        assert(not ok and message:find("memory that is not there at address", 1, true), message)
      end
      print "alive"]], "GPULUA_DEVICE=cpu", "addresses.lua")
    assert(status == 0 and output:find "alive\n$", output)
  end)
end)

describe("DLPack", function()
  it("passes every dtype, with strides, and shares the memory", function()
    for _, dtype in ipairs {
      "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64",
      "complex64", "complex128",
    } do
      for _, legacy in ipairs {false, true} do
        local x = gpu.ones({2, 3}, dtype).T
        local y = gpu.from_dlpack(x:dlpack {legacy = legacy})
        assert.equal(dtype, y.dtype)
        assert.same({3, 2}, {y.shape[1], y.shape[2]})
        y:fill_(0)
        assert.is_true((x:eq(0)):all():item())
      end
    end
  end)

  it("gives a capsule once", function()
    local capsule = gpu.zeros(3):dlpack()
    assert.is_truthy(tostring(capsule):find "versioned")
    assert.equal("number", type(capsule:pointer()))
    gpu.from_dlpack(capsule)
    fails("whose tensor was taken", gpu.from_dlpack, capsule)
    fails("whose tensor was taken", capsule.pointer, capsule)
    local taken = gpu.ones(3):dlpack()
    local x = gpu.from_dlpack(taken:take())
    assert.same({1, 1, 1}, x:table())
    fails("expected a capsule of x:dlpack()", gpu.from_dlpack, nil)
    fails("expected a capsule of x:dlpack()", gpu.from_dlpack, {})
  end)

  it("tells the two structs apart, and leaves the other one as it is", function()
    local legacy, versioned = gpu.ones(3):dlpack {legacy = true}, gpu.ones(3):dlpack()
    fails("this looks like a DLManagedTensor, which", gpu.from_dlpack, legacy:pointer())
    fails("got what looks like a DLManagedTensorVersioned of version 1", gpu.from_dlpack, versioned:pointer(), {legacy = true})
    assert.equal(3, gpu.from_dlpack(legacy):sum():item())
    assert.equal(3, gpu.from_dlpack(versioned):sum():item())
  end)

  it("leaves nothing when capsules are dropped", function()
    collectgarbage()
    collectgarbage()
    local before = gpu.memory().used
    for _ = 1, 50 do gpu.zeros(1000):dlpack() end
    for _ = 1, 3 do collectgarbage() end
    gpu.sync()
    assert.is_true(gpu.memory().used <= before)
  end)
end)

-- x:copy_from, x:copy_to, gpu.pinned.
local gpu = require "gpu"
local ffi = require "ffi"
local support = require "support"

describe("gpu.pinned", function()
  it("is an FFI array", function()
    local v = gpu.pinned(10, "float64")
    assert.are.equal(80, ffi.sizeof(v))
    assert.are.equal(0, v[9])
    v[3] = 1.5
    assert.are.equal(1.5, v[3])
    assert.are.equal(4, ffi.sizeof(gpu.pinned(1)))
    assert.are.equal(8, ffi.sizeof(gpu.pinned(1, "complex64")))
  end)

  it("says what it takes", function()
    support.fails("[pinned] expected a number of elements, got nothing", gpu.pinned)
    support.fails("[pinned] expected at least one element, got 0", gpu.pinned, 0)
    support.fails("[pinned] expected a dtype that the FFI has, and less than 2 GiB, got 3 of float16", gpu.pinned, 3, "float16")
    support.fails("less than 2 GiB", gpu.pinned, 2 ^ 33)
  end)

  it("is kept by the FFI array alone, and no longer", function()
    local v = gpu.pinned(1000, "int32")
    for i = 0, 999 do v[i] = i end
    support.used()
    for i = 0, 999 do assert(v[i] == i) end
  end)
end)

describe("copy_from and copy_to", function()
  for _, kind in ipairs { "pinned", "ffi" } do
    local function host(n, dtype, ctype)
      return kind == "pinned" and gpu.pinned(n, dtype) or ffi.new(ctype .. "[?]", n)
    end

    for _, async in ipairs { false, true } do
      it("round trip through " .. kind .. " memory, " .. (async and "async" or "waiting"), function()
        local n = 100000
        local a, b = host(n, "float32", "float"), host(n, "float32", "float")
        for i = 0, n - 1 do a[i] = i end
        local s = gpu.stream()
        local x = gpu.empty(n)
        gpu.with(s, function()
          assert.are.equal(x, x:copy_from(a, { async = async }))
          x:copy_to(b, { async = async })
        end)
        if async then s:sync() end
        for i = 0, n - 1 do assert(b[i] == i) end
      end)
    end
  end

  it("let pinned memory be reused when they return without async", function()
    local v = gpu.pinned(1000000)
    local x = gpu.empty(1000000)
    for i = 1, 5 do
      v[999999] = i
      x:copy_from(v)
      v[999999] = -1
      assert.are.equal(i, x({ -1, -1 }):item())
      v[999999] = i + 0.5
      local y = gpu.array(v)
      v[999999] = -2
      assert.are.equal(i + 0.5, y({ -1, -1 }):item())
      v[999999] = i + 0.25
      y({ 1, 999990 }):copy_from(ffi.cast("float*", v) + 10)
      v[999999] = -3
      assert.are.equal(i + 0.25, y({ 999990, 999990 }):item())
    end
  end)

  it("keep pinned memory that is dropped while a copy is under way", function()
    local x = gpu.empty(1000000)
    do
      local v = gpu.pinned(1000000)
      v[999999] = 9
      x:copy_from(v, { async = true })
    end
    support.used()
    assert.are.equal(9, x({ -1, -1 }):item())
  end)

  it("convert, and fill views", function()
    local x = gpu.zeros(2, 3)
    x.T:copy_from(ffi.new("int32_t[6]", 1, 2, 3, 4, 5, 6))
    assert.are.same({ { 1, 3, 5 }, { 2, 4, 6 } }, x:table())
    local out = ffi.new "double[6]"
    x:copy_to(out)
    assert.are.same({ 1, 3, 5, 2, 4, 6 }, { out[0], out[1], out[2], out[3], out[4], out[5] })
    x:copy_from { { 1, 1, 1 }, { 2, 2, 2 } }
    assert.are.same({ { 1, 1, 1 }, { 2, 2, 2 } }, x:table())
  end)

  it("take pointers and rows of FFI arrays", function()
    local rows = ffi.new("float[2][3]", { { 1, 2, 3 }, { 4, 5, 6 } })
    assert.are.same({ 4, 5, 6 }, gpu.zeros(3):copy_from(rows[1]):table())
    assert.are.same({ 2, 3, 4 }, gpu.zeros(3):copy_from(ffi.cast("const float*", rows) + 1):table())
    assert.are.same({ 4, 5, 6 }, gpu.array(rows[1]):table())
  end)

  it("check what they are given", function()
    local x = gpu.zeros(3)
    support.fails("[copy_from] expected as many elements as float32[3] has, got float [4]", x.copy_from, x, ffi.new "float[4]")
    support.fails("[copy_to] expected an FFI array or pointer, got a table", x.copy_to, x, {})
    support.fails("[copy_from] expected an FFI array or pointer, got 3", x.copy_from, x, 3)
    support.fails("[copy_from] expected a table of shape (3,), got one of shape (2,)", x.copy_from, x, { 1, 2 })
    support.fails("[copy_from] expected a table of options", x.copy_from, x, ffi.new "float[3]", true)
  end)
end)

-- LuaJIT keeps tables, texts and so on in the bits of NaNs, and takes the bits that the FFI reads as they are.
describe("a NaN with other bits than the usual ones", function()
  local forged = 0xFFFA000000000000ULL + 0x414141414140ULL -- a table at an address of our choice
  local kinds = {
    { "float64", "double", "uint64_t", forged, 0x7FF8000000000000ULL }, { "complex128", "complex", "uint64_t", forged, 0x7FF8000000000000ULL },
    { "float32", "float", "uint32_t", 0xFFD54141, 0x7FC00000 }, { "complex64", "complex float", "uint32_t", 0xFFD54141, 0x7FC00000 },
  }
  for _, kind in ipairs(kinds) do
    local dtype, ctype, words, bits, usual = unpack(kind)
    local count = dtype:find "complex" and 2 or 1

    --- Three elements, of which the second is forged.
    local function forge()
      local memory = ffi.new(ctype .. "[3]")
      ffi.cast(words .. "*", memory)[count] = bits
      return gpu.zeros(3, dtype):copy_from(memory)
    end
    local function check(memory)
      local found = ffi.cast(words .. "*", memory)
      for i = 0, 3 * count - 1 do assert.are.equal(i == count and tonumber(usual) or 0, tonumber(found[i])) end
    end

    it("does not reach what the FFI reads, as " .. dtype, function()
      local x = forge()
      check(x:host())
      local memory, pinned, late = ffi.new(ctype .. "[3]"), gpu.pinned(3, dtype), gpu.pinned(3, dtype)
      x:copy_to(memory)
      x:copy_to(pinned)
      x:copy_to(late, { async = true })
      gpu.sync()
      check(memory)
      check(pinned)
      check(late)
      local one = x({ 2, 3 }) -- a view that begins after the start of its memory
      local last = gpu.pinned(2, dtype)
      one:copy_to(last, { async = true })
      gpu.sync()
      assert.are.equal(tonumber(usual), tonumber(ffi.cast(words .. "*", last)[0]))
      assert.are.equal(count == 2 and "cdata" or "number", type(x:table()[2]))
      local item = x[2]
      assert.are.equal("number", type(count == 2 and item.re or item))
    end)
  end

  it("does not reach a kernel's gpu.Out, nor a function that reads numbers", function()
    local k = gpu.kernel("__global__ void k(double* y) { y[0] = __longlong_as_double(0xFFFA414141414140ll); y[1] = 2; }", "k")
    local y = ffi.new "double[2]"
    k { grid = 1, block = 1 }(gpu.Out(y))
    assert.are.equal(0x7FF80000, ffi.cast("uint32_t*", y)[1])
    assert.are.equal(2, y[1])
    local memory = ffi.new "double[4]"
    ffi.cast("uint64_t*", memory)[2] = forged
    local x = gpu.zeros(4, "float64"):copy_from(memory)
    assert.is_false((pcall(gpu.cubic_spline, x, x)))
  end)
end)

-- 64-bit integers of the FFI as arguments: exact, or refused.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local id = 9007199254740993LL -- 2^53 + 1, which a double rounds
local natural = 18446744073709551615ULL

describe("integers of the FFI", function()
  it("are numbers in the place of integers", function()
    local m, v = gpu.arange(16, "float32"):reshape(4, 4), gpu.arange(8, "float32")
    for name, pair in pairs {
      eye = { gpu.eye(3, 4LL, 1LL), gpu.eye(3, 4, 1) }, tril = { m:tril(1LL), m:tril(1) }, roll = { m:roll(1LL, 2LL), m:roll(1, 2) },
      diag = { m:diag(1LL), m:diag(1) }, tile = { m:tile(2LL), m:tile(2) }, diff = { v:diff(2LL), v:diff(2) },
      linspace = { gpu.linspace(0, 1, 5LL), gpu.linspace(0, 1, 5) }, delete = { v:delete(2LL), v:delete(2) },
      insert = { v:insert(2LL, 5), v:insert(2, 5) }, pad = { v:pad(2LL), v:pad(2) }, rot90 = { m:rot90(1LL), m:rot90(1) },
      repeats = { v:repeat_interleave(2LL), v:repeat_interleave(2) }, vander = { v:vander(3ULL), v:vander(3) },
      fftfreq = { gpu.fft.fftfreq(8LL), gpu.fft.fftfreq(8) }, quantile = { v:quantile(1LL), v:quantile(1) },
      power = { gpu.linalg.matrix_power(m, 2LL), gpu.linalg.matrix_power(m, 2) }, gradient = { v:gradient(2LL), v:gradient(2) },
      tensordot = { m:tensordot(m, 1LL), m:tensordot(m, 1) }, std = { v:std({ ddof = 1LL }), v:std({ ddof = 1 }) },
      bincount = { gpu.bincount(gpu.array({ 1 }, "int32"), { minlength = 3LL }), gpu.array({ 0, 1, 0 }, "int64") },
      interp = { gpu.interp(1LL, gpu.array { 0, 2 }, gpu.array { 0, 4 }), gpu.interp(1, gpu.array { 0, 2 }, gpu.array { 0, 4 }) },
      histogram = { (gpu.histogram(v, 2LL, { range = { 0LL, 8LL } })), (gpu.histogram(v, 2, { range = { 0, 8 } })) },
      windows = { v:sliding_window({ 2LL }), v:sliding_window { 2 } }, norm = { v:norm(3LL), v:norm(3) },
    } do
      support.same(pair[2], pair[1], name)
    end
    assert.are.equal(2, #v:split(2LL))
    fails("[roll] expected a shift that is an integer", v.roll, v, id)
    assert.are.equal("int64", gpu.result_type(5LL))
    assert.are.equal("float32", gpu.result_type(5))
  end)

  it("stay exact as values", function()
    local x = gpu.array({ 1LL, id }, "int64")
    assert.are.same({ false, true }, x:isin(id):table())
    assert.are.same({ false, false }, x:isin(id - 1LL):table())
    assert.are.same({ false, false }, x:isin(2 ^ 53):table())
    assert.are.same({ false, true }, x:isin({ 2LL, id }):table())
    assert.are.same({ true, false }, x:isin({ 1, 2 }):table())
    assert.are.equal(id, gpu.select({ x:eq(1) }, { x }, id)[2])
    assert.are.equal(id, gpu.piecewise(x, { x:eq(1) }, { id })[1])
    local t = gpu.table { id = { id, 2LL }, n = { 1, 2.5 } }
    assert.are.equal("int64", t.id.dtype)
    assert.are.equal("float64", t.n.dtype)
    assert.are.equal(id, t.id[1])
    assert.are.equal(1, t:where("id", id).rows)
    t.b = id
    assert.are.equal(id, t.b[2])
  end)

  it("are exact in tables and ranges", function()
    assert.are.equal(id, gpu.array({ id, 2 })[1])
    assert.are.equal("int64", gpu.array({ 20230101LL, 1 }).dtype)
    assert.are.equal(18446744073709551615ULL, gpu.array({ 1LL, 18446744073709551615ULL })[2])
    fails("does not fit uint64", gpu.array, { -1LL, 18446744073709551615ULL })
    fails("expected integers alone beside those of the FFI, which are exact, got a fraction", gpu.array, { id, 2.5 })
    fails("got a complex number", gpu.array, { id, gpu.complex(1, 2) })
    assert.are.equal("float64", gpu.array({ id, 2.5 }, "float64").dtype)
    local function same(expected, got)
      local values = got:table()
      assert.are.equal(#expected, #values)
      for i, value in ipairs(expected) do assert.is_true(value == values[i], i) end
    end
    same({ id, id + 1, id + 2 }, gpu.arange(id, id + 3))
    same({ id, id + 1, id + 2 }, gpu.range(id, id + 2))
    same({ id + 2, id }, gpu.arange(id + 2, id - 1, -2))
    same({ id + 2, id }, gpu.range(id + 2, id, -2LL))
    same({ 0, 1, 2 }, gpu.arange(3LL))
    same({}, gpu.arange(3LL, 1LL))
    same({ 18446744073709551614ULL, 18446744073709551615ULL }, gpu.range(18446744073709551614ULL, 18446744073709551615ULL))
    same({ -9223372036854775807LL - 1 }, gpu.arange(-9223372036854775807LL - 1, -9223372036854775807LL))
    assert.are.equal("float32", gpu.arange(3LL, "float32").dtype)
    assert.are.equal("float32", gpu.arange(0LL, 1, 0.5).dtype)
    fails("does not fit int8", gpu.arange, 1000LL, "int8")
    fails("a step other than 0", gpu.arange, 0LL, 1, 0)
  end)

  it("are ends of random integers, up to all that a dtype has", function()
    local r = gpu.random
    local low, high = -9223372036854775807LL - 1, 9223372036854775807LL
    for _, x in ipairs { r.integers(1000, low, high, { endpoint = true }), r.integers(1000, -2 ^ 63, 2 ^ 63) } do
      assert.is_true(x:lt(-2 ^ 62):any():item() and x:gt(2 ^ 62):any():item())
    end
    local natural = r.integers(1000, 0, 2 ^ 64, "uint64")
    assert.is_true(natural:gt(2 ^ 63):any():item() and natural:lt(2 ^ 62):any():item())
    assert.are.same({ 1, 1, 1 }, r.integers(3, 1LL, 2LL):table())
    assert.are.equal(id, r.integers(1, id, id + 1)[1])
    local ends = r.integers(1, 2 ^ 63, 2 ^ 63, { dtype = "uint64", endpoint = true })
    assert.is_true(ends[1] == 9223372036854775808ULL)
    fails("does not fit int64", r.integers, 3, 0, 2 ^ 63 + 2048)
    fails("expected an integer for the end of the range, got 1.5", r.integers, 3, 0, 1.5)
    fails("expected a range of at least one integer", r.integers, 3, id, id)
  end)

  it("are captured by functions of elements", function()
    local x = gpu.array({ 1LL, id }, "int64")
    local added = gpu.vectorize(function(v) return v + id end)
    assert.is_true(added(x)[1] == id + 1 and added(x)[2] == 2 * id)
    id = 9007199254740995LL
    assert.is_true(added(x)[1] == id + 1)
    id = 2
    assert.is_true(added(x)[1] == 3)
    id = 9007199254740993LL
    fails("expected 9007199254740993 beside an element", gpu.vectorize(function(v) return v + (id + 1) end), x)
    fails("an integer of 2^63 or more", gpu.vectorize(function(v) return v + natural end), x)
  end)
end)

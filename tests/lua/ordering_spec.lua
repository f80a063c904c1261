-- Distinct elements, orders by several keys, sets. Golden data: tests/golden/arrays/ordering.py.
local gpu = require "gpu"
local support = require "support"
local golden = require "golden_cases"
local fails = support.fails

describe("distinct elements, orders and sets", function()
  it("agree with NumPy", function() golden.run "ordering" end)

  it("put a large array together again", function()
    local n = 300007
    local x = gpu.arange(n, "int64") * 7919 % 4099
    local values, index, inverse, counts =
      x:unique({ return_index = true, return_inverse = true, return_counts = true })
    assert.is_true(values:equal(gpu.arange(4099, "int64")))
    assert.is_true(values:take(inverse):equal(x))
    assert.is_true(x:take(index):equal(values))
    assert.is_true(counts:equal(x:bincount()))
    assert.is_true((x(":", gpu.newaxis) % gpu.array({ 4099, 1 }, "int64")):unique({ axis = 1 })(":", 1):equal(values))
  end)

  it("order by the last key, and leave equal elements as they stood", function()
    local n = 20011
    local first, second = gpu.arange(n, "int32") * 31 % 10, gpu.arange(n, "int32") * 17 % 7
    local order = gpu.lexsort { first, second }
    local rank = (second * 10 + first):take(order):astype "int64" * n + order
    assert.is_true(rank({ 2, n }):gt(rank({ 1, n - 1 })):all():item())
  end)

  it("take what is not stored yet, and single elements", function()
    local x = gpu.array { 3, 1, 3 }
    assert.are.same({ 2, 6 }, (x * 2):unique():table())
    assert.are.same({ 3, 2, 1 }, gpu.lexsort { -gpu.arange(3), gpu.zeros(3) }:table())
    local value, index = gpu.array(5):unique({ return_index = true })
    assert.are.same({ { 5 }, { 1 } }, { value:table(), index:table() })
    assert.is_true(gpu.array(5):isin({ 4, 5 }):item())
    local limits = gpu.array({ 2 ^ 63 - 1024, 2 ^ 63, 2 ^ 63 - 1024 }, "uint64") + gpu.array({ 1, 0, 0 }, "uint64")
    assert.are.equal(3, limits:unique().size)
    assert.are.equal(0, limits({ 1, 1 }):intersect1d(limits({ 2, 3 })).size)
  end)

  it("keep NaN apart where it is asked for, and order complex numbers", function()
    local nan, x = 0 / 0, gpu.array { 3, 0 / 0, 1, 0 / 0, 3 }
    local values, index, inverse, counts = x:unique({ equal_nan = false, return_index = true, return_inverse = true, return_counts = true })
    assert.are.equal(4, values.size)
    assert.are.same({ { 3, 1, 2, 4 }, { 2, 3, 1, 4, 2 }, { 1, 2, 1, 1 } }, { index:table(), inverse:table(), counts:table() })
    assert.are.equal(3, x:unique({ equal_nan = true }).size)
    local complex = gpu.complex
    local z = gpu.array { complex(1, 2), complex(0, 5), complex(1, -2), complex(1, 2), complex(0, 5), complex(1, nan), complex(1, nan) }
    values, index, inverse, counts = z:unique({ return_index = true, return_inverse = true, return_counts = true })
    assert.are.equal("complex64", values.dtype)
    assert.are.same({ 0, 1, 1, 1 }, values:real():table())
    assert.are.same({ 5, -2, 2 }, values:imag()({ 1, 3 }):table())
    assert.are.same({ { 2, 3, 1, 6 }, { 3, 1, 2, 3, 1, 4, 4 }, { 2, 1, 2, 2 } }, { index:table(), inverse:table(), counts:table() })
    assert.are.equal(5, z:unique({ equal_nan = false }).size)
    local rows = gpu.stack({ z({ 1, 3 }), z({ 2, 4 }), z({ 1, 3 }) }):unique({ axis = 1 })
    assert.are.same({ { 0, 1, 1 }, { 1, 0, 1 } }, rows:real():table())
    assert.are.same({ { 5, -2, 2 }, { 2, 5, -2 } }, rows:imag():table())
    assert.are.same({ true, false }, { gpu.isin(3, x):item(), gpu.isin(2, gpu.arange(2)):item() })
    assert.is_true(gpu.isin(2, gpu.array({ 1 }), { invert = true }):item())
  end)

  it("name what does not fit", function()
    local x = gpu.ones(2, 3)
    fails("[unique] expected return_counts = true or false, got 1", function() return x:unique({ return_counts = 1 }) end)
    fails("[unique] expected the options axis, equal_nan, return_index", function() return x:unique({ sorted = true }) end)
    fails("[unique] expected equal_nan = true or false, got 1", function() return x:unique({ equal_nan = 1 }) end)
    fails("[unique] axis 3 is out of range for an array of 2 dimensions", function() return x:unique({ axis = 3 }) end)
    fails("[unique] expected elements in the slices along the axis, got an array float32[2x0]",
      function() return gpu.ones(2, 0):unique({ axis = 1 }) end)
    fails("[lexsort] expected a table of at least one array, got a table", function() return gpu.lexsort {} end)
    fails("[lexsort] expected a table of at least one array, got 3", function() return gpu.lexsort(3) end)
    fails("[lexsort] expected a table of arrays, or an array of at least two dimensions, got an array float32[3]",
      function() return gpu.ones(3):lexsort() end)
    fails("[lexsort] expected keys of one shape, got (2,3) and (3,)", function() return gpu.lexsort { x, gpu.ones(3) } end)
    fails("[lexsort] axis 3 is out of range", function() return gpu.lexsort({ x, x }, 3) end)
    fails("[isin] expected an array, a table or a number, got \"a\"", function() return x:isin "a" end)
    fails("[isin] expected the option invert", function() return x:isin(1, { assume_unique = true }) end)
    fails("[intersect1d] expected an array, got nil", function() return x:intersect1d() end)
    local message = fails("[setdiff1d] expected real numbers", function()
      local difference = x:setdiff1d(gpu.ones(2, "complex64"))
      return difference
    end)
    assert.is_truthy(message:find("ordering_spec.lua:", 1, true), message)
  end)

  it("finds elements among few values, many, and those of a short range", function()
    local function check(x, values, dtype, other)
      local wanted, inverse = {}, {}
      for i, number in ipairs(x) do
        wanted[i] = false
        for _, value in ipairs(values) do wanted[i] = wanted[i] or value == number end
        inverse[i] = not wanted[i]
      end
      local a, b = gpu.array(x, dtype), gpu.array(values, other or dtype)
      assert.are.same(wanted, gpu.isin(a, b):table())
      assert.are.same(inverse, gpu.isin(a, b, { invert = true }):table())
      assert.are.same(wanted, gpu.isin(a:reshape(-1, 1), b:reshape(1, -1)):ravel():table())
    end
    for _, dtype in ipairs { "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64" } do
      for _, count in ipairs { 1, 31, 32, 33, 100 } do
        for _, step in ipairs { 1, dtype:find "8" and 1 or 13 } do
          local shift = dtype:find "^u" and 0 or 50
          local x = support.series(300, function(i) return i * 7 % 120 * step - shift end)
          check(x, support.series(count, function(i) return i * i % 110 * step - shift end), dtype)
        end
      end
    end
    local zeros = support.series(50, function(i) return i % 2 == 0 and 0 or -0.0 end)
    check({ 0, -0.0, 1 / 0, -1 / 0, 0 / 0, 3 }, zeros, "float64")
    check({ 0, -0.0, 1 / 0, -1 / 0, 0 / 0, 3 }, { 1 / 0, 0 / 0, -1 / 0 }, "float32")
    local special = support.series(40, function(i) return i end)
    special[3], special[7], special[9] = 0 / 0, 1 / 0, -1 / 0
    check({ 0 / 0, 1 / 0, -1 / 0, 3, 4 }, special, "float64")
    -- Other dtypes, and ranges that no table holds.
    check({ -1, 255, 0, 300, 7 }, support.series(40, function(i) return i end), "int32", "uint8")
    check({ -1, 255, 0, 3, 7 }, support.series(40, function(i) return i / 2 end), "int32", "float64")
    check({ 2 ^ 31 - 1, -2 ^ 31, 0, 5 }, support.series(40, function(i) return i % 2 == 0 and -2 ^ 31 or 2 ^ 31 - 1 end), "int32")
    local far = gpu.full({ 40 }, 1, "int64")
    far[1], far[2] = 9223372036854775807LL, -9223372036854775807LL - 1
    local at = gpu.zeros(4, "int64")
    at[1], at[2], at[3] = 9223372036854775807LL, 9223372036854775806LL, -9223372036854775807LL - 1
    assert.are.same({ true, false, true, false }, gpu.isin(at, far):table())
    local high = gpu.full({ 40 }, 18446744073709551615ULL, "uint64")
    assert.are.same({ false, true }, gpu.isin(gpu.concat { gpu.zeros(1, "uint64"), high({ 1, 1 }) }, high):table())
    assert.are.equal(0, gpu.isin(gpu.zeros(0, "int32"), gpu.arange(100)).size)
    assert.are.same({ false, false }, gpu.isin(gpu.zeros(2, "int32"), gpu.zeros(0, "int32")):table())
    assert.are.same({ true, false }, gpu.isin(gpu.array { true, false }, gpu.ones(50, "bool")):table())
  end)
end)

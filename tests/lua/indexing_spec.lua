-- Reads and writes with indices of every kind, against the results of NumPy (tests/golden/arrays/indexing.py).
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local folder = (debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or ".") .. "/../golden/arrays/"
local golden = dofile(folder .. "indexing.lua")

local alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/"

local function dims(text)
  local shape = {}
  for extent in text:gmatch "%d+" do shape[#shape + 1] = tonumber(extent) end
  return shape
end

--- "2,3": elements that are their own row-major positions; "2,3T": the same, transposed.
local function positions(text)
  local shape = dims(text)
  local size = 1
  for _, extent in ipairs(shape) do size = size * extent end
  local x = gpu.arange(size, "int32"):reshape(shape)
  return text:find "T" and x.T or x
end

local function characters(x)
  local size = x.size
  if size == 0 then return "" end
  local values = x:reshape(size):table()
  for i, value in ipairs(values) do values[i] = alphabet:sub(value + 1, value + 1) end
  return table.concat(values)
end

-- The names in the file's index expressions.
local words = {
  N = gpu.newaxis,
  I = function(values, dtype) return gpu.array(values, dtype or "int64") end,
  Z = function(shape) return gpu.zeros(dims(shape), "int64") end,
  M = function(shape, bits)
    local x = {}
    for bit in bits:gmatch "." do x[#x + 1] = bit == "1" end
    if #x == 0 then return gpu.zeros(dims(shape), "bool") end
    return gpu.array(x, "bool"):reshape(dims(shape))
  end,
  V = function(shape) return 63 - positions(shape) end,
}

local function evaluated(text) return setfenv(assert(loadstring("return " .. text)), words)() end

--- Runs `check` on each case; names the first that fails.
local function each(cases, check)
  for i, case in ipairs(cases) do
    local ok, message = pcall(check, i, unpack(case))
    if not ok then error(("case %d, shape (%s), index %s: %s"):format(i, case[1], case[2], message), 0) end
  end
end

describe("indexing", function()
  it("reads what NumPy reads", function()
    each(golden.reads, function(i, shape, index, expected_shape, expected)
      local x, key = positions(shape), evaluated("{" .. index .. "}")
      local y
      if i % 2 == 0 then y = x[key] else y = x(unpack(key)) end
      assert.are.equal(expected_shape, table.concat(y.shape, ","))
      assert.are.equal(expected, characters(y))
    end)
  end)

  it("writes what NumPy writes", function()
    each(golden.writes, function(_, shape, index, value, expected)
      local x = positions(shape)
      x[evaluated("{" .. index .. "}")] = evaluated(value)
      assert.are.equal(expected, characters(x))
    end)
  end)

  it("takes every dtype", function()
    local order = gpu.array({ 3, 1, -1, 2 }, "int16")
    for _, dtype in ipairs { "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
      "bfloat16", "float32", "float64", "complex64", "complex128" } do
      local x = gpu.array({ 1, 0, 1 }, dtype)
      assert.are.same({ 1, 1, 1, 0 }, x(order):astype("float32"):table())
      assert.are.same({ 1, 1 }, x[x:astype "bool"]:astype("float32"):table())
      x[order("1:4:3")] = { 0, 1 }
      assert.are.same({ 1, 1, 0 }, x:astype("float32"):table())
      x[x:astype("bool"):logical_not()] = 1
      assert.are.same({ 1, 1, 1 }, x:astype("float32"):table())
    end
    for _, dtype in ipairs { "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64" } do
      assert.are.same({ 7, 5 }, gpu.array({ 5, 6, 7 })[gpu.array({ 3, 1 }, dtype)]:table())
    end
  end)

  it("fuses reading at positions with what is around it", function()
    local x = gpu.arange(1000, "float32"):eval()
    local i = gpu.array({ 4, 2, -1, 500 }, "int32")
    local y = x(i) * 2 + 1
    assert.are.equal("1", gpu.explain(y):match "^%d+")
    assert.are.same({ 7, 3, 1999, 999 }, y:table())
    local shifted = gpu.take(x * 3, i * 1 + 0):sum()
    assert.are.equal("2", gpu.explain(shifted):match "^%d+")
    assert.are.equal(3 * (3 + 1 + 999 + 499), shifted:item())
    assert.are.same({ 3, 1, 999, 499 }, (x(i) + gpu.zeros(1)):table())
    assert.are.same({ { 6, 4 }, { 2, 0 }, { 1998, 1996 } }, (x(i(gpu.newaxis, { 1, 3 }).T) * 2 + gpu.array { 0, -2 }):table())
  end)

  it("keeps values that were read before a write, and writes as if the right side were copied first", function()
    local x = gpu.arange(5)
    local i = gpu.array({ 2, 3 }, "int32")
    local y = x(i) + 0
    x[i] = 9
    assert.are.same({ 1, 2 }, y:table())
    assert.are.same({ 0, 9, 9, 3, 4 }, x:table())
    x[gpu.array({ 1, 2, 3, 4, 5 }, "int32")] = x "::-1"
    assert.are.same({ 4, 3, 9, 9, 0 }, x:table())
    x[gpu.array({ 5, 4, 3, 2, 1 }, "int32")] = x(gpu.array({ 1, 2, 3, 4, 5 }, "int32")) * 2
    assert.are.same({ 0, 18, 18, 6, 8 }, x:table())
    local p = gpu.array({ 2, 3, 1 }, "int32")
    p[p] = p(p)
    assert.are.same({ 2, 3, 1 }, p:table())
    local z = gpu.arange(6):reshape(2, 3)
    z[gpu.array { true, false }] = z(2)
    assert.are.same({ { 3, 4, 5 }, { 3, 4, 5 } }, z:table())
  end)

  it("compresses arrays of many blocks, in order", function()
    for _, n in ipairs { 1, 31, 1023, 1024, 4097, 70001 } do
      local x = gpu.arange(n, "float32"):eval()
      local found = x[(x % 3):eq(0)]
      local count = math.ceil(n / 3)
      assert.are.equal(count, found.size)
      assert.are.equal(0, (found - gpu.arange(count, "float32") * 3):abs():sum():item())
      local all = gpu.ones(n, "bool")
      assert.is_true(x[all]:eq(x):all():item())
      assert.are.equal(0, x[x:lt(0)].size)
      assert.are.equal(count, (x % 3):eq(0):flatnonzero().size)
    end
    local wide = gpu.arange(30000, "int64"):reshape(100, 300)
    local strided = wide.T("::2", { 3, 90 })
    local odd = strided[(strided % 7):eq(0)]:table()
    local expected = {}
    for column = 1, 300, 2 do
      for row = 3, 90 do
        local value = (row - 1) * 300 + column - 1
        if value % 7 == 0 then expected[#expected + 1] = value end
      end
    end
    assert.are.same(expected, odd)
    for _, dtype in ipairs { "int8", "float16", "complex128" } do
      local x = (gpu.arange(5000, "int32") % 100):astype(dtype)
      assert.are.equal(2500, x[(gpu.arange(5000, "int32") % 2):eq(1)].size)
    end
  end)

  it("finds positions", function()
    local x = gpu.array({ { 0, 1, 0 }, { 2, 0, 3 } })
    local rows, cols = x:nonzero()
    assert.are.same({ { 1, 2, 2 }, { 2, 1, 3 } }, { rows:table(), cols:table() })
    assert.are.same("int64", rows.dtype)
    assert.are.same({ 2, 4, 6 }, gpu.flatnonzero(x):table())
    assert.are.same({ { 1, 2 }, { 2, 1 }, { 2, 3 } }, gpu.argwhere(x):table())
    assert.are.same({ 2, 1, 3 }, select(2, gpu.where(x)):table())
    assert.are.same({ 2, 1, 3 }, select(2, x:where()):table())
    assert.are.same({ 1, 2, 3 }, x[{ x:nonzero() }]:table())
    local none = gpu.zeros(2, 0):nonzero()
    assert.are.equal(0, none.size)
    assert.are.same({ 0, 2 }, gpu.argwhere(gpu.zeros(0, 3, "int32")).shape)
    assert.are.same({ 1, 0 }, gpu.argwhere(gpu.array(5)).shape)
    fails("[nonzero] expected an array of one dimension or more, got float32[]", gpu.nonzero, gpu.array(1))
  end)

  it("takes and puts", function()
    local x = gpu.arange(24, "int32"):reshape(2, 3, 4)
    assert.are.same({ 5, 23 }, x:take({ 6, -1 }):table())
    assert.are.same({ 2, 2, 2, 4 }, x:take({ { 1, 2 }, { 3, 3 } }, 2).shape)
    assert.are.same({ 0, 16, 12 }, x.T:take({ 1, 4, 2 }):table())
    local y = gpu.zeros(2, 3, "int32")
    y.T:put({ 2, -1 }, { 7, 8 })
    assert.are.same({ { 0, 0, 0 }, { 7, 0, 8 } }, y:table())
    assert.are.same({ { 7 }, { 4 } }, gpu.array({ { 5, 7, 1 }, { 4, 2, 3 } }, "int32"):take_along_axis(gpu.array({ { 2 }, { 1 } }, "int32"), 2):table())
    local z = gpu.zeros(2, 3, "int32")
    z:put_along_axis(gpu.array({ { 3, 1 }, { 2, 3 } }, "int64"), gpu.array { { 1, 2 }, { 3, 4 } }, 2)
    assert.are.same({ { 2, 0, 1 }, { 0, 3, 4 } }, z:table())
    assert.are.same({ 10, 2, 30 }, gpu.choose(gpu.array({ 1, 2, 1 }, "int32"), { gpu.array { 10, 20, 30 }, 2 }):table())
    assert.are.same({ { 1, 3 }, { 4, 6 } }, gpu.compress(gpu.array { true, false, true }, gpu.array { { 1, 2, 3 }, { 4, 5, 6 } }, 2):table())
    assert.are.same({ 2, 4 }, gpu.extract(gpu.array { 0, 1, 0, 5 }, gpu.range(1, 4)):table())
  end)

  it("takes to an array that is there", function()
    local x = gpu.array { { 1, 2, 3 }, { 4, 5, 6 } }
    local out = gpu.zeros(2)
    assert.are.equal(x:take({ 6, 1 }, { out = out }).pointer, out.pointer)
    assert.are.same({ 6, 1 }, out:table())
    assert.are.same({ { 3 }, { 6 } }, gpu.take(x, { 3 }, 2, { out = gpu.zeros(2, 1, "float64") }):table())
    assert.are.same({ { 4, 5, 6 } }, gpu.take(x, { 2 }, { axis = 1 }):table())
    local v = gpu.array { 1, 2, 3 }
    v:take({ 3, 1, 2 }, { out = v })
    assert.are.same({ 3, 1, 2 }, v:table())
  end)

  it("adds at positions that come several times", function()
    for _, dtype in ipairs { "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
      "float16", "bfloat16", "float32", "float64" } do
      local x = gpu.zeros(3, dtype)
      gpu.scatter_add(x, gpu.array({ 1, 3, 1, 1, -1 }, "int32"), gpu.array({ 1, 2, 3, 4, 5 }, dtype))
      assert.are.same({ 8, 0, 7 }, x:table())
    end
    local z = gpu.zeros(2, "complex64")
    gpu.scatter_add(z, gpu.array({ 2, 2 }, "int32"), gpu.array { gpu.complex(1, 2), gpu.complex(3, 4) })
    assert.are.equal(gpu.complex(4, 6), z[2])
    local rows = gpu.zeros(2, 3)
    gpu.scatter_add(rows, { gpu.array({ 1, 1, 2 }, "int32"), { 2, 3 } }, gpu.array { 1, 10 })
    assert.are.same({ { 0, 2, 20 }, { 0, 1, 10 } }, rows:table())
    gpu.scatter_add(rows, rows:gt(5), 1)
    gpu.scatter_add(rows, { 1, ":" }, 100)
    assert.are.same({ { 100, 102, 121 }, { 0, 1, 11 } }, rows:table())
    local many = gpu.zeros(4, "int32")
    gpu.scatter_add(many, gpu.arange(100000, "int32") % 4 + 1, 1)
    assert.are.same({ 25000, 25000, 25000, 25000 }, many:table())
  end)

  it("adds many values at positions from both ends, and none at those out of range", function()
    -- Also to more elements than a cache has, to a column, and of values that lie among the elements.
    for extent, dtype in pairs { [7] = "float64", [1000] = "int32", [1100001] = "float32", [700003] = "int64" } do
      local count = 70000
      local places = gpu.arange(count, "int64") * 7919 % (2 * extent + 3) - extent - 1
      local values = (gpu.arange(count, "int32") % 5 + 1):astype(dtype)
      local expected, host, numbers = {}, places:table(), values:table()
      local first
      for i, place in ipairs(host) do
        local at = place > 0 and place or place < 0 and place + extent + 1 or 0
        if at < 1 or at > extent then first = first or place else expected[at] = (expected[at] or 0) + numbers[i] end
      end
      for _, kind in ipairs { "int32", "int64" } do
        local x = gpu.zeros({ extent, 2 }, dtype)
        gpu.scatter_add(x(":", 2), places:astype(kind), values)
        local message = select(2, pcall(gpu.sync))
        -- On a GPU, any of the positions out of range may be the one that is found.
        assert.is_truthy(message:find(" is out of range for axis 1 of ", 1, true) or message:find("indices start at 1", 1, true), message)
        if gpu.device().name == "cpu" and first ~= 0 then assert.is_truthy(message:find(tostring(first), 1, true), message) end
        assert.are.equal(0, x(":", 1):abs():sum():item())
        local total, wrong = x(":", 2):astype("float64"):host(), 0
        for at = 1, extent do wrong = wrong + (total[at - 1] == (expected[at] or 0) and 0 or 1) end
        assert.are.equal(0, wrong)
      end
    end
    local x = gpu.arange(6):astype "float64"
    assert.are.same({ 0, 6, 2, 7, 4, 8 }, gpu.scatter_add(x, gpu.array { 2, 4, 6 }:astype "int64", x { 6, 4, -1 }):table())
    local later = x * 2
    gpu.scatter_add(x, gpu.array({ { 1, 1 }, { 2, 2 } }, "int32"), 0.5)
    assert.are.same({ 0, 12, 4 }, later({ 1, 3 }):table())
    assert.are.same({ 1, 7, 2 }, x({ 1, 3 }):table())
  end)

  it("adds to neighbours in one word, each of which wraps and rounds for itself", function()
    local places = gpu.arange(60000, "int32") % 3 + 2
    local function counts(dtype)
      local x = gpu.zeros(5, dtype)
      return gpu.scatter_add(x, places, gpu.ones(60000, dtype)):table()
    end
    assert.are.same({ 0, 20000 % 256, 20000 % 256, 20000 % 256, 0 }, counts "uint8")
    assert.are.same({ 0, 20000 % 256, 20000 % 256, 20000 % 256, 0 }, counts "int8")
    assert.are.same({ 0, 20000, 20000, 20000, 0 }, counts "uint16")
    assert.are.same({ 0, 2048, 2048, 2048, 0 }, counts "float16")
    assert.are.same({ 0, 256, 256, 256, 0 }, counts "bfloat16")
    assert.are.same({ false, true, true, true, false }, counts "bool")
  end)

  it("reports indices out of range where the script waits, with the line that asked", function()
    local x = gpu.arange(5)
    local function read(i) return x(gpu.array({ 1, i }, "int32")):table() end
    fails("[index] 6 in an index array is out of range for axis 1 of 5 elements; queued at ", read, 6)
    fails("[index] -6 in an index array is out of range for axis 1 of 5 elements", read, -6)
    local line = debug.getinfo(1, "l").currentline - 3
    fails("indexing_spec.lua:" .. line, read, 9)
    fails("[index] indices start at 1, got 0 in an index array for axis 1", read, 0)
    assert.are.same({ 0, 4 }, read(5))

    local m = gpu.zeros(2, 3, "int32")
    m[{ gpu.array({ 2, 1 }, "int32"), gpu.array({ 3, 4 }, "uint64") }] = 7
    fails("4 in an index array is out of range for axis 2 of 3 elements", gpu.sync)
    gpu.sync()
    assert.are.same({ { 0, 0, 0 }, { 0, 0, 7 } }, m:table())
    fails("1 in an index array is out of range for axis 1 of 0 elements",
      function() return gpu.zeros(0)(gpu.array({ 1 }, "int32")):table() end)
    fails("9223372036854775807 in an index array is out of range",
      function() return x(gpu.array({ 0xffffffffffffffffULL }, "uint64")):table() end)
  end)

  it("of a position out of range fails for good, and so does what is computed from it", function()
    local x = gpu.arange(5)
    local cause = "[index] 9 in an index array is out of range for axis 1 of 5 elements; queued at "
    local good = x:take({ 1, 2 }) -- of the same kernel
    local picked = x:take({ 1, 9 })
    gpu.eval(good, picked)
    local doubled = (picked * 2):eval()
    local sums, sorted, total = picked:cumsum(), picked:sort(), picked:sum()
    total:eval()
    local late = picked + 1
    fails(cause, gpu.sync)
    gpu.sync()
    for _ = 1, 2 do
      for _, failed in ipairs { picked, picked "1:1", doubled, sums, sorted, total, late } do
        fails(cause, failed.table, failed)
        fails(cause, tostring, failed)
      end
    end
    assert.are.same({ 0, 1 }, good:table())
    local k = gpu.kernel("__global__ void k(const long long* x, long long* y) { *y = *x; }", "k")
    local out = gpu.zeros(1, "int64")
    fails(cause, function() k { grid = 1, block = 1 }(picked, out) end)
    local unread = x:take({ 9 })
    unread:eval()
    k { grid = 1, block = 1 }(unread, out)
    fails(cause, out.table, out)
    fails(cause, out.table, out)

    -- An array that is overwritten as a whole is valid again, and a reader that cannot be computed does not block writes elsewhere.
    out:fill_(3)
    assert.are.same({ 3 }, out:table())
    local target, reader = gpu.zeros(2, "int64"), nil
    target:copy_(good)
    reader = target + picked
    target[1] = 7
    assert.are.same({ 7, 1 }, target:table())
    fails(cause, reader.table, reader)
    target[{ "1:2" }] = x:take({ 9, 1 })
    fails(cause, gpu.sync)
    fails(cause, target.table, target)
    target:copy_(good)
    assert.are.same({ 0, 1 }, target:table())
  end)

  it("is forgotten where rows of a slice are copied over the elements", function()
    local x = gpu.arange(300):reshape(3, 100):eval()
    local target = x({ 1, 2 }, { 1, 90 }):take(gpu.array({ 1, 9 }, "int32"), 1)
    target:eval()
    fails("9 in an index array is out of range", gpu.sync)
    fails("9 in an index array is out of range", target.table, target)
    target:copy_(x({ 1, 2 }, { 11, 100 }))
    assert.are.equal(10, target[1][1])
    assert.are.equal(199, target[2][90])
  end)

  it("keeps apart what several streams found", function()
    local x, side = gpu.arange(5):eval(), gpu.stream()
    local bad, good
    gpu.with(side, function() bad = x:take({ 7 }):eval() end)
    good = x:take({ 2 }):eval()
    fails("7 in an index array is out of range", gpu.sync)
    assert.are.same({ 1 }, good:table())
    fails("7 in an index array is out of range", bad.table, bad)
    for _ = 1, 200 do good = x:take(good + 1):eval() end -- more than are told apart before the script waits
    assert.are.same({ 1 }, good:table())
  end)

  it("refuses what does not fit", function()
    local x = gpu.zeros(3, 4)
    fails("[index] expected an index array of integers, got float32[2]; i:astype(\"int32\") makes one",
      function() return x(gpu.array { 1, 2 }) end)
    fails("[index] expected a mask of shape (3,4), as the array's, got (3,5)",
      function() return x[gpu.ones(3, 5, "bool")] end)
    fails("[index] expected a mask of shape (4,), that of axis 2 of the array (3,4), got (3,)",
      function() x[{ ":", gpu.ones(3, "bool") }] = 1 end)
    fails("[index] expected at most 2 indices for shape (3,4), got 3",
      function() return x(1, gpu.array({ 1 }, "int32"), 1) end)
    fails("[index] expected at most 2 indices for shape (3,4), got 3", function() return x(1, gpu.ones(3, 4, "bool")) end)
    fails("could not be broadcast together with shapes (2,) (3,)",
      function() return x(gpu.array({ 1, 2 }, "int32"), gpu.array({ 1, 2, 3 }, "int32")) end)
    fails("could not be broadcast together with shapes (3,) (2,)",
      function() x[{ gpu.array({ 1, 2 }, "int32"), 1 }] = { 1, 2, 3 } end)
    fails("could not be broadcast together with shapes (3,) (12,)",
      function() x[gpu.ones(3, 4, "bool")] = { 1, 2, 3 } end)
    fails("could not be broadcast together with shapes (3,) (2,4)", function() x[{ { 1, 2 } }] = { 1, 2, 3 } end)
    fails("[index] expected {first, last} or {first, last, step}, got a table of 4 items; x:take({1, 2, 3, 4}, 1) "
      .. "takes positions",
      function() return x({ 1, 2, 3, 4 }) end)
    local wide = gpu.broadcast_to(gpu.zeros(1, 4), { 3, 4 })
    local refused = "[index] expected an array to write to, got a broadcast view of shape (3,4)"
    fails(refused, function() wide[1] = 1 end)
    fails(refused, function() wide[gpu.array({ 1 }, "int32")] = 1 end)
    fails(refused, function() wide[wide:eq(0)] = 1 end)
    fails("[scatter_add] expected an array to write to", gpu.scatter_add, wide, gpu.array({ 1 }, "int32"), 1)
    fails("[take_along_axis] expected an index array of 2 dimensions, as shape (3,4) has, got shape (2,)",
      function() return x:take_along_axis({ 1, 2 }, 1) end)
    fails("[take] expected an array of integers, got bool[3]", function() return x:take(gpu.ones(3, "bool"), 1) end)
  end)
end)

-- Rolled arrays in expressions. shape_spec.lua compares gpu.roll with NumPy, dag_spec.lua random programs with plain Lua.
local gpu = require "gpu"
local support = require "support"
local same = support.same

--- What x:roll(shifts, axes) is, as an array in memory: by gpu.take.
local function rolled(x, shifts, axes)
  for i, axis in ipairs(axes) do
    local n = x.shape[axis]
    x = gpu.take(x, (gpu.arange(n, "int64") - shifts[i]) % n + 1, axis)
  end
  return x:eval()
end

local function launches(fn)
  local total = 0
  for _, row in ipairs(gpu.profile(fn)) do total = total + row.launches end
  return total
end

local function matrix(rows, columns, dtype) return (gpu.arange(rows * columns) % 97):reshape(rows, columns):astype(dtype or "float32"):eval() end

describe("an expression of rolled arrays", function()
  it("is one kernel, which reads them from their sources", function()
    for _, shape in ipairs { { 300, 200 }, { 1, 5000 }, { 3, 5000 }, { 700, 3 }, { 2, 1 }, { 64, 33 } } do
      local x = matrix(shape[1], shape[2], "int32")
      local n, expected = 0, 0
      for i = -1, 1 do
        for j = -1, 1 do
          n, expected = n + x:roll({ i, j }, { 1, 2 }), expected + rolled(x, { i, j }, { 1, 2 })
        end
      end
      local got
      assert.are.equal(1, launches(function() got = n:eval() end))
      same(expected, got, tostring(x.shape))
    end
  end)

  it("goes on at the front wherever the seams are: next to each other, in the middle, many of them", function()
    for _, n in ipairs { 1, 33, 2048, 2049, 5000 } do
      local x, y = matrix(1, n):reshape(n):eval(), 0
      local expected = 0
      for k, shift in ipairs { 1, 2, math.floor(n / 3), math.floor(n / 2), n - 1, 32, 2047 } do
        y, expected = y + k * x:roll(shift), expected + k * rolled(x, { shift }, { 1 })
      end
      same(expected, y:eval(), "n = " .. n)
    end
    local cube = matrix(12, 35):reshape(3, 4, 35):eval()
    local function sum(roll)
      return roll(cube, { 1 }, { 1 }) + 2 * roll(cube, { 3 }, { 2 }) + 3 * roll(cube, { 1, 2 }, { 1, 2 })
        + 4 * roll(cube, { 2, 30 }, { 1, 3 }) + 5 * roll(cube, { 17 }, { 3 })
    end
    same(sum(rolled), sum(gpu.roll):eval())
  end)

  it("reads the source of a roll of a roll, also of several and of those that cancel out", function()
    local x = matrix(60, 45, "int32")
    local n, expected = 0, 0
    for i = -1, 1 do
      for j = -1, 1 do
        n = n + (i + 2) * x:roll(i, 1):roll(j, 2):roll(j, 1)
        expected = expected + (i + 2) * rolled(x, { i + j, j }, { 1, 2 })
      end
    end
    n = n + x:roll(-7, 1):roll(7, 1) + x:roll(0, 1):roll(44, 2):roll(1, 2)
    expected = expected + 2 * x
    local got
    assert.are.equal(1, launches(function() got = n:eval() end))
    same(expected:eval(), got)
    -- A roll that was evaluated, or whose source was written to, has elements of its own.
    local before = rolled(x, { 3 }, { 1 })
    local once = x:roll(2, 1):eval()
    same(before, once:roll(1, 1):eval())
    local y = x:roll(1, 1)
    local z = y:roll(2, 1)
    x:fill_(5)
    same(before, z:eval())
    same(before, y:roll(2, 1):eval())
    same(gpu.zeros(0, 3, "int32"):eval(), gpu.zeros(0, 3, "int32"):roll(1, 2):roll(1, 2):eval())
  end)

  it("by itself is copied in parts, or by a kernel where it has few bytes or many parts", function()
    for _, case in ipairs {
      { matrix(40, 3000), { 3, 5 }, { 1, 2 } },
      { matrix(40, 3000), { 3, 0 }, { 1, 2 } },
      { matrix(40, 3000).T, { 3, 5 }, { 1, 2 } },
      { matrix(5, 5), { 2, 2 }, { 1, 2 } },
      { matrix(64, 64):reshape(2, 2, 2, 2, 256), { 1, 1, 1, 1, 7 }, { 1, 2, 3, 4, 5 } },
      { matrix(9, 9)({ 2, 8 }, { 3, 9, 2 }), { 1, 1 }, { 1, 2 } },
    } do
      same(rolled(unpack(case)), gpu.roll(unpack(case)):eval(), tostring(case[1].shape))
    end
    assert.are.equal(0, gpu.roll(gpu.zeros(0, 3), { 1 }, { 2 }):eval().size)
  end)

  it("shares no kernel with a reduction, nor with a write to what it reads", function()
    local x, z = matrix(30, 20), matrix(30, 20) * 3
    local function all(roll)
      local t, u = x:copy(), x:copy()
      local before = roll(t, { 1 }, { 2 }) - t
      t:mul_(2)
      local beside = roll(z, { 1 }, { 1 }) + u
      u:add_(1)
      return { x - x:mean(2, { keepdims = true }) + roll(z, { 2 }, { 2 }),
        x:sum(2, { keepdims = true }) * roll(z({ 1, 30 }, { 1, 1 }), { 3 }, { 1 }), roll(x, { 1 }, { 1 }) / x:max(), before, t,
        beside, u }
    end
    for i, expected in ipairs(all(rolled)) do same(expected, all(gpu.roll)[i]:eval(), "case " .. i) end
    gpu.eval(unpack(all(gpu.roll)))
  end)

  it("gives the same in each dtype, for views, broadcast operands and several shifts of an axis", function()
    for _, dtype in ipairs { "bool", "uint8", "int64", "float16", "float32", "complex64" } do
      local x, row = matrix(9, 14, dtype), matrix(1, 14, dtype):reshape(14):eval()
      local column = matrix(9, 1, dtype)
      for name, view in pairs { whole = x, part = x({ 2, 8 }, { 3, 13 }), backwards = x:flip({ 1, 2 }), transposed = x.T } do
        local a, b = view.shape[1], view.shape[2]
        local rows, side = row({ 1, b }), matrix(a, 1, dtype)
        if name == "whole" then side = column end
        local function sum(roll)
          return gpu.where(roll(view, { 5 }, { 1 }):eq(view), roll(view, { 1, -3 }, { 1, 2 }), roll(rows, { 4 }, { 1 }))
            + roll(side, { 2 }, { 1 }) + roll(view, { 2 }, { 2 })
        end
        same(sum(rolled), sum(gpu.roll):eval(), dtype .. " " .. name)
      end
    end
  end)

  it("may be reduced, gathered from, multiplied, masked and scattered", function()
    local x = matrix(40, 30)
    local function all(roll)
      local d = x - roll(x, { 1 }, { 2 })
      local t = x:copy()
      t[roll(x, { 3 }, { 1 }):gt(50)] = -1
      local u = gpu.zeros(40)
      u[(roll(x, { 7 }, { 1 }) % 40 + 1)(":", 1):astype("int32")] = 5
      return { d:abs():max(), d:sum(2), (d - d:mean()):sum(1), d:take({ 3, 1, 3 }, 1), d:matmul(roll(x, { 2 }, { 1 }).T),
        d[d:gt(0)], t, u, d:cumsum(2), d / (d:abs():sum(2, { keepdims = true }) + 1), d:sort(1) }
    end
    for i, expected in ipairs(all(rolled)) do same(expected, all(gpu.roll)[i]:eval(), "case " .. i) end
  end)

  it("has the elements from before a write, and goes with random numbers and own functions", function()
    local x = matrix(8, 8)
    local expected, y = rolled(x, { 1 }, { 1 }) + x, x:roll(1, 1) + x
    x:mul_(2)
    same(expected, y)
    x:copy_(x:roll(1, 1))
    same(rolled(matrix(8, 8) * 2, { 1 }, { 1 }), x)
    gpu.random.seed(3)
    local noisy = x:roll(2, 2) + gpu.rand(8, 8)
    gpu.random.seed(3)
    same(rolled(x, { 2 }, { 2 }) + gpu.rand(8, 8):eval(), noisy)
    local double = gpu.elementwise { inputs = "T a", outputs = "T b", body = "b = a + a;" }
    same(double(rolled(x, { 2 }, { 2 })), double(x:roll(2, 2)))
  end)

  it("reads an array once that it has rolled by nothing and as it is", function()
    local x = matrix(100, 100)
    local function bytes(fn)
      local total = 0
      for _, row in ipairs(gpu.profile(fn)) do total = total + row.bytes end
      return total
    end
    local function twice() return (x + x:roll({ 0, 0 }, { 1, 2 }) + x:roll({ 1, 1 }, { 1, 2 })):eval() end
    same(twice(), x + x + rolled(x, { 1, 1 }, { 1, 2 }))
    assert.are.equal(bytes(function() (x + x:roll({ 1, 1 }, { 1, 2 })):eval() end), bytes(twice))
  end)

  it("with more shifts than pay off reads copies of them", function()
    local x, sum, expected = matrix(64, 64), 0, 0
    for i = 1, 8 do
      sum, expected = sum + x:roll({ i, 2 * i }, { 1, 2 }), expected + rolled(x, { i, 2 * i }, { 1, 2 })
    end
    assert.is_true(launches(function() sum = sum:eval() end) < 40)
    same(expected, sum)
    -- Many results of the same rolled arrays.
    local parts, results = {}, {}
    for i = 1, 9 do parts[i] = x:roll(i, 1) end
    for i = 1, 9 do
      results[i] = parts[i] * i
      for k = 1, 9 do results[i] = results[i] + parts[k] end
    end
    gpu.eval(unpack(results))
    for i = 1, 9 do
      local wanted = rolled(x, { i }, { 1 }) * i
      for k = 1, 9 do wanted = wanted + rolled(x, { k }, { 1 }) end
      same(wanted, results[i], "result " .. i)
    end
  end)

  it("is stored when it is used for the second time", function()
    local x = matrix(50, 50)
    local y = x:roll(1, 1) + x:roll(1, 2)
    local expected = rolled(x, { 1 }, { 1 }) + rolled(x, { 1 }, { 2 })
    for k = 1, 3 do same(expected * k, (y * k):eval()) end
    assert.are.equal(1, launches(function() (y * 4):eval() end))
  end)

  it("stores what an expression rolls once, in one kernel with its like, and reads it shifted", function()
    local function step(f, roll)
      local sum, moved = f[1] + f[2] + f[3], {}
      for i = 1, 3 do moved[i] = roll(f[i] + 0.5 * (sum / 3 - f[i]), {i - 2, 1 - i}, {1, 2}) end
      return moved
    end
    local function roll(x, shifts, axes) return x:roll(shifts, axes) end
    local f, expected = {}, {}
    for i = 1, 3 do f[i] = (matrix(40, 60) * i):eval() expected[i] = f[i] end
    local got
    -- The rolled arrays themselves, which have fewer bytes than the device copies, are a second kernel.
    assert.are.equal(2, launches(function() got = step(f, roll) gpu.eval(unpack(got)) end))
    assert.are.equal(11, launches(function()
      got = f
      for _ = 1, 10 do got = step(got, roll) end
      gpu.eval(unpack(got))
    end))
    for _ = 1, 10 do expected = step(expected, rolled) end
    for i = 1, 3 do assert.truthy(gpu.allclose(expected[i], got[i], 1e-5), "array " .. i) end
    -- What is rolled may be a reduction's result, rows, or a number.
    local x = matrix(30, 50)
    same(rolled((x - x:mean(2, {keepdims = true})):eval(), {3}, {1}), (x - x:mean(2, {keepdims = true})):roll(3, 1):eval())
    same(rolled(x:sum(1):eval(), {4}, {1}) + 1, (x:sum(1):roll(4, 1) + 1):eval())
    same(gpu.full({5}, 2), gpu.full({5}, 2):roll(2, 1):eval())
  end)

  it("costs a step of a loop the same, with and without gpu.eval, in gpu.fuse and in gpu.graph", function()
    local x0 = (gpu.arange(1000, "float64") * 0.01):sin():eval()
    local function step(x, roll) return x + 0.1 * (roll(x, { 1 }, { 1 }) + roll(x, { -1 }, { 1 }) - 2 * x) end
    local expected = x0
    for _ = 1, 40 do expected = step(expected, rolled):eval() end
    local x = x0
    for _ = 1, 40 do x = step(x, gpu.roll) end
    same(expected, x)
    local fused = gpu.fuse(function(x) return step(x, gpu.roll) end)
    x = x0
    for _ = 1, 40 do x = fused(x) end
    same(expected, x)
    x = x0:copy()
    local graph = gpu.graph(function() x:copy_(step(x, gpu.roll)) end)
    x:copy_(x0)
    for _ = 1, 40 do graph:launch() end
    same(expected, x)
  end)

  it("is explained as one kernel", function()
    local x = matrix(5, 5)
    assert(gpu.explain(x:roll(1, 1) + x:roll(2, 2)):find "^1 kernel\n")
    assert(gpu.explain((x:roll(1, 1) - x):sum(2) / x:roll(1, 2):max(2)):find "kernel")
  end)
end)

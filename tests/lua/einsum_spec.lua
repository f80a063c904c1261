-- gpu.einsum and gpu.einsum_path. Golden data: tests/golden/arrays/einsums.py.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"

local function text(shape) return "(" .. table.concat(shape, ",") .. ")" end

local function volume(shape)
  local count = 1
  for _, extent in ipairs(shape) do count = count * extent end
  return count
end

--- The operand with this number, as the generator makes it.
local function operand(number, shape, dtype)
  local x = ((gpu.arange(volume(shape)) * 7 + 5 * number) % 5 - 2):reshape(shape)
  if dtype == "bool" then return x:ne(0) end
  return x:astype(dtype)
end

local function weighted_sum(x)
  local weights = (gpu.arange(x.size) * 31) % 97 + 1
  local values = x.dtype:find "^complex" and x:real() or x
  return (values:astype("float64"):ravel() * weights):sum():item()
end

describe("einsum", function()
  it("agrees with NumPy in 2,000 random equations, whatever the path", function()
    local ways = { nil, "greedy", false, "optimal" }
    local wrong, count = {}, 0
    for number, case in ipairs(dofile(folder .. "/golden/arrays/einsums.lua")) do
      local equation, dtype, total, shape = case[1], case[2], case[3], case[4]
      local arguments = {}
      for i = 5, #case do arguments[i - 4] = operand(i - 5, case[i], dtype) end
      arguments[#arguments + 1] = { optimize = ways[number % 4 + 1] }
      local ok, result = pcall(gpu.einsum, equation, unpack(arguments))
      local got = ok and ("%s %s %d"):format(result.dtype, text(result.shape), weighted_sum(result)) or tostring(result)
      local expected = ("%s %s %d"):format(dtype, text(shape), total)
      if got ~= expected then wrong[#wrong + 1] = ("%s: expected %s, got %s"):format(equation, expected, got) end
      count = count + 1
    end
    assert(#wrong == 0, ("%d differ:\n%s"):format(#wrong, table.concat(wrong, "\n", 1, math.min(#wrong, 20))))
    assert.are.equal(2000, count)
  end)

  local a, b = gpu.arange(12, "float64"):reshape(3, 4), gpu.arange(20, "float64"):reshape(4, 5)

  it("takes complex numbers, and dtypes that promote", function()
    local x = gpu.array { gpu.complex(1, 2), gpu.complex(3, -1) }
    local y = gpu.array { gpu.complex(1, 1), gpu.complex(2, 1) }
    assert.are.equal("6+4i", tostring(gpu.einsum("i,i", x, y):item()))
    assert.are.equal("int16", gpu.einsum("i,i->i", gpu.ones(2, "int8"), gpu.ones(2, "uint8")).dtype)
    -- In the common dtype from the first product on.
    assert.are.equal(10000, gpu.einsum(",,", gpu.full({}, 100, "int8"), gpu.full({}, 100, "int8"), gpu.ones({}, "int64")):item())
  end)

  it("gives views of its arrays where nothing is computed", function()
    local x = gpu.zeros(3, 3)
    gpu.einsum("ij->ji", x)[{ 1, 2 }] = 5
    assert.are.equal(5, x[2][1])
    gpu.einsum("ii->i", x):fill_(7)
    assert.are.same({ { 7, 0, 0 }, { 5, 7, 0 }, { 0, 0, 7 } }, x:table())
  end)

  it("is an expression where no label is summed with others beside it", function()
    local x, y = gpu.ones(50), gpu.ones(60)
    assert.are.equal(1, select(2, gpu.explain(gpu.einsum("i,j->ij", x, y) * 2 + 1):gsub("__global__", "")))
    assert.are.equal(1, select(2, gpu.explain(gpu.einsum("i,i->", x, x) + 1):gsub("__global__", "")))
  end)

  it("writes to an array that is there", function()
    local out = gpu.zeros({ 5, 3 }, "float64")
    assert.are.equal(out, gpu.einsum("ij,jk->ki", a, b, { out = out }))
    assert.is_true(out:equal(a:matmul(b).T))
    fails("[einsum] expected an array to write to of the result's shape (3,5), got (5,3)", gpu.einsum, "ij,jk", a, b, { out = out })
  end)

  it("runs on a stream", function()
    local s, other = gpu.stream(), gpu.stream()
    local first = gpu.with(s, gpu.einsum, "ij,jk->ik", a, b)
    local second = gpu.with(other, gpu.einsum, "ij,ik->jk", first, a)
    assert.is_true(second:equal(a:matmul(b).T:matmul(a)))
  end)

  it("finds the cheapest path of up to eight arrays, and a cheap one of more", function()
    local function ones(...) return gpu.ones(...) end
    local path, report = gpu.einsum_path("ij,jk,kl->il", ones(100, 2), ones(2, 100), ones(100, 3))
    assert.are.same({ { 2, 3 }, { 1, 2 } }, path)
    assert.is_truthy(report:find("2.4e+03 flops, 1e+05 from left to right; the largest result has 300 elements", 1, true))
    -- The example of NumPy's manual; its optimal path has as many multiplications.
    local c, i = ones(10, 10), ones(10, 10, 10, 10)
    local optimal, what = gpu.einsum_path("ea,fb,abcd,gc,hd->efgh", c, c, i, c, c)
    assert.are.equal(4, #optimal)
    assert.is_truthy(what:find("8e+05 flops", 1, true), what)
    local chain, arrays = {}, {}
    for n = 1, 12 do chain[n], arrays[n] = string.char(96 + n, 97 + n), ones(n, n + 1) end
    local greedy = gpu.einsum_path(table.concat(chain, ",") .. "->am", unpack(arrays))
    assert.are.equal(11, #greedy)
    assert.are.same({ 1, 13 }, gpu.einsum(table.concat(chain, ",") .. "->am", unpack(arrays)).shape)
    arrays[13] = { optimize = greedy }
    assert.are.equal(479001600, gpu.einsum(table.concat(chain, ",") .. "->am", unpack(arrays))[1][1])
    local by_hand = gpu.einsum_path("ij,jk,kl->il", ones(2, 2), ones(2, 2), ones(2, 2), { optimize = { { 1, 3 }, { 1, 2 } } })
    assert.are.same({ { 1, 3 }, { 1, 2 } }, by_hand)
    assert.are.same({}, (gpu.einsum_path("i...->...", a)))
  end)

  it("says what it takes, with a caret under the place", function()
    local function refuses(expected, ...) fails("[einsum] " .. expected, gpu.einsum, ...) end
    refuses('expected a letter, "...", "," or "->", got "1":\n  i1,jk\n   ^', "i1,jk", a, b)
    refuses('expected a letter, "...", "," or "->", got ".":\n  ij.,jk\n    ^', "ij.,jk", a, b)
    refuses('expected a letter, "...", "," or "->", got "-":\n  ij,jk-\n       ^', "ij,jk-", a, b)
    refuses('expected a letter or "...", got "-":\n  ij,jk->ik->\n           ^', "ij,jk->ik->", a, b)
    refuses('expected a letter or "...", got ",":\n  ij,jk->i,k\n          ^', "ij,jk->i,k", a, b)
    refuses('expected a letter of the arrays, got "x":\n  ij,jk->ix\n          ^', "ij,jk->ix", a, b)
    refuses('expected each letter once in the result, got "i":\n  ij,jk->ii\n          ^', "ij,jk->ii", a, b)
    refuses('expected one ... for each array, got ".":\n  ...i...\n      ^', "...i...", a)
    refuses('expected "..." in the result, for the axes of the arrays\' "...", got the end:\n  i...->i\n         ^', "i...->i", a)
    refuses("expected an array of 3 axes, got shape (3,4):\n  ijk,jk\n  ^", "ijk,jk", a, b)
    refuses("expected an array of 3 axes or more, got shape (4,5):\n  ij,...jkl\n     ^", "ij,...jkl", a, b)
    refuses("expected j of one length, got 4 in (3,4) and 5 in (4,5)", "ij,kj->ik", a, b)
    refuses("expected i of one length, got 3 in (3,4) and 4 in (3,4)", "ii", a)
    refuses("expected i of one length, got 1 and 3 in (1,3)", "ii", gpu.ones(1, 3))
    refuses("expected the axes of ... of one length, got 4 in (3,4) and 5 in (4,5)", "i...,j...", a, b)
    refuses('expected 1 array for "ij", got 2', "ij", a, b)
    refuses('expected 2 arrays for "ij,jk", got 1', "ij,jk", a)
    refuses('expected an equation, like "ij,jk->ik", got an array', a, b)
    refuses("expected an array, got 3", "i,j", 3, a)
    refuses('expected the options optimize and out, got "path"', "ij,jk", a, b, { path = {} })
    refuses('expected optimize = true, false, "optimal", "greedy" or a list of pairs of positions, got "best"', "ij,jk", a, b,
      { optimize = "best" })
    refuses("expected a path of 1 step for 2 arrays, got 2", "ij,jk", a, b, { optimize = { { 1, 2 }, { 1, 2 } } })
    refuses("expected step 1: two positions from 1 to 2, got 3", "ij,jk", a, b, { optimize = { { 1, 3 } } })
    refuses("expected step 1: two different positions, got 1", "ij,jk", a, b, { optimize = { { 1, 1 } } })
    fails("[einsum_path] expected i of one length", gpu.einsum_path, "ii", a)
  end)
end)

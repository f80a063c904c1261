-- Random Lua functions, translated by gpu.vectorize and gpu.jit and run by LuaJIT: equal bits for arithmetic, two units in the last
-- place for the functions of math. GPULUA_TEST_FUNCTIONS sets how many.
local gpu = require "gpu"
local generator = require "function_generator"
local support = require "support"
local series = support.series

local count, seed = tonumber(os.getenv "GPULUA_TEST_FUNCTIONS") or 240, tonumber(os.getenv "GPULUA_TEST_SEED") or 42
local batch, elements, results = 6, 150, 3

local state = seed
local function random(n)
  state = state * 16807 % 2147483647
  return state % n + 1
end

local special = {0, 1, -1, 0.5, -2.75, 3, 1e10, -1e-10, 1e300, math.huge, -math.huge, 0 / 0, 2 ^ 53, 100.25, -7}

--- The remainder of arrays, which is exact where Lua's rounds its quotient.
local function remainder(a, b)
  local rest = math.fmod(a, b)
  if rest ~= 0 then return (rest < 0) ~= (b < 0) and rest + b or rest end
  return rest == rest and 0 * b or rest
end

local function same(expected, got, is_rounded)
  if expected ~= expected then return got ~= got end
  if expected == got then return expected ~= 0 or 1 / expected == 1 / got end
  if not is_rounded or math.abs(expected) == math.huge then return false end
  local _, exponent = math.frexp(expected)
  return math.abs(expected - got) <= 2 * math.max(2 ^ (exponent - 53), 2 ^ -1074)
end

--- Three columns of numbers, and their arrays.
local function columns()
  local values, arrays = {}, {}
  for j = 1, 3 do
    values[j] = series(elements, function(i)
      return i <= 60 and special[random(#special)] or (random(2000001) - 1000001) / 1e5
    end)
    arrays[j] = gpu.array(values[j], "float64")
  end
  return values, arrays
end

local function compare(made, k, values, i, expected, got, is_rounded, text)
  if same(expected, got, is_rounded) then return end
  error(("function %d, result %d of (%.17g, %.17g, %.17g): expected %.17g, got %.17g\n%s"):format(made, k, values[1][i], values[2][i],
    values[3][i], expected, got, text))
end

describe("random functions", function()
  it("give what LuaJIT gives", function()
    local values, arrays = columns()
    local compared, made = 0, 0
    while made < count do
      -- One kernel has the results of several functions.
      local cases, all = {}, {}
      for k = 1, math.min(batch, count - made) do
        local text, is_rounded = generator.text(random, results)
        local chunk = assert(loadstring(text))
        local outputs = {gpu.vectorize(chunk(function(a, b) return a % b end), {fmad = false})(unpack(arrays))}
        cases[k] = {text = text, is_rounded = is_rounded, run = chunk(remainder), outputs = outputs}
        for _, output in ipairs(outputs) do all[#all + 1] = output end
      end
      gpu.eval(unpack(all))
      for _, case in ipairs(cases) do
        made = made + 1
        for k = 1, results do case.outputs[k] = case.outputs[k]:table() end
        for i = 1, elements do
          local expected = {case.run(values[1][i], values[2][i], values[3][i])}
          for k = 1, results do
            compared = compared + 1
            compare(made, k, values, i, expected[k], case.outputs[k][i], case.is_rounded[k], case.text)
          end
        end
      end
    end
    assert.are.equal(count * elements * results, compared)
  end)

  it("of kernels give what LuaJIT gives, and leave their arrays as it does", function()
    local values, arrays = columns()
    local made, wanted, rows = 0, math.ceil(count / 4), results + 8
    while made < wanted do
      local cases, lines = {}, {}
      local functions = {}
      for k = 1, math.min(batch, wanted - made) do
        local text, is_rounded = generator.text(random, results, true)
        local chunk = assert(loadstring(text))
        cases[k] = {text = text, is_rounded = is_rounded, run = chunk(remainder)}
        functions[k] = chunk(function(a, b) return a % b end)
        lines[k] = ([[
          do
            local t, row = gpu.local_array(8, "float64"), %d
            for k = 1, 8 do t[k] = k end
            o[row + 1][i], o[row + 2][i], o[row + 3][i] = f%d(x[i], y[i], z[i], t)
            for k = 1, 8 do o[row + 3 + k][i] = t[k] end
          end]]):format((k - 1) * rows, k)
      end
      local text = "local gpu, f1, f2, f3, f4, f5, f6 = ...\nreturn function(x, y, z, o)\nlocal i = gpu.grid()\nif i > #x then return end\n"
        .. table.concat(lines, "\n") .. "\nend"
      local o = gpu.zeros(#cases * rows, elements, "float64")
      gpu.jit(assert(loadstring(text))(gpu, unpack(functions)), {fmad = false}):over(elements)(arrays[1], arrays[2], arrays[3], o)
      local got = o:table()
      for k, case in ipairs(cases) do
        made = made + 1
        for i = 1, elements do
          local t = {1, 2, 3, 4, 5, 6, 7, 8}
          local expected = {case.run(values[1][i], values[2][i], values[3][i], t)}
          for r = 1, results do compare(made, r, values, i, expected[r], got[(k - 1) * rows + r][i], case.is_rounded[r], case.text) end
          for r = 1, 8 do compare(made, results + r, values, i, t[r], got[(k - 1) * rows + results + r][i], false, case.text) end
        end
      end
    end
  end)
end)

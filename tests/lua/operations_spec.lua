-- Every elementwise operation and dtype against the results of NumPy (tests/golden/arrays/operations.py).
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local folder = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/[^/]*$" or ""
local golden = dofile(folder .. "tests/golden/arrays/operations.lua")
local arrays = gpu.load(folder .. "tests/golden/arrays/operations.npz")

local function words(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  return list
end

local dtypes = words(golden.dtypes)
local letters = {}
for i, name in ipairs(dtypes) do letters[golden.letters:sub(i, i)] = name end

-- Digits after the first of floating dtypes' binary numbers, and the exponent of the smallest.
local formats = { float16 = { 10, -24 }, bfloat16 = { 7, -133 }, float32 = { 23, -149 }, float64 = { 52, -1074 } }
local largest = { float16 = 65504, bfloat16 = 0x1.fep127, float32 = 0x1.fffffep127, float64 = 0x1.fffffffffffffp1023 }
local parts = { complex64 = "float32", complex128 = "float64" }

--- The distance from x to the next number of the dtype.
local function ulp(x, dtype)
  local digits, least = formats[dtype][1], formats[dtype][2]
  local _, exponent = math.frexp(x)
  return 2 ^ math.max(exponent - 1 - digits, least)
end

-- Operations for which NumPy and C do not define the sign of a zero.
local unsigned_zero = { maximum = true, minimum = true, fmax = true, fmin = true, clip = true, nextafter = true, normcdfinv = true }
-- More units in the last place for complex numbers, where the error grows with the exponent.
local complex_ulps = { exp2 = 64, power = 256, float_power = 256 }

local function same_real(expected, got, dtype, op)
  if expected ~= expected or got ~= got then return expected ~= expected and got ~= got end
  if expected == got then return expected ~= 0 or unsigned_zero[op] or 1 / expected == 1 / got end
  local ulps = golden.ulps[op] or (op == "abs" and 1)
  if not ulps or math.abs(expected) == math.huge then return false end
  if dtype == "float16" or dtype == "bfloat16" then ulps = 1 end
  -- Infinity is the largest number's neighbour.
  if math.abs(got) == math.huge then got = got > 0 and largest[dtype] or -largest[dtype] end
  return math.abs(expected - got) <= (ulps + 0.5) * ulp(expected, dtype)
end

-- Complex numbers are compared by their distance; part by part if a part is NaN or infinite.
local function same_complex(er, ei, gr, gi, dtype, op)
  local function finite(x) return x - x == 0 end
  if not (finite(er) and finite(ei)) then
    local any_sign = er ~= er or ei ~= ei  -- C leaves the sign of an infinity beside a NaN open
    local function alike(e, g)
      return e == g or (e ~= e and g ~= g) or (finite(e) and finite(g)) or (any_sign and e == -g)
    end
    return alike(er, gr) and alike(ei, gi)
  end
  local distance = math.sqrt((er - gr) ^ 2 + (ei - gi) ^ 2)
  return distance <= (complex_ulps[op] or 8) * ulp(math.max(math.abs(er), math.abs(ei)), parts[dtype])
end

--- The elements of a vector. An FFI array would not do: a NaN with other bits than LuaJIT's own is no number to Lua.
local function read(x)
  if not parts[x.dtype] then return x:table() end
  return { re = gpu.real(x):table(), im = gpu.imag(x):table() }
end

local function show(values, i)
  if values.re then return ("%.9g%+.9gi"):format(values.re[i], values.im[i]) end
  return type(values[i]) == "number" and ("%.17g"):format(values[i]) or tostring(values[i])
end

local function same(expected, got, i, dtype, op, x)
  -- CUDA gives no bound where the gamma function's logarithm passes through zero.
  if op == "lgamma" and type(x[i]) == "number" and x[i] > -11 and x[i] < -2 then
    return math.abs(expected[i] - got[i]) < 2e-3 or expected[i] == got[i]
  end
  -- NumPy has NaN where C's Annex G, by the exponential function, has a number: extremes_spec.
  if op == "expm1" and parts[dtype] and not (x.re[i] - x.re[i] == 0 and x.im[i] - x.im[i] == 0) then return true end
  if parts[dtype] then return same_complex(expected.re[i], expected.im[i], got.re[i], got.im[i], dtype, op) end
  if formats[dtype] then return same_real(expected[i], got[i], dtype, op) end
  return expected[i] == got[i]
end

--- Messages for the elements of `got` that are not those of `expected`.
local function differences(messages, op, operands, got, expected)
  local dtype, count = got.dtype, got.size
  expected, got = read(expected), read(got)
  for i = 1, count do
    if #messages < 100 and not same(expected, got, i, dtype, op, operands[1]) then
      local shown = {}
      for _, operand in ipairs(operands) do shown[#shown + 1] = show(operand, i) end
      messages[#messages + 1] = ("%s(%s): expected %s, got %s"):format(op, table.concat(shown, ", "), show(expected, i), show(got, i))
    end
  end
end

--- An operand of the golden data as its own dtype; NumPy's files have no bfloat16.
local function operand(key, dtype)
  local x = arrays[key .. "_" .. dtype]
  return dtype == "bfloat16" and x:astype(dtype) or x
end

local function is_integer(dtype) return dtype:find "int" end

local function call(op, dtype, x, y)
  if op == "clip" then return gpu.clip(x, y, x) end
  if op == "where" then return gpu.where(x, x, y) end
  if op == "nan_to_num" then return gpu.nan_to_num(x) end
  if op == "power" and is_integer(dtype) then return gpu.power(x, y % 13) end
  if op == "ldexp" then return gpu.ldexp(x, arrays.exponents({ 1, x.size })) end
  if not y then return gpu[op](x) end
  return gpu[op](x, y)
end

local function compare(group, ...)
  local dtype, result, names = group[1], group[2], group[3]
  local kind = select("#", ...) == 1 and "unary" or "binary"
  local expected = arrays[("%s_%s_%s"):format(kind, dtype, result)]
  local operands, results, ops = { ... }, {}, {}
  for _, op in ipairs(words(names)) do
    ops[#ops + 1] = op
    results[#results + 1] = call(op, dtype, ...)
    assert.are.equal(result, results[#results].dtype, op)
  end
  for first = 1, #results, 16 do gpu.eval(unpack(results, first, math.min(first + 15, #results))) end
  for i, x in ipairs(operands) do operands[i] = read(x) end
  local messages = {}
  for i, x in ipairs(results) do differences(messages, ops[i], operands, x, expected(i)) end
  if #messages > 0 then error(("%s -> %s\n%s"):format(dtype, result, table.concat(messages, "\n")), 0) end
end

--- The dtype of NumPy's result for a pair of dtypes, or nil if NumPy raises.
local function result_of(op, a, b)
  local at = b and (a - 1) * #dtypes + b or a
  return letters[golden.results[op]:sub(at, at)]
end

describe("operations", function()
  for _, group in ipairs(golden.unary) do
    it(("of %s to %s give NumPy's values"):format(group[1], group[2]),
      function() compare(group, operand("values", group[1])) end)
  end

  for _, group in ipairs(golden.binary) do
    it(("of two %s to %s give NumPy's values"):format(group[1], group[2]),
      function() compare(group, operand("x", group[1]), operand("y", group[1])) end)
  end

  it("give NumPy's dtypes, and raise where it raises, for all dtypes and pairs of them", function()
    local wrong = {}
    local function check(op, expected, ...)
      local ok, result = pcall(op == "clip" and function(x, y) return gpu.clip(x, y, x) end or
        op == "where" and function(x, y) return gpu.where(x, x, y) end or gpu[op], ...)
      local got = ok and result.dtype or nil
      if got ~= expected then
        local names = {}
        for _, x in ipairs { ... } do names[#names + 1] = x.dtype end
        wrong[#wrong + 1] = ("%s(%s): expected %s, got %s"):format(op, table.concat(names, ", "), tostring(expected),
          tostring(got or result))
      end
    end
    local ones = {}
    for i, dtype in ipairs(dtypes) do ones[i] = gpu.ones(1, dtype) end
    for op, results in pairs(golden.results) do
      for a, x in ipairs(ones) do
        if #results == #dtypes then
          check(op, result_of(op, a), x)
        else
          for b, y in ipairs(ones) do check(op, result_of(op, a, b), x, y) end
        end
      end
    end
    assert(#wrong == 0, table.concat(wrong, "\n", 1, math.min(#wrong, 50)))
  end)

  for a, dtype in ipairs(dtypes) do
    it("of " .. dtype .. " and each dtype give NumPy's values", function()
      local results, rows = {}, {}
      for b, other in ipairs(dtypes) do
        local x, y = operand("left", dtype), operand("right", other)
        for _, op in ipairs(words(golden.mixed)) do
          local result = result_of(op, a, b)
          local file = result == "bfloat16" and "float32" or result
          rows[file] = (rows[file] or 0) + 1
          results[#results + 1] = { op = op, got = gpu[op](x, y), operands = { x, y }, dtype = result,
            expected = arrays[("mixed_%s_%s"):format(dtype, file)](rows[file]) }
        end
      end
      local messages = {}
      for _, r in ipairs(results) do
        assert.are.equal(r.dtype, r.got.dtype)
      end
      for first = 1, #results, 15 do
        local some = {}
        for i = first, math.min(first + 14, #results) do some[#some + 1] = results[i].got end
        gpu.eval(unpack(some))
      end
      for _, r in ipairs(results) do
        differences(messages, r.op, { read(r.operands[1]), read(r.operands[2]) }, r.got, r.expected)
      end
      if #messages > 0 then error(table.concat(messages, "\n"), 0) end
    end)
  end

  it("with the numbers 1 and -1 give reciprocals", function()
    local values = { 0, -0.0, 1, -3, 7, 49, 1e-3, 65504, 1 / 0, -1 / 0, 0 / 0 }
    for _, dtype in ipairs { "float16", "bfloat16", "float32", "float64" } do
      local x = gpu.array(values, dtype)
      local divided = gpu.ones(#values, dtype) / x
      for _, y in ipairs { 1 / x, x ^ -1 } do
        assert.is_truthy(gpu.explain(y):find("reciprocal", 1, true))
        assert.are.equal(dtype, y.dtype)
        -- The signs of zeros show in their own reciprocals.
        for _, pair in ipairs { { divided, y }, { gpu.ones(#values, dtype) / divided, gpu.ones(#values, dtype) / y } } do
          local expected, got = pair[1]:astype("float64"):table(), pair[2]:astype("float64"):table()
          for i = 1, #values do
            assert(expected[i] == got[i] or (expected[i] ~= expected[i] and got[i] ~= got[i]),
              ("%s %s: expected %s, got %s"):format(dtype, values[i], expected[i], got[i]))
          end
        end
      end
    end
    assert.are.same({ 1, 0, 0 }, (1 / gpu.array({ 1, 2, 3 }, "int32")):astype("int32"):table())
    fails("[power] integers to negative integer powers", function() return gpu.array({ 1, 2 }, "int32") ^ -1 end)
  end)
end)

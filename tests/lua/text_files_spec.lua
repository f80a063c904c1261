-- gpu.loadtxt, gpu.genfromtxt and gpu.savetxt, beside NumPy's files, and gpu.fromfile and x:tofile.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

describe("text files", function()
  local path = support.temporary_files(before_each, after_each)
  local function file(text, name)
    local at = path(name or ".txt")
    support.write(at, text)
    return at
  end

  it("are written as NumPy writes them", function()
    local function written(...)
      local at = path ".txt"
      assert.is_true(gpu.savetxt(at, ...))
      return support.read(at)
    end
    local m = gpu.array { { 1, -2.5 }, { 1e-7, 3e20 } }
    assert.are.equal("# x, y\n1, -2.5\n1e-07, 3e+20\n", written(m, { fmt = "%.5g", delimiter = ", ", header = "x, y" }))
    assert.are.equal("1 1e-07\n-2.5 3e+20\n", written(m.T, { fmt = "%.5g" }))
    local z = gpu.array { gpu.complex(1, 2), gpu.complex(-3.5, -1) }
    assert.are.equal(" (1.000e+00+2.000e+00j)\n (-3.500e+00-1.000e+00j)\n", written(z, { fmt = "%.3e" }))
    assert.are.equal("1.500000000000000000e+00\n1.000000000000000056e-01\n", written(gpu.array({ 1.5, 0.1 }, "float64")))
    assert.are.equal("1 2.0;\n3 4.0;\n# a\n# b;\n",
      written(gpu.array { { 1, 2 }, { 3, 4 } }, { fmt = { "%d", "%.1f" }, footer = "a\nb", newline = ";\n" }))
    assert.are.equal("1152921504606846976\n-5\n", written(gpu.array({ 2 ^ 60, -5 }, "int64"), { fmt = "%d" }))
    assert.are.equal("1\n0\n", written(gpu.array { true, false }, { fmt = "%d" }))
    assert.are.equal("", written(gpu.zeros(0)))
  end)

  it("are read back as they were", function()
    for dtype, fmt in pairs { float64 = "%.17g", float32 = "%.9g", int64 = "%d", uint64 = "%d", complex128 = "%.17g", bool = "%d", int8 = "%d" } do
      gpu.random.seed(3)
      local x = gpu.random.integers({ 4, 3 }, -100, 100):astype(dtype)
      if dtype:find "^float" then x = gpu.randn(4, 3, "float64"):astype(dtype) / 3 end
      if dtype == "complex128" then x = gpu.complex(0, 1) * gpu.randn(4, 3, "float64") + gpu.randn(4, 3, "float64") * 1e10 end
      if dtype:find "64$" and dtype:find "int" then x = x * 2 ^ 55 end
      local at = path ".txt"
      gpu.savetxt(at, x, { fmt = fmt })
      support.same(x, gpu.loadtxt(at, dtype), dtype)
    end
  end)

  it("have all digits of integers beyond 2^53", function()
    local at = path ".txt"
    local function written(x)
      gpu.savetxt(at, x)
      return support.read(at)
    end
    local x = gpu.array({ 9007199254740993LL, -9223372036854775807LL - 1, 1 }, "int64")
    assert.are.equal("9.007199254740993000e+15\n-9.223372036854775808e+18\n1.000000000000000000e+00\n", written(x))
    assert.are.equal("1.8446744073709551615e+19\n", written(gpu.array({ 18446744073709551615ULL }, "uint64")))
  end)

  it("have comments, columns and lines to leave out", function()
    local at = file "# head\n1 2 3\n\n4\t5.5   -6e2 # note\n nan inf -inf\r\n"
    assert.are.same({ { 1, 2, 3 }, { 4, 5.5, -600 } }, gpu.loadtxt(at, { max_rows = 2 }):table())
    local a, b, rest = gpu.loadtxt(at, { usecols = { 1, -1 }, skiprows = 2, max_rows = 1, unpack = true })
    assert.are.same({ { 4 }, { -600 } }, { a:table(), b:table() })
    assert.is_nil(rest)
    assert.are.same({ 1, 4 }, gpu.loadtxt(at, { usecols = 1, max_rows = 2 }):table())
    local last = gpu.loadtxt(at, { skiprows = 4, dtype = "float64" })
    assert.is_true(last:isnan()[1] and last:isposinf()[2] and last:isneginf()[3])
    local csv = file "1;2%x\n3;0x10//\n"
    assert.are.same({ { 1, 2 }, { 3, 16 } }, gpu.loadtxt(csv, { delimiter = ";", comments = { "%", "//" } }):table())
    assert.are.same({ { 1, 4 }, { 3, 32 } },
      gpu.loadtxt(csv, { delimiter = ";", comments = { "%", "//" }, converters = { [2] = function(t) return tonumber(t) * 2 end } }):table())
    local one = file "7\n"
    assert.are.equal(7, gpu.loadtxt(one):item())
    assert.are.same({ 0, 1, 2 }, { gpu.loadtxt(one).ndim, gpu.loadtxt(one, { ndmin = 1 }).ndim, gpu.loadtxt(one, { ndmin = 2 }).ndim })
    assert.are.equal("(0,)", tostring(gpu.loadtxt(file "# nothing\n").shape))
  end)

  it("may lack numbers where genfromtxt reads them", function()
    local at = file "a,b,c\n1,,3\n4, N/A ,6\n7,8,9\nend,,\n"
    local options = { delimiter = ",", skip_header = 1, skip_footer = 1, missing_values = "N/A" }
    local x = gpu.genfromtxt(at, options)
    assert.are.same({ false, true, false, false, true, false, false, false, false }, x:isnan():ravel():table())
    options.dtype, options.usecols = "int16", 2
    assert.are.same({ -1, -1, 8 }, gpu.genfromtxt(at, options):table())
    options.filling_values = 5
    assert.are.same({ 5, 5, 8 }, gpu.genfromtxt(at, options):table())
    fails('[genfromtxt] expected a number of float32, got "N/A" in line 3, column 2', gpu.genfromtxt, at, { delimiter = ",", skip_header = 1 })
  end)

  it("are read in every form, and rounded once", function()
    local zeros = ("0"):rep(2000)
    local cases = {
      ["6.02214076e23"] = 6.02214076e23, ["1e400"] = math.huge, ["-1e400"] = -math.huge, ["1e-400"] = 0, ["5e-324"] = 5e-324,
      ["2.2250738585072011e-308"] = 2.2250738585072011e-308, ["0x1p-3"] = 0.125, ["-0X10"] = -16, ["0x1.8"] = 1.5,
      inf = math.huge, ["-Infinity"] = -math.huge, ["+1.5"] = 1.5, [".5"] = 0.5, ["5."] = 5, ["1E2"] = 100,
      ["0." .. ("3"):rep(3000)] = 1 / 3, ["1" .. zeros .. "e-2000"] = 1, ["0." .. zeros .. "7e2001"] = 7,
      ["9007199254740993"] = 9007199254740992, ["123456789012345678901234567890"] = 123456789012345678901234567890,
    }
    for text, number in pairs(cases) do
      local at = file(text .. " 2\n")
      for _, dtype in ipairs { "float64", "float32", "float16", "complex128" } do
        local expected = gpu.array({ number }, "float64"):astype(dtype)
        assert(gpu.array_equal(expected, gpu.loadtxt(at, dtype)({ 1, 1 })), text)
        assert(gpu.array_equal(expected, gpu.genfromtxt(at, dtype)({ 1, 1 })), text)
        assert(gpu.array_equal(expected, gpu.fromfile(at, { sep = " ", dtype = dtype })({ 1, 1 })), text)
      end
    end
    -- Half way between two numbers of float32, and a little above it: a double in between would lose that.
    assert.are.equal(1 + 2 ^ -23, gpu.loadtxt(file "1.000000059604644776", "float32"):item())
    for _, text in ipairs { "nan", "-nan", "NaN", "nan(0x12)", "+NAN" } do
      local x = gpu.loadtxt(file(text), "float64")
      assert(x:isnan():item() and not x:signbit():item(), text)
    end
    for _, text in ipairs { "1e20", "1.5e20", "-1.6e21", "16777216", "16777217.0", "-33554432" } do
      assert(gpu.array_equal(gpu.array(tonumber(text), "float32"), gpu.loadtxt(file(text))), text)
    end
    for _, text in ipairs { "", "x", "1x", "0x", "0x-1", "--1", "+-1", "1e", "1 2", "e5", "0b1", "1_000", "," } do
      fails("[fromfile] expected a number of float64", gpu.fromfile, file("1;" .. text .. ";3"), { sep = ";", dtype = "float64" })
    end
    fails('got "x" in number 2 of', gpu.fromfile, file "1 x", { sep = " " })
  end)

  it("are exact integers, and complex", function()
    local function int(text, dtype) return tostring(gpu.loadtxt(file(text), dtype):item()):match "^[-%d]+" end
    assert.are.equal("9007199254740993", int("9007199254740993", "int64"))
    assert.are.equal("-9223372036854775808", int("-9223372036854775808", "int64"))
    assert.are.equal("18446744073709551615", int("+18446744073709551615", "uint64"))
    assert.are.equal("1000", int("1e3", "int64"))
    assert.are.equal("-128", int("-128.0", "int8"))
    assert.are.equal("16", int("0x10", "uint8"))
    for _, case in ipairs { { "1e30", "int64" }, { "-1", "uint64" }, { "nan", "int32" }, { "1.5", "int64" }, { "128", "int8" } } do
      fails(('expected a number of %s, got "%s" in line 1, column 1'):format(case[2], case[1]), gpu.loadtxt, file(case[1]), case[2])
    end
    fails("expected a dtype for integers that float32 would round", gpu.loadtxt, file "123456789012345678901234567890")
    local function z(text)
      local value = gpu.loadtxt(file(text), "complex128"):item()
      return { value.re, value.im }
    end
    assert.are.same({ 1e-3, -2e5 }, z "1e-3-2e+5j")
    assert.are.same({ 1, 2 }, z "(1+2i)")
    assert.are.same({ 0, -3 }, z "-3j")
    assert.are.same({ math.huge, -math.huge }, z "inf-infj")
    for _, text in ipairs { "j", "1+j", "1+2", "(1" } do
      fails("expected a number of complex64", gpu.loadtxt, file(text), "complex64")
    end
  end)

  it("of lines that end with a carriage return alone are refused, and converters of columns that are not read", function()
    local at = path ".returns"
    local function write(text)
      local f = assert(io.open(at, "wb"))
      f:write(text)
      f:close()
    end
    write("1 2\r3 4\r")
    support.fails("[loadtxt] expected lines that end with \\n or \\r\\n, got \\r alone in ", gpu.loadtxt, at)
    write("1 2\r\n3 4\r\n")
    assert.are.same({ { 1, 2 }, { 3, 4 } }, gpu.loadtxt(at):table())
    support.fails("[loadtxt] expected converters for columns that are read, got 5", gpu.loadtxt, at, { converters = { [5] = tonumber } })
    support.fails("[loadtxt] expected converters for columns that are read, got 2", gpu.loadtxt, at, { usecols = { 1 }, converters = { [2] = tonumber } })
  end)

  it("of converters may fail, with their own errors", function()
    local at = file "1 2\n3 4\n"
    local ok, message = pcall(gpu.loadtxt, at, { converters = { [2] = function(text) error({ text }) end } })
    assert.are.equal("2", not ok and message[1])
    assert.are.same({ { 1, 20 }, { 3, 40 } }, gpu.loadtxt(at, { converters = { [2] = function(text) return text * 10 end } }):table())
    fails('expected a number of uint8 in place of the field, not 300, got "1"', gpu.loadtxt, at,
      { dtype = "uint8", converters = function() return 300 end })
  end)

  it("of other forms are errors that name the line", function()
    fails("[loadtxt] expected 2 columns, as in the line before, got 1 in line 3 of", gpu.loadtxt, file "1 2\n\n3\n")
    fails('[loadtxt] expected a number of float32, got "x" in line 1, column 2', gpu.loadtxt, file "1 x\n")
    fails("; skiprows = 1 leaves a heading out", gpu.loadtxt, file "a b\n1 2\n")
    fails('; delimiter = "," splits it, and gpu.load(path) reads a .csv with names', gpu.loadtxt, file "1,2\n")
    fails('[loadtxt] expected a number of int32, got "1.5"', gpu.loadtxt, file "1.5\n", "int32")
    fails('[loadtxt] expected a number of uint8, got "300"', gpu.loadtxt, file "300\n", "uint8")
    fails('[loadtxt] expected a number of int64, got "9223372036854775808"', gpu.loadtxt, file "9223372036854775808\n", "int64")
    fails('[loadtxt] expected a dtype for integers that float32 would round, got "20230101"', gpu.loadtxt, file "20230101\n")
    assert.are.equal(20230101, gpu.loadtxt(file "20230101\n", "float64"):item())
    fails("[loadtxt] expected columns from 1 to 2, or from -2 to -1, got 3", gpu.loadtxt, file "1 2\n", { usecols = 3 })
    fails("[loadtxt] expected the options", gpu.loadtxt, file "1\n", { delim = "," })
    fails("[loadtxt] expected delimiter, a text that is not empty", gpu.loadtxt, file "1\n", { delimiter = "" })
    fails("[loadtxt] expected ndmin = 0, 1 or 2, got 3", gpu.loadtxt, file "1\n", { ndmin = 3 })
    fails("[savetxt] expected a vector or a matrix", gpu.savetxt, path ".txt", gpu.zeros(2, 2, 2))
    fails("[savetxt] expected a format of one number", gpu.savetxt, path ".txt", gpu.zeros(2), { fmt = "%d %d" })
    fails("[savetxt] expected a format for each of 2 columns, got 1", gpu.savetxt, path ".txt", gpu.zeros(2, 2), { fmt = { "%d" } })
    fails("cannot", gpu.savetxt, "/nowhere/at/all.txt", gpu.zeros(2))
    local nothing, message = gpu.loadtxt "/nowhere/at/all.txt"
    assert.is_nil(nothing)
    assert.is_truthy(message:find("[loadtxt] cannot open /nowhere/at/all.txt", 1, true))
  end)

  it("of plain elements have neither shape nor dtype", function()
    for _, dtype in ipairs { "bool", "int16", "uint64", "float16", "bfloat16", "float32", "complex64" } do
      local x = (gpu.arange(12) % 5):astype(dtype):reshape(3, 4).T
      local at = path ".bin"
      assert.is_true(x:tofile(at))
      support.same(x:ravel(), gpu.fromfile(at, dtype), dtype)
      support.same(x:ravel()({ 3, 5 }), gpu.fromfile(at, { dtype = dtype, offset = 2 * x.nbytes / 12, count = 3 }), dtype)
    end
    local at = path ".bin"
    gpu.arange(5, "int16"):tofile(at)
    fails("[fromfile] expected whole elements of float32 from byte 0 on, got", gpu.fromfile, at)
    fails("[fromfile] expected 6 elements of int16 from byte 0 on, got", gpu.fromfile, at, { dtype = "int16", count = 6 })
    fails("[fromfile] expected an offset in the file, got 11", gpu.fromfile, at, { offset = 11 })
    assert.are.equal(0, gpu.fromfile(at, { offset = 10 }).size)
    assert.are.same({ 1, 2.5, 3 }, gpu.fromfile(file "1, 2.5,\n3,\n", { sep = "," }):table())
    assert.are.same({ 1, 2 }, gpu.fromfile(file "1 2  3", { sep = " ", count = 2, dtype = "int8" }):table())
    assert.is_nil((gpu.fromfile "/nowhere/at/all.bin"))
  end)

  it("checks converters", function()
    local path = os.tmpname()
    local file = io.open(path, "w")
    file:write "1 2\n"
    file:close()
    require("support").fails("converters by columns counted from 1, got 0", gpu.loadtxt, path, { converters = { [0] = tonumber } })
    require("support").fails("a function as converter", gpu.loadtxt, path, { converters = { 5 } })
    require("support").fails('a number from the converter for "1"', gpu.loadtxt, path, { converters = { function() end } })
    os.remove(path)
  end)
end)

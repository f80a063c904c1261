-- print(x): aligned numbers, wrapped rows and truncated arrays, as in NumPy.
local gpu = require "gpu"

local function shown(values, dtype)
  local x = type(values) == "table" and gpu.array(values, { dtype = dtype }) or values
  return (tostring(x):gsub("^[^\n]*\n", ""))
end

describe("tostring(array)", function()
  it("puts the points of numbers below each other", function()
    assert.are.equal("[1 2 3]", shown { 1, 2, 3 })
    assert.are.equal("[  1      2.5  -10.25]", shown { 1, 2.5, -10.25 })
    assert.are.equal("[[  0.5     1    ]\n [  1.25  100.125]]", shown { { 0.5, 1 }, { 1.25, 100.125 } })
    assert.are.equal("[   1000 1234567]", shown { 1000, 1234567 })
    assert.are.equal("[0.333333 0.666667 1       ]", shown({ 1 / 3, 2 / 3, 1 }, "float64"))
    assert.are.equal("[-0  0]", shown({ -0.0, 0 }, "float64"))
    assert.are.equal("[  1 -20 300]", shown({ 1, -20, 300 }, "int32"))
  end)

  it("gives all numbers an exponent where one is large or small", function()
    assert.are.equal("[1.00e+00 2.50e+00 1.25e+08]", shown { 1, 2.5, 1.25e8 })
    assert.are.equal("[ 1e-05 -2e+00  0e+00]", shown({ 1e-5, -2, 0 }, "float64"))
    assert.are.equal("[1e-100 1e+000]", shown({ 1e-100, 1 }, "float64"))
    assert.are.equal("[99999999]", shown({ 99999999 }, "float64"))
    assert.are.equal("[1e+08]", shown({ 1e8 }, "float64"))
  end)

  it("shows no sign of NaN", function()
    local nan = gpu.array { 0 / 0, -(0 / 0) }
    assert.are.equal("[nan nan]", shown(nan))
    assert.are.equal("[nan nan]", shown(nan:copysign(-1)))
    assert.are.equal("[  1.5   nan   inf  -inf -10  ]", shown { 1.5, 0 / 0, math.huge, -math.huge, -10 })
  end)

  it("aligns both parts of complex numbers", function()
    assert.are.equal("[  1  +2i    -10.5-0.25i]", shown { gpu.complex(1, 2), gpu.complex(-10.5, -0.25) })
    assert.are.equal("[nan+nani]", shown { gpu.complex(0 / 0, -(0 / 0)) })
  end)

  it("wraps rows of more than 80 characters", function()
    local first = "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25"
    assert.are.equal(first .. "\n 26 27 28 29]", shown(gpu.arange(30)))
    local rows = shown(gpu.arange(60):reshape(2, 30))
    assert.are.equal("[" .. first:sub(1, -4) .. "\n  25 26 27 28 29]\n [30 31", rows:sub(1, 102))
    for line in rows:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
    local long = shown(gpu.arange(1000))
    assert.is_nil(long:find("...", 1, true))
    for line in long:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
  end)

  it("cuts arrays of more than 1000 elements", function()
    assert.are.equal("[   0    1    2 ...  998  999 1000]", shown(gpu.arange(1001)))
    assert.are.equal("[[   0    1]\n [   2    3]\n [   4    5]\n ...\n [1996 1997]\n [1998 1999]\n [2000 2001]]",
      shown(gpu.arange(2002):reshape(1001, 2)))
    assert.are.equal("[0 0 0 ... 0 0 0]", shown(gpu.zeros(100000)))
    assert.are.equal("[]", shown(gpu.zeros(0, 3)))
  end)

  it("separates matrices by an empty line", function()
    assert.are.equal("[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]", shown(gpu.arange(8):reshape(2, 2, 2)))
  end)
end)

describe("x.shape", function()
  it("is printed as a tuple, and stays a table", function()
    local x = gpu.ones(3, 4)
    assert.are.equal("(3, 4)", tostring(x.shape))
    assert.are.equal("(3,)", tostring(gpu.ones(3).shape))
    assert.are.equal("()", tostring(x:sum().shape))
    assert.are.equal("(16, 4)", tostring(x.strides))
    assert.are.equal("shape (3, 4)", "shape " .. x.shape)
    assert.are.same({ 3, 4 }, x.shape)
    assert.are.same({ 3, 4 }, { unpack(x.shape) })
    assert.are.equal(2, #x.shape)
    local sizes = {}
    for i, size in ipairs(x.shape) do sizes[i] = size end
    assert.are.same({ 3, 4 }, sizes)
    assert.are.equal(4, gpu.zeros(x.shape).shape[2])
  end)

  it("equals one with the same sizes, and counts from either end", function()
    local x = gpu.ones(3, 4)
    assert.is_true(x.shape == gpu.zeros(3, 4).shape)
    assert.is_true(x.shape ~= gpu.zeros(4, 3).shape and x.shape ~= gpu.zeros(3).shape)
    assert.are.equal(4, x.shape[-1])
    assert.are.equal(3, x.shape[-2])
    assert.is_nil(x.shape[3])
    assert.is_nil(x.shape[-3])
  end)
end)

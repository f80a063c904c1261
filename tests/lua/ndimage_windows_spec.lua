-- gpu.ndimage: filters of windows beside loops over each element's neighbours, for the kernels of kernels/window_filter.cuh and
-- kernels/window_ranks.cuh and for windows that they do not take.
local gpu = require "gpu"
local nd = gpu.ndimage

--- Where the element stands that is beyond a border, by one step towards the array at a time; nil for a number.
local borders = {
  reflect = function(i, n)
    while i < 0 or i >= n do i = i < 0 and -1 - i or 2 * n - 1 - i end
    return i
  end,
  mirror = function(i, n)
    while n > 1 and (i < 0 or i >= n) do i = i < 0 and -i or 2 * n - 2 - i end
    return n > 1 and i or 0
  end,
  nearest = function(i, n) return math.max(0, math.min(i, n - 1)) end,
  wrap = function(i, n) return i % n end,
  constant = function(i, n) return i >= 0 and i < n and i or nil end,
}
local modes = { "reflect", "mirror", "nearest", "wrap", "constant" }

--- Calls fn(neighbours) for each element, in row-major order; the neighbours are in this order, too.
local function each_element(list, shape, sizes, origins, mode, cval, fn)
  local ndim, place = #shape, borders[mode]
  local position, neighbours = {}, {}
  for axis = 1, ndim do position[axis] = 0 end
  local function gather(axis, base)
    if axis > ndim then
      neighbours[#neighbours + 1] = base and list[base + 1] or cval
      return
    end
    for k = 0, sizes[axis] - 1 do
      local i = place(position[axis] + k - math.floor(sizes[axis] / 2) - origins[axis], shape[axis])
      gather(axis + 1, base and i and base * shape[axis] + i or nil)
    end
  end
  for _ = 1, #list do
    neighbours = {}
    gather(1, 0)
    fn(neighbours)
    for axis = ndim, 1, -1 do
      position[axis] = position[axis] + 1
      if position[axis] < shape[axis] then break end
      position[axis] = 0
    end
  end
end

--- NaN is the last.
local function before(a, b) return a < b or b ~= b and a == a end

local function check(expected, found, what)
  local list = found:astype("float64"):ravel():table()
  assert(#expected == #list, what)
  for i, value in ipairs(expected) do
    if value ~= list[i] and (value == value or list[i] == list[i]) then
      error(("%s: element %d: expected %.17g, got %.17g"):format(what, i, value, list[i]), 2)
    end
  end
end

-- Whole numbers: sums of them are exact in any order.
local ranges = { bool = { 0, 2 }, uint8 = { 0, 20 }, uint32 = { 0, 20 }, float16 = { -5, 6 } }
local function numbers(shape, dtype)
  local range = ranges[dtype] or { -20, 20 }
  return gpu.random.integers(shape, range[1], range[2]):astype(dtype):eval()
end

--- For each element, what the filters give: the sum, and the ranks by name. `taken`: the neighbours of the footprint.
local function filtered(factors, taken)
  local results = { sum = {}, median = {}, third = {}, least = {}, greatest = {}, chosen_least = {}, chosen_greatest = {} }
  local element = 0
  return results, function(neighbours)
    element = element + 1
    local sum, chosen = 0, {}
    for k, value in ipairs(neighbours) do
      sum = sum + factors[k] * value
      if taken[k] == 1 then chosen[#chosen + 1] = value end
    end
    table.sort(neighbours, before)
    table.sort(chosen, before)
    local count = #neighbours
    results.sum[element] = sum
    results.median[element], results.third[element] = neighbours[math.floor(count / 2) + 1], neighbours[math.min(3, count)]
    results.least[element], results.greatest[element] = neighbours[1], neighbours[count]
    results.chosen_least[element], results.chosen_greatest[element] = chosen[1], chosen[#chosen]
  end
end

local function run(shape, sizes, dtype, x)
  x = x or numbers(shape, dtype)
  local list = x:astype("float64"):ravel():table()
  local weights = gpu.random.integers(sizes, -3, 4):astype "float64":eval()
  local footprint = weights:ge(0):logical_or(weights:eq(weights:max())):eval()
  local factors, turned = weights:ravel():table(), weights:flip():ravel():table()
  local taken = footprint:astype("float64"):ravel():table()
  local least, none, most = {}, {}, {}
  for axis, size in ipairs(sizes) do
    least[axis], none[axis], most[axis] = -math.floor(size / 2), 0, math.floor((size - 1) / 2)
  end
  for m, mode in ipairs(modes) do
    local cval = mode == "constant" and 1 or nil
    local origins = m % 3 == 0 and least or m % 3 == 1 and most or none
    local options = { mode = mode, cval = cval, origin = origins }
    local expected, add = filtered(factors, taken)
    each_element(list, shape, sizes, origins, mode, cval, add)
    local function same(name, found)
      check(expected[name], found, ("%s, %s of %s, %s, %s"):format(name, table.concat(sizes, "x"), table.concat(shape, "x"), dtype, mode))
    end
    same("sum", nd.correlate(x, weights, options))
    local median = nd.median_filter(x, sizes, options)
    assert.are.equal(dtype, median.dtype)
    same("median", median)
    same("least", nd.minimum_filter(x, sizes, options))
    same("greatest", nd.maximum_filter(x, sizes, options))
    if #factors < 10 then same("third", nd.rank_filter(x, math.min(3, #factors), sizes, options)) end
    options.footprint = footprint
    same("chosen_least", nd.minimum_filter(x, options))
    same("chosen_greatest", nd.maximum_filter(x, options))
    -- The window is turned around, too; of an even number of neighbours there is one more before the element.
    local moved = {}
    for axis, size in ipairs(sizes) do moved[axis] = -origins[axis] - (size % 2 == 0 and 1 or 0) end
    expected, add = filtered(turned, taken)
    each_element(list, shape, sizes, moved, mode, cval, add)
    options.footprint = nil
    same("sum", nd.convolve(x, weights, options))
  end
end

describe("filters of windows", function()
  setup(function() gpu.random.seed(11) end)

  it("are as loops for all borders, origins and even sizes", function()
    run({ 40, 140 }, { 3, 3 }, "float32")
    run({ 41, 65 }, { 5, 4 }, "uint8")
    run({ 20, 33 }, { 2, 3 }, "float64")
    run({ 20, 70 }, { 7, 6 }, "int16")
    run({ 21, 40 }, { 6, 2 }, "float16")
    run({ 20, 32 }, { 4, 1 }, "bool")
    run({ 20, 65 }, { 1, 5 }, "uint32")
  end)

  it("are as loops for arrays that are narrower than the window", function()
    run({ 3, 40 }, { 7, 5 }, "int32")
    run({ 1, 40 }, { 3, 3 }, "float32")
    run({ 2, 33 }, { 1, 80 }, "uint8")
    run({ 2, 33 }, { 9, 35 }, "float32")
    run({ 2, 33 }, { 16, 1 }, "int64")
  end)

  it("are as loops for one axis, three, and axes before and after the window's", function()
    run({ 300 }, { 5 }, "float32")
    run({ 300 }, { 12 }, "int8")
    run({ 5, 6, 40 }, { 3, 2, 4 }, "float32")
    run({ 3, 20, 33 }, { 1, 3, 3 }, "bfloat16")
    run({ 12, 15, 3 }, { 3, 4, 1 }, "uint8")
    run({ 12, 20, 3 }, { 1, 3, 1 }, "float32")
    run({ 2, 9, 5, 8 }, { 1, 4, 3, 1 }, "uint16")
    run({ 2, 9, 40 }, { 1, 10, 1 }, "float64")
  end)

  it("are as loops for windows that have no kernel of their own", function()
    run({ 6, 7 }, { 3, 4 }, "float32")
    run({ 4, 3, 40 }, { 3, 1, 3 }, "uint8")
    run({ 2, 3, 4, 32 }, { 2, 2, 2, 2 }, "int32")
    run({ 12, 50 }, { 9, 8 }, "float32")
    run({ 3, 40 }, { 17, 2 }, "float64")
  end)

  it("are as loops for views", function()
    local x = numbers({ 50, 40 }, "float32")
    run({ 40, 50 }, { 3, 3 }, "float32", x.T)
    run({ 25, 36 }, { 3, 5 }, "float32", x({ 2, 50, 2 }, { 3, 38 }))
  end)

  it("take NaN and infinities", function()
    local x = numbers({ 24, 70 }, "float64")
    for k, value in ipairs { 0 / 0, 1 / 0, -1 / 0, 0 / 0, 1 / 0 } do
      x[{ 3 * k, 5 * k }] = value
      x[{ k, 70 }] = value
    end
    for _, dtype in ipairs { "float64", "float32", "float16" } do run({ 24, 70 }, { 3, 3 }, dtype, x:astype(dtype):eval()) end
    run({ 24, 70 }, { 1, 10 }, "float32", x:astype "float32":eval())
  end)

  it("sum in the order of the weights, with one rounding for a product and its sum", function()
    -- A window with its weights in one row, which goes to another kernel, has the same order.
    local x = gpu.rand({ 64, 200 }, "float32"):eval()
    local row = gpu.rand({ 1, 9 }, "float32"):eval()
    local wide = gpu.concat({ row, gpu.zeros({ 1, 9 }, "float32") }, 1)
    assert.is_true(nd.correlate(x, row, { mode = "wrap" }):equal(nd.correlate(x, wide, { mode = "wrap", origin = { -1, 0 } })))
    -- Strips of another height have it, too.
    local tall = nd.correlate(x, gpu.ones(3, 3) * 0.1, { mode = "nearest" })
    local part = nd.correlate(x({ 9, 20 }), gpu.ones(3, 3) * 0.1, { mode = "nearest" })
    assert.is_true(tall({ 10, 19 }):equal(part({ 2, 11 })))
  end)

  it("erode and dilate by structures without elements, too", function()
    for _, shape in ipairs { { 20, 40 }, { 5, 6 } } do
      local x, none = numbers(shape, "bool"), gpu.zeros({ 3, 2 }, "bool")
      assert.is_true(nd.binary_erosion(x, { structure = none }):all():item())
      assert.is_false(nd.binary_dilation(x, { structure = none }):any():item())
      -- What is true around an element, by shifts.
      local wide = x:pad({ { 1, 1 }, { 1, 1 } })
      local rows, columns = shape[1], shape[2]
      local middle = { 2, columns + 1 }
      local above, below = wide({ 1, rows }, middle), wide({ 3, rows + 2 }, middle)
      local left, right = wide({ 2, rows + 1 }, { 1, columns }), wide({ 2, rows + 1 }, { 3, columns + 2 })
      local any = x:logical_or(above):logical_or(below):logical_or(left):logical_or(right)
      local all = x:logical_and(above):logical_and(below):logical_and(left):logical_and(right)
      assert.is_true(nd.binary_dilation(x):equal(any))
      assert.is_true(nd.binary_erosion(x):equal(all))
    end
  end)

  it("refuse a number that does not fit, and arrays of another device", function()
    local fails = require("support").fails
    local x = gpu.zeros({ 4, 40 }, "uint8")
    fails("300 does not fit uint8: it is out of range", nd.median_filter, x, 3, { mode = "constant", cval = 300 })
    fails("1e+300 does not fit float32: it is out of range", nd.convolve, x, { { 1, 2 } }, { mode = "constant", cval = 1e300 })
    fails("[ndimage.median_filter] expected an origin from -1 to 1 for 3 weights, got 2", nd.median_filter, x, 3, { origin = 2 })
  end)
end)

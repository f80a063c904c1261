-- Shapes, views, joins, copies and creation.
local gpu = require "gpu"
local golden = require "golden_cases"
local fails = require("support").fails

local function kernels(...) return tonumber(gpu.explain(...):match "^(%d+) kernel") end

describe("shapes", function()
  it("are as NumPy's", function() golden.run "shapes" end)

  it("are views where NumPy gives views", function()
    local m = gpu.zeros(2, 3)
    m:reshape(3, 2)(1, 2):fill_(1)
    m.T(3, 1):fill_(2)
    m:flip(1)(1, 1):fill_(3)
    m:expand_dims(2)(2, 1, 2):fill_(4)
    m:diagonal(1)(2):fill_(5)
    assert.are.same({ { 0, 1, 2 }, { 3, 4, 5 } }, m:table())
    m:ravel()[1] = 6
    gpu.split(m, 3, 2)[3]:fill_(7)
    m:moveaxis(1, 2):squeeze():swapaxes(1, 2)(2):fill_(8)
    gpu.atleast_3d(m)(1, 2, 1):fill_(9)
    assert.are.same({ { 6, 9, 7 }, { 8, 8, 8 } }, m:table())
    m:flatten():fill_(0)
    m.T:ravel():fill_(0)
    m:roll(1):fill_(0)
    assert.are.same({ { 6, 9, 7 }, { 8, 8, 8 } }, m:table())
  end)

  it("are copied by rows, which may be long, short, backwards or over each other", function()
    for dtype, width in pairs { uint8 = 200, float32 = 33, float64 = 5, complex64 = 70 } do
      local x = (gpu.arange(3 * 40 * width) % 251):astype(dtype):reshape(3, 40, width):eval()
      local function rolled(axis, by)
        local n = x.shape[axis]
        return x:take((gpu.arange(n, "int64") - by) % n + 1, axis)
      end
      for axis = 1, 3 do
        assert.is_true(x:roll(2, axis):eq(rolled(axis, 2)):all():item())
        assert.is_true(gpu.concat({ x:flip(axis), x }, axis):flip(axis):eq(gpu.concat({ x:flip(axis), x }, axis)):all():item())
      end
      local y, inner = gpu.zeros_like(x), { 2, -2 }
      y(inner, inner, inner):copy_(x(inner, inner, inner))
      local sum = x(inner, inner, inner):astype("complex128"):sum():item()
      assert.are.equal(sum, y:astype("complex128"):sum():item())
      local expected = x:roll(1, 2)
      expected(":", 1):copy_(x(":", 1))
      local later = x + x
      x(":", { 2, -1 }):copy_(x(":", { 1, -2 }))
      assert.is_true(x:eq(expected):all():item())
      assert.is_false(later:eq(x + x):all():item())
    end
  end)

  it("of wide rows may begin and end anywhere", function()
    for _, dtype in ipairs { "float32", "float64", "uint8", "int16", "complex64" } do
      for _, width in ipairs { 1029, 2050, 4100 } do
        local x = (gpu.arange(5 * width) % 97):reshape(5, width):astype(dtype):eval()
        for first, last in pairs { [1] = width - 1, [2] = width - 1, [4] = width } do
          local slice = x(":", { first, last })
          local count = last - first + 1
          -- The copy lies in one piece, so that its kernels take it as a vector.
          local piece = slice:copy()
          assert.is_true((slice + slice):reshape(-1):eq((piece:reshape(-1) * 2):eval()):all():item())
          local wider = gpu.zeros(5, width + 3, { dtype = dtype })
          wider(":", { 3, count + 2 }):copy_(slice * 1)
          assert.is_true(wider(":", { 3, count + 2 }):eq(piece):all():item())
          assert.are.equal(piece:ne(0):sum():item(), wider:ne(0):sum():item())
          local a, b = gpu.eval(slice:astype "complex128" + 1, slice:astype "complex64" * 2)
          assert.is_true((a * 2 - 2):eq(b):all():item())
        end
      end
    end
  end)

  it("of pending arrays are views of what they will be", function()
    local y = gpu.ones(2, 3) + 1
    local r = y:reshape(3, 2)
    r:fill_(5)
    assert.are.equal(5, y[1][1])
    local joined = gpu.concat({ gpu.ones(2) * 3, gpu.ones(1) })
    assert.are.same({ 3, 3, 1 }, joined:table())
  end)

  it("that several indices share cannot be written", function()
    fails("broadcast view", function() gpu.ones(3):broadcast_to(2, 3):fill_(1) end)
    fails("several indices are one element", function() gpu.ones(5):sliding_window(2):fill_(1) end)
    gpu.ones(6, 4)({ 1, 6, 2 }, { 4, 1, -3 }).T:fill_(1)
  end)

  it("name both sides of what does not fit", function()
    local m = gpu.zeros(3, 4)
    fails("[reshape] expected a shape of 12 elements, as (3,4) has, got (5,2)", function() m:reshape(5, 2) end)
    fails("[reshape] expected a shape of 12 elements, as (3,4) has, got (5,-1)", function() m:reshape(5, -1) end)
    fails("[reshape] expected at most one size of -1, got (-1,-1)", function() m:reshape(-1, -1) end)
    fails("[reshape] expected sizes of 0 or more, or -1 for what is left, got (-2,6)", function() m:reshape(-2, 6) end)
    fails("[reshape] expected no size of 0 beside one of -1", function() gpu.zeros(0):reshape(0, -1) end)
    fails("[reshape] expected sizes that are integers, got NaN", function() m:reshape(0 / 0) end)
    fails("[flip] axis 3 is out of range for an array of 2 dimensions", function() m:flip(3) end)
    fails("[flip] axes start at 1, got 0", function() m:flip(0) end)
    fails("[permute] expected each axis once, got axis 1 twice", function() m:permute(1, -2) end)
    fails("[permute] expected all axes of shape (3,4), got 1", function() m:permute(1) end)
    fails("[swapaxes] expected an axis: an integer, got 1.5", function() m:swapaxes(1.5, 1) end)
    fails("[expand_dims] expected an axis: an integer, got NaN", function() m:expand_dims(0 / 0) end)
    fails("[expand_dims] axis 5 is out of range for an array of 3 dimensions", function() m:expand_dims(5) end)
    fails("[moveaxis] expected as many places as axes, got 2 axes and 1 places", function() m:moveaxis({ 1, 2 }, 1) end)
    fails("[squeeze] expected axes of size 1, got axis 2 of shape (3,4)", function() m:squeeze(2) end)
    fails("could not be broadcast together with shapes (3,4) (3,5)", function() m:broadcast_to(3, 5) end)
    fails("could not be broadcast together with shapes (3,4) (4,)", function() m:broadcast_to(4) end)
    fails("[broadcast_arrays] operands could not be broadcast together with shapes (2,) (3,): counted from the last axis, 2 meets 3",
      function() gpu.broadcast_arrays(gpu.zeros(2), gpu.zeros(3)) end)
    fails("[broadcast_arrays] operands could not be broadcast together with shapes (3,4) () (3,): counted from the last axis, 4 meets 3",
      function() gpu.broadcast_arrays(m, gpu.array(1), gpu.zeros(3)) end)
    fails("[broadcast_arrays] expected arrays, got nothing", function() gpu.broadcast_arrays() end)
    fails("[broadcast_arrays] expected an array, got 1", function() gpu.broadcast_arrays(m, 1) end)
    fails("[concat] expected shapes that are equal but for axis 1, got (3,4) and (3,5)",
      function() gpu.concat { m, gpu.zeros(3, 5) } end)
    fails("[concat] expected arrays of as many dimensions, got (3,4) and (4,)", function() gpu.concat { m, gpu.zeros(4) } end)
    fails("[concat] expected a table of arrays, {x, y}, got nothing", function() gpu.concat() end)
    fails("[concat] expected an array, got 1", function() gpu.concat { 1 } end)
    fails("[stack] expected arrays of one shape, got (3,4) and (4,3)", function() gpu.stack { m, m.T } end)
    fails("[split] expected a number of pieces that divides the 3 elements of axis 1, got 2", function() gpu.split(m, 2) end)
    fails("[split] expected the last positions of pieces", function() m:split(0.5) end)
    fails("[tile] expected numbers of 0 or more, got -1", function() m:tile(-1) end)
    fails("[repeat_interleave] expected a number for each of the 3 elements of axis 1, got 2",
      function() m:repeat_interleave({ 1, 2 }, 1) end)
    fails("[pad] expected widths for the 2 axes of shape (3,4), got 1", function() m:pad { { 1, 1 } } end)
    fails("[pad] expected a mode: constant, edge, reflect, symmetric or wrap", function() m:pad(1, { mode = "none" }) end)
    fails("[pad] expected the options mode and value", function() m:pad(1, { fill = 1 }) end)
    fails("[roll] expected a shift for each axis, got 3 shifts and 2 axes", function() m:roll({ 1, 2, 3 }, { 1, 2 }) end)
    fails("[rot90] expected two different axes, got axis 1 twice", function() m:rot90(1, { 1, 1 }) end)
    fails("[diagonal] expected an array of two dimensions or more, got shape (2,)", function() gpu.zeros(2):diagonal() end)
    fails("[sliding_window] expected a window of 1 to 4 elements on axis 2, got 5", function() m:sliding_window(5, 2) end)
    fails("[sliding_window] expected a window size for each of 2 axes, got 1", function() m:sliding_window(2) end)
    local many = {}
    for i = 1, 65 do many[i] = 1 end
    fails("expected at most 64 dimensions, got 65", function() gpu.zeros(1):reshape(many) end)
    fails("expected at most 64 dimensions, got 65", function() gpu.zeros(1):broadcast_to(many) end)
    many[65] = nil
    local full = gpu.zeros(many)
    fails("expected at most 64 dimensions, got 65", function() full:expand_dims(1) end)
    fails("expected at most 64 dimensions, got 65", function() gpu.stack { full } end)
    assert.are.equal(1, full:squeeze():reshape(-1).size)
  end)

  it("are those of an array to write to", function()
    local m, out = gpu.arange(12, "float32"):reshape(3, 4), gpu.zeros(3, 8)
    assert.are.equal(gpu.concat({ m, m }, 2, { out = out }).pointer, out.pointer)
    assert.are.same(gpu.concat({ m, m }, 2):table(), out:table())
    assert.are.same(out:table(), gpu.concat({ m, m }, { axis = 2, out = gpu.zeros(3, 8, "float64") }):table())
    local rows = gpu.zeros(2, 3, 4)
    assert.are.equal(gpu.stack({ m, m }, { out = rows }).pointer, rows.pointer)
    assert.are.same(gpu.stack({ m, m }):table(), rows:table())
    local halves = gpu.arange(6, "float32"):reshape(2, 3)
    gpu.concat({ halves("2:2"), halves("1:1") }, { out = halves }) -- over its own operands
    assert.are.same({ { 3, 4, 5 }, { 0, 1, 2 } }, halves:table())
    fails("[concat] expected an array to write to of the result's shape (6,4), got (3,8)", function() gpu.concat({ m, m }, { out = out }) end)
    fails('[stack] expected the options axis and out, got "axes"; did you mean "axis"?', function() gpu.stack({ m }, { axes = 1 }) end)
  end)

  it("of padding take a mode and a value", function()
    local v = gpu.array { 5 }
    assert.are.same({ 1, 5, 1 }, v:pad(1, "constant", { value = 1 }):table())
    assert.are.same({ 5, 5, 5 }, v:pad(1, "edge"):table())
    assert.are.same({ 2, 5, 2 }, v:pad(1, { value = 2 }):table())
    fails('[pad] expected one mode, got "edge" and an option, got "wrap"', function() v:pad(1, "edge", { mode = "wrap" }) end)
    fails("[pad] expected no value with the mode edge, got 1", function() v:pad(1, "edge", { value = 1 }) end)
    fails('[pad] expected a mode: constant, edge, reflect, symmetric or wrap, got 7', function() v:pad(1, 7) end)
  end)

  it("are reported at the script's line", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local message = fails("[tile]", function() local _ = gpu.zeros(2):tile(-1) end)
    assert.is_truthy(message:find("shape_spec.lua:" .. line, 1, true), message)
    message = fails("[vstack]", function() local _ = gpu.vstack { gpu.zeros(2), gpu.zeros(3) } end)
    assert.is_truthy(message:find("shape_spec.lua:" .. line + 2, 1, true), message)
  end)
end)

describe("creation from positions", function()
  it("is lazy and fuses", function()
    local x = gpu.ones(4, 4)
    assert.are.equal(1, kernels(gpu.tril(x * 2) + gpu.eye(4)))
    local X, Y = gpu.meshgrid(gpu.arange(3, "float32"):eval(), gpu.arange(2, "float32"):eval())
    assert.are.equal(1, kernels(X * Y + 1))
    assert.are.equal(1, kernels((gpu.fromfunction(function(i, j) return i * j end, { 3, 3 })):sum()))
  end)

  it("names what does not fit", function()
    fails("[eye] expected a count of 0 or more, got -1", function() gpu.eye(-1) end)
    fails("[eye] expected an integer offset, got 0.5", function() gpu.eye(2, 2, 0.5) end)
    fails("[identity] expected a count of 0 or more, got nil", function() gpu.identity() end)
    fails("[logspace] expected a number, got nil", function() gpu.logspace(1) end)
    fails("[geomspace] expected two numbers of one sign other than 0, got -1 and 1", function() gpu.geomspace(-1, 1) end)
    fails("[meshgrid] expected vectors, got an array float32[2x2]", function() gpu.meshgrid(gpu.zeros(2, 2)) end)
    fails("[diag] expected a vector or a matrix", function() gpu.diag(gpu.zeros(1, 1, 1)) end)
    fails("[tril] expected an array with dimensions", function() gpu.tril(gpu.array(1)) end)
    fails("[vander] expected a vector, got an array float32[1x1]", function() gpu.vander(gpu.zeros(1, 1)) end)
    fails("[indices] expected a table of sizes, got 3", function() gpu.indices(3) end)
  end)
end)

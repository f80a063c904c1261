-- gpu.ndimage, and integrals, splines and fits, beside SciPy's and NumPy's.
local gpu = require "gpu"
local golden = require "golden_cases"
local support = require "support"
local fails = support.fails
local nd = gpu.ndimage

describe("ndimage", function()
  it("is as SciPy's", function() golden.run "ndimage" end)

  it("is lazy after its padding, and takes any real dtype", function()
    local x = gpu.rand(20, 30):eval()
    assert.is_truthy(gpu.explain(nd.correlate(x, { { 1, 2, 1 } }) * 2 + x):find "^%d kernel")
    for _, dtype in ipairs { "bool", "uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64" } do
      local y = (x * 9):astype(dtype)
      assert.are.equal(dtype, nd.median_filter(y, 3).dtype)
      local floating = dtype:find "float" and dtype or "float32"
      assert.are.equal(floating, nd.gaussian_filter(y, 1).dtype)
      assert.are.equal(floating, nd.zoom(y, 2, { order = 1 }).dtype)
    end
    assert.are.equal("(0, 3)", tostring(nd.gaussian_filter(gpu.zeros(0, 3), 1).shape))
    assert.are.equal("(0, 3)", tostring(nd.median_filter(gpu.zeros(0, 3), 3).shape))
    -- NaN is the greatest.
    local n = nd.median_filter(gpu.array { 1, 0 / 0, 2, 3, 4 }, 3, { mode = "nearest" })
    assert.are.same({ 1, 2, 3, 3, 4 }, n:table())
  end)

  it("passes through the elements, whatever the order and mode", function()
    local x = gpu.rand({ 6, 7 }, "float64")
    local rows, columns = gpu.indices({ 6, 7 }, "float64")
    for _, mode in ipairs { "constant", "grid-constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap" } do
      for _, order in ipairs { 0, 1, 3 } do
        local y = nd.map_coordinates(x, { rows, columns }, { order = order, mode = mode })
        if mode ~= "wrap" then assert(gpu.abs(y - x):max():item() < 1e-6, mode .. order) end
        if mode ~= "nearest" and mode ~= "wrap" and mode ~= "grid-constant" then assert(gpu.abs(y - x):max():item() < 1e-13, mode .. order) end
      end
    end
    local turned = nd.rotate(nd.rotate(x, 90, { order = 1 }), -90, { order = 1 })
    assert.is_true(turned:eq(x):all():item())
    assert.is_true(nd.map_coordinates(x, { gpu.array { 0 / 0 }, gpu.array { 1 } }, { cval = 5 }):eq(5):all():item())
  end)

  it("refuses what it does not understand", function()
    local x = gpu.zeros(4, 5)
    fails("[ndimage.convolve] expected a mode: reflect, constant, nearest, mirror or wrap, got \"edge\"", nd.convolve, x, { { 1 } }, { mode = "edge" })
    fails("[ndimage.convolve] expected weights: an array or nested tables with as many axes as x, got shapes (4,5) and (1,)", nd.convolve, x, { 1 })
    fails("[ndimage.convolve] expected no cval with the mode reflect, got 1", nd.convolve, x, { { 1 } }, { cval = 1 })
    fails("[ndimage.convolve] expected an origin from -1 to 1 for 3 weights, got 2", nd.convolve, x, { { 1, 2, 3 } }, { origin = { 0, -2 } })
    fails("[ndimage.convolve] expected real numbers", nd.convolve, gpu.zeros({ 2, 2 }, "complex64"), { { 1 } })
    fails("[ndimage.gaussian_filter] expected a standard deviation of 0 or more, got -1", nd.gaussian_filter, x, -1)
    fails("[ndimage.gaussian_filter] expected a standard deviation of 0 or more for each of 2 axes, got 3", nd.gaussian_filter, x, { 1, 2, 3 })
    fails("[ndimage.sobel] axis 3 is out of range", nd.sobel, x, 3)
    fails("[ndimage.median_filter] expected a size, or a footprint: an array of bool", nd.median_filter, x)
    fails("[ndimage.median_filter] expected a size of 1 or more, got 0", nd.median_filter, x, 0)
    fails("[ndimage.median_filter] expected a footprint with an element that is true", nd.median_filter, x, { footprint = gpu.zeros({ 1, 2 }, "bool") })
    fails("[ndimage.zoom] expected order = 0, 1 or 3, got 2", nd.zoom, x, 2, { order = 2 })
    fails("[ndimage.zoom] expected a factor above 0, got 0", nd.zoom, x, 0)
    fails("[ndimage.zoom] expected elements, got shape (0,5)", nd.zoom, gpu.zeros(0, 5), 2)
    fails("[ndimage.rotate] expected two axes", nd.rotate, x, 10, { axes = 1 })
    fails("[ndimage.rotate] expected an angle in degrees, got \"90\"", nd.rotate, x, "90")
    fails("[ndimage.map_coordinates] expected a row of coordinates for each of 2 axes, got shape (3,4)", nd.map_coordinates, x, gpu.zeros(3, 4))
    fails("[ndimage.map_coordinates] expected the options", nd.map_coordinates, x, gpu.zeros(2, 4), { modes = 1 })
    fails("[ndimage.shift] expected a distance for each of 2 axes, got 1", nd.shift, x, { 1 })
  end)
end)

describe("integrals, splines and fits", function()
  it("give exact results where they are exact", function()
    local x = gpu.linspace(0, 3, 7, "float64")
    local cubic = x ^ 3 - 2 * x ^ 2 + x - 5
    assert(math.abs(gpu.simpson(cubic, 0.5):item() - (81 / 4 - 18 + 4.5 - 15)) < 1e-12)
    support.near({ 1, -2, 1, -5 }, gpu.polyfit(x, cubic, 3):table(), 1e-12)
    local s = gpu.cubic_spline(x, cubic)
    local t = gpu.linspace(-1, 4, 23, "float64")
    support.near((t ^ 3 - 2 * t ^ 2 + t - 5):table(), s(t):table(), 1e-11)
    support.near((3 * t ^ 2 - 4 * t + 1):table(), s(t, 1):table(), 1e-11)
    support.near(gpu.simpson(cubic, 0.5):item(), (s(3, -1) - s(0, -1)):item(), 1e-11)
    assert.are.equal("float32", gpu.cubic_spline({ 1, 2, 3 }, gpu.array { 1, 4, 9 })(2.5).dtype)
    support.near(6.25, gpu.cubic_spline({ 1, 2, 3 }, gpu.array { 1, 4, 9 })(2.5):item(), 1e-6)
    -- Far from 0 the powers of x are nearly dependent.
    local far = gpu.polyfit(x + 1000, cubic, 3)
    support.near(cubic:table(), gpu.polyval(far, x + 1000):table(), 1e-4)
    local many = gpu.linspace(-1, 1, 1000, "float64")
    assert(gpu.abs(gpu.polyval(gpu.polyfit(many, gpu.exp(many), 12), many) - gpu.exp(many)):max():item() < 1e-12)
    local fit = gpu.polyfit(gpu.arange(5), gpu.stack({ gpu.arange(5) * 2, gpu.ones(5, "int64") }, 2), 1)
    support.near({ { 2, 0 }, { 0, 1 } }, fit:table(), 1e-6)
    assert.are.equal("float32", fit.dtype)
  end)

  it("find the roots of polynomials", function()
    local function near(expected, found)
      assert.are.equal(#expected, found.size)
      local list = found:table()
      for _, z in ipairs(expected) do
        local best, at = math.huge, nil
        for i, w in ipairs(list) do
          local d = math.sqrt((w.re - z[1]) ^ 2 + (w.im - z[2]) ^ 2)
          if d < best then best, at = d, i end
        end
        assert(best < 1e-9 * math.max(1, math.abs(z[1])), ("%g%+gi is %g away"):format(z[1], z[2], best))
        table.remove(list, at)
      end
    end
    near({ { 1, 0 }, { 2, 0 } }, gpu.roots { 1, -3, 2 })
    near({ { 0, 1 }, { 0, -1 } }, gpu.roots(gpu.array { 2, 0, 2 }))
    near({ { 0, 0 }, { 0, 0 }, { 3, 0 } }, gpu.roots { 0, 0, 1, -3, 0, 0 })
    near({ { 1e8, 0 }, { 1e-8, 0 } }, gpu.roots { 1, -1e8 - 1e-8, 1 })
    near({ { 0, 1 }, { 2, 0 } }, gpu.roots { 1, gpu.complex(-2, -1), gpu.complex(0, 2) })
    local unity = {}
    for k = 0, 29 do unity[k + 1] = { math.cos(2 * math.pi * k / 30), math.sin(2 * math.pi * k / 30) } end
    local coefficients = { 1 }
    for _ = 1, 29 do coefficients[#coefficients + 1] = 0 end
    coefficients[#coefficients + 1] = -1
    near(unity, gpu.roots(coefficients))
    near({ { -1e155, 0 }, { 1e-155, 0 } }, gpu.roots { 1e-150, 1e5, -1e-150 })
    fails("[roots] expected roots that float64 takes, got one of about 2^199", gpu.roots, { 1e-300, 1e300, 1e-300 })
    fails("[roots] expected roots that float64 takes, got one of about 2^10", gpu.roots, { 1e-310, 1, 1 })
    assert.are.equal(0, gpu.roots({ 5 }).size + gpu.roots({}).size)
    assert.are.equal("complex128", gpu.roots({ 1, 2 }).dtype)
  end)

  it("find roots whose magnitudes are far apart", function()
    -- Beside a much greater root, the roots of each part are those of its coefficients alone.
    local function check(expected, coefficients)
      local found = gpu.roots(coefficients):table()
      local function before(z, w)
        local a, b = math.max(math.abs(z.re), math.abs(z.im)), math.max(math.abs(w.re), math.abs(w.im))
        return a > 2 * b or a >= b / 2 and z.im > w.im
      end
      table.sort(found, before)
      assert.are.equal(#expected, #found)
      for i, z in ipairs(expected) do
        local re, im = z, 0
        if type(z) == "table" then re, im = z[1], z[2] end
        local scale = math.max(math.abs(re), math.abs(im))
        local w = found[i]
        assert(math.abs(w.re - re) <= 1e-14 * scale and math.abs(w.im - im) <= 1e-14 * scale, ("%s is not %g%+gi"):format(tostring(w), re, im))
      end
    end
    check({ -1e200, -1e-200 }, { 1, 1e200, 1 })
    check({ -1e-100, -1e-250 }, { 1e100, 1, 1e-250 })
    check({ -1e150, -1, -1e-150 }, { 1e-150, 1, 1, 1e-150 })
    check({ { 0, 1e160 }, { 0, -1e160 }, -1e-160 }, { 1e-200, 0, 1e120, 1e-40 })
    check({ -1e170, { 0, 1 }, { 0, -1 }, 1e-170 }, { 1e-170, 1, 0, 1, -1e-170 })
    check({ { 0, -1e200 }, 1e-120 }, { 1, gpu.complex(-1e-120, 1e200), gpu.complex(0, -1e80) })
    check({ -1e300, -1e200, -1e100, -1, -1e-100, -1e-200 }, { 1e-300, 1, 1e200, 1e300, 1e300, 1e200, 1 })
    -- A chain of roots, each 2^60 times the next: the product of (z - 2^(60 k)) for k from 5 to 0, whose coefficients round to these.
    check({ 2 ^ 300, 2 ^ 240, 2 ^ 180, 2 ^ 120, 2 ^ 60, 1 },
      { 1, -2 ^ 300, 2 ^ 540, -2 ^ 720, 2 ^ 840, -2 ^ 900, 2 ^ 900 })
  end)

  it("find multiple roots whose polynomial is the given one, in exact pairs of conjugates", function()
    local factors = {
      ["(z + 1)^6"] = { -1, -1, -1, -1, -1, -1 }, ["(z - 1)^12"] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
      ["(z^2 + 1)^3"] = { { 0, 1 }, { 0, -1 }, { 0, 1 }, { 0, -1 }, { 0, 1 }, { 0, -1 } }, ["(z - 0.5)^2 (z + 2)"] = { 0.5, 0.5, -2 },
      ["1 to 12"] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, ["(z - i)^3 (z - 2)^2"] = { { 0, 1 }, { 0, 1 }, { 0, 1 }, 2, 2 },
      ["powers of 10"] = { 1e-6, 1e-3, 1, 1e3, 1e6 },
    }
    for name, list in pairs(factors) do
      -- The coefficients, by a loop.
      local re, im, is_real = { 1 }, { 0 }, true
      for _, root in ipairs(list) do
        local a, b = root, 0
        if type(root) == "table" then a, b = root[1], root[2] end
        re[#re + 1], im[#im + 1] = 0, 0
        for k = #re, 2, -1 do
          re[k], im[k] = re[k] - a * re[k - 1] + b * im[k - 1], im[k] - a * im[k - 1] - b * re[k - 1]
        end
      end
      local coefficients, most = {}, 0
      for k = 1, #re do
        is_real, most = is_real and im[k] == 0, math.max(most, math.abs(re[k]), math.abs(im[k]))
        coefficients[k] = gpu.complex(re[k], im[k])
      end
      local found = gpu.roots(is_real and re or coefficients)
      local values = found:table()
      for _, z in ipairs(is_real and values or {}) do
        local has_conjugate = false
        for _, w in ipairs(values) do has_conjugate = has_conjugate or w.re == z.re and w.im == -z.im end
        assert(has_conjugate, name)
      end
      local back = gpu.poly(found):astype "complex128":table()
      for k = 1, #re do
        assert(math.abs(back[k].re - re[k]) <= 1e-13 * most and math.abs(back[k].im - im[k]) <= 1e-13 * most, name)
      end
    end
  end)

  it("make lines of two points, for one function and for several", function()
    support.near({ 1 }, gpu.cubic_spline({ 0, 1 }, { 0, 2 }) { 0.5 }:table(), 0)
    support.near({ { 0, 2 }, { 0.5, 3 }, { 1, 4 } },
      gpu.cubic_spline({ 0, 2 }, gpu.array { { 0, 2 }, { 1, 4 } }) { 0, 1, 2 }:table(), 1e-6)
    -- CubicSpline([0, 2], [[0, 2], [1, 4]], bc_type=("not-a-knot", "clamped"))(1) is [0.625, 3.25].
    support.near({ { 0.625, 3.25 } },
      gpu.cubic_spline({ 0, 2 }, gpu.array { { 0, 2 }, { 1, 4 } }, { ends = { "not-a-knot", "clamped" } }) { 1 }:table(), 1e-6)
  end)

  it("refuse what does not fit", function()
    local x = gpu.arange(4)
    fails("[simpson] expected coordinates for the 4 samples of axis 1, got shape (3,)", gpu.simpson, x, gpu.arange(3))
    fails("[simpson] expected samples along axis 1, got shape (0,)", gpu.simpson, gpu.zeros(0))
    fails("[cumulative_trapezoid] expected a number for initial", gpu.cumulative_trapezoid, x, { initial = "0" })
    fails("[polyfit] expected at least 5 points for a degree of 4, got 4", gpu.polyfit, x, x, 4)
    fails("[polyfit] expected points in a vector and as many values, or rows of them, got shapes (4,) and (3,)", gpu.polyfit, x, gpu.arange(3), 1)
    fails("[roots] expected coefficients: a table of numbers, or a vector, got 1", gpu.roots, 1)
    fails("[roots] expected finite coefficients, got NaN", gpu.roots, { 1, 0 / 0 })
    fails("[cubic_spline] expected strictly increasing points, got 1 after 1", gpu.cubic_spline, { 0, 1, 1 }, gpu.arange(3))
    fails("[cubic_spline] expected as many values along axis 1 as points, two or more, got shapes (3,) and (4,)", gpu.cubic_spline, { 0, 1, 2 }, x)
    fails('[cubic_spline] expected ends = "not-a-knot"', gpu.cubic_spline, { 0, 1, 2 }, gpu.arange(3), { ends = "free" })
    fails("[cubic_spline] expected the same value at the first and the last point of a period, got 0 and 2", gpu.cubic_spline, { 0, 1, 2 }, gpu.arange(3), { ends = "periodic" })
    fails("[cubic_spline] expected the order of a derivative from -1 (the integral) to 3, got 4", gpu.cubic_spline({ 0, 1, 2 }, gpu.arange(3)), 1, 4)
  end)
end)

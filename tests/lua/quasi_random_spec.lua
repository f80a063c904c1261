-- Sobol and Halton sequences against SciPy's (tests/golden/arrays/quasi_random.py), and the properties of scrambled ones.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails
local r = gpu.random

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"
local golden = assert(gpu.load(folder .. "/golden/arrays/quasi_random.npz"))

--- Whether each of n cells of a grid has one of the n points in two dimensions.
local function fills(points, rows, columns)
  local cells = gpu.floor(points(":", 1) * rows) * columns + gpu.floor(points(":", 2) * columns)
  return cells:unique().size == rows * columns
end

describe("quasi-random sequences", function()
  it("are SciPy's Sobol points where they are not scrambled", function()
    local plain = { scramble = false }
    local expected = golden.sobol:astype "float64" / 2 ^ 30
    assert.is_true(r.sobol(1000, 100, { scramble = false, dtype = "float64" }):eq(expected):all():item())
    assert.is_true(r.sobol(1000, 100, plain):eq(expected):all():item())
    assert.is_true(r.sobol(1000, 7, plain):eq(expected(":", { 1, 7 })):all():item())
    assert.is_true(r.sobol(100, 100, { scramble = false, skip = 900 }):eq(expected({ 901, 1000 })):all():item())
    local directions = golden.directions:astype "float64" / 2 ^ 30
    for digit = 1, 30 do
      local point = r.sobol(1, 1111, { scramble = false, dtype = "float64", skip = 2 ^ digit - 1 })
      assert.is_true(point(1):eq(directions(digit)):all():item(), digit)
    end
    local last = r.sobol(1, 3, { scramble = false, dtype = "float64", skip = 2 ^ 32 - 1 })
    assert.are.equal(2 ^ -32, last[1][1])
  end)

  it("have more dimensions by a file of direction numbers", function()
    local known = { "2 1 0 1", "3 2 1 1 3", "4 3 1 1 3 1", "5 3 2 1 1 1", "6 4 1 1 1 3 3", "7 4 4 1 3 5 13", "8 5 2 1 1 5 5 17" }
    local path = os.tmpname()
    local function write(lines)
      support.write(path, "d       s       a       m_i         \n" .. table.concat(lines, "\n") .. "\n")
    end
    write(known)
    local options = { scramble = false, dtype = "float64", directions = path }
    support.same(r.sobol(1000, 8, { scramble = false, dtype = "float64" }), r.sobol(1000, 8, options))
    local lines = {}
    for d = 2, 2000 do lines[d - 1] = d .. known[(d - 2) % 7 + 1]:sub(2) end
    write(lines)
    local points = r.sobol(100, 2000, options):eval()
    support.same(r.sobol(100, 8, { scramble = false, dtype = "float64" })(":", { 2, 8 }), points(":", { 1990, 1996 }))
    for line, message in pairs {
      ["3 2 1 1 5"] = "expected an odd initial number below 4 on line 3 of " .. path .. ", got 5",
      ["3 2 1 1"] = "expected a degree and as many initial numbers on line 3 of " .. path .. ", got 1 for the degree 2",
      ["3 2 2 1 1"] = "expected inner digits of a polynomial of degree 2 on line 3 of " .. path .. ", got 2",
      ["4 2 1 1 3"] = "expected dimension 3 on line 3 of " .. path .. ", got 4",
      ["3 2 x 1 3"] = "expected whole numbers on line 3 of " .. path .. ', got x',
    } do
      write { known[1], line }
      fails("[random.sobol] " .. message, r.sobol, 10, 3, options)
    end
    fails("[random.sobol] expected 9 dimensions in " .. path .. ", got 2", function()
      write { known[1] }
      return r.sobol(10, 9, options)
    end)
    os.remove(path)
    local missing, message = r.sobol(10, 3, options)
    assert.is_nil(missing)
    assert(message:find(path, 1, true), message)
    fails("[random.sobol] expected directions, the path of a file, got 3", r.sobol, 10, 3, { directions = 3 })
  end)

  it("are SciPy's Halton points where they are not scrambled", function()
    local points = r.halton(1000, 50, { scramble = false, dtype = "float64" })
    assert.is_true(gpu.abs(points - golden.halton):max():item() < 1e-15)
    local later = r.halton(10, 50, { scramble = false, skip = 990 })
    assert.is_true(gpu.abs(later - golden.halton({ 991, 1000 })):max():item() < 1e-7)
  end)

  it("fill the cells of all grids, scrambled or not", function()
    for seed = 0, 3 do
      for _, options in ipairs { { scramble = false }, { seed = seed }, { seed = seed, skip = 4096, dtype = "float64" } } do
        local points = r.sobol(1024, 2, options):eval()
        for rows = 0, 10 do assert.is_true(fills(points, 2 ^ rows, 2 ^ (10 - rows)), rows) end
      end
      local points = r.halton(6 ^ 4, 2, { seed = seed, dtype = "float64" }):eval()
      assert.is_true(fills(points, 2 ^ 4, 3 ^ 4))
      local slices = gpu.floor(r.latin_hypercube(1000, 30, { dtype = "float64" }) * 1000)
      assert.is_true(slices:sort(1):eq(gpu.arange(1000):expand_dims(2)):all():item())
    end
    -- Neighbouring points of any dimension, which are in opposite halves.
    local points = r.sobol(512, 1111, { seed = 9 })
    assert.is_true(points("1::2"):lt(0.5):ne(points("2::2"):lt(0.5)):all():item())
  end)

  it("are uniform, and independent of each other, over seeds", function()
    local first = {}
    for seed = 1, 400 do first[seed] = r.sobol(1, 4, { seed = seed, skip = 5 }) end
    local x = gpu.concat(first)
    for d = 1, 4 do assert(support.kolmogorov_smirnov(x(":", d), function(v) return v end) < 1.95) end
    assert(gpu.abs(gpu.corrcoef(x, { rowvar = false }) - gpu.eye(4)):max():item() < 0.2)
    for seed = 1, 400 do first[seed] = r.halton(1, 4, { seed = seed }) end
    x = gpu.concat(first)
    for d = 1, 4 do assert(support.kolmogorov_smirnov(x(":", d), function(v) return v end) < 1.95) end
    assert.is_false(gpu.array_equal(r.sobol(10, 3, { seed = 1 }), r.sobol(10, 3, { seed = 2 })))
    assert.is_false(gpu.array_equal(r.sobol(10, 3, { seed = 1 }), r.sobol(10, 3, { seed = 1 + 2 ^ 32 })))
    assert.is_true(gpu.array_equal(r.sobol(10, 3, { seed = 1 }), r.sobol(10, 3, { seed = 1 })))
  end)

  it("integrate with an error that falls faster than 1 / n", function()
    local function errors(n)
      local sum = 0
      for seed = 1, 16 do
        local x = r.sobol(n, 5, { seed = seed, dtype = "float64" })
        sum = sum + (gpu.prod(1 + 0.5 * (x * x * 3 - 1), 2):mean():item() - 1) ^ 2
      end
      return math.sqrt(sum / 16)
    end
    local few, many = errors(256), errors(4096)
    assert(many < few / 16, ("%g %g"):format(few, many))
    assert(many < 1e-3, many)
  end)

  it("are lazy, depend on the position alone, and have any floating-point dtype", function()
    local whole = r.sobol(1000, 6, { seed = 3 }):eval()
    assert.is_true(whole({ 301, 500 }):eq(r.sobol(200, 6, { seed = 3, skip = 300 })):all():item())
    assert.is_true(whole(":", { 1, 3 }):eq(r.sobol(1000, 3, { seed = 3 })):all():item())
    local payoff = gpu.maximum(gpu.exp(gpu.normcdfinv(r.sobol(2 ^ 14, 1))) - 1, 0):mean()
    assert.is_truthy(gpu.explain(payoff):find "^1 kernel\n")
    assert(math.abs(payoff:item() - (math.exp(0.5) * gpu.normcdf(1):item() - 0.5)) < 2e-3)
    for _, dtype in ipairs { "float16", "bfloat16", "float32", "float64" } do
      for _, points in ipairs { r.sobol(4096, 3, { dtype = dtype }), r.halton(4096, 3, { dtype = dtype }), r.latin_hypercube(4096, 3, { dtype = dtype }) } do
        assert.are.equal(dtype, points.dtype)
        assert.is_true(points:max():item() < 1 and points:min():item() >= 0)
      end
      assert.is_true(r.sobol(2 ^ 16, 2, { dtype = dtype }):min():item() > 0)
    end
    assert.are.equal("(0, 3)", tostring(r.sobol(0, 3):eval().shape))
    assert.are.equal(0, r.latin_hypercube(0, 3).size + r.halton(0, 3).size)
    local a, b = r.generator("philox", { seed = 5 }), r.generator("philox", { seed = 5 })
    assert.is_true(gpu.array_equal(a:latin_hypercube(10, 2), r.latin_hypercube(10, 2, { generator = b })))
  end)

  it("check their arguments", function()
    fails("[random.sobol] expected from 1 to 1111 dimensions, or a file of more as the option directions, got 1112", r.sobol, 10, 1112)
    fails("[random.sobol] expected from 1 to 1111 dimensions", r.sobol, 10, 0)
    fails("[random.sobol] expected a number of points of 0 or more, got -1", r.sobol, -1, 2)
    fails("[random.sobol] expected skip + n of at most 4294967296, got 4294967295 + 2", r.sobol, 2, 2, { skip = 2 ^ 32 - 1 })
    fails("[random.sobol] expected seed, an integer of 0 or more, got 0.5", r.sobol, 2, 2, { seed = 0.5 })
    fails("[random.sobol] expected scramble = true or false, got 1", r.sobol, 2, 2, { scramble = 1 })
    fails("[random.sobol] expected a floating-point dtype, got int32", r.sobol, 2, 2, { dtype = "int32" })
    fails("[random.sobol] expected the options", r.sobol, 2, 2, { seeds = 1 })
    fails("[random.halton] expected from 1 to 10000 dimensions, got 1.5", r.halton, 2, 1.5)
    fails("[random.latin_hypercube] expected at least 1 dimension, got 0", r.latin_hypercube, 2, 0)
  end)
end)

-- Counting: histogram, bincount, digitize. Golden data: tests/golden/arrays/histograms.py.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"
local golden = assert(gpu.load(folder .. "/golden/arrays/histograms.npz"))
local dtypes = { "int16", "float32", "float64" }
local edges = { -80, -20.5, 0, 0, 3, 77 }

local function same(expected, got, what)
  assert.are.same(expected.shape, got.shape, what)
  assert.are.equal(expected.dtype, got.dtype, what)
  assert.are.equal(0, expected:ne(got):sum():item(), what)
end

describe("histograms", function()
  it("agree with NumPy", function()
    for _, dtype in ipairs(dtypes) do
      local x = golden["x_" .. dtype]
      local counts, at = x:histogram()
      same(golden["count_" .. dtype], counts, "count " .. dtype)
      assert.are.equal(golden["edges_" .. dtype].dtype, at.dtype)
      -- NumPy computes the edges of float32 data in float32.
      support.near(golden["edges_" .. dtype]:table(), at:table(), dtype == "float32" and 2e-6 or 1e-14)
      same(at, gpu.histogram_bin_edges(x, 10), "edges alone " .. dtype)
      same(golden["many_" .. dtype], (gpu.histogram(x, 5000, { range = { -30, 31 } })), "many " .. dtype)
      same(golden["range_" .. dtype], (gpu.histogram(x, 7, { range = { -10, 30 } })), "range " .. dtype)
      same(golden["given_" .. dtype], (gpu.histogram(x, edges)), "given " .. dtype)
    end
  end)

  it("sum weights and give densities", function()
    for _, dtype in ipairs(dtypes) do
      local x = golden["x_" .. dtype]
      local sums = gpu.histogram(x, 10, { weights = golden["weights_" .. dtype] })
      assert.are.equal("float64", sums.dtype)
      support.near(golden["weighted_" .. dtype]:table(), sums:table(), 1e-12)
      support.near(golden["density_" .. dtype]:table(), (gpu.histogram(x, 10, { density = true })):table(), 1e-6)
    end
  end)

  it("leave out NaN and what is out of range, and take empty and constant arrays", function()
    local counts, at = gpu.histogram(gpu.array { 0 / 0, 1, 2, 5, -math.huge }, 2, { range = { 1, 3 } })
    assert.are.same({ 1, 1 }, counts:table())
    assert.are.same({ 1, 2, 3 }, at:table())
    counts, at = gpu.histogram(gpu.zeros(0), 2)
    assert.are.same({ 0, 0 }, counts:table())
    assert.are.same({ 0, 0.5, 1 }, at:table())
    counts, at = gpu.histogram(gpu.full({ 4 }, 7), 2)
    assert.are.same({ 0, 4 }, counts:table())
    assert.are.same({ 6.5, 7, 7.5 }, at:table())
  end)

  it("of bins of one width count each value as its edges do, in each dtype, for few bins and many", function()
    local n = 20011
    local spread = gpu.arange(n, "float64") * 7919 % n
    for _, dtype in ipairs { "bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64" } do
      local narrow = dtype == "bool" or dtype:find "int8"
      local x = (narrow and spread % 100 or spread):astype(dtype)
      for _, bins in ipairs { 1, 3, 256, 1000, 8192 } do
        for _, range in ipairs { { 0, 99 }, { 33, 20000 }, { -1e6, 1e6 }, { 19999, 20001 } } do
          local counts, edges = gpu.histogram(x, bins, { range = range })
          -- The same edges, given as such, are searched.
          same((gpu.histogram(x, edges)), counts, ("%s, %d bins, %g to %g"):format(dtype, bins, range[1], range[2]))
        end
      end
    end
  end)

  it("of bins of one width place the edges themselves, their neighbours, NaN and infinities", function()
    for _, dtype in ipairs { "float32", "float64" } do
      for _, range in ipairs { { 0, 1 }, { -0.3, 0.7 }, { 1000, 1001 }, { -1e-30, 1e-30 }, { -3e38, 3e38 } } do
        local edges = gpu.linspace(range[1], range[2], 101, { dtype = dtype })
        local x = gpu.concat { edges, edges:nextafter(math.huge), edges:nextafter(-math.huge),
          gpu.array({ 0 / 0, math.huge, -math.huge, -0.0, 0 }, dtype) }
        local counts, at = gpu.histogram(x, 100, { range = range })
        same(edges, at, "edges")
        same((gpu.histogram(x, edges)), counts, ("%s from %g"):format(dtype, range[1]))
      end
    end
    local x = gpu.arange(5000, "float32")
    same((gpu.histogram(x("::-3"):copy(), 17)), (gpu.histogram(x("::-3"), 17)), "a view")
    same((gpu.histogram(x({ 2, 4999 }):copy(), 300)), (gpu.histogram(x({ 2, 4999 }), 300)), "a part")
    assert.are.same({ 0, 0, 0 }, (gpu.histogram(gpu.zeros(0), 3, { range = { 0, 1 } })):table())
  end)

  it("take edges in the dtype of floating elements, and as float64 for others", function()
    local x = gpu.array({ 0.1, 0.3 }, "float64")
    assert.are.same({ 1, 2 }, x:digitize({ 0.1, 0.3 }):table())
    assert.are.equal("float64", select(2, x:astype("int32"):histogram({ 0, 0.1 })).dtype)
    assert.are.equal("float32", select(2, x:astype("float32"):histogram({ 0, 0.1 })).dtype)
  end)

  it("name what does not fit", function()
    local x = gpu.arange(4, "float32")
    fails("[histogram] expected at least one bin, got 0", function() return x:histogram(0) end)
    fails("[histogram] expected edges that increase", function() return x:histogram({ 1, 3, 2 }) end)
    fails("[histogram] expected a range that increases", function() return x:histogram(2, { range = { 3, 1 } }) end)
    fails("[histogram] expected a finite range", function() return (x / 0):histogram(2) end)
    fails("[histogram] expected weights of the shape (4,), got (3,)",
      function() return x:histogram(2, { weights = gpu.ones(3) }) end)
    fails("[digitize] expected edges that increase", function() return x:digitize({ 1, 0 }) end)
    fails("[bincount] expected numbers that are not negative, got -1",
      function() return gpu.array({ 1, -1 }, "int32"):bincount() end)
    fails("[bincount] expected a vector of integers", function() return x:bincount() end)
  end)
end)

describe("histograms of several variables", function()
  local x, y = golden.joint_x, golden.joint_y
  local ranges = { { -60, 50 }, { -8, 10 } }
  local uneven = { { -80, -20.5, 0, 0, 3, 10 }, { -10, -1, 1, 2 } }

  it("agree with NumPy", function()
    same(golden.joint_range, (gpu.histogram2d(x, y, { 7, 5 }, { range = ranges })), "range")
    same(golden.joint_given, (gpu.histogram2d(x, y, uneven)), "given")
    local counts, edges_x, edges_y = x:histogram2d(y, { gpu.array(uneven[1]), 3 }, { range = { nil, ranges[2] } })
    same(golden.joint_mixed, counts, "mixed")
    assert.are.same(uneven[1], edges_x:table())
    support.near(golden.joint_mixed_edges:table(), edges_y:table(), 1e-15)
    same(golden.joint_same, (gpu.histogram2d(x, y, uneven[2])), "the same edges")
    counts, edges_x, edges_y = gpu.histogram2d(x { 1, 50 }, y { 1, 50 })
    same(golden.joint_default, counts, "default")
    support.near(golden.joint_default_edges:table(), edges_y:table(), 1e-15)
    local sums = gpu.histogram2d(x, y, 6, { range = ranges, weights = golden.joint_weights })
    support.near(golden.joint_weighted:table(), sums:table(), 1e-12)
    local density = gpu.histogram2d(x, y, { { -80, -20.5, 0 }, 4 }, { range = ranges, density = true })
    support.near(golden.joint_density:table(), density:table(), 1e-12)
  end)

  it("take any number of them", function()
    local counts, edges = gpu.histogramdd(golden.points, { 3, { -2, 0, 2 }, 4 }, { range = { { -2, 2 }, nil, { -4, 4 } } })
    same(golden.points_count, counts, "counts")
    assert.are.same({ { -2, 0, 2 }, { -4, -2, 0, 2, 4 } }, { edges[2]:table(), edges[3]:table() })
    support.near(golden.points_density:table(), golden.points:histogramdd(3, { density = true }):table(), 1e-6)
    assert.are.same({ 0, 0 }, gpu.zeros(0, 1):histogramdd({ 2 }):table())
  end)

  it("name what does not fit", function()
    fails("[histogram2d] expected two vectors of one length, got shapes (2,) and (3,)",
      function() return gpu.ones(2):histogram2d(gpu.ones(3)) end)
    fails("[histogram2d] expected at least one bin, got 0", function() return x:histogram2d(y, { 3, 0 }, { range = ranges }) end)
    fails("[histogram2d] expected a finite range", function() return x:histogram2d(y) end)
    fails("[histogram2d] expected range = {first, last}, got -60", function() return x:histogram2d(y, 3, { range = { -60, 50 } }) end)
    fails("[histogram2d] expected range = a table of 2 ranges", function() return x:histogram2d(y, 3, { range = 3 }) end)
    fails("[histogram2d] expected weights of the shape", function()
      return x:histogram2d(y, 3, { range = ranges, weights = gpu.ones(2) })
    end)
    fails("[histogram2d] expected at least two edges, got 1", function() return x:histogram2d(y, { { 1 }, { 2, 3 } }) end)
    fails("[histogramdd] expected a matrix with a row for each point, got an array", function() return x:histogramdd(3) end)
    fails("[histogramdd] expected bins for each of 3 columns, got 2", function() return golden.points:histogramdd({ 1, 2 }) end)
  end)
end)

describe("bincount", function()
  it("counts", function()
    local x = gpu.array({ 1, 5, 1, 0 }, "uint8")
    assert.are.same({ 1, 2, 0, 0, 0, 1 }, x:bincount():table())
    assert.are.same({ 1, 2, 0, 0, 0, 1, 0 }, x:bincount({ minlength = 7 }):table())
    assert.are.equal("int64", x:bincount().dtype)
    assert.are.same({ 8, 5, 0, 0, 0, 2 }, x:bincount({ weights = gpu.array { 1, 2, 4, 8 } }):table())
    assert.are.same({ 0, 0 }, gpu.zeros(0, "int32"):bincount({ minlength = 2 }):table())
    for _, range in ipairs { 7, 4096, 5000 } do
      local n = 100003
      local counts = (gpu.arange(n, "int64") % range):bincount():table()
      for i = 1, range do assert.are.equal(math.floor(n / range) + ((i - 1) < n % range and 1 or 0), counts[i]) end
    end
  end)

  it("counts integers of each dtype as a plain loop does", function()
    for _, dtype in ipairs { "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64" } do
      for _, most in ipairs { 1, 100, dtype:find "8" and 127 or dtype:find "16" and 30000 or 70000 } do
        for _, n in ipairs { 1, 2, 1000, 70001 } do
          if dtype ~= "bool" or most == 1 then
            local keys, weights, counts, sums = {}, {}, {}, {}
            for i = 1, n do keys[i], weights[i] = i * i % (most + 1), i % 7 - 2.5 end
            for i = 1, math.max(5, math.max(unpack(keys, 1, math.min(n, 7000))) + 1) do counts[i], sums[i] = 0, 0 end
            for i, key in ipairs(keys) do
              for k = #counts + 1, key + 1 do counts[k], sums[k] = 0, 0 end
              counts[key + 1], sums[key + 1] = counts[key + 1] + 1, sums[key + 1] + weights[i]
            end
            local x = gpu.array(keys, dtype == "bool" and "uint8" or dtype):astype(dtype)
            assert.are.same(counts, gpu.bincount(x, { minlength = 5 }):table())
            assert.are.same(sums, gpu.bincount(x, { weights = gpu.array(weights, "float64"), minlength = 5 }):table())
          end
        end
      end
    end
    local apart = gpu.array({ { 1, 9 }, { 0, 9 }, { 1, 9 } }, "int32")(":", 1)
    assert.are.same({ 1, 2 }, gpu.bincount(apart):table())
    assert.are.same({ 0, 0, 0 }, gpu.bincount(gpu.zeros(0, "int32"), { minlength = 3 }):table())
    fails("[bincount] expected numbers that are not negative, got -2", gpu.bincount, gpu.array({ 1, -2 }, "int16"))
  end)
end)

describe("digitize", function()
  it("agrees with NumPy", function()
    for _, dtype in ipairs(dtypes) do
      local x = golden["x_" .. dtype]
      same(golden["left_" .. dtype], gpu.digitize(x, edges), "left " .. dtype)
      same(golden["right_" .. dtype], x:digitize(gpu.array(edges), { right = true }), "right " .. dtype)
    end
  end)
end)

-- Well-known kernels (tests/samples/*.cu), each against plain Lua.
local gpu = require "gpu"
local support = require "support"
local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$" .. "/samples/"

local function load_sample(name, options)
  local file = assert(io.open(folder .. name .. ".cu"))
  local text = file:read "*a"
  file:close()
  return gpu.module(text, options)
end

--- n whole numbers from 0 to limit - 1, the same each time.
local function integers(n, limit)
  local t, x = {}, 12345
  for i = 1, n do
    x = (x * 16807) % 2147483647
    t[i] = x % limit
  end
  return t
end
--- n multiples of 1/64 from low up to high: exact as floats.
local function numbers(n, low, high)
  local t = integers(n, (high - low) * 64)
  for i = 1, n do t[i] = low + t[i] / 64 end
  return t
end
local function device(t, dtype) return gpu.array(t, dtype or "float32") end
local function int(t) return gpu.array(t, "int32") end
local function sum(t)
  local total = 0
  for _, x in ipairs(t) do total = total + x end
  return total
end
local function sorted(t)
  local copy = { unpack(t) }
  table.sort(copy)
  return copy
end
local function same(expected, array) assert.are.same(expected, array:table()) end
local function near(expected, array, tolerance) support.near(expected, array:table(), tolerance or 1e-5) end

describe("reductions", function()
  local mod = load_sample("reductions", { names = { "reduce5<128>", "histogram<64>", "histogram<256>" } })

  it("vector add", function()
    local a, b, c = numbers(1000, -50, 50), numbers(1000, 0, 9), gpu.zeros(1000)
    mod.vector_add { grid = 4, block = 256 }(device(a), device(b), c, 1000)
    local expected = {}
    for i = 1, 1000 do expected[i] = a[i] + b[i] end
    same(expected, c)
  end)

  for _, name in ipairs { "reduce0", "reduce1", "reduce2", "reduce3", "reduce4", "reduce5<128>", "reduce6", "reduce7" } do
    it(name, function()
      local t, out = integers(5000, 1000), gpu.zeros(40, "int32")
      mod[name] { grid = 40, block = 128, shared = 512 }(int(t), out, 5000)
      assert.are.equal(sum(t), sum(out:table()))
    end)
  end

  it("dot product", function()
    local a, b, out = numbers(3000, -2, 2), numbers(3000, -1, 3), gpu.zeros(1)
    mod.dot { grid = 6, block = 256 }(device(a), device(b), out, 3000)
    local expected = 0
    for i = 1, 3000 do expected = expected + a[i] * b[i] end
    near({ expected }, out)
  end)

  it("scans of Hillis and Steele, and of Blelloch", function()
    local t, inclusive, exclusive, total = integers(512, 100), {}, {}, 0
    for i = 1, 512 do
      exclusive[i] = total
      total = total + t[i]
      inclusive[i] = total
    end
    local out = gpu.zeros(512, "int32")
    mod.scan_hillis_steele { grid = 1, block = 512, shared = 4096 }(int(t), out, 512)
    same(inclusive, out)
    mod.scan_blelloch { grid = 1, block = 256, shared = 2048 }(int(t), out, 512)
    same(exclusive, out)
  end)

  for _, bins in ipairs { 64, 256 } do
    it("histogram of " .. bins, function()
      local t, expected, out = integers(4000, 256), {}, gpu.zeros(bins, "uint32")
      for i = 1, bins do expected[i] = 0 end
      for _, x in ipairs(t) do
        local bin = math.floor(x * bins / 256) + 1
        expected[bin] = expected[bin] + 1
      end
      mod["histogram<" .. bins .. ">"] { grid = 5, block = 192 }(gpu.array(t, "uint8"), out, 4000)
      same(expected, out)
    end)
  end

  it("filter with warp-aggregated atomics", function()
    local t, kept = integers(2000, 100), {}
    for i, x in ipairs(t) do
      t[i] = x - 50
      if x > 50 then kept[#kept + 1] = x - 50 end
    end
    local out, count = gpu.zeros(2000, "int32"), gpu.zeros(1, "int32")
    mod.filter { grid = 8, block = 256 }(int(t), out, count, 2000)
    assert.are.equal(#kept, count[1])
    assert.are.same(sorted(kept), sorted(out({ 1, #kept }):table()))
  end)
end)

describe("sorting", function()
  local mod = load_sample "sorting"
  local keys = integers(512, 10000)

  for _, name in ipairs { "bitonic_sort", "odd_even_merge_sort" } do
    it(name, function()
      local x = gpu.array(keys, "uint32")
      mod[name] { grid = 1, block = 256, shared = 2048 }(x, 512)
      same(sorted(keys), x)
    end)
  end

  it("radix sort, pass by pass", function()
    local x, y = gpu.array(keys, "uint32"), gpu.zeros(512, "uint32")
    for bit = 0, 13 do
      mod.radix_pass { grid = 1, block = 512 }(x, y, 512, bit)
      x, y = y, x
    end
    same(sorted(keys), x)
  end)

  it("merge step", function()
    local left, right, both = sorted(integers(100, 50)), sorted(integers(100, 80)), {}
    for i = 1, 100 do both[i], both[100 + i] = left[i], right[i] end
    local out = gpu.zeros(200, "uint32")
    mod.merge_step { grid = 1, block = 200 }(gpu.array(both, "uint32"), out, 100)
    same(sorted(both), out)
  end)
end)

describe("matrices", function()
  local mod = load_sample("matrices", { names = { "matmul<16>" } })

  it("matrix product in tiles", function()
    local n = 50
    local a, b, expected, c = numbers(n * n, -2, 2), numbers(n * n, -1, 1), {}, gpu.zeros(n * n)
    for y = 0, n - 1 do
      for x = 0, n - 1 do
        local total = 0
        for k = 0, n - 1 do total = total + a[y * n + k + 1] * b[k * n + x + 1] end
        expected[y * n + x + 1] = total
      end
    end
    mod["matmul<16>"] { grid = { 4, 4 }, block = { 16, 16 } }(device(a), device(b), c, n)
    near(expected, c)
  end)

  it("transpose with padding", function()
    local width, height, expected = 70, 45, {}
    local t, out = numbers(width * height, 0, 100), gpu.zeros(width * height)
    for y = 0, height - 1 do
      for x = 0, width - 1 do expected[x * height + y + 1] = t[y * width + x + 1] end
    end
    mod.transpose { grid = { 3, 2 }, block = { 32, 8 } }(device(t), out, width, height)
    same(expected, out)
  end)

  it("sparse matrix by vector, a thread and a warp a row", function()
    local n, rows, columns, values, expected = 100, { 0 }, {}, {}, {}
    local x, counts = numbers(n, -1, 1), integers(n, 60)
    for row = 1, n do
      local total = 0
      for k = 1, counts[row] do
        local column, value = (row * 7 + k * 13) % n, (k % 9 - 4) / 8
        columns[#columns + 1], values[#values + 1] = column, value
        total = total + value * x[column + 1]
      end
      rows[row + 1], expected[row] = #columns, total
    end
    local r, c, v, xs, y = int(rows), int(columns), device(values), device(x), gpu.zeros(n)
    mod.spmv_scalar { grid = 1, block = 128 }(r, c, v, xs, y, n)
    near(expected, y)
    y = gpu.zeros(n)
    mod.spmv_vector { grid = 25, block = 128 }(r, c, v, xs, y, n)
    near(expected, y)
  end)

  it("Jacobi's method", function()
    local n, a, b = 40, {}, numbers(40, -3, 3)
    for i = 0, n - 1 do
      for k = 0, n - 1 do a[i * n + k + 1] = i == k and 8 or ((i * k) % 7 - 3) / 64 end
    end
    local da, db, x, next = device(a), device(b), gpu.zeros(n), gpu.zeros(n)
    for _ = 1, 40 do
      mod.jacobi { grid = 1, block = 64 }(da, db, x, next, n)
      x, next = next, x
    end
    local solution = x:table()
    for i = 0, n - 1 do
      local total = 0
      for k = 0, n - 1 do total = total + a[i * n + k + 1] * solution[k + 1] end
      assert(math.abs(total - b[i + 1]) < 1e-4)
    end
  end)
end)

describe("pictures", function()
  local mod = load_sample "images"
  local width, height = 80, 48
  local blocks = { grid = { 5, 6 }, block = { 16, 8 } }

  it("separable convolution", function()
    local taps, t = { 1, 2, 4, 8, 16, 8, 4, 2, 1 }, numbers(width * height, 0, 4)
    mod:constant("taps"):copy_(device(taps))
    local middle, out, rows, expected = gpu.zeros(width * height), gpu.zeros(width * height), {}, {}
    mod.convolve_rows { grid = { 2, height }, block = 64 }(device(t), middle, width, height)
    mod.convolve_columns(blocks)(middle, out, width, height)
    for y = 0, height - 1 do
      for x = 0, width - 1 do
        local total = 0
        for k = -4, 4 do
          if x + k >= 0 and x + k < width then total = total + taps[k + 5] * t[y * width + x + k + 1] end
        end
        rows[y * width + x + 1] = total
      end
    end
    for y = 0, height - 1 do
      for x = 0, width - 1 do
        local total = 0
        for k = -4, 4 do
          if y + k >= 0 and y + k < height then total = total + taps[k + 5] * rows[(y + k) * width + x + 1] end
        end
        expected[y * width + x + 1] = total
      end
    end
    near(expected, out)
  end)

  it("Sobel's filter", function()
    local t, expected, out = integers(width * height, 256), {}, gpu.zeros(width * height, "uint8")
    local function at(x, y) return t[math.min(math.max(y, 0), height - 1) * width + math.min(math.max(x, 0), width - 1) + 1] end
    for y = 0, height - 1 do
      for x = 0, width - 1 do
        local h = at(x + 1, y - 1) + 2 * at(x + 1, y) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x - 1, y) - at(x - 1, y + 1)
        local v = at(x - 1, y + 1) + 2 * at(x, y + 1) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x, y - 1) - at(x + 1, y - 1)
        expected[y * width + x + 1] = math.min(math.abs(h) + math.abs(v), 255)
      end
    end
    mod.sobel(blocks)(gpu.array(t, "uint8"), out, width, height)
    same(expected, out)
  end)

  it("cosine transform of 8 x 8", function()
    local t, expected, out = numbers(256, -8, 8), {}, gpu.zeros(256)
    local function factor(frequency, place)
      return (frequency == 0 and math.sqrt(1 / 8) or 0.5) * math.cos((2 * place + 1) * frequency * math.pi / 16)
    end
    for y = 0, 15 do
      for x = 0, 15 do
        local total, left, top = 0, x - x % 8, y - y % 8
        for j = 0, 7 do
          for i = 0, 7 do total = total + factor(x % 8, i) * factor(y % 8, j) * t[(top + j) * 16 + left + i + 1] end
        end
        expected[y * 16 + x + 1] = total
      end
    end
    mod.dct8x8 { grid = { 2, 2 }, block = { 8, 8 } }(device(t), out, 16)
    near(expected, out, 1e-4)
  end)

  -- Coordinates are exact, but rounding may move a point near the border by an iteration.
  local function fractal(name, start)
    it(name, function()
      local out, w, h, limit, differing = gpu.zeros(48 * 32, "int32"), 48, 32, 50, 0
      mod[name] { grid = { 3, 4 }, block = { 16, 8 } }(out, w, h, limit)
      local got = out:table()
      for y = 0, h - 1 do
        for x = 0, w - 1 do
          local zx, zy, a, b = start(x, y)
          local count = 0
          while count < limit and zx * zx + zy * zy < 4 do
            zx, zy, count = zx * zx - zy * zy + a, 2 * zx * zy + b, count + 1
          end
          if got[y * w + x + 1] ~= count then differing = differing + 1 end
        end
      end
      assert(differing <= 15, differing .. " points differ")
    end)
  end
  fractal("mandelbrot", function(x, y) return 0, 0, -2 + x * 0.0625, -1 + y * 0.0625 end)
  fractal("julia", function(x, y) return -1.5 + x * 0.0625, -1 + y * 0.0625, -0.75, 0.125 end)

  it("game of life", function()
    local t = integers(width * height, 3)
    for i, x in ipairs(t) do t[i] = x == 0 and 1 or 0 end
    local now, next = gpu.array(t, "uint8"), gpu.zeros(width * height, "uint8")
    for _ = 1, 5 do
      mod.life(blocks)(now, next, width, height)
      now, next = next, now
      local after = {}
      for y = 0, height - 1 do
        for x = 0, width - 1 do
          local alive = 0
          for dy = -1, 1 do
            for dx = -1, 1 do
              if dx ~= 0 or dy ~= 0 then alive = alive + t[(y + dy) % height * width + (x + dx) % width + 1] end
            end
          end
          after[y * width + x + 1] = (alive == 3 or (alive == 2 and t[y * width + x + 1] == 1)) and 1 or 0
        end
      end
      t = after
    end
    same(t, now)
  end)
end)

describe("finance", function()
  local mod = load_sample "finance"
  -- Abramowitz and Stegun 26.2.17, to 7.5e-8.
  local function cumulative(d)
    local k = 1 / (1 + 0.2316419 * math.abs(d))
    local tail = 0.3989422804014327 * math.exp(-d * d / 2) * k
      * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    return d > 0 and 1 - tail or tail
  end
  local function call_price(s, x, t, r, v)
    local d1 = (math.log(s / x) + (r + v * v / 2) * t) / (v * math.sqrt(t))
    return s * cumulative(d1) - x * math.exp(-r * t) * cumulative(d1 - v * math.sqrt(t))
  end

  it("Black-Scholes", function()
    local n, s, x, t, calls, puts = 500, numbers(500, 5, 30), numbers(500, 1, 100), numbers(500, 1, 10), {}, {}
    for i = 1, n do
      calls[i] = call_price(s[i], x[i], t[i], 0.02, 0.3)
      puts[i] = calls[i] - s[i] + x[i] * math.exp(-0.02 * t[i])
    end
    local call, put = gpu.zeros(n), gpu.zeros(n)
    mod.black_scholes { grid = 4, block = 128 }(device(s), device(x), device(t), call, put, 0.02, 0.3, n)
    near(calls, call, 2e-5)
    near(puts, put, 2e-5)
  end)

  it("binomial options come near Black-Scholes", function()
    local s, x, out, expected = numbers(8, 20, 30), numbers(8, 15, 35), gpu.zeros(8), {}
    for i = 1, 8 do expected[i] = call_price(s[i], x[i], 1, 0.02, 0.3) end
    mod.binomial_option { grid = 8, block = 256, shared = 1024 }(device(s), device(x), out, 1, 0.02, 0.3, 255)
    near(expected, out, 0.02)
  end)

  it("Monte Carlo with cuRAND", function()
    local inside = gpu.zeros(1, "uint32")
    mod.monte_carlo_pi { grid = 8, block = 128 }(42, 200, inside)
    assert(math.abs(4 * inside[1] / (8 * 128 * 200) - math.pi) < 0.02)
  end)

  it("Halton's sequence", function()
    local out, expected = gpu.zeros(400), {}
    local function inverse(i, base)
      local result, digit = 0, 1 / base
      while i > 0 do
        result, digit, i = result + digit * (i % base), digit / base, math.floor(i / base)
      end
      return result
    end
    for i = 1, 200 do expected[2 * i - 1], expected[2 * i] = inverse(i, 2), inverse(i, 3) end
    mod.halton { grid = 2, block = 128 }(out, 200)
    near(expected, out)
  end)
end)

describe("simulation", function()
  local mod = load_sample "simulation"

  it("n bodies in tiles", function()
    local n, bodies, out, expected = 128, numbers(512, -4, 4), gpu.zeros(512), {}
    for i = 0, n - 1 do
      local total = { 0, 0, 0 }
      for k = 0, n - 1 do
        local d, square = {}, 0.01
        for c = 1, 3 do
          d[c] = bodies[4 * k + c] - bodies[4 * i + c]
          square = square + d[c] * d[c]
        end
        for c = 1, 3 do total[c] = total[c] + d[c] * bodies[4 * k + 4] / (square * math.sqrt(square)) end
      end
      for c = 1, 3 do expected[4 * i + c] = total[c] end
      expected[4 * i + 4] = 0
    end
    mod.n_body { grid = 2, block = 64, shared = 1024 }(device(bodies), out, n)
    near(expected, out, 1e-3)
  end)

  it("finite differences in three dimensions", function()
    local nx, ny, nz = 40, 20, 6
    local t, expected, out = numbers(nx * ny * nz, -2, 2), {}, gpu.zeros(nx * ny * nz)
    local function at(x, y, z)
      return x >= 0 and x < nx and y >= 0 and y < ny and z >= 0 and z < nz and t[(z * ny + y) * nx + x + 1] or 0
    end
    for z = 0, nz - 1 do
      for y = 0, ny - 1 do
        for x = 0, nx - 1 do
          expected[(z * ny + y) * nx + x + 1] = 0.5 * at(x, y, z)
            + (at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) + at(x, y, z - 1) + at(x, y, z + 1)) / 12
        end
      end
    end
    mod.fdtd3d { grid = { 2, 3 }, block = { 32, 8 } }(device(t), out, nx, ny, nz)
    near(expected, out)
  end)

  it("a step of k-means", function()
    local n, points, centres, labels, sums = 300, numbers(600, -8, 8), numbers(10, -8, 8), {}, {}
    for i = 1, 15 do sums[i] = 0 end
    for i = 0, n - 1 do
      local best, least = 0, math.huge
      for c = 0, 4 do
        local x, y = points[2 * i + 1] - centres[2 * c + 1], points[2 * i + 2] - centres[2 * c + 2]
        if x * x + y * y < least then best, least = c, x * x + y * y end
      end
      labels[i + 1] = best
      for k, value in ipairs { points[2 * i + 1], points[2 * i + 2], 1 } do sums[3 * best + k] = sums[3 * best + k] + value end
    end
    local label, total = gpu.zeros(n, "int32"), gpu.zeros(15)
    mod.k_means { grid = 3, block = 128 }(device(points), device(centres), label, total, n, 5)
    same(labels, label)
    near(sums, total)
  end)

  it("fast Fourier transform", function()
    local n, t, expected, out = 128, numbers(256, -1, 1), {}, gpu.zeros(256)
    for k = 0, n - 1 do
      local re, im = 0, 0
      for i = 0, n - 1 do
        local c, s = math.cos(-2 * math.pi * i * k / n), math.sin(-2 * math.pi * i * k / n)
        re, im = re + t[2 * i + 1] * c - t[2 * i + 2] * s, im + t[2 * i + 1] * s + t[2 * i + 2] * c
      end
      expected[2 * k + 1], expected[2 * k + 2] = re, im
    end
    mod.fft { grid = 1, block = 64, shared = 1024 }(device(t), out, 7)
    near(expected, out, 1e-4)
  end)
end)

-- Well-known kernels (tests/samples/*.cu), each against plain Lua: pictures, finance, simulation.
local gpu = require "gpu"
local samples = require "samples"
local integers, numbers, device, same, near = samples.integers, samples.numbers, samples.device, samples.same, samples.near

describe("pictures", function()
  local mod = samples.load "images"
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
  local mod = samples.load "finance"
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
  local mod = samples.load "simulation"

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

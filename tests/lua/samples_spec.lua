-- Well-known kernels (tests/samples/*.cu), each against plain Lua: reductions, sorting, matrices.
local gpu = require "gpu"
local samples = require "samples"
local integers, numbers, device, int, sum, sorted, same, near = samples.integers, samples.numbers, samples.device, samples.int, samples.sum, samples.sorted, samples.same, samples.near

describe("reductions", function()
  local mod = samples.load("reductions", { names = { "reduce5<128>", "histogram<64>", "histogram<256>" } })

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
  local mod = samples.load "sorting"
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
  local mod = samples.load("matrices", { names = { "matmul<16>" } })

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

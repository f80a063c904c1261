-- The order in which the CPU device adds, multiplies and compares: that of plain loops, bit by bit. A warp's 32 lanes take every
-- 32nd element each and merge in halves.
local gpu = require "gpu"

local on_cpu = gpu.device().kind == "cpu" and os.getenv "GPULUA_CPU_SCHEDULES" ~= "gpu"
local lengths = { 1, 31, 32, 33, 64, 1000, 8192, 8193, 20001, 300000 }

--- The merge of lane values in halves: lane 0's result.
local function merged(lanes, combine)
  local distance = 16
  while distance > 0 do
    for lane = 0, distance - 1 do lanes[lane] = combine(lanes[lane], lanes[lane + distance]) end
    distance = distance / 2
  end
  return lanes[0]
end

--- What each lane accumulates of the `count` numbers that `get` gives from 0 on.
local function warp(count, get, combine)
  local lanes = {}
  for lane = 0, 31 do lanes[lane] = 0 end
  for i = 0, count - 1 do lanes[i % 32] = combine(lanes[i % 32], get(i)) end
  return merged(lanes, combine)
end

--- Each block takes a chunk, and the last one to finish the blocks' results.
local function reduced(n, get, combine)
  local blocks = math.ceil(n / 8192)
  local chunk = math.ceil(math.ceil(n / blocks) / 64) * 64
  local parts = {}
  for first = 0, n - 1, chunk do
    parts[#parts + 1] = warp(math.min(chunk, n - first), function(i) return get(first + i) end, combine)
  end
  if #parts == 1 then return parts[1] end
  return warp(#parts, function(i) return parts[i + 1] end, combine)
end

--- A scan of shares of 8 chunks of 32 numbers each, which is what a warp takes of float64.
local function scanned(n, get)
  local result, base = {}, -0
  for share = 0, n - 1, 256 do
    local carry = -0
    for first = share, math.min(share + 256, n) - 1, 32 do
      local x, before = {}, {}
      for lane = 0, 31 do x[lane] = first + lane < n and get(first + lane) or -0 end
      local sums = {}
      for lane = 0, 31 do sums[lane] = x[lane] end
      local distance = 1
      while distance < 32 do
        for lane = 31, distance, -1 do sums[lane] = sums[lane - distance] + sums[lane] end
        distance = distance * 2
      end
      for lane = 0, 31 do
        before[lane] = carry + (lane > 0 and sums[lane - 1] or -0)
        if first + lane < n then result[first + lane] = (base + before[lane]) + x[lane] end
      end
      carry = carry + sums[31]
    end
    base = base + carry
  end
  return result
end

local function numbers(n)
  local x = (gpu.random.seed(n) or gpu).randn(n, { dtype = "float64" })
  return x, x:contiguous():host()
end

describe("the CPU device", function()
  if not on_cpu then
    it("has an order of its own", function() pending "another device, or another device's schedules" end)
    return
  end

  it("adds in the order of lanes, chunks and blocks", function()
    for _, n in ipairs(lengths) do
      local x, host = numbers(n)
      local add = function(a, b) return a + b end
      assert.are.equal(reduced(n, function(i) return host[i] end, add), x:sum():item(), n)
      local squares = (x * x):sum():item()
      assert.is_true(math.abs(squares - reduced(n, function(i) return host[i] * host[i] end, add)) <= 1e-12 * squares, n)
    end
  end)

  it("adds rows and columns in the order of lanes", function()
    for _, shape in ipairs { { 3, 1000 }, { 40, 97 }, { 5, 300 } } do
      local rows, columns = shape[1], shape[2]
      local x = numbers(rows * columns):reshape(rows, columns):eval()
      local host, sums = x:contiguous():host(), x:sum(2):host()
      for row = 0, rows - 1 do
        local expected = warp(columns, function(i) return host[row * columns + i] end, function(a, b) return a + b end)
        assert.are.equal(expected, sums[row], row)
      end
    end
  end)

  it("finds the first of equal extremes in any chunk", function()
    for _, n in ipairs(lengths) do
      for _, at in ipairs { 1, math.ceil(n / 2), n } do
        local x = gpu.zeros(n)
        x[at] = 5
        if at < n then x[n] = 5 end
        assert.are.equal(at, x:argmax():item())
        assert.are.equal(5, x:max():item())
      end
    end
  end)

  it("scans in the order of chunks and shares", function()
    for _, n in ipairs { 1, 31, 32, 33, 255, 256, 257, 1000, 5003 } do
      local x, host = numbers(n)
      local got, expected = x:cumsum():host(), scanned(n, function(i) return host[i] end)
      for i = 0, n - 1 do
        if got[i] ~= expected[i] then error(("%d of %d: %.17g, not %.17g"):format(i + 1, n, got[i], expected[i])) end
      end
    end
  end)

  it("keeps the elements of a mask in their order", function()
    for _, n in ipairs(lengths) do
      local x, host = numbers(n)
      local kept, count = x[x:gt(0.3)], 0
      local got = kept:host()
      for i = 0, n - 1 do
        if host[i] > 0.3 then
          if got[count] ~= host[i] then error(("element %d of %d"):format(count + 1, n)) end
          count = count + 1
        end
      end
      assert.are.equal(count, kept.size)
    end
  end)

  it("draws the numbers of a shorter array as those of a longer one", function()
    for _, draw in ipairs { "rand", "randn" } do
      for _, dtype in ipairs { "float32", "float64" } do
        gpu.random.seed(5)
        local all = gpu[draw](1000, { dtype = dtype }):host()
        for _, n in ipairs { 1, 2, 3, 5, 127, 130, 999 } do
          gpu.random.seed(5)
          local some = gpu[draw](n, { dtype = dtype }):host()
          for i = 0, n - 1 do assert.are.equal(all[i], some[i]) end
        end
      end
    end
  end)
end)

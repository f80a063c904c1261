-- gpu.ndimage's filters by rank beside a plain sort of each element's neighbours.
local gpu = require "gpu"
local support = require "support"
local nd = gpu.ndimage

--- Whether a comes before b; NaN is last.
local function before(a, b) return a < b or (b ~= b and a == a) end

--- The element at `rank`, from 1, of each element's box, or of those in the footprint; "nearest" beyond the edges.
local function filtered(rows, height, width, rank, footprint)
  local m, n = #rows, #rows[1]
  return support.series(m, function(i)
    return support.series(n, function(j)
      local list = {}
      for di = 1, height do
        for dj = 1, width do
          if not footprint or footprint[di][dj] then
            local row = math.min(math.max(i + di - 1 - math.floor(height / 2), 1), m)
            local column = math.min(math.max(j + dj - 1 - math.floor(width / 2), 1), n)
            list[#list + 1] = rows[row][column]
          end
        end
      end
      table.sort(list, before)
      return list[rank or math.floor(#list / 2) + 1]
    end)
  end)
end

local function same(expected, found)
  for i, row in ipairs(expected) do
    for j, number in ipairs(row) do
      local got = found[i][j]
      assert(number == got or (number ~= number and got ~= got), ("%d, %d: expected %s, got %s"):format(i, j, number, got))
    end
  end
end

--- Numbers in no order, with equal ones among them; `special`: also NaN and infinities.
local function numbers(m, n, low, high, special)
  local state = 7
  return support.series(m, function()
    return support.series(n, function()
      state = state * 16807 % 2147483647
      local kind = state % 23
      if special and kind < 4 then return ({ 0 / 0, 1 / 0, -1 / 0, 0 })[kind + 1] end
      return low + state % (high - low + 1)
    end)
  end)
end

describe("rank filters", function()
  local limits = { uint8 = { 0, 255 }, int8 = { -128, 127 }, int16 = { -32768, 32767 }, uint16 = { 0, 65535 },
    int32 = { -2 ^ 31, 2 ^ 31 - 1 }, uint32 = { 0, 2 ^ 32 - 1 }, int64 = { -2 ^ 40, 2 ^ 40 }, uint64 = { 0, 2 ^ 40 } }
  for dtype, limit in pairs(limits) do
    it("are a plain sort's for " .. dtype, function()
      local rows = numbers(9, 11, limit[1], limit[2])
      local x = gpu.array(rows, dtype)
      for _, size in ipairs { { 3, 3 }, { 2, 5 }, { 9, 9 } } do
        same(filtered(rows, size[1], size[2]), nd.median_filter(x, size, { mode = "nearest" }):table())
      end
    end)
  end

  for _, dtype in ipairs { "float16", "bfloat16", "float32", "float64" } do
    it("are a plain sort's for " .. dtype .. " with NaN and infinities", function()
      local rows = numbers(10, 13, -100, 100, true)
      local x = gpu.array(rows, dtype)
      for _, size in ipairs { { 1, 1 }, { 1, 2 }, { 3, 3 }, { 5, 5 }, { 7, 7 }, { 8, 8 }, { 5, 13 }, { 11, 11 } } do
        same(filtered(rows, size[1], size[2]), nd.median_filter(x, size, { mode = "nearest" }):table())
      end
    end)
  end

  it("take any rank and footprint, and many neighbours", function()
    local rows = numbers(8, 12, -50, 50, true)
    local x = gpu.array(rows, "float32")
    for _, rank in ipairs { 1, 2, 8, 14, 15 } do
      same(filtered(rows, 3, 5, rank), nd.rank_filter(x, rank, { 3, 5 }, { mode = "nearest" }):table())
    end
    for _, rank in ipairs { 1, 40, 77 } do
      same(filtered(rows, 7, 11, rank), nd.rank_filter(x, rank, { 7, 11 }, { mode = "nearest" }):table())
    end
    same(filtered(rows, 3, 3, 9), nd.rank_filter(x, -1, 3, { mode = "nearest" }):table())
    same(filtered(rows, 3, 3, 3), nd.percentile_filter(x, 25, 3, { mode = "nearest" }):table())
    local cross = { { false, true, false }, { true, true, true }, { false, true, false } }
    same(filtered(rows, 3, 3, nil, cross), nd.median_filter(x, { footprint = gpu.array(cross), mode = "nearest" }):table())
    local few = numbers(3, 4, 0, 9, true)
    same(filtered(few, 33, 32), nd.median_filter(gpu.array(few, "float64"), { 33, 32 }, { mode = "nearest" }):table())
    assert.are.equal("(3, 0)", tostring(nd.median_filter(gpu.zeros(3, 0), 5).shape))
    assert.are.same({ true, true, false }, nd.median_filter(gpu.array { true, true, false }, 3, { mode = "nearest" }):table())
    assert.are.equal("-inf", tostring(1 / nd.median_filter(gpu.array({ -0.0, -0.0, -0.0 }, "float64"), 3)[2]))
  end)
end)

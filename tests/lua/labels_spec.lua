-- gpu.ndimage.label beside a plain search of each part, for all structures.
local gpu = require "gpu"
local support = require "support"
local nd = gpu.ndimage

--- The labels of a row-major list of 0 and 1, and their number. `structure`: a list of bool.
local function plain(inside, shape, structure)
  local ndim, labels, count = #shape, {}, 0
  local function place(flat)
    local at = {}
    for axis = ndim, 1, -1 do
      at[axis] = flat % shape[axis]
      flat = math.floor(flat / shape[axis])
    end
    return at
  end
  for i = 1, #inside do labels[i] = 0 end
  for first = 1, #inside do
    if inside[first] ~= 0 and labels[first] == 0 then
      count = count + 1
      labels[first] = count
      local stack = { first }
      while #stack > 0 do
        local at = place(table.remove(stack) - 1)
        for k = 1, #structure do
          if structure[k] then
            local rest, other, within = k - 1, {}, true
            for axis = ndim, 1, -1 do
              other[axis] = at[axis] + rest % 3 - 1
              rest = math.floor(rest / 3)
              within = within and other[axis] >= 0 and other[axis] < shape[axis]
            end
            if within then
              local flat = 0
              for axis = 1, ndim do flat = flat * shape[axis] + other[axis] end
              if inside[flat + 1] ~= 0 and labels[flat + 1] == 0 then
                labels[flat + 1] = count
                stack[#stack + 1] = flat + 1
              end
            end
          end
        end
      end
    end
  end
  return labels, count
end

local state = 11
local function random(n)
  state = state * 16807 % 2147483647
  return state % n
end

local function check(shape, structure, share)
  local size, cubes = 1, {}
  for axis, extent in ipairs(shape) do size, cubes[axis] = size * extent, 3 end
  local inside = support.series(size, function() return random(100) < share and 1 + random(3) or 0 end)
  local labels, count = plain(inside, shape, structure)
  local x = gpu.array(inside, "int32"):reshape(shape)
  local found, number = nd.label(x, { structure = gpu.array(structure, "bool"):reshape(cubes) })
  assert.are.equal(count, number)
  assert.are.equal("int32", found.dtype)
  assert.are.same(labels, found:ravel():table())
end

--- A symmetric structure whose elements before the middle one are the bits of a number.
local function structure_of(ndim, bits)
  local size, list = 3 ^ ndim, {}
  local middle = (size + 1) / 2
  for k = 1, middle - 1 do
    list[k] = bits % 2 == 1
    list[size + 1 - k] = list[k]
    bits = math.floor(bits / 2)
  end
  list[middle] = true
  return list
end

describe("labels", function()
  it("are those of a plain search along one axis", function()
    for _, n in ipairs { 1, 2, 63, 64, 65, 128, 200 } do
      for _, share in ipairs { 0, 30, 70, 100 } do
        check({ n }, structure_of(1, 1), share)
        check({ n }, structure_of(1, 0), share)
      end
    end
  end)

  it("are those of a plain search of two axes, for each structure", function()
    for bits = 0, 15 do
      for _, shape in ipairs { { 1, 7 }, { 7, 1 }, { 9, 13 }, { 5, 70 }, { 24, 24 } } do
        for _, share in ipairs { 20, 45, 80 } do check(shape, structure_of(2, bits), share) end
      end
    end
  end)

  it("are those of a plain search of three and four axes", function()
    for _ = 1, 30 do check({ 3 + random(4), 2 + random(5), 2 + random(9) }, structure_of(3, random(8192)), 20 + random(50)) end
    check({ 6, 7, 8 }, structure_of(3, 8191), 30)
    for _ = 1, 4 do check({ 3, 4, 3, 5 }, structure_of(4, random(2 ^ 30)), 20 + random(30)) end
  end)

  it("join strips of many rows", function()
    -- A spiral is one part, and a comb of columns that meet in the last row, too.
    local n = 700
    local comb = gpu.zeros({ n, n }, "bool")
    comb(":", { 1, n, 2 }):fill_(true)
    local labels, count = nd.label(comb)
    assert.are.equal(n / 2, count)
    assert.is_true(labels(1, { 1, n, 2 }):eq(gpu.arange(n / 2) + 1):all():item())
    comb(n):fill_(true)
    labels, count = nd.label(comb)
    assert.are.equal(1, count)
    assert.is_true(labels:eq(comb:astype "int32"):all():item())
    -- Rows that meet their neighbours at corners alone.
    local diagonal = gpu.eye(n, n, "bool")
    assert.are.equal(n, select(2, nd.label(diagonal)))
    assert.are.equal(1, select(2, nd.label(diagonal, { structure = gpu.ones({ 3, 3 }, "bool") })))
    -- Views, and what is evaluated first.
    local random_picture = gpu.random.generator("philox", { seed = 3 }):uniform({ 300, 280 }):lt(0.5):eval()
    local turned, turned_count = nd.label(random_picture.T)
    local copied, copied_count = nd.label(random_picture.T:copy())
    assert.are.equal(turned_count, copied_count)
    assert.is_true(turned:eq(copied):all():item())
    assert.are.equal(0, select(2, nd.label(gpu.zeros(0, 4))))
  end)
end)

-- Bits of bytes: gpu.packbits and gpu.unpackbits beside plain loops.
local gpu = require "gpu"
local support = require "support"

--- The bytes of a list of bits, and the bits of a list of bytes.
local function packed(bits, order)
  local bytes = {}
  for i, bit in ipairs(bits) do
    local byte, at = math.floor((i - 1) / 8) + 1, (i - 1) % 8
    bytes[byte] = (bytes[byte] or 0) + (bit ~= 0 and bit ~= false and 2 ^ (order == "big" and 7 - at or at) or 0)
  end
  return bytes
end
local function unpacked(bytes, order)
  local bits = {}
  for _, byte in ipairs(bytes) do
    for at = 0, 7 do bits[#bits + 1] = math.floor(byte / 2 ^ (order == "big" and 7 - at or at)) % 2 end
  end
  return bits
end
local function transposed(rows)
  local columns = {}
  for j = 1, #(rows[1] or {}) do columns[j] = support.series(#rows, function(i) return rows[i][j] end) end
  return columns
end
local function each(rows, fn)
  return support.series(#rows, function(i) return fn(rows[i]) end)
end

-- Numbers that are 0 in their low byte or their low bits are bits too.
local values = { bool = { false, true }, uint8 = { 0, 1, 128, 0, 255, 2 }, int8 = { 0, -1, 1, 0, -128 }, int32 = { 0, 256, -1, 0, 7 } }

describe("bits of bytes", function()
  for dtype, list in pairs(values) do
    it("are those of " .. dtype, function()
      for _, n in ipairs { 1, 7, 8, 9, 16, 31, 64, 1000 } do
        local bits = support.series(n, function(i) return list[(i * i + math.floor(i / 3)) % #list + 1] end)
        local x = gpu.array(bits, dtype)
        for _, order in ipairs { "big", "little" } do
          assert.are.same(packed(bits, order), x:packbits({ bitorder = order }):table())
          assert.are.same("uint8", x:packbits({ bitorder = order }).dtype)
        end
        -- A view that begins between two words, one with gaps, and one that is reversed.
        local within = gpu.concat { x({ 1, 1 }), x, x({ 1, 1 }) }:eval()
        assert.are.same(packed(bits, "big"), within({ 2, n + 1 }):packbits():table())
        local apart = gpu.stack({ x, x }, 2):eval()
        assert.are.same(packed(bits, "big"), apart(":", 2):packbits():table())
        assert.are.same(packed(bits, "big"), x:flip():eval():flip():packbits():table())
      end
    end)
  end

  it("lie along an axis", function()
    for _, rows in ipairs { 1, 3, 8, 17 } do
      for _, columns in ipairs { 1, 8, 13, 24 } do
        local bits = support.series(rows, function(i) return support.series(columns, function(j) return (i * 5 + j * j) % 3 % 2 end) end)
        local x = gpu.array(bits, "uint8")
        assert.are.same(each(bits, function(row) return packed(row, "big") end), x:packbits(2):table())
        local down = transposed(each(transposed(bits), function(column) return packed(column, "little") end))
        assert.are.same(down, x:packbits(1, { bitorder = "little" }):table())
        assert.are.same(each(bits, function(row) return unpacked(row, "little") end), x:unpackbits(2, { bitorder = "little" }):table())
        assert.are.same(transposed(each(transposed(bits), function(column) return unpacked(column, "big") end)), x:unpackbits(1):table())
      end
    end
  end)

  it("come back from their bytes", function()
    for _, n in ipairs { 1, 3, 8, 256, 777 } do
      local bytes = support.series(n, function(i) return (i * 37 + math.floor(i / 256)) % 256 end)
      local x = gpu.array(bytes, "uint8")
      for _, order in ipairs { "big", "little" } do
        assert.are.same(unpacked(bytes, order), x:unpackbits({ bitorder = order }):table())
        assert.are.same(bytes, x:unpackbits({ bitorder = order }):packbits({ bitorder = order }):table())
      end
      assert.are.same({ unpack(unpacked(bytes, "big"), 1, 5) }, x:unpackbits({ count = 5 }):table())
      assert.are.same({ unpack(unpacked(bytes, "big"), 1, 8 * n - 3) }, x:unpackbits({ count = -3 }):table())
      local wider = unpacked(bytes, "big")
      wider[#wider + 1], wider[#wider + 2] = 0, 0
      assert.are.same(wider, x:unpackbits({ count = 8 * n + 2 }):table())
    end
  end)

  it("of nothing are nothing", function()
    for _, shape in ipairs { { 0 }, { 0, 4 }, { 4, 0 } } do
      local x = gpu.zeros(shape, "uint8")
      assert.are.equal(0, x:packbits().size)
      assert.are.equal(0, x:unpackbits().size)
      assert.are.equal("uint8", x:packbits(-1).dtype)
    end
    assert.are.same({ 0, 4 }, { unpack(gpu.zeros({ 0, 32 }, "uint8"):packbits(2).shape) })
    assert.are.same({ 3, 0 }, { unpack(gpu.zeros({ 3, 0 }, "uint8"):packbits(2).shape) })
  end)

  it("are those at the time of the call, and can be fused", function()
    local x = gpu.zeros(16, "uint8")
    local bytes, bits = x:packbits(), x:unpackbits()
    x:fill_(1)
    assert.are.same({ 0, 0 }, bytes:table())
    assert.are.equal(0, bits:sum():item())
    local pack = gpu.fuse(function(y) return y:gt(2):packbits(), y:astype("uint8"):unpackbits() end)
    for shift = 0, 3 do
      local numbers = support.series(11, function(i) return (i + shift) % 5 end)
      local a, b = pack(gpu.array(numbers, "float32"))
      assert.are.same(packed(support.series(11, function(i) return numbers[i] > 2 end), "big"), a:table())
      assert.are.same(unpacked(numbers, "big"), b:table())
    end
    local inner = gpu.fuse(function(y) return y:packbits() end)
    local whole = gpu.array(support.series(40, function(i) return i % 3 end), "uint8")
    for first = 1, 20 do
      local list = support.series(16, function(i) return (first + i - 1) % 3 end)
      assert.are.same(packed(list, "big"), inner(whole({ first, first + 15 })):table())
    end
  end)

  it("are found in a graph", function()
    local x, y = gpu.zeros(16, "uint8"), gpu.arange(100, "int32")
    local values = gpu.array(support.series(50, function(i) return 2 * i end), "int32")
    local bytes, bits, found, diagonal
    local A = gpu.sparse.csr(gpu.eye(4))
    local graph = gpu.graph(function()
      bytes, bits = gpu.eval(x:packbits(), x:unpackbits())
      found, diagonal = gpu.eval(y:isin(values), A:diagonal() * y({ 1, 4 }))
      return bytes, bits, found, diagonal
    end)
    for shift = 0, 2 do
      local numbers = support.series(16, function(i) return (i + shift) % 3 end)
      x:copy_(gpu.array(numbers, "uint8"))
      y:copy_(gpu.arange(100, "int32") + shift)
      graph:launch()
      assert.are.same(packed(numbers, "big"), bytes:table())
      assert.are.same(unpacked(numbers, "big"), bits:table())
      for i, is_in in ipairs(found:table()) do
        local number = i - 1 + shift
        assert.are.equal(number % 2 == 0 and number >= 2 and number <= 100, is_in)
      end
      assert.are.same({ shift, shift + 1, shift + 2, shift + 3 }, diagonal:table())
    end
  end)
end)

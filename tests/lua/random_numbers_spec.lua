-- gpu.rand, gpu.randn and the state behind them. The reference is Philox4x32-10 in Lua, below, which is itself checked against the
-- known answers of its authors' library, Random123.
local gpu = require "gpu"
local bit = require "bit"
local ffi = require "ffi"
local support = require "support"

local folder = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or "."

-- ---- the reference ------------------------------------------------------------------------------------------------------------

local function multiply(a, b) -- high and low word
  local product = ffi.cast("uint64_t", a) * ffi.cast("uint64_t", b)
  return tonumber(product / 0x100000000ULL), tonumber(product % 0x100000000ULL)
end

local function xor(...) return bit.bxor(...) % 2 ^ 32 end

local function philox(counter, key)
  local a, b, c, d = counter[1], counter[2], counter[3], counter[4]
  local k, l = key[1], key[2]
  for _ = 1, 10 do
    local high0, low0 = multiply(0xD2511F53, a)
    local high2, low2 = multiply(0xCD9E8D57, c)
    a, b, c, d = xor(high2, b, k), low2, xor(high0, d, l), low0
    k, l = (k + 0x9E3779B9) % 2 ^ 32, (l + 0xBB67AE85) % 2 ^ 32
  end
  return { a, b, c, d }
end

local known_answers = {
  { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
  { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff }, { 0xffffffff, 0xffffffff },
    { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
  { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, { 0xa4093822, 0x299f31d0 },
    { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
}

--- Word i, from 0, of the stream.
local function word(seed, i)
  local block = math.floor(i / 4)
  local key = { seed % 2 ^ 32, math.floor(seed / 2 ^ 32) }
  return philox({ block % 2 ^ 32, math.floor(block / 2 ^ 32), 0, 0 }, key)[i % 4 + 1]
end

local function to_float32(x) return tonumber(ffi.cast("float", x)) end
local function uniform32(w) return to_float32(to_float32(w) * 2 ^ -32 + 2 ^ -33) end
-- The upper 53 bits of a 64-bit word.
local function upper(low, high) return high * 2 ^ 21 + math.floor(low / 2 ^ 11) end
local function uniform64(low, high) return (upper(low, high) + 1) * 2 ^ -53 end

local function normals32(a, b)
  local quarter, rest = math.floor(b / 2 ^ 30), b % 2 ^ 30
  if rest >= 2 ^ 29 then rest = rest - 2 ^ 30 end
  local angle = rest * 2 ^ -30 * math.pi / 2
  local r = math.sqrt(-2 * math.log(uniform32(a)))
  local x, y = math.cos(angle), math.sin(angle)
  if quarter % 2 == 1 then x, y = y, x end
  if quarter >= 2 then r = -r end
  return r * x, r * y
end

-- ---- tests --------------------------------------------------------------------------------------------------------------------

describe("Philox4x32-10", function()
  it("gives its authors' known answers, in the reference and on the device", function()
    local text = ""
    for _, name in ipairs { "elements", "philox" } do
      local file = assert(io.open(folder .. "/../../kernels/" .. name .. ".cuh"))
      text = text .. file:read "*a"
      file:close()
    end
    local kernel = gpu.kernel(text .. [[
      __global__ void words(const unsigned int* counters, const unsigned int* keys, unsigned int* out) {
        const unsigned int* c = counters + 4 * threadIdx.x;
        const unsigned int counter[4] = {c[0], c[1], c[2], c[3]};
        const gpulua_philox block(counter, keys[2 * threadIdx.x], keys[2 * threadIdx.x + 1]);
        for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = block.word[i];
      }]], "words")
    local counters, keys, answers = {}, {}, {}
    for i, answer in ipairs(known_answers) do
      assert.are.same(answer[3], philox(answer[1], answer[2]))
      counters[i], keys[i], answers[i] = answer[1], answer[2], answer[3]
    end
    local out = gpu.zeros({ #answers, 4 }, "uint32")
    kernel { grid = 1, block = #answers }(gpu.array(counters, "uint32"), gpu.array(keys, "uint32"), out)
    assert.are.same(answers, out:table())
  end)
end)

describe("uniform and normal numbers", function()
  local seed, offset = 0x123456789AB, 2 ^ 34 + 40 -- both words of the key and of the block's number count

  local function with(make)
    gpu.random.set_state { seed = seed, offset = offset }
    return make()
  end

  it("are those of the stream", function()
    local u = with(function() return gpu.rand(11) end):table()
    local z = with(function() return gpu.randn(11) end):table()
    local d = with(function() return gpu.rand(5, "float64") end):table()
    local e = with(function() return gpu.randn(5, { dtype = "float64" }) end):table()
    for i = 0, 10 do assert.are.equal(uniform32(word(seed, offset + i)), u[i + 1]) end
    for i = 0, 8, 2 do
      local x, y = normals32(word(seed, offset + i), word(seed, offset + i + 1))
      support.near(x, z[i + 1], 2e-6)
      support.near(y, z[i + 2], 2e-6)
    end
    for i = 0, 3, 2 do
      local words = support.series(4, function(k) return word(seed, offset + 2 * i + k - 1) end)
      assert.are.equal(uniform64(words[1], words[2]), d[i + 1])
      assert.are.equal(uniform64(words[3], words[4]), d[i + 2])
      local r, angle = math.sqrt(-2 * math.log(d[i + 1])), upper(words[3], words[4]) * 2 ^ -52 * math.pi
      support.near(r * math.cos(angle), e[i + 1], 1e-13)
      support.near(r * math.sin(angle), e[i + 2], 1e-13)
    end
  end)

  it("do not depend on what computes them", function()
    for make, dtypes in pairs { [gpu.rand] = { "bfloat16", "float32" }, [gpu.randn] = { "float32", "float64" } } do
      for _, dtype in ipairs(dtypes) do
        local function draw(...)
          local shape = { ... }
          return with(function() return make(shape, dtype) end)
        end
        local n = 4 * 37 * 3
        local all = draw(n):table()
        local x = draw(n)
        assert.are.same(all, x:eval():table())
        assert.are.same(all, x:table(), "evaluated again")
        -- In larger kernels: with other widths, other positions and other shapes.
        assert.are.same(all, (draw(n) + gpu.zeros(n, dtype)):table(), "beside an array")
        assert.are.same(all, (draw(n) * gpu.ones(n + 1, dtype)({ 2, n + 1 })):table(), "beside an unaligned array")
        assert.are.same(all, (draw(n) + gpu.zeros(n, "float64")):astype(dtype):table(), "beside a wider one")
        assert.are.same(all, (draw(n) + gpu.zeros(n, "int8")):astype(dtype):table(), "beside a narrower one")
        local matrix = draw(4, 37 * 3)
        assert.are.same(all, (matrix + gpu.zeros(4, 1, dtype)):reshape(n):table(), "in rows of no multiple of four")
        local transposed = gpu.zeros(37 * 3, 4, dtype).T
        assert.are.same(all, (draw(4, 37 * 3) + transposed):reshape(n):table(), "in columns")
        -- In reductions, of rows and of columns.
        local rows, sums, maxima = draw(3, 148):table(), draw(3, 148):max(2):table(), draw(3, 148):max(1):table()
        for i = 1, 3 do assert.are.equal(math.max(unpack(rows[i])), sums[i]) end
        for j = 1, 148 do assert.are.equal(math.max(rows[1][j], rows[2][j], rows[3][j]), maxima[j]) end
        local odd, greatest = draw(4, 111):table(), draw(4, 111):max(2):table()
        for i = 1, 4 do assert.are.equal(math.max(unpack(odd[i])), greatest[i]) end
        assert.are.equal(math.max(unpack(all)), draw(n):max():item())
      end
    end
  end)

  it("keep their values from when they are made", function()
    gpu.random.seed(5)
    local a, b = gpu.rand(6), gpu.rand(6)
    local late = b:table()
    local early = a:table()
    gpu.random.seed(5)
    assert.are.same(early, gpu.rand(6):table())
    assert.are.same(late, gpu.rand(6):table())
    assert.are_not.same(early, late)
  end)

  it("stay in (0, 1] and have the moments they should", function()
    gpu.random.seed(11)
    local n = 400000
    for dtype, least in pairs { float16 = 2 ^ -11, bfloat16 = 2 ^ -8, float32 = 2 ^ -33, float64 = 2 ^ -53 } do
      local u = gpu.rand(n, dtype):eval()
      assert(u:min():item() >= least and u:max():item() <= 1)
      local wide = u:astype "float64"
      local half = dtype == "bfloat16" and 2 ^ -9 or dtype == "float16" and 2 ^ -12 or 0 -- the grid is (0, 1]
      support.near(0.5 + half, wide:mean():item(), 0.0025)
      support.near(1 / 12, ((wide - 0.5 - half) ^ 2):mean():item(), 0.001)
      local z = gpu.randn(n, dtype):astype "float64"
      support.near(0, z:mean():item(), 0.008)
      support.near(1, (z ^ 2):mean():item(), 0.012)
      support.near(0, (z ^ 3):mean():item(), 0.03)
      support.near(3, (z ^ 4):mean():item(), 0.1)
    end
  end)

  it("are normal in the tails, too", function()
    gpu.random.seed(3)
    local n = 2 ^ 22
    local z = gpu.randn(n):eval()
    local beyond = { [1] = 0.15865525, [2] = 0.02275013, [3] = 0.001349898, [4] = 3.167124e-5 }
    for limit, p in pairs(beyond) do
      for _, side in ipairs { z, -z } do
        local count = (side:gt(limit)):astype("float64"):sum():item()
        assert(math.abs(count - n * p) < 4 * math.sqrt(n * p), ("%d beyond %g"):format(count, limit))
      end
    end
  end)

  it("are one kernel with what is done to them", function()
    local value = gpu.mean(gpu.maximum(100 * gpu.exp(0.3 * gpu.randn(1000)) - 100, 0))
    local text = gpu.explain(value)
    assert(text:find("1 kernel", 1, true) and text:find("stores float32[]", 1, true), text)
  end)

  it("have any shape", function()
    assert.are.same({ 2, 3, 4 }, gpu.rand(2, 3, 4).shape)
    assert.are.same({ 2, 3 }, gpu.randn({ 2, 3 }).shape)
    assert.are.equal(0, gpu.rand(0).size)
    assert.are.same({}, gpu.rand({}).shape)
    assert(gpu.rand({}):item() > 0)
  end)

  it("check what they are given", function()
    support.fails("[rand] expected a floating-point dtype, got int32", gpu.rand, 3, "int32")
    support.fails("[randn] expected a floating-point dtype, got complex64", gpu.randn, 3, { dtype = "complex64" })
    support.fails("[randn] expected the options dtype, device, generator and part", gpu.randn, 3, { seed = 1 })
    support.fails("[rand] expected sizes of 0 or more", gpu.rand, -1)
    support.fails("[rand] expected a generator made by gpu.random.generator(\"philox\")", gpu.rand, 1, { generator = 5 })
  end)
end)

describe("the state", function()
  it("is a seed and an offset", function()
    gpu.random.seed(42)
    assert.are.same({ seed = 42, offset = 0 }, gpu.random.state())
    gpu.rand(5) -- an array that is never read takes its part of the stream, too
    assert.are.same({ seed = 42, offset = 8 }, gpu.random.state())
    gpu.rand(5, "float64")
    assert.are.same({ seed = 42, offset = 20 }, gpu.random.state())
  end)

  it("comes back", function()
    local state = gpu.random.state()
    local a = gpu.randn(100)
    gpu.random.set_state(state)
    assert.are.same(gpu.randn(100):table(), a:table())
  end)

  it("is checked", function()
    support.fails("[random.seed] expected a seed that is not negative, got -1", gpu.random.seed, -1)
    support.fails("[random.seed] expected an integer seed", gpu.random.seed, 1.5)
    support.fails("[random.set_state] expected an offset that is a multiple of 4, got 3", gpu.random.set_state, { offset = 3 })
    support.fails("[random.set_state] expected a table that state() has given", gpu.random.set_state, 3)
  end)
end)

describe("a philox generator", function()
  it("has a stream of its own", function()
    gpu.random.seed(9)
    local g = gpu.random.generator("philox", { seed = 9 })
    local mine = gpu.rand(10, { generator = g }):table()
    assert.are.same({ seed = 9, offset = 0 }, gpu.random.state())
    assert.are.same({ seed = 9, offset = 12 }, g:state())
    assert.are.same(gpu.rand(10):table(), mine)
    assert.are.equal(gpu.rand(10).device, gpu.rand(10, { generator = g }).device)
    assert.are.equal("philox generator on " .. gpu.device().name, tostring(g))
  end)

  it("skips ahead and goes back", function()
    local a, b = gpu.random.generator "philox", gpu.random.generator "philox"
    gpu.rand(1000, { generator = a })
    b:skip(1000)
    assert.are.same(a:state(), b:state())
    local state = a:state()
    local numbers = gpu.randn(7, { generator = a }):table()
    a:set_state(state)
    assert.are.same(numbers, gpu.randn(7, { generator = a }):table())
    support.fails("[skip] expected a count of 0 or more, got -1", a.skip, a, -1)
  end)
end)

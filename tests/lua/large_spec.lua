-- Arrays of more than 2^31 elements, on devices with enough memory.
local gpu = require "gpu"
local support = require "support"

local n = 2 ^ 31 + 1007 -- a multiple of 5

--- Why not to run, or nil.
local function no_room()
  if gpu.device().kind == "cuda" then
    local memory = gpu.memory()
    return memory.limit - memory.used < 24e9 and "the GPU has less than 24 GB of memory"
  end
  local file = io.open "/proc/meminfo"
  local available = file and tonumber(file:read("*a"):match "MemAvailable:%s*(%d+) kB")
  if file then file:close() end
  return not (available and available > 16e6) and "less than 16 GB of memory are available"
end

describe("arrays past 2^31 elements", function()
  local x -- int8: element i, counted from 0, is i % 64
  local reason = no_room()
  local function large(name, fn)
    it(name, function()
      if reason then return pending(reason) end
      x = x or gpu.arange(n):bitwise_and(63):astype("int8"):eval()
      fn()
    end)
  end
  local function expected(i) return (i - 1) % 64 end
  local total = 0
  for i = 1, 64 do total = total + expected(i) * math.ceil((n - i + 1) / 64) end

  teardown(function()
    if x then x:free() end
    gpu.trim()
  end)

  large("are computed, read and sliced", function()
    for _, i in ipairs { 1, 64, 2 ^ 31 - 1, 2 ^ 31, 2 ^ 31 + 1, 2 ^ 31 + 2, n - 1, n } do assert.are.equal(expected(i), x[i]) end
    assert.are.equal(expected(n), x[-1])
    assert.are.equal(n, #x)
    assert.are.same(support.series(300, function(i) return expected(2 ^ 31 - 150 + i) end), x({ 2 ^ 31 - 149, 2 ^ 31 + 150 }):table())
    assert.are.same(support.series(5, function(i) return expected(n + 1 - i) end), x "::-1" ({ 1, 5 }):table())
    assert.are.same({ expected(n), expected(n - 2 ^ 30) }, x({ n, 1, -2 ^ 30 })({ 1, 2 }):table())
    assert.are.same({ expected(n), 0, expected(2 ^ 31 + 7) }, x[gpu.array({ n, 1, 2 ^ 31 + 7 }, "int64")]:table())
    assert(tostring(x):find "int8%[2147484655%]")
  end)

  large("are reduced", function()
    assert.are.equal(total, x:sum():item())
    assert.are.equal(total, x:reshape(1, n):sum(2):item())
    assert.are.equal(total, x:reshape(5, n / 5):sum(2):sum():item())
    assert.are.equal(64, x:argmax():item())
    local positions = gpu.arange(n)
    assert.are.equal(n, positions:argmax():item())
    assert.are.equal(1007, positions:ge(2 ^ 31):sum():item())
    support.near((n - 1) / 2, gpu.arange(n, "float32"):mean():item(), 1e-5)
  end)

  large("are written, to their ends", function()
    x["-3:"] = { 100, 101, 102 }
    assert.are.same({ expected(n - 3), 100, 101, 102 }, x "-4:":table())
    assert.are.equal(n, x:argmax():item())
    x[gpu.array({ n - 2, n - 1, n }, "int64")] = gpu.array({ -1, -2, -3 }, "int8")
    assert.are.equal(n, x:argmin():item())
    x[x:lt(0)] = 0
    assert.are.same({ expected(n - 3), 0, 0, 0 }, x "-4:":table())
    x({ 2 ^ 31 + 1, n }):add_(gpu.arange(2 ^ 31, n):bitwise_and(63):astype "int8" - x({ 2 ^ 31 + 1, n }))
    x({ 1, n - 1 }):copy_(x { 2, n }) -- moves, as if copied first
    assert.are.equal(expected(n), x[n - 1])
    assert.are.equal(total, x:sum():item() + expected(1) - expected(n))
    x:copy_(gpu.arange(n):bitwise_and(63))
  end)

  large("are copied, in both directions", function()
    local y = x "::-1":copy()
    assert.are.equal(expected(n), y[1])
    assert.are.equal(expected(n - 2 ^ 31), y[2 ^ 31 + 1])
    assert.are.equal(0, y[n])
    assert.is_true(y "::-1":eq(x):all():item())
    y:free()
  end)

  large("are compressed by a mask", function()
    if gpu.device().kind == "cpu" then return pending "the cpu device takes minutes" end
    local selected = x[x:gt(61)]
    assert.are.equal(2 * math.floor(n / 64), selected.size)
    assert.are.equal(125 * math.floor(n / 64), selected:sum():item())
    assert.are.equal(63, selected[selected.size])
  end)

  large("are scanned", function()
    local sums = x:cumsum(1, { dtype = "int8" })
    local function wrapped(value) return (value + 128) % 256 - 128 end
    assert.are.equal(wrapped(total), sums[n])
    assert.are.equal(wrapped(sums[n - 1] + expected(n)), sums[n])
    assert.are.equal(wrapped(sums[2 ^ 31] + expected(2 ^ 31 + 1)), sums[2 ^ 31 + 1])
    sums:free()
  end)

  large("have random numbers of their place in the stream", function()
    local count = n + 1 -- a multiple of 8
    gpu.random.seed(5)
    local drawn = gpu.where(gpu.arange(count):ge(count - 8), gpu.rand(count), 0):sum():item()
    gpu.random.set_state { seed = 5, offset = count - 8 }
    support.near(gpu.rand(8):sum():item(), drawn, 1e-6)
  end)
end)

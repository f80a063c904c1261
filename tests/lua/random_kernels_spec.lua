-- Kernels that nobody would write, on the device and by a scalar interpretation in Lua: no differences.
-- GPULUA_TEST_KERNELS sets how many.
local gpu = require "gpu"
local generator = require "kernel_generator"

-- The interpretation is the reference, and LuaJIT's compiler gets bit operations in loops wrong (docs/guide.md): kernel 599 differed
-- in one run of five.
jit.off()

local count = tonumber(os.getenv "GPULUA_TEST_KERNELS") or 134
local a_module = 50
local n = 70
-- A warp and a part of a second in each block, of which the last does not work; and what else warps can be in rows.
local one_row, rows = { { 40, 1 } }, { { 16, 4 }, { 8, 5 }, { 32, 2 }, { 20, 3 } }

local a, x = {}, {}
for i = 0, 63 do
  a[i] = ({ i - 20, i * 1103515 % 2147483647, -i * 99991, 0, 1, -1, 2147483647, -2147483648 })[i % 8 + 1]
  x[i] = ({ i * 0.5 - 8, 1 / (i + 1), -1e10 * i, 1e-20 * i, 0, -0.75, 3e38, 1e5 + i })[i % 8 + 1]
end
local function from_zero(t)
  local list = {}
  for i = 0, 63 do list[i + 1] = t[i] end
  return list
end
local ints_in, floats_in = gpu.array(from_zero(a), "int32"), gpu.array(from_zero(x))
x = floats_in:host() -- as rounded

--- The results of all threads by number. The threads of a block take turns from barrier to barrier.
local function interpret(kernel, threads)
  local results = {}
  for block = 0, math.ceil(n / threads) - 1 do
    local shared, turns = {}, {}
    for i = 0, threads - 1 do
      local t = block * threads + i
      shared[i] = 0
      local function exchange(value, distance)
        shared[i] = value
        coroutine.yield()
        local result = shared[(i + distance) % threads]
        coroutine.yield()
        return result
      end
      local function run() results[t] = { kernel.interpret(t, t % 32, n, a, x, exchange) } end
      if t < n and kernel.meets then
        turns[#turns + 1] = coroutine.create(run)
      elseif t < n then
        run()
      end
    end
    while #turns > 0 do
      local left = {}
      for _, turn in ipairs(turns) do
        assert(coroutine.resume(turn))
        if coroutine.status(turn) ~= "dead" then left[#left + 1] = turn end
      end
      turns = left
    end
  end
  return results
end

local function same(expected, got) return expected == got or (expected ~= expected and got ~= got) end

describe("random kernels", function()
  for first = 1, count, a_module do
    it(("%d to %d agree with their interpretation"):format(first, math.min(first + a_module - 1, count)), function()
      local kernels, texts = {}, { generator.prelude }
      for seed = first, math.min(first + a_module - 1, count) do
        local kernel = generator.make(seed)
        kernels[#kernels + 1], texts[#texts + 1] = kernel, kernel.text
      end
      local module = gpu.module(table.concat(texts), { options = { "--fmad=false" } })
      for _, kernel in ipairs(kernels) do
        local engine = module[kernel.name].engine
        assert(not engine:find "^scalar", engine .. "\n" .. kernel.text)
        for _, block in ipairs(kernel.rows and rows or one_row) do
          local threads = block[1] * block[2]
          local memory, ints, floats = gpu.empty(4 * n, "int32"), gpu.zeros(4 * n, "int32"), gpu.zeros(3 * n)
          module[kernel.name] { grid = math.ceil(n / threads), block = block }(ints_in, floats_in, memory, ints, floats, n)
          local got_ints, got_floats = ints:host(), floats:host()
          local expected = interpret(kernel, threads)
          for t = 0, n - 1 do
            local results = expected[t]
            for k = 1, 7 do
              local got = k <= 4 and got_ints[4 * t + k - 1] or got_floats[3 * t + k - 5]
              if not same(results[k], got) then
                error(("%s, %d x %d threads, thread %d, result %d: expected %s, got %s\n%s"):format(kernel.name, block[1],
                  block[2], t, k, tostring(results[k]), tostring(got), kernel.text))
              end
            end
          end
        end
      end
    end)
  end
end)

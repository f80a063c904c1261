-- Lazy arrays: fusion, the time of evaluation, and the rule for writes.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local function kernels(...) return tonumber(gpu.explain(...):match "^(%d+) kernel") end

describe("expressions", function()
  it("fuse into one kernel", function()
    local x = gpu.arange(1000, "float32"):eval()
    local y = gpu.where(x:gt(10), gpu.exp(x * -0.5) + 1, x)
    assert.are.equal(1, kernels(y))
    assert.are.equal(1, kernels(y:sum()))
    assert.are.equal(1, kernels(y, y * 2))
    local expected = 0
    for i = 0, 999 do expected = expected + (i > 10 and math.exp(-0.5 * i) + 1 or i) end
    support.near(expected, y:sum():item(), 1e-6)
  end)

  it("of Black and Scholes are one kernel for calls and puts", function()
    local n, rate, volatility = 1000, 0.02, 0.30
    local S, X, T = gpu.linspace(5, 30, n), gpu.linspace(100, 1, n), gpu.linspace(0.25, 10, n)
    gpu.eval(S, X, T)
    local function cnd(d)
      local k = 1 / (1 + 0.2316419 * d:abs())
      local tail = 0.3989422804014327 * gpu.exp(-0.5 * d * d)
        * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
      return gpu.where(d:gt(0), 1 - tail, tail)
    end
    local root = T:sqrt()
    local d1 = ((S / X):log() + (rate + 0.5 * volatility ^ 2) * T) / (volatility * root)
    local d2 = d1 - volatility * root
    local discounted = X * gpu.exp(-rate * T)
    local call = S * cnd(d1) - discounted * cnd(d2)
    local put = discounted * (1 - cnd(d2)) - S * (1 - cnd(d1))
    local text = gpu.explain(call, put)
    assert(text:find "^1 kernel\n", text)
    assert(text:find("elementwise over (1000,), stores float32[1000], stores float32[1000]", 1, true), text)
    local rows = gpu.profile(gpu.eval, call, put)
    assert.are.equal(1, #rows)
    assert.are.equal(1, rows[1].launches)
    assert.are.equal(5 * 4 * n, rows[1].bytes)
    assert((call - put - S + discounted):abs():max():item() < 1e-4) -- the parity of calls and puts
  end)

  it("of random numbers and their mean are one kernel that stores one number", function()
    local S0, K, a, b, n = 100, 100, -0.025, 0.3, 100000
    local price = gpu.mean(gpu.maximum(S0 * gpu.exp(a + b * gpu.randn(n)) - K, 0))
    local text = gpu.explain(price)
    assert(text:find "^1 kernel\n" and text:find("reduction of (100000,), stores float32[]\n", 1, true), text)
    local before = support.used()
    local rows = gpu.profile(gpu.eval, price)
    assert.are.equal(1, #rows)
    assert.are.equal(1, rows[1].launches)
    assert.are.equal(4, rows[1].bytes)
    assert(gpu.memory().used - before < 4096 and math.abs(price:item() - 12.8 * math.exp(0.02)) < 0.5)
  end)

  it("that one kernel stores and a later one needs are read, though what they come from is gone", function()
    local x = gpu.arange(5, "float32")
    local t = x * 2
    assert.are.same({ -4, 0 }, (t:take({ 1, 3 }) - t:mean()):table())
    local u = (((x * 2 + 1) * 3 - 1) * 0.5 + 4):maximum(0)
    local wide = gpu.ones(3, 5) * u + u:max()
    assert.are.same({ 22, 34 }, { wide[3][1], wide[1][5] })
    local ones = gpu.ones(3, 4)
    local w = ones * 2
    local s = w:sum()
    gpu.eval(s, w)
    assert.are.same({ 2, 24 }, { w[3][4], s:item() })
    local y = gpu.array { 3, -0.5 }
    local shifted = y + y:nansum()
    y[1] = 100
    assert.are.same({ 5.5, 2 }, shifted:table())
  end)

  it("may run finalizers that evaluate the same arrays", function()
    local x = gpu.arange(1000, "float32"):eval()
    local doubled = x * 2
    local picked = doubled:take({ 1, 3 })
    local result = picked + doubled:mean() + doubled:max() -- in several kernels
    local limit, before = gpu.memory().limit, support.used()
    collectgarbage "stop"
    local ran
    local proxy = newproxy(true)
    getmetatable(proxy).__gc = function()
      ran = true
      gpu.eval(doubled, picked)
    end
    proxy = nil
    gpu.zeros(1000000) -- is collected when the evaluation has no room for its results
    gpu.set_memory_limit(before + 4000000 + 2000)
    local ok, values = pcall(result.table, result)
    gpu.set_memory_limit(limit)
    collectgarbage "restart"
    assert(ok, values)
    assert.is_true(ran)
    assert.are.same({ 999 + 1998, 4 + 999 + 1998 }, values)
  end)

  it("reduce several times in one pass, with what follows from the results", function()
    local x = gpu.arange(1000, "float64"):eval()
    local z = (x:max() - x:min()) / x:sum() + 1
    assert.are.equal(1, kernels(z))
    assert.are.equal(999 / 499500 + 1, z:item())
    local long = gpu.zeros(1e6)
    assert.are.equal(1, kernels(x - x:mean()))
    assert.are.equal(2, kernels(long - long:mean()))
  end)

  it("keep the values that they had when they were written down", function()
    local x = gpu.ones(5)
    local y, z = x * 2, x:sum()
    x:fill_(7)
    assert.are.same({ 2, 2, 2, 2, 2 }, y:table())
    assert.are.equal(5, z:item())
    local w = x + 1
    x:add_(w)
    assert.are.same({ 15, 15, 15, 15, 15 }, x:table())
    assert.are.equal(8, w[1])
  end)

  it("survive a collection while they are evaluated", function()
    local n = 1000
    local x = gpu.ones(n)
    local before = support.used()
    -- Nobody can reach these any more; writing x evaluates them, and the memory that this takes makes the collector run.
    for _ = 1, 50 do local _ = x * 2 end
    gpu.set_memory_limit(before + 20 * 5000)
    pcall(x.fill_, x, 3)
    gpu.set_memory_limit(2 ^ 40)
    collectgarbage()
    x:fill_(4)
    assert.are.equal(4 * n, x:sum():item())
  end)

  it("write in place as if the right side were copied first", function()
    local x = gpu.arange(8)
    x({ 2, 8 }):add_(x { 1, 7 })
    assert.are.same({ 0, 1, 3, 5, 7, 9, 11, 13 }, x:table())
  end)

  describe("of a structure that was evaluated before", function()
    local base = gpu.arange(64, "float32"):eval()

    it("have their own arrays, offsets and numbers", function()
      for round = 1, 2 do
        for first = 1, 20 do
          local x = base + round
          x:eval()
          local y = (x { first, first + 31 } * round + first):eval()
          assert.are.equal((first - 1 + round) * round + first, y[1])
          assert.are.equal((first + 30 + round) * round + first, y[32])
        end
      end
    end)

    it("are written through where they do not overlap, and copied first where they do", function()
      for _, shift in ipairs { 0, 1, 3, 40, 1 } do
        local x, other = base:copy(), base:copy()
        x { 4, 13 }:add_(x { 4 + shift, 13 + shift })
        other { 4, 13 }:add_(base { 4 + shift, 13 + shift })
        assert.are.same(other:table(), x:table())
      end
    end)

    it("call their own functions", function()
      for i = 1, 5 do
        local f = gpu.elementwise { inputs = "float32 x", outputs = "float32 y", body = ("y = x + %d"):format(i) }
        assert.are.equal(i + 1, f(base)[2])
        f = nil
        collectgarbage()
      end
    end)

    it("report an index at their own line", function()
      local function pick(at) return gpu.array({ 1, 2, 3 })[gpu.array({ at }, "int32")] end
      assert.are.equal(2, pick(2)[1])
      for _, other in ipairs { 7, 8 } do
        local line = debug.getinfo(1, "l").currentline + 1
        local late = gpu.array({ 1, 2, 3 })[gpu.array({ other }, "int32")]
        local ok, message = pcall(function() late:eval() gpu.sync() end)
        assert.is_false(ok)
        assert.is_truthy(message:find(other .. " in an index array is out of range", 1, true))
        assert.is_truthy(message:find("expression_spec.lua:" .. line, 1, true))
      end
    end)
  end)

  describe("that a write's target is in", function()
    local function launches(fn)
      local count = 0
      for _, row in ipairs(gpu.profile(fn)) do count = count + row.launches end
      return count
    end

    it("are computed by the kernel that writes", function()
      local m = gpu.array { -1, 2, -3, 4 }
      local mask
      assert.are.equal(1, launches(function()
        mask = m:lt(0)
        m[mask] = 0
      end))
      assert.are.same({ 0, 2, 0, 4 }, m:table())
      assert.are.same({ true, false, true, false }, mask:table())

      local x, y = gpu.array { 1, 2, 3, 4 }, gpu.array { 2, 2, 2, 2 }
      local tenfold, row, product
      assert.are.equal(1, launches(function()
        tenfold, product = x * 10, y * x
        x:add_(product)
      end))
      assert.are.same({ 3, 6, 9, 12 }, x:table())
      assert.are.same({ 10, 20, 30, 40 }, tenfold:table())
      assert.are.same({ 2, 4, 6, 8 }, product:table())
      assert.are.equal(1, launches(function()
        row = x { 1, 3 } + 1
        x { 1, 3 }:multiply_(2)
      end))
      assert.are.same({ 6, 12, 18, 12 }, x:table())
      assert.are.same({ 4, 7, 10 }, row:table())
    end)

    it("are computed before where they take other elements, or another shape", function()
      local x = gpu.array { 1, 2, 3, 4 }
      local sum, shifted, column = x:sum(), x { 1, 3 } + 10, x:reshape(4, 1) + x
      x { 2, 4 }:add_(x { 1, 3 })
      assert.are.same({ 1, 3, 5, 7 }, x:table())
      assert.are.equal(10, sum:item())
      assert.are.same({ 11, 12, 13 }, shifted:table())
      assert.are.same({ 2, 3, 4, 5 }, column[1]:table())
      assert.are.same({ 5, 6, 7, 8 }, column[4]:table())
    end)

    it("are computed with the value that is written, if that is one of them", function()
      local x = gpu.array { 1, 2, 3 }
      local next = x + 1
      x:copy_(next)
      assert.are.same({ 2, 3, 4 }, x:table())
      assert.are.same({ 2, 3, 4 }, next:table())
      local many, targets = {}, x:copy()
      for i = 1, 100 do many[i] = targets * i + 1 end
      targets:fill_(0)
      for i = 1, 100 do assert.are.equal(3 * i + 1, many[i][2]) end
    end)
  end)

  it("stay bounded in loops", function()
    local x = gpu.ones(4)
    for _ = 1, 2000 do x = x * 0.5 + 1 end
    assert.are.same({ 2, 2, 2, 2 }, x:table())
    local a, b = gpu.zeros(1, "int64"), gpu.ones(1, "int64")
    for _ = 1, 80 do a, b = b, a + b end
    assert.are.equal(23416728348467685, tonumber(a:item()))
    local y = gpu.ones(2)
    for _ = 1, 100 do y = y + y end
    assert.are.equal(2 ^ 100, y[1])
  end)

  it("takes powers of few halves as pow does", function()
    local special = {0, -0.0, 1, -1, 2.5, -2.5, 1 / 0, -1 / 0, 0 / 0, 1e-3, 7, -100}
    for _, dtype in ipairs {"float16", "float32", "float64"} do
      local x, epsilon = gpu.array(special, dtype), ({float16 = 2 ^ -10, float32 = 2 ^ -23, float64 = 2 ^ -52})[dtype]
      local positive = gpu.exp(gpu.linspace(-3, 3, 1001, {dtype = "float64"})):astype(dtype):eval()
      for halves = -8, 8 do
        local y = halves / 2
        -- The exponents as an array go through pow.
        local got, expected = x ^ y, (x:astype "float64" ^ gpu.full({x.size}, y, "float64")):astype(dtype)
        for i = 1, x.size do
          local g, e = got[i], expected[i]
          local is_same = (g ~= g and e ~= e) or (g == e and 1 / g == 1 / e) or math.abs(g - e) <= 3 * epsilon * math.abs(e)
          if not is_same then error(("%s %s ^ %s: expected %s, got %s"):format(dtype, special[i], y, e, g)) end
        end
        local wide = positive:astype "float64" ^ gpu.full({1001}, y, "float64")
        local error = (((positive ^ y):astype "float64" - wide) / wide):abs():max():item()
        assert(dtype == "float16" or error <= 3.5 * epsilon, ("%s ^ %g: %g of %g"):format(dtype, y, error, epsilon))
      end
    end
    assert.are.equal("int32", (gpu.array({2, 3}, "int32") ^ 3).dtype)
    assert.are.same({8, 27}, (gpu.array({2, 3}, "int32") ^ 3):table())
    assert.is_nil(rawget(gpu, "power_of_halves"))
  end)

  it("name both sides of what does not fit", function()
    fails("operands could not be broadcast together with shapes (2,3) (2,4)",
      function() return gpu.ones(2, 3) + gpu.ones(2, 4) end)
    fails("x:lt(y)", function() return gpu.ones(2) < gpu.ones(2) end)
    fails("300 does not fit uint8", function() return gpu.ones(2, "uint8") + 300 end)
    fails("axis 3 is out of range for an array of 2 dimensions", function() return gpu.ones(2, 2):sum(3) end)
    fails("zero-size array to reduction operation max which has no identity", function() return gpu.zeros(0):max() end)
    fails("negative integer powers", function() return gpu.ones(2, "int32") ^ -1 end)
    fails("an array to write to that takes float32", function() return gpu.ones(2, "int32"):add_(0.5) end)
    fails("[subtract] expected numbers, got bool", function() return gpu.ones(2, "bool") - gpu.ones(2, "bool") end)
  end)
end)

describe("reductions", function()
  -- Whatever way a kernel is laid out: few and many elements a result, along either of the axes that lie side by side.
  for _, shape in ipairs { { 3, 5 }, { 64, 128 }, { 1000, 132 }, { 7, 1000 }, { 300, 33 }, { 5, 6, 8 }, { 40, 3, 64 }, { 100, 12, 12 } } do
    it("of shape " .. table.concat(shape, "x") .. " agree with plain loops along every axis", function()
      local n = 1
      for _, extent in ipairs(shape) do n = n * extent end
      local x = ((gpu.arange(n, "float64") * 0.6180339887498949) % 1):astype("float32"):eval():reshape(shape)
      local values = x:reshape(n):table()
      for axis = 1, #shape do
        local inner, outer = 1, 1
        for a = axis + 1, #shape do inner = inner * shape[a] end
        for a = 1, axis - 1 do outer = outer * shape[a] end
        local sums, places = x:sum(axis):reshape(outer * inner):table(), x:argmax(axis):reshape(outer * inner):table()
        for o = 0, outer - 1 do
          for i = 0, inner - 1 do
            local total, best, place = 0, -1, 0
            for k = 0, shape[axis] - 1 do
              local value = values[(o * shape[axis] + k) * inner + i + 1]
              total = total + value
              if value > best then best, place = value, k + 1 end
            end
            local at = o * inner + i + 1
            assert.are.equal(place, places[at])
            if math.abs(total - sums[at]) > 1e-5 * total then support.near(total, sums[at], 1e-5) end
          end
        end
      end
    end)
  end

  it("give the first of equal elements, NaN before all, and a position where all are infinite", function()
    assert.are.equal(2, gpu.array({ 1, 3, 3, 2 }):argmax():item())
    assert.are.equal(2, gpu.array({ 1, 0 / 0, 3, 0 / 0 }):argmax():item())
    assert.are.equal(2, gpu.array({ 1, 0 / 0, 3, 0 / 0 }):argmin():item())
    assert.are.equal(1, gpu.array({ -1 / 0, -1 / 0 }):argmax():item())
  end)
end)

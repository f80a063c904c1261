-- Derivatives of Lua functions for a device: against closed forms, differences, and the derivatives of the same formulas over arrays.
local gpu = require "gpu"
local generator = require "function_generator"
local support = require "support"
local fails = support.fails

local function close(expected, got, rtol) assert(gpu.allclose(got, expected, {rtol = rtol or 1e-12, atol = 1e-14}), tostring(got)) end

local function black_scholes(gpu)
  return function(S, K, T, r, sigma)
    local d = (gpu.log(S / K) + (r + 0.5 * sigma ^ 2) * T) / (sigma * gpu.sqrt(T))
    return S * gpu.normcdf(d) - K * gpu.exp(-r * T) * gpu.normcdf(d - sigma * gpu.sqrt(T))
  end
end

local x = gpu.linspace(0.2, 1.9, 9, "float64"):eval()
local y = gpu.linspace(1.3, 0.4, 9, "float64"):eval()

describe("derivatives of gpu.vectorize", function()
  it("are those of the formula over arrays, of first and second order, and come from one kernel", function()
    local S = gpu.linspace(80, 120, 11, "float64"):eval()
    local sigma = gpu.linspace(0.1, 0.5, 11, "float64"):eval()
    local over_arrays = black_scholes(gpu)
    local f = gpu.vectorize(over_arrays)
    local function first(price)
      return gpu.value_and_grad(price, {1, 2, 3, 4, 5}, {each = true})(S, 100, 0.7, 0.03, sigma)
    end
    local expected, got = {first(over_arrays)}, {first(f)}
    assert(gpu.explain(unpack(got)):find "^1 kernel\n")
    for i = 1, 6 do close(expected[i], got[i]) end
    local function second(price)
      return gpu.grad(function(S, sigma)
        return (gpu.grad(price, 1, {each = true})(S, 100, 0.7, 0.03, sigma))
      end, {1, 2}, {each = true})(S, sigma)
    end
    local gamma, vanna = second(over_arrays)
    local gamma_of_f, vanna_of_f = second(f)
    close(gamma, gamma_of_f, 1e-10)
    close(vanna, vanna_of_f, 1e-10)
  end)

  it("are summed over what is broadcast, and go on through arrays", function()
    local f = gpu.vectorize(function(a, b) return a * a * b, a + b end)
    local a, b = gpu.array({1, 2, 3}, "float64"), gpu.array({{1}, {2}}, "float64")
    local ga, gb = gpu.grad(function(a, b)
      local p, q = f(a * 2, b)
      return (p:square() + 3 * q):sum()
    end, {1, 2})(a, b)
    local ea, eb = gpu.grad(function(a, b) return ((a * 2 * (a * 2) * b):square() + 3 * (a * 2 + b)):sum() end, {1, 2})(a, b)
    close(ea, ga)
    close(eb, gb)
    assert(gpu.check_grad(function(z) return f(z, 1.5):sum() end, x, {order = 2}) < 1e-7)
    local value, tangent = gpu.jvp(function(z) return (f(z, y)) end, {x}, {y})
    close(x * x * y, value)
    close(2 * x * y * y, tangent)
  end)

  it("follow loops and branches, and compute nothing where these do not go", function()
    local power = gpu.vectorize(function(z, n)
      local p = 1
      for _ = 1, n do p = p * z end
      return p
    end)
    local n = gpu.array({0, 1, 2, 3, 4, 5, 6, 7, 8}, "int32")
    close(n * x ^ (n - 1), gpu.grad(power, 1, {each = true})(x, n))
    local function root(z) return z > 0 and math.sqrt(z) or 0 end
    local function other(z)
      if z > 0 then return math.sqrt(z) end
      return 0 * z
    end
    local zero = gpu.array({0, 4, -1}, "float64")
    for _, f in ipairs {root, other} do
      close(gpu.array({0, 0.25, 0}, "float64"), gpu.grad(gpu.vectorize(f), 1, {each = true})(zero))
    end
    local newton = gpu.vectorize(function(c) -- the derivative goes through the iteration
      local z = c
      while math.abs(z * z - c) > 1e-15 * c do
        local better = 0.5 * (z + c / z)
        if better == z then break end
        z = better
      end
      return z
    end)
    close(0.5 / gpu.sqrt(x), gpu.grad(newton, 1, {each = true})(x), 1e-7)
  end)

  it("keep to the conventions at ties and steps", function()
    local function derivative(f, z) return gpu.grad(gpu.vectorize(f), 1, {each = true})(gpu.array(z, "float64")):table() end
    assert.are.same({0, 0, 1}, derivative(function(z) return math.max(z, 0) end, {-1, 0, 2}))
    -- A derivative that is NaN leaves those by other variables alone.
    local base, exponent = gpu.grad(gpu.vectorize(function(a, b) return a ^ b end), {1, 2}, {each = true})(
      gpu.array({-1, 2}, "float64"), gpu.array({3, 2}, "float64"))
    assert.are.same({3, 4}, base:table())
    assert(exponent[1] ~= exponent[1] and math.abs(exponent[2] - 4 * math.log(2)) < 1e-14)
    assert.are.same({-1, 0, 1}, derivative(function(z) return math.abs(z) end, {-3, 0, 2}))
    assert.are.same({0, 0}, derivative(function(z) return math.floor(z) + math.ceil(z) + (z > 1 and 1 or 0) end, {0.5, 1.5}))
    assert.are.same({1, 1}, derivative(function(z) return z % 3 end, {4, -2.5}))
    assert.are.same({0, 1, 2}, derivative(function(z) return z ^ 2 * 0.5 + z * gpu.detach(z) - z:detach() * z end, {0, 1, 2}))
    local whole, rest = gpu.value_and_grad(gpu.vectorize(function(z) local w, r = math.modf(z) return w + 2 * r end), 1, {each = true})(
      gpu.array({1.25, -2.5}, "float64"))
    assert.are.same({1.5, -3}, whole:table())
    assert.are.same({2, 2}, rest:table())
  end)

  it("have the dtypes of their variables", function()
    for _, dtype in ipairs {"float32", "float64", "float16", "bfloat16"} do
      local z = gpu.array({0.5, 1, 2}, dtype)
      local value, g = gpu.value_and_grad(gpu.vectorize(function(a) return a * a * 0.5 + 3 end), 1, {each = true})(z)
      assert.are.equal(dtype, value.dtype)
      assert.are.equal(dtype, g.dtype)
      assert.are.same({0.5, 1, 2}, g:table())
    end
    -- A number takes the dtype that it meets.
    local value, g = gpu.value_and_grad(gpu.vectorize(function(a, b) return a * b end), 2, {each = true})(gpu.ones(2, "float32"), 0.1)
    assert.are.equal("float32", value.dtype)
    assert.are.same({1, 1}, g:table())
    local mixed = gpu.vectorize(function(a) return gpu.float32(a) * a + gpu.float16(a) end)
    assert.are.equal("float64", gpu.grad(mixed, 1, {each = true})(x).dtype)
    close(gpu.full(3, 3.0, "float64"), gpu.grad(mixed, 1, {each = true})(gpu.ones(3, "float64")))
  end)

  it("have as many variables as the function has arguments", function()
    local names, terms = {}, {}
    for i = 1, 11 do
      names[i] = "x" .. i
      terms[i] = ("%d * x%d * x%d"):format(i, i, i % 11 + 1)
    end
    local list = table.concat(names, ", ")
    local f = gpu.vectorize(assert(loadstring(("return function(%s) return %s end"):format(list, table.concat(terms, " + "))))())
    local arguments, which = {}, {}
    for i = 1, 11 do arguments[i], which[i] = gpu.array({i, 2}, "float64"), i end
    local g = {gpu.grad(f, which, {each = true})(unpack(arguments))}
    for i = 1, 11 do
      local before = (i + 9) % 11 + 1
      assert.are.same({i * (i % 11 + 1) + before * before, 2 * (i + before)}, g[i]:table())
    end
  end)

  it("are recorded by gpu.fuse, and captured numbers stay current", function()
    local scale = 2
    local f = gpu.vectorize(function(a) return scale * math.sin(a) end)
    local fused = gpu.fuse(gpu.value_and_grad(f, 1, {each = true}))
    for _, s in ipairs {2, 3, 5} do
      scale = s
      local value, g = fused(x)
      close(s * gpu.sin(x), value)
      close(s * gpu.cos(x), g)
    end
  end)

  it("are refused where there is none", function()
    local function each(f, ...) return gpu.grad(gpu.vectorize(f), 1, {each = true})(...) end
    local table_of_values = gpu.ones(3, "float64")
    fails("which does not change continuously", each, function(i) return i end, gpu.arange(3))
    fails("gammainc has no derivative for its operand 1; gpu.detach(x)", each, function(a) return gpu.gammainc(a, 1.5) end, x)
    fails("stands where it has none", each, function(a) return gpu.real(gpu.complex(a, a)) end, x)
    fails("captured arrays that are constants", function()
      gpu.grad(function(c) return gpu.vectorize(function(a) return c[1] * a end)(x):sum() end)(table_of_values)
    end)
    fails("captured arrays that are constants", function()
      gpu.grad(function(c) return gpu.vectorize(function(a) return c[1] * a end)(c):sum() end)(table_of_values)
    end)
    fails("stands where it has none", each, function(a)
      local s = 0
      for b = a, 2, 0.5 do s = s + b end
      return s
    end, x)
    -- The derivative by an argument leaves captured arrays alone.
    fails("call it in one", gpu.vectorize, gpu.grad(math.sin))
    close(gpu.ones(9, "float64"), each(function(a) return table_of_values[2] * a end, x))
    local halves = gpu.guvectorize("(n)->(n)", function(a, out)
      for i = 1, #a do out[i] = a[i] / 2 end
    end)
    fails("has no derivative", function() gpu.grad(function(a) return halves(a):sum() end)(x) end)
  end)
end)

describe("gpu.grad in a function for a device", function()
  local function cube(z) return z ^ 3 end

  it("gives derivatives of any order", function()
    local f = gpu.vectorize(function(z)
      local slope = gpu.grad(cube)
      local value, first = gpu.value_and_grad(cube)(z)
      return value, first, slope(z), gpu.grad(slope)(z), gpu.grad(gpu.grad(gpu.grad(cube)))(z)
    end)
    local value, first, same, second, third = f(x)
    close(x ^ 3, value)
    close(3 * x ^ 2, first)
    close(3 * x ^ 2, same)
    close(6 * x, second)
    close(gpu.full(9, 6.0, "float64"), third)
    local slope = gpu.grad(cube)
    local bend = gpu.grad(slope)
    local captured = gpu.vectorize(function(z) return slope(z) + bend(z) end)
    close(3 * x ^ 2 + 6 * x, captured(x))
    close(6 * x + 6, gpu.grad(captured, 1, {each = true})(x))
  end)

  it("gives several derivatives, and the function's other results", function()
    local function f(a, b) return a * a * b, a - b, b > a end
    local both = gpu.vectorize(function(a, b)
      local value, gb, ga, difference, greater = gpu.value_and_grad(f, {2, 1})(a, b)
      return value, ga, gb, difference, greater
    end)
    local value, ga, gb, difference, greater = both(x, y)
    close(x * x * y, value)
    close(2 * x * y, ga)
    close(x * x, gb)
    close(x - y, difference)
    assert(gpu.array_equal(y:gt(x), greater))
  end)

  it("tells variables of one derivative from those of another", function()
    -- d/da (a * d/db (a + b)) = 1, and d/da (a * d/db (a * b)) = 2 a.
    local f = gpu.vectorize(function(z)
      local sum = gpu.grad(function(a) return a * gpu.grad(function(b) return a + b end)(a) end)(z)
      local product = gpu.grad(function(a) return a * gpu.grad(function(b) return a * b end)(1) end)(z)
      return sum, product
    end)
    local sum, product = f(x)
    close(gpu.ones(9, "float64"), sum)
    close(2 * x, product)
  end)

  it("makes iterations of Newton, which have derivatives themselves", function()
    local residual = gpu.value_and_grad(function(z, c) return z ^ 3 + math.exp(z) - c end)
    local solve = gpu.vectorize(function(c)
      local z = 1
      for _ = 1, 30 do
        local value, slope = residual(z, c)
        z = z - value / slope
      end
      return z
    end)
    local c = gpu.linspace(1.5, 6, 9, "float64"):eval()
    local z, dz = gpu.value_and_grad(solve, 1, {each = true})(c)
    close(c, z ^ 3 + gpu.exp(z))
    close(1 / (3 * z ^ 2 + gpu.exp(z)), dz)
  end)

  it("works in kernels", function()
    local k = gpu.jit(function(a, out)
      local i = gpu.grid()
      if i <= #a then out[i] = gpu.grad(cube)(a[i]) end
    end)
    local out = gpu.zeros(9, "float64")
    k:over(9)(x, out)
    close(3 * x ^ 2, out)
  end)

  it("refuses what has none", function()
    local function run(f) return gpu.vectorize(f)(x) end
    local function wrong(message, f) fails(message, run, f) end
    wrong("expected a function, and positions", function(z) return gpu.grad(z)(z) end)
    wrong("expected an argument 2 to differentiate by, got 1", function(z) return gpu.grad(cube, 2)(z) end)
    wrong("expected a real number as argument 1 to differentiate by", function(z) return gpu.grad(cube)(gpu.int32(z)) end)
    wrong("first result is a real number, got a boolean", function(z) return gpu.grad(function(a) return a > 1 end)(z) end)
    wrong("it assigns s, a variable from outside", function(z)
      local s = 0
      local d = gpu.grad(function(a) s = a * a return s end)(z)
      return s + d
    end)
  end)
end)

describe("derivatives of random functions", function()
  -- Without steps, whose differences say nothing, and without numbers that make differences of others' digits.
  local function smooth(text)
    return (text:gsub("math%.floor", "math.tanh"):gsub("math%.ceil", "math.atan"):gsub(" %% (%d)%)", " * %1)"):gsub("1e10", "1.5"))
  end

  it("are the differences of what LuaJIT gives", function()
    local count = math.ceil((tonumber(os.getenv "GPULUA_TEST_FUNCTIONS") or 240) / 4)
    local state, elements = tonumber(os.getenv "GPULUA_TEST_SEED") or 42, 60
    local function random(n)
      state = state * 16807 % 2147483647
      return state % n + 1
    end
    local values, arrays = {}, {}
    for j = 1, 3 do
      values[j] = support.series(elements, function() return (random(2000001) - 1000001) / 3e5 end)
      arrays[j] = gpu.array(values[j], "float64")
    end
    local function product(a, b) return a * b end
    local compared, undefined = 0, 0
    for made = 1, count do
      local text = smooth(generator.text(random, 1))
      local run = assert(loadstring(text))(product)
      local function real(x, y, z) return run(x, y, z) + 0 * x end -- it may give an integer
      local value, gx, gy, gz = gpu.value_and_grad(gpu.vectorize(real), {1, 2, 3}, {each = true})(unpack(arrays))
      gpu.eval(value, gx, gy, gz)
      local got, all = {gx:table(), gy:table(), gz:table()}, value:table()
      for i = 1, elements do
        local at = {values[1][i], values[2][i], values[3][i]}
        local y = run(unpack(at))
        for j = 1, 3 do
          local function difference(h)
            local up, down = {unpack(at)}, {unpack(at)}
            up[j], down[j] = at[j] + h, at[j] - h
            local above, below = run(unpack(up)), run(unpack(down))
            local is_near = math.abs(above + below - 2 * y) < 1e-2 * math.max(1, math.abs(y))
            return is_near and (above - below) / (2 * h) or 0 / 0
          end
          -- NaN where there is no limit, as where rounding takes a branch.
          local function extrapolated(h)
            local fine, coarse = difference(h / 2), difference(h)
            return math.abs(fine - coarse) < 1e-2 * math.max(1, math.abs(fine)) and (4 * fine - coarse) / 3 or 0 / 0
          end
          local expected, other = extrapolated(1e-4), extrapolated(3e-5)
          local size = math.max(1, math.abs(expected), math.abs(y))
          if got[j][i] - got[j][i] ~= 0 then -- an infinity on the way, maybe times 0
            undefined = undefined + 1
          elseif math.abs(expected - other) < 1e-7 * size then -- else there is a kink nearby
            compared = compared + 1
            if not (math.abs(got[j][i] - expected) < 1e-5 * size and math.abs(all[i] - y) <= 1e-9 * size) then
              error(("function %d by argument %d at (%.17g, %.17g, %.17g): expected %.12g and %.12g, got %.12g and %.12g\n%s"):format(made, j,
                at[1], at[2], at[3], y, expected, all[i], got[j][i], text))
            end
          end
        end
      end
    end
    assert(compared > count * elements and undefined < compared / 5, compared .. ", " .. undefined)
  end)
end)

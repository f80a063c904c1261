-- The language of Lua functions on a device: LuaJIT runs the same functions, on tables in place of arrays.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

--- The arrays' elements after the kernel, beside those that LuaJIT leaves in tables.
local function same(f, dtype, ...)
  local plain, arrays = {}, {}
  for i, values in ipairs {...} do
    plain[i], arrays[i] = {unpack(values)}, gpu.array(values, dtype)
  end
  f(unpack(plain))
  gpu.jit(f) {grid = 1, block = 1}(unpack(arrays))
  for i, array in ipairs(arrays) do assert.are.same(plain[i], array:table(), i) end
end

local function launch(f, ...) gpu.jit(f) {grid = 1, block = 1}(...) end

describe("a statement of a Lua function", function()
  it("computes all indices and values before it assigns the first", function()
    same(function(a)
      local i = 1
      i, a[i] = i + 1, 20
      a[i] = a[i] + 1
      i, a[i], a[i + 1] = 1, i, i + 5
      a[4], a[4] = 1, 2
    end, "float32", {1, 2, 3, 4})
    same(function(a) a[1], a[2], a[a[1]] = a[2], a[1], 7 end, "int32", {3, 2, 1})
  end)

  it("calls a function with effects once, whatever is done with its result", function()
    same(function(a)
      local n = 1
      local function next() n = n + 1 return n end
      a[1] = next() ^ 2
      a[2] = n
      a[3] = math.abs(next() - 7)
      a[4] = (next() + 0) ^ 2 + math.modf(next() / 2)
      local function two() return next(), n * 0.5 end
      a[8] = math.floor(math.max(two()) / 4) + math.ceil(math.min(two()) / 3)
      a[9] = n
      local whole, rest = math.modf(next() / 4)
      a[5], a[6], a[7] = whole, rest, n
    end, "float64", {0, 0, 0, 0, 0, 0, 0, 0, 0})
    local counter, o = gpu.array({7}, "int32"), gpu.zeros(4, "int32")
    launch(function(c, v)
      v[1] = gpu.atomic.add(c, 1, 1) ^ 2
      v[2] = gpu.sign(gpu.atomic.add(c, 1, 1))
      v[3] = gpu.square(gpu.atomic.add(c, 1, 1) + 1)
    end, counter, o)
    assert.are.equal(10, counter[1])
    assert.are.same({49, 1, 100, 0}, o:table())
  end)

  it("calls a function with effects though its result is known", function()
    same(function(a)
      local function set(i, v) a[i] = v return 1 end
      local function both(i) set(i, 7) return 2 end
      local function until_found(v)
        for i = 1, #a do
          if a[i] == v then return 3 end
          a[i] = -1
        end
        return 3
      end
      local one, two = set(1, 5), both(2)
      local three = until_found(9)
      if set(4, 6) == 1 then a[5] = one + two + three end
    end, "float32", {1, 2, 9, 4, 0})
    same(function(a)
      local n = 0
      local function next() n = n + 1 return n end
      local function five(v) return 5 end
      local function same(v) return five(v) end
      a[1] = next() and same(next() + next()) or 6
      local two = next() and a[1] > 3
      a[2], a[3] = next() or 7, two and n or -n
    end, "float32", {0, 0, 0})
    local c = gpu.zeros(1, "int32")
    launch(function(v)
      local function count() gpu.atomic.add(v, 1, 1) return 0 end
      local zero = count() + count()
    end, c)
    assert.are.equal(2, c[1])
  end)

  it("has Lua's scopes and jumps", function()
    same(function(a)
      local x = 1
      do local x = x + 1; a[1] = x end
      local x = x + 10
      for x = x, x do a[2] = x end
      for i = 1, 3 do
        local k = i
        i = i * 2
        a[2 + k] = i
      end
      for i = 1, 4 do
        for j = 1, 4 do
          if i * j == 6 then a[6], a[7] = i, j goto done end
        end
      end
      ::done::
      local n = 0
      ::top::
      n = n + 1
      if n < 10 then goto top end
      repeat local last = n; n = n - 3 until last < 5
      a[8] = n
    end, "float32", {0, 0, 0, 0, 0, 0, 0, 0})
  end)

  it("counts beyond the ends of small dtypes", function()
    same(function(a)
      local n, m = 0, 0
      for _ = a[1], 255 do n = n + 1 end
      for _ = a[1], 0, -1 do m = m + 1 end
      a[1], a[2] = n - 200, m
    end, "uint8", {2, 0})
  end)

  it("calls what it captures no more than 64 deep", function()
    local function down(n) return down(n + 1) end  -- luacheck: ignore
    down = function(n) return down(n + 1) end
    fails("calls of functions are more than 64 deep; a function that calls itself is a loop on a device", launch,
      function(o) o[1] = down(1) end, gpu.zeros(1))
    local function apply(f, x) return f(x) end
    same(function(a) a[1] = apply(function(x) return apply(function(y) return y * 2 end, x) + 1 end, a[1]) end, "float32", {5})
  end)

  it("passes functions on, and returns them", function()
    local function compose(f, g) return function(x) return f(g(x)) end end
    local function twice(f, x) return f(f(x)) end
    same(function(a)
      local k = a[2]
      local function add(x)
        local d = k + x
        return twice(function(y) return y + d end, x)
      end
      a[1] = twice(add, a[1])
      a[2] = twice(compose(add, function(x) return x * 2 end), 3)
    end, "float32", {5, 7})
    fails("n belongs to a call that has returned; make it an argument of this function", launch, function(v)
      local function adder(n) n = n + v[1]; return function(x) return x + n end end
      v[1] = adder(2)(3)
    end, gpu.ones(1))
    local o, p = gpu.zeros(1), gpu.zeros(1)
    local function draw(r) return r:uniform() end
    launch(function(v)
      local function inner(i)
        local r = gpu.random.at(1, i)
        return draw(r)
      end
      v[1] = inner(3)
    end, o)
    launch(function(v) v[1] = gpu.random.at(1, 3):uniform() end, p)
    assert.are.equal(p[1], o[1])
  end)
end)

describe("math and bit in a Lua function", function()
  it("are LuaJIT's", function()
    same(function(a)
      for i = 1, #a do
        local whole, rest = math.modf(a[i])
        a[i] = whole * 1000 + rest
      end
    end, "float64", {2.75, -2.75, 0.5, -3, 0, 1e300})
    local o = gpu.zeros(4, "float64")
    launch(function(v)
      v[1], v[2] = math.modf(math.huge)
      v[3], v[4] = math.modf(v[3] - 2)
    end, o)
    assert.are.same({math.huge, 0, -2, -math.huge}, {o[1], o[2], o[3], 1 / o[4]})
  end)

  it("have 32 bits with a sign, and counts modulo 32", function()
    same(function(a)
      local x = 2463534242
      for i = 1, 8 do
        x = bit.bxor(x, bit.lshift(x, 13))
        x = bit.bxor(x, bit.rshift(x, 17))
        x = bit.bxor(x, bit.lshift(x, 5))
        a[i] = x
      end
      local h = 5381
      for i = 1, 20 do h = bit.tobit(h * 33 + i) end
      a[9], a[10], a[11] = h, bit.rol(h, 7), bit.ror(h, 39)
      a[12], a[13] = bit.band(h, 0xffffffff), bit.bor(h, 0x80000000)
      a[14] = bit.bnot(bit.arshift(h, 3) + 4294967296 * 5)
    end, "int32", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
    same(function(a)
      for i = 1, #a do
        local n = i * 11
        a[i] = bit.bxor(bit.lshift(a[i], n), bit.rshift(a[i], n), bit.arshift(a[i], n), bit.rol(a[i], n), bit.ror(a[i], n))
      end
    end, "int32", {-5, 7, 123456789, -2147483648, 2147483647, 0, -1})
  end)

  it("keep the width of elements", function()
    local u = gpu.array({0x80000001, 0xffffffff}, "uint32")
    launch(function(v)
      v[1] = bit.bxor(bit.rshift(v[1], 4), bit.rol(v[1], 1))
      v[2] = bit.band(v[2], 0xfffffff0)
    end, u)
    assert.are.same({0x08000003, 0xfffffff0}, u:table())
    local w = gpu.array({1, 2 ^ 40, -1}, "int64")
    launch(function(v)
      v[1] = bit.lshift(v[1], 40)
      v[2] = bit.rshift(v[2], 104)
      v[3] = bit.rshift(v[3], 60)
    end, w)
    assert.are.same({2 ^ 40, 1, 15}, w:table())
    local b = gpu.array({0x81, 0x0f}, "uint8")
    launch(function(v) v[1], v[2] = bit.lshift(v[1], 1), bit.bnot(v[2]) end, b)
    assert.are.same({2, 0xf0}, b:table())
    local bins = gpu.zeros(8, "int32")
    local text = gpu.jit(function(v) v[bit.band(gpu.thread() * 7, 7) + 1] = 1 end):source(bins)
    assert.is_falsy(text:match "extern.*":find "long long")
  end)
end)

describe("strings in a Lua function", function()
  it("are constants: compared, dtypes, printed", function()
    local dtype, x = "int32", gpu.array {1.5}
    local f = gpu.jit(function(v, mode)
      local s, t = gpu.shared(1, v.dtype), gpu.local_array(1, dtype)
      s[1], t[1] = v[1], 7
      if mode == "double" then
        v[1] = s[1] * 2
      elseif mode ~= "keep" then
        v[1] = -t[1]
      end
    end) {grid = 1, block = 1}
    local function now(expected, ...)
      f(x, ...)
      assert.are.equal(expected, x[1])
    end
    now(3, "double")
    now(6, "double")
    now(6, "keep")
    now(-7, "a \"third\" one")
    assert.is_truthy(gpu.jit(function(v) if v.dtype == "float32" then v[1] = 1 end end):source(x):find("v_p1[0] = 1.0f", 1, true))
    assert.are.same({9, 9}, gpu.vectorize(function(v, mode) return mode == "square" and v * v or v end)(gpu.array {3, -3}, "square"):table())
    local output = support.run([[
local gpu = require "gpu"
local text = 'a "text"\\\t of\na function'
gpu.jit(function(v) print(text, v.dtype, v[1]) end) {grid = 1, block = 1}(gpu.ones(1))
gpu.sync()
]], "GPULUA_DEVICE=" .. gpu.device().name)
    assert.are.equal('a "text"\\\t of\na function\tfloat32\t1\n', output)
  end)
end)

describe("an index", function()
  it("does not wrap with the dtype of the elements in it", function()
    local image, bins = gpu.array({0, 255, 255, 200}, "uint8"), gpu.zeros(256, "int32")
    launch(function(v, h)
      for i = 1, #v do
        gpu.atomic.add(h, v[i] + 1, 1)
        gpu.atomic.add(h, {math.floor((v[i] + v[i]) / 2) + 1}, 10)
        h[v[i] + 1] = h[1 + v[i]] + 100
      end
    end, image, bins)
    assert.are.same({111, 222, 111, 444}, {bins[1], bins[256], bins[201], bins:sum():item()})
    local small = gpu.array({100, -100}, "int8")
    local o = gpu.zeros(300)
    launch(function(v, w) w[v[1] * 2 + 100], w[v[2] + 101] = 1, 2 end, small, o)
    assert.are.same({2, 1}, {o[1], o[300]})
  end)
end)

describe("a text that is too deep", function()
  it("is an error, not an overflow of the stack", function()
    local function made(body) return loadstring("return function(x) x[1] = " .. body .. " end")() end
    local x = gpu.ones(1)
    launch(made(("x[1] + "):rep(100) .. "1"), x)
    assert.are.equal(101, x[1])
    local line = "operations, or branches of an if, are nested more than a C++ compiler takes; assign parts"
    fails(line, launch, made(("x[1] + "):rep(300) .. "1"), x)
    for _, body in ipairs {("x[1] + "):rep(1e5) .. "1", "x" .. (".a"):rep(1e5), "x" .. ("()"):rep(1e5)} do
      fails("an expression of more than 1000 operations; assign parts of it to locals", gpu.jit, made(body))
    end
  end)
end)

describe("a name that a device does not have", function()
  it("is an error that suggests another", function()
    local x = gpu.ones(2)
    for text, f in pairs {
      ["no function gpu.sum, which works on whole arrays; call it outside of the function, or write a loop"] =
        function(v) v[1] = gpu.sum(v) end,
      ["no function gpu.zeros; it has the elementwise functions"] = function(v) v[1] = gpu.zeros(3)[1] end,
      ["did you mean \"gpu.barrier\"?"] = function(v) gpu.barier(v) end,
      ["sqrt tan tanh; did you mean \"math.sqrt\"?"] = function(v) v[1] = math.sqr(v[1]) end,
      ["no function bit.bswap; those of bit that it has are band bor"] = function(v) v[1] = bit.bswap(1) end,
      ["gpu.random.at(seed, i) gives each thread or element numbers of its own"] = function(v) v[1] = math.random() end,
      ["expected a number, got gpu.thread.x; a function is called with parentheses"] = function(v) v[1] = gpu.thread.x end,
      ["expected integers for bit.band, got a number of dtype float32; math.floor(x) makes"] =
        function(v) v[1] = bit.band(v[1], 1) end,
      ["expected 2 arguments for bit.lshift, got 1"] = function(v) v[1] = bit.lshift(1) end,
      ["and and or choose between numbers, got the array v; choose between its elements"] = function(v)
        local a = v[1] > 0 and v or v
        a[1] = 1
      end,
      ["a variable stays the array that it is declared as"] = function(v)
        local a = v
        a = v
      end,
      ["a function has its name from its declaration, local function f"] = function(v)
        local f
        f = function(y) return y end
        v[1] = f(1)
      end,
    } do
      local message = fails(text, launch, f, x)
      assert.is_truthy(message:find "function_language_spec.lua:%d+: ", message)
    end
  end)
end)

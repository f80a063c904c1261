-- gpu.vectorize: Lua functions as elementwise operations.
local gpu = require "gpu"
local support = require "support"
local fails, near, series = support.fails, support.near, support.series

local function kernels(...) return tonumber(gpu.explain(...):match "^(%d+) kernel") end
--- The results of the function as tables, with their dtypes after them.
local function run(f, ...)
  local results = {gpu.vectorize(f)(...)}
  local count = #results
  for k = 1, count do
    results[count + k] = results[k].dtype
    results[k] = results[k]:table()
  end
  return unpack(results, 1, 2 * count)
end
--- One element: f of one-element arrays of that dtype.
local function one(dtype, f, ...)
  local arguments = {...}
  for i, value in ipairs(arguments) do arguments[i] = gpu.array({value}, dtype) end
  local values, result = run(f, unpack(arguments))
  return values[1], result
end

describe("gpu.vectorize", function()
  it("sees what changes from call to call, and keeps no array", function()
    local k, step, offset = 2, function(v) return v + 1 end, gpu.array {10, 20}
    local f = gpu.vectorize(function(x, y) return step(x * k) + y + offset[1] end)
    local x, y = gpu.array {1, 2}, 3
    local function now(...)
      local expected = {}
      for i = 1, 2 do
        expected[i] = step(x[i] * k) + (type(y) == "number" and y or y[i]) + offset[1]
      end
      assert.are.same(expected, f(x, y, ...):table())
    end
    now()
    now()
    k = 5
    now()
    k = 0.5
    now {out = gpu.zeros(2)}
    y = 0.25
    now()
    y = gpu.array {7, 8}
    now()
    now()
    x = gpu.array({3, 4}, "int32")
    now()
    step = function(v) return v * 2 end
    now()
    offset = gpu.array({1, 2}, "float64")
    now()
    support.fails("expected 2 arguments (x, y) and options, got 1", f, x)
    support.fails("step is nil", function()
      local kept = step
      step = nil
      local ok, message = pcall(f, x, y)
      step = kept
      error(message, 0)
    end)
    now()
    if gpu.device().kind == "cpu" then
      gpu.check(true)
      now()
      gpu.check(false)
      now()
    end
    local weak = setmetatable({gpu.zeros(2)}, {__mode = "v"})
    f(weak[1], 1):eval()
    f(weak[1], 1):eval()
    collectgarbage()
    collectgarbage()
    assert.is_nil(weak[1])
  end)

  it("makes an elementwise operation of a Lua function", function()
    local relu = gpu.vectorize(function(x, slope) return x > 0 and x or slope * x end)
    assert.are.same({-0.5, 0, 2}, relu(gpu.array {-1, 0, 2}, 0.5):table())
    assert.is_truthy(tostring(relu):find("^vectorized vectorize%(x, slope%), .*vectorize_spec.lua:%d+$"))
    -- Lazy: one kernel with what is around it.
    local x = gpu.linspace(-1, 1, 100):eval()
    assert.are.equal(1, kernels(relu(x * 2, 0.5) + 1))
    assert.are.equal(1, kernels(relu(relu(x, 0.5), 0.5):sum()))
  end)

  it("gives several results, broadcasts, and writes to out", function()
    local f = gpu.vectorize(function(x, y) return x + y, x - y, x < y end)
    local sum, difference, less = f(gpu.array({1, 2}, "int32"):reshape(2, 1), gpu.array({1, 5}, "int32"))
    assert.are.equal(1, kernels(sum, difference, less))
    assert.are.same({{2, 6}, {3, 7}}, sum:table())
    assert.are.same({{0, -4}, {1, -3}}, difference:table())
    assert.are.same({{false, true}, {false, true}}, less:table())
    local out = {gpu.zeros(2), gpu.zeros(2), gpu.zeros(2, "bool")}
    f(gpu.array {3, 4}, 1, {out = out})
    assert.are.same({4, 5}, out[1]:table())
    assert.are.same({2, 3}, out[2]:table())
    assert.are.equal(5, f(2, 3):item())
    assert.are.same({0, 2}, f(gpu.zeros(0, 2), 1).shape)
    fails("expected 2 arguments (x, y) and options, got 1", f, gpu.ones(2))
    fails("expected the options out and size, got \"off\"", f, gpu.ones(2), 1, {off = 1})
    fails("broadcast together", f, gpu.ones(2), gpu.ones(3))
  end)

  it("gives the dtypes of array arithmetic", function()
    local dtypes = {"int8", "uint8", "int32", "uint32", "int64", "float16", "bfloat16", "float32", "float64", "complex64"}
    for _, dtype in ipairs(dtypes) do
      local x = gpu.array({1, 2, 3}, "int32"):astype(dtype)
      local function f(v) return v + 2, v * 0.5, v / 2, -v, v * v - v, v ^ 2 end
      local expected, got = {f(x)}, {gpu.vectorize(f)(x)}
      for k = 1, #expected do support.same(expected[k], got[k], dtype .. " result " .. k) end
    end
    for _, pair in ipairs {{"int8", "uint8"}, {"int32", "float32"}, {"float16", "bfloat16"}, {"int64", "float64"}, {"uint64", "int64"}} do
      local x, y = gpu.array({5, 7, 9}, pair[1]), gpu.array({2, 3, 4}, pair[2])
      local function f(a, b) return a * b, a / b, a % b, gpu.maximum(a, b) end
      local expected, got = {f(x, y)}, {gpu.vectorize(f)(x, y)}
      for k = 1, #expected do support.same(expected[k], got[k], table.concat(pair, ",") .. " result " .. k) end
    end
  end)

  it("keeps float32 in float32: no double in the text", function()
    local n, h, x = 1000, 0.1, gpu.ones(3)
    for name, f in pairs {
      literal = function(v) return v * 0.5 + 1 end,
      counter = function(v) local s = 0; for i = 1, 10 do s = s + v * i + (i + 0.5) * h end return s end,
      size = function(v) return v / n + v / #x end,
      captured = function(v) local d = h * h / n; return v * (d + 0.5) end,
      choice = function(v) return v > 0.1 and 1.5 or math.sqrt(v) end,
      variable = function(v) local s = 0.5; while v > s do s = s * 1.1 end return s end,
    } do
      local result = gpu.vectorize(f)(x)
      assert.are.equal("float32", result.dtype)
      local text = gpu.explain(result)
      assert.is_truthy(text:find "namespace gpulua_user")
      assert.is_falsy(text:find "double", name .. ": " .. text)
    end
  end)

  it("reads captured values at each call", function()
    local k, params, flag = 2, {r = 0.5, deep = {q = 1}}, true
    local f = gpu.vectorize(function(x)
      if flag then return x * k + params.r + params.deep.q end
      return -x
    end)
    local x = gpu.array({1, 2}, "float64")
    assert.are.same({3.5, 5.5}, f(x):table())
    k, params.r, params.deep.q = 10, 0.25, 0
    assert.are.same({10.25, 20.25}, f(x):table())
    params = {r = 0, deep = {q = 100}}
    assert.are.same({110, 120}, f(x):table())
    flag = false
    assert.are.same({-1, -2}, f(x):table())
    -- What is computed from numbers alone is computed by the host, in double.
    k = 3
    local g = gpu.vectorize(function(v) return v * (k / 7) end)
    assert.are.equal((gpu.ones(1) * (3 / 7)):item(), g(gpu.ones(1)):item())
    -- An integer and a fraction give different dtypes, as with arrays.
    local h = gpu.vectorize(function(v) return v * k end)
    assert.are.equal("int32", h(gpu.ones(2, "int32")).dtype)
    k = 0.5
    assert.are.equal("float32", h(gpu.ones(2, "int32")).dtype)
  end)

  it("captures numbers exactly", function()
    local k
    local f = gpu.vectorize(function(x) return x * 0 + k, k end)
    local x = gpu.zeros(1, "float64")
    for _, value in ipairs {2 ^ 53, 2 ^ 53 + 2, 1e-320, -1e308, 0.1, 1e300, math.huge, -math.huge, -2 ^ 31, 3e9} do
      k = value
      local sum, alone = f(x)
      assert.are.equal(value, sum:item())
      if value == math.floor(value) and math.abs(value) < 2 ^ 63 then assert.are.equal(value, alone:item()) end
    end
    k = 0 / 0
    assert.is_true(f(x):isnan():item())
    k = -0.0
    local g = gpu.vectorize(function(v) return v * k end)
    assert.are.equal(-math.huge, 1 / g(gpu.ones(1, "float64")):item())
  end)

  it("makes one kernel for 1000 closures", function()
    local function scaled(k) return gpu.vectorize(function(x) return x * k end) end
    local x, text = gpu.ones(4):eval()
    for i = 1, 1000 do
      local y = scaled(i + 0.5)(x)
      text = text or gpu.explain(y)
      if i % 250 == 0 then
        assert.are.equal(text, gpu.explain(y))
        assert.are.equal(i + 0.5, y[1])
      end
    end
  end)

  it("has Lua's statements", function()
    local function steps(x)
      local n = 0
      while x ~= 1 do
        if x % 2 == 0 then x = x / 2 else x = 3 * x + 1 end
        n = n + 1
      end
      return n
    end
    local x = gpu.range(1, 30, 1, "float64")
    assert.are.same(series(30, steps), (run(steps, x)))
    local function f(v)
      local s, t = 0 * v, 0
      for i = 10, 1, -3 do
        if i == 4 then goto continue end
        for j = i, 100 do
          if j > i + v then break end
          s = s + j
        end
        ::continue::
      end
      repeat
        local u = t + 1
        t = u
      until u >= v
      do local s = 5; t = t + s end
      s, t = t, s
      return s, t
    end
    for i = 1, 5 do
      local a, b = one("float64", f, i)
      local c = {f(i)}
      assert.are.equal(c[1], a)
    end
    local function fractional(v) local s = 0 * v; for t = 0, 1, 0.1 do s = s + t end return s end
    assert.are.equal(fractional(1), (one("float64", fractional, 1)))
    assert.are.equal(6, (one("float32", function(v) local s; if v > 1 then s = v else s = 6 end return s end, 1)))
    local step = -2
    assert.are.equal(30, (one("float32", function(v) local s = v * 0; for i = 10, 1, step do s = s + i end return s end, 1)))
  end)

  it("has Lua's and, or, not and comparisons", function()
    local function f(x)
      return x > 2 and 1 or x > 1 and 2 or 3, x > 1 and x < 3, not (x > 2) or x == 3, x ~= x and 1 or 0, (x > 2) == (x > 1) and x or -x
    end
    for _, x in ipairs {0, 1, 1.5, 2.5, 3, 0 / 0} do
      local expected, got = {f(x)}, {gpu.vectorize(f)(gpu.array({x}, "float64"))}
      for k, value in ipairs(expected) do
        local item = got[k]:item()
        assert.is_true(item == value or (value ~= value and item ~= item), ("%g: result %d"):format(x, k))
      end
    end
  end)

  it("calls other Lua functions, and functions inside", function()
    local function square(v) return v * v end
    local function both(v) return v + 1, v - 1 end
    local pi2 = gpu.vectorize(function(v) return v * math.pi * 2 end)
    local function f(x)
      local s = 0
      local function add(v) s = s + v end
      add(square(x))
      add(square(3))
      local a, b = both(x)
      local function twice(g, v) return g(g(v)) end
      return s, a * b, twice(square, x), both(x)
    end
    assert.are.same({13, 3, 16, 3, 1}, series(5, function(k) return (select(k, gpu.vectorize(f)(gpu.array {2}))):item() end))
    near(12.566370614359, gpu.vectorize(function(x) return pi2(x) end)(gpu.array({2}, "float64")):item(), 1e-12)
    -- Types are those of each call.
    local x = gpu.array({7}, "int32")
    local a, b, c, d = run(function(v) return square(v), square(v / 2) end, x)
    assert.are.same({49}, a)
    assert.are.same({12.25}, b)
    assert.are.equal("int32", c)
    assert.are.equal("float32", d)
  end)

  it("has the elementwise functions, and those of math and bit", function()
    local sin = math.sin
    local function f(x)
      return math.sqrt(x) + sin(x) + math.atan2(x, 2) + math.exp(-x), math.floor(x * 2), math.max(x, 1, 0.5), math.fmod(x, 0.7),
        math.log(x, 2), math.deg(x), x ^ 2.5, math.abs(-x), math.min(x, 2)
    end
    for _, value in ipairs {0.3, 1.9, 4} do
      local expected, got = {f(value)}, {gpu.vectorize(f)(gpu.array({value}, "float64"))}
      for k = 1, #expected do near(expected[k], got[k]:item(), 4e-16, "result " .. k) end
    end
    near(gpu.erf(gpu.array {0.5}):item(), gpu.vectorize(function(x) return gpu.erf(x) end)(gpu.array {0.5}):item(), 0)
    near(gpu.erf(gpu.array {0.5}):item(), gpu.vectorize(function(x) return x:erf() end)(gpu.array {0.5}):item(), 0)
    local a, b, c = run(function(x) return bit.band(x, 12), bit.lshift(x, 2), bit.bxor(x, 1, 2) end, gpu.array({13, 7}, "int32"))
    assert.are.same({{12, 4}, {52, 28}, {14, 4}}, {a, b, c})
    local p, q, r, s = run(function(x) return gpu.int8(x), x:astype "float64" / 3 end, gpu.array({1, 300}))
    assert.are.same({1, 127}, p)
    assert.are.same({"int8", "float64"}, {r, s})
    near(1 / 3, q[1], 1e-16)
    -- A quotient of integers is rounded as an integer, so a large index is exact.
    local n = 2 ^ 40 + 1
    assert.are.equal(2 ^ 39, (run(function(x) local m = x * 0; for i = n, n do m = gpu.int64(math.floor(i / 2)) end return m end,
      gpu.ones(1, "int64")))[1])
  end)

  it("reads captured arrays: elements, sizes and shapes", function()
    local a, v = gpu.array {{1, 2, 3}, {4, 5, 6}}, gpu.array({10, 20, 30}, "int32")
    local f = gpu.vectorize(function(i) return a[1][i] + a[{2, -1}], v[i] + #a + a.shape[2] + a.size, v[-1] end)
    local x, y, z = f(gpu.range(1, 3, 1, "int32"))
    assert.are.same({7, 8, 9}, x:table())
    assert.are.same({21, 31, 41}, y:table())
    assert.are.same({30, 30, 30}, z:table())
    a = a * 10
    v = gpu.array({1, 2, 3, 4}, "int32")["::-1"]
    assert.are.same({70, 80, 90}, (f(gpu.range(1, 3, 1, "int32"))):table())
    assert.are.same({1, 1, 1}, select(3, f(gpu.range(1, 3, 1, "int32"))):table())
    local half = gpu.array({0.5, 0.25}, "float16")
    assert.are.same({1, 0.5}, gpu.vectorize(function(i) return half[i] * 2 end)(gpu.array({1, 2}, "int64")):table())
    -- A function without arguments that are arrays needs a size.
    assert.are.same({5, 5}, gpu.vectorize(function() return 5 end)({size = 2}):table())
  end)

  it("reads captured tables of numbers", function()
    local c, whole, nested = {1.5, -2, 0.25}, {3, 5, 2 ^ 40}, {list = {10, 20}}
    local f = gpu.vectorize(function(x, i)
      local s, t = 0, 0
      for k = #c, 1, -1 do s = s * x + c[k] end
      for k = 1, #whole do t = t + whole[k] end
      return s, c[2] * x, t, whole[i], nested.list[2] + x
    end)
    local function check(dtype)
      local x = gpu.array({0.5, 2}, dtype)
      local s, u, t, w, n = f(x, gpu.array({1, 3}, "int32"))
      assert.are.same({dtype, "int64", "int64"}, {s.dtype, t.dtype, w.dtype})
      for k, v in ipairs {0.5, 2} do
        assert.are.equal((c[3] * v + c[2]) * v + c[1], s[k])
        assert.are.equal(c[2] * v, u[k])
        assert.are.equal(whole[1] + whole[2] + whole[3], t[k])
        assert.are.equal(whole[k == 1 and 1 or 3], w[k])
        assert.are.equal(nested.list[2] + v, n[k])
      end
      assert.is_falsy(dtype == "float32" and gpu.explain((f(x, gpu.array({1, 3}, "int32")))):find "double")
    end
    check "float32"
    c[1], whole[3], nested.list[2] = -7, 2 ^ 50, 0.5
    check "float64"
    c = {4, 0.5, 8}
    check "float32"
    local function run(g) return gpu.vectorize(g)(gpu.ones(1)) end
    local at = gpu.array({0, 1, 3, 4, -2 ^ 31, 2 ^ 31 - 1}, "int32")
    local real, integer, wide = gpu.vectorize(function(i) return c[i], whole[i] - whole[i] % 1, nested.list[i] end)(at)
    for i, position in ipairs {0, 1, 3, 4, -2 ^ 31, 2 ^ 31 - 1} do
      assert(c[position] == real[i] or not c[position] and real[i] ~= real[i])
      assert.are.equal(whole[position] or -2 ^ 63, integer[i])
      assert(nested.list[position] == wide[i] or not nested.list[position] and wide[i] ~= wide[i])
    end
    local from_0 = gpu.vectorize(function(x) local s = 0 for k = 0, 2 do s = s + c[k] end return s * x end)(gpu.ones(2))
    assert(from_0:isnan():all():item())
    fails("expected an index of c from 1 to 3, got one from 4 to 6", run, function(x) for k = 4, 6 do x = x + c[k] end return x end)
    fails("expected an index of c from 1 to 3", run, function(x) return x + c[4] end)
    fails("expected an integer as the index of c, got a number of dtype float32; math.floor(x)", run, function(x) return c[x] end)
    fails("got the table c", run, function(x) return x + c end)
    local mixed = {1, "a"}
    fails("mixed is a table; a device takes numbers, booleans, arrays, tables of up to 64 numbers", run,
      function(x) return x + mixed[1] end)
  end)

  it("shows its text in gpu.explain, with the lines of the script", function()
    local line = debug.getinfo(1, "l").currentline
    local f = gpu.vectorize(function(price)
      local discounted = price * 0.5
      discounted = discounted + 1
      return discounted
    end, {name = "discount"})
    local text = gpu.explain(f(gpu.ones(2)))
    assert.is_truthy(text:find("discounted_ = (price_p1 * 0.5f);", 1, true), text)
    assert.is_truthy(text:find(("#line %d \"[^\"]*vectorize_spec.lua\"\n  discounted_ = %%(discounted_ %%+ 1%%.0f%%);"):format(line + 3)), text)
    assert.is_truthy(text:find("gpulua_discount_kernel", 1, true), text)
  end)

  it("finds the function in its text", function()
    local f, g = function(x) return x + 1 end, function(x) return x + 2 end
    assert.are.equal(3, (one("float32", g, 1)))
    assert.are.equal(2, (one("float32", f, 1)))
    -- Outer functions with equal bytecode differ by their inner ones.
    for k = 2, 3 do
      local text = "return function(x)\n local f = function(y) return y * " .. k .. " end\n return f(x) end"
      assert.are.equal(k, (one("float32", loadstring(text)(), 1)))
    end
    -- The text of a hot function, and of a chunk that is a string.
    local s = 0
    for i = 1, 1000 do s = s + f(i) end
    assert.are.equal(2, (one("float32", f, 1)))
    assert.are.equal(8, (one("float32", loadstring "local k = 7\nreturn function(x) return x + k end"(), 1)))
    -- Each Lua file of the project: its functions are those of its bytecode.
    local root = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/"
    local list = io.popen("find '" .. root .. "bindings' '" .. root .. "scripts' '" .. root .. "tests' '" .. root .. "bench' "
      .. "/usr/share/lua /usr/share/luajit-2.1 -name '*.lua' 2>/dev/null")
    local count = 0
    for path in list:lines() do
      local chunk = loadfile(path)
      if chunk then
        count = count + 1
        assert.is_truthy(tostring(gpu.vectorize(chunk)):find(path, 1, true))
      end
    end
    list:close()
    assert.is_true(count > 150, "files: " .. count)
  end)

  it("names what keeps a function from its text", function()
    fails("expected a Lua function of the elements, got 3", gpu.vectorize, 3)
    fails("expected a function that is written in Lua, got one that is written in C", gpu.vectorize, math.sin)
    local stripped = loadstring(string.dump(loadstring "return function(x) return x end", true))
    fails("is bytecode without debug information", gpu.vectorize, stripped())
    fails("the text of the chunk \"=name\" was not kept", gpu.vectorize, loadstring("return function(x) return x end", "=name")())
    fails("is not its text", gpu.vectorize, loadstring("return function(x) return x end", "name")())
    local path = os.tmpname()
    local function write(text)
      local file = io.open(path, "w")
      file:write(text)
      file:close()
    end
    write "return function(x) return x * 2 end\n"
    local f, g = dofile(path), dofile(path)
    assert.are.equal(6, (one("float32", f, 3)))
    write "return function(x) return x * 3, 1 end\n"
    assert.are.equal(6, (one("float32", f, 3)))
    assert.are.equal(9, (one("float32", dofile(path), 3)))
    write "-- another line\nreturn function(x) return x * 2 end\n"
    local edited = loadstring("return function(x) return x * 5 end", "@" .. path)()
    fails("is not in the file " .. path .. ", which is missing or has changed since it was loaded", gpu.vectorize, edited)
    os.remove(path)
    fails("expected fmad = true or false", gpu.vectorize, function(x) return x end, {fmad = 1})
    fails("expected the options name and fmad, got \"dtype\"", gpu.vectorize, function(x) return x end, {dtype = 1})
  end)
end)

-- Functions of x that a device does not run, and what the message says of them. `%` is the line of the construct.
local refused = {
  {"return x .. 'a'", "a device has no strings"},
  {"return {x}", "a device makes no tables"},
  {"local t = {}; return x", "a device makes no tables"},
  {"for k, v in pairs(a) do end return x", "a device has no iterators; write for i = 1, #a do"},
  {"print(x) return x", "print"},
  {"return tostring(x)", "tostring: a device has no strings"},
  {"return string.len(x)", "string.len: a device has no strings"},
  {"return math.random()", "gpu.random.at(seed, i) gives each thread or element numbers of its own"},
  {"pcall(f, x) return x", "nothing is caught on a device"},
  {"return select(1, x)", "select: a device has no"},
  {"return type(x)", "types are known when the function is translated"},
  {"return 1LL * x", "1LL is a number of the FFI"},
  {"return math.frexp(x)", "a device has no function math.frexp"},
  {"return missing", "missing is nil"},
  {"return missing.field", "missing is nil, and field a field of it"},
  {"return math.sinn(x)", "sqrt tan tanh; did you mean \"math.sin\"?"},
  {"return nothing(x)", "nothing is nil"},
  {"return x.y", "before .y, got a number of dtype float32"},
  {"return x[1]", "inside of the function an argument is one element"},
  {"return #x", "expected an array after #"},
  {"return a", "expected a number or a boolean, got the array a"},
  {"return a + x", "an index in brackets gives an element, a[i]"},
  {"return a[x]", "math.floor(x) makes an integer of it"},
  {"return a[0]", "indices start at 1, got a[0]"},
  {"return a(1)", "a device reads an element with brackets, a[i]"},
  {"return a.strides", "a device knows shape, size, ndim and dtype of an array"},
  {"return a.shape[2]", "expected an axis of a as a constant from 1 to 1"},
  {"a[1] = x return x", "writes to no array; gpu.jit makes kernels that do"},
  {"outside = x return x", "it assigns outside, a variable from outside of the function"},
  {"if x then return x end return 1", "every number is true in Lua: compare it, x ~= 0"},
  {"return x and 5 or 6", "expected a boolean before and, got a number of dtype float32; every number is true in Lua: compare it, x ~= 0"},
  {"return x > 0 or x and true", "every number is true in Lua: compare it, x ~= 0"},
  {"while x do end return 1", "every number is true in Lua"},
  {"return x > 1 and x", "false or a number of dtype float32; (condition and x or y)"},
  {"return x > 1 or x", "true or a number of dtype float32"},
  {"return x > 1 and x or true", "or a boolean; both values after and and or have one type"},
  {"return (x > 1) + 1", "(condition and 1 or 0) makes a number of it"},
  {"return -(x > 1)", "expected a number after the minus sign, got a boolean"},
  {"return not x", "expected a boolean after not, got a number"},
  {"return x == (x > 1)", "a boolean never equals a number"},
  {"return x == nil", "a device has no nil to compare with"},
  {"if x > 1 then return x end", "not on the path that arrives at this \"end\""},
  {"if x > 1 then return x end return x, 1", "as many results as another return of the function has, 1, got 2"},
  {"local y = x > 1; y = x; return y", "the variable y: it is a boolean and a number, by line 4"},
  {"local y = x; y = i[1]; return y", "the variable y: its dtype is float32 and int32"},
  {"local y = x; y = nil; return y", "y = nil; a device has no nil"},
  {"local y; return y", "y is nil"},
  {"return nil", "result 1 is nil"},
  {"return", "returns nothing"},
  {"local f = function(n) return f2(n) end return f(x)", "f2 is nil"},
  {"local function f(n) return n > 1 and f(n - 1) or 1 end return f(x)", "calls itself; write a loop instead"},
  {"local function f(...) return ... end return f(x)", "takes \"...\"; name its parameters"},
  {"local function f(p, q) return p end return f(x)", "expected 2 arguments for the function of line"},
  {"local function f() end return f()", "returns nothing"},
  {"return x('a')", "expected a function before the parentheses, got a number"},
  {"return x:upper()", "a device has no method upper"},
  {"return x:astype 'float99'", "expected the name of a dtype"},
  {"return gpu.sum(x)", "a device has no function gpu.sum"},
  {"gpu.syncthreads() return x", "a device has no function gpu.syncthreads; use gpu.barrier()"},
  {"return bit.tohex(i[1])", "no function bit.tohex; those of bit that it has are band bor bxor bnot"},
  {"return math.frexp(x)", "those of math that it has are modf abs acos"},
  {"return i[1] ^ -1", "integers to negative integer powers are not integers; gpu.float32(...) around the base"},
  {"return math.pow(i[1], -3)", "integers to negative integer powers are not integers"},
  {"return i[1] ^ i[2]", "the exponent of a number of dtype int32 may be negative"},
  {"local y = i[1]; y = x; return y", "by line 4; gpu.float32(...) converts the other one"},
  {"return a['1:2']", "a device has no slices, a[\"1:2\"]; loop over the elements"},
  {"return gpu.erf(x, 2)", "expected 1 arguments for gpu.erf, got 2"},
  {"return gpu.erf('x')", "expected numbers for gpu.erf, got the string \"x\""},
  {"return bit.band(x, 1)", "expected integers for bit.band, got a number of dtype float32"},
  {"return t + x", "t is a table; a device takes numbers, booleans, arrays"},
  {"return s + x", "[add] expected numbers, got the string \"text\""},
  {"for i = 1, 10, 0 do end return x", "the loop's step is 0"},
  {"for i = 1, x > 1 do end return x", "expected numbers as bounds of the loop, got a boolean"},
  {"local p, q = x; p, q = x return p", "expected a value for each of the 2 variables, got 1"},
  {"setmetatable(t, {}) return x", "a device has no metatables"},
  {"return coroutine.yield(x)", "a device has no coroutines"},
}

describe("numbers of integer arrays", function()
  it("have integer powers, as arrays have; weak integers have all", function()
    local ints, power = gpu.array({2, 4}, "int32"), 2
    local raise = gpu.vectorize(function(x) return x ^ power end)
    support.same(gpu.array({4, 16}, "int32"), raise(ints))
    power = -1
    local message = fails("power: integers to negative integer powers", raise, ints)
    assert.is_truthy(message:find "vectorize_spec.lua:%d+: power: ", message)
    local unsigned = gpu.vectorize(function(x, n) return x ^ n end)(ints, gpu.array({3, 0}, "uint32"))
    assert.are.same({8, 1}, unsigned:table())
    local weak = gpu.vectorize(function(x)
      local sum = x
      for n = 1, 2 do sum = sum + n ^ -1 + math.pow(n, -1) end
      return sum
    end)
    assert.are.equal(3, weak(gpu.zeros(1)):item())
  end)

  it("are named as the script has them when they do not fit", function()
    local K = 3e9
    local add = gpu.vectorize(function(x, v) return x + (v + K) end)
    local message = fails("v + K: [convert] 3e+09 does not fit int32", add, gpu.array({1}, "int32"), 0)
    assert.is_truthy(message:find "vectorize_spec.lua:%d+: v %+ K", message)
    fails("expected 2 arguments (T x, T z), got 1",
      gpu.elementwise {inputs = "T x, T z", outputs = "T y", body = "y = x + z;"}, gpu.ones(1))
  end)
end)

describe("what a device cannot do", function()
  it("is an error with the line and what to write instead", function()
    local head = "local gpu, a, i, t, s = ...\nreturn function(x)\n"
    local arrays = {gpu.ones(2), gpu.ones(2, "int32")}
    for _, case in ipairs(refused) do
      local f = assert(loadstring(head .. "\n" .. case[1] .. "\nend"))(gpu, arrays[1], arrays[2], {}, "text")
      local message = fails(case[2], function()
        local y = gpu.vectorize(f)(gpu.ones(1))
        return y
      end)
      assert.is_truthy(message:find("^[^ ]*vectorize_spec.lua:%d+: %[vectorize%] %[string '.*'%]:[245]: "), case[1] .. "\n" .. message)
    end
    assert.is_true(#refused >= 60, #refused)
    fails("takes no \"...\"", function() return gpu.vectorize(function(x, ...) return x end)(gpu.ones(1)) end)
  end)
end)

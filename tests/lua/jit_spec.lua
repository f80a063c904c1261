-- gpu.jit: Lua functions as kernels.
local gpu = require "gpu"
local support = require "support"
local fails, near, series = support.fails, support.near, support.series

local add = gpu.jit(function(a, b, out)
  local i = gpu.grid(1)
  if i <= #out then out[i] = a[i] + b[i] end
end, {name = "add"})

describe("gpu.jit", function()
  it("makes a kernel of a Lua function", function()
    local a, b, out = gpu.arange(1000, "float32"), gpu.ones(1000), gpu.zeros(1000)
    local launch = add {grid = 4, block = 256}
    launch(a, b, out)
    assert.are.same({1, 1000}, {out[1], out[1000]})
    launch(out, out, out)
    assert.are.same({2, 2000}, {out[1], out[1000]})
    add:over(1000)(a, b, out)
    assert.are.equal(500500, out:sum():item())
    add:over(0)(a, b, out)
    -- The launch's kernel is that of the arguments' types.
    local ints = gpu.zeros(3, "int32")
    launch(gpu.array({1, 2, 3}, "int32"), gpu.array({10, 20, 30}, "int64"), ints)
    assert.are.same({11, 22, 33}, ints:table())
    assert.is_truthy(tostring(add):find "^kernel add%(a, b, out%), .*jit_spec.lua:%d+$")
    assert.are.equal("launch of the kernel add", tostring(launch))
  end)

  it("shows its text: const where it only reads, no double, the lines of the script", function()
    local a = gpu.ones(2)
    local text = add:source(a, a, a)
    assert.is_truthy(text:find("void add(const float* a_p1, const float* b_p2, float* out_p3, const int out_size_p4)", 1, true), text)
    assert.is_truthy(text:find('#line %d+ "[^"]*jit_spec.lua"'))
    assert.is_falsy(text:match "extern.*":find "double")
    assert.is_falsy(text:match "extern.*":find "gpulua_convert")
  end)

  it("takes numbers, captured values and views", function()
    local k, offsets = 2, gpu.array({100, 200}, "int32")
    local f = gpu.jit(function(x, scale, out)
      local i = gpu.grid()
      if i <= #x then out[i] = x[i] * scale * k + offsets[-1] end
    end)
    local x, out = gpu.arange(10, "float32"), gpu.zeros(5)
    f:over(5)(x["2::2"], 0.5, out)
    assert.are.same({201, 203, 205, 207, 209}, out:table())
    k, offsets = 4, gpu.array({1, 3}, "int32")
    f:over(5)(x["2::2"], 1, out)
    assert.are.same({7, 15, 23, 31, 39}, out:table())
    for _, dtype in ipairs {"float16", "bfloat16", "float64", "int8", "uint64", "complex64"} do
      local y = gpu.array {1, 2, 3}:astype(dtype)
      gpu.jit(function(v, w) local i = gpu.thread(); v[i] = v[i] * w + 1 end) {grid = 1, block = 3}(y, 2)
      support.same(gpu.array({3, 5, 7}):astype(dtype), y, dtype)
    end
    local flags = gpu.zeros(3, "bool")
    gpu.jit(function(v) local i = gpu.thread(); v[i] = i > 1 and not v[i] end) {grid = 1, block = 3}(flags)
    assert.are.same({false, true, true}, flags:table())
  end)

  it("reads and writes arrays where they lie, whatever their strides", function()
    local fill = gpu.jit(function(v)
      local x, y = gpu.grid(2)
      if y <= v.shape[1] and x <= v.shape[2] then v[y][x] = v[y][x] + 10 * y + x end
    end)
    local views = {
      function(m) return m end, function(m) return m.T end, function(m) return m("::-1", "2::3") end,
      function(m) return m("2:5", ":") end,
      function(m) return m("::2", "::-1").T end, function(m) return m:reshape(4, 2, 9)(":", 2, "3:7") end,
    }
    for k, view in ipairs(views) do
      local m, expected = gpu.zeros(8, 9), gpu.zeros(8, 9)
      local part = view(expected)
      part:add_(gpu.range(1, part.shape[1]):reshape(part.shape[1], 1) * 10 + gpu.range(1, part.shape[2]))
      fill {grid = {2, 1}, block = {8, 16}}(view(m))
      assert.are.same(expected:table(), m:table(), k)
    end
    -- An array that is captured, and views that are only read, broadcast ones too.
    local table_of = gpu.arange(12, "float32"):reshape(3, 4)
    local total = gpu.zeros(3)
    local rows = table_of.T("::-1", ":")
    gpu.jit(function(b, o)
      local i = gpu.thread()
      for j = 1, #rows do o[i] = o[i] + rows[j][i] * b[i][j] end
    end) {grid = 1, block = 3}(gpu.array {1, 2, 3, 4}:broadcast_to(3, 4), total)
    assert.are.same({3 + 4 + 3, 7 + 12 + 15 + 16, 11 + 20 + 27 + 32}, total:table())
    local empty = gpu.zeros(0, 3)
    fill {grid = 1, block = 8}(empty)
  end)

  it("takes functions as arguments, whatever they capture and whatever follows them", function()
    local scale, offset, o = 2, 3, gpu.zeros(2)
    local apply = gpu.jit(function(f, x, g, out, last) out[1], out[2] = f(x[1]), g(x[2]) + last end) {grid = 1, block = 1}
    for shift = 1, 3 do
      apply(function(v) return math.abs(v) * scale end, gpu.array {-5, 7}, function(v) return math.max(v, offset) + shift end, o, 0.5)
      assert.are.same({10, 7.5 + shift}, o:table())
    end
  end)

  it("has rows of arrays as locals and arguments", function()
    local m, o = gpu.arange(12, "float32"):reshape(3, 4), gpu.zeros(3)
    gpu.jit(function(a, out)
      local function total(v)
        local s = 0
        for k = 1, #v do s = s + v[k] end
        return s
      end
      local i = 1
      while i <= #a do
        local row, at = a[i], i
        i = i + 1
        out[at] = total(row) + 100 * row[1] + total(a[4 - at])
      end
    end) {grid = 1, block = 1}(m, o)
    assert.are.same({6 + 0 + 38, 22 + 400 + 22, 38 + 800 + 6}, o:table())
  end)

  it("reads arrays without axes as numbers", function()
    local x, o = gpu.array {1, 2, 3}, gpu.zeros(3)
    local total = x:max()
    gpu.jit(function(n, v, s, out)
      local i = gpu.grid()
      if i <= #v then out[i] = v[i] / s + n * total + #v.shape end
    end):over(3)(2, x, x:sum(), o)
    near({1 / 6 + 7, 2 / 6 + 7, 3 / 6 + 7}, o:table(), 1e-6)
    total = x:mean()
    assert.are.same({-1, 0, 1}, gpu.vectorize(function(v) return v - total end)(x):table())
    fails("an array has one index for each of its axes", function() gpu.jit(function(s) s[1] = 1 end) {grid = 1, block = 1}(total) end)
  end)

  it("counts in 32 bits where sizes and the grid allow it", function()
    local copy = gpu.jit(function(x, o)
      local i = gpu.grid()
      if i <= #x then o[i] = x[i] + i end
    end)
    local x = gpu.zeros(4)
    assert.is_falsy(copy:source(x, x):match "extern.*":find "long long")
    local neighbours = gpu.jit(function(a, o)
      local i, n = gpu.grid(), #a
      local sign = a[i] > 0 and 1 or -1
      o[i] = a[(i - 2) % n + 1] + a[math.min(i + 1, n)] + a[math.max(i - 1, 1)] * sign + a[math.abs(i - 2) + 1]
        + a[math.floor((i - 1) / 2) + 1] + a[bit.band(i, 3) + 1] + gpu.thread() ^ 2
    end)
    assert.is_falsy(neighbours:source(x, x):match "extern.*":find "long long")
    local y, z = gpu.array {1, 20, -300, 4000}, gpu.zeros(4)
    neighbours {grid = 1, block = 4}(y, z)
    assert.are.same({4000 + 20 + 1 + 20 + 1 + 20 + 1, 1 - 300 + 1 + 1 + 1 - 300 + 4, 20 + 4000 - 20 + 20 + 20 + 4000 + 9,
      -300 + 4000 - 300 - 300 + 20 + 1 + 16}, z:table())
    local large = copy:source(gpu.zeros(1):broadcast_to(2 ^ 31), x)
    assert.is_truthy(large:find("const long long x_size", 1, true), large:match "extern.*")
    -- Sums that may pass 32 bits have 64.
    local far = gpu.jit(function(o, n)
      local i = gpu.thread()
      o[i] = (n + i) * n
    end)
    local o = gpu.zeros(2, "int64")
    far {grid = 1, block = 2}(o, 2 ^ 30)
    assert.are.same({(2 ^ 30 + 1) * 2 ^ 30, (2 ^ 30 + 2) * 2 ^ 30}, o:table())
    assert.is_truthy(far:source(o, 5):find "long long")
    far {grid = 1, block = 2}(o, 2 ^ 31)
    assert.are.same({(2 ^ 31 + 1) * 2 ^ 31, (2 ^ 31 + 2) * 2 ^ 31}, o:table())
  end)

  it("draws random numbers, each thread its own sequence", function()
    local function draw(n, dtype, first)
      local u, g, k = gpu.zeros(n, 8, dtype), gpu.zeros(n, 8, dtype), gpu.zeros(n, 8, "int32")
      gpu.jit(function(a, b, c, from)
        local i = gpu.grid()
        if i > #a then return end
        local r = gpu.random.at(42, i + from)
        for j = 1, 8 do a[i][j] = r:uniform() end
        for j = 1, 8 do b[i][j] = r:normal() end
        for j = 1, 8 do c[i][j] = r:integer(6) end
      end):over(n)(u, g, k, first or 0)
      return u, g, k
    end
    for _, dtype in ipairs {"float32", "float64"} do
      local u, g, k = draw(20000, dtype)
      assert.is_true(u:min():item() > 0 and u:max():item() <= 1)
      near(0.5, u:mean():item(), 3e-3)
      near(1 / 12, u:var():item(), 1e-3)
      near(0, g:mean():item(), 1e-2)
      near(1, g:var():item(), 1e-2)
      near(3, (g ^ 4):mean():item(), 8e-2)
      assert.are.same({1, 6}, {k:min():item(), k:max():item()})
      near(3.5, k:mean():item(), 2e-2)
      near(0, ((u(":", 1) - 0.5) * (u(":", 2) - 0.5)):mean():item(), 2e-3)
      near(0, ((u(":19999", 1) - 0.5) * (u("2:", 1) - 0.5)):mean():item(), 2e-3)
      -- A number depends on the seed, the sequence and how many were drawn before, and on nothing else.
      assert.are.same(u("101:110"):table(), (draw(10, dtype, 100)):table())
    end
    -- The order of draws is that of the text; an expression that is translated twice draws once.
    local o = gpu.zeros(6, "float64")
    gpu.jit(function(out)
      local r, s = gpu.random.at(7, 1), gpu.random.at(7, 1)
      local a, b, c = s:uniform(), s:uniform(), s:uniform()
      out[1], out[2] = a - 10 * b, r:uniform() - 10 * r:uniform()
      out[3], out[4] = math.floor(c * 100), math.floor(r:uniform() * 100)
      local function two(q) return q:uniform() + q:uniform() end
      out[5], out[6] = two(r), s:uniform() + s:uniform()
    end) {grid = 1, block = 1}(o)
    assert.are.equal(o[1], o[2])
    assert.are.equal(o[3], o[4])
    assert.are.equal(o[5], o[6])
    near(0.5, gpu.vectorize(function(i) return gpu.random.at(3, i):uniform("float64") end)(gpu.arange(20000)):mean():item(), 1e-2)
    local function launch(f) gpu.jit(f) {grid = 1, block = 1}(gpu.zeros(1)) end
    for text, f in pairs {
      ["random numbers in the condition of a loop, or after `and` or `or`; assign them to locals first"] = function(v)
        local r = gpu.random.at(1, 1)
        while r:uniform() < 0.5 do v[1] = 1 end
      end,
      ["assign them to locals first"] = function(v)
        local r = gpu.random.at(1, 1)
        v[1] = v[1] > 0 and r:uniform() or 0
      end,
      ["expected r:uniform(), r:normal() or r:integer(n) of gpu.random.at, got gamma"] = function(v)
        v[1] = gpu.random.at(1, 1):gamma()
      end,
      ["expected a seed and a number of a sequence"] = function(v) v[1] = gpu.random.at(1):uniform() end,
      ["expected integers for gpu.random.at, got a number"] = function(v) v[1] = gpu.random.at(0.5, 1):uniform() end,
      ["expected the greatest integer"] = function(v) v[1] = gpu.random.at(1, 1):integer() end,
      ["expected \"float32\" or \"float64\", or nothing"] = function(v) v[1] = gpu.random.at(1, 1):uniform "int8" end,
      ["expected a number, got a generator of gpu.random.at"] = function(v) v[1] = gpu.random.at(1, 1) end,
    } do fails(text, launch, f) end
    fails("[random.at] expected a call in a kernel", gpu.random.at, 1, 1)
  end)

  it("names the Lua line, the array and the index under --check", function()
    if gpu.device().kind ~= "cpu" then return end
    gpu.check(true)
    local function message_of(f, block, ...)
      local arguments = {...}
      return fails("[launch] kernel 'jit': ", function()
        gpu.jit(f) {grid = 1, block = block}(unpack(arguments))
        gpu.sync()
      end)
    end
    local square = gpu.ones(2, 2)
    local line = debug.getinfo(1, "l").currentline
    local x = gpu.ones(4)
    for text, message in pairs {
      [(":%d: index 5 of data, whose indices are 1 to 4, block (0,0,0), thread (2,0,0)"):format(line + 4)] =
        message_of(function(data, o) local i = gpu.thread(); o[i] = data[i + 2] end, 4, x, gpu.zeros(4)),
      [(":%d: index 0 of data, whose indices are 1 to 4"):format(line + 6)] =
        message_of(function(data) local i = gpu.thread(); data[i - 1] = 0 end, 4, x("::1")),
      -- Within the array, and outside of its axis.
      [(":%d: index 4 of data, axis 2, whose indices are 1 to 3"):format(line + 9)] =
        message_of(function(data, o) local i, j = gpu.thread(2); o[i][j] = data[i][j + 2] end, {2, 2}, gpu.ones(3, 3), square),
      [(":%d: index 3 of tile, whose indices are 1 to 2"):format(line + 12)] = message_of(function(o)
        local tile = gpu.shared(2, "float32")
        tile[#o - 1] = o[1]
      end, 1, x),
      [(":%d: index 0 of v, which has no elements"):format(line + 14)] = message_of(function(v) v[#v] = 1 end, 1, gpu.zeros(0)),
      [(":%d: index -1 of v, whose indices are 1 to 2"):format(line + 15)] = message_of(function(v) v[-4] = 1 end, 1, gpu.zeros(2)),
      [(":%d: index 9 of h, whose indices"):format(line + 16)] = message_of(function(h) gpu.atomic.add(h, 9, 1) end, 1, x),
    } do assert.is_truthy(message:find("jit_spec.lua" .. text, 1, true), text .. "\n" .. message) end
    -- What the checker itself sees has Lua's names and indices, too.
    local races = {
      [("jit_spec.lua:%d: race: write of 4 bytes: s[17] of shared float[32], which thread (15,0,0) read at"):format(line + 23)] =
        message_of(function(o)
          local s, t = gpu.shared(32, "float32"), gpu.thread()
          s[t] = t
          o[t] = s[33 - t]
        end, 32, gpu.zeros(32)),
      [("jit_spec.lua:%d: race: write of 4 bytes: tile[3][1] of shared int[4][8]"):format(line + 29)] = message_of(function(o)
        local tile = gpu.shared(4, 8, "int32")
        local i, j = gpu.thread(2)
        tile[j][i] = i
        o[j][i] = tile[5 - j][i]
      end, {8, 4}, gpu.zeros(4, 8)),
      [("jit_spec.lua:%d: uninitialised read of 4 bytes: s[2] of shared int[2]"):format(line + 34)] = message_of(function(o)
        local s = gpu.shared(2, "int32")
        o[1] = s[2]
      end, 1, gpu.zeros(1)),
      [("jit_spec.lua:%d: uninitialised read of 4 bytes: element 7 of v, float32[16], made at"):format(line + 37)] =
        message_of(function(v, o) o[1] = v[2][3] end, 1, gpu.empty(4, 4), gpu.zeros(1)),
    }
    for text, message in pairs(races) do assert.is_truthy(message:find(text, 1, true), text .. "\n" .. message) end
    local v = gpu.ones(4)
    line = debug.getinfo(1, "l").currentline
    local message = fails("v, whose indices are 1 to 4", function()
      return gpu.vectorize(function(i) return v[i + 1] end)(gpu.range(1, 4, 1, "int32")):table()
    end)
    assert.is_truthy(message:find(("jit_spec.lua:%d: index 5 of "):format(line + 2), 1, true), message)
    gpu.check(false)
    local o = gpu.zeros(4)
    gpu.jit(function(data, to) local i = gpu.thread(); to[i] = data[i] end) {grid = 1, block = 4}(x, o)
    assert.are.same({1, 1, 1, 1}, o:table())
  end)

  it("takes captured numbers as sizes of its arrays, and sees when they change", function()
    local size, k = 4, 1
    local f = gpu.jit(function(o)
      local tile, own, i = gpu.shared(2 * size, "float32"), gpu.local_array(size, "float32"), gpu.thread()
      own[1] = i * k
      tile[i] = own[1]
      gpu.barrier()
      o[i] = tile[size + 1 - i] + #tile
    end)
    local launch, o = f {grid = 1, block = 4}, gpu.zeros(4)
    for _ = 1, 2 do
      launch(o)
      assert.are.same({12, 11, 10, 9}, o:table())
    end
    assert.is_truthy(f:source(o):find("__shared__ float tile_array1[8]", 1, true))
    size = 5
    launch(o)
    assert.are.same({0 + 10, 14, 13, 12}, {10, o[2], o[3], o[4]})
    size, k = 4, 10
    launch(o)
    assert.are.same({48, 38, 28, 18}, o:table())
  end)

  it("sees what changes from launch to launch", function()
    local n, table_of, flag, step = 2, {k = 3, inner = {q = 1}}, true, function(v) return v + 1 end
    local a = gpu.array {10, 20}
    local launch = gpu.jit(function(x, o, s)
      local i = gpu.thread()
      local v = step(x[i] * n + table_of.k + table_of.inner.q) + a[i] * s
      o[i] = flag and v or -v
    end) {grid = 1, block = 2}
    local x, o = gpu.array {1, 2}, gpu.zeros(2)
    local function now(s)
      launch(x, o, s)
      local v, values = x:table(), a:table()
      for i = 1, 2 do
        local expected = step(v[i] * n + table_of.k + table_of.inner.q) + values[i] * s
        assert.are.equal(flag and expected or -expected, o[i])
      end
    end
    now(1)
    now(2)
    now(0.5)
    n = 7
    now(1)
    n = 0.25
    now(1)
    table_of.k = 5
    now(1)
    table_of.inner = {q = 100}
    now(1)
    table_of = {k = 1, inner = {q = 2}}
    now(1)
    flag = false
    now(1)
    step = function(v) return v * 2 end
    now(1)
    a = gpu.array({1, 2}, "int32")
    now(1)
    a = gpu.arange(8, "float32")("::2")
    now(1)
    x = gpu.array({5, 6}, "float64")
    now(1)
    x = gpu.arange(4, "float64")("::-2")
    now(1)
    setmetatable(table_of, {__index = {k = 9}})
    now(1)
    table_of.k = nil
    now(1)
    o = gpu.zeros(4)("2::2")
    now(3)
    -- An error leaves the launch as it was.
    fails("expected 3 arguments", launch, x, o)
    fails("step is nil", function()
      local kept = step
      step = nil
      local ok, message = pcall(launch, x, o, 1)
      step = kept
      error(message, 0)
    end)
    now(1)
  end)

  it("finds the latest call's kernel without a kept launch, too", function()
    local k = gpu.jit(function(a, n) local i = gpu.grid(); if i <= #a then a[i] = n end end)
    local o, d = gpu.zeros(2), gpu.zeros(2, "float64")
    local kept = k {grid = 2, block = 1}
    for _, n in ipairs {1, 2, 2.5, 3, 2 ^ 20, 7} do
      k {grid = 1, block = 2}(o, n)
      assert.are.equal(n, o[2])
      k:over(2)(d, n)
      assert.are.equal(n, d[1])
      kept(o, n + 1)
      assert.are.equal(n + 1, o[1])
      fails("expected 2 arguments", k:over(2), d)
      fails("a is nil", k:over(2), nil, 1)
      k:over(2)(d, n)
    end
    local freed = gpu.zeros(2)
    freed:free()
    fails("[jit] a: the array was freed", k:over(2), freed, 1)
    -- The kernel keeps no array of a call.
    local weak = setmetatable({gpu.zeros(2)}, {__mode = "v"})
    k:over(2)(weak[1], 1)
    collectgarbage()
    collectgarbage()
    assert.is_nil(weak[1])
  end)

  it("warns of a launch that is never called, and of no other", function()
    local output = support.run([[
local gpu = require "gpu"
local k = gpu.jit(function(a, b) a[1] = b end, {name = "set"})
print(pcall(k {grid = 1, block = 1}, gpu.zeros(1, "int8"), 300))
print(pcall(k {grid = 1, block = 1}, gpu.zeros(1, "int8")))
k {grid = 1, block = 1}
collectgarbage()
collectgarbage()
]], "GPULUA_DEVICE=" .. gpu.device().name)
    assert.is_truthy(output:find("b: [convert] 300 does not fit int8", 1, true), output)
    local _, warnings = output:gsub("%[set%] a launch was made and never called", "")
    assert.are.equal(1, warnings, output)
  end)

  it("makes no garbage when it is launched again", function()
    local n, t, x, o = 3, {k = 1}, gpu.ones(4), gpu.zeros(4)
    local launch = gpu.jit(function(a, b, s)
      local i = gpu.thread()
      b[i] = a[i] * n + t.k * s
    end) {grid = 1, block = 4}
    launch(x, o, 1)
    collectgarbage()
    collectgarbage "stop"
    local before = collectgarbage "count"
    for _ = 1, 1000 do launch(x, o, 1) end
    local bytes = (collectgarbage "count" - before) * 1024
    collectgarbage "restart"
    assert.is_true(bytes < 8000, bytes)
  end)

  it("knows the position of a thread along each axis", function()
    local out = gpu.zeros(4, 6, 8, "int32")
    gpu.jit(function(o)
      local x, y, z = gpu.grid(3)
      local tx, ty, tz = gpu.thread(3)
      local bx, by, bz = gpu.block_index(3)
      local w, h, d = gpu.block_size(3)
      local gx = gpu.grid_size(3)
      local same = x == (bx - 1) * w + tx and y == (by - 1) * h + ty and z == (bz - 1) * d + tz
      o[z][y][x] = same and x + 10 * y + 100 * z + 1000 * gx or 0
    end) {grid = {4, 3, 2}, block = {2, 2, 2}}(out)
    local values = out:table()
    for z = 1, 4 do
      for y = 1, 6 do
        for x = 1, 8 do assert.are.equal(x + 10 * y + 100 * z + 8000, values[z][y][x]) end
      end
    end
  end)

  it("has shared memory and barriers: a product of matrices", function()
    local product = gpu.jit(function(a, b, c)
      local ta, tb = gpu.shared(16, 16, "float32"), gpu.shared(16, 17, "float32")
      local tx, ty = gpu.thread(2)
      local column, row = gpu.grid(2)
      local sum = 0
      for t = 0, a.shape[2] - 1, 16 do
        ta[ty][tx] = row <= a.shape[1] and t + tx <= a.shape[2] and a[row][t + tx] or 0
        tb[{ty, tx}] = t + ty <= #b and column <= b.shape[2] and b[{t + ty, column}] or 0
        gpu.barrier()
        for k = 1, 16 do sum = sum + ta[ty][k] * tb[k][tx] end
        gpu.barrier()
      end
      if row <= #c and column <= c.shape[2] then c[row][column] = sum end
    end)
    local a, b, c = gpu.rand(50, 70), gpu.rand(70, 33), gpu.zeros(50, 33)
    product {grid = {3, 4}, block = {16, 16}}(a, b, c)
    near(a:matmul(b):table(), c:table(), 1e-5)
  end)

  it("has arrays of a thread", function()
    local out = gpu.zeros(4)
    gpu.jit(function(o)
      local i = gpu.thread()
      local t = gpu.local_array(5, "float32")
      t[1] = i
      for k = 2, #t do t[k] = t[k - 1] * 2 end
      o[i] = t[-1]
    end) {grid = 1, block = 4}(out)
    assert.are.same({16, 32, 48, 64}, out:table())
    gpu.jit(function(o)
      local t = gpu.local_array(3, 2, "float32")
      t[2][1] = 7
      local s = 0
      for i = 1, 3 do s = s + t[i][1] + 10 * t[i][2] end
      o[gpu.thread()] = s
    end) {grid = 1, block = 4}(out)
    assert.are.same({7, 7, 7, 7}, out:table())
  end)

  it("has atomic operations, which give the element before", function()
    local x, counts = gpu.arange(1000, "int32") % 7, gpu.zeros(7, "int32")
    gpu.jit(function(v, h) local i = gpu.grid(); if i <= #v then gpu.atomic.add(h, v[i] + 1, 1) end end):over(1000)(x, counts)
    assert.are.same({143, 143, 143, 143, 143, 143, 142}, counts:table())
    for _, dtype in ipairs {"int32", "uint32", "int64", "uint64"} do
      local r = gpu.array({0, 5, 5, 0, 3}, dtype)
      gpu.jit(function(o)
        local i = gpu.thread()
        gpu.atomic.add(o, 1, i)
        gpu.atomic.max(o, 2, i)
        gpu.atomic.min(o, 3, i)
        gpu.atomic.exchange(o, {4}, 9)
        gpu.atomic.compare_exchange(o, 5, 3, 42)
      end) {grid = 1, block = 8}(r)
      assert.are.same({36, 8, 1, 9, 42}, r:table(), dtype)
    end
    for _, dtype in ipairs {"int32", "uint32", "int64", "uint64"} do
      local r = gpu.array({0xff, 0, 0, 100}, dtype)
      gpu.jit(function(o)
        local i = gpu.thread()
        gpu.atomic.band(o, 1, bit.bnot(i))
        gpu.atomic.bor(o, 2, i)
        gpu.atomic.bxor(o, 3, i)
        gpu.atomic.sub(o, 4, i)
      end) {grid = 1, block = 8}(r)
      assert.are.same({0xf0, 15, 8, 64}, r:table(), dtype)
    end
    for _, dtype in ipairs {"float32", "float64"} do
      local values, r = (gpu.arange(500, dtype) * 0.37 % 1 - 0.5):eval(), gpu.array({-9, 9, 0, 0, 0, 0 / 0}, dtype)
      gpu.jit(function(v, o)
        local i = gpu.grid()
        if i > #v then return end
        gpu.atomic.max(o, 1, v[i])
        gpu.atomic.min(o, 2, v[i])
        gpu.atomic.sub(o, 3, 0.5)
        gpu.atomic.max(o, 1, 0 / 0)
        gpu.atomic.min(o, 6, v[i])
        if i == 7 then o[4] = gpu.atomic.exchange(o, 5, 3.5) + gpu.atomic.compare_exchange(o, 5, 3.5, 2.5) end
      end):over(500)(values, r)
      assert.are.same({values:max():item(), values:min():item(), -250, 3.5, 2.5}, {r[1], r[2], r[3], r[4], r[5]}, dtype)
      assert.is_true(r[6] ~= r[6])
    end
    local total, before = gpu.zeros(1), gpu.zeros(4)
    gpu.jit(function(t, b) local i = gpu.thread(); b[i] = gpu.atomic.add(t, 1, 0.5) end) {grid = 1, block = 4}(total, before)
    assert.are.equal(2, total:item())
    assert.are.same({0, 0.5, 1, 1.5}, before:sort():table())
  end)

  it("has operations of a warp", function()
    local out = gpu.zeros(6, "float32")
    gpu.jit(function(x, o)
      local lane = gpu.lane()
      local v = x[lane]
      local d = 16
      while d >= 1 do
        v = v + gpu.warp.down(v, d)
        d = math.floor(d / 2)
      end
      local third, left, swapped = gpu.warp.shuffle(x[lane], 3), gpu.warp.up(lane, 1), gpu.warp.xor(lane, 1)
      local any, all, bits = gpu.warp.any(lane == 7), gpu.warp.all(lane < 32), gpu.warp.ballot(lane <= 3)
      gpu.warp_barrier()
      if lane == 1 then
        o[1], o[2] = v, third
        o[4] = any and not all and 1 or 0
        o[5], o[6] = bits, swapped
      elseif lane == 2 then
        o[3] = left
      end
    end) {grid = 1, block = 32}(gpu.arange(32, "float32"), out)
    assert.are.same({496, 2, 1, 1, 7, 2}, out:table())
  end)

  it("has Lua's control flow where threads diverge", function()
    local function steps(n)
      local count = 0
      while n ~= 1 do
        if n % 2 == 0 then n = math.floor(n / 2) else n = 3 * n + 1 end
        count = count + 1
        if count >= 100 then break end
      end
      local sum = 0
      for i = 1, count do
        for j = 1, 3 do
          if (i + j) % 3 == 0 then goto continue end
          if j > i then break end
          sum = sum + j
          ::continue::
        end
      end
      repeat
        local more = sum % 5
        sum = sum - 1
      until more == 0
      return count, sum
    end
    local counts, sums = gpu.zeros(64, "int32"), gpu.zeros(64, "int32")
    gpu.jit(function(n, c, s)
      local i = gpu.grid()
      if i > #n then return end
      c[i], s[i] = steps(n[i])
    end):over(64)(gpu.range(1, 64, 1, "int32"), counts, sums)
    assert.are.same(series(64, function(i) return (steps(i)) end), counts:table())
    assert.are.same(series(64, function(i) return (select(2, steps(i))) end), sums:table())
  end)

  it("fails with the line of Lua", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local k = gpu.jit(function(x) if not (x[1] < 5) then error "too large" end end)
    k {grid = 1, block = 1}(gpu.ones(1))
    gpu.sync()
    if gpu.device().name == "cpu" then  -- a GPU does not take kernels any more after a failed assert
      local message = fails("too large", function()
        k {grid = 1, block = 1}(gpu.full(1, 7))
        gpu.sync()
      end)
      assert.is_truthy(message:find("jit_spec.lua:" .. line .. ": too large, block (0,0,0), thread (0,0,0)", 1, true), message)
      -- Busted's assert is not Lua's, so this is another process.
      local output = support.run([[
local gpu = require "gpu"
local function check(text)
  local f = gpu.jit(loadstring("return function(x)\n  " .. text .. "\nend")()){grid = 1, block = 1}
  print(pcall(function() f(gpu.full(1, 7)); gpu.sync() end))
end
check "assert(x[1] < 5)"
check "assert(x[1] < 5, 'too large')"
check "assert(x[1] > 5, 'too small'); print('x', x[1], x[1] > 5, #x)"
]], "GPULUA_DEVICE=cpu")
      assert.is_truthy(output:find(":2: assertion failed!, block (0,0,0), thread (0,0,0)", 1, true), output)
      assert.is_truthy(output:find(":2: too large, block (0,0,0)", 1, true), output)
      assert.is_truthy(output:find("x\t7\ttrue\t1\n", 1, true), output)
    end
  end)

  it("takes sums, products and differences of math.floor as an index", function()
    local x, counts = gpu.array {0.1, 0.5, 0.9, 0.95}, gpu.zeros(4, "int32")
    gpu.jit(function(v, c)
      local bin = math.floor(v[gpu.thread()] * 3) + 1
      gpu.atomic.add(c, bin, 1)
      c[2 * math.floor(v[1]) + 4] = math.floor(v[1] * 70)
    end) {grid = 1, block = 4}(x, counts)
    assert.are.same({1, 1, 2, 7}, counts:table())
  end)

  it("stores no fraction among integers in silence", function()
    local x, ints = gpu.ones(2), gpu.zeros(2, "int32")
    local function launch(f, ...) gpu.jit(f) {grid = 1, block = 1}(...) end
    fails("o has elements of dtype int32, got a number of dtype float32; gpu.int32(...) makes an integer of it", launch,
      function(v, o) o[1] = v[1] * 0.7 end, x, ints)
    fails("gpu.int32(...) makes an integer of it", launch, function(v, o) gpu.atomic.add(o, 1, v[1] * 0.7) end, x, ints)
    fails("gpu.int32(...) makes an integer of it", gpu.guvectorize("(n)->(n)", function(v, o)
      for i = 1, #v do o[i] = v[i] / 2 end
    end), gpu.array({1, 2, 3}, "int32"))
    local message = fails("v + 5: [convert] 5.5 does not fit int32", launch, function(o, v) o[1] = v + 5 end, ints, 0.5)
    assert.is_truthy(message:find "jit_spec.lua:%d+: v %+ 5", message)
    fails("v: [convert] -1 does not fit uint8", launch, function(o, v) o[1] = v end, gpu.zeros(1, "uint8"), -1)
    launch(function(v, o) o[1], o[2] = gpu.int32(v[1] * 2.7), #v / 2 end, x, ints)
    assert.are.same({2, 1}, ints:table())
    fails("no function gpu.barier; did you mean \"gpu.barrier\"?", launch, function() gpu.barier() end)
    fails("did you mean \"gpu.shared\"?", launch, function() local s = gpu.sharedd(3, "float32"); s[1] = 0 end)
    fails("takes no \"...\"; name its parameters", launch, function(...) return ... end, x)
  end)

  it("is an error with what to write instead", function()
    local x = gpu.ones(2)
    local function launch(f, ...) gpu.jit(f) {grid = 1, block = 1}(...) end
    local boolean = function(v) v[1] = v[1] > 1 end
    for text, case in pairs {
      ["a kernel returns nothing; it writes its results to an array"] = {function(v) return v[1] end, x},
      ["expected 1 arguments (v), got 2"] = {function(v) v[1] = 1 end, x, x},
      ["expected an array before the brackets, got an integer"] = {function(v) v[1] = 0 end, 3},
      ["expected a boolean as the condition, got a number"] = {function(v) if v[1] then v[1] = 0 end end, x},
      ["v has 1 axes and as many indices"] = {function(v) v[{1, 2}] = 0 end, x},
      ["expected an element to assign to, got the array v"] = {function(v) v[1] = 0 end, gpu.ones(2, 2)},
      ["(condition and 1 or 0) makes a number of it"] = {boolean, x},
      ["x ~= 0 makes a boolean of it"] = {function(v) v[1] = 1 end, gpu.zeros(1, "bool")},
      ["expected 1, 2 or 3 axes, as in gpu.grid(2)"] = {function(v) v[1] = gpu.grid(4) end, x},
      ["expected sizes and a dtype, constants, as in gpu.shared(32, 33, \"float32\")"] = {function(v)
        local s = gpu.shared(32)
        v[1] = s[1]
      end, x},
      ["expected a size of gpu.shared, a constant"] = {function(v)
        local s = gpu.shared(#v, "float32")
        v[1] = s[1]
      end, x},
      ["gpu.atomic.band has no form for float32"] = {function(v) gpu.atomic.band(v, 1, 2) end, x},
      ["expected a constant string for error"] = {function(v) error(v[1]) end, x},
    } do
      local message = fails(text, launch, unpack(case))
      assert.is_truthy(message:find "jit_spec.lua:%d+: " or text:find "arguments", message)
    end
    fails("gpu.grid is for kernels, which gpu.jit makes", function() return gpu.vectorize(function(v) return v + gpu.grid() end)(x) end)
    fails("[grid] expected a call in a kernel: gpu.jit(function(...) ... gpu.grid(...) ... end) makes one", gpu.grid, 1)
    fails("[atomic.add] expected a call in a kernel", gpu.atomic.add, x, 1, 1)
    fails("expected a Lua function, the work of one thread, got 3", gpu.jit, 3)
    fails("name = letters, digits and underscores", gpu.jit, function() end, {name = "a b"})
    fails("a launch configuration first, as in k:over(count)(arguments) or k{grid=..., block=...}(arguments)", add, x, x, x)
    fails("expected a number of items", add.over, add, "n")
    fails("block: expected", function() add {grid = 1, block = 0}(x, x, x) end)
    fails("grid", function() add {block = 1}(x, x, x) end)
    fails("v: expected an array to write to, got a view whose elements share memory; x:copy() makes an array", launch,
      function(v) v[1] = 1 end, gpu.ones(1):broadcast_to(4))
  end)
end)

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
    assert.is_truthy(text:find("void add(const float* a_p1, const float* b_p2, float* out_p3, const long long out_size_p4)", 1, true), text)
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
      assert.is_truthy(message:find("jit_spec.lua:" .. line, 1, true), message)
    end
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
      ["v has 1 axes, and so many indices"] = {function(v) v[{1, 2}] = 0 end, x},
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
      ["gpu.atomic.max has no form for float32"] = {function(v) gpu.atomic.max(v, 1, 2) end, x},
      ["expected a constant string for error"] = {function(v) error(v[1]) end, x},
    } do
      local message = fails(text, launch, unpack(case))
      assert.is_truthy(message:find "jit_spec.lua:%d+: " or text:find "arguments", message)
    end
    fails("gpu.grid is for kernels, which gpu.jit makes", function() return gpu.vectorize(function(v) return v + gpu.grid() end)(x) end)
    fails("[grid] expected a call in a kernel: gpu.jit(function(...) ... gpu.grid(...) ... end) makes one", gpu.grid, 1)
    fails("[add] expected a call in a kernel", gpu.atomic.add, x, 1, 1)
    fails("expected a Lua function, the work of one thread, got 3", gpu.jit, 3)
    fails("name = letters, digits and underscores", gpu.jit, function() end, {name = "a b"})
    fails("a launch configuration first, as in k{grid=..., block=...}(arguments)", add, x, x, x)
    fails("expected a number of items", add.over, add, "n")
    fails("block: expected", function() add {grid = 1, block = 0}(x, x, x) end)
    fails("grid", function() add {block = 1}(x, x, x) end)
    fails("row-major", function() gpu.jit(function(v) v[1] = 1 end) {grid = 1, block = 1}(gpu.ones(4)["::2"]) end)
  end)
end)

-- gpu.loop and gpu.loop_while: what a plain loop gives, bit by bit, without the host's work for each step.
local gpu = require "gpu"
local support = require "support"

local same, fails = support.same, support.fails
local counts = {0, 1, 2, 3, 7, 9, 20, 1000}

--- What a plain loop gives, whose arrays are evaluated after each step.
local function plain(n, fn, ...)
  local state = {}
  for i, x in ipairs {...} do state[i] = x:copy() end
  for k = 1, n do
    state[#state + 1] = gpu.full({}, k, "int64")
    state = {fn(unpack(state))}
    gpu.eval(unpack(state))
  end
  return unpack(state)
end

local function compare(n, fn, ...)
  gpu.random.seed(9)
  local wanted = {plain(n, fn, ...)}
  local random = gpu.random.state()
  gpu.random.seed(9)
  local got = {gpu.loop(n, fn, ...)}
  assert(#got == #wanted)
  for i = 1, #wanted do same(wanted[i], got[i], ("result %d of %d steps"):format(i, n)) end
  assert(gpu.random.state().offset == random.offset)
end

local saxpy = [[extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}]]

describe("gpu.loop", function()
  local bodies = {
    ["one array"] = function()
      return function(x) return gpu.sin(x) + 0.5 end, gpu.linspace(0, 1, 300)
    end,
    ["gradient descent"] = function()
      local A, b = gpu.linspace(-1, 1, 64 * 8):reshape(64, 8):eval(), gpu.linspace(0, 1, 64):eval()
      return function(w) return w - 0.01 * A.T:matmul(A:matmul(w) - b) end, gpu.zeros(8)
    end,
    ["arrays of several dtypes, and of no elements"] = function()
      return function(x, i, flag, none)
        return gpu.where(flag, x * 0.5, x + 1), (i * 5 + 3) % 1009, i:gt(500), none
      end, gpu.linspace(0, 1, 5, {dtype = "float64"}), gpu.full({}, 7, "int32"), gpu.full({}, false), gpu.zeros(0)
    end,
    ["arrays that change places"] = function()
      return function(a, b, c, m) return b, c, a + 1, m.T end, gpu.zeros(4), gpu.ones(4), gpu.full({4}, 2, "float32"),
        gpu.arange(9):reshape(3, 3)
    end,
    ["one array in two places"] = function()
      return function(a, b)
        a:add_(b)
        return a, a
      end, gpu.ones(4, "int64"), gpu.arange(4)
    end,
    ["the number of the step"] = function()
      return function(x, k) return x + k * k end, gpu.zeros(3, "int64")
    end,
    ["the number of the step alone"] = function()
      return function(_, k) return k end, gpu.full({}, 0, "int64")
    end,
    ["writes in place, also to arrays from outside"] = function()
      local total = gpu.zeros(6):eval()
      return function(x, k)
        if k == nil then error "no step" end
        local before = x * 2 -- of the elements before the write
        x:add_(1)
        total:copy_(x)
        return (before - total + x) % 101
      end, gpu.arange(6, "float32")
    end,
    ["random numbers"] = function()
      return function(x, y)
        return x + gpu.randn(33):eval(), y + gpu.random.integers(50, 100) + gpu.random.permutation(50)
      end, gpu.zeros(33), gpu.zeros(50, "int64")
    end,
    ["sorts, scans, gathers and kernels of the script"] = function()
      local kernel, i = gpu.kernel(saxpy, "saxpy"), (gpu.arange(300) * 7 % 300 + 1):eval()
      return function(x)
        local y = gpu.cumsum(gpu.sort(x):take(i, 1) % 7)
        kernel {grid = 3, block = 128}(0.25, x, y, 300)
        return y % 101
      end, (gpu.arange(300, "float32") * 7919 % 1009):eval()
    end,
    ["a loop in a loop"] = function()
      return function(x, k) return gpu.loop(3, function(y, i) return y * 2 + i + k end, x) % 10007 end, gpu.arange(5)
    end,
    ["a fused function"] = function()
      local step = gpu.fuse(function(x) return x * 0.5 + gpu.rand(16) end)
      return function(x) return step(step(x)) end, gpu.ones(16)
    end,
  }
  for name, make in pairs(bodies) do
    it("does what a plain loop does: " .. name, function()
      for _, n in ipairs(counts) do compare(n, make()) end
    end)
  end

  it("runs a million steps", function()
    local x, y = gpu.loop(1000000, function(x, y) return (x * 5 + 3) % 1009, y + 1 end, gpu.full({}, 1, "int64"), gpu.full({}, 0, "int64"))
    local expected = 1
    for _ = 1, 1000000 do expected = (expected * 5 + 3) % 1009 end
    assert(x:item() == expected and y:item() == 1000000)
  end)

  it("leaves its arguments as they are, and gives arrays of its own", function()
    local x = gpu.arange(4):eval()
    for _, n in ipairs {0, 1, 2, 20} do
      local y = gpu.loop(n, function(a) return a:add_(1) end, x)
      same(x, gpu.arange(4), "the argument")
      local read = y * 2
      local z = gpu.loop(n, function(a) return a:add_(1) end, y)
      y:fill_(0)
      same(read, (gpu.arange(4) + n) * 2)
      same(z, gpu.arange(4) + 2 * n)
      same(x, gpu.arange(4), "the argument")
    end
  end)

  it("takes views, pending and broadcast arrays, and those of other streams", function()
    local x = gpu.arange(20):eval()
    for _, n in ipairs {1, 12} do
      same(gpu.loop(n, function(a) return a + 1 end, x({20, 1, -2})), x({20, 1, -2}) + n)
      same(gpu.loop(n, function(a) return a + 1 end, gpu.broadcast_to(x({1, 2}), 3, 2) * 1), gpu.broadcast_to(x({1, 2}), 3, 2) + n)
      local y = gpu.with(gpu.stream(), function() return gpu.loop(n, function(a) return a + x end, x * 2) end)
      same(y, x * (2 + n))
    end
  end)

  it("stores what its function reads from outside before it records", function()
    local A, b = gpu.randn(64, 8), gpu.randn(64)
    local function gradient(w) return A.T:matmul(A:matmul(w) - b) end
    local w = gpu.loop(200, function(w) return w - 0.01 * gradient(w) end, gpu.zeros(8))
    assert(gpu.abs(gradient(w)):max():item() < 1e-3)
  end)

  it("calls its function for the first steps alone, and compiles nothing the second time", function()
    local calls = 0
    local function run(n)
      calls = 0
      return gpu.loop(n, function(x, y)
        calls = calls + 1
        local unread = x - 17
        return x * 0.75 + y:sum(), y + gpu.cos(x), unread
      end, gpu.ones(50), gpu.zeros(50), gpu.ones(50))
    end
    local first = run(100)
    assert(calls <= 17, calls)
    local second
    local profile = gpu.profile(function() second = run(100):eval() end)
    for _, row in ipairs(profile) do assert(not row.compilation or row.compilation == 0, tostring(profile)) end
    same(first, second)
    assert(tostring(profile):find "gpu.loop")
  end)

  it("takes no more memory with each call and each step", function()
    local function run(n) return gpu.loop(n, function(x) return gpu.sort(gpu.sort(x) + 1) end, gpu.ones(1e5)) end
    run(20)
    local before = support.used()
    for _ = 1, 20 do run(20) end
    -- Loops that the collector has not freed yet have the memory of their sorts: on a GPU five arrays a step.
    assert(gpu.memory().used - before < 200 * 4e5, gpu.memory().used - before)
    local x = run(100)
    assert(x:sum():item() == 101e5)
    x = nil
    assert(support.used() <= before)
  end)

  it("reports an index that is out of range in any step, at its line", function()
    local x = gpu.arange(10, "float32"):eval()
    for _, n in ipairs {9, 40} do
      for _, bad in ipairs {1, 2, 7, n} do
        local function step(i, y, k) return i, y + x:take(i + k:eq(bad):astype "int64" * 100, 1) end
        local line = debug.getinfo(step, "S").linedefined
        local y
        local message = fails("103 in an index array is out of range", function() -- by the loop's own wait for its first steps, or later
          y = select(2, gpu.loop(n, step, gpu.full({2}, 3, "int64"), gpu.zeros(2)))
          gpu.sync()
        end)
        assert(message:find(("device_loop_spec.lua:%d"):format(line), 1, true), message)
        if y then fails("103 in an index array", function() return y:table() end) end
        local _, good = gpu.loop(n, function(i, z) return i, z + x:take(i, 1) end, gpu.full({2}, 3, "int64"), gpu.zeros(2))
        gpu.sync()
        same(good, gpu.full({2}, 2 * n, "float32"))
      end
    end
    collectgarbage() -- frees the arrays that the faulty steps have made
  end)

  it("has no elements for what its function keeps", function()
    local kept, pending, number
    local x = gpu.loop(20, function(x, k)
      pending = x * 3
      kept = (x * 2):eval()
      number = k + 1
      return x + 1
    end, gpu.ones(3))
    fails("made by a loop's function, which did not return it", function() return number:item() end)
    fails("made by a loop's function, which did not return it", function() return kept:table() end)
    fails("made by a loop's function, which did not return it", function() return pending:table() end)
    same(x, gpu.full({3}, 21, "float32"))
  end)

  it("is recorded as its steps within gpu.fuse and gpu.graph", function()
    local function body(x) return gpu.loop(4, function(y, k) return y * 2 + k end, x) end
    local x = gpu.arange(5):eval()
    local wanted = plain(4, function(y, k) return y * 2 + k end, x)
    local fused = gpu.fuse(body)
    for _ = 1, 3 do same(fused(x), wanted) end
    local graph, y = gpu.graph(body, x)
    same(y, wanted)
    x:add_(1)
    graph:launch()
    same(y, plain(4, function(z, k) return z * 2 + k end, x))
    same(fused(x), y)
  end)
end)

describe("gpu.loop_while", function()
  local function halve(limit)
    return function(x, n)
      x = x * 0.5
      return x:max():gt(limit), x, n + 1
    end
  end

  it("goes on as long as the condition of the last step is true", function()
    for _, limit in ipairs {2, 0.5, 0.3, 1e-3, 1e-30} do
      local wanted, steps = gpu.linspace(0, 1, 100):eval(), 0
      repeat wanted, steps = (wanted * 0.5):eval(), steps + 1 until wanted:max():item() <= limit
      local x, n = gpu.loop_while(halve(limit), gpu.linspace(0, 1, 100), gpu.full({}, 0, "int32"))
      same(x, wanted)
      assert(n:item() == steps, n:item())
    end
  end)

  it("takes any bool array of one element, and the number of the step", function()
    for _, shape in ipairs {{}, {1}, {1, 1}} do
      local x = gpu.loop_while(function(x, k) return (k:lt(10)):reshape(shape), x + k end, gpu.zeros(2, "int64"))
      same(x, gpu.full({2}, 55, "int64"))
    end
    local go_on, n = gpu.loop_while(function(go_on, n, k) return go_on, k:lt(5), n + 1 end, gpu.full({}, true), gpu.full({}, 0))
    assert(not go_on:item() and n:item() == 6)
  end)

  it("draws the random numbers of a plain loop", function()
    local function step(x)
      x = x + gpu.rand(8)
      return x:min():lt(20), x
    end
    gpu.random.seed(4)
    local wanted, steps, go_on = gpu.zeros(8), 0, nil
    repeat
      go_on, wanted = step(wanted)
      gpu.eval(go_on, wanted)
      steps = steps + 1
    until not go_on:item()
    local random = gpu.random.state()
    gpu.random.seed(4)
    same(gpu.loop_while(step, gpu.zeros(8)), wanted)
    assert(steps > 20 and gpu.random.state().offset == random.offset)
  end)

  it("is one launch", function()
    local launches = 0
    for _, row in ipairs(gpu.profile(function() gpu.loop_while(halve(1e-6), gpu.ones(10), gpu.full({}, 0)) end)) do
      if row.name == "gpu.loop_while" then launches = launches + row.launches end
    end
    assert(launches == 1, launches)
  end)

  it("reports an index that is out of range", function()
    local x = gpu.arange(10, "float32"):eval()
    local y = gpu.loop_while(function(y, k) return k:lt(20), y + x:take(gpu.full({1}, 1, "int64") + k, 1) end, gpu.zeros(1))
    fails("11 in an index array is out of range", gpu.sync)
    fails("11 in an index array", function() return y:table() end)
  end)
end)

describe("a loop on the device", function()
  local x = gpu.arange(8, "float32"):eval()
  for _, case in ipairs {
    {"a number of steps that is no integer", 2.5, function(a) return a end, "[loop] expected the number of steps first, of 0 or more, gpu.loop(n, fn, ...), got 2.5"},
    {"a negative number of steps", -1, function(a) return a end, "[loop] expected the number of steps first, of 0 or more, gpu.loop(n, fn, ...), got -1"},
    {"no function", 3, 5, "[loop] expected a function of the arrays that the loop carries, got 5"},
    {"a result too few", 3, function() end, "[loop] expected 1 array from the function, as many as it gets, got none"},
    {"a result too many", 3, function(a) return a, a end, "[loop] expected 1 array from the function, as many as it gets, got 2"},
    {"another dtype", 3, function(a) return a:astype "float64" end,
      "[loop] expected float32[8] as result 1 of the function, which the next step gets, got float64[8]"},
    {"another shape", 3, function(a) return a({1, 3}) end,
      "[loop] expected float32[8] as result 1 of the function, which the next step gets, got float32[3]"},
    {"no array", 3, function() return 7 end, "[loop] expected an array as result 1, got 7"},
    {"an error", 3, function() error "oops" end, "oops"},
    {"a read of elements", 3, function(a) a[1] = a[2] return a end, "[loop] expected a function whose work can be recorded, got one that reads elements"},
    {"a wait", 3, function(a) gpu.sync() return a end, "[loop] expected a function whose work can be recorded, got one that waits"},
    {"another stream", 3, function(a) gpu.with(gpu.stream(), function() end) return a end, "its work is on one stream"},
    {"a graph", 3, function(a) gpu.graph(function() end) return a end, "outside of a function that gpu.graph"},
    {"a loop_while", 3, function(a) return (gpu.loop_while(function(b) return b:max():lt(3), b + 1 end, a)) end,
      "[loop_while] expected a call outside of a function that"},
  } do
    it("raises: " .. case[1], function()
      fails(case[4], gpu.loop, case[2], case[3], x)
      same(x * 2, gpu.arange(8, "float32") * 2) -- the device works as before
      same(gpu.loop(3, function(a) return a + 1 end, x), x + 3)
      gpu.sync()
    end)
  end

  it("raises: a number among what it carries", function()
    fails("[loop] expected an array as argument 4, got 7; gpu.full({}, number, dtype) makes one", gpu.loop, 3, function(a, b) return a, b end, x, 7)
  end)

  it("raises: no condition, or another one than a bool array of one element", function()
    fails("[loop_while] expected a condition and 1 array from the function, as many as it gets, got 1", gpu.loop_while,
      function(a) return a end, x)
    fails("[loop_while] expected a bool array of one element as the first result, the condition, got bool[8]", gpu.loop_while,
      function(a) return a:lt(3), a end, x)
    fails("[loop_while] expected a bool array of one element as the first result, the condition, got float32[]", gpu.loop_while,
      function(a) return a:max(), a end, x)
    fails("[loop_while] expected an array as result 1, got true", gpu.loop_while, function(a) return true, a end, x)
    fails("[loop_while] expected a function whose work can be recorded, got one that reads elements", gpu.loop_while,
      function(a) return gpu.full({}, a[1] < 3), a + 1 end, x)
  end)

  it("raises: a number that Lua changes from step to step", function()
    local still = "[%s] expected the same numbers in each step, got %s"
    local function refuses(op, got, ...) return fails(still:format(op, got), ...) end
    local n, T, c = 0, 1, {n = 0}
    refuses("loop", "1 and then 2 on line", gpu.loop, 100, function(w) n = n + 1 return w + n end, x)
    refuses("loop", "0.5 and then 0.25 on line", gpu.loop, 9, function(w) T = T / 2 return w * T end, x)
    refuses("loop", "1 and then 2 on line", gpu.loop, 3, function(w) c.n = c.n + 1 return gpu.where(w:gt(c.n), w, 0) end, x)
    refuses("loop", "", gpu.loop, 5, function(w) return w + math.random() end, x)
    refuses("loop", "2 and then 3 on line", gpu.loop, 5, function(w)
      n = n + 1
      return gpu.maximum(w, gpu.full({8}, n % 3 + 2))
    end, x)
    refuses("loop", "0.125 and then 0.0625 on line", gpu.loop, 5, function(w)
      T = T / 2
      return w * gpu.array {T, 1, 1, 1, 1, 1, 1, 1}
    end, x)
    refuses("loop_while", "", gpu.loop_while, function(w)
      c.n = c.n + 1
      return w:max():lt(100), w + c.n
    end, x)
    local saxpy_kernel = gpu.kernel(saxpy, "saxpy") {grid = 1, block = 32}
    local add = gpu.jit(function(y, a)
      local i = gpu.grid()
      if i <= #y then y[i] = y[i] + a end
    end)
    for name, step in pairs {
      kernel = function(w) saxpy_kernel(c.n, x, w, 8) end, jit = function(w) add:over(8)(w, c.n) end,
    } do
      local message = refuses("loop", "", gpu.loop, 4, function(w)
        c.n = c.n + 1
        step(w)
        return w
      end, x)
      assert.is_truthy(message:find("gpu.full({}, 1) for the first T", 1, true), name)
    end
    same(gpu.loop(3, function(a) return a + 1 end, x), x + 3)
  end)

  it("takes changes of Lua's state that do not reach the device, and other numbers in the first step", function()
    local calls, cache, log = 0, nil, {}
    local function step(w)
      calls = calls + 1
      log[#log + 1] = calls
      cache = cache or (x * calls):eval()
      return w + cache * (0 / 0 == 0 and 1 or 2)
    end
    same(gpu.loop(20, step, x), x + 40 * x)
    assert(calls == #log and calls < 20)
    same(gpu.loop(20, function(w) return gpu.where(w:gt(0), w, 0 / 0) end, gpu.ones(3)), gpu.ones(3))
  end)

  it("raises: a comparison of what it gets, which are arrays, by ==", function()
    local five, wanted = 5, "[loop] expected no comparison of an array by == or ~=, which looks at no elements, got one of 'k' on line"
    for _, fn in ipairs {
      function(w, k) if k == 5 then w = w + 1 end return w end, function(w, k) return k ~= 5 and w or w + 1 end,
      function(w, k) if k == five then w = w + 1 end return w end, function(w, k) if five == k then return w end return w + 1 end,
    } do
      fails(wanted, gpu.loop, 9, fn, x)
    end
    fails("[remainder] expected a number beside == or ~=", gpu.loop, 9, function(w, k)
      if k % 3 == 0 then w = w + 1 end
      return w
    end, x)
    fails("[loop_while] expected no comparison", gpu.loop_while, function(w, k) return gpu.full({}, k == 5), w end, x)
    same(gpu.loop(4, function(w, k) return gpu.where(k:eq(2), w + 1, w) end, x), x + 1)
    same(gpu.loop(4, function(w, k)
      k = 5
      if k == 5 and w ~= nil then w = w + 1 end
      return w
    end, x), x + 4)
  end)

  it("raises: it carries a value in a variable from outside", function()
    local p = gpu.ones(3):eval()
    fails("[loop] expected a function that gets and returns what it carries from step to step, got one that reads 'p' and sets it",
      gpu.loop, 3, function(u) u, p = 2 * u - p, u return u end, x)
  end)
end)

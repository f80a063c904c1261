-- gpu.graph: a launch does what a call of the function does, and what cannot be recorded raises.
local gpu = require "gpu"
local support = require "support"

local same, fails = support.same, support.fails

--- Runs make(state) as a graph and as a function with a state of its own, `times` times each; both give the same arrays.
local function compare(make, times)
  local state, other = {}, {}
  local fn, plain = make(state), make(other)
  gpu.random.seed(9)
  local results = {gpu.graph(fn)}
  local graph = table.remove(results, 1)
  local random = gpu.random.state()
  gpu.random.seed(9)
  for k = 1, times do
    if k > 1 then
      local offset = gpu.random.state()
      gpu.random.set_state(random)
      graph:launch()
      random = gpu.random.state()
      gpu.random.set_state(offset)
    end
    local wanted = {plain()}
    assert(#wanted == #results)
    for i = 1, #wanted do same(wanted[i], results[i], ("result %d of call %d"):format(i, k)) end
    for name, array in pairs(other) do same(array, state[name], ("%s after call %d"):format(name, k)) end
    assert(gpu.random.state().offset == random.offset)
  end
end

local saxpy = [[extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}]]

describe("a graph", function()
  for name, make in pairs {
    ["expressions and writes in place"] = function(state)
      state.x, state.total = gpu.arange(1000, "float32"):eval(), gpu.zeros(1000):eval()
      return function()
        state.total:add_(state.x * 0.5)
        state.x:copy_(state.total({1, 1000}) - state.x)
        return state.total:sum(), gpu.sqrt(state.total), state.x({5, 10})
      end
    end,
    ["loops"] = function(state)
      state.x = gpu.linspace(0, 1, 500):eval()
      return function()
        local x, v = state.x, gpu.zeros(500)
        for _ = 1, 80 do
          v = v - 0.1 * x
          x = x + 0.1 * v
        end
        state.x:copy_(x)
        return v
      end
    end,
    ["sorts, scans, selections and counts"] = function(state)
      state.x = (gpu.arange(700) * 7919 % 1009):eval()
      return function()
        state.x:copy_((state.x * 5 + 3) % 1009)
        local values, positions = gpu.topk(state.x, 9)
        return gpu.sort(state.x), gpu.argsort(state.x), gpu.cumsum(state.x), values, positions, gpu.median(state.x)
      end
    end,
    ["products"] = function(state)
      state.m = (gpu.arange(12 * 12, "float32"):reshape(12, 12) % 7):eval()
      return function()
        state.m:copy_(state.m:matmul(state.m) % 11)
        return state.m:matmul(gpu.ones(12)), gpu.matmul(state.m:reshape(3, 4, 12), state.m:reshape(3, 12, 4))
      end
    end,
    ["batches, triangles and einsums"] = function(state)
      state.x = (gpu.arange(12 * 3 * 11 * 5, "float32"):reshape(12, 3, 11, 5) % 5):eval()
      state.a = (gpu.eye(3) * 2 + gpu.tri(3, 3, -1)):eval()
      return function()
        state.x:copy_((state.x + 1) % 5)
        local rows = state.x:transpose(1, 3, 2, 4) -- by addresses
        local parts = { state.x(1, 1), state.x(2, 1), state.x(3, 3) }
        local batch = gpu.blas.gemm_batched(parts, parts, { trans_b = "T", alpha = 2 })
        return rows:matmul(rows:swapaxes(-1, -2)), gpu.einsum("abcd,abce->de", state.x, state.x), batch[3],
          gpu.blas.trsm(state.a, state.x(1, ":", ":", 1)), gpu.blas.syrk(state.x(1, ":", 2)),
          gpu.matmul(rows:astype "int32", rows:swapaxes(-1, -2):astype "int32")
      end
    end,
    ["gathers and scatters"] = function(state)
      state.x, state.i = gpu.arange(64, "float32"):eval(), gpu.array({1, 64, 7, 7, 9, 33}, "int32")
      return function()
        gpu.scatter_add(state.x, state.i, gpu.array {1, 2, 3, 4, 5, 6})
        state.x[state.i] = state.x:take(state.i, 1) * 2
        return state.x:take(state.i, 1)
      end
    end,
    ["random numbers"] = function(state)
      state.x = gpu.zeros(10):eval()
      return function()
        state.x:add_(gpu.rand(10))
        return gpu.randn(33), gpu.random.gamma({20}, 2), gpu.random.integers(50, 100), gpu.random.permutation(40),
          gpu.rand(5, "float64")
      end
    end,
    ["kernels of the script"] = function(state)
      state.x, state.y = gpu.arange(300, "float32"):eval(), gpu.zeros(300):eval()
      local kernel = gpu.kernel(saxpy, "saxpy")
      return function()
        kernel {grid = 3, block = 128}(2, state.x, state.y, 300)
        return state.y * 2
      end
    end,
    ["functions under gpu.fuse"] = function(state)
      state.x = gpu.ones(16):eval()
      local step = gpu.fuse(function(x) return x * 2 + gpu.rand(16) end)
      return function()
        state.x:copy_(step(step(state.x)))
        return state.x:max()
      end
    end,
  } do
    it("repeats " .. name, function() compare(make, 5) end)
  end

  it("repeats the numbers of the vendor's generators", function()
    local function draw()
      local generator = gpu.random.generator("xorwow", {seed = 3})
      return function() return generator:uniform(50), generator:normal({31}) end
    end
    local graph, u, n = gpu.graph(draw())
    local plain = draw()
    for k = 1, 4 do
      if k > 1 then graph:launch() end
      local p, q = plain()
      same(p, u, "call " .. k)
      same(q, n, "call " .. k)
    end
  end)

  it("reads its inputs anew and keeps the addresses of its results", function()
    local x = gpu.zeros(8):eval()
    local graph, y = gpu.graph(function() return x + 1 end)
    same(y, gpu.ones(8))
    for k = 1, 3 do
      x:fill_(k)
      graph:launch()
      same(y, gpu.full({8}, k + 1, "float32"))
    end
  end)

  it("leaves what pending arrays read", function()
    local x = gpu.ones(4):eval()
    local graph, y = gpu.graph(function()
      x:mul_(2)
      return x * 10
    end)
    local from_result, from_state = y + 1, x + 1
    graph:launch()
    same(from_result, gpu.full({4}, 21, "float32"))
    same(from_state, gpu.full({4}, 3, "float32"))
    same(y, gpu.full({4}, 40, "float32"))
  end)

  it("gives the function its arguments, and results in tables", function()
    local graph, results, number, text = gpu.graph(function(a, b)
      return {sum = a + b, deep = {a * b}}, 7, "text"
    end, gpu.full({3}, 2), gpu.full({3}, 5))
    same(results.sum, gpu.full({3}, 7))
    same(results.deep[1], gpu.full({3}, 10))
    assert(number == 7 and text == "text" and tostring(graph):find "^graph of 1 kernel on ")
  end)

  it("runs on any stream, in order with other work", function()
    local x = gpu.zeros(100000):eval()
    local graph, y = gpu.graph(function()
      x:add_(1)
      return x * 2
    end)
    local streams = {gpu.stream(), gpu.stream()}
    for k = 1, 20 do
      graph:launch(streams[k % 2 + 1])
      x:add_(1)
    end
    same(x, gpu.full({100000}, 41, "float32"))
    same(y, gpu.full({100000}, 80, "float32"))
  end)

  it("takes no more memory with each launch, and gives it back", function()
    support.used()
    local before = support.used()
    do
      local x = gpu.ones(1e5):eval()
      local graph, y = gpu.graph(function()
        local z = x
        for _ = 1, 10 do z = gpu.sort(z) end -- temporaries that serve one another
        return z
      end)
      local after = gpu.memory().used
      assert(after - before < 16 * 4e5, after - before)
      for _ = 1, 100 do graph:launch() end
      assert(gpu.memory().used <= after)
      graph, x = nil, nil
      support.used()
      assert(y:sum():item() == 1e5) -- a result outlives its graph
    end
    assert(support.used() <= before)
  end)

  it("reports an index that is out of range, and recovers", function()
    local x, i = gpu.arange(10, "float32"):eval(), gpu.array({1, 2, 3}, "int32")
    local graph, y = gpu.graph(function() return x:take(i, 1) + 0 end)
    i:copy_(gpu.array({1, 11, 3}, "int32"))
    graph:launch()
    fails("11 in an index array is out of range", gpu.sync)
    fails("11 in an index array", function() return y:table() end)
    i:copy_(gpu.array({3, 2, 1}, "int32"))
    graph:launch()
    gpu.sync()
    same(y, gpu.array({2, 1, 0}, "float32"))
  end)

  it("runs under gpu.debug, and shows in a profile", function()
    local x = gpu.ones(10):eval()
    local graph = gpu.graph(function() x:add_(1) end)
    gpu.debug(true)
    graph:launch()
    gpu.debug(false)
    same(x, gpu.full({10}, 3, "float32"))
    local report = tostring(gpu.profile(function() graph:launch() end))
    assert(report:find "gpu.graph", report)
  end)

  it("has no elements for what its function keeps and does not return", function()
    local kept
    local graph = gpu.graph(function() kept = gpu.ones(3) * 2 end)
    local evaluated
    local other = gpu.graph(function() evaluated = (gpu.ones(3) * 2):eval() end)
    fails("which did not return it", function() return kept:table() end)
    fails("which did not return it", function() return evaluated:table() end)
    other:launch()
    same(evaluated, gpu.full({3}, 2, "float32"))
    graph:launch()
    same(kept, gpu.full({3}, 2, "float32"))
  end)
end)

describe("a function whose work cannot be recorded", function()
  local x = gpu.arange(8, "float32"):eval()
  local event = gpu.event()
  for _, case in ipairs {
    {"reads elements", function() return x[1] end, "one that reads elements"},
    {"prints", function() return tostring(x) end, "one that reads elements"},
    {"selects by a mask", function() return x[x:gt(2)] end, "one that reads elements"},
    {"waits", function() gpu.sync() end, "one that waits for the device"},
    {"records an event", function() event:record() end, "one that records an event"},
    {"names another stream", function() gpu.with(gpu.stream(), function() end) end, "its work is on one stream"},
    {"makes a graph", function() gpu.graph(function() end) end, "outside of a function that gpu.graph"},
    {"seeds", function() gpu.random.seed(1) end, "outside of a function that"},
    {"fails", function() error "oops" end, "oops"},
    {"yields", function() coroutine.yield() end, "attempt to yield"},
    {"is no function", 5, "expected a function whose work is recorded, got 5"},
  } do
    it("raises: it " .. case[1], function()
      fails(case[3], gpu.graph, case[2])
      same(x * 2, gpu.arange(8, "float32") * 2) -- the device works as before
      gpu.sync()
    end)
  end

  it("raises: it carries a value in a variable from outside", function()
    local u, p = gpu.ones(3):eval(), gpu.zeros(3):eval()
    fails("reads 'p' and sets it", gpu.graph, function() u, p = 2 * u - p, u end)
    local last
    gpu.graph(function()
      last = u * 2
      p:copy_(last)
    end)
    assert.are.same({ 2, 2, 2 }, p:table())
  end)

  it("raises where its calls use other numbers for the same work", function()
    local n, x = 0, gpu.zeros(4):eval()
    fails("[graph] expected the same numbers in both calls of the function, got 1 and then 2 on line", gpu.graph, function()
      n = n + 1
      return x + n
    end)
    fails("[graph] expected the same numbers in both calls of the function", gpu.graph, function() x:copy_(x + math.random()) end)
    local graph, y = gpu.graph(function() n = n + 1 return x:add_(2) * 3 end)
    graph:launch()
    assert(n == 4 and y[1] == 3 * x[1])
  end)

  it("raises: it frees an array from outside in the second run", function()
    local calls, y = 0, nil
    fails("one that frees an array from outside", gpu.graph, function()
      y = (x * 1):eval() -- the function's own
      y:free()
      calls = calls + 1
      if calls == 2 then x:free() end
    end)
    same(x * 2, gpu.arange(8, "float32") * 2)
  end)

  it("raises: it gives other arrays the second time", function()
    local calls = 0
    fails("the same arrays each time, got float32[3] and then float32[4]", gpu.graph, function()
      calls = calls + 1
      return gpu.ones(2 + calls) * 2
    end)
    fails("got 1 array and then 0 arrays", gpu.graph, function()
      calls = calls + 1
      if calls == 3 then return gpu.ones(3) end
    end)
  end)

  it("warns where what the function reads has changed since the recording", function()
    local output = support.run([[
      local gpu = require "gpu"
      local rate, unused, mode, y, p = 0.01, 1, "fast", gpu.zeros(3), {low = 1, list = {1}}
      scale = 2
      local function grown(x) return x * (1 + rate) end
      local g = gpu.graph(function() y:copy_(grown(gpu.ones(3)) * scale + p.low + #mode) end)
      g:launch()
      rate, unused = 0.5, 2
      for _ = 1, 3 do g:launch() end
      rate, scale = 0.01, 3
      g:launch()
      scale, p.low = 2, 0 / 0
      g:launch()
      p.low, mode = 1, "slow"
      g:launch()
      mode = "fast"
      g:launch()
      print(("%.2f"):format(y[1]))]], "GPULUA_DEVICE=" .. gpu.device().name, "changes.lua")
    local lines = {}
    for line in output:gmatch "[^\n]*changes.lua:[^\n]*" do lines[#lines + 1] = line end
    assert.are.equal(4, #lines, output)
    for i, part in ipairs {"changes.lua:8: [launch] 'rate' was 0.01 when the graph was recorded and is 0.5 now",
      "changes.lua:10: [launch] 'scale' was 2 when", "changes.lua:12: [launch] 'low' was 1 when", 'changes.lua:14: [launch] \'mode\' was "fast" when'} do
      assert(lines[i]:find(part, 1, true), lines[i])
    end
    assert(output:find("7.02", 1, true), output)
  end)

  it("raises for a launch within a recording, and for surplus arguments", function()
    local graph = gpu.graph(function() x:add_(0) end)
    fails("outside of a function that gpu.graph or gpu.fuse records", gpu.fuse(function() graph:launch() end))
    fails("outside of a function that gpu.graph or gpu.fuse records", gpu.graph, function() graph:launch() end)
    fails("expected a stream, or nothing, got 5; a launch repeats the recorded work, with the arguments of then", graph.launch, graph, 5)
    fails("at most", graph.launch, graph, nil, 5)
  end)
end)

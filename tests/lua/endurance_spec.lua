-- What has to hold over a long run: memory and compiled kernels stay bounded, many waiting operations do no harm, a failure for
-- lack of memory leaves arrays as they were, and results are the same each time.
local gpu = require "gpu"
local ffi = require "ffi"
local support = require "support"

--- Runs the text in a process of its own with an empty kernel cache, on this device. Gives what it printed and how many kernels it
--- compiled.
local function run_alone(text)
  local folder = os.tmpname()
  os.execute(("rm %s && mkdir %s"):format(folder, folder))
  local output, status = support.run(text, ("GPULUA_CACHE_DIR=%s GPULUA_DEVICE=%s"):format(folder, gpu.device().name))
  local files = io.popen("find " .. folder .. " -type f | wc -l; rm -r " .. folder)
  local count = tonumber(files:read "*a")
  files:close()
  assert(status == 0, output)
  return output, count
end

describe("100,000 dependent updates", function()
  for name, update in pairs {
    ["to new arrays"] = "x = x * 0.5 + 1",
    ["in place"] = "x:multiply_(0.5):add_(1)",
    ["of a slice"] = "x['1:500'] = x '1:500' * 0.5 + 1",
    ["that read another array, too"] = "x = x * a + b",
    ["of one array by another"] = "x, y = y * 0.5 + 1, x",
  } do
    it(name .. " keep memory flat and compile a few kernels", function()
      local output, kernels = run_alone(([[
        local gpu = require "gpu"
        local x = gpu.zeros(1000)
        local a, b, y = gpu.full(1000, 0.5), gpu.ones(1000), gpu.zeros(1000)
        local function update() %s end
        for i = 1, 5000 do update() end
        collectgarbage() collectgarbage()
        local heap, most = collectgarbage "count", 0
        for i = 1, 100000 do
          update()
          if i %% 1000 == 0 then most = math.max(most, collectgarbage "count") end
        end
        assert(x[1] == 2 and x[500] == 2)
        print(gpu.memory().peak, most - heap)
      ]]):format(update))
      local peak, growth = output:match "(%S+)%s+(%S+)"
      assert(tonumber(peak) < 20e6, "device memory: " .. peak .. " bytes")
      assert(tonumber(growth) < 4096, "Lua's heap grew by " .. growth .. " kB")
      assert(kernels <= 12, kernels .. " kernels compiled")
    end)
  end
end)

describe("pending operations", function()
  -- All these are pending, as nothing has read them. Expressions deeper than one kernel are computed when they are built.
  local makers = {
    ["side by side"] = "for i = 1, 300000 do keep[i] = x * i end",
    ["on one deep expression"] = "local y = x; for i = 1, 100 do y = y:sin() end; for i = 1, 300000 do keep[i] = y + i end",
    ["in long chains"] = "for i = 1, 2500 do local y = x; for k = 1, 120 do y = y + i end; keep[i] = y end",
    ["of reductions and index arrays"] = [[
      local k = gpu.array({ 2, 1 }, "int32")
      for i = 1, 100000 do keep[i] = { x:sum() * i, x(k) + i, (x + i):max(1, { keepdims = true }) } end]],
    ["of numbers and positions"] = "for i = 1, 150000 do keep[i] = { gpu.arange(i) + 1, gpu.rand(i) } end",
  }
  for name, make in pairs(makers) do
    it(name .. ", 300,000 of them, are given up without harm", function()
      local output = run_alone(([[
        local gpu = require "gpu"
        local x = gpu.ones(4):eval()
        keep = {}
        local function make() %s end
        make()
        keep = {}
        collectgarbage() collectgarbage()
        assert(gpu.memory().used < 10000, gpu.memory().used)
        x:fill_(2)
        assert((x + 1)[4] == 3)
        make()
        print "closing with all of them pending"
      ]]):format(make))
      assert.are.equal("closing with all of them pending\n", output)
    end)
  end

  it("that read an array are computed before it is written, however many they are", function()
    local x = gpu.ones(4):eval()
    local waiting = support.series(20000, function(i) return x * i end)
    local rows = gpu.profile(function() x:fill_(7) end)
    local launches = 0
    for _, row in ipairs(rows) do launches = launches + row.launches end
    assert(#rows <= 3 and launches < 1500, #rows .. " kernels, " .. launches .. " launches")
    for i = 1, 20000, 777 do assert.are.same({ i, i, i, i }, waiting[i]:table()) end
    assert.are.equal(20000, waiting[20000][4])
  end)

  it("go together into kernels of bounded size", function()
    local x = gpu.arange(1000, "float32"):eval()
    local list = support.series(200, function(i) return (x + i):sqrt():sin() end)
    local sums = support.series(50, function(i) return (x * i):sum() end)
    gpu.eval(unpack(list))
    gpu.eval(unpack(sums))
    for i = 1, 200, 13 do support.near(math.sin(math.sqrt(999 + i)), list[i][1000], 1e-5) end
    for i = 1, 50 do support.near(499500 * i, sums[i]:item(), 1e-6) end
    local count = tonumber(gpu.explain(unpack(support.series(200, function(i) return x * i end))):match "^%d+")
    assert(count > 1 and count < 20, count)
  end)
end)

describe("lack of memory", function()
  local limit
  before_each(function() limit = gpu.memory().limit end)
  after_each(function() gpu.set_memory_limit(limit) end)

  local n = 250000
  --- Runs fn under a memory limit of `room` bytes more than are in use.
  local function with_room(room, fn)
    gpu.set_memory_limit(support.used() + room)
    local ok, message = pcall(fn)
    gpu.set_memory_limit(limit)
    return ok, message
  end
  --- fn fails with no more room than `room`, its inputs keep their values, and gives the same as without a limit afterwards.
  local function survives(name, room, inputs, fn, expected)
    local before = support.series(#inputs, function(i) return ffi.string(inputs[i]:host(), inputs[i].nbytes) end)
    local ok, message = with_room(room, fn)
    assert(not ok, name .. " was to fail")
    assert(tostring(message):find("[memory] out of memory", 1, true), name .. ": " .. tostring(message))
    for i, input in ipairs(inputs) do
      assert(ffi.string(input:host(), input.nbytes) == before[i], name .. " changed input " .. i)
    end
    local result = fn()
    if expected then support.near(expected, result:astype("float64"):sum():item(), 1e-5, name) end
  end

  it("in the middle of an evaluation leaves what is pending to be evaluated later", function()
    local x = gpu.arange(n, "float32"):eval()
    local centred = (x - x:mean()) / x:std() -- the reductions fit, the result does not
    local other = centred * 2 + x
    local both = function() return gpu.eval(centred, other) end
    survives("centred", 100000, { x }, both)
    support.near(-math.sqrt(3), centred[1], 1e-4)
    support.near(2 * math.sqrt(3) + n - 1, other[n], 1e-6)
  end)

  it("leaves each operation's inputs intact, and its result to be had with more room", function()
    local x = ((gpu.arange(n, "int64") * 7919) % n):astype("float32"):eval()
    local total = n * (n - 1) / 2
    local index = gpu.range(n, 1, -1):eval()
    local cases = {
      { "+", function() return (x + 1):eval() end, total + n },
      { "astype", function() return x:astype("float64"):eval() end, total },
      { "copy", function() return x:copy() end, total },
      { "sort", function() return x:sort() end, total },
      { "argsort", function() return x:argsort() end, total + n },
      { "cumsum", function() return x:cumsum():eval() end },
      { "take", function() return x:take(index):eval() end, total },
      { "mask", function() return x[x:ge(0)] end, total },
      { "concat", function() return gpu.concat({ x, x }):eval() end, 2 * total },
      { "where", function() return gpu.where(x:gt(5), x, 5):eval() end, total + 15 },
      { "flatnonzero", function() return x:flatnonzero() end, n * (n + 1) / 2 - 1 }, -- x's first element is 0
      { "topk", function() return (x:topk(n)) end, total },
      { "roll", function() return x:roll(3):eval() end, total },
      { "T", function() return (x:reshape(500, n / 500).T):copy() end, total },
      { "meshgrid", function() return (x:reshape(n, 1) + gpu.arange(2)):eval() end, 2 * total + n },
      { "rand", function() return gpu.rand(n):eval() end },
    }
    for _, case in ipairs(cases) do
      local name, fn, expected = unpack(case)
      survives(name, 20000, { x, index }, fn, expected)
    end
  end)

  it("leaves the target of a write unchanged", function()
    local x = gpu.arange(n, "float32"):eval()
    local order = gpu.arange(n, 0, -1, "int64"):eval()
    local mask = (x % 2):eq(0):eval()
    -- All of these need a copy, or a value that does not fit.
    local cases = {
      overlap = function(y) y({ 2, n }):add_(y { 1, n - 1 }) end,
      reverse = function(y) y[":"] = y "::-1" end,
      gather = function(y) y[order] = y * 2 end,
      mean = function(y) y:copy_((y:sort() - 1)) end,
      mask = function(y) y[mask] = y[mask] + 1 end,
      cumsum = function(y) gpu.cumsum(y:sort(), { out = y }) end,
      host = function(y) y:copy_(support.series(n, function(i) return -i end)) end,
    }
    for name, write in pairs(cases) do
      local y, reference = x:copy(), x:copy()
      survives(name, 20000, { y, x, order, mask }, function() write(y) end)
      write(reference)
      assert(y:equal(reference), name .. " gave another result after it had failed")
    end
  end)

  it("with pending readers of the target leaves both", function()
    local x = gpu.ones(n)
    local reader = x * 3
    survives("fill_", 20000, { x }, function() x:fill_(9) end)
    assert.are.equal(3, reader[n])
    assert.are.equal(9, x[n])
  end)
end)

describe("results", function()
  -- The bits of many results, as a text. It runs here and in other processes.
  local digests = [[
    local gpu, ffi, bit = require "gpu", require "ffi", require "bit"
    local function digest(x)
      local bytes, hash = ffi.string(x:host(), x.nbytes), 5381
      for i = 1, #bytes do hash = bit.bxor(bit.rol(hash, 5), bytes:byte(i)) * 69069 % 2 ^ 32 end
      return ("%08x"):format(hash)
    end
    gpu.random.seed(7)
    local x = gpu.randn(301, 997):eval()
    local flat, wide = x:reshape(301 * 997), x:astype "float64"
    local list = {}
    for _, name in ipairs { "sum", "mean", "var", "argmin" } do
      for _, y in ipairs { x, x.T, wide } do
        list[#list + 1] = digest(gpu[name](y))
        for axis = 1, 2 do list[#list + 1] = digest(gpu[name](y, axis)) end
      end
    end
    list[#list + 1] = digest(x:astype("float16"):sum(1))
    list[#list + 1] = digest(x:logsumexp())
    for _, name in ipairs { "cumsum", "argsort" } do
      for axis = 1, 2 do list[#list + 1] = digest(gpu[name](x, axis)) end
      list[#list + 1] = digest(gpu[name](flat, 1))
    end
    list[#list + 1] = digest(wide:cumsum(2))
    list[#list + 1] = digest((gpu.histogram(flat, 50)))
    list[#list + 1] = digest(gpu.bincount((flat:abs() * 100):astype "int32"))
    list[#list + 1] = digest(x[x:gt(0)])
    list[#list + 1] = digest(x:softmax(2))
    list[#list + 1] = digest(gpu.cov(x "1:20"))
    list[#list + 1] = digest(gpu.rand(1001))
    for _, case in ipairs { { "gumbel", 1, 2 }, { "weibull", 2 }, { "integers", -5, 1000 } } do
      list[#list + 1] = digest(gpu.random[case[1] ](777, unpack(case, 2)))
    end
    return table.concat(list, " ")
  ]]

  it("are bitwise the same each time, in this process and in others", function()
    local run = assert(loadstring(digests))
    local first = run()
    assert(#first > 400)
    for _ = 1, 3 do assert.are.equal(first, run()) end
    for _ = 1, 2 do
      local output = support.run("print((function() " .. digests .. " end)())", "GPULUA_DEVICE=" .. gpu.device().name)
      assert.are.equal(first, output:match "(%x[%x ]*)\n$") -- after the warning of many kernels
    end
  end)
end)

-- Traces, as another reader sees them: JSON, the rules of the Trace Event Format, and what a known script must have left.
local gpu = require "gpu"
local support = require "support"
local reader = require "trace_reader"
local fails = support.fails

local on_gpu = gpu.device().kind ~= "cpu"

local function this_line() return debug.getinfo(2, "l").currentline end

--- The trace of fn(...), and its results.
local function traced(fn, ...)
  local path = os.tmpname()
  local results = { gpu.profiler.trace(path, fn, ...) }
  local trace = reader.read(path)
  os.remove(path)
  return trace, unpack(results)
end

local function saxpy_source(name)
  return ([[extern "C" __global__ void %s(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
  }]]):format(name)
end

--- The one item of a list.
local function only(list)
  assert.are.equal(1, #list)
  return list[1]
end

describe("a trace", function()
  it("has each launch once, with its name, line, grid and block, and an arrow to it", function()
    local saxpy = gpu.kernel(saxpy_source "traced_saxpy", "traced_saxpy")
    local x, y = gpu.ones(1000):eval(), gpu.zeros(1000)
    y:fill_(0)
    local line
    local trace, sum = traced(function(scale)
      for i = 1, 3 do
        saxpy { grid = { 4, 2 }, block = 256 }(scale * i, x, y, 1000) line = this_line()
      end
      return scale
    end, 2)
    assert.are.equal(2, sum)
    local kernels, calls = reader.slices(trace, "kernel"), reader.slices(trace, "launch")
    assert.are.equal(3, #kernels)
    assert.are.equal(3, #calls)
    for i, kernel in ipairs(kernels) do
      assert.are.equal("traced_saxpy", kernel.name)
      assert.are.equal("launch traced_saxpy", calls[i].name)
      assert.are.same({ 4, 2, 1 }, kernel.args.grid)
      assert.are.same({ 256, 1, 1 }, kernel.args.block)
      for _, slice in ipairs { kernel, calls[i] } do
        assert(slice.args.line:find("trace_spec.lua:" .. line, 1, true), slice.args.line)
      end
      for _, time in ipairs { "start", "end" } do
        assert(kernel.args[time] == "measured" or on_gpu and kernel.args[time] == "estimated")
      end
      assert(reader.track(trace, kernel):find("^" .. gpu.device().name .. " stream %d$"))
      assert(reader.track(trace, calls[i]):find "^host thread %d+$")
    end
    local flows = {}
    for _, event in ipairs(trace.events) do
      if event.ph == "s" then flows[event.ts] = event.id end
    end
    for _, call in ipairs(calls) do assert(flows[call.ts], "a launch without an arrow") end
  end)

  it("has no events for most kernels that follow one another and are quick, and their times all the same", function()
    local saxpy = gpu.kernel(saxpy_source "dense_saxpy", "dense_saxpy")
    local x, y = gpu.ones(32):eval(), gpu.zeros(32)
    y:fill_(0)
    local launch = saxpy { grid = 1, block = 32 }
    local slow = gpu.kernel([[extern "C" __global__ void wait_long(float* y, long long cycles) {
      long long start = clock64();
      while (clock64() - start < cycles) {}
      y[0] += 1;
    }]], "wait_long") { grid = 1, block = 1 }
    slow(y, 0)
    gpu.sync()
    local count = 2000
    local trace = traced(function()
      for _ = 1, count do launch(1, x, y, 32) end
      slow(y, on_gpu and 2e7 or 0)
      gpu.sync()
    end)
    local kernels = reader.slices(trace, "kernel")
    assert.are.equal(count + 1, #kernels)
    local estimated, last = 0, 0
    for _, kernel in ipairs(kernels) do
      assert(kernel.ts >= last - 0.002 and kernel.dur >= 0)
      last = kernel.ts + kernel.dur
      if kernel.args["end"] == "estimated" then estimated = estimated + 1 end
    end
    if on_gpu then
      assert(estimated > count / 4, estimated)
      -- More than 5 ms, whatever the GPU's clock.
      assert(kernels[count + 1].name == "wait_long" and kernels[count + 1].dur > 5000)
    else
      assert.are.equal(0, estimated)
    end
  end)

  it("has the script's lines as slices of a track", function()
    local first, last
    local trace = traced(function()
      for _ = 1, 5 do
        gpu.ones(10):sum():item() first = this_line()
      end
      gpu.zeros(10):sum():item() last = this_line()
    end)
    local lines = reader.slices(trace, "line")
    local found = {}
    for _, slice in ipairs(lines) do
      assert.are.equal("Lua lines", reader.track(trace, slice))
      found[#found + 1] = tonumber(slice.name:match "trace_spec.lua:(%d+)$")
    end
    assert.are.equal(first, found[1])
    assert.are.equal(last, found[2])
  end)

  it("has copies with their bytes and directions", function()
    local trace = traced(function()
      local x = gpu.array(support.series(1000, function(i) return i end), "float32")
      x:copy():table()
    end)
    local directions = {}
    for _, slice in ipairs(reader.slices(trace, "copy")) do
      if slice.args.direction then directions[slice.args.direction] = slice end
    end
    for _, direction in ipairs { "host to device", "device to device", "device to host" } do
      assert.are.equal(4000, directions[direction].args.bytes)
    end
    assert(#reader.slices(trace, "wait") > 0)
  end)

  it("has the bytes and the bandwidth of expressions", function()
    local x = gpu.ones(100000):eval()
    local trace = traced(function() return x + 1 end)
    local kernel = only(reader.slices(trace, "kernel"))
    assert.are.equal(800000, kernel.args.bytes)
    support.near(800 / kernel.dur, kernel.args["GB/s"], 1e-2)
  end)

  it("has compilations, which a second run does not have", function()
    local source = saxpy_source("traced_at_" .. os.time() .. "_" .. math.random(1e9))
    local name = source:match "void ([%w_]+)"
    local function work()
      local kernel = gpu.kernel(source, name)
      kernel { grid = 1, block = 32 }(1, gpu.ones(32), gpu.zeros(32), 32)
    end
    local compiled = {}
    for _, slice in ipairs(reader.slices(traced(work), "compilation", "compile " .. name)) do
      support.near(slice.dur / 1e3, slice.args.ms, 1e-3)
      compiled[#compiled + 1] = slice.args.from
    end
    assert(#compiled > 0 and compiled[1] == "compiler")
    for _, slice in ipairs(reader.slices(traced(work), "compilation")) do assert.are.equal("cache", slice.args.from) end
    local kernel = gpu.kernel(source, name)
    local x, y = gpu.ones(32):eval(), gpu.zeros(32)
    y:fill_(0)
    assert.are.equal(0, #reader.slices(traced(function() kernel { grid = 1, block = 32 }(1, x, y, 32) end), "compilation"))
  end)

  it("has the compilation of a Lua function that is a kernel, and a profile too", function()
    local kernel = gpu.jit(function(x)
      local i = gpu.grid()
      if i <= #x then x[i] = x[i] * 3 + 5 end
    end)
    local x, rows = gpu.ones(100):eval(), nil
    local trace = traced(function()
      rows = gpu.profile(function() kernel:over(#x)(x) end)
    end)
    assert.are.equal("compile jit", only(reader.slices(trace, "compilation")).name)
    assert(rows[1].compilation > 0)
  end)

  it("has the kernels of a graph in its launch", function()
    local x = gpu.ones(1000):eval()
    local graph = gpu.graph(function(a) return (gpu.cumsum(a) * 2):sum() end, x)
    local trace = traced(function()
      for _ = 1, 2 do graph:launch() end
    end)
    local graphs = reader.slices(trace, "graph", "gpu.graph")
    assert.are.equal(2, #graphs)
    assert(graphs[1].args.kernels[1]:find "scan" and #graphs[1].args.kernels == #graphs[2].args.kernels)
  end)

  it("has the calls of libraries", function()
    local a = gpu.ones { 40, 40 }:eval()
    local trace = traced(function() return a:matmul(a) end)
    assert.are.equal("gemm", only(reader.slices(trace, "library")).name)
    assert.are.equal("gemm", only(reader.slices(trace, "call")).name)
  end)

  it("has a track for each stream", function()
    local streams = { gpu.stream(), gpu.stream() }
    local x = gpu.ones(1000):eval()
    gpu.sync()
    local trace = traced(function()
      for _, stream in ipairs(streams) do gpu.with(stream, function() (x + 1):eval() end) end
    end)
    local tracks = {}
    for _, kernel in ipairs(reader.slices(trace, "kernel")) do tracks[reader.track(trace, kernel)] = true end
    local count = 0
    for _ in pairs(tracks) do count = count + 1 end
    assert.are.equal(2, count)
  end)

  it("has times that agree with the host's clock", function()
    local x = gpu.ones(2000000):eval()
    gpu.exp(x):sum():item()
    local host
    local trace = traced(function()
      local start = gpu.clock()
      gpu.exp(x):sum():item()
      host = gpu.clock() - start
    end)
    local first, last = math.huge, 0
    for _, slice in ipairs(trace.slices) do
      if slice.cat == "kernel" then first, last = math.min(first, slice.ts), math.max(last, slice.ts + slice.dur) end
    end
    assert(last - first <= host * 1e3 + trace.clock_error)
    local calls = reader.slices(trace, "launch")
    assert(first >= calls[1].ts - trace.clock_error)
  end)

  it("passes results and errors on, and is written for both", function()
    local path = os.tmpname()
    local a, b, c = gpu.profiler.trace(path, function(...) return ... end, 1, nil, "x")
    assert(a == 1 and b == nil and c == "x")
    fails("trace_spec.lua", gpu.profiler.trace, path, function()
      gpu.ones(10):sum():item()
      error "oops"
    end)
    fails("oops", gpu.profiler.trace, path, function()
      gpu.ones(10):sum():item()
      error "oops"
    end)
    assert(#reader.slices(reader.read(path), "kernel") > 0)
    fails("[index]", gpu.profiler.trace, path, function()
      return gpu.take(gpu.ones(3), gpu.array({ 7 }, "int32"))
    end)
    reader.read(path)
    os.remove(path)
  end)

  it("can be within another, and beside a profile", function()
    local inner
    local rows
    local x = gpu.ones(100):eval()
    gpu.sqrt(x):eval()
    local outer = traced(function()
      gpu.sqrt(x):eval()
      inner = traced(function()
        rows = gpu.profile(function() gpu.sqrt(x):eval() end)
      end)
      gpu.sqrt(x):eval()
    end)
    assert.are.equal(1, #reader.slices(inner, "kernel"))
    assert.are.equal(3, #reader.slices(outer, "kernel"))
    local kernel = only(reader.slices(inner, "kernel"))
    assert.are.equal(rows[1].name, kernel.name)
    support.near(kernel.dur / 1e3, rows[1].time, 1e-4)
    assert.are.equal("measured", kernel.args.start)
  end)

  it("escapes names, of files and ranges too", function()
    local directory = os.tmpname()
    os.remove(directory)
    os.execute("mkdir " .. directory)
    local path = directory .. '/a "b" \\c.lua'
    support.write(path, "local gpu = require 'gpu' return function() gpu.ones(10):sum():item() end")
    local work = dofile(path)
    local trace = traced(function()
      work()
      gpu.annotate('quoted "name"\n\1 \255 \237\160\128 \195\164', work)
    end)
    os.execute("rm -r " .. directory)
    local range = only(reader.slices(trace, "range"))
    assert.are.equal('quoted "name"\n\1 \239\191\189 ' .. ("\239\191\189"):rep(3) .. " \195\164", range.name)
    local kernel = reader.slices(trace, "kernel")[1]
    assert(kernel.args.line:find('/a "b" \\c.lua:1', 1, true), kernel.args.line)
  end)

  it("keeps the newest events, and says what it has dropped", function()
    local output = support.run(([[
      package.path = %q
      local reader = require "trace_reader"
      local path = os.tmpname()
      gpu.profiler.trace(path, function()
        for i = 1, 2 ^ 18 + 10 do
          gpu.range_push "r"
          gpu.range_pop()
        end
      end)
      local file = io.open(path)
      local text = file:read "*a"
      file:close()
      os.remove(path)
      print(select(2, text:gsub('"cat":"range"', "")), text:match '"name":"(%%d+ earlier events dropped)"')
    ]]):format(package.path), "GPULUA_DEVICE=" .. gpu.device().name)
    assert(output:find("262144\t10 earlier events dropped", 1, true), output)
    assert(output:find("has the last 262144 events; 10 earlier ones were dropped", 1, true), output)
  end)

  it("refuses a file that cannot be written, before the function runs", function()
    local ran = false
    local function work() ran = true end
    fails('[profiler.trace] expected a file that can be written, got "/no/such/folder/t.json": No such file or directory',
      gpu.profiler.trace, "/no/such/folder/t.json", work)
    fails("Is a directory", gpu.profiler.trace, "/tmp", work)
    fails("[profiler.trace] expected the name of the trace's file first, a string, got a function", gpu.profiler.trace, work)
    fails("[profiler.trace] expected a function to run, got nil", gpu.profiler.trace, "x.json")
    assert(not ran)
    local output, status = support.run 'gpu.profiler.trace("/dev/full", function() end)'
    assert(status == 1 and output:find('[profiler.trace] "/dev/full" cannot be written: No space left on device', 1, true), output)
  end)

  it("is refused while a graph is recorded", function()
    local path = os.tmpname()
    local x = gpu.ones(10):eval()
    fails("[graph] expected a function whose work can be recorded, got one that starts a trace", gpu.graph, function(a)
      return gpu.profiler.trace(path, function() return a + 1 end)
    end, x)
    os.remove(path)
    assert.are.equal(1, #reader.slices(traced(function() return x + 1 end), "kernel"))
  end)
end)

describe("--trace", function()
  local function run(options, script)
    local folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir " .. folder)
    support.write(folder .. "/script.lua", script)
    local pipe = io.popen(("cd %s && GPULUA_DEVICE=%s %s --trace t.json %s script.lua 2>&1; echo status $?; ls"):format(
      folder, gpu.device().name, support.command(), options))
    local output, status, files = pipe:read("*a"):match "^(.*)status (%d+)\n(.*)$"
    pipe:close()
    local trace = files:find "t.json" and reader.read(folder .. "/t.json")
    os.execute("rm -r " .. folder)
    return trace, tonumber(status), output, files
  end

  it("traces a script that ends, fails or exits", function()
    for ending, expected in pairs { [""] = 0, ["error 'oops'"] = 1, ["os.exit(3)"] = 3 } do
      local trace, status = run("", "gpu.ones(10):sum():item() " .. ending)
      assert.are.equal(expected, status)
      assert.are.equal("script.lua:1", reader.slices(trace, "kernel")[1].args.line)
      for _, name in pairs(trace.processes) do assert.are.equal("gpulua", name) end
    end
  end)

  it("makes one trace of all ranks, on one clock", function()
    local trace, status, output, files = run("--ranks 3", [[
      local x = gpu.ones(100):eval()
      gpu.comm.barrier()
      gpu.annotate("part " .. gpu.comm.rank, function() gpu.comm.all_reduce(x):sum():item() end)
    ]])
    assert(status == 0, output)
    assert(not files:find "rank", files)
    local names = {}
    for _, name in pairs(trace.processes) do names[#names + 1] = name end
    table.sort(names)
    assert.are.same({ "rank 0", "rank 1", "rank 2" }, names)
    local latest_begin, earliest_end = 0, math.huge
    for pid, name in pairs(trace.processes) do
      local range = only(reader.slices(trace, "range", "part " .. name:match "%d"))
      assert.are.equal(pid, range.pid)
      local found = false
      for _, slice in ipairs(reader.slices(trace, "collective")) do found = found or slice.pid == pid and slice.args.bytes == 400 end
      assert(found, "no collective of " .. name)
      latest_begin, earliest_end = math.max(latest_begin, range.ts), math.min(earliest_end, range.ts + range.dur)
    end
    assert(latest_begin < earliest_end, "the ranks' collective is not at one time")
  end)

  it("tells of a rank that was ended before it wrote", function()
    local trace, _, output = run("--ranks 2", [[
      gpu.ones(10):sum():item()
      if gpu.comm.rank == 1 then require("ffi").cdef "int raise(int);" require("ffi").C.raise(9) end
    ]])
    assert(output:find "rank 1 has written no trace", output)
    local count = 0
    for _ in pairs(trace.processes) do count = count + 1 end
    assert.are.equal(1, count)
  end)
end)

describe("a range", function()
  it("holds the calls within, and ends with the one around it", function()
    local trace, result = traced(function()
      return gpu.annotate("outer", function(n)
        gpu.range_push "inner"
        gpu.range_push "innermost"
        gpu.ones(n):sum():item()
        return n
      end, 10)
    end)
    assert.are.equal(10, result)
    local outer = only(reader.slices(trace, "range", "outer"))
    local inner = only(reader.slices(trace, "range", "inner"))
    local innermost = only(reader.slices(trace, "range", "innermost"))
    local launch = reader.slices(trace, "launch")[1]
    local around = { outer, inner, innermost, launch }
    for i = 2, #around do
      assert.are.equal(outer.tid, around[i].tid)
      assert(around[i].ts >= around[i - 1].ts and around[i].ts + around[i].dur <= around[i - 1].ts + around[i - 1].dur + 1e-4)
    end
    fails("[range_pop] expected an open range, got none", gpu.range_pop)
  end)

  it("ends on errors, which are passed on", function()
    local trace = traced(function()
      fails("oops", gpu.annotate, "failing", function() error("oops", 0) end)
      gpu.annotate("next", function() end)
    end)
    local failing, after = only(reader.slices(trace, "range", "failing")), only(reader.slices(trace, "range", "next"))
    assert(failing.ts + failing.dur <= after.ts + 1e-4)
  end)

  it("that is open at the beginning or the end of a trace is cut", function()
    gpu.range_push "around"
    local trace = traced(function() gpu.range_push "open" end)
    gpu.range_pop()
    gpu.range_pop()
    assert(only(reader.slices(trace, "range", "around")).ts <= only(reader.slices(trace, "range", "open")).ts)
  end)

  it("nests with those of coroutines", function()
    local trace = traced(function()
      local other = coroutine.wrap(function() gpu.annotate("a", function() coroutine.yield() end) end)
      other()
      gpu.annotate("b", function() other() end)
      gpu.annotate("c", function() end)
    end)
    for _, name in ipairs { "a", "b", "c" } do only(reader.slices(trace, "range", name)) end
  end)

  it("is refused where it makes no sense", function()
    fails("[range_pop] expected an open range, got none: each range_pop ends one range_push", gpu.range_pop)
    fails("[range_pop] expected a range that range_push has begun in the function of gpu.annotate, got 'mine'",
      gpu.annotate, "mine", function() gpu.range_pop() end)
    fails("[range_push] expected the range's name, a string, got nil", gpu.range_push)
    fails("[annotate] expected the range's name first, a string, got a function", gpu.annotate, function() end)
    fails("[annotate] expected a function to run, got nil", gpu.annotate, "name")
    local output = support.run 'for i = 1, 1001 do gpu.range_push("step " .. i) end'
    assert(output:find("[range_push] expected at most 1000 open ranges, got another one, 'step 1001', in 'step 1000'", 1, true), output)
  end)
end)

describe("gpu.profiler", function()
  it("starts and stops, with or without a tool", function()
    gpu.profiler.stop()
    gpu.profiler.start()
    gpu.profiler.start()
    assert.are.equal(10, gpu.ones(10):sum():item())
    gpu.profiler.stop()
  end)
end)

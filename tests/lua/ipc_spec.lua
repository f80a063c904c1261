-- Arrays that several processes share: x:ipc_handle, gpu.from_ipc. The other process runs the lines that this one sends it.
local gpu = require "gpu"
local ffi = require "ffi"
local support = require "support"
local fails = support.fails

local on_cpu = gpu.device().name == "cpu"

local script_of_child = [[
gpu = require "gpu"
local replies = assert(io.open(os.getenv "IPC_REPLIES", "w"))
for line in io.lines() do
  local _, reply = pcall(assert(load(line)))
  replies:write((tostring(reply):gsub("%s+", " ")), "\n")
  replies:flush()
end
]]

describe("shared memory", function()
  local children = {}

  --- Another process: child(code) runs the code there and gives what it returns, as a text. child.pid is its number.
  local function new_child()
    local base = os.tmpname()
    local child = { script = base .. ".lua", fifo = base .. ".replies", base = base }
    support.write(child.script, script_of_child)
    assert(os.execute("mkfifo " .. child.fifo) == 0)
    child.lines = io.popen(("IPC_REPLIES=%s GPULUA_DEVICE=%s exec %s %s"):format(child.fifo, gpu.device().name, support.command(),
      child.script), "w")
    child.replies = assert(io.open(child.fifo))
    children[#children + 1] = child
    setmetatable(child, {
      __call = function(_, code)
        child.lines:write((code:gsub("\n%s*", " ")), "\n")
        child.lines:flush()
        return child.replies:read "*l"
      end,
    })
    child.pid = tonumber(child [[return io.open("/proc/self/stat"):read "*n"]])
    return child
  end

  after_each(function()
    for _, child in ipairs(children) do
      child.lines:close()
      child.replies:close()
      for _, path in ipairs { child.script, child.fifo, child.base } do os.remove(path) end
    end
    children = {}
  end)

  local own_pid = io.open("/proc/self/stat"):read "*n"

  --- Open files of the process; of this one without a number.
  local function descriptors(pid)
    local list = io.popen(("ls /proc/%d/fd | wc -l"):format(pid or own_pid))
    local count = tonumber(list:read "*a")
    list:close()
    return count
  end

  it("is the same for two processes: each reads what the other has written", function()
    local child = new_child()
    local x = gpu.zeros(3, 4)
    local handle = x:ipc_handle()
    assert.equal("float32 3 4 0", child(("x = gpu.from_ipc %q return x.dtype .. ' ' .. table.concat(x.shape, ' ') .. ' ' .. x:sum():item()")
      :format(handle)))
    x:copy_(gpu.arange(12):reshape(3, 4))
    gpu.sync()
    assert.equal("66", child "return x:sum():item()")
    child "x[{2}]:fill_(-1) gpu.sync()"
    assert.same({ { 0, 1, 2, 3 }, { -1, -1, -1, -1 }, { 8, 9, 10, 11 } }, x:table())
    child "x:add_(1) gpu.sync()"
    assert.equal(52, x:sum():item())
  end)

  it("stays on the device that has it, whatever the other process's own device is", function()
    local others = {}
    for _, device in ipairs(gpu.devices()) do
      if device.name ~= gpu.device().name and device.name ~= "cpu" then others[#others + 1] = device.name end
    end
    if #others == 0 then pending "needs a second GPU" end
    local child = new_child()
    for _, device in ipairs(others) do
      local x = gpu.arange(1000, { device = device })
      assert.equal(device .. " 499500 " .. gpu.device().name, child((
        "x = gpu.from_ipc %q own = x:to(gpu.device().name) x:add_(1) gpu.sync() return x.device .. ' ' .. own:sum():item() .. ' ' .. own.device"):format(
        x:ipc_handle())))
      assert.equal(500500, x:sum():item())
    end
  end)

  it("has arrays of every dtype", function()
    local child = new_child()
    for _, dtype in ipairs { "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
      "float64", "complex64", "complex128" } do
      local x = gpu.array({ 0, 1, 1, 0, 1 }):astype(dtype)
      assert.equal(dtype .. " 0,1,1,0,1", child(("x = gpu.from_ipc %q return x.dtype .. ' ' .. table.concat(x:real():astype('int32'):table(), ',')")
        :format(x:ipc_handle())))
    end
    local z = gpu.array { 1, 2 } + gpu.array { 3, 4 } * gpu.complex(0, 1)
    assert.equal("3 7", child(("z = gpu.from_ipc %q return z:real():sum():item() .. ' ' .. z:imag():sum():item()"):format(z:ipc_handle())))
  end)

  it("has views, with their strides and offsets, in one block", function()
    local child = new_child()
    local x = gpu.arange(24):reshape(4, 6):copy()
    local views = { x, x[{ { 2, 3 }, { 2, -1, 2 } }], x.T, x[{ { -1, 1, -1 } }], x[{ 3 }], x:reshape(24)[{ 10 }] }
    support.used() -- collects what the tests before have left
    local before = descriptors()
    for i, view in ipairs(views) do
      local text = child(("v = gpu.from_ipc %q return tostring(v.shape) .. tostring(v.strides) .. ' ' .. table.concat(v:flatten():table(), ',')")
        :format(view:ipc_handle()))
      local flat = view:flatten():table()
      assert.equal(tostring(view.shape) .. tostring(view.strides) .. " " .. table.concat(flat, ","), text, "view " .. i)
    end
    assert.is_true(descriptors() < before + #views)
    child(("v = gpu.from_ipc %q v:fill_(-5) gpu.sync()"):format(x[{ { 1, 4 }, 1 }]:ipc_handle()))
    assert.same({ -5, -5, -5, -5 }, x[{ { 1, 4 }, 1 }]:table())
    assert.equal(-5, views[5][1])
  end)

  it("does not change the array: its other views follow, and a second call gives the same handle", function()
    local x = gpu.arange(10)
    local view, expression = x[{ { 3, 5 } }], x + 1
    local handle = x:ipc_handle()
    assert.equal(handle, x:ipc_handle())
    assert.is_true(view:ipc_handle() ~= handle)
    x:fill_(7)
    assert.same({ 7, 7, 7 }, view:table())
    assert.equal(55, expression:sum():item())
    assert.is_truthy(handle:find "^[%w/:.,%-]+$", handle)
  end)

  it("is one buffer for all arrays of a process over it, its own too", function()
    local x = gpu.arange(6):copy()
    local same, other = gpu.from_ipc(x:ipc_handle()), gpu.from_ipc(x[{ { 2, 4 } }]:ipc_handle() .. "\n")
    local waiting = same + 1
    other:fill_(0)
    assert.same({ 0, 0, 0, 0, 4, 5 }, x:table())
    assert.same({ 1, 2, 3, 4, 5, 6 }, waiting:table())
    local child = new_child()
    child(("x = gpu.from_ipc %q w = x + 1"):format(x:ipc_handle()))
    local before = descriptors(child.pid)
    child(("y = gpu.from_ipc %q"):format(other:ipc_handle()))
    assert.equal(before, descriptors(child.pid))
    child "y:fill_(3) gpu.sync()"
    assert.equal("1,1,1,1,5,6", child "return table.concat(w:table(), ',')")
    assert.equal("0,3,3,3,4,5", child "return table.concat(x:table(), ',')")
  end)

  it("is read when a wait of the script ends, at the latest", function()
    local child = new_child()
    local x = gpu.ones(1000)
    child(("x = gpu.from_ipc %q s = x:sum() t = x * 2 gpu.sync()"):format(x:ipc_handle()))
    local sum = x:sum()
    gpu.comm.barrier()
    x:fill_(5)
    gpu.sync()
    assert.equal("1000 2000", child "return s:item() .. ' ' .. t:sum():item()")
    assert.equal("5000", child "return x:sum():item()")
    child "x:fill_(6) gpu.sync()"
    assert.equal(1000, sum:item())
    assert.equal(6000, x:sum():item())
  end)

  it("is read only for who asks for it so", function()
    local child = new_child()
    local x = gpu.ones(8)
    local code = ("x = gpu.from_ipc(%q, {read_only = true}) return x:sum():item()"):format(x:ipc_handle())
    assert.equal("8", child(code))
    assert.is_truthy(child "x:fill_(0)":find("lends for reading only", 1, true))
    assert.equal("8", child "return x:sum():item()")
    assert.is_truthy(child(("gpu.from_ipc %q"):format(x:ipc_handle())):find("expected read_only = true, as this script has the memory already", 1, true))
    fails("expected read_only = false, as this script has the memory already, got true", gpu.from_ipc, x:ipc_handle(), { read_only = true })
    fails("[from_ipc] expected", gpu.from_ipc, x:ipc_handle(), { readonly = true })
  end)

  it("has arrays without elements and without axes", function()
    local child = new_child()
    assert.equal("0 3", child(("return table.concat(gpu.from_ipc(%q).shape, ' ')"):format(gpu.zeros(0, 3):ipc_handle())))
    assert.equal("0", child(("return table.concat(gpu.from_ipc(%q).shape, ' ')"):format(gpu.ones(4)[{ { 3, 2 } }]:ipc_handle())))
    assert.equal("4.5", child(("return gpu.from_ipc(%q):item()"):format(gpu.array(4.5, "float64"):ipc_handle())))
  end)

  it("of a gigabyte is copied once, by the process that shares it", function()
    local child = new_child()
    local count = 250 * 1000 * 1000
    local x = gpu.full({ count }, 1, "float32")
    local handle = x:ipc_handle()
    gpu.trim()
    local before = gpu.memory().used
    assert.equal(tostring(count), child(("x = gpu.from_ipc %q return ('%%d'):format(x:astype('float64'):sum():item())"):format(handle)))
    assert.is_true(tonumber(child "return gpu.memory().used") < 1e6)
    if on_cpu then
      local anonymous = tonumber(child [[return io.open("/proc/self/status"):read("*a"):match "RssAnon:%s*(%d+)"]])
      assert.is_true(anonymous < 300 * 1000, anonymous .. " KB")
    end
    child "x[{1000}] = 9 gpu.sync()"
    assert.equal(9, x[1000])
    assert.equal(before, gpu.memory().used)
    x:free()
    gpu.trim()
  end)

  it("stays while a process has it, and is gone afterwards", function()
    local child = new_child()
    local x = gpu.full({ 5 }, 3)
    local handle = x:ipc_handle()
    child(("x = gpu.from_ipc %q"):format(handle))
    x:free()
    fails("or of an array that was freed", gpu.from_ipc, handle)
    local replaced = gpu.full({ 5 }, 8):eval()
    assert.equal("15", child "return x:sum():item()")
    child "x = nil collectgarbage() collectgarbage() gpu.sync()"
    assert.is_truthy(child(("return gpu.from_ipc %q"):format(handle)):find(("whose array process %d has freed"):format(own_pid), 1, true))
    assert.equal(40, replaced:sum():item())
  end)

  it("of a process that was killed stays for the others, and leaves nothing behind", function()
    local function shm()
      local list = io.popen "ls -A /dev/shm 2>/dev/null | sort"
      local text = list:read "*a"
      list:close()
      return text
    end
    local names = shm()
    local child = new_child()
    local handle = child "x = gpu.arange(100):astype('float32') return x:ipc_handle()"
    local x = gpu.from_ipc(handle)
    assert.equal(4950, x:sum():item())
    assert.equal(names, shm())
    assert(os.execute("kill -9 " .. child.pid) == 0)
    assert.is_nil(child.replies:read "*l")
    -- The system closes a process's files first.
    for _ = 1, 100 do
      if not pcall(gpu.from_ipc, handle) then break end
      os.execute "sleep 0.05"
    end
    fails(("[from_ipc] expected a handle of a process that runs, got one of process %d, which has ended"):format(child.pid), gpu.from_ipc, handle)
    if on_cpu then -- a GPU's driver frees what a process has allocated when it ends
      assert.equal(4950, x:sum():item())
      x:add_(1)
      assert.equal(5050, x:sum():item())
    end
    assert.equal(names, shm())
  end)

  it("leaves no file open", function()
    local child = new_child()
    local first = gpu.ones(4) -- opens what the devices keep open
    assert.equal("4", child(("return gpu.from_ipc(%q):sum():item()"):format(first:ipc_handle())))
    support.used()
    local ours, theirs = descriptors(), descriptors(child.pid)
    for i = 1, 200 do
      local x = gpu.full({ 100 }, i)
      assert.equal(tostring(100 * i), child(("x = gpu.from_ipc %q return x:sum():item()"):format(x:ipc_handle())))
      if i % 50 == 0 then
        child "x = nil collectgarbage() collectgarbage() gpu.sync()"
        x = nil
        support.used()
        gpu.sync()
        gpu.trim()
      end
    end
    child "x = nil collectgarbage() collectgarbage() gpu.sync()"
    support.used()
    gpu.sync()
    gpu.trim()
    assert.is_true(descriptors() <= ours + 3, "descriptors here") -- a register of Lua may still have an array
    assert.is_true(descriptors(child.pid) <= theirs + 3, "descriptors there")
  end)

  it("finds a damaged handle, whichever character was changed", function()
    local x = gpu.ones(3)
    local handle = x:ipc_handle()
    assert.equal(3, gpu.from_ipc(handle):sum():item())
    for i = 1, #handle do
      for _, other in ipairs { "0", "x", "/" } do
        if handle:sub(i, i) ~= other then
          fails("[from_ipc] expected a text of x:ipc_handle()", gpu.from_ipc, handle:sub(1, i - 1) .. other .. handle:sub(i + 1))
        end
      end
      fails("[from_ipc] expected a text of x:ipc_handle()", gpu.from_ipc, handle:sub(1, i - 1))
      fails("[from_ipc] expected a text of x:ipc_handle()", gpu.from_ipc, handle .. handle:sub(1, i))
    end
    fails('[from_ipc] expected a text of x:ipc_handle(), got "hello"', gpu.from_ipc, "hello")
    fails("[from_ipc] expected a text of x:ipc_handle(), got nil", gpu.from_ipc, nil)
    fails("[from_ipc] expected a text of x:ipc_handle(), got an array", gpu.from_ipc, x)
  end)

  it("is refused where somebody has the array's address, with what to do", function()
    local x = gpu.ones(4):eval()
    assert(x.pointer ~= 0)
    fails("whose address is with the script, or a texture: x:copy() makes one that can", x.ipc_handle, x)
    assert.equal(4, gpu.from_ipc(x:copy():ipc_handle()):sum():item())
    local lent = gpu.ones(4)
    local capsule = lent:dlpack()
    fails("whose address is with the host program", lent.ipc_handle, lent)
    assert(capsule:pointer() ~= 0)
    if on_cpu then
      local memory = ffi.new("float[4]")
      fails("whose address is with the host program, whose memory it is", gpu.ipc_handle, gpu.view(memory, 4, "float32"))
    end
    local child = new_child()
    local kept = gpu.ones(3)
    assert.is_truthy(child(("return gpu.from_ipc(%q):ipc_handle()"):format(kept:ipc_handle())):find(
      "whose address is with another process, whose memory it is", 1, true))
  end)

  it("is refused for arrays of recordings", function()
    local x, y = gpu.ones(4):eval(), gpu.zeros(4):eval()
    local graph = gpu.graph(function() y:copy_(x * 2) end)
    fails("whose address is with a recording, as of gpu.graph", x.ipc_handle, x)
    fails("whose address is with a recording, as of gpu.graph", y.ipc_handle, y)
    graph:launch()
    assert.equal(8, y:sum():item())
    fails("expected a call outside of gpu.fuse, gpu.graph and gpu.loop", gpu.graph, function() gpu.ones(3):ipc_handle() end)
    local fused = gpu.fuse(function(a) a:ipc_handle() return a end)
    fails("expected a call outside of gpu.fuse, gpu.graph and gpu.loop", fused, gpu.ones(3))
  end)

  it("of arrays that are freed or whose checks fail is an error", function()
    local x = gpu.ones(4)
    x:free()
    fails("[array] the array was freed", x.ipc_handle, x)
    local y = gpu.arange(4)[gpu.array({ 1, 9 }, "int32")]
    fails("9", y.ipc_handle, y)
    fails("has no derivative", gpu.grad(function(a) a:ipc_handle() return a:sum() end), gpu.ones(3))
  end)

  it("counts in the process that has allocated it", function()
    local before = support.used()
    local x = gpu.ones(1e6):eval()
    local used = gpu.memory().used
    assert.is_true(used - before >= 4e6)
    x:ipc_handle()
    assert.equal(used, gpu.memory().used)
    x:free()
    assert.equal(before, support.used())
  end)

  it("is ordered with the streams of a process", function()
    local child = new_child()
    local stream = gpu.stream()
    local x = gpu.zeros(1e5)
    gpu.with(stream, function() for _ = 1, 20 do x:add_(1) end end)
    child(("x = gpu.from_ipc %q"):format(x:ipc_handle()))
    assert.equal("20", child "return x:max():item()")
    gpu.with(stream, function() x:fill_(2) end)
    stream:sync()
    assert.equal("2", child "return x:max():item()")
  end)

  it("goes between ranks by a barrier alone", function()
    local path = os.tmpname()
    support.write(path, [[
      local gpu = require "gpu"
      local comm = gpu.comm
      local x = comm.is_root and gpu.zeros(1000)
      local handle = comm.broadcast_object(x and x:ipc_handle())
      x = x or gpu.from_ipc(handle)
      local before = x:sum()
      comm.barrier()
      if not comm.is_root then x:add_(gpu.arange(1000)) end
      comm.barrier()
      comm.print(before:item(), x:sum():item())
    ]])
    local pipe = io.popen(("GPULUA_DEVICE=%s %s --ranks 2 %s 2>&1"):format(gpu.device().name, support.command(), path))
    local output = pipe:read "*a"
    pipe:close()
    os.remove(path)
    assert.is_truthy(output:find("0%s+499500"), output)
  end)

  it("works under the checker, which sees steps out of it", function()
    if not on_cpu then return pending "the checker is the cpu device's" end
    local output = support.run([[
      local gpu = require "gpu"
      gpu.check(true)
      local x = gpu.zeros(10)
      x:ipc_handle()
      local k = gpu.kernel("__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 3; }", "k")
      k { grid = 1, block = 32 }(x, 10)
      print(x:sum():item())
      k { grid = 1, block = 32 }(x, 11)
      print(x:sum():item())
    ]], "GPULUA_DEVICE=cpu")
    assert.is_truthy(output:find("^30\n"), output)
    assert.is_truthy(output:find("k", 1, true), output)
    assert.is_nil(output:find("\n33\n", 1, true), output)
  end)

  it("has the pattern behind it that finds a kernel's write past the end", function()
    if not on_cpu then return pending "a GPU's memory has no pattern" end
    local output, status = support.run([[
      local gpu = require "gpu"
      local x = gpu.zeros(10)
      x:ipc_handle()
      gpu.kernel("__global__ void k(float* x) { x[threadIdx.x] = 3; }", "k") { grid = 1, block = 11 }(x)
    ]], "GPULUA_DEVICE=cpu")
    assert.is_truthy(output:find("kernel 'k' has written past the end of an array of 40 bytes", 1, true), output)
    assert.equal(1, status)
  end)
end)

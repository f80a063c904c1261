-- Sizes, positions and counts at the limits of arrays, 32-bit words and numbers.
local gpu = require "gpu"
local support = require "support"

local fails = support.fails
local on_cuda = gpu.zeros(1).device:find "^cuda" ~= nil
local folder = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or "."

describe("the most elements that an array has", function()
  it("are 2^53, views included", function()
    assert.are.equal(2 ^ 53, gpu.broadcast_to(gpu.ones(1), 2 ^ 53).size)
    assert.are.equal(2 ^ 53, gpu.broadcast_to(gpu.ones(1), 2 ^ 30, 2 ^ 23).size)
    assert.are.same({ 2 ^ 53, 0 }, gpu.zeros(2 ^ 53, 0).shape)
    local function refuses(op, shape, fn, ...)
      fails(("[%s] expected a shape of at most 2^53 elements, got %s"):format(op, shape), fn, ...)
    end
    for name, size in pairs { ["(9007199254740994,)"] = 2 ^ 53 + 2, ["(2305843009213694464,)"] = 2 ^ 61 + 512,
      ["(9223372036854774784,)"] = 2 ^ 63 - 1024 } do
      for _, op in ipairs { "empty", "zeros", "ones", "rand", "randn" } do refuses(op, name, gpu[op], size) end
      refuses("broadcast_to", name, gpu.broadcast_to, gpu.ones(1), size)
      refuses("full", name, gpu.full, { size }, 1)
    end
    refuses("empty", "(2147483648,2147483648)", gpu.empty, 2 ^ 31, 2 ^ 31)
    refuses("zeros", "(2147483648,0,2147483648)", gpu.zeros, 2 ^ 31, 0, 2 ^ 31)
    refuses("zeros", "(4294967296,4294967296)", gpu.zeros, { 2 ^ 32, 2 ^ 32 }, "complex128") -- 2^64 elements wrap to none
    refuses("reshape", "(2147483648,2147483648,0)", gpu.reshape, gpu.zeros(0), 2 ^ 31, 2 ^ 31, 0)
  end)

  it("hold for what is computed too", function()
    local long = gpu.broadcast_to(gpu.ones(1), 2 ^ 53)
    local function refuses(fn) fails("expected a shape of at most 2^53 elements", fn) end
    refuses(function() return long:expand_dims(1) + gpu.ones(2, 1) end)
    refuses(function() return gpu.zeros(2 ^ 31, 0):matmul(gpu.zeros(0, 2 ^ 31)) end)
    refuses(function() return gpu.broadcast_to(gpu.ones(1), 2 ^ 28):sliding_window(2 ^ 27) end)
    refuses(function() return gpu.meshgrid(gpu.zeros(2 ^ 27), gpu.broadcast_to(gpu.ones(1), 2 ^ 27)) end)
    refuses(function() return gpu.elementwise { inputs = "raw float32 x", outputs = "float64 y", body = "y = 1;" } (gpu.ones(3), { size = 2 ^ 61 + 512 }) end)
    refuses(function() return gpu.stack { long, long } end)
  end)

  it("are more than memory has: that is an error, not a small buffer", function()
    for _, dtype in ipairs { "bool", "float32", "complex128" } do
      fails("[memory] out of memory", gpu.empty, 2 ^ 53, dtype)
      fails("[memory] out of memory", gpu.zeros, 2 ^ 26, 2 ^ 27, dtype)
    end
    local long = gpu.broadcast_to(gpu.ones(1), 2 ^ 53)
    fails("[memory] out of memory", long.copy, long)
    fails("[memory] out of memory", gpu.cumsum, long)
    fails("[memory] out of memory", gpu.eval, long + 1)
    fails("expected an array of at most 67108864 elements", long.table, long)
    fails("expected work for at most 2147483647 blocks of threads", function() return long:sum():item() end)
    assert.are.equal(1, long[2 ^ 53])
    assert.are.same({ 1, 1 }, long({ 2 ^ 53, 1, 1 - 2 ^ 53 }):table())
    assert.are.equal(2 ^ 55, long.nbytes)
  end)
end)

describe("ranges of numbers", function()
  it("have as many elements as they are long", function()
    for _, n in ipairs { 2 ^ 53 + 2, 2 ^ 61, 2 ^ 63, 1e300 } do
      fails("[arange] expected a range of at most 2^53 elements, got", gpu.arange, n)
      fails("[arange] expected a range of at most 2^53 elements, got", gpu.arange, 0, -n, -1)
      fails("[arange] expected a range of at most 2^53 elements, got", gpu.arange, 0, 1, 1 / n)
      fails("[range] expected a range of at most 2^53 elements, got", gpu.range, 1, n + 4)
      fails("expected a shape of at most 2^53 elements", gpu.linspace, 0, 1, math.min(n, 2 ^ 63 - 1024))
    end
    fails("expected finite numbers", gpu.arange, 1 / 0)
    fails("[memory] out of memory", gpu.arange, 2 ^ 53)
    for _, n in ipairs { 2 ^ 31, 2 ^ 32 + 1 } do
      assert.are.equal(n, gpu.arange(n).size)
      assert.are.equal(n, gpu.range(1, n).size)
      assert.are.equal(0, gpu.arange(n, 0).size)
      assert.are.equal(1, gpu.arange(n - 1, n).size)
      assert.are.equal(n - 1, gpu.arange(n - 1, n)[1])
    end
    assert.are.same({ 2 ^ 62 }, gpu.arange(2 ^ 62, 2 ^ 62 + 1024, 1024):astype("float64"):table())
  end)
end)

describe("indices", function()
  -- The elements that NumPy's rules give for a range that includes both ends, one by one.
  local function selected(n, first, last, step)
    local function resolved(position, open) return position == nil and open or position > 0 and position or n + 1 + position end
    local result = {}
    if step > 0 then
      local at = math.max(resolved(first, 1), 1)
      while at <= math.min(resolved(last, n), n) do
        result[#result + 1] = at
        at = at + step
      end
    else
      local at = math.min(resolved(first, n), n)
      while at >= math.max(resolved(last, 1), 1) do
        result[#result + 1] = at
        at = at + step
      end
    end
    return result
  end
  local extremes = { "", "-9223372036854775808", "-9223372036854775807", "-4611686018427387904", "-4294967296", "-5", "-2", "1", "2", "6",
    "2147483647", "4294967297", "9223372036854775807" }

  it("with any first, last and step are NumPy's", function()
    for n = 0, 5, 5 do
      local x = gpu.range(1, n)
      for _, first in ipairs(extremes) do
        for _, last in ipairs(extremes) do
          for _, step in ipairs(extremes) do
            local text = first .. ":" .. last .. ":" .. step
            local view = x(text)
            local expected = selected(n, tonumber(first), tonumber(last), tonumber(step) or 1)
            if view.size ~= #expected then error(("%s of %d: %d elements, not %d"):format(text, n, view.size, #expected)) end
          end
        end
      end
    end
    local x = gpu.range(1, 5)
    assert.are.same({ 5 }, x("::-9223372036854775808"):table())
    assert.are.same({ 1 }, x("::9223372036854775807"):table())
    assert.are.same({ 5, 3, 1 }, x("9223372036854775807:-9223372036854775808:-2"):table())
    assert.are.same({ 2, 4 }, x { 2, 9223372036854775807LL, 2 }:table())
    assert.are.same({}, x { 1, -9223372036854775807LL - 1 }:table())
    x["::-9223372036854775808"] = 7
    assert.are.same({ 1, 2, 3, 4, 7 }, x:table())
  end)

  it("out of range are errors, however far", function()
    local x = gpu.range(1, 5)
    for _, position in ipairs { "6", "-6", "9223372036854775807", "-9223372036854775808" } do
      fails("[index] " .. position .. " is out of range for axis 1 of 5 elements", function() return x[position] end)
    end
    fails("is out of range", function() return x[2 ^ 53] end)
    fails("[index] expected", function() return x[2 ^ 63] end)
    fails("[index] expected", function() return x "9223372036854775808:" end)
    fails("[index] expected", function() return x "1 2:3" end)
    for _, position in ipairs { 2 ^ 31, 2 ^ 32 + 1, 2 ^ 53 } do
      fails("is out of range", function() return x:take(gpu.array({ position }, "int64")):table() end)
      fails("is out of range", function() return x:take(gpu.array({ -position }, "int64")):table() end)
    end
    local square = gpu.ones(3, 3)
    assert.are.equal(0, square:diagonal(-9223372036854775807LL - 1).size)
    assert.are.equal(0, square:diagonal(9223372036854775807LL).size)
  end)
end)

describe("launches", function()
  it("of more than a device takes are errors", function()
    local k = gpu.kernel("__global__ void k(int* x) { x[0] = 1; }", "k")
    for _, n in ipairs { 2 ^ 31, 2 ^ 32, 2 ^ 32 + 1, 2 ^ 53, 2 ^ 61, 2 ^ 63, 1e300 } do
      local function refuses(options) fails("[", function() k(options) end) end
      refuses { grid = n, block = 1 }
      refuses { grid = { 1, n }, block = 1 }
      refuses { grid = { 1, 1, n }, block = 1 }
      refuses { grid = 1, block = n }
      refuses { grid = 1, block = { 1, n, n } }
      refuses { grid = 1, block = 1, shared = n }
      fails("[occupancy]", k.occupancy, k, n)
      if n >= 2 ^ 53 then fails("[over] expected", k.over, k, n) end
    end
  end)
end)

describe("copies to the host", function()
  it("have the sizes that FFI arrays and tables have", function()
    local long = gpu.broadcast_to(gpu.ones(1), 2 ^ 53)
    for _, n in ipairs { 2 ^ 29, 2 ^ 31 + 4, 2 ^ 32 + 4, 2 ^ 53 } do
      fails("[host] expected less than 2 GiB", long.host, long { 1, n })
      fails("[table] expected an array of at most 67108864 elements", long.table, long { 1, n })
    end
    for _, n in ipairs { 2 ^ 29, 2 ^ 31, 2 ^ 32 + 4, 2 ^ 53 } do fails("[pinned] expected", gpu.pinned, n) end
    assert.are.equal(2 ^ 20, #long({ 2 ^ 52, 2 ^ 52 + 2 ^ 20 - 1 }):table())
  end)
end)

describe("every function and method", function()
  -- A GPU's driver and a sanitizer reserve more addresses than any limit for the host allows.
  local limit = "ulimit -c 0; ulimit -v 8000000;"
  local is_limited = not on_cuda and os.execute(("(%s %s -e '') 2>/dev/null"):format(limit, support.command())) == 0
  local environment = is_limited and limit or ""
  it("raises or gives arrays that are what they say", function()
    local parts = 2
    local running = {}
    for part = 1, parts do
      running[part] = io.popen(("%s %s %s/size_sweep.lua %d %d 2>&1; echo status $?"):format(environment, support.command(), folder,
        part, parts))
    end
    for part = 1, parts do
      local output = running[part]:read "*a"
      running[part]:close()
      local failures = {}
      for line in output:gmatch "FAILED[^\n]*" do failures[#failures + 1] = line end
      assert.are.same({}, failures)
      assert.is_truthy(output:find "status 0\n$", "ended in " .. output:sub(-300))
    end
  end)
end)

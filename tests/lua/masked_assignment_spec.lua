-- x[mask] = value where the mask reads x. A mask that the assignment's line makes for it alone is not stored; every other mask
-- has the elements from before the assignment.
local gpu = require "gpu"
local support = require "support"
local same = support.same

local n = 1048576
local source = ((gpu.arange(n) * 7) % 1000 / 1000):astype("float32"):eval()
local expected = gpu.where(source:gt(0.5), 0.25, source):eval()
local selected = source:gt(0.5):eval()

local function bytes(fn)
  local total = 0
  for _, row in ipairs(gpu.profile(fn)) do total = total + row.bytes end
  return total / n
end

describe("a mask made for one assignment", function()
  it("is not stored", function()
    local x, t = source:copy(), { y = source:copy() }
    assert.are.equal(8, bytes(function()
      x[x:gt(0.5)] = 0.25
    end))
    same(expected, x)
    assert.are.equal(8, bytes(function()
      t.y[t.y:gt(0.5)] = 0.25
    end))
    same(expected, t.y)
    x:copy_(source)
    local value = gpu.array { 0.25 }
    assert.are.equal(8 + 4 / n, bytes(function()
      x[gpu.gt(x, 0.5)] = value
    end))
    same(expected, x)
    local grid = source:copy():reshape(1024, 1024)
    assert.are.equal(8, bytes(function()
      grid[grid:gt(0.5)] = 0.25
    end))
    same(expected:reshape(1024, 1024), grid)
    for i = 1, 70 do -- compiled, and in a coroutine
      x:copy_(source)
      coroutine.wrap(function()
        x[x:gt(0.5)] = 0.25
      end)()
    end
    same(expected, x)
  end)

  it("is right in gpu.fuse, gpu.graph, gpu.scope and under pcall", function()
    local function assign(x)
      x[x:gt(0.5)] = 0.25
      return x
    end
    local fused = gpu.fuse(assign)
    for _ = 1, 3 do
      local x = source:copy()
      fused(x)
      same(expected, x)
    end
    local y = source:copy()
    local graph = gpu.graph(function() assign(y) end)
    y:copy_(source)
    graph:launch()
    same(expected, y)
    y:copy_(source)
    gpu.scope(function() assign(y) end)
    same(expected, y)
    y:copy_(source)
    assert.is_true(pcall(assign, y))
    same(expected, y)
    local read_only = gpu.ones(1):broadcast_to(n)
    assert.is_false((pcall(assign, read_only)))
  end)
end)

describe("a mask that the script can still reach has the elements from before", function()
  local x
  before_each(function() x = source:copy() end)
  local function check(mask)
    same(selected, mask)
    same(expected, x)
  end

  it("in a local, also on the assignment's line", function()
    local m = x:gt(0.5)
    x[m] = 0.25
    check(m)
    x:copy_(source)
    local k = x:gt(0.5) x[k] = 0.25
    check(k)
  end)

  it("in an upvalue, a global, a field", function()
    local kept
    local function keep() kept = x:gt(0.5) return kept end
    x[keep()] = 0.25
    check(kept)
    x:copy_(source)
    local function one_line() local m = x:gt(0.5) kept = m x[m] = 0.25 end
    one_line()
    check(kept)
    x:copy_(source)
    a_global_mask = x:gt(0.5)
    x[a_global_mask] = 0.25
    check(a_global_mask)
    a_global_mask = nil
    x:copy_(source)
    local t = {}
    t.m = x:gt(0.5) x[t.m] = 0.25
    check(t.m)
  end)

  it("kept by a function of the same line, of the same name of a chunk, and by one called as the operation is", function()
    local kept
    local keep = function() kept = x:gt(0.5) return kept end x[keep()] = 0.25
    check(kept)
    x:copy_(source)
    local env = { x = x }
    local f = setfenv(assert(loadstring("m = x:gt(0.5) return m", "=same")), env)
    env.f = f
    setfenv(assert(loadstring("x[f()] = 0.25", "=same")), env)()
    check(env.m)
    x:copy_(source)
    local proxy = {}
    function proxy:gt(y) self.m = x:gt(y) return self.m end
    x[proxy:gt(0.5)] = 0.25
    check(proxy.m)
    x:copy_(source)
    local log = {}
    local function noted(...) log[#log + 1] = ... return ... end
    x[noted(x:gt(0.5))] = 0.25
    check(log[1])
    x:copy_(source)
    x[select(2, pcall(x.gt, x, 0.5))] = 0.25
    same(expected, x)
  end)

  it("where the line chooses among masks, or assigns twice", function()
    local m, z = nil, source:copy()
    for round = 1, 3 do
      x:copy_(source)
      m = m or x:gt(0.5)
      x[m or x:gt(0.5)] = 0.25
      check(m)
    end
    x:copy_(source)
    x[x:gt(0.5)], z[z:gt(0.5)] = 0.25, 0.25
    same(expected, x)
    same(expected, z)
    x:copy_(source)
    z:copy_(source)
    for _, array in ipairs { x, z } do array[array:gt(0.5)] = 0.25 end
    same(expected, z)
    same(expected, x)
  end)

  it("in another expression", function()
    local twice
    local function counted(mask) twice = mask:astype "int32" * 2 return mask end
    x[counted(x:gt(0.5))] = 0.25
    same(selected:astype "int32" * 2, twice)
    same(expected, x)
    x:copy_(source)
    local other = x * 2
    x[x:gt(0.5)] = 0.25
    same(source * 2, other)
    same(expected, x)
  end)

  it("seen by a debug hook is an error, not a wrong mask", function()
    local seen
    local function assign()
      x[x:gt(0.5)] = 0.25
    end
    debug.sethook(function()
      for level = 2, 4 do
        local frame = debug.getinfo(level, "f")
        for i = 1, frame and frame.func == assign and 9 or 0 do
          local _, value = debug.getlocal(level, i)
          if type(value) == "userdata" and not rawequal(value, x) then seen = value end
        end
      end
    end, "cr")
    assign()
    debug.sethook()
    same(expected, x)
    local ok, message = pcall(function() return seen:sum() end)
    assert(not ok and tostring(message):find("expected an array", 1, true), message)
  end)
end)

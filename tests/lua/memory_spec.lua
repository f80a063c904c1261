-- gpu.memory, its limit, gpu.scope.
local gpu = require "gpu"
local support = require "support"

local function line() return debug.getinfo(2, "l").currentline end

local function is_freed(x) return not pcall(x.table, x) end

describe("gpu.memory", function()
  it("counts what arrays hold", function()
    local before = support.used()
    local x = gpu.zeros(1000, 1000)
    local added = gpu.memory().used - before
    assert.is_true(added >= 4000000 and added < 4010000)
    assert.is_true(gpu.memory().peak >= before + added)
    x:free()
    assert.is_true(gpu.memory().used - before < 10000)
    x = nil
    assert.are.equal(before, support.used())
  end)

  it("counts a view's buffer once, and keeps it for the view", function()
    local before = support.used()
    local x = gpu.zeros(1000, 1000)
    local used = gpu.memory().used
    local v = x(1)
    assert.are.equal(used, gpu.memory().used)
    x = nil
    assert.are.equal(used, support.used())
    assert.are.equal(0, v:table()[1])
    v = nil
    assert.are.equal(before, support.used())
  end)

  it("goes back when what the collector takes is all there is", function()
    local before = support.used()
    for _ = 1, 100 do gpu.zeros(1000) end
    assert.are.equal(before, support.used())
  end)

  it("is given back by x:free() after pending operations have read it", function()
    local x = gpu.arange(4, "float32"):eval()
    local y, total = x * 2, (x + 1):sum()
    local above = y + 1
    x:free()
    assert.are.same({ 0, 2, 4, 6 }, y:table())
    assert.are.same({ 10, { 1, 3, 5, 7 } }, { total:item(), above:table() })
    assert.is_true(is_freed(x))

    -- An array that was never computed itself.
    local lazy = gpu.arange(3, "float32") * 3
    local reader = lazy + 1
    lazy:free()
    assert.are.same({ 1, 4, 7 }, reader:table())
    assert.is_true(is_freed(lazy))
    lazy:free()
  end)

  it("is given back though a pending operation cannot be computed, which says why each time", function()
    local x = gpu.ones(2)
    local broken = gpu.elementwise { inputs = "T x", outputs = "T y", body = "y = nothing_of_this_name;" } (x)
    local above, fine = broken + 1, x + 1
    x:free()
    assert.is_true(is_freed(x))
    assert.are.same({ 2, 2 }, fine:table())
    for _ = 1, 2 do
      support.fails("nothing_of_this_name", broken.table, broken)
      support.fails("nothing_of_this_name", above.table, above)
      support.fails("nothing_of_this_name", tostring, above)
    end
  end)

  it("is given back to the system by trim", function()
    gpu.zeros(1000000):free()
    gpu.sync()
    gpu.trim()
    assert.are.equal("number", type(gpu.memory().pooled))
  end)

  it("names a device", function()
    assert.are.equal(gpu.memory().limit, gpu.memory(gpu.device()).limit)
    support.fails("[device] expected one of", gpu.memory, "cpu:99")
  end)
end)

describe("the limit", function()
  local limit
  before_each(function() limit = gpu.memory().limit end)
  after_each(function() gpu.set_memory_limit(limit) end)

  it("is not touched by writes in place, whose values are stored in the target alone", function()
    local x = gpu.zeros(1000, 1000):eval()
    gpu.set_memory_limit(support.used() + 1000000)
    x:add_(1)
    x:mul_(3)
    gpu.sync()
    assert.are.equal(3, x:min():item())
  end)

  it("holds the mask of a masked write beside the target, and no second copy of the values", function()
    local x = gpu.arange(1000000):eval()
    gpu.set_memory_limit(support.used() + 1500000)
    x[x:gt(10)] = 7
    gpu.sync()
    assert.are.equal(55 + 999989 * 7, x:sum({ dtype = "float64" }):item())
  end)

  it("is enforced, with the holders and their lines", function()
    local before = support.used()
    local large, at = gpu.zeros(1000000), line()
    local small = gpu.zeros(10)
    gpu.set_memory_limit(before + 6000000)
    assert.are.equal(before + 6000000, gpu.memory().limit)
    local message = support.fails("[memory] out of memory on " .. gpu.device().name, gpu.zeros, 1000000)
    assert.is_truthy(message:find("4 MB wanted", 1, true), message)
    assert.is_truthy(message:find("live in", 1, true), message)
    assert.is_truthy(message:find("4 MB made at [^ ]*memory_spec.lua:" .. at), message)
    large:free()
    assert.are.equal(1000000, gpu.zeros(1000000).size)
    small:free()
  end)

  it("collects before it gives up", function()
    gpu.set_memory_limit(support.used() + 10000000)
    for i = 1, 20 do assert.are.equal(i, gpu.full({ 1000000 }, i)({ 7, 7 }):item()) end
  end)

  it("is a number of bytes", function()
    support.fails("[set_memory_limit] expected a number of bytes, got NaN", gpu.set_memory_limit, 0 / 0)
    support.fails("[set_memory_limit] expected a number of bytes, got -1", gpu.set_memory_limit, -1)
    support.fails("[set_memory_limit] expected a number of bytes, got inf", gpu.set_memory_limit, math.huge)
    support.fails('[set_memory_limit] expected a number of bytes, got "1"', gpu.set_memory_limit, "1")
    assert.are.equal(limit, gpu.memory().limit)
  end)
end)

describe("gpu.scope", function()
  it("frees what was made inside and not returned", function()
    local before = support.used()
    local inner
    local x = gpu.scope(function()
      inner = gpu.zeros(1000)
      return gpu.ones(10)
    end)
    assert.is_true(is_freed(inner))
    assert.are.equal(1, x:table()[10])
    inner, x = nil, nil
    assert.are.equal(before, support.used())
  end)

  it("keeps arrays in returned tables, nested and cyclic", function()
    local result = gpu.scope(function()
      local t = { a = gpu.ones(1), { gpu.ones(2) } }
      t.self = t
      t[gpu.ones(3)] = true
      return 1, nil, t
    end)
    assert.are.equal(1, result)
    local _, _, t = gpu.scope(function() return 1, nil, { { { x = gpu.ones(5) } } } end)
    assert.are.equal(5, #t[1][1].x:table())
  end)

  it("keeps the buffer of a view that is returned", function()
    local v = gpu.scope(function() return gpu.full({ 3, 4 }, 7)(2) end)
    assert.are.same({ 7, 7, 7, 7 }, v:table())
  end)

  it("leaves what was made before alone, views of it included", function()
    local x = gpu.ones(3, 3)
    local v
    gpu.scope(function()
      v = x(1)
      return nil
    end)
    assert.are.same({ 1, 1, 1 }, v:table())
    assert.are.equal(1, x:table()[3][3])
  end)

  it("frees when the function throws, and passes the error through", function()
    local object, inner = {}, nil
    local ok, got = pcall(gpu.scope, function()
      inner = gpu.zeros(10)
      error(object)
    end)
    assert.is_false(ok)
    assert.are.equal(object, got)
    assert.is_true(is_freed(inner))
  end)

  it("hands what an inner scope returns to the outer one", function()
    local kept, dropped
    local out = gpu.scope(function()
      kept = gpu.scope(function() return gpu.ones(2) end)
      dropped = gpu.scope(function() return gpu.ones(3) end)
      assert.is_false(is_freed(dropped))
      return kept
    end)
    assert.are.same({ 1, 1 }, out:table())
    assert.is_true(is_freed(dropped))
  end)

  it("passes arguments and results through", function()
    local a, b, c = gpu.scope(function(...) return select("#", ...), ... end, nil, 4)
    assert.are.equal(2, a)
    assert.is_nil(b)
    assert.are.equal(4, c)
    support.fails("[scope] expected a function to run, got 3", gpu.scope, 3)
  end)

  it("survives a long loop inside", function()
    gpu.scope(function()
      local x = gpu.zeros(4)
      for i = 1, 5000 do x(1):fill_(i) gpu.empty(1) end
      assert.are.equal(5000, x({ 1, 1 }):item())
    end)
  end)
end)

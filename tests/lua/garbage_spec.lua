-- Device memory and the collector, which sees handles of a few bytes: temporaries come back in time.
local gpu = require "gpu"

describe("temporaries", function()
  local limit

  before_each(function()
    limit = gpu.memory().limit
    gpu.set_memory_limit(1e9)
  end)
  after_each(function() gpu.set_memory_limit(limit) end)

  it("of 1 MB, a million of them, fit 1 GB beside a Lua heap of 100 MB", function()
    local heap = {}
    for i = 1, 100 do
      local t = {}
      for j = 1, 131072 do t[j] = j + 0.5 end
      heap[i] = t
    end
    assert.is_true(collectgarbage "count" > 100 * 1024)
    for _ = 1, 1000000 do
      local x = gpu.empty(262144)
    end
    assert.is_true(gpu.memory().peak <= 1e9)
    assert.are.equal(0.5 + 131072, heap[100][131072])
  end)

  it("of no bytes are collected too", function()
    collectgarbage()
    for _ = 1, 3000000 do
      local x = gpu.empty(0)
    end
    assert.is_true(gpu.memory().peak <= 1e9)
    collectgarbage()
    assert.is_true(gpu.memory().used < 1e6)
  end)

  it("that no kernel stores are collected before Lua's heap has doubled, and not while the collector is stopped", function()
    local x = gpu.ones(16)
    local function growth()
      collectgarbage()
      local before, most = collectgarbage "count", 0
      for _ = 1, 200000 do
        local y = x + 1
        most = math.max(most, collectgarbage "count")
      end
      return (most - before) / before
    end
    local ballast = {}
    for i = 1, 2000 do ballast[i] = ("x"):rep(1000 + i) end -- a heap of more than 2 MB
    assert.is_true(growth() < 0.8)
    assert.are.equal(2000, #ballast)
    -- LuaJIT ends a collection that it is in, stopped or not, when it leaves compiled code.
    collectgarbage()
    collectgarbage "stop"
    local kept = setmetatable({ x + 1 }, { __mode = "v" })
    for _ = 1, 20000 do
      local y = x + 1
    end
    local is_kept = kept[1] ~= nil
    collectgarbage "restart"
    assert.is_true(is_kept)
  end)
end)

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
end)

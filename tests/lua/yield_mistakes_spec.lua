-- coroutine.yield where no coroutine can yield: the message says why, and what to write.
local gpu = require "gpu"
local support = require "support"

--- What the command prints of a script that fails.
local function said(script) return (support.run("local gpu = require 'gpu'; " .. script, "GPULUA_DEVICE=" .. gpu.device().name)) end

local outside = "; no coroutine runs here: job = coroutine.wrap(job) makes a function that begins at its first call"
local below = "; a function that table.sort, string.gsub or another function of C calls cannot yield"

describe("a yield", function()
  it("outside of a coroutine says what makes one", function()
    for _, script in ipairs {
      "coroutine.yield()", "local function job() coroutine.yield(1) end job()", "local yield = coroutine.yield yield(1)",
      "xpcall(function() coroutine.yield() end, function(message) print(message) end) pcall(print) coroutine.yield()",
    } do
      local output = said(script)
      assert.is_truthy(output:find("attempt to yield across C-call boundary" .. outside, 1, true), output)
      assert.is_nil(output:find(below, 1, true), output)
    end
  end)

  it("in a function that C calls says that it cannot", function()
    for _, script in ipairs {
      "table.sort({3, 2, 1}, function(a, b) coroutine.yield() return a < b end)",
      "('abc'):gsub('b', function() coroutine.yield() end)",
      "coroutine.wrap(function() table.sort({3, 2, 1}, function(a, b) coroutine.yield() return a < b end) end)()",
      "coroutine.wrap(function() local s = ('abc'):gsub('b', function() coroutine.yield() end) end)()",
    } do
      local output = said(script)
      assert.is_truthy(output:find("attempt to yield across C-call boundary" .. below, 1, true), output)
      assert.is_nil(output:find(outside, 1, true), output)
    end
  end)

  it("is right as the message says it", function()
    local job = coroutine.wrap(function(n) while true do n = n + coroutine.yield(n) end end)
    assert.are.same({ 1, 3, 6 }, { job(1), job(2), job(3) })
  end)
end)

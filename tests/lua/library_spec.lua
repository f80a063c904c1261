-- The functions that are written in Lua: they are there when they are first looked up.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local helpers = debug.getregistry()["gpulua.helpers"]

describe("the functions written in Lua", function()
  it("are loaded when they are first looked up", function()
    local output = support.run [[
local gpu = require "gpu"
local x, functions = gpu.arange(3), debug.getregistry()["gpulua.helpers"].functions_of(gpu)
assert(rawget(functions, "hstack") == nil and rawget(functions, "blas") == nil)
local hstack = gpu.hstack
assert(rawget(functions, "hstack") == hstack and gpu.hstack == hstack)
assert(rawget(functions, "tril") == nil)
print(hstack {x, x}, x:tile(2):sum():item(), gpu.blas.dot(gpu.ones(2), gpu.ones(2)):item())
local g = gpu.random.generator("philox")
print(g:gamma(2, 3).size, gpu.random.gamma(2, 3).size)
for _, fn in ipairs {gpu.tile, x.tile, gpu.random.gamma, g.gamma, gpu.blas.gemm} do assert(type(fn) == "function") end
    ]]
    assert.is_truthy(output:find("0 1 2 0 1 2]\t6\t2\n2\t2", 1, true), output)
  end)

  it("are loaded again where their file was ended by an error", function()
    local output, status = support.run [[
local gpu = require "gpu"
local function stop() debug.sethook() error "stopped" end
local stopped = 0
for instructions = 2, 400, 3 do
  for _, path in ipairs {"hstack", "polyfit", "hann"} do
    local ok = pcall(function()
      debug.sethook(stop, "", instructions)
      local found = gpu[path]
      debug.sethook()
    end)
    if not ok then stopped = stopped + 1 end
  end
end
assert(stopped > 10, stopped)
print(gpu.hstack {gpu.ones(2), gpu.ones(3)}.size, gpu.hann(5).size, gpu.polyfit(gpu.arange(3), gpu.arange(3), 1).size)
    ]]
    assert.are.equal(0, status, output)
    assert.is_truthy(output:find("5\t5\t2", 1, true), output)
  end)

  it("are those of the signatures", function()
    local file
    for line in helpers.signatures():gmatch "[^\n]+" do
      local heading, receiver, name = line:match "^(%S+):$", line:match "^(gpu%.[%l.]-)([%w_]+)[({]"
      if heading then file = heading end
      if file and file ~= "C++" and name then
        local owner = receiver == "gpu." and gpu or gpu[receiver:match "^gpu%.(.*)%.$"]
        assert.are.equal("function", type(owner[name]), line)
      end
    end
  end)

  it("are suggested for what is not there", function()
    fails('did you mean "hstack"', function() return gpu.hstak end)
    fails('did you mean "tile"', function() return gpu.ones(3):tilee(2) end)
    fails('did you mean "gamma"', function() return gpu.random.generator("philox"):gama(2) end)
    fails('did you mean "gemm"', function() return gpu.blas.gemn end)
    fails('no field or method "hstack"', function() return gpu.ones(3):hstack() end)
  end)

  it("check their arguments from the first call on", function()
    local output = support.run [[
local gpu = require "gpu"
print(pcall(gpu.hstack, 1, 2))
print(pcall(function() gpu:vstack(1) end))
    ]]
    assert.is_truthy(output:find("[hstack] expected at most 1 argument, got 2", 1, true), output)
    assert.is_truthy(output:find("with a dot, got a colon", 1, true), output)
  end)
end)

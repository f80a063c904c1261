-- A whole process: the libraries that it loads on a warm start, and its end after a device error.
local gpu = require "gpu"
local support = require "support"

local on_cuda = gpu.zeros(1).device:find "^cuda" ~= nil

describe("a warm start", function()
  it("loads no compiler", function()
    local cache, path = os.tmpname(), os.tmpname() -- the script's name is part of a kernel's key
    os.remove(cache)
    local script = [[
      local gpu = require "gpu"
      local x = gpu.arange(10)
      local k = gpu.kernel("__global__ void twice(long long* x) { x[threadIdx.x] *= 2; }", "twice")
      k { grid = 1, block = 10 }(x)
      assert(x[10] == 18)
      for line in io.lines "/proc/self/maps" do
        local library = line:match "[^/]*$"
        if library:find "nvrtc" or library:find "clang" or library:find "LLVM" or library:find "compiler" then print(library) end
      end
    ]]
    local environment = "GPULUA_CACHE_DIR=" .. cache
    local cold, status = support.run(script, environment, path)
    assert.are.equal(0, status, cold)
    assert.is_truthy(cold:find(on_cuda and "nvrtc" or "compiler"), "the cold start compiles: " .. cold)
    local warm, warm_status = support.run(script, environment, path)
    assert.are.equal(0, warm_status, warm)
    assert.are.equal("", warm)
    os.execute("rm -rf " .. cache)
  end)

  it("needs no cache directory that can be written", function()
    local output, status = support.run([[
      local gpu = require "gpu"
      print(gpu.range(1, 3):table()[3])
    ]], "GPULUA_CACHE_DIR=/proc/nowhere")
    assert.are.equal("3\n", output)
    assert.are.equal(0, status)
  end)
end)

describe("no device", function()
  it("is touched by a script that uses none", function()
    local output = support.run [[
      local gpu = require "gpu"
      for line in io.lines "/proc/self/maps" do
        if line:find "libcuda" or line:find "libgpulua%-" or line:find "tbb" or line:find "LLVM" then print(line) end
      end
    ]]
    assert.are.equal("", output)
  end)

  it("of that name is an error that lists the ones there are", function()
    local output, status = support.run('require("gpu").zeros(1)', "GPULUA_DEVICE=tpu:0")
    assert.are.equal(1, status)
    assert.is_truthy(output:find('got "tpu:0"', 1, true), output)
    assert.is_truthy(output:find("expected one of", 1, true), output)
  end)
end)

if on_cuda then
  describe("an illegal address", function()
    local script = [[
      local gpu = require "gpu"
      local poke = gpu.kernel("__global__ void poke(int* x) { x[1ull << 40] = 1; }", "poke")
      local x = gpu.zeros(4, "int32")
      poke { grid = 1, block = 1 }(x) -- line 4
      local ok, message = pcall(function() return x:table() end)
      print(message)
      print(select(2, pcall(gpu.sync)))
      os.exit(ok and 1 or 0, true)
    ]]

    it("names the call that launched the kernel, and the process ends cleanly", function()
      local output, status = support.run(script)
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find "poke at .*:4", output)
      assert.is_truthy(output:find "ILLEGAL_ADDRESS", output)
    end)

    it("is an uncaught error like any other", function()
      local uncaught = script:gsub("pcall%(function%(%) return x:table%(%) end%)", "true, x:table()")
      local output, status = support.run(uncaught)
      assert.are.equal(1, status, output)
      assert.is_truthy(output:find "gpulua: .*:5: ", output)
    end)
  end)
end

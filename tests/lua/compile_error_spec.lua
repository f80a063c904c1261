-- Messages about source that does not compile, and positions of errors in tail calls.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

--- Runs a script with this command. Returns the name of its file, its whole output, and whether it succeeded.
local function run(text)
  local path = os.tmpname()
  local output, status = support.run(text, nil, path)
  return path, output, status == 0
end

-- A function that another function of the script calls. LuaJIT keeps no frame of it when it ends in `return f()`.
local function tail_called_zeros(shape)
  return gpu.zeros(shape) -- the line in the message
end
local tail_line = debug.getinfo(tail_called_zeros, "S").linedefined + 1

describe("compile errors", function()
  it("name the script, its line and the compiler's text", function()
    local path, output, ok = run [=[
local gpu = require "gpu"
gpu.module([[
  __global__ void k(float* x) {
    x[0] = undeclared_name;
  }
]])
]=]
    assert.is_false(ok)
    assert.is_truthy(output:find("undeclared_name", 1, true), output)
    assert.is_truthy(output:find(path .. ":2: ", 1, true), "the call's line in: " .. output)
    assert.is_truthy(output:find("\n" .. path .. ":4: error: ", 1, true), "the source's line in: " .. output)
  end)

  it("show the first ten, and the hints of all", function()
    local body, count = { "__global__ void k(int x) {" }, 40
    for i = 1, count do table.insert(body, ("x = missing%d;"):format(i)) end
    table.insert(body, "cudaMalloc(&x, 3); }")
    local _, message = pcall(gpu.module, table.concat(body, "\n"))
    assert.are.equal(10, select(2, message:gsub(" error: ", "")))
    assert.matches("missing10[^%d]", message)
    assert.is_nil(message:find "missing11")
    assert.matches("\n31 more errors\nhint: cudaMalloc is for host programs[^\n]*$", message)
    -- Of two ways to compile the source, the one with fewer errors.
    _, message = pcall(gpu.module, "struct uint {};\n" .. table.concat(body, "\n", 1, count + 1) .. "}")
    assert.is_nil(message:find "uint")
    assert.matches("\n30 more errors$", message)
    _, message = pcall(gpu.module, table.concat(body, "\n", 1, 12) .. "}")
    assert.matches("\n1 more error$", message)
    _, message = pcall(gpu.module, table.concat(body, "\n", 1, 11) .. "}")
    assert.is_nil(message:find "more error")
  end)

  it("say nothing beside the error", function()
    local _, output = run [=[
local gpu = require "gpu"
print(pcall(gpu.module, "__global__ void k() { undeclared_name; }"))
local ok = pcall(gpu.module, "not C++ at all")
]=]
    assert.are.equal("false", output:match "^%a+")
    assert.is_nil(output:find("at all", 1, true), output)
  end)

  it("name the header that declares an unknown name", function()
    local message = fails("hint: curandState is declared in a header: #include <curand_kernel.h>", gpu.module,
      "__global__ void k(curandState* states) {}")
    assert.is_truthy(message:find("curandState", 1, true))
  end)

  it("say what to write for what CUDA C++ lacks", function()
    local on_cpu = gpu.device().kind == "cpu"
    local textures = " is of texture references, which CUDA 12 has removed: a kernel has a parameter cudaTextureObject_t t, which "
      .. "tex2D<float>(t, x, y) reads and gpu.texture(x) makes"
    local returns = "kernels and the bodies of gpu.elementwise return nothing: they set their outputs, y = ... or y[i] = ..."
    for _, row in ipairs {
      { "int v = __shfl_down(1, 2);", "__shfl_down is __shfl_down_sync since CUDA 9, whose first argument says which threads of the "
        .. "warp take part: __shfl_down_sync(0xffffffff, ...)" },
      { "int v = __ballot(1);", on_cpu and "__ballot is __ballot_sync since CUDA 9" },
      { "float32 v = 1;", "float32 is float in C++" },
      { "atomicMax(x, 1.0f);", "atomicMax is for integers: atomicMax((int*)p, __float_as_int(value)) keeps the order of floats that "
        .. "are not negative, a loop over atomicCAS of all; gpu.max and gpu.min reduce whole arrays" },
      { "short n = 0; atomicAdd(&n, n);", "atomicAdd takes a pointer to int, unsigned int or unsigned long long" },
      { "return x[0];", returns },
      { "x[0] = x[0] ^ 2;", "^ is exclusive or, of integers; x * x or pow(x, y) is a power" },
      { "x[0] = x[0] % 2.0;", "% is of integers; fmod(x, y) is the remainder of numbers with fractions" },
      { "x[0] = texCubemap<float>(0, 1, 1, 1);", on_cpu and "texCubemap is not there on all devices" },
    } do
      if row[2] then fails("hint: " .. row[2], gpu.module, "__global__ void k(float* x) { " .. row[1] .. " }") end
    end
    fails("hint: " .. "texture" .. textures, gpu.module,
      "texture<float, 2, cudaReadModeElementType> image;")
    if on_cpu then
      fails('[compile] cannot find the kernel "k<float32>": use of undeclared identifier \'float32\'; the source has k<T>\n'
        .. "hint: float32 is float in C++", gpu.kernel, "template <class T> __global__ void k(T* x) {}", "k<float32>")
    end
  end)

  it("point into the line of text that occurs several times", function()
    local path, output = run [=[
local gpu = require "gpu"
local function build() local mod = gpu.module([[ wrong; ]]) return mod end
-- [[ wrong; ]]
build()
]=]
    assert.is_truthy(output:find("\n" .. path .. ":2: error: ", 1, true), output)
  end)

  it("name the call for text that the script has put together", function()
    local path, output = run "local gpu = require 'gpu'\n\ngpu.module('wro' .. 'ng;')\n"
    assert.is_truthy(output:find("<kernel source at " .. path .. ":3>", 1, true), output)
  end)

  it("name the source as the option says", function()
    local source = "\n\n" .. "__global__ void k(float* x) { *x = undeclared; }"
    for _, name in ipairs {"saxpy.cu", 'a folder/"quoted" \\ name.cu'} do
      for _, compile in ipairs {function(o) gpu.module(source, o) end, function(o) gpu.kernel(source, "k", o) end,
        function(o) gpu.link {{source, name = o.name}} end} do
        local message = fails("undeclared", compile, {name = name})
        assert.is_truthy(message:find("\n" .. name .. ":3: error: ", 1, true), message)
        assert.is_nil(message:find("kernel source at", 1, true), message)
      end
    end
    -- Also of a source that is found in the script.
    local message = fails("error: ", function() gpu.module([[ wrong; ]], {name = "own.cu"}) end)
    assert.is_truthy(message:find("\nown.cu:1: error: ", 1, true), message)
  end)

  it("refuse what is no name", function()
    for _, name in ipairs {"", "two\nlines", 5, {}} do
      fails("[module] name: expected the source's name in messages", gpu.module, "__global__ void k() {}", {name = name})
    end
    fails("zero bytes", gpu.module, "__global__ void k() {}", {name = "a\0b"})
    fails('got "name"', gpu.link, {"__global__ void k() {}"}, {name = "all.cu"})
  end)

  it("find text in a chunk made from a string", function()
    local text = "local gpu = require 'gpu'\n\nlocal _, e = pcall(gpu.module, [[ wrong_in_chunk; ]])\nreturn e"
    local message = assert(loadstring(text))()
    assert.is_truthy(message:find "wrong_in_chunk")
    assert.is_truthy(message:find "%[string .*%]:3: error: ", message)
  end)
end)

describe("errors in a function's last call", function()
  it("name its line, though its frame is gone", function()
    local ok, message = pcall(function()
      local x = tail_called_zeros("a")
      return x, nil
    end)
    assert.is_false(ok)
    assert.is_truthy(message:find("compile_error_spec.lua:" .. tail_line .. ": [zeros]", 1, true), message)
  end)

  it("name it under pcall and xpcall, whose line is another", function()
    local pcall, xpcall = pcall, xpcall
    local function handler(message) return message end
    local function protected(fn, ...)
      return fn(...)
    end
    local function fails() return
      gpu.zeros("a")
    end
    local function far() return
      fails()
    end
    local line = debug.getinfo(fails, "S").linedefined + 1
    local function check(_, message, at)
      assert.is_truthy(message:find("compile_error_spec.lua:" .. (at or line) .. ": [", 1, true), message)
    end
    check(pcall(fails))
    check(pcall(far))
    check(xpcall(fails, handler))
    local x, here = gpu.ones(3), debug.getinfo(1, "l").currentline
    local ok, message = pcall(function()
      return x:sum(7)
    end)
    check(ok, message, here + 2)
    ok, message = pcall(gpu.zeros, "a")
    check(ok, message, here + 5)
    ok, message = pcall(function()
      return gpu.linalg.inv(x) -- written in Lua
    end)
    check(ok, message, here + 8)
    ok, message = protected(pcall, function()
      return gpu.zeros "a"
    end)
    assert.is_truthy(message:find "compile_error_spec.lua:%d+: %[zeros%]", message)
  end)

  it("name it in functions of gpu.fuse", function()
    local function sorted(x)
      return gpu.sort(x, 7)
    end
    local fused = gpu.fuse(sorted)
    for call, fn in pairs { sorted = sorted, fused = fused } do
      local ok, message = pcall(function()
        local x = fn(gpu.ones(3))
        return x, nil
      end)
      assert.is_false(ok)
      local line = debug.getinfo(sorted, "S").linedefined + 1
      assert.is_truthy(message:find("compile_error_spec.lua:" .. line .. ": [sort] axis 7", 1, true), call .. " " .. message)
    end
  end)

  it("name it through several such calls, and in launches", function()
    local x = gpu.zeros(8)
    local launch = gpu.kernel("__global__ void k(float* x) {}", "k"):over(8)
    local function run(value)
      return launch(value)
    end
    local function outer(value)
      return run(value)
    end
    local line = debug.getinfo(run, "S").linedefined + 1
    outer(x)
    local ok, message = pcall(function()
      local result = outer(1)
      return result, nil
    end)
    assert.is_false(ok)
    assert.is_truthy(message:find("compile_error_spec.lua:" .. line .. ": [k] argument 1 (x)", 1, true), message)
  end)

  it("name the caller's where several calls may have been the last", function()
    local function choose(first)
      if first then
        return gpu.zeros("a")
      end
      return gpu.zeros("b")
    end
    local line = debug.getinfo(1, "l").currentline + 2
    local _, message = pcall(function()
      local x = choose(true)
      return x, nil
    end)
    assert.is_truthy(message:find("compile_error_spec.lua:" .. line .. ": [zeros]", 1, true), message)
  end)
end)

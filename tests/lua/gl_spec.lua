-- gpu.gl: buffers that arrays and OpenGL share, in a program's context and in a window's. What OpenGL has is read by OpenGL's own calls.
local gpu = require "gpu"
local ffi = require "ffi"
local support = require "support"
local graphics = require "graphics_support"
local fails = support.fails

local _, gl = graphics.libraries()

graphics.describe("gpu.gl", function(context, window)
  it("makes buffers that arrays write and OpenGL reads, and the reverse", function()
    local b = gpu.gl.buffer({2, 3}, "float32")
    assert.equal(1, gl.glIsBuffer(b.id))
    assert.same({2, 3}, b.shape)
    assert.equal("float32", b.dtype)
    assert.equal("OpenGL buffer of float32(2,3)", tostring(b))
    b:with(function(x)
      assert.equal("float32", x.dtype)
      assert.same({2, 3}, {x.shape[1], x.shape[2]})
      x:copy_(gpu.arange(6):reshape(2, 3) * 1.5)
    end)
    assert.same({0, 1.5, 3, 4.5, 6, 7.5}, graphics.floats(b.id, 6))
    gl.glBindBuffer(graphics.array_buffer, b.id)
    gl.glBufferSubData(graphics.array_buffer, 4, 4, ffi.new("float[1]", {42}))
    gl.glBindBuffer(graphics.array_buffer, 0)
    assert.same({{0, 42, 3}, {4.5, 6, 7.5}}, b:with(function(x) return x:table() end))
    b:release()
  end)

  it("passes arguments and results on", function()
    local b = gpu.gl.buffer(3, "int32")
    local sum, text, none = b:with(function(x, first, second)
      x:copy_(gpu.array({first, second, 3}, "int32"))
      return x:sum():item(), "text", nil
    end, 1, 2)
    assert.equal(6, sum)
    assert.equal("text", text)
    assert.is_nil(none)
  end)

  it("takes a buffer of the program's", function()
    local id = graphics.new_buffer {1, 2, 3, 4, 5}
    local b = gpu.gl.buffer_from(id, {2, 2}, "float32")
    assert.equal(id, b.id)
    b:with(function(x)
      assert.same({{1, 2}, {3, 4}}, x:table())
      x:mul_(10)
    end)
    assert.same({10, 20, 30, 40, 5}, graphics.floats(id, 5))
    b:release()
    assert.equal(1, gl.glIsBuffer(id)) -- it is the program's
    gl.glDeleteBuffers(1, ffi.new("unsigned[1]", {id}))
  end)

  it("runs kernels on the memory", function()
    local b = gpu.gl.buffer(1000, "float32")
    local fill = gpu.kernel("__global__ void fill(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 2 * i; }",
      "fill")
    b:with(function(x) fill {grid = 8, block = 128}(x, 1000) end)
    local got = graphics.floats(b.id, 1000)
    for i = 1, 1000 do assert.equal(2 * (i - 1), got[i]) end
  end)

  it("finishes what is pending, and gives a copy to what reads it later", function()
    local b = gpu.gl.buffer(4, "float32")
    local later = b:with(function(x)
      x:copy_(gpu.arange(4):astype "float32")
      return x * 2 + 1
    end)
    gl.glBindBuffer(graphics.array_buffer, b.id)
    gl.glBufferSubData(graphics.array_buffer, 0, 16, ffi.new("float[4]", {9, 9, 9, 9}))
    gl.glBindBuffer(graphics.array_buffer, 0)
    assert.same({1, 3, 5, 7}, later:table())
  end)

  it("says what happened to an array that is used later", function()
    local b = gpu.gl.buffer(4, "float32")
    local kept, part
    b:with(function(x) kept, part = x, x[{ {1, 2} }] end)
    local said = "the array showed a buffer of OpenGL's, which is not mapped any more: use it inside of b:with, or make a copy there with x:copy()"
    fails(said, function() kept:table() end)
    fails(said, function() return (kept + 1):table() end)
    fails(said, function() kept:copy_(1) end)
    fails(said, function() part:table() end)
    local kernel = gpu.kernel("__global__ void f(float* x) { x[0] = 1; }", "f")
    fails(said, function() kernel {grid = 1, block = 1}(kept) end)
  end)

  it("unmaps after an error of the function, which it passes on", function()
    local b = gpu.gl.buffer(4, "float32")
    local kept
    fails("out of luck", b.with, b, function(x)
      kept = x
      x:fill_(7)
      error "out of luck"
    end)
    fails("not mapped any more", function() kept:table() end)
    assert.same({7, 7, 7, 7}, graphics.floats(b.id, 4))
    assert.same({7, 7, 7, 7}, b:with(function(x) return x:table() end))
  end)

  it("leaves the program's bindings and context as they were", function()
    local id = graphics.new_buffer {1}
    gl.glBindBuffer(graphics.array_buffer, id)
    local b = gpu.gl.buffer(4, "float32")
    local other = gpu.gl.buffer_from(id, 1, "float32")
    b:with(function(x) x:fill_(1) end)
    assert.equal(id, graphics.integer(graphics.array_buffer_binding))
    window:clear()
    window:draw({{0, 0}})
    window:read()
    assert.is_true(context.is_current())
    assert.equal(id, graphics.integer(graphics.array_buffer_binding))
    other:release()
    b:release()
    assert.equal(0, gl.glGetError())
    gl.glBindBuffer(graphics.array_buffer, 0)
  end)

  it("makes the context of the function's beginning current for its end", function()
    local b = gpu.gl.buffer(2, "float32")
    b:with(function(x)
      x:fill_(3)
      context.release()
    end)
    assert.is_false(context.is_current())
    context.make_current()
    assert.same({3, 3}, graphics.floats(b.id, 2))
  end)

  it("keeps no object or memory in a thousand frames", function()
    local b = gpu.gl.buffer(256, "float32")
    local y = gpu.ones(256)
    local function frame() b:with(function(x) x:copy_(y) end) end
    for _ = 1, 10 do frame() end
    local used, objects = support.used(), graphics.count_buffers()
    for _ = 1, 1000 do frame() end
    assert.equal(objects, graphics.count_buffers())
    assert.equal(used, support.used())
  end)

  local function make_twenty()
    for _ = 1, 20 do gpu.gl.buffer(4, "float32") end
  end
  local function collect()
    collectgarbage()
    collectgarbage()
  end

  it("deletes its buffers with the last handle", function()
    collect()
    local before = graphics.count_buffers()
    make_twenty()
    assert.is_true(graphics.count_buffers() >= before + 19)
    collect()
    assert.equal(before, graphics.count_buffers())
    -- While another context is current, or none, they wait for the next call.
    make_twenty()
    context.release()
    collect()
    context.make_current()
    assert.is_true(graphics.count_buffers() >= before + 19)
    gpu.gl.buffer(4, "float32"):release()
    assert.equal(before, graphics.count_buffers())
  end)
end)

graphics.describe("misuse of gpu.gl", function(context, window)
  local second = graphics.context(graphics.display_of(window))

  it("is refused without a current context", function()
    local b = gpu.gl.buffer(4, "float32")
    context.release()
    fails("[gl.buffer] expected a current OpenGL context, got none in this thread", gpu.gl.buffer, 4, "float32")
    fails("[gl.buffer_from] expected a current OpenGL context, got none in this thread", gpu.gl.buffer_from, 1, 4, "float32")
    fails("[buffer:with] expected the OpenGL context in which the buffer was made or registered to be current in this thread, got none",
      b.with, b, function() end)
  end)

  it("is refused in another context", function()
    local b = gpu.gl.buffer(4, "float32")
    second.make_current()
    fails("to be current in this thread, got another one: make it current before the call", b.with, b, function() end)
    context.make_current()
    b:with(function(x) x:fill_(1) end)
  end)

  it("is refused for what is no buffer, or too small", function()
    fails("[gl.buffer_from] expected the number of a buffer in the current OpenGL context, got 4711, which is none",
      gpu.gl.buffer_from, 4711, 4, "float32")
    local id = graphics.new_buffer {1, 2, 3}
    fails("[gl.buffer_from] expected a shape within the 12 bytes of OpenGL's buffer, got float32(2,2) with 16 bytes",
      gpu.gl.buffer_from, id, {2, 2}, "float32")
    fails("got float64(3,) with 24 bytes", gpu.gl.buffer_from, id, 3, "float64")
    fails("[gl.buffer_from] expected the number of a buffer of OpenGL's, got 0", gpu.gl.buffer_from, 0, 3, "float32")
    fails("[gl.buffer_from] expected the number of a buffer of OpenGL's, got \"1\"", gpu.gl.buffer_from, "1", 3, "float32")
  end)

  it("is refused for shapes, dtypes and options that are none", function()
    fails("[gl.buffer] expected a shape of at least one element", gpu.gl.buffer, {0, 2}, "float32")
    fails("float33", gpu.gl.buffer, 4, "float33")
    fails("[gl.buffer] expected", gpu.gl.buffer, "4", "float32")
    fails("[gl.buffer] expected the option device, got \"devise\"; did you mean \"device\"?", gpu.gl.buffer, 4, "float32", {devise = "cpu"})
    fails("no", gpu.gl.buffer, 4, "float32", {device = "no"})
    local b = gpu.gl.buffer(4, "float32")
    fails("[buffer:with] expected a function that gets an array over the buffer, got", b.with, b, 3)
    fails("[buffer] expected one of the fields id, shape, dtype", function() return b.size end)
    fails("[buffer:release]", b.release, b, 1)
  end)

  it("is refused for a buffer that got other memory, or was deleted", function()
    local id = graphics.new_buffer {1, 2, 3, 4}
    local b = gpu.gl.buffer_from(id, 4, "float32")
    gl.glBindBuffer(graphics.array_buffer, id)
    gl.glBufferData(graphics.array_buffer, 64, nil, 0x88E8)
    gl.glBindBuffer(graphics.array_buffer, 0)
    fails(("[buffer:with] expected OpenGL's buffer %d with 16 bytes, as it was registered, got 64: glBufferData gave it other memory"):format(id),
      b.with, b, function() end)
    b:release()
    b = gpu.gl.buffer_from(id, 16, "float32")
    gl.glDeleteBuffers(1, ffi.new("unsigned[1]", {id}))
    fails(("[buffer:with] OpenGL's buffer %d was deleted: call b:release() before glDeleteBuffers"):format(id), b.with, b, function() end)
    b:release()
  end)

  it("is refused for a buffer that is mapped", function()
    local b = gpu.gl.buffer(4, "float32")
    b:with(function()
      fails("[buffer:with] expected a buffer that is not mapped, got one inside of b:with", b.with, b, function() end)
      fails("[buffer:release] expected a buffer that is not mapped, got one inside of b:with", b.release, b)
    end)
    local id = graphics.new_buffer {1, 2}
    local theirs = gpu.gl.buffer_from(id, 2, "float32")
    gl.glBindBuffer(graphics.array_buffer, id)
    gl.glMapBuffer(graphics.array_buffer, 0x88B8)
    fails("is mapped by the program: call glUnmapBuffer before b:with", theirs.with, theirs, function() end)
    gl.glUnmapBuffer(graphics.array_buffer)
    gl.glBindBuffer(graphics.array_buffer, 0)
    theirs:with(function(x) assert.same({1, 2}, x:table()) end)
  end)

  it("is refused after the release", function()
    local b = gpu.gl.buffer(4, "float32")
    b:release()
    b:release()
    fails("[buffer:with] expected a buffer of OpenGL's, got one after b:release()", b.with, b, function() end)
    fails("[buffer] expected a buffer of OpenGL's, got one after b:release()", function() return b.id end)
  end)

  it("is refused while work is recorded", function()
    local b = gpu.gl.buffer(4, "float32")
    local y = gpu.zeros(4)
    fails("[buffer:with] expected a call outside of a function that gpu.fuse or gpu.graph records", gpu.graph, function()
      y:add_(1)
      b:with(function(x) y:copy_(x) end)
    end)
    b:with(function(x) x:fill_(1) end)
  end)

  it("is refused in a window that was closed", function()
    local other = gpu.window {width = 4, height = 4, headless = true}
    local b = other:buffer(4, "float32")
    b:with(function(x) x:fill_(1) end) -- makes the window's context current by itself
    assert.is_true(context.is_current())
    other:close()
    fails("[buffer:with] the window was closed, and with it all that was in its OpenGL context", b.with, b, function() end)
  end)
end)

-- gpu.gl: textures and renderbuffers of a program's. What OpenGL has is read by OpenGL's own calls.
local gpu = require "gpu"
local ffi = require "ffi"
local support = require "support"
local graphics = require "graphics_support"
local fails = support.fails

local _, gl = graphics.libraries()

local RED, RG, RGBA, RED_INTEGER = 0x1903, 0x8227, 0x1908, 0x8D94
local BYTE, UINT, FLOAT = 0x1401, 0x1405, 0x1406
local RGBA8, R32F, RG32F, RGBA32F, R32UI, RGB8 = 0x8058, 0x822E, 0x8230, 0x8814, 0x8236, 0x8051

graphics.describe("images of OpenGL's", function(context, window)
  it("are written and read by arrays, the lowest row first", function()
    for _, kind in ipairs {{RGBA8, RGBA, BYTE, "uint8_t", "uint8", 4}, {R32F, RED, FLOAT, "float", "float32", 1},
      {RG32F, RG, FLOAT, "float", "float32", 2}, {R32UI, RED_INTEGER, UINT, "uint32_t", "uint32", 1}} do
      local internal, format, type, ctype, dtype, channels = unpack(kind)
      local id = graphics.new_texture(internal, 5, 3, format, type)
      local image = gpu.gl.texture_from(id)
      local shape = channels > 1 and {3, 5, channels} or {3, 5}
      assert.same(shape, image.shape)
      assert.equal(dtype, image.dtype)
      assert.equal(id, image.id)
      local x = gpu.arange(15 * channels):reshape(unpack(shape)):astype(dtype)
      image:write(x)
      local got = graphics.texture_elements(id, format, type, ctype, 15 * channels)
      for i = 0, 15 * channels - 1 do assert.equal(i, tonumber(got[i])) end
      support.same(x, image:read())
      image:write((x * 2):astype(dtype))
      support.same((x * 2):astype(dtype), image:read())
      image:release()
    end
  end)

  it("are renderbuffers too, whatever the program cuts off", function()
    local id = graphics.new_renderbuffer(RGBA8, 4, 2)
    local image = gpu.gl.renderbuffer_from(id)
    local x = gpu.arange(32):reshape(2, 4, 4):astype "uint8"
    gl.glEnable(0x0C11)
    gl.glScissor(0, 0, 1, 1)
    image:write(x)
    local got = graphics.renderbuffer_bytes(id, 4, 2)
    for i = 0, 31 do assert.equal(i, got[i]) end
    support.same(x, image:read())
    assert.equal(1, graphics.integer(0x0C11))
    assert.equal(0, gl.glGetError())
  end)

  it("are textures of kernels, and surfaces", function()
    local id = graphics.new_texture(R32F, 8, 4, RED, FLOAT)
    local image = gpu.gl.texture_from(id, {filter = "linear"})
    image:write(gpu.arange(32):reshape(4, 8):astype "float32")
    local read = gpu.kernel([[__global__ void read(cudaTextureObject_t t, float* out) {
      out[0] = tex2D<float>(t, 3.5f, 2.5f); out[1] = tex2D<float>(t, 4.0f, 2.5f); }]], "read")
    local out = gpu.zeros(2)
    local kept
    local result = image:with(function(texture, given)
      kept = texture
      read {grid = 1, block = 1}(texture, out)
      return given
    end, "given")
    assert.equal("given", result)
    support.near({19, 19.5}, out:table(), 1e-2)
    fails("the texture showed an image of OpenGL's, which is not mapped any more", function() read {grid = 1, block = 1}(kept, out) end)
    fails("the texture showed an image of OpenGL's, which is not mapped any more", kept.array, kept)
    fails("the texture showed an image of OpenGL's, which is not mapped any more", kept.surface, kept)

    local write = gpu.kernel([[__global__ void write(cudaSurfaceObject_t s) {
      surf2Dwrite(100.0f * threadIdx.y + threadIdx.x, s, threadIdx.x * sizeof(float), threadIdx.y); }]], "write")
    image:with(function(texture) write {grid = 1, block = {8, 4}}(texture:surface()) end)
    local got = graphics.texture_elements(id, RED, FLOAT, "float", 32)
    for y = 0, 3 do
      for x = 0, 7 do assert.equal(100 * y + x, got[8 * y + x]) end
    end
  end)

  it("stay after an error, and leave the program's bindings", function()
    local id, other = graphics.new_texture(R32F, 2, 2, RED, FLOAT), graphics.new_texture(R32F, 1, 1, RED, FLOAT)
    gl.glBindTexture(0x0DE1, other)
    gl.glPixelStorei(0x0CF2, 7) -- GL_UNPACK_ROW_LENGTH
    local image = gpu.gl.texture_from(id)
    image:write(gpu.ones(2, 2))
    fails("no luck", image.with, image, function() error "no luck" end)
    support.same(gpu.ones(2, 2), image:read())
    assert.equal(other, graphics.integer(0x8069))
    assert.equal(7, graphics.integer(0x0CF2))
    gl.glPixelStorei(0x0CF2, 0)
    assert.equal(0, gl.glGetError())
  end)

  it("refuse misuse by name", function()
    fails("[gl.texture_from] expected the number of a texture in the current OpenGL context, got 99, which is none", gpu.gl.texture_from, 99)
    fails("[gl.renderbuffer_from] expected the number of a renderbuffer in the current OpenGL context, got 99", gpu.gl.renderbuffer_from, 99)
    fails("[gl.texture_from] expected the number of a texture of OpenGL's, got 0", gpu.gl.texture_from, 0)
    fails("[gl.texture_from] expected a format with 1, 2 or 4 numbers of 8, 16 or 32 bits, such as GL_RGBA8 or GL_R32F, got 0x8051",
      gpu.gl.texture_from, graphics.new_texture(RGB8, 2, 2, 0x1907, BYTE))
    local id = graphics.new_texture(RGBA8, 4, 2, RGBA, BYTE)
    local image = gpu.gl.texture_from(id)
    assert.equal("OpenGL image of uint8(2,4,4)", tostring(image))
    fails("[image:write] expected an array uint8(2,4,4) on", image.write, image, gpu.ones(2, 4, 4))
    fails("[image:write] expected an array, got", image.write, image, 3)
    fails("[image:with] expected a function that gets a texture of the image, got", image.with, image, 3)
    fails('filter: "linear" reads floats', function() gpu.gl.texture_from(id, {filter = "linear"}):with(print) end)
    assert.is_truthy(image:read()) -- it is not mapped any more
    image:with(function()
      fails("[image:with] expected an image that is not mapped, got one inside of its :with", image.with, image, print)
      fails("[image:read] expected an image that is not mapped", image.read, image)
      fails("[image:release] expected an image that is not mapped", image.release, image)
    end)
    gl.glBindTexture(0x0DE1, id)
    gl.glTexImage2D(0x0DE1, 0, RGBA8, 3, 3, 0, RGBA, BYTE, nil)
    gl.glBindTexture(0x0DE1, 0)
    -- NVIDIA's OpenGL refuses another size of a texture that CUDA knows.
    if gl.glGetError() == 0 then
      fails(("[image:read] expected OpenGL's texture %d with 4 x 2 elements and the format 0x8058, as it was registered, got 3 x 3"):format(id),
        image.read, image)
    end
    gl.glDeleteTextures(1, ffi.new("unsigned[1]", {id}))
    fails(("[image:read] OpenGL's texture %d was deleted: call :release() before that"):format(id), image.read, image)
    image:release()
    image:release()
    fails("[image:read] expected an image of OpenGL's, got one after :release()", image.read, image)
    fails("[image] expected an image of OpenGL's, got one after :release()", function() return image.id end)
    context.release()
    fails("[gl.texture_from] expected a current OpenGL context, got none in this thread", gpu.gl.texture_from, 1)
    local live = window:with(function() return gpu.gl.texture_from(graphics.new_texture(RGBA32F, 2, 2, RGBA, FLOAT)) end)
    live:write(gpu.ones(2, 2, 4)) -- the window's context is made current
    support.same(gpu.ones(2, 2, 4), live:read())
  end)

  it("are not read or written while work is recorded", function()
    local image = gpu.gl.texture_from(graphics.new_texture(R32F, 2, 2, RED, FLOAT))
    local y = gpu.zeros(2, 2)
    fails("image of OpenGL's", gpu.graph, function() y:copy_(image:read()) end)
    fails("[image:with] expected a call outside of a function that gpu.fuse or gpu.graph records", gpu.graph, function()
      image:with(function() y:add_(1) end)
    end)
  end)
end)

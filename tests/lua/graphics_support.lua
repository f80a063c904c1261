-- A program's OpenGL, by the FFI: what a host that embeds gpulua does with it.
local gpu = require "gpu"
local ffi = require "ffi"

local graphics = {}

pcall(ffi.cdef, [[
  typedef struct { void* display; void* context; } gpulua_test_context;
  void* eglGetPlatformDisplay(unsigned platform, void* native, const intptr_t* attributes);
  unsigned eglInitialize(void* display, int* major, int* minor);
  unsigned eglBindAPI(unsigned api);
  unsigned eglChooseConfig(void* display, const int* attributes, void** configs, int size, int* count);
  void* eglCreateContext(void* display, void* config, void* share, const int* attributes);
  unsigned eglDestroyContext(void* display, void* context);
  unsigned eglMakeCurrent(void* display, void* draw, void* read, void* context);
  void* eglGetCurrentContext(void);
  void* eglGetCurrentDisplay(void);
  void* eglGetProcAddress(const char* name);
  void glGenBuffers(int count, unsigned* ids);
  void glDeleteBuffers(int count, const unsigned* ids);
  void glBindBuffer(unsigned target, unsigned id);
  void glBufferData(unsigned target, intptr_t bytes, const void* data, unsigned usage);
  void glGetBufferSubData(unsigned target, intptr_t offset, intptr_t bytes, void* data);
  void glBufferSubData(unsigned target, intptr_t offset, intptr_t bytes, const void* data);
  void* glMapBuffer(unsigned target, unsigned access);
  unsigned char glUnmapBuffer(unsigned target);
  unsigned char glIsBuffer(unsigned id);
  void glGetIntegerv(unsigned name, int* value);
  unsigned glGetError(void);
  const unsigned char* glGetString(unsigned name);
  void glClearColor(float r, float g, float b, float a);
  void glClear(unsigned mask);
  void glGenTextures(int count, unsigned* ids);
  void glDeleteTextures(int count, const unsigned* ids);
  void glBindTexture(unsigned target, unsigned id);
  void glTexImage2D(unsigned target, int level, int internal, int width, int height, int border, unsigned format, unsigned type,
    const void* data);
  void glGetTexImage(unsigned target, int level, unsigned format, unsigned type, void* data);
  void glPixelStorei(unsigned name, int value);
  void glGenRenderbuffers(int count, unsigned* ids);
  void glBindRenderbuffer(unsigned target, unsigned id);
  void glRenderbufferStorage(unsigned target, unsigned internal, int width, int height);
  void glGenFramebuffers(int count, unsigned* ids);
  void glDeleteFramebuffers(int count, const unsigned* ids);
  void glBindFramebuffer(unsigned target, unsigned id);
  void glFramebufferRenderbuffer(unsigned target, unsigned attachment, unsigned kind, unsigned id);
  void glReadPixels(int x, int y, int width, int height, unsigned format, unsigned type, void* data);
  void glEnable(unsigned what);
  void glScissor(int x, int y, int width, int height);
]])

local array_buffer = 0x8892
graphics.array_buffer, graphics.array_buffer_binding = array_buffer, 0x8894

--- EGL and OpenGL; nil where a machine has none.
function graphics.libraries()
  local has_egl, egl = pcall(ffi.load, "libEGL.so.1")
  local has_gl, gl = pcall(ffi.load, "libOpenGL.so.0")
  if not has_egl or not has_gl then return nil end
  return egl, gl
end

--- A context of OpenGL 3.3 on a display of EGL's, with functions of its own: make_current, release and destroy.
function graphics.context(display)
  local egl = graphics.libraries()
  egl.eglInitialize(display, nil, nil)
  egl.eglBindAPI(0x30A2)
  local config, count = ffi.new "void*[1]", ffi.new "int[1]"
  egl.eglChooseConfig(display, ffi.new("int[5]", {0x3033, 1, 0x3040, 8, 0x3038}), config, 1, count)
  local handle = egl.eglCreateContext(display, config[0], nil, ffi.new("int[7]", {0x3098, 3, 0x30FB, 3, 0x30FD, 1, 0x3038}))
  assert(handle ~= nil, "no context")
  local context = {handle = handle}
  function context.make_current() assert(egl.eglMakeCurrent(display, nil, nil, handle) == 1) end
  function context.release() egl.eglMakeCurrent(display, nil, nil, nil) end
  function context.is_current() return egl.eglGetCurrentContext() == handle end
  function context.destroy()
    context.release()
    egl.eglDestroyContext(display, handle)
  end
  return context
end

--- The display of a window's context, so that a program's context is on the same GPU.
function graphics.display_of(window)
  local egl = graphics.libraries()
  return window:with(function() return egl.eglGetCurrentDisplay() end)
end

--- A describe whose cases run in a context of the program's on a window's display; `cases` gets the context and the window. They are
--- pending where OpenGL is missing, and where it is of another GPU than the arrays, as where it is Mesa's.
function graphics.describe(name, cases)
  local busted = getfenv(cases) -- a suite's functions are not a module's globals
  busted.describe(name, function()
    local has_window, window = pcall(gpu.window, {width = 4, height = 4, headless = true})
    if not has_window then return busted.pending(tostring(window)) end
    local context = graphics.context(graphics.display_of(window))
    context.make_current()
    local shares, why = pcall(gpu.gl.buffer, 4, "float32")
    context.release()
    if not shares then return busted.pending(tostring(why)) end
    busted.before_each(context.make_current)
    busted.after_each(context.release)
    cases(context, window)
  end)
end

--- A buffer of the program's with these floats.
function graphics.new_buffer(values)
  local _, gl = graphics.libraries()
  local id = ffi.new "unsigned[1]"
  gl.glGenBuffers(1, id)
  gl.glBindBuffer(array_buffer, id[0])
  gl.glBufferData(array_buffer, 4 * #values, ffi.new("float[?]", #values, values), 0x88E8)
  gl.glBindBuffer(array_buffer, 0)
  return id[0]
end

--- The first floats of a buffer, as OpenGL has them.
function graphics.floats(id, count)
  local _, gl = graphics.libraries()
  local bound, values, list = ffi.new "int[1]", ffi.new("float[?]", count), {}
  gl.glGetIntegerv(graphics.array_buffer_binding, bound)
  gl.glBindBuffer(array_buffer, id)
  gl.glGetBufferSubData(array_buffer, 0, 4 * count, values)
  gl.glBindBuffer(array_buffer, bound[0])
  for i = 1, count do list[i] = values[i - 1] end
  return list
end

--- A texture of the program's without elements of its own: `internal` is its format, `format` and `type` those of transfers.
function graphics.new_texture(internal, width, height, format, type)
  local _, gl = graphics.libraries()
  local id = ffi.new "unsigned[1]"
  gl.glGenTextures(1, id)
  gl.glBindTexture(0x0DE1, id[0])
  gl.glTexImage2D(0x0DE1, 0, internal, width, height, 0, format, type, nil)
  gl.glBindTexture(0x0DE1, 0)
  return id[0]
end

--- The elements of a texture, as OpenGL has them, in an FFI array.
function graphics.texture_elements(id, format, type, ctype, count)
  local _, gl = graphics.libraries()
  local values = ffi.new(ctype .. "[?]", count)
  gl.glPixelStorei(0x0D05, 1)
  gl.glBindTexture(0x0DE1, id)
  gl.glGetTexImage(0x0DE1, 0, format, type, values)
  gl.glBindTexture(0x0DE1, 0)
  gl.glPixelStorei(0x0D05, 4)
  return values
end

function graphics.new_renderbuffer(internal, width, height)
  local _, gl = graphics.libraries()
  local id = ffi.new "unsigned[1]"
  gl.glGenRenderbuffers(1, id)
  gl.glBindRenderbuffer(0x8D41, id[0])
  gl.glRenderbufferStorage(0x8D41, internal, width, height)
  gl.glBindRenderbuffer(0x8D41, 0)
  return id[0]
end

function graphics.renderbuffer_bytes(id, width, height)
  local _, gl = graphics.libraries()
  local framebuffer, values = ffi.new "unsigned[1]", ffi.new("uint8_t[?]", 4 * width * height)
  gl.glGenFramebuffers(1, framebuffer)
  gl.glBindFramebuffer(0x8D40, framebuffer[0])
  gl.glFramebufferRenderbuffer(0x8D40, 0x8CE0, 0x8D41, id)
  gl.glReadPixels(0, 0, width, height, 0x1908, 0x1401, values)
  gl.glBindFramebuffer(0x8D40, 0)
  gl.glDeleteFramebuffers(1, framebuffer)
  return values
end

function graphics.integer(name)
  local _, gl = graphics.libraries()
  local value = ffi.new "int[1]"
  gl.glGetIntegerv(name, value)
  return value[0]
end

--- How many buffers the current context has, of the numbers that it has given.
function graphics.count_buffers()
  local _, gl = graphics.libraries()
  local id, count = ffi.new "unsigned[1]", 0
  gl.glGenBuffers(1, id)
  for number = 1, id[0] do count = count + gl.glIsBuffer(number) end -- not id[0], which was never bound
  gl.glDeleteBuffers(1, id)
  return count
end

return graphics

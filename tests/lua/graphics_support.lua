-- A program's OpenGL, by the FFI: what a host that embeds gpulua does with it.
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

-- Windows on a display of X's: what they show, what is pressed, and how they close. The events come from Xlib.
local gpu = require "gpu"
local ffi = require "ffi"

ffi.cdef [[
  typedef unsigned long XID;
  void* XOpenDisplay(const char* name);
  XID XDefaultRootWindow(void* display);
  int XQueryTree(void* display, XID window, XID* root, XID* parent, XID** children, unsigned* count);
  int XFetchName(void* display, XID window, char** name);
  XID XInternAtom(void* display, const char* name, int only_if_exists);
  XID XStringToKeysym(const char* name);
  unsigned char XKeysymToKeycode(void* display, XID keysym);
  int XSendEvent(void* display, XID window, int propagate, long mask, void* event);
  int XWarpPointer(void* display, XID from, XID to, int x, int y, unsigned width, unsigned height, int to_x, int to_y);
  int XSync(void* display, int discard);
  typedef struct { int type; unsigned long serial; int send_event; void* display; XID window, root, subwindow; unsigned long time;
    int x, y, x_root, y_root; unsigned state, code; int same_screen; long pad[24]; } x_input;
  typedef struct { int type; unsigned long serial; int send_event; void* display; XID window; XID message_type; int format;
    long data[5]; long pad[24]; } x_message;
]]
local x11 = ffi.load "libX11.so.6"
local display = x11.XOpenDisplay(nil)

local function window_named(title)
  local function find(window)
    local name = ffi.new "char*[1]"
    if x11.XFetchName(display, window, name) ~= 0 and ffi.string(name[0]) == title then return window end
    local root, parent, children, count = ffi.new "XID[1]", ffi.new "XID[1]", ffi.new "XID*[1]", ffi.new "unsigned[1]"
    x11.XQueryTree(display, window, root, parent, children, count)
    for i = 0, tonumber(count[0]) - 1 do
      local found = find(children[0][i])
      if found then return found end
    end
  end
  return assert(find(x11.XDefaultRootWindow(display)), "no window " .. title)
end

local types = {key_down = 2, key_up = 3, button_down = 4, button_up = 5}
local function send(id, type, code, x, y)
  local event = ffi.new("x_input", {type = types[type], display = display, window = id, root = x11.XDefaultRootWindow(display), x = x or 1,
    y = y or 1, code = code, same_screen = 1, time = 1})
  x11.XSendEvent(display, id, 0, 0, event)
  x11.XSync(display, 0)
end
local function key_code(name) return x11.XKeysymToKeycode(display, x11.XStringToKeysym(name)) end

--- Takes events until they have come: the server sends them when it likes.
local function await(what, has_come)
  local start = gpu.clock()
  repeat
    if has_come() then return end
  until gpu.clock() - start > 10000
  error("did not come: " .. what)
end

local window = gpu.window {width = 40, height = 30, title = "first", vsync = false}
assert(window:is_open() and window.width == 40 and window.height == 30)
local picture = gpu.random.integers({30, 40, 4}, 0, 255):astype "uint8"
picture[{":", ":", 4}] = 255
window:image(picture)
window:present()
assert(gpu.array_equal(window:read(), picture))

-- What the display has.
ffi.cdef [[
  typedef struct { int width, height, xoffset, format; unsigned char* data; int byte_order, bitmap_unit, bitmap_bit_order, bitmap_pad,
    depth, bytes_per_line, bits_per_pixel; } x_image;
  x_image* XGetImage(void* display, XID window, int x, int y, unsigned width, unsigned height, unsigned long planes, int format);
]]
local function check_display(title, expected)
  local image = x11.XGetImage(display, window_named(title), 0, 0, expected.shape[2], expected.shape[1], 0xffffff, 2)
  assert(image ~= nil and image.bits_per_pixel == 32)
  local table = expected:table()
  for y, row in ipairs(table) do
    for x, pixel in ipairs(row) do
      local at = image.data + (y - 1) * image.bytes_per_line + 4 * (x - 1) -- blue, green, red
      assert(at[2] == pixel[1] and at[1] == pixel[2] and at[0] == pixel[3], ("%d, %d shows %d %d %d"):format(x, y, at[2], at[1], at[0]))
    end
  end
end
check_display("first", picture)

-- Two windows, each with its own pixels and events.
local second = gpu.window {width = 20, height = 20, title = "second", vsync = false}
second:clear {0, 1, 0}
second:present()
assert(gpu.array_equal(window:read(), picture))
local first_id, second_id = window_named "first", window_named "second"
assert(window:is_open() and second:is_open())
send(second_id, "key_down", key_code "space")
await("a key", function() return window:is_open() and second:is_open() and second:pressed "space" end)
assert(second:key "space" and not second:pressed "a")
assert(not window:key "space" and not window:pressed "space")
assert(second:is_open() and second:key "space" and not second:pressed "space")
send(second_id, "key_up", key_code "space")
await("a key's end", function() return second:is_open() and not second:key "space" end)
x11.XWarpPointer(display, 0, first_id, 0, 0, 0, 0, 12, 7)
send(first_id, "button_down", 1, 12, 7)
send(first_id, "button_down", 4, 12, 7) -- the wheel
await("the wheel", function() return window:is_open() and window:mouse().wheel == 1 end)
local mouse = window:mouse()
assert(mouse.x == 12 and mouse.y == 7 and mouse.left and not mouse.right)
assert(window:is_open() and window:mouse().wheel == 0)

-- A size of the script's, and one of the user's.
window:resize(50, 60)
assert(window.width == 50 and window.height == 60 and window:is_open() and window.width == 50)
second:close() -- it hides the first
window:clear {1, 0, 0}
window:present()
check_display("first", gpu.array({255, 0, 0}, "uint8"):broadcast_to(60, 50, 3))
second = gpu.window {width = 20, height = 20, title = "third", vsync = false}

local function ask_to_close(id)
  local message = ffi.new("x_message", {type = 33, display = display, window = id, message_type = x11.XInternAtom(display, "WM_PROTOCOLS", 0),
    format = 32})
  message.data[0] = x11.XInternAtom(display, "WM_DELETE_WINDOW", 0)
  x11.XSendEvent(display, id, 0, 0, message)
  x11.XSync(display, 0)
end
ask_to_close(first_id)
await("the end", function() return not window:is_open() end)
assert(not window:is_open() and second:is_open())
assert(not pcall(window.present, window))
second:close()

-- gpu.show: frames of a function, and a picture until Escape.
local frames = 0
gpu.show(function(seconds)
  assert(seconds >= 0)
  frames = frames + 1
  return frames <= 5 and gpu.rand(20, 30, 3) or nil
end, {vsync = false, scale = 2, title = "frames"})
assert(frames == 6)
assert(not pcall(gpu.show, function() return frames end))
local events = 0
gpu.show(function()
  events = events + 1
  if events % 100 == 3 then send(window_named "escaped", "key_down", key_code "Escape") end
  return gpu.rand(5, 5)
end, {title = "escaped", vsync = false})
assert(events >= 3)

-- A chart that the mouse moves and the wheel zooms. The point is red; OpenGL draws it where the axes have it.
local has_gnuplot = io.popen("command -v gnuplot"):read "*l" ~= nil
if not has_gnuplot then print "gnuplot is not installed: charts in windows are not tested" end

local chart_width, chart_height = 300, 200
local function chart() return gpu.plot.points({1}, {1}, {color = "red", theme = "dark", size = 9, xlim = {0, 2}, ylim = {0, 2}, title = "moved"}) end

--- The middle of what is red on the display; nil: nothing is.
local function red_place(id)
  local image = x11.XGetImage(display, id, 0, 0, chart_width, chart_height, 0xffffff, 2)
  local count, x_sum, y_sum = 0, 0, 0
  for y = 0, chart_height - 1 do
    for x = 0, chart_width - 1 do
      local at = image.data + y * image.bytes_per_line + 4 * x
      if at[2] > 150 and at[1] < 90 and at[0] < 90 then count, x_sum, y_sum = count + 1, x_sum + x, y_sum + y end
    end
  end
  if count > 0 then return {x_sum / count, y_sum / count} end
end

local function user(next_frame)
  next_frame()
  local id = window_named "moved"
  local start
  local function await_point(what, x, y)
    local begin = gpu.clock()
    repeat
      next_frame()
      local place = red_place(id)
      if place and math.abs(place[1] - x) <= 1.5 and math.abs(place[2] - y) <= 1.5 then return place end
    until gpu.clock() - begin > 10000
    local place = red_place(id) or {-1, -1}
    error(("%s: expected a point at %g, %g, got %g, %g"):format(what, x, y, place[1], place[2]))
  end
  local function warp(x, y)
    x11.XWarpPointer(display, 0, id, 0, 0, 0, 0, x, y)
    x11.XSync(display, 0)
    for _ = 1, 5 do next_frame() end -- the events come one after the other, and not in one frame
  end
  local begin = gpu.clock()
  repeat
    next_frame()
    start = red_place(id)
  until start or gpu.clock() - begin > 10000
  assert(start, "no point is drawn")
  warp(150, 100)
  send(id, "button_down", 1, 150, 100)
  warp(150, 100)
  warp(190, 80)
  send(id, "button_up", 1, 190, 80)
  await_point("a drag", start[1] + 40, start[2] - 20)
  warp(100, 50)
  send(id, "button_down", 4, 100, 50) -- the wheel
  send(id, "button_down", 4, 100, 50)
  local nearer = 0.85 ^ 2
  await_point("the wheel", 100 + (start[1] + 40 - 100) / nearer, 50 + (start[2] - 20 - 50) / nearer)
  send(id, "key_down", key_code "r")
  await_point("r", start[1], start[2])
  send(id, "key_down", key_code "Escape")
  for _ = 1, 500 do next_frame() end
  error "Escape does not end the chart"
end

if has_gnuplot then
  local step = coroutine.wrap(function() user(function() coroutine.yield(chart()) end) end)
  gpu.plot.show(function() return step() end, {window = true, width = chart_width, height = chart_height})
  local shown = 0
  gpu.plot.show(function()
    shown = shown + 1
    return shown <= 3 and gpu.plot.line {1, shown} or nil
  end, {window = true})
  assert(shown == 4)
  assert(not pcall(gpu.plot.show, function() return 3 end, {window = true}))
end

-- A program whose OpenGL context is GLX's, while windows have EGL's.
ffi.cdef [[
  void** glXChooseFBConfig(void* display, int screen, const int* attributes, int* count);
  void* glXCreateNewContext(void* display, void* config, int type, void* share, int direct);
  XID glXCreatePbuffer(void* display, void* config, const int* attributes);
  int glXMakeContextCurrent(void* display, XID draw, XID read, void* context);
  void* glXGetCurrentContext(void);
  XID glXGetCurrentDrawable(void);
]]
local glx = ffi.load "libGLX.so.0"
local config = glx.glXChooseFBConfig(display, 0, ffi.new("int[3]", {0x8010, 4, 0}), ffi.new "int[1]")[0]
local pixels = glx.glXCreatePbuffer(display, config, ffi.new("int[5]", {0x8041, 16, 0x8040, 16, 0}))
local context = glx.glXCreateNewContext(display, config, 0x8014, nil, 1)
assert(glx.glXMakeContextCurrent(display, pixels, pixels, context) == 1)
local function check_context() assert(glx.glXGetCurrentContext() == context and glx.glXGetCurrentDrawable() == pixels) end
local theirs = gpu.gl.buffer(3, "float32")
theirs:with(function(x) x:copy_(gpu.array {1, 2, 3}) end)
check_context()
for _, headless in ipairs {true, false} do
  local other = gpu.window {width = 4, height = 4, headless = headless, vsync = false}
  check_context()
  other:clear {0, 0, 1}
  other:present()
  local b = other:buffer(2, "float32")
  b:with(function(x)
    x:fill_(1)
    assert(theirs:with(function(y) return y:sum():item() end) == 6)
  end)
  assert(other:is_open() and other:read()[{1, 1, 3}]:item() == 255)
  other:with(function() assert(glx.glXGetCurrentContext() == nil) end)
  check_context()
  other:close()
  check_context()
end
assert(theirs:with(function(x) return x:sum():item() end) == 6)
theirs:release()
glx.glXMakeContextCurrent(display, 0, 0, nil)

-- A window that nobody closes, or that is collected, does not keep the script.
gpu.window {title = "left", width = 10, height = 10}
collectgarbage()
gpu.window {title = "open", width = 10, height = 10}
print "ok"

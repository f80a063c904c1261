-- gpu.window: windows that draw arrays by OpenGL.
-- In sandboxes: none
local gpu, _, core, import = ...
local checks, objects, kinds, records = import "checks", import "objects", import "kinds", import "records"
local colors, projection, gl = import "colors", import "projection", import "gl"

local exports = {}
local methods = {}

local parameters = {
  is_open = "()", close = "()", resize = "(width, height)", present = "()", key = "(name)", pressed = "(name)", mouse = "()",
  with = "(fn, ...)", buffer = "(shape, dtype [, {device}])", clear = "([color])",
  draw = "(points [, {size, color, colormap, min, max, limits, camera}])",
  lines = "(points [, {width, color, colormap, min, max, limits, camera}])",
  image = "(pixels [, {place, smooth, colormap, min, max}])", read = "([{device}])", save = "(path)",
}
local option_names = {}
for name, text in pairs(parameters) do
  option_names[name] = {}
  for option in (text:match "%b{}" or ""):gmatch "%w+" do table.insert(option_names[name], option) end
end

--- The checked options of a method.
local function options_of(name, options) return checks.fields("window:" .. name, options, option_names[name]) end

local function handle_of(window) return rawget(window, "handle") end

local most_pixels = 16384

local function extent(op, name, value)
  return checks.count(op, ("%s = a number of pixels from 1 to %d"):format(name, most_pixels), value, 1, most_pixels)
end

local function positive(op, name, value, default)
  if value == nil then return default end
  if type(value) ~= "number" or not (value > 0 and value < math.huge) then
    core.fail(op, name .. " = a number of pixels above 0", value)
  end
  return value
end

-- ---- the window ---------------------------------------------------------------------------------------------------------------

function methods.is_open(window) return core.window_is_open(handle_of(window)) end

function methods.close(window) core.window_close(handle_of(window)) end

function methods.resize(window, width, height)
  core.window_resize(handle_of(window), extent("window:resize", "width", width), extent("window:resize", "height", height))
end

function methods.present(window) core.window_present(handle_of(window)) end

function methods.key(window, name) return core.window_key(handle_of(window), name) end

function methods.pressed(window, name) return core.window_pressed(handle_of(window), name) end

local mouse_type = records.type "window:mouse"

function methods.mouse(window)
  local x, y, left, right, middle, wheel = core.window_mouse(handle_of(window))
  return setmetatable({x = x, y = y, left = left, right = right, middle = middle, wheel = wheel}, mouse_type)
end

local function leave(handle, ok, ...)
  core.window_leave(handle)
  if not ok then error((...), 0) end
  return ...
end

methods["with"] = function(window, fn, ...)
  checks.lua_function("window:with", "a function that calls OpenGL", fn)
  local handle = handle_of(window)
  core.window_enter(handle, "window:with")
  return leave(handle, core.call(fn, ...))
end

function methods.buffer(window, shape, dtype, options)
  options = options_of("buffer", options)
  local handle = handle_of(window)
  core.window_enter(handle, "window:buffer")
  return leave(handle, pcall(gl.new, "window:buffer", nil, shape, dtype, options))
end

-- ---- what it draws --------------------------------------------------------------------------------------------------------------

function methods.clear(window, color)
  core.window_clear(handle_of(window), color == nil and {0, 0, 0, 1} or colors.one("window:clear", "color", color))
end

--- Positions as rows of float32, or a buffer of OpenGL's with such rows; and their number.
local function places(op, value)
  local what = "positions, an array of shape (n,2) or (n,3)"
  if gl.is_buffer(value) then
    local shape = value.shape
    if value.dtype ~= "float32" or #shape ~= 2 or shape[2] < 2 or shape[2] > 3 then
      core.raise(("[%s] expected a buffer of float32 of shape (n,2) or (n,3), got %s%s"):format(op, value.dtype,
        checks.shape_text(shape)))
    end
    return rawget(value, "handle"), shape[1]
  end
  if type(value) == "table" then value = gpu.array(value, "float32") end
  if not core.is_array(value) then core.fail(op, what, value) end
  if value.ndim ~= 2 or value.shape[2] < 2 or value.shape[2] > 3 then
    local is_turned = value.ndim == 2 and value.shape[1] > 1 and value.shape[1] <= 3
    core.fail(op, what .. (is_turned and "; x.T has a row for each position" or ""), value)
  end
  checks.real(op, value)
  return core.cast(value, "float32"):contiguous(), value.shape[1]
end

--- One colour, or rows of colours for `count` positions.
local function color_of(op, options, count)
  local value = options.color
  if not core.is_array(value) then
    if options.colormap ~= nil then core.fail(op, "color = an array of numbers, which the colormap colours", value) end
    colors.check_unmapped(op, options)
    return value == nil and {1, 1, 1, 1} or colors.one(op, "color", value)
  end
  local what = ("color = colours of shape (%d,3) or (%d,4), one for each position, or numbers (%d,) with a colormap"):format(count,
    count, count)
  if value.ndim < 1 or value.shape[1] ~= count then core.fail(op, what, value) end
  if value.ndim == 1 and options.colormap ~= nil then return colors.mapped(op, value, options):contiguous() end
  if value.ndim ~= 2 or value.shape[2] < 3 or value.shape[2] > 4 or options.colormap ~= nil then core.fail(op, what, value) end
  colors.check_unmapped(op, options)
  if value.dtype ~= "uint8" then
    if not kinds.is_floating(value) then core.fail(op, "color = uint8, or floating-point numbers from 0 to 1", value) end
    value = core.cast(value, "float32")
  end
  return value:contiguous()
end

local function draw(op, window, positions, options, how, size)
  local handle = handle_of(window)
  local width, height = core.window_size(handle)
  local matrix, has_depth = projection.matrix(op, options, width, height)
  local rows, count = places(op, positions)
  local color = color_of(op, options, count)
  if count > 0 then how(handle, rows, matrix, has_depth, color, size) end
end

function methods.draw(window, points, options)
  options = options_of("draw", options)
  draw("window:draw", window, points, options, core.window_points, positive("window:draw", "size", options.size, 1))
end

function methods.lines(window, points, options)
  options = options_of("lines", options)
  draw("window:lines", window, points, options, core.window_lines, positive("window:lines", "width", options.width, 1))
end

--- {x, y, width, height} in pixels from the top left, in OpenGL's numbers.
local function rectangle(op, place, width, height)
  local what = "place = {x, y, width, height}, numbers of pixels from the top left"
  if place == nil then return {-1, -1, 1, 1} end
  if type(place) ~= "table" or #place ~= 4 then core.fail(op, what, place) end
  for i = 1, 4 do checks.finite(op, what, place[i]) end
  local x, y = place[1], place[2]
  return {2 * x / width - 1, 2 * y / height - 1, 2 * (x + place[3]) / width - 1, 2 * (y + place[4]) / height - 1}
end

function methods.image(window, pixels, options)
  options = options_of("image", options)
  local handle = handle_of(window)
  local width, height = core.window_size(handle)
  local corners = rectangle("window:image", options.place, width, height)
  local smooth = checks.flag("window:image", "smooth", options.smooth)
  core.window_picture(handle, colors.pixels("window:image", checks.array("window:image", pixels), options), corners, smooth)
end

function methods.read(window, options)
  return core.window_read(handle_of(window), options_of("read", options).device)
end

function methods.save(window, path) return gpu.image.save(path, methods.read(window)) end

exports.window = objects.class("window", "an OpenGL window", "width, height", methods, parameters, {
  width = function(window) return (core.window_size(handle_of(window))) end,
  height = function(window) return (select(2, core.window_size(handle_of(window)))) end,
})

function exports.window:__tostring()
  local width, height = core.window_size(handle_of(self))
  return ("window of %d x %d pixels"):format(width, height)
end

local function flag(op, name, value, default)
  if checks.flag(op, name, value) == nil then return default end
  return value
end

--- gpu.window([{width, height, title, vsync, resizable, headless, device}])
function gpu.window(options)
  options = checks.fields("window", options)
  local title = options.title or "gpulua"
  if type(title) ~= "string" then core.fail("window", "title = a text", title) end
  local handle = core.window_open(gl.contexts, {
    width = extent("window", "width", options.width or 800), height = extent("window", "height", options.height or 600), title = title,
    vsync = flag("window", "vsync", options.vsync, true), resizable = flag("window", "resizable", options.resizable, true),
    headless = flag("window", "headless", options.headless, false),
  }, options.device)
  return setmetatable({handle = handle}, exports.window)
end

-- ---- gpu.show -------------------------------------------------------------------------------------------------------------------

local function show(window, picture, options)
  window:clear()
  window:image(picture, {colormap = options.colormap, min = options.min, max = options.max, smooth = options.smooth})
  window:present()
end

--- gpu.show(x [, {title, scale, smooth, colormap, min, max, vsync}])
function gpu.show(x, options)
  options = checks.fields("show", options)
  local is_function = type(x) == "function"
  if not is_function and not core.is_array(x) then
    core.fail("show", "a picture, or a function that gives one for a time in seconds", x)
  end
  local scale = positive("show", "scale", options.scale, 1)
  local picture, start = x, gpu.clock()
  if is_function then
    picture = x(0)
    if picture == nil then return end
    if not core.is_array(picture) then core.fail("show", "a function that gives pictures", picture) end
  end
  if picture.ndim < 2 then core.fail("show", "pixels of shape (height,width), (height,width,3) or (height,width,4)", picture) end
  local width, height = math.ceil(picture.shape[2] * scale), math.ceil(picture.shape[1] * scale)
  local window = gpu.window {width = width, height = height, title = options.title, vsync = options.vsync}
  local shown, why = core.call(function()
    while window:is_open() and not window:pressed "escape" do
      show(window, picture, options)
      if is_function then picture = x((gpu.clock() - start) / 1000) else core.window_wait(handle_of(window), 0.1) end
      if picture == nil then break end
    end
  end)
  window:close()
  if not shown then error(why, 0) end
end

return exports

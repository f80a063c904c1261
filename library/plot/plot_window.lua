-- Charts in windows. gnuplot draws a picture of the axes, the texts and most layers, anew when something in it changes. Lines and points
-- stay on the device: OpenGL draws them, all of them, over the picture within the axes.
-- In sandboxes: none
local gpu, _, core, import = ...
local axes_of = import "plot_axes"
local gnuplot = import "plot_gnuplot"
local options_of = import "plot_options"
local window_class = import("window").window

local exports = {}

-- ---- layers that OpenGL draws ---------------------------------------------------------------------------------------------------

local is_points = {points = true, image = true} -- the image of a cloud
local most_size = 60 -- pixels of a point, which OpenGL draws everywhere

local function is_drawn_here(layer)
  if layer.kind == "line" then return (layer.dash or "solid") == "solid" and not layer.marker end
  if layer.kind == "image" then return layer.source ~= nil end
  return layer.kind == "points" and (layer.marker or "circle") == "circle" and (layer.size or 6) <= most_size
end

--- What stands for such a layer in gnuplot's picture: an entry of the legend.
local function stand_in(layer, theme)
  local copy = {}
  for name, value in pairs(layer) do copy[name] = value end
  copy.x, copy.y, copy.rows = {0 / 0}, {0 / 0}, nil
  if layer.kind == "image" then copy.kind, copy.color = "points", layer.color or theme.cycle[1] end
  return copy
end

--- A chart's options with these ones in their place.
local function changed(options, by)
  local all = {}
  for name, value in pairs(options) do all[name] = value end
  for name, value in pairs(by) do all[name] = value end
  return all
end

--- The chart for gnuplot's picture, with these axes.
local function background_of(p, axes)
  local options, layers, theme = changed(rawget(p, "options"), {}), {}, options_of.theme_of(p)
  for name, axis in pairs(axes) do options[name .. "lim"] = {axis.low, axis.high} end
  for i, layer in ipairs(rawget(p, "layers")) do
    local is_here = is_drawn_here(layer)
    layers[i] = is_here and stand_in(layer, theme) or layer
    -- The data would cover it.
    if is_here then options.legend = options.legend or "below" end
  end
  return {options = options, layers = layers}
end

--- Shares of an axis, from 0 at its beginning to 1 at its end; NaN where there is no logarithm.
local function shares(values, axis)
  if axis.log then values = gpu.where(values:gt(0), values:log10(), 0 / 0) end
  return (values - axis.from) / (axis.to - axis.from)
end

--- The places of a layer's points as rows of two shares of the axes.
local function places_of(layer, x_axis, y_axis)
  local source, x, y = layer.source, nil, nil
  if source then
    y = source.y:astype "float64"
    x = source.x and source.x:astype "float64" or gpu.range(1, y.size, {dtype = "float64", device = y.device})
  else
    x, y = gpu.array(layer.x, "float64"), gpu.array(layer.y, "float64")
  end
  return gpu.stack({shares(x, x_axis), shares(y, y_axis)}, 2):astype("float32"):eval()
end

--- "#rrggbb" as a colour of windows.
local function rgb(hex, opacity)
  local function part(at) return tonumber(hex:sub(at, at + 1), 16) / 255 end
  return {part(2), part(4), part(6), opacity}
end

local function color_of(layer, theme)
  local hex = layer.kind == "image" and (layer.color or theme.cycle[1]) or options_of.color_of(layer, theme)
  local opacity = layer.opacity or layer.kind == "image" and 0.4 or 1
  return rgb(hex, opacity)
end

-- ---- a frame --------------------------------------------------------------------------------------------------------------------

-- What was drawn last in each window: gnuplot's picture, and by layer the places for certain axes.
local drawn = setmetatable({}, {__mode = "k"})

local least_size = 50

--- The parts of the picture around the axes, over what lies beyond them.
local function cover_outside(window, frame)
  local width, height = window.width, window.height
  local left, right = math.floor(frame.left) + 1, math.ceil(frame.right)
  local top, bottom = math.floor(frame.top) + 1, math.ceil(frame.bottom)
  for _, part in ipairs {{0, 0, width, top}, {0, bottom, width, height}, {0, top, left, bottom}, {right, top, width, bottom}} do
    local x, y, x_end, y_end = unpack(part)
    if x_end > x and y_end > y then
      window:image(frame.pixels({y + 1, y_end}, {x + 1, x_end}):contiguous(), {place = {x, y, x_end - x, y_end - y}})
    end
  end
end

--- Draws a chart, or grid of charts, in a window. `limits`: xlim and others, in place of the chart's. Gives the axes and where they are; nil of a grid, of a
--- surface, and in a window that is too small.
local function draw(op, window, p, limits)
  local width, height = window.width, window.height
  local theme = options_of.common_theme(op, {p})
  window:clear(rgb(theme.background))
  if width < least_size or height < least_size then return nil end
  local last = drawn[window] or {places = setmetatable({}, {__mode = "k"})}
  drawn[window] = last
  local layers = rawget(p, "layers")
  if not layers or layers[1].kind == "surface" then
    last.frame = gnuplot.frame(op, p, {width, height}, last.frame)
    window:image(last.frame.pixels)
    return nil
  end
  local axes = axes_of.of({options = changed(rawget(p, "options"), limits), layers = layers}, 0.04)
  local frame = gnuplot.frame(op, background_of(p, axes), {width, height}, last.frame)
  last.frame = frame
  window:image(frame.pixels)
  local across, down = frame.right - frame.left, frame.bottom - frame.top
  local edges = {-frame.left / across, (width - frame.left) / across, (frame.bottom - height) / down, frame.bottom / down}
  local is_covered = false
  for _, layer in ipairs(layers) do
    if is_drawn_here(layer) then
      local y_axis = layer.axis == "right" and axes.y2 or axes.y
      local key = ("%.17g %.17g %.17g %.17g"):format(axes.x.from, axes.x.to, y_axis.from, y_axis.to)
      local known = last.places[layer]
      if not known or known.key ~= key then known = {key = key, places = places_of(layer, axes.x, y_axis)} end
      last.places[layer] = known
      if is_points[layer.kind] then
        window:draw(known.places, {size = layer.size or layer.kind == "points" and 6 or 1, color = color_of(layer, theme), limits = edges})
      else
        window:lines(known.places, {width = layer.width or 2, color = color_of(layer, theme), limits = edges})
      end
      is_covered = true
    end
  end
  if is_covered then cover_outside(window, frame) end
  return axes, frame
end

-- ---- what the user does ---------------------------------------------------------------------------------------------------------

--- The ends of an axis that was moved by a share of its length, and then became `factor` times as long around a share of it; nil where
--- numbers cannot tell them apart.
local function moved(axis, shift, factor, at)
  local length = axis.to - axis.from
  local middle = axis.from + at * length
  local from, to = middle + (axis.from - middle) * factor - shift * length, middle + (axis.to - middle) * factor - shift * length
  local most = math.max(math.abs(from), math.abs(to))
  if not (math.abs(to - from) > 1e-12 * most and most < (axis.log and 300 or 1e300)) then return nil end
  return axis.log and {10 ^ from, 10 ^ to} or {from, to}
end

--- Sets the limits of the axes to what the mouse has done since `before`. Whether it has done something.
local function follow(mouse, before, axes, frame, limits)
  local across, down = 0, 0
  if mouse.left and before.left then
    across, down = (mouse.x - before.x) / (frame.right - frame.left), (before.y - mouse.y) / (frame.bottom - frame.top)
  end
  if across == 0 and down == 0 and mouse.wheel == 0 then return false end
  local factor = 0.85 ^ mouse.wheel
  local at_x, at_y = (mouse.x - frame.left) / (frame.right - frame.left), (frame.bottom - mouse.y) / (frame.bottom - frame.top)
  local wanted = {}
  for name, axis in pairs(axes) do
    local is_x = name == "x"
    wanted[name] = moved(axis, is_x and across or down, factor, is_x and at_x or at_y)
    if not wanted[name] then return false end
  end
  for name, ends in pairs(wanted) do limits[name .. "lim"] = ends end
  return true
end

--- Draws the charts of `next_chart`, a function of the seconds since the start, until the window is closed or there is none. `is_live`:
--- each frame has another one.
local function watch(op, window, next_chart, is_live)
  local start, limits, is_new = gpu.clock(), {}, true
  local mouse, axes, frame, width, height
  while window:is_open() and not window:pressed "escape" do
    local p = next_chart((gpu.clock() - start) / 1000)
    if p == nil then return end
    local before = mouse
    mouse = window:mouse()
    if window:pressed "r" then limits, is_new = {}, true end
    if before and axes and follow(mouse, before, axes, frame, limits) then is_new = true end
    if is_live or is_new or window.width ~= width or window.height ~= height then
      axes, frame = draw(op, window, p, limits)
      width, height, is_new = window.width, window.height, false
    else
      core.window_wait(rawget(window, "handle"), 0.1)
    end
    window:present()
  end
end

local function is_window(value) return type(value) == "table" and debug.getmetatable(value) == window_class end

--- p:show{window = ...}: in a window of its own until it is closed, or one frame in a window of the script's.
function exports.show(op, p, options, is_chart)
  local is_live = type(p) == "function"
  local function check(value)
    return is_chart(value) and value or core.fail(op, is_live and "a function that gives charts" or "a chart, or a function that gives charts", value)
  end
  if options.sixel ~= nil then core.fail(op, "no sixel beside window", options.sixel) end
  if is_window(options.window) then
    if options.width or options.height then core.fail(op, "no width and height: the window has its own", options.width or options.height) end
    draw(op, options.window, check(p), {})
    return
  end
  if options.window ~= true then core.fail(op, "window = true, or a window of gpu.window", options.window) end
  local function chart_at(seconds)
    if not is_live then return p end
    local value = p(seconds)
    return value ~= nil and check(value) or nil
  end
  local first = is_live and chart_at(0) or check(p)
  if first == nil then return end
  local title = not rawget(first, "charts") and rawget(first, "options").title
  local window = gpu.window {width = options.width or 800, height = options.height or 500, title = title or "chart"}
  local shown, why = core.call(watch, op, window, function(seconds)
    local p_now = first or chart_at(seconds)
    if is_live then first = nil end
    return p_now
  end, is_live)
  window:close()
  if not shown then error(why, 0) end
end

return exports

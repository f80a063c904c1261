-- gpu.plot: charts. A chart is a list of layers, whose data are small by then: plot_data.lua reduces them on the device. Renderers
-- draw the layers: plot_gnuplot.lua pictures, plot_vega.lua JSON, plot_terminal.lua characters.
-- In sandboxes: none
local gpu, _, core, import = ...
local checks = import "checks"
local kinds = import "kinds"

local exports = {}

local plot = gpu.plot
local data = import "plot_data"

-- ---- options --------------------------------------------------------------------------------------------------------------------

local colors = {
  black = "#000000", gray = "#7f7f7f", red = "#d62728", green = "#2ca02c", blue = "#1f77b4", orange = "#ff7f0e", purple = "#9467bd",
  brown = "#8c564b", pink = "#e377c2", yellow = "#bcbd22", cyan = "#17becf", white = "#ffffff",
}
-- The colours of layers that name none, one after the other.
local cycle = {"blue", "orange", "green", "red", "purple", "brown", "pink", "gray", "yellow", "cyan"}

local function names_of(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, ", ")
end

local function check_text(op, name, value)
  if type(value) ~= "string" then core.fail(op, name .. ", a string", value) end
  return value
end

local function is_finite(value) return type(value) == "number" and value - value == 0 end

local function check_positive(op, name, value)
  if not is_finite(value) or value <= 0 then core.fail(op, name .. ", a number above 0", value) end
  return value
end

local function check_range(op, name, value)
  local low, high = type(value) == "table" and value[1], type(value) == "table" and value[2]
  if not (is_finite(low) and is_finite(high) and low < high and #value == 2) then
    local got = type(value) == "table" and is_finite(low) and is_finite(high) and ("{%.14g, %.14g}"):format(low, high)
    if got then core.raise(("[%s] expected %s = {least, greatest}, got %s"):format(op, name, got)) end
    core.fail(op, name .. " = {least, greatest}, two numbers", value)
  end
  return {low, high}
end

local function one_of(choices)
  return function(op, name, value)
    if not choices[value] then core.fail(op, ("%s, one of %s"):format(name, names_of(choices)), value) end
    return value
  end
end

local option_checks = {
  label = check_text, title = check_text, xlabel = check_text, ylabel = check_text, xlim = check_range, ylim = check_range,
  width = check_positive, size = check_positive, log = one_of {x = true, y = true, xy = true},
  dash = one_of {solid = true, dashed = true, dotted = true}, colormap = one_of(data.colormaps),
  color = function(op, _, value)
    if type(value) == "string" and value:find "^#%x%x%x%x%x%x$" then return value end
    if not colors[value] then core.fail(op, "a colour, \"#rrggbb\" or one of " .. names_of(colors), value) end
    return colors[value]
  end,
  min = function(op, name, value)
    if not is_finite(value) then core.fail(op, name .. ", a number", value) end
    return value
  end,
  extent = function(op, name, value)
    local fits = type(value) == "table" and #value == 4
    for i = 1, 4 do fits = fits and is_finite(value[i]) end
    if not fits or value[1] == value[2] or value[3] == value[4] then
      core.fail(op, name .. " = {left, right, bottom, top}, four numbers", value)
    end
    return {unpack(value)}
  end,
}
option_checks.max = option_checks.min

-- The options of the whole chart, which may be given with any of its layers.
local of_chart = {title = true, xlabel = true, ylabel = true, log = true, xlim = true, ylim = true}

--- The arguments of a layer, its options, and those of the chart.
local function read_arguments(op, most, ...)
  local count = select("#", ...)
  local arguments, given = {...}, nil
  local last = arguments[count]
  local is_empty = count > 1 and type(last) == "table" and next(last) == nil and not getmetatable(last) -- options that are nil
  if count > 0 and (is_empty or checks.is_options(last)) then given, arguments[count], count = arguments[count], nil, count - 1 end
  if count > most then core.fail("plot." .. op, ("at most %d arguments and a table of options"):format(most), arguments[most + 1]) end
  local layer, chart = {}, {}
  for name, value in pairs(checks.fields("plot." .. op, given)) do
    value = (option_checks[name] or function(_, _, unchecked) return unchecked end)("plot." .. op, name, value)
    if of_chart[name] then chart[name] = value else layer[name] = value end
  end
  return arguments, layer, chart
end

-- ---- layers ---------------------------------------------------------------------------------------------------------------------

-- Each function gives a layer's kind and data: op, arguments, the layer's options, the chart's options.
local layers = {}

--- gpu.plot.line(x [, y] [, {label, color, width, dash, title, xlabel, ylabel, log, xlim, ylim}])
function layers.line(op, arguments, _, options)
  local x, y = data.points(op, arguments[1], arguments[2])
  local xs, ys = data.line(x, y, options.log)
  return {kind = "line", x = xs, y = ys}
end

--- gpu.plot.points(x [, y] [, {label, color, size, title, xlabel, ylabel, log, xlim, ylim}])
function layers.points(op, arguments, layer, options)
  local x, y = data.points(op, arguments[1], arguments[2])
  if y.size > data.most_points and not options.log then
    local rows, extent = data.density(x or gpu.range(1, y.size, {dtype = "float64", device = y.device}), y)
    return {kind = "image", rows = rows, extent = extent, label = layer.label, colormap = "viridis", up = true}
  end
  local xs, ys = data.thinned(x, y, data.most_points)
  return {kind = "points", x = xs, y = ys}
end

--- gpu.plot.histogram(x [, bins] [, {density, label, color, title, xlabel, ylabel, log, xlim, ylim}])
function layers.histogram(op, arguments, layer)
  local x = data.vector(op, "values", arguments[1])
  if kinds.is_floating(x) and not core.is_array(arguments[2]) then x = x(x:isfinite()) end
  if x.size == 0 then core.fail(op, "a value that is finite", arguments[1]) end
  local heights, edges = gpu.histogram(x, arguments[2] or 10, {density = checks.flag(op, "density", layer.density)})
  return {kind = "bars", left = data.numbers(edges({1, -2})), right = data.numbers(edges({2, -1})), y = data.numbers(heights)}
end

--- gpu.plot.bars(x [, heights] [, {label, color, title, xlabel, ylabel, log, xlim, ylim}])
function layers.bars(op, arguments, _, options)
  local xs, ys
  xs, ys, options.names = data.bars(op, arguments[1], arguments[2])
  local half = 0.4 * data.least_step(xs)
  local layer = {kind = "bars", left = {}, right = {}, y = ys}
  for i, x in ipairs(xs) do layer.left[i], layer.right[i] = x - half, x + half end
  return layer
end

--- gpu.plot.image(m [, {colormap, min, max, extent, label, title, xlabel, ylabel, log, xlim, ylim}])
function layers.image(op, arguments, layer)
  local rows, width, height = data.rows(op, arguments[1], 800)
  return {kind = "image", rows = rows, extent = layer.extent or {0.5, width + 0.5, height + 0.5, 0.5}, up = layer.extent ~= nil}
end

--- gpu.plot.contour(m [, levels] [, {colormap, extent, label, width, title, xlabel, ylabel, log, xlim, ylim}])
function layers.contour(op, arguments, layer)
  local rows, width, height = data.rows(op, arguments[1], 200)
  local extent = layer.extent or {0.5, width + 0.5, height + 0.5, 0.5}
  local segments, levels = data.contours(op, rows, arguments[2] or 10, extent)
  return {kind = "segments", segments = segments, min = levels[1], max = levels[#levels], up = layer.extent ~= nil}
end

--- gpu.plot.band([x,] low, high [, {label, color, title, xlabel, ylabel, log, xlim, ylim}])
function layers.band(op, arguments)
  local first, low, high = unpack(arguments, 1, 3)
  if high == nil then first, low, high = nil, first, low end
  local x, _
  low, high = data.vector(op, "low", low), data.vector(op, "high", high)
  if low.size ~= high.size then
    core.raise(("[%s] expected as many low as high, got %.0f and %.0f"):format(op, low.size, high.size))
  end
  if first ~= nil then
    x, low = data.points(op, first, low)
    _, high = data.points(op, first, high)
  end
  local xs, lows = data.line(x, low, nil, "min")
  local _, highs = data.line(x, high, nil, "max")
  return {kind = "band", x = xs, low = lows, high = highs}
end

--- gpu.plot.errorbars(x, y, errors [, {label, color, size, title, xlabel, ylabel, log, xlim, ylim}])
function layers.errorbars(op, arguments)
  local x, y = data.points(op, arguments[1], arguments[2])
  local d = arguments[3]
  if type(d) == "number" then d = gpu.full(y.size, d, {dtype = "float64", device = y.device}) end
  d = data.vector(op, "errors", d)
  if d.size ~= y.size then core.fail(op, ("an error for each of %d points"):format(y.size), arguments[3]) end
  if y.size > data.most_line then core.fail(op, ("at most %d points; gpu.plot.band shows more"):format(data.most_line), arguments[2]) end
  if d:lt(0):any():item() then core.fail(op, "errors of 0 or more, the lengths above and below the points", d) end
  return {kind = "errorbars", x = data.numbers(x), y = data.numbers(y), low = data.numbers(y - d), high = data.numbers(y + d)}
end

-- The most arguments of each, without the chart and options.
local most_arguments = {line = 2, points = 2, bars = 2, histogram = 2, image = 1, contour = 2, band = 3, errorbars = 3}

-- ---- charts ---------------------------------------------------------------------------------------------------------------------

local methods = {}
local chart = {__metatable = "a chart", methods = methods}
exports.class = chart

-- All charts, as the keys.
local made = setmetatable({}, {__mode = "k"})

local function new_chart(fields)
  local p = setmetatable(fields, chart)
  made[p] = true
  return p
end

function chart.__index(_, name)
  if methods[name] then return methods[name] end
  if of_chart[name] then
    core.raise(("[plot] %s is an option of a layer: p:line(x, y, {%s = ...})"):format(name, name))
  end
  local names = {}
  for method in pairs(methods) do names[#names + 1] = method end
  core.raise(("[plot] a chart has no field or method %s%s"):format(core.describe(name), core.did_you_mean(tostring(name), names)))
end

function chart.__newindex(_, name)
  core.raise(("[plot] expected an option with a layer, such as p:line(x, y, {title = \"prices\"}), got %s"):format(core.describe(name)))
end

function chart.__tostring(p)
  local charts, kinds = rawget(p, "charts"), {}
  if charts then return ("a grid of %d charts; p:save(path) draws it, p:show() on the terminal"):format(#charts) end
  for i, layer in ipairs(rawget(p, "layers")) do kinds[i] = layer.kind end
  return ("a chart: %s; p:save(path) draws it, p:show() on the terminal"):format(table.concat(kinds, ", "))
end

local function is_chart(value) return type(value) == "table" and made[value] end

local function check_chart(op, value)
  if not is_chart(value) then core.fail("plot." .. op, "a chart, as gpu.plot.line gives", value) end
  return value
end

--- Raises an error for a logarithmic axis on which a layer has numbers, and none above 0.
local function check_log(op, layer, log)
  local fields = {x = {"x", "left", "right"}, y = {"y", "low", "high"}}
  for axis in (log or ""):gmatch "." do
    local is_there, is_empty = false, true
    for _, name in ipairs(fields[axis]) do
      for _, value in ipairs(layer[name] or {}) do
        is_there, is_empty = is_there or is_finite(value), is_empty and not (value > 0)
      end
    end
    if is_there and is_empty then
      core.raise(("[%s] expected a value above 0 for the logarithmic axis %s, got none"):format(op, axis))
    end
  end
end

local function add_layer(p, op, ...)
  if rawget(p, "charts") then core.raise(("[plot.%s] expected a chart, got a grid of charts"):format(op)) end
  local arguments, layer, options = read_arguments(op, most_arguments[op], ...)
  local held = rawget(p, "options")
  options.log = options.log or held.log
  for name, value in pairs(layers[op]("plot." .. op, arguments, layer, options)) do
    if layer[name] == nil then layer[name] = value end
  end
  local all = rawget(p, "layers")
  layer.color = layer.color or colors[cycle[#all % #cycle + 1]]
  for _, other in ipairs {layer, unpack(all)} do check_log("plot." .. op, other, options.log) end
  all[#all + 1] = layer
  for name, value in pairs(options) do held[name] = value end
  return p
end

for op in pairs(layers) do
  plot[op] = function(...) return add_layer(new_chart {layers = {}, options = {}}, op, ...) end
  methods[op] = function(p, ...) return add_layer(check_chart(op, p), op, ...) end
end

--- gpu.plot.grid(charts [, columns])
function plot.grid(charts, columns)
  if type(charts) ~= "table" or is_chart(charts) then core.fail("plot.grid", "a list of charts", charts) end
  core.check_list("plot.grid", "charts", charts)
  if #charts == 0 then core.fail("plot.grid", "at least one chart", charts) end
  for _, item in ipairs(charts) do
    check_chart("grid", item)
    if rawget(item, "charts") then core.raise "[plot.grid] expected charts, got a grid of charts" end
  end
  columns = columns or math.ceil(math.sqrt(#charts))
  if type(columns) ~= "number" or columns < 1 or columns % 1 ~= 0 then core.fail("plot.grid", "a number of columns", columns) end
  return new_chart {charts = {unpack(charts)}, columns = columns}
end

-- ---- what becomes of a chart ----------------------------------------------------------------------------------------------------

--- Charts leave a sandbox as values alone.
local function check_rights(op)
  if core.restricted then
    core.raise(("[plot.%s] expected a function for scripts in a sandbox, got one that writes files or to the terminal"):format(op))
  end
end

--- The picture's width and height in pixels.
local function check_size(op, size)
  if size == nil then return {800, 500} end
  local w, h = type(size) == "table" and size[1], type(size) == "table" and size[2]
  if not (is_finite(w) and is_finite(h) and w >= 50 and h >= 50 and w <= 20000 and h <= 20000) then
    core.fail(op, "size = {width, height}, from 50 to 20000 pixels", size)
  end
  return {w, h}
end

local function ending(path) return (path:match "%.(%w+)$" or ""):lower() end

local function write_file(op, path, bytes) return core.write_text(op, path, {bytes}) end

--- gpu.plot.save(p, path [, {size}])
function plot.save(p, path, options)
  check_rights "save"
  check_chart("save", p)
  check_text("plot.save", "a path", path)
  local size = check_size("plot.save", checks.fields("plot.save", options).size)
  local kind = ending(path)
  if path:lower():find "%.vl%.json$" then
    return write_file("plot.save", path, import("plot_vega").text(p, size))
  end
  if kind ~= "png" and kind ~= "svg" and kind ~= "pdf" then
    core.fail("plot.save", "a path that ends in .png, .svg, .pdf or .vl.json", path)
  end
  return write_file("plot.save", path, import("plot_gnuplot").picture("plot.save", {p}, kind, size))
end

--- For notebooks: what they draw themselves, and a picture where gnuplot is installed.
function chart.__display(p)
  check_rights "show"
  local size = {640, 400}
  local drawn, picture = pcall(import("plot_gnuplot").picture, "plot.show", {p}, "png", size)
  return {["application/vnd.vegalite.v5+json"] = import("plot_vega").text(p, size), ["image/png"] = drawn and picture or nil}
end

local terminal_draws -- whether it shows sixel, once it was asked

--- The chart as sixel, for a terminal that says that it can and with a gnuplot; nil: neither.
local function pixels(p)
  if terminal_draws == nil then terminal_draws = core.shows_sixel() end
  if not terminal_draws then return nil end
  local drawn, picture = pcall(import("plot_gnuplot").picture, "plot.show", {p}, "sixel", {800, 500})
  return drawn and picture or nil
end

--- gpu.plot.show(p [, {width, height, sixel}])
function plot.show(p, options)
  check_rights "show"
  check_chart("show", p)
  local display = core.displayer()
  if display and options == nil then return display(p) end
  options = checks.fields("plot.show", options)
  if options.sixel == nil and not (options.width or options.height) then
    local picture = pixels(p)
    if picture then
      io.stdout:write(picture, "\n")
      return
    end
  elseif checks.flag("plot.show", "sixel", options.sixel) then
    io.stdout:write(import("plot_gnuplot").picture("plot.show", {p}, "sixel", {options.width or 800, options.height or 500}), "\n")
    return
  end
  local width = options.width or math.min(core.terminal_width(), 100)
  local height = options.height or 20
  if not (is_finite(width) and width >= 20 and is_finite(height) and height >= 4) then
    core.fail("plot.show", "width of 20 characters or more and height of 4 or more", options)
  end
  for _, item in ipairs(rawget(p, "charts") or {p}) do
    io.stdout:write(import("plot_terminal").characters(item, math.floor(width), math.floor(height)), "\n")
  end
end

--- gpu.plot.animate(path, frames, fn [, {size, fps}])
function plot.animate(path, frames, fn, options)
  check_rights "animate"
  local op = "plot.animate"
  check_text(op, "a path", path)
  if type(frames) ~= "number" or frames < 1 or frames % 1 ~= 0 then core.fail(op, "a number of frames", frames) end
  if type(fn) ~= "function" then core.fail(op, "a function: number of the frame -> chart", fn) end
  options = checks.fields(op, options)
  local size, fps = check_size(op, options.size), options.fps and check_positive(op, "fps", options.fps) or 10
  local numbered = path:find "%%0?%d*d" and ending(path) == "png"
  if ending(path) ~= "gif" and not numbered then
    core.fail(op, 'a path that ends in .gif, or one for pictures, such as "frame-%04d.png"', path)
  end
  local charts = {}
  for i = 1, frames do
    charts[i] = check_chart("animate", (fn(i)))
    if numbered then write_file(op, path:format(i), import("plot_gnuplot").picture(op, {charts[i]}, "png", size)) end
  end
  return numbered and true or write_file(op, path, import("plot_gnuplot").picture(op, charts, "gif", size, fps))
end

methods.save, methods.show = plot.save, plot.show
core.guard_methods(methods, "p:", {
  line = "([x,] y [, {options}])", points = "([x,] y [, {options}])", bars = "([labels,] y [, {options}])",
  histogram = "(x [, bins] [, {options}])", image = "(x [, {options}])", contour = "(x [, levels] [, {options}])",
  band = "([x,] low, high [, {options}])", errorbars = "([x,] y, d [, {options}])", save = "(path [, {options}])", show = "([{options}])",
}, "plot.")

return exports

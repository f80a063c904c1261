-- The layers of charts: what each function of gpu.plot makes of its arguments. Their data are small: plot_data.lua reduces them on the
-- device.
-- In sandboxes: none
local gpu, _, core, import = ...
local checks = import "checks"
local kinds = import "kinds"
local data = import "plot_data"
local contours = import "plot_contours"
local dates = import "plot_dates"
local options = import "plot_options"

--- <chart> = title, xlabel, ylabel, y2label, xlim, ylim, y2lim, log, dates, aspect, legend, theme

-- Each function gives a layer's kind and data: op, arguments, the layer's options, the chart's options.
local layers = {}

--- gpu.plot.line(x [, y] [, {label, color, width, dash, marker, size, opacity, axis, <chart>}])
function layers.line(op, arguments, _, chart)
  local x, y = data.points(op, arguments[1], arguments[2])
  local xs, ys = data.line(x, y, chart.log)
  return {kind = "line", x = xs, y = ys, source = data.source(x, y, data.most_line)}
end

--- gpu.plot.points(x [, y] [, {label, color, size, marker, opacity, axis, <chart>}])
function layers.points(op, arguments, layer, chart)
  local x, y = data.points(op, arguments[1], arguments[2])
  if y.size > data.most_points and not chart.log then
    local rows, extent = data.density(x or gpu.range(1, y.size, {dtype = "float64", device = y.device}), y)
    return {kind = "image", rows = rows, extent = extent, label = layer.label, colormap = "viridis", without_bar = true,
      source = data.source(x, y, data.most_points)}
  end
  local xs, ys = data.thinned(x, y, data.most_points)
  return {kind = "points", x = xs, y = ys, source = data.source(x, y, data.most_points)}
end

--- Edges of bins that are even on a logarithmic axis.
local function log_edges(op, x, bins)
  local above = x(x:gt(0))
  if above.size == 0 then core.raise(("[%s] expected a value above 0 for the logarithmic axis x, got none"):format(op)) end
  local low, high = above:min():item(), above:max():item()
  if low == high then low, high = low / 2, high * 2 end
  return gpu.geomspace(low, high, checks.count(op, "a number of bins, from 1 on", bins, 1) + 1, {dtype = "float64", device = x.device})
end

--- gpu.plot.histogram(x [, bins] [, {density, label, color, opacity, axis, <chart>}])
function layers.histogram(op, arguments, layer, chart)
  local x = data.vector(op, "values", arguments[1])
  local bins = arguments[2] or 10
  if kinds.is_floating(x) and not core.is_array(bins) then x = x(x:isfinite()) end
  if x.size == 0 then core.fail(op, "a value that is finite", arguments[1]) end
  if (chart.log or ""):find "x" and type(bins) == "number" then bins = log_edges(op, x, bins) end
  local heights, edges = gpu.histogram(x, bins, {density = checks.flag(op, "density", layer.density)})
  return {kind = "bars", left = data.numbers(edges({1, -2})), right = data.numbers(edges({2, -1})), y = data.numbers(heights)}
end

--- gpu.plot.bars(x [, heights] [, {label, color, opacity, axis, <chart>}])
function layers.bars(op, arguments, _, chart)
  local xs, ys
  xs, ys, chart.xnames = data.bars(op, arguments[1], arguments[2])
  return {kind = "bars", places = xs, half = 0.4 * data.least_step(xs), y = ys}
end

--- gpu.plot.boxplot([names,] values [, {label, color, opacity, axis, <chart>}])
function layers.boxplot(op, arguments, _, chart)
  local layer, names = data.boxes(op, arguments[1], arguments[2])
  chart.xnames = names
  layer.kind, layer.half = "boxes", 0.3
  return layer
end

--- gpu.plot.image(m [, {colormap, min, max, extent, origin, label, <chart>}])
function layers.image(op, arguments, layer, chart)
  local rows, width, height = data.rows(op, arguments[1], 800)
  -- Where the axes count elements, these are squares.
  chart.aspect = chart.aspect or not layer.extent and "equal" or nil
  local extent, downward = data.extent(layer, width, height)
  return {kind = "image", rows = rows, extent = extent, downward = downward}
end

local most_cells = 60 -- of an axis, as texts need room

--- gpu.plot.heatmap(m [, {xnames, ynames, format, colormap, min, max, origin, label, <chart>}])
function layers.heatmap(op, arguments, layer, chart)
  local m = checks.real(op, arguments[1])
  local rows, width, height = data.rows(op, m, math.huge)
  if width > most_cells or height > most_cells then
    core.fail(op, ("at most %d rows and columns; gpu.plot.image shows more"):format(most_cells), m)
  end
  for name, count in pairs {xnames = width, ynames = height} do
    local names = chart[name]
    if names and #names ~= count then core.raise(("[%s] expected %d %s, got %d"):format(op, count, name, #names)) end
  end
  local extent, downward = data.extent(layer, width, height)
  return {kind = "image", rows = rows, extent = extent, downward = downward,
    format = layer.format == nil and "%.3g" or layer.format}
end

local most_contoured = 200 -- elements of an axis

--- gpu.plot.contour([x, y,] m [, levels] [, {colormap, color, width, extent, origin, label, <chart>}])
function layers.contour(op, arguments, layer)
  local field, levels = data.field(op, arguments, layer, most_contoured)
  local segments
  segments, levels = contours.lines(op, field, levels or 10)
  return {kind = "segments", segments = segments, xs = field.xs, ys = field.ys, min = levels[1], max = levels[#levels],
    downward = field.downward}
end

--- gpu.plot.contourf([x, y,] m [, levels] [, {colormap, extent, origin, label, <chart>}])
function layers.contourf(op, arguments, layer)
  local field, levels = data.field(op, arguments, layer, most_contoured)
  field.kind = "filled"
  field.polygons, field.bounds = contours.areas(op, field, levels or 10)
  return field
end

--- gpu.plot.surface([x, y,] m [, {colormap, min, max, extent, label, edges, title, xlabel, ylabel, zlabel, xlim, ylim, zlim, view, theme}])
function layers.surface(op, arguments, layer)
  local field, after = data.field(op, arguments, layer, 100)
  if after ~= nil then core.fail(op, "nothing behind the matrix", after) end
  field.kind = "surface"
  return field
end

--- gpu.plot.band([x,] low, high [, {label, color, opacity, axis, <chart>}])
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

--- gpu.plot.errorbars(x, y, errors [, {label, color, size, marker, opacity, axis, <chart>}])
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

-- ---- annotations ----------------------------------------------------------------------------------------------------------------

--- A number, or an array of one element; on the x of a chart with dates also a text of one.
local function place(op, what, value, chart)
  if core.is_array(value) and value.size == 1 then value = checks.real(op, value):astype("float64"):reshape(1)[1] end
  if what == "x" and chart.dates and type(value) == "string" then value = dates.seconds_of(value) or value end
  value = core.plain(value)
  if not options.is_finite(value) then
    core.fail(op, what .. (what == "x" and chart.dates and ', a date such as "2024-03-14", or its seconds' or ", a number"), value)
  end
  return value
end

--- gpu.plot.annotate(text, x, y [, {at, color, axis, <chart>}])
function layers.annotate(op, arguments, layer, chart)
  local text, x, y = unpack(arguments, 1, 3)
  return {kind = "note", text = options.check_text(op, "a text", text), x = place(op, "x", x, chart), y = place(op, "y", y, chart), at = layer.at}
end

local function rule(op, across, chart, from, to)
  from, to = place(op, across, from, chart), place(op, across, to, chart)
  if from > to then from, to = to, from end
  return {kind = "rule", across = across, from = from, to = to}
end

--- gpu.plot.hline(y [, {label, color, width, dash, axis, <chart>}])
function layers.hline(op, arguments, _, chart) return rule(op, "y", chart, arguments[1], arguments[1]) end

--- gpu.plot.vline(x [, {label, color, width, dash, <chart>}])
function layers.vline(op, arguments, _, chart) return rule(op, "x", chart, arguments[1], arguments[1]) end

--- gpu.plot.hspan(from, to [, {label, color, opacity, axis, <chart>}])
function layers.hspan(op, arguments, _, chart) return rule(op, "y", chart, arguments[1], arguments[2]) end

--- gpu.plot.vspan(from, to [, {label, color, opacity, <chart>}])
function layers.vspan(op, arguments, _, chart) return rule(op, "x", chart, arguments[1], arguments[2]) end

import("plot").define_layers(layers, {
  line = 2, points = 2, bars = 2, boxplot = 2, histogram = 2, image = 1, heatmap = 1, contour = 4, contourf = 4, surface = 3, band = 3,
  errorbars = 3, annotate = 3, hline = 1, vline = 1, hspan = 2, vspan = 2,
}, {
  line = "([x,] y [, {options}])", points = "([x,] y [, {options}])", bars = "([labels,] y [, {options}])",
  boxplot = "([names,] values [, {options}])", histogram = "(x [, bins] [, {options}])", image = "(m [, {options}])",
  heatmap = "(m [, {options}])", contour = "([x, y,] m [, levels] [, {options}])", contourf = "([x, y,] m [, levels] [, {options}])",
  surface = "([x, y,] m [, {options}])", band = "([x,] low, high [, {options}])", errorbars = "(x, y, errors [, {options}])",
  annotate = "(text, x, y [, {options}])", hline = "(y [, {options}])", vline = "(x [, {options}])",
  hspan = "(from, to [, {options}])", vspan = "(from, to [, {options}])",
})

return {}

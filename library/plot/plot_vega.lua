-- Charts as Vega-Lite 5, JSON that notebooks and https://vega.github.io/editor draw.
local _, _, _, import = ...
local axes_of = import "plot_axes"
local options_of = import "plot_options"

local exports = {}

-- ---- JSON -----------------------------------------------------------------------------------------------------------------------

local escapes = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t"}

--- A list is a table with an item 1, or an empty one; fields come in the order of their names. Numbers that JSON lacks are null.
local function json(value)
  local kind = type(value)
  if kind == "number" then return value - value == 0 and ("%.12g"):format(value) or "null" end
  if kind == "boolean" then return tostring(value) end
  if kind == "string" then
    -- "<" is escaped for pages that hold the text in a script element.
    return '"' .. value:gsub('[%c"\\<]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
  end
  local parts = {}
  if value[1] ~= nil or next(value) == nil then
    for i, item in ipairs(value) do parts[i] = json(item) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  local names = {}
  for name in pairs(value) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do parts[i] = json(name) .. ":" .. json(value[name]) end
  return "{" .. table.concat(parts, ",") .. "}"
end

local null = 0 / 0 -- as JSON has it

-- ---- layers ---------------------------------------------------------------------------------------------------------------------

--- Rows {x =, y =, ...} of columns.
local function values_of(columns)
  local values = {}
  for name, column in pairs(columns) do
    for i, value in ipairs(column) do
      values[i] = values[i] or {}
      values[i][name] = value
    end
  end
  return values
end

local dashes = {dashed = {6, 4}, dotted = {2, 3}}
local shapes = {circle = "circle", square = "square", triangle = "triangle-up", diamond = "diamond", plus = "M-1,0H1M0,-1V1",
  cross = "M-.8,-.8L.8,.8M-.8,.8L.8,-.8", star = "M-1,0H1M0,-1V1M-.7,-.7L.7,.7M-.7,.7L.7,-.7"}
local area_channels = {x = "x", x2 = "x2", y = "y", y2 = "y2"}

-- Each gets a layer, a function, the axes and the theme. It calls add(values, mark, channels, of): the data, the mark, the names of
-- the fields for each channel, and the layer if the mark has an entry in the legend or a colour by value.
local draw = {}

local function sign(layer)
  local shape = shapes[layer.marker or "circle"]
  local is_path = shape:find "^M" ~= nil
  return {type = "point", shape = shape, filled = not is_path, size = (layer.size or 6) ^ 2 * math.pi / 4, strokeWidth = is_path and 1.5 or nil,
    opacity = layer.opacity or 1}
end

function draw.line(layer, add)
  local values = values_of {x = layer.x, y = layer.y}
  add(values, {type = "line", strokeWidth = layer.width or 2, strokeDash = dashes[layer.dash], opacity = layer.opacity},
    {x = "x", y = "y"}, layer)
  if layer.marker then add(values, sign(layer), {x = "x", y = "y"}) end
end

function draw.points(layer, add) add(values_of {x = layer.x, y = layer.y}, sign(layer), {x = "x", y = "y"}, layer) end

function draw.bars(layer, add, axes)
  local foot, y = {}, layer.axis == "right" and axes.y2 or axes.y
  for i = 1, #layer.y do foot[i] = y.log and math.min(y.low, y.high) or 0 end
  add(values_of {x = layer.left, x2 = layer.right, y = layer.y, y2 = foot}, {type = "rect", opacity = layer.opacity or 1}, area_channels, layer)
end

function draw.boxes(layer, add, _, theme)
  local left, right, values = {}, {}, {}
  for i, x in ipairs(layer.x) do
    left[i], right[i] = x - layer.half, x + layer.half
    for _, pair in ipairs {{layer.q1[i], layer.low[i]}, {layer.q3[i], layer.high[i]}} do
      values[#values + 1] = {x = x, x2 = x, y = pair[1], y2 = pair[2]}
      values[#values + 1] = {x = x - layer.half / 2, x2 = x + layer.half / 2, y = pair[2], y2 = pair[2]}
    end
  end
  add(values, {type = "rule"}, area_channels)
  add(values_of {x = left, x2 = right, y = layer.q1, y2 = layer.q3}, {type = "rect", opacity = layer.opacity or 1}, area_channels, layer)
  add(values_of {x = left, x2 = right, y = layer.median, y2 = layer.median},
    {type = "rule", color = theme.background, strokeWidth = 2}, area_channels)
  add(values_of {x = layer.outlier_x, y = layer.outlier_y}, {type = "point", size = 20}, {x = "x", y = "y"})
end

function draw.band(layer, add)
  add(values_of {x = layer.x, y = layer.low, y2 = layer.high}, {type = "area", opacity = 0.3 * (layer.opacity or 1)},
    {x = "x", y = "y", y2 = "y2"}, layer)
end

function draw.errorbars(layer, add)
  add(values_of {x = layer.x, y = layer.low, y2 = layer.high}, {type = "rule"}, {x = "x", y = "y", y2 = "y2"}, layer)
  add(values_of {x = layer.x, y = layer.y}, sign(layer), {x = "x", y = "y"})
end

function draw.segments(layer, add)
  local values = {}
  for i, s in ipairs(layer.segments) do values[i] = {x = s[1], y = s[2], x2 = s[3], y2 = s[4], value = s[5]} end
  local channels = {x = "x", y = "y", x2 = "x2", y2 = "y2", color = not layer.color and "value" or nil}
  add(values, {type = "rule", strokeWidth = layer.width or 1.2}, channels, layer)
end

function draw.filled(layer, add, _, theme)
  -- Each polygon is drawn over those before it. What has no area shows the colours of the levels beside the chart.
  for _, polygon in ipairs(layer.polygons) do
    local order = {}
    for k = 1, #polygon.x do order[k] = k end
    add(values_of {x = polygon.x, y = polygon.y, order = order}, {type = "line", interpolate = "linear-closed", filled = true, strokeWidth = 0,
      color = options_of.band_color(layer, polygon.band, theme), fillOpacity = 1}, {x = "x", y = "y", order = "order"})
  end
  local x, y = layer.xs[1], layer.ys[1]
  add({{x = x, x2 = x, y = y, y2 = y, value = layer.bounds[1]}}, {type = "rect"}, {x = "x", x2 = "x2", y = "y", y2 = "y2", color = "value"}, layer)
end

local most_cells = 100 -- of an axis: each is a mark of its own

function draw.image(layer, add)
  local e, values = layer.extent, {}
  local down, across = math.ceil(#layer.rows / most_cells), math.ceil(#layer.rows[1] / most_cells)
  local dx, dy = (e[2] - e[1]) / #layer.rows[1], (e[3] - e[4]) / #layer.rows
  for i = 1, #layer.rows, down do
    for j = 1, #layer.rows[1], across do
      local sum, count = 0, 0
      for k = i, math.min(i + down - 1, #layer.rows) do
        for l = j, math.min(j + across - 1, #layer.rows[1]) do
          local value = layer.rows[k][l]
          if value == value then sum, count = sum + value, count + 1 end
        end
      end
      if count > 0 then
        values[#values + 1] = {x = e[1] + (j - 1) * dx, x2 = e[1] + (j - 1 + across) * dx, y = e[4] + (i - 1) * dy,
          y2 = e[4] + (i - 1 + down) * dy, value = sum / count}
      end
    end
  end
  add(values, {type = "rect"}, {x = "x", y = "y", x2 = "x2", y2 = "y2", color = "value"}, layer)
  if not layer.format then return end
  local texts = {["#000000"] = {}, ["#ffffff"] = {}}
  for i, row in ipairs(layer.rows) do
    for j, value in ipairs(row) do
      if value == value then table.insert(texts[options_of.text_on(layer, value)], {x = j, y = i, text = layer.format:format(value)}) end
    end
  end
  for color, list in pairs(texts) do
    if #list > 0 then add(list, {type = "text", color = color}, {x = "x", y = "y", text = "text"}) end
  end
end

--- From above: Vega-Lite has no third dimension.
function draw.surface(layer, add)
  local xs, ys = layer.xs, layer.ys
  draw.image({rows = layer.rows, extent = {xs[1], xs[#xs], ys[#ys], ys[1]}, colormap = layer.colormap, label = layer.label, min = layer.min,
    max = layer.max}, add)
end

function draw.rule(layer, add)
  local across = layer.across
  if layer.from == layer.to then
    return add({{[across] = layer.from}}, {type = "rule", strokeWidth = layer.width or 1.5, strokeDash = dashes[layer.dash]},
      {[across] = across}, layer)
  end
  add({{[across] = layer.from, [across .. "2"] = layer.to}}, {type = "rect", opacity = 0.2 * (layer.opacity or 1)},
    {[across] = across, [across .. "2"] = across .. "2"}, layer)
end

function draw.note(layer, add, axes)
  local x, y = layer.x, layer.y
  if layer.at then
    x, y = layer.at[1], layer.at[2]
    add({{x = x, y = y, x2 = layer.x, y2 = layer.y}}, {type = "rule", color = layer.color}, area_channels)
    add({{x = layer.x, y = layer.y}}, {type = "point", filled = true, size = 20, color = layer.color}, {x = "x", y = "y"})
  end
  local to_left = axes.x.place(x) > 0.6
  add({{x = x, y = y, text = layer.text}}, {type = "text", color = layer.color, align = layer.at and "center" or to_left and "right" or "left",
    dx = layer.at and 0 or to_left and -8 or 8, dy = layer.at and (y < layer.y and 10 or -10) or 0}, {x = "x", y = "y", text = "text"})
end

-- ---- charts ---------------------------------------------------------------------------------------------------------------------

local function position(axis, name, options)
  local scale = {zero = false, nice = false, domain = {math.min(axis.low, axis.high), math.max(axis.low, axis.high)}}
  if axis.log then scale.type = "log" end
  if axis.low > axis.high then scale.reverse = true end
  local names, ticks = options[name .. "names"], nil
  if names then
    ticks = {values = {}, labelExpr = json(names) .. "[datum.value - 1]"}
    for i = 1, #names do ticks.values[i] = i end
  end
  if axis.dates then scale.type, scale.domain = "utc", {scale.domain[1] * 1000, scale.domain[2] * 1000} end
  if name == "y2" then ticks = {orient = "right", grid = false} end
  return {type = axis.dates and "temporal" or "quantitative", title = options[name .. "label"] or "", scale = scale, axis = ticks}
end

local orients = {["upper left"] = "top-left", ["upper right"] = "top-right", ["lower left"] = "bottom-left", ["lower right"] = "bottom-right",
  below = "bottom"}

--- The encoding of colours by value.
local function color_scale(layer)
  local low, high = options_of.color_range(layer)
  return {field = "value", type = "quantitative", title = layer.label or "", legend = layer.without_bar and null or nil,
    scale = {range = options_of.colormaps[layer.colormap or "viridis"], domain = {low, high}}}
end

--- The width and height of what the axes enclose.
local function inner_size(axes, options, size)
  if options.aspect ~= "equal" then return size[1], size[2] end
  local ratio = math.abs((axes.y.high - axes.y.low) / (axes.x.high - axes.x.low))
  local width = math.min(size[1], size[2] / ratio)
  return width, width * ratio
end

local function specification(p, size)
  local options, theme, axes = rawget(p, "options"), options_of.theme_of(p), axes_of.of(p, 0.04)
  local labels, label_colors, sides = {}, {}, {left = {}, right = {}}
  for _, layer in ipairs(rawget(p, "layers")) do
    local side = layer.axis or "left"
    local y = side == "right" and axes.y2 and "y2" or "y"
    draw[layer.kind](layer, function(values, mark, channels, of)
      local encoding = {}
      for channel, field in pairs(channels) do
        encoding[channel] = {field = field, type = (channel == "order") and "quantitative" or nil}
      end
      if encoding.x then encoding.x = position(axes.x, "x", options) end
      if encoding.y then encoding.y = position(axes[y], y, options) end
      for _, axis in ipairs {"x", "y"} do
        if encoding[axis] then encoding[axis].field = axis end
      end
      mark.color = mark.color or options_of.color_of(layer, theme)
      if channels.color then
        encoding.color, mark.color = color_scale(of), nil
      elseif of and of.label then
        labels[#labels + 1], label_colors[#label_colors + 1] = of.label, mark.color
        encoding.color = {datum = of.label, type = "nominal", title = "", scale = {domain = labels, range = label_colors}}
        -- The first layer's has all labels.
        encoding.color.legend = (#labels > 1 or options.legend == "none") and null or options.legend and {orient = orients[options.legend]}
          or nil
      end
      if axes.x.dates then
        for _, row in ipairs(values) do row.x, row.x2 = row.x and row.x * 1000, row.x2 and row.x2 * 1000 end
      end
      table.insert(sides[side], {data = {values = values}, mark = mark, encoding = encoding})
    end, axes, theme)
  end
  local width, height = inner_size(axes, options, size)
  local spec = {title = options.title or "", width = width, height = height, resolve = {scale = {color = "independent"}}}
  spec.layer = #sides.right == 0 and sides.left or #sides.left == 0 and sides.right or nil
  if not spec.layer then
    spec.layer, spec.resolve.scale.y = {}, "independent"
    for i, side in ipairs {"left", "right"} do
      spec.layer[i] = {layer = sides[side], resolve = {scale = {color = "independent"}}}
    end
  end
  return spec
end

--- How the theme colours what is not a layer.
local function theme_settings(theme)
  local text = {labelColor = theme.text, titleColor = theme.text}
  return {background = theme.background, title = {color = theme.text}, legend = text, text = {color = theme.text}, view = {stroke = null},
    axis = {labelColor = theme.text, titleColor = theme.text, gridColor = theme.grid, domainColor = theme.line, tickColor = theme.line}}
end

--- The chart as the text of a file; a grid as concatenated charts.
function exports.text(op, p, size)
  local spec
  local charts = rawget(p, "charts")
  if charts then
    local columns, list = rawget(p, "columns"), {}
    local each = {size[1] / columns, size[2] / math.ceil(#charts / columns)}
    for i, item in ipairs(charts) do list[i] = specification(item, each) end
    spec = {concat = list, columns = columns}
  else
    spec = specification(p, size)
  end
  spec["$schema"], spec.config = "https://vega.github.io/schema/vega-lite/v5.json", theme_settings(options_of.common_theme(op, {p}))
  return json(spec) .. "\n"
end

return exports

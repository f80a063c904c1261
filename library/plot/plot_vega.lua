-- Charts as Vega-Lite 5, JSON that notebooks and https://vega.github.io/editor draw.
local _, _, core = ...

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

-- ---- layers ---------------------------------------------------------------------------------------------------------------------

local null = 0 / 0 -- as JSON has it

--- Rows {x =, y =, ...} of columns.
local function values_of(columns)
  local values = {}
  for name, column in pairs(columns) do
    for i, value in ipairs(column) do
      values[i] = values[i] or {}
      values[i][name] = value
    end
  end
  return {values = values}
end

local function mark(kind, layer, fields)
  fields = fields or {}
  fields.type, fields.color = kind, layer.color
  return fields
end

local dashes = {dashed = {6, 4}, dotted = {2, 3}}

--- Each gives the layer's data, its mark and the names of the fields for each channel.
local draw = {}

function draw.line(layer)
  return values_of {x = layer.x, y = layer.y}, mark("line", layer, {strokeWidth = layer.width or 1.5, strokeDash = dashes[layer.dash]}),
    {x = "x", y = "y"}
end

function draw.points(layer)
  return values_of {x = layer.x, y = layer.y}, mark("point", layer, {filled = true, size = 30 * (layer.size or 0.6)}), {x = "x", y = "y"}
end

function draw.bars(layer)
  local zero = {}
  for i = 1, #layer.y do zero[i] = 0 end
  return values_of {x = layer.left, x2 = layer.right, y = layer.y, y2 = zero}, mark("rect", layer, {opacity = 0.7}),
    {x = "x", x2 = "x2", y = "y", y2 = "y2"}
end

function draw.band(layer)
  return values_of {x = layer.x, y = layer.low, y2 = layer.high}, mark("area", layer, {opacity = 0.3}), {x = "x", y = "y", y2 = "y2"}
end

function draw.errorbars(layer)
  return values_of {x = layer.x, y = layer.low, y2 = layer.high}, mark("rule", layer), {x = "x", y = "y", y2 = "y2"}
end

function draw.segments(layer)
  local values = {}
  for i, s in ipairs(layer.segments) do values[i] = {x = s[1], y = s[2], x2 = s[3], y2 = s[4], level = s[5]} end
  return {values = values}, {type = "rule", strokeWidth = layer.width or 1.2}, {x = "x", y = "y", x2 = "x2", y2 = "y2", color = "level"}
end

local most_cells = 100 -- of an axis: each is a mark of its own

function draw.image(layer)
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
  return {values = values}, {type = "rect"}, {x = "x", y = "y", x2 = "x2", y2 = "y2", color = "value"}
end

-- ---- charts ---------------------------------------------------------------------------------------------------------------------

local function position(options, axis, up)
  local scale = {zero = false}
  if (options.log or ""):find(axis) then scale.type = "log" end
  if options[axis .. "lim"] then scale.domain = options[axis .. "lim"] end
  if axis == "y" and not up and not scale.domain then scale.reverse = true end
  local ticks
  if axis == "x" and options.names then
    ticks = {values = {}, labelExpr = json(options.names) .. "[datum.value - 1]"}
    for i = 1, #options.names do ticks.values[i] = i end
  end
  return {field = axis, type = "quantitative", title = options[axis .. "label"] or "", scale = scale, axis = ticks}
end

local function specification(p, size)
  local options, list, labels, label_colors, up = rawget(p, "options"), {}, {}, {}, true
  for i, layer in ipairs(rawget(p, "layers")) do
    local values, how, channels = draw[layer.kind](layer)
    up = up and not ((layer.rows or layer.segments) and not layer.up)
    local encoding = {}
    for channel, field in pairs(channels) do encoding[channel] = {field = field} end
    if channels.color then
      encoding.color = {field = channels.color, type = "quantitative", title = layer.label or "",
        scale = {scheme = ({gray = "greys", hot = "reds"})[layer.colormap] or layer.colormap or "viridis",
          domain = layer.min and layer.max and {layer.min, layer.max} or nil}}
    elseif layer.label then
      labels[#labels + 1], label_colors[#label_colors + 1] = layer.label, layer.color
      encoding.color = {datum = layer.label, type = "nominal", title = "", scale = {domain = labels, range = label_colors}}
      if #labels > 1 then encoding.color.legend = null end -- the first layer's has all labels
    end
    list[i] = {data = values, mark = how, encoding = encoding}
  end
  for _, item in ipairs(list) do
    for _, axis in ipairs {"x", "y"} do item.encoding[axis] = position(options, axis, up) end
  end
  return {title = options.title or "", width = size[1], height = size[2], layer = list, resolve = {scale = {color = "independent"}}}
end

--- The chart as the text of a file; a grid as concatenated charts.
function exports.text(p, size)
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
  spec["$schema"] = "https://vega.github.io/schema/vega-lite/v5.json"
  return json(spec) .. "\n"
end

return exports

-- Charts in characters: each is two dots wide and four high, by the Braille patterns of Unicode.
local _, _, _, import = ...
local axes_of = import "plot_axes"
local text_length = import("terminal").text_length

local exports = {}

local floor, min, max = math.floor, math.min, math.max

local function is_finite(value) return value - value == 0 end

-- The dots of a pattern by column and row, as bits.
local bits = {{1, 2, 4, 64}, {8, 16, 32, 128}}

local function utf8_pattern(dots)
  return string.char(0xE2, 0xA0 + floor(dots / 64), 0x80 + dots % 64)
end

--- The part of from .. to, shares of the way from a to b, that lies within 0 .. most.
local function clipped(a, b, most, from, to)
  if a == b then return from, a >= 0 and a <= most and to or -1 end
  local t1, t2 = -a / (b - a), (most - a) / (b - a)
  return max(from, min(t1, t2)), min(to, max(t1, t2))
end

local function canvas(width, height)
  local cells = {}
  local dots = {}
  function dots.set(x, y)
    if x < 0 or y < 0 or x >= 2 * width or y >= 4 * height then return end
    local cell = floor(y / 4) * width + floor(x / 2)
    local bit_value = bits[x % 2 + 1][y % 4 + 1]
    local held = cells[cell] or 0
    if floor(held / bit_value) % 2 == 0 then cells[cell] = held + bit_value end
  end
  --- Clips to the canvas first: the other end may be far outside.
  function dots.line(x1, y1, x2, y2)
    local from, to = clipped(x1, x2, 2 * width - 1, 0, 1)
    from, to = clipped(y1, y2, 4 * height - 1, from, to)
    if from > to then return end
    x1, y1, x2, y2 = x1 + (x2 - x1) * from, y1 + (y2 - y1) * from, x1 + (x2 - x1) * to, y1 + (y2 - y1) * to
    local steps = max(math.ceil(max(math.abs(x2 - x1), math.abs(y2 - y1))), 1)
    for i = 0, steps do dots.set(floor(x1 + (x2 - x1) * i / steps + 0.5), floor(y1 + (y2 - y1) * i / steps + 0.5)) end
  end
  function dots.rows()
    local rows = {}
    for row = 0, height - 1 do
      local texts = {}
      for column = 0, width - 1 do
        local held = cells[row * width + column]
        texts[column + 1] = held and utf8_pattern(held) or " "
      end
      rows[row + 1] = table.concat(texts)
    end
    return rows
  end
  return dots
end

local draw = {}

local function draw_curve(dots, place, xs, ys)
  local px, py
  for i, x in ipairs(xs) do
    local cx, cy = place(x, ys[i])
    if cx and px then dots.line(px, py, cx, cy) elseif cx then dots.set(cx, cy) end
    px, py = cx, cy
  end
end

function draw.line(dots, place, layer) draw_curve(dots, place, layer.x, layer.y) end

function draw.points(dots, place, layer)
  for i, x in ipairs(layer.x) do
    local cx, cy = place(x, layer.y[i])
    if cx then dots.set(cx, cy) end
  end
end

function draw.band(dots, place, layer)
  draw_curve(dots, place, layer.x, layer.low)
  draw_curve(dots, place, layer.x, layer.high)
end

function draw.errorbars(dots, place, layer)
  for i, x in ipairs(layer.x) do draw_curve(dots, place, {x, x}, {layer.low[i], layer.high[i]}) end
end

function draw.bars(dots, place, layer)
  for i, height in ipairs(layer.y) do
    local left, right = layer.left[i], layer.right[i]
    draw_curve(dots, place, {left, left, right, right}, {0, height, height, 0})
  end
end

function draw.segments(dots, place, layer)
  for _, s in ipairs(layer.segments) do draw_curve(dots, place, {s[1], s[3]}, {s[2], s[4]}) end
end

--- A line across the chart; of a span, both ends.
function draw.rule(dots, place, layer, axes)
  for _, at in ipairs {layer.from, layer.to} do
    if layer.across == "x" then
      draw_curve(dots, place, {at, at}, {axes.y.low, axes.y.high})
    else
      draw_curve(dots, place, {axes.x.low, axes.x.high}, {at, at})
    end
  end
end

function draw.note(dots, place, layer)
  if layer.at then draw_curve(dots, place, {layer.at[1], layer.x}, {layer.at[2], layer.y}) end
  draw.points(dots, place, {x = {layer.x}, y = {layer.y}})
end

function draw.boxes(dots, place, layer)
  for i, x in ipairs(layer.x) do
    local left, right, q1, q3 = x - layer.half, x + layer.half, layer.q1[i], layer.q3[i]
    draw_curve(dots, place, {left, right, right, left, left}, {q1, q1, q3, q3, q1})
    draw_curve(dots, place, {left, right}, {layer.median[i], layer.median[i]})
    draw_curve(dots, place, {x, x}, {layer.low[i], q1})
    draw_curve(dots, place, {x, x}, {q3, layer.high[i]})
  end
  draw.points(dots, place, {x = layer.outlier_x, y = layer.outlier_y})
end

--- Brighter parts have more dots: a threshold for each dot of a cell, in the order in which they are set.
local thresholds = {{1, 5, 2, 6}, {7, 3, 8, 4}}

function draw.image(dots, place, layer)
  local least, most = math.huge, -math.huge
  for _, row in ipairs(layer.rows) do
    for _, value in ipairs(row) do
      if is_finite(value) then least, most = min(least, value), max(most, value) end
    end
  end
  least, most = layer.min or least, layer.max or most
  local e, height, width = layer.extent or {layer.xs[1], layer.xs[#layer.xs], layer.ys[#layer.ys], layer.ys[1]}, #layer.rows, #layer.rows[1]
  local x1, y1 = place(e[1], e[4])
  local x2, y2 = place(e[2], e[3])
  if not (x1 and x2) then return end
  for x = min(x1, x2), max(x1, x2) do
    for y = min(y1, y2), max(y1, y2) do
      local j = floor((x - x1) / (x2 - x1 + (x2 > x1 and 1 or -1)) * width) + 1
      local i = floor((y - y1) / (y2 - y1 + (y2 > y1 and 1 or -1)) * height) + 1
      local share = (layer.rows[i][j] - least) / max(most - least, 1e-300)
      if share * 8.999 >= thresholds[x % 2 + 1][y % 4 + 1] then dots.set(x, y) end
    end
  end
end

-- From above.
draw.filled, draw.surface = draw.image, draw.image

local length = text_length

--- The names of bars below them; a list with their numbers where they have no room.
local function name_line(names, along_x, columns)
  local line, at, listed = "", 0, {}
  for i, name in ipairs(names) do
    name = name:gsub("%c", " ")
    listed[i] = ("%d %s"):format(i, name)
    local first = floor(along_x(i) * (columns - 1) - length(name) / 2 + 0.5)
    local free = max(first, at + (i > 1 and 1 or 0))
    if line and is_finite(free) and free <= max(first, 0) + 2 and free + length(name) <= columns then
      line, at = line .. (" "):rep(free - at) .. name, free + length(name)
    else
      line = nil
    end
  end
  return line or table.concat(listed, ", ")
end

local function centred(text, width) return (" "):rep(max(0, floor((width - #text) / 2))) .. text end

--- The chart in lines of at most `width` characters, `height` of them for the dots.
function exports.characters(p, width, height)
  local options, layers = rawget(p, "options"), rawget(p, "layers")
  local axes = axes_of.of(p, 0)
  local bottom, top = axes_of.text(axes.y, axes.y.low), axes_of.text(axes.y, axes.y.high)
  local margin = max(#bottom, #top) + 1
  local columns = width - margin - 1
  local dots = canvas(columns, height)
  --- Of a coordinate that is nil, the axis' beginning.
  local function place_on(axis)
    return function(x, y)
      local u, v = x and axes.x.place(x) or 0, y and axis.place(y) or 0
      if not (is_finite(u) and is_finite(v)) then return end
      return floor(u * (2 * columns - 1) + 0.5), floor((1 - v) * (4 * height - 1) + 0.5)
    end
  end
  local labels = {}
  for _, layer in ipairs(layers) do
    draw[layer.kind](dots, place_on(layer.axis == "right" and axes.y2 or axes.y), layer, axes)
    labels[#labels + 1] = layer.text or layer.label
  end
  local lines = {}
  if options.title then lines[1] = centred((options.title:gsub("%c", " ")), width) end
  for i, row in ipairs(dots.rows()) do
    local text = i == 1 and top or i == height and bottom or ""
    lines[#lines + 1] = (" "):rep(margin - 1 - #text) .. text .. " |" .. row
  end
  lines[#lines + 1] = (" "):rep(margin) .. "+" .. ("-"):rep(columns)
  local from, to = axes_of.text(axes.x, axes.x.low), axes_of.text(axes.x, axes.x.high)
  local ends = from .. (" "):rep(max(1, columns + 1 - #from - #to)) .. to
  lines[#lines + 1] = (" "):rep(margin) .. (options.xnames and " " .. name_line(options.xnames, axes.x.place, columns) or ends)
  local below = {options.xlabel, options.ylabel and "up: " .. options.ylabel, unpack(labels)}
  local words = {}
  for i = 1, 2 + #labels do words[#words + 1] = below[i] end
  if #words > 0 then lines[#lines + 1] = centred((table.concat(words, ", "):gsub("%c", " ")), width) end
  return table.concat(lines, "\n")
end

return exports

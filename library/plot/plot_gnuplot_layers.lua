-- gnuplot's commands for each kind of layer.
local _, _, _, import = ...
local options = import "plot_options"

local exports = {}

--- Punctuation is written as octal escapes, so that gnuplot interprets nothing in a text. So are digits: gnuplot would read a digit
--- after an escape as a part of it.
function exports.quoted(text)
  return '"' .. text:gsub("%c", " "):gsub("[^%a \128-\255]", function(c) return ("\\%03o"):format(c:byte()) end) .. '"'
end

local function number(value) return value == value and ("%.12g"):format(value) or "NaN" end
exports.number = number

--- The lines of a data block: the columns' numbers side by side.
local function columns_of(...)
  local columns, lines = {...}, {}
  for i = 1, #columns[1] do
    local row = {}
    for c, column in ipairs(columns) do row[c] = number(column[i]) end
    lines[i] = table.concat(row, " ")
  end
  -- gnuplot plots no data block without a point.
  return #lines > 0 and lines or {("NaN "):rep(#columns)}
end

-- ---- colours --------------------------------------------------------------------------------------------------------------------

--- The layer's colour, with its opacity times `share`.
local function color_of(scene, layer, share)
  local color = options.color_of(layer, scene.theme)
  local opacity = (layer.opacity or 1) * (share or 1)
  if opacity == 1 then return ("lc rgb '%s'"):format(color) end
  return ("lc rgb '#%02x%s'"):format(math.floor((1 - opacity) * 255 + 0.5), color:sub(2))
end

--- The same for areas.
local function fill_of(scene, layer, share) return "fs solid noborder " .. color_of(scene, layer, share) end

--- The palette {stops, low, high, bar, label, of} of a layer that has colours by value; nil of others.
function exports.palette(layer)
  if not (layer.rows or layer.segments and not layer.color) then return nil end
  local stops, low, high = {}, options.color_range(layer)
  if layer.kind == "filled" then
    for band = 1, #layer.bounds - 1 do
      for _, at in ipairs {layer.bounds[band], layer.bounds[band + 1]} do stops[#stops + 1] = {at, options.band_color(layer, band)} end
    end
  else
    for i, color in ipairs(options.colormaps[layer.colormap or "viridis"]) do stops[i] = {i, color} end
  end
  return {stops = stops, low = low, high = high, bar = not layer.without_bar, label = layer.label, of = layer}
end

-- ---- layers ---------------------------------------------------------------------------------------------------------------------

-- Each adds what a layer needs to a scene: scene.plot(lines, how, layer), scene.command(text), scene.legend_entry(how, layer).
local draw = {}
exports.draw = draw

local dashes = {solid = "solid", dashed = "'-'", dotted = "'.'"}
local signs = {circle = 7, square = 5, triangle = 9, diamond = 13, plus = 1, cross = 2, star = 3}

local function line_style(scene, layer)
  return ("%s lw %.3g dt %s"):format(color_of(scene, layer), layer.width or 2, dashes[layer.dash or "solid"])
end

--- gnuplot's signs of size 1 are 8 pixels wide.
local function sign_style(layer)
  return ("pt %d ps %.3g"):format(signs[layer.marker or "circle"], (layer.size or 6) / 8)
end

function draw.line(scene, layer)
  scene.plot(columns_of(layer.x, layer.y), layer.marker and ("using 1:2 with linespoints %s %s"):format(line_style(scene, layer),
    sign_style(layer)) or "using 1:2 with lines " .. line_style(scene, layer), layer)
end

function draw.points(scene, layer)
  scene.plot(columns_of(layer.x, layer.y), ("using 1:2 with points %s %s"):format(sign_style(layer), color_of(scene, layer)), layer)
end

--- Rectangles from the columns left, right, low and high.
local function rectangles(scene, layer, left, right, low, high, label_of)
  local border = #left <= 100 and ("fs solid border lc rgb '%s'"):format(scene.theme.background) or "fs solid noborder"
  scene.plot(columns_of(left, right, low, high), ("using (($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4 with boxxyerror %s %s"):format(
    color_of(scene, layer), border), label_of)
end

function draw.bars(scene, layer)
  local foot = {}
  local axis = layer.axis == "right" and scene.axes.y2 or scene.axes.y
  for i = 1, #layer.y do foot[i] = axis.log and math.min(axis.low, axis.high) or 0 end
  rectangles(scene, layer, layer.left, layer.right, foot, layer.y, layer)
end

function draw.boxes(scene, layer)
  local left, right, inner_left, inner_right, middle = {}, {}, {}, {}, {}
  local whisker_x, whisker_y, whisker_dx, whisker_dy = {}, {}, {}, {}
  local function whisker(x, y, dx, dy)
    local n = #whisker_x + 1
    whisker_x[n], whisker_y[n], whisker_dx[n], whisker_dy[n] = x, y, dx, dy
  end
  for i, x in ipairs(layer.x) do
    left[i], right[i], middle[i] = x - layer.half, x + layer.half, 2 * layer.half
    inner_left[i], inner_right[i] = x - layer.half / 2, x + layer.half / 2
    for _, pair in ipairs {{layer.q1[i], layer.low[i]}, {layer.q3[i], layer.high[i]}} do
      whisker(x, pair[1], 0, pair[2] - pair[1])
      whisker(inner_left[i], pair[2], layer.half, 0)
    end
  end
  local same_axis = {axis = layer.axis}
  scene.plot(columns_of(whisker_x, whisker_y, whisker_dx, whisker_dy),
    ("using 1:2:3:4 with vectors nohead lc rgb '%s' lw 1.2"):format(scene.theme.line), same_axis)
  rectangles(scene, layer, left, right, layer.q1, layer.q3, layer)
  scene.plot(columns_of(left, layer.median, middle), ("using 1:2:3:(0) with vectors nohead lc rgb '%s' lw 2"):format(scene.theme.background),
    same_axis)
  scene.plot(columns_of(layer.outlier_x, layer.outlier_y), ("using 1:2 with points pt 6 ps 0.6 lc rgb '%s'"):format(scene.theme.line),
    same_axis)
end

function draw.band(scene, layer)
  scene.plot(columns_of(layer.x, layer.low, layer.high), "using 1:2:3 with filledcurves " .. fill_of(scene, layer, 0.3), layer)
end

function draw.errorbars(scene, layer)
  scene.plot(columns_of(layer.x, layer.y, layer.low, layer.high),
    ("using 1:2:3:4 with yerrorbars %s lw 1.5 %s"):format(sign_style(layer), color_of(scene, layer)), layer)
end

--- Lines over an image or over areas are white, as gnuplot has one palette for a chart.
function draw.segments(scene, layer)
  local lines = {}
  for _, s in ipairs(layer.segments) do
    lines[#lines + 1] = ("%s %s %s\n%s %s %s\n"):format(number(s[1]), number(s[2]), number(s[5]), number(s[3]), number(s[4]),
      number(s[5]))
  end
  if #lines == 0 then lines[1] = "NaN NaN NaN" end
  local color = layer.color and color_of(scene, layer) or scene.palette.of ~= layer and "lc rgb '#ffffff'" or "palette"
  scene.plot(lines, ("using 1:2:3 with lines lw %.3g %s"):format(layer.width or 1.2, color), layer.color and layer)
end

--- Consecutive polygons of one colour share a block; a blank line separates them.
function draw.filled(scene, layer)
  local lines, band = {}, nil
  local function flush()
    if band then
      local color = options.band_color(layer, band, scene.theme)
      scene.plot(lines, ("using 1:2 with filledcurves closed fs solid noborder lc rgb '%s'"):format(color))
    end
    lines = {}
  end
  for _, polygon in ipairs(layer.polygons) do
    if polygon.band ~= band then flush() end
    band = polygon.band
    for k, x in ipairs(polygon.x) do lines[#lines + 1] = number(x) .. " " .. number(polygon.y[k]) end
    lines[#lines + 1] = ""
  end
  flush()
  -- gnuplot shows the colours of a palette beside a chart that uses it.
  scene.plot({"NaN NaN NaN"}, "using 1:2:3 with lines palette")
end

local function matrix_lines(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local texts = {}
    for j, value in ipairs(row) do texts[j] = number(value) end
    lines[i] = table.concat(texts, " ")
  end
  return lines
end

--- The texts of the cells.
local function cell_texts(scene, layer)
  local on, longest = {["#ffffff"] = {}, ["#000000"] = {}}, 1
  for i, row in ipairs(layer.rows) do
    for j, value in ipairs(row) do
      if value == value then
        local lines, text = on[options.text_on(layer, value)], layer.format:format(value)
        lines[#lines + 1], longest = ('%d %d "%s"'):format(j, i, text), math.max(longest, #text)
      end
    end
  end
  -- Smaller where the cells are: a digit of size 10 is 8 pixels wide.
  local width, height = (scene.size[1] - 160) / #layer.rows[1], (scene.size[2] - 90) / #layer.rows
  local size = math.max(4, math.min(10, 10 * width / (8 * longest + 6), 10 * height / 18))
  for color, lines in pairs(on) do
    if #lines > 0 then scene.plot(lines, ("using 1:2:(stringcolumn(3)) with labels font ',%.2g' tc rgb '%s'"):format(size, color)) end
  end
end

function draw.image(scene, layer)
  local e = layer.extent
  local dx, dy = (e[2] - e[1]) / #layer.rows[1], (e[4] - e[3]) / #layer.rows
  scene.plot(matrix_lines(layer.rows), ("matrix using (%s + ($1 + 0.5) * (%s)):(%s - ($2 + 0.5) * (%s)):3 with image%s"):format(
    number(e[1]), number(dx), number(e[4]), number(dy), layer.format ~= nil and " pixels" or ""))
  if layer.format then cell_texts(scene, layer) end
end

function draw.surface(scene, layer)
  scene.command("set pm3d depthorder%s", layer.edges == false and "" or (" border lc rgb '%s' lw 0.25"):format("#303030"))
  local lines = {}
  for i, row in ipairs(layer.rows) do
    for j, value in ipairs(row) do
      lines[#lines + 1] = ("%s %s %s"):format(number(layer.xs[j]), number(layer.ys[i]), number(value))
    end
    lines[#lines + 1] = ""
  end
  scene.plot(lines, "using 1:2:3 with pm3d")
end

-- ---- annotations ----------------------------------------------------------------------------------------------------------------

local function shown(axis, value)
  local share = axis.place(value)
  return share >= 0 and share <= 1
end

function draw.rule(scene, layer)
  local axes = scene.axes
  local axis = layer.across == "x" and axes.x or layer.axis == "right" and axes.y2 or axes.y
  local unit = layer.axis == "right" and "second" or "first"
  local function at(value, share)
    if layer.across == "x" then return ("first %s, graph %d"):format(number(value), share) end
    return ("graph %d, %s %s"):format(share, unit, number(value))
  end
  if layer.from == layer.to then
    local style = ("%s lw %.3g dt %s"):format(color_of(scene, layer), layer.width or 1.5, dashes[layer.dash or "solid"])
    if shown(axis, layer.from) then scene.command("set arrow from %s to %s nohead %s", at(layer.from, 0), at(layer.to, 1), style) end
    return scene.legend_entry("with lines " .. style, layer)
  end
  local low, high = math.min(axis.low, axis.high), math.max(axis.low, axis.high)
  local from, to = math.max(layer.from, low), math.min(layer.to, high)
  local style = ("%s fs solid noborder"):format(color_of(scene, layer, 0.2):gsub("^lc", "fc"))
  if from < to then scene.command("set object rectangle from %s to %s %s behind", at(from, 0), at(to, 1), style) end
  scene.legend_entry("with boxes " .. fill_of(scene, layer, 0.2), layer)
end

function draw.note(scene, layer)
  local y_axis, unit = layer.axis == "right" and scene.axes.y2 or scene.axes.y, layer.axis == "right" and "second" or "first"
  local function place(x, y) return ("first %s, %s %s"):format(number(x), unit, number(y)) end
  local color = layer.color or scene.theme.text
  local x, y = layer.x, layer.y
  if layer.at then
    x, y = layer.at[1], layer.at[2]
    scene.command("set arrow from %s to %s size screen 0.012,18 filled front lc rgb '%s' lw 1.2", place(x, y), place(layer.x, layer.y),
      color)
  end
  -- Beside the point, on the side that has more room; at the end of an arrow, above or below it.
  local to_left, rise = scene.axes.x.place(x) > 0.6, layer.at and (y_axis.place(y) >= y_axis.place(layer.y) and 0.6 or -0.6) or 0
  scene.command("set label %s at %s %s front offset character %d,%g tc rgb '%s'", exports.quoted(layer.text), place(x, y),
    layer.at and "center" or to_left and "right" or "left", layer.at and 0 or to_left and -1 or 1, rise, color)
end

return exports

-- The options of charts and their layers: which there are, and their checks.
local _, _, core, import = ...
local checks = import "checks"
local dates = import "plot_dates"

local exports = {}

-- Colours by name. Those of the first line, by M. Okabe and K. Ito, are told apart by people who are blind to some colours.
local colors = {
  blue = "#0072b2", vermilion = "#d55e00", green = "#009e73", pink = "#cc79a7", orange = "#e69f00", cyan = "#56b4e9", yellow = "#f0e442",
  black = "#000000", gray = "#7f7f7f", white = "#ffffff", red = "#d62728", purple = "#7f4fc9", brown = "#8c564b",
}

-- How a chart looks. `cycle`: the colours of layers that name none, one after the other.
exports.themes = {
  light = {background = "#ffffff", text = "#262626", grid = "#e6e6e6", line = "#595959",
    cycle = {colors.blue, colors.vermilion, colors.green, colors.pink, colors.orange, colors.cyan, colors.brown, colors.gray}},
  dark = {background = "#181b20", text = "#dcdfe4", grid = "#363b44", line = "#a8adb7",
    cycle = {"#4cb0f0", "#ff8f4a", "#35c79a", "#ec9fca", "#f2c14e", "#a3dcff", "#c9a08f", "#b0b5bd"}},
}

function exports.theme_of(p) return exports.themes[rawget(p, "options").theme or "light"] end

--- The theme of all charts, or grids of charts, of a picture, which has one background.
function exports.common_theme(op, charts)
  local theme
  for _, p in ipairs(charts) do
    for _, item in ipairs(rawget(p, "charts") or {p}) do
      theme = theme or exports.theme_of(item)
      if theme ~= exports.theme_of(item) then
        core.raise(("[%s] expected one theme for all charts of a picture, got light and dark"):format(op))
      end
    end
  end
  return theme
end

--- The colour of a layer: its own, that of its turn in the cycle, or that of the theme's lines.
function exports.color_of(layer, theme)
  return layer.color or layer.turn and theme.cycle[(layer.turn - 1) % #theme.cycle + 1] or theme.line
end

--- The least and the greatest value of a layer's colours, which differ.
function exports.color_range(layer)
  local low, high = layer.min, layer.max
  if layer.bounds then low, high = layer.bounds[1], layer.bounds[#layer.bounds] end
  if not (low and high) then
    local least, most = exports.range(layer.rows)
    low, high = low or least, high or most
  end
  if not (high - low >= 0 and high - low < math.huge) then return 0, 1 end
  if low == high then return low - 0.5, high + 0.5 end
  return low, high
end

--- The least and the greatest finite element of rows.
function exports.range(rows)
  local least, most = math.huge, -math.huge
  for _, row in ipairs(rows) do
    for _, value in ipairs(row) do
      if value - value == 0 then least, most = math.min(least, value), math.max(most, value) end
    end
  end
  return least, most
end

exports.colormaps = {}
for name, stops in pairs(core.colormaps()) do
  local list = {}
  for digits in stops:gmatch "......" do list[#list + 1] = "#" .. digits end
  exports.colormaps[name] = list
end

--- Red, green and blue of a map, from 0 to 255, at a share from 0 to 1.
function exports.color_at(colormap, share)
  local stops = exports.colormaps[colormap]
  local at = math.max(0, math.min(share, 1)) * (#stops - 1)
  local stop = math.min(math.floor(at), #stops - 2)
  local parts = {}
  for i = 1, 3 do
    local from, to = tonumber(stops[stop + 1]:sub(2 * i, 2 * i + 1), 16), tonumber(stops[stop + 2]:sub(2 * i, 2 * i + 1), 16)
    parts[i] = from + (at - stop) * (to - from)
  end
  return parts
end

--- "#rrggbb" of the band between two levels of filled contours; of band 0, a gap, the background.
function exports.band_color(layer, band, theme)
  if band == 0 then return theme.background end
  local low, high = exports.color_range(layer)
  local middle = (layer.bounds[band] + layer.bounds[band + 1]) / 2
  local parts = exports.color_at(layer.colormap or "viridis", (middle - low) / (high - low))
  return ("#%02x%02x%02x"):format(parts[1] + 0.5, parts[2] + 0.5, parts[3] + 0.5)
end

--- The colour of a text on a cell of an image: dark on light ones.
function exports.text_on(layer, value)
  local low, high = exports.color_range(layer)
  local parts = exports.color_at(layer.colormap or "viridis", (value - low) / (high - low))
  return 0.299 * parts[1] + 0.587 * parts[2] + 0.114 * parts[3] > 140 and "#000000" or "#ffffff"
end

-- ---- checks ---------------------------------------------------------------------------------------------------------------------

local function names_of(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, ", ")
end

function exports.check_text(op, name, value)
  if name == "label" and type(value) == "table" then
    core.raise(("[%s] expected label, a string, got a table; each label has a layer of its own: p = gpu.plot.line(x, y, {label = %q}) and p:line(x, z, "
      .. "{label = ...})"):format(op, tostring(value[1])))
  end
  if type(value) ~= "string" then core.fail(op, name .. ", a string", value) end
  return value
end

local function is_finite(value) return type(value) == "number" and value - value == 0 end
exports.is_finite = is_finite

function exports.check_positive(op, name, value)
  if not is_finite(value) or value <= 0 then
    core.raise(("[%s] expected %s, a number above 0, got %s%s"):format(op, name, core.describe(value),
      name == "size" and type(value) == "table" and "; p:save(path, {size = {width, height}}) sets the size of a picture, in pixels" or ""))
  end
  return value
end

--- A list with the seconds of its texts that are dates; `dates` says whether there are any.
local function with_seconds(list)
  if type(list) ~= "table" then return list end
  local plain = {}
  for i, item in ipairs(list) do
    local seconds = type(item) == "string" and dates.seconds_of(item)
    plain[i], plain.dates = seconds or item, plain.dates or seconds and true
  end
  return plain
end

--- Both ends of an axis, from its beginning on: one that runs backwards begins with the greatest.
local function check_range(op, name, value)
  local first, last = type(value) == "table" and value[1], type(value) == "table" and value[2]
  if not (is_finite(first) and is_finite(last) and first ~= last and #value == 2) then
    local got = type(value) == "table" and is_finite(first) and is_finite(last) and ("{%.14g, %.14g}"):format(first, last)
    if got then core.raise(("[%s] expected %s = {first, last}, two numbers that differ, got %s"):format(op, name, got)) end
    core.fail(op, name .. " = {first, last}, two numbers", value)
  end
  return value
end

local function check_flag(op, name, value) return checks.flag(op, name, value) end

local function check_number(op, name, value)
  if not is_finite(value) then core.fail(op, name .. ", a number", value) end
  return value
end

local function check_names(op, name, value)
  if type(value) ~= "table" or #value == 0 then core.fail(op, name .. ", a list of strings", value) end
  for _, item in ipairs(value) do exports.check_text(op, name .. ", names", item) end
  return {unpack(value)}
end

local function one_of(choices)
  return function(op, name, value)
    if not choices[value] then core.fail(op, ("%s, one of %s"):format(name, names_of(choices)), value) end
    return value
  end
end

--- `count` finite numbers in a list. `words` names them.
local function numbers(count, words)
  return function(op, name, value)
    local fits = type(value) == "table" and #value == count
    for i = 1, count do fits = fits and is_finite(value[i]) end
    if not fits then core.fail(op, ("%s = {%s}, %s numbers"):format(name, words, count == 2 and "two" or "four"), value) end
    return value
  end
end

local check_at = numbers(2, "x, y")
local check_extent = numbers(4, "left, right, bottom, top")

-- The signs of points, by what Vega-Lite calls them, as far as it has them.
exports.markers = {circle = true, square = true, triangle = true, diamond = true, plus = true, cross = true, star = true}
exports.legends = {
  ["upper left"] = true, ["upper right"] = true, ["lower left"] = true, ["lower right"] = true, below = true, none = true,
}

local option_checks = {
  label = exports.check_text, title = exports.check_text, xlabel = exports.check_text, ylabel = exports.check_text,
  y2label = exports.check_text, zlabel = exports.check_text,
  xlim = function(op, name, value) return check_range(op, name, with_seconds(value)) end, ylim = check_range, y2lim = check_range, zlim = check_range,
  xnames = check_names, ynames = check_names, dates = check_flag, edges = check_flag,
  width = exports.check_positive, size = exports.check_positive, min = check_number, max = check_number,
  log = one_of {x = true, y = true, xy = true}, axis = one_of {left = true, right = true},
  origin = one_of {upper = true, lower = true}, aspect = one_of {equal = true, auto = true}, theme = one_of(exports.themes), legend = one_of(exports.legends),
  dash = one_of {solid = true, dashed = true, dotted = true}, marker = one_of(exports.markers), colormap = one_of(exports.colormaps),
  color = function(op, _, value)
    if type(value) == "string" and value:find "^#%x%x%x%x%x%x$" then return value end
    if not colors[value] then core.fail(op, "a colour, \"#rrggbb\" or one of " .. names_of(colors), value) end
    return colors[value]
  end,
  opacity = function(op, name, value)
    if not is_finite(value) or value <= 0 or value > 1 then core.fail(op, name .. ", a number above 0, at most 1", value) end
    return value
  end,
  format = function(op, name, value)
    if value ~= false and not (type(value) == "string" and value:find "^%%[%-+ ]?%d?%d?%.?%d?%d?[dgfe]%%?%%?$") then
      core.fail(op, name .. ', of a number, such as "%.2f", or false', value)
    end
    return value
  end,
  extent = function(op, name, value)
    value = check_extent(op, name, value)
    if value[1] == value[2] or value[3] == value[4] then
      core.raise(("[%s] expected an extent with different ends, got {%g, %g, %g, %g}"):format(op, unpack(value)))
    end
    return value
  end,
  at = function(op, name, value) return check_at(op, name, with_seconds(value)) end, view = numbers(2, "elevation, azimuth"),
}

-- The options of the whole chart, which may be given with any of its layers.
exports.of_chart = {}
for name in ("title xlabel ylabel y2label zlabel log xlim ylim y2lim zlim dates aspect legend theme view xnames ynames"):gmatch "%S+" do
  exports.of_chart[name] = true
end

--- The arguments of a layer, its options, and those of the chart.
function exports.read(op, most, ...)
  local count = select("#", ...)
  local arguments, given = {...}, nil
  local last = arguments[count]
  local is_empty = count > 1 and type(last) == "table" and next(last) == nil and not getmetatable(last) -- options that are nil
  if count > 0 and (is_empty or checks.is_options(last)) then given, arguments[count], count = arguments[count], nil, count - 1 end
  if getmetatable(arguments[1]) == "a table of columns" then
    local names = type(arguments[2]) == "string" and {unpack(arguments, 2, count)} or arguments[1].names
    for i, name in ipairs(names) do names[i] = "t." .. tostring(name) end
    core.fail("plot." .. op, ("arrays, such as columns of the table: gpu.plot.%s(%s)"):format(op, table.concat(names, ", ", 1, math.min(#names, 2))),
      arguments[1])
  end
  if count > most then
    core.fail("plot." .. op, ("at most %d argument%s and a table of options, {color = \"red\"}"):format(most, most == 1 and "" or "s"),
      arguments[most + 1])
  end
  local layer, chart = {}, {}
  for name, value in pairs(checks.fields("plot." .. op, given)) do
    value = (option_checks[name] or function(_, _, unchecked) return unchecked end)("plot." .. op, name, value)
    if exports.of_chart[name] then chart[name] = value else layer[name] = value end
  end
  return arguments, layer, chart
end

return exports

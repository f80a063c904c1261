-- Draws charts with the program gnuplot, which reads its commands from a file in the temporary folder. Punctuation in a script's
-- texts is written there as octal escapes; data are numbers.
local _, _, core, import = ...
local plot_data = import "plot_data"

local exports = {}

local colormaps = plot_data.colormaps
local popen, tmpname, remove = io.popen, os.tmpname, os.remove

--- Punctuation is written as octal escapes, so that gnuplot interprets nothing in a text. So are digits: gnuplot would read a digit
--- after an escape as a part of it.
local function quoted(text)
  return '"' .. text:gsub("%c", " "):gsub("[^%a \128-\255]", function(c) return ("\\%03o"):format(c:byte()) end) .. '"'
end

local function number(value) return value == value and ("%.12g"):format(value) or "NaN" end

local terminals = {
  png = "pngcairo noenhanced size %d,%d", svg = "svg noenhanced size %d,%d background '#ffffff'",
  sixel = "sixelgd noenhanced size %d,%d", gif = "gif noenhanced size %d,%d animate loop 0 delay %d",
}

local function terminal(kind, size, fps)
  if kind == "pdf" then return ("pdfcairo noenhanced size %.4gin,%.4gin"):format(size[1] / 96, size[2] / 96) end
  return terminals[kind]:format(size[1], size[2], fps and math.max(1, math.floor(100 / fps + 0.5)) or 0)
end

-- ---- layers ---------------------------------------------------------------------------------------------------------------------

local dashes = {solid = 1, dashed = 2, dotted = 3}

--- The lines of a data block: the columns' numbers side by side.
local function columns_of(...)
  local columns, lines = {...}, {}
  for i = 1, #columns[1] do
    local row = {}
    for c, column in ipairs(columns) do row[c] = number(column[i]) end
    lines[i] = table.concat(row, " ")
  end
  return lines
end

--- Each gives the lines of the layer's data, and how plot shows them; %s stands for the data block.
local draw = {}

local function line_style(layer)
  return ("lc rgb '%s' lw %.3g dt %d"):format(layer.color, layer.width or 1.5, dashes[layer.dash or "solid"])
end

function draw.line(layer) return columns_of(layer.x, layer.y), "%s using 1:2 with lines " .. line_style(layer) end

function draw.points(layer)
  return columns_of(layer.x, layer.y),
    ("%%s using 1:2 with points pt 7 ps %.3g lc rgb '%s'"):format(layer.size or 0.6, layer.color)
end

function draw.bars(layer)
  return columns_of(layer.left, layer.right, layer.y),
    ("%%s using (($1 + $2) / 2):3:1:2:(0):3 with boxxyerror lc rgb '%s' fs solid 0.7 border lc rgb '#ffffff'"):format(layer.color)
end

function draw.band(layer)
  return columns_of(layer.x, layer.low, layer.high),
    ("%%s using 1:2:3 with filledcurves fs transparent solid 0.3 noborder lc rgb '%s'"):format(layer.color)
end

function draw.errorbars(layer)
  return columns_of(layer.x, layer.y, layer.low, layer.high),
    ("%%s using 1:2:3:4 with yerrorbars pt 7 ps %.3g lc rgb '%s'"):format(layer.size or 0.6, layer.color)
end

--- Colours are those of an image where there is one: gnuplot has one palette for a chart.
function draw.segments(layer, over_image)
  local lines = {}
  for _, s in ipairs(layer.segments) do
    lines[#lines + 1] = ("%s %s %s\n%s %s %s\n"):format(number(s[1]), number(s[2]), number(s[5]), number(s[3]), number(s[4]),
      number(s[5]))
  end
  -- gnuplot plots no data block without a point.
  if #lines == 0 then lines[1] = "NaN NaN NaN" end
  return lines, ("%%s using 1:2:3 with lines lw %.3g %s"):format(layer.width or 1.2, over_image and "lc rgb '#ffffff'" or "palette")
end

function draw.image(layer)
  local e, lines = layer.extent, {}
  for i, row in ipairs(layer.rows) do
    local texts = {}
    for j, value in ipairs(row) do texts[j] = number(value) end
    lines[i] = table.concat(texts, " ")
  end
  local dx, dy = (e[2] - e[1]) / #layer.rows[1], (e[4] - e[3]) / #layer.rows
  return lines, ("%%s matrix using (%s + ($1 + 0.5) * (%s)):(%s - ($2 + 0.5) * (%s)):3 with image"):format(number(e[1]), number(dx),
    number(e[4]), number(dy))
end

-- ---- charts ---------------------------------------------------------------------------------------------------------------------

--- The commands for one chart. Its data blocks are named $d1, $d2, ...
local function chart_commands(p)
  local options, layers = rawget(p, "options"), rawget(p, "layers")
  local commands, plots, has_label, up, image = {"reset"}, {}, false, true, nil
  for _, layer in ipairs(layers) do image = image or layer.rows and layer end
  local function add(...) commands[#commands + 1] = (...):format(select(2, ...)) end
  for i, layer in ipairs(layers) do
    local lines, how = draw[layer.kind](layer, image ~= nil)
    add("$d%d << EOD\n%s\nEOD", i, table.concat(lines, "\n"))
    plots[i] = how:format("$d" .. i) .. " " .. (layer.label and "title " .. quoted(layer.label) or "notitle")
    has_label = has_label or layer.label ~= nil
    if layer == image or layer.segments and not image then
      local stops = {}
      for at, color in ipairs(colormaps[layer.colormap or "viridis"]) do stops[at] = ("%d '%s'"):format(at, color) end
      add("set palette defined (%s)", table.concat(stops, ", "))
      add("set cbrange [%s:%s]", layer.min and number(layer.min) or "*", layer.max and number(layer.max) or "*")
    end
    if layer.rows or layer.segments then up = up and layer.up end
  end
  for _, name in ipairs {"title", "xlabel", "ylabel"} do
    if options[name] then add("set %s %s", name, quoted(options[name])) end
  end
  if options.names then
    local ticks, letters = {}, 0
    for i, name in ipairs(options.names) do
      -- The name of a tick is a format.
      ticks[i], letters = ("%s %d"):format(quoted((name:gsub("%%", "%%%%"))), i), letters + #name + 2
    end
    -- Where they would meet, the names are oblique.
    if not options.xlim then add("set xrange [0.4:%d.6]", #options.names) end
    add("set xtics %s (%s)", letters > 70 and "rotate by 35 right" or "norotate", table.concat(ticks, ", "))
  end
  for axis in (options.log or ""):gmatch "." do add("set logscale %s", axis) end
  for _, axis in ipairs {"x", "y"} do
    local range = options[axis .. "lim"]
    if range then add("set %srange [%s:%s]", axis, number(range[1]), number(range[2])) end
  end
  if not up and not options.ylim then add "set yrange [*:*] reverse" end
  add(has_label and "set key tmargin right horizontal" or "unset key")
  add("set grid lc rgb '#dddddd'%s", image and "\nset autoscale noextend" or "")
  add("%s", "plot " .. table.concat(plots, ", "))
  return table.concat(commands, "\n")
end

--- Removes the files, and returns the other arguments.
local function without(files, ...)
  for _, name in ipairs(files) do remove(name) end
  return ...
end

local function read_all(name)
  local file = io.open(name, "rb")
  local bytes = file and file:read "*a" or ""
  if file then file:close() end
  return bytes
end

--- The picture's bytes. `charts`: the frames of an animation, or one chart, or grid of charts.
function exports.picture(op, charts, kind, size, fps)
  if not popen then core.raise(("[%s] expected a state that may run programs, got one without io.popen"):format(op)) end
  local found = popen "command -v gnuplot"
  local program = found:read "*l"
  found:close()
  if not program then
    core.raise(("[%s] expected the program gnuplot, which is not installed; Debian's package gnuplot-nox has it, and p:show() needs none")
      :format(op))
  end
  local commands, picture = tmpname(), tmpname()
  local lines = {"set encoding utf8", "set terminal " .. terminal(kind, size, fps), "set output '" .. picture .. "'"}
  for _, p in ipairs(charts) do
    local grid = rawget(p, "charts")
    if grid then
      lines[#lines + 1] = ("set multiplot layout %d,%d"):format(math.ceil(#grid / rawget(p, "columns")), rawget(p, "columns"))
    end
    for _, item in ipairs(grid or {p}) do lines[#lines + 1] = chart_commands(item) end
    if grid then lines[#lines + 1] = "unset multiplot" end
  end
  lines[#lines + 1] = "unset output\n"
  local file = assert(io.open(commands, "wb"))
  file:write(table.concat(lines, "\n"))
  file:close()
  local run = popen("LC_ALL=C.UTF-8 gnuplot '" .. commands .. "' 2>&1 </dev/null")
  local messages = run:read "*a"
  run:close()
  local bytes = without({commands, picture}, read_all(picture))
  if bytes == "" then core.raise(("[%s] gnuplot draws nothing: %s"):format(op, messages:match "line %d+: ([^\n]*)" or messages)) end
  return bytes
end

return exports

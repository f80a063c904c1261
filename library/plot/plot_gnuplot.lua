-- Draws charts with the program gnuplot, which reads its commands from a file in the temporary folder. Punctuation in a script's
-- texts is written there as octal escapes; data are numbers. plot_gnuplot_layers.lua has the commands for each kind of layer.
local gpu, _, core, import = ...
local axes_of = import "plot_axes"
local options_of = import "plot_options"
local gnuplot = import "plot_gnuplot_layers"
local text_length = import("terminal").text_length

local exports = {}

local quoted, number = gnuplot.quoted, gnuplot.number
local theme_of = options_of.theme_of
local popen, tmpname, remove = io.popen, os.tmpname, os.remove

local terminals = {
  png = "pngcairo noenhanced font 'sans,10' size %d,%d background '%s'",
  svg = "svg noenhanced font 'sans-serif,10' fontscale 1.3 size %d,%d background '%s'",
  sixel = "sixelgd noenhanced font 'sans,10' size %d,%d background '%s'",
  gif = "gif noenhanced font 'sans,10' size %d,%d background '%s' animate loop 0 delay %d",
}

local function terminal(op, kind, size, fps, charts)
  local background = options_of.common_theme(op, charts).background
  if kind == "pdf" then
    return ("pdfcairo noenhanced font 'sans,10' fontscale 0.75 linewidth 1.5 size %.4gin,%.4gin background '%s'"):format(size[1] / 96,
      size[2] / 96, background)
  end
  return terminals[kind]:format(size[1], size[2], background, fps and math.max(1, math.floor(100 / fps + 0.5)) or 0)
end

-- ---- axes -----------------------------------------------------------------------------------------------------------------------

--- Names stand at 1, 2, ...; oblique where they would meet.
local function name_ticks(names, is_across, room)
  local ticks, longest = {}, 0
  for i, name in ipairs(names) do
    -- The text of a tick is a format.
    ticks[i], longest = ("%s %d"):format(quoted((name:gsub("%%", "%%%%"))), i), math.max(longest, text_length(name))
  end
  local is_oblique = is_across and longest * 8 + 8 > room / #names
  return (is_oblique and "rotate by 35 right " or "norotate ") .. "(" .. table.concat(ticks, ", ") .. ")"
end

local function number_ticks(axis, count)
  local ticks = {}
  for i, tick in ipairs(axes_of.ticks(axis, count)) do
    -- A tick without a text is small.
    ticks[i] = ('"%s" %.15g%s'):format(tick[2], tick[1], tick[2] == "" and " 1" or "")
  end
  return "norotate (" .. table.concat(ticks, ", ") .. ")"
end

local function axis_commands(add, axis, name, options, size)
  local count = name == "x" and (axis.dates and 2 or 3) + size[1] / 200 or 3 + size[2] / 160
  local names = options[name .. "names"]
  add("set %sra [%.15g:%.15g]", name, axis.low, axis.high)
  add("set %stics nomirror out scale 0.6,0.3 %s", name, names and name_ticks(names, name == "x", size[1] - 90) or number_ticks(axis, count))
  if axis.log then add("set logscale %s", name) end
  if options[name .. "label"] then add("set %slabel %s", name, quoted(options[name .. "label"])) end
end

-- ---- the legend -----------------------------------------------------------------------------------------------------------------

local corners = {{"upper right", 1, 1}, {"upper left", 0, 1}, {"lower right", 1, 0}, {"lower left", 0, 0}}

--- How much of the layers lies in a part of the chart, from 0 to 1 on both axes.
local function hits_in(layers, axes, left, bottom, width, height)
  local hits = 0
  local function within(u, v) return u >= left and u <= left + width and v >= bottom and v <= bottom + height end
  for _, layer in ipairs(layers) do
    local px, py
    local y_axis = layer.axis == "right" and axes.y2 or axes.y
    local fills = layer.kind == "bars" or layer.kind == "band" or layer.kind == "boxes" or layer.kind == "errorbars"
    if layer.kind == "image" or layer.kind == "filled" or layer.kind == "segments" then hits = hits + 1000 end
    axes_of.each_point(layer, function(x, y)
      local u, v = x and axes.x.place(x) or left, y and y_axis.place(y) or bottom
      if within(u, v) then hits = hits + 1 end
      -- Between points: of lines straight, of what is filled from one edge to the other.
      if px and (layer.kind == "line" or fills) then
        for i = 1, 7 do
          if within(px + (u - px) * i / 8, py + (v - py) * i / 8) then hits = hits + 1 end
        end
      end
      px, py = u, v
    end)
  end
  return hits
end

--- Where the legend stands: in the corner that is free, or below the chart.
local function legend_place(options, labels, layers, axes, size)
  if options.legend then return options.legend end
  local longest = 0
  for _, label in ipairs(labels) do longest = math.max(longest, text_length(label)) end
  local width, height = (longest * 8 + 55) / (size[1] - 110), (#labels * 19 + 14) / (size[2] - 100)
  for _, corner in ipairs(corners) do
    if hits_in(layers, axes, corner[2] * (1 - width), corner[3] * (1 - height), width, height) == 0 then return corner[1] end
  end
  return "below"
end

local function legend_command(options, labels, layers, axes, size, theme)
  local place = #labels > 0 and legend_place(options, labels, layers, axes, size) or "none"
  if place == "none" then return "unset key" end
  local how = ("textcolor rgb '%s' samplen 2 spacing 1.15"):format(theme.text)
  if place == "below" then return "set key bmargin center horizontal Left reverse " .. how end
  local vertical, horizontal = place:match "(%a+) (%a+)"
  return ("set key inside %s %s Left reverse opaque fc rgb '%s' %s"):format(vertical == "upper" and "top" or "bottom", horizontal,
    theme.background, how)
end

-- ---- charts ---------------------------------------------------------------------------------------------------------------------

local function palette_commands(add, palette, size)
  local stops = {}
  for i, stop in ipairs(palette.stops) do stops[i] = ("%.10g '%s'"):format(stop[1], stop[2]) end
  add("set palette defined (%s)", table.concat(stops, ", "))
  add("set cbrange [%.15g:%.15g]", palette.low, palette.high)
  if not palette.bar then return add "unset colorbox" end
  if palette.label then add("set cblabel %s", quoted(palette.label)) end
  add("set cbtics scale 0.6 %s", number_ticks({low = palette.low, high = palette.high}, size[2] / 80))
end

local function surface_commands(add, p, size)
  local options, layer = rawget(p, "options"), rawget(p, "layers")[1]
  local axes = axes_of.of(p, 0)
  local z = options.zlim or {options_of.range(layer.rows)}
  if not (z[1] < z[2]) then z = {z[1] - 0.5, z[2] + 0.5} end
  local view = options.view or {30, -60}
  add("set view %.6g,%.6g", 90 - view[1], (90 + view[2]) % 360)
  for _, name in ipairs {"x", "y", "z"} do
    local axis = axes[name] or {low = z[1], high = z[2]}
    add("set %sra [%.15g:%.15g]", name, axis.low, axis.high)
    add("set %stics nomirror scale 0.6 offset 0,0 %s", name, number_ticks(axis, math.min(size[1], size[2]) / 90))
    local label = options[name .. "label"]
    if label then add("set %slabel %s", name, quoted(label) .. (name == "z" and " rotate by 90" or "")) end
  end
  add "set xyplane relative 0"
  add "set ticslevel 0"
end

--- The commands for one chart. Its data blocks are named $d1, $d2, ...
local function chart_commands(p, size)
  local options, layers, theme = rawget(p, "options"), rawget(p, "layers"), theme_of(p)
  local is_surface = layers[1].kind == "surface"
  local commands, plots, labels, blocks = {"reset"}, {}, {}, 0
  local function add(...) commands[#commands + 1] = select("#", ...) == 1 and (...) or (...):format(select(2, ...)) end
  local axes = axes_of.of(p, 0.04)
  local scene = {axes = axes, theme = theme, size = size, command = add}
  function scene.plot(lines, how, layer)
    blocks = blocks + 1
    add("%s", ("$d%d << EOD\n%s\nEOD"):format(blocks, table.concat(lines, "\n")))
    plots[#plots + 1] = ("$d%d %s %s%s"):format(blocks, how, layer and layer.axis == "right" and "axes x1y2 " or "",
      layer and layer.label and "title " .. quoted(layer.label) or "notitle")
  end
  function scene.legend_entry(how, layer)
    if layer.label then plots[#plots + 1] = ("keyentry %s title %s"):format(how, quoted(layer.label)) end
  end
  add "set clip two" -- lines that cross the chart between points beyond it
  add("set border %d lc rgb '%s'", is_surface and 31 or 3, theme.line)
  add("set tics textcolor rgb '%s'", theme.text)
  for _, name in ipairs {"title", "x", "y", "y2", "z", "cb"} do
    add("set %s textcolor rgb '%s'", name == "title" and name or name .. "label", theme.text)
  end
  if options.title then add("set title %s font ',13' offset 0,-0.4", quoted(options.title)) end
  add("set grid %s ytics %s lc rgb '%s' lw 1 lt 1 back", options.xnames and "noxtics" or "xtics", is_surface and "ztics" or "noztics",
    theme.grid)
  local palette
  for _, layer in ipairs(layers) do
    local own = gnuplot.palette(layer)
    -- gnuplot has one palette for a chart: that of an image or of areas, before that of lines.
    if own and (not palette or palette.of.kind == "segments") then palette = own end
    if layer.label and not own then labels[#labels + 1] = layer.label end
  end
  scene.palette = palette
  if palette then palette_commands(add, palette, size) end
  if is_surface then
    surface_commands(add, p, size)
  else
    for _, name in ipairs {"x", "y", "y2"} do
      if axes[name] then axis_commands(add, axes[name], name, options, size) end
    end
    if axes.y2 or palette and palette.of.kind ~= "segments" then add("set border %d", axes.y2 and 11 or 15) end
    if options.aspect == "equal" then add "set size ratio -1" end
    add("%s", legend_command(options, labels, layers, axes, size, theme))
  end
  for _, layer in ipairs(layers) do gnuplot.draw[layer.kind](scene, layer) end
  -- gnuplot needs something to plot.
  if blocks == 0 then scene.plot({"NaN NaN"}, "using 1:2 with points") end
  add("%s", (is_surface and "splot " or "plot ") .. table.concat(plots, ", "))
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

--- What `read` gives for the path of the picture that gnuplot draws, and what gnuplot prints. The picture's path stands between `first`
--- and `commands`.
local function run(op, first, commands, read)
  if not popen then core.raise(("[%s] expected a state that may run programs, got one without io.popen"):format(op)) end
  local found = popen "command -v gnuplot"
  local program = found:read "*l"
  found:close()
  if not program then
    core.raise(("[%s] expected the program gnuplot, which is not installed; Debian's package gnuplot-nox has it, and p:show() needs none")
      :format(op))
  end
  local script, picture = tmpname(), tmpname()
  local file = assert(io.open(script, "wb"))
  file:write(first, "set output '", picture, "'\n", commands)
  file:close()
  local process = popen("LC_ALL=C.UTF-8 gnuplot '" .. script .. "' 2>&1 </dev/null")
  local messages = process:read "*a"
  process:close()
  local result = without({script, picture}, read_all(picture) ~= "" and read(picture))
  if not result then core.raise(("[%s] gnuplot draws nothing: %s"):format(op, messages:match "line %d+: ([^\n]*)" or messages)) end
  return result, messages
end

--- gnuplot's commands for a picture: before those that say where it goes, and after them. `last`: one after it is drawn.
local function picture_commands(op, charts, kind, size, fps, last)
  local lines = {}
  for _, p in ipairs(charts) do
    local grid, each = rawget(p, "charts"), size
    if grid then
      local columns = rawget(p, "columns")
      local rows = math.ceil(#grid / columns)
      lines[#lines + 1] = ("set multiplot layout %d,%d"):format(rows, columns)
      each = {size[1] / columns, size[2] / rows}
    end
    for _, item in ipairs(grid or {p}) do lines[#lines + 1] = chart_commands(item, each) end
    if grid then lines[#lines + 1] = "unset multiplot" end
  end
  lines[#lines + 1] = (last or "") .. "\nunset output\n"
  return "set encoding utf8\nset terminal " .. terminal(op, kind, size, fps, charts) .. "\n", table.concat(lines, "\n")
end

--- The picture's bytes. `charts`: the frames of an animation, or one chart, or grid of charts.
function exports.picture(op, charts, kind, size, fps)
  local first, commands = picture_commands(op, charts, kind, size, fps)
  return (run(op, first, commands, read_all))
end

--- A picture on the device and where the chart's axes are in it: {pixels, left, right, top, bottom}, in pixels from the top left; of a
--- grid the last chart's. `before`: what the function gave before, which it gives again where nothing has changed.
function exports.frame(op, p, size, before)
  local first, commands = picture_commands(op, {p}, "png", size, nil, 'print sprintf("axes %g %g %g %g", GPVAL_TERM_XMIN, '
    .. "GPVAL_TERM_XMAX, GPVAL_TERM_YMIN, GPVAL_TERM_YMAX)")
  if before and before.first == first and before.commands == commands then return before end
  local pixels, messages = run(op, first, commands, function(path) return (gpu.image.load(path)) end)
  local left, right, bottom, top = messages:match "axes (%S+) (%S+) (%S+) (%S+)"
  if not left then core.raise(("[%s] gnuplot does not say where the axes are: %s"):format(op, messages)) end
  -- gnuplot counts from the middle of the lowest row of pixels.
  return {first = first, commands = commands, pixels = pixels, left = left + 0.5, right = right + 0.5, top = size[2] - 0.5 - top,
    bottom = size[2] - 0.5 - bottom}
end

return exports

-- gpu.plot: charts. A chart is a list of layers, which plot_layers.lua makes. Renderers draw them: plot_gnuplot.lua pictures,
-- plot_vega.lua JSON, plot_terminal.lua characters.
-- In sandboxes: none
local gpu, _, core, import = ...
local checks = import "checks"
local kinds = import "kinds"

local exports = {}

local plot = gpu.plot
local settings = import "plot_options"
local data = import "plot_data"
local is_finite, of_chart = settings.is_finite, settings.of_chart

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
  local use = core.used_here("plot." .. tostring(name))
  core.raise(("[plot] a chart has no field or method %s%s"):format(core.describe(name),
    use ~= "" and use or core.did_you_mean(tostring(name), names)))
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
  local fields = {x = {"x", "left", "right", "places"}, y = layer.axis ~= "right" and {"y", "low", "high"} or {}}
  for axis in (log or ""):gmatch "." do
    local is_there, is_empty = false, true
    for _, name in ipairs(fields[axis]) do
      for _, value in ipairs(type(layer[name]) == "table" and layer[name] or {}) do
        is_there, is_empty = is_there or is_finite(value), is_empty and not (value > 0)
      end
    end
    if is_there and is_empty then
      core.raise(("[%s] expected a value above 0 for the logarithmic axis %s, got none"):format(op, axis))
    end
  end
end

-- The kinds that have a colour of the chart's cycle where they name none; annotations have one of the theme.
local cycled = {line = true, points = true, bars = true, boxes = true, band = true, errorbars = true}

-- How many arguments a layer has that begins with x.
local with_x = {line = 2, points = 2, bars = 2, errorbars = 3, band = 3}

local function are_equal(a, b)
  for i = 1, math.max(#a, #b) do
    if a[i] ~= b[i] then return false end
  end
  return true
end

--- Sets where bars begin and end: those of one axis with the same places stand side by side.
local function share_places(layer, all)
  local beside = {}
  for _, other in ipairs(all) do
    local is_beside = other.places and other.axis == layer.axis and are_equal(other.places, layer.places)
    if is_beside then beside[#beside + 1] = other end
  end
  for k, bars in ipairs(beside) do
    local width = 2 * bars.half / #beside
    bars.left, bars.right = {}, {}
    for i, x in ipairs(bars.places) do
      bars.left[i], bars.right[i] = x - bars.half + (k - 1) * width, x - bars.half + k * width
    end
  end
end

-- What plot_layers.lua defines.
local layers

--- Raises an error for a layer whose x are dates beside one whose x are numbers. `takes_seconds`: the option dates of a layer before
--- allows both.
local function check_dated(op, all, layer, is_dated, takes_seconds)
  local before
  for _, other in ipairs(all) do
    if other.is_dated ~= nil then before = other.is_dated end
  end
  if takes_seconds and before == nil then return end
  if before ~= nil and before ~= is_dated then
    core.raise(("[plot.%s] expected %s as x, as a layer before has, got %s; the option dates = true takes numbers as seconds since 1970"):format(
      op, before and "dates" or "numbers", is_dated and "dates" or "numbers"))
  end
  layer.is_dated = is_dated
end

local function add_layer(p, op, ...)
  if rawget(p, "charts") then core.raise(("[plot.%s] expected a chart, got a grid of charts"):format(op)) end
  local arguments, layer, given = settings.read(op, layers.most_arguments[op], ...)
  local held, all = rawget(p, "options"), rawget(p, "layers")
  given.log = given.log or held.log
  if with_x[op] and given.dates == nil then
    local is_dated = arguments[with_x[op]] ~= nil and data.is_dates(op, arguments[1])
    check_dated(op, all, layer, is_dated, held.dates)
    if is_dated then given.dates = true end
  end
  if given.dates == nil then given.dates = held.dates end
  for name, value in pairs(layers.make[op]("plot." .. op, arguments, layer, given)) do
    if layer[name] == nil then layer[name] = value end
  end
  if given.dates and (given.log or ""):find "x" then core.raise(("[plot.%s] expected dates or a logarithmic axis x, got both"):format(op)) end
  for name, value in pairs {xlim = given.xlim or {}, at = layer.at or {}} do
    if value.dates and not given.dates then core.raise(("[plot.%s] expected numbers in %s, got dates; dates = true makes an axis of them"):format(op, name)) end
  end
  if #all > 0 and (layer.kind == "surface" or all[1].kind == "surface") then
    core.raise(("[plot.%s] expected a surface alone in its chart; gpu.plot.grid shows several charts"):format(op))
  end
  if cycled[layer.kind] and not layer.color then
    local turn = rawget(p, "turn") + 1
    rawset(p, "turn", turn)
    layer.turn = turn
  end
  for _, other in ipairs {layer, unpack(all)} do check_log("plot." .. op, other, given.log) end
  all[#all + 1] = layer
  if layer.places then share_places(layer, all) end
  for name, value in pairs(given) do held[name] = value end
  return p
end

--- gpu.plot.grid(charts [, columns])
function plot.grid(charts, columns)
  if type(charts) ~= "table" or is_chart(charts) then core.fail("plot.grid", "a list of charts, {p, q}", charts) end
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
  settings.check_text("plot.save", "a path", path)
  local size = check_size("plot.save", checks.fields("plot.save", options).size)
  local kind = ending(path)
  if path:lower():find "%.vl%.json$" then
    return write_file("plot.save", path, import("plot_vega").text("plot.save", p, size))
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
  return {["application/vnd.vegalite.v5+json"] = import("plot_vega").text("plot.show", p, size), ["image/png"] = drawn and picture or nil}
end

local terminal_draws -- whether it shows sixel, once it was asked

--- The chart as sixel, for a terminal that says that it can and with a gnuplot; nil: neither.
local function pixels(p)
  if terminal_draws == nil then terminal_draws = core.shows_sixel() end
  if not terminal_draws then return nil end
  local drawn, picture = pcall(import("plot_gnuplot").picture, "plot.show", {p}, "sixel", {800, 500})
  return drawn and picture or nil
end

--- gpu.plot.show(p [, {width, height, sixel, window}])
function plot.show(p, options)
  check_rights "show"
  local is_bare = options == nil
  options = checks.fields("plot.show", options)
  if options.window then return import("plot_window").show("plot.show", p, options, is_chart) end
  if type(p) == "function" then core.fail("plot.show", "a chart, or window = true for a function that gives charts", p) end
  check_chart("show", p)
  local display = core.displayer()
  if display and is_bare then return display(p) end
  if options.window ~= nil then core.fail("plot.show", "window = true, or a window of gpu.window", options.window) end
  if options.sixel == nil and not (options.width or options.height) then
    local picture = pixels(p)
    if picture then
      print(picture)
      return
    end
  elseif checks.flag("plot.show", "sixel", options.sixel) then
    print(import("plot_gnuplot").picture("plot.show", {p}, "sixel", {options.width or 800, options.height or 500}))
    return
  end
  local width = options.width or math.min(core.terminal_width(), 100)
  local height = options.height or 20
  if not (is_finite(width) and width >= 20 and is_finite(height) and height >= 4) then
    core.fail("plot.show", "width of 20 characters or more and height of 4 or more", options)
  end
  for _, item in ipairs(rawget(p, "charts") or {p}) do
    print(import("plot_terminal").characters(item, math.floor(width), math.floor(height)))
  end
end

--- gpu.plot.animate(path, frames, fn [, {size, fps}])
function plot.animate(path, frames, fn, options)
  check_rights "animate"
  local op = "plot.animate"
  settings.check_text(op, "a path first, in (path, frames, fn)", path)
  if type(frames) ~= "number" or frames < 1 or frames % 1 ~= 0 then core.fail(op, "a number of frames", frames) end
  if type(fn) ~= "function" then core.fail(op, "a function: number of the frame -> chart", fn) end
  options = checks.fields(op, options)
  local size, fps = check_size(op, options.size), options.fps and settings.check_positive(op, "fps", options.fps) or 10
  local numbered = path:find "%%0?%d*d" and ending(path) == "png"
  if ending(path) ~= "gif" and not numbered then
    core.fail(op, 'a path that ends in .gif, or one for pictures, such as "frame-%04d.png"', path)
  end
  local charts = {}
  for i = 1, frames do
    charts[i] = fn(i)
    if not is_chart(charts[i]) then
      core.raise(("[%s] expected a chart of frame %d from the function, got %s; return gives it: return gpu.plot.line(x, y)"):format(op, i,
        core.describe(charts[i])))
    end
    for _, item in ipairs(rawget(charts[i], "charts") or {charts[i]}) do
      for _, layer in ipairs(rawget(item, "layers")) do layer.source = nil end -- for windows: memory of each frame
    end
    if numbered then write_file(op, path:format(i), import("plot_gnuplot").picture(op, {charts[i]}, "png", size)) end
  end
  return numbered and true or write_file(op, path, import("plot_gnuplot").picture(op, charts, "gif", size, fps))
end

--- Makes the functions gpu.plot.name and the methods p:name of layers. `make`: by name, the functions that give a layer;
--- `most_arguments`: of each, without the chart and options; `parameters`: of the methods.
function exports.define_layers(make, most_arguments, parameters)
  layers = {make = make, most_arguments = most_arguments}
  for op in pairs(make) do
    plot[op] = function(...) return add_layer(new_chart {layers = {}, options = {}, turn = 0}, op, ...) end
    methods[op] = function(p, ...) return add_layer(check_chart(op, p), op, ...) end
  end
  methods.save, methods.show = plot.save, plot.show
  parameters.save, parameters.show = "(path [, {options}])", "([{options}])"
  core.guard_methods(methods, "p:", parameters, "plot.")
end

return exports

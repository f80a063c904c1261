-- What cells of a notebook have beside the command's: display, clear_output, io.read that asks the user, and values in forms that
-- notebooks show. The chunk gets help's show(width, any, what), publish(bundle), clear(wait) and ask(prompt). It returns two functions:
-- bundle(...), the values as a table of MIME types and data, and inspect(name), a text or nil.
local show, publish, clear, ask = ...

local debug, error, next, pcall, rawget, select, tostring, type = debug, error, next, pcall, rawget, select, tostring, type
local concat, format, gmatch, gsub, lower, match = table.concat, string.format, string.gmatch, string.gsub, string.lower, string.match
local io, os, math, getmetatable = io, os, math, debug.getmetatable
local registry, globals, gpu = debug.getregistry(), _G, _G.gpu
local render = registry["gpulua.render"]

local width_of_help = 80

-- ---- arrays ---------------------------------------------------------------------------------------------------------------------

local function is_array(value)
  local meta = type(value) == "userdata" and getmetatable(value)
  return meta and rawget(meta, "__metatable") == "an array"
end

--- The text of a PNG file: pictures of a device's numbers have no other form.
local function png(x, options)
  local path = os.tmpname()
  local ok, why = pcall(gpu.image.save, path .. ".png", x, options or {})
  local bytes
  if ok then
    local file = io.open(path .. ".png", "rb")
    bytes = file:read "*a"
    file:close()
  end
  os.remove(path .. ".png")
  os.remove(path)
  if not ok then error(why, 0) end
  return bytes
end

--- Whether it may be that of a picture with three or four colours.
local function is_colored(shape)
  return #shape == 3 and (shape[3] == 3 or shape[3] == 4)
end

local function is_picture(x)
  local shape = x.shape
  return x.dtype == "uint8" and (#shape == 2 or is_colored(shape)) and x.size > 0
end

local types_of_files = {gif = "image/gif", jpeg = "image/jpeg", jpg = "image/jpeg", png = "image/png", svg = "image/svg+xml"}

--- The picture in the file that a text names, as a table of MIME types; nil where it is no path of one.
local function picture_file(path)
  local mime = types_of_files[lower(match(path, "^[^\n]+%.(%w+)$") or "")]
  if not mime then return nil end
  local file, why = io.open(path, "rb")
  local bytes = file and file:read "*a"
  if file then file:close() end
  if not bytes then error(format("[display] expected the path of a picture, got %s; print(text) shows a text", why or render(path)), 3) end
  return {[mime] = bytes, ["text/plain"] = render(path)}
end

local function cell(value, precision)
  if type(value) == "number" and value % 1 ~= 0 then return format("%." .. precision .. "g", value) end
  return tostring(value)
end

--- Which of n positions are shown, and the one after which some are left out.
local function places(n, edge, elide)
  local list = {}
  for i = 1, n do
    if not elide or i <= edge or i > n - edge then list[#list + 1] = i end
  end
  return list, elide and edge or nil
end

local most_cells = 2000 -- beyond, whatever is asked for, a front end grows slow

--- A matrix as a table, its middle left out as when it is printed.
local function matrix(x)
  local options, rows, columns = gpu.print_options(), x.shape[1], x.shape[2]
  local many = x.size > math.min(options.threshold, most_cells)
  local edge = math.min(options.edge, 20)
  local down, below = places(rows, edge, many and rows > 2 * edge)
  local across, after = places(columns, edge, many and columns > 2 * edge)
  local part = x
  if below then part = part:take(down, 1) end
  if after then part = part:take(across, 2) end
  local lines = {'<table style="font-family:monospace">'}
  for i, values in next, part:table() do
    local cells = {}
    for j, value in next, values do
      cells[#cells + 1] = '<td style="text-align:right">' .. cell(value, options.precision) .. "</td>"
      if j == after then cells[#cells + 1] = "<td>…</td>" end
    end
    lines[#lines + 1] = "<tr>" .. concat(cells) .. "</tr>"
    if i == below then lines[#lines + 1] = "<tr>" .. ("<td>⋮</td>"):rep(#cells) .. "</tr>" end
  end
  lines[#lines + 1] = format("</table><div>%s</div>", match(tostring(part), "^[^[]*") .. format("[%dx%d] %s", rows, columns, x.device))
  return concat(lines, "\n")
end

-- ---- values in several forms ----------------------------------------------------------------------------------------------------

local function check_bundle(data)
  for mime, text in next, type(data) == "table" and data or {{}} do
    if type(mime) ~= "string" or type(text) ~= "string" then
      error("[display] expected __display to give a table of MIME types and strings, got " .. render(data), 0)
    end
  end
  return data
end

local function forms(value)
  local meta = getmetatable(value)
  local own = type(value) ~= "string" and type(meta) == "table" and rawget(meta, "__display")
  local data = own and check_bundle(own(value)) or {}
  if is_array(value) then
    if is_picture(value) then
      data["image/png"] = png(value)
    elseif #value.shape == 2 and value.size > 0 then 
      data["text/html"] = matrix(value)
    end
  end
  data["text/plain"] = data["text/plain"] or render(value)
  return data
end

local function bundle(...)
  if select("#", ...) == 1 then return forms((...)) end
  local texts = {}
  for i = 1, select("#", ...) do texts[i] = render((select(i, ...))) end
  return {["text/plain"] = concat(texts, "\t")}
end

-- ---- globals --------------------------------------------------------------------------------------------------------------------

--- display(value [, {colormap, min, max}]): shows the value where the cell stands. With options an array is a picture; a text may be the
--- path of one.
function globals.display(value, options, ...)
  if options == nil then
    if is_array(value) and is_colored(value.shape) and value.dtype:find "^float" then
      io.stderr:write "hint: display((x * 255):clip(0, 255):astype 'uint8') shows colours from 0 to 1 as a picture\n"
    end
    publish(type(value) == "string" and picture_file(value) or forms(value))
  elseif select("#", ...) == 0 and is_array(value) and type(options) == "table" then
    publish {["image/png"] = png(value, next(options) and options or nil), ["text/plain"] = render(value)}
  else
    error("[display] expected one value, or an array and the options of gpu.image.save", 2)
  end
end

--- clear_output([wait]): removes what the cell has shown, with `wait` when it shows something new.
function globals.clear_output(wait)
  if wait ~= nil and type(wait) ~= "boolean" then error("[clear_output] expected true or false, got " .. render(wait), 2) end
  clear(wait)
end

registry["gpulua.display"] = globals.display -- for p:show() of a chart

local standard_input, default_input, read = io.stdin, io.input, io.read

--- A line of the standard input is one that the user types into the notebook.
function io.read(what, ...)
  if default_input() ~= standard_input then return read(what, ...) end
  local kind = type(what) == "string" and gsub(what, "^%*", "") or what or "l"
  if select("#", ...) > 0 or (kind ~= "l" and kind ~= "L" and kind ~= "n") then
    error('[io.read] expected "*l", "*L" or "*n" in a notebook, got ' .. render(what), 2)
  end
  local line = ask ""
  if line == nil then error("[io.read] expected a notebook that asks its user, got one that runs by itself", 2) end
  if kind == "n" then return tonumber(line) end
  return kind == "L" and line .. "\n" or line
end

function os.exit()
  error("[os.exit] a cell cannot end the kernel; the notebook's menu Kernel does", 2)
end

-- ---- inspection -----------------------------------------------------------------------------------------------------------------

local function global_named(path)
  local value = globals
  for name in gmatch(path, "[^.:]+") do
    if type(value) ~= "table" then return nil end
    value = rawget(value, name)
  end
  return value
end

local function inspect(name)
  local text, is_missing = show(width_of_help, true, name)
  if not is_missing then return text end
  local value = global_named(name)
  if value == nil then return nil end
  if type(value) == "function" then return (show(width_of_help, true, value)) end
  return type(value) .. ": " .. render(value)
end

return bundle, inspect

-- Numbers in text files, and files of plain elements.
-- In sandboxes: none
local gpu, methods, core, import = ...
local define = import "define"
local checks = import "checks"
local kinds = import "kinds"

local reading = {}

local function check_text(op, name, value)
  if type(value) ~= "string" or value == "" then core.fail(op, name .. ", a text that is not empty", value) end
  return value
end

local function check_count(op, name, value, default)
  if value == nil then return default end
  return checks.count(op, name .. ", an integer of 0 or more", value)
end

local function texts(op, name, value)
  if value == nil then return {} end
  if type(value) ~= "table" then return {check_text(op, name, value)} end
  core.check_list(op, "texts", value)
  for _, text in ipairs(value) do check_text(op, name, text) end
  return value
end

-- ---- numbers --------------------------------------------------------------------------------------------------------------------

--- Reads the rows of numbers in a file by core.read_number_rows; nil and a message when it cannot be opened. `options.convert(field,
--- column)`: the number for a field, or nil.
local function read_rows(op, path, reading, options)
  local convert, failure = reading.convert, nil
  if not convert then return core.read_number_rows(op, path, reading, {dtype = options.dtype, device = options.device}) end
  -- An error in the script's function is passed on unchanged.
  function reading.convert(field, column)
    local ok, value = pcall(convert, field, column)
    if ok then return value end
    failure = {value}
    return false
  end
  local found = {pcall(core.read_number_rows, op, path, reading, {dtype = options.dtype, device = options.device})}
  if failure then error(failure[1], 0) end
  if not found[1] then error(found[2], 0) end
  return unpack(found, 2)
end

local function check_columns(op, usecols)
  return usecols ~= nil and checks.integers(op, "usecols: a column or a table of columns", usecols) or nil
end

--- Drops axes of size 1, as `ndmin` allows. With `unpack`, returns the columns.
local function shaped(op, x, options)
  local ndmin = options.ndmin or 0
  if ndmin ~= 0 and ndmin ~= 1 and ndmin ~= 2 then core.fail(op, "ndmin = 0, 1 or 2", ndmin) end
  local unpacks = checks.flag(op, "unpack", options.unpack)
  local rows, columns = x.shape[1], x.shape[2]
  if unpacks then
    local result = {}
    for i = 1, columns do result[i] = x(":", i) end
    return unpack(result)
  end
  if ndmin == 2 then return x end
  if rows == 0 then return x:reshape(0) end
  if rows == 1 and columns == 1 and ndmin == 0 then return x:reshape {} end
  if rows == 1 or columns == 1 then return x:reshape(-1) end
  return x
end

--- Raises an error for a separator in the place of a dtype.
local function refuse_separator(op, options)
  if type(options) ~= "string" or options:find "%w" then return end
  core.raise(("[%s] expected a dtype or a table of options, got %q; {delimiter = %q} separates fields"):format(op, options, options))
end

--- gpu.loadtxt(path [, {dtype, comments, delimiter, converters, skiprows, usecols, unpack, ndmin, max_rows, device}])
--- An array of the numbers in a text file, a row for each line.
function reading.loadtxt(path, options)
  local op = "loadtxt"
  refuse_separator(op, options)
  options = type(options) == "string" and {dtype = options} or checks.fields(op, options)
  local delimiter = options.delimiter ~= nil and check_text(op, "delimiter", options.delimiter) or nil
  local converters = options.converters or {}
  if type(converters) ~= "table" and type(converters) ~= "function" then
    core.fail(op, "converters: a function, or a table of functions by column", converters)
  end
  for column, converter in pairs(type(converters) == "table" and converters or {}) do
    if type(column) ~= "number" or column < 1 or column % 1 ~= 0 then core.fail(op, "converters by columns counted from 1", column) end
    if type(converter) ~= "function" then core.fail(op, "a function as converter", converter) end
  end
  local comments = texts(op, "comments", options.comments or "#")
  local skip, most = check_count(op, "skiprows", options.skiprows, 0), check_count(op, "max_rows", options.max_rows, math.huge)
  local seen = {}
  local function convert(field, column)
    seen[column] = true
    local converter = type(converters) == "function" and converters or converters[column]
    local value = converter and converter(field)
    if converter and value == nil then core.fail(op, ("a number from the converter for %q"):format(field), value) end
    return value
  end
  local x, message = read_rows(op, path, {delimiter = delimiter, comments = comments, skipped_lines = skip, most_rows = most,
    columns = check_columns(op, options.usecols), convert = options.converters and convert}, options)
  if not x then return nil, message end
  for column in pairs(type(converters) == "table" and next(seen) and converters or {}) do
    if not seen[column] then core.fail(op, "converters for columns that are read", column) end
  end
  return shaped(op, x, options)
end

--- gpu.genfromtxt(path [, {dtype, comments, delimiter, skip_header, skip_footer, missing_values, filling_values, usecols, unpack, ndmin, max_rows, device}])
--- As loadtxt, where fields can be missing.
function reading.genfromtxt(path, options)
  local op = "genfromtxt"
  refuse_separator(op, options)
  options = type(options) == "string" and {dtype = options} or checks.fields(op, options)
  local delimiter = options.delimiter ~= nil and check_text(op, "delimiter", options.delimiter) or nil
  local comments = texts(op, "comments", options.comments or "#")
  local skip = check_count(op, "skip_header", options.skip_header, 0)
  local most = check_count(op, "max_rows", options.max_rows, math.huge)
  local footer = check_count(op, "skip_footer", options.skip_footer, 0)
  if footer > 0 and options.max_rows then core.fail(op, "max_rows or skip_footer, not both", footer) end
  local filling = options.filling_values
  if filling == nil then
    local dtype = options.dtype or gpu.default_dtype()
    filling = core.floating(dtype) == core.promote(dtype, "bool") and 0 / 0 or -1
  end
  if type(filling) ~= "number" then core.fail(op, "a number for filling_values", filling) end
  local missing = {"", unpack(texts(op, "missing_values", options.missing_values))}
  local x, message = read_rows(op, path, {delimiter = delimiter, comments = comments, skipped_lines = skip, most_rows = most,
    skipped_rows_at_end = footer, columns = check_columns(op, options.usecols), missing = missing, filling = filling}, options)
  if not x then return nil, message end
  return shaped(op, x, options)
end

-- ---- writing --------------------------------------------------------------------------------------------------------------------

local usual_format = "%.18e"

--- Formats one element: integers of 64 bits exactly, complex numbers by their parts.
local function formatted(format, value, complex)
  if type(value) == "boolean" then value = value and 1 or 0 end
  if type(value) == "number" and math.abs(value) >= 2 ^ 63 then format = format:gsub("^(%%[-+ #0]*%d*)[di]", "%1.0f") end
  if type(value) ~= "cdata" then
    if value % 1 ~= 0 and format:find "%%[-+ #0]*%d*%.?%d*[diouxX]" then
      core.fail("savetxt", ("integers for the format %q; \"%%g\" takes all numbers"):format(format), value)
    end
    return format:format(value)
  end
  if complex then return (" (" .. format .. "%sj)"):format(value.re, (format:gsub("^%%%+?", "%%+")):format(value.im)) end
  -- 64-bit integers of the FFI, exactly: the last nine digits, and those before them.
  local digits = ("%.0f%09.0f"):format(tonumber(value / 1000000000), math.abs(tonumber(value % 1000000000)))
  if format:find "^%%d" then return digits end
  if format == usual_format then
    local sign, first, others = digits:match "^(-?)(%d)(%d+)$"
    return ("%s%s.%s%se+%02d"):format(sign, first, others, ("0"):rep(18 - #others), #others)
  end
  return format:format(tonumber(value))
end

--- The format of each column.
local function formats_of(fmt, columns)
  local formats = {}
  local list = type(fmt) == "table"
  if list and core.check_list("savetxt", "formats", fmt) ~= columns then
    core.raise(("[savetxt] expected a format for each of %d columns, got %d"):format(columns, #fmt))
  end
  for i = 1, columns do
    formats[i] = list and fmt[i] or fmt
    if type(formats[i]) ~= "string" or not formats[i]:find "^[^%%]*%%[-+ #0]*%d*%.?%d*[diouxXeEfgG][^%%]*$" then
      core.fail("savetxt", 'a format of one number, such as "%.6g" or "%d", or a list with one for each column, {"%.4f", "%d"}', formats[i])
    end
  end
  return formats
end

--- gpu.savetxt(path, x [, {fmt, delimiter, newline, header, footer, comments}])
--- A line for each row of a matrix, or element of a vector.
local function savetxt(path, x, options)
  local op = "savetxt"
  if core.is_array(path) then core.fail(op, "the path first, gpu.savetxt(path, x)", path) end
  checks.array(op, x)
  options = checks.fields(op, options)
  local function text(name, default)
    local value = options[name]
    if value == nil then return default end
    if type(value) ~= "string" then core.fail(op, name .. ", a text", value) end
    return value
  end
  if x.ndim > 2 or x.ndim == 0 then core.fail(op, "a vector or a matrix", x) end
  local delimiter, newline, comments = text("delimiter", " "), text("newline", "\n"), text("comments", "# ")
  local rows = x.ndim == 1 and x:expand_dims(2) or x
  local format = options.fmt or usual_format
  local formats = formats_of(format, (rows.size > 0 or type(format) == "table") and rows.shape[2] or 1)
  local pieces = {}
  local function note(name)
    local value = text(name, "")
    if value ~= "" then pieces[#pieces + 1] = comments .. value:gsub("\n", "\n" .. comments) .. newline end
  end
  note "header"
  for _, row in ipairs(rows.shape[1] > 0 and rows:table() or {}) do
    for i, value in ipairs(row) do row[i] = formatted(formats[i], value, kinds.is_complex(x)) end
    pieces[#pieces + 1] = table.concat(row, delimiter) .. newline
  end
  note "footer"
  return core.write_text(op, path, pieces)
end
gpu.savetxt = savetxt

-- ---- plain elements -------------------------------------------------------------------------------------------------------------

--- gpu.fromfile(path [, {dtype, count, sep, offset, device}])
--- A vector of the elements in a file, or of numbers in a text.
function reading.fromfile(path, options)
  local op = "fromfile"
  options = type(options) == "string" and {dtype = options} or checks.fields(op, options)
  local count, offset = options.count or -1, check_count(op, "offset", options.offset, 0)
  checks.integer(op, "a count of 0 or more, or -1 for all", count)
  if count < -1 then core.fail(op, "a count of 0 or more, or -1 for all", count) end
  if options.sep == nil or options.sep == "" then
    return core.read_elements(op, path, count, offset, {dtype = options.dtype, device = options.device})
  end
  local sep = check_text(op, "sep", options.sep):match "^%s*(.-)%s*$"
  if offset ~= 0 then core.fail(op, "no offset with sep, which makes the file a text", offset) end
  local x, message = read_rows(op, path, {one_row = true, delimiter = sep ~= "" and sep or nil,
    most_rows = count >= 0 and count or nil}, options)
  if not x then return nil, message end
  return x:reshape(-1)
end

--- gpu.tofile(x, path)
--- The elements as they lie in memory, in row-major order.
local function tofile(x, path) return core.write_elements("tofile", path, checks.array("tofile", x)) end

for name, fn in pairs(reading) do gpu[name] = fn end
define {tofile = tofile}

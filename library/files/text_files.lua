-- Numbers in text files, and files of plain elements.
local gpu, methods, core = ...

local reading = {}

local function check_text(op, name, value)
  if type(value) ~= "string" or value == "" then core.fail(op, name .. ", a text that is not empty", value) end
  return value
end

local function check_count(op, name, value, default)
  if value == nil then return default end
  core.check_integer(op, name .. ", an integer of 0 or more", value)
  if value < 0 then core.fail(op, name .. ", an integer of 0 or more", value) end
  return value
end

local function texts(op, name, value)
  if value == nil then return {} end
  if type(value) ~= "table" then return {check_text(op, name, value)} end
  core.check_list(op, "texts", value)
  for _, text in ipairs(value) do check_text(op, name, text) end
  return value
end

-- ---- lines ----------------------------------------------------------------------------------------------------------------------

--- Splits a line into its fields, without the spaces around them.
local function fields_of(line, delimiter)
  local fields = {}
  if not delimiter then
    for field in line:gmatch "%S+" do fields[#fields + 1] = field end
    return fields
  end
  local from = 1
  while true do
    local first, last = line:find(delimiter, from, true)
    fields[#fields + 1] = line:sub(from, (first or 0) - 1):match "^%s*(.-)%s*$"
    if not first then return fields end
    from = last + 1
  end
end

--- The lines with numbers, as {number of the line, fields}. Comments and empty lines are left out.
local function rows_of(text, delimiter, comments, skip, most)
  local rows, number = {}, 0
  for line in text:gmatch "([^\n]*)\n?" do
    number = number + 1
    if #rows >= most then break end
    if number > skip then
      for _, mark in ipairs(comments) do
        local at = line:find(mark, 1, true)
        if at then line = line:sub(1, at - 1) end
      end
      if line:find "%S" then rows[#rows + 1] = {number, fields_of(line:gsub("\r$", ""), delimiter)} end
    end
  end
  return rows
end

--- The columns to use, counted from 1, of `width`.
local function columns_of(op, usecols, width)
  local columns = {}
  if usecols == nil then
    for i = 1, width do columns[i] = i end
    return columns
  end
  for i, column in ipairs(core.check_integers(op, "usecols: a column or a table of columns", usecols)) do
    local at = column < 0 and width + 1 + column or column
    if at < 1 or at > width then core.fail(op, ("columns from 1 to %d, or from -%d to -1"):format(width, width), column) end
    columns[i] = at
  end
  return columns
end

-- ---- numbers --------------------------------------------------------------------------------------------------------------------

--- A complex number as NumPy writes it: (1+2j).
local function to_complex(text)
  text = text:match "^%((.*)%)$" or text
  local re, im = text:match "^(.-)([+-]?[^+-]*)[ij]$"
  if re and re:find "[eE]$" then re, im = text:match "^(.-)([+-]?[%d.]+[eE][+-]?%d+)[ij]$" end
  if not re then return tonumber(text), 0 end
  return re == "" and 0 or tonumber(re), tonumber(im)
end

--- A 64-bit integer, exactly; nil for other text and for integers that do not fit.
local function to_integer(text, ctype, dtype)
  local sign, digits = text:match "^([+-]?)0*(%d+)$"
  if not digits or sign == "-" and dtype == "uint64" and digits ~= "0" then return nil end
  local most = dtype == "uint64" and "18446744073709551615" or sign == "-" and "9223372036854775808" or "9223372036854775807"
  if #digits > #most or #digits == #most and digits > most then return nil end
  local value = ctype(0)
  for digit in digits:gmatch "%d" do value = value * 10 + tonumber(digit) end
  return sign == "-" and -value or value
end

--- The ranges of the integers that a double holds.
local ranges = {
  int8 = {-0x80, 0x7f}, int16 = {-0x8000, 0x7fff}, int32 = {-0x80000000, 0x7fffffff},
  uint8 = {0, 0xff}, uint16 = {0, 0xffff}, uint32 = {0, 0xffffffff},
}

--- Returns parse(text), which gives the parts of a number or nil, and the FFI's name of the numbers' type.
local function parser(dtype, given)
  local ffi = require "ffi"
  if dtype:find "^complex" then return to_complex, "complex double" end
  if dtype == "int64" or dtype == "uint64" then
    local ctype = ffi.typeof(dtype .. "_t")
    return function(text) return to_integer(text, ctype, dtype) end, dtype .. "_t"
  end
  local range = ranges[dtype]
  if range then
    return function(text)
      local value = tonumber(text)
      return value and value % 1 == 0 and value >= range[1] and value <= range[2] and value or nil
    end, "double"
  end
  if given then return tonumber, "double" end
  local single = ffi.new "float[1]"
  return function(text)
    local value = tonumber(text)
    if value and value % 1 == 0 and value - value == 0 and math.abs(value) > 2 ^ 24 then
      single[0] = value
      if single[0] ~= value then return nil, "a dtype for integers that float32 would round" end
    end
    return value
  end, "double"
end

--- Makes an array of the rows' fields. `missing(text, column)`: the number for a field that is none, or nil.
local function array_of(op, path, rows, options, missing)
  local ffi = require "ffi"
  local dtype, device = core.options(op, {dtype = options.dtype, device = options.device})
  local given = dtype ~= nil
  dtype = dtype or "float32"
  local parse, ctype = parser(dtype, given)
  local width = rows[1] and #rows[1][2] or 0
  local columns = rows[1] and columns_of(op, options.usecols, width) or {}
  local values = ffi.new(ctype .. "[?]", math.max(#rows * #columns, 1))
  local complex, at = ctype == "complex double", 0
  for _, row in ipairs(rows) do
    local line, fields = row[1], row[2]
    if #fields ~= width then
      core.raise(("[%s] expected %d columns, as in the line before, got %d in line %d of %s"):format(op, width, #fields, line,
        path))
    end
    for _, column in ipairs(columns) do
      local text = fields[column]
      local value, rest = missing(text, column), nil
      if value == nil then value, rest = parse(text) end
      if value == nil or complex and rest == nil then
        core.raise(('[%s] expected %s, got "%s" in line %d, column %d of %s'):format(op, type(rest) == "string" and rest
          or "a number of " .. dtype, text, line, column, path))
      end
      values[at] = complex and gpu.complex(value, rest) or value
      at = at + 1
    end
  end
  local place = {dtype = dtype, device = device}
  if at == 0 then return gpu.zeros({#rows, #columns}, place) end
  return gpu.array(values, place):reshape(#rows, #columns)
end

--- Drops axes of size 1, as `ndmin` allows. With `unpack`, returns the columns.
local function shaped(op, x, options)
  local ndmin = options.ndmin or 0
  if ndmin ~= 0 and ndmin ~= 1 and ndmin ~= 2 then core.fail(op, "ndmin = 0, 1 or 2", ndmin) end
  local unpacks = core.check_flag(op, "unpack", options.unpack)
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

--- loadtxt(path [, options]): an array of the numbers in a text file, a row for each line.
function reading.loadtxt(path, options)
  local op = "loadtxt"
  options = type(options) == "string" and {dtype = options} or core.check_fields(op, options)
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
  local text, message = core.read_text(op, path)
  if not text then return nil, message end
  local function convert(field, column)
    local converter = type(converters) == "function" and converters or converters[column]
    local value = converter and converter(field)
    if converter and value == nil then core.fail(op, ("a number from the converter for %q"):format(field), value) end
    return value
  end
  return shaped(op, array_of(op, path, rows_of(text, delimiter, comments, skip, most), options, convert), options)
end

--- genfromtxt(path [, options]): as loadtxt, where fields can be missing.
function reading.genfromtxt(path, options)
  local op = "genfromtxt"
  options = type(options) == "string" and {dtype = options} or core.check_fields(op, options)
  local delimiter = options.delimiter ~= nil and check_text(op, "delimiter", options.delimiter) or nil
  local comments = texts(op, "comments", options.comments or "#")
  local skip = check_count(op, "skip_header", options.skip_header, 0)
  local most = check_count(op, "max_rows", options.max_rows, math.huge)
  local footer = check_count(op, "skip_footer", options.skip_footer, 0)
  if footer > 0 and options.max_rows then core.fail(op, "max_rows or skip_footer, not both", footer) end
  local filling = options.filling_values
  if filling == nil then
    filling = core.floating(options.dtype or "float32") == core.promote(options.dtype or "float32", "bool") and 0 / 0 or -1
  end
  if type(filling) ~= "number" then core.fail(op, "a number for filling_values", filling) end
  local is_missing = {[""] = true}
  for _, name in ipairs(texts(op, "missing_values", options.missing_values)) do is_missing[name] = true end
  local text, message = core.read_text(op, path)
  if not text then return nil, message end
  local rows = rows_of(text, delimiter, comments, skip, most)
  for _ = 1, math.min(footer, #rows) do rows[#rows] = nil end
  local function fill(field)
    if is_missing[field] then return filling, 0 end
  end
  return shaped(op, array_of(op, path, rows, options, fill), options)
end

-- ---- writing --------------------------------------------------------------------------------------------------------------------

--- Formats one element: integers of 64 bits exactly, complex numbers by their parts.
local function formatted(format, value, complex)
  if type(value) == "boolean" then value = value and 1 or 0 end
  if type(value) == "number" and math.abs(value) >= 2 ^ 63 then format = format:gsub("^(%%[-+ #0]*%d*)[di]", "%1.0f") end
  if type(value) ~= "cdata" then return format:format(value) end
  if complex then return (" (" .. format .. "%sj)"):format(value.re, (format:gsub("^%%%+?", "%%+")):format(value.im)) end
  if format:find "^%%d" then -- beyond 2^53: nine digits, and those above them
    return ("%.0f%09.0f"):format(tonumber(value / 1000000000), math.abs(tonumber(value % 1000000000)))
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
      core.fail("savetxt", 'a format of one number, such as "%.6g" or "%d"', formats[i])
    end
  end
  return formats
end

--- savetxt(path, x [, options]): a line for each row of a matrix, or element of a vector.
local function savetxt(path, x, options)
  local op = "savetxt"
  core.check_array(op, x)
  options = core.check_fields(op, options)
  local function text(name, default)
    local value = options[name]
    if value == nil then return default end
    if type(value) ~= "string" then core.fail(op, name .. ", a text", value) end
    return value
  end
  if x.ndim > 2 or x.ndim == 0 then core.fail(op, "a vector or a matrix", x) end
  local delimiter, newline, comments = text("delimiter", " "), text("newline", "\n"), text("comments", "# ")
  local rows = x.ndim == 1 and x:expand_dims(2) or x
  local format = options.fmt or "%.18e"
  local formats = formats_of(format, (rows.size > 0 or type(format) == "table") and rows.shape[2] or 1)
  local pieces = {}
  local function note(name)
    local value = text(name, "")
    if value ~= "" then pieces[#pieces + 1] = comments .. value:gsub("\n", "\n" .. comments) .. newline end
  end
  note "header"
  for _, row in ipairs(rows.shape[1] > 0 and rows:table() or {}) do
    for i, value in ipairs(row) do row[i] = formatted(formats[i], value, core.is_complex(x)) end
    pieces[#pieces + 1] = table.concat(row, delimiter) .. newline
  end
  note "footer"
  return core.write_text(op, path, pieces)
end
gpu.savetxt = savetxt

-- ---- plain elements -------------------------------------------------------------------------------------------------------------

--- fromfile(path [, {dtype =, count =, offset =, sep =, device =}]): a vector of the elements in a file, or of numbers in a text.
function reading.fromfile(path, options)
  local op = "fromfile"
  options = type(options) == "string" and {dtype = options} or core.check_fields(op, options)
  local count, offset = options.count or -1, check_count(op, "offset", options.offset, 0)
  core.check_integer(op, "a count of 0 or more, or -1 for all", count)
  if count < -1 then core.fail(op, "a count of 0 or more, or -1 for all", count) end
  if options.sep == nil or options.sep == "" then
    return core.read_elements(op, path, count, offset, {dtype = options.dtype, device = options.device})
  end
  local sep = check_text(op, "sep", options.sep):match "^%s*(.-)%s*$"
  if offset ~= 0 then core.fail(op, "no offset in a text, which sep makes of the file", offset) end
  local text, message = core.read_text(op, path)
  if not text then return nil, message end
  local fields = fields_of(text, sep ~= "" and sep or nil)
  if fields[#fields] == "" then fields[#fields] = nil end
  if count > #fields then core.fail(op, ("at most the %d numbers of %s"):format(#fields, path), count) end
  local rows = {}
  for i = 1, count < 0 and #fields or count do rows[i] = {i, {fields[i]}} end
  return array_of(op, path, rows, options, function() end):reshape(-1)
end

--- tofile(x, path): the elements as they lie in memory, in row-major order.
local function tofile(x, path) return core.write_elements("tofile", path, core.check_array("tofile", x)) end

for name, fn in pairs(reading) do gpu[name] = fn end
core.define {tofile = tofile}

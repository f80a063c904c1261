-- gpu.load and gpu.save: the format of a file by the ending of its name.
-- In sandboxes: none
local gpu, _, core, import = ...
local checks = import "checks"
local columns = import "columns"

-- The options of each format, for gpu.load and gpu.save, and the C++ functions that do the work; nil for the formats below.
local csv = {
  what = "a table in text", load = {
    "device", "mmap", "columns", "names", "dtype", "dates", "sep", "skip", "comments", "max_rows", "header", "missing", "thousands", "decimal",
    "symbols", "parentheses",
  },
  save = {"sep", "header", "missing"},
}
local raw = {what = "plain elements", load = {"device", "dtype", "shape", "offset"}, save = {}}
local hdf5 = {what = "an HDF5 file", reads = "load_hdf5", writes = "save_hdf5", load = {"device", "name"}, save = {}}
local numpy = {what = "a .npy file", load = {"device", "mmap"}, save = {}}
local zipped = {what = "a .npz file", load = {"device", "mmap"}, save = {"compress"}}
local formats = {
  npy = numpy, npz = zipped,
  csv = csv, tsv = csv, bin = raw, raw = raw,
  h5 = hdf5, hdf5 = hdf5,
  safetensors = {
    what = "a .safetensors file", reads = "load_safetensors", writes = "save_safetensors", load = {"device", "mmap"}, save = {"metadata"},
  },
}
local endings = ".npy, .npz, .csv, .tsv, .h5, .hdf5, .safetensors, .bin or .raw"

--- The ending of the name: that before .gz, which gzip adds.
local function ending(path)
  path = path:lower()
  return (path:gsub("(%.[ct]sv)%.gz$", "%1"):match "%.(%w+)$" or "")
end

-- Files of other programs. Python converts them: what it reads of such a file, and writes to one. $ stands for the name before the ending.
local function of_pandas(ending, format, read_options, write_options)
  return {
    load = ('pandas.read_%s("$.%s"%s).to_csv("$.csv", index=False)'):format(format, ending, read_options or ""),
    save = ('pandas.read_csv("$.csv").to_%s("$.%s"%s)'):format(format, ending, write_options or ""), by = ".csv",
  }
end
local function of_torch(ending)
  return {
    load = ('safetensors.torch.save_file(torch.load("$.%s"), "$.safetensors")'):format(ending),
    save = ('torch.save(safetensors.torch.load_file("$.safetensors"), "$.%s")'):format(ending), by = ".safetensors",
  }
end
local foreign = {
  arrow = of_pandas("arrow", "feather"), dta = of_pandas("dta", "stata", nil, ", write_index=False"), feather = of_pandas("feather", "feather"),
  json = of_pandas("json", "json"), ods = of_pandas("ods", "excel", nil, ", index=False"), orc = of_pandas("orc", "orc"),
  parquet = of_pandas("parquet", "parquet"), pickle = of_pandas("pickle", "pickle"), pkl = of_pandas("pkl", "pickle"),
  pt = of_torch "pt", pth = of_torch "pth", xlsx = of_pandas("xlsx", "excel", nil, ", index=False"),
  mat = {
    load = 'numpy.savez("$.npz", **{k: v for k, v in scipy.io.loadmat("$.mat").items() if k[0] != "_"})',
    save = 'scipy.io.savemat("$.mat", dict(numpy.load("$.npz")))', by = ".npz",
  },
  xls = { -- pandas reads such files and writes .xlsx alone
    load = 'pandas.read_excel("$.xls").to_csv("$.csv", index=False)', save = 'pandas.read_csv("$.csv").to_excel("$.xlsx", index=False)',
    by = ".csv",
  },
}

--- What to do about a file of another program; "" where nothing is known. Texts have no ending of their own.
local function advice_about(op, path, found)
  local way = foreign[found]
  if way then
    local stem = path:match "([^/\\]*)%.%w+$"
    local python = way[op]:gsub("%$", (stem:gsub("%%", "%%%%")))
    return op == "load" and ("; in Python %s makes a file to load"):format(python)
      or ("; save %q, and in Python %s"):format(stem .. way.by, python)
  end
  if op == "save" and (found == "txt" or found == "dat") then return "; .csv is text with commas, .tsv text with tabs" end
  return ""
end

--- The format by the ending; of a file to load nil for others.
local function format_of(op, path)
  if type(path) ~= "string" then core.fail(op, op == "save" and "the path first, gpu.save(path, arrays)" or "the path of a file", path) end
  local found = ending(path)
  local is_foreign = foreign[found] or op == "save" and not formats[found]
  if is_foreign then
    core.raise(("[%s] expected a path that ends in %s, got %q%s"):format(op, endings, path, advice_about(op, path, found)))
  end
  return formats[found]
end

--- The options, after a check that the format has each of them.
local function check_options(op, format, options)
  if type(options) ~= "table" then return checks.fields(op, options) end
  local known = format[op]
  local fits = {}
  for _, name in ipairs(known) do fits[name] = true end
  for name in pairs(options) do
    if not fits[name] then
      local list = table.concat(known, ", "):gsub(", (%w+)$", " and %1")
      local expected = #known == 0 and "no options" or (#known == 1 and "the option " or "the options ") .. list
      core.raise(("[%s] expected %s for %s, got %s%s"):format(op, expected, format.what, core.describe(name),
        type(name) == "string" and core.did_you_mean(name, known, op) or ""))
    end
  end
  return options
end

local function check_count(op, name, value)
  if value == nil then return 0 end
  return checks.count(op, name .. ", an integer of 0 or more", value)
end

-- ---- tables in text -------------------------------------------------------------------------------------------------------------

local function separator(op, path, sep)
  if sep == nil then return ending(path) == "tsv" and "\t" or "," end
  if type(sep) ~= "string" or #sep ~= 1 or sep:find '[%w\n\r".+-]' then
    core.raise(("[%s] expected sep, one character that is not part of a number, quote or line's end, got %s%s"):format(op, core.describe(sep),
      sep == "tab" and '; "\\t" is a tab' or ""))
  end
  return sep
end

local function list_of(name, value)
  if value == nil or type(value) == "table" then return value end
  if type(value) ~= "string" and type(value) ~= "number" then core.fail("load", name .. ", one or a table of them", value) end
  return {value}
end

--- The texts of an option: one or a table of them.
local function texts_of(what, value)
  if value == nil then return end
  local list = list_of(what, value)
  core.check_list("load", what, list)
  for _, text in ipairs(list) do
    if type(text) ~= "string" or text == "" and what:find "^symbols" then core.fail("load", what, text) end
  end
  return list
end

--- The option symbols: none that is part of a number, whose sign or digits it would lose.
local function symbols_of(symbols)
  symbols = texts_of("symbols: texts beside numbers", symbols)
  for _, symbol in ipairs(symbols or {}) do
    if symbol:find "^[%d().,+%-%s]+$" then
      core.fail("load", "symbols that are no part of a number; parentheses = true reads (5) as -5", symbol)
    end
  end
  return symbols
end

--- An option of one character that is no part of a number.
local function mark_of(name, value, sep)
  if value == nil then return end
  if type(value) ~= "string" or #value ~= 1 or value:find '[%w\n\r"+-]' then core.fail("load", name .. ", one character such as \",\"", value) end
  if name == "decimal" and value == sep then
    core.raise(("[load] expected a decimal that is not the separator, got %q for both; sep is the character between fields"):format(value))
  end
  return value
end

--- The formats of dates by column: {day = "%d.%m.%Y"}; a list of names, {"day"}, or one name says ISO 8601.
local function date_formats(op, dates, by_column)
  if dates == nil then return {} end
  if type(dates) == "string" then dates = {dates} end
  if type(dates) ~= "table" then core.fail(op, 'dates: formats by column, {day = "%d.%m.%Y"}, or a table of names', dates) end
  local formats = {}
  for key, value in pairs(dates) do
    local name, format = key, value
    if type(key) == "number" then name, format = value, "" end
    if type(name) ~= "string" or type(format) ~= "string" then
      core.fail(op, 'dates: formats by column, {day = "%d.%m.%Y"}, or a table of names', value)
    end
    if by_column[name] then core.raise(("[load] expected dtype or dates for column %s, got both"):format(name)) end
    formats[name] = format
  end
  return formats
end

local function load_csv(path, options)
  local op = "load"
  local by_column = type(options.dtype) == "table"
  local wanted = list_of("columns: names or positions", options.columns)
  if wanted and core.check_list(op, "columns", wanted) == 0 then core.fail(op, "at least one column", wanted) end
  local sep = separator(op, path, options.sep)
  local decimal, thousands = mark_of("decimal", options.decimal, sep) or ".", mark_of("thousands", options.thousands)
  if decimal == thousands then core.raise(("[load] expected decimal and thousands that differ, got %q for both"):format(decimal)) end
  local comments = options.comments
  if comments ~= nil and (type(comments) ~= "string" or comments == "") then core.fail(op, "comments, the text that comments begin with", comments) end
  local mmap = checks.flag(op, "mmap", options.mmap)
  local found, message = core.read_csv(path, {
    sep = sep, is_usual_sep = options.sep == nil, header = checks.flag(op, "header", options.header),
    skip = check_count(op, "skip", options.skip), columns = wanted, names = texts_of("names: texts", options.names),
    missing = texts_of("missing: texts", options.missing), symbols = symbols_of(options.symbols),
    parentheses = checks.flag(op, "parentheses", options.parentheses),
    thousands = thousands, decimal = decimal, comments = comments,
    max_rows = options.max_rows and check_count(op, "max_rows", options.max_rows), mmap = mmap ~= false,
    dtype = not by_column and options.dtype or nil, types = by_column and options.dtype or {},
    dates = date_formats(op, options.dates, by_column and options.dtype or {}), place = {device = options.device},
  })
  if not found then return nil, message end
  if #found == 0 then
    local skip = options.skip or 0
    core.raise(("[load] %s: expected a table, got %s"):format(path,
      skip > 0 and ("no lines after the %d that skip leaves out"):format(skip) or "a file without lines"))
  end
  for _, column in ipairs(found) do
    if column[4] then import("text_advice").remember(column[3], column[4], column[1], path, sep, options.header == false) end
  end
  return import("table").table_of(found)
end

local function save_csv(path, value, options)
  local op = "save"
  if path:lower():find "%.gz$" then core.fail(op, "a path without .gz: gzip compresses a file that is there", path) end
  local list, rows = import("table").columns_of(op, value)
  local missing, sep = options.missing or "", separator(op, path, options.sep)
  if type(missing) ~= "string" or missing:find '[\n\r"]' or missing:find(sep, 1, true) then
    core.fail(op, "missing, a text for NaN without separators and quotes", missing)
  end
  return core.write_csv(path, list, rows, {
    sep = sep, header = checks.flag(op, "header", options.header) ~= false, missing = missing,
  })
end

-- ---- plain elements -------------------------------------------------------------------------------------------------------------

local function load_raw(path, options)
  local shape, count = options.shape, -1
  if shape ~= nil then
    shape = checks.integers("load", "shape: a table of numbers", shape)
    core.check_shape("load", shape)
    count = 1
    for _, extent in ipairs(shape) do count = count * extent end
  end
  local x, message = core.read_elements("load", path, count, check_count("load", "offset", options.offset),
    {dtype = options.dtype, device = options.device})
  if not x then return nil, message end
  return shape and x:reshape(shape) or x
end

-- ---- NumPy's files --------------------------------------------------------------------------------------------------------------

local function load_numpy(path, options)
  local value, kind = core.load_numpy(path, options)
  if not value then return nil, kind end
  if not kind then return value end
  if core.is_array(value) then return columns.make(value, kind) end
  for name, one in pairs(kind) do columns.make(value[name], one) end
  return value
end

--- An array, or the array of a column of dates, and the column's kind.
local function dates_or_array(x)
  local kind = columns.kind_of(x)
  if not columns.is_date(kind) then return x end
  return columns.plain(x), kind
end

local function save_numpy(path, value, options)
  if ending(path) == "npy" then return core.save_npy(path, dates_or_array(value)) end
  local arrays, kinds = value, {}
  if type(value) == "table" and not getmetatable(value) then
    arrays = {}
    for name, x in pairs(value) do arrays[name], kinds[name] = dates_or_array(x) end
  end
  return core.save_npz(path, arrays, kinds, options)
end

-- ---- dispatch -------------------------------------------------------------------------------------------------------------------

--- gpu.load(path [, {device, mmap, columns, names, dtype, dates, sep, skip, comments, max_rows, header, missing, thousands, decimal, symbols, parentheses, shape, offset, name}])
function gpu.load(path, options)
  local format = format_of("load", path) or formats.npz
  options = check_options("load", format, options)
  if format == csv then return load_csv(path, options) end
  if format == raw then return load_raw(path, options) end
  if format == numpy or format == zipped then return load_numpy(path, options) end
  return core[format.reads](path, options)
end

--- gpu.save(path, arrays [, {compress, sep, header, missing, metadata}])
function gpu.save(path, arrays, options)
  if core.is_array(path) then core.fail("save", "the path first, gpu.save(path, x)", path) end
  local format = format_of("save", path)
  if core.is_array(options) then core.fail("save", "the arrays in one table, {x = x, y = y}", options) end
  options = check_options("save", format, options)
  if format == csv then return save_csv(path, arrays, options) end
  if format == numpy or format == zipped then return save_numpy(path, arrays, options) end
  if format == raw then return core.write_elements("save", path, checks.array("save", arrays)) end
  return core[format.writes](path, arrays, options)
end

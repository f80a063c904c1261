-- gpu.sparse: matrices of which most elements are 0. A matrix is a userdata with fields:
--   format   "csr", "csc" or "coo"
--   shape    {rows, columns}
--   lines    csr and csc: {entries, places, starts, width, ordered}; the first three are SciPy's data, indices and indptr. Lines are
--            the rows of csr, the columns of csc; starts[i] is the position of line i's first nonzero; the indices are below `width`.
--            ordered: in each line they ascend, each once; nil: not checked yet (own.ascends)
--   entries, rows, columns    coo: the values and their positions; ordered: row by row, each once
-- Positions in these fields count from 0, as kernels and libraries take them; what a script gives and gets counts from 1. The arrays of
-- positions never change. The nonzeros do: A.data is the array itself. So what is computed from them is cached with core.writes(entries).
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, kinds = import "checks", import "kinds"
local calls, sparse_lines = import "derived_calls", import "sparse_lines"

local sparse = gpu.sparse
local fields_of, make = core.sparse_fields, core.sparse_matrix
local metatable, methods = core.sparse_metatable()

-- What the files sparse*.lua share.
local own = {}

-- ---- arguments --------------------------------------------------------------------------------------------------------------

local stored = {float32 = true, float64 = true, complex64 = true, complex128 = true}

--- The dtype of nonzeros from values of a dtype: integers and bool get the default one.
function own.entry_dtype(op, dtype)
  if stored[dtype] then return dtype end
  if dtype == "float16" or dtype == "bfloat16" then
    core.raise(("[%s] expected float32, float64, complex64 or complex128, got %s; x:astype(\"float32\") converts"):format(op, dtype))
  end
  return core.floating(dtype)
end

--- Checks a dtype that a script names.
function own.check_dtype(op, dtype)
  if type(dtype) ~= "string" or not stored[core.promote(dtype, dtype)] then
    core.fail(op, "float32, float64, complex64 or complex128", dtype)
  end
  return core.promote(dtype, dtype)
end

--- The fields of a sparse matrix.
function own.check(op, A) return fields_of(A) or core.fail(op, "a sparse matrix", A) end

--- Checks a shape {rows, columns}.
local function check_shape(op, shape)
  if type(shape) ~= "table" or #shape ~= 2 then core.fail(op, "a shape {rows, columns}", shape) end
  core.check_shape(op, shape)
  return {shape[1], shape[2]}
end

--- A vector of values: an array, or a table of numbers.
local function check_values(op, values, device)
  if type(values) == "table" then values = gpu.array(values, {device = device}) end
  if checks.array(op, values).ndim ~= 1 then core.fail(op, "a vector of values", values) end
  return values
end

--- A vector of integers on the device of `like`: an array, or a table.
local function check_positions(op, what, positions, like)
  if type(positions) == "table" then
    local list = positions
    positions = gpu.array(list, {dtype = "int64", device = like.device})
    for i = 1, positions.ndim == 1 and #list or 0 do
      if tonumber(list[i]) < 1 then
        core.raise(("[%s] expected %s from 1, got %s at position %d; positions count from 1: gpu.array(list, \"int32\") + 1 of a list of those that count from 0"):format(
          op, what, core.describe(list[i]), i))
      end
    end
  end
  if not core.is_array(positions) or positions.ndim ~= 1 or not positions.dtype:find "int" then
    core.fail(op, ("a vector of integers as %s%s"):format(what, op == "sparse.coo" and ", in (rows, columns, values [, shape])" or ""), positions)
  end
  if positions.device ~= like.device then
    core.raise(("[%s] expected arrays of one device, got %s and %s; x:to(name) copies one over"):format(op, like.device,
      positions.device))
  end
  return positions
end

--- The greatest position, 0 without one. An error at once where the least is below 1: what the matrix is then multiplied with would get it.
local function extent_of(op, what, positions)
  if positions.size == 0 then return 0 end
  local least = tonumber(positions:min():item())
  if least < 1 then
    core.raise(("[%s] expected %s from 1, got %d; positions count from 1: x + 1 of those that count from 0"):format(op, what, least))
  end
  return tonumber(positions:max():item())
end

--- The dtype of positions.
function own.index_dtype(shape, count)
  return math.max(shape[1], shape[2], count) < 2 ^ 31 and "int32" or "int64"
end

-- ---- matrices ---------------------------------------------------------------------------------------------------------------

--- A matrix in csr or csc, of lines.
function own.compressed(format, shape, lines)
  lines.entries = lines.entries:contiguous()
  core.keep(lines.entries, lines.places, lines.starts)
  lines.width = format == "csr" and shape[2] or shape[1]
  return make {format = format, shape = shape, lines = lines}
end

--- A matrix in coo.
function own.coordinates(shape, entries, rows, columns, ordered)
  entries = entries:contiguous()
  core.keep(entries, rows, columns)
  return make {format = "coo", shape = shape, entries = entries, rows = rows, columns = columns, ordered = ordered}
end

function own.entries_of(fields) return fields.lines and fields.lines.entries or fields.entries end

own.lines_by, own.turned = sparse_lines.by, sparse_lines.turned

--- A copy of lines with nonzeros of their own.
local function with_own_entries(lines)
  return {entries = lines.entries:copy(), places = lines.places, starts = lines.starts, ordered = lines.ordered}
end
own.with_own_entries = with_own_entries

-- ---- constructors -----------------------------------------------------------------------------------------------------------

local order_of_coo = "[%s] expected gpu.sparse.coo(rows, columns, values, shape), got SciPy's (values, (rows, columns))"

--- The arguments of a constructor in front of its options, of which the first three can be omitted, and its options. A dtype can take
--- the options' place.
local function arguments(op, x, ...)
  if type(x) == "table" and #x == 2 and type(x[2]) == "table" and #x[2] == 2 and type(x[2][1]) ~= "number" then
    core.raise(order_of_coo:format(op))
  end
  local given = {...}
  for i = 1, select("#", ...) do
    local value = given[i]
    if type(value) == "string" or checks.is_options(value) then
      for k = i + 1, select("#", ...) do checks.shift(op, value, given[k]) end
      given[i] = nil
      local options = type(value) == "string" and {dtype = value} or checks.fields(op, value)
      if options.dtype ~= nil then own.check_dtype(op, options.dtype) end
      return given[1], given[2], given[3], options
    end
  end
  return given[1], given[2], given[3], {}
end

--- A matrix of the format, of an array of two axes, a table of rows, or a sparse matrix.
local function convert(op, format, x, options)
  if fields_of(x) then
    if options.device and options.device ~= x.device then
      core.raise(("[%s] expected a matrix on %s, got one on %s; A:to(name) copies it over"):format(op, options.device, x.device))
    end
    local A = x[format == "csr" and "tocsr" or format == "csc" and "tocsc" or "tocoo"](x)
    if A == x then A = x:copy() end
    return options.dtype and options.dtype ~= A.dtype and A:astype(options.dtype) or A
  end
  if type(x) == "table" then x = gpu.array(x, {dtype = options.dtype, device = options.device}) end
  if not core.is_array(x) or x.ndim ~= 2 then core.fail(op, "a matrix: an array of two axes, a table of rows, or a sparse matrix", x) end
  local dtype = options.dtype or own.entry_dtype(op, x.dtype)
  if options.device then x = x:to(options.device) end
  local shape = {x.shape[1], x.shape[2]}
  local by_rows = format ~= "csc"
  local from = by_rows and x or x.T
  local line, place = from:nonzero()
  local entries = core.cast(gpu.extract(from:ne(0), from), dtype)
  local index = own.index_dtype(shape, entries.size)
  line, place = core.cast(line - 1, index), core.cast(place - 1, index)
  if format == "coo" then return own.coordinates(shape, entries, line, place, true) end
  return own.compressed(format, shape,
    {entries = entries, places = place, starts = core.starts_of(line, by_rows and shape[1] or shape[2]), ordered = true})
end

--- The constructor of csr and csc.
local function of_lines(op, format, x, places, starts, shape, options)
  places, starts, shape, options = arguments(op, x, places, starts, shape, options)
  if places == nil then return convert(op, format, x, options) end
  local by_rows = format == "csr"
  local values = check_values(op, x, options.device)
  if core.is_array(starts) and not kinds.is_integral(starts) then
    core.raise(("[%s] expected gpu.%s(values, %s, indptr), got numbers of %s as the indptr; gpu.sparse.coo(rows, columns, values):to%s() "
      .. "takes the position of each value"):format(op, op, by_rows and "columns" or "rows", starts.dtype, format))
  end
  places = check_positions(op, by_rows and "columns" or "rows", places, values)
  starts = check_positions(op, "indptr", starts, values)
  if places.size ~= values.size then
    core.raise(("[%s] expected as many %s as values, got %d and %d"):format(op, by_rows and "columns" or "rows", places.size,
      values.size))
  end
  if starts.size == 0 then core.fail(op, "an indptr of one element more than there are " .. (by_rows and "rows" or "columns"), starts) end
  local lines = starts.size - 1
  if shape == nil then
    local width = places.size > 0 and tonumber(places:max():item()) or 0
    shape = by_rows and {lines, width} or {width, lines}
  end
  shape = check_shape(op, shape)
  if shape[by_rows and 1 or 2] ~= lines then
    core.raise(("[%s] expected an indptr of %d elements, one more than the shape %s has %s, got %d"):format(op, shape[by_rows and 1 or 2] + 1,
      checks.shape_text(shape), by_rows and "rows" or "columns", starts.size))
  end
  local dtype = options.dtype or own.entry_dtype(op, values.dtype)
  local index = own.index_dtype(shape, values.size)
  return own.compressed(format, shape, {
    entries = core.cast(values, dtype),
    places = core.checked_places(op, places, shape[by_rows and 2 or 1], by_rows and 2 or 1, index),
    starts = core.checked_starts(op, starts, values.size, index),
  })
end

--- gpu.sparse.csr(x [, columns, indptr [, shape]] [, {dtype, device}])
--- csr(x), csr(values, columns, indptr [, shape]): a matrix by rows.
function sparse.csr(x, columns, indptr, shape, options)
  return of_lines("sparse.csr", "csr", x, columns, indptr, shape, options)
end

--- gpu.sparse.csc(x [, rows, indptr [, shape]] [, {dtype, device}])
--- csc(x), csc(values, rows, indptr [, shape]): a matrix by columns.
function sparse.csc(x, rows, indptr, shape, options)
  return of_lines("sparse.csc", "csc", x, rows, indptr, shape, options)
end

--- gpu.sparse.coo(x [, columns, values [, shape]] [, {dtype, device}])
--- coo(x), coo(rows, columns, values [, shape]): a matrix by the positions of its values.
function sparse.coo(x, columns, values, shape, options)
  local op = "sparse.coo"
  columns, values, shape, options = arguments(op, x, columns, values, shape, options)
  if columns == nil then return convert(op, "coo", x, options) end
  if values == nil then core.raise(order_of_coo:format(op)) end
  values = check_values(op, values, options.device)
  local rows = check_positions(op, "rows", x, values)
  columns = check_positions(op, "columns", columns, values)
  if rows.size ~= values.size or columns.size ~= values.size then
    core.raise(("[%s] expected as many rows and columns as values, got %d rows, %d columns and %d values"):format(op, rows.size,
      columns.size, values.size))
  end
  if shape == nil then shape = {extent_of(op, "rows", rows), extent_of(op, "columns", columns)} end
  shape = check_shape(op, shape)
  local index = own.index_dtype(shape, values.size)
  return own.coordinates(shape, core.cast(values, options.dtype or own.entry_dtype(op, values.dtype)),
    core.checked_places(op, rows, shape[1], 1, index), core.checked_places(op, columns, shape[2], 2, index))
end

--- gpu.sparse.issparse(value)
--- True for a sparse matrix.
function sparse.issparse(value) return fields_of(value) ~= nil end

-- ---- products ---------------------------------------------------------------------------------------------------------------

--- The product of lines and an array (n) or (n,k), of one dtype. `entries`: the nonzeros.
own.product = calls.derived("sparse.product", function(entries, x, lines)
  return core.multiply_lines(entries, lines.places, lines.starts, lines.tiles, x)
end)

--- Handles gpu.matmul(a, b) where one is sparse.
function own.matmul(op, a, b, options)
  local fields = fields_of(a) or fields_of(b)
  local sparse_left, sparse_right = fields_of(a) ~= nil, fields_of(b) ~= nil
  if not (sparse_left or core.is_array(a)) or not (sparse_right or core.is_array(b)) then
    local other = a
    if sparse_left or core.is_array(a) then other = b end
    core.raise(("[%s] expected arrays or sparse matrices, got %s%s"):format(op, core.describe(other),
      type(other) == "table" and "; gpu.array(t) makes an array of a table" or ""))
  end
  if options ~= nil then options = checks.fields(op, options) else options = {} end
  if sparse_left and sparse_right then
    import "sparse_products"
    return own.multiply_sparse(op, a, b, options)
  end
  local x, axis = sparse_left and b or a, sparse_left and 1 or 2
  local shape = x.shape
  local inner = sparse_left and shape[1] or shape[#shape]
  if #shape < 1 or #shape > 2 or inner ~= fields.shape[3 - axis] then
    core.raise(("[%s] expected %s, got %s x %s"):format(op, sparse_left and "(m,k) x (k,) or (m,k) x (k,n)"
      or "(k,) x (k,n) or (m,k) x (k,n)", checks.shape_text(sparse_left and fields.shape or shape),
      checks.shape_text(sparse_left and shape or fields.shape)))
  end
  if x.device ~= own.entries_of(fields).device then
    core.raise(("[%s] expected operands of one device, got %s and %s; x:to(name) copies one over"):format(op, a.device, b.device))
  end
  local dtype = core.promote(own.entries_of(fields).dtype, x.dtype)
  local lines = own.lines_by(fields, axis)
  local from = core.cast(sparse_left and x or x.T, dtype)
  if lines.tiles == nil and #shape == 1 then
    lines.tiles = core.lines_of_tiles(lines.starts, lines.entries.size)
    if lines.tiles then core.keep(lines.tiles) end
  end
  local product = own.product(lines.entries, from, lines)
  return core.assign(op, options.out, sparse_left and product or product.T)
end

--- A:matmul(x [, {out}])
function methods.matmul(A, x, options) return (own.matmul("matmul", A, x, options)) end

-- ---- fields -----------------------------------------------------------------------------------------------------------------

local function refuse_field(A, field, remedy)
  core.raise(("[sparse] a matrix in %s has no %s; %s"):format(A.format, field, remedy))
end

local properties = {
  format = function(fields) return fields.format end,
  shape = function(fields)
    return setmetatable({fields.shape[1], fields.shape[2]}, debug.getmetatable(own.entries_of(fields).shape))
  end,
  ndim = function() return 2 end,
  nnz = function(fields) return own.entries_of(fields).size end,
  dtype = function(fields) return own.entries_of(fields).dtype end,
  device = function(fields) return own.entries_of(fields).device end,
  data = function(fields) return own.entries_of(fields) end,
  indices = function(fields, A)
    if not fields.lines then refuse_field(A, "indices", "A.row and A.col are its positions") end
    return fields.lines.places + 1
  end,
  indptr = function(fields, A)
    if not fields.lines then refuse_field(A, "indptr", "A.row and A.col are its positions") end
    return fields.lines.starts + 1
  end,
  row = function(fields, A)
    if fields.lines then refuse_field(A, "row", "A:tocoo() has it") end
    return fields.rows + 1
  end,
  col = function(fields, A)
    if fields.lines then refuse_field(A, "col", "A:tocoo() has it") end
    return fields.columns + 1
  end,
  --- The transpose, which shares the arrays.
  T = function(fields)
    local shape = {fields.shape[2], fields.shape[1]}
    if not fields.lines then return own.coordinates(shape, fields.entries, fields.columns, fields.rows) end
    return make {format = fields.format == "csr" and "csc" or "csr", shape = shape, lines = fields.lines}
  end,
}

function metatable.__index(A, key)
  local method = rawget(methods, key)
  if method then return method end
  local fields = fields_of(A)
  local property = properties[key]
  if property then return property(fields, A) end
  if type(key) == "string" then
    method = core.sparse_method(key)
    if method then return method end
    core.refuse_sparse_field(key, properties)
  end
  import "sparse_indexing"
  return (own.read(A, key))
end

function metatable.__call(A, ...)
  if fields_of((...)) then core.raise "[sparse] A.T is a property: it has no parentheses" end
  import "sparse_indexing"
  return (own.select_by(A, ...))
end

function metatable.__newindex(_, key)
  core.raise(("[sparse] expected a read: the elements of a sparse matrix are not set one by one, got %s; A.data:copy_(values) writes "
    .. "those that are stored, and gpu.sparse.coo makes a matrix of positions and values"):format(core.describe(key)))
end

function metatable.__len(A) return fields_of(A).shape[1] end

function metatable.__tostring(A)
  local fields = fields_of(A)
  return ("%s %s[%.0fx%.0f] %s, %.0f stored"):format(fields.format, A.dtype, fields.shape[1], fields.shape[2], A.device, A.nnz)
end

-- Operators, and gpu's functions of sparse matrices: their file replaces own.operation.
function own.operation(...)
  import "sparse_arithmetic"
  return (own.operation(...))
end

for event, op in pairs {__add = "add", __sub = "subtract", __mul = "multiply", __div = "divide", __mod = "remainder",
  __pow = "power", __unm = "negative"} do
  metatable[event] = function(a, b) return (own.operation(op, a, b)) end
end

return own

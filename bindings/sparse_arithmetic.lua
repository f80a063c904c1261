-- Arithmetic of sparse matrices: with numbers, with each other, and with arrays.
local gpu, _, core = ...
core.load "sparse_conversions.lua"

local own = core.sparse
local fields_of = core.sparse_fields
local _, methods = core.sparse_metatable()

-- ---- one matrix -------------------------------------------------------------------------------------------------------------

-- Functions that keep 0; true: and sums, so that entries at one position need not be added up before.
local keeps_zero = {
  abs = false, asin = false, asinh = false, atan = false, atanh = false, cbrt = false, ceil = false, conj = true, degrees = true,
  expm1 = false, floor = false, imag = true, log1p = false, negative = true, radians = true, real = true, rint = false, round = false,
  sign = false, sin = false, sinh = false, sqrt = false, square = false, tan = false, tanh = false, trunc = false,
}

local function refuse_options(op, options)
  if options ~= nil then core.fail(op, "no options with a sparse matrix", options) end
end

--- The fields of the matrix with each position once.
local function unique(op, A) return own.check(op, own.check(op, A) and A:sum_duplicates()) end
own.unique = unique

local function apply(op, A, ...)
  local fields = keeps_zero[op] and own.check(op, A) or unique(op, A)
  return (own.with_entries(fields, gpu[op](own.entries_of(fields), ...)))
end

for name in pairs(keeps_zero) do
  if name == "round" then
    methods.round = function(A, decimals) return (apply("round", A, decimals)) end
  else
    methods[name] = function(A) return (apply(name, A)) end
  end
end

-- ---- two matrices -----------------------------------------------------------------------------------------------------------

local function check_operands(op, a, b)
  local first, second = own.check(op, a), own.check(op, b)
  if first.shape[1] ~= second.shape[1] or first.shape[2] ~= second.shape[2] then
    core.raise(("[%s] expected sparse matrices of one shape, got %s and %s"):format(op, core.text(first.shape), core.text(second.shape)))
  end
  if a.device ~= b.device then
    core.raise(("[%s] expected matrices on one device, got %s and %s; A:to(name) copies one over"):format(op, a.device, b.device))
  end
  return first, second
end

--- The entries that are not 0 of lines by rows, as a matrix.
local function without_zeros(shape, lines, like)
  local A = own.compressed("csr", {shape[1], shape[2]}, lines):eliminate_zeros()
  return like.format == "csc" and A:tocsc() or A
end

--- The positions of both matrices, one after the other.
local function joined(first, second)
  local rows, columns = own.positions(first)
  local more_rows, more_columns = own.positions(second)
  local index = own.index_dtype(first.shape, rows.size + more_rows.size)
  local function join(a, b) return gpu.concat {core.cast(a, index), core.cast(b, index)} end
  return join(rows, more_rows), join(columns, more_columns)
end

--- op of the elements of two matrices, where op gives 0 for two zeros.
local function combine(op, a, b)
  local first, second = check_operands(op, a, b)
  local rows, columns = joined(first, second)
  local dtype = core.promote(a.dtype, b.dtype)
  local left, right = core.cast(own.entries_of(first), dtype), core.cast(own.entries_of(second), dtype)
  local function assemble(entries) return own.assemble(rows, columns, entries, first.shape[1], first.shape[2]) end
  local like = a.format == b.format and first or {}
  if op == "add" or op == "subtract" then
    return without_zeros(first.shape, assemble(gpu.concat {left, op == "add" and right or -right}), like)
  end
  local lines, other = assemble(gpu.concat {left, gpu.zeros_like(right)}), assemble(gpu.concat {gpu.zeros_like(left), right})
  lines.entries = gpu[op](lines.entries, other.entries)
  return without_zeros(first.shape, lines, like)
end

local combined = {add = true, subtract = true, multiply = true, maximum = true, minimum = true}

-- ---- a matrix and a number ----------------------------------------------------------------------------------------------------

local function is_number(value)
  return type(value) == "number" or type(value) == "cdata" and pcall(function() return value + 0 end)
    or core.is_array(value) and value.ndim == 0
end

--- The number of a 0-d array is not read where the result's positions do not depend on it.
local function with_number(op, A, number)
  local is_known = type(number) == "number"
  local fields = (op == "multiply" or op == "divide") and own.check(op, A) or unique(op, A)
  local takes = op == "multiply" or op == "divide" or op == "power" and is_known and number > 0
    or op == "maximum" and is_known and number <= 0 or op == "minimum" and is_known and number >= 0
    or (op == "add" or op == "subtract") and number == 0
  if not takes then
    core.raise(("[%s] expected an operation that keeps the zeros of a sparse matrix, got %s with the number %s; A:todense() gives an array")
      :format(op, op, core.describe(number)))
  end
  return (own.with_entries(fields, gpu[op](own.entries_of(fields), number)))
end

-- ---- a matrix and an array ------------------------------------------------------------------------------------------------------

--- The elements of an array, broadcast to the matrix's shape, at its entries.
local function at_entries(op, fields, x)
  local shape = x.shape
  local first, second = #shape == 2 and shape[1] or 1, shape[#shape]
  if #shape > 2 or first ~= 1 and first ~= fields.shape[1] or second ~= 1 and second ~= fields.shape[2] then
    core.raise(("[%s] expected an array that broadcasts to %s, got shape %s"):format(op, core.text(fields.shape), core.text(shape)))
  end
  local rows, columns = own.positions(fields)
  return x:broadcast_to(fields.shape)[{rows + 1, columns + 1}]
end

local function with_array(op, a, b)
  local A, x = fields_of(a) and a or b, fields_of(a) and b or a
  if x.device ~= A.device then
    core.raise(("[%s] expected operands on one device, got %s and %s; x:to(name) copies one over"):format(op, a.device, b.device))
  end
  if op == "multiply" or op == "divide" and A == a then
    local fields = own.check(op, A)
    return (own.with_entries(fields, gpu[op](own.entries_of(fields), at_entries(op, fields, x))))
  end
  if op == "add" or op == "subtract" then
    if A == a then return (gpu[op](A:todense(), x)) end
    return (gpu[op](x, A:todense()))
  end
  core.raise(("[%s] expected two sparse matrices, or a number, got an array; A:todense() makes both arrays"):format(op))
end

-- ---- what gpu's functions and the operators call ------------------------------------------------------------------------------

--- gpu[op](a, b, ...) where one is sparse.
function own.operation(op, a, b, ...)
  if keeps_zero[op] ~= nil then
    if op == "round" then
      refuse_options(op, ...)
      return (apply(op, a, b))
    end
    if b ~= a then refuse_options(op, b) end -- Lua gives the operand of a unary minus twice
    return (apply(op, a))
  end
  refuse_options(op, ...)
  local two = fields_of(a) and fields_of(b)
  if combined[op] or op == "divide" or op == "power" then
    if two and combined[op] then return (combine(op, a, b)) end
    if fields_of(a) and is_number(b) then return (with_number(op, a, b)) end
    if fields_of(b) and is_number(a) and combined[op] then
      if op == "subtract" then return (with_number("add", -b, a)) end
      return (with_number(op, b, a))
    end
    if core.is_array(a) or core.is_array(b) then return (with_array(op, a, b)) end
  end
  core.raise(("[%s] expected arrays or numbers, got a sparse matrix: %s"):format(op,
    two and "the result would not be sparse; A:todense() gives an array" or "the operation does not keep its zeros; A:todense() gives an array"))
end

function methods.multiply(A, x) return (own.operation("multiply", A, x)) end
function methods.maximum(A, x) return (own.operation("maximum", A, x)) end
function methods.minimum(A, x) return (own.operation("minimum", A, x)) end
function methods.power(A, exponent) return (own.operation("power", A, exponent)) end

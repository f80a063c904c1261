-- Arithmetic of sparse matrices: with numbers, with each other, and with arrays.
-- In sandboxes: all
local gpu, _, core, import = ...
import "sparse_conversions"
local checks = import "checks"

local own = import "sparse"
local fields_of = core.sparse_fields
local _, methods = core.sparse_metatable()

-- ---- one matrix -------------------------------------------------------------------------------------------------------------

-- Functions f with f(0) = 0; true: also f(x + y) = f(x) + f(y), so that nonzeros at one position need not be added up before.
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

--- A:abs, A:asin, A:asinh, A:atan, A:atanh, A:cbrt, A:ceil, A:degrees, A:expm1, A:floor, A:imag, A:log1p, A:negative()
--- A:radians, A:real, A:rint, A:sign, A:sin, A:sinh, A:sqrt, A:square, A:tan, A:tanh, A:trunc, A:conj()
--- A:round([decimals])
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
    core.raise(("[%s] expected sparse matrices of one shape, got %s and %s"):format(op, checks.shape_text(first.shape), checks.shape_text(second.shape)))
  end
  if a.device ~= b.device then
    core.raise(("[%s] expected matrices on one device, got %s and %s; A:to(name) copies one over"):format(op, a.device, b.device))
  end
  return first, second
end

--- The lines of a matrix, by the axis, with each index once, and nonzeros and positions of the dtypes.
local function lines_for(fields, axis, dtype, index)
  local lines = own.ordered(own.lines_by(fields, axis))
  return core.cast(lines.entries, dtype), core.cast(lines.places, index), core.cast(lines.starts, index)
end

--- op of the elements of two matrices, where op gives 0 for two zeros. The result is in csc if both are, else in csr.
local function combine(op, a, b)
  local first, second = check_operands(op, a, b)
  local axis = first.format == "csc" and second.format == "csc" and 2 or 1
  local dtype, index = core.promote(a.dtype, b.dtype), own.index_dtype(first.shape, a.nnz + b.nnz)
  local left, left_places, left_starts = lines_for(first, axis, dtype, index)
  local right, right_places, right_starts = lines_for(second, axis, dtype, index)
  local ends = core.count_merged(left, left_places, left_starts, right, right_places, right_starts):cumsum()
  local count = ends.size > 0 and tonumber(ends[ends.size]) or 0
  local starts = core.cast(gpu.concat {gpu.zeros(1, {dtype = "int64", device = a.device}), ends}, index):eval()
  local places, x, y = core.merge_lines(left, left_places, left_starts, right, right_places, right_starts, starts, count)
  local entries = gpu[op](x, y):eval()
  local result = own.compressed(axis == 1 and "csr" or "csc", {first.shape[1], first.shape[2]},
    {entries = entries, places = places, starts = starts, ordered = true})
  return entries:ne(0):all():item() and result or result:eliminate_zeros()
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

--- The elements of an array, broadcast to the matrix's shape, at its nonzeros.
local function at_entries(op, fields, x)
  local shape = x.shape
  local first, second = #shape == 2 and shape[1] or 1, shape[#shape]
  if #shape > 2 or first ~= 1 and first ~= fields.shape[1] or second ~= 1 and second ~= fields.shape[2] then
    core.raise(("[%s] expected an array that broadcasts to %s, got shape %s"):format(op, checks.shape_text(fields.shape), checks.shape_text(shape)))
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

--- A:multiply(x)
function methods.multiply(A, x) return (own.operation("multiply", A, x)) end
--- A:maximum(x)
function methods.maximum(A, x) return (own.operation("maximum", A, x)) end
--- A:minimum(x)
function methods.minimum(A, x) return (own.operation("minimum", A, x)) end
--- A:power(exponent)
function methods.power(A, exponent) return (own.operation("power", A, exponent)) end

-- Rows, columns and elements of sparse matrices, by the specs that index arrays.
local gpu, _, core, import = ...
import "sparse_conversions"
local views = import "views"

local own = import "sparse"

--- The first position and the step of a range, {first, last [, step]} or "first:last:step", that selects some of `extent`.
local function first_of(spec, extent)
  local first, step
  if type(spec) == "table" then
    first, step = spec[1], spec[3] or 1
  else
    local from, by = spec:match "^%s*(-?%d*)%s*:%s*-?%d*%s*:?%s*(-?%d*)%s*$"
    first, step = tonumber(from), tonumber(by) or 1
    if not first then return step > 0 and 1 or extent, step end
  end
  if first < 0 then first = first + extent + 1 end
  return math.min(math.max(first, 1), extent), step
end

--- The positions that a spec selects of `extent`, from 1, as a vector; and the position, if the spec is an integer.
local function positions_of(spec, extent, like)
  local options = {dtype = "int64", device = like.device}
  if type(spec) == "number" then
    local one = spec < 0 and spec + extent + 1 or spec
    if spec % 1 ~= 0 then core.fail("index", "an integer", spec) end
    if spec == 0 then core.raise "[index] indices start at 1, got 0" end
    if one < 1 or one > extent then
      core.raise(("[index] %d is out of range for %d rows or columns%s"):format(spec, extent,
        extent == 1 and "; A(i, j) is an element, A[i] a matrix of one row" or ""))
    end
    return gpu.range(one, one, options), one
  end
  if type(spec) == "table" or type(spec) == "string" then
    -- A view of one element: as long as what is selected, without memory.
    local selected = gpu.zeros(1, options):broadcast_to(extent)(spec)
    if selected.ndim ~= 1 then core.fail("index", "a spec that gives a vector of rows, or of columns", spec) end
    if selected.size == 0 then return gpu.zeros(0, options) end
    local first, step = first_of(spec, extent)
    return gpu.range(first, first + (selected.size - 1) * step, step, options)
  end
  local selected = gpu.range(1, extent, options)(spec)
  if selected.ndim ~= 1 then core.fail("index", "a spec that gives a vector of rows, or of columns", spec) end
  return selected
end

--- The lines at positions, in their order.
function own.take_lines(lines, positions)
  local index = lines.starts.dtype
  local first = lines.starts:take(positions)
  local counts = (lines.starts:take(positions + 1) - first):cumsum()
  local total = counts.size > 0 and tonumber(counts[counts.size]) or 0
  local starts = core.cast(gpu.concat {gpu.zeros(1, {dtype = counts.dtype, device = counts.device}), counts}, index):eval()
  local of = core.lines_of(starts, total)
  local from = gpu.range(1, total, {dtype = index, device = starts.device}) + (first - starts({1, -2})):take(of + 1)
  return {entries = lines.entries:take(from), places = lines.places:take(from), starts = starts, ordered = lines.ordered or nil}
end

--- A(rows [, columns]): a matrix of the same format. Of two integers, an array without dimensions: the element.
local function select_lines(A, row_spec, column_spec)
  local fields = own.check("index", A)
  local rows, row = positions_of(row_spec, fields.shape[1], A)
  local columns, column = nil, nil
  if column_spec ~= nil then columns, column = positions_of(column_spec, fields.shape[2], A) end
  if row and column then
    local lines = own.lines_by(fields, 1)
    local bounds = lines.starts({row, row + 1}):table()
    local first, count = tonumber(bounds[1]) + 1, tonumber(bounds[2]) - tonumber(bounds[1])
    local places, entries = views.slice(lines.places, 1, first, count), views.slice(lines.entries, 1, first, count)
    return gpu.where(places:eq(column - 1), entries, 0):sum()
  end
  local shape, format = {fields.shape[1], fields.shape[2]}, fields.format
  local result = A
  local function by(axis, positions)
    local lines = own.take_lines(own.lines_by(own.check("index", result), axis), positions)
    shape[axis] = positions.size
    return own.compressed(axis == 1 and "csr" or "csc", {shape[1], shape[2]}, lines)
  end
  if row_spec ~= ":" then result = by(1, rows) end
  if column_spec ~= nil and column_spec ~= ":" then result = by(2, columns) end
  if result == A then return A:copy() end
  return format == "csr" and result:tocsr() or format == "csc" and result:tocsc() or result:tocoo()
end

--- A(...), for which the metatable's __call loads this file.
function own.select_by(A, ...)
  local count = select("#", ...)
  if count == 0 or count > 2 then
    core.raise(("[index] expected one or two indices for a sparse matrix, got %d"):format(count))
  end
  return (select_lines(A, ...))
end

--- A[key]: a row, or what a table {rows, columns} selects.
function own.read(A, key)
  if type(key) == "number" then return (select_lines(A, key)) end
  if type(key) ~= "table" or #key ~= 2 then core.fail("index", "a row's number, or a table {row, column}", key) end
  local selected = select_lines(A, key[1], key[2])
  if type(key[1]) == "number" and type(key[2]) == "number" then return selected:item() end
  return selected
end

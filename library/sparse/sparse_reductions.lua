-- Sums and other reductions of sparse matrices.
-- In sandboxes: all
local gpu, _, core, import = ...
import "sparse_arithmetic"
local checks = import "checks"

local own = import "sparse"
local _, methods = core.sparse_metatable()

--- The axis that is reduced, 1 or 2; nil for all elements.
local function check_axis(op, axis) return axis ~= nil and core.axis(op, axis, 2) or nil end

--- The sums of nonzeros along an axis.
local function sum_along(fields, axis, entries_of)
  local lines = own.lines_by(fields, 3 - axis)
  return core.sum_lines(entries_of(lines.entries), lines.starts)
end

--- A:sum([axis])
function methods.sum(A, axis)
  local fields = own.check("sum", A)
  axis = check_axis("sum", axis)
  if not axis then return own.entries_of(fields):sum() end
  return sum_along(fields, axis, function(entries) return entries end)
end

--- A:mean([axis])
function methods.mean(A, axis)
  local fields = own.check("mean", A)
  axis = check_axis("mean", axis)
  local shape = fields.shape
  return A:sum(axis) / (axis and shape[axis] or shape[1] * shape[2])
end

--- Checks a matrix that has extremes. Returns its fields, the axis and the shape.
local function comparable(op, A, axis)
  local fields = own.unique(op, A)
  axis = check_axis(op, axis)
  if A.dtype:find "complex" then core.fail(op, "real numbers", A.dtype) end
  local shape = fields.shape
  if shape[1] * shape[2] == 0 or axis and shape[axis] == 0 then
    core.raise(("[%s] expected a matrix with elements, got shape %s"):format(op, checks.shape_text(shape)))
  end
  return fields, axis, shape
end

--- The extremes, in which zeros that are not stored take part.
local function extreme(op, A, axis)
  local fields, shape
  fields, axis, shape = comparable(op, A, axis)
  if axis then
    local lines = own.lines_by(fields, 3 - axis)
    return core.extreme_of_lines(lines.entries, lines.starts, shape[axis], op == "max")
  end
  local entries = own.entries_of(fields)
  if entries.size == 0 then return gpu.zeros({}, {dtype = entries.dtype, device = entries.device}) end
  local value = entries[op](entries)
  if entries.size == shape[1] * shape[2] then return value end
  return gpu[op == "max" and "maximum" or "minimum"](value, 0)
end

--- A:max([axis])
function methods.max(A, axis) return (extreme("max", A, axis)) end
--- A:min([axis])
function methods.min(A, axis) return (extreme("min", A, axis)) end

--- The position of the first extreme of each line, and the extremes. A zero that is not stored counts where it is first missing among
--- the positions, which ascend.
local function extreme_places(lines, width, greatest)
  own.extreme_place = own.extreme_place or core.elementwise {
    name = "extreme_place", inputs = "raw T x, raw I places, raw J starts, int64 width, bool greatest", outputs = "int64 y, T z",
    body = [=[
      long long best = -1, missing = 0;
      T value = 0;
      for (long long k = starts[i]; k < (long long)starts[i + 1]; ++k) {
        if ((long long)places[k] == missing) ++missing;
        const T own = x[k];
        const bool better = own != own ? value == value : greatest ? own > value : own < value;
        if (best < 0 || better) {
          best = places[k];
          value = own;
        }
      }
      const bool zero = best < 0 || (greatest ? value < 0 : value > 0) || (value == 0 && missing < best);
      if (missing < width && zero) {
        best = missing;
        value = 0;
      }
      y = best + 1;
      z = value;
    ]=],
  }
  return own.extreme_place(lines.entries, lines.places, lines.starts, width, greatest, {size = lines.starts.size - 1})
end

--- The positions of the extremes along an axis; without one, in the matrix row by row.
local function extreme_position(op, A, axis)
  local fields, shape
  fields, axis, shape = comparable(op, A, axis)
  local lines = own.lines_by(fields, axis and 3 - axis or 1)
  local places, values = extreme_places(lines, shape[axis or 2], op == "argmax")
  if axis then return places end
  local row = values[op](values)
  return places:take(row) + (row - 1) * shape[2]
end

--- A:argmax([axis])
function methods.argmax(A, axis) return (extreme_position("argmax", A, axis)) end
--- A:argmin([axis])
function methods.argmin(A, axis) return (extreme_position("argmin", A, axis)) end

--- A:count_nonzero([axis])
function methods.count_nonzero(A, axis)
  local fields = own.unique("count_nonzero", A)
  axis = check_axis("count_nonzero", axis)
  if not axis then return own.entries_of(fields):count_nonzero() end
  return core.cast(sum_along(fields, axis, function(entries) return core.cast(entries:ne(0), "float64") end), "int64")
end

--- A:trace([offset])
function methods.trace(A, offset) return A:diagonal(offset):sum() end

--- A:norm([order])
--- The norms by their orders.
function methods.norm(A, order)
  local fields = own.unique("norm", A)
  if order == nil or order == "fro" then return own.entries_of(fields):norm() end
  local axis = (order == 1 or order == -1) and 1 or (order == math.huge or order == -math.huge) and 2
  if not axis then
    core.fail("norm", 'the order "fro", 1, -1, math.huge or -math.huge; gpu.sparse.linalg.norm has others, or A:todense()', order)
  end
  local sums = sum_along(fields, axis, function(entries) return entries:abs() end)
  return order > 0 and sums:max() or sums:min()
end

-- ---- diagonals and triangles ------------------------------------------------------------------------------------------------------

--- A:tril([offset])
function methods.tril(A, offset)
  local fields = own.check("tril", A)
  offset = checks.integer("tril", "an integer offset", offset or 0)
  local rows, columns = own.positions(fields)
  return (own.select(fields, columns:le(rows + offset)))
end

--- A:triu([offset])
function methods.triu(A, offset)
  local fields = own.check("triu", A)
  offset = checks.integer("triu", "an integer offset", offset or 0)
  local rows, columns = own.positions(fields)
  return (own.select(fields, columns:ge(rows + offset)))
end

--- A:setdiag(values [, offset])
--- The matrix with other elements on a diagonal.
function methods.setdiag(A, values, offset)
  local fields = own.check("setdiag", A)
  offset = checks.integer("setdiag", "an integer offset", offset or 0)
  local first = math.max(1 - offset, 1)
  local count = math.max(math.min(fields.shape[1], fields.shape[2] - offset) - first + 1, 0)
  if type(values) == "table" then values = gpu.array(values, {dtype = A.dtype, device = A.device}) end
  if type(values) == "number" or type(values) == "cdata" then values = gpu.full({}, values, {dtype = A.dtype, device = A.device}) end
  checks.array("setdiag", values)
  if values.ndim > 1 or values.ndim == 1 and values.size ~= count and values.size ~= 1 then
    core.raise(("[setdiag] expected a number, or %d of them for diagonal %d of shape %s, got shape %s"):format(count, offset,
      checks.shape_text(fields.shape), checks.shape_text(values.shape)))
  end
  local rows, columns = own.positions(fields)
  local rest = own.check("setdiag", own.select(fields, columns:ne(rows + offset)))
  rows, columns = own.positions(rest)
  local index = rows.dtype
  local place = gpu.range(first - 1, first + count - 2, {dtype = index, device = A.device})
  local entries = core.cast(core.broadcast(values, {count}), A.dtype)
  local result = own.coordinates({fields.shape[1], fields.shape[2]}, gpu.concat {own.entries_of(rest), entries},
    gpu.concat {rows, place}, gpu.concat {columns, place + offset})
  return fields.format == "coo" and result or fields.format == "csc" and result:tocsc() or result:tocsr()
end

-- The option `by`: a vector or column, or a table of them, whose equal elements are of one group. Rows of a group keep their order.
local gpu, _, core, import = ...
local columns = import "columns"

local function list_of(op, x, by)
  if type(by) == "string" then core.fail(op, ("by: a column, as t.%s, or a table of them"):format(by), by) end
  local list = type(by) == "table" and by or {by}
  if type(by) == "table" then core.check_list(op, "columns in by", by) end
  for _, column in ipairs(list) do
    local is_column = columns.kind_of(column) or core.is_array(column)
    if not is_column or column.ndim ~= 1 or column.size ~= x.size or column.device ~= x.device then
      core.fail(op, ("by: a column of %.0f rows on the same device, or a table of them"):format(x.size), column)
    end
  end
  return list
end

--- The rows of x group by group, in the order of `by`: `order`, their positions in x, or nil where all are one group; first() and last(), for each of them the
--- first and the last row of its group, counted from 0, as an array or one number for all; and back(values), values for each of them in the order of x.
return function(op, x, by)
  local n, device = x.size, x.device
  if by == nil or n == 0 then
    local function constant(value)
      return function() return value end
    end
    return {first = constant(0), last = constant(n - 1), back = function(values) return values end}
  end
  local keys, last_first = {}, {}
  for i, column in ipairs(list_of(op, x, by)) do
    keys[i] = columns.key(column)
    table.insert(last_first, 1, keys[i])
  end
  local code = columns.code(keys)
  if code then keys = {code} end
  local groups = {order = (#keys == 1 and keys[1]:argsort() or gpu.lexsort(last_first)):eval()}
  local rows = gpu.arange(n, {dtype = n < 2 ^ 31 and "int32" or "int64", device = device})
  local begins = gpu.zeros(n, {dtype = "bool", device = device})
  begins({1, 1}):fill_(true)
  for _, key in ipairs(n > 1 and keys or {}) do
    local sorted = key:take(groups.order)
    local before, after = sorted({1, -2}), sorted({2, -1})
    local differ = before:ne(after)
    if key.dtype:find "float" then differ = differ:logical_and(before:isnan():logical_and(after:isnan()):logical_not()) end
    begins({2, -1}):copy_(begins({2, -1}):logical_or(differ))
  end
  function groups.first() return gpu.where(begins, rows, 0):cummax():eval() end
  function groups.last()
    local ends = gpu.concat {begins({2, -1}), gpu.ones(1, {dtype = "bool", device = device})}
    return gpu.where(ends, rows, n):flip():cummin():flip():eval()
  end
  function groups.back(values)
    local result = gpu.empty_like(values)
    result[groups.order] = values
    return result
  end
  return groups
end

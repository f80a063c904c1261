-- Functions on sorts and searches: distinct elements, sets, orders by several keys.
-- In sandboxes: all
local gpu, _, core, import = ...
local define = import "define"
local checks = import "checks"
local kinds = import "kinds"
local views = import "views"

-- ---- orders -----------------------------------------------------------------------------------------------------------------

--- gpu.lexsort(keys [, axis])
--- The positions along the axis (the last) that sort by several keys: by the last key first, ties by the key before it, and so on.
--- `keys`: a table of arrays of one shape, or an array of keys along its first axis.
local function lexsort(keys, axis)
  local list = keys
  if core.is_array(keys) then
    if keys.ndim < 2 then core.fail("lexsort", "a table of arrays, or an array of at least two dimensions", keys) end
    list = {}
    for i = 1, keys.shape[1] do list[i] = views.pick(keys, 1, i) end
  end
  if type(list) ~= "table" or core.check_list("lexsort", "arrays", list) == 0 then core.fail("lexsort", "a table of at least one array", keys) end
  local shape = checks.shape_text(checks.real("lexsort", list[1]).shape)
  axis = core.axis("lexsort", axis or -1, list[1].ndim)
  local order
  for _, key in ipairs(list) do
    local found = checks.shape_text(checks.real("lexsort", key).shape)
    if found ~= shape then core.raise(("[lexsort] expected keys of one shape, got %s and %s"):format(shape, found)) end
    if order then
      order = order:take_along_axis(key:take_along_axis(order, axis):argsort(axis), axis)
    else
      order = key:argsort(axis)
    end
  end
  return order
end

-- ---- distinct elements --------------------------------------------------------------------------------------------------------

--- For each slice of the first axis after the first: true if it differs from the slice before it. `equal_nan`: NaN is equal to NaN.
local function changes(sorted, equal_nan)
  local n = sorted.shape[1]
  local before, after = views.slice(sorted, 1, 1, n - 1), views.slice(sorted, 1, 2, n - 1)
  local differs = after:ne(before)
  if equal_nan and kinds.is_floating(sorted) then differs = differs:logical_and(after:eq(after):logical_or(before:eq(before))) end
  if sorted.ndim == 1 then return differs end
  return differs:any(2)
end

--- The slices of the first axis in sorted order, and their original positions.
local function in_order(x)
  if x.ndim == 1 then return x:topk(x.size, 1, {largest = false}) end
  local columns = {}
  for i = x.shape[2], 1, -1 do columns[#columns + 1] = views.pick(x, 2, i) end
  local order = lexsort(columns)
  return x:take(order, 1), order
end

--- The distinct elements of a vector, or rows of a matrix, in sorted order, and the results that the options request.
local function distinct(x, options)
  local n = x.shape[1]
  local needs_positions = options.return_index or options.return_inverse
  local sorted, order
  if needs_positions or x.ndim == 2 then
    sorted, order = in_order(x)
  else
    sorted = x:sort()
  end
  local starts = gpu.ones(n, {dtype = "bool", device = x.device})
  if n > 1 then views.slice(starts, 1, 2, n - 1):copy_(changes(sorted, options.equal_nan ~= false)) end
  if not needs_positions and not options.return_counts and x.ndim == 1 then return {sorted[starts]} end
  local first = starts:flatnonzero()
  local results = {sorted:take(first, 1)}
  if options.return_index then results[#results + 1] = order:take(first) end
  if options.return_inverse then
    local inverse = gpu.empty_like(order)
    inverse[order] = starts:cumsum()
    results[#results + 1] = inverse
  end
  if options.return_counts then results[#results + 1] = first:diff({append = n + 1}) end
  return results
end

--- The same for complex numbers, which are ordered by their real parts, then by their imaginary parts.
local function distinct_complex(x, options)
  local rows = gpu.stack({x:real(), x:imag()}, -1):reshape(x.shape[1], -1)
  local results = distinct(rows, {equal_nan = options.equal_nan, return_index = true, return_inverse = options.return_inverse,
    return_counts = options.return_counts})
  results[1] = x:take(results[2], 1)
  if not options.return_index then table.remove(results, 2) end
  return results
end

--- gpu.unique(x [, {axis, equal_nan, return_index, return_inverse, return_counts}])
local function unique(x, options)
  checks.array("unique", x)
  options = checks.fields("unique", options)
  for _, name in ipairs {"equal_nan", "return_index", "return_inverse", "return_counts"} do
    checks.flag("unique", name, options[name])
  end
  local inverse = options.return_index and 3 or 2
  local find = kinds.is_complex(x) and distinct_complex or distinct
  if options.axis == nil then
    local results = find(x:ravel(), options)
    if options.return_inverse then results[inverse] = results[inverse]:reshape(x.shape) end
    return unpack(results)
  end
  local axis = core.axis("unique", options.axis, x.ndim)
  local slices = x:moveaxis(axis, 1)
  local shape = slices.shape
  local width = 1
  for i = 2, #shape do width = width * shape[i] end
  if width == 0 then core.fail("unique", "elements in the slices along the axis", x) end
  local rows = #shape == 1 and x or slices:reshape(shape[1], width)
  local results = find(rows, options)
  shape[1] = results[1].shape[1]
  results[1] = results[1]:reshape(shape):moveaxis(1, axis)
  return unpack(results)
end

-- ---- sets -----------------------------------------------------------------------------------------------------------------------

--- Converts both to their common dtype.
local function alike(x, y)
  local dtype = core.promote(x.dtype, y.dtype)
  return core.cast(x, dtype), core.cast(y, dtype)
end

--- Whether a number, or all of a list, are integers that int64 takes.
local function is_whole(value)
  if type(value) == "number" then return value % 1 == 0 and value >= -2 ^ 63 and value < 2 ^ 63 end
  if type(value) ~= "table" then return false end
  for _, item in ipairs(value) do
    if not is_whole(item) then return false end
  end
  return true
end

-- As many values are compared with each element; for more of them a look-up takes less time.
local few_values = 32

local operations = {}
--- The operation of that name, made at its first use.
local function operation(name, inputs, body)
  operations[name] = operations[name] or core.elementwise {name = name, inputs = inputs, outputs = "bool y", body = body}
  return operations[name]
end

local function is_one_of(x, values)
  return operation("is_one_of", "T x, raw T values, int64 count",
    "y = false; for (long long k = 0; k < count; ++k) y = y || x == values[k];")(x, values, values.size)
end

--- Whether each integer of x is among the values, by a table over their range; nil where that is too large a one, or takes a wait.
local function is_in_table(x, values)
  local kind = kinds.of(values)
  if x.size == 0 or kind ~= "int" and kind ~= "uint" then return nil end
  local least, most = core.range_of_keys(values)
  if least == nil then return nil end
  local count = most - least + 1
  if math.max(math.abs(least), math.abs(most)) > 2 ^ 53 or count > 6 * (x.size + values.size) then return nil end
  -- The last element stands for all numbers out of the range.
  local found = gpu.zeros(count + 1, {dtype = "bool", device = x.device})
  found[core.cast(values, "int64") - (least - 1)] = true
  return operation("is_in_table", "T x, raw bool found, int64 least, int64 count", [=[
    const unsigned long long place = (unsigned long long)(long long)x - (unsigned long long)least;
    y = found[place < (unsigned long long)count ? (long long)place : count];
  ]=])(x, found, least, count)
end

--- gpu.isin(x, values [, {invert}])
--- For each element of x, or the number x: true if it is one of the values. NaN never is.
local function isin(x, values, options)
  if core.is_number(x) and core.is_array(values) then x = checks.to_array("isin", "an array or a number", x, values) end
  checks.real("isin", x)
  options = checks.fields("isin", options)
  local invert = checks.flag("isin", "invert", options.invert) or false
  if type(values) == "table" and type(values[1]) == "boolean" and x.dtype ~= "bool" then
    core.fail("isin", "an array or numbers", values[1])
  end
  if kinds.of(x) == "int" and is_whole(values) then values = gpu.array(values, {dtype = "int64", device = x.device}) end
  values = checks.real("isin", checks.to_array("isin", "an array, a table or a number", values, x)):ravel()
  if values.size == 0 then return gpu.full(x.shape, invert, {device = x.device}) end
  x, values = alike(x, values)
  local is_in = values.size <= few_values and is_one_of(x, values) or is_in_table(x, values)
  if is_in then return invert and is_in:logical_not() or is_in end
  local sorted = values:sort()
  local nearest = sorted:take(gpu.minimum(gpu.searchsorted(sorted, x), sorted.size))
  return invert and nearest:ne(x) or nearest:eq(x)
end

local function check_sets(op, x, y) return checks.real(op, x):ravel(), checks.real(op, y):ravel() end

--- gpu.union1d(x, y)
local function union1d(x, y)
  x, y = alike(check_sets("union1d", x, y))
  return (unique(gpu.concat {x, y}))
end

--- gpu.intersect1d(x, y [, {return_indices}])
--- The common elements of x and y in sorted order; with `return_indices` also the first position of each in x and in y.
local function intersect1d(x, y, options)
  x, y = alike(check_sets("intersect1d", x, y))
  options = checks.fields("intersect1d", options)
  if not checks.flag("intersect1d", "return_indices", options.return_indices) then
    x = unique(x)
    return x[isin(x, y)]
  end
  local distinct_x, at_x = unique(x, {return_index = true})
  local distinct_y, at_y = unique(y, {return_index = true})
  local in_x, in_y = isin(distinct_x, distinct_y):flatnonzero(), isin(distinct_y, distinct_x):flatnonzero()
  return distinct_x:take(in_x), at_x:take(in_x), at_y:take(in_y)
end

--- gpu.setdiff1d(x, y)
local function setdiff1d(x, y)
  x, y = check_sets("setdiff1d", x, y)
  x = unique(x)
  return x[isin(x, y, {invert = true})]
end

--- gpu.setxor1d(x, y)
local function setxor1d(x, y)
  x, y = alike(check_sets("setxor1d", x, y))
  return gpu.concat({setdiff1d(x, y), setdiff1d(y, x)}):sort()
end

define {
  intersect1d = intersect1d,
  isin = function(...) return core.as_mask("isin", isin(...)) end,
  lexsort = lexsort,
  setdiff1d = setdiff1d,
  setxor1d = setxor1d,
  union1d = union1d,
  unique = unique,
}

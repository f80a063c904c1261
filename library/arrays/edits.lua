-- Inserting and deleting along an axis, and arrays built from others.
-- In sandboxes: all
local gpu, methods, core, import = ...
local define = import "define"
local checks = import "checks"
local kinds = import "kinds"
local views = import "views"

--- The array and the axis along which it is edited: without an axis, its elements as a vector.
local function along(op, x, axis)
  checks.array(op, x)
  if axis == nil then return x:ravel(), 1 end
  return x, core.axis(op, axis, x.ndim)
end

--- An index that selects everything on all axes but one.
local function index_of(ndim, axis, spec)
  local specs = {}
  for i = 1, ndim do specs[i] = i == axis and spec or ":" end
  return specs
end

--- Positions from 1 to `most`, sorted, of a table or a vector (waits) of integers that may count from the end of `n` positions.
local function sorted_positions(op, value, n, most)
  local what = "positions: an integer, a table or a vector of them, or a range"
  if type(value) == "string" then value = gpu.range(1, n, "int64")(value) end
  if core.is_array(value) then
    if value.ndim > 1 or kinds.of(value) ~= "int" and kinds.of(value) ~= "uint" then core.fail(op, what, value) end
    value = gpu.atleast_1d(value):table()
  end
  local positions = {}
  for i, position in ipairs(checks.integers(op, what, value)) do
    local at = position < 0 and n + 1 + position or position
    if position == 0 or at < 1 or at > most then
      core.fail(op, ("positions from 1 to %d, or from -%d to -1"):format(most, n), position)
    end
    positions[i] = {at = at, given = i}
  end
  table.sort(positions, function(a, b) return a.at < b.at or a.at == b.at and a.given < b.given end)
  return positions
end

--- Values for insertion as an array of x's dtype and number of dimensions.
local function insertable(x, values)
  if not core.is_array(values) then
    if type(values) == "nil" then core.fail("insert", "values to insert", values) end
    values = gpu.array(values, {dtype = x.dtype, device = x.device})
  end
  values = core.cast(values, x.dtype)
  while values.ndim < x.ndim do values = values:expand_dims(1) end
  if values.ndim > x.ndim then
    core.raise(("[insert] expected values of at most %d dimensions, got shape %s"):format(x.ndim, checks.shape_text(values.shape)))
  end
  return values
end

--- Broadcasts values to x's shape with `count` positions on the axis.
local function fit(x, values, axis, count)
  local shape = x.shape
  shape[axis] = count
  for i, extent in ipairs(values.shape) do
    if extent ~= 1 and extent ~= shape[i] then
      core.raise(("[insert] expected values that broadcast to %s, got shape %s"):format(checks.shape_text(shape), checks.shape_text(values.shape)))
    end
  end
  return core.broadcast(values, shape)
end

--- Inserts before one position. The values may have any number of positions along the axis; those of fewer dimensions than x stand
--- for one position.
local function insert_at(x, position, values, axis)
  local n = x.shape[axis]
  local at = position < 0 and n + 1 + position or position
  if position == 0 or at < 1 or at > n + 1 then
    core.fail("insert", ("a position from 1 to %d, or from -%d to -1"):format(n + 1, n), position)
  end
  values = insertable(x, values):moveaxis(1, axis)
  values = fit(x, values, axis, values.shape[axis])
  return gpu.concat({views.slice(x, axis, 1, at - 1), values, views.slice(x, axis, at, n + 1 - at)}, axis)
end

--- gpu.insert(x, positions, values [, axis])
--- Positions are those of x before the insertion.
local function insert(x, positions, values, axis)
  x, axis = along("insert", x, axis)
  if x.ndim == 0 then core.fail("insert", "an array with dimensions", x) end
  if type(positions) == "number" then
    return insert_at(x, checks.integer("insert", "a position: an integer", positions), values, axis)
  end
  local n = x.shape[axis]
  local sorted = sorted_positions("insert", positions, n, n + 1)
  local before, places, count = {}, {}, #sorted
  for i, position in ipairs(sorted) do
    before[i], places[position.given] = position.at, position.at + i - 1
  end
  if count == 0 then return x:copy() end
  local device = {dtype = "int64", device = x.device}
  values = fit(x, insertable(x, values), axis, count)
  local shape = x.shape
  shape[axis] = n + count
  local result = gpu.empty(shape, {dtype = x.dtype, device = x.device})
  result[index_of(x.ndim, axis, gpu.array(places, device))] = values
  if n > 0 then
    local old = gpu.range(1, n, device)
    result[index_of(x.ndim, axis, old + gpu.searchsorted(gpu.array(before, device), old, {side = "right"}) - 1)] = x
  end
  return result
end

--- gpu.delete(x, positions [, axis])
--- x without the elements at the positions.
local function delete(x, positions, axis)
  x, axis = along("delete", x, axis)
  if x.ndim == 0 then core.fail("delete", "an array with dimensions", x) end
  local n = x.shape[axis]
  if type(positions) == "number" then
    checks.integer("delete", "a position: an integer", positions)
    local at = sorted_positions("delete", positions, n, n)[1].at
    return gpu.concat({views.slice(x, axis, 1, at - 1), views.slice(x, axis, at + 1, n - at)}, axis)
  end
  local keeps
  if core.is_array(positions) and positions.dtype == "bool" then
    if positions.ndim ~= 1 or positions.size ~= n then
      core.raise(("[delete] expected a mask of shape (%d,), got %s"):format(n, checks.shape_text(positions.shape)))
    end
    keeps = positions:logical_not()
  else
    local sorted, list = sorted_positions("delete", positions, n, n), {}
    if #sorted == 0 then return x:copy() end
    for i, position in ipairs(sorted) do list[i] = position.at end
    keeps = gpu.ones(n, {dtype = "bool", device = x.device})
    keeps[gpu.array(list, {dtype = "int64", device = x.device})] = false
  end
  return gpu.compress(keeps, x, axis)
end

--- gpu.resize(x, shape)
--- The elements in row-major order, again and again, in another shape.
local function resize(x, shape)
  checks.array("resize", x)
  shape = checks.integers("resize", "a shape: a table or a number", shape)
  core.check_shape("resize", shape)
  local place = {dtype = x.dtype, device = x.device}
  if x.size == 0 then return gpu.zeros(shape, place) end
  return x:ravel():take(core.positions(shape, 0, 1, "int64", {device = x.device}) % x.size + 1)
end

--- gpu.unstack(x [, axis])
--- The views x(1), x(2), ... along the axis (1), in a table.
local function unstack(x, axis)
  checks.array("unstack", x)
  axis = core.axis("unstack", axis or 1, x.ndim)
  local result, most = {}, 2 ^ 26 -- the limit of a Lua table
  if x.shape[axis] > most then core.fail("unstack", "an axis of at most 2^26 elements", x) end
  for i = 1, x.shape[axis] do result[i] = views.pick(x, axis, i) end
  return result
end

--- gpu.column_stack(arrays)
--- Joins vectors as columns, and matrices along their second axis.
function gpu.column_stack(arrays)
  local columns = {}
  for i, x in ipairs(checks.arrays("column_stack", arrays)) do
    columns[i] = x.ndim < 2 and gpu.atleast_1d(x):expand_dims(2) or x
  end
  return gpu.concat(columns, 2)
end

--- Returns the nesting depth of the tables, the largest ndim of their arrays, and the device of one of these.
local function measure(blocks, level)
  if core.is_array(blocks) then return level, blocks.ndim, blocks.device end
  if type(blocks) == "number" then return level, 0 end
  if type(blocks) ~= "table" or core.check_list("block", "arrays", blocks) == 0 then
    core.fail("block", "nested tables of arrays, {{a, b}, {c, d}}", blocks)
  end
  local depth, ndim, device = measure(blocks[1], level + 1)
  for i = 2, #blocks do
    local own, dimensions, place = measure(blocks[i], level + 1)
    if own ~= depth then
      core.raise(("[block] expected arrays at one depth of the tables, got some at %d and some at %d"):format(depth, own))
    end
    ndim, device = math.max(ndim, dimensions), device or place
  end
  return depth, ndim, device
end

--- gpu.block(blocks)
--- Joins nested tables: the innermost ones along the last axis, those around them along the axis before it, and so on.
function gpu.block(blocks)
  local depth, ndim, device = measure(blocks, 0)
  ndim = math.max(ndim, depth)
  local function join(part, level)
    if type(part) == "number" then part = gpu.array(part, {device = device}) end
    if core.is_array(part) then
      while part.ndim < ndim do part = part:expand_dims(1) end
      return part
    end
    local list = {}
    for i, item in ipairs(part) do list[i] = join(item, level + 1) end
    return gpu.concat(list, ndim - depth + level + 1)
  end
  local result = join(blocks, 0)
  return result == blocks and result:copy() or result
end

--- gpu.trim_zeros(x [, trim [, axis]])
--- Without the zeros at the front ("f") and the back ("b") of the axes (all). Waits.
local function trim_zeros(x, trim, axis)
  checks.array("trim_zeros", x)
  trim = trim == nil and "fb" or trim
  if type(trim) ~= "string" or not ({f = true, b = true, fb = true, bf = true})[trim:lower()] then
    core.fail("trim_zeros", 'trim = "f", "b" or "fb"', trim)
  end
  local front, back = trim:lower():find "f", trim:lower():find "b"
  local axes, found = checks.axes("trim_zeros", axis, x.ndim), x:ne(0)
  local specs = index_of(x.ndim)
  for _, at in ipairs(axes) do
    local others = {}
    for i = 1, x.ndim do
      if i ~= at then others[#others + 1] = i end
    end
    local places = (#others > 0 and found:any(others) or found):flatnonzero()
    local n = x.shape[at]
    if places.size == 0 then
      specs[at] = {2, 1}
    else
      specs[at] = {front and places[1] or 1, back and places[places.size] or n}
    end
  end
  return x(unpack(specs, 1, x.ndim))
end

--- gpu.broadcast_shapes(shape, ...)
--- The shape to which arrays of these shapes broadcast.
function gpu.broadcast_shapes(...)
  local arrays = {}
  for i = 1, select("#", ...) do
    local shape = checks.integers("broadcast_shapes", "shapes: tables or numbers", (select(i, ...)))
    core.check_shape("broadcast_shapes", shape)
    arrays[i] = shape
  end
  local result = {}
  for _, shape in ipairs(arrays) do
    for back = 0, #shape - 1 do
      local extent, so_far = shape[#shape - back], result[back + 1] or 1
      if extent ~= 1 and so_far ~= 1 and extent ~= so_far then
        local texts = {}
        for i, each in ipairs(arrays) do texts[i] = checks.shape_text(each) end
        core.raise(("[broadcast_shapes] operands could not be broadcast together with shapes %s: counted from the last axis, "
          .. "%d meets %d, and sizes of an axis are equal or one is 1"):format(table.concat(texts, " "), so_far, extent))
      end
      result[back + 1] = extent == 1 and so_far or extent
    end
  end
  local shape = {}
  for i = #result, 1, -1 do shape[#shape + 1] = result[i] end
  return core.positions(shape, 0, 1, "bool", nil).shape
end

define {
  delete = delete,
  insert = insert,
  trim_zeros = trim_zeros,
  unstack = unstack,
  --- gpu.repeat(x, count [, axis])
  ["repeat"] = function(x, counts, axis) return gpu.repeat_interleave(x, counts, axis) end,
}
gpu.resize = resize

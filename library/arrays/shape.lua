-- Joining, splitting, repeating and padding arrays.
-- In sandboxes: all
local gpu, methods, core, import = ...
local define = import "define"
local checks = import "checks"
local views = import "views"

local unpack = unpack

local function map(arrays, fn)
  local result = {}
  for i, x in ipairs(arrays) do result[i] = fn(x) end
  return result
end

--- gpu.hstack(arrays)
--- Joins arrays along the second axis, and vectors along their only axis.
function gpu.hstack(arrays)
  arrays = map(checks.arrays("hstack", arrays), gpu.atleast_1d)
  return gpu.concat(arrays, arrays[1].ndim == 1 and 1 or 2)
end

--- gpu.vstack(arrays)
--- Joins arrays along the first axis; vectors become rows.
function gpu.vstack(arrays) return gpu.concat(map(checks.arrays("vstack", arrays), gpu.atleast_2d), 1) end

--- gpu.dstack(arrays)
--- Joins arrays along the third axis.
function gpu.dstack(arrays) return gpu.concat(map(checks.arrays("dstack", arrays), gpu.atleast_3d), 3) end

-- ---- parts ----------------------------------------------------------------------------------------------------------------

--- Views of the parts that end at the positions `ends`, and of the rest.
local function cut(x, axis, ends)
  local parts, start = {}, 0
  local extent = x.shape[axis]
  ends[#ends + 1] = extent
  for i, stop in ipairs(ends) do
    parts[i] = views.slice(x, axis, start + 1, stop - start)
    start = stop
  end
  return parts
end

--- Checks that the last positions of pieces ascend and lie within the axis. Returns them counted from its start.
local function check_ends(op, positions, extent, axis)
  local ends, before = {}, 0
  for i, position in ipairs(checks.integers(op, "the last positions of pieces, or a number of pieces", positions)) do
    local stop = position < 0 and extent + position or position
    if stop < 0 or stop > extent then
      core.raise(("[%s] expected last positions of pieces within the %d elements of axis %d, got %d"):format(op, extent, axis, position))
    end
    if stop < before then
      core.raise(("[%s] expected last positions of pieces in ascending order, got %d after %d"):format(op, position, positions[i - 1]))
    end
    ends[i], before = stop, stop
  end
  return ends
end

local most_parts = 2 ^ 26 -- the limit of a Lua table

local function split(op, x, parts, axis, unequal)
  checks.array(op, x)
  axis = core.axis(op, axis or 1, x.ndim)
  if type(parts) == "table" then
    return cut(x, axis, check_ends(op, parts, x.shape[axis], axis))
  end
  checks.integer(op, "the last positions of pieces, or a number of pieces", parts)
  local extent = x.shape[axis]
  if parts < 1 or parts > most_parts then core.fail(op, "from one to 2^26 pieces", parts) end
  if not unequal and extent % parts ~= 0 then
    core.raise(("[%s] expected a number of pieces that divides the %d elements of axis %d, got %d; gpu.array_split "
      .. "makes unequal ones"):format(op, extent, axis, parts))
  end
  local ends, size, longer = {}, math.floor(extent / parts), extent % parts
  for i = 1, parts - 1 do ends[i] = i * size + math.min(i, longer) end
  return cut(x, axis, ends)
end

-- ---- repetition -----------------------------------------------------------------------------------------------------------

local function check_counts(op, what, value)
  local counts = checks.integers(op, what, value)
  for _, count in ipairs(counts) do
    if count < 0 then core.fail(op, what, count) end
  end
  return counts
end

--- gpu.tile(x, counts...)
--- Repeats each axis i counts[i] times, by one copy of a broadcast view.
local function tile(x, ...)
  checks.array("tile", x)
  if type((...)) == "table" and select("#", ...) > 1 then core.fail("tile", "no argument after the table of counts", (select(2, ...))) end
  for i = 1, select("#", ...) do
    if select(i, ...) == nil then core.fail("tile", "numbers of 0 or more", nil) end
  end
  local counts = check_counts("tile", "numbers of 0 or more", type((...)) == "table" and (...) or {...})
  if #counts == 0 then return x:copy() end
  local shape = x.shape
  while #shape < #counts do table.insert(shape, 1, 1) end
  while #counts < #shape do table.insert(counts, 1, 1) end
  local from, to, result = {}, {}, {}
  for axis, extent in ipairs(shape) do
    if counts[axis] ~= 1 then
      from[#from + 1], to[#to + 1] = 1, counts[axis]
    end
    from[#from + 1], to[#to + 1] = extent, extent
    result[axis] = extent * counts[axis]
  end
  core.check_shape("tile", result)
  return x:reshape(from):broadcast_to(to):copy():reshape(result)
end

-- ---- copies with other positions ------------------------------------------------------------------------------------------

--- The same as assemble() in an expression, for a derivative.
local function joined(x, parts)
  for axis, runs in ipairs(parts) do
    local pieces = {}
    for i, part in ipairs(runs) do
      local first, count, step = part[1], part[2], part[3]
      local piece = views.slice(x, axis, step < 0 and first - count + 1 or first, step == 0 and math.min(count, 1) or count)
      if step == 0 and count > 1 then
        local shape = piece.shape
        shape[axis] = count
        piece = core.broadcast(piece, shape)
      end
      pieces[i] = step < 0 and piece:flip(axis) or piece
    end
    x = #pieces == 1 and pieces[1] or gpu.concat(pieces, axis)
  end
  return x
end

--- Copies parts of x into `result`. parts[axis] is a list of {first, count, step, copies}: the first position in x, the number of
--- positions, the step between them, and the number of copies of each.
local function assemble(result, x, parts)
  if core.depends(x) then return joined(x, parts) end
  local ndim = #parts
  local from, to = {}, {}
  local function place(axis)
    if axis > ndim then
      result(unpack(to, 1, ndim)):copy_(x(unpack(from, 1, ndim)))
      return
    end
    local start = 1
    for _, part in ipairs(parts[axis]) do
      local first, count, step = part[1], part[2], part[3]
      if count > 0 then
        local last = step == 0 and first or first + (count - 1) * step
        from[axis] = {first, last, step == 0 and 1 or step}
        to[axis] = {start, start + count - 1}
        place(axis + 1)
        start = start + count
      end
    end
  end
  if result.size > 0 then place(1) end
  return result
end

local function whole(x)
  local parts = {}
  for axis, extent in ipairs(x.shape) do parts[axis] = {{1, extent, 1}} end
  return parts
end

--- gpu.repeat_interleave(x, count [, axis])
--- Repeats each element `counts` times, or element i of the axis counts[i] times. Without an axis, x is flattened first.
local function repeat_interleave(x, counts, axis)
  local op, what = "repeat_interleave", "a number of 0 or more, or a table of them"
  checks.array(op, x)
  if axis == nil then x, axis = x:ravel(), 1 end
  axis = core.axis(op, axis, x.ndim)
  local numbers = check_counts(op, what, counts)
  local shape = x.shape
  if #numbers ~= 1 and #numbers ~= shape[axis] then
    core.raise(("[%s] expected a number for each of the %d elements of axis %d, got %d"):format(op, shape[axis], axis, #numbers))
  end
  if #numbers == 1 then
    local to = x.shape
    table.insert(to, axis + 1, numbers[1])
    shape[axis] = shape[axis] * numbers[1]
    core.check_shape(op, shape)
    return x:expand_dims(axis + 1):broadcast_to(to):copy():reshape(shape)
  end
  local parts, total = whole(x), 0
  parts[axis] = {}
  for i, count in ipairs(numbers) do
    parts[axis][i] = {i, count, 0}
    total = total + count
  end
  shape[axis] = total
  core.check_shape(op, shape)
  return assemble(gpu.empty(shape, {dtype = x.dtype, device = x.device}), x, parts)
end

--- gpu.roll(x, shift [, axes])
--- Shifts the elements by `shift` positions along the axis; elements past the end return at the start.
local function roll(x, shift, axis)
  checks.array("roll", x)
  local shifts = checks.integers("roll", "a shift that is an integer, or a table of them", shift)
  if axis == nil then
    if #shifts ~= 1 then core.raise "[roll] expected axes for several shifts" end
    if #x.shape ~= 1 then return roll(x:ravel(), shifts[1], 1):reshape(x.shape) end
    axis = 1
  end
  local axes = type(axis) == "table" and axis or {axis}
  core.check_list("roll", "axes", axes)
  if #shifts ~= 1 and #axes ~= 1 and #shifts ~= #axes then
    core.raise(("[roll] expected a shift for each axis, got %d shifts and %d axes"):format(#shifts, #axes))
  end
  local total, shape = {}, x.shape
  for at, extent in ipairs(shape) do total[at] = 0 end
  for i = 1, math.max(#axes, #shifts) do
    local at = core.axis("roll", axes[#axes == 1 and 1 or i], #shape)
    if shape[at] > 0 then total[at] = (total[at] + shifts[#shifts == 1 and 1 or i]) % shape[at] end
  end
  return core.roll(x, total)
end

--- gpu.rot90(x [, times [, axes]])
--- Rotates by `times` quarter turns, from the first of the axes towards the second.
local function rot90(x, times, axes)
  checks.array("rot90", x)
  times = checks.integer("rot90", "a number of quarter turns", times or 1) % 4
  axes = axes or {1, 2}
  if type(axes) ~= "table" or core.check_list("rot90", "axes", axes) ~= 2 then core.fail("rot90", "two axes", axes) end
  local a, b = core.axis("rot90", axes[1], x.ndim), core.axis("rot90", axes[2], x.ndim)
  if a == b then core.raise(("[rot90] expected two different axes, got axis %d twice"):format(a)) end
  if times == 0 then return x "..." end
  if times == 2 then return x:flip({a, b}) end
  return times == 1 and x:flip(b):swapaxes(a, b) or x:swapaxes(a, b):flip(b)
end

-- ---- padding --------------------------------------------------------------------------------------------------------------

--- The source position, counted from 1, of a padded element at offset `at` from the first of `extent` elements.
local sources = {
  edge = function(at, extent) return math.max(0, math.min(at, extent - 1)) + 1 end,
  wrap = function(at, extent) return at % extent + 1 end,
  reflect = function(at, extent)
    if extent == 1 then return 1 end
    at = at % (2 * extent - 2)
    return (at < extent and at or 2 * extent - 2 - at) + 1
  end,
  symmetric = function(at, extent)
    at = at % (2 * extent)
    return (at < extent and at or 2 * extent - 1 - at) + 1
  end,
}

--- The runs of source positions that form the padded axis. Wide padding has several periods, with a run for each.
local function runs(extent, before, after, source)
  local parts = {}
  local function add(at, stop)
    while at < stop do
      local first = source(at, extent)
      local step = at + 1 < stop and source(at + 1, extent) - first or 1
      if math.abs(step) > 1 then step = 1 end
      local count = 1
      while at + count < stop and source(at + count, extent) == first + count * step do count = count + 1 end
      parts[#parts + 1] = {first, count, step}
      at = at + count
    end
  end
  add(-before, 0)
  parts[#parts + 1] = {1, extent, 1}
  add(extent, extent + after)
  return parts
end

--- Returns {before, after} for each axis. `widths`: a number, {before, after}, or a table with one of these for each axis, at least one of
--- them a table.
local function check_widths(x, widths)
  local ndim, result, each = x.ndim, {}, false
  local function fail(axis, value)
    core.raise(("[pad] expected widths of 0 or more, n, {before, after}, or a list with one of these for each axis, got %s%s"):format(
      core.describe(value), axis and (" for axis %d"):format(axis) or ""))
  end
  local function pair(axis, value)
    if type(value) == "number" then value = {value, value} end
    if type(value) ~= "table" or core.is_array(value) then fail(axis, value) end
    local count = core.check_list("pad", "widths", value)
    if count ~= 2 then
      core.raise(("[pad] expected n or {before, after}%s, got a list of %d"):format(axis and (" for axis %d"):format(axis) or "", count))
    end
    for _, width in ipairs(value) do
      if type(width) ~= "number" or width % 1 ~= 0 or width < 0 then fail(axis, width) end
    end
    return value
  end
  for _, width in ipairs(type(widths) == "table" and widths or {}) do each = each or type(width) == "table" end
  if each and core.check_list("pad", "widths", widths) ~= ndim then
    core.raise(("[pad] expected widths for the %d axes of shape %s, got %d"):format(ndim, checks.shape_text(x.shape), #widths))
  end
  for axis = 1, ndim do result[axis] = pair(each and axis or nil, each and widths[axis] or not each and widths) end
  return result
end

--- x with elements of one value before and after those of each axis, in an expression, for a derivative.
local function surrounded(x, widths, value)
  for axis, width in ipairs(widths) do
    local pieces = {x, x, x}
    for i = 1, 3, 2 do
      local shape = x.shape
      shape[axis] = width[(i + 1) / 2]
      pieces[i] = gpu.full(shape, value, {dtype = x.dtype, device = x.device})
    end
    x = gpu.concat(pieces, axis)
  end
  return x
end

--- gpu.pad(x, widths [, mode] [, {mode, value}])
local function pad(x, widths, mode, options)
  checks.array("pad", x)
  if type(mode) == "table" then mode, options = checks.shift("pad", mode, options) end
  options = checks.fields("pad", options)
  if mode ~= nil and options.mode ~= nil then core.fail("pad", "one mode, got " .. core.describe(mode) .. " and an option", options.mode) end
  mode = mode or options.mode or "constant"
  if mode ~= "constant" and not sources[mode] then
    core.fail("pad", "a mode: constant, edge, reflect, symmetric or wrap", mode)
  end
  if mode ~= "constant" and options.value ~= nil then core.fail("pad", "no value with the mode " .. mode, options.value) end
  widths = check_widths(x, widths)
  local old, shape, parts = x.shape, {}, {}
  for axis, width in ipairs(widths) do
    if mode ~= "constant" and old[axis] == 0 and width[1] + width[2] > 0 then
      core.raise(("[pad] expected elements to pad with, got shape %s"):format(checks.shape_text(old)))
    end
    shape[axis] = width[1] + old[axis] + width[2]
  end
  core.check_shape("pad", shape)
  local value = options.value == nil and 0 or options.value
  if mode == "constant" and core.depends(x) then return surrounded(x, widths, value) end
  local place = {dtype = x.dtype, device = x.device}
  local result = mode == "constant" and gpu.full(shape, value, place) or gpu.empty(shape, place)
  for axis, width in ipairs(widths) do
    if mode == "constant" then
      parts[axis] = old[axis] == 0 and {2, 1} or {width[1] + 1, width[1] + old[axis]}
    else
      parts[axis] = runs(old[axis], width[1], width[2], sources[mode])
    end
  end
  if mode ~= "constant" then return assemble(result, x, parts) end
  if x.size > 0 then result(unpack(parts, 1, #parts)):copy_(x) end
  return result
end

define {
  --- gpu.array_split(x, parts [, axis])
  array_split = function(x, parts, axis) return split("array_split", x, parts, axis, true) end,
  pad = pad,
  repeat_interleave = repeat_interleave,
  roll = roll,
  rot90 = rot90,
  --- gpu.split(x, parts [, axis])
  split = function(x, parts, axis) return split("split", x, parts, axis, false) end,
  tile = tile,
  --- gpu.trace(x [, offset [, row, column]])
  trace = function(x, ...)
    if checks.array("trace", x).ndim < 2 then core.fail("trace", "an array of two dimensions or more", x) end
    return x:diagonal(...):sum(-1)
  end,
}

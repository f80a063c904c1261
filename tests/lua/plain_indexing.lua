-- Views of plain arrays (plain_arrays.lua), their elements by index, and writing to them.

--- Adds its functions to the module, its methods and the arrays' metatable; `tools` are functions of plain_arrays.lua.
return function(plain, methods, meta, tools)
  local array, is_array, values_of = tools.array, tools.is_array, tools.values_of
  local rounded, promoted, broadcast = tools.rounded, tools.promoted, tools.broadcast

  --- Of x's elements, by their row-major positions from 0.
  local function pick(x, shape, positions, is_copy)
    local at = {}
    for i, position in ipairs(positions) do at[i] = x.at[position + 1] end
    local result = array(shape, x.buffer, x.dtype, at)
    return is_copy and result:copy() or result
  end

  --- The elements at the positions, from 0, that lists[axis] gives along each axis.
  local function grid(x, lists, is_copy)
    local shape, positions = {}, {}
    local steps, step = {}, 1
    for axis = #x.shape, 1, -1 do steps[axis], step = step, step * x.shape[axis] end
    for axis in ipairs(x.shape) do shape[axis] = #lists[axis] end
    local function walk(axis, from)
      if axis > #shape then
        positions[#positions + 1] = from
        return
      end
      for _, i in ipairs(lists[axis]) do walk(axis + 1, from + i * steps[axis]) end
    end
    walk(1, 0)
    return pick(x, shape, positions, is_copy)
  end

  --- Positions from 0: of a number, a range in text, a table or an array of indices.
  local function positions_of(spec, extent)
    local list = {}
    local function add_index(i)
      i = i < 0 and i + extent or i - 1
      assert(i >= 0 and i < extent, "an index out of range")
      list[#list + 1] = i
    end
    if type(spec) == "number" then
      add_index(spec)
    elseif type(spec) == "string" then
      local first, last, step = spec:match "^(%-?%d*):(%-?%d*):?(%-?%d*)$"
      step = tonumber(step) or 1
      first, last = tonumber(first) or (step > 0 and 1 or extent), tonumber(last) or (step > 0 and extent or 1)
      for i = first, step > 0 and math.min(last, extent) or last, step do add_index(i) end
    else
      for _, i in ipairs(is_array(spec) and values_of(spec) or spec) do add_index(i) end
    end
    return list
  end

  local function dropped(x, axes)
    local shape = {}
    for axis, extent in ipairs(x.shape) do if not axes[axis] then shape[#shape + 1] = extent end end
    return array(shape, x.buffer, x.dtype, x.at)
  end

  --- A view of the elements that the specs select. The second result is true when gpulua returns a copy.
  local function select(x, ...)
    local specs, lists, single_axes, is_copy = {...}, {}, {}, false
    for axis, extent in ipairs(x.shape) do
      local spec = specs[axis] or ":"
      single_axes[axis], is_copy = type(spec) == "number", is_copy or is_array(spec)
      lists[axis] = positions_of(spec, extent)
    end
    return dropped(grid(x, lists), single_axes), is_copy
  end

  function meta.__call(x, ...)
    local selected, is_copy = select(x, ...)
    return is_copy and selected:copy() or selected
  end

  local function masked(x, mask)
    local positions, flags = {}, values_of(mask)
    for i = 1, #flags do if flags[i] then positions[#positions + 1] = i - 1 end end
    return pick(x, {#positions}, positions)
  end

  function meta.__index(x, key)
    if methods[key] then return methods[key] end
    if key == "T" then return x:transpose() end
    if is_array(key) and key.dtype == "bool" then return masked(x, key):copy() end
    if type(key) == "string" and not key:find ":" then return nil end
    return x(key)
  end

  local function write(target, value)
    local source = is_array(value) and value:copy() or array({}, {value}, target.dtype)
    local places = broadcast(source, target.shape)
    for i, place in ipairs(target.at) do target.buffer[place] = rounded(source.buffer[places[i]], target.dtype) end
    return target
  end

  function meta.__newindex(x, key, value)
    write(is_array(key) and key.dtype == "bool" and masked(x, key) or (select(x, key)), value)
  end

  methods.copy_, methods.fill_ = write, write

  function methods.take(x, indices, axis)
    local lists = {}
    for k, extent in ipairs(x.shape) do lists[k] = positions_of(k == axis and indices or ":", extent) end
    return grid(x, lists, true)
  end

  function methods.put(x, indices, values)
    local positions = positions_of(indices, #x.at)
    for i, position in ipairs(positions) do x.buffer[x.at[position + 1]] = rounded(values[i], x.dtype) end
    return x
  end

  function plain.scatter_add(x, indices, values)
    local rows, step = positions_of(indices, x.shape[1]), #x.at / x.shape[1]
    local source = is_array(values) and values or array({}, {values}, x.dtype)
    local shape = {#rows}
    for axis = 2, #x.shape do shape[axis] = x.shape[axis] end
    local added = {}
    for i, place in ipairs(broadcast(source, shape)) do added[i] = source.buffer[place] end
    for i, row in ipairs(rows) do
      for j = 1, step do
        local place = x.at[row * step + j]
        x.buffer[place] = x.buffer[place] + added[(i - 1) * step + j]
      end
    end
    return x
  end

  function methods.transpose(x)
    assert(#x.shape == 2)
    local rows, columns, positions = x.shape[1], x.shape[2], {}
    for j = 0, columns - 1 do for i = 0, rows - 1 do positions[#positions + 1] = i * columns + j end end
    return pick(x, {columns, rows}, positions)
  end

  function methods.expand_dims(x, axis)
    local shape = {unpack(x.shape)}
    table.insert(shape, axis, 1)
    return array(shape, x.buffer, x.dtype, x.at)
  end

  --- For contiguous arrays: a view.
  function methods.reshape(x, ...) return array({...}, x.buffer, x.dtype, x.at) end
  function methods.broadcast_to(x, ...) return array({...}, x.buffer, x.dtype, broadcast(x, {...})) end

  function plain.concat(arrays)
    local shape, buffer = {unpack(arrays[1].shape)}, {}
    shape[1] = 0
    for _, x in ipairs(arrays) do
      shape[1] = shape[1] + x.shape[1]
      for _, value in ipairs(values_of(x)) do buffer[#buffer + 1] = value end
    end
    return array(shape, buffer, promoted(unpack(arrays)))
  end
end

-- gpu.graph: the work of a function, recorded and launched as a whole.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, leaves = import "checks", import "leaves"
local carried = import("fuse").carried

--- Adds the arrays in a value, and in tables inside of it, to `list`.
local function collect(value, list, seen)
  if core.is_array(value) then
    list[#list + 1] = value
  elseif type(value) == "table" and not seen[value] then
    seen[value] = true
    -- Each run of a function makes its own tables; the arrays of both runs are listed in the same order.
    for _, key in ipairs(leaves.keys(value)) do collect(value[key], list, seen) end
  end
  return list
end

--- The arrays in the values, and the values.
local function pack(ok, ...)
  local values = { n = select("#", ...), ... }
  return ok, ok and collect(values, {}, {}) or (...), values
end

local is_plain = {number = true, boolean = true, string = true}
local library = debug.getinfo(1, "S").source

--- Adds to `read` what the script's function, and those that it has in variables from outside, read there: numbers, texts and booleans,
--- {name, value} with the owner and the key of a field or a global, or else the function and the number of its upvalue.
local function add_read(fn, read, seen)
  if seen[fn] or debug.getinfo(fn, "S").what == "C" or debug.getinfo(fn, "S").source == library then return read end
  seen[fn] = true
  local function add(name, value, owner, key)
    if is_plain[type(value)] then read[#read + 1] = { name = name, value = value, owner = owner, key = key } end
  end
  local index, name, value = 1, debug.getupvalue(fn, 1)
  while name do
    if type(value) == "function" then add_read(value, read, seen) else add(name, value, fn, index) end
    index = index + 1
    name, value = debug.getupvalue(fn, index)
  end
  local bytecode = core.bytecode()
  if not bytecode then return read end
  for _, what, variable in bytecode.outside(fn) do
    if what == "reads" and type(variable) == "string" then add(variable, rawget(getfenv(fn), variable), getfenv(fn), variable) end
  end
  for _, what, owner, key in bytecode.fields(fn) do
    if what == "reads" and type(owner) == "table" and owner ~= gpu then add(key, rawget(owner, key), owner, key) end
  end
  return read
end

--- What gives a message about the first of these that another value has now; nil while none has.
local function change_in(read)
  return function()
    for _, one in ipairs(read) do
      local now
      if type(one.owner) == "function" then
        now = select(2, debug.getupvalue(one.owner, one.key))
      else
        now = rawget(one.owner, one.key)
      end
      if now ~= one.value and (now == now or one.value == one.value) then
        return ("[launch] '%s' was %s when the graph was recorded and is %s now, and a launch repeats the recorded work, with %s: an array that "
          .. "is written in place, x:fill_(value), changes between launches"):format(one.name, core.describe(one.value), core.describe(now),
          core.describe(one.value))
      end
    end
  end
end

--- gpu.graph(fn, ...)
--- Calls fn(...) twice, once as usual and once to record its work. Returns the graph and the results of fn.
function gpu.graph(fn, ...)
  if type(fn) ~= "function" then core.fail("graph", "a function whose work is recorded", fn) end
  if core.has_tape() then core.raise "[graph] expected a call outside of a function that is differentiated: a launch has no derivative" end
  local line, name = carried(fn)
  if line then
    core.raise(("[graph] expected a function that carries nothing from call to call in a variable from outside, got one that reads "
      .. "'%s' and sets it on line %d: a launch repeats the recorded work on the same arrays; write in place, %s:copy_(...)")
      :format(name, line, name))
  end
  local graph = core.start_graph()
  local ok, first = pack(core.call(fn, ...))
  if ok then
    collectgarbage()
    core.record_graph(graph, first)
    local arrays, results
    ok, arrays, results = pack(core.call(fn, ...))
    if ok then
      local read = add_read(fn, {}, {})
      core.finish_graph(graph, arrays, first, #read > 0 and change_in(read) or nil)
      return graph, unpack(results, 1, results.n)
    end
    first = arrays
  end
  core.abandon_graph(graph)
  local message = checks.with_missing(first, fn, select("#", ...))
  error(message == first and first or message .. "; gpu.graph(fn, ...) calls it with what follows fn", 0)
end

-- gpu.graph: the work of a function, recorded and launched as a whole.
-- In sandboxes: all
local gpu, _, core, import = ...
local leaves = import "leaves"
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
      core.finish_graph(graph, arrays, first)
      return graph, unpack(results, 1, results.n)
    end
    first = arrays
  end
  core.abandon_graph(graph)
  error(first, 0)
end

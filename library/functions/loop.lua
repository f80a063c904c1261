-- gpu.loop, gpu.loop_while: loops whose steps are recorded and run on the device.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local carried = import("fuse").carried

local last -- loop that recorded its steps: the next one uses its stream

--- Throws an error for a comparison such as k == 5: what fn gets are arrays, which equal no number in Lua.
local function check_comparisons(op, fn)
  local bytecode = core.bytecode()
  if not bytecode or debug.getinfo(fn, "S").what == "C" then return end
  local line, number = bytecode.compared_parameter(fn)
  if not line then return end
  local name = debug.getlocal(fn, number)
  core.raise(("[%s] expected no comparison of an array by == or ~=, which looks at no elements, got one of '%s' on line %d; "
    .. "gpu.where(%s:eq(y), a, b) chooses on the device"):format(op, name or "?", line, name or "x"))
end

--- Starts the loop of `op`. Returns it, a function that takes the next step, and whether steps are recorded.
local function start(op, asks, fn, ...)
  if type(fn) ~= "function" then core.fail(op, "a function of the arrays that the loop carries", fn) end
  if type((...)) == "function" then
    core.raise(("[%s] expected arrays after the function, got another function%s"):format(op,
      asks and "; one gives the condition and the arrays, function(x) return x:sum():lt(10), x + 1 end" or ""))
  end
  local line, name = carried(fn)
  if line then
    core.raise(("[%s] expected a function that gets and returns what it carries from step to step, got one that reads '%s' and sets it "
      .. "on line %d: pass %s to gpu.%s and return it"):format(op, name, line, name, op))
  end
  check_comparisons(op, fn)
  local loop, records = core.start_loop(last, asks, ...)
  if records then last = loop end
  local function take(ok, ...)
    if ok then return core.take_step(loop, ...) end
    core.abandon_loop(loop)
    error((...), 0)
  end
  return loop, function() take(core.call(fn, core.step_arguments(loop))) end, records
end

--- Takes the steps one by one: a derivative follows the operations. `goes_on(k, first)`: whether there is a step k, after which fn
--- has given `first`.
local function take_steps(fn, skips, goes_on, ...)
  local count = select("#", ...)
  local state, k, first = {...}, 1, nil
  while goes_on(k, first) do
    state[count + 1] = gpu.full({}, k, "int64")
    local results = {fn(unpack(state, 1, count + 1))}
    first = results[1]
    state = {unpack(results, 1 + skips, count + skips)}
    k = k + 1
  end
  return unpack(state, 1, count)
end

--- gpu.loop(n, fn, ...)
--- Carries arrays through n calls of a function of them, which run on the device.
function gpu.loop(n, fn, ...)
  n = checks.count("loop", "the number of steps first, of 0 or more, gpu.loop(n, fn, ...)", n)
  if core.has_tape() then return take_steps(fn, 0, function(k) return k <= n end, ...) end
  local loop, step, records = start("loop", false, fn, ...)
  local plain, launches, recorded = n, 0, nil
  if records and n > 1 then
    step()
    recorded = math.min(core.steps_of_launch(loop), n - 1)
    plain, launches = (n - 1) % recorded, math.floor((n - 1) / recorded)
  end
  for _ = 1, plain do step() end
  if launches > 0 then
    core.record_loop(loop)
    for _ = 1, recorded do step() end
    core.finish_loop(loop)
    for _ = 1, launches do core.launch_loop(loop) end
  end
  return core.end_loop(loop)
end

--- gpu.loop_while(fn, ...)
--- Carries arrays through calls of a function of them, which run on the device, until the condition that it gives is false.
function gpu.loop_while(fn, ...)
  if core.has_tape() then return take_steps(fn, 1, function(k, first) return k == 1 or first:item() end, ...) end
  local loop, step, records = start("loop_while", true, fn, ...)
  if not records then
    core.raise "[loop_while] expected a call outside of a function that gpu.graph, gpu.fuse or gpu.loop records, which fixes its work"
  end
  step()
  core.record_loop(loop)
  step()
  core.finish_loop(loop)
  -- A loop without an end must end at a sandbox's deadline, as all array functions do.
  if core.restricted or not core.launch_while(loop) then
    while core.loop_goes_on(loop) do core.launch_loop(loop) end
  end
  return core.end_loop(loop)
end

-- gpu.integrate.solve_ivp with each = true: many small systems, one thread a trajectory.
local gpu, _, core, import = ...
local events, problems, write_kernel = import "events", import "problems", import "trajectory_text"

local most_elements = 32

--- Refuses an f(t, y, dy) whose text sets some of dy's elements only: the others would count as 0.
local function check_slopes(op, f, n)
  local unset = core.unset_elements(op, f, 3, n)
  if #unset == 0 then return end
  core.raise(("[%s] expected a function that sets dy[1] to dy[%d], as the last axis of y0 has %d elements, got one that never sets dy[%d]; "
    .. "dy[%d] = 0 keeps y[%d]"):format(op, n, n, unset[1], unset[1], unset[1]))
end

--- The results of a run from a problem as `solve_ivp` has read it.
return function(op, problem)
  local y0, device, dtype = problem.y0, problem.y0.device, problem.dtype
  if y0.ndim == 0 or y0.shape[y0.ndim] == 0 or y0.shape[y0.ndim] > most_elements then
    core.fail(op, ("y0 (problems..., n) with n from 1 to %d for each = true"):format(most_elements), y0)
  end
  check_slopes(op, problem.f, y0.shape[y0.ndim])
  local n, inner = y0.shape[y0.ndim], {}
  for axis = 1, y0.ndim - 1 do inner[axis] = y0.shape[axis] end
  local settings = {problem.rtol, problem.first_step or 0, problem.max_step}
  for j = 1, n do settings[3 + j] = problem.atol[j] or problem.atol[1] end
  local many = problems.gather(inner, {problem.t0, problem.t1, unpack(problem.args)}, settings)
  local count, with = many.count, many.with
  local start = core.cast(y0, dtype):broadcast_to(with(n)):reshape(count, n)
  local spec = {n = n, dtype = dtype, tableau = problem.tableau, events = problem.events, t_eval = problem.t_eval ~= nil,
    parameters = many.names, starts = many.texts}
  local key = {n, dtype, problem.method, tostring(spec.t_eval), unpack(many.texts)}
  local functions = {f = {f = problem.f, what = "the function", advice = "f(t, y, dy) sets the elements of dy"}}
  spec.uses = {functions = functions}
  for e, event in ipairs(problem.events) do functions["g" .. e] = {f = event.f, what = "the event", advice = events.advice} end
  for _, event in ipairs(problem.events) do key[#key + 1] = ("%d,%d"):format(event.terminal or 0, event.direction) end
  spec.key = table.concat(key, ";")

  local function make(of_dtype, ...) return gpu.empty({count, ...}, {dtype = of_dtype, device = device}) end
  local function not_set(...) return gpu.full({count, ...}, 0 / 0, {dtype = dtype, device = device}) end
  local t_eval = gpu.array(problem.t_eval or {0}, {dtype = dtype, device = device})
  local path = problem.t_eval and not_set(t_eval.size, n) or make(dtype, 0, n)
  local ends, times = make(dtype, n), make(dtype)
  local reasons, steps, rejections, evaluations = make "int8", make "int32", make "int32", make "int32"
  local arguments = {problem.max_steps, gpu.array(settings, {dtype = dtype, device = device}), t_eval, start, path, ends,
    times, reasons, steps, rejections, evaluations}
  local t_events, y_events, counts = {}, {}, {}
  for e, event in ipairs(problem.events) do
    core.check_step_function(op, event.f, 2 + #problem.args)
    t_events[e], y_events[e], counts[e] = not_set(event.max_events), not_set(event.max_events, n), make "int32"
    for _, argument in ipairs {event.f, t_events[e], y_events[e], counts[e]} do arguments[#arguments + 1] = argument end
  end
  for _, array in ipairs(many.arrays) do arguments[#arguments + 1] = array end
  problems.run(op, write_kernel, spec, {events.root}, count, problem.f, unpack(arguments))

  local function shaped(x) return x:reshape(many.shape) end
  local info = {converged = shaped(reasons:le(1)), reason = shaped(reasons), t = shaped(times), steps = shaped(steps),
    rejections = shaped(rejections), evaluations = shaped(evaluations)}
  if #problem.events > 0 then
    for e, event in ipairs(problem.events) do
      t_events[e] = t_events[e]:reshape(with(event.max_events))
      y_events[e] = y_events[e]:reshape(with(event.max_events, n))
      counts[e] = shaped(counts[e])
    end
    info.t_events, info.y_events, info.event_counts = t_events, y_events, counts
  end
  return problem.t_eval and path:reshape(with(t_eval.size, n)) or ends:reshape(with(n)), info
end

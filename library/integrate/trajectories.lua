-- gpu.integrate.solve_ivp with each = true: many small systems, one thread a trajectory.
local gpu, _, core, import = ...
local events, write_kernel = import "events", import "trajectory_text"

local most_elements = 32

-- Kernels by their texts, which the same problems find again. The oldest are dropped.
local kernels, order = {}, {}
local most_kernels = 64

local function kernel_of(text)
  if not kernels[text] then
    order[#order + 1] = text
    if #order > most_kernels then kernels[table.remove(order, 1)] = nil end
    kernels[text] = gpu.jit(loadstring(text)(events.root, gpu), {name = "solve_ivp"})
  end
  return kernels[text]
end

--- Raises a kernel's error. In place of the library's text it names f.
local function raise_for(op, f, text)
  if type(text) ~= "string" then error(text, 0) end
  local info = debug.getinfo(f, "S")
  local place = ("%s:%d"):format(info.short_src, info.linedefined):gsub("%%", "%%%%")
  error(text:gsub("%[solve_ivp%]", "[" .. op .. "]", 1):gsub("%[string 'local find_root.-'%]:%d+", place), 0)
end

--- The results of a run from a problem as `solve_ivp` has read it.
return function(op, problem)
  local y0, device, dtype = problem.y0, problem.y0.device, problem.dtype
  if y0.ndim == 0 or y0.shape[y0.ndim] == 0 or y0.shape[y0.ndim] > most_elements then
    core.fail(op, ("y0 (problems..., n) with n from 1 to %d for each = true"):format(most_elements), y0)
  end
  local n, inner = y0.shape[y0.ndim], {}
  for axis = 1, y0.ndim - 1 do inner[axis] = y0.shape[axis] end
  local given = {problem.t0, problem.t1}
  for i, value in ipairs(problem.args) do given[i + 2] = value end
  local shapes = {inner}
  for _, value in ipairs(given) do
    if core.is_array(value) and value.ndim > 0 then shapes[#shapes + 1] = value.shape end
  end
  local shape = gpu.broadcast_shapes(unpack(shapes))
  local count = 1
  for _, size in ipairs(shape) do count = count * size end

  local function with(...)
    local full = {unpack(shape)}
    for _, size in ipairs {...} do full[#full + 1] = size end
    return full
  end
  local start = core.cast(y0, dtype):broadcast_to(with(n)):reshape(count, n)
  -- Numbers, and arrays of one, are elements of `settings`; the other arguments have one element for each trajectory.
  local settings = {0, 0, problem.rtol, problem.first_step or 0, problem.max_step}
  for j = 1, n do settings[5 + j] = problem.atol[j] or problem.atol[1] end
  local parameters, names, passed = {}, {}, {}
  for k, value in ipairs(given) do
    if core.is_array(value) and value.size > 1 then
      names[#names + 1] = "p" .. k
      parameters[#parameters + 1] = value:broadcast_to(shape):reshape(count)
      passed[k] = "p" .. k .. "[i]"
    else
      local at = k <= 2 and k or #settings + 1
      settings[at] = core.is_array(value) and value:item() or value
      passed[k] = ("settings[%d]"):format(at)
    end
  end
  local spec = {n = n, dtype = dtype, tableau = problem.tableau, events = problem.events, t_eval = problem.t_eval ~= nil, parameters = names,
    starts = passed}

  local function make(of_dtype, ...) return gpu.empty({count, ...}, {dtype = of_dtype, device = device}) end
  local function not_set(...) return gpu.full({count, ...}, 0 / 0, {dtype = dtype, device = device}) end
  local t_eval = gpu.array(problem.t_eval or {0}, {dtype = dtype, device = device})
  local path = problem.t_eval and not_set(t_eval.size, n) or make(dtype, 0, n)
  local ends, times = make(dtype, n), make(dtype)
  local reasons, steps, rejections, evaluations = make "int8", make "int32", make "int32", make "int32"
  local arguments = {count, problem.f, problem.max_steps, gpu.array(settings, {dtype = dtype, device = device}), t_eval, start, path, ends,
    times, reasons, steps, rejections, evaluations}
  local t_events, y_events, counts = {}, {}, {}
  for e, event in ipairs(problem.events) do
    core.check_step_function(op, event.f, 2 + #problem.args)
    t_events[e], y_events[e], counts[e] = not_set(event.max_events), not_set(event.max_events, n), make "int32"
    for _, argument in ipairs {event.f, t_events[e], y_events[e], counts[e]} do arguments[#arguments + 1] = argument end
  end
  for _, parameter in ipairs(parameters) do arguments[#arguments + 1] = parameter end
  if count > 0 then
    local ok, message = core.call(kernel_of(write_kernel(spec)):over(count), unpack(arguments))
    if not ok then raise_for(op, problem.f, message) end
  end

  local info = {converged = reasons:le(1):reshape(shape), reason = reasons:reshape(shape), t = times:reshape(shape),
    steps = steps:reshape(shape), rejections = rejections:reshape(shape), evaluations = evaluations:reshape(shape)}
  if #problem.events > 0 then
    for e, event in ipairs(problem.events) do
      t_events[e] = t_events[e]:reshape(with(event.max_events))
      y_events[e] = y_events[e]:reshape(with(event.max_events, n))
      counts[e] = counts[e]:reshape(shape)
    end
    info.t_events, info.y_events, info.event_counts = t_events, y_events, counts
  end
  return problem.t_eval and path:reshape(with(t_eval.size, n)) or ends:reshape(with(n)), info
end

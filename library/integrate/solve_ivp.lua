-- gpu.integrate.solve_ivp: initial value problems of ordinary differential equations, by explicit Runge-Kutta methods.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, kinds, records = import "checks", import "kinds", import "records"
local events, control, problems, tableaus = import "events", import "control", import "problems", import "tableaus"
local solve_each, solve_together = import "trajectories", import "steps"

local integrate = gpu.integrate
local op = "integrate.solve_ivp"
local events_type = {t_events = "events", y_events = "events", event_counts = "events"}
local report_type = records.type(op, events_type)

local implicit = {BDF = true, LSODA = true, Radau = true}

-- What helps where a solution has ended early.
local advice = {
  max_steps = "a stiff problem asks for very short steps, and there is no implicit method: a larger max_steps, larger rtol and atol or "
    .. "a problem in slower variables may help",
  ["step size"] = "the tolerances ask for a step that does not change t, as near a pole: an earlier end or larger rtol and atol may help",
  ["not finite"] = "f gave infinities or NaN",
}

local function read_span(problem, span, each)
  if type(span) ~= "table" or #span ~= 2 then
    core.raise(("[%s] expected a time span {t0, t1} before y0, gpu.%s(f, {t0, t1}, y0), got %s"):format(op, op,
      type(span) == "table" and ("a list of %d"):format(#span) or core.describe(span)))
  end
  for i, name in ipairs {"t0", "t1"} do
    local value = core.plain(span[i])
    if each then
      value = problems.value(op, name, value, problem.y0.device)
    else
      checks.finite(op, ("%s: a finite number; {each = true} takes arrays"):format(name), value)
    end
    if type(value) == "number" then checks.finite(op, name .. ": a finite number", value) end
    problem[name] = value
  end
end

--- The times at which the state is asked for, as a list.
local function read_times(problem, t_eval)
  if t_eval == nil then return nil end
  local list = t_eval
  if core.is_array(t_eval) and t_eval.ndim == 1 and not kinds.is_complex(t_eval) then list = t_eval:table() end
  if type(list) ~= "table" or core.is_array(list) or #list == 0 then core.fail(op, "t_eval: a list or a vector of times, as gpu.linspace(t0, t1, n)", t_eval) end
  local t0, t1 = problem.t0, problem.t1
  local known = type(t0) == "number" and type(t1) == "number"
  local side = known and t1 < t0 and -1 or 1
  if not known then side = list[#list] < list[1] and -1 or 1 end
  for i, t in ipairs(list) do
    checks.finite(op, "t_eval: finite numbers", t)
    if known and ((t - t0) * side < 0 or (t - t1) * side > 0) then
      local beyond = math.max((t0 - t) * side, (t - t1) * side)
      local rounds = core.is_array(t_eval) and t_eval.dtype == "float32" and beyond <= 2 ^ -22 * math.max(math.abs(t0), math.abs(t1))
        and '; t_eval is of float32, which rounds: its times as "float64", or a list, end at t1' or ""
      core.raise(("[%s] expected times t_eval between t0 = %.17g and t1 = %.17g, got %.17g%s"):format(op, t0, t1, t, rounds))
    end
    if i > 1 and (t - list[i - 1]) * side <= 0 then
      core.raise(("[%s] expected times t_eval in the order from t0 to t1, got %.17g after %.17g"):format(op, t, list[i - 1]))
    end
  end
  return list
end

--- A step's size, a number above 0.
local function read_size(name, value, default)
  if value == nil then return default end
  if type(value) ~= "number" or not (value > 0) then core.fail(op, name .. " = a number above 0", value) end
  return value
end

--- The relative tolerance, and the absolute ones: a number, or one for each element.
local function read_tolerances(problem, options, count)
  local rtol = checks.tolerance(op, "rtol", options.rtol) or 1e-3
  local least = 4 * control.epsilon[problem.dtype]
  if rtol < least then
    core.raise(("[%s] expected rtol of %.3g or more, 4 roundings of %s, got %.3g"):format(op, least, problem.dtype, rtol))
  end
  local atol = options.atol == nil and 1e-6 or options.atol
  local is_array = core.is_array(atol)
  if is_array then atol = atol:reshape(atol.size):table() end
  if type(atol) ~= "table" then
    atol = {atol}
  elseif #atol ~= count and not (is_array and #atol == 1) then
    core.raise(("[%s] expected atol = a number, or one for each of the %d elements, got %d"):format(op, count, #atol))
  end
  problem.rtol, problem.atol = rtol, {}
  -- Above 0, so that an element that is 0 throughout has no error.
  for j, value in ipairs(atol) do problem.atol[j] = math.max(checks.tolerance(op, "atol", value), control.least[problem.dtype]) end
end

--- What {each = true} takes as f, with the names of `count` last arguments.
local function steps_form(count)
  local names = {}
  for k = 1, count do names[k] = ", p" .. k end
  return ("; each = true takes f(t, y, dy%s), which sets dy[1] to dy[n] and returns nothing"):format(table.concat(names))
end

--- gpu.integrate.solve_ivp(f, span, y0 [, {method, rtol, atol, t_eval, events, max_step, first_step, max_steps, args, each}])
function integrate.solve_ivp(f, span, y0, options)
  if type(span) ~= "table" then
    core.raise(("[%s] expected a time span {t0, t1}, got %s%s"):format(op, core.describe(span),
      core.is_array(span) and "; {t_eval = times} has the times of the results" or ""))
  end
  if options ~= nil and type(options) ~= "table" then
    core.raise(("[%s] expected f, the span {t0, t1}, y0 and options, got %s as the fourth argument: gpu.%s(f, {t0, t1}, y0)"):format(op,
      core.describe(options), op))
  end
  options = checks.fields(op, options)
  local each = checks.flag(op, "each", options.each) or false
  if type(y0) == "table" then y0 = gpu.array(y0, "float64") end
  if not core.is_array(y0) or kinds.is_complex(y0) then
    core.fail(op, ("y0: an array or a list of real numbers%s"):format(core.is_number(y0) and ", {y} of one" or ""), y0)
  end
  local problem = {f = f, y0 = y0, dtype = kinds.working(y0), args = options.args or {}}
  if each then
    problem.args = problems.args(op, options.args, y0.device)
    core.check_step_function(op, f, 3 + #problem.args, 3, steps_form(#problem.args))
    if debug.getlocal(f, 2) == "t" then
      core.warn(("[%s] expected a function f(t, y, dy), the time first, got one whose second parameter, the state, is called t"):format(op))
    end
  elseif type(f) ~= "function" then
    core.fail(op, "a function of t and y that gives dy/dt", f)
  elseif type(problem.args) ~= "table" then
    core.fail(op, "args = a list of the function's last arguments", problem.args)
  else
    checks.parameters(op, "f(t, y, ...)", f, 2 + #problem.args, "; function(t, y) return {y[2], -y[1]} end gives dy/dt, "
      .. "and {each = true} takes function(t, y, dy), which sets dy[1], dy[2]")
  end
  read_span(problem, span, each)
  read_tolerances(problem, options, each and (y0.shape[y0.ndim] or 0) or y0.size)
  if implicit[options.method] then
    core.raise(('[%s] expected method = "RK45", "DOP853" or "Tsit5", got "%s": the implicit methods, for stiff problems, are missing; a larger '
      .. 'max_steps may do, or SciPy in Python'):format(op, options.method))
  end
  problem.method = checks.choice(op, "method", options.method, {"RK45", "DOP853", "Tsit5"}, "RK45")
  problem.tableau = tableaus[problem.method]
  problem.t_eval = read_times(problem, options.t_eval)
  problem.events = events.read(op, options.events)
  for _, event in ipairs(problem.events) do
    checks.parameters(op, "of an event, (t, y, ...),", event.f, 2 + #problem.args)
  end
  problem.max_step = read_size("max_step", options.max_step, math.huge)
  problem.first_step = read_size("first_step", options.first_step, nil)
  problem.max_steps = checks.count(op, "max_steps = an integer from 1", options.max_steps == nil and 2 ^ 16 or options.max_steps, 1, 2 ^ 30)
  if each then checks.steps(op, problem.max_steps) end
  local y, info = (each and solve_each or solve_together)(op, problem)
  if not each then
    records.warn_of(op, info, ("to reach t = %.6g"):format(problem.t1), (" at t = %.6g after %d steps"):format(info.t, info.steps),
      advice[info.reason])
  end
  return y, setmetatable(info, report_type)
end

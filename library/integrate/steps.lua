-- gpu.integrate.solve_ivp of one system: its state is an array, and all elements take the same steps. The arithmetic is expressions on
-- arrays, which have derivatives; the host reads the error's norm, which decides about the step, and the signs of events.
local gpu, _, core, import = ...
local checks, kinds, texts = import "checks", import "kinds", import "device_texts"
local tableaus, events, control = import "tableaus", import "events", import "control"

local run = {}
run.__index = run

--- The slope at a point.
function run:slope(t, y)
  self.evaluations = self.evaluations + 1
  local dy
  if self.evaluations == 1 and debug.getlocal(self.f, 2) == "t" then
    local ok, result = core.call(self.f, t, y, unpack(self.args))
    if not ok then error(type(result) == "string" and result .. "; solve_ivp calls f(t, y), the time first" or result, 0) end
    dy = result
  else
    dy = core.called(self.f, t, y, unpack(self.args))
  end
  if type(dy) == "table" and core.is_number(dy[1]) then dy = gpu.array(dy, {dtype = self.dtype, device = y.device}) end
  if not core.is_array(dy) or dy.shape ~= y.shape or kinds.is_complex(dy) or dy.device ~= y.device then
    core.fail(self.op, ("a function f(t, y), the time first, that gives real numbers %s on %s, as y0"):format(checks.shape_text(y.shape),
      y.device), dy)
  end
  return core.cast(dy, self.dtype)
end

--- The sum of stages with a row's coefficients.
local function sum(row, stages)
  local total
  for _, term in ipairs(tableaus.terms(row)) do
    local part = term[2] * stages[term[1]]
    total = total and total + part or part
  end
  return total
end

--- The square of the norm of x over the tolerances at the size y.
function run:level(x, y) return (x / (self.atol + self.rtol * y:abs())):square():mean() end

local function number(x) return core.cast(gpu.detach(x), "float64"):item() end

--- The size of the first step: E. Hairer, S. P. Norsett and G. Wanner, section II.4.
function run:first_step(t, y, slope, length)
  local d0, d1 = math.sqrt(number(self:level(y, y))), math.sqrt(number(self:level(slope, y)))
  local h = d0 >= 1e-5 and d1 >= 1e-5 and 0.01 * d0 / d1 or 1e-6
  h = math.min(h, length)
  local beyond = self:slope(t + h * self.side, y + h * self.side * slope)
  local most = math.max(d1, math.sqrt(number(self:level(beyond - slope, y))) / h)
  local size = most > 1e-15 and (0.01 / most) ^ (1 / (self.tableau.error_order + 1)) or math.max(1e-6, h * 1e-3)
  return math.min(100 * h, size)
end

--- The step of length h: the new point, the stages, and the square of the error's norm.
function run:try(t, y, slope, h)
  local tableau, stages, z = self.tableau, {slope}, nil
  for i, row in ipairs(tableau.a) do
    z = y + h * sum(row, stages)
    stages[i + 1] = self:slope(t + tableau.c[i] * h, z)
  end
  local e, e3 = sum(tableau.e, stages), tableau.e3 and sum(tableau.e3, stages)
  gpu.eval(z, stages[#stages], e, e3 or e) -- all stages are one kernel, the norm another
  local size = gpu.maximum(y:abs(), z:abs())
  local q = number(self:level(e, size))
  if not e3 then return z, stages, h * h * q end
  local q3 = number(self:level(e3, size))
  return z, stages, q == 0 and 0 or h * h * q * q / (q + 0.01 * q3)
end

--- The function of the part of the step, 0 to 1, that gives the point there.
function run:interpolant(t, y, z, stages, h)
  local tableau = self.tableau
  local last = #tableau.a + 1
  for i, row in ipairs(tableau.extra_a or {}) do
    stages[last + i] = self:slope(t + tableau.extra_c[i] * h, y + h * sum(row, stages))
  end
  local u = {z - y}
  u[2] = h * stages[1] - u[1]
  u[3] = 2 * u[1] - h * (stages[1] + stages[last])
  for i, row in ipairs(tableau.d) do u[3 + i] = h * sum(row, stages) end
  return function(s)
    local value = u[#u]
    for i = #u - 1, 1, -1 do value = u[i] + (i % 2 == 1 and 1 - s or s) * value end
    return y + s * value
  end
end

--- An event's value at a point, a number.
function run:sign(event, t, y)
  local value = core.called(event.f, t, gpu.detach(y), unpack(self.args))
  if core.is_array(value) and value.size == 1 and not kinds.is_complex(value) then value = number(value) end
  if type(value) ~= "number" then
    local gave = value == nil and "nothing" or type(value) == "boolean" and "a boolean" or core.describe(value)
    core.raise(("[%s] %s"):format(self.op, texts.gives(event.f, "the event", gave, events.advice)))
  end
  return value
end

--- Notes the roots of events in the step. Returns the part of it where the run ends, if it does.
function run:look_for_events(t, h, at)
  local from = 0
  for part = 1, events.parts do
    local to, roots, stop = part / events.parts, {}, nil
    local point = at(to)
    for e, event in ipairs(self.events) do
      local value, before = self:sign(event, t + to * h, point), self.before[e]
      local rises, falls = before < 0 and value >= 0, before > 0 and value <= 0
      if rises and event.direction >= 0 or falls and event.direction <= 0 then
        roots[e] = events.root(function(s) return self:sign(event, t + s * h, at(s)) end, from, to, before, value, 2 ^ -51)
        if event.terminal and self.counts[e] + 1 >= event.terminal then stop = math.min(stop or 1, roots[e]) end
      end
      self.before[e] = value
    end
    for e, event in ipairs(self.events) do
      local root = roots[e]
      if root and root <= (stop or 1) then
        local count = self.counts[e] + 1
        self.counts[e] = count
        if count <= event.max_events then self.t_events[e][count], self.y_events[e][count] = t + root * h, at(root) end
      end
    end
    if stop then return stop end
    from = to
  end
end

--- Takes the steps. Returns the last point, its time and the reason; `path` gets the points at the times t_eval.
function run:go(path)
  local t, t1, y = self.t0, self.t1, self.y0
  local slope = self:slope(t, y)
  local times = self.t_eval or {}
  while times[#path + 1] == t do path[#path + 1] = y end
  if t == t1 then return y, t, "converged" end
  if not gpu.isfinite(gpu.detach(slope) + gpu.detach(y)):all():item() then return y, t, "not finite" end
  for e, event in ipairs(self.events) do self.before[e] = self:sign(event, t, y) end
  local exponents = control.exponents(self.tableau)
  local h = self.size or self:first_step(t, y, slope, math.abs(t1 - t))
  local before, widest = 1e-8, 10
  while self.steps + self.rejections < self.max_steps do
    h = math.min(math.abs(h), self.max_step, math.abs(t1 - t)) * self.side
    local last = (t + 1.01 * h - t1) * self.side >= 0
    if last then h = t1 - t end
    local z, stages, level = self:try(t, y, slope, h)
    if level <= 1 then
      self.steps = self.steps + 1
      local next_t, stop, at = last and t1 or t + h, nil, nil
      if #self.events > 0 then
        at = self:interpolant(t, y, z, stages, h)
        stop = self:look_for_events(t, h, at)
        if stop then next_t = t + stop * h end
      end
      while times[#path + 1] and (times[#path + 1] - next_t) * self.side <= 0 do
        at = at or self:interpolant(t, y, z, stages, h)
        path[#path + 1] = at((times[#path + 1] - t) / h)
      end
      if stop then return at(stop), next_t, "event" end
      if last then return z, t1, "converged" end
      t, y, slope = next_t, z, stages[#self.tableau.a + 1]
      h = h * math.max(math.min(0.9 * before ^ exponents.second / level ^ exponents.first, widest), 0.2)
      before, widest = math.max(level, 1e-8), 10
    else
      self.rejections = self.rejections + 1
      local by = 0.9 / level ^ exponents.again
      h, widest = h * (by > 0.2 and by or 0.2), 1
      if t + h == t then return y, t, level - level == 0 and "step size" or "not finite" end
    end
  end
  return y, t, "max_steps"
end

--- A list of points, `count` of them along a new first axis: NaN where there are none.
local function stacked(points, count, like)
  for i = #points + 1, count do points[i] = gpu.full_like(like, 0 / 0) end
  return gpu.stack(points, 1)
end

--- The results of a run from a problem as `solve_ivp` has read it.
return function(op, problem)
  local self = setmetatable({op = op, steps = 0, rejections = 0, evaluations = 0, before = {}, counts = {}, t_events = {}, y_events = {}}, run)
  for name, value in pairs(problem) do self[name] = value end
  self.side = self.t1 < self.t0 and -1 or 1
  self.size, self.y0 = problem.first_step, core.cast(problem.y0, problem.dtype)
  local atol = problem.atol
  self.atol = #atol == 1 and atol[1] or gpu.array(atol, {dtype = problem.dtype, device = self.y0.device}):reshape(self.y0.shape)
  for e in ipairs(self.events) do self.counts[e], self.t_events[e], self.y_events[e] = 0, {}, {} end
  local path = {}
  local y, t, reason = self:go(path)
  if #self.events > 0 and core.depends(y, unpack(path)) then
    core.raise(("[%s] has no derivative with events, whose times depend on the variables; leave the events out, or x:detach() makes constants")
      :format(op))
  end
  local info = {converged = reason == "converged" or reason == "event", reason = reason, t = t, steps = self.steps,
    rejections = self.rejections, evaluations = self.evaluations}
  if #self.events > 0 then
    for e, event in ipairs(self.events) do
      self.y_events[e] = stacked(self.y_events[e], event.max_events, self.y0)
      for i = 1, event.max_events do self.t_events[e][i] = self.t_events[e][i] or 0 / 0 end
    end
    info.t_events, info.y_events, info.event_counts = self.t_events, self.y_events, self.counts
  end
  if not self.t_eval then return y, info end
  return stacked(path, #self.t_eval, self.y0), info
end

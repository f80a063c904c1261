-- The kernel of gpu.integrate.solve_ivp with each = true, as Lua text: a thread integrates a trajectory. Its state is in small arrays.
-- Those of up to 8 elements are written out, with constant indices, so that a GPU keeps them in registers.
local gpu, _, _, import = ...
local tableaus, events, control = import "tableaus", import "events", import "control"

local most_written_out = 8

--- Text in which $(name) stands for parts.
local function fill(text, parts) return (text:gsub("%$%((%w+)%)", parts)) end

--- The statement for each element; # stands for the index.
local function elements(n, statement)
  if n > most_written_out then return ("for j = 1, %d do %s end"):format(n, (statement:gsub("#", "j"))) end
  local list = {}
  for j = 1, n do list[j] = statement:gsub("#", j) end
  return table.concat(list, "\n")
end

--- The sum of stages with a row's coefficients.
local function sum(row)
  local list = {}
  for i, term in ipairs(tableaus.terms(row)) do list[i] = ("%.17g * k%d[#]"):format(term[2], term[1]) end
  return "(" .. table.concat(list, " + ") .. ")"
end

--- A stage: the slope at c from the stages before, with `at` as the point there.
local function stage(spec, index, c, row, at)
  return elements(spec.n, ("%s[#] = y[#] + h * %s"):format(at, sum(row))) .. "\n" ..
    fill("f(t + $(c) * h, $(at), d$(passed))\n", {c = ("%.17g"):format(c), at = at, passed = spec.passed}) ..
    elements(spec.n, ("k%d[#] = d[#]"):format(index)) .. "\n"
end

local function stages(spec)
  local list = {}
  for i, row in ipairs(spec.tableau.a) do list[i] = stage(spec, i + 1, spec.tableau.c[i], row, "z") end
  return table.concat(list)
end

--- Sets e2, the square of the error's norm over the tolerances.
local function error_norm(spec)
  local t = spec.tableau
  local scale = "local s = atol# + rtol * gpu.fmax(math.abs(y[#]), math.abs(z[#]))\n"
  if spec.n > most_written_out then scale = scale:gsub("atol#", "settings[3 + #]") end
  local text = elements(spec.n, "do\n" .. scale .. fill("local e = $(e) / s\nq = q + e * e\n", {e = sum(t.e)}) ..
    (t.e3 and fill("local e3 = $(e) / s\nq3 = q3 + e3 * e3\n", {e = sum(t.e3)}) or "") .. "end")
  local value = t.e3 and "e2 = h * h * q * q / ((q + 0.01 * q3) * $(n))\nif q == 0 then e2 = q end" or "e2 = h * h * q * (1 / $(n))"
  return "local q, q3 = zero, zero\n" .. text .. "\n" .. fill(value, {n = spec.n}) .. "\n"
end

--- Sets u1, u2 and on, of the dense output of the step from y to z.
local function dense(spec)
  local t = spec.tableau
  local last, list = #t.a + 1, {}
  for i, row in ipairs(t.extra_a or {}) do list[i] = stage(spec, last + i, t.extra_c[i], row, "x") end
  list[#list + 1] = elements(spec.n, fill("u1[#] = z[#] - y[#]\nu2[#] = h * k1[#] - u1[#]\nu3[#] = 2 * u1[#] - h * (k1[#] + k$(last)[#])",
    {last = last}))
  for i, row in ipairs(t.d) do list[#list + 1] = elements(spec.n, ("u%d[#] = h * %s"):format(3 + i, sum(row))) end
  return table.concat(list, "\n") .. "\n"
end

--- The function that sets x, the point at the part s of the step.
local function interpolant(spec)
  local inner = "u" .. 3 + #spec.tableau.d .. "[#]"
  for i = 2 + #spec.tableau.d, 1, -1 do inner = ("u%d[#] + %s * (%s)"):format(i, i % 2 == 1 and "(1 - s)" or "s", inner) end
  return "local function at(s)\n" .. elements(spec.n, ("x[#] = y[#] + s * (%s)"):format(inner)) .. "\nend\n"
end

--- Looks for roots in each part of the step, notes them, and sets `stop`, the part of the step where the trajectory ends, if it does.
local function find_events(spec)
  local look, stop, note = {}, {}, {}
  for e, event in ipairs(spec.events) do
    local parts = {e = e, passed = spec.passed, terminal = event.terminal}
    local signs = {}
    if event.direction >= 0 then signs[1] = fill("now$(e) >= 0 and before$(e) < 0", parts) end
    if event.direction <= 0 then signs[#signs + 1] = fill("now$(e) <= 0 and before$(e) > 0", parts) end
    parts.changes = table.concat(signs, " or ")
    look[e] = fill([[
local now$(e) = g$(e)(t + to * h, x$(passed))
local root$(e) = to + 9
if $(changes) then
  root$(e) = find_root(function(s)
    at(s)
    return g$(e)(t + s * h, x$(passed))
  end, from, to, before$(e), now$(e), near)
  at(to)
end
before$(e) = now$(e)
]], parts)
    if event.terminal then
      stop[#stop + 1] = fill("if root$(e) <= to and found$(e) + 1 >= $(terminal) then stop = gpu.fmin(stop, root$(e)) end\n", parts)
    end
    note[e] = fill([[
if root$(e) <= gpu.fmin(to, stop) then
  found$(e) = found$(e) + 1
  if found$(e) <= times$(e).shape[2] then
    at(root$(e))
    times$(e)[i][found$(e)] = t + root$(e) * h
    $(store)
  end
end
]], {e = e, store = elements(spec.n, fill("points$(e)[i][found$(e)][#] = x[#]", parts))})
  end
  return "local from = zero\nfor part = 1, " .. events.parts .. " do\nif stop > 1 then\nlocal to = zero + part / " .. events.parts ..
    "\nat(to)\n" .. table.concat(look) .. table.concat(stop) .. table.concat(note) .. "from = to\nend\nend\n"
end

--- What follows an accepted step.
local function accepted(spec)
  local has_events, last = #spec.events > 0, #spec.tableau.a + 1
  local text = "local stop = zero + 2\n"
  if has_events then text = text .. "dense_steps = dense_steps + 1\n" .. dense(spec) .. find_events(spec) end
  if spec.t_eval then
    text = text .. fill([[
local to = t1
if not last then to = t + h end
if stop <= 1 then to = t + stop * h end
if next_time <= #t_eval and (t_eval[next_time] - to) * side <= 0 then
  $(dense)
  while next_time <= #t_eval and (t_eval[next_time] - to) * side <= 0 do
    at((t_eval[next_time] - t) / h)
    $(store)
    next_time = next_time + 1
  end
end
]], {dense = has_events and "" or "dense_steps = dense_steps + 1\n" .. dense(spec), store = elements(spec.n, "path[i][next_time][#] = x[#]")})
  end
  local go_on = elements(spec.n, ("y[#] = z[#]\nk1[#] = k%d[#]"):format(last)) .. [[

if last then
  t = t1
  reason = gpu.int32(0)
else
  t = t + h
end
]]
  if not has_events then return text .. go_on end
  return text .. "if stop <= 1 then\nat(stop)\n" .. elements(spec.n, "y[#] = x[#]") ..
    "\nt = t + stop * h\nreason = gpu.int32(1)\nelse\n" .. go_on .. "end\n"
end

--- The size of the first step: E. Hairer, S. P. Norsett and G. Wanner, section II.4.
local function first_step(spec)
  local scale = spec.n > most_written_out and "settings[3 + #]" or "atol#"
  return fill([[
h = settings[2]
if h == 0 then
  local d0, d1, d2 = zero, zero, zero
  $(norms)
  h = 0.01 * gpu.sqrt(d0 / d1)
  if not (d0 >= 1e-10 * $(n) and d1 >= 1e-10 * $(n)) then h = zero + 1e-6 end
  h = gpu.fmin(h, math.abs(t1 - t)) * side
  $(point)
  f(t + h, z, d$(passed))
  $(change)
  d1 = gpu.sqrt(gpu.fmax(d1, d2 / (h * h)) / $(n))
  local size = gpu.fmax(zero + 1e-6, math.abs(h) * 1e-3)
  if d1 > 1e-15 then size = zero + gpu.exp2(gpu.log2(gpu.float32(0.01 / d1)) / $(order)) end
  h = gpu.fmin(100 * math.abs(h), size)
end
h = gpu.fmin(h, math.abs(t1 - t)) * side
]], {
    n = spec.n, passed = spec.passed, order = spec.tableau.error_order + 1,
    norms = elements(spec.n, ("do\nlocal s = %s + rtol * math.abs(y[#])\nd0 = d0 + (y[#] / s) ^ 2\nd1 = d1 + (k1[#] / s) ^ 2\nend"):format(scale)),
    point = elements(spec.n, "z[#] = y[#] + h * k1[#]"),
    change = elements(spec.n, ("d2 = d2 + ((d[#] - k1[#]) / (%s + rtol * math.abs(y[#]))) ^ 2"):format(scale)),
  })
end

--- The text of a function (gpu, find_root) that gives the kernel's. spec: n, dtype, tableau, events, t_eval (whether there are times to
--- record), parameters (the names of arrays with one number for each trajectory), starts (the texts of t0, t1 and f's last arguments).
return function(spec)
  local t, n, values = spec.tableau, spec.n, {"t", "t1"}
  for k = 3, #spec.starts do values[k] = "value" .. k end
  spec.passed = #values > 2 and ", " .. table.concat(values, ", ", 3) or ""
  local names, arrays, text = {}, {"y", "z", "d", "x"}, {}
  local function add(line, parts) text[#text + 1] = parts and fill(line, parts) or line end
  for stage_index = 1, #t.a + 1 + #(t.extra_a or {}) do arrays[#arrays + 1] = "k" .. stage_index end
  local has_dense = spec.t_eval or #spec.events > 0
  for u = 1, has_dense and 3 + #t.d or 0 do arrays[#arrays + 1] = "u" .. u end
  for e = 1, #spec.events do names[#names + 1] = ("g%d, times%d, points%d, counts%d"):format(e, e, e, e) end
  for _, name in ipairs(spec.parameters) do names[#names + 1] = name end
  add("local gpu, find_root = ...\nreturn function(count, f, most_steps, settings, t_eval, start, path, ends, times, reasons, steps_taken, "
    .. "steps_rejected, evaluated$(names))\nlocal i = gpu.grid()\nif i <= count then\n",
    {names = #names > 0 and ", " .. table.concat(names, ", ") or ""})
  for _, name in ipairs(arrays) do add('local $(name) = gpu.local_array($(n), "$(dtype)")\n', {name = name, n = n, dtype = spec.dtype}) end
  add([[
local $(values) = $(starts)
local rtol, zero = settings[1], gpu.$(dtype)(0)
local side, near = zero + 1, zero + $(near)
if t1 < t then side = -side end
local steps, rejections, dense_steps, next_time, reason = gpu.int32(0), gpu.int32(0), gpu.int32(0), gpu.int32(1), gpu.int32(-1)
$(atol)
$(begin)
f(t, y, d$(passed))
local sum = zero
$(slope)
if not (sum == 0) then reason = gpu.int32(4) end
if t == t1 then reason = gpu.int32(0) end
local h = zero
]], {
    values = table.concat(values, ", "), starts = table.concat(spec.starts, ", "), dtype = spec.dtype, passed = spec.passed, near = control.epsilon[spec.dtype] * 2,
    atol = n <= most_written_out and elements(n, "local atol# = settings[3 + #]") or "", begin = elements(n, "y[#] = start[i][#]\nz[#] = y[#]"),
    slope = elements(n, "k1[#] = d[#]\nsum = sum + (d[#] - d[#]) + (y[#] - y[#])"),
  })
  add(first_step(spec))
  if has_dense then add(interpolant(spec)) end
  for e = 1, #spec.events do
    add("local found$(e) = gpu.int32(0)\nlocal before$(e) = zero + g$(e)(t, z$(passed))\n", {e = e, passed = spec.passed})
  end
  if spec.t_eval then
    add("while next_time <= #t_eval and t_eval[next_time] == t do\n" .. elements(n, "path[i][next_time][#] = y[#]") ..
      "\nnext_time = next_time + 1\nend\n")
  end
  local c = control.exponents(t)
  add([[
local before, widest = gpu.float32(-26.575424759098897), gpu.float32(10)
while reason < 0 do
  if steps + rejections >= most_steps then
    reason = gpu.int32(2)
  else
    h = gpu.fmin(math.abs(h), settings[3]) * side
    local last = (t + 1.01 * h - t1) * side >= 0
    if last then h = t1 - t end
    $(stages)
    local e2 = zero
    $(norm)
    local level = gpu.log2(gpu.float32(e2))
    if e2 <= 1 then
      steps = steps + 1
      $(accepted)
      h = h * gpu.fmin(gpu.fmax(0.9 * gpu.exp2($(second) * before - $(first) * level), gpu.float32(0.2)), widest)
      before = gpu.fmax(level, gpu.float32(-26.575424759098897))
      widest = gpu.float32(10)
    else
      rejections = rejections + 1
      h = h * gpu.fmax(0.9 * gpu.exp2($(again) * level), gpu.float32(0.2))
      widest = gpu.float32(1)
      if t + h == t then
        reason = gpu.int32(3)
        if not (e2 - e2 == 0) then reason = gpu.int32(4) end
      end
    end
  end
end
]], {stages = stages(spec), norm = error_norm(spec), accepted = accepted(spec), first = ("%.17g"):format(c.first),
    second = ("%.17g"):format(c.second), again = ("%.17g"):format(-c.again)})
  add(elements(n, "ends[i][#] = y[#]") .. [[

times[i] = t
reasons[i] = reason
steps_taken[i] = steps
steps_rejected[i] = rejections
evaluated[i] = 1 + $(stages) * (steps + rejections) + $(extra) * dense_steps
if settings[2] == 0 then evaluated[i] = evaluated[i] + 1 end
]], {stages = #t.a, extra = #(t.extra_a or {})})
  for e = 1, #spec.events do add("counts$(e)[i] = found$(e)\n", {e = e}) end
  add "end\nend"
  return table.concat(text)
end

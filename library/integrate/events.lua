-- Events of gpu.integrate.solve_ivp: functions whose changes of sign are looked for within each step.
local gpu, _, core, import = ...
local checks = import "checks"

local events = {}

--- In how many parts of a step a sign is looked at.
events.parts = 4

--- What an event is, behind what one has given that is none.
events.advice = "an event is a number that changes its sign at the root, as in return y[1]"

--- A root between a and b, where g has the values fa and fb of different signs: R. P. Brent, "Algorithms for Minimization without
--- Derivatives", 1973, chapter 4. Lua for the host and for the device, which reads its text.
events.root = loadstring [[
return function(g, a, b, fa, fb, near)
  local c, fc, d, before = a, fa, b - a, b - a
  for _ = 1, 100 do
    if math.abs(fc) < math.abs(fb) then
      a = b
      b = c
      c = a
      fa = fb
      fb = fc
      fc = fa
    end
    local middle = (c - b) / 2
    if fb == 0 or math.abs(middle) <= near then break end
    local p, q = middle, middle / middle
    local inner = false
    if math.abs(before) >= near and math.abs(fa) > math.abs(fb) then
      local s = fb / fa
      if a == c then
        p = 2 * middle * s
        q = 1 - s
      else
        local v, r = fa / fc, fb / fc
        p = s * (2 * middle * v * (v - r) - (b - a) * (r - 1))
        q = (v - 1) * (r - 1) * (s - 1)
      end
      if p > 0 then q = -q else p = -p end
      inner = 2 * p < 3 * middle * q - math.abs(near * q) and p < math.abs(before * q / 2)
    end
    before = d
    d = p / q
    if not inner then
      d = middle
      before = middle
    end
    a = b
    fa = fb
    if math.abs(d) > near then b = b + d elseif middle > 0 then b = b + near else b = b - near end
    fb = g(b)
    if (fb > 0) == (fc > 0) then
      c = a
      fc = fa
      d = b - a
      before = d
    end
  end
  return b
end]]()

local function is_event(value) return type(value) == "table" and type(value[1]) == "function" and value[2] == nil end

--- An event as {f =, terminal = the number of its roots that ends the run, direction =, max_events =}.
local function read(op, value, what)
  if type(value) == "function" then value = {value} end
  if not is_event(value) then core.fail(op, what .. ": a function, or {function, terminal =, direction =, max_events =}", value) end
  for name in pairs(value) do
    if name ~= 1 and name ~= "terminal" and name ~= "direction" and name ~= "max_events" then
      core.raise(("[%s] expected the fields terminal, direction and max_events of %s, got %s"):format(op, what, core.describe(name)))
    end
  end
  local terminal = value.terminal
  if type(terminal) == "boolean" then terminal = terminal and 1 or nil end
  if terminal ~= nil then terminal = checks.count(op, what .. ": terminal = true, or a number of roots from 1", terminal, 1, 2 ^ 30) end
  local most = value.max_events == nil and (terminal or 16) or value.max_events
  return {f = value[1], terminal = terminal,
    direction = checks.choice(op, what .. ": direction", value.direction, {-1, 0, 1}, 0),
    max_events = checks.count(op, what .. ": max_events = an integer from 1", most, 1, 2 ^ 30)}
end

--- The list of events of the option, empty without it.
function events.read(op, option)
  if option == nil then return {} end
  if type(option) == "function" then return {read(op, option, "events")} end
  if type(option) ~= "table" then core.fail(op, "events = a function, or a list of functions and tables", option) end
  for name in pairs(option) do
    if type(name) ~= "number" then return {read(op, option, "events")} end
  end
  local list = {}
  for i, value in ipairs(option) do list[i] = read(op, value, ("events[%d]"):format(i)) end
  return list
end

return events

-- What the functions of gpu.optimize share: values of functions as numbers, options, and reports.
local _, _, core, import = ...
local checks, kinds, records = import "checks", import "kinds", import "records"

local numbers = {}

numbers.epsilon = 2 ^ -52

function numbers.is_finite(x) return x - x == 0 end

--- A function of the `count` arguments in `form`, "f(x)"; `what` describes it, and `...` are the arguments after it.
function numbers.check_function(op, what, fn, form, count, ...)
  checks.function_first(op, "f, x0", what, fn, ...)
  checks.parameters(op, form, fn, count, form == "f(x)" and "; x is all of them: x(1) and x(2) are elements of an array")
  return fn
end

--- A callback, which can be nil.
function numbers.check_callback(op, fn)
  if fn ~= nil then numbers.check_function(op, "callback = a function of x and the value", fn, "callback(x, value)", 2) end
end

--- What a function gave, a number or a real array of one element, as a number.
function numbers.of(op, what, y)
  local plain = core.is_array(y) and y.size == 1 and not kinds.is_complex(y) and y:item() or core.plain(y)
  if type(plain) == "cdata" then plain = tonumber(plain) end
  if type(plain) ~= "number" then core.fail(op, ("%s: one real number"):format(what), y) end
  return plain
end

--- An option that is a finite number.
function numbers.option(op, options, name, otherwise)
  local value = options[name]
  if value == nil then return otherwise end
  return checks.finite(op, ("%s = a finite number"):format(name), value)
end

function numbers.maxiter(op, options, otherwise)
  return checks.count(op, "maxiter = an integer of 0 or more", options.maxiter == nil and otherwise or options.maxiter)
end

--- One of the names of a list, or the default.
function numbers.choice(op, name, value, list, otherwise)
  if value == nil then return otherwise end
  for _, known in ipairs(list) do
    if value == known then return value end
  end
  core.fail(op, ('%s = "%s"'):format(name, table.concat(list, '", "')), value)
end

--- Whether the problems are many, a thread each.
function numbers.is_each(op, options)
  if checks.flag(op, "each", options.each) then return true end
  if options.args ~= nil then core.raise(("[%s] expected args with each = true"):format(op)) end
  return false
end

local function how(report)
  return ('got reason "%s" after %d iterations'):format(report.reason, report.iterations)
end

--- Raises unless the search has found `what`; `remedy` says what may help. An end by a callback is meant.
function numbers.must_find(op, what, report, remedy)
  if not report.converged and report.reason ~= "callback" then
    core.raise(("[%s] expected a search that finds %s, %s; %s"):format(op, what, how(report), remedy))
  end
end

--- Warns where a search has failed that gives the best point it has seen.
function numbers.warn_of(op, report)
  if report.reason == "callback" then return end
  if report.reason == "not finite" and report.iterations == 0 then
    core.warn(("[%s] expected a function and derivatives that are finite at the start, got NaN or infinity: the search has found nothing; "
      .. "begin elsewhere, where they are"):format(op))
    return
  end
  records.warn_of(op, report, "a search that converges", (" after %d iterations"):format(report.iterations),
    "the result is the best point so far")
end

--- A report: `reason` says why the search has ended, and `fields` how.
function numbers.report(op, reason, fields)
  fields.reason, fields.converged = reason, reason == "converged"
  return records.seal(fields, op)
end

return numbers

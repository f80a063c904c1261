-- gpu.signal: linear filters along an axis.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local views = import "views"
local kinds = import "kinds"
local calls = import "derived_calls"
local recurrence = import "signal_recurrence"

local signal = gpu.signal
local tools = {}

local most_order = recurrence.most_states
local most_products = 64 -- elements of a filter without recursion beyond which Fourier transforms are faster

-- ---- arguments -----------------------------------------------------------------------------------------------------------------

--- A vector or a table of real numbers as a table. Waits for an array.
function tools.numbers(op, what, value)
  if core.is_array(value) then
    checks.real(op, value)
    if value.ndim ~= 1 then core.raise(("[%s] expected a vector as %s, got shape %s"):format(op, what, checks.shape_text(value.shape))) end
    return value:astype("float64"):table()
  end
  if type(value) == "number" then value = {value} end
  if type(value) ~= "table" then core.fail(op, what .. ": a vector or a table of numbers", value) end
  core.check_list(op, "numbers", value)
  for _, item in ipairs(value) do
    if type(item) ~= "number" then core.fail(op, what .. ": a vector or a table of numbers", item) end
  end
  return value
end

function tools.check_count(op, what, value, least)
  if type(value) ~= "number" or value % 1 ~= 0 or value < least then
    core.fail(op, ("%s, a whole number of %d or more"):format(what, least), value)
  end
  return value
end

--- The axis, which may be an option, and the options.
function tools.axis(op, x, axis, options)
  if x == nil then
    core.raise(("[%s] expected x, an array, behind the filter, got nil; a call before other arguments gives its first result alone: "
      .. "local b, a = gpu.signal.butter(...), and that of gpu.signal.firwin has a = {1}"):format(op))
  end
  checks.array(op, x)
  if checks.is_options(axis) then axis, options = checks.shift(op, axis, options) end
  options = checks.fields(op, options)
  if axis == nil then axis = options.axis end
  return core.axis(op, axis == nil and -1 or axis, x.ndim), options
end

--- x in a floating dtype to compute in, and the result's.
function tools.in_floating(x)
  if kinds.is_complex(x) then return x, x.dtype end
  local dtype = core.floating(x.dtype)
  return core.cast(x, dtype == "float64" and dtype or "float32"), dtype
end

--- Applies fn to the real and the imaginary part of complex numbers.
function tools.by_parts(x, fn)
  if not kinds.is_complex(x) then return fn(x) end
  local re, re_more = fn(x:real())
  local im, im_more = fn(x:imag())
  local i = gpu.complex(0, 1)
  return re + im * i, re_more and re_more + im_more * i
end

-- What takes sections in place of coefficients.
local for_sections = {filtfilt = "sosfiltfilt(sos, x)", freqz = "sosfreqz(sos)", lfilter = "sosfilt(sos, x)", lfilter_zi = "sosfilt_zi(sos)",
  tf2zpk = "sos2zpk(sos)"}

--- Refuses sections of second order in place of the coefficients b.
function tools.refuse_sections(op, b)
  local is_array = core.is_array(b)
  local first = type(b) == "table" and not is_array and b[1]
  local width = is_array and b.ndim == 2 and b.shape[2] or type(first) == "table" and #first
  if width ~= 6 then return end
  local instead = for_sections[op:match "[%w_]+$"]
  core.raise(("[%s] expected coefficients b and a, got sections of second order; gpu.signal.%s"):format(op,
    instead and instead .. " takes them" or "sos2tf(sos) gives b and a"))
end

--- The coefficients of numerator and denominator, divided by the denominator's first one, as tables of one length.
function tools.coefficients(op, b, a)
  tools.refuse_sections(op, b)
  b, a = tools.numbers(op, "b", b), tools.numbers(op, "a", a)
  if #b == 0 or #a == 0 then core.fail(op, "coefficients", #b == 0 and b or a) end
  if a[1] == 0 then core.fail(op, "a first coefficient of a other than 0", a[1]) end
  local above, below = {}, {}
  for k = 1, math.max(#a, #b) do above[k], below[k] = (b[k] or 0) / a[1], (a[k] or 0) / a[1] end
  return above, below, #a
end

-- ---- filters along rows -----------------------------------------------------------------------------------------------------------

--- Sums of products with the coefficients alone: all n + order of them.
local full_sums = calls.derived("signal.sums", function(x, b)
  local order = #b - 1
  local factors = gpu.array(b, {dtype = x.dtype, device = x.device})
  if #b > most_products and x.shape[2] > most_products then
    return gpu.oaconvolve(x, factors:reshape(1, #b), "full", {axes = 2})
  end
  tools.sums = tools.sums or core.elementwise {
    name = "filter_sums", inputs = "raw T x, raw T b, int64 extent, int64 taps", outputs = "T y",
    body = [=[
      const long long wide = extent + taps - 1, line = (long long)i / wide, t = (long long)i % wide;
      const long long least = t >= extent ? t - extent + 1 : 0, most = t < taps - 1 ? t : taps - 1;
      y = 0;
      for (long long k = least; k <= most; ++k) y += b[k] * x[line * extent + t - k];
    ]=],
  }
  local lines, n = x.shape[1], x.shape[2]
  if lines * (n + order) == 0 then return gpu.zeros({lines, n + order}, {dtype = x.dtype, device = x.device}) end
  return tools.sums(x, factors, n, #b, {size = lines * (n + order)}):reshape(lines, n + order)
end)

--- Raises an error where the recurrence cannot run: coefficients of a high order are mostly the signal, in their place.
function tools.check_order(op, a, terms)
  local order = #a - 1
  if terms > 1 and order > most_order then
    core.raise(("[%s] expected coefficients b and a, of an order of at most %d, before x, got the order %d; the order of arguments is "
      .. "gpu.%s(b, a, x)"):format(op, most_order, order, op))
  end
end

--- The filter over the rows of x, with the states before, or nil: the filtered rows and the states after them.
local function filtered(op, x, b, a, terms, starts)
  local order = #a - 1
  if order == 0 then return x * b[1], starts end
  if terms == 1 then
    local sums = full_sums(x, b)
    if starts then
      local more = views.extend(core.cast(starts, x.dtype), 2, x.shape[2])
      sums = sums + more
    end
    return views.slice(sums, 2, 1, x.shape[2]), views.slice(sums, 2, x.shape[2] + 1, order)
  end
  tools.check_order(op, a, terms)
  return recurrence.filter(x, {{b = b, a = a}}, starts and core.cast(starts, "float64"))
end

--- Runs fn(rows) on x with the axis last and the other axes as lines, and gives its results in that layout.
function tools.over_lines(x, axis, fn)
  local last = x:moveaxis(axis, -1)
  local shape, lines = {unpack(last.shape)}, 1
  local n = shape[#shape]
  for k = 1, #shape - 1 do lines = lines * shape[k] end
  local function back(rows)
    if not rows then return nil end
    shape[#shape] = rows.shape[2]
    return rows:reshape(shape):moveaxis(-1, axis)
  end
  local first, second = fn(last:reshape(lines, n))
  return back(first), back(second)
end

--- The option zi as states of lines.
local function read_states(op, zi, x, axis, order)
  if zi == nil then return nil end
  checks.array(op, zi)
  local shape = {unpack(x.shape)}
  shape[axis] = order
  if checks.shape_text(zi.shape) ~= checks.shape_text(shape) then
    core.raise(("[%s] expected zi of shape %s, got %s"):format(op, checks.shape_text(shape), checks.shape_text(zi.shape)))
  end
  local last = zi:moveaxis(axis, -1)
  return last:reshape(-1, order)
end

--- gpu.signal.lfilter(b, a, x [, axis] [, {axis, zi}])
function signal.lfilter(b, a, x, axis, options)
  local op = "signal.lfilter"
  tools.refuse_sections(op, b)
  axis, options = tools.axis(op, x, axis, options)
  local above, below, terms = tools.coefficients(op, b, a)
  local values, dtype = tools.in_floating(x)
  local states = read_states(op, options.zi, x, axis, #above - 1)
  local y, ends
  if kinds.is_complex(values) then
    if states then core.fail(op, "no zi for complex numbers", options.zi) end
    y = tools.by_parts(values, function(part)
      return (tools.over_lines(part, axis, function(rows) return (filtered(op, rows, above, below, terms)) end))
    end)
  else
    y, ends = tools.over_lines(values, axis, function(rows) return filtered(op, rows, above, below, terms, states) end)
  end
  if not states then return core.cast(y, dtype) end
  return core.cast(y, dtype), core.cast(ends, dtype)
end

--- The state, for an input of ones, that a filter stays in: a table.
local function steady_state(op, b, a)
  local order, sum = #a - 1, 0
  for k = 1, #a do sum = sum + a[k] end
  if order == 0 then return {} end
  if sum == 0 then core.raise(("[%s] expected a filter with a finite answer to ones: the sum of a is 0"):format(op)) end
  local above = 0
  for k = 1, #b do above = above + b[k] end
  local state, out = {}, above / sum
  for k = order, 1, -1 do state[k] = b[k + 1] - a[k + 1] * out + (state[k + 1] or 0) end
  return state
end

--- gpu.signal.lfilter_zi(b, a)
--- The state in which the filter answers ones without a transient.
function signal.lfilter_zi(b, a)
  local above, below = tools.coefficients("signal.lfilter_zi", b, a)
  return gpu.array(steady_state("signal.lfilter_zi", above, below), {dtype = "float64"})
end

tools.full_sums, tools.filtered, tools.read_states, tools.steady_state = full_sums, filtered, read_states, steady_state

return tools

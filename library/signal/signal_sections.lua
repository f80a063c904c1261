-- gpu.signal: filters in sections of second order, and filters that go over a line forwards and backwards.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local kinds = import "kinds"
local views = import "views"
local recurrence = import "signal_recurrence"
local signal, tools = gpu.signal, import "signal_filters"
local filtered, read_states, steady_state = tools.filtered, tools.read_states, tools.steady_state

-- ---- sections of second order ------------------------------------------------------------------------------------------------------

-- What takes coefficients in place of sections.
local for_coefficients = {sosfilt = "lfilter(b, a, x)", sosfilt_zi = "lfilter_zi(b, a)", sosfiltfilt = "filtfilt(b, a, x)", sosfreqz = "freqz(b, a)",
  sos2zpk = "tf2zpk(b, a)"}

--- Raises the error about an argument that is no list of sections. Coefficients, a list of numbers, are the usual mistake.
local function refuse_sections(op, got)
  local name = op:match "[%w_]+$"
  local instead = for_coefficients[name]
  core.raise(("[%s] expected sections of shape (n,6), as {output = \"sos\"} of a design gives, got %s%s; %sgpu.signal.tf2sos(b, a) makes sections of b and a"):format(
    op, got, (name == "sosfilt" or name == "sosfiltfilt") and ("; they come first: gpu.%s(sos, x)"):format(op) or "",
    instead and ("gpu.signal.%s takes coefficients, and "):format(instead) or ""))
end

--- Sections as tables of six numbers. Waits for an array.
function tools.sections(op, sos)
  local list = sos
  if core.is_array(sos) then
    checks.real(op, sos)
    if sos.ndim ~= 2 or sos.shape[2] ~= 6 then refuse_sections(op, checks.shape_text(sos.shape)) end
    list = sos:astype("float64"):table()
  end
  if type(list) ~= "table" or #list == 0 then core.fail(op, "sections: an array (n,6) or a table of tables", sos) end
  if type(list[1]) == "number" then refuse_sections(op, "a list of numbers") end
  local sections = {}
  for k, section in ipairs(list) do
    section = tools.numbers(op, "a section", section)
    if #section ~= 6 then core.raise(("[%s] expected six numbers in section %d, got %d"):format(op, k, #section)) end
    local first = section[4]
    if first == 0 then core.raise(("[%s] expected a fourth number other than 0 in section %d"):format(op, k)) end
    sections[k] = {b = {section[1] / first, section[2] / first, section[3] / first},
      a = {1, section[5] / first, section[6] / first}}
  end
  return sections
end

--- The option zi as the states of lines, section after section.
local function states_of(op, zi, x, axis, count)
  local list = {}
  for k = 1, count do list[k] = core.cast(read_states(op, zi(k), x, axis, 2), "float64") end
  return gpu.concat(list, 2)
end

local most_sections = recurrence.most_states / 2

local function read_sections(op, sos)
  local sections = tools.sections(op, sos)
  if #sections > most_sections then
    core.raise(("[%s] expected at most %d sections, got %d"):format(op, most_sections, #sections))
  end
  return sections
end

--- gpu.signal.sosfilt(sos, x [, axis] [, {axis, zi}])
function signal.sosfilt(sos, x, axis, options)
  local op = "signal.sosfilt"
  local sections = read_sections(op, sos)
  axis, options = tools.axis(op, x, axis, options)
  local values, dtype = tools.in_floating(x)
  local zi = options.zi
  if zi ~= nil then
    checks.array(op, zi)
    if kinds.is_complex(values) then core.fail(op, "no zi for complex numbers", zi) end
    local wanted = {#sections, unpack(x.shape)}
    wanted[axis + 1] = 2
    if checks.shape_text(zi.shape) ~= checks.shape_text(wanted) then
      core.raise(("[%s] expected zi of shape %s, the shape of x with 2 along the axis, for each of %d sections, got %s"):format(op,
        checks.shape_text(wanted), #sections, checks.shape_text(zi.shape)))
    end
  end
  local function filter(rows) return recurrence.filter(rows, sections, zi and states_of(op, zi, x, axis, #sections)) end
  local ends
  if zi then
    values, ends = tools.over_lines(values, axis, filter)
  else
    values = tools.by_parts(values, function(part)
      return (tools.over_lines(part, axis, function(rows) return (filter(rows)) end))
    end)
  end
  values = core.cast(values, dtype)
  if not zi then return values end
  local final = {}
  for k = 1, #sections do final[k] = views.slice(ends, axis, 2 * k - 1, 2) end
  return values, core.cast(gpu.stack(final, 1), dtype)
end

local function sections_steady(op, sections)
  local states, scale = {}, 1
  for k, section in ipairs(sections) do
    states[k] = steady_state(op, section.b, section.a)
    for i = 1, 2 do states[k][i] = states[k][i] * scale end
    local above, below = section.b[1] + section.b[2] + section.b[3], 1 + section.a[2] + section.a[3]
    scale = scale * above / below
  end
  return states
end

--- gpu.signal.sosfilt_zi(sos)
--- The states in which the sections answer ones without a transient, (sections, 2).
function signal.sosfilt_zi(sos)
  local sections = tools.sections("signal.sosfilt_zi", sos)
  return gpu.array(sections_steady("signal.sosfilt_zi", sections), {dtype = "float64"})
end

-- ---- both ways -------------------------------------------------------------------------------------------------------------------

--- Rows with `count` elements more at both ends.
local function extended(op, rows, count, kind)
  local n = rows.shape[2]
  if count == 0 then return rows end
  if count > n - 1 then
    core.raise(("[%s] expected more than %d elements of x, the last argument, along the axis, got %d: as many, the option padlen, are put before and "
      .. "after them; a smaller padlen, or padtype = false, takes shorter signals"):format(op, count, n))
  end
  local left, right = views.slice(rows, 2, 2, count):flip(2), views.slice(rows, 2, n - count, count):flip(2)
  local first, last = views.slice(rows, 2, 1, 1), views.slice(rows, 2, n, 1)
  if kind == "odd" then
    left, right = first * 2 - left, last * 2 - right
  elseif kind == "constant" then
    left, right = left * 0 + first, right * 0 + last
  end
  return gpu.concat({left, rows, right}, 2)
end

--- Filters the rows forwards and backwards. run(rows, scale): with the steady states times the column `scale`.
local function both_ways(op, x, axis, options, default, run)
  local kind = options.padtype
  if kind == nil then kind = "odd" end
  if kind ~= "odd" and kind ~= "even" and kind ~= "constant" and kind ~= false then
    core.fail(op, 'padtype = "odd", "even", "constant" or false', kind)
  end
  local count = kind and (options.padlen or default) or 0
  tools.check_count(op, "padlen", count, 0)
  local values, dtype = tools.in_floating(x)
  local y = tools.by_parts(values, function(part)
    return (tools.over_lines(part, axis, function(rows)
      if rows.size == 0 then return rows end
      local n = rows.shape[2]
      local wide = extended(op, rows, count, kind):eval()
      wide = run(wide, views.slice(wide, 2, 1, 1)):flip(2)
      wide = run(wide, views.slice(wide, 2, 1, 1)):flip(2)
      return views.slice(wide, 2, count + 1, n)
    end))
  end)
  return core.cast(y, dtype)
end

--- gpu.signal.filtfilt(b, a, x [, axis] [, {axis, padtype, padlen}])
function signal.filtfilt(b, a, x, axis, options)
  local op = "signal.filtfilt"
  tools.refuse_sections(op, b)
  axis, options = tools.axis(op, x, axis, options)
  local above, below, terms = tools.coefficients(op, b, a)
  tools.check_order(op, below, terms)
  local n = x.shape[axis]
  if #above > n and n > 0 and options.padlen == nil and options.padtype ~= false then
    core.raise(("[%s] expected more elements of x along the axis than coefficients, got %d and %d; the order is gpu.signal.filtfilt(b, a, x), and "
      .. "{padtype = false} takes signals shorter than the filter"):format(op, n, #above))
  end
  local steady = steady_state(op, above, below)
  return both_ways(op, x, axis, options, 3 * #above, function(rows, first)
    if #steady == 0 then return (filtered(op, rows, above, below, terms)) end
    local states = gpu.array(steady, {dtype = "float64", device = x.device}) * core.cast(first, "float64")
    return (filtered(op, rows, above, below, terms, states:eval()))
  end)
end

--- gpu.signal.sosfiltfilt(sos, x [, axis] [, {axis, padtype, padlen}])
function signal.sosfiltfilt(sos, x, axis, options)
  local op = "signal.sosfiltfilt"
  local sections = read_sections(op, sos)
  axis, options = tools.axis(op, x, axis, options)
  local steady = sections_steady(op, sections)
  local above, below = 0, 0
  for _, section in ipairs(sections) do
    above, below = above + (section.b[3] == 0 and 1 or 0), below + (section.a[3] == 0 and 1 or 0)
  end
  return both_ways(op, x, axis, options, 3 * (2 * #sections + 1 - math.min(above, below)), function(rows, first)
    local all = {}
    for _, states in ipairs(steady) do all[#all + 1], all[#all + 2] = states[1], states[2] end
    local states = gpu.array(all, {dtype = "float64", device = x.device}) * core.cast(first, "float64")
    return (recurrence.filter(rows, sections, states:eval()))
  end)
end

-- Rows of two tables that belong together: t:join and t:join_asof, and gpu.concat of tables.
local gpu, _, core, import = ...
local checks = import "checks"
local kinds = import "kinds"
local columns = import "columns"
local search_part = import "sorted_search"
local own = import("table").parts
local list_of = import("given_columns").list_of
local fields_of, new_table, add, device_of = own.fields_of, own.new_table, own.add, own.device_of

local exports = {}

-- ---- keys ---------------------------------------------------------------------------------------------------------------------------

local function check_other(op, fields, u)
  local other = fields_of[u]
  if not other then
    core.raise(("[%s] expected a table after t, as gpu.table gives, got %s%s"):format(op, core.describe(u),
      type(u) == "table" and "; gpu.table(u) makes one" or ""))
  end
  if device_of(fields) ~= device_of(other) then core.raise(("[%s] expected tables on one device"):format(op)) end
  return other
end

--- Checks that both tables have the columns of a key, called `left` in t and `right` in u. `by_name`: the script has written
--- {left = right}.
local function check_key(op, fields, other, left, right, by_name)
  local function refuse(of, table_name, name)
    local advice = core.did_you_mean(name, of.names)
    if by_name and fields.arrays[right] and other.arrays[left] then
      advice = ("; in {name in t = name in u}, t's comes first: {%s = %q}"):format(right, left)
    elseif by_name and fields.arrays[left] and other.arrays[left] then
      advice = ("; both have %s, and %q is the key of this name"):format(left, left)
    elseif by_name and advice == "" then
      advice = '; {name_in_t = "name in u"} is a key with another name there'
    elseif advice == "" then
      advice = of == other and ('; {%s = "name in u"} is a key with another name there'):format(left)
        or other.arrays[name] and ('; {name_in_t = %q} is a key with another name there'):format(name) or ""
    end
    core.raise(("[%s] expected a column %q in %s, which has %s%s"):format(op, name, table_name, list_of(of.names), advice))
  end
  if not fields.arrays[left] then refuse(fields, "the first table, t", left) end
  if not other.arrays[right] then refuse(other, "the second table, u", right) end
end

--- The keys as a list of {name in t, name in u}.
local function key_pairs(op, fields, other, keys)
  if type(keys) == "string" then keys = {keys} end
  local what = 'names of columns of both tables, "id" or {"id", "day"}, or by their other names, {id = "customer"}'
  if type(keys) ~= "table" or next(keys) == nil then core.fail(op, what, keys) end
  if type(keys.left_on) == "string" and type(keys.right_on) == "string" then
    core.raise(("[%s] expected names by their other names, t:%s(u, {[%q] = %q}), got them as the options left_on and right_on"):format(op, op,
      keys.left_on, keys.right_on))
  end
  if type(keys.on) == "string" and not fields.arrays.on then
    core.raise(("[%s] expected the names as an argument, t:%s(u, %q%s), got them as the option on"):format(op, op, keys.on,
      type(keys.by) == "string" and (", {by = %q}"):format(keys.by) or ""))
  end
  local pairs_of = {}
  for key, name in pairs(keys) do
    local left = type(key) == "number" and name or key
    if type(left) ~= "string" or type(name) ~= "string" then core.fail(op, what, name) end
    check_key(op, fields, other, left, name, type(key) == "string")
    pairs_of[#pairs_of + 1] = {left, name, key}
  end
  -- Those of a list in its order.
  table.sort(pairs_of, function(a, b)
    local x, y = a[3], b[3]
    if type(x) ~= type(y) then return type(x) == "number" end
    return x < y
  end)
  return pairs_of
end

local ordered_bits

--- Numbers as int64, in their order; NaN is one number, the last.
local function as_integers(op, name, x)
  if kinds.is_complex(x) then core.fail(op, "real numbers in column " .. name, x) end
  if not kinds.is_floating(x) then return core.cast(x, "int64") end
  ordered_bits = ordered_bits or core.elementwise {
    name = "ordered_bits", inputs = "float64 x", outputs = "int64 y",
    body = [[
      const long long bits = __double_as_longlong(x == 0 ? 0.0 : x);
      y = x != x ? 0x7fffffffffffffffll : bits ^ ((bits >> 63) & 0x7fffffffffffffffll);
    ]],
  }
  return (ordered_bits(core.cast(x, "float64")))
end

--- Integers of both tables as codes from 0 to count - 1: equal ones have equal codes. A number of t that u lacks may share a code with
--- others that u lacks.
local function coded(x, y)
  local n, m = x.size, y.size
  local device = x.device
  if n == 0 or m == 0 then
    return gpu.zeros(n, {dtype = "int64", device = device}), gpu.ones(m, {dtype = "int64", device = device}), 2
  end
  local ends = {gpu.eval(x:min(), x:max(), y:min(), y:max())}
  for i = 1, 4 do ends[i] = tonumber(ends[i]:item()) end
  local least = math.min(ends[1], ends[3])
  local range = math.max(ends[2], ends[4]) - least + 1
  if range <= 4 * (n + m) + 2 ^ 16 then return x - least, y - least, range end
  local values, inverse = y:unique {return_inverse = true}
  local places = values:searchsorted(x)
  local found = values:take(gpu.minimum(places, values.size)):eq(x)
  return gpu.where(found, places - 1, values.size):eval(), (inverse - 1):eval(), values.size + 1
end

--- The codes of the rows of both tables by the keys, and how many there may be.
local function codes_of(op, fields, other, keys)
  local left, right, count
  for _, key in ipairs(keys) do
    local x, y = columns.alike(op, key[1], fields.arrays[key[1]], other.arrays[key[2]])
    local a, b, range = coded(as_integers(op, key[1], x), as_integers(op, key[2], y))
    if not left then
      left, right, count = a, b, range
    else
      left, right, count = coded(left * range + a, right * range + b)
    end
  end
  return left, right, count
end

--- The rows of u in the order of their codes; for each code, from 0 on, the number of its rows and the number of the rows before these.
local function by_code(right, count)
  local counts = gpu.bincount(right, {minlength = count})
  return core.cast(right, columns.narrow(count)):argsort():eval(), counts:eval(), (counts:cumsum() - counts):eval()
end

-- ---- the result ---------------------------------------------------------------------------------------------------------------------

local function check_suffix(op, options)
  local suffix = options.suffix
  if suffix == nil then return "_right" end
  if type(suffix) ~= "string" or suffix == "" then core.fail(op, "suffix, a text that is not empty", suffix) end
  return suffix
end

--- Adds the elements that the columns of u other than the keys have at `rows`. Row 0 stands for missing elements.
local function add_right(op, new, other, keys, rows, some, suffix)
  local is_key = {}
  for _, key in ipairs(keys) do is_key[key[2]] = true end
  for _, name in ipairs(other.names) do
    if not is_key[name] then
      local as = new.arrays[name] and name .. suffix or name
      if new.arrays[as] then core.raise(("[%s] expected another suffix, got two columns called %s"):format(op, as)) end
      add(op, new, as, columns.gather(op, name, other.arrays[name], rows, some))
    end
  end
end

--- The positions in t and in u of the rows that belong together, in the order of t and then of u. `keeps`: also those of t alone, with 0
--- for u. The third result tells whether there are such.
local function matches(left, right, count, keeps)
  local n, device = left.size, left.device
  local order, counts, before = by_code(right, count)
  local code = left + 1
  local each, first = counts:take(code), before:take(code)
  local rows = gpu.range(1, n, {dtype = "int64", device = device})
  local most, alone = gpu.eval(counts:max(), each:eq(0):sum())
  local some = keeps and tonumber(alone:item()) > 0
  if most:item() == 0 then
    local none = gpu.zeros(keeps and n or 0, {dtype = "int64", device = device})
    return keeps and rows or none, none, some
  end
  if most:item() == 1 then
    if keeps then return rows, gpu.where(each:eq(0), 0, order:take(gpu.minimum(first + 1, order.size))):eval(), some end
    rows = gpu.flatnonzero(each:gt(0))
    return rows, order:take(first:take(rows) + 1), false
  end
  local copies = keeps and gpu.maximum(each, 1) or each
  local ends = copies:cumsum():eval()
  local total = tonumber(ends[-1])
  local places = gpu.range(1, total, {dtype = "int64", device = device})
  local from = ends:searchsorted(places):eval()
  local within = places - (ends - copies):take(from)
  local found = order:take(gpu.minimum(first:take(from) + within, order.size))
  return from, keeps and gpu.where(each:take(from):eq(0), 0, found):eval() or found:eval(), some
end

local hows = {"inner", "left", "outer", "semi", "anti"}

--- t:join(u, keys [, how] [, {suffix}])
function exports.join(t, fields, u, keys, how, options)
  local op = "join"
  if type(how) == "table" and options == nil then how, options = nil, how end
  local other = check_other(op, fields, u)
  for _, known in ipairs {"right", unpack(hows)} do
    if keys == known and type(how) == "string" and not fields.arrays[keys] then
      core.raise(("[join] expected the names before how, t:join(u, %q, %q), got %q first"):format(how, keys, keys))
    end
  end
  keys = key_pairs(op, fields, other, keys)
  how = how == nil and "inner" or how
  if how == "right" then core.raise '[join] expected inner, left, outer, semi or anti, got "right"; u:join(t, keys, "left") has all rows of u' end
  checks.choice(op, "how", how, hows)
  if type(options) == "table" and options.how ~= nil then
    core.raise(("[join] expected how behind the names, t:join(u, keys, %q), got it as an option"):format(tostring(options.how)))
  end
  if options == nil then options = {} end
  own.check_option(op, options, "suffix")
  local suffix = check_suffix(op, options)
  local left, right, count = codes_of(op, fields, other, keys)
  local n, m = fields.rows, other.rows
  if how == "semi" or how == "anti" then
    local counts = gpu.bincount(right, {minlength = count}):take(left + 1)
    return t:take(how == "semi" and counts:gt(0) or counts:eq(0))
  end
  local rows, found, some
  if n == 0 then
    rows, found, some = left, left, false
  else
    rows, found, some = matches(left, right, count, how ~= "inner")
  end
  local rest = how == "outer" and gpu.flatnonzero(gpu.bincount(left, {minlength = count}):take(right + 1):eq(0))
  if rest and rest.size == 0 then rest = nil end
  local result, new = new_table(rows.size + (rest and rest.size or 0))
  local right_of = {}
  for _, key in ipairs(keys) do right_of[key[1]] = key[2] end
  local none = rest and gpu.zeros(rest.size, {dtype = "int64", device = rows.device})
  local from = rest and gpu.concat {rows, none} or rows
  for _, name in ipairs(fields.names) do
    local x = fields.arrays[name]
    if not rest then
      add(op, new, name, columns.plain(x):take(rows), fields.kinds[name])
    elseif right_of[name] then
      local both, kind = columns.concat(op, name, x, other.arrays[right_of[name]])
      add(op, new, name, both:take(gpu.concat {rows, rest + n}), kind)
    else
      add(op, new, name, columns.gather(op, name, x, from, true))
    end
  end
  add_right(op, new, other, keys, rest and gpu.concat {found, rest} or found, some, suffix)
  return result
end

-- ---- the nearest before or after ----------------------------------------------------------------------------------------------------

local directions = {"backward", "forward", "nearest"}

--- What says how far rows may lie apart: a number, or of dates a text, in units.
local function check_tolerance(op, tolerance, kind)
  if tolerance == nil then return end
  if kind then
    local steps = import "date_steps"
    return steps.nanoseconds(op, tolerance) / steps.lengths[kind.unit]
  end
  if type(tolerance) ~= "number" or not (tolerance >= 0) then core.fail(op, "tolerance, a number of 0 or more", tolerance) end
  return tolerance
end

--- t:join_asof(u, on [, {by, direction, tolerance, suffix}])
function exports.join_asof(t, fields, u, on, options)
  local op = "join_asof"
  if options == nil then options = {} end
  if type(options) ~= "table" then core.fail(op, "a table of options", options) end
  for name in pairs(options) do checks.choice(op, "the options by, direction, tolerance and suffix", name, {"by", "direction", "tolerance", "suffix"}) end
  local other = check_other(op, fields, u)
  local on_keys = key_pairs(op, fields, other, on)
  if #on_keys ~= 1 then core.fail(op, "one column to compare; the option by has those that must be equal", on) end
  local direction = checks.choice(op, "direction", options.direction, directions, "backward")
  local keys = options.by ~= nil and key_pairs(op, fields, other, options.by) or {}
  local name, n, m, device = on_keys[1][1], fields.rows, other.rows, device_of(fields)
  local x, y, kind = columns.alike(op, name, fields.arrays[name], other.arrays[on_keys[1][2]])
  if columns.is_text(kind) then
    local text = kind[1] ~= "" and kind[1] or kind[2] or ""
    local is_date = core.has_date_form(text) or #core.date_formats(text) > 0
    core.raise(("[join_asof] expected dates or real numbers in column %s, got one of text; %s"):format(name, is_date
      and ("t.%s = gpu.dates(t.%s) makes dates of it"):format(name, name)
      or ("the option by, {by = %q}, has the columns that must be equal"):format(name)))
  end
  if kinds.is_complex(x) then core.fail(op, "dates or real numbers in column " .. name, fields.arrays[name]) end
  for _, values in ipairs {x, y} do
    local missing = columns.missing(values, kind)
    if missing and values.size > 0 and missing:any():item() then
      core.raise(("[join_asof] expected no missing values in column %s, got some; t:dropna(%q) leaves them out"):format(name, name))
    end
  end
  if not kind and not kinds.is_floating(x) then x, y = core.cast(x, "int64"), core.cast(y, "int64") end
  local tolerance = check_tolerance(op, options.tolerance, kind)
  local positions = gpu.zeros(n, {dtype = "int64", device = device})
  if n > 0 and m > 0 then
    -- Rows of u by their keys, and within these by the column.
    local is_sorted = m == 1 or y({2, -1}):ge(y({1, -2})):all():item()
    local order = not is_sorted and y:argsort() or nil
    local first, last = 0, m
    if #keys > 0 then
      local left, right, count = codes_of(op, fields, other, keys)
      local by, counts, before = by_code(order and right:take(order) or right, count)
      order = order and order:take(by) or by
      first, last = before:take(left + 1), (before + counts):take(left + 1)
    end
    local sorted = (order and y:take(order) or y):eval()
    local function at(places)
      places = gpu.clip(places, 1, m)
      return order and order:take(places) or places
    end
    local function distance(places) return (x - sorted:take(gpu.clip(places, 1, m))):abs() end
    local back = direction ~= "forward" and search_part(sorted, first, last, x, true)
    local ahead = direction ~= "backward" and search_part(sorted, first, last, x, false) + 1
    local has_back, has_ahead = back and back:gt(first), ahead and ahead:le(last)
    local chosen, found = back or ahead, back and has_back or has_ahead
    if direction == "nearest" then
      local takes_back = has_back:logical_and(has_ahead:logical_not():logical_or(distance(back):le(distance(ahead))))
      chosen, found = gpu.where(takes_back, back, ahead), has_back:logical_or(has_ahead)
    end
    if tolerance then found = found:logical_and(distance(chosen):le(tolerance)) end
    positions = gpu.where(found, at(chosen), 0):eval()
  end
  local result, new = new_table(n)
  for _, column in ipairs(fields.names) do add(op, new, column, fields.arrays[column], fields.kinds[column]) end
  keys[#keys + 1] = on_keys[1]
  add_right(op, new, other, keys, positions, n > 0 and positions:eq(0):any():item(), check_suffix(op, options))
  return result
end

return exports

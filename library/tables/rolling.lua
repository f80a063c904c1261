-- Windows that move over a vector: gpu.rolling and gpu.expanding.
--
-- A window is joined from blocks of 8, 64, 512, ... values whose sums and so on are computed once, and at its ends from single values.
-- Nothing is subtracted, as it would be from running sums, so values that have left a window leave no rounding errors in it.
-- In sandboxes: all
local gpu, _, core, import = ...
local define = import "define"
local checks = import "checks"
local kinds = import "kinds"
local columns = import "columns"
local by_groups, search_part, quantiles = import "by_groups", import "sorted_search", import "rolling_quantiles"

local exports = {}

-- The state of a part of a window: how many values are there, and two more numbers.
local sum = {
  start = "0", join = "s.a += t.a; s.n += t.n;",
  values = "for (long long i = first; i < last; ++i) { const double v = (double)x[i]; if (v == v) { s.a += v; s.n += 1; } }",
}
local function extreme(less)
  return {
    start = less == "<" and "1.0 / 0.0" or "-1.0 / 0.0", join = ("if (t.a %s s.a) s.a = t.a; s.n += t.n;"):format(less),
    values = ("for (long long i = first; i < last; ++i) { const double v = (double)x[i]; if (v == v) { if (v %s s.a) s.a = v; s.n += 1; } }"):format(less),
  }
end
-- The mean in a, and in b the sum of the squares of the distances from it, which parts join after Chan, Golub and LeVeque (1979). A run
-- of values is summed from its first one, which keeps the digits.
local spread = {
  start = "0",
  join = [[
    if (t.n > 0) {
      const double n = s.n + t.n, step = t.a - s.a;
      s.b += t.b + step * step * (s.n * t.n / n);
      s.a += step * (t.n / n);
      s.n = n;
    }]],
  values = [[
    State t;
    double origin = 0, sums = 0, squares = 0;
    for (long long i = first; i < last; ++i) {
      const double v = (double)x[i];
      if (v == v) {
        if (t.n == 0) origin = v;
        const double step = v - origin;
        t.n += 1; sums += step; squares += step * step;
      }
    }
    if (t.n > 0) {
      const double rest = squares - sums * (sums / t.n);
      t.a = origin + sums / t.n;
      t.b = rest > 0 ? rest : rest - rest;  // NaN stays NaN
      join(s, t);
    }]],
}
local results = {
  sum = {sum, "s.a"}, mean = {sum, "s.a / s.n"}, count = {sum, "s.n"}, min = {extreme "<", "s.n > 0 ? s.a : 0.0 / 0.0"},
  max = {extreme ">", "s.n > 0 ? s.a : 0.0 / 0.0"}, var = {spread, "s.n > ddof ? s.b / (s.n - ddof) : 0.0 / 0.0"},
  std = {spread, "s.n > ddof ? sqrt(s.b / (s.n - ddof)) : 0.0 / 0.0"},
}

-- A thread has eight rows. Their windows have a part in common, before the first of the rows.
local source = [[
PREAMBLE
extern "C" __global__ void windows(const double* x, const long long* firsts, double* y, const double* counts, const double* as,
                                   const double* bs, long long size, long long levels, long long window, int has_firsts,
                                   long long least, double ddof) {
  const long long own = 8 * (blockIdx.x * (long long)blockDim.x + threadIdx.x), next = own + 8 < size ? own + 8 : size;
  if (own >= size) return;
  const auto first_of = [&](long long row) {
    const long long first = has_firsts ? firsts[row] : 0;
    return first > row - window + 1 ? first : row - window + 1;
  };
  const auto block = [&](long long i) { State t; t.n = counts[i]; t.a = as[i]; t.b = bs[i]; return t; };
  // Joins the values from `from` to `to` - 1.
  const auto join_range = [&](State& s, long long from, long long to) {
    if (levels == 0 || to - from < 16) return join_values(s, x, from, to);
    State right;
    const long long begin = (from + 7) / 8, end = to / 8;
    join_values(s, x, from, 8 * begin);
    join_values(right, x, 8 * end, to);
    from = begin; to = end;
    long long blocks = (size + 7) / 8, offset = 0;
    for (long long level = 1; level < levels && to - from >= 16; ++level) {
      for (; from % 8 != 0; ++from) join(s, block(offset + from));
      for (long long i = to / 8 * 8; i < to; ++i) join(right, block(offset + i));
      from /= 8; to /= 8;
      offset += blocks;
      blocks = (blocks + 7) / 8;
    }
    for (; from < to; ++from) join(s, block(offset + from));
    join(s, right);
  };
  const auto write = [&](long long row, const State& s) { y[row] = s.n >= least ? RESULT : 0.0 / 0.0; };
  State left[8], right;
  long long from = first_of(next - 1);
  if (from <= own) {
    State common;
    join_range(common, from, own);
    for (long long row = next - 1; row >= own; --row) {
      const long long first = first_of(row);
      if (first < from) join_range(common, first, from);
      from = first;
      left[row - own] = common;
    }
    for (long long row = own; row < next; ++row) {
      join_values(right, x, row, row + 1);
      join(left[row - own], right);
      write(row, left[row - own]);
    }
  } else {
    for (long long row = own; row < next; ++row) {
      State s;
      join_range(s, first_of(row), row + 1);
      write(row, s);
    }
  }
}
]]

local operations = {}

local function preamble(state)
  return ([[
    struct State { double n = 0, a = %s, b = 0; };
    __device__ inline void join(State& s, const State& t) { %s }
    template <class X>
    __device__ inline void join_values(State& s, const X& x, long long first, long long last) { %s }
  ]]):format(state.start, state.join, state.values)
end

--- The operations that make the first blocks and the next ones.
local function operations_of(name)
  if not operations[name] then
    local text, outputs = preamble(results[name][1]), "float64 count, float64 a, float64 b"
    operations[name] = {
      blocks = core.elementwise {
        name = "window_blocks_" .. name, inputs = "int64 block, int64 size, raw float64 x", outputs = outputs, preamble = text,
        body = "State s; join_values(s, x, 8 * block, 8 * block + 8 < size ? 8 * block + 8 : size); count = s.n; a = s.a; b = s.b;",
      },
      larger = core.elementwise {
        name = "window_larger_blocks_" .. name, inputs = "int64 block, int64 size, raw float64 counts, raw float64 as, raw float64 bs",
        outputs = outputs, preamble = text,
        body = [[
          State s;
          for (long long i = 8 * block; i < 8 * block + 8 && i < size; ++i) {
            State t;
            t.n = counts[i]; t.a = as[i]; t.b = bs[i];
            join(s, t);
          }
          count = s.n; a = s.a; b = s.b;
        ]],
      },
    }
  end
  return operations[name]
end

--- Blocks for windows of at most `longest` values: how many sizes of them there are, and their states, size after size.
local function blocks_of(made, x, longest)
  local n, levels, states = x.size, 0, {{}, {}, {}}
  local size = n
  while longest >= 16 * 8 ^ levels do
    local blocks = math.ceil(size / 8)
    local numbers = gpu.arange(blocks, {dtype = "int64", device = x.device})
    local found
    if levels == 0 then
      found = {made.blocks(numbers, n, x)}
    else
      found = {made.larger(numbers, size, states[1][levels], states[2][levels], states[3][levels])}
    end
    levels, size = levels + 1, blocks
    gpu.eval(unpack(found))
    for i = 1, 3 do states[i][levels] = found[i] end
  end
  if levels == 0 then
    local none = gpu.zeros(1, {dtype = "float64", device = x.device})
    return 0, none, none, none
  end
  return levels, gpu.concat(states[1]), gpu.concat(states[2]), gpu.concat(states[3])
end

local kernels = {}

--- The kernel of a result on a device.
local function kernel_of(name, device)
  kernels[name] = kernels[name] or {}
  if not kernels[name][device] then
    local state, result = unpack(results[name])
    kernels[name][device] = core.kernel(source:gsub("PREAMBLE", function() return preamble(state) end):gsub("RESULT", result), "windows",
      {device = device})
  end
  return kernels[name][device]
end

--- A result of each window by its state. Gives a vector of float64.
local function by_states(name, fields, ddof)
  local x, n, device = fields.x, fields.x.size, fields.x.device
  local levels, counts, as, bs = blocks_of(operations_of(name), x, math.min(fields.window, n))
  local y = gpu.empty(n, {dtype = "float64", device = device})
  kernel_of(name, device):over(math.ceil(n / 8))(x, fields.first or counts:astype "int64", y, counts, as, bs, n, levels, fields.window, fields.first and 1 or 0,
    name == "count" and 0 or fields.least, ddof)
  return y
end

-- ---- windows ------------------------------------------------------------------------------------------------------------------------

local methods = {}
local windows = {__metatable = "a window", methods = methods}
exports.class = windows -- completion and help look here
local fields_of = setmetatable({}, {__mode = "k"})

local function check_window(op, value)
  local fields = type(value) == "table" and fields_of[value]
  if not fields then core.fail(op, ("a window, as x:rolling(n) gives, and a colon: window:%s(...)"):format(op), value) end
  return fields
end

--- The results in the order of the script's vector.
local function finished(fields, y, dtype)
  return core.cast(fields.groups.back(y), dtype)
end

for name in pairs(results) do
  local takes_ddof = name == "var" or name == "std"
  methods[name] = function(window, options)
    local fields = check_window(name, window)
    local ddof = 0
    if takes_ddof and options ~= nil then
      if not checks.is_options(options) or options.ddof == nil or next(options, next(options)) then core.fail(name, "the option ddof: {ddof = 1}", options) end
      ddof = checks.finite(name, "ddof, a number", options.ddof)
    end
    local dtype = name == "count" and "int64" or fields.dtype
    if fields.x.size == 0 then return gpu.zeros(0, {dtype = dtype, device = fields.x.device}) end
    return finished(fields, by_states(name, fields, ddof), dtype)
  end
end

--- window:quantile(q): the value at a fraction of each window.
function methods.quantile(window, q)
  local fields = check_window("quantile", window)
  if type(q) ~= "number" or not (q >= 0 and q <= 1) then core.fail("quantile", "a number from 0 to 1", q) end
  if fields.x.size == 0 then return gpu.zeros(0, {dtype = fields.dtype, device = fields.x.device}) end
  return finished(fields, quantiles(fields, q), fields.dtype)
end

function methods.median(window)
  check_window("median", window)
  return methods.quantile(window, 0.5)
end

function windows.__index(_, key)
  if methods[key] then return methods[key] end
  local names = {}
  for name in pairs(methods) do names[#names + 1] = name end
  core.raise(("[rolling] a window has no method %s%s"):format(core.describe(key), core.did_you_mean(tostring(key), names)))
end

function windows.__tostring(window)
  return ("windows over %.0f values; window:mean() and others give a value for each"):format(fields_of[window].x.size)
end

core.guard_methods(methods, "window:", {
  sum = "()", mean = "()", count = "()", min = "()", max = "()", median = "()", quantile = "(q)", var = "([{ddof}])", std = "([{ddof}])",
})

local function check_values(op, x)
  if columns.kind_of(x) then core.fail(op, "numbers", x) end
  checks.real(op, checks.array(op, x))
  if x.ndim ~= 1 then core.fail(op, "a vector", x) end
  if core.depends(x) then core.refuse_derivative(op, "; gpu.sliding_window(x, n) has one, and sum(-1) and others of it") end
end

--- A window over x of at most `window` rows and at least `least` values. `first_of(first, order)`: the first row of each row's window,
--- counted from 0, from that of its group; without it the group's.
local function make(op, x, options, window, least, first_of)
  local groups = by_groups(op, x, options.by)
  local values, first = core.cast(x, "float64"), nil
  if groups.order then values = values:take(groups.order) end
  if options.min_periods ~= nil then least = checks.count(op, "min_periods, an integer of 0 or more", options.min_periods) end
  if first_of or groups.order then first = groups.first() end
  if first_of then first = first_of(first, groups.order):eval() end
  local result = setmetatable({}, windows)
  fields_of[result] = {
    x = values:eval(), first = first, groups = groups, window = window, least = least,
    dtype = kinds.is_floating(x) and kinds.working(x) or "float64",
  }
  return result
end

--- The column by whose values windows reach back, in the order of the rows, and how far.
local function reach_of(op, x, on, window)
  local kind = columns.kind_of(on)
  if columns.is_text(kind) or not kind and not core.is_array(on) then core.fail(op, "on: a column of dates or numbers", on) end
  if on.ndim ~= 1 or on.size ~= x.size then core.fail(op, ("on: a column of %.0f rows"):format(x.size), on) end
  if kind then
    local steps = import "date_steps"
    local ns = steps.nanoseconds(op, window)
    local unit = steps.finer(kind.unit, steps.unit_of {ns})
    return import("date_column").in_unit(op, on, unit), ns / steps.lengths[unit]
  end
  checks.finite(op, "a length of windows above 0", window)
  local is_whole = not kinds.is_floating(on) and window % 1 == 0
  return core.cast(checks.real(op, on), is_whole and "int64" or "float64"), window
end

--- gpu.rolling(x, window [, {on, by, min_periods}])
local function rolling(x, window, options)
  local op = "rolling"
  check_values(op, x)
  options = checks.fields(op, options)
  if options.on == nil then
    if type(window) == "string" then core.fail(op, 'the option on beside a length of time: x:rolling("7d", {on = t.day})', window) end
    window = checks.count(op, "a number of rows", window, 1)
    if options.min_periods ~= nil and checks.count(op, "min_periods, an integer of 0 or more", options.min_periods) > window then
      core.raise(("[rolling] expected min_periods of at most %.0f, the rows of a window, got %.0f"):format(window, options.min_periods))
    end
    return make(op, x, options, window, window)
  end
  local on, length = reach_of(op, x, options.on, window)
  if not (length > 0) then core.fail(op, "a length of windows above 0", window) end
  return make(op, x, options, math.max(x.size, 1), 1, function(first, order)
    if order then on = on:take(order) end
    local rows = gpu.arange(x.size, {dtype = "int64", device = x.device})
    if x.size > 1 then
      local ascends = on({2, -1}):ge(on({1, -2}))
      if order then ascends = ascends:logical_or(first({2, -1}):eq(rows({2, -1}))) end
      local present = columns.missing(on, columns.kind_of(options.on))
      present = present and present:logical_not():all() or gpu.ones({}, {dtype = "bool", device = x.device})
      local ascending, whole = gpu.eval(ascends:all(), present)
      if not whole:item() then core.raise "[rolling] expected no missing values in on, got some; t:dropna(name) leaves their rows out" end
      if not ascending:item() then
        core.raise "[rolling] expected ascending values of on, within each group, got others; t:sort_by(name) sorts a table"
      end
    end
    on = on:eval()
    return search_part(on, first, rows + 1, on - length, true)
  end)
end

--- gpu.expanding(x [, {by, min_periods}])
local function expanding(x, options)
  check_values("expanding", x)
  options = checks.fields("expanding", options)
  return make("expanding", x, options, math.max(x.size, 1), 1)
end

define {rolling = rolling, expanding = expanding}

return exports

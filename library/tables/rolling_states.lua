-- The states that the windows of rolling.lua are joined from, and the kernels that join them.
--
-- A window is joined from blocks of 8, 64, 512, ... values whose states are computed once, and at its ends from single values, always in
-- the order of the rows. Nothing is subtracted, as it would be from running sums, so values that have left a window leave no rounding
-- errors in it.
local gpu, _, core = ...

-- The state of a part of a window: n, how many values are there, and more numbers, whose names and first values `fields` has.
local sum = {
  fields = {{"a", "0"}}, join = "s.a += t.a; s.n += t.n;",
  values = "for (long long i = first; i < last; ++i) { const double v = (double)x[i]; if (v == v) { s.a += v; s.n += 1; } }",
}
local function extreme(less)
  return {
    fields = {{"a", less == "<" and "1.0 / 0.0" or "-1.0 / 0.0"}}, join = ("if (t.a %s s.a) s.a = t.a; s.n += t.n;"):format(less),
    values = ("for (long long i = first; i < last; ++i) { const double v = (double)x[i]; if (v == v) { if (v %s s.a) s.a = v; s.n += 1; } }"):format(less),
  }
end
-- The mean in a, and in b the sum of the squares of the distances from it, which parts join after Chan, Golub and LeVeque (1979). A run
-- of values is summed from its first one, which keeps the digits.
local spread = {
  fields = {{"a", "0"}, {"b", "0"}},
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
-- The same of pairs, the values 2i and 2i + 1 of x: the means, and the sums of the squares and products of the distances from them.
local pairs_spread = {
  fields = {{"a", "0"}, {"c", "0"}, {"b", "0"}, {"d", "0"}, {"p", "0"}},
  join = [[
    if (t.n > 0) {
      const double n = s.n + t.n, step = t.a - s.a, other = t.c - s.c, weight = s.n * t.n / n;
      s.b += t.b + step * step * weight;
      s.d += t.d + other * other * weight;
      s.p += t.p + step * other * weight;
      s.a += step * (t.n / n);
      s.c += other * (t.n / n);
      s.n = n;
    }]],
  values = [[
    for (long long i = first; i < last; ++i) {
      const double v = (double)x[2 * i], w = (double)x[2 * i + 1];
      if (v == v && w == w) {
        State t;
        t.n = 1; t.a = v; t.c = w; t.b = v - v; t.d = w - w; t.p = (v - v) + (w - w);  // NaN of an infinity
        join(s, t);
      }
    }]],
}
-- A mean of weighted values, x[3i] with the weight x[3i + 1], whose earlier weights fall to their x[3i + 2] at each row: a is the mean, b the
-- weighted sum of the squares of the distances from it, w the sum of the weights, q that of their squares, and f what earlier weights fall to.
local fading = {
  fields = {{"a", "0"}, {"b", "0"}, {"w", "0"}, {"q", "0"}, {"f", "1"}},
  join = [[
    const double old = s.w * t.f, all = old + t.w;
    s.b = s.b * t.f + t.b;
    if (t.n > 0) {
      if (s.n > 0 && old > 0) {
        const double step = t.a - s.a;
        s.b += step * step * (old * (t.w / all));
        s.a += step * (t.w / all);
      } else {
        s.a = t.a;
      }
    }
    s.q = s.q * t.f * t.f + t.q;
    s.w = all;
    s.f *= t.f;
    s.n += t.n;]],
  values = [[
    for (long long i = first; i < last; ++i) {
      const double v = (double)x[3 * i];
      State t;
      t.f = (double)x[3 * i + 2];
      if (v == v) {
        t.n = 1; t.a = v; t.b = v - v; t.w = (double)x[3 * i + 1]; t.q = t.w * t.w;
      }
      join(s, t);
    }]],
}
local variance, faded = "s.n > ddof ? s.b / (s.n - ddof) : 0.0 / 0.0", "s.n > ddof && s.w * s.w > ddof * s.q ? s.b * s.w / (s.w * s.w - ddof * s.q) : 0.0 / 0.0"
local results = {
  sum = {sum, "s.a"}, mean = {sum, "s.a / s.n"}, count = {sum, "s.n"}, min = {extreme "<", "s.n > 0 ? s.a : 0.0 / 0.0"},
  max = {extreme ">", "s.n > 0 ? s.a : 0.0 / 0.0"}, var = {spread, variance},
  std = {spread, "sqrt(" .. variance .. ")"}, cov = {pairs_spread, "s.n > ddof ? s.p / (s.n - ddof) : 0.0 / 0.0"},
  corr = {pairs_spread, "s.p / (sqrt(s.b) * sqrt(s.d))"}, faded_mean = {fading, "s.n > 0 ? s.a : 0.0 / 0.0"}, faded_var = {fading, faded},
  faded_std = {fading, "sqrt(" .. faded .. ")"},
}

-- A thread has eight rows. Their windows have a part in common, before the first of the rows.
local source = [[
PREAMBLE
extern "C" __global__ void windows(const double* x, const long long* firsts, double* y, const double* states, long long count,
                                   long long size, long long levels, long long window, int has_firsts, long long least, double ddof) {
  const long long own = 8 * (blockIdx.x * (long long)blockDim.x + threadIdx.x), next = own + 8 < size ? own + 8 : size;
  if (own >= size) return;
  const auto first_of = [&](long long row) {
    const long long first = has_firsts ? firsts[row] : 0;
    return first > row - window + 1 ? first : row - window + 1;
  };
  const auto block = [&](long long i) { return state_at(states, count, i); };
  const auto join_before = [&](State& s, State t) { join(t, s); s = t; };
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
      for (long long i = to - 1; i >= to / 8 * 8; --i) join_before(right, block(offset + i));
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
      if (first < from) {
        State before;
        join_range(before, first, from);
        join_before(common, before);
      }
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
  local members, loads = {"n = 0"}, {"t.n = states[i];"}
  for k, field in ipairs(state.fields) do
    members[k + 1], loads[k + 1] = field[1] .. " = " .. field[2], ("t.%s = states[%d * count + i];"):format(field[1], k)
  end
  return ([[
    struct State { double %s; };
    __device__ inline void join(State& s, const State& t) { %s }
    template <class X>
    __device__ inline void join_values(State& s, const X& x, long long first, long long last) { %s }
    template <class X>
    __device__ inline State state_at(const X& states, long long count, long long i) { State t; %s return t; }
  ]]):format(table.concat(members, ", "), state.join, state.values, table.concat(loads, " "))
end

--- The operations that make the first blocks and the next ones.
local function operations_of(name)
  if not operations[name] then
    local state = results[name][1]
    local text, outputs, stores = preamble(state), {"float64 count"}, {"count = s.n;"}
    for k, field in ipairs(state.fields) do outputs[k + 1], stores[k + 1] = "float64 " .. field[1], ("%s = s.%s;"):format(field[1], field[1]) end
    outputs, stores = table.concat(outputs, ", "), table.concat(stores, " ")
    operations[name] = {
      blocks = core.elementwise {
        name = "window_blocks_" .. name, inputs = "int64 block, int64 size, raw float64 x", outputs = outputs, preamble = text,
        body = "State s; join_values(s, x, 8 * block, 8 * block + 8 < size ? 8 * block + 8 : size); " .. stores,
      },
      larger = core.elementwise {
        name = "window_larger_blocks_" .. name, inputs = "int64 block, int64 size, raw float64 states", outputs = outputs, preamble = text,
        body = [[
          State s;
          for (long long i = 8 * block; i < 8 * block + 8 && i < size; ++i) join(s, state_at(states, size, i));
        ]] .. stores,
      },
    }
  end
  return operations[name]
end

--- Blocks for windows of at most `longest` of n values: how many sizes of them there are, how many blocks, and their states, a number
--- after the other and in each size after size.
local function blocks_of(made, x, n, longest)
  local levels, parts = 0, {}
  local size, count = n, 0
  while longest >= 16 * 8 ^ levels do
    local blocks = math.ceil(size / 8)
    local numbers = gpu.arange(blocks, {dtype = "int64", device = x.device})
    local make, held = made.larger, parts[levels]
    if levels == 0 then make, held = made.blocks, x end
    parts[levels + 1] = gpu.concat {make(numbers, size, held)}
    levels, size, count = levels + 1, blocks, count + blocks
  end
  if levels == 0 then return 0, 0, gpu.zeros(1, {dtype = "float64", device = x.device}) end
  for i, part in ipairs(parts) do
    local blocks = math.ceil(n / 8 ^ i)
    parts[i] = part:reshape(part.size / blocks, blocks)
  end
  return levels, count, gpu.concat(parts, 2):ravel():eval()
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

--- A result by its name of each of the n windows of `fields`, as rolling.lua makes them, over x. Gives a vector of float64.
return function(name, fields, x, n, ddof)
  local levels, count, states = blocks_of(operations_of(name), x, n, math.min(fields.window, n))
  local y = gpu.empty(n, {dtype = "float64", device = x.device})
  local first = fields.first or gpu.zeros(1, {dtype = "int64", device = x.device})
  kernel_of(name, x.device):over(math.ceil(n / 8))(x, first, y, states, count, n, levels, fields.window, fields.first and 1 or 0,
    name == "count" and 0 or fields.least, ddof)
  return y
end

-- Medians and quantiles of the windows of rolling.lua, by a wavelet matrix (F. Claude, G. Navarro and A. Ordóñez, 2015): the ranks of
-- the values, sorted bit by bit from the highest one on, where `zeros` counts for each bit how many of the first ranks lack it. The
-- rank at a place among those of a window is then found in a step a bit, and in fewer where it is alone in its part before that.
local gpu, _, core = ...

local select_rank = [[
  template <class Z>
  __device__ inline long long rank_at(const Z& zeros, const Z& ranks, long long size, int bits, long long first, long long end,
                                      long long place) {
    long long rank = 0;
    for (int bit = bits - 1; bit >= 0; --bit) {
      const long long step = bits - 1 - bit, line = step * (size + 1);
      if (end - first == 1) return ranks[step * size + first];
      const long long before = zeros[line + first], until = zeros[line + end], all = zeros[line + size];
      if (place < until - before) {
        first = before;
        end = until;
      } else {
        place -= until - before;
        first += all - before;
        end += all - until;
        rank += 1ll << bit;
      }
    }
    return rank;
  }
]]
local operation

--- The value at the fraction q of each window of `fields`, as rolling.lua makes them.
return function(fields, q)
  local x, n, device = fields.x, fields.x.size, fields.x.device
  local dtype = n < 2 ^ 31 and "int32" or "int64"
  local function numbers(first, dtype) return gpu.arange(first, first + n, {dtype = dtype, device = device}) end
  local bits = 1
  while 2 ^ bits < n do bits = bits + 1 end
  local order = x:argsort():eval() -- NaN is last
  local ranks, zeros = gpu.empty({bits, n}, {dtype = dtype, device = device}), gpu.zeros({bits, n + 1}, {dtype = dtype, device = device})
  ranks(1, ":")[order] = numbers(0, dtype)
  for line = 1, bits do
    local bit, own, count = bits - line, ranks(line, ":"), zeros(line, {2, -1})
    local lacks = own:right_shift(bit):bitwise_and(1):eq(0)
    core.cast(lacks, dtype):cumsum({out = count})
    if bit > 0 then
      -- Of the ranks 0 to n - 1.
      local all = math.floor(n / 2 ^ (bit + 1)) * 2 ^ bit + math.min(n % 2 ^ (bit + 1), 2 ^ bit)
      ranks(line + 1, ":")[gpu.where(lacks, count, numbers(1, dtype) - count + all):eval()] = own
    end
  end
  local there = gpu.zeros(n + 1, {dtype = dtype, device = device})
  core.cast(x:isnan():logical_not(), dtype):cumsum({out = there({2, -1})})
  operation = operation or core.elementwise {
    name = "window_quantiles", preamble = select_rank,
    inputs = "int64 first, int64 last, int64 size, int32 bits, int64 least, float64 q, raw T zeros, raw T ranks, raw T there, raw float64 sorted",
    outputs = "float64 y",
    body = [[
      const long long count = there[last + 1] - there[first];
      y = 0.0 / 0.0;
      if (count > 0 && count >= least) {
        const double place = (double)(count - 1) * q;
        const long long low = (long long)place;
        const double weight = place - (double)low;
        y = sorted[rank_at(zeros, ranks, size, bits, first, last + 1, low)];
        if (weight > 0) y = y * (1 - weight) + sorted[rank_at(zeros, ranks, size, bits, first, last + 1, low + 1)] * weight;
      }
    ]],
  }
  local rows = numbers(0, "int64")
  local first = gpu.maximum(fields.first or 0, rows - (fields.window - 1))
  return (operation(first, rows, n, bits, fields.least, q, zeros:ravel(), ranks:ravel(), there, x:take(order):eval()))
end

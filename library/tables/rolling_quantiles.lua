-- Medians and quantiles of the windows of rolling.lua, by a wavelet matrix (F. Claude, G. Navarro and A. Ordóñez, 2015): the ranks of
-- the values, sorted bit by bit from the highest one on, where `zeros` counts for each bit how many of the first ranks lack it. The
-- rank at a place among those of a window is then found in a step a bit, whatever the window's length.
local gpu, _, core = ...

local select_rank = [[
  template <class Z>
  __device__ inline long long rank_at(const Z& zeros, long long size, int bits, long long first, long long end, long long place) {
    long long rank = 0;
    for (int bit = bits - 1; bit >= 0; --bit) {
      const long long line = (bits - 1 - bit) * (size + 1);
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
  local function numbers(first) return gpu.arange(first, first + n, {dtype = "int64", device = device}) end
  local bits = 1
  while 2 ^ bits < n do bits = bits + 1 end
  local order = x:argsort():eval() -- NaN is last
  local ranks, zeros = gpu.empty(n, {dtype = dtype, device = device}), gpu.zeros({bits, n + 1}, {dtype = dtype, device = device})
  ranks[order] = core.cast(numbers(0), dtype)
  for line = 1, bits do
    local bit = bits - line
    local lacks = ranks:right_shift(bit):bitwise_and(1):eq(0)
    local count = zeros(line, {2, -1})
    core.cast(lacks, dtype):cumsum({out = count})
    if bit > 0 then
      -- Of the ranks 0 to n - 1.
      local all = math.floor(n / 2 ^ (bit + 1)) * 2 ^ bit + math.min(n % 2 ^ (bit + 1), 2 ^ bit)
      local places = gpu.where(lacks, core.cast(count, "int64"), numbers(1) - count + all):eval()
      local sorted = gpu.empty_like(ranks)
      sorted[places] = ranks
      ranks = sorted
    end
  end
  local there = gpu.zeros(n + 1, {dtype = dtype, device = device})
  core.cast(x:isnan():logical_not(), dtype):cumsum({out = there({2, -1})})
  operation = operation or core.elementwise {
    name = "window_quantiles", preamble = select_rank,
    inputs = "int64 first, int64 last, int64 size, int32 bits, int64 least, float64 q, raw T zeros, raw T there, raw float64 sorted",
    outputs = "float64 y",
    body = [[
      const long long count = there[last + 1] - there[first];
      y = 0.0 / 0.0;
      if (count > 0 && count >= least) {
        const double place = (double)(count - 1) * q;
        const long long low = (long long)place;
        const double weight = place - (double)low;
        y = sorted[rank_at(zeros, size, bits, first, last + 1, low)];
        if (weight > 0) y = y * (1 - weight) + sorted[rank_at(zeros, size, bits, first, last + 1, low + 1)] * weight;
      }
    ]],
  }
  local rows = numbers(0)
  local first = gpu.maximum(fields.first or 0, rows - (fields.window - 1))
  return (operation(first, rows, n, bits, fields.least, q, zeros:ravel(), there, x:take(order):eval()))
end

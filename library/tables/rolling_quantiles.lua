-- Medians and quantiles of the windows of rolling.lua.
local gpu, _, core = ...

-- A thread keeps the values of its rows' windows in order.
local source = [[
extern "C" __global__ void quantiles(const double* x, const long long* firsts, double* y, double* memory, long long size, long long window,
                                     int has_firsts, long long chunk, long long chunks, long long room, long long least, double q) {
  const long long own = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (own >= chunks) return;
  double* const kept = memory + own * room;
  const long long begin = own * chunk, end = begin + chunk < size ? begin + chunk : size;
  long long first = 0, next = 0;  // the window has the rows from first to next - 1
  int count = 0;
  const auto place_of = [&](double value) {
    int low = 0, high = count;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (kept[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  for (long long row = begin; row < end; ++row) {
    const long long reach = row - window + 1, own_first = has_firsts ? firsts[row] : 0, new_first = own_first > reach ? own_first : reach;
    if (row == begin || new_first >= next) {
      count = 0;
      first = next = new_first;
    }
    while (first < new_first || next <= row) {
      // One value goes, or one comes, or one takes the place of another.
      const bool goes = first < new_first, comes = next <= row;
      const double old = goes ? x[first] : 0, value = comes ? x[next] : 0;
      const bool removes = goes && old == old, inserts = comes && value == value;
      int hole = removes ? place_of(old) : count;
      if (inserts && removes && value >= old) {
        for (; hole + 1 < count && kept[hole + 1] < value; ++hole) kept[hole] = kept[hole + 1];
        kept[hole] = value;
      } else if (inserts) {
        for (; hole > 0 && kept[hole - 1] > value; --hole) kept[hole] = kept[hole - 1];
        kept[hole] = value;
        count += !removes;
      } else if (removes) {
        for (; hole + 1 < count; ++hole) kept[hole] = kept[hole + 1];
        --count;
      }
      first += goes;
      next += comes;
    }
    double result = 0.0 / 0.0;
    if (count > 0 && count >= least) {
      const double place = (double)(count - 1) * q;
      const int low = (int)place;
      const double weight = place - (double)low, at = kept[low];
      result = weight == 0 ? at : at * (1 - weight) + kept[low + 1] * weight;
    }
    y[row] = result;
  }
}
]]
local most_sorted = 2 ^ 16

local kernels = {}

--- The value at the fraction q of each window of `fields`, as rolling.lua makes them.
return function(op, fields, q)
  local x, device, n = fields.x, fields.x.device, fields.x.size
  local longest = math.min(fields.window, n)
  if longest > most_sorted and fields.first then
    longest = tonumber((gpu.arange(n, {dtype = "int64", device = device}) - fields.first):max():item()) + 1
  end
  if longest > most_sorted then
    core.raise(("[%s] expected windows of at most %d rows, got one of %.0f"):format(op, most_sorted, longest))
  end
  local chunk = math.max(64, 4 * longest)
  local chunks = math.ceil(n / chunk)
  local y = gpu.empty(n, {dtype = "float64", device = device})
  local memory = gpu.empty(chunks * longest, {dtype = "float64", device = device})
  kernels[device] = kernels[device] or core.kernel(source, "quantiles", {device = device})
  kernels[device]:over(chunks)(x, fields.first or gpu.zeros(1, {dtype = "int64", device = device}), y,
    memory, n, fields.window, fields.first and 1 or 0, chunk, chunks, longest, fields.least, q)
  return y
end

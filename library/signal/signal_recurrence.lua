-- gpu.signal: recursive filters over rows. What a piece of a line does to the states is linear: it adds what it gives from states of 0
-- to a power of one matrix times the states before it. So pieces run side by side, and a scan finds the states that each begins with.
-- In sandboxes: all
local gpu, _, core, import = ...
local calls = import "derived_calls"

local recurrence = {}

recurrence.most_states = 64 -- a thread's own memory

-- A filter is SECTIONS sections of ORDER states each; each filters what the one before gives. A thread has a piece of a line, and a
-- warp 32 neighbouring pieces. STAGED: a warp reads and writes their elements in order, through shared memory; else a cache serves its
-- lanes as well. `numbers`: the coefficients b and a of all sections, then the powers of the matrix: over 1, 2, 4, ... pieces.
local source = [[
constexpr int states = SECTIONS * ORDER;
constexpr int unrolled = states <= 16 ? states : 1, in_registers = STAGED ? unrolled : 1;  // the latter compiles longer
constexpr unsigned all_lanes = 0xffffffffu;
constexpr int coefficients = SECTIONS * (ORDER + 1), matrix = states * states;
typedef double States[states];

// The filter's answer to an element.
__device__ inline double answer(States& state, double value, const double* numbers) {
#pragma unroll unrolled
  for (int s = 0; s < SECTIONS; ++s) {
    const double* above = numbers + s * (ORDER + 1);
    const double* below = above + coefficients;
    double* own = state + s * ORDER;
    const double out = above[0] * value + own[0];
#pragma unroll unrolled
    for (int k = 0; k < ORDER - 1; ++k) own[k] = above[k + 1] * value + own[k + 1] - below[k + 1] * out;
    own[ORDER - 1] = above[ORDER] * value - below[ORDER] * out;
    value = out;
  }
  return value;
}

// Adds to `state`, from states of 0 before some pieces, what becomes of the states `before` them. A section's states depend on its own
// and on those of earlier sections alone. States of 0 stay 0, even where a power has overflowed. States that are not finite never are
// finite again; a few elements later they are what they are after any even number of elements, while a power may have become 0.
__device__ inline void add_carried(States& state, const States& before, const double* power, const double* numbers) {
  double sums[states];
  bool finite = true;
#pragma unroll in_registers
  for (int i = 0; i < states; ++i) {
    sums[i] = 0;
    finite = finite && isfinite(before[i]);
#pragma unroll in_registers
    for (int j = 0; j < (i / ORDER + 1) * ORDER; ++j) {
      const double sum = sums[i] + power[i * states + j] * before[j];
      sums[i] = before[j] == 0 ? sums[i] : sum;
    }
  }
  if (!finite) {
    double later[states];
    for (int k = 0; k < states; ++k) later[k] = before[k];
#pragma unroll 1
    for (int t = 0; t < 2 * states; ++t) answer(later, 0, numbers);
    for (int k = 0; k < states; ++k) sums[k] = isfinite(later[k]) ? sums[k] : later[k];
  }
#pragma unroll in_registers
  for (int k = 0; k < states; ++k) state[k] += sums[k];
}

// Adds to each lane's states what the lanes before it give.
__device__ inline void scan(States& state, const double* powers, const double* numbers) {
#pragma unroll 1
  for (int distance = 1; distance < 32; distance *= 2, powers += matrix) {
    States other;
#pragma unroll in_registers
    for (int k = 0; k < states; ++k) other[k] = __shfl_up_sync(all_lanes, state[k], distance);
    if (threadIdx.x % 32 >= distance) add_carried(state, other, powers, numbers);
  }
}

// From the states after each lane's part, from 0 before it, to those before it. `start`: those before the first lane's.
__device__ inline void scan_from(States& state, const States& start, const double* powers, const double* numbers) {
#pragma unroll in_registers
  for (int k = 0; k < states; ++k) {
    const double earlier = __shfl_up_sync(all_lanes, state[k], 1);
    state[k] = threadIdx.x % 32 == 0 ? start[k] : earlier;
  }
  scan(state, powers, numbers);
}

// Filters the pieces of a warp: `length` elements for each lane, from `begin` on, as far as `end`. A piece that has an element
// `last` puts the states after it into `after`.
template <bool writes>
__device__ inline void filter(const VALUE* x, VALUE* y, long long begin, long long length, long long end, States& state,
                              const double* numbers, long long last, double* after) {
  const int lane = threadIdx.x % 32;
#if STAGED
  // A tile has 32 elements of each piece. Past the end there are zeros, whose states nobody reads.
  constexpr int batch = 16;  // rows that are loaded together
  __shared__ VALUE tiles[WARPS][32][33];
  VALUE(*tile)[33] = tiles[threadIdx.x / 32];
  for (long long at = 0; at < length && begin + at < end; at += 32) {
    const int wide = length - at < 32 ? length - at : 32;
    __syncwarp();
    for (int first = 0; first < 32; first += batch) {
      VALUE read[batch];
#pragma unroll
      for (int k = 0; k < batch; ++k) {
        const long long from = begin + (first + k) * length + at + lane;
        read[k] = lane < wide && from < end ? x[from] : VALUE(0);
      }
#pragma unroll
      for (int k = 0; k < batch; ++k) tile[first + k][lane] = read[k];
    }
    __syncwarp();
    if (writes && at <= last && last < at + wide) {
      States there;
      for (int k = 0; k < states; ++k) there[k] = state[k];
      for (int c = 0; c <= last - at; ++c) answer(there, tile[lane][c], numbers);
      for (int k = 0; k < states; ++k) after[k] = there[k];
    }
#pragma unroll 4
    for (int c = 0; c < wide; ++c) {
      const double value = answer(state, tile[lane][c], numbers);
      if (writes) tile[lane][c] = (VALUE)value;
    }
    if (!writes) continue;
    __syncwarp();
#pragma unroll
    for (int row = 0; row < 32; ++row) {
      const long long to = begin + row * length + at + lane;
      if (lane < wide && to < end) y[to] = tile[row][lane];
    }
  }
#else
  // Lanes with equally many elements need no masks.
  const long long mine = begin + lane * length, left = end - mine, count = left < length ? left : length;
  const auto first = [&](long long count) {
    for (long long t = 0; t < count; ++t) {
      const double value = answer(state, x[mine + t], numbers);
      if (writes) y[mine + t] = (VALUE)value;
    }
  };
  if (begin + 32 * length <= end)
    first(length);
  else
    first(count);
  if (writes && last >= 0 && last == count - 1)
    for (int k = 0; k < states; ++k) after[k] = state[k];
#endif
}

// The states after each piece, from 0 before it, and after each warp's pieces.
__global__ void __launch_bounds__(32 * WARPS)
    find_ends(const VALUE* __restrict__ x, double* ends, double* totals, const double* __restrict__ numbers, long long n,
              long long length, long long lines, long long warps) {
  const long long warp = blockIdx.x * (long long)WARPS + threadIdx.x / 32, line = warp / warps;
  if (line >= lines) return;
  States state = {};
  filter<false>(x, nullptr, line * n + (warp - line * warps) * 32 * length, length, (line + 1) * n, state, numbers, -1,
                nullptr);
  const int lane = threadIdx.x % 32;
#pragma unroll in_registers
  for (int k = 0; k < states; ++k) ends[(warp * states + k) * 32 + lane] = state[k];
  scan(state, numbers + 2 * coefficients, numbers);
#pragma unroll in_registers
  for (int k = 0; k < states; ++k)
    if (lane == 31) totals[warp * states + k] = state[k];
}

// From the totals of a line's warps to the states before each. A block has a line, and a thread 2^lifted warps: it goes over them to
// find their total, and once more to write.
__global__ void __launch_bounds__(CARRIERS)
    carry(double* totals, const double* zi, const double* __restrict__ numbers, long long warps, int lifted) {
  __shared__ double parts[CARRIERS / 32][states];
  const double* powers = numbers + 2 * coefficients + 5 * matrix;
  const double* wider = powers + lifted * matrix;
  totals += blockIdx.x * warps * states;
  zi += blockIdx.x * (long long)states;
  const long long first = (long long)threadIdx.x << lifted, end = first + (1ll << lifted), last = end < warps ? end : warps;
  States state = {}, next = {};
#pragma unroll 1
  for (int turn = 0; turn < 2; ++turn) {
    for (long long w = first; w < last; ++w) {
#pragma unroll in_registers
      for (int k = 0; k < states; ++k) {
        next[k] = totals[w * states + k];
        if (turn == 1) totals[w * states + k] = state[k];
      }
      add_carried(next, state, powers, numbers);
#pragma unroll in_registers
      for (int k = 0; k < states; ++k) state[k] = next[k];
    }
    if (turn == 1) break;
    States start;
#pragma unroll in_registers
    for (int k = 0; k < states; ++k) start[k] = zi[k];
    if (CARRIERS > 32) {
      scan(next, wider, numbers);
#pragma unroll in_registers
      for (int k = 0; k < states; ++k)
        if (threadIdx.x % 32 == 31) parts[threadIdx.x / 32][k] = next[k];
      __syncthreads();
      for (int w = 0; w < threadIdx.x / 32; ++w) {
#pragma unroll in_registers
        for (int k = 0; k < states; ++k) next[k] = parts[w][k];
        add_carried(next, start, wider + 5 * matrix, numbers);
#pragma unroll in_registers
        for (int k = 0; k < states; ++k) start[k] = next[k];
      }
    }
    scan_from(state, start, wider, numbers);
  }
}

// Filters the pieces, and gives the states after each line. whole: each line is a piece.
__global__ void __launch_bounds__(32 * WARPS)
    run(const VALUE* __restrict__ x, VALUE* y, const double* ends, const double* starts, double* after,
        const double* __restrict__ numbers, long long n, long long length, long long lines, long long warps, bool whole) {
  const long long warp = blockIdx.x * (long long)WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const long long line = whole ? warp * 32 + lane : warp / warps;
  if ((whole ? warp * 32 : line) >= lines) return;
  States state = {};
  if (!whole) {
    States start;
#pragma unroll in_registers
    for (int k = 0; k < states; ++k) {
      state[k] = ends[(warp * states + k) * 32 + lane];
      start[k] = starts[warp * states + k];
    }
    scan_from(state, start, numbers + 2 * coefficients, numbers);
  } else if (line < lines) {
#pragma unroll in_registers
    for (int k = 0; k < states; ++k) state[k] = starts[line * states + k];
  }
  const long long begin = whole ? warp * 32 * n : line * n + (warp - line * warps) * 32 * length;
  const long long end = whole ? lines * n : (line + 1) * n;
  const long long last = line < lines ? (line + 1) * n - 1 - (begin + lane * length) : -1;
  filter<true>(x, y, begin, length, end, state, numbers, last, after + line * states);
}
]]

-- ---- the matrix ------------------------------------------------------------------------------------------------------------------

-- Each squaring doubles the error of a power. So each element of a matrix is a sum, high + low, where `low` is at most half an ulp of
-- `high` (T. J. Dekker, 1971). `high` and `low` are lists, row after row.

--- x + y, and what rounding takes from it.
local function exact_sum(x, y)
  local sum = x + y
  local part = sum - x
  return sum, (x - (sum - part)) + (y - part)
end

--- x * y, and what rounding takes from it.
local function exact_product(x, y)
  local above, below = x * 134217729, y * 134217729
  above, below = above - (above - x), below - (below - y)
  local product, x_rest, y_rest = x * y, x - above, y - below
  return product, ((above * below - product) + above * y_rest + x_rest * below) + x_rest * y_rest
end

--- The product of matrices of n states. 0 times an infinity is 0.
local function product(p, q, n)
  local high, low = {}, {}
  for at = 1, n * n do high[at], low[at] = 0, 0 end
  for i = 0, n * n - n, n do
    for k = 1, n do
      local x, x_low, row = p.high[i + k], p.low[i + k], k * n - n
      if x ~= 0 then
        for j = 1, n do
          local y = q.high[row + j]
          if y ~= 0 then
            local term, rest = exact_product(x, y)
            local sum, error = exact_sum(high[i + j], term)
            high[i + j] = sum
            low[i + j] = low[i + j] + (error + rest + (x * q.low[row + j] + x_low * y))
          end
        end
      end
    end
  end
  for at = 1, n * n do
    local sum, rest = exact_sum(high[at], low[at])
    if rest == rest then high[at], low[at] = sum, rest else low[at] = 0 end -- beyond the largest number
  end
  return {high = high, low = low}
end

--- The matrix that takes the n states of the sections, in one list, over an element that is 0.
local function state_matrix(sections, n)
  local high, low = {}, {}
  for j = 1, n do
    local value, first = 0, 0
    for _, section in ipairs(sections) do
      local b, a = section.b, section.a
      local function state(k) return first + k == j and 1 or 0 end
      local out = b[1] * value + state(1)
      for k = 1, #a - 1 do high[(first + k - 1) * n + j] = b[k + 1] * value - a[k + 1] * out + (k < #a - 1 and state(k + 1) or 0) end
      value, first = out, first + #a - 1
    end
  end
  for at = 1, n * n do low[at] = 0 end
  return {high = high, low = low}
end

--- Appends `levels` powers of the matrix to the list: over `length` elements, over twice as many, and so on.
local function add_powers(list, sections, n, length, levels)
  local square, power, rest = state_matrix(sections, n), nil, length
  while rest > 0 do
    if rest % 2 == 1 then power = power and product(power, square, n) or square end
    rest = math.floor(rest / 2)
    if rest > 0 then square = product(square, square, n) end
  end
  for level = 1, levels do
    for _, value in ipairs(power.high) do list[#list + 1] = value end
    if level < levels then power = product(power, power, n) end
  end
end

-- ---- launches --------------------------------------------------------------------------------------------------------------------

-- Whether memory is read through shared memory, the warps of a block, and the most threads of the block that carries a line's states;
-- how many lines run side by side as they are, and how many pieces keep a device busy: on an H100, 16 warps of each multiprocessor. A
-- device's size has no say here, so it does not change a result.
local single_warps = {staged = 0, warps = 1, carriers = 32, lines = 64, pieces = 1024}
local large_blocks = {staged = 1, warps = 4, carriers = 512, lines = 8192, pieces = 65536}

local modules = {}
local function module_for(dtype, sections, order, device, kind)
  local key = table.concat({dtype, sections, order, device}, " ")
  modules[key] = modules[key] or core.module(source, {device = device, defines = {VALUE = dtype == "float64" and "double" or "float",
    SECTIONS = sections, ORDER = order, WARPS = kind.warps, CARRIERS = kind.carriers, STAGED = kind.staged}})
  return modules[key]
end

local kept = {} -- of the last filter: its key and its numbers

--- What the kernels read of a filter: its coefficients, then `levels` powers of its matrix, as an array.
local function numbers_of(sections, states, length, levels, device)
  local list = {}
  for _, name in ipairs {"b", "a"} do
    for _, section in ipairs(sections) do
      for _, value in ipairs(section[name]) do list[#list + 1] = value end
    end
  end
  local parts = {device, #sections, length, levels}
  for k, value in ipairs(list) do parts[4 + k] = ("%.17g"):format(value) end
  local key = table.concat(parts, " ")
  if kept.key ~= key then
    if levels > 0 then add_powers(list, sections, states, length, levels) end
    kept.key, kept.numbers = key, gpu.array(list, {dtype = "float64", device = device}):eval()
  end
  return kept.numbers
end

--- The sections, {b =, a =} with coefficients of one length, over the rows of x (lines, n) of a floating dtype. `starts`: the
--- states before each line (lines, states) in float64, or nil for 0. Gives the filtered rows and the states after them.
recurrence.filter = calls.derived("signal.recurrence", function(x, sections, starts)
  local lines, n, order, device = x.shape[1], x.shape[2], #sections[1].a - 1, x.device
  local place, states = {dtype = "float64", device = device}, #sections * order
  starts = starts or gpu.zeros({lines, states}, place)
  if x.size == 0 then return x:copy(), starts end
  local kind = core.block_is_warp(x) and single_warps or large_blocks
  local kernels = module_for(x.dtype, #sections, order, device, kind)
  -- A state reaches the output within a piece. A line has whole warps of pieces, which are long beside the products with the powers
  -- unless one warp is enough. Where lanes read by themselves, a piece is an odd multiple of 32 long: the first elements of pieces that
  -- are a power of two apart would share few lines of a cache.
  local whole = lines >= kind.lines or n <= 256
  local least, fair = math.ceil(order / 32), math.max(2, math.ceil(states / 4))
  local wanted = math.max(least, math.min(fair, math.ceil(n / 1024)), math.ceil(lines * n / kind.pieces / 32))
  local warps, lifted = math.ceil(n / (1024 * wanted)), 0
  local length = whole and n or 32 * bit.bor(math.max(least, math.ceil(n / (1024 * warps))), 1 - kind.staged)
  while kind.carriers * 2 ^ lifted < warps do lifted = lifted + 1 end
  local numbers = numbers_of(sections, states, length, whole and 0 or 11 + lifted, device)
  x, starts = x:contiguous():eval(), starts:contiguous():eval()
  local y, after = gpu.empty(x.shape, {dtype = x.dtype, device = device}), gpu.empty({lines, states}, place)
  local count = whole and math.ceil(lines / 32) or lines * warps
  local launch = {grid = math.ceil(count / kind.warps), block = 32 * kind.warps}
  local ends = whole and starts or gpu.empty({count * 32, states}, place)
  local befores = whole and starts or gpu.empty({count, states}, place)
  if not whole then
    kernels.find_ends(launch)(x, ends, befores, numbers, n, length, lines, warps)
    kernels.carry {grid = lines, block = math.min(kind.carriers, math.ceil(warps / 32) * 32)}(befores, starts, numbers, warps, lifted)
  end
  kernels.run(launch)(x, y, ends, befores, after, numbers, n, length, lines, warps, whole)
  return y, after
end)

return recurrence

-- What gpu.plot draws: few numbers, reduced on the device. A line of many points becomes the first, least, greatest and last value of
-- each column of the picture (M4: U. Jugel and others, 2014), which draws the same pixels; a cloud of points becomes a histogram.
local gpu, _, core, import = ...
local checks = import "checks"
local kinds = import "kinds"
local text_columns = import "text_column"
local texts_of_column, values_of_column = text_columns.texts_of, text_columns.values_of

local data = {most_line = 4000, most_points = 50000}

-- Evenly spaced colours of the maps, from the least value on.
data.colormaps = {
  gray = {"#000000", "#ffffff"},
  hot = {"#000000", "#e60000", "#ffd200", "#ffffff"},
  inferno = {"#000004", "#210c4a", "#57106e", "#8a226a", "#bc3754", "#e45a31", "#f98e09", "#f9cb35", "#fcffa4"},
  viridis = {"#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"},
}

--- The numbers of a vector in a table.
function data.numbers(x) return x:astype("float64"):table() end

function data.vector(op, what, value)
  if type(value) == "table" then core.check_list(op, "numbers", value) end
  local x = type(value) == "table" and gpu.array(value, "float64") or value
  if texts_of_column(x) then core.raise(("[%s] expected %s, numbers, got a column of text, as gpu.plot.bars takes"):format(op, what)) end
  if not core.is_array(x) then core.fail(op, what .. ", a vector or a list of numbers", value) end
  checks.real(op, x)
  if x.ndim ~= 1 or x.size == 0 then core.fail(op, what .. ", a vector of at least one element", x) end
  return x
end

--- The vectors x and y; with one, its elements are y and x is nil.
function data.points(op, first, second)
  if second == nil then return nil, data.vector(op, "values", first) end
  local x, y = data.vector(op, "x", first), data.vector(op, "y", second)
  if x.size ~= y.size then
    core.raise(("[%s] expected as many x as y, got %.0f and %.0f"):format(op, x.size, y.size))
  end
  return x, x.device == y.device and y or y:to(x.device)
end

-- ---- bars -----------------------------------------------------------------------------------------------------------------------

local most_bars = 1000

--- The places and heights of bars, and their names where the first argument has names: a list of strings, or a column of text.
function data.bars(op, first, second)
  local texts, names = texts_of_column(first), nil
  if texts then
    names = values_of_column(first, texts)
  elseif type(first) == "table" and type(first[1]) == "string" then
    core.check_list(op, "names", first)
    names = {}
    for i, name in ipairs(first) do
      if type(name) ~= "string" then core.fail(op, "names, strings alone", name) end
      names[i] = name
    end
  end
  if names and second == nil then core.fail(op, "heights after the names", second) end
  local x, y = nil, data.vector(op, "heights", second == nil and first or second)
  if second ~= nil and not names then x = data.vector(op, "places", first) end
  if y.size > most_bars then core.fail(op, ("at most %d bars; gpu.plot.histogram counts values"):format(most_bars), y) end
  local count = names and #names or x and x.size or y.size
  if count ~= y.size then core.raise(("[%s] expected as many heights as bars, got %.0f and %.0f"):format(op, y.size, count)) end
  local places = x and data.numbers(x) or {}
  for i = 1, x and 0 or y.size do places[i] = i end
  return places, data.numbers(y), names
end

--- The least distance between two of the numbers; 1 of one.
function data.least_step(xs)
  local sorted, least = {}, math.huge
  for i, x in ipairs(xs) do sorted[i] = x end
  table.sort(sorted)
  for i = 2, #sorted do
    local step = sorted[i] - sorted[i - 1]
    if step > 0 then least = math.min(least, step) end
  end
  return least < math.huge and least or 1
end

-- ---- lines ----------------------------------------------------------------------------------------------------------------------

local columns = 1000

local source = [[
// For each column of the picture, the first, least, greatest and last of the values at positions starts[c] to starts[c + 1] - 1.
// Least above greatest: none is finite.
__global__ void column_extremes(const T* values, const long long* starts, double* found) {
  const long long first = starts[blockIdx.x], end = starts[blockIdx.x + 1];
  __shared__ double least[256], greatest[256];
  double low = INFINITY, high = -INFINITY;
  for (long long i = first + threadIdx.x; i < end; i += 256) {
    const double value = values[i];
    if (isfinite(value)) {
      low = fmin(low, value);
      high = fmax(high, value);
    }
  }
  least[threadIdx.x] = low;
  greatest[threadIdx.x] = high;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      least[threadIdx.x] = fmin(least[threadIdx.x], least[threadIdx.x + half]);
      greatest[threadIdx.x] = fmax(greatest[threadIdx.x], greatest[threadIdx.x + half]);
    }
  }
  if (threadIdx.x == 0 && end > first) {
    double* column = found + 4 * blockIdx.x;
    column[0] = values[first];
    column[1] = least[0];
    column[2] = greatest[0];
    column[3] = values[end - 1];
  }
}
]]

--- The kernel's results for each column, a table of rows, and the positions at which columns begin, from 0.
local function extremes(y, starts)
  local dtype = y.dtype == "float64" and "float64" or "float32"
  if kinds.of(y):find "int" and y.nbytes / y.size > 2 then dtype = "float64" end
  local kernel = gpu.kernel(source, "column_extremes",
    {defines = {T = dtype == "float64" and "double" or "float"}, device = y.device})
  local found = gpu.zeros({columns, 4}, {dtype = "float64", device = y.device})
  kernel {grid = columns, block = 256}(y:astype(dtype):contiguous(), starts, found)
  return found:table(), starts:table()
end

local function is_ascending(x) return x({1, -2}):le(x({2, -1})):all():item() end

--- Every k-th point, so that there are at most `most`.
function data.thinned(x, y, most)
  local step = math.ceil(y.size / most)
  local function part(v) return data.numbers(step == 1 and v or v({1, v.size, step})) end
  local ys = part(y)
  if x then return part(x), ys end
  local xs = {}
  for i = 1, #ys do xs[i] = 1 + (i - 1) * step end
  return xs, ys
end

--- The first position in each column, from 0, of x in ascending order; of evenly spaced ones without x.
local function column_starts(x, y, log)
  local n, device = y.size, y.device
  if not x then
    return gpu.floor(gpu.range(0, columns, {dtype = "float64", device = device}) * (n / columns)):astype "int64"
  end
  local first, last = x[1], x[n]
  local space = log and log:find "x" and first > 0 and gpu.geomspace or gpu.linspace
  local edges = space(first, last, columns + 1, {dtype = "float64", device = device})
  local starts = gpu.searchsorted(x:astype "float64", edges) - 1
  starts[1] = 0
  starts[columns + 1] = n
  return starts
end

--- The x of the first and of the last point in each column.
local function ends_of_columns(x, y, starts)
  local firsts, lasts = {}, {}
  for c = 1, columns do firsts[c], lasts[c] = math.min(starts[c] + 1, y.size), math.max(starts[c + 1], 1) end
  if not x then return firsts, lasts end
  local function at(positions) return data.numbers(x:take(gpu.array(positions, {dtype = "int64", device = x.device}))) end
  return at(firsts), at(lasts)
end

--- The points of a line, in two tables. `side`: "min" or "max", the edge of a band, one point in a column.
function data.line(x, y, log, side)
  local n = y.size
  if n <= data.most_line then return data.thinned(x, y, n) end
  if x and not is_ascending(x) then
    if not is_ascending(x:flip()) then return data.thinned(x, y, data.most_points) end
    x, y = x:flip(), y:flip()
  end
  local found, starts = extremes(y, column_starts(x, y, log):contiguous())
  local firsts, lasts = ends_of_columns(x, y, starts)
  local xs, ys = {}, {}
  local function add(px, py) xs[#xs + 1], ys[#ys + 1] = px, py end
  for c = 1, columns do
    local count, column = starts[c + 1] - starts[c], found[c]
    local low, high = column[2], column[3]
    if low > high then low, high = 0 / 0, 0 / 0 end
    local middle = (firsts[c] + lasts[c]) / 2
    if count > 0 and side then
      add(middle, side == "min" and low or high)
    elseif count > 0 then
      add(firsts[c], column[1])
      if count > 2 then
        add(middle, low)
        add(middle, high)
      end
      if count > 1 then add(lasts[c], column[4]) end
    end
  end
  return xs, ys
end

-- ---- clouds and pictures --------------------------------------------------------------------------------------------------------

--- The rows of a picture, the upper first, of the logarithms of how many points each pixel has; NaN for none. And its extent.
function data.density(x, y)
  local seen = x:isfinite():logical_and(y:isfinite())
  if not seen:all():item() then x, y = x[seen], y[seen] end
  local counts, along_x, along_y = gpu.histogram2d(x, y, {400, 300})
  local rows = gpu.where(counts:gt(0), (counts + 1):log(), 0 / 0).T:flip(1)
  return rows:contiguous():table(), {along_x[1], along_x[-1], along_y[1], along_y[-1]}
end

--- The rows of a matrix with at most `most` elements on an axis: means of blocks. And the columns and rows that they stand for.
function data.rows(op, m, most)
  checks.real(op, m)
  if m.ndim ~= 2 or m.size == 0 then core.fail(op, "a matrix", m) end
  local height, width = m.shape[1], m.shape[2]
  local down, across = math.ceil(height / most), math.ceil(width / most)
  m = m:astype "float64"
  if down > 1 or across > 1 then
    m = gpu.pad(m, {{0, -height % down}, {0, -width % across}}, "edge")
    height, width = m.shape[1], m.shape[2]
    m = m:reshape(height / down, down, width / across, across):mean {2, 4}
  end
  return m:contiguous():table(), width, height
end

-- ---- contours -------------------------------------------------------------------------------------------------------------------

local function read_levels(op, rows, levels)
  if type(levels) == "table" then
    if core.check_list(op, "levels", levels) == 0 then core.fail(op, "at least one level", levels) end
    for _, level in ipairs(levels) do
      if type(level) ~= "number" then core.fail(op, "levels, numbers", level) end
    end
    levels = {unpack(levels)}
    table.sort(levels)
    return levels
  end
  if type(levels) ~= "number" or levels < 1 or levels > 1000 or levels % 1 ~= 0 then
    core.fail(op, "a number of levels, from 1 to 1000, or a list of them", levels)
  end
  local least, most = math.huge, -math.huge
  for _, row in ipairs(rows) do
    for _, value in ipairs(row) do
      if value - value == 0 then least, most = math.min(least, value), math.max(most, value) end
    end
  end
  local list = {}
  for i = 1, levels do list[i] = least + (most - least) * i / (levels + 1) end
  return list
end

--- Adds the segments of a level in one cell, whose corners are a b (above) and c d (below); x and y from 0 to 1. Linear on the edges;
--- where both diagonals are possible, the mean of the corners decides.
local function add_cell(add, level, a, b, c, d)
  local points = {}
  local function edge(from, to, x1, y1, x2, y2)
    if (from < level) ~= (to < level) then
      local t = (level - from) / (to - from)
      points[#points + 1] = {x1 + t * (x2 - x1), y1 + t * (y2 - y1)}
    end
  end
  edge(a, b, 0, 0, 1, 0)
  edge(b, d, 1, 0, 1, 1)
  edge(d, c, 1, 1, 0, 1)
  edge(c, a, 0, 1, 0, 0)
  if #points == 2 then
    add(points[1], points[2])
  elseif #points == 4 then
    local shifted = ((a + b + c + d) / 4 < level) == (a < level)
    add(points[1], points[shifted and 2 or 4])
    add(points[3], points[shifted and 4 or 2])
  end
end

--- {x1, y1, x2, y2, level} of the lines at which the values, between the middles of elements, have these levels; and the levels.
function data.contours(op, rows, levels, extent)
  levels = read_levels(op, rows, levels)
  local height, width = #rows, #rows[1]
  local dx, dy = (extent[2] - extent[1]) / width, (extent[3] - extent[4]) / height
  local segments = {}
  for i = 1, height - 1 do
    for j = 1, width - 1 do
      local a, b, c, d = rows[i][j], rows[i][j + 1], rows[i + 1][j], rows[i + 1][j + 1]
      local least, most = math.min(a, b, c, d), math.max(a, b, c, d)
      for _, level in ipairs(a + b + c + d == a + b + c + d and levels or {}) do
        if least < level and level <= most then
          add_cell(function(p, q)
            segments[#segments + 1] = {extent[1] + (j - 0.5 + p[1]) * dx, extent[4] + (i - 0.5 + p[2]) * dy,
              extent[1] + (j - 0.5 + q[1]) * dx, extent[4] + (i - 0.5 + q[2]) * dy, level}
          end, level, a, b, c, d)
        end
      end
    end
  end
  return segments, levels
end

return data

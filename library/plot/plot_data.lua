-- What gpu.plot draws: few numbers, reduced on the device. A line of many points becomes the first, least, greatest and last value of
-- each column of the picture (M4: U. Jugel and others, 2014), which draws the same pixels; a cloud of points becomes a histogram.
local gpu, _, core, import = ...
local checks = import "checks"
local dates = import "plot_dates"
local kinds = import "kinds"
local text_columns = import "text_column"
local texts_of_column, values_of_column = text_columns.texts_of, text_columns.values_of

local data = {most_line = 4000, most_points = 50000}

--- The numbers of a vector in a table.
function data.numbers(x) return x:astype("float64"):table() end

local function is_list_of_texts(value) return type(value) == "table" and type(value[1]) == "string" end

--- Whether the x of a layer are a column of dates or, but for bars, whose names they are, a list of texts.
function data.is_dates(op, value) return op ~= "bars" and is_list_of_texts(value) or dates.of_column(value) ~= nil end

--- The seconds of a list of texts; another value itself.
local function without_texts(op, value)
  if not is_list_of_texts(value) then return value end
  for i = 1, core.check_list(op, "dates", value) do
    if type(value[i]) ~= "string" then core.fail(op, 'dates such as "2024-03-14"', value[i]) end
  end
  local seconds = dates.seconds_of(value)
  if seconds then return seconds end
  for _, text in ipairs(value) do
    if not dates.seconds_of(text) then core.fail(op, 'dates such as "2024-03-14" or "2024-03-14 12:30:15"', text) end
  end
end

--- A vector of numbers; as the x or the places of a layer also a column of dates, as its seconds.
function data.vector(op, what, value)
  local seconds = dates.of_column(value)
  if seconds and what ~= "x" and what ~= "places" then
    core.raise(("[%s] expected %s, numbers, got a column of dates, which x takes; d:number(unit) gives numbers"):format(op, what))
  end
  value = seconds or value
  if type(value) == "table" and core.is_array(value[1]) then
    core.raise(("[%s] expected %s, one vector, got a list of arrays; each has a layer of its own: p = gpu.plot.line(x, y) and p:line(x, z)"):format(
      op, what))
  end
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
  local x, y = data.vector(op, "x", without_texts(op, first)), data.vector(op, "y", second)
  if x.size ~= y.size then
    core.raise(("[%s] expected as many x as y, got %.0f and %.0f"):format(op, x.size, y.size))
  end
  return x, x.device == y.device and y or y:to(x.device)
end

--- All points of a layer of more than `most`, for windows, {x, y}; nil of others, which lose none. What is written to the arrays later
--- does not change them.
function data.source(x, y, most)
  if y.size <= most or core.restricted then return nil end
  return {x = x and x:copy(), y = y:copy()}
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
  if texts_of_column(second) or type(second) == "table" and type(second[1]) == "string" then
    core.fail(op, "the names first, gpu.plot.bars(names, heights)", second)
  end
  local x, y = nil, data.vector(op, "heights", second == nil and first or second)
  if second ~= nil and not names then x = data.vector(op, "places", first) end
  if y.size > most_bars then core.fail(op, ("at most %d bars; gpu.plot.histogram counts values"):format(most_bars), y) end
  local count = names and #names or x and x.size or y.size
  if count ~= y.size then
    core.raise(("[%s] expected as many heights as bars, got %.0f and %.0f%s"):format(op, y.size, count, count == y.size + 1
      and '; gpu.plot.histogram(x) counts, and bars of edges stand at edges(":-2")' or ""))
  end
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

local function check_matrix(op, m)
  checks.real(op, m)
  if m.ndim ~= 2 or m.size == 0 then core.fail(op, "a matrix, behind x and y where they are given", m) end
end

--- How many elements of an axis become one, so that at most `most` stay.
local function block(extent, most) return math.ceil(extent / most) end

--- The rows of a matrix with at most `most` elements on an axis: means of blocks. And the columns and rows that they stand for.
function data.rows(op, m, most)
  check_matrix(op, m)
  local height, width = m.shape[1], m.shape[2]
  local down, across = block(height, most), block(width, most)
  m = m:astype "float64"
  if down > 1 or across > 1 then
    m = gpu.pad(m, {{0, -height % down}, {0, -width % across}}, "edge")
    height, width = m.shape[1], m.shape[2]
    m = m:reshape(height / down, down, width / across, across):mean {2, 4}
  end
  return m:contiguous():table(), width, height
end

--- The places of columns or rows, one for each element that data.rows leaves.
local function places(op, what, v, count, most)
  local xs = data.numbers(data.vector(op, what, v))
  if #xs ~= count then core.raise(("[%s] expected %s with a place for each of %d, got %d"):format(op, what, count, #xs)) end
  local step, means = block(count, most), {}
  for i = 1, #xs do
    if i > 1 and (xs[i] > xs[i - 1]) ~= (xs[2] > xs[1]) or xs[i] == xs[i - 1] or xs[i] ~= xs[i] then
      core.fail(op, what .. " that ascends or descends", v)
    end
  end
  for i = 1, count, step do
    local sum = 0
    for k = i, i + step - 1 do sum = sum + xs[math.min(k, count)] end
    means[#means + 1] = sum / step
  end
  return means
end

--- What gpu.meshgrid gives as the vector that it has in all lines along the axis; another value as it is.
local function one_line(op, what, v, m, axis)
  if not (core.is_array(v) and v.ndim == 2) then return v end
  local line = axis == 2 and v({1, 1}, ":") or v(":", {1, 1})
  if v.shape[1] ~= m.shape[1] or v.shape[2] ~= m.shape[2] or not v:eq(line):all():item() then
    core.fail(op, what .. ", a vector, or a matrix as gpu.meshgrid gives", v)
  end
  return line:reshape(line.size)
end

--- The edges of a matrix of rows as {left, right, bottom, top}, where `top` is that of its first row, which origin = "lower" exchanges
--- in the layer; and whether the axis y runs downward, as it does where it counts rows from above.
function data.extent(layer, width, height)
  local e, is_lower = layer.extent, layer.origin == "lower"
  if not e then return {0.5, width + 0.5, height + 0.5, 0.5}, not is_lower end
  if is_lower then layer.extent = {e[1], e[2], e[4], e[3]} end
  return layer.extent, false
end

--- A matrix whose elements are values at points: {rows, xs, ys, downward}, with the places of its columns and rows. The arguments are
--- the matrix alone, or x, y and the matrix. What stands behind them comes second.
function data.field(op, arguments, layer, most)
  local x, y, m, after = nil, nil, arguments[1], arguments[2]
  if arguments[3] ~= nil then x, y, m, after = unpack(arguments, 1, 4) end
  check_matrix(op, m)
  for _, name in ipairs {"extent", "origin"} do
    if x ~= nil and layer[name] then core.raise(("[%s] expected x and y or an %s, got both"):format(op, name)) end
  end
  local rows, width, height = data.rows(op, m, most)
  local field = {rows = rows}
  if x ~= nil then
    local columns, rows_of_m = m.shape[2], m.shape[1]
    if columns ~= rows_of_m and core.is_array(x) and core.is_array(y) and x.ndim == 1 and x.size == rows_of_m and y.size == columns then
      core.raise(("[%s] expected m with a row for each of the %d places of y and a column for each of the %d of x, got shape %s; m.T has them")
        :format(op, y.size, x.size, checks.shape_text(m.shape)))
    end
    field.xs = places(op, "x", one_line(op, "x", x, m, 2), m.shape[2], most)
    field.ys = places(op, "y", one_line(op, "y", y, m, 1), m.shape[1], most)
    return field, after
  end
  local extent
  extent, field.downward = data.extent(layer, width, height)
  local dx, dy = (extent[2] - extent[1]) / #rows[1], (extent[3] - extent[4]) / #rows
  field.xs, field.ys = {}, {}
  for j = 1, #rows[1] do field.xs[j] = extent[1] + (j - 0.5) * dx end
  for i = 1, #rows do field.ys[i] = extent[4] + (i - 0.5) * dy end
  return field, after
end

-- ---- boxes ----------------------------------------------------------------------------------------------------------------------

local most_outliers = 500

--- Adds the quartiles of a vector, the farthest values within 1.5 of their distances from them, and the values beyond.
local function add_box(op, boxes, place, x)
  if kinds.is_floating(x) then x = x(x:isfinite()) end
  if x.size == 0 then core.fail(op, "values that are finite for each box", x) end
  x = x:astype "float64"
  local quartiles = gpu.quantile(x, {0.25, 0.5, 0.75}):table()
  local reach = 1.5 * (quartiles[3] - quartiles[1])
  local within = x:ge(quartiles[1] - reach):logical_and(x:le(quartiles[3] + reach))
  local inner, outer = x(within), x(within:logical_not())
  local n = #boxes.x + 1
  boxes.x[n], boxes.q1[n], boxes.median[n], boxes.q3[n] = place, quartiles[1], quartiles[2], quartiles[3]
  boxes.low[n], boxes.high[n] = inner:min():item(), inner:max():item()
  if outer.size == 0 then return end
  for _, value in ipairs(select(2, data.thinned(nil, outer:sort(), most_outliers))) do
    boxes.outlier_x[#boxes.outlier_x + 1], boxes.outlier_y[#boxes.outlier_y + 1] = place, value
  end
end

--- The values of each text, as vectors, and the texts in order.
local function groups_of(op, column, value)
  local texts, groups = texts_of_column(column), {}
  local values, names = data.vector(op, "values", value), {}
  if column.size ~= values.size then
    core.raise(("[%s] expected as many values as texts, got %.0f and %.0f"):format(op, values.size, column.size))
  end
  for _, text in ipairs(texts) do
    local chosen = values(column:eq(text))
    if chosen.size > 0 then names[#names + 1], groups[#groups + 1] = text, chosen end
  end
  return groups, names
end

--- A box for each vector of a list or column of a matrix, or for each text of a column beside values; and their names, by default
--- numbers.
function data.boxes(op, first, second)
  local names, groups
  if texts_of_column(first) then
    groups, names = groups_of(op, first, second)
  else
    if texts_of_column(second) then
      core.raise(("[%s] expected the column of names before the values: gpu.plot.boxplot(names, values)"):format(op))
    end
    if second ~= nil then names, first = first, second end
    if core.is_array(first) and first.ndim == 2 then
      groups = {}
      for j = 1, first.shape[2] do groups[j] = first(":", j) end
    elseif core.is_array(first) or type(first) == "table" and type(first[1]) == "number" then
      groups = {first}
    else
      groups = first
    end
    if type(groups) ~= "table" or #groups == 0 then core.fail(op, "vectors in a list, or a matrix whose columns have boxes", groups) end
  end
  if names and (type(names) ~= "table" or #names ~= #groups) then core.fail(op, ("%d names"):format(#groups), names) end
  if not names then
    names = {}
    for i = 1, #groups do names[i] = tostring(i) end
  end
  local boxes = {x = {}, q1 = {}, median = {}, q3 = {}, low = {}, high = {}, outlier_x = {}, outlier_y = {}}
  for i, values in ipairs(groups) do add_box(op, boxes, i, checks.real(op, data.vector(op, "values", values))) end
  return boxes, names
end

return data

-- Sparse matrices in other formats and dtypes.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local views = import "views"

local own = import "sparse"
local _, methods = core.sparse_metatable()

-- ---- order ------------------------------------------------------------------------------------------------------------------

--- Lines of nonzeros at positions (line, place), which count from 0: line by line in ascending order. Nonzeros at one position are
--- added up, in the order in which they are given. `count`: the number of lines.
function own.assemble(line, place, entries, count, width)
  local order
  if count * width < 2 ^ 62 then
    order = (core.cast(line, "int64") * width + place):argsort {stable = true}
  else
    order = gpu.lexsort {place, line}
  end
  local size = entries.size
  line, place, entries = line:take(order):eval(), place:take(order):eval(), entries:take(order)
  if size > 1 then
    local function later(x) return views.slice(x, 1, 2, size - 1) end
    local function earlier(x) return views.slice(x, 1, 1, size - 1) end
    local begins = gpu.logical_or(later(line):ne(earlier(line)), later(place):ne(earlier(place)))
    local first = gpu.concat({gpu.ones(1, {dtype = "bool", device = begins.device}), begins}):flatnonzero()
    if first.size < size then
      local starts = gpu.concat {first - 1, gpu.full({1}, size, {dtype = "int64", device = first.device})}
      entries = core.sum_lines(entries, core.cast(starts, place.dtype):eval())
      line, place = line:take(first), place:take(first)
    end
  end
  return {entries = entries, places = place, starts = core.starts_of(line, count), width = width, ordered = true}
end

--- Whether the lines are ordered. It is found once: positions never change.
function own.ascends(lines)
  if lines.ordered == nil then lines.ordered = core.ascends(lines.entries, lines.places, lines.starts) end
  return lines.ordered
end

--- Lines of assemble()'s order with the same elements: themselves where they are ordered.
function own.ordered(lines)
  if own.ascends(lines) then return lines end
  return own.assemble(core.lines_of(lines.starts, lines.entries.size), lines.places, lines.entries, lines.starts.size - 1, lines.width)
end

--- The positions of the nonzeros, from 0: rows and columns.
function own.positions(fields)
  if not fields.lines then return fields.rows, fields.columns end
  local line = core.lines_of(fields.lines.starts, fields.lines.entries.size)
  if fields.format == "csr" then return line, fields.lines.places end
  return fields.lines.places, line
end

--- The matrix without duplicates, in csr or csc.
local function to_lines(A, format)
  local fields = own.check("to" .. format, A)
  if fields.format == format then return A end
  local shape = {fields.shape[1], fields.shape[2]}
  if fields.lines then return own.compressed(format, shape, own.with_own_entries(own.lines_by(fields, format == "csr" and 1 or 2))) end
  if fields.ordered and format == "csr" then
    return own.compressed(format, shape, own.with_own_entries(own.lines_by(fields, 1)))
  end
  local line, place, count, width = fields.rows, fields.columns, shape[1], shape[2]
  if format == "csc" then line, place, count, width = place, line, width, count end
  return own.compressed(format, shape, own.assemble(line, place, fields.entries, count, width))
end

--- A:tocsr()
function methods.tocsr(A) return (to_lines(A, "csr")) end
--- A:tocsc()
function methods.tocsc(A) return (to_lines(A, "csc")) end

--- A:tocoo()
function methods.tocoo(A)
  local fields = own.check("tocoo", A)
  if fields.format == "coo" then return A end
  local rows, columns = own.positions(fields)
  return own.coordinates({fields.shape[1], fields.shape[2]}, fields.lines.entries:copy(), rows, columns,
    fields.format == "csr" and fields.lines.ordered)
end

--- A:sum_duplicates()
--- The matrix, or one of the same format, whose nonzeros are ordered, each position once.
function methods.sum_duplicates(A)
  local fields = own.check("sum_duplicates", A)
  local shape = {fields.shape[1], fields.shape[2]}
  if fields.lines then
    if own.ascends(fields.lines) then return A end
    return own.compressed(fields.format, shape, own.ordered(fields.lines))
  end
  if fields.ordered then return A end
  local lines = own.assemble(fields.rows, fields.columns, fields.entries, shape[1], shape[2])
  return own.coordinates(shape, lines.entries, core.lines_of(lines.starts, lines.entries.size), lines.places, true)
end

--- The nonzeros for which the condition, an array of their number, is true, as a matrix of the same format.
function own.select(fields, condition)
  local at = condition:flatnonzero()
  local rows, columns = own.positions(fields)
  local entries = own.entries_of(fields):take(at)
  local shape = {fields.shape[1], fields.shape[2]}
  if not fields.lines then return own.coordinates(shape, entries, rows:take(at), columns:take(at), fields.ordered) end
  local line, place = rows:take(at), columns:take(at)
  local count = shape[1]
  if fields.format == "csc" then line, place, count = place, line, shape[2] end
  return own.compressed(fields.format, shape, {entries = entries, places = place, starts = core.starts_of(line, count),
    ordered = fields.lines.ordered})
end

--- A:eliminate_zeros()
function methods.eliminate_zeros(A)
  local fields = own.check("eliminate_zeros", A)
  return (own.select(fields, own.entries_of(fields):ne(0)))
end

-- ---- nonzeros --------------------------------------------------------------------------------------------------------------

--- A matrix with other nonzeros at the same positions.
function own.with_entries(fields, entries)
  local shape = {fields.shape[1], fields.shape[2]}
  if not fields.lines then return own.coordinates(shape, entries, fields.rows, fields.columns, fields.ordered) end
  local lines = fields.lines
  return own.compressed(fields.format, shape, {entries = entries, places = lines.places, starts = lines.starts, ordered = lines.ordered})
end

--- A:copy()
function methods.copy(A)
  local fields = own.check("copy", A)
  return (own.with_entries(fields, own.entries_of(fields):copy()))
end

--- A:astype(dtype)
function methods.astype(A, dtype)
  local fields = own.check("astype", A)
  return (own.with_entries(fields, own.entries_of(fields):astype(own.check_dtype("astype", dtype))))
end

--- A:transpose()
function methods.transpose(A) return A.T end

--- A:to(device)
function methods.to(A, device)
  local fields = own.check("to", A)
  local function there(x) return x:to(device) end
  local shape = {fields.shape[1], fields.shape[2]}
  local entries = there(own.entries_of(fields))
  if not fields.lines then return own.coordinates(shape, entries, there(fields.rows), there(fields.columns), fields.ordered) end
  local lines = fields.lines
  return own.compressed(fields.format, shape, {entries = entries, places = there(lines.places), starts = there(lines.starts),
    ordered = lines.ordered})
end

-- ---- arrays -----------------------------------------------------------------------------------------------------------------

--- A:todense()
function methods.todense(A)
  own.check("todense", A)
  local fields = own.check("todense", A:sum_duplicates())
  local rows, columns = own.positions(fields)
  local entries = own.entries_of(fields)
  local dense = gpu.zeros(fields.shape, {dtype = entries.dtype, device = entries.device})
  if entries.size > 0 then dense:put(core.cast(rows, "int64") * fields.shape[2] + columns + 1, entries) end
  return dense
end
--- A:toarray()
methods.toarray = methods.todense

--- The sums of the elements at place `line + offset` of `count` lines, from the one numbered `first` on, counted from 0.
local function take_diagonal(lines, offset, first, count)
  local sums = core.diagonal_of_lines(lines.entries, lines.places, lines.starts, first, offset, count)
  if sums then return sums end
  if not lines.ordered then -- or not known to be
    local line = core.lines_of(lines.starts, lines.entries.size)
    sums = core.sum_lines(gpu.where(lines.places:eq(line + offset), lines.entries, 0), lines.starts)
    return views.slice(sums, 1, first + 1, count)
  end
  own.diagonal_element = own.diagonal_element or core.elementwise {
    name = "diagonal_element", inputs = "raw T x, raw I places, raw J starts, int64 first, int64 offset", outputs = "T y",
    body = [=[
      const long long line = i + first, place = line + offset, end = starts[line + 1];
      long long k = starts[line];
      for (long long last = end; k < last;) {
        const long long middle = k + (last - k) / 2;
        if ((long long)places[middle] < place)
          k = middle + 1;
        else
          last = middle;
      }
      y = 0;
      if (k < end && (long long)places[k] == place) y += x[k];
    ]=],
  }
  return own.diagonal_element(lines.entries, lines.places, lines.starts, first, offset, {size = count})
end

--- A:diagonal([offset])
function methods.diagonal(A, offset)
  local fields = own.check("diagonal", A)
  offset = checks.integer("diagonal", "an integer offset", offset or 0)
  local rows, columns = fields.shape[1], fields.shape[2]
  local first = math.max(-offset, 0)
  local count = math.max(math.min(rows, columns - offset) - first, 0)
  if count == 0 or own.entries_of(fields).size == 0 then
    return gpu.zeros(count, {dtype = own.entries_of(fields).dtype, device = A.device})
  end
  if fields.format == "csc" then return take_diagonal(fields.lines, -offset, first + offset, count) end
  return take_diagonal(own.lines_by(fields, 1), offset, first, count)
end

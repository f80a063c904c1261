-- Products of two sparse matrices, and Kronecker products.
local gpu, _, core, import = ...
import "sparse_indexing"
import "sparse_conversions"
local views = import "views"
local checks = import "checks"
local calls = import "derived_calls"

local own = import "sparse"

--- The same lines, with nonzeros and positions of the dtypes.
local function cast_lines(lines, dtype, index)
  return {entries = core.cast(lines.entries, dtype), places = core.cast(lines.places, index), starts = core.cast(lines.starts, index),
    width = lines.width, ordered = lines.ordered}
end

-- Terms of a product that are held at a time: they take some 60 bytes each.
local most_terms = 2 ^ 25

--- Lines `from` to `to` - 1, counted from 0, of the product of lines by lines: each nonzero of a line of the first times the line of
--- the second at its index. `ends`: the number of terms up to each nonzero of the first.
local function multiply_some(a, b, dtype, from, to, ends)
  local index = a.starts.dtype
  local bounds = a.starts({from + 1, to + 1})
  local first, last = tonumber(bounds[1]), tonumber(bounds[bounds.size])
  local entries = last - first
  local before = first > 0 and ends[first] or 0
  local total = entries > 0 and tonumber(ends[last]) - tonumber(before) or 0
  if total == 0 then return nil end
  local places = views.slice(a.places, 1, first + 1, entries)
  local term_ends = views.slice(ends, 1, first + 1, entries) - before
  local starts = gpu.concat {gpu.zeros(1, {dtype = "int64", device = term_ends.device}), term_ends}:eval()
  local of = core.lines_of(starts, total) -- the nonzero of the first, for each term
  local within = gpu.range(0, total - 1, {dtype = "int64", device = starts.device}) - starts:take(of + 1)
  local source = (b.starts:take(places + 1):take(of + 1) + within + 1):eval()
  local line = core.lines_of(core.cast(bounds - first, index):eval(), entries):take(of + 1)
  local values = core.cast(views.slice(a.entries, 1, first + 1, entries):take(of + 1), dtype) * b.entries:take(source)
  return own.assemble(core.cast(line, index), b.places:take(source), values:eval(), to - from, b.width)
end

--- The product of two matrices by lines, in pieces that fit into memory, whose terms are expanded, sorted, and added up.
local function multiply_pieces(a, b, dtype)
  local count = a.starts.size - 1
  local device = {dtype = "int64", device = a.entries.device}
  local lengths = b.starts({2, -1}) - b.starts({1, -2})
  local ends = core.cast(lengths, "int64"):take(a.places + 1):cumsum():eval()
  local terms = ends.size > 0 and tonumber(ends[ends.size]) or 0
  local pieces, borders = {}, {0}
  if terms > most_terms then
    -- The first lines whose terms begin beyond each multiple of the limit.
    local line_ends = gpu.concat {gpu.zeros(1, device), ends}:take(a.starts + 1)
    local limits = gpu.range(1, math.ceil(terms / most_terms) - 1, device) * most_terms
    for _, border in ipairs((line_ends:searchsorted(limits)):table()) do
      border = math.min(tonumber(border), count)
      if border > borders[#borders] then borders[#borders + 1] = border end
    end
  end
  if borders[#borders] < count then borders[#borders + 1] = count end
  local stored = 0
  local starts, entries, places = {}, {}, {}
  for i = 1, #borders - 1 do
    local from, to = borders[i], borders[i + 1]
    local lines = terms > 0 and multiply_some(a, b, dtype, from, to, ends) or nil
    local own_starts = lines and core.cast(lines.starts, "int64") or gpu.zeros(to - from + 1, device)
    starts[#starts + 1] = (views.slice(own_starts, 1, 1, to - from) + stored):eval()
    if lines then
      entries[#entries + 1], places[#places + 1] = lines.entries, lines.places
      stored = stored + lines.entries.size
    end
    pieces[i] = lines
  end
  starts[#starts + 1] = gpu.full({1}, stored, device)
  local index = own.index_dtype({count, b.width}, stored)
  local function join(list, kind)
    if #list == 0 then return gpu.zeros(0, {dtype = kind, device = a.entries.device}) end
    return core.cast(#list == 1 and list[1] or gpu.concat(list), kind)
  end
  return {entries = join(entries, dtype), places = join(places, index), starts = join(starts, index), ordered = true}
end

-- How lines are found that no thread merges (kernels/sparse_pairs.cuh).
local in_small_block, in_large_block, in_pieces = -1, -2, -3
local widest_in_blocks = 2 ^ 52

--- Writes the lines of `rest` to the product, as its lines in `list`, which counts from 0.
local function put_lines(product, rest, list)
  local count = rest.entries.size
  if count == 0 then return end
  local of = core.lines_of(rest.starts, count) + 1
  local within = gpu.range(1, count, {dtype = "int64", device = list.device}) - rest.starts:take(of)
  local to = (product.starts:take(list + 1):take(of) + within):eval()
  product.entries:put(to, rest.entries)
  product.places:put(to, core.cast(rest.places, product.places.dtype))
end

--- The same product by kernels. `ordered`: b's lines are.
local function multiply_by_kernels(a, b, dtype, ordered)
  local device, count = a.entries.device, a.starts.size - 1
  local most = count > 0 and tonumber((a.starts({2, -1}) - a.starts({1, -2})):max():item()) or 0 -- nonzeros of a line
  local few = not ordered and 0 or most <= 8 and 8 or 16
  local counts = core.count_pair(a.entries, a.places, a.starts, b.entries, b.places, b.starts, few)
  local sizes, lists, rest = counts, {}, nil
  if count > 0 and tonumber(counts:min():item()) < 0 then
    sizes = counts:copy()
    for mark = in_small_block, in_pieces, -1 do
      local list = (counts:eq(mark):flatnonzero() - 1):eval()
      if list.size > 0 then lists[mark] = list end
      if list.size > 0 and mark ~= in_pieces then
        core.count_marked(a.entries, a.places, a.starts, b.entries, b.places, b.starts, list, mark, sizes)
      elseif list.size > 0 then
        rest = multiply_pieces(own.take_lines(a, list + 1), b, dtype)
        sizes:put(list + 1, rest.starts({2, -1}) - rest.starts({1, -2}))
      end
    end
  end
  local starts = gpu.concat {gpu.zeros(1, {dtype = "int64", device = device}), sizes:cumsum()}
  local stored = tonumber(starts[starts.size])
  if stored >= 2 ^ 31 then a, b = cast_lines(a, dtype, "int64"), cast_lines(b, dtype, "int64") end
  local index = a.starts.dtype
  local entries, places = gpu.empty(stored, {dtype = dtype, device = device}), gpu.empty(stored, {dtype = index, device = device})
  starts = core.cast(starts, index):eval()
  core.multiply_counted(a.entries, a.places, a.starts, b.entries, b.places, b.starts, few, counts, entries, places, starts)
  for mark = in_small_block, in_large_block, -1 do
    if lists[mark] then
      core.multiply_marked(a.entries, a.places, a.starts, b.entries, b.places, b.starts, lists[mark], mark, entries, places, starts)
    end
  end
  local product = {entries = entries, places = places, starts = starts, ordered = true}
  if rest then put_lines(product, rest, lists[in_pieces]) end
  return product
end

--- The product of two matrices by lines.
local function multiply_lines(first, second, dtype)
  local index = core.promote(first.starts.dtype, second.starts.dtype)
  local a, b = cast_lines(first, dtype, index), cast_lines(second, dtype, index)
  local entries, places, starts = core.multiply_pair(a.entries, a.places, a.starts, b.entries, b.places, b.starts, b.width)
  if entries then return {entries = entries, places = places, starts = starts, ordered = true} end
  if b.width > widest_in_blocks then return multiply_pieces(a, b, dtype) end
  return multiply_by_kernels(a, b, dtype, own.ascends(second))
end

local multiply_entries = calls.derived("sparse.pair", function(_, _, first, second, dtype)
  local lines = multiply_lines(first, second, dtype)
  return lines.entries, lines.places, lines.starts
end)

--- The same product, whose nonzeros have derivatives by those of the two.
function own.product_of_lines(first, second, dtype)
  local entries, places, starts = multiply_entries(first.entries, second.entries, first, second, dtype)
  return {entries = entries, places = places, starts = starts, width = second.width, ordered = true}
end

--- a:matmul(b) of two sparse matrices. In csc, the transposes are multiplied, as lines are.
function own.multiply_sparse(op, a, b, options)
  local first, second = own.check(op, a), own.check(op, b)
  if options.out ~= nil then core.fail(op, "no out for a product that is sparse", options.out) end
  if first.shape[2] ~= second.shape[1] then
    core.raise(("[%s] expected (m,k) x (k,n), got %s x %s: %d columns meet %d rows"):format(op, checks.shape_text(first.shape),
      checks.shape_text(second.shape), first.shape[2], second.shape[1]))
  end
  if a.device ~= b.device then
    core.raise(("[%s] expected operands of one device, got %s and %s; A:to(name) copies one over"):format(op, a.device, b.device))
  end
  local dtype = core.promote(a.dtype, b.dtype)
  local shape = {first.shape[1], second.shape[2]}
  if first.format == "csc" and second.format == "csc" then
    return own.compressed("csc", shape, own.product_of_lines(second.lines, first.lines, dtype))
  end
  return own.compressed("csr", shape, own.product_of_lines(own.lines_by(first, 1), own.lines_by(second, 1), dtype))
end

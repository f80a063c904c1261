-- Sparse matrices with a pattern, random ones, and such that are joined of others.
-- In sandboxes: all
local gpu, _, core, import = ...
import "sparse_reductions"
local checks = import "checks"
local views = import "views"

local sparse, own = gpu.sparse, import "sparse"
local fields_of = core.sparse_fields

-- ---- options ------------------------------------------------------------------------------------------------------------------

--- Whether `value` is the options, which can be one of several arguments.
local function are_options(value) return type(value) == "string" or checks.is_options(value) end

--- The options {dtype =, format =, device =, ...}, of which a dtype can take the place.
local function check_options(op, options)
  options = type(options) == "string" and {dtype = options} or checks.fields(op, options)
  local format = options.format
  if format ~= nil and format ~= "csr" and format ~= "csc" and format ~= "coo" then
    core.fail(op, 'format = "csr", "csc" or "coo"', format)
  end
  local dtype = options.dtype ~= nil and own.check_dtype(op, options.dtype) or nil
  return {dtype = dtype, format = format or "csr", device = options.device, generator = options.generator}
end

local function in_format(A, format)
  return format == "csr" and A:tocsr() or format == "csc" and A:tocsc() or A:tocoo()
end

-- ---- diagonals ------------------------------------------------------------------------------------------------------------------

--- Row and length of the diagonal `offset` columns right of the main one.
local function diagonal_of(shape, offset)
  local first = math.max(-offset, 0)
  return first, math.max(math.min(shape[1], shape[2] - offset) - first, 0)
end

--- What to say about a diagonal that does not have `count` values: which vector is to be shorter, itself or the first one, which
--- makes the shape.
local function shorter(shape, first_offset, offset, value, count, origin)
  if value.size > count then return count > 0 and ("; its first are d({1, %d})"):format(count) or "" end
  if not origin then return "" end
  local n = value.size + math.abs(offset)
  local length = n - math.abs(first_offset)
  return length > 0 and ("; make it shorter, d({1, %d}), for the shape (%d,%d), or give a shape, the third argument"):format(length, n, n)
    or "; a shape is the third argument"
end

--- A matrix with values (arrays, or a number for all) on diagonals.
--- `origin`: for messages, where the shape comes from if no argument gives it.
local function of_diagonals(op, shape, offsets, values, dtype, device, origin)
  local rows, columns, entries = {}, {}, {}
  for i, offset in ipairs(offsets) do
    local first, count = diagonal_of(shape, offset)
    local place = gpu.range(first, first + count - 1, {dtype = "int64", device = device})
    rows[i], columns[i] = place, place + offset
    local value = values[i]
    if core.is_array(value) then
      if value.ndim ~= 1 or value.size ~= count and value.size ~= 1 then
        core.raise(("[%s] expected %d values, or one, on diagonal %d of shape %s, got shape %s%s%s"):format(op, count, offset,
          checks.shape_text(shape), checks.shape_text(value.shape), origin or "", shorter(shape, offsets[1], offset, value, count, origin)))
      end
      entries[i] = core.cast(core.broadcast(value, {count}), dtype)
    else
      entries[i] = gpu.full({count}, value, {dtype = dtype, device = device})
    end
  end
  local function join(list, kind)
    if #list == 0 then return gpu.zeros(0, {dtype = kind, device = device}) end
    return core.cast(#list == 1 and list[1] or gpu.concat(list), kind)
  end
  local all = join(entries, dtype)
  local index = own.index_dtype(shape, all.size)
  return own.coordinates(shape, all, join(rows, index), join(columns, index), #offsets == 1)
end

--- gpu.sparse.eye(rows [, columns [, offset]] [, {dtype, format, device}])
function sparse.eye(rows, columns, offset, options)
  local op = "sparse.eye"
  if are_options(columns) then columns, options = checks.shift(op, columns, offset) end
  if are_options(offset) then offset, options = checks.shift(op, offset, options) end
  options = check_options(op, options)
  rows = checks.count(op, "a number of rows of 0 or more", rows)
  columns = checks.count(op, "a number of columns of 0 or more", columns or rows)
  offset = checks.integer(op, "an integer offset", offset or 0)
  local A = of_diagonals(op, {rows, columns}, {offset}, {1}, options.dtype or gpu.default_dtype(), options.device)
  return in_format(A, options.format)
end

--- gpu.sparse.identity(n [, {dtype, format, device}])
function sparse.identity(n, options)
  local op = "sparse.identity"
  options = check_options(op, options)
  n = checks.count(op, "a number of rows of 0 or more", n)
  return in_format(of_diagonals(op, {n, n}, {0}, {1}, options.dtype or gpu.default_dtype(), options.device), options.format)
end

--- gpu.sparse.diags(diagonals [, offsets [, shape]] [, {dtype, format, device}])
--- `diagonals` is a list of arrays, tables or numbers, or a vector for one diagonal.
function sparse.diags(diagonals, offsets, shape, options)
  local op = "sparse.diags"
  if are_options(offsets) then offsets, options = checks.shift(op, offsets, shape) end
  if are_options(shape) then shape, options = checks.shift(op, shape, options) end
  options = check_options(op, options)
  if core.is_array(diagonals) then diagonals = {diagonals} end
  if type(diagonals) ~= "table" or core.check_list(op, "diagonals", diagonals) == 0 then
    core.fail(op, "a vector, or a list of diagonals", diagonals)
  end
  offsets = checks.integers(op, "an integer offset for each diagonal", offsets or 0)
  if #offsets ~= #diagonals then
    core.raise(("[%s] expected an offset for each diagonal, got %d offsets and %d diagonals"):format(op, #offsets, #diagonals))
  end
  local seen, dtype = {}, options.dtype
  local values, found, origin = {}, nil, nil
  for i, diagonal in ipairs(diagonals) do
    if seen[offsets[i]] then core.raise(("[%s] expected each offset once, got %d twice"):format(op, offsets[i])) end
    seen[offsets[i]] = true
    if type(diagonal) == "table" then diagonal = gpu.array(diagonal, {device = options.device}) end
    if core.is_array(diagonal) then
      if diagonal.ndim ~= 1 then core.fail(op, "diagonals that are vectors or numbers", diagonal) end
      local own_dtype = own.entry_dtype(op, diagonal.dtype)
      found = found and core.promote(found, own_dtype) or own_dtype
      options.device = options.device or diagonal.device
    elseif type(diagonal) ~= "number" and type(diagonal) ~= "cdata" then
      core.fail(op, "diagonals that are vectors or numbers", diagonal)
    end
    values[i] = diagonal
  end
  if shape == nil then
    if not core.is_array(values[1]) then core.fail(op, "a shape {rows, columns} for diagonals of one number", shape) end
    local n = values[1].size + math.abs(offsets[1])
    shape = {n, n}
    origin = ("; the first diagonal, %d value%s at offset %d, makes the shape (%d,%d)"):format(values[1].size,
      values[1].size == 1 and "" or "s", offsets[1], n, n)
  end
  if type(shape) ~= "table" or #shape ~= 2 then core.fail(op, "a shape {rows, columns}", shape) end
  core.check_shape(op, shape)
  local A = of_diagonals(op, {shape[1], shape[2]}, offsets, values, dtype or found or gpu.default_dtype(), options.device, origin)
  return in_format(A, options.format)
end

-- ---- random matrices --------------------------------------------------------------------------------------------------------------

--- `count` different integers from 0 to `size` - 1: all of such sets are equally likely.
local function distinct(size, count, options)
  local from = {dtype = "int64", device = options.device, generator = options.generator}
  local function order(n)
    return views.slice(gpu.random.permutation(n, {device = options.device, generator = options.generator}), 1, 1, count)
  end
  if size <= 2 ^ 22 or count > size / 4 then return order(size) - 1 end
  -- Draws are repeated until there are enough different ones; of those too many, any may be left out.
  local drawn = gpu.random.integers({count}, 0, size, from):unique()
  while drawn.size < count do
    local more = gpu.random.integers({2 * (count - drawn.size) + 16}, 0, size, from)
    drawn = gpu.concat({drawn, more}):unique()
  end
  if drawn.size == count then return drawn end
  return drawn:take(order(drawn.size))
end

--- gpu.sparse.random(rows, columns [, density] [, {dtype, format, device, generator}])
--- Uniform nonzeros at random positions.
function sparse.random(rows, columns, density, options)
  local op = "sparse.random"
  if are_options(density) then density, options = checks.shift(op, density, options) end
  options = check_options(op, options)
  local shape = {checks.count(op, "a number of rows of 0 or more", rows), checks.count(op, "a number of columns of 0 or more", columns)}
  if density == nil then density = 0.01 end
  if type(density) ~= "number" or not (density >= 0 and density <= 1) then core.fail(op, "a density from 0 to 1", density) end
  core.check_shape(op, shape)
  local count = math.floor(density * shape[1] * shape[2] + 0.5)
  local dtype = options.dtype or gpu.default_dtype()
  if dtype:find "complex" then core.fail(op, "float32 or float64", dtype) end
  local at = count > 0 and distinct(shape[1] * shape[2], count, options)
    or gpu.zeros(0, {dtype = "int64", device = options.device})
  local entries = gpu.random.uniform({count}, {dtype = dtype, device = options.device, generator = options.generator})
  local index = own.index_dtype(shape, count)
  local width = math.max(shape[2], 1)
  local A = own.coordinates(shape, entries, core.cast(gpu.floor_divide(at, width), index), core.cast(at % width, index))
  return in_format(A, options.format)
end

-- ---- joined matrices --------------------------------------------------------------------------------------------------------------

--- The fields of a matrix: an array becomes sparse.
local function check_matrix(op, A)
  if core.is_array(A) then A = sparse.coo(A) end
  return own.check(op, A)
end

--- The matrices of a list, their dtype and their device.
local function check_matrices(op, matrices)
  if type(matrices) ~= "table" or core.check_list(op, "matrices", matrices) == 0 then
    core.fail(op, "a list of sparse matrices", matrices)
  end
  local list, dtype, device = {}, nil, nil
  for i, A in ipairs(matrices) do
    list[i] = check_matrix(op, A)
    local entries = own.entries_of(list[i])
    dtype = dtype and core.promote(dtype, entries.dtype) or entries.dtype
    device = device or entries.device
    if entries.device ~= device then
      core.raise(("[%s] expected matrices on one device, got %s and %s; A:to(name) copies one over"):format(op, device, entries.device))
    end
  end
  return list, dtype
end

--- Puts matrices into one: `advance(shape, size)` gives the row and column of the next one's first element, and the whole size.
local function join(op, matrices, options, advance)
  options = check_options(op, options)
  local list, dtype = check_matrices(op, matrices)
  dtype = options.dtype or dtype
  local rows, columns, entries, size = {}, {}, {}, nil
  for i, fields in ipairs(list) do
    local row, column
    row, column, size = advance(fields.shape, size)
    local own_rows, own_columns = own.positions(fields)
    rows[i], columns[i] = core.cast(own_rows, "int64") + row, core.cast(own_columns, "int64") + column
    entries[i] = core.cast(own.entries_of(fields), dtype)
  end
  entries = gpu.concat(entries)
  local index = own.index_dtype(size, entries.size)
  local A = own.coordinates(size, entries, core.cast(gpu.concat(rows), index), core.cast(gpu.concat(columns), index))
  return in_format(A, options.format)
end

--- An advance along an axis.
local function along(op, axis)
  local what = axis == 1 and "columns" or "rows"
  return function(shape, size)
    if size and size[3 - axis] ~= shape[3 - axis] then
      core.raise(("[%s] expected matrices with as many %s, got %d and %d"):format(op, what, size[3 - axis], shape[3 - axis]))
    end
    local before = size and size[axis] or 0
    local whole = {shape[1], shape[2]}
    whole[axis] = before + shape[axis]
    return axis == 1 and before or 0, axis == 2 and before or 0, whole
  end
end

--- gpu.sparse.hstack(matrices [, {dtype, format}])
function sparse.hstack(matrices, options) return (join("sparse.hstack", matrices, options, along("sparse.hstack", 2))) end
--- gpu.sparse.vstack(matrices [, {dtype, format}])
function sparse.vstack(matrices, options) return (join("sparse.vstack", matrices, options, along("sparse.vstack", 1))) end

--- gpu.sparse.block_diag(matrices [, {dtype, format}])
function sparse.block_diag(matrices, options)
  return (join("sparse.block_diag", matrices, options, function(shape, size)
    local row, column = size and size[1] or 0, size and size[2] or 0
    return row, column, {row + shape[1], column + shape[2]}
  end))
end

--- gpu.sparse.bmat(blocks [, {dtype, format}])
--- Rows of blocks, sparse matrices or arrays; false where there is none.
function sparse.bmat(blocks, options)
  local op = "sparse.bmat"
  if type(blocks) ~= "table" or core.check_list(op, "rows of blocks", blocks) == 0 then core.fail(op, "rows of blocks", blocks) end
  local list, places, heights, widths = {}, {}, {}, {}
  local columns = type(blocks[1]) == "table" and #blocks[1] or 0
  for i, row in ipairs(blocks) do
    if type(row) ~= "table" or #row ~= columns or columns == 0 then
      core.fail(op, "as many blocks in each row, false where there is none: nil has no place in a list", row)
    end
    for j, block in ipairs(row) do
      if block then
        local fields = check_matrix(op, block)
        local m, n = fields.shape[1], fields.shape[2]
        if heights[i] and heights[i] ~= m or widths[j] and widths[j] ~= n then
          core.raise(("[%s] expected a block of shape %s in row %d and column %d, got %s"):format(op,
            checks.shape_text {heights[i] or m, widths[j] or n}, i, j, checks.shape_text {m, n}))
        end
        heights[i], widths[j] = m, n
        list[#list + 1], places[#places + 1] = block, {i, j}
      end
    end
  end
  local function starts(sizes, count, what)
    local first = {0}
    for i = 1, count do
      if not sizes[i] then core.raise(("[%s] expected a block in each row and column, got none in %s %d"):format(op, what, i)) end
      first[i + 1] = first[i] + sizes[i]
    end
    return first
  end
  local top, left = starts(heights, #blocks, "row"), starts(widths, columns, "column")
  local number = 0
  return (join(op, list, options, function()
    number = number + 1
    local place = places[number]
    return top[place[1]], left[place[2]], {top[#blocks + 1], left[columns + 1]}
  end))
end

--- gpu.sparse.kron(A, B [, {dtype, format}])
function sparse.kron(A, B, options)
  local op = "sparse.kron"
  options = check_options(op, options)
  local first, second = check_matrix(op, A), check_matrix(op, B)
  local left, right = own.entries_of(first), own.entries_of(second)
  if left.device ~= right.device then
    core.raise(("[%s] expected matrices on one device, got %s and %s; A:to(name) copies one over"):format(op, left.device, right.device))
  end
  local shape = {first.shape[1] * second.shape[1], first.shape[2] * second.shape[2]}
  core.check_shape(op, shape)
  local count = left.size * right.size
  local index, dtype = own.index_dtype(shape, count), options.dtype or core.promote(left.dtype, right.dtype)
  local rows, columns = own.positions(first)
  local inner_rows, inner_columns = own.positions(second)
  local function spread(outer, inner, extent)
    return core.cast(core.cast(outer, "int64"):expand_dims(2) * extent + inner, index):reshape(count)
  end
  local result = own.coordinates(shape, (core.cast(left, dtype):expand_dims(2) * core.cast(right, dtype)):reshape(count),
    spread(rows, inner_rows, second.shape[1]), spread(columns, inner_columns, second.shape[2]))
  return in_format(result, options.format)
end

-- ---- parts ------------------------------------------------------------------------------------------------------------------------

local function matrix_of(op, A)
  if not fields_of(A) then core.fail(op, "a sparse matrix", A) end
  return A
end

--- gpu.sparse.tril(A [, offset])
function sparse.tril(A, offset) return (matrix_of("sparse.tril", A):tril(offset)) end
--- gpu.sparse.triu(A [, offset])
function sparse.triu(A, offset) return (matrix_of("sparse.triu", A):triu(offset)) end

--- gpu.sparse.find(A)
--- The rows, columns and values of the elements other than 0.
function sparse.find(A)
  local coo = matrix_of("sparse.find", A):tocsr():sum_duplicates():eliminate_zeros():tocoo()
  return coo.row, coo.col, coo.data
end

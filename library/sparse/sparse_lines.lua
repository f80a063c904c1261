-- The rows and the columns of a sparse matrix as lines of nonzeros, whichever of them it has (sparse.lua).
local gpu, _, core = ...

local lines = {}

--- The lines by the other axis, and the order in which they have the nonzeros.
local function turn(own)
  local count = own.entries.size
  local order = own.places:argsort {stable = true}
  local turned = {
    entries = own.entries:take(order),
    places = core.lines_of(own.starts, count):take(order),
    starts = core.starts_of(own.places:take(order), own.width),
    width = own.starts.size - 1,
    ordered = own.ordered or nil, -- lines that are not ordered may turn into such
  }
  core.keep(turned.entries, turned.places, turned.starts, order)
  return turned, order
end

--- The lines of nonzeros at positions, row by row, and their order.
local function gather_rows(fields)
  local order = fields.ordered and gpu.range(1, fields.entries.size, {dtype = "int64", device = fields.entries.device})
    or fields.rows:argsort {stable = true}
  local rows = {
    entries = fields.entries:take(order),
    places = fields.columns:take(order),
    starts = core.starts_of(fields.rows:take(order), fields.shape[1]),
    width = fields.shape[2],
    ordered = fields.ordered,
  }
  core.keep(rows.entries, rows.places, rows.starts, order)
  return rows, order
end

--- Caches compute(from), the matrix by its other axis, in `from`; gathers the data again if it has changed since, or if the copy was made
--- with nobody observing it for a derivative.
local function kept(from, compute)
  local writes = core.writes(from.entries)
  local copy = from.copy
  if not copy then
    copy = {}
    copy.lines, copy.order = compute(from)
    from.copy = copy
  elseif copy.writes ~= writes or core.observed.call and core.depends(from.entries) ~= core.depends(copy.lines.entries) then
    copy.lines.entries = from.entries:take(copy.order)
    core.keep(copy.lines.entries)
  end
  copy.writes = writes
  return copy.lines
end

--- The lines of a matrix by an axis, 1 for rows. They are the matrix's own or cached in it: never write to their nonzeros.
function lines.by(fields, axis)
  if fields.format == "coo" then
    local rows = kept(fields, gather_rows)
    return axis == 1 and rows or kept(rows, turn)
  end
  local is_own = (fields.format == "csr") == (axis == 1)
  return is_own and fields.lines or kept(fields.lines, turn)
end

--- The lines by the other axis, of lines that have a width.
function lines.turned(own) return kept(own, turn) end

return lines

-- Lines of equal value in a matrix, and the areas between them, by marching squares: linear on the edges between the middles of
-- elements; where both diagonals are possible, the mean of the corners decides.
local _, _, core, import = ...
local options = import "plot_options"

local contours = {}

local function read_levels(op, rows, levels)
  if type(levels) == "table" then
    if core.check_list(op, "levels", levels) == 0 then core.fail(op, "at least one level", levels) end
    for _, level in ipairs(levels) do
      if not options.is_finite(level) then core.fail(op, "levels, numbers", level) end
    end
    levels = {unpack(levels)}
    table.sort(levels)
    return levels
  end
  if type(levels) ~= "number" or levels < 1 or levels > 1000 or levels % 1 ~= 0 then
    core.fail(op, "a number of levels, from 1 to 1000, or a list of them", levels)
  end
  local least, most = options.range(rows)
  if least > most then core.raise(("[%s] expected an element that is finite, got none"):format(op)) end
  local list = {}
  for i = 1, levels do list[i] = least + (most - least) * i / (levels + 1) end
  return list
end

-- ---- loops ----------------------------------------------------------------------------------------------------------------------

-- What stands around the matrix, and in place of NaN: below all levels, so that all lines are loops.
local outside = -math.huge

--- The rows with a frame of `outside`.
local function framed(rows)
  local width, all = #rows[1], {}
  for i = 0, #rows + 1 do
    local row = {}
    for j = 0, width + 1 do
      local value = rows[i] and rows[i][j]
      row[j + 1] = value and value - value == 0 and value or outside
    end
    all[i + 1] = row
  end
  return all
end

--- Closed loops around the elements of at least `level`: {x, y, at_gap, area}, lists of places in columns and in rows, and of whether
--- the loop goes along what is outside there. The area is negative for a loop around what is below the level.
local function loops_of(rows, level)
  local height, width = #rows, #rows[1]
  -- The point of an edge has a number: that of the edge's first corner, twice, plus 1 for an edge that goes down.
  local following, starts, px, py, at_gap = {}, {}, {}, {}, {}
  local function point(i, j, down)
    local key = 2 * (i * (width + 1) + j) + down
    if px[key] then return key end
    local a, b = rows[i][j], rows[i + down][j + 1 - down]
    -- Where one end is outside, the line goes through the other.
    local t = a == outside and 1 or b == outside and 0 or (level - a) / (b - a)
    px[key], py[key], at_gap[key] = j + (1 - down) * t, i + down * t, a == outside or b == outside
    return key
  end
  local crossed, leaves = {}, {}
  for i = 1, height - 1 do
    local above, below = rows[i], rows[i + 1]
    for j = 1, width - 1 do
      local a, b, c, d = above[j] >= level, above[j + 1] >= level, below[j + 1] >= level, below[j] >= level
      if a ~= b or b ~= c or c ~= d then
        -- The edges clockwise; the line leaves the cell's inner part where an edge does.
        local n = 0
        local function edge(from, to, row, column, down)
          if from ~= to then n = n + 1; crossed[n], leaves[n] = point(row, column, down), from end
        end
        edge(a, b, i, j, 0)
        edge(b, c, i, j + 1, 1)
        edge(c, d, i + 1, j, 0)
        edge(d, a, i, j, 1)
        local cuts_outer = n == 4 and above[j] + above[j + 1] + below[j] + below[j + 1] >= 4 * level
        for k = 1, n do
          if leaves[k] then
            following[crossed[k]] = crossed[(n == 2 or cuts_outer) and k % n + 1 or (k - 2) % n + 1]
            starts[#starts + 1] = crossed[k]
          end
        end
      end
    end
  end
  local loops, seen = {}, {}
  for _, start in ipairs(starts) do
    if not seen[start] then
      local loop, area, at = {x = {}, y = {}, at_gap = {}}, 0, start
      repeat
        seen[at] = true
        local k = #loop.x + 1
        loop.x[k], loop.y[k], loop.at_gap[k] = px[at], py[at], at_gap[at]
        local to = following[at]
        area, at = area + px[at] * py[to] - px[to] * py[at], to
      until at == start
      loop.area = area / 2
      loops[#loops + 1] = loop
    end
  end
  return loops
end

--- A place between elements, on the axis: `at` counts from 1 in the frame.
local function along(places, at)
  at = math.max(1, math.min(at - 1, #places))
  local i = math.max(1, math.min(math.floor(at), #places - 1))
  return places[i] + (at - i) * ((places[i + 1] or places[i]) - places[i])
end

-- ---- what is drawn --------------------------------------------------------------------------------------------------------------

--- {x1, y1, x2, y2, level} of the lines at which a field has these levels; and the levels.
function contours.lines(op, field, levels)
  levels = read_levels(op, field.rows, levels)
  local rows, segments = framed(field.rows), {}
  for _, level in ipairs(levels) do
    for _, loop in ipairs(loops_of(rows, level)) do
      for k = 1, #loop.x do
        local n = k % #loop.x + 1
        if not (loop.at_gap[k] or loop.at_gap[n]) then
          segments[#segments + 1] = {along(field.xs, loop.x[k]), along(field.ys, loop.y[k]), along(field.xs, loop.x[n]),
            along(field.ys, loop.y[n]), level}
        end
      end
    end
  end
  return segments, levels
end

--- The areas between levels as polygons {x, y, band} in the order in which they are painted: one inside of another comes later. And
--- the bounds of the bands, from the least to the greatest value. Band 0 is a gap.
function contours.areas(op, field, levels)
  levels = read_levels(op, field.rows, levels)
  local least, most = options.range(field.rows)
  local rows, polygons = framed(field.rows), {}
  for band = 0, #levels do
    for _, loop in ipairs(loops_of(rows, band == 0 and -1e308 or levels[band])) do
      loop.band = loop.area > 0 and band + 1 or band
      loop.size, loop.order = math.abs(loop.area), loop.area > 0 and band or #levels * 2 - band
      if loop.size > 0 then polygons[#polygons + 1] = loop end
    end
  end
  table.sort(polygons, function(a, b)
    if a.size ~= b.size then return a.size > b.size end
    return a.order < b.order
  end)
  for _, polygon in ipairs(polygons) do
    for k = 1, #polygon.x do polygon.x[k], polygon.y[k] = along(field.xs, polygon.x[k]), along(field.ys, polygon.y[k]) end
  end
  local bounds = {math.min(least, levels[1]), unpack(levels)}
  bounds[#bounds + 1] = math.max(most, levels[#levels])
  return polygons, bounds
end

return contours

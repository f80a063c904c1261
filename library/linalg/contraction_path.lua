-- The order in which einsum multiplies its operands. Each step takes two of the terms that are left and appends their product to the
-- others; a path is the list of the pairs of positions.
local gpu, methods, core, import = ...
local checks = import "checks"

local exports = {}

local most_exact = 8 -- operands; the exact search compares 3^n divisions of them

--- The labels that stay when `labels` of `first` and `second` are all multiplied: those of the output and of other terms.
local function kept(first, second, needed)
  local labels = {}
  for label in pairs(first) do labels[label] = needed[label] end
  for label in pairs(second) do labels[label] = needed[label] end
  return labels
end

local function volume(labels, extents)
  local count = 1
  for label in pairs(labels) do count = count * extents[label] end
  return count
end

--- The multiplications, and additions, of the product of two terms whose labels `needed` stay.
local function work(first, second, needed, extents)
  local count, sums = volume(first, extents), 1
  for label in pairs(second) do
    if not first[label] then count = count * extents[label] end
    if not needed[label] then sums = 2 end
  end
  for label in pairs(first) do
    if not needed[label] then sums = 2 end
  end
  return count * sums
end

--- The labels of the output and of the terms but two.
local function needed_by_others(terms, output, i, j)
  local needed = {}
  for label in pairs(output) do needed[label] = true end
  for k, labels in ipairs(terms) do
    if k ~= i and k ~= j then
      for label in pairs(labels) do needed[label] = true end
    end
  end
  return needed
end

--- The steps of a path: the positions, the labels that they give, and their work.
local function steps_of(terms, output, extents, path)
  local left, steps = {unpack(terms)}, {}
  for s, pair in ipairs(path) do
    local i, j = pair[1], pair[2]
    local needed = needed_by_others(left, output, i, j)
    steps[s] = {labels = kept(left[i], left[j], needed), work = work(left[i], left[j], needed, extents), i, j}
    table.remove(left, math.max(i, j))
    table.remove(left, math.min(i, j))
    left[#left + 1] = steps[s].labels
  end
  return steps
end

--- The cheapest path: the best way to divide each set of terms in two. A set is a number whose bits are the terms.
local function exact(terms, output, extents)
  local n, best = #terms, {}
  local all = 2 ^ n - 1
  for set = 1, all do
    local inside, outside = {}, {}
    for label in pairs(output) do outside[label] = true end
    for k, labels in ipairs(terms) do
      local to = bit.band(set, 2 ^ (k - 1)) ~= 0 and inside or outside
      for label in pairs(labels) do to[label] = true end
    end
    local entry = {labels = kept(inside, {}, outside), cost = 0}
    if bit.band(set, set - 1) ~= 0 then
      entry.cost = math.huge
      local part = bit.band(set - 1, set)
      while part > 0 do
        local rest = set - part
        if part < rest then break end -- the other half of the divisions
        local cost = best[part].cost + best[rest].cost
        if cost < entry.cost then cost = cost + work(best[part].labels, best[rest].labels, outside, extents) end
        if cost < entry.cost then entry.cost, entry.part = cost, part end
        part = bit.band(part - 1, set)
      end
    end
    best[set] = entry
  end
  -- From the tree to positions among the terms that are left.
  local left, path = {}, {}
  for k = 1, n do left[k] = 2 ^ (k - 1) end
  local function find(set)
    for k, term in ipairs(left) do
      if term == set then return k end
    end
  end
  local function contract(set)
    local part = best[set].part
    if not part then return end
    contract(part)
    contract(set - part)
    local i, j = find(part), find(set - part)
    i, j = math.min(i, j), math.max(i, j)
    path[#path + 1] = {i, j}
    table.remove(left, j)
    table.remove(left, i)
    left[#left + 1] = set
  end
  contract(all)
  return path
end

--- Each step takes the pair whose product is the smallest beside its operands; among equals, the one with the least work.
local function greedy(terms, output, extents)
  local left, path = {unpack(terms)}, {}
  while #left > 1 do
    local chosen, best_size, best_work
    for i = 1, #left do
      for j = i + 1, #left do
        local needed = needed_by_others(left, output, i, j)
        local labels = kept(left[i], left[j], needed)
        local size = volume(labels, extents) - volume(left[i], extents) - volume(left[j], extents)
        local cost = work(left[i], left[j], needed, extents)
        if not chosen or size < best_size or size == best_size and cost < best_work then
          chosen, best_size, best_work = {i, j, labels = labels}, size, cost
        end
      end
    end
    path[#path + 1] = {chosen[1], chosen[2]}
    table.remove(left, chosen[2])
    table.remove(left, chosen[1])
    left[#left + 1] = chosen.labels
  end
  return path
end

local function from_left(n)
  local path = {}
  for k = 1, n - 1 do path[k] = k == 1 and {1, 2} or {1, n - k + 1} end
  return path
end

--- A script's own path.
local function check_path(op, path, n)
  core.check_list(op, "pairs of positions", path)
  if #path ~= n - 1 then
    core.raise(("[%s] expected a path of %d step%s for %d arrays, got %d"):format(op, n - 1, n == 2 and "" or "s", n, #path))
  end
  local checked = {}
  for s, pair in ipairs(path) do
    local left = n - s + 1
    local pair_text = ("step %d: two positions from 1 to %d"):format(s, left)
    if type(pair) ~= "table" or core.check_list(op, "positions", pair) ~= 2 then core.fail(op, pair_text, pair) end
    for _, position in ipairs(pair) do
      checks.integer(op, pair_text, position)
      if position < 1 or position > left then core.fail(op, pair_text, position) end
    end
    if pair[1] == pair[2] then core.fail(op, ("step %d: two different positions"):format(s), pair[1]) end
    checked[s] = {pair[1], pair[2]}
  end
  return checked
end

--- The path for terms, which are sets of labels: label -> true. `optimize`: nil or true, "optimal", "greedy", false (from left to
--- right), or a path.
function exports.path(op, terms, output, extents, optimize)
  local n = #terms
  if type(optimize) == "table" then return check_path(op, optimize, n) end
  if optimize == false then return from_left(n) end
  if optimize == "greedy" then return greedy(terms, output, extents) end
  if optimize ~= nil and optimize ~= true and optimize ~= "optimal" then
    core.fail(op, 'optimize = true, false, "optimal", "greedy" or a list of pairs of positions', optimize)
  end
  if optimize == "optimal" and n > 16 then core.fail(op, 'at most 16 arrays for optimize = "optimal"', n) end
  if n <= most_exact or optimize == "optimal" then return exact(terms, output, extents) end
  return greedy(terms, output, extents)
end

exports.steps = steps_of
exports.from_left = from_left

return exports

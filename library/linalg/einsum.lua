-- Sums of products by labels of axes. Labels are the equation's letters, and the numbers 1, 2, ... for the axes of an ellipsis,
-- counted from the last.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks = import "checks"
local contraction = import "contraction_path"
local from_left, contraction_path, contraction_steps = contraction.from_left, contraction.path, contraction.steps
local kinds = import "kinds"
local sum_of_products = import("products").sum_of_products

local unpack = unpack

-- ---- the equation -----------------------------------------------------------------------------------------------------------

--- Raises an error with a caret under a position of the equation.
local function refuse_at(op, equation, position, expected)
  local got = position > #equation and "the end" or ('"%s"'):format(equation:sub(position, position))
  core.raise(("[%s] expected %s, got %s:\n  %s\n  %s^"):format(op, expected, got, equation, (" "):rep(position - 1)))
end

--- Reads the equation: for each operand, and the output, a list of letters and "..."; each with its position in the equation. The
--- output is nil where the equation has none.
local function parse(op, equation)
  if type(equation) ~= "string" then core.fail(op, 'an equation, like "ij,jk->ik"', equation) end
  local operands, output = {{at = 1}}, nil
  local term, position = operands[1], 1
  while position <= #equation do
    local c = equation:sub(position, position)
    if c:find "%a" then
      term[#term + 1] = {c, position}
    elseif equation:find("^%.%.%.", position) then
      if term.ellipsis then refuse_at(op, equation, position, "one ... for each array") end
      term[#term + 1], term.ellipsis = {"...", position}, true
      position = position + 2
    elseif c == "," and not output then
      term = {at = position + 1}
      operands[#operands + 1] = term
    elseif equation:find("^%->", position) and not output then
      output = {at = position + 2}
      term, position = output, position + 1
    elseif c ~= " " then
      refuse_at(op, equation, position, output and 'a letter or "..."' or 'a letter, "...", "," or "->"')
    end
    position = position + 1
  end
  return operands, output
end

--- The labels of an operand's axes.
local function labels_of(op, equation, operand, x)
  local letters = operand.ellipsis and #operand - 1 or #operand
  if operand.ellipsis and x.ndim < letters or not operand.ellipsis and x.ndim ~= letters then
    core.raise(("[%s] expected an array of %d axes%s, got shape %s:\n  %s\n  %s^"):format(op, letters,
      operand.ellipsis and " or more" or "", checks.shape_text(x.shape), equation, (" "):rep(operand.at - 1)))
  end
  local labels = {}
  for _, item in ipairs(operand) do
    if item[1] == "..." then
      for axis = x.ndim - letters, 1, -1 do labels[#labels + 1] = axis end
    else
      labels[#labels + 1] = item[1]
    end
  end
  return labels
end

--- The extent of each label. An axis of extent 1 goes with any other, as in arithmetic.
local function extents_of(op, arrays, labels)
  local extents, source = {}, {}
  for i, x in ipairs(arrays) do
    for axis, label in ipairs(labels[i]) do
      local extent, known = x.shape[axis], extents[label]
      if known and known ~= extent and known ~= 1 and extent ~= 1 then
        core.raise(("[%s] expected %s of one length, got %d in %s and %d in %s"):format(op,
          type(label) == "number" and "the axes of ..." or label, known, checks.shape_text(arrays[source[label]].shape), extent,
          checks.shape_text(x.shape)))
      end
      if not known or known == 1 then extents[label], source[label] = extent, i end
    end
  end
  return extents
end

--- The labels of the result, if the equation does not say: those of the ellipses, then the letters that occur once, in their order.
local function implicit_output(labels)
  local counts, most, letters = {}, 0, {}
  for _, own in ipairs(labels) do
    for _, label in ipairs(own) do
      if type(label) == "number" then most = math.max(most, label) end
      counts[label] = (counts[label] or 0) + 1
    end
  end
  for label, count in pairs(counts) do
    if type(label) == "string" and count == 1 then letters[#letters + 1] = label end
  end
  table.sort(letters)
  local result = {}
  for axis = most, 1, -1 do result[#result + 1] = axis end
  for _, letter in ipairs(letters) do result[#result + 1] = letter end
  return result
end

local function explicit_output(op, equation, output, extents)
  local most, result, seen = 0, {}, {}
  for label in pairs(extents) do
    if type(label) == "number" then most = math.max(most, label) end
  end
  for _, item in ipairs(output) do
    local label, position = item[1], item[2]
    if label == "..." then
      for axis = most, 1, -1 do result[#result + 1] = axis end
    else
      if not extents[label] then refuse_at(op, equation, position, "a letter of the arrays") end
      if seen[label] then refuse_at(op, equation, position, "each letter once in the result") end
      seen[label], result[#result + 1] = true, label
    end
  end
  if most > 0 and not output.ellipsis then
    refuse_at(op, equation, #equation + 1, '"..." in the result, for the axes of the arrays\' "..."')
  end
  return result
end

-- ---- the operands -----------------------------------------------------------------------------------------------------------

local function set_of(list)
  local set = {}
  for _, item in ipairs(list) do set[item] = true end
  return set
end

--- x as a term, with each label once: a repeated label is a diagonal. An axis of extent 1 of a longer label goes: the elements are
--- the same along the label.
local function to_term(op, x, labels, extents)
  local own, first = {unpack(labels)}, {}
  local axis = 1
  while axis <= #own do
    local label = own[axis]
    local other = first[label]
    if other then
      if x.shape[other] ~= x.shape[axis] then
        core.raise(("[%s] expected %s of one length, got %d and %d in %s"):format(op, label, x.shape[other], x.shape[axis],
          checks.shape_text(x.shape)))
      end
      x = x:diagonal(0, other, axis)
      table.remove(own, axis)
      table.remove(own, other)
      own[#own + 1] = label
      axis, first = 1, {}
    else
      first[label], axis = axis, axis + 1
    end
  end
  local kept, ones = {}, {}
  for i, label in ipairs(own) do
    if x.shape[i] == extents[label] then kept[#kept + 1] = label else ones[#ones + 1] = i end
  end
  return {x = #ones > 0 and x:squeeze(ones) or x, labels = kept}
end

--- Sums the term over the labels that are not `needed`.
local function sum_others(term, needed)
  local axes, kept = {}, {}
  for axis, label in ipairs(term.labels) do
    if needed[label] then kept[#kept + 1] = label else axes[#axes + 1] = axis end
  end
  if #axes == 0 then return term end
  local dtype = term.x.dtype
  return {x = dtype == "bool" and term.x:any(axes) or term.x:sum(axes, {dtype = dtype}), labels = kept}
end

--- The term's array with its axes in the order of `labels`. A label that it lacks has extent 1.
local function arrange(term, labels)
  local axis_of, axes, missing = {}, {}, {}
  for axis, label in ipairs(term.labels) do axis_of[label] = axis end
  for position, label in ipairs(labels) do
    if axis_of[label] then axes[#axes + 1] = axis_of[label] else missing[#missing + 1] = position end
  end
  local x = term.x
  for position, axis in ipairs(axes) do
    if position ~= axis then
      x = x:permute(axes)
      break
    end
  end
  return #missing > 0 and x:expand_dims(missing) or x
end

local function join(...)
  local result = {}
  for _, list in ipairs {...} do
    for _, item in ipairs(list) do result[#result + 1] = item end
  end
  return result
end

local function extents_along(labels, extents)
  local shape, count = {}, 1
  for i, label in ipairs(labels) do
    shape[i] = extents[label]
    count = count * shape[i]
  end
  return shape, count
end

--- The product of two terms, summed over the labels that are not `needed`.
local function multiply(a, b, needed, extents)
  local in_a, in_b = set_of(a.labels), set_of(b.labels)
  local batch, summed, left, right = {}, {}, {}, {}
  -- The sums go along the greater operand's memory.
  local leading, other = a, in_b
  if b.x.size > a.x.size then leading, other = b, in_a end
  for _, label in ipairs(leading.labels) do
    if other[label] then
      local list = needed[label] and batch or summed
      list[#list + 1] = label
    end
  end
  for _, label in ipairs(a.labels) do
    if not in_b[label] then left[#left + 1] = label end
  end
  for _, label in ipairs(b.labels) do
    if not in_a[label] then right[#right + 1] = label end
  end
  local labels = join(batch, left, right)
  if #summed == 0 then return {x = arrange(a, labels) * arrange(b, labels), labels = labels} end
  local is_vector = #left == 0 or #right == 0
  if is_vector and (#left == #right or #batch > 0 or not (kinds.is_floating(a.x) or kinds.is_complex(a.x))) then
    local all = join(labels, summed)
    local axes = {}
    for i = 1, #summed do axes[i] = #labels + i end
    return {x = sum_of_products(arrange(a, all), arrange(b, all), axes), labels = labels}
  end
  local batch_shape = extents_along(batch, extents)
  local left_shape, m = extents_along(left, extents)
  local right_shape, n = extents_along(right, extents)
  local _, k = extents_along(summed, extents)
  local rows, columns = arrange(a, join(batch, left, summed)), arrange(b, join(batch, summed, right))
  if #left ~= 1 or #summed ~= 1 then rows = rows:reshape(join(batch_shape, {m, k})) end
  if #right ~= 1 or #summed ~= 1 then columns = columns:reshape(join(batch_shape, {k, n})) end
  local product = rows:matmul(columns)
  if #left ~= 1 or #right ~= 1 then product = product:reshape(join(batch_shape, left_shape, right_shape)) end
  return {x = product, labels = labels}
end

-- ---- the functions ----------------------------------------------------------------------------------------------------------

--- The labels of each array that are in another one or in the result: the others are summed before any product.
local function shared_labels(labels, extents, shapes, output)
  local counts, sets, needed = {}, {}, set_of(output)
  for i, own in ipairs(labels) do
    sets[i] = {}
    for axis, label in ipairs(own) do
      if shapes[i][axis] == extents[label] then sets[i][label] = true end
    end
    for label in pairs(sets[i]) do counts[label] = (counts[label] or 0) + 1 end
  end
  for label, count in pairs(counts) do needed[label] = needed[label] or count > 1 or nil end
  for _, set in ipairs(sets) do
    for label in pairs(set) do set[label] = needed[label] end
  end
  return sets, needed
end

local function make_plan(op, equation, arrays, optimize)
  local operands, written = parse(op, equation)
  if #operands ~= #arrays then
    core.raise(('[%s] expected %d array%s for "%s", got %d'):format(op, #operands, #operands == 1 and "" or "s", equation, #arrays))
  end
  local labels, shapes = {}, {}
  for i, x in ipairs(arrays) do labels[i], shapes[i] = labels_of(op, equation, operands[i], x), x.shape end
  local extents = extents_of(op, arrays, labels)
  local output = written and explicit_output(op, equation, written, extents) or implicit_output(labels)
  local sets, needed = shared_labels(labels, extents, shapes, output)
  local kept = set_of(output)
  local path = contraction_path(op, sets, kept, extents, optimize)
  return {labels = labels, extents = extents, output = output, sets = sets, needed = needed, kept = kept, path = path,
    steps = contraction_steps(sets, kept, extents, path)}
end

-- Caches the plans of the latest equations and shapes: making one takes longer than a small product.
local most_plans = 256
local plans, plan_count = {}, 0

--- Reads the arguments. Returns the plan, the arrays and the options.
local function read(op, equation, ...)
  local arrays, options = {...}, nil
  for _, given in ipairs(core.is_array(equation) and arrays or {}) do
    if type(given) == "string" then
      core.raise(('[%s] expected the subscripts first, as in gpu.%s("ij,jk", x, y), got an array before them'):format(op, op))
    end
  end
  if type(arrays[1]) == "table" and core.is_array(arrays[1][1]) then
    core.raise(('[%s] expected the arrays one by one, gpu.%s("ij,jk", x, y), got a table of them'):format(op, op))
  end
  if #arrays > 0 and not core.is_array(arrays[#arrays]) then options = table.remove(arrays) end
  for _, x in ipairs(arrays) do checks.array(op, x) end
  options = checks.fields(op, options)
  local optimize = options.optimize
  if type(equation) ~= "string" or type(optimize) == "table" then
    return make_plan(op, equation, arrays, optimize), arrays, options
  end
  local key = {equation, tostring(optimize)}
  for i, x in ipairs(arrays) do key[i + 2] = table.concat(x.shape, ",") end
  key = table.concat(key, ";")
  local plan = plans[key]
  if not plan then
    plan = make_plan(op, equation, arrays, optimize)
    if plan_count == most_plans then plans, plan_count = {}, 0 end
    plans[key], plan_count = plan, plan_count + 1
  end
  return plan, arrays, options
end

--- gpu.einsum(equation, x, ... [, {optimize, out}])
function gpu.einsum(equation, ...)
  local plan, arrays, options = read("einsum", equation, ...)
  local dtype = arrays[1].dtype
  for i = 2, #arrays do dtype = core.promote(dtype, arrays[i].dtype) end
  local terms = {}
  for i, x in ipairs(arrays) do
    local term = to_term("einsum", x, plan.labels[i], plan.extents)
    term.x = core.cast(term.x, dtype)
    terms[i] = sum_others(term, plan.needed)
  end
  for _, step in ipairs(plan.steps) do
    local a, b = terms[step[1]], terms[step[2]]
    table.remove(terms, math.max(step[1], step[2]))
    table.remove(terms, math.min(step[1], step[2]))
    terms[#terms + 1] = multiply(a, b, step.labels, plan.extents)
  end
  return core.assign("einsum", options.out, arrange(terms[1], plan.output))
end

--- The equation of a step, for the text of a path. An axis of an ellipsis is a dot.
local function step_text(labels)
  local letters = {}
  for label in pairs(labels) do letters[#letters + 1] = type(label) == "string" and label or "." end
  table.sort(letters)
  return table.concat(letters)
end

--- gpu.einsum_path(equation, x, ... [, {optimize}])
function gpu.einsum_path(equation, ...)
  local plan = read("einsum_path", equation, ...)
  local total, largest, lines, left = 0, 0, {equation}, {unpack(plan.sets)}
  for s, step in ipairs(plan.steps) do
    local size = 1
    for label in pairs(step.labels) do size = size * plan.extents[label] end
    total, largest = total + step.work, math.max(largest, size)
    lines[s + 1] = ("  %-6s %-24s %12.3g flops %12.3g elements"):format(("%d,%d"):format(step[1], step[2]),
      ("%s,%s->%s"):format(step_text(left[step[1]]), step_text(left[step[2]]), step_text(step.labels)), step.work, size)
    table.remove(left, math.max(step[1], step[2]))
    table.remove(left, math.min(step[1], step[2]))
    left[#left + 1] = step.labels
  end
  local plain = 0
  for _, step in ipairs(contraction_steps(plan.sets, plan.kept, plan.extents, from_left(#plan.sets))) do
    plain = plain + step.work
  end
  lines[#lines + 1] = ("%.3g flops, %.3g from left to right; the largest result has %.3g elements"):format(total, plain, largest)
  local path = {}
  for s, pair in ipairs(plan.path) do path[s] = {pair[1], pair[2]} end
  return path, table.concat(lines, "\n")
end

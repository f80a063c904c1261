-- Nested tables of arrays, gone through in one order.
local _, _, core, import = ...
local kinds = import "kinds"

local leaves = {}

--- The keys of a table, sorted by type and text.
function leaves.keys(value)
  local keys = {}
  for key in next, value do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return type(a) .. tostring(a) < type(b) .. tostring(b) end)
  return keys
end

function leaves.is_variable(value) return core.is_array(value) and (kinds.is_floating(value) or kinds.is_complex(value)) end

--- The name of value[key], as a script would write it.
local function path_to(path, key)
  if type(key) == "string" and key:find "^[%a_][%w_]*$" then return path .. "." .. key end
  return ("%s[%s]"):format(path, type(key) == "string" and ("%q"):format(key) or tostring(key))
end

--- The floating and complex arrays of a value, an array or nested tables, as a list of {array, path}. `path`: the value's name.
function leaves.of(op, path, value)
  local list, open = {}, {}
  local function visit(item, here)
    if leaves.is_variable(item) then
      list[#list + 1] = {array = item, path = here}
    elseif core.sparse_fields(item) then
      core.raise(("[%s] expected arrays, got a sparse matrix as %s; the array of its elements is %s.data"):format(op, here, here))
    elseif type(item) == "table" then
      if open[item] then core.raise(("[%s] expected tables without cycles, got %s as %s"):format(op, open[item], here)) end
      open[item] = here
      for _, key in ipairs(leaves.keys(item)) do visit(item[key], path_to(here, key)) end
      open[item] = nil
    end
  end
  visit(value, path)
  return list
end

--- The same tables with the arrays of a list in the place of those that leaves.of lists. `alone`: without anything else.
function leaves.replaced(value, arrays, alone)
  local count = 0
  local function visit(item)
    if leaves.is_variable(item) then
      count = count + 1
      return arrays[count]
    elseif type(item) ~= "table" then
      if not alone then return item end
      return nil
    end
    local made = {}
    for _, key in ipairs(leaves.keys(item)) do made[key] = visit(item[key]) end
    return made
  end
  return visit(value)
end

return leaves

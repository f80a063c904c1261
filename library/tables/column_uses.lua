-- Refuses t.name as Lua's condition or beside ==: a column is an array, which is always true and equals no constant. To look at the
-- script's line costs more than the read itself, and ends LuaJIT's traces. Few functions use a field so; where all are known as the parser
-- makes them, a read of another name costs two comparisons.
local _, _, core = ...

local parsed, bytecode = core.parsed_functions(), core.bytecode()
local used = {} -- true for the names of fields that a function uses so

local function read_parsed()
  parsed.has_new = false
  for fn in pairs(parsed.list) do
    parsed.list[fn] = nil
    bytecode.add_used_fields(fn, used)
  end
end

--- Raises an error where the script uses the column so. `kind`: the column's, as in columns.lua.
return function(name, x, kind)
  if parsed and bytecode then
    if parsed.has_new then read_parsed() end
    if not used[name] then return end
  end
  core.check_use(name, not kind and x.dtype == "bool")
end

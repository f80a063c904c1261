-- Tables with named fields that functions give, such as gpu.memory(): a read of a field that is not there is an error.
local _, _, core = ...

local records = {}

local function text_of(names)
  if #names == 0 then return "it has none" end
  local text = table.concat(names, ", "):gsub(", ([%w_]+)$", " and %1")
  return (#names == 1 and "its only field is " or "its fields are ") .. text
end

local function names_of(record)
  local names = {}
  for name in next, record do names[#names + 1] = tostring(name) end
  table.sort(names)
  return names
end

--- {error = 1e-09, reason = "converged"}.
local function text_of_record(record)
  local parts = {}
  for i, name in ipairs(names_of(record)) do parts[i] = ("%s = %s"):format(name, core.describe(record[name])) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- What SciPy calls the fields of a report, and its fields that are results of their own here.
local elsewhere = {success = "converged", fun = "value", message = "reason", status = "reason", nfev = "evaluations", nit = "iterations"}
local own_results = {x = true, y = true, root = true, sol = true, solution = true}

--- The name that SciPy's stands for, the nearest name, or one that has the key as a part of it.
local function nearest(key, names)
  for _, name in ipairs(names) do
    if name == elsewhere[key] then return name end
  end
  for _, name in ipairs(names) do
    if #key > 3 and name:find(key, 1, true) then return name end
  end
  return core.near_name(key, names)
end

--- The metatable of results of `op`, with the other metamethods of `metatable`. `optional`: the fields that a result has only
--- sometimes. Its value is the option that gives it, or true for a field that is nil otherwise.
function records.type(op, optional, metatable)
  metatable, optional = metatable or {__metatable = "a table of results"}, optional or {}
  metatable.__tostring = metatable.__tostring or text_of_record
  function metatable.__index(record, key)
    local option = optional[key]
    if option == true then return nil end
    local names, others = names_of(record), {}
    for name in next, optional do
      if rawget(record, name) == nil then others[#others + 1] = name end
    end
    table.sort(others)
    local text = ("[%s] the result has no field %s"):format(op, core.describe(key))
    if option then core.raise(("%s without the option %s; %s"):format(text, option, text_of(names))) end
    text = text .. "; " .. text_of(names)
    if own_results[key] and rawget(record, "reason") ~= nil then
      core.raise(("%s; local %s, info = gpu.%s(...) has it as the first result"):format(text, key, op))
    end
    for _, name in ipairs(others) do names[#names + 1] = name end
    local meant = type(key) == "string" and nearest(key, names)
    if not meant and #others > 0 then text = text .. ", and by other options " .. table.concat(others, ", ") end
    local giver = meant and rawget(record, meant) == nil and type(optional[meant]) == "string"
    core.raise(text .. (giver and ("; did you mean %q, which the option %s gives?"):format(meant, optional[meant])
      or meant and ("; did you mean %q?"):format(meant) or ""))
  end
  return metatable
end

--- Warns at the script's line where the work of `op` has ended without reaching what it was for: what was expected, a text that goes on
--- after the report's reason, and what helps.
function records.warn_of(op, report, expected, how, advice)
  if report.converged then return end
  core.warn(('[%s] expected %s, got reason "%s"%s; %s, and the second result is the report'):format(op, expected, report.reason, how, advice))
end

local types = {}

--- Seals a result of `op` that has the same fields at each call. Returns it.
function records.seal(record, op)
  types[op] = types[op] or records.type(op)
  return setmetatable(record, types[op])
end

--- The metatable of lists of results of `op`. Each result has the field `example`.
function records.list_type(op, example, metatable)
  metatable = metatable or {__metatable = "a list of results"}
  function metatable.__index(_, key)
    if type(key) == "number" then return nil end
    core.raise(("[%s] the result is a list and has no field %s; its items have fields: result[1].%s"):format(op, core.describe(key), example))
  end
  return metatable
end

--- Seals the list, and its items with the metatable `item_type`. Returns it.
function records.seal_list(list, list_type, item_type)
  for _, item in ipairs(list) do setmetatable(item, item_type) end
  return setmetatable(list, list_type)
end

--- The same for gpu.devices: a device that is not open has its name and kind alone; the others of `properties` are nil.
function records.seal_devices(list, properties)
  return records.seal_list(list, records.list_type("devices", "name"), records.type("devices", properties))
end

return records

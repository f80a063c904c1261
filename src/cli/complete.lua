-- Completes names: globals, fields of tables, those that are reached through __index tables too, and the methods and properties of
-- the library's objects. The chunk gets objects.lua's table, and the function letter -> names of properties. It returns the function
-- text -> list of texts that it can become. It calls no function of the script's, so completing has no effects.

local objects, properties = ...
local getmetatable, next, rawget, type = debug.getmetatable, next, rawget, type
local find, gmatch, match, sub, sort = string.find, string.gmatch, string.match, string.sub, table.sort

local keywords = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or",
  "repeat", "return", "then", "true", "until", "while",
}

local globals = _G

local max_chain = 16 -- tables reached through __index; there may be a cycle

local function next_in_chain(value)
  local meta = getmetatable(value)
  local index = type(meta) == "table" and rawget(meta, "__index")
  return type(index) == "table" and index or nil
end

local function first_in_chain(value)
  return type(value) == "table" and value or next_in_chain(value)
end

local function field(value, name)
  local own = objects.type_of(value)
  if own then return own[1] == "x" and name == "T" and value or objects.columns_of(value)[name] end
  local t = first_in_chain(value)
  for _ = 1, max_chain do
    if t == nil then return nil end
    local found = rawget(t, name)
    if found ~= nil then return found end
    t = next_in_chain(t)
  end
end

return function(text)
  local path, last = match(text, "^(.-)([%w_]*)$")
  local names, seen = {}, {}
  local function offer(name, is_call)
    if type(name) == "string" and find(name, "^[%a_][%w_]*$") and sub(name, 1, #last) == last and not seen[name] then
      seen[name] = true
      names[#names + 1] = path .. name .. (is_call and "(" or "")
    end
  end

  local function offer_object(letter, columns)
    if sub(path, -1) == "." then
      for _, name in next, properties(letter) do offer(name, false) end
      for name in next, columns or {} do offer(name, false) end
    else
      for name in next, objects.methods(letter) or {} do offer(name, true) end
    end
    sort(names)
    return names
  end

  -- The result of a call is usually an array.
  if path == ":" or path == "." then return offer_object "x" end
  local value = globals
  for name in gmatch(path, "([%w_]+)[.:]") do
    value = field(value, name)
    if value == nil then return names end
  end
  local own = objects.type_of(value)
  if own then return offer_object(own[1], objects.columns_of(value)) end
  local methods_only = sub(path, -1) == ":"
  local t = first_in_chain(value)
  for _ = 1, max_chain do
    if t == nil then break end
    for name, item in next, t do
      local is_function = type(item) == "function"
      if is_function or not methods_only then offer(name, is_function) end
    end
    t = next_in_chain(t)
  end
  if path == "" then
    for _, word in next, keywords do offer(word, false) end
  end
  sort(names)
  return names
end

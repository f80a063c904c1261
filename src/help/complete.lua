-- Completes names: globals, fields of tables, those that are reached through __index tables too, the methods and properties of the
-- library's objects, the options of a call in its braces, and files in a string. The chunk gets objects.lua's table and functions:
-- letter -> names of properties, name of a function -> names of options, and folder -> names of what is in it. It returns the function
-- (text, before) -> list of texts that the text can become; `before` stands to its left in the line. It calls no function of the
-- script's, so completing has no effects.

local objects, properties, options, files = ...
local getmetatable, next, rawget, type = debug.getmetatable, next, rawget, type
local find, gmatch, match, sub, sort = string.find, string.gmatch, string.match, string.sub, table.sort
local remove = table.remove

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

-- ---- where the text stands ------------------------------------------------------------------------------------------------------

--- The string that is open at the line's end, and what stands before it; or nil, nil and the places of the open brackets.
local function open_at_end(line)
  local brackets, at = {}, 1
  while true do
    at = find(line, "[\"'%[%](){}]", at)
    if not at then return nil, nil, brackets end
    local c = sub(line, at, at)
    if c == '"' or c == "'" then
      local from = at
      at = at + 1
      while at <= #line and sub(line, at, at) ~= c do at = at + (sub(line, at, at) == "\\" and 2 or 1) end
      if at > #line then return sub(line, from + 1), sub(line, 1, from - 1) end
    elseif find(c, "[%[({]") then
      brackets[#brackets + 1] = at
    else
      remove(brackets)
    end
    at = at + 1
  end
end

--- The name of the function whose options the innermost open brace has, where the next name is an option's; and what is in the brace.
local function call_around(line, brackets)
  local brace = brackets[#brackets]
  if not brace or sub(line, brace, brace) ~= "{" then return nil end
  local inside, outside = sub(line, brace + 1), sub(line, 1, brace - 1)
  if not find(inside, "^%s*$") and not find(inside, "[,;]%s*$") then return nil end
  local name = "([%a_][%w_.:]*)%s*$"
  local call = brackets[#brackets - 1]
  local called = match(outside, name) or call and sub(line, call, call) == "(" and match(sub(line, 1, call - 1), name)
  return called or nil, inside
end

--- The files that the path in a string can be; those behind the last sign at which the editor divides words.
local function files_of(path, text)
  local folder, beginning = match(path .. text, "^(.-)([^/]*)$")
  local kept, list = #beginning - #text, {}
  for _, name in next, files(folder == "" and "." or folder) do
    local is_hidden = sub(name, 1, 1) == "." and sub(beginning, 1, 1) ~= "."
    if sub(name, 1, #beginning) == beginning and not is_hidden then list[#list + 1] = sub(name, kept + 1) end
  end
  sort(list)
  return list
end

local function options_of(called, inside, text)
  local list = {}
  for _, name in next, options(called) do
    if sub(name, 1, #text) == text and not find(inside, "%f[%w_]" .. name .. "%s*=") then list[#list + 1] = name .. " = " end
  end
  sort(list)
  return list
end

-- ---- names ----------------------------------------------------------------------------------------------------------------------

local function names_of(text)
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

return function(text, before)
  local path, outside, brackets = open_at_end(before)
  if path then
    -- help "gpu.li
    if find(outside, "%f[%w_]help%s*%(?%s*$") then return names_of(text) end
    return files_of(path, text)
  end
  local called, inside = call_around(before, brackets)
  local list = called and options_of(called, inside, text) or {}
  return #list > 0 and list or names_of(text)
end

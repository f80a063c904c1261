-- luajit signatures.lua OUT SOURCE...: writes the signatures of all functions, which stand in the sources above the code of each.
--
-- A line such as "--- gpu.eye(rows [, columns [, offset]] [, {dtype, device}])" in Lua, or the same after "///" in C++, declares a
-- function or a method, in the notation of docs/reference.md: parameters in [] are optional, "..." is any number of values, {} has the
-- names of the options, which are passed in a table as the last argument. If dtype is an option, its value can replace the table.
-- "{size, <chart>}" has the options that the line "--- <chart> = title, xlabel" of an earlier place in the file names. A
-- second pair of parentheses is a call of the result. "gpu.hann, gpu.hamming(n)" declares two functions with equal parameters.
--
-- These are not declared: a method of arrays, x:name(...), whose signature follows from gpu.name, with the array before the colon; a
-- method that writes to its array, x:name_(...), which takes the parameters of gpu.name without options; and a method of generators,
-- g:name(...), which takes the parameters of gpu.random.name. <one> and <two> are the elementwise operations of the op table with one
-- and two operands.
--
-- A Lua file says which of its functions scripts in a sandbox have: "-- In sandboxes: all", "none", or their names. The text has a
-- line "file.lua: all" before the functions of a file, and begins with those that are defined in C++.

local out = arg[1]

-- What stands before the dot or colon: the module, and the objects that C++ makes. The methods of objects that are made in Lua are
-- declared by core.guard_methods.
local receivers = {}
for receiver in ("gpu x A g c s e k j mod capsule graph texture"):gmatch "%a+" do receivers[receiver] = true end

-- The options that have a common name.
local option_groups = {}

local function fail(...)
  io.stderr:write(string.format(...), "\n")
  os.exit(1)
end

--- The names and the parameters of a line that declares functions; nil for another line.
local function declaration(line)
  local text = line:match "^%s*%-%-%- (%a+[.:].*)$" or line:match "^/// (%a+[.:].*)$"
  local names, parameters = (text or ""):match "^([%w_.:<>, ]-)(%(.*%))$"
  if not names then names, parameters = (text or ""):match "^([%w_.:<>, ]-)(%b{})$" end
  if not names then names, parameters = (text or ""):match "^(gpu%.comm%.[%w_., ]+)$", "" end
  if not names or not receivers[names:match "^%a+"] then return nil end
  parameters = parameters:gsub("<(%a+)>", option_groups)
  local list = {}
  for name in (names .. ", "):gmatch "(.-), " do
    if not name:find "^%a+[.:][%w_.]+$" and not name:find "^gpu%.<%a+>$" then return nil end
    list[#list + 1] = name
  end
  return list, parameters
end

local declared_in = {}
local heads, functions_of = {}, {}

local function read(path)
  local file = path:match "[^/]*$"
  local is_lua = file:find "%.lua$"
  local functions, sandboxes = {}, nil
  for line in io.lines(path) do
    local group, options = line:match "^%-%-%- <(%a+)> = (.*)$"
    if group then option_groups[group] = options end
    sandboxes = sandboxes or is_lua and line:match "^%-%- In sandboxes: (.*)$"
    local names, parameters = declaration(line)
    for _, name in ipairs(names or {}) do
      if declared_in[name] then fail("%s declares %s, which %s declares", path, name, declared_in[name]) end
      declared_in[name] = path
      functions[#functions + 1] = name .. parameters
    end
  end
  if #functions == 0 then return end
  if is_lua and not sandboxes then fail('%s says nothing about sandboxes: expected a line "-- In sandboxes: all", none, or names', path) end
  local head = is_lua and file .. ": " .. sandboxes or ""
  if not functions_of[head] then heads[#heads + 1] = head end
  functions_of[head] = functions_of[head] or {}
  for _, line in ipairs(functions) do table.insert(functions_of[head], line) end
end

for i = 2, #arg do read(arg[i]) end
table.sort(heads)
local lines = {}
for _, head in ipairs(heads) do
  if head ~= "" then lines[#lines + 1] = head end
  for _, line in ipairs(functions_of[head]) do lines[#lines + 1] = line end
end
local text = table.concat(lines, "\n") .. "\n"
local old = io.open(out, "rb")
if not old or old:read "*a" ~= text then -- a file that stays as it is compiles nothing anew
  local file = assert(io.open(out, "wb"))
  file:write(text)
  file:close()
end

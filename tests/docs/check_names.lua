-- gpulua tests/docs/check_names.lua reference.md names_elsewhere.cpp names_by_subject.cpp
-- Every function of `gpu` stands in the reference, as `gpu.name`, and the reference has no other. Its headings, and the tables of
-- functions, say the same of their arguments as the signatures that calls are checked by.
local gpu = require "gpu"
debug.getregistry()["gpulua.helpers"].load_library()
local signature = debug.getregistry()["gpulua.helpers"].signature

local file = assert(io.open(arg[1]))
local text = file:read "*a"
file:close()

local wrong = {}
local functions_of = debug.getregistry()["gpulua.helpers"].functions_of
local function check(path, module)
  for name, value in pairs(functions_of(module)) do
    local full = path .. "." .. name
    if type(value) == "table" then
      check(full, value)
    elseif not text:find(full .. "%f[^%w_]") then
      wrong[#wrong + 1] = full .. " is not in the reference"
    end
  end
end
check("gpu", gpu)
for name in pairs(debug.getregistry()["gpulua.sparse_methods"]) do
  if not text:find("A:" .. name .. "%f[^%w_]") then wrong[#wrong + 1] = "A:" .. name .. " is not in the reference" end
end

for name in text:gmatch "%f[%w_]gpu%.([%w_.]*[%w_])" do
  local value = gpu
  for part in name:gmatch "[%w_]+" do value = type(value) == "table" and rawget(functions_of(value), part) or nil end
  if value == nil then wrong[#wrong + 1] = "gpu." .. name .. " is in the reference and not in gpulua" end
end

-- ---- arguments ------------------------------------------------------------------------------------------------------------------

--- The parts of a list that is separated by commas outside of brackets.
local function parts(list)
  local result, depth, from = {}, 0, 1
  for i = 1, #list + 1 do
    local c = list:sub(i, i)
    if c:find "[%[({]" then depth = depth + 1 end
    if c:find "[%])}]" then depth = depth - 1 end
    if depth == 0 and c == "," or c == "" then
      result[#result + 1], from = list:sub(from, i - 1):match "^%s*(.-)%s*$", i + 1
    end
  end
  return result
end

--- The signature as documents write it: options by that word, the fields of a definition with "= ...".
local function written(receiver, name)
  local found, line = pcall(signature, receiver == "a:" and "x:" or receiver, name)
  if not found then return nil end
  line = line:gsub("^x:", receiver)
  if line:find "^[%w_.]+{" then return (line:gsub("%f[%w_][%w_]+%f[^%w_.{]", "%0 = ...")) end
  return (line:gsub("{.-}", "options"))
end

local count = 0
for line in text:gmatch "[^\n]+" do
  local list = line:match "^#### (.*)$" or line:match "^| (gpu%..-) | "
  for _, shown in ipairs(list and parts(list) or {}) do
    local receiver, name = shown:match "^([%w_.]-[.:])([%w_]+)[({]"
    -- `k{grid = ...}` calls the kernel itself; methods of tables are made in Lua, and check their own arguments.
    if receiver and receiver ~= "t:" then
      count = count + 1
      local expected = written(receiver, name)
      if not expected then
        wrong[#wrong + 1] = shown .. " has no signature"
      elseif shown ~= expected then
        wrong[#wrong + 1] = shown .. " is in the reference, the signature is " .. expected
      end
    end
  end
end
if count < 180 then wrong[#wrong + 1] = ("only %d functions with arguments in the reference"):format(count) end

-- ---- names of other libraries --------------------------------------------------------------------------------------------------

local rows = ""
for i = 2, #arg do
  local source = assert(io.open(arg[i]))
  rows = rows .. assert(source:read "*a":match "Row [%a_]*rows%[%] = (.-)};\n\n")
  source:close()
end
local methods = debug.getregistry()["gpulua.array_methods"]
count = 0
for name, here in rows:gmatch '{"([^"]+)",%s*"(.-)"},?[ \n]' do
  count = count + 1
  if rawget(functions_of(gpu), name) or rawget(methods, name) then wrong[#wrong + 1] = name .. " of other libraries is here, too" end
  for path in here:gmatch "%f[%w_]gpu%.([%w_.]*[%w_])" do
    local value = gpu
    for part in path:gmatch "[%w_]+" do value = type(value) == "table" and rawget(functions_of(value), part) or nil end
    if value == nil then wrong[#wrong + 1] = ("gpu.%s, named for %s, is not there"):format(path, name) end
  end
  for method in here:gmatch "%f[%w]x:([%w_]+)" do
    if not rawget(methods, method) then wrong[#wrong + 1] = ("x:%s, named for %s, is not there"):format(method, name) end
  end
end
if count < 150 then wrong[#wrong + 1] = ("only %d names of other libraries were read"):format(count) end

for _, message in ipairs(wrong) do io.stderr:write(message, "\n") end
os.exit(#wrong == 0 and 0 or 1, true)

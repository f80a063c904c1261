-- The page of NumPy's and CuPy's functions beside ours, for tools/site.lua: from docs/site/numpy.txt, which has their names, the
-- module itself, and what its errors say to who looks for a function by its name elsewhere.
local gpu = require "gpu"

local registry = debug.getregistry()
registry["gpulua.helpers"].load_library()
local functions_of = registry["gpulua.helpers"].functions_of

-- Where a section's functions are here, and how they are called.
local places = {
  ["numpy"] = {"gpu.", gpu}, ["numpy.ndarray"] = {"x:", registry["gpulua.array_methods"]},
  ["numpy.linalg"] = {"gpu.linalg.", gpu.linalg}, ["numpy.fft"] = {"gpu.fft.", gpu.fft},
  ["numpy.random"] = {"gpu.random.", gpu.random}, ["cupy"] = {"gpu.", gpu},
  ["cupyx.scipy.fft"] = {"gpu.fft.", gpu.fft}, ["cupyx.scipy.linalg"] = {"gpu.linalg.", gpu.linalg},
  ["cupyx.scipy.ndimage"] = {"gpu.ndimage.", gpu.ndimage}, ["cupyx.scipy.signal"] = {"gpu.signal.", gpu.signal},
  ["cupyx.scipy.sparse"] = {"gpu.sparse.", gpu.sparse}, ["cupyx.scipy.sparse.linalg"] = {"gpu.sparse.linalg.", gpu.sparse.linalg},
  ["cupyx.scipy.special"] = {"gpu.", gpu}, ["cupyx.scipy.stats"] = {"gpu.stats.", gpu.stats},
}

local x = gpu.ones(2, 2)

--- What the error about a missing field says to use.
local function advice(holder, name)
  local _, message = pcall(function() return holder[name] end)
  return type(message) == "string" and message:match "; use ([^\n]*)"
end

--- Whether the text is code alone, a call or an index, and no sentence.
local function is_code(text)
  return (text:find "^gpu%." or text:find "^x[:.%[]") and not (text:find " or " or text:find " and " or text:find "[,;:] %l+ %l")
end

--- The function that does the same; nil when there is none.
local function equivalent(section, name)
  local prefix, holder = places[section][1], places[section][2]
  if rawget(functions_of(holder), name) ~= nil then return "`" .. prefix .. name .. "`" end
  if section == "numpy.ndarray" then
    local is_property, value = pcall(function() return x[name] end)
    if is_property and value ~= nil then return "`x." .. name .. "`" end
    holder = x
  end
  local use = advice(holder, name) or advice(gpu, name)
  if use then return is_code(use) and "`" .. use .. "`" or use end
  if rawget(functions_of(gpu), name) ~= nil then return "`gpu." .. name .. "`" end
end

--- The code in the text with links to the reference. `link`: name -> address or nil.
local function linked(text, link)
  return (text:gsub("`(%a+[.:][%w_.:]+)([^`]*)`", function(name, rest)
    local there = link(name)
    return there and ("[`%s%s`](%s)"):format(name, rest, there) or nil
  end))
end

local function check_exists(text)
  for path in text:gmatch "`gpu%.([%w_.]+)" do
    local value = gpu
    for name in path:gmatch "[%w_]+" do value = value[name] end
  end
end

local M = {}

--- The page's text. `list`: "## section" lines, names, and lines "name = text" for names whose equivalent the module cannot tell;
--- such lines after "## notes" are about names of any section. `link`: name of a function -> address or nil.
function M.page(list, link)
  local lines, section, note = {}, nil, {}
  for name, text in list:gmatch "\n([%w_.]+) = ([^\n]*)" do note[name] = text end
  local found, all = 0, 0
  local function add(name)
    local here = note[name] or equivalent(section, name)
    all, found = all + 1, found + (here and 1 or 0)
    check_exists(here or "")
    lines[#lines + 1] = ("| `%s` | %s |"):format(name, here and linked(here, link) or "none")
  end
  for line in list:gmatch "[^\n]+" do
    local title = line:match "^## (.*)"
    if title == "notes" then break end
    if title then
      section = title
      lines[#lines + 1] = ("\n## %s\n\n| %s | here |\n|---|---|"):format(title, title)
    elseif line:find " = " then
      add(line:match "^[%w_.]+")
    elseif not line:find "^#" then
      for name in line:gmatch "%S+" do add(name) end
    end
  end
  local introduction = ([[
# From NumPy and CuPy

%d of %d functions have one here that does the same, mostly by the same name. What differs everywhere:

- Positions and axes count from 1. `x({1, 3})` is the range of the elements 1 to 3, both included.
- `==`, `<` and `and` are Lua's: arrays are compared by `x:eq(y)`, `x:lt(y)`, or `gpu.lt(x, y)`.
- Options stand in a table at the end: `x:sum(1, {keepdims = true})`.
- Arithmetic is lazy: an expression is one kernel, when its elements are needed. `x:eval()` computes it now.
- Arrays that are made without a dtype are float32, or int64 where integers count, not float64: `gpu.zeros(3, {dtype = "float64"})`.

CuPy has NumPy's names; those of its `cupyx.scipy`, and its own, are in [the last tables](#cupyxscipyfft).
]]):format(found, all)
  check_exists(introduction)
  return introduction .. table.concat(lines, "\n") .. "\n"
end

return M

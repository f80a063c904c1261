-- Runs random programs (dag_programs.lua) on arrays and on plain tables, and shortens those whose outputs differ.
local plain = require "plain_arrays"
local programs = require "dag_programs"

local dag = {}

--- The gpu module and the other globals of the programs.
function dag.device()
  local gpu = require "gpu"
  local raw
  local pair = gpu.elementwise {inputs = "T a, T b", outputs = "T x, T y", body = "x = a * 2 + b; y = a - b;"}
  return setmetatable({
    side = gpu.stream(),
    pair = function(a, b)
      local both = (gpu.empty(0, a.dtype) + gpu.empty(0, b.dtype)).dtype  -- T is one type
      return pair(a:astype(both), b:astype(both))
    end,
    reversed = function(a)
      raw = raw or gpu.elementwise {inputs = "raw T a", outputs = "T x", body = "x = a[n - 1 - i];"}
      return raw(a, {size = a.size})
    end,
    total = gpu.reduction {inputs = "T a", outputs = "T x", map = "a + 1", reduce = "a + b", identity = "0"},
  }, {__index = gpu})
end

local function run(lines, module)
  local seen = {}
  local chunk = assert(load("local gpu, v, out = ...\n" .. table.concat(lines, "\n")))
  local ok, message = pcall(chunk, module, {}, function(value) seen[#seen + 1] = value end)
  return ok and seen, message
end

local function difference(expected, got)
  if type(expected) == "table" and type(got) == "table" then
    if #expected ~= #got then return ("%d items, got %d"):format(#expected, #got) end
    for i, item in ipairs(expected) do
      local text = difference(item, got[i])
      if text then return ("[%d]%s%s"):format(i, type(item) == "table" and "" or " ", text) end
    end
  elseif expected ~= got then
    return ("expected %s, got %s"):format(tostring(expected), tostring(got))
  end
end

--- Nil if the module and plain Lua give the same; else the difference. The second result is false for text that is not a program.
function dag.check(lines, module)
  local expected, why = run(lines, plain)
  if not expected then return why, false end
  local got, message = run(lines, module)
  if not got then return message, true end
  local text = difference(expected, got)
  return text and "output " .. text, true
end

--- The lines that are left when each that the difference does not need is taken out.
function dag.shrink(lines, module)
  local again = true
  while again do
    again = false
    for i = #lines, 1, -1 do
      local fewer = {unpack(lines)}
      table.remove(fewer, i)
      local text, is_program = dag.check(fewer, module)
      if text and is_program then lines, again = fewer, true end
    end
  end
  return lines
end

--- Runs `count` programs of `structures` structures in `orders` orders each. Returns nil, or the difference and the shortest
--- program that still shows one. `before(lines)`, if given, is called first.
function dag.run(seed, count, structures, orders, before)
  local module = dag.device()
  for i = 1, count do
    local pick = programs.generator(seed * 1000003 + i)
    local lines = programs.generate(seed * 100 + pick(structures), pick(orders), seed * 1000000 + i)
    if before then before(lines) end
    local text, is_program = dag.check(lines, module)
    if text then
      if is_program then lines = dag.shrink(lines, module) end
      return ("program %d: %s\n%s"):format(i, dag.check(lines, module) or text, table.concat(lines, "\n"))
    end
  end
end

return dag

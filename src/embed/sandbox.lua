-- The globals of scripts that are not trusted. Gets functions of sandbox.cpp and its neighbours: a table `strings` for string's;
-- tostring; grow(co, ...), which makes room for the values on the coroutine's stack; guard(handler), a message handler that calls
-- `handler` unless the call is being stopped; precedes(a, b), which is a < b and looks whether to stop; check_depth(), an error where
-- the C stack is full; load_text(text, name [, env]); call_number(), another one in each call of
-- the program. Returns the table of globals. docs/security.md says what each change is for.
local strings, tostring, grow, guard, precedes, check_depth, load_text, call_number = ...

local most_text = 2 ^ 20 -- bytes that `load` takes

-- ---- functions that one call could keep busy for ever -------------------------------------------------------------------------
-- They are replaced in their tables: the library's own files use them too, and "text":find() goes through string's table.

for name, fn in pairs(strings) do string[name] = fn end
string.dump = nil
getmetatable("").__metatable = false

local insert, remove, sort = table.insert, table.remove, table.sort

local function check_position(op, list, position, last)
  position = tonumber(position) -- as Lua does: "3" is a position
  if type(list) == "table" and position and not (position >= 1 and position <= last) then
    error(("bad argument #2 to '%s' (position out of bounds)"):format(op), 3)
  end
end

--- A list with gaps may have a border far away, and LuaJIT moves the elements up to it in one go.
function table.insert(list, ...)
  if select("#", ...) ~= 2 or type(list) ~= "table" then return insert(list, ...) end
  local position, last = tonumber((...)), #list + 1
  check_position("insert", list, position, last)
  if not position or last - position < 1e5 then return insert(list, ...) end
  position = math.floor(position)
  for i = last, position + 1, -1 do rawset(list, i, rawget(list, i - 1)) end
  rawset(list, position, (select(2, ...)))
end

function table.remove(list, ...)
  if select("#", ...) > 0 and ... ~= #list then check_position("remove", list, (...), math.huge) end
  local removed = remove(list, ...)
  return removed
end

function table.sort(list, comes_first)
  check_depth()
  if comes_first == nil then return sort(list, precedes) end
  if type(comes_first) ~= "function" then return sort(list, comes_first) end -- which raises Lua's error
  sort(list, function(a, b) return comes_first(a, b) end) -- between calls of a function in C no hook runs
end

function table.move(from, first, last, position, to)
  to = to or from
  local ahead = position > last or position <= first or to ~= from
  for i = ahead and first or last, ahead and last or first, ahead and 1 or -1 do to[position + i - first] = from[i] end
  return to
end

--- load(text or function [, name [, mode [, env]]]): source text only. Bytecode could do anything to the process.
local function load(chunk, name, mode, env)
  local size, pieces = 0, {}
  if type(chunk) == "function" then
    repeat
      local piece = chunk()
      if piece ~= nil and type(piece) ~= "string" then return nil, "reader function must return a string" end
      pieces[#pieces + 1] = piece
      size = size + #(piece or "")
    until piece == nil or piece == "" or size > most_text
    chunk, name = table.concat(pieces), name or "=(load)"
  end
  if type(chunk) ~= "string" then error("bad argument #1 to 'load' (string or function expected, got " .. type(chunk) .. ")", 2) end
  if #chunk > most_text then return nil, ("expected at most %d bytes of source in a sandbox, got more"):format(most_text) end
  if mode ~= nil and not tostring(mode):find("t", 1, true) then return nil, "expected source text in a sandbox, got mode " .. tostring(mode) end
  return load_text(chunk, name or chunk, env)
end

local xpcall_unguarded = xpcall

-- LuaJIT does not survive an error in a handler of one of many nested calls in a metamethod where Lua's stack is full: so few nest,
-- as in Lua 5.1. How many each coroutine is in; counted anew in each call of the program, as a call that is stopped leaves none.
local most_nested, main = 190, {}
local nested, counted_call

local function leave(co, ...)
  nested[co] = math.max((nested[co] or 1) - 1, 0)
  return ...
end

local function xpcall(fn, handler, ...)
  check_depth()
  local call, co = call_number(), coroutine.running() or main
  if call ~= counted_call then nested, counted_call = setmetatable({}, {__mode = "k"}), call end
  local depth = nested[co] or 0
  if depth >= most_nested then error("stack overflow: more than 190 calls of xpcall in each other", 2) end
  nested[co] = depth + 1
  return leave(co, xpcall_unguarded(fn, guard(handler), ...))
end

-- ---- functions in C that call the script's, or run another coroutine: each call takes some of the C stack ---------------------

local function nests(fn)
  return function(...)
    check_depth()
    return fn(...)
  end
end

string.format, string.gsub = nests(string.format), nests(string.gsub)
local print, tostring, resume, wrap = nests(print), nests(tostring), coroutine.resume, coroutine.wrap
_G.tostring = tostring

function coroutine.resume(co, ...)
  check_depth()
  grow(co, ...)
  return resume(co, ...)
end

function coroutine.wrap(fn)
  local run = wrap(fn)
  return function(...)
    check_depth()
    grow(run, ...)
    return run(...)
  end
end

-- ---- tables that scripts cannot change ----------------------------------------------------------------------------------------

local read_only_tables = setmetatable({}, {__mode = "k"})

--- A table that shows what `index` gives.
local function read_only(name, index)
  local shown = {}
  read_only_tables[shown] = name
  return setmetatable(shown, {
    __index = index,
    __newindex = function(_, key) error(("expected %s as it is, got an assignment to its field %s"):format(name, tostring(key)), 2) end,
    __metatable = false,
  })
end

--- The same for the module and its parts, which look their functions up when they are first used.
local function read_only_module(name, module)
  local parts = {}
  return read_only(name, function(_, key)
    local value = module[key]
    if type(value) ~= "table" then return value end
    parts[key] = parts[key] or read_only_module(name .. "." .. tostring(key), value)
    return parts[key]
  end)
end

local rawset_anywhere = rawset

local function rawset(list, key, value)
  local name = read_only_tables[list]
  if name then error(("expected %s as it is, got rawset"):format(name), 2) end
  return rawset_anywhere(list, key, value)
end

local gpu = read_only_module("gpu", require "gpu")

local function collectgarbage(option)
  if option ~= "count" then error('expected "count" in a sandbox, got ' .. tostring(option), 2) end
  return gcinfo()
end

local function require(name)
  if name ~= "gpu" then error(('expected "gpu", the one module of a sandbox, got %s'):format(tostring(name)), 2) end
  return gpu
end

-- ---- the globals --------------------------------------------------------------------------------------------------------------

local base = {gpu = gpu, collectgarbage = collectgarbage, load = load, loadstring = load, print = print, rawset = rawset,
  require = require, tostring = tostring, xpcall = xpcall}
for _, name in ipairs {"_VERSION", "assert", "error", "gcinfo", "getmetatable", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget",
  "select", "setmetatable", "tonumber", "type", "unpack"} do
  base[name] = _G[name]
end
for _, name in ipairs {"bit", "coroutine", "math", "string", "table"} do base[name] = read_only(name, _G[name]) end
base.debug = read_only("debug", {traceback = debug.traceback})
base.os = read_only("os", {clock = os.clock, date = os.date, difftime = os.difftime, time = os.time})

local globals = setmetatable({}, {__index = base, __metatable = false})
globals._G = globals
return globals

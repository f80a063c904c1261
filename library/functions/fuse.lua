-- gpu.fuse: a function of arrays whose kernels are recorded at the first call and run again at the others.
-- In sandboxes: all
local gpu, _, core = ...

local exports = {}

-- ---- what a function reads and assigns --------------------------------------------------------------------------------------

--- Adds to `names` the globals that the function, or the prototype of one, reads, also in the functions inside of it. Returns the
--- line at which it assigns to a variable from outside, or nil, and that variable's name.
local function scan(bytecode, fn, outer, names)
  local line, name
  for pc, what, variable in bytecode.outside(fn) do
    local is_global = type(variable) == "string"
    if what == "makes" then
      scan(bytecode, variable, false, names)
    elseif what == "reads" and is_global then
      names[#names + 1] = variable
    elseif what == "assigns" and (outer or is_global) then
      line, name = bytecode.line(fn, pc), is_global and variable or bytecode.util.funcuvname(fn, variable)
    end
  end
  return line, name
end

--- The line on which a function assigns to an outer variable that holds an array and that it has read before, and the variable's
--- name; nil if there is none.
function exports.carried(fn)
  local bytecode = core.bytecode()
  if not bytecode or debug.getinfo(fn, "S").what == "C" then return end
  local read = {}
  for pc, what, variable in bytecode.outside(fn) do
    if what == "reads" then
      read[variable] = true
    elseif what == "assigns" and read[variable] then
      local name, value = variable, nil
      if type(variable) == "string" then
        value = getfenv(fn)[variable]
      else
        name, value = debug.getupvalue(fn, variable + 1)
      end
      if core.is_array(value) then return bytecode.line(fn, pc), name end
    end
  end
end

--- The line on which fn does what its recorded calls alone would do, what that is, and what to write; nil without one.
local function unrepeated(bytecode, fn)
  local read, draws, advice = {}, "draws by math.random", "gpu.random draws anew in each call"
  for pc, what, variable in bytecode.outside(fn) do
    local is_upvalue = what == "reads" and type(variable) == "number"
    if is_upvalue and select(2, debug.getupvalue(fn, variable + 1)) == math.random then return bytecode.line(fn, pc), draws, advice end
  end
  for pc, what, owner, key in bytecode.fields(fn) do
    local line = bytecode.line(fn, pc)
    if owner == math and key == "random" then return line, draws, advice end
    if what == "reads" and type(owner) == "table" then
      read[owner] = read[owner] or {}
      read[owner][key] = true
    elseif what == "sets" and read[owner] and read[owner][key] then
      return line, ("reads the field '%s' and sets it"):format(key), "pass the value and return it"
    end
  end
end

-- The names of the globals that a function reads: a list, or false for a function of the library.
local library = debug.getinfo(1, "S").source
local globals = setmetatable(core.globals, { __mode = "k" })

function globals.find(fn)
  local names = {}
  if debug.getinfo(fn, "S").source == library then
    names = false
  else
    scan(core.bytecode(), fn, true, names)
  end
  globals[fn] = names
  return names
end

-- The functions that gpu.fuse gave, with what made_of has made of each.
local fused = setmetatable({}, { __mode = "k" })

-- ---- gpu.fuse -------------------------------------------------------------------------------------------------------------------

--- gpu.fuse(fn)
--- A function that does what fn does, but runs fn's Lua code only once for each set of layouts and numbers.
function gpu.fuse(fn)
  if type(fn) ~= "function" then core.fail("fuse", "a function of arrays", fn) end
  local bytecode = core.bytecode()
  if not bytecode then
    core.raise "[fuse] expected a Lua state with LuaJIT's module jit.util, which shows what a function reads"
  end
  if debug.getinfo(fn, "S").what ~= "C" then
    local line, name = scan(bytecode, fn, true, {})
    if line then
      core.raise(("[fuse] expected a function that assigns to no variable from outside, got one that sets '%s' on line %d, which "
        .. "happens only in the calls that record: return the value instead"):format(name, line))
    end
    local at, what, instead = unrepeated(bytecode, fn)
    if at then
      core.raise(("[fuse] expected a function that does the same in each call, got one that %s on line %d, which happens only in the "
        .. "calls that record: %s"):format(what, at, instead))
    end
  end
  local known = core.traces(fn)
  local function finish(ok, ...)
    core.end_trace(known, ok, ...)
    if not ok then error((...), 0) end
    return ...
  end
  local function run(...)
    if core.has_tape() then return core.called(fn, ...) end -- a derivative follows the operations
    local way = core.enter_fused(known, ...)
    if way == "replay" then return core.replay(known) end
    if way == "trace" then return finish(core.call(fn, ...)) end
    return core.called(fn, ...)
  end
  fused[run] = {}
  return run
end

--- What `make` makes of the script's function f, such as its derivative. Of a function that gpu.fuse gave it is recorded too, unless it
--- does more than expressions, as some derivatives of expressions do; and it is made once for each `name`.
function exports.made_of(f, name, make)
  local made = fused[f]
  if not made then return make(f) end
  if made[name] then return made[name] end
  local plain = make(f)
  local run = gpu.fuse(plain)
  local function finish(arguments, ok, ...)
    if ok then return ... end
    if not tostring((...)):find("[fuse]", 1, true) then error((...), 0) end
    run = plain
    return plain(unpack(arguments, 1, arguments.n))
  end
  made[name] = function(...)
    if run == plain then return plain(...) end
    return finish({ n = select("#", ...), ... }, core.call(run, ...))
  end
  return made[name]
end

return exports

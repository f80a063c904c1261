-- Helpers that are simpler in Lua than in C++. The chunk gets the `gpu` table, and the table of its parts by path, and returns the
-- helpers for the bindings.
local gpu, paths = ...
local ffi = require "ffi"

local helpers = {}

-- ---- complex numbers: LuaJIT has the literals but no arithmetic (1+2i is an addition) --------------------------------------

local complex = ffi.typeof "complex"

local function is_complex(value) return ffi.istype(complex, value) or ffi.istype("complex float", value) end

--- The real and imaginary part of a number; nil for another value.
local function parts(value)
  if type(value) == "number" then return value, 0 end
  if type(value) ~= "cdata" then return nil end
  if is_complex(value) then return value.re, value.im end
  return tonumber(value), 0
end

local function power(ar, ai, br, bi)
  if br == 0 and bi == 0 then return complex(1, 0) end
  local size = math.sqrt(ar * ar + ai * ai)
  if size == 0 then return br > 0 and complex(0, 0) or complex(0 / 0, 0 / 0) end
  -- Integer powers by repeated multiplication, which is more exact than exp and log.
  if bi == 0 and br % 1 == 0 and math.abs(br) <= 64 then
    local result = complex(1, 0)
    for _ = 1, math.abs(br) do result = result * complex(ar, ai) end
    return br > 0 and result or 1 / result
  end
  local log, angle = math.log(size), math.atan2(ai, ar)
  local scale, turn = math.exp(br * log - bi * angle), bi * log + br * angle
  return complex(scale * math.cos(turn), scale * math.sin(turn))
end

--- An operator of complex numbers. Combines their parts, or calls the function of `gpu` when an operand is an array.
local function operator(name, combine)
  return function(a, b)
    local ar, ai = parts(a)
    local br, bi = parts(b)
    if ar and br then return combine(ar, ai, br, bi) end
    local operation = gpu[name]
    return (operation(a, b))
  end
end

local arithmetic = {
  __add = operator("add", function(ar, ai, br, bi) return complex(ar + br, ai + bi) end),
  __sub = operator("subtract", function(ar, ai, br, bi) return complex(ar - br, ai - bi) end),
  __mul = operator("multiply", function(ar, ai, br, bi) return complex(ar * br - ai * bi, ar * bi + ai * br) end),
  __div = operator("divide", function(ar, ai, br, bi)
    local scale = br * br + bi * bi
    return complex((ar * br + ai * bi) / scale, (ai * br - ar * bi) / scale)
  end),
  __pow = operator("power", power),
  __unm = function(a) return complex(-a.re, -a.im) end,
  __eq = function(a, b)
    local ar, ai = parts(a)
    local br, bi = parts(b)
    return ar ~= nil and ar == br and ai == bi
  end,
}
-- A type's metatable can be set only once, and another library can have set that of complex already.
pcall(ffi.metatype, complex, arithmetic)
pcall(ffi.metatype, "complex float", arithmetic)

function helpers.complex(re, im) return complex(re, im) end

-- ---- FFI values -------------------------------------------------------------------------------------------------------------

--- Busted, which runs tests, remembers the results of ffi.typeof by its first argument: each type has a text of its own.
local function from_bytes(ctype)
  local pointer = ffi.typeof("const " .. ctype .. " *")
  return function(bytes) return ffi.cast(pointer, bytes)[0] end
end
helpers.int64 = from_bytes "int64_t"
helpers.uint64 = from_bytes "uint64_t"

-- The FFI's types of elements. The FFI has no 16-bit floating-point numbers.
local ctypes = {
  bool = "bool",
  int8 = "int8_t",
  int16 = "int16_t",
  int32 = "int32_t",
  int64 = "int64_t",
  uint8 = "uint8_t",
  uint16 = "uint16_t",
  uint32 = "uint32_t",
  uint64 = "uint64_t",
  float32 = "float",
  float64 = "double",
  complex64 = "complex float",
  complex128 = "complex double",
}

local function type_name(ctype) return tostring(ctype):match "^ctype<(.*)>$" end

-- The dtypes by the FFI's names of the types on this platform.
local dtypes = {}
for dtype, ctype in pairs(ctypes) do dtypes[type_name(ffi.typeof(ctype))] = dtype end

--- Classifies an FFI value: "number", "array", "pointer" or "record"; the element's dtype or nil; the bytes; the name of the type.
function helpers.classify(value)
  local name = type_name(ffi.typeof(value))
  local bytes = ffi.sizeof(value) or 0
  local base = name:gsub("const ", ""):gsub("volatile ", ""):gsub("%s*%(&%)%s*", " "):gsub("%s*&$", "")
  local element, suffix = base:match "^([%w_ ]*[%w_])%s*(.*)$"
  local dtype = dtypes[element]
  if suffix == "" then return dtype and "number" or "record", dtype, bytes, name end
  if suffix:find "^%*" then
    if suffix ~= "*" then dtype = nil end
    return "pointer", dtype, 0, name
  end
  if suffix:find "^%[" then return "array", dtype, bytes, name end
  return "record", nil, bytes, name
end

-- By the members' text: FFI types are never collected.
local layouts = {}

local function layout_of(members)
  local layout = layouts[members]
  if layout == nil then
    local known, ctype = pcall(ffi.typeof, "struct { " .. members .. " }")
    layout = known and {size = ffi.sizeof(ctype)} or false
    if known then
      for name in members:gsub("%b{}", ""):gsub("%b[]", ""):gmatch "([%a_][%w_]*)%s*[,;]" do
        layout[#layout + 1] = {name = name, place = ffi.offsetof(ctype, name)}
      end
    end
    layouts[members] = layout
  end
  return layout
end

--- The size of an FFI struct, or of each of an array; that of a struct with these members; and the first of them that the FFI struct has
--- at another place, with that place and its own. 0 and nil for members that the FFI cannot declare.
function helpers.struct_layout(value, is_array, members)
  local element, size = value, ffi.sizeof(value)
  if is_array then
    local first = ffi.cast("char *", value)
    element, size = value[0], ffi.cast("char *", value + 1) - first
  end
  local layout = members ~= "" and layout_of(members)
  if not layout then return size, 0 end
  for _, member in ipairs(layout) do
    local place = ffi.offsetof(ffi.typeof(element), member.name)
    if place and place ~= member.place then return size, layout.size, member.name, member.place, place end
  end
  return size, layout.size
end

--- An FFI array of `count` elements of the dtype; for float16 and bfloat16, of their bits.
function helpers.host_array(dtype, count) return ffi.new((ctypes[dtype] or "uint16_t") .. "[?]", count) end

-- ---- x.shape and x.strides ---------------------------------------------------------------------------------------------------

local sizes = {__metatable = "a list of sizes"}

function sizes.__tostring(t)
  local texts = {}
  for i = 1, #t do texts[i] = ("%.0f"):format(t[i]) end
  return "(" .. table.concat(texts, ", ") .. (#t == 1 and ",)" or ")")
end

function sizes.__concat(a, b) return tostring(a) .. tostring(b) end

function sizes.__eq(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do
    if a[i] ~= b[i] then return false end
  end
  return true
end

--- Missing keys: -1 is the last size; a position past the end is nil.
function sizes.__index(t, key)
  if key == 0 then error("[shape] dimensions are counted from 1, got 0: x.shape[1] is the first size", 2) end
  if type(key) == "number" then return key < 0 and rawget(t, #t + 1 + key) or nil end
  error(('[shape] a list of sizes has no field "%s": its numbers are x.shape[1] and so on, #x.shape their number'):format(tostring(key)), 2)
end

function sizes.__call()
  error("[shape] expected no parentheses: x.shape and x.strides are properties, x.shape[1] is the first size", 2)
end

for _, event in ipairs {"__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm"} do
  sizes[event] = function()
    error("[shape] expected numbers, got a list of sizes: x.shape[1] is the first, local n, m = unpack(x.shape) gives all", 2)
  end
end
helpers.sizes = sizes

-- ---- pinned memory ------------------------------------------------------------------------------------------------------------

-- Maps an FFI array to the userdata that owns its memory, so that the memory lives as long as the FFI array.
local owners = setmetatable({}, {__mode = "k"})

--- The FFI type of a pointer to an array of `count` elements; nil when the FFI has no such type.
function helpers.array_pointer(dtype, count)
  local element = ctypes[dtype]
  local ok, ctype = pcall(function() return ffi.typeof(("%s (*)[%d]"):format(element, count)) end)
  return ok and ctype or nil
end

--- The memory at `address` as an FFI array.
function helpers.pinned(owner, address, ctype)
  local array = ffi.cast(ctype, address)[0]
  owners[array] = owner
  return array
end

local function results(...) return ... end

-- ---- functions between two actions ----------------------------------------------------------------------------------------------

--- Returns bracketed(..., fn, ...): calls enter(all arguments), then fn(the arguments after fn), then leave(the value of enter, the
--- results of fn), also after an error of fn. Results and errors of fn are passed on. `position`: the index of fn in the arguments.
function helpers.bracket(enter, leave, position)
  local function finish(state, ok, ...)
    leave(state, ...)
    if not ok then error((...), 0) end
    return ...
  end
  return function(...) return finish(enter(...), helpers.protected(select(position, ...))) end
end

--- As pcall, for a function of the script's. Lua's own messages are explained. The call of xpcall is no tail call: see helpers.called.
function helpers.protected(fn, ...) return results(xpcall(fn, helpers.explain, ...)) end

--- What a function of the script's gives. The call is no tail call: an error in a tail call of fn finds fn in this frame, which
--- shows the script's line.
function helpers.called(fn, ...) return results(fn(...)) end

-- ---- the check of arguments ------------------------------------------------------------------------------------------------------

local int64, uint64 = ffi.typeof "int64_t", ffi.typeof "uint64_t"

--- An integer of the FFI as a number, where that is exact. Other values stay as they are.
function helpers.plain(value)
  if type(value) ~= "cdata" or not (ffi.istype(int64, value) or ffi.istype(uint64, value)) then return value end
  local number = tonumber(value)
  return math.abs(number) <= 2 ^ 53 and number == value and number or value
end

local function all_plain(...)
  local values, count = {...}, select("#", ...)
  for i = 1, count do values[i] = helpers.plain(values[i]) end
  return unpack(values, 1, count)
end

--- Whether there is a nil among the values, and an FFI value.
local function look_at(...)
  local has_nil, has_cdata = false, false
  for i = 1, select("#", ...) do
    local kind = type((select(i, ...)))
    has_nil, has_cdata = has_nil or kind == "nil", has_cdata or kind == "cdata"
  end
  return has_nil, has_cdata
end

--- The table with the functions of gpu or of a part: scripts have an empty one, which reads from it. Other values stay.
function helpers.functions_of(value)
  local functions = type(value) == "table" and paths[value] and debug.getmetatable(value).__index
  return type(functions) == "table" and functions or value
end

--- Whether a value can be the object of a method: an array, or a table with a metatable for methods of objects that are made in Lua.
local function is_object(value, is_method)
  return type(value) == "userdata" or is_method ~= true and type(value) == "table" and debug.getmetatable(value) ~= nil
end

--- Whether a value is gpu or a part of it, which a colon in place of a dot passes.
local function is_part(value) return type(value) == "table" and paths[value] ~= nil end

--- While a derivative is wanted, its field `call` runs the functions that are written in Lua: call(fn, signature, arguments...).
helpers.observed = {}

--- What a function gives. An error where its first result is an array that the script compares by == or ~=.
local function compared(signature, may_be_kept, ...)
  if type((...)) == "userdata" then helpers.refuse_comparison(signature, (...), may_be_kept) end
  return ...
end

--- Wraps a Lua function with the checks that protect<> makes for a C++ function: more arguments than the signature has are an error,
--- and so is nil for one that can be left out, a dot in place of a colon, or the reverse. Integers of the FFI are passed on as numbers,
--- unless the function tells the two apart. The call of fn is not a tail call: its frame tells the library's own calls from the
--- script's.
function helpers.guard(fn, signature, is_method, keeps_integers)
  local most
  local observed = helpers.observed
  local may_be_kept = is_method == "of Lua"
  return function(...)
    most = most or helpers.most_arguments(signature)
    if select("#", ...) > most or is_method and not is_object((...), is_method) or not is_method and is_part(...) then
      helpers.refuse(signature, ...)
    end
    local has_nil, has_cdata = look_at(...)
    if has_nil then helpers.refuse_nil(signature, ...) end
    local as_plain = has_cdata and not keeps_integers
    if observed.call then return compared(signature, may_be_kept, observed.call(fn, signature, (as_plain and all_plain or results)(...))) end
    if as_plain then return compared(signature, may_be_kept, fn(all_plain(...))) end
    return compared(signature, may_be_kept, fn(...))
  end
end

--- Does this for methods of objects that are made in Lua, which check their object themselves. `parameters`: for each method, in the
--- notation of cmake/signatures.lua. `kind`: the prefix of the names in messages.
function helpers.guard_methods(methods, receiver, parameters, kind)
  for name, text in pairs(parameters) do
    local signature = helpers.method_signature(receiver, name, text, (kind or "") .. name)
    methods[name] = helpers.guard(methods[name], signature, "of Lua", true)
  end
end

return helpers

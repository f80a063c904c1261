-- What is easier said in Lua than in C++. The chunk gets the `gpu` table and returns the helpers that the bindings call.
local gpu = ...
local ffi = require "ffi"

local helpers = {}

-- ---- complex numbers: LuaJIT has the literals (1+2i needs an addition) but no arithmetic of its own -----------------------

local complex = ffi.typeof "complex"

local function is_complex(value) return ffi.istype(complex, value) or ffi.istype("complex float", value) end

--- The parts of a number; nothing of any other value.
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
  -- Whole powers by products, as exact as these are.
  if bi == 0 and br % 1 == 0 and math.abs(br) <= 64 then
    local result = complex(1, 0)
    for _ = 1, math.abs(br) do result = result * complex(ar, ai) end
    return br > 0 and result or 1 / result
  end
  local log, angle = math.log(size), math.atan2(ai, ar)
  local scale, turn = math.exp(br * log - bi * angle), bi * log + br * angle
  return complex(scale * math.cos(turn), scale * math.sin(turn))
end

--- An operator of complex numbers: of their parts, or the function of `gpu` where the other side is an array.
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
-- Another library may have given complex its arithmetic already; a type takes one metatable for good.
pcall(ffi.metatype, complex, arithmetic)
pcall(ffi.metatype, "complex float", arithmetic)

--- gpu.complex(re, im): a complex number.
function gpu.complex(re, im) return complex(re, im or 0) end
helpers.complex = gpu.complex

-- ---- FFI values -------------------------------------------------------------------------------------------------------------

local function from_bytes(ctype)
  local pointer = ffi.typeof("const $ *", ffi.typeof(ctype))
  return function(bytes) return ffi.cast(pointer, bytes)[0] end
end
helpers.int64 = from_bytes "int64_t"
helpers.uint64 = from_bytes "uint64_t"

-- C's element types in the FFI, which has no 16-bit floating point numbers.
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

-- Their dtypes, by the names that the FFI prints on this platform.
local dtypes = {}
for dtype, ctype in pairs(ctypes) do dtypes[type_name(ffi.typeof(ctype))] = dtype end

--- What an FFI value is: "number", "array", "pointer" or "record"; its element's dtype or nil; its bytes; its type's name.
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

--- An FFI array of `count` elements of the dtype; float16 and bfloat16 come as their bits.
function helpers.host_array(dtype, count) return ffi.new((ctypes[dtype] or "uint16_t") .. "[?]", count) end

-- ---- x.shape and x.strides ---------------------------------------------------------------------------------------------------

local sizes = {}

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

--- What the table itself does not hold: -1 is the last size; past the end there is none.
function sizes.__index(t, key)
  if key == 0 then error("[shape] dimensions are counted from 1, got 0: x.shape[1] is the first size", 2) end
  if type(key) == "number" and key < 0 then return rawget(t, #t + 1 + key) end
end

function sizes.__call()
  error("[shape] expected no parentheses: x.shape and x.strides are properties, x.shape[1] is the first size", 2)
end
helpers.sizes = sizes

-- ---- pinned memory ------------------------------------------------------------------------------------------------------------

-- An FFI array of ours -> the userdata that owns its memory: the memory lives as long as the FFI array.
local owners = setmetatable({}, {__mode = "k"})

--- The FFI type of `count` elements, as a pointer to it; nil where the FFI has none.
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

-- ---- functions that run another one between two actions -------------------------------------------------------------------------

--- bracketed(..., fn, ...): runs `enter` on its arguments, fn on those after it, and `leave` on what enter gave and fn's
--- results, also when fn throws. Results and errors of fn pass through as they are. `position` is fn's among the arguments.
function helpers.bracket(enter, leave, position)
  local function finish(state, ok, ...)
    leave(state, ...)
    if not ok then error((...), 0) end
    return ...
  end
  return function(...) return finish(enter(...), pcall(select(position, ...))) end
end

-- ---- the check of arguments ------------------------------------------------------------------------------------------------------

--- What stands in front of a function in Lua, as protect<> does in front of one in C++: more arguments than the signature has are an
--- error, and so is a dot where a colon belongs, or the other way round. Arguments and results pass through as they are.
function helpers.guard(fn, signature, is_method)
  local refuse, most = helpers.refuse, nil
  if is_method then
    return function(...)
      most = most or helpers.most_arguments(signature)
      if select("#", ...) > most or type((...)) ~= "userdata" then refuse(signature, ...) end
      return fn(...)
    end
  end
  return function(...)
    most = most or helpers.most_arguments(signature)
    if select("#", ...) > most or (...) == gpu then refuse(signature, ...) end
    return fn(...)
  end
end

return helpers

-- What is easier said in Lua than in C++. The chunk gets the `gpu` table and returns the helpers that the bindings call.
local gpu = ...
local ffi = require "ffi"

local helpers = {}

-- ---- complex numbers: LuaJIT has the literals (1+2i needs an addition) but no arithmetic of its own -----------------------

local complex = ffi.typeof "complex"

local function parts(z)
  if type(z) == "number" then return z, 0 end
  return z.re, z.im
end

local arithmetic = {
  __add = function(a, b)
    local ar, ai = parts(a)
    local br, bi = parts(b)
    return complex(ar + br, ai + bi)
  end,
  __sub = function(a, b)
    local ar, ai = parts(a)
    local br, bi = parts(b)
    return complex(ar - br, ai - bi)
  end,
  __mul = function(a, b)
    local ar, ai = parts(a)
    local br, bi = parts(b)
    return complex(ar * br - ai * bi, ar * bi + ai * br)
  end,
  __div = function(a, b)
    local ar, ai = parts(a)
    local br, bi = parts(b)
    local scale = br * br + bi * bi
    return complex((ar * br + ai * bi) / scale, (ai * br - ar * bi) / scale)
  end,
  __unm = function(a) return complex(-a.re, -a.im) end,
  __eq = function(a, b)
    local ar, ai = parts(a)
    local br, bi = parts(b)
    return ar == br and ai == bi
  end,
}
-- Another library may have given complex its arithmetic already; a type takes one metatable for good.
pcall(ffi.metatype, complex, arithmetic)

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

return helpers

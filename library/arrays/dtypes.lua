-- Questions about dtypes.
-- In sandboxes: all
local gpu, _, core = ...

--- The name of a dtype, or of an array's.
local function dtype_of(op, value)
  if core.is_array(value) then return value.dtype end
  if type(value) ~= "string" then core.fail(op, "a dtype's name or an array", value) end
  return core.promote(value, value)
end

-- gpu.float32(x) and the others convert an array or a number.
--- gpu.bool, gpu.int8, gpu.int16, gpu.int32, gpu.int64, gpu.uint8, gpu.uint16, gpu.uint32, gpu.uint64, gpu.float16(x)
--- gpu.bfloat16, gpu.float32, gpu.float64, gpu.complex64, gpu.complex128(x)
for _, dtype in ipairs {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
  "float32", "float64", "complex64", "complex128"} do
  gpu[dtype] = function(x)
    if core.is_array(x) then return x:astype(dtype) end
    if type(x) ~= "number" and type(x) ~= "boolean" and type(x) ~= "cdata" then core.fail(dtype, "an array or a number", x) end
    return gpu.array(x, dtype)
  end
end

--- gpu.promote_types(a, b)
--- The dtype that holds the values of both.
function gpu.promote_types(a, b) return core.promote(dtype_of("promote_types", a), dtype_of("promote_types", b)) end

--- gpu.result_type(x, ...)
--- The dtype of an operation on arrays, dtypes and numbers. Numbers take the others' dtype where they fit.
function gpu.result_type(...)
  local op, dtype, numbers = "result_type", nil, {}
  local count = select("#", ...)
  if count == 0 then core.fail(op, "arrays, names of dtypes and numbers", nil) end
  for i = 1, count do
    local value = select(i, ...)
    if type(value) == "number" or type(value) == "boolean" or type(value) == "cdata" or core.is_weak(value) then
      numbers[#numbers + 1] = value
    else
      local own = dtype_of(op, value)
      dtype = dtype and core.promote(dtype, own) or own
    end
  end
  -- Addition has the rule for a number and a dtype.
  for _, number in ipairs(numbers) do
    local device = core.is_array(number) and number.device or "cpu"
    local own = core.is_array(number) and number.dtype or gpu.array(number, {device = device}).dtype
    if not dtype then
      dtype = own
    elseif dtype ~= own and own ~= "bool" then
      dtype = gpu.where(gpu.zeros(0, {dtype = "bool", device = device}), gpu.zeros(0, {dtype = dtype, device = device}), number).dtype
    end
  end
  return dtype
end

local ranks_of_kinds = {bool = 1, uint = 2, int = 3, float = 4, bfloat = 4, complex = 5}

--- gpu.can_cast(from, to [, casting])
--- Whether the conversion keeps all values ("safe"), or as much as "casting" says.
function gpu.can_cast(from, to, casting)
  from, to, casting = dtype_of("can_cast", from), dtype_of("can_cast", to), casting == nil and "safe" or casting
  if casting == "no" or casting == "equiv" then return from == to end
  if casting == "safe" then return core.promote(from, to) == to end
  if casting == "same_kind" then
    return core.promote(from, to) == to or ranks_of_kinds[(from:gsub("%d", ""))] <= ranks_of_kinds[(to:gsub("%d", ""))]
  end
  if casting == "unsafe" then return true end
  core.fail("can_cast", 'casting = "no", "equiv", "safe", "same_kind" or "unsafe"', casting)
end

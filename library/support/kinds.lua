-- Kinds of dtypes, and the dtypes of computations.
local _, _, core = ...

local kinds = {}

function kinds.of(x) return (x.dtype:gsub("%d", "")) end

function kinds.is_floating(x)
  local kind = kinds.of(x)
  return kind == "float" or kind == "bfloat"
end

--- Whether the elements are integers or booleans.
function kinds.is_integral(x) return not kinds.is_floating(x) and kinds.of(x) ~= "complex" end

function kinds.is_complex(x) return kinds.of(x) == "complex" end

--- The conjugate; real numbers are their own.
function kinds.conj(x) return kinds.is_complex(x) and x:conj() or x end

--- The dtype in which means and similar functions are computed (float32 for 16-bit floats, float64 for integers), and the result's.
function kinds.working(x, dtype)
  local from = dtype or x.dtype
  if from == "float16" or from == "bfloat16" then return "float32", from end
  if from:find "^float" or from:find "^complex" then return from, from end
  return "float64", core.floating(from)
end

return kinds

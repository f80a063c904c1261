-- 16-bit floating point. Arithmetic and conversions are exact; functions are within one unit in the last place.
local group = { prologue = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" }
for _, row in ipairs { { "half", "half", "__half2" }, { "bfloat16", "bfloat16", "__nv_bfloat162" } } do
  local type, name, pair = unpack(row)
  local function add(case, expression, output, inputs, ulp, options)
    local entry = { name = type .. "_" .. case, expression = expression, output = output, inputs = inputs, ulp = ulp }
    for key, value in pairs(options or {}) do entry[key] = value end
    group[#group + 1] = entry
  end
  for _, f in ipairs { "__hadd", "__hsub", "__hmul", "__hdiv", "__hadd_sat", "__hsub_sat", "__hmul_sat", "__hmin", "__hmax", "__hmin_nan", "__hmax_nan" } do
    add(f, f .. "(x, y)", type, { type, type })
  end
  for _, f in ipairs { "__hfma", "__hfma_sat", "__hfma_relu" } do add(f, f .. "(x, y, z)", type, { type, type, type }) end
  for _, f in ipairs { "__hneg", "__habs" } do add(f, f .. "(x)", type, { type }) end
  for _, f in ipairs { "__heq", "__hne", "__hlt", "__hle", "__hgt", "__hge", "__hequ", "__hneu", "__hltu", "__hleu", "__hgtu", "__hgeu" } do
    add(f, f .. "(x, y) ? 1 : 0", "int", { type, type })
  end
  for _, f in ipairs { "hsqrt", "hrsqrt", "hrcp", "hexp", "hexp2", "hexp10", "hlog", "hlog2", "hlog10", "hsin", "hcos" } do
    add(f, f .. "(x)", type, { type }, 1)
  end
  for _, f in ipairs { "hfloor", "hceil", "htrunc", "hrint" } do add(f, f .. "(x)", type, { type }) end
  add("to_float", ("__%s2float(x)"):format(name), "float", { type })
  add("from_double", ("__double2%s(x)"):format(name), type, { "double" })
  for _, mode in ipairs { "rn", "rz", "ru", "rd" } do
    add("from_float_" .. mode, ("__float2%s_%s(x)"):format(name, mode), type, { "float" })
    add("from_int_" .. mode, ("__int2%s_%s(x)"):format(name, mode), type, { "int" })
    add("to_int_" .. mode, ("__%s2int_%s(x)"):format(name, mode), "int", { type })
    add("to_ull_" .. mode, ("__%s2ull_%s(x)"):format(name, mode), "ull", { type })
  end
  local make = type == "half" and "__halves2half2" or "__halves2bfloat162"
  for _, f in ipairs { "__hadd2", "__hmul2" } do
    add(f, ("[=] { auto r = %s(%s(x, y), %s(y, x)); return %s; }()"):format(f, make, make,
      type == "half" and "__hsub(__low2half(r), __high2half(r))" or "__hsub(__low2bfloat16(r), __high2bfloat16(r))"), type, { type, type })
  end
  add("__hgt2", ("[=] { auto r = __hgt2(%s(x, y), %s(y, x)); return (int)(__low2float(r) + 2 * __high2float(r)); }()"):format(make, make), "int", { type, type })
end
return group

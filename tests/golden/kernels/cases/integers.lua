-- Integer intrinsics and operators: exact.
local group = { options = { "--device-int128" } }
local function add(expression, output, ...)
  local name = expression:match "[%w_]+" .. "_" .. #group
  group[#group + 1] = { name = name, expression = expression, output = output, inputs = { ... } }
end
for _, name in ipairs { "__popc", "__brev" } do add(name .. "(x)", "uint", "uint") end
for _, name in ipairs { "__popcll", "__brevll" } do add(name .. "(x)", "ull", "ull") end
for _, name in ipairs { "__clz", "__ffs" } do add(name .. "(x)", "int", "int") end
for _, name in ipairs { "__clzll", "__ffsll" } do add(name .. "(x)", "int", "ll") end
for _, name in ipairs { "__mulhi", "__mul24", "__hadd", "__rhadd", "min", "max" } do add(name .. "(x, y)", "int", "int", "int") end
for _, name in ipairs { "__umulhi", "__umul24", "__uhadd", "__urhadd", "min", "max" } do add(name .. "(x, y)", "uint", "uint", "uint") end
for _, name in ipairs { "__mul64hi", "min", "max" } do add(name .. "(x, y)", "ll", "ll", "ll") end
for _, name in ipairs { "__umul64hi", "min", "max" } do add(name .. "(x, y)", "ull", "ull", "ull") end
add("min(x, y)", "uint", "int", "uint")
add("max(x, y)", "ull", "ll", "ull")
add("__sad(x, y, z)", "uint", "int", "int", "uint")
add("__usad(x, y, z)", "uint", "uint", "uint", "uint")
add("__byte_perm(x, y, z)", "uint", "uint", "uint", "uint")
for _, name in ipairs { "l", "lc", "r", "rc" } do add("__funnelshift_" .. name .. "(x, y, z)", "uint", "uint", "uint", "uint") end
for _, name in ipairs { "__dp4a", "__dp2a_lo", "__dp2a_hi" } do
  add(name .. "(x, y, z)", "int", "int", "int", "int")
  add(name .. "(x, y, z)", "uint", "uint", "uint", "uint")
end
add("__fns(x, y & 31, (int)(z % 9) - 4)", "uint", "uint", "uint", "uint")
add("abs(x)", "int", "int")
add("llabs(x)", "ll", "ll")
add("__double_as_longlong(x)", "ll", "double")
add("__hiloint2double(x, y)", "double", "int", "int")
add("__double2hiint(x) ^ __double2loint(x)", "int", "double")
add("y > 0 && !(x < -2147483647 && y == -1) ? x / y + x % y : 0", "int", "int", "int")
add("y > 0 ? x / y + x % y : 0", "ull", "ull", "ull")
add("(long long)((__int128)x * y >> 40)", "ll", "ll", "ll")
add("(unsigned long long)(((unsigned __int128)x << 64 | y) / 1000003)", "ull", "ull", "ull")
return group

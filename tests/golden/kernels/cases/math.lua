-- The mathematical functions. Bounds: the CUDA C++ Programming Guide's tables of maximum errors for the GPU's side, in units in
-- the last place, and 2 more for ours. What is exact there has to be so here, bit for bit.
local own = 2
local group = { prologue = "" }

local function add(name, type, expression, bound, options)
  local case = { name = name, inputs = { type }, output = type, expression = expression }
  if bound > 0 then case.ulp = bound + own end
  for key, value in pairs(options or {}) do case[key] = value end
  group[#group + 1] = case
end

--- name, bound in float, bound in double, range of the random inputs.
for _, row in ipairs {
  { "sqrt", 0, 0, { 0, 1e6 } }, { "rsqrt", 2, 1, { 0, 1e3 } }, { "cbrt", 1, 1 }, { "rcbrt", 1, 1 },
  { "exp", 1, 1, { -80, 80 } }, { "exp2", 2, 1, { -120, 120 } }, { "exp10", 2, 1, { -37, 37 } }, { "expm1", 1, 1, { -5, 5 } },
  { "log", 1, 1, { 0, 100 } }, { "log2", 1, 1, { 0, 100 } }, { "log10", 2, 1, { 0, 100 } }, { "log1p", 1, 1, { -0.99, 10 } },
  { "sin", 2, 2, { -100, 100 } }, { "cos", 2, 2, { -100, 100 } }, { "tan", 4, 2, { -100, 100 } },
  { "sinpi", 1, 2, { -10, 10 } }, { "cospi", 1, 2, { -10, 10 } },
  { "asin", 2, 2, { -1, 1 } }, { "acos", 2, 2, { -1, 1 } }, { "atan", 2, 2 },
  { "sinh", 3, 2, { -80, 80 } }, { "cosh", 2, 1, { -80, 80 } }, { "tanh", 2, 1, { -5, 5 } },
  { "asinh", 3, 3 }, { "acosh", 4, 3, { 1, 100 } }, { "atanh", 3, 2, { -1, 1 } },
  { "erf", 2, 2, { -4, 4 } }, { "erfc", 4, 5, { -4, 9 } }, { "erfcx", 4, 4, { -4, 40 } },
  { "erfinv", 2, 5, { -1, 1 } }, { "erfcinv", 4, 6, { 0, 2 } }, { "normcdf", 5, 5, { -9, 6 } }, { "normcdfinv", 5, 8, { 0, 1 } },
  { "tgamma", 5, 10, { -5, 30 } }, { "cyl_bessel_i0", 6, 6, { -60, 60 } }, { "cyl_bessel_i1", 6, 6, { -60, 60 } },
  { "floor", 0, 0, { -100, 100 } }, { "ceil", 0, 0, { -100, 100 } }, { "trunc", 0, 0, { -100, 100 } },
  { "round", 0, 0, { -100, 100 } }, { "rint", 0, 0, { -100, 100 } }, { "nearbyint", 0, 0, { -100, 100 } },
  { "logb", 0, 0 }, { "fabs", 0, 0 },
} do
  local name, in_float, in_double, range = unpack(row)
  add(name .. "f", "float", name .. "f(x)", in_float, { range = range })
  add(name, "double", name .. "(x)", in_double, { range = range })
end
-- Near the zeros of these only an absolute bound is documented; lgamma has its own for -11 to -2.26.
add("lgammaf", "float", "lgammaf(x)", 6, { range = { 0.1, 60 }, absolute = 2e-6 })
add("lgamma", "double", "lgamma(x)", 4, { range = { 0.1, 60 }, absolute = 1e-14 })
for _, name in ipairs { "j0", "j1", "y0", "y1" } do
  add(name .. "f", "float", name .. "f(x)", 9, { range = { 0.1, 40 }, absolute = 2.2e-6 })
  add(name, "double", name .. "(x)", 7, { range = { 0.1, 40 }, absolute = 5e-12 })
end
add("jnf", "float", "jnf(3, x)", 9, { range = { 0.1, 40 }, absolute = 2.2e-6 })
add("yn", "double", "yn(2, x)", 7, { range = { 1, 40 }, absolute = 5e-12 })

--- The same of two and three arguments.
local function several(count, name, in_float, in_double, range)
  for _, type in ipairs { "float", "double" } do
    local bound, inputs = type == "float" and in_float or in_double, {}
    for k = 1, count do inputs[k] = type end
    local called = type == "float" and name .. "f" or name
    group[#group + 1] = { name = called, inputs = inputs, output = type, range = range,
      expression = called .. "(" .. ("x, y, z"):sub(1, 3 * count - 2) .. ")", ulp = bound > 0 and bound + own or nil }
  end
end
several(2, "pow", 4, 2, { 0, 20 })
several(2, "atan2", 3, 2)
several(2, "hypot", 3, 2)
several(2, "rhypot", 2, 1)
several(2, "fmod", 0, 0, { -50, 50 })
several(2, "remainder", 0, 0, { -50, 50 })
several(2, "copysign", 0, 0)
several(2, "nextafter", 0, 0)
several(2, "fdim", 0, 0)
several(2, "fmin", 0, 0, { -5, 5 })
several(2, "fmax", 0, 0, { -5, 5 })
several(3, "fma", 0, 0)
several(3, "norm3d", 3, 2)
several(3, "rnorm3d", 2, 2)

for _, type in ipairs { "float", "double" } do
  for name, sign in pairs { plus = "+", minus = "-", times = "*", over = "/" } do
    group[#group + 1] = { name = type .. "_" .. name, inputs = { type, type }, output = type, expression = "x " .. sign .. " y" }
  end
  add(type .. "_ldexp", type, "ldexp(x, 5) + scalbn(x, -3)", 0)
  add(type .. "_frexp", type, "[=] { int e; auto m = frexp(x, &e); return isfinite(x) ? m + e : m; }()", 0)
  add(type .. "_modf", type, "[=] { decltype(x + 0) w; auto f = modf(x, &w); return isfinite(x) ? f * 4 + w : w; }()", 0)
  add(type .. "_remquo", type, "[=] { int q; auto r = remquo(x, decltype(x + 0)(3), &q); return isfinite(x) ? r + (q & 7) * 8 : r; }()", 0,
    { range = { -1000, 1000 } })
end
table.sort(group, function(a, b) return a.name < b.name end)

-- Whole numbers out of floating-point ones.
for _, type in ipairs { "float", "double" } do
  for _, name in ipairs { "ilogb", "isnan", "isinf", "isfinite", "signbit" } do
    group[#group + 1] = { name = type .. "_" .. name, inputs = { type }, output = "int", expression = name .. "(x)" .. (name == "ilogb" and "" or " ? 1 : 0") }
  end
  for _, name in ipairs { "llrint", "llround" } do
    group[#group + 1] = { name = type .. "_" .. name, inputs = { type }, output = "ll", expression = name .. "(x)", range = { -1e6, 1e6 } }
  end
end

-- Fast intrinsics: compared with absolute bounds in the ranges that the guide documents.
for _, row in ipairs {
  { "__expf", { -5, 5 }, 4e-4 }, { "__exp10f", { -2, 2 }, 4e-4 }, { "__logf", { 0.5, 2 }, 1e-6 }, { "__log2f", { 0.5, 2 }, 1e-6 },
  { "__log10f", { 0.5, 2 }, 1e-6 }, { "__sinf", { -3, 3 }, 1e-6 }, { "__cosf", { -3, 3 }, 1e-6 }, { "__tanf", { -1, 1 }, 4e-6 },
} do
  group[#group + 1] = { name = row[1], inputs = { "uint" }, output = "float", range = { 0, 1000000 }, absolute = row[3],
    expression = ("%s(%.1ff + (x %% 1000000) * %.9gf)"):format(row[1], row[2][1], (row[2][2] - row[2][1]) * 1e-6) }
end
group[#group + 1] = { name = "__saturatef", inputs = { "float" }, output = "float", expression = "__saturatef(x)", range = { -1, 2 } }

return group

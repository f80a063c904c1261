-- Directed rounding and conversions: exact.
local group = {}
for _, mode in ipairs { "rn", "rz", "ru", "rd" } do
  for _, row in ipairs { { "add", 2 }, { "sub", 2 }, { "mul", 2 }, { "div", 2 }, { "sqrt", 1 }, { "rcp", 1 } } do
    for type, letter in pairs { float = "f", double = "d" } do
      group[#group + 1] = { name = ("__%s%s_%s"):format(letter, row[1], mode), inputs = row[2] == 2 and { type, type } or { type }, output = type,
        expression = ("__%s%s_%s(%s)"):format(letter, row[1], mode, row[2] == 2 and "x, y" or "x") }
    end
  end
  group[#group + 1] = { name = "__fmaf_" .. mode, inputs = { "float", "float", "float" }, output = "float", expression = "__fmaf_" .. mode .. "(x, y, z)" }
  group[#group + 1] = { name = "__fma_" .. mode, inputs = { "double", "double", "double" }, output = "double", expression = "__fma_" .. mode .. "(x, y, z)" }
  for _, from in ipairs { "float", "double" } do
    for _, to in ipairs { "int", "uint", "ll", "ull" } do
      local name = ("__%s2%s_%s"):format(from, to, mode)
      group[#group + 1] = { name = name, inputs = { from }, output = to, expression = name .. "(x)", range = { -300, 3e9 } }
    end
  end
  for _, from in ipairs { "int", "uint", "ll", "ull" } do
    local name = ("__%s2float_%s"):format(from, mode)
    group[#group + 1] = { name = name, inputs = { from }, output = "float", expression = name .. "(x)" }
  end
  for _, from in ipairs { "ll", "ull" } do
    local name = ("__%s2double_%s"):format(from, mode)
    group[#group + 1] = { name = name, inputs = { from }, output = "double", expression = name .. "(x)" }
  end
  group[#group + 1] = { name = "__double2float_" .. mode, inputs = { "double" }, output = "float", expression = "__double2float_" .. mode .. "(x)" }
end
for _, from in ipairs { "float", "double" } do
  for type, c in pairs { int = "int", uint = "unsigned int", ll = "long long", ull = "unsigned long long" } do
    group[#group + 1] = { name = ("cast_%s_%s"):format(from, type), inputs = { from }, output = type, expression = ("(%s)x"):format(c) }
  end
end
table.sort(group, function(a, b) return a.name < b.name end)
return group

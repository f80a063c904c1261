-- Arithmetic on halves and bytes of a word: exact.
local group = {}
for _, count in ipairs { 2, 4 } do
  for _, name in ipairs {
    "__vadd", "__vaddss", "__vaddus", "__vsub", "__vsubss", "__vsubus", "__vabsdiffs", "__vabsdiffu", "__vavgs", "__vavgu", "__vhaddu",
    "__vmins", "__vminu", "__vmaxs", "__vmaxu", "__vsads", "__vsadu", "__vcmpeq", "__vcmpne", "__vcmpges", "__vcmpgeu", "__vcmpgts",
    "__vcmpgtu", "__vcmples", "__vcmpleu", "__vcmplts", "__vcmpltu", "__vseteq", "__vsetne", "__vsetges", "__vsetgeu", "__vsetgts",
    "__vsetgtu", "__vsetles", "__vsetleu", "__vsetlts", "__vsetltu",
  } do
    group[#group + 1] = { name = name .. count, inputs = { "uint", "uint" }, output = "uint", expression = name .. count .. "(x, y)", count = 256 }
  end
  for _, name in ipairs { "__vneg", "__vnegss", "__vabs", "__vabsss" } do
    group[#group + 1] = { name = name .. count, inputs = { "uint" }, output = "uint", expression = name .. count .. "(x)", count = 128 }
  end
end
return group

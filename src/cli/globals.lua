-- Globals that are made where they are read first. `gpu` is the module: a script that does not use it starts without it. Words of
-- Python and C, which are not globals in Lua, would silently give nil: {keepdims = True} would be no option, gpu.zeros(3, float64) an
-- array of float32. So they raise, unless the script defines the name.

local words = {True = "Lua writes true", False = "Lua writes false", None = "Lua writes nil; in data 0/0, NaN, is a missing number, as a list ends before nil"}
for _, name in ipairs {"null", "NULL", "nullptr"} do words[name] = "Lua writes nil, and gpu.null is a null pointer" end
for _, name in ipairs {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
  "float64", "double", "complex64", "complex128"} do
  words[name] = ('dtypes are strings, "%s"'):format(name == "double" and "float64" or name)
end

local error, require = error, require

return {
  __index = function(_, name)
    if name == "gpu" then return (require "gpu") end
    local meant = words[name]
    if meant then error(("the global %s is not defined: %s"):format(name, meant), 2) end
  end,
}

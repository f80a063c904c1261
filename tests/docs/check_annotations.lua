-- gpulua tests/docs/check_annotations.lua gpu.d.lua
-- The annotations of the editor are Lua, and have every function of the module with a description, and a type for each parameter.
local gpu = require "gpu"
debug.getregistry()["gpulua.helpers"].load_library()

local stubs = assert(loadfile(arg[1]))()
local functions = 0
local function compare(path, module, stub)
  for name, value in pairs(debug.getregistry()["gpulua.helpers"].functions_of(module)) do
    if type(value) == "function" then
      functions = functions + 1
      assert(type(stub[name]) == "function", path .. name .. " has no annotation")
    elseif type(value) == "table" and getmetatable(value) then
      compare(path .. name .. ".", value, stub[name])
    end
  end
end
compare("gpu.", gpu, stubs)
assert(functions > 500, functions)

-- What stands above each function.
local above, methods = {}, 0
for line in io.lines(arg[1]) do
  local name, parameters = line:match "^function ([%w_.:]+)%((.*)%) end$"
  if name then
    local text = table.concat(above, "\n")
    assert(text:find("^%-%-%- %S") and text:find("%-%-%-@return %S"), name .. " lacks a description or a result:\n" .. text)
    for parameter in parameters:gmatch "[%w_.]+" do
      assert(text:find("---@param " .. parameter, 1, true), name .. " has no type of " .. parameter)
    end
    if name:find ":" then methods = methods + 1 end
  end
  if line == "" or name then above = {} else above[#above + 1] = line end
end
assert(methods > 400, methods)
local text = assert(io.open(arg[1])):read "*a"
for _, part in ipairs {
  "---@field shape integer[] table of sizes", "function gpu.sum(x, axis, options) end", "---@operator add(",
  "---@return gpu.array, gpu.array\nfunction gpu.divmod(x, y) end", "function x_:reshape(...) end",
  "---@overload fun(self: gpu.array, options: {axis?: number|number[], keepdims?: boolean", "---@field names string[] the list of",
  "---@return gpu.groups\nfunction t_:group_by(...) end", "---@return gpu.chart\nfunction p_:histogram(x, bins, options) end",
  "function p_:show(options) end", "---@return gpu.columns\nfunction groups_:median(...) end",
  "---@overload fun(x: gpu.array|number|boolean|ffi.cdata*, options: {axis?: number|number[], keepdims?: boolean",
  -- A call of an array, a dtype after the sizes, names of bars, and a configured launch are no mistakes.
  "---@overload fun(...: any): gpu.array", "---@param ... number|number[]|{dtype?: gpu.dtype", "---@param x gpu.array|number[]|string[]",
  "---@overload fun(options: table): fun(...: any)",
} do
  assert(text:find(part, 1, true), "the annotations lack " .. part)
end

-- gpulua tests/docs/check_names.lua reference.md
-- Every function of `gpu` stands in the reference, as `gpu.name`, and the reference has no other.
local gpu = require "gpu"

local file = assert(io.open(arg[1]))
local text = file:read "*a"
file:close()

local wrong = {}
local function check(path, module)
  for name, value in pairs(module) do
    local full = path .. "." .. name
    if type(value) == "table" then
      check(full, value)
    elseif not text:find(full .. "%f[^%w_]") then
      wrong[#wrong + 1] = full .. " is not in the reference"
    end
  end
end
check("gpu", gpu)

for name in text:gmatch "%f[%w_]gpu%.([%w_.]*[%w_])" do
  local value = gpu
  for part in name:gmatch "[%w_]+" do value = type(value) == "table" and value[part] or nil end
  if value == nil then wrong[#wrong + 1] = "gpu." .. name .. " is in the reference and not in gpulua" end
end

for _, message in ipairs(wrong) do io.stderr:write(message, "\n") end
os.exit(#wrong == 0 and 0 or 1, true)

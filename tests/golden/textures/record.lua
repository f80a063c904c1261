-- record.lua FOLDER [COUNT]: writes textures.npz there, what a GPU reads in each mode of cases.lua at COUNT positions, 1000 by default.
local gpu = require "gpu"
local cases = dofile((arg[0]:match "^(.*)/" or ".") .. "/cases.lua")

local results = {}
for _, mode in ipairs(cases.modes) do results[mode.name] = cases.read(mode, tonumber(arg[2] or 1000)) end
assert(gpu.save(arg[1] .. "/textures.npz", results))

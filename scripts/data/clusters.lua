-- Wrote clusters.npz in this folder: 600 points of four measurements, drawn around five centres, and the centre of each point.
--
--   gpulua scripts/data/clusters.lua

local gpu = require "gpu"

local sizes = { 180, 150, 120, 90, 60 }
local centres = { { 0, 0, 0, 0 }, { 5, 1, -2, 3 }, { -3, 4, 2, 1 }, { 1, -5, 3, -3 }, { 4, 5, 4, -1 } }
local deviations = { 1.3, 0.8, 1.0, 0.7, 0.9 }

gpu.random.seed(20)
local points, labels = {}, {}
for i, size in ipairs(sizes) do
  points[i] = gpu.random.normal({ size, 4 }, gpu.array(centres[i]), deviations[i])
  labels[i] = gpu.full(size, i, "int32")
end
local order = gpu.rand(600):argsort() -- in no order
local folder = arg[0]:match "^(.*)/" or "."
assert(gpu.save(folder .. "/clusters.npz",
  { points = gpu.concat(points)[order], labels = gpu.concat(labels)[order] }, { compress = true }))

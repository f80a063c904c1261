-- Heat in a plate, four times
local gpu = require "gpu"

local plate = gpu.zeros(120, 120)
plate[{{1, 1}}] = 1
local charts = {}
for step = 1, 4000 do
  local inner = (plate[{{1, -3}, {2, -2}}] + plate[{{3, -1}, {2, -2}}] + plate[{{2, -2}, {1, -3}}] + plate[{{2, -2}, {3, -1}}]) / 4
  plate[{{2, -2}, {2, -2}}] = inner
  if step == 50 or step == 400 or step == 1500 or step == 4000 then
    charts[#charts + 1] = gpu.plot.image(plate:copy(), {colormap = "hot", min = 0, max = 1, title = step .. " steps"})
  end
end
gpu.plot.grid(charts, 2):save(arg[1], {size = {800, 700}})

-- Heat in a square plate, divided into blocks of rows among several processes: in each step, the ranks exchange the rows at their
-- borders (gpu.comm.halo_) and advance their own by the explicit five-point stencil. The rim stays at 0; a warm spot spreads.
-- Rank 0 gathers the plate, compares it with the same steps in one process, and writes a picture where a path is given.
--
--   gpulua --ranks 4 scripts/heat_ranks.lua [points] [steps] [picture.png]

local gpu = require "gpu"
local comm = gpu.comm

local n = tonumber(arg and arg[1]) or 512
local steps = tonumber(arg and arg[2]) or 200
local picture = arg and arg[3]
local number = 0.2 -- diffusivity * time step / spacing^2: the scheme is stable up to 1/4

--- The plate at time 0.
local function start()
  local x = gpu.linspace(-1, 1, n)
  local u = gpu.exp(-40 * ((x(":", gpu.newaxis) - 0.2) ^ 2 + x ^ 2))
  u(1, ":"):fill_(0)
  u(n, ":"):fill_(0)
  u(":", 1):fill_(0)
  u(":", n):fill_(0)
  return u
end

--- Advances the inner points of a block by one step.
local function advance(u)
  local inner = u("2:-2", "2:-2")
  local new = inner + number * (u("1:-3", "2:-2") + u("3:", "2:-2") + u("2:-2", "1:-3") + u("2:-2", "3:") - 4 * inner)
  inner:copy_(new)
end

-- This rank's rows of the plate, with a row of each neighbour around them. The first and the last row of the plate have none.
local first, last = comm.share(n - 2)
local u = start()({ first, last + 2 }):copy()
for _ = 1, steps do
  if comm.size > 1 then comm.halo_(u, 1) end
  advance(u)
end
local plate = comm.gather(u("2:-2"))

if comm.is_root then
  local alone = start()
  for _ = 1, steps do advance(alone) end
  assert(gpu.array_equal(plate, alone("2:-2")), "the plate was to be the one of a single process, bit by bit")
  print(("heat: %d x %d points, %d steps on %s"):format(n, n, steps, tostring(gpu.device())))
  print(("warmest point         %.6f"):format(plate:max():item()))
  print(("mean                  %.6f"):format(plate:mean():item()))
  if picture then gpu.image.save(picture, plate, { colormap = "inferno" }) end
end

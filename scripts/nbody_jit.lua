-- Bodies that attract each other, by a kernel that is written in Lua: each block goes through all bodies by tiles in shared memory.
-- Its twin is the same step as array arithmetic.
--
--   gpulua scripts/nbody_jit.lua [bodies] [steps]
local gpu = require "gpu"

local n, steps = tonumber(arg and arg[1]) or 4096, tonumber(arg and arg[2]) or 5
local dt, softening = 0.1, 0.05
local tile = 128

local advance = gpu.jit(function(position, mass, velocity, moved)
  local px, py, pz = gpu.shared(tile, "float32"), gpu.shared(tile, "float32"), gpu.shared(tile, "float32")
  local weight = gpu.shared(tile, "float32")
  local i, t = gpu.grid(), gpu.thread()
  local bodies = #mass
  local own = math.min(i, bodies)
  local x, y, z = position[own][1], position[own][2], position[own][3]
  local ax, ay, az = 0, 0, 0
  for first = 0, bodies - 1, tile do
    local other = first + t
    local known = math.min(other, bodies)
    px[t], py[t], pz[t] = position[known][1], position[known][2], position[known][3]
    weight[t] = other <= bodies and mass[known] or 0
    gpu.barrier()
    for k = 1, tile do
      local dx, dy, dz = px[k] - x, py[k] - y, pz[k] - z
      local inverse = gpu.rsqrt(dx * dx + dy * dy + dz * dz + softening * softening)
      local pull = weight[k] * inverse * inverse * inverse
      ax, ay, az = ax + pull * dx, ay + pull * dy, az + pull * dz
    end
    gpu.barrier()
  end
  if i > bodies then return end
  local vx, vy, vz = velocity[i][1] + dt * ax, velocity[i][2] + dt * ay, velocity[i][3] + dt * az
  velocity[i][1], velocity[i][2], velocity[i][3] = vx, vy, vz
  moved[i][1], moved[i][2], moved[i][3] = x + dt * vx, y + dt * vy, z + dt * vz
end, {name = "advance"})

gpu.random.seed(7)
local start = gpu.randn(n, 3)
local mass = gpu.random.uniform(n, 0.5, 1.5, "float32") / n
gpu.eval(start, mass)

local position, moved, velocity = start:copy(), gpu.zeros(n, 3), gpu.zeros(n, 3)
local launch = advance {grid = math.ceil(n / tile), block = tile}
for _ = 1, steps do
  launch(position, mass, velocity, moved)
  position, moved = moved, position
end

-- ---- the twin ---------------------------------------------------------------------------------------------------------------

local p, v = start, gpu.zeros(n, 3)
for _ = 1, steps do
  local a = {}
  local d = {}
  for axis = 1, 3 do d[axis] = p(":", axis) - p(":", axis):reshape(n, 1) end
  local pull = mass / (d[1] ^ 2 + d[2] ^ 2 + d[3] ^ 2 + softening ^ 2) ^ 1.5
  for axis = 1, 3 do a[axis] = (pull * d[axis]):sum(2) end
  v = v + dt * gpu.stack(a, 2)
  p = p + dt * v
  gpu.eval(p, v)
end

local worst = math.max((position - p):abs():max():item(), (velocity - v):abs():max():item())
local fastest = v:abs():max():item()
local momentum = (velocity * mass:reshape(n, 1)):sum(1):abs():max():item()
local time = gpu.benchmark(function() launch(position, mass, velocity, moved) end, {repeats = 5}).device.median
print(("%d bodies on %s, %d steps: largest difference from the arrays %.3g of %.3g, momentum %.3g"):format(n,
  tostring(gpu.device()), steps, worst, fastest, momentum))
print(("a step takes %.3f ms, %.2f billion pairs a second"):format(time, n * n / time / 1e6))
assert(fastest > 0.1 and worst < 1e-4, "positions or velocities differ from the arrays'")
assert(momentum < 1e-5, "the momentum is to stay 0")

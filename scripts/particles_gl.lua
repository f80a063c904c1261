-- Particles around two heavy bodies that circle each other. OpenGL draws them from the memory in which they are computed: nothing is
-- copied. The wheel zooms, Escape ends. With a number of frames it needs no display: it draws them headless and saves the last one.
--
--   gpulua scripts/particles_gl.lua [frames] [file.png] [particles]
local gpu = require "gpu"

local frames, path = tonumber(arg and arg[1]), arg and arg[2] or "particles_gl.png"
local n = tonumber(arg and arg[3]) or 1000000
local dt = 0.004

local window = gpu.window {width = 900, height = 900, title = n .. " particles", headless = frames ~= nil}
local positions = window:buffer({n, 2}, "float32")

-- Each particle begins on a circle around the middle, as fast as stays on it.
gpu.random.seed(3)
local radius, angle = 0.35 + 0.6 * gpu.rand(n):sqrt(), gpu.random.uniform({n}, 0, 2 * math.pi)
local start = gpu.stack({radius * angle:cos(), radius * angle:sin()}, 2)
local speed = (1 / radius):sqrt()
local velocity = gpu.stack({-speed * angle:sin(), speed * angle:cos()}, 2):eval()
positions:with(function(x) x:copy_(start) end)

local advance = gpu.jit(function(x, v, ax, ay, bx, by)
  local i = gpu.grid()
  if i > x.shape[1] then return end
  local px, py = x[i][1], x[i][2]
  local function pull(cx, cy)
    local dx, dy = cx - px, cy - py
    local inverse = gpu.rsqrt(dx * dx + dy * dy + gpu.float32(0.001))
    local strength = gpu.float32(0.5) * inverse * inverse * inverse
    return strength * dx, strength * dy
  end
  local fx, fy = pull(ax, ay)
  local gx, gy = pull(bx, by)
  v[i][1], v[i][2] = v[i][1] + dt * (fx + gx), v[i][2] + dt * (fy + gy)
  x[i][1], x[i][2] = px + dt * v[i][1], py + dt * v[i][2]
end, {name = "advance"})

local view, time, frame = 1.2, 0, 0
local clock = gpu.timer()
while window:is_open() and frame ~= frames and not window:pressed "escape" do
  time, frame = time + dt, frame + 1
  local phase = 2 * math.pi * time
  local ax, ay = 0.15 * math.cos(phase), 0.15 * math.sin(phase)
  positions:with(function(x) advance:over(n)(x, velocity, ax, ay, -ax, -ay) end)
  view = view * 0.9 ^ window:mouse().wheel
  window:clear {0.02, 0.02, 0.05}
  window:draw(positions, {color = {0.6, 0.8, 1, 0.35}, limits = {-view, view, -view, view}})
  window:present()
end
print(("%d particles on %s: %d frames, %.2f ms each"):format(n, tostring(gpu.device()), frame, clock() / math.max(frame, 1)))
if frames then window:save(path) end

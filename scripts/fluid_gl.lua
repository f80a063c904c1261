-- A fluid that the pointer stirs: incompressible flow in a periodic square, carried along by its own velocity and made free of
-- divergence by a Fourier transform in each step (Stam, "A Simple Fluid Solver Based on the FFT", 2001). With a number of frames it
-- needs no display: it stirs by itself, headless, and saves the last picture.
--
--   gpulua scripts/fluid_gl.lua [frames] [file.png] [side]
local gpu = require "gpu"

local frames, path = tonumber(arg and arg[1]), arg and arg[2] or "fluid_gl.png"
local side = tonumber(arg and arg[3]) or 512
local dt, viscosity = 0.5, 0.02
local window = gpu.window {width = 768, height = 768, title = "fluid", resizable = false, headless = frames ~= nil}

-- Velocities in cells per unit of time: u along columns, v along rows.
local u, v, dye = gpu.zeros(side, side), gpu.zeros(side, side), gpu.zeros(side, side)
local row, column = gpu.arange(1, side + 1):reshape(side, 1), gpu.arange(1, side + 1):reshape(1, side)
row, column = row:astype "float32":eval(), column:astype "float32":eval()

-- Where what is now at a cell was one step ago, linearly between the four cells around it.
local carry = gpu.jit(function(field, u, v, result)
  local j, i = gpu.grid(2)
  if i > side or j > side then return end
  local y, x = i - dt * v[i][j], j - dt * u[i][j]
  local y0, x0 = math.floor(y), math.floor(x)
  local fy, fx = y - y0, x - x0
  local i0, j0 = (y0 - 1) % side + 1, (x0 - 1) % side + 1
  local i1, j1 = i0 % side + 1, j0 % side + 1
  result[i][j] = (1 - fy) * ((1 - fx) * field[i0][j0] + fx * field[i0][j1]) + fy * ((1 - fx) * field[i1][j0] + fx * field[i1][j1])
end, {name = "carry"})
local blocks = {grid = {math.ceil(side / 32), math.ceil(side / 8)}, block = {32, 8}}
local function carried(field)
  local result = gpu.empty(side, side)
  carry(blocks)(field, u, v, result)
  return result
end

-- The part without divergence: each wave keeps what lies across its direction, and viscosity damps the short ones. The shortest, of two
-- cells, have no direction and go.
local ky = (2 * math.pi * gpu.fft.fftfreq(side)):reshape(side, 1):eval()
local kx = (2 * math.pi * gpu.fft.rfftfreq(side)):reshape(1, side / 2 + 1):eval()
local k2 = (ky * ky + kx * kx):eval()
local is_short = gpu.maximum(kx:abs(), ky:abs()):gt(3.14)
local damping = gpu.where(is_short, 0, (-viscosity * dt * k2):exp()):eval()
local safe_k2 = gpu.where(k2:gt(0), k2, 1):eval()
local function project()
  local a, b = gpu.fft.rfft2(u), gpu.fft.rfft2(v)
  local along = (kx * a + ky * b) / safe_k2
  u = gpu.fft.irfft2((a - kx * along) * damping):eval()
  v = gpu.fft.irfft2((b - ky * along) * damping):eval()
end

--- Pushes the fluid around a cell and adds dye there.
local function stir(x, y, push_x, push_y)
  local spot = (-((row - y) ^ 2 + (column - x) ^ 2) / (side / 40) ^ 2):exp()
  u, v = (u + push_x * spot):eval(), (v + push_y * spot):eval()
  dye = (dye + 0.6 * spot):eval()
end

local frame, last = 0, nil
while window:is_open() and frame ~= frames and not window:pressed "escape" do
  frame = frame + 1
  local mouse, cells = window:mouse(), side / window.width
  if frames then
    local phase = 2 * math.pi * frame / 120
    stir(side * (0.5 + 0.3 * math.cos(phase)), side * (0.5 + 0.3 * math.sin(2 * phase)), -3 * math.sin(phase), 4 * math.cos(2 * phase))
  elseif mouse.left and last then
    stir(mouse.x * cells, mouse.y * cells, (mouse.x - last.x) * cells, (mouse.y - last.y) * cells)
  end
  last = mouse
  u, v, dye = carried(u), carried(v), (0.998 * carried(dye)):eval()
  project()
  window:image(dye, {colormap = "magma", min = 0, max = 1.5, smooth = true})
  window:present()
end
local a, b = gpu.fft.rfft2(u), gpu.fft.rfft2(v)
local divergence = (gpu.linalg.norm(kx * a + ky * b) / gpu.linalg.norm(k2:sqrt() * (a:abs() + b:abs()))):item()
print(("%d steps of %d x %d cells on %s, relative divergence %.1e"):format(frame, side, side, tostring(gpu.device()), divergence))
assert(divergence < 1e-4, "the flow is not free of divergence")
if frames then window:save(path) end

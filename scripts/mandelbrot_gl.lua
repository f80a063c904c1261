-- The Mandelbrot set: the wheel zooms at the pointer, the left button drags, Escape ends. With a number of frames it needs no display: it
-- zooms in by itself, headless, and saves the last picture.
--
--   gpulua scripts/mandelbrot_gl.lua [frames] [file.png]
local gpu = require "gpu"

local frames, path = tonumber(arg and arg[1]), arg and arg[2] or "mandelbrot_gl.png"
local width, height, most = 960, 640, 256
local window = gpu.window {width = width, height = height, title = "Mandelbrot set", resizable = false, headless = frames ~= nil}

local escape_times = gpu.jit(function(image, left, top, step)
  local column, row = gpu.grid(2)
  if row > image.shape[1] or column > image.shape[2] then return end
  local re, im = left + (column - 1) * step, top - (row - 1) * step
  local x, y = gpu.float64(0), gpu.float64(0)
  local i = 0
  while i < most and x * x + y * y < 256 do
    x, y = x * x - y * y + re, 2 * x * y + im
    i = i + 1
  end
  -- The fraction makes the colours flow from one number of steps to the next.
  local smooth = i < most and i + 1 - math.log(math.log(x * x + y * y) / 2) / math.log(2) or 0
  image[row][column] = math.sqrt(math.max(smooth, 0) / most)
end, {name = "escape_times"})

local image = gpu.zeros(height, width)
local center = {x = -0.7436438870371587, y = 0.13182590420531197} -- of a spiral
local left, top, step = -2.25, 1, 3 / width
local frame, drag = 0, nil
while window:is_open() and frame ~= frames and not window:pressed "escape" do
  frame = frame + 1
  local mouse = window:mouse()
  local zoom, x, y = 0.85 ^ mouse.wheel, mouse.x, mouse.y
  if frames then zoom, x, y = 0.002 ^ (1 / frames), (center.x - left) / step, (top - center.y) / step end
  if mouse.left and drag then left, top = left - (x - drag.x) * step, top + (y - drag.y) * step end
  drag = mouse.left and {x = x, y = y} or nil
  left, top, step = left + x * step * (1 - zoom), top - y * step * (1 - zoom), step * zoom
  escape_times {grid = {math.ceil(width / 32), math.ceil(height / 8)}, block = {32, 8}}(image, left, top, step)
  window:image(image, {colormap = "inferno", min = 0, max = 0.8})
  window:present()
end
print(("%d pictures of %d x %d on %s, the last one %.3g wide"):format(frame, width, height, tostring(gpu.device()), width * step))
if frames then window:save(path) end

-- The time of a frame of particles, whose positions a kernel computes anew in each: by a buffer that arrays and OpenGL share, by a copy
-- on the device, by a copy through the host, and by a C++ program with CUDA's driver and EGL (frames.cpp). A frame ends when OpenGL has
-- drawn it, by glFinish. Without the C++ side, as on the cpu device:
--
--   LUA_PATH="bench/arrays/?.lua;;" gpulua bench/graphics/frames.lua [path/to/libbench_frames.so | -] [particles]
local gpu = require "gpu"
local ffi = require "ffi"
local timing = require "timing"

local library, n = arg[1] ~= "-" and arg[1], tonumber(arg[2]) or 1000000
local in_batch, batches = 10, 11

ffi.cdef [[
  double bench_frames(const char* ptx, int particles, int frames);
  void glFinish(void);
]]
local gl = ffi.load "libOpenGL.so.0"

local source = [[
extern "C" __global__ void place_particles(float* position, float time, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float radius = 0.9f * sqrtf((i + 0.5f) / n), angle = 0.01f * i + time / (0.1f + radius);
  position[2 * i] = radius * cosf(angle);
  position[2 * i + 1] = radius * sinf(angle);
}]]
local module = gpu.module(source)
local place = module.place_particles:over(n)

local window = gpu.window {width = 900, height = 900, headless = true}
local look = {color = {0.6, 0.8, 1, 0.35}}
local shared, array = window:buffer({n, 2}, "float32"), gpu.zeros(n, 2)

local function finish() window:with(function() gl.glFinish() end) end

local function draw(positions)
  window:clear()
  window:draw(positions, look)
  finish()
end

local sides = {}

table.insert(sides, {"shared buffer", function(time)
  shared:with(function(x) place(x, time, n) end)
  draw(shared)
end})

if gpu.device().name ~= "cpu" then
  table.insert(sides, {"copy on the device", function(time)
    place(array, time, n)
    draw(array)
  end})
end

table.insert(sides, {"copy through the host", function(time)
  place(array, time, n)
  draw(array:to "cpu")
end})

--- Milliseconds of a frame, in a batch of them.
local function batch_of(frame)
  return function()
    local start = timing.now()
    for i = 0, in_batch - 1 do frame(i / 60) end
    return (timing.now() - start) / in_batch
  end
end

local reference
for i, side in ipairs(sides) do
  side[2](1)
  local picture = window:read()
  if i > 1 and not gpu.array_equal(picture, reference) then error("another picture by " .. side[1] .. " than by " .. sides[1][1]) end
  reference = picture
  side.run = batch_of(side[2])
end

if library then
  local peer = ffi.load(library)
  local text = module.ptx
  table.insert(sides, {"C++", run = function() return peer.bench_frames(text, n, in_batch) end})
end

local function median(values)
  table.sort(values)
  return values[math.ceil(#values / 2)]
end

-- Batch by batch in turn, so that each side meets the machine in the same states. The 0th warms up.
for _, side in ipairs(sides) do side.times, side.ratios = {}, {} end
for batch = 0, batches do
  for _, side in ipairs(sides) do
    local time = side.run()
    side.last = time
    if batch > 0 then
      table.insert(side.times, time)
      table.insert(side.ratios, time / sides[1].last)
    end
  end
end

print(("%d particles on %s, a frame of 900 x 900 pixels: medians of %d batches of %d"):format(n, gpu.device().name, batches, in_batch))
print(("%-24s %10s %16s"):format("", "ms", "/ shared buffer"))
for _, side in ipairs(sides) do print(("%-24s %10.3f %16.3f"):format(side[1], median(side.times), median(side.ratios))) end

-- Where the particles of particles_window are. The program draws them from an OpenGL buffer of its own, and here this buffer is the
-- array: kernels write where OpenGL reads. It may be changed without building the program again.
local buffer, radius, angle, speed

--- The program's buffer, by OpenGL's number of it, has a row of two floats for each particle.
function attach(id, particles)
  buffer = gpu.gl.buffer_from(id, {particles, 2}, "float32")
  local number = gpu.range(1, particles, "float64") - 0.5
  radius = (0.9 * (number / particles):sqrt()):astype "float32"
  angle = (number * math.pi * (3 - math.sqrt(5)) % (2 * math.pi)):astype "float32" -- large angles have few digits in float32
  speed = 0.3 / (0.1 + radius)
  gpu.eval(radius, angle, speed)
end

--- Moves the particles to their places at a time in seconds.
function move(time)
  buffer:with(function(position)
    local at = angle + time * speed
    position:copy_(gpu.stack({radius * at:cos(), radius * at:sin()}, 2))
  end)
end

--- Before the program deletes its buffer.
function detach() buffer:release() end

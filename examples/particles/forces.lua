-- What pulls the particles. The program calls forces() in each frame, with its own arrays: positions, velocities and forces, in rows of
-- three. It may be changed without building the program again.
stiffness = 1

function forces(position, velocity, force)
  force:copy_(-stiffness * position)
end

--- For the program's measurement: what a call costs that does nothing.
function idle(position, velocity, force) end

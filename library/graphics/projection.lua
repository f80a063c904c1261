-- From positions to what OpenGL draws: the columns of a 4 x 4 matrix, in a list of 16 numbers.
local _, _, core, import = ...
local checks = import "checks"

local projection = {}

local function numbers(op, what, value, counts)
  if type(value) ~= "table" or not counts[#value] then core.fail(op, what, value) end
  for i = 1, #value do checks.finite(op, what, value[i]) end
  return value
end

--- Rectangles and boxes: {left, right, bottom, top [, back, front]}. Without the last two, depths do not count.
local function of_limits(op, limits)
  numbers(op, "limits = {left, right, bottom, top} or with {..., back, front}, numbers", limits, {[4] = true, [6] = true})
  local matrix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
  for axis = 1, #limits / 2 do
    local from, to = limits[2 * axis - 1], limits[2 * axis]
    if from == to then core.raise(("[%s] limits: expected two different numbers for each axis, got %g twice"):format(op, from)) end
    local sign = axis == 3 and -1 or 1 -- OpenGL's depths grow away from the eye
    matrix[5 * axis - 4] = sign * 2 / (to - from)
    matrix[12 + axis] = -sign * (from + to) / (to - from)
  end
  return matrix, #limits == 6
end

local function cross(a, b)
  return {a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1]}
end
local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end

--- The vector at length 1, and its length.
local function unit(a)
  local length = math.sqrt(dot(a, a))
  return {a[1] / length, a[2] / length, a[3] / length}, length
end

local camera_fields = {from = true, to = true, up = true, angle = true}

local function of_camera(op, camera, width, height)
  local names = "camera = {from = {x, y, z}, to = {x, y, z}, up = {x, y, z}, angle = degrees}"
  if type(camera) ~= "table" then core.fail(op, names, camera) end
  for field in next, camera do
    if not camera_fields[field] then
      core.raise(("[%s] camera: expected the fields from, to, up and angle, got %s%s"):format(op, core.describe(field),
        type(field) == "string" and core.did_you_mean(field, {"from", "to", "up", "angle"}) or ""))
    end
  end
  local three = {[3] = true}
  local from = numbers(op, "camera.from = {x, y, z}, the place of the eye", camera.from, three)
  local to = numbers(op, "camera.to = {x, y, z}, what it looks at", camera.to or {0, 0, 0}, three)
  local up = numbers(op, "camera.up = {x, y, z}, what is up", camera.up or {0, 1, 0}, three)
  local angle = checks.finite(op, "camera.angle = degrees between the lower and the upper edge", camera.angle or 45)
  if angle <= 0 or angle >= 180 then core.raise(("[%s] camera.angle: expected degrees between 0 and 180, got %g"):format(op, angle)) end
  local forward, distance = unit {to[1] - from[1], to[2] - from[2], to[3] - from[3]}
  local side, turn = unit(cross(forward, up))
  if distance == 0 then core.raise(("[%s] camera: expected two places from and to, got one"):format(op)) end
  if not (turn > 0) then core.raise(("[%s] camera.up: expected another direction than that of the view"):format(op)) end
  local above = cross(side, forward)
  local near, far = distance / 1000, distance * 1000
  local scale = 1 / math.tan(math.rad(angle) / 2)
  local depth, shift = (far + near) / (near - far), 2 * far * near / (near - far)
  local across = scale * height / width
  local matrix = {}
  for axis = 1, 3 do
    matrix[4 * axis - 3] = across * side[axis]
    matrix[4 * axis - 2] = scale * above[axis]
    matrix[4 * axis - 1] = -depth * forward[axis]
    matrix[4 * axis] = forward[axis]
  end
  matrix[13], matrix[14] = -across * dot(side, from), -scale * dot(above, from)
  matrix[15], matrix[16] = depth * dot(forward, from) + shift, -dot(forward, from)
  return matrix
end

--- The matrix of the option `limits` or `camera`, and whether nearer positions hide others.
function projection.matrix(op, options, width, height)
  if options.camera == nil then return of_limits(op, options.limits or {-1, 1, -1, 1}) end
  if options.limits ~= nil then core.raise(("[%s] expected limits or camera, got both"):format(op)) end
  return of_camera(op, options.camera, width, height), true
end

return projection

-- Reads of textures in each mode at positions that look random: within the image, far beyond its borders, on the borders between
-- elements, and next to them. record.lua writes what a GPU reads; texture_spec.lua compares.
local gpu = require "gpu"

local cases = {}

local random_state = 1

--- A number from 0 to 1; the same ones on each machine.
local function random()
  random_state = (random_state * 16807) % 2147483647
  return random_state / 2147483647
end

local letters = {"x", "y", "z"}

--- The mode's image as an array, and its axes' lengths along x, y and z.
local function make_image(mode)
  local sizes = {40, 23, 11}
  local shape, lengths, count = {}, {}, 1
  for axis = 1, mode.dimensions do
    lengths[axis] = mode.dtype:find "8" and axis == 1 and 64 or sizes[axis]
    table.insert(shape, 1, lengths[axis])
  end
  if mode.layered then table.insert(shape, 1, 5) end
  if mode.channels then shape[#shape + 1] = mode.channels end
  for _, length in ipairs(shape) do count = count * length end
  local values, float = {}, mode.dtype:find "float"
  local bits = tonumber(mode.dtype:match "int(%d+)")
  for i = 1, count do
    if float then
      values[i] = random() * 8 - 4
    else
      values[i] = math.floor(random() * 2 ^ bits) - (mode.dtype:find "^u" and 0 or 2 ^ (bits - 1))
    end
  end
  if mode.dtype == "float16" then return gpu.array(values, "float32"):astype("float16"):reshape(shape), lengths end
  return gpu.array(values, mode.dtype):reshape(shape), lengths
end

--- `count` positions along each axis, float32, and layers, int32.
local function make_positions(mode, lengths, count)
  local positions = {}
  for axis = 1, mode.dimensions do
    local length, values = lengths[axis], {}
    local scale = mode.options.normalized and 1 / length or 1
    for i = 1, count do
      local kind, value = i % 8
      if kind == 0 then
        value = math.floor((random() * 4 - 1.5) * length * 2) / 2                -- centres, and borders between elements
      elseif kind == 1 then
        value = (random() * 4 - 1.5) * length
      elseif kind == 2 then
        value = math.floor(random() * length * 256) / 256 + (random() - 0.5) / 512  -- next to the steps of the weights
      elseif kind == 3 and i % 64 == 3 then
        value = (random() - 0.5) * 1e7
      else
        value = random() * length
      end
      values[i] = value * scale
    end
    positions[axis] = gpu.array(values, "float32")
  end
  local layers = {}
  for i = 1, count do layers[i] = math.floor(random() * 7) - 1 end
  return positions, gpu.array(layers, "int32")
end

local types = {uint8 = "uchar", int8 = "char", uint16 = "ushort", int16 = "short", uint32 = "uint", int32 = "int"}
local scalars = {uint8 = "unsigned char", int8 = "signed char", uint16 = "unsigned short", int16 = "short", uint32 = "unsigned int", int32 = "int"}

--- What the mode reads at `count` positions: (count, channels), float32 or int32.
function cases.read(mode, count)
  random_state = mode.seed
  local image, lengths = make_image(mode)
  local positions, layers = make_positions(mode, lengths, count)
  local is_float = mode.dtype:find "float" or mode.options.read == "normalized"
  local channels = mode.channels or 1
  local type = is_float and (channels > 1 and "float" .. channels or "float") or channels > 1 and types[mode.dtype] .. channels or scalars[mode.dtype]
  local result = is_float and "float" or "int"
  local arguments, parameters, at = {}, {}, {}
  for axis = 1, mode.dimensions do
    parameters[axis] = "const float* " .. letters[axis]
    at[axis] = letters[axis] .. "[i]"
    arguments[axis] = positions[axis]
  end
  local name = ("tex%dD%s"):format(mode.dimensions, mode.layered and "Layered" or "")
  if mode.layered then at[#at + 1] = "layers[i]" end
  if mode.options.memory == "array" and mode.dimensions == 1 then name, at = "tex1Dfetch", {"(int)x[i]"} end
  local stores = {}
  for channel = 1, channels do
    stores[channel] = ("out[i * %d + %d] = value%s;"):format(channels, channel - 1, channels > 1 and "." .. ("xyzw"):sub(channel, channel) or "")
  end
  local source = ([[
    extern "C" __global__ void sample(cudaTextureObject_t t, %s, const int* layers, %s* out, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      const %s value = %s<%s>(t, %s);
      %s
    }]]):format(table.concat(parameters, ", "), result, type, name, type, table.concat(at, ", "), table.concat(stores, " "))
  local out = gpu.zeros({count, channels}, is_float and "float32" or "int32")
  local options = {channels = mode.channels, layered = mode.layered}
  for option, value in pairs(mode.options) do options[option] = value end
  arguments[#arguments + 1] = layers
  arguments[#arguments + 1] = out
  arguments[#arguments + 1] = count
  gpu.kernel(source, "sample"):over(count)(gpu.texture(image, options), unpack(arguments))
  return out
end

cases.modes = {}

local function add(dtype, dimensions, options, more)
  local mode = {dtype = dtype, dimensions = dimensions, options = options, seed = 1000 + #cases.modes}
  for key, value in pairs(more or {}) do mode[key] = value end
  local parts = {dtype, dimensions .. "d"}
  for _, key in ipairs {"filter", "border", "normalized", "read", "memory"} do
    if options[key] then parts[#parts + 1] = options[key] == true and key or tostring(options[key]) end
  end
  if mode.channels then parts[#parts + 1] = mode.channels .. " channels" end
  if mode.layered then parts[#parts + 1] = "layered" end
  mode.name = table.concat(parts, " ")
  cases.modes[#cases.modes + 1] = mode
end

for dimensions = 1, 3 do
  for _, filter in ipairs {"point", "linear"} do
    for _, border in ipairs {"clamp", "zero"} do
      add("float32", dimensions, {filter = filter, border = border})
    end
    for _, border in ipairs {"clamp", "zero", "wrap", "mirror"} do
      add("float32", dimensions, {filter = filter, border = border, normalized = true})
    end
  end
end
for _, dtype in ipairs {"uint8", "int8", "uint16", "int16", "uint32", "int32"} do add(dtype, 2, {filter = "point"}) end
for _, dtype in ipairs {"uint8", "int8", "uint16", "int16"} do
  add(dtype, 2, {filter = "point", read = "normalized"})
  add(dtype, 2, {filter = "linear", read = "normalized"})
end
add("float16", 2, {filter = "point"})
add("float16", 2, {filter = "linear"})
add("float32", 2, {filter = "linear", border = "zero"}, {channels = 4})
add("float32", 2, {filter = "linear"}, {channels = 2})
add("uint8", 2, {filter = "linear", read = "normalized"}, {channels = 4})
add("int16", 2, {filter = "point", border = "zero"}, {channels = 2})
for dimensions = 1, 2 do
  add("float32", dimensions, {filter = "linear"}, {layered = true})
  add("float32", dimensions, {filter = "point", border = "wrap", normalized = true}, {layered = true})
end
add("float32", 2, {filter = "linear", memory = "array"})
add("uint8", 2, {filter = "point", border = "zero", memory = "array"})
add("float32", 1, {memory = "array"})
add("int32", 1, {memory = "array"}, {channels = 4})

return cases

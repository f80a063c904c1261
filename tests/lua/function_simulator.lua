-- Runs a kernel of gpu.jit in LuaJIT, on tables in place of arrays: each thread of a block is a coroutine, and a barrier is a
-- yield.
-- A kernel's text has `gpu` as a global, which here is a table with the positions of the thread that runs.
local simulator = {}

local function dims(value)
  if type(value) == "number" then return value, 1, 1 end
  return value[1], value[2] or 1, value[3] or 1
end

--- A table with the array's elements and its shape. `#` and indices are those of the array.
function simulator.array(values)
  local shape, inner = {}, values
  while type(inner) == "table" do shape[#shape + 1], inner = #inner, inner[1] end
  local function copy(of, axis)
    if type(of) ~= "table" then return of end
    local result = {}
    for i, value in ipairs(of) do result[i] = copy(value, axis + 1) end
    result.shape = {unpack(shape, axis)}
    return result
  end
  return copy(values, 1)
end

--- The elements without the shape.
function simulator.values(array)
  if type(array) ~= "table" then return array end
  local result = {}
  for i, value in ipairs(array) do result[i] = simulator.values(value) end
  return result
end

local function make_array(sizes, axis)
  local result = {shape = {unpack(sizes, axis)}}
  for i = 1, sizes[axis] do result[i] = axis < #sizes and make_array(sizes, axis + 1) or 0 end
  return result
end

--- `launch(...)` runs the kernel `f`, whose environment it sets.
function simulator.kernel(f, config)
  local grid, block = {dims(config.grid)}, {dims(config.block)}
  local here, memory  -- the thread, and the arrays of its block
  local gpu = setmetatable({atomic = {}}, {__index = function(_, name) error("the simulator has no gpu." .. name, 2) end})
  local function positions(of)
    return function(axes) return unpack(of(), 1, axes or 1) end
  end
  gpu.thread = positions(function() return here.thread end)
  gpu.block_index = positions(function() return here.block end)
  gpu.block_size = positions(function() return block end)
  gpu.grid = positions(function()
    local at = {}
    for k = 1, 3 do at[k] = (here.block[k] - 1) * block[k] + here.thread[k] end
    return at
  end)
  gpu.grid_size = positions(function() return {grid[1] * block[1], grid[2] * block[2], grid[3] * block[3]} end)
  function gpu.shared(...)
    local sizes = {...}
    sizes[#sizes] = nil
    here.arrays = here.arrays + 1
    memory[here.arrays] = memory[here.arrays] or make_array(sizes, 1)
    return memory[here.arrays]
  end
  function gpu.local_array(...)
    local sizes = {...}
    sizes[#sizes] = nil
    return make_array(sizes, 1)
  end
  gpu.barrier = coroutine.yield
  local function atomic(name, combine)
    gpu.atomic[name] = function(array, index, value)
      local old = array[index]
      array[index] = combine(old, value)
      return old
    end
  end
  atomic("add", function(a, b) return a + b end)
  atomic("sub", function(a, b) return a - b end)
  atomic("max", math.max)
  atomic("min", math.min)
  atomic("exchange", function(_, b) return b end)
  setfenv(f, setmetatable({gpu = gpu}, {__index = _G}))

  local function run_block(x, y, z, ...)
    local threads = {}
    memory = {}
    for k = 1, block[3] do
      for j = 1, block[2] do
        for i = 1, block[1] do
          threads[#threads + 1] = {thread = {i, j, k}, block = {x, y, z}, run = coroutine.create(f)}
        end
      end
    end
    local waiting = threads
    while #waiting > 0 do
      local rest = {}
      for _, thread in ipairs(waiting) do
        here = thread
        thread.arrays = thread.arrays or 0
        local ok, message = coroutine.resume(thread.run, ...)
        if not ok then error(message, 0) end
        if coroutine.status(thread.run) ~= "dead" then rest[#rest + 1] = thread end
      end
      waiting = rest
    end
  end
  return function(...)
    for z = 1, grid[3] do
      for y = 1, grid[2] do
        for x = 1, grid[1] do run_block(x, y, z, ...) end
      end
    end
  end
end

return simulator

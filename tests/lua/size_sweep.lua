-- Calls every function and method with sizes at the limits of what numbers, 32-bit words and arrays hold, in all places where a
-- size may stand. Each call raises a string or gives arrays that are what they say: a crash ends this process, which sizes_spec
-- runs under a limit of memory. Before each function its name is printed.
local gpu = require "gpu"

-- A result that takes more than this is an error and costs no time.
local limit = 2 ^ 26
gpu.set_memory_limit(limit)

local sizes = {}
for _, power in ipairs { 31, 32, 53, 61, 63 } do
  for distance = -1, 1 do
    local size = 2 ^ power + distance
    if size ~= sizes[#sizes] then sizes[#sizes + 1] = size end -- beyond 2^53 neighbours are one number
  end
end
sizes[#sizes + 1] = -2 ^ 31
sizes[#sizes + 1] = -2 ^ 63
sizes[#sizes + 1] = 1e300
sizes[#sizes + 1] = 0x7fffffffffffffffLL
sizes[#sizes + 1] = -0x7fffffffffffffffLL - 1
sizes[#sizes + 1] = 0xffffffffffffffffULL

-- Functions that take long, change the meaning of later calls, write files, or take an address, which a number may be.
local left_out = {}
for name in ([[benchmark profile scope with bracket save load load_module device devices eager debug strict check set_memory_limit
  free sync trim kernel module elementwise reduction scan_kernel explain from_dlpack ipc_handle from_ipc from_arrow to_arrow]]):gmatch "%S+" do
  left_out[name] = true
end

local bytes = {
  bool = 1, int8 = 1, uint8 = 1, int16 = 2, uint16 = 2, float16 = 2, bfloat16 = 2, int32 = 4, uint32 = 4, float32 = 4, int64 = 8,
  uint64 = 8, float64 = 8, complex64 = 8, complex128 = 16,
}

local function is_array(value) return type(value) == "userdata" and pcall(function() return value.strides end) end

local failures = 0
local function report(what, message)
  failures = failures + 1
  print("FAILED " .. what .. ": " .. tostring(message))
end

local function check_array(what, x)
  local size = 1
  for _, extent in ipairs(x.shape) do
    if not (extent >= 0 and extent <= 2 ^ 53) then report(what, "an extent of " .. extent) end
    size = size * extent
  end
  if x.size ~= size then report(what, ("%g elements, of a shape of %g"):format(x.size, size)) end
  if x.nbytes ~= size * bytes[x.dtype] then report(what, ("%g bytes for %g elements"):format(x.nbytes, size)) end
  if size > 2 ^ 53 then report(what, ("%g elements"):format(size)) end
end

--- An array that is too large for any memory is still an error when its elements are computed.
local function check_evaluation(what, x)
  if x.size < 2 ^ 31 - 1 or x.strides[1] == 0 then return end
  if pcall(x.eval, x) then report(what, "computed more elements than there is room for") end
end

local function try(what, fn, ...)
  local results = { pcall(fn, ...) }
  if not results[1] then
    if type(results[2]) ~= "string" then report(what, "an error without a message: " .. type(results[2])) end
    if results[2]:find "std::" or results[2]:find "vector::" or results[2]:find "basic_string::" then report(what, results[2]) end
    return
  end
  for i = 2, #results do
    if is_array(results[i]) then check_array(what, results[i]) end
  end
  return results[2]
end

-- The arrays that the sizes are combined with: few elements, none, and more than fit into memory.
local x = gpu.array { { 3, 1, 2 }, { 6, 4, 5 } }
local row = gpu.array { 3, 1, 2 }
local whole = gpu.array({ 3, 1, 2 }, "int64")
local wide = gpu.broadcast_to(gpu.ones(1), 2 ^ 53)
local none = gpu.zeros(0, 2 ^ 52)

local function sweep(name, fn)
  io.write(name, "\n")
  io.flush()
  for _, n in ipairs(sizes) do
    local function call(...)
      local what = ("%s at %s"):format(name, tostring(n))
      local result = try(what, fn, ...)
      if is_array(result) then check_evaluation(what, result) end
    end
    call(n)
    call(n, n)
    call { n }
    call { n, n }
    call(0, n)
    call(0, 1, n)
    call({ 2 }, n)
    for _, array in ipairs { x, whole } do
      call(array, n)
      call(array, n, n)
      call(array, { n })
      call(array, { n, n })
      call(array, 1, n)
      call(array, row, n)
    end
  end
  if name == "gpu.polyval" then return end -- one step for each coefficient
  for _, array in ipairs { wide, none } do
    io.write(name, " of ", ("%.0f"):format(array.shape[2] or array.shape[1]), "\n")
    io.flush()
    try(name .. " of very many", fn, array)
    try(name .. " of very many", fn, array, 1)
    try(name .. " of very many", fn, array, array)
    try(name .. " of very many", fn, row, array)
  end
end

local part, parts = tonumber(arg[1]), tonumber(arg[2])
local names, functions = {}, {}
local function add(prefix, from)
  for name, fn in pairs(from) do
    if type(fn) == "function" and not left_out[name] then
      names[#names + 1] = prefix .. name
      functions[prefix .. name] = fn
    end
  end
end
debug.getregistry()["gpulua.helpers"].load_library()
local functions_of = debug.getregistry()["gpulua.helpers"].functions_of
local module = functions_of(gpu)
add("gpu.", module)
for name, value in pairs(module) do
  if type(value) == "table" then add("gpu." .. name .. ".", functions_of(value)) end
end
-- Methods that are functions of gpu too are the same ones.
local methods = {}
for name, fn in pairs(debug.getregistry()["gpulua.array_methods"]) do
  if not rawget(module, name) then methods[name] = fn end
end
add("x:", methods)
table.sort(names)
for i, name in ipairs(names) do
  if i % parts == part - 1 then sweep(name, functions[name]) end
end
print(failures .. " failures of " .. #names .. " functions")
os.exit(failures == 0 and 0 or 1, true)

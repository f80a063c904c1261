-- The objects of the library as help and completion see them: the names of their types, methods and properties. Returns a table
-- of functions.

local getmetatable, next, rawget, registry = debug.getmetatable, next, rawget, debug.getregistry()
local tostring, type = tostring, type

-- What stands for a value of the type in the reference, and the reference's chapter about it, by the name in the metatable.
local types = {
  ["an array"] = {"x", "Arrays"}, ["a kernel"] = {"k", "Kernel objects"}, ["a module"] = {"mod", "Modules"},
  ["a launch"] = {"launch", "Launches"}, ["a device"] = {"device", "Devices"}, ["a stream"] = {"s", "Streams"},
  ["an event"] = {"e", "Events"}, ["a graph"] = {"graph", "Evaluation"},
  ["a generator made by gpu.random.generator(\"philox\")"] = {"g", "Random numbers"},
  ["a sparse matrix"] = {"A", "Sparse matrices"}, ["a random number generator"] = {"c", "Generators of cuRAND"},
  ["a table of columns"] = {"t", "Tables"}, ["groups of rows"] = {"groups", "Tables"}, ["a window"] = {"window", "Series"},
  ["dates or durations"] = {"d", "Dates"}, ["a chart"] = {"p", "Plots"}, ["an OpenGL window"] = {"w", "Windows and OpenGL"},
  ["an OpenGL buffer"] = {"b", "Buffers of OpenGL's"}, ["an OpenGL image"] = {"i", "Images of OpenGL's"},
  ["a Lua kernel"] = {"j", "Operations from Lua functions"}, ["a DLPack capsule"] = {"capsule", "Memory of other libraries"},
}

local objects = {}

--- {letter, chapter} of the value's type; nil for a value that is no object of the library.
function objects.type_of(value)
  local meta = (type(value) == "userdata" or type(value) == "table") and getmetatable(value)
  return meta and types[rawget(meta, "__metatable")]
end

local function methods_in(meta)
  local index = rawget(meta, "__index")
  return rawget(meta, "methods") or (type(index) == "table" and index) or nil
end

--- The table of the methods of what has the letter in the reference; nil when it has none.
function objects.methods(letter)
  if letter == "x" then return registry["gpulua.array_methods"] end
  if letter == "A" then return registry["gpulua.sparse_methods"] end
  -- Metatables made in C++ are in the registry; those made in Lua are what the library's files return.
  local function find(holder)
    for _, meta in next, holder do
      local own = type(meta) == "table" and types[rawget(meta, "__metatable")]
      if own and own[1] == letter then return methods_in(meta) end
    end
  end
  local found = find(registry)
  for _, exports in next, registry["gpulua.library"] or {} do
    found = found or type(exports) == "table" and find(exports)
  end
  return found
end

--- The table of the value's methods; nil when it has none.
function objects.methods_of(value)
  local own = objects.type_of(value)
  return own and objects.methods(own[1])
end

--- The columns of a table by name; none of another value.
function objects.columns_of(value)
  local columns = rawget(getmetatable(value), "columns")
  return columns and columns(value) or {}
end

--- The name in the reference, "gpu.sum" or "x:sum", of a function or part of the library.
function objects.name_of(value)
  local function among(t, prefix, depth)
    for key, item in next, t do
      if item == value then return prefix .. tostring(key) end
      local functions = registry["gpulua.helpers"].functions_of(item)
      local found = depth > 0 and type(functions) == "table" and among(functions, prefix .. tostring(key) .. ".", depth - 1)
      if found then return found end
    end
  end
  local part = registry["gpulua.parts"][value]
  if part then return part end
  local found = among(registry["gpulua.module"], "gpu.", 2) or among(registry["gpulua.array_methods"], "x:", 0)
  if found then return found end
  for _, own in next, types do
    local methods = objects.methods(own[1])
    found = methods and among(methods, own[1] .. ":", 0)
    if found then return found end
  end
end

return objects

-- gpu.gl: buffers whose memory arrays and OpenGL share, without copies.
-- In sandboxes: none
local gpu, _, core, import = ...
local checks, objects = import "checks", import "objects"

local exports = {}

exports.contexts = core.gl_contexts()

local function close(unmap, handle, op, mapped, ok, ...)
  local unmapped, why = pcall(unmap, handle, op, mapped)
  if not ok then error((...), 0) end
  if not unmapped then error(why, 0) end
  return ...
end

--- The results of fn(mapped, ...), after which unmap(handle, op, mapped) was called.
function exports.call_mapped(fn, unmap, handle, op, mapped, ...)
  return close(unmap, handle, op, mapped, core.call(fn, mapped, ...))
end

local function with(buffer, fn, ...)
  checks.lua_function("buffer:with", "a function that gets an array over the buffer", fn)
  local handle = rawget(buffer, "handle")
  return exports.call_mapped(fn, core.gl_unmap, handle, "buffer:with", core.gl_map(handle, "buffer:with"), ...)
end

local function release(buffer) core.gl_release(rawget(buffer, "handle"), "buffer:release") end

local function id(buffer)
  local number = core.gl_id(rawget(buffer, "handle"))
  return number ~= 0 and number or core.raise "[buffer] expected a buffer of OpenGL's, got one after b:release()"
end

local function shape(buffer) return {unpack(rawget(buffer, "extents"))} end

exports.buffer = objects.class("buffer", "an OpenGL buffer", "id, shape, dtype", {with = with, release = release},
  {with = "(fn, ...)", release = "()"}, {id = id, shape = shape, dtype = function(buffer) return rawget(buffer, "element") end})

function exports.buffer:__tostring()
  return ("OpenGL buffer of %s%s"):format(rawget(self, "element"), checks.shape_text(rawget(self, "extents")))
end

--- What gpu.gl.buffer gives, for the function `op`. `number`: the program's buffer; nil: a new one.
function exports.new(op, number, extents, dtype, options)
  local handle = core.gl_buffer(exports.contexts, op, number, extents, dtype, options)
  extents = type(extents) == "table" and {unpack(extents)} or {extents}
  return setmetatable({handle = handle, extents = extents, element = dtype}, exports.buffer)
end

--- Whether a value is such a buffer.
function exports.is_buffer(value) return type(value) == "table" and debug.getmetatable(value) == exports.buffer end

--- gpu.gl.buffer(shape, dtype [, {device}])
function gpu.gl.buffer(extents, dtype, options)
  return exports.new("gl.buffer", nil, extents, dtype, checks.fields("gl.buffer", options))
end

--- gpu.gl.buffer_from(id, shape, dtype [, {device}])
function gpu.gl.buffer_from(number, extents, dtype, options)
  if number == nil then core.fail("gl.buffer_from", "the number of a buffer of OpenGL's", number) end
  return exports.new("gl.buffer_from", number, extents, dtype, checks.fields("gl.buffer_from", options))
end

return exports

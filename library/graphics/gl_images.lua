-- gpu.gl: textures and renderbuffers of a program's, for copies from and to arrays, and for kernels.
-- In sandboxes: none
local gpu, _, core, import = ...
local checks, objects = import "checks", import "objects"
local gl = import "gl"

local exports = {}

local function with(image, fn, ...)
  checks.lua_function("image:with", "a function that gets a texture of the image", fn)
  local handle = rawget(image, "handle")
  local texture = core.gl_image_map(handle, "image:with", rawget(image, "sampling"))
  return gl.call_mapped(fn, core.gl_image_unmap, handle, "image:with", texture, ...)
end

local function read(image) return core.gl_image_read(rawget(image, "handle"), "image:read") end

local function write(image, x) core.gl_image_write(rawget(image, "handle"), "image:write", checks.array("image:write", x)) end

local function release(image) core.gl_image_release(rawget(image, "handle"), "image:release") end

local function id(image)
  local number = core.gl_image_info(rawget(image, "handle"))
  return number ~= 0 and number or core.raise "[image] expected an image of OpenGL's, got one after :release()"
end

local function shape(image) return (select(2, core.gl_image_info(rawget(image, "handle")))) end

local function dtype(image) return (select(3, core.gl_image_info(rawget(image, "handle")))) end

exports.image = objects.class("image", "an OpenGL image", "id, shape, dtype",
  {with = with, read = read, write = write, release = release},
  {with = "(fn, ...)", read = "()", write = "(x)", release = "()"}, {id = id, shape = shape, dtype = dtype})

function exports.image:__tostring() return ("OpenGL image of %s%s"):format(dtype(self), checks.shape_text(shape(self))) end

local function new(op, number, is_texture, options)
  options = checks.fields(op, options)
  if number == nil then core.fail(op, ("the number of a %s of OpenGL's"):format(is_texture and "texture" or "renderbuffer"), number) end
  local sampling = {filter = options.filter, border = options.border, normalized = options.normalized, read = options.read}
  local handle = core.gl_image(gl.contexts, op, number, is_texture, {device = options.device})
  return setmetatable({handle = handle, sampling = sampling}, exports.image)
end

--- gpu.gl.texture_from(id [, {filter, border, normalized, read, device}])
function gpu.gl.texture_from(number, options) return new("gl.texture_from", number, true, options) end

--- gpu.gl.renderbuffer_from(id [, {filter, border, normalized, read, device}])
function gpu.gl.renderbuffer_from(number, options) return new("gl.renderbuffer_from", number, false, options) end

return exports

-- The derivatives of gpu.fft: of a linear map, its adjoint. That of a transform is the inverse transform without its own factor, so with
-- the other norm.
local gpu, _, core, import = ...
local kinds = import "kinds"

local rules, fft = core.rules, gpu.fft

local conj = kinds.conj

local exchanged = {backward = "forward", forward = "backward", ortho = "ortho"}
local function other(norm) return exchanged[norm or "backward"] end

--- The adjoint of a change of lengths: the elements that were added are left out, those that were left out are zeros.
local function resized(g, axes, shape)
  local resize = import("fft").arguments.resized
  for _, axis in ipairs(axes) do g = resize(g, axis, shape[axis]) end
  return g
end

--- The half of a spectrum with its inner elements times the factor: they stand for two of the whole one.
local function weighted(x, axis, n, factor)
  local k = import("views").along(x.shape[axis], axis, x.ndim, x.device)
  local inner = k:gt(0):logical_and((2 * k):lt(n))
  return gpu.where(inner, x * factor, x)
end

-- What the transforms of one axis and of several have in common. `kind`: "complex", "real" (to half a spectrum), "to_real".

--- The adjoint. `inverse`: the name of the transform that has the other direction.
local function adjoint(kind, inverse, g, x, axes, lengths, given, norm)
  local last, n = axes[#axes], lengths[#axes]
  if kind == "real" then g = weighted(g, last, n, 0.5) end
  local back = fft[inverse](g, given and lengths or n, given and axes or last, {norm = other(norm)})
  if kind == "to_real" then back = weighted(back, last, n, 2) end
  return resized(back, axes, x.shape)
end

--- The length of real results on an axis.
local function length_of(kind, n, x, axis) return n or kind == "to_real" and 2 * (x.shape[axis] - 1) or x.shape[axis] end

local function one_axis(name, inverse, kind)
  rules["fft." .. name] = function(cotangents, _, arrays, arguments)
    local x = arrays[1]
    local n, axis, options = import("fft").arguments.read_one("fft." .. name, unpack(arguments, 1, 4))
    return adjoint(kind, inverse, cotangents[1], x, {axis}, {length_of(kind, n, x, axis)}, false, options.norm)
  end
end
one_axis("fft", "ifft", "complex")
one_axis("ifft", "fft", "complex")
one_axis("rfft", "irfft", "real")
one_axis("irfft", "rfft", "to_real")

--- Those of Hermitian signals are conjugates of the others, in the other direction.
rules["fft.hfft"] = function(cotangents, _, arrays, arguments)
  local x = arrays[1]
  local n, axis, options = import("fft").arguments.read_one("fft.hfft", unpack(arguments, 1, 4))
  return conj(adjoint("to_real", "rfft", cotangents[1], x, {axis}, {length_of("to_real", n, x, axis)}, false, other(options.norm)))
end

rules["fft.ihfft"] = function(cotangents, _, arrays, arguments)
  local x = arrays[1]
  local n, axis, options = import("fft").arguments.read_one("fft.ihfft", unpack(arguments, 1, 4))
  return adjoint("real", "irfft", conj(cotangents[1]), x, {axis}, {n or x.shape[axis]}, false, other(options.norm))
end

local function several_axes(name, inverse, kind, default)
  rules["fft." .. name] = function(cotangents, _, arrays, arguments)
    local x, read = arrays[1], import("fft").arguments.read_several
    local lengths, axes, options, given = read("fft." .. name, x, arguments[2], arguments[3], arguments[4], default)
    local last = #axes
    if kind == "to_real" and (not given or given[last] == -1) then lengths[last] = 2 * (x.shape[axes[last]] - 1) end
    return adjoint(kind, inverse, cotangents[1], x, axes, lengths, true, options.norm)
  end
end
several_axes("fft2", "ifftn", "complex", {-2, -1})
several_axes("ifft2", "fftn", "complex", {-2, -1})
several_axes("fftn", "ifftn", "complex")
several_axes("ifftn", "fftn", "complex")
several_axes("rfft2", "irfftn", "real", {-2, -1})
several_axes("rfftn", "irfftn", "real")
several_axes("irfft2", "rfftn", "to_real", {-2, -1})
several_axes("irfftn", "rfftn", "to_real")

-- ---- cosine and sine transforms -------------------------------------------------------------------------------------------------

local inverses = {1, 3, 2, 4}

--- The transform with norm = "ortho" is orthogonal, so its adjoint is its inverse; the others differ from it by factors of all elements
--- and of some at the ends.
local function cosine(name, inverse, is_sine, is_inverse)
  rules["fft." .. name] = function(cotangents, _, arrays, arguments)
    local tools = import "fft_cosine"
    local g, x = cotangents[1], arrays[1]
    local which, options = arguments[2], arguments[3]
    if type(which) == "table" then which, options = nil, which end
    options = options or {}
    which = which or options.type or 2
    local axis = core.axis(name, options.axis or -1, x.ndim)
    local n = options.n or x.shape[axis]
    local own = is_inverse and inverses[which] or which
    local back
    if options.norm == "ortho" then
      back = fft[inverse](g, which, {axis = axis, norm = "ortho"})
    else
      local count = 2 * (own == 1 and (is_sine and n + 1 or n - 1) or n)
      local scale = import("fft").arguments.scale_of(name, options.norm, count, is_inverse) or 1
      local before, after = tools.ends(is_sine, own, n)
      g = tools.scaled_at(g:moveaxis(axis, -1), n, after, math.sqrt(2))
      back = fft[inverse](g, which, {norm = "ortho"})
      back = (tools.scaled_at(back, n, before, math.sqrt(0.5)) * (scale * math.sqrt(count))):moveaxis(-1, axis)
    end
    return resized(back, {axis}, x.shape)
  end
end
cosine("dct", "idct", false, false)
cosine("idct", "dct", false, true)
cosine("dst", "idst", true, false)
cosine("idst", "dst", true, true)

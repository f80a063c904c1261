-- gpu.fft: transforms of several axes that are those of one axis after the other.
-- In sandboxes: all
local gpu, _, core, import = ...
import "fft_cosine"
local checks = import "checks"
local kinds = import "kinds"
local fft = gpu.fft

--- The axes and their lengths of the options `s` and `axes`: with `s` alone, the last ones.
local function read_axes(op, x, options)
  local s, list = options.s, options.axes
  if s ~= nil then s = checks.integers(op, "a length", s) end
  if list == nil then
    list = {}
    local first = s and x.ndim - #s or 0
    if first < 0 then core.raise(("[%s] expected at most %d lengths, got %d"):format(op, x.ndim, #s)) end
    for axis = first + 1, x.ndim do list[#list + 1] = axis end
  elseif type(list) ~= "table" then
    list = {list}
  end
  local axes, seen = {}, {}
  for i, item in ipairs(list) do
    axes[i] = core.axis(op, item, x.ndim)
    if seen[axes[i]] then core.raise(("[%s] expected each axis once, got axis %d twice"):format(op, axes[i])) end
    seen[axes[i]] = true
  end
  if s and #s ~= #axes then core.raise(("[%s] expected as many lengths as axes, got %d and %d"):format(op, #s, #axes)) end
  return axes, s or {}
end

local function several(name)
  local op = "fft." .. name .. "n"
  fft[name .. "n"] = function(x, which, options)
    if type(which) == "table" then which, options = checks.shift(op, which, options) end
    checks.real(op, x)
    options = checks.fields(op, options)
    if which == nil then which = options.type end
    if which ~= nil and which ~= 1 and which ~= 2 and which ~= 3 and which ~= 4 then core.fail(op, "type 1, 2, 3 or 4", which) end
    local axes, lengths = read_axes(op, x, options)
    local value = x
    for i, axis in ipairs(axes) do
      local n = lengths[i]
      value = fft[name](value, which, {axis = axis, n = n ~= -1 and n or nil, norm = options.norm})
    end
    if #axes == 0 then value = core.cast(x, core.floating(x.dtype)) end
    return core.assign(op, options.out, value)
  end
end
--- gpu.fft.dctn, gpu.fft.idctn, gpu.fft.dstn, gpu.fft.idstn(x [, type] [, {type, s, axes, norm, out}])
several "dct"
several "idct"
several "dst"
several "idst"

local exchanged = {backward = "forward", forward = "backward", ortho = "ortho"}

--- The norm that makes a transform of its inverse.
local function other_norm(op, norm)
  if norm == nil then norm = "backward" end
  return exchanged[norm] or core.fail(op, 'norm = "backward", "ortho" or "forward"', norm)
end

--- hfft2 and the others: of a signal that is conjugated when it is mirrored, the inverse real transform of the conjugate.
local function mirrored(name, of, to_real)
  local op = "fft." .. name
  fft[name] = function(x, s, axes, options)
    if checks.is_options(s) then s, options = checks.shift(op, s, options) end
    if checks.is_options(axes) then axes, options = checks.shift(op, axes, options) end
    checks.array(op, x)
    options = checks.fields(op, options)
    if s == nil then s = options.s end
    if axes == nil then axes = options.axes end
    local fields = {s = s, axes = axes, norm = other_norm(op, options.norm)}
    if not to_real then checks.real(op, x) end
    local value = fft[of](to_real and kinds.is_complex(x) and x:conj() or x, fields)
    return core.assign(op, options.out, to_real and value or value:conj())
  end
end
--- gpu.fft.hfft2, gpu.fft.hfftn, gpu.fft.ihfft2, gpu.fft.ihfftn(x [, s [, axes]] [, {s, axes, norm, out}])
mirrored("hfft2", "irfft2", true)
mirrored("hfftn", "irfftn", true)
mirrored("ihfft2", "rfft2", false)
mirrored("ihfftn", "rfftn", false)

"""Keys of Python, which count from 0, as specs of Lua, which count from 1."""
import operator

from ._errors import OutOfRangeError, add_head

# In Lua. A spec is a position, a range, n for a new axis, or a for the next of the arrays of positions or masks.
_specs = """
local function specs_of(text, ...)
  local arrays, array, specs = {...}, 0, {}
  for spec in text:gmatch("[^,]+") do
    if spec == "a" then
      array = array + 1
      spec = arrays[array]
      if spec.dtype ~= "bool" then spec = gpu.where(spec:lt(0), spec, spec:astype("int64") + 1) end
    elseif spec == "n" then spec = gpu.newaxis
    else spec = tonumber(spec) or spec end
    specs[#specs + 1] = spec
  end
  return specs
end
"""
_get = _specs + "return function(x, text, ...) return x(unpack(specs_of(text, ...))) end"
_set = _specs + """
return function(x, value, text, ...)
  local specs = specs_of(text, ...)
  if #specs == 0 then x:copy_(value) else x[specs] = value end
end
"""


def _range(key, extent):
    positions = range(*key.indices(extent))
    if not positions:
        return "2:1" if extent > 0 else ":"
    first, last = positions[0] + 1, positions[-1] + 1
    return f"{first}:{last}" if len(positions) == 1 else f"{first}:{last}:{positions.step}"


def _position(key, axis, extent):
    if not -extent <= key < extent:
        raise OutOfRangeError(f"[index] expected an index from {-extent} to {extent - 1} for axis {axis} of {extent} elements, got {key}")
    return str(key % extent + 1)


def _axes_of(part):
    """How many axes a part of a key takes."""
    if part is None:
        return 0
    return part.ndim if getattr(part, "dtype", None) == "bool" else 1


def _parts(array, key):
    """The parts of the key, with arrays for lists and without an ellipsis."""
    parts = []
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, list) or hasattr(part, "__dlpack__") and not isinstance(part, type(array)):
            try:
                part = array._namespace._asarray(part)
            except Exception as error:
                add_head(error, "[index] ")
                raise
        parts.append(part)
    at = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(at) > 1:
        raise OutOfRangeError("[index] expected a key with one ellipsis at most, got several")
    missing = array.ndim - sum(_axes_of(part) for part in parts if part is not Ellipsis)
    if missing < 0:
        raise OutOfRangeError(f"[index] expected a key for an array of {array.ndim} axes, got one for {array.ndim - missing}")
    place = at[0] if at else len(parts)
    return [*parts[:place], *[slice(None)] * missing, *parts[place + 1:]]


def _translated(array, key):
    """The specs of the key as a text, and the arrays among them."""
    shape, specs, arrays, axis = array.shape, [], [], 0
    for part in _parts(array, key):
        if part is None:
            specs.append("n")
        elif isinstance(part, slice):
            specs.append(":" if part == slice(None) else _range(part, shape[axis]))
        elif isinstance(part, type(array)) and part.ndim > 0:
            if part._dtype.startswith(("float", "complex", "bfloat")):
                raise OutOfRangeError(f"[index] expected an array of integers or bool as an index, got {part.dtype}")
            if part.dtype == "bool" and part.size == 0:  # the standard lets a mask have extents of 0 for any
                part = array._namespace.zeros(shape[axis:axis + part.ndim], dtype="bool")
            specs.append("a")
            arrays.append(part)
        else:
            try:
                specs.append(_position(operator.index(part), axis, shape[axis]))
            except TypeError:
                raise OutOfRangeError(f"[index] expected integers, slices, ..., None or arrays as a key, got {part!r}") from None
        axis += _axes_of(part)
    return ",".join(specs), arrays


def _is_flag(key, array):
    return isinstance(key, bool) or isinstance(key, type(array)) and key.ndim == 0 and key.dtype == "bool"


def get(array, key):
    if _is_flag(key, array):
        return get(get(array, None), slice(0, int(bool(key))))
    text, arrays = _translated(array, key)
    return array._state._lua(_get)(array, text, *arrays)


def put(array, key, value):
    if _is_flag(key, array):
        if not key:
            return
        key = ...
    text, arrays = _translated(array, key)
    array._state._lua(_set)(array, value, text, *arrays)

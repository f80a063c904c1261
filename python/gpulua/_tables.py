"""gpu.table and columns of Python: dicts of arrays, and pandas' DataFrames. Dates and durations are NumPy's, of the same units."""
import re

from ._library import own_name

# Several texts cross as one: each after its length in bytes.
_unpacked = """
local function unpacked(text)
  local list, at = {}, 1
  while at <= #text do
    local length, from = text:match("^(%d+):()", at)
    at = from + length
    list[#list + 1] = text:sub(from, at - 1)
  end
  return list
end
"""

_build = _unpacked + """
local names, given, columns = unpacked((...)), {select(2, ...)}, {}
for i, name in ipairs(names) do
  local x, texts, kind, unit = given[3 * i - 2], given[3 * i - 1], (given[3 * i] or ""):match "(%a*) ?(%a*)"
  if texts then x = gpu.table({text = unpacked(texts)}):take(x).text end
  if kind ~= "" then x = (kind == "date" and gpu.dates or gpu.durations)(x, {unit = unit}) end
  columns[name] = x
end
return gpu.table(columns, names)
"""

_read = """
local t = ...
if type(t) == "function" then t = t() end
if getmetatable(t) ~= "a table of columns" then error("[table] expected a gpu.table, got " .. tostring(t), 0) end
local function packed(list)
  local parts = {}
  for i, text in ipairs(list) do parts[i] = #text .. ":" .. text end
  return table.concat(parts)
end
return packed(t.names), function(name)
  local is_text, texts = pcall(t.texts, t, name)
  local x = t:column(name)
  local is_date = getmetatable(x) == "dates or durations"
  return (is_text or is_date) and x:copy() or x, is_text and packed(texts) or nil, is_date and x.kind .. " " .. x.unit or nil
end
"""

# Of a script's results, where there are none.
no_result = "; state.run gives None for a script without `return value`, and state['name'] is a function that a script has defined"


def is_frame(value):
    """Whether it is a DataFrame; a Series has items, too, and one axis."""
    return getattr(value, "ndim", None) == 2 and hasattr(value, "items")


def _bytes(text):
    return text.encode(errors="surrogateescape")


def _packed(texts):
    return b"".join(b"%d:%s" % (len(data), data) for data in map(_bytes, texts))


def _listed(text):
    data, texts, at = _bytes(text), [], 0
    while at < len(data):
        colon = data.index(b":", at)
        at = colon + 1 + int(data[at:colon])
        texts.append(data[colon + 1:at].decode(errors="surrogateescape"))
    return texts


def _is_missing(value):
    return value is None or type(value).__name__ == "NAType" or value != value


def numbers(values):
    """NumPy's array of a Series, an Index or a DataFrame of pandas. Of pandas' nullable numbers the missing ones are NaN."""
    dtype = getattr(values, "dtype", None)
    is_nullable = hasattr(dtype, "na_value") and getattr(dtype, "kind", "O") in "biuf"
    if not is_nullable or not values.isna().any():
        return values.to_numpy()
    if dtype.kind == "b":
        raise TypeError("[new_table] expected booleans of which none is missing, got missing ones; x.fillna(False) has none")
    present = values.dropna()
    if dtype.kind in "iu" and len(present) > 0 and max(-int(present.min()), int(present.max())) > 2**53:
        raise ValueError("[new_table] expected integers up to 2**53 beside missing ones, which make them float64, got larger ones; x.fillna(0) keeps them")
    return values.to_numpy("float64", na_value=float("nan"))


# NumPy's units and ours. Others that NumPy has become days or seconds.
_units = {"D": "days", "s": "s", "ms": "ms", "us": "us", "ns": "ns"}
_coarse = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}


def _dates(name, array):
    """The integers of dates or durations, None, and their kind and unit."""
    import numpy
    unit = numpy.datetime_data(array.dtype)[0]
    unit = _coarse.get(unit, unit)
    if array.ndim != 1 or unit not in _units or (array.dtype.kind == "m" and numpy.datetime_data(array.dtype)[0] in "YM"):
        raise TypeError(f"[new_table] expected dates or durations of days, s, ms, us or ns in column {name}, got {array.dtype}")
    kind = "date" if array.dtype.kind == "M" else "duration"
    return array.astype(f"{array.dtype.kind}8[{unit}]").view("int64"), None, f"{kind} {_units[unit]}"


def _column(name, values):
    """(array, None, None); of text the positions in its texts in order, and these; of dates integers, None, and what they are. Missing texts
    are empty."""
    import numpy
    if getattr(getattr(values, "dtype", None), "tz", None) is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    if hasattr(values, "to_numpy"):
        values = numbers(values)
    if hasattr(values, "__dlpack__") and not (isinstance(values, numpy.ndarray) and values.dtype.kind in "OSUmM"):
        return values, None, None
    array = numpy.asarray(values)
    if array.dtype.kind in "biufc":
        return array, None, None
    if array.dtype.kind in "mM":
        return _dates(name, array)
    if array.ndim != 1 or array.dtype.kind not in "OU":
        raise TypeError(f"[new_table] expected numbers, booleans, text, dates or durations in column {name}, got {array.dtype}")
    texts = ["" if _is_missing(value) else value for value in array.tolist()]
    for value in texts:
        if not isinstance(value, str):
            raise TypeError(f"[new_table] expected numbers, booleans, text, dates or durations in column {name}, got {array.dtype} with a value of {type(value).__name__}")
    places = {text: i + 1 for i, text in enumerate(sorted(set(texts), key=_bytes))}
    return numpy.fromiter((places[text] for text in texts), "int64", len(texts)), _packed(places), None


def make(state, columns):
    """A gpu.table of the columns."""
    if not hasattr(columns, "items"):
        raise TypeError(f"[new_table] expected a dict of columns by name, or a DataFrame, got {type(columns).__name__}; "
                        "{'x': values} is a dict of one column")
    names, arguments = [], []
    for name, values in columns.items():
        names.append(str(name))
        arguments += _column(name, values)
    return state.load(_build, own_name)(_packed(names), *arguments)


def take(state, table):
    """The columns of a gpu.table, or of one that an expression gives, by name, as NumPy's arrays; text as objects."""
    import numpy
    if table is None:
        raise TypeError("[table] expected a gpu.table, got None" + no_result)
    names, read = state.load(_read, own_name)(state.load("return " + table, "expression") if isinstance(table, str) else table)
    columns = {}
    for name in _listed(names):
        x, texts, kind = read(name)
        columns[name] = x.numpy()
        if texts is not None:
            columns[name] = numpy.array([*_listed(texts), ""], object)[columns[name] - 1]
        if kind is not None:
            what, unit = kind.split()
            unit = next(numpys for numpys, ours in _units.items() if ours == unit)
            columns[name] = columns[name].view(f"{'M' if what == 'date' else 'm'}8[{unit}]")
    return columns

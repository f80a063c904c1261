"""Scalars and texts between Python and Lua; which arrays cross."""
import ctypes
import numbers
import operator
import re
import sys
from collections.abc import Mapping

from . import _tables
from ._dtype import DType, name_of_type
from ._library import BOOLEAN, INTEGER, NIL, NUMBER, TEXT, Value

_expected = "[values] expected None, a boolean, a number, text, an array, a function of Lua, or a list or dict of these"


def is_array(value):
    """Whether it crosses as an array: one of ours, of a library with DLPack, or a Series of pandas."""
    return (hasattr(value, "__dlpack__") or hasattr(value, "to_numpy") and not _tables.is_frame(value)) and not isinstance(value, type)


_simple = {float, str, bool, type(None)}


def is_nested(value):
    """Whether it crosses as tokens: a list or dict, or a number that no value of the C interface holds."""
    if type(value) in _simple or isinstance(value, type):
        return False
    if hasattr(value, "__index__"):  # which NumPy's scalars of other kinds have, too
        return getattr(getattr(value, "dtype", None), "kind", "i") in "iu" and operator.index(value) >= 2**63
    return isinstance(value, (list, tuple, Mapping)) or isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real)


def check_integer(value):
    if not -2**63 <= value < 2**64:
        raise OverflowError(f"[values] expected an integer from -2**63 to 2**64 - 1, got {value}")
    return value


# What makes numbers of the elements of NumPy's other dtypes, by their kinds.
_column = "state.new_table({'x': x}) makes a column of "
_ways = {"O": "x.astype('float64') makes numbers of them, " + _column + "texts", "V": "x[name] is the array of one field",
         "f": "x.astype('float64') rounds it", "c": "x.astype('complex128') rounds it", "M": _column + "dates", "m": _column + "durations",
         "S": "x.astype('float64') reads numbers", "U": "x.astype('float64') reads numbers, " + _column + "texts"}


_dates = "state.new_table({'x': x.astype('datetime64[D]')}) makes a column of dates of them, state.new_table({'x': x}) one of texts"


def _are_dates(values):
    """Whether the first element is the text of a date: 2024-01-01."""
    first = next(iter(values.flat), None) if values.dtype.kind in "OUS" else None
    text = first.decode(errors="replace") if isinstance(first, bytes) else first
    return isinstance(text, str) and re.match(r"\d{4}-\d\d-\d\d$", text) is not None


def check_array(value):
    """Refuses NumPy's arrays whose elements are not what an array of ours holds."""
    dtype = value.dtype
    if dtype.kind not in "biufc" and dtype.name != "bfloat16" or dtype.itemsize > (16 if dtype.kind == "c" else 8):
        way = _dates if _are_dates(value) else _ways.get(dtype.kind)
        raise TypeError(f"[array] expected an array of booleans or of numbers of up to 64 bits, got one of {dtype}" + (f"; {way}" if way else ""))
    if isinstance(value, sys.modules["numpy"].ma.MaskedArray):
        raise TypeError("[array] expected an array without a mask, which would be lost, got a masked one; x.filled(value) has none")


def of_handle(kind, handle):
    result = Value(kind)
    result.content.handle = handle
    return result


def to_python(value):
    content, kind = value.content, value.kind
    if kind == NUMBER:
        return content.number
    if kind == NIL:
        return None
    if kind == BOOLEAN:
        return bool(content.boolean)
    if kind == INTEGER:
        return content.integer
    return ctypes.string_at(content.text.data, content.text.size).decode(errors="surrogateescape")


def plain(value):
    """The number of Python that a scalar of NumPy or another object with __index__ is; the name of a dtype."""
    if isinstance(value, DType):
        return value.name
    is_type = isinstance(value, type)
    if is_type or "dtype" in type(value).__name__.lower():
        named = name_of_type(value)
        if named is not None:
            return named
    dtype = None if is_type else getattr(value, "dtype", None)
    if dtype is not None and hasattr(value, "item") and dtype.kind in "biufc" and dtype.itemsize <= (16 if dtype.kind == "c" else 8):
        return value.item()
    if isinstance(value, (float, complex)):
        return float(value) if isinstance(value, float) else complex(value)
    if dtype is None and hasattr(value, "__index__") and not is_type:
        return check_integer(operator.index(value))
    name = f"the type {value.__name__}" if is_type else type(value).__name__ if dtype is None else f"numpy.{type(value).__name__}"
    hint = "; float(x) rounds it to a number of Lua" if hasattr(value, "__float__") and not is_type else ""
    if not hint and hasattr(value, "__iter__") and not is_type:
        hint = "; list(x) is a list of the elements"
    if not hint and hasattr(value, "isoformat"):
        hint = "; x.timestamp() is a number, str(x) a text"
    if callable(value):
        hint = "; state[name] = function makes one of Lua of it, and state[name] is that, which calls take"
    raise TypeError(f"{_expected}, got {name}{hint}")


def to_lua(value, kept):
    """The value of a scalar that is not nested. `kept` holds the text that it points to."""
    result = Value(NIL)
    if value is None:
        return result
    if isinstance(value, bool):
        result.kind, result.content.boolean = BOOLEAN, value
    elif isinstance(value, float):
        result.kind, result.content.number = NUMBER, value
    elif isinstance(value, int) and -2**63 <= value < 2**63:
        if -2**53 <= value <= 2**53:
            result.kind, result.content.number = NUMBER, value
        else:
            result.kind, result.content.integer = INTEGER, value
    elif isinstance(value, (str, bytes)):
        data = value.encode(errors="surrogateescape") if isinstance(value, str) else value
        buffer = ctypes.create_string_buffer(data, len(data) + 1)
        kept.append(buffer)
        result.kind, result.content.text.data, result.content.text.size = TEXT, ctypes.addressof(buffer), len(data)
    else:
        return to_lua(plain(value), kept)
    return result

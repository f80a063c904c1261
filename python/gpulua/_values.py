"""Values between Python and Lua: booleans, numbers and texts; which arrays cross."""
import ctypes
import operator
import sys

from . import _tables
from ._library import BOOLEAN, INTEGER, NIL, NUMBER, TEXT, Value

_expected = "expected None, a boolean, a number, text, an array or a function of Lua"


def is_array(value):
    """Whether it crosses as an array: one of ours, of a library with DLPack, or a Series of pandas."""
    return hasattr(value, "__dlpack__") or hasattr(value, "to_numpy") and not _tables.has_columns(value)


def check_array(value):
    """Refuses NumPy's arrays whose elements are not what an array of ours holds."""
    dtype = value.dtype
    if dtype.kind not in "biufc" and dtype.name != "bfloat16" or dtype.itemsize > (16 if dtype.kind == "c" else 8):
        raise TypeError(f"expected an array of booleans or of numbers of up to 64 bits, got one of {dtype}")
    if isinstance(value, sys.modules["numpy"].ma.MaskedArray):
        raise TypeError("expected an array without a mask, which would be lost, got a masked one; x.filled(value) has none")


def of_handle(kind, handle):
    result = Value(kind)
    result.content.handle = handle
    return result


def to_python(value):
    content = value.content
    if value.kind == NIL:
        return None
    if value.kind == BOOLEAN:
        return bool(content.boolean)
    if value.kind == NUMBER:
        return content.number
    if value.kind == INTEGER:
        return content.integer
    return ctypes.string_at(content.text.data, content.text.size).decode(errors="surrogateescape")


def _of_numpy_scalar(value):
    """The number, boolean or text that it is; itself where Python has none."""
    kind, itemsize = value.dtype.kind, value.dtype.itemsize
    if kind == "b" or kind in "iu":
        return value.item()
    return float(value) if kind == "f" and itemsize <= 8 else value


def to_lua(value, kept):
    """`kept` holds the text that the value points to."""
    result = Value(NIL)
    if value is None:
        return result
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        value = _of_numpy_scalar(value)
        if isinstance(value, numpy.generic) and not isinstance(value, (str, bytes)):
            raise TypeError(f"{_expected}, got numpy.{type(value).__name__}; numbers of other kinds cross in an array, numpy.array(x)")
    if isinstance(value, bool):
        result.kind, result.content.boolean = BOOLEAN, value
    elif isinstance(value, float):
        result.kind, result.content.number = NUMBER, value
    elif isinstance(value, (str, bytes)):
        data = value.encode(errors="surrogateescape") if isinstance(value, str) else value
        buffer = ctypes.create_string_buffer(data, len(data) + 1)
        kept.append(buffer)
        result.kind, result.content.text.data, result.content.text.size = TEXT, ctypes.addressof(buffer), len(data)
    elif hasattr(value, "__index__"):
        number = operator.index(value)
        if abs(number) <= 2**53:
            result.kind, result.content.number = NUMBER, number
        elif -2**63 <= number < 2**63:
            result.kind, result.content.integer = INTEGER, number
        else:
            raise OverflowError(f"expected an integer from -2**63 to 2**63 - 1, got {number}")
    else:
        hint = ""
        if _tables.has_columns(value):
            hint = "; state[name] = columns makes a gpu.table of it"
        elif hasattr(value, "__float__"):
            hint = "; float(x) rounds it to a number of Lua's"
        elif isinstance(value, complex):
            hint = "; a complex number crosses in an array, numpy.array(x)"
        raise TypeError(f"{_expected}, got {type(value).__name__}{hint}")
    return result

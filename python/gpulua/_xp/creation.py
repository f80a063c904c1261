"""New arrays."""
import math
import operator
import re
import struct
from ctypes import byref, c_char_p, c_int64, c_void_p, cast

from .. import _values
from .._errors import check
from .._library import lib
from .._numpy import no_release
from .axes import shape_of
from .dtypes import name_of, real_of

# The letters of struct for the dtypes, and those of Python's buffers.
_letters = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
            "float16": "e", "float32": "f", "float64": "d"}
_of_letters = {**{letter: name for name, letter in _letters.items()}, "l": "int64", "L": "uint64", "c": "uint8", "Zf": "complex64", "Zd": "complex128"}


def _flattened(values, shape, depth, out):
    """Puts the numbers of nested lists of the shape to `out`."""
    if depth == len(shape):
        out.append(values)
        return
    if not isinstance(values, (list, tuple)) or len(values) != shape[depth]:
        raise ValueError(f"expected lists of {shape[depth]} elements in level {depth + 1}, got {values!r}")
    for value in values:
        _flattened(value, shape, depth + 1, out)


def _shape_of_lists(values):
    shape = []
    while isinstance(values, (list, tuple)):
        shape.append(len(values))
        if not values:
            break
        values = values[0]
    return shape


class Creation:
    """Functions that make arrays."""

    def _options(self, dtype, device):
        return {name: value for name, value in (("dtype", name_of(dtype)), ("device", device)) if value is not None}

    def _dtype_of_number(self, number):
        """The default dtype of numbers of its kind."""
        if isinstance(number, bool):
            return "bool"
        if isinstance(number, int):
            return "int64" if number < 2**63 else "uint64"
        return self._lua("gpu.default_dtype")() if isinstance(number, float) else self._default_complex()

    def _default_complex(self):
        return {"float32": "complex64", "float64": "complex128"}[self._lua("gpu.default_dtype")()]

    def _of_bytes(self, data, dtype, shape):
        handle, sizes = c_void_p(), (c_int64 * max(len(shape), 1))(*shape)
        check(lib.array_host(self._state._handle, cast(c_char_p(data), c_void_p), dtype.encode(), len(shape), sizes, None, no_release, None, 1,
                             byref(handle)), self._state._handle)
        from .._array import Array
        return Array(self._state, handle)

    def _of_numbers(self, values, dtype):
        """An array of nested lists of numbers, or of one number."""
        shape, numbers = _shape_of_lists(values), []
        _flattened(values, shape, 0, numbers)
        numbers = [value.item() if hasattr(value, "item") else value for value in numbers]
        for number in numbers:
            if not isinstance(number, (int, float, complex)):
                missing = "; float('nan') stands for a missing number" if number is None else ""
                raise TypeError(f"expected numbers, got {type(number).__name__}{missing}")
        if dtype is None:
            kinds = [kind for kind in (complex, float, int, bool) if any(type(n) is kind for n in numbers)] or [float]
            dtype = self._dtype_of_number(int(max(numbers)) if kinds[0] is int else kinds[0]())
        stored = {"bfloat16": "float32"}.get(dtype, dtype)
        if dtype.startswith("complex"):
            numbers, letter = [part for n in map(complex, numbers) for part in (n.real, n.imag)], "f" if dtype == "complex64" else "d"
        else:
            if any(isinstance(n, complex) for n in numbers):
                raise TypeError(f"expected a complex dtype for complex numbers, got {dtype}")
            letter = _letters[stored]
            convert = bool if dtype == "bool" else int if "int" in dtype else float
            numbers = [convert(n) for n in numbers]
        try:
            data = struct.pack(f"={len(numbers)}{letter}", *numbers)
        except OverflowError:  # of float32
            data = struct.pack(f"={len(numbers)}{letter}", *[n if abs(n) < 3.4028235677973366e38 else math.copysign(math.inf, n) for n in numbers])
        except struct.error as error:
            raise OverflowError(f"expected numbers that {dtype} holds, got others: {error}") from None
        x = self._of_bytes(data, stored, shape)
        return x if stored == dtype else self.astype(x, dtype)

    def _of_buffer(self, value):
        view = memoryview(value)
        dtype = _of_letters.get(view.format.lstrip("@="))
        if dtype is None:
            raise TypeError(f"expected a buffer of numbers, got one of the format {view.format!r}")
        return self._of_bytes(view.tobytes(), dtype, view.shape)

    def asarray(self, obj, /, *, dtype=None, device=None, copy=None):
        return self._asarray(obj, dtype, device, copy)

    def _asarray(self, obj, dtype=None, device=None, copy=None):
        """The same for other functions, whose names the errors have."""
        from .._array import Array
        dtype = name_of(dtype)
        is_shared = isinstance(obj, Array) or _values.is_array(obj)
        if is_shared:
            x = self._state.array(obj)
        elif copy is False:
            raise ValueError("expected an array for copy=False, as other values are copied")
        elif isinstance(obj, (list, tuple)) and any(getattr(value, "ndim", 0) > 0 for value in obj):
            x = self._stacked([self._asarray(value) for value in obj])
        elif isinstance(obj, (list, tuple, bool, int, float, complex)):
            x = self._of_numbers(obj, dtype)
        elif hasattr(obj, "__array_interface__") or hasattr(obj, "__array__"):
            import numpy
            x = self._state.array(numpy.array(obj))
        else:
            x = self._of_buffer(obj)
        converted = x if device in (None, x.device) else x.to_device(device)
        if dtype is not None and converted._dtype != dtype:
            converted = self.astype(converted, dtype)
        if copy is False and converted is not x:
            raise ValueError("expected copy=None or True where the dtype or device changes, got False")
        return converted.copy() if copy and is_shared and converted is x else converted

    def _stacked(self, arrays):
        try:
            return self.stack(arrays)
        except Exception as error:
            error.args = (re.sub(r"^\[stack\] ", "", str(error)), *error.args[1:])
            raise

    def from_dlpack(self, x, /, *, device=None, copy=None):
        return self._asarray(x, device=device, copy=copy)

    def arange(self, start, /, stop=None, step=1, *, dtype=None, device=None):
        first, last = (0, start) if stop is None else (start, stop)
        dtype = name_of(dtype) or self._dtype_of_number(sum(type(n)(0) for n in (first, last, step)))
        if all(hasattr(n, "__index__") for n in (first, last, step)):
            size = len(range(*map(operator.index, (first, last, step))))
        else:
            size = max(math.ceil((last - first) / step), 0)
        exact = dtype if "int" in dtype else "float64"
        positions = self._lua("gpu.arange")(size, dtype=exact, **self._options(None, device))
        return self.astype(positions * step + first if size > 0 else positions, dtype, copy=False)

    def empty(self, shape, *, dtype=None, device=None):
        return self._lua("gpu.empty")(shape_of(shape), **self._options(dtype, device))

    def zeros(self, shape, *, dtype=None, device=None):
        return self._lua("gpu.zeros")(shape_of(shape), **self._options(dtype, device))

    def ones(self, shape, *, dtype=None, device=None):
        return self._lua("gpu.ones")(shape_of(shape), **self._options(dtype, device))

    def full(self, shape, fill_value, *, dtype=None, device=None):
        if dtype is None:
            dtype = fill_value.dtype if hasattr(fill_value, "dtype") else self._dtype_of_number(fill_value)
        x = self.empty(shape, dtype=dtype, device=device)
        x[...] = fill_value if hasattr(fill_value, "dtype") else self._of_numbers(fill_value, x._dtype)
        return x

    def empty_like(self, x, /, *, dtype=None, device=None):
        return self.empty(x.shape, dtype=dtype or x.dtype, device=device or x.device)

    def zeros_like(self, x, /, *, dtype=None, device=None):
        return self.zeros(x.shape, dtype=dtype or x.dtype, device=device or x.device)

    def ones_like(self, x, /, *, dtype=None, device=None):
        return self.ones(x.shape, dtype=dtype or x.dtype, device=device or x.device)

    def full_like(self, x, /, fill_value, *, dtype=None, device=None):
        return self.full(x.shape, fill_value, dtype=dtype or x.dtype, device=device or x.device)

    def eye(self, n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
        n_cols = n_rows if n_cols is None else n_cols
        return self._lua("gpu.eye")(n_rows, n_cols, max(-n_rows, min(k, n_cols)), **self._options(dtype, device))

    def linspace(self, start, stop, /, num, *, dtype=None, device=None, endpoint=True):
        dtype = name_of(dtype)
        if dtype is None and (isinstance(start, complex) or isinstance(stop, complex)):
            dtype = self._default_complex()
        if dtype in ("complex64", "complex128"):
            place = {"dtype": real_of(dtype), "device": device, "endpoint": endpoint}
            start, stop = complex(start), complex(stop)
            return self.linspace(start.real, stop.real, num, **place) + self.linspace(start.imag, stop.imag, num, **place) * 1j
        return self._lua("gpu.linspace")(start, stop, num, endpoint=endpoint, **self._options(dtype, device))

    def meshgrid(self, *arrays, indexing="xy"):
        if not arrays:
            return []
        grids = self._lua("gpu.meshgrid")(*arrays, indexing=indexing)
        return [grid.copy() for grid in (grids if isinstance(grids, tuple) else (grids,))]

    def tril(self, x, /, *, k=0):
        return self._lua("gpu.tril")(x, k)

    def triu(self, x, /, *, k=0):
        return self._lua("gpu.triu")(x, k)

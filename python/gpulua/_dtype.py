"""Data types of arrays."""
import sys


class DType:
    """A data type. It equals its name, "float32", and the types and dtypes that NumPy takes for it, and NumPy takes it for its own. It has
    the hash of its name: sets and dicts find it by that."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        if isinstance(other, (DType, str)):
            return self.name == str(other)
        return self.name == name_of_type(other) if isinstance(other, type) else NotImplemented

    def __hash__(self):
        return hash(self.name)

    def __reduce__(self):
        return of_name, (self.name,)

    @property
    def dtype(self):
        """NumPy's."""
        return dtype_of(self.name)

    @property
    def itemsize(self):
        """Bytes of an element."""
        return int(self.name.lstrip("uintbfloacmpex") or 8) // 8


_all = {name: DType(name) for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
                                       "float32", "float64", "complex64", "complex128")}
_of_numpy = {}  # {name: dtype} of those that have been asked for
_of_python = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def of_name(name):
    return _all[name]


def name_of_type(kind):
    """The name of the dtype that a type or dtype stands for in NumPy and JAX: float, numpy.float32, jax.numpy.float32. None of others."""
    name, numpy = _of_python.get(kind) if isinstance(kind, type) else None, sys.modules.get("numpy")
    if name is None and numpy is not None:
        dtype = kind if isinstance(kind, numpy.dtype) else getattr(kind, "dtype", None)
        if isinstance(kind, type) and (kind in numpy.ScalarType or kind.__name__ == "bfloat16"):
            dtype = numpy.dtype(kind)
        name = dtype.name if isinstance(dtype, numpy.dtype) else None
    return name if name in _all else None


def dtype_of(name):
    """NumPy's dtype; of bfloat16 that of the package ml_dtypes."""
    dtype = _of_numpy.get(name)
    if dtype is None:
        import numpy
        kind = name
        if name == "bfloat16":
            try:
                import ml_dtypes
            except ImportError:
                raise TypeError("[numpy] expected an array of a dtype that NumPy has, got bfloat16, which the package ml_dtypes adds; "
                                "x.astype('float32') makes one") from None
            kind = ml_dtypes.bfloat16
        dtype = _of_numpy[name] = numpy.dtype(kind)
    return dtype

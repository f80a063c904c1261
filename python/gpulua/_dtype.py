"""Data types of arrays."""


class DType:
    """A data type. It equals its name, "float32", and NumPy takes it for its own."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        if isinstance(other, (DType, str)):
            return self.name == str(other)
        return NotImplemented

    def __hash__(self):
        return hash(self.name)

    def __reduce__(self):
        return of_name, (self.name,)

    @property
    def dtype(self):
        """NumPy's."""
        from ._numpy import dtype_of
        return dtype_of(self.name)

    @property
    def itemsize(self):
        """Bytes of an element."""
        return int(self.name.lstrip("uintbfloacmpex") or 8) // 8


_all = {name: DType(name) for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
                                       "float32", "float64", "complex64", "complex128")}


def of_name(name):
    return _all[name]

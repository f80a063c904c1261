"""Data types, and functions of them."""
import dataclasses

from .._dtype import DType, name_of_type, of_name

_signed, _unsigned = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]
_real, _complex = ["float32", "float64"], ["complex64", "complex128"]
kinds = {
    "bool": ["bool"], "signed integer": _signed, "unsigned integer": _unsigned, "integral": _signed + _unsigned,
    "real floating": ["float16", "bfloat16", *_real], "complex floating": _complex,
}
kinds["numeric"] = kinds["integral"] + kinds["real floating"] + kinds["complex floating"]
# Those of the standard.
standard = ["bool", *_signed, *_unsigned, *_real, *_complex]
every = ["bool", *kinds["numeric"]]


@dataclasses.dataclass(frozen=True)
class FInfo:
    """Of a floating-point dtype, or of the parts of a complex one. `smallest_normal` is the least positive number with all its digits."""
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclasses.dataclass(frozen=True)
class IInfo:
    """Of a dtype of integers."""
    bits: int
    max: int
    min: int
    dtype: DType


# {name: (bits, digits after the leading one, greatest exponent)}
_formats = {"float16": (16, 10, 15), "bfloat16": (16, 7, 127), "float32": (32, 23, 127), "float64": (64, 52, 1023)}


def name_of(dtype):
    """The name of a dtype: of an array's, a name, or what NumPy takes for one. None for None."""
    given = dtype if isinstance(dtype, (DType, str, type, type(None))) else getattr(dtype, "dtype", dtype)
    if given is None or isinstance(given, DType) or given in every:
        return given and str(given)
    name = None if isinstance(given, str) else name_of_type(given)
    if name not in every:
        raise TypeError(f"expected a dtype, one of {', '.join(every)}, got {dtype!r}")
    return name


def real_of(name):
    """The dtype of the parts of a complex dtype; a real one itself."""
    return {"complex64": "float32", "complex128": "float64"}.get(name, name)


class DTypes:
    """Names of dtypes, and functions of them."""

    def astype(self, x, dtype, /, *, copy=True, device=None):
        dtype = name_of(dtype)
        if name_of(x).startswith("complex") and not dtype.startswith("complex"):
            raise TypeError(f"expected a complex dtype for an array of {x.dtype}, got {dtype}; xp.real(x) drops the imaginary parts")
        if device is not None:
            x = x.to_device(device)
        return self._lua("gpu.astype")(x, dtype) if copy or name_of(x) != dtype else x

    def can_cast(self, from_, to, /):
        return self._lua("gpu.can_cast")(name_of(from_), name_of(to))

    def finfo(self, type, /):
        name = real_of(name_of(type))
        if name not in _formats:
            raise TypeError(f"expected a floating-point dtype, got {name}; xp.iinfo is for integers")
        bits, digits, exponent = _formats[name]
        greatest = (2 - 2.0**-digits) * 2.0**exponent
        return FInfo(bits, 2.0**-digits, greatest, -greatest, 2.0**(1 - exponent), of_name(name))

    def iinfo(self, type, /):
        name = name_of(type)
        if name not in kinds["integral"]:
            raise TypeError(f"expected a dtype of integers, got {name}; xp.finfo is for floating point")
        bits = int(name.lstrip("uint"))
        return IInfo(bits, 2**bits - 1, 0, of_name(name)) if name.startswith("u") else IInfo(bits, 2**(bits - 1) - 1, -2**(bits - 1), of_name(name))

    def isdtype(self, dtype, kind):
        if isinstance(kind, tuple):
            return any(self.isdtype(dtype, one) for one in kind)
        if isinstance(kind, str) and kind not in kinds and kind not in every:
            raise ValueError(f"expected a dtype, or a kind: {', '.join(kinds)}, got {kind!r}")
        return name_of(dtype) in (kinds[kind] if isinstance(kind, str) and kind in kinds else [name_of(kind)])

    def result_type(self, *arrays_and_dtypes):
        if not arrays_and_dtypes:
            raise ValueError("expected arrays or dtypes, got none")
        names = [name_of(value) for value in arrays_and_dtypes if not isinstance(value, (int, float, complex))]
        if not names:
            raise ValueError("expected an array or a dtype beside numbers, got numbers alone")
        scalars = [value for value in arrays_and_dtypes if isinstance(value, (int, float, complex)) and not isinstance(value, bool)]
        return of_name(self._lua("gpu.result_type")(*names, *scalars))


for _name in every:
    setattr(DTypes, _name, of_name(_name))

"""Operators, properties and methods of arrays, as NumPy's arrays have them."""
import operator

from . import _values
from ._errors import Error

# {name of Python's operator: function of Lua}
_binary = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder", "pow": "power",
           "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift"}
_comparisons = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
_unary = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_not"}

# Functions of the namespace that are methods: those of an axis, which may be given by position as in NumPy, and others.
_reductions = ["sum", "prod", "mean", "std", "var", "min", "max", "any", "all", "argmin", "argmax", "cumulative_sum", "cumulative_prod", "sort",
               "argsort", "squeeze"]
_others = ["take", "repeat", "nonzero", "conj", "round", "astype"]


# Methods of torch's and CuPy's arrays.
_elsewhere = {"cuda": "x.to_device('cuda:0')", "cpu": "x.to_device('cpu')", "to": "x.to_device(name) copies to a device, x.astype(dtype) converts",
              "get": "x.numpy()", "detach": "x.numpy()", "float": "x.astype('float32')", "double": "x.astype('float64')", "long": "x.astype('int64')",
              "type": "x.astype(dtype)", "view": "x.reshape(shape)", "permute": "x.transpose(axes)", "numel": "x.size", "dim": "x.ndim",
              "unsqueeze": "x[..., None]", "clone": "x.copy()"}


class Operators:
    """What arrays have by functions of the library."""

    __slots__ = ()

    __hash__ = None
    __array_priority__ = 1000  # NumPy's operators leave the work to these

    def __array_namespace__(self, *, api_version=None):
        return self._namespace._of_version(api_version)

    @property
    def _namespace(self):
        return self._state._namespace

    @property
    def T(self):
        """A view with the axes in reverse order."""
        return self._state._lua("gpu.transpose")(self)

    @property
    def mT(self):
        """A view with the last two axes exchanged."""
        return self._namespace.matrix_transpose(self)

    @property
    def real(self):
        return self._namespace.real(self)

    @property
    def imag(self):
        return self._namespace.imag(self)

    def __getattr__(self, name):
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        path = f"gpu.{name}"
        try:
            if name in _elsewhere:
                message += f"; {_elsewhere[name]}"
            elif not name.startswith("_") and self._namespace._has_lua(path):
                message += f"; Lua has {path}: state[{path!r}](x), with axes from 1"
        except Error:  # of a state that is closed or at work
            pass
        raise AttributeError(message)

    def __bool__(self):
        if self.size != 1:
            raise ValueError(f"[bool] expected an array of one element as a condition, got shape {self.shape}; x.any() and x.all() say whether "
                             "one, or each, element is true, x & y, x | y and ~x combine conditions, (0 < x) & (x < 2) is 0 < x < 2, "
                             "and x.size > 0 says whether there are elements")
        return bool(self.item())

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __complex__(self):
        return complex(self.item())

    def __index__(self):
        if "int" not in self._dtype:
            raise TypeError(f"[index] expected an array of integers as an index, got {self.dtype}")
        return operator.index(self.item())

    def __format__(self, spec):
        """The number of an array without axes in that format; the text of another one."""
        if self.ndim == 0:
            return format(self.item(), spec)
        if spec:
            raise TypeError(f"[format] expected an array without axes for the format {spec!r}, got one of shape {self.shape}; x.tolist() gives numbers")
        return str(self)

    def __round__(self, digits=None):
        return round(self.item(), digits)

    def to_device(self, device, /, *, stream=None):
        """The array on that device: itself if it is there, else a copy."""
        if stream is not None:
            raise ValueError(f"[to_device] expected no stream, as gpulua orders the work itself, got {stream!r}")
        return self._state._lua("gpu.to")(self, device)

    def copy(self):
        """An array of its own, with the same elements."""
        return self.__copy__()

    def reshape(self, *shape):
        """The elements in another shape, given as numbers or as a tuple."""
        return self._namespace.reshape(self, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)

    def transpose(self, *axes):
        """The axes in this order, or in reverse."""
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return self._namespace.permute_dims(self, axes) if axes else self.T

    def flatten(self):
        """A copy as a vector."""
        return self._state._lua("gpu.flatten")(self)

    def ravel(self):
        """The elements as a vector: a view where the strides allow it."""
        return self._namespace.reshape(self, (-1,))

    def dot(self, other):
        return self @ other


def _is_operand(value):
    if isinstance(value, (list, tuple)):
        raise TypeError(f"[operator] expected a number or an array beside an array, got {type(value).__name__}; xp.asarray(x) makes an array")
    return isinstance(value, (Operators, int, float, complex)) or _values.is_array(value) or hasattr(value, "dtype")


def _check_flag(array, value):
    if isinstance(value, bool) and array.dtype != "bool":
        raise TypeError(f"[operator] expected a number beside an array of {array.dtype}, got {value}; int({value}) is one")


def _operator(lua, is_reflected=False):
    function = f"gpu.{lua}"

    def apply(self, other):
        if not _is_operand(other):
            return NotImplemented
        _check_flag(self, other)
        first, second = (other, self) if is_reflected else (self, other)
        return self._state._lua(function)(first, second)
    return apply


def _in_place(lua):
    function = f"function(x, y) return x:{lua}_(y) end" if lua != "matmul" else "function(x, y) return x:copy_(x:matmul(y)) end"

    def apply(self, other):
        if not _is_operand(other):
            return NotImplemented
        _check_flag(self, other)
        self._state._lua(function)(self, other)
        return self
    return apply


def _prefix(lua):
    function = f"gpu.{lua}"

    def apply(self):
        return self._state._lua(function)(self)
    return apply


def _reduction(name):
    def method(self, axis=None, **options):
        options = {key: value for key, value in {"axis": axis, **options}.items() if value is not None}  # numpy.mean(x) gives out=None
        if "ddof" in options and name in ("std", "var"):  # as numpy.std(x) gives it
            options["correction"] = options.pop("ddof")
        return getattr(self._namespace, name)(self, **options)
    method.__name__ = name
    return method


def _method(name):
    def method(self, *arguments, **options):
        return getattr(self._namespace, name)(self, *arguments, **options)
    method.__name__ = name
    return method


for _name, _lua in _binary.items():
    setattr(Operators, f"__{_name}__", _operator(_lua))
    setattr(Operators, f"__r{_name}__", _operator(_lua, True))
    setattr(Operators, f"__i{_name}__", _in_place(_lua))
for _name, _lua in _comparisons.items():
    setattr(Operators, f"__{_name}__", _operator(_lua))
for _name, _lua in _unary.items():
    setattr(Operators, f"__{_name}__", _prefix(_lua))
for _name in _others:
    setattr(Operators, _name, _method(_name))
for _name in _reductions:
    setattr(Operators, _name, _reduction(_name))
Operators.cumsum, Operators.cumprod = Operators.cumulative_sum, Operators.cumulative_prod

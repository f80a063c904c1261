"""What to write for what NumPy has and the standard does not: functions of other names, options, arguments that are lists."""
import functools
import inspect
import re

from .._errors import Error, WrongTypeError, add_head

# {name elsewhere: what there is}
_functions = {
    "absolute": "abs", "fabs": "abs", "amax": "max", "amin": "min", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "argwhere": "nonzero", "array": "asarray", "average": "mean",
    "bitwise_not": "bitwise_invert", "concatenate": "concat", "conjugate": "conj", "cumprod": "cumulative_prod", "cumsum": "cumulative_sum",
    "dot": "matmul, vecdot or tensordot", "fix": "trunc", "float_power": "pow", "inner": "tensordot", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "mod": "remainder", "norm": "vector_norm or matrix_norm", "power": "pow", "ravel": "reshape(x, (-1,))",
    "right_shift": "bitwise_right_shift", "rint": "round", "swapaxes": "permute_dims", "transpose": "permute_dims", "true_divide": "divide",
    "unique": "unique_values", "vdot": "vecdot", "vstack": "concat(arrays, axis=0)", "hstack": "concat(arrays, axis=1)",
}
_options = {
    "ddof": "correction=1 is NumPy's ddof=1", "dtype": "xp.astype(x, dtype) before it changes the dtype", "dim": "axis=n says which",
    "keepdim": "keepdims=True keeps the axes", "out": "the result is a new array", "where": "x[mask] has the elements of a mask",
    "copy": "xp.asarray(x, copy=True) copies",
}
_arrays = ("x", "x1", "x2", "condition", "arrays")

_has = """function(...)
  local value = gpu
  for i = 1, select("#", ...) do
    local found, field = pcall(function(name) return value[name] end, (select(i, ...)))
    if not found then return false end
    value = field
  end
  return value ~= nil
end"""


class Missing:
    """A namespace that says of a name that it lacks what there is in its place. `_folder`: its name within the whole one."""
    _folder = ""

    def __getattr__(self, name):
        raise AttributeError(f"xp{self._folder} has no {name!r}" + ("" if name.startswith("_") else self._instead(name)))

    def _instead(self, name):
        if name in _functions:
            return ", but " + re.sub("^|(?<=, )|(?<= or )", f"xp{self._folder}.", _functions[name])
        path = f"gpu{self._folder}.{name}"
        if not self._is_open:  # a look for a name opens no state
            return f"; where Lua has {path}, it is state[{path!r}] of a gpulua.State, with axes from 1"
        try:
            is_there = self._has_lua(path)
        except Error:  # of a state that is closed or at work
            return ""
        return f", but Lua has {path}: state[{path!r}], with axes from 1, for arrays of gpulua.namespace(state)" if is_there else ""

    def _has_lua(self, path):
        """Whether Lua has a value at the path."""
        return self._lua(_has)(*path.split(".")[1:])


class Part(Missing):
    """A part of a namespace, such as xp.fft."""

    def __init__(self, namespace):
        self._namespace = namespace

    @property
    def _is_open(self):
        return self._namespace._is_open

    def _lua(self, text):
        return self._namespace._lua(text)


def _culprit(positional, values, error):
    """(parameter, type) of the first value that is not an array where one belongs."""
    for i, value in enumerate(values):
        parameter = positional[min(i, len(positional) - 1)] if positional else ""
        for part in value if parameter == "arrays" and isinstance(value, (list, tuple)) else [value]:
            if parameter in _arrays and (isinstance(part, (list, tuple)) or isinstance(error, AttributeError) and not hasattr(part, "ndim")):
                return parameter, type(part).__name__
    return None


def advised(function):
    """The function of a namespace, whose errors say what to write for an argument that NumPy takes."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[1:]
    positional = [p.name for p in parameters if p.kind != p.KEYWORD_ONLY]
    takes_any = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    names = [p.name for p in parameters]
    form = f"{function.__name__}{signature.replace(parameters=parameters)}"

    def head(folder):
        return f"[{folder.lstrip('.')}{'.' * bool(folder)}{function.__name__}] "

    @functools.wraps(function)
    def call(self, *values, **options):
        try:
            return function(self, *values, **options)
        except Exception as error:
            folder = self._folder
            add_head(error, head(folder))
            if not isinstance(error, (AttributeError, TypeError)):
                raise
            unknown = next((name for name in options if name not in names), None)
            if unknown is not None:
                hint = f"; {_options[unknown]}" if unknown in _options else ""
                raise TypeError(f"{head(folder)}expected xp{folder}.{form}, got the keyword {unknown}{hint}") from None
            if len(values) > len(positional) and not takes_any:
                raise TypeError(f"{head(folder)}expected xp{folder}.{form}, got {len(values)} arguments without a name") from None
            found = isinstance(error, (AttributeError, WrongTypeError)) and _culprit(positional, values, error)
            if found:
                raise WrongTypeError(f"{head(folder)}expected an array for {found[0]} of xp{folder}.{function.__name__}, got {found[1]}; xp.asarray makes one") from None
            raise
    return call


def advise(kind):
    """Makes the functions of a class of a namespace such."""
    for name, function in list(vars(kind).items()):
        if inspect.isfunction(function) and not name.startswith("_"):
            setattr(kind, name, advised(function))

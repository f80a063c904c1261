"""gpulua in Python: scripts in Lua that compute on GPUs, with arrays of NumPy, CuPy and torch.

    import gpulua, numpy
    state = gpulua.State()
    state.run("function scale(x, k) return x * k end")
    y = state["scale"](numpy.ones(1000, "float32"), 2.0)
    numpy.from_dlpack(y) if state.device == "cpu" else y.numpy()
"""
from ._array import Array
from ._border import hide_frames
from ._errors import (ArgumentError, DeadlineError, Error, FileError, MemoryLimitError, MissingFileError, OutOfRangeError, ScriptSyntaxError,
                      UnavailableError, UndefinedError, WrongTypeError)
from ._objects import Function, Object
from ._operators import Operators
from ._state import State

__all__ = ["ArgumentError", "Array", "DeadlineError", "Error", "FileError", "Function", "MemoryLimitError", "MissingFileError", "Object",
           "OutOfRangeError", "ScriptSyntaxError", "State", "UnavailableError", "UndefinedError", "WrongTypeError", "namespace", "xp"]

for _class in (Array, Function, Object, State):
    _class.__module__ = __name__
for _class in (Array, Object, Operators, State):
    hide_frames(_class)


def namespace(state):
    """The functions of Python's array API for the arrays of a state, as gpulua.xp has them for its own."""
    return state._namespace


def __getattr__(name):
    """xp when it is used, so that `import gpulua` makes no namespace."""
    if name == "xp":
        import importlib
        return importlib.import_module(".xp", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell):
    """%load_ext gpulua: the magics %gpulua and %%gpulua."""
    from .magic import Magic
    magic = Magic(shell)
    shell.register_magic_function(magic.line, "line", "gpulua")
    shell.register_magic_function(magic.cell, "cell", "gpulua")

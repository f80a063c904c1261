"""gpulua in Python: scripts in Lua that compute on GPUs, with arrays of NumPy, CuPy and torch.

    import gpulua, numpy
    state = gpulua.State()
    state.run("function scale(x, k) return x * k end")
    y = state["scale"](numpy.ones(1000, "float32"), 2.0)
    numpy.from_dlpack(y) if state.device == "cpu" else y.numpy()
"""
from ._array import Array
from ._errors import ArgumentError, DeadlineError, Error, MemoryLimitError, ScriptSyntaxError, UnavailableError
from ._state import Function, State

__all__ = ["ArgumentError", "Array", "DeadlineError", "Error", "Function", "MemoryLimitError", "ScriptSyntaxError", "State",
           "UnavailableError"]


def load_ipython_extension(shell):
    """%load_ext gpulua: the magics %gpulua and %%gpulua."""
    from .magic import Magic
    magic = Magic(shell)
    shell.register_magic_function(magic.line, "line", "gpulua")
    shell.register_magic_function(magic.cell, "cell", "gpulua")

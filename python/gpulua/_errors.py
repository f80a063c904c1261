"""Failures of the library as exceptions."""
from ._library import ARGUMENT, DEADLINE, INTERRUPTED, MEMORY, OK, SYNTAX, UNAVAILABLE, lib


class Error(RuntimeError):
    """A call of gpulua has failed. `status` is the name of the C interface's status; the text has the script's traceback."""

    status = "GPULUA_OK"


class DeadlineError(Error, TimeoutError):
    """The call's deadline has passed."""


class MemoryLimitError(Error, MemoryError):
    """Lua, the host or the device has no room."""


class ScriptSyntaxError(Error):
    """A script that does not parse."""


class ArgumentError(Error, ValueError):
    """A value, handle or option that does not fit."""


class UnavailableError(Error):
    """A device or library that is not there."""


for _class in (Error, DeadlineError, MemoryLimitError, ScriptSyntaxError, ArgumentError, UnavailableError):
    _class.__module__ = "gpulua"

_classes = {DEADLINE: DeadlineError, MEMORY: MemoryLimitError, SYNTAX: ScriptSyntaxError, ARGUMENT: ArgumentError,
            UNAVAILABLE: UnavailableError}


def check(status, state):
    """Raises what a status says; the text is that of the state's, or the thread's, last failure."""
    if status == OK:
        return
    text = lib.error(state).decode(errors="replace")
    if status == INTERRUPTED:
        raise KeyboardInterrupt(text)
    if text.endswith("got a table of columns"):
        text += "; state.table(expression) gives the columns of a gpu.table"
    error = _classes.get(status, Error)(text)
    error.status = lib.status_name(status).decode()
    raise error

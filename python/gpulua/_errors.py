"""Failures of the library as exceptions."""
import re

from ._library import ARGUMENT, BUSY, DEADLINE, INTERRUPTED, LOST, MEMORY, OK, RUNTIME, SYNTAX, UNAVAILABLE, lib


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
    """A value, shape, handle or option that does not fit."""


class WrongTypeError(Error, TypeError):
    """A value of another type than a function takes."""


class OutOfRangeError(Error, IndexError):
    """An index, or an axis, that an array does not have."""


class UnavailableError(Error):
    """A device or library that is not there."""


class FileError(Error, OSError):
    """A file that cannot be opened: a function has given nil and a message."""

    __str__ = RuntimeError.__str__


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class UndefinedError(Error, KeyError):
    """A path to which a state has no value."""

    __str__ = RuntimeError.__str__


for _class in (Error, DeadlineError, MemoryLimitError, ScriptSyntaxError, ArgumentError, WrongTypeError, OutOfRangeError, UnavailableError,
               FileError, MissingFileError, UndefinedError):
    _class.__module__ = "gpulua"

_classes = {DEADLINE: DeadlineError, MEMORY: MemoryLimitError, SYNTAX: ScriptSyntaxError, ARGUMENT: ArgumentError,
            UNAVAILABLE: UnavailableError}

# The kinds of the library's messages, which have the form `[op] expected ..., got ...`.
_kinds = [(re.compile(r"^[^\n]*\[[\w.]+\] cannot (open|read|write) [^\n]*: No such file or directory"), MissingFileError),
          (re.compile(r"^[^\n]*\[[\w.]+\] cannot (open|read|write) "), FileError),
          (re.compile(r"^[^\n]*\[[\w.]+\] ([^\n]* is out of range for |expected (a mask of shape|at most \d+ indices))"), OutOfRangeError),
          (re.compile(r"^[^\n]*\[[\w.]+\] expected [^\n]*, got (nil|no value|an? \w+|(bool|u?int|b?float|complex)\d*)(;[^\n]*)?$", re.M), WrongTypeError),
          (re.compile(r"^[^\n]*\[[\w.]+\] "), ArgumentError)]

# Of a message about a file.
_is_missing = re.compile(r"No such file or directory|\] no file ")


def _class_of(status, text):
    if status in (RUNTIME, ARGUMENT):
        return next((kind for pattern, kind in _kinds if pattern.match(text)), _classes.get(status, Error))
    return _classes.get(status, Error)


# A call by the path of a function that is a method here.
_of_method = re.compile(r"\bgpu\.(astype|copy|item|reshape|to)\((\w+)(?:, )?")
_methods = {"to": "to_device"}

# What messages of the C interface say in C's names, and what that is in Python.
_of_c = [(re.compile(r"; copy its elements: gpulua_array_copy_to there, gpulua_array_host here"), "; state.array(x.numpy()) copies its elements"),
         (re.compile(r", in C\+\+ state\.copy\(x\.to_vector<float>\(\), x\.shape\(\)\)"), ""),
         (re.compile(r", as in (\w+):over\(count\)\(arguments\) or \1\{grid=\.\.\., block=\.\.\.\}\(arguments\)"),
          r", as in \1['over'](\1, count)(arguments) or \1(grid=n, block=256)(arguments) in Python"),
         (re.compile(r"functions by gpulua_register or state\.bind, values by gpulua_set or state\.set"),
          'state["name"] = value, where a function of Python\'s becomes one of Lua\'s'),
         (re.compile(r"(\w+):(\w+)\((\w+)([^)]*)\)(\([^)]*\))?, with a colon"), r"\1['\2'](\1, \3\4)\5, the object first"),
         (re.compile(r"\[\w+\] expected a gpulua_array, got a gpulua_array (that was released|whose state was destroyed)[^\n]*"),
          "[array] expected an array of an open state, got one whose state was closed; x.numpy() before that keeps its elements"),
         (re.compile(r"(lends for reading only: x:copy\(\) makes one)"), r"\1; of an array of NumPy's that is read-only, x.copy() in Python does"),
         (re.compile(r"\ba gpulua_array\b"), "an array"), (re.compile(r"\ba gpulua_function\b"), "a function"),
         (re.compile(r"the program allows this source by gpulua_allow_kernel, and all kernels, checked and on the cpu device, by the flag GPULUA_KERNELS"),
          "state.allow_kernel(sha256) allows this source, and State(sandbox=True, kernels=True) all kernels, checked and on the cpu device"),
         (re.compile(r"the program allows all kernels, checked and on the cpu device, by the flag GPULUA_KERNELS"),
          "State(sandbox=True, kernels=True) allows all kernels, checked and on the cpu device"),
         (re.compile(r"GPULUA_SANDBOX with GPULUA_KERNELS"), "sandbox=True with kernels=True"),
         (re.compile(r"with GPULUA_KERNELS"), "with kernels=True"),
         (re.compile(r"the option device of gpulua_create"), "the argument device of State"),
         (re.compile(r"the program sets default_dtype in gpulua_options"), "State(default_dtype='float64') sets it"),
         (re.compile(r"; gpulua_options_init sets the flags to 0"), ""),
         (re.compile(r"; the program sets it by (\w+) of gpulua_options, 0 for no limit"), r"; State(\1=...) sets it, 0 for no limit"),
         (re.compile(r", by device_memory of gpulua_options"), ", by State(device_memory=...)"),
         (re.compile(r"which the host program limits to ([^\n]*?) by lua_memory;"), r"which State(lua_memory=...) limits to \1;"),
         (re.compile(r"; the text ends after \d bytes, the size of a pointer[^\n]*"), ""),
         (re.compile(r"run_file and load_file of gpulua\.hpp read the file, a C program reads it itself"),
          "pathlib.Path(path).read_text() is that of a file"),
         (re.compile(r"^(\[[^\n]*)"), lambda found: _of_method.sub(lambda call: f"{call[2]}.{_methods.get(call[1], call[1])}(", found[1])),
         (re.compile(r"^\[array_(device|host|zeros|dtype|device_name|ndim|shape|strides|size|nbytes|evaluate|copy_to|copy_from|from_dlpack|from_dlpack_legacy|to_dlpack|to_dlpack_legacy)\]"),
          "[array]"),
         (re.compile(r"^\[(get|get_value|set|register|create)\]"), "[State]"), (re.compile(r"^\[destroy\]"), "[close]")]


def add_head(error, head):
    """Puts the name of what Python has called, "[array] ", in front of the message of an error that has none."""
    if error.args and isinstance(error.args[0], str) and error.args[0].startswith("expected "):
        error.args = (head + error.args[0], *error.args[1:])


def check(status, state, called=None):
    """Raises what a status says; the text is that of the state's, or the thread's, last failure. `called`: what messages call a function that
    loads a script."""
    if status == OK:
        return
    # A state that another thread works in, or that cannot do it now, has noted nothing.
    text = lib.error(None if status == BUSY else state).decode(errors="replace")
    for of_c, here in _of_c:
        text = of_c.sub(here, text)
    if called:
        text = text.replace("[load]", f"[{called}]", 1) if text.startswith("[load]") else text
    if state is not None and not state:
        text = "[state] expected an open state, got a closed one; gpulua.State() opens another"
    if status == INTERRUPTED:
        raise KeyboardInterrupt(text)
    error = _class_of(status, text)(text)
    error.status = lib.status_name(status).decode()
    raise error


_numbers = {lib.status_name(number).decode(): number for number in range(LOST + 1)}


def number_of(error, otherwise):
    """The status of an error of the library's that leaves a function of Python's; that of other exceptions is `otherwise`."""
    return isinstance(error, Error) and _numbers.get(error.status) or otherwise


# What functions of the library give with nil.
_failure = re.compile(r"\[([\w.]+)\] ")


def check_results(values):
    """Raises the message of a function of the library that gives nil and the reason."""
    if len(values) != 2 or values[0] is not None or not isinstance(values[1], str):
        return
    found = _failure.match(values[1])
    if found is None:
        return
    kind = UnavailableError if found[1] == "device" else MissingFileError if _is_missing.search(values[1]) else FileError
    raise kind(values[1])

"""Arguments of the package's own functions: what is given by name, and of which type."""
import difflib
import functools
import inspect
import math
import numbers
import operator
import os

# What other libraries call it.
_elsewhere = {"timeout": "deadline", "code": "text", "script": "text", "source": "text", "chunk": "text", "stdout": "print", "stream": "cu_stream",
              "jit": "interruptible", "safe": "sandbox", "filename": "name", "chunkname": "name", "cache": "cache_directory"}


def nearest(name, names):
    """A question about a name like it, "; did you mean default_dtype?", or nothing."""
    words = set(name.lower().split("_"))
    near = [_elsewhere[name]] if _elsewhere.get(name) in names else [other for other in names if words & set(other.split("_"))]
    near = near or difflib.get_close_matches(name, names, 1, cutoff=0.7)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def by_name(called, **instead):
    """A decorator: a call with a name that the function does not have names the nearest one and lists all; one with more arguments than it takes
    by position says which have names. `called`: what messages call it; `instead`: what stands for a name that others have."""
    def decorate(function):
        parameters = list(inspect.signature(function).parameters.values())[1:]  # without self
        names = [parameter.name for parameter in parameters]
        most = sum(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in parameters)

        @functools.wraps(function)
        def call(self, *arguments, **options):
            for name in options:
                if name not in names:
                    raise TypeError(f"[{called}] expected the argument{'s' * (len(names) != 1)} {', '.join(names)}, got {name}"
                                    f"{instead.get(name) or nearest(name, names)}")
            if len(arguments) > most:
                first, named = ", ".join(names[:most]), ", ".join(names[most:])
                expected = f"up to {most} argument{'s' * (most != 1)} by position, {first}" if first else "no arguments"
                raise TypeError(f"[{called}] expected {expected}, got {len(arguments)}" + (f"; others have names: {named}" if named else "") +
                                instead.get("position", ""))
            return function(self, *arguments, **options)
        return call
    return decorate


def described(value):
    text = repr(value)
    return f"{text[:60]}..." if len(text) > 63 else text


def flag(called, name, value):
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise TypeError(f"[{called}] expected {name} to be True or False, got {described(value)}")


def count(called, name, value, what):
    """A number of bytes, launches and the like, or an address; ctypes takes any integer modulo 2**64."""
    try:
        number = operator.index(value)
    except TypeError:
        hint = f"; int({value!r}) is one" if isinstance(value, float) and value.is_integer() else ""
        hint = "; 256 << 20 are 256 MB" if isinstance(value, str) and what == "bytes" else hint
        raise TypeError(f"[{called}] expected {name} to be an integer, {what}, got {described(value)}{hint}") from None
    if not 0 <= number < 2**64:
        raise ValueError(f"[{called}] expected {name} to be from 0 to 2**64 - 1, got {number}")
    return number


def name_of(called, name, value, what):
    """A text for the library, which takes a zero for its end; a path's, too."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"[{called}] expected {name} to be {what}, got {described(value)}")
    data = os.fsencode(value)
    if b"\0" in data:
        raise ValueError(f"[{called}] expected {name} without zeros, got {value!r}")
    return data


def script(called, text):
    """The bytes of a script."""
    if isinstance(text, str):
        return text.encode(errors="surrogateescape")
    hint = ""
    if hasattr(text, "read"):
        hint = "; file.read() is its text"
    elif isinstance(text, os.PathLike):
        hint = "; pathlib.Path(path).read_text() is that of a file"
    elif isinstance(text, (bytes, bytearray)):
        hint = "; text.decode() is one"
    elif callable(text):
        hint = "; state['name'] = function makes a function of Python's one of Lua's"
    raise TypeError(f"[{called}] expected the text of a script, got {described(text)}{hint}")


def milliseconds(deadline):
    """Of a deadline in seconds; 0 for none."""
    if type(deadline) in (int, float) and 0 <= deadline < math.inf:
        return 1000 * deadline
    if deadline is None or deadline == math.inf:
        return 0
    if hasattr(deadline, "total_seconds"):
        raise TypeError(f"[call] expected deadline in seconds, got {described(deadline)}; deadline.total_seconds() is that")
    if not isinstance(deadline, numbers.Real) or isinstance(deadline, bool):
        raise TypeError(f"[call] expected deadline in seconds, 0 for none, got {described(deadline)}")
    if not 0 <= deadline:
        raise ValueError(f"[call] expected deadline of 0 seconds, for none, or more, got {deadline}; a time that is left of another deadline "
                         "has passed where it is negative: call nothing then")
    return 1000 * float(deadline)

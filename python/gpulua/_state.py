"""States: Lua with its devices and arrays."""
import copy
import ctypes
import difflib
import functools
import re
import sys
import warnings
import weakref
from ctypes import byref, c_int64, c_size_t, c_void_p

from . import _dlpack, _library, _numpy, _options, _tables, _values
from ._array import Array
from ._dtype import name_of_type
from ._errors import Error, ScriptSyntaxError, UndefinedError, add_head, check, check_results, number_of
from ._library import ARGUMENT, ARRAY, FUNCTION, NIL, OBJECT, OK, Value, lib, own_name
from ._objects import Bridge, Function, Object, Tokens, from_tokens

_most_results = 64

# The names in a table that a path of names from the globals leads to.
_names_in = """function(...)
  local holder, names = _G, {}
  for i = 1, select("#", ...) do holder = type(holder) == "table" and holder[select(i, ...)] end
  for name in pairs(type(holder) == "table" and holder or {}) do names[#names + 1] = type(name) == "string" and name or nil end
  return table.concat(names, "\\n")
end"""

# How a statement begins, which is no expression.
_is_statement = re.compile(r"\s*((local|for|if|while|repeat|do|return)\b|function\s+\w|[\w.]+\s*=[^=])")

_classes = {ARRAY: Array, FUNCTION: Function, OBJECT: Object}


class State:
    """A Lua state with the module `gpu`. One thread at a time works in it.

    device: "cpu", "cuda:0"; without it GPULUA_DEVICE, else a GPU if there is one. cu_stream: the address of a CUstream for all work.
    lua_memory, device_memory: limits in bytes. launches, compilations, blocks: what one call may do. print: a function of a line that
    a script prints; sys.stdout without it. default_dtype: "float64" for real numbers as NumPy has them, else "float32". sandbox, kernels,
    interruptible, strict: the flags of the C interface; fault_handlers=False: its GPULUA_NO_FAULT_HANDLERS.
    """

    _handle = None  # until there is a state

    @_options.by_name("State")
    def __init__(self, device=None, *, sandbox=False, kernels=False, interruptible=False, strict=False, fault_handlers=True,
                 lua_memory=0, device_memory=0, cache_directory=None, cu_stream=None, launches=0, compilations=0, blocks=0, default_dtype=None,
                 print=None):
        self._handle = c_void_p()
        self._results = (Value * _most_results)()
        self._namespace_reference = None  # which keeps the state
        self._functions = {}     # of Lua by their text
        self._callbacks = []     # with what keeps each one's last results
        self._raised = None      # the exception of a function of Python's that Lua has called, and the text that Lua got
        self._interrupts = []    # raised in Python's code during a call: they end it, whatever the script does
        options = _library.Options()
        lib.options_init(byref(options), ctypes.sizeof(options))
        default_dtype = name_of_type(default_dtype) or default_dtype
        for name, value, what in [("device", device, 'the name of one, such as "cpu" or "cuda:0"'), ("cache_directory", cache_directory, "a path"),
                                  ("default_dtype", default_dtype, '"float32" or "float64"')]:
            setattr(options, name, None if value is None else _options.name_of("State", name, value, what))
        for name, value, what in [("lua_memory", lua_memory, "bytes"), ("device_memory", device_memory, "bytes"),
                                  ("launches", launches, "how many one call may do"), ("compilations", compilations, "how many one call may do"),
                                  ("blocks", blocks, "how many one launch may have"), ("cu_stream", cu_stream or 0, "the address of a CUstream")]:
            setattr(options, name, _options.count("State", name, value, what))
        for name, value, bit in [("sandbox", sandbox, _library.SANDBOX), ("kernels", kernels, _library.KERNELS),
                                 ("interruptible", interruptible, _library.INTERRUPTIBLE), ("strict", strict, _library.STRICT)]:
            options.flags |= bit * _options.flag("State", name, value)
        options.flags |= _library.NO_FAULT_HANDLERS * (not _options.flag("State", "fault_handlers", fault_handlers))
        if print is not None and not callable(print):
            raise TypeError(f"[State] expected print to be a function of a line, got {_options.described(print)}")
        write = print or (lambda line: sys.stdout.write(line + "\n"))
        self._print = _library.PRINT(_noting(self._interrupts, lambda _, text, size: write(ctypes.string_at(text, size).decode(errors="replace"))))
        self._log = _library.LOG(_noting(self._interrupts, lambda _, level, text: _warn(text.decode(errors="replace"))))
        options.print, options.log = self._print, self._log
        check(lib.create(byref(options), byref(self._handle)), None)

    def close(self):
        """Ends the state, and with it its functions and arrays. NumPy's arrays over their memory stay."""
        if self._handle:
            _dlpack.sweep()
            check(lib.destroy(self._handle), self._handle)
            self._handle = c_void_p()
            self._raise_interrupts()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if self._handle:
            lib.destroy(self._handle)

    def __reduce_ex__(self, _):
        raise TypeError("[State] expected no copy of a state, and no pickle, got one; another gpulua.State() is a new state")

    def _check(self, status, called=None):
        """Raises what a status says; first of all what Python's code has raised meanwhile."""
        (raised, text), self._raised = self._raised or (None, None), None
        self._raise_interrupts()
        try:
            check(status, self._handle, called)
        except RuntimeError as error:
            if raised is None or text not in str(error):
                raise
            raise error from raised

    def _raise_interrupts(self):
        if self._interrupts:
            error = self._interrupts[0]
            self._interrupts.clear()
            raise error

    # ---- scripts ----

    @_options.by_name("run")
    def run(self, text, name="python", *, deadline=0):
        """Runs a script and gives its results: None, one value, or a tuple. Ctrl-C stops it, but for loops that LuaJIT has compiled,
        which it stops in states that are interruptible and in calls with a deadline, in seconds."""
        return self._load("run", text, name)(deadline=deadline)

    @_options.by_name("load")
    def load(self, text, name="python"):
        """The function that the script is."""
        return self._load("load", text, name)

    def _load(self, called, text, name):
        if not isinstance(name, str):
            raise TypeError(f"[{called}] expected the script's name in messages, a text, got {_options.described(name)}; "
                            "state.load(text)(1, 2) passes arguments, which are ... in the script")
        data, handle = _options.script(called, text), c_void_p()
        self._check(lib.load(self._handle, data, len(data), _options.name_of(called, "name", name, "a text"), byref(handle)), called)
        return Function(self, handle)

    def eval(self, expression):
        """The value of a Lua expression."""
        if not isinstance(expression, str) or not expression.strip():
            raise TypeError(f"[eval] expected the text of an expression of Lua, such as 'x:sum():item()', got {_options.described(expression)}")
        try:
            return self.run("return " + expression, "expression")
        except ScriptSyntaxError as error:
            if _is_statement.match(expression):
                error.args = (f"{error}; state.eval takes an expression, state.run statements, whose return gives values",)
            raise

    def table(self, table):
        """The columns of a gpu.table, or of one that a Lua expression gives: a dict of NumPy arrays by name, which pandas.DataFrame
        takes."""
        return _tables.take(self, table)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        known = [other for other in dir(type(self)) if not other.startswith("_")]
        near = _methods_elsewhere.get(name) or _options.nearest(name, known)
        raise AttributeError(f"[State] a State has no {name}{near}; state[{name!r}] is the global of scripts")

    def __setattr__(self, name, value):
        if not name.startswith("_"):
            raise AttributeError(f"[State] expected no attribute to be set, got {name}; state[{name!r}] = value sets a global of scripts")
        object.__setattr__(self, name, value)

    def __contains__(self, path):
        raise TypeError(f"[State] expected state.eval({path!r}) is not None, got {path!r} in state; a state has paths, not members")

    def __iter__(self):
        raise TypeError("[State] expected a path, state['name'], got a loop over a state; state.eval('_G') is a dict of what scripts reach")

    def __delitem__(self, path):
        raise TypeError(f"[State] expected state[{path!r}] = None, which removes it, got del state[{path!r}]")

    def __call__(self, *_, **__):
        raise TypeError("[State] expected a method, got a call of the state; state.run(text) runs a script, state['f'](x) calls a function of Lua")

    def __getitem__(self, path):
        """The value at a path of names from the globals: "update", "model.step", "gpu.add". A KeyError where it is nil."""
        value = Value()
        self._check(lib.get_value(self._handle, _path(path), byref(value)))
        if value.kind == NIL:
            raise UndefinedError(f"[State] expected the path of a value in the state, got {path!r}, which is nil{self._near(path)}; "
                                 "state.eval(path) gives None for nil")
        found = self._to_python(value)
        return self._bridge.to_python(found) if type(found) is Object else found

    def _near(self, path):
        """A question about a path like it."""
        holder, _, last = path.rpartition(".")
        names = self._lua(_names_in)(*filter(None, holder.split(".")))
        names = names.split("\n")
        typed_twice = [name for name in names if name != last and _once(name) == _once(last)]
        near = sorted(typed_twice)[:1] or difflib.get_close_matches(last, names, 1, cutoff=0.7)
        return f"; did you mean {holder and holder + '.'}{near[0]}?" if near else ""

    def __setitem__(self, path, value):
        """Sets it. A Python function becomes a Lua function, a list or dict a table, a DataFrame of pandas a gpu.table, a type of NumPy's
        scalars its dtype's name."""
        if isinstance(value, type) and hasattr(value, "dtype") and name_of_type(value):
            value = name_of_type(value)
        if callable(value) and not isinstance(value, Object):
            return self._register(path, value)
        kept = []
        try:
            if self._is_nested(value):
                value = self._bridge.made(*self._tokens([value]))
            given = self._to_lua(value, kept)
        except (TypeError, OverflowError) as error:
            error.args = (str(error).replace("[values] ", f"[State] {path!r}: ", 1),)
            raise
        self._check(lib.set(self._handle, _path(path), byref(given)))

    def new_table(self, columns):
        """A gpu.table of a dict of columns by name, or of a DataFrame of pandas."""
        return _tables.make(self, columns)

    @_options.by_name("array", dtype="; state.array(x).astype(dtype) converts", copy="; copy.copy(state.array(x)) has elements of its own",
                      device="; state.array(x).to_device(name) copies")
    def array(self, value):
        """An Array of a NumPy, CuPy or torch array, or of a Series of pandas: over the same memory where the device reaches it,
        read-only as the array is there, else a copy. And one of nested lists of numbers."""
        if isinstance(value, Array):
            return value
        if isinstance(value, (list, tuple)):
            try:
                return self._namespace._asarray(value)
            except Exception as error:
                add_head(error, "[array] ")
                raise
        if isinstance(value, (bool, int, float, complex)):
            raise TypeError(f"[array] expected an array with __dlpack__, such as NumPy's, or lists of numbers, got {value!r}; "
                            "scripts take it as it is, [x] is an array of one element")
        if hasattr(value, "to_numpy"):
            value = _tables.numbers(value)
        if not hasattr(value, "__dlpack__"):
            raise TypeError("[array] expected an array with __dlpack__, such as NumPy's, or lists of numbers, got " +
                            ("None" + _tables.no_result if value is None else type(value).__name__))
        if hasattr(value, "__array_interface__"):
            return Array(self, _numpy.take(self._handle, value, self.device != "cpu"))
        if value.__dlpack_device__()[0] == _dlpack.CPU and self.device != "cpu":
            import numpy
            return Array(self, _numpy.take(self._handle, numpy.from_dlpack(value), True))
        array = Array(self, _dlpack.take(self._handle, value))
        # JAX's arrays never change, which its tensors do not say.
        return copy.copy(array) if type(value).__module__.startswith("jax") else array

    @property
    def device(self):
        """The name of the state's device."""
        check(OK if self._handle else ARGUMENT, self._handle)
        return self._device

    @functools.cached_property
    def _device(self):
        handle = c_void_p()
        check(lib.array_zeros(self._handle, b"float32", 1, (c_int64 * 1)(0), byref(handle)), self._handle)
        return Array(self, handle).device

    def allow_kernel(self, sha256):
        """In a sandbox: allows kernels from the source with this digest."""
        check(lib.allow_kernel(self._handle, _options.name_of("allow_kernel", "the SHA-256 digest", sha256, "a text")), self._handle)

    def sync(self):
        """Waits for all work on the state's devices."""
        check(lib.sync(self._handle), self._handle)

    def collect(self):
        """Collects Lua's garbage, and the arrays in it."""
        _dlpack.sweep()
        self._check(lib.collect(self._handle, 0))

    def interrupt(self):
        """Stops what the state runs, from any thread; that call raises KeyboardInterrupt."""
        check(lib.interrupt(self._handle), self._handle)

    def memory(self):
        """(used, peak): bytes of the live arrays, and the most there have been."""
        _dlpack.sweep()
        used, peak = c_size_t(), c_size_t()
        check(lib.memory(self._handle, byref(used), byref(peak)), self._handle)
        return used.value, peak.value

    # ---- values ----

    @functools.cached_property
    def _bridge(self):
        return Bridge(weakref.proxy(self))

    @property
    def _namespace(self):
        namespace = self._namespace_reference and self._namespace_reference()
        if namespace is None:
            from ._xp import Namespace
            namespace = Namespace(self)
        return namespace

    def _lua(self, text):
        """The function that an expression of Lua gives. It is kept."""
        function = self._functions.get(text)
        if function is None:
            loaded = self.load(text if text.startswith("\n") else "return " + text, own_name).at_once()
            loaded._state = weakref.proxy(self)  # no cycle: a state ends when nobody has it
            function = self._functions[text] = loaded.at_once
        return function

    def _call(self, function, arguments, options, deadline, *, reads_tables=True):
        options = options and {name: value for name, value in options.items() if value is not None}
        if options or any(map(self._is_nested, arguments)):
            tokens = self._tokens([*arguments, options] if options else arguments)
            function, arguments = self._bridge.call._handle, [Object.at(self, function), *tokens]
        kept = []
        given = (Value * max(len(arguments), 1))(*[self._to_lua(argument, kept) for argument in arguments])
        results, count = self._results, c_size_t(_most_results)
        status = lib.call(function, given, len(arguments), results, byref(count), _options.milliseconds(deadline))
        try:
            self._check(status)
        except Error as error:
            if options and _got_table.search(str(error).split("\n", 1)[0]):
                error.args = (_with_hint(str(error), "keywords become the last argument, a table: {" +
                                         ", ".join(f"{name} = ..." for name in options) + "}"),)
            raise
        values = [self._to_python(results[i]) for i in range(min(count.value, _most_results))]
        if count.value > _most_results:
            raise ValueError(f"[call] expected at most {_most_results} results, got {count.value}")
        check_results(values)
        if reads_tables and any(type(value) is Object for value in values):
            values = [self._bridge.to_python(value) if type(value) is Object else value for value in values]
        return None if not values else values[0] if len(values) == 1 else tuple(values)

    def _to_python(self, value):
        of_handle = _classes.get(value.kind)
        return _values.to_python(value) if of_handle is None else of_handle(self, c_void_p(value.content.handle))

    def _crosses(self, value):
        """Whether it is a value of the C interface, and no scalar."""
        return (isinstance(value, Object) or _values.is_array(value) or _tables.is_frame(value) or
                type(value) is int and 2**53 < abs(value) < 2**63)

    def _is_nested(self, value):
        return type(value) is not Array and not _values.is_array(value) and _values.is_nested(value)

    def _tokens(self, values):
        """How many values, their tokens and texts, and what crosses by itself."""
        tokens = Tokens(self._crosses)
        for value in values:
            tokens.put(value)
        return [len(values), *tokens.texts(), *tokens.handles]

    def _to_lua(self, value, kept):
        """`kept` holds what the value points to."""
        if isinstance(value, Object):
            return _values.of_handle(FUNCTION if isinstance(value, Function) else OBJECT, value._handle.value)
        if _values.is_array(value):
            array = self.array(value)
            kept.append(array)
            return _values.of_handle(ARRAY, array._handle.value)
        if _tables.is_frame(value):
            value = _tables.make(self, value)
            kept.append(value)
            return self._to_lua(value, kept)
        return _values.to_lua(value, kept)

    def _register(self, path, function):
        def called(state, _, given, count, out, out_count):
            before, values, handled = self._raised, [], sys.exc_info()[1]
            try:
                are_tokens, *values = [self._to_python(_retained(given[i])) for i in range(count)]
                if are_tokens:
                    text, texts, *handles = values
                    fields = from_tokens(text, texts, iter(handles))
                    values = [fields.get(i + 1) for i in range(int(fields["n"]))]
                results = function(*values)
                results = () if results is None else results if isinstance(results, tuple) else (results,)
                are_tokens = any(map(self._is_nested, results))
                results = [are_tokens, *(self._tokens(results) if are_tokens else results)]
                if len(results) > out_count[0]:
                    raise ValueError(f"[{path}] expected at most {out_count[0] - 1} results, got {len(results) - 1}")
                # Text is read after this returns.
                kept = entry[1] = []
                to_lua = [self._to_lua(result, kept) for result in results]
                for i, value in enumerate(to_lua):
                    out[i] = _retained(value)
                out_count[0] = len(to_lua)
                self._raised = before  # which a call in the function has taken for its own
                return OK
            except BaseException as error:
                text = _text_of(error, values, handled)
                self._raised = error, text
                if not isinstance(error, Exception):
                    self._interrupts.append(error)
                return number_of(error, lib.fail(state, text.encode()))

        # It stays as long as the state: a script may keep the function that another one has replaced.
        entry = [_library.CALLBACK(called), []]
        self._callbacks.append(entry)
        self._check(lib.register(self._handle, _path(path), entry[0], None))
        self[path] = self._bridge.for_lua(self[path])


# The methods of other libraries that run scripts.
_methods_elsewhere = {
    "execute": "; state.run(text) runs a script", "exec": "; state.run(text) runs a script", "compile": "; state.load(text) gives a function",
    "globals": "; state[path] reads a global and sets it", "get": "; state[path] reads a global, state.eval(path) gives None for nil",
    "set": "; state[path] = value sets a global", "register": "; state[path] = function makes a function of Python's one of Lua's",
    "require": "; state.eval(\"require 'name'\") is a module of Lua", "run_file": "; state.run(pathlib.Path(path).read_text(), path) runs a file",
    "call": "; state[path](arguments) calls a function", "table_from": "; state[path] = dict makes a table",
}


def _path(path):
    if not isinstance(path, str):
        raise TypeError(f"[State] expected a path as a text, such as state['model.rate'] or state['stages[1].rate'], got {_options.described(path)}")
    return _options.name_of("State", "the path", path, "a text")


# Of an error in a function that takes a table for something else.
_got_table = re.compile(r"got a table|\(a table value\)|table expected|got table\)")


def _with_hint(text, hint):
    """The text of an error with the hint behind its message, before the traceback."""
    first, line, rest = text.partition("\n")
    return f"{first}; {hint}{line}{rest}"


def _warn(text):
    warnings.warn(text, stacklevel=3)


def _once(name):
    """The name with one of each letter that stands several times in a row: "f" of "ff"."""
    return re.sub(r"(.)\1+", r"\1", name.lower())


def _message_of(error):
    try:
        message = str(error)
    except Exception as failure:
        message = f"a message that fails with {type(failure).__name__}"
    return f"{type(error).__name__}: {message}"


def _text_of(error, arguments, handled):
    """Its name and message, with those of its causes, as they come back from the library: without characters that UTF-8 does not have, and
    zeros. `arguments`: those of the function that has raised it; `handled`: what was being handled when that was called."""
    text, seen = _message_of(error), {id(handled)}
    missing = [i + 1 for i, argument in enumerate(arguments) if argument is None]
    if isinstance(error, TypeError) and "NoneType" in text and len(missing) == 1 and "\n" not in text:
        text += f"; argument {missing[0]} is None, as the call got nil"  # to which the library adds the variable
    while id(error) not in seen:
        seen.add(id(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if error is None:
            break
        message = _message_of(error)
        if id(error) not in seen and message.split("\n", 1)[0] not in text:
            text += "\ncaused by: " + message
    return text.encode(errors="replace").decode().replace("\0", "\\0")


def _noting(errors, function):
    """The function for a call from the library; ctypes would print what it raises, and go on."""
    def call(*arguments):
        try:
            function(*arguments)
        except BaseException as error:
            errors.append(error)
    return call


def _retained(value):
    """A value whose handle one more owner has."""
    if value.kind == ARRAY:
        lib.array_retain(value.content.handle)
    if value.kind in (FUNCTION, OBJECT):
        lib.function_retain(value.content.handle)
    return value

"""States: Lua with its devices and arrays."""
import ctypes
import os
import signal
import sys
import threading
import warnings
from ctypes import byref, c_int64, c_size_t, c_void_p

from . import _dlpack, _library, _tables, _values
from ._array import Array
from ._errors import check
from ._library import ARRAY, FUNCTION, OK, Value, count_of, lib, text_of

_most_results = 64

# NumPy's arrays whose memory arrays of ours use, by their id.
_lent = {}


@_library.RELEASE
def _release(owner):
    arrays = _lent[owner]
    arrays.pop()
    if not arrays:
        del _lent[owner]


class Function:
    """A Lua function. Calls take and give None, booleans, numbers, text, arrays and functions; deadline is in seconds."""

    def __init__(self, state, handle):
        self._state, self._handle = state, handle

    def __del__(self):
        lib.function_release(self._handle)

    def __call__(self, *arguments, deadline=0):
        return self._state._call(self._handle, arguments, deadline)

    # As Python's functions: a copy is the function itself.
    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self

    def __reduce_ex__(self, _):
        raise TypeError("a function of a state cannot be pickled")


class State:
    """A Lua state with the module `gpu`. One thread at a time works in it.

    device: "cpu", "cuda:0"; without it GPULUA_DEVICE, else a GPU if there is one. cu_stream: the address of a CUstream for all work.
    lua_memory, device_memory: limits in bytes. launches, compilations, blocks: what one call may do. print: a function of a line that
    a script prints; sys.stdout without it. default_dtype: "float64" for real numbers as NumPy has them, else "float32". sandbox, kernels, interruptible, strict, fault_handlers: the flags of the C interface.
    """

    _handle = None  # until there is a state

    def __init__(self, device=None, *, sandbox=False, kernels=False, interruptible=False, strict=False, fault_handlers=False,
                 lua_memory=0, device_memory=0, cache_directory=None, cu_stream=None, launches=0, compilations=0, blocks=0, default_dtype=None,
                 print=None):
        self._handle = c_void_p()
        self._callbacks = []     # with what keeps each one's last results
        self._raised = None      # by a function of Python's that Lua has called
        self._interrupts = []    # raised in Python's code during a call: they end it, whatever the script does
        options = _library.Options()
        lib.options_init(byref(options), ctypes.sizeof(options))
        options.device = None if device is None else text_of(device)
        options.cache_directory = None if cache_directory is None else text_of(cache_directory)
        options.default_dtype = None if default_dtype is None else text_of(default_dtype)
        options.cu_stream = None if cu_stream is None else count_of("cu_stream", cu_stream)
        for name, value in [("lua_memory", lua_memory), ("device_memory", device_memory), ("launches", launches),
                            ("compilations", compilations), ("blocks", blocks)]:
            setattr(options, name, count_of(name, value))
        options.flags = (_library.SANDBOX * sandbox | _library.KERNELS * kernels | _library.INTERRUPTIBLE * interruptible |
                         _library.STRICT * strict | _library.FAULT_HANDLERS * fault_handlers)
        write = print or (lambda line: sys.stdout.write(line + "\n"))
        self._print = _library.PRINT(_noting(self._interrupts, lambda _, text, size: write(ctypes.string_at(text, size).decode(errors="replace"))))
        self._log = _library.LOG(_noting(self._interrupts, lambda _, level, text: warnings.warn(text.decode(errors="replace"), stacklevel=2)))
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
        raise TypeError("a state cannot be copied or pickled")

    def _check(self, status):
        """Raises what a status says; first of all what Python's code has raised meanwhile."""
        raised, self._raised = self._raised, None
        self._raise_interrupts()
        try:
            check(status, self._handle)
        except RuntimeError as error:
            if raised is None or _text_of(raised) not in str(error):
                raise
            raise error from raised

    def _raise_interrupts(self):
        if self._interrupts:
            error = self._interrupts[0]
            self._interrupts.clear()
            raise error

    # ---- scripts ----

    def run(self, text, name="python", *, deadline=0):
        """Runs a script and gives its results: None, one value, or a tuple. Ctrl-C stops it, but for loops that LuaJIT has compiled,
        which it stops in states that are interruptible and in calls with a deadline, in seconds."""
        return self._stoppable(lambda: self.load(text, name)(deadline=deadline))

    def load(self, text, name="python"):
        """The function that the script is."""
        data, handle = text.encode(), c_void_p()
        self._check(lib.load(self._handle, data, len(data), text_of(name), byref(handle)))
        return Function(self, handle)

    def eval(self, expression):
        """The value of a Lua expression."""
        return self.run("return " + expression, "expression")

    def table(self, expression):
        """The columns of the gpu.table that a Lua expression gives: a dict of NumPy arrays by name, which pandas.DataFrame takes."""
        return self._stoppable(lambda: _tables.take(self, expression))

    def __getitem__(self, path):
        """The value at a path of names from the globals: "update", "model.step", "gpu.add"."""
        value = Value()
        self._check(lib.get_value(self._handle, text_of(path), byref(value)))
        return self._to_python(value)

    def __setitem__(self, path, value):
        """Sets it. A Python function becomes a Lua function; a dict of columns or a DataFrame of pandas becomes a gpu.table."""
        if _tables.has_columns(value):
            return _tables.give(self, path, value)
        if callable(value) and not isinstance(value, Function):
            return self._register(path, value)
        kept = []
        given = self._to_lua(value, kept)
        self._check(lib.set(self._handle, text_of(path), byref(given)))

    def array(self, value):
        """An Array of a NumPy, CuPy or torch array, or of a Series of pandas: over the same memory where the device reaches it and
        scripts may write to it, else a copy."""
        if isinstance(value, Array):
            return value
        if hasattr(value, "to_numpy"):
            value = value.to_numpy()
        if not hasattr(value, "__dlpack__"):
            raise TypeError(f"expected an array with __dlpack__, such as NumPy's, got {type(value).__name__}")
        if hasattr(value, "__array_interface__"):
            _values.check_array(value)
            return Array(self, self._of_numpy(value))
        if value.__dlpack_device__()[0] == _dlpack.CPU and self.device != "cpu":
            import numpy
            return Array(self, self._of_numpy(numpy.from_dlpack(value)))
        return Array(self, _dlpack.take(self._handle, value))

    @property
    def device(self):
        """The name of the state's device."""
        handle = c_void_p()
        check(lib.array_zeros(self._handle, b"float32", 1, (c_int64 * 1)(0), byref(handle)), self._handle)
        return Array(self, handle).device

    def allow_kernel(self, sha256):
        """In a sandbox: allows kernels from the source with this digest."""
        check(lib.allow_kernel(self._handle, text_of(sha256)), self._handle)

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

    def _call(self, function, arguments, deadline):
        kept = []
        given = (Value * max(len(arguments), 1))(*[self._to_lua(argument, kept) for argument in arguments])
        results, count = (Value * _most_results)(), c_size_t(_most_results)
        self._check(lib.call(function, given, len(arguments), results, byref(count), 1000 * deadline))
        values = [self._to_python(results[i]) for i in range(min(count.value, _most_results))]
        if count.value > _most_results:
            raise ValueError(f"expected at most {_most_results} results, got {count.value}")
        return None if not values else values[0] if len(values) == 1 else tuple(values)

    def _to_python(self, value):
        if value.kind in (ARRAY, FUNCTION):
            return (Array if value.kind == ARRAY else Function)(self, c_void_p(value.content.handle))
        return _values.to_python(value)

    def _to_lua(self, value, kept):
        """`kept` holds what the value points to."""
        if isinstance(value, Function):
            return _values.of_handle(FUNCTION, value._handle.value)
        if _values.is_array(value):
            array = self.array(value)
            kept.append(array)
            return _values.of_handle(ARRAY, array._handle.value)
        return _values.to_lua(value, kept)

    def _of_numpy(self, value):
        """The handle of an array over NumPy's memory, or of a copy."""
        copies = not value.flags.writeable or self.device != "cpu"
        if copies or not value.dtype.isnative:
            import numpy
            value, copies = numpy.array(value, value.dtype.newbyteorder("="), order="C"), True
        ndim = max(value.ndim, 1)
        shape, strides, handle = (c_int64 * ndim)(*value.shape), (c_int64 * ndim)(*value.strides), c_void_p()
        pointer, dtype, owner = value.ctypes.data, str(value.dtype).encode(), None
        if not copies:
            owner = id(value)
            _lent.setdefault(owner, []).append(value)
        status = lib.array_host(self._handle, pointer, dtype, value.ndim, shape, strides, _library.RELEASE() if copies else _release, owner, copies,
                                byref(handle))
        if status != _library.OK and not copies:
            _release(owner)
        check(status, self._handle)
        return handle

    def _register(self, path, function):
        def called(state, _, given, count, out, out_count):
            try:
                results = function(*[self._to_python(_retained(given[i])) for i in range(count)])
                results = () if results is None else results if isinstance(results, tuple) else (results,)
                if len(results) > out_count[0]:
                    raise ValueError(f"expected at most {out_count[0]} results, got {len(results)}")
                # Text is read after this returns.
                kept = entry[1] = []
                values = [self._to_lua(result, kept) for result in results]
                for i, value in enumerate(values):
                    out[i] = _retained(value)
                out_count[0] = len(values)
                return OK
            except BaseException as error:
                self._raised = error
                if not isinstance(error, Exception):
                    self._interrupts.append(error)
                return lib.fail(state, _text_of(error).encode(errors="replace"))

        # It stays as long as the state: a script may keep the function that another one has replaced.
        entry = [_library.CALLBACK(called), []]
        self._callbacks.append(entry)
        self._check(lib.register(self._handle, text_of(path), entry[0], None))

    def _stoppable(self, work):
        """Runs it so that Ctrl-C stops it: Python's own handler runs only between calls of C functions in the main thread."""
        if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
            return work()
        outcome, done = [], threading.Event()

        def run():
            try:
                outcome.append((work(), None))
            except BaseException as error:
                outcome.append((None, error))
            done.set()

        worker, is_started = threading.Thread(target=run), False
        # An interruption may come anywhere here, and the script runs on until it is stopped.
        while not done.is_set():
            try:
                if not is_started:
                    is_started = True
                    worker.start()
                done.wait(0.1)  # another thread may have got the signal
            except KeyboardInterrupt:
                if not worker.is_alive() and not done.is_set():
                    raise
                self.interrupt()
        result, error = outcome[0]
        if error is not None:
            raise error
        return result


def _text_of(error):
    return f"{type(error).__name__}: {error}"


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
    if value.kind == FUNCTION:
        lib.function_retain(value.content.handle)
    return value

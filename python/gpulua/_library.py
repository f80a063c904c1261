"""The C interface of libgpulua.so, include/gpulua/gpulua.h, by ctypes."""
import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, Structure, Union, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p

ABI_VERSION = 1

(OK, SYNTAX, RUNTIME, MEMORY, DEVICE, DEADLINE, INTERRUPTED, ARGUMENT, BUSY, UNAVAILABLE, LOST) = range(11)
(NIL, BOOLEAN, NUMBER, INTEGER, TEXT, ARRAY, FUNCTION, OBJECT) = range(8)
SANDBOX, KERNELS, INTERRUPTIBLE, STRICT, NO_FAULT_HANDLERS = 1, 2, 4, 8, 32
NO_STREAM = c_void_p(-1)
# What array_host does with memory.
COPY, READ_ONLY = 1, 2

# The chunk name of the library's own Lua code and of the package's. Messages and tracebacks leave out lines of these chunks.
own_name = "=[gpulua]"


class Text(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class Content(Union):
    _fields_ = [("boolean", c_int), ("number", c_double), ("integer", c_int64), ("text", Text), ("handle", c_void_p)]


class Value(Structure):
    _fields_ = [("kind", c_int), ("content", Content)]


PRINT = CFUNCTYPE(None, c_void_p, POINTER(ctypes.c_char), c_size_t)
LOG = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
RELEASE = CFUNCTYPE(None, c_void_p)
CALLBACK = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(Value), c_size_t, POINTER(Value), POINTER(c_size_t))


class Options(Structure):
    _fields_ = [("struct_size", c_size_t), ("device", c_char_p), ("cu_context", c_void_p), ("cu_stream", c_void_p),
                ("lua_memory", c_size_t), ("device_memory", c_size_t), ("cache_directory", c_char_p), ("flags", c_uint),
                ("print", PRINT), ("log", LOG), ("allocate", c_void_p), ("user", c_void_p), ("lua_state", c_void_p),
                ("launches", c_uint64), ("compilations", c_uint64), ("blocks", c_uint64),
                ("default_dtype", c_char_p)]


_values = POINTER(Value)
_handle = POINTER(c_void_p)
_shape = POINTER(c_int64)

# The result and the parameters of each function.
_functions = {
    "status_name": (c_char_p, c_int),
    "abi_version": (c_int,),
    "options_init": (c_int, POINTER(Options), c_size_t),
    "create": (c_int, POINTER(Options), _handle),
    "allow_kernel": (c_int, c_void_p, c_char_p),
    "destroy": (c_int, c_void_p),
    "error": (c_char_p, c_void_p),
    "run": (c_int, c_void_p, c_char_p, c_size_t, c_char_p),
    "load": (c_int, c_void_p, c_char_p, c_size_t, c_char_p, _handle),
    "get_value": (c_int, c_void_p, c_char_p, _values),
    "set": (c_int, c_void_p, c_char_p, _values),
    "call": (c_int, c_void_p, _values, c_size_t, _values, POINTER(c_size_t), c_double),
    "function_retain": (c_int, c_void_p),
    "function_release": (c_int, c_void_p),
    "register": (c_int, c_void_p, c_char_p, CALLBACK, c_void_p),
    "fail": (c_int, c_void_p, c_char_p),
    "array_host": (c_int, c_void_p, c_void_p, c_char_p, c_int, _shape, _shape, RELEASE, c_void_p, c_int, _handle),
    "array_zeros": (c_int, c_void_p, c_char_p, c_int, _shape, _handle),
    "array_retain": (c_int, c_void_p),
    "array_release": (c_int, c_void_p),
    "array_dtype": (c_char_p, c_void_p),
    "array_device_name": (c_char_p, c_void_p),
    "array_ndim": (c_int, c_void_p),
    "array_shape": (_shape, c_void_p),
    "array_strides": (_shape, c_void_p),
    "array_size": (c_int64, c_void_p),
    "array_nbytes": (c_int64, c_void_p),
    "array_evaluate": (c_int, c_void_p, c_void_p, _handle),
    "array_copy_to": (c_int, c_void_p, c_void_p, c_size_t),
    "array_from_dlpack": (c_int, c_void_p, c_void_p, c_void_p, _handle),
    "array_from_dlpack_legacy": (c_int, c_void_p, c_void_p, c_void_p, _handle),
    "array_to_dlpack": (c_int, c_void_p, c_void_p, _handle),
    "array_to_dlpack_legacy": (c_int, c_void_p, c_void_p, _handle),
    "sync": (c_int, c_void_p),
    "collect": (c_int, c_void_p, c_double),
    "interrupt": (c_int, c_void_p),
    "memory": (c_int, c_void_p, POINTER(c_size_t), POINTER(c_size_t)),
}


class Library:
    """The functions of the library, without their prefix `gpulua_`."""

    def __init__(self, path):
        handle = ctypes.CDLL(path)
        for name, (result, *parameters) in _functions.items():
            function = getattr(handle, "gpulua_" + name)
            function.restype, function.argtypes = result, parameters
            setattr(self, name, function)
        found = self.abi_version()
        if found != ABI_VERSION:
            raise ImportError(f"expected libgpulua of interface {ABI_VERSION}, got {found} in {path}")


def _open():
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libgpulua.so.0")
    failures = []
    for path in [own] if os.path.exists(own) else [f"libgpulua.so.{ABI_VERSION - 1}"]:
        try:
            return Library(path)
        except OSError as error:
            failures.append(str(error))
    raise ImportError("expected libgpulua.so.0 in the package or in the loader's path; `make wheel` makes a package that has it, "
                      "`make install` installs the library, and LD_LIBRARY_PATH names the folder of one that is elsewhere, such as "
                      "build/release/bin, before Python starts (" + "; ".join(failures) + ")")


lib = _open()

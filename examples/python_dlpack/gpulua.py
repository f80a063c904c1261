"""gpulua from Python, by ctypes: states, functions, and arrays that NumPy, CuPy and PyTorch share by DLPack."""

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_void_p

_library = ctypes.CDLL(os.environ.get("GPULUA_LIBRARY", "libgpulua.so.0"))
_NO_STREAM = c_void_p(-1)
_NIL, _BOOLEAN, _NUMBER, _INTEGER, _TEXT, _ARRAY = range(6)


class _Text(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class _As(ctypes.Union):
    _fields_ = [("boolean", c_int), ("number", c_double), ("integer", c_int64), ("text", _Text), ("array", c_void_p)]


class _Value(ctypes.Structure):
    _fields_ = [("kind", c_int), ("as_", _As)]


class _Options(ctypes.Structure):
    """The beginning of gpulua_options: struct_size says how much of it there is."""

    _fields_ = [("struct_size", c_size_t), ("device", c_char_p)]


class _Managed(ctypes.Structure):
    """DLManagedTensorVersioned, as far as its deleter."""

    _fields_ = [("version", c_uint32 * 2), ("context", c_void_p), ("deleter", c_void_p)]


class _Legacy(ctypes.Structure):
    """DLManagedTensor: a DLTensor of 48 bytes before its deleter."""

    _fields_ = [("tensor", c_int64 * 6), ("context", c_void_p), ("deleter", c_void_p)]


def _declare(name, result, *arguments):
    function = getattr(_library, "gpulua_" + name)
    function.restype, function.argtypes = result, arguments
    return function


_create = _declare("create", c_int, c_void_p, POINTER(c_void_p))
_destroy = _declare("destroy", c_int, c_void_p)
_error = _declare("error", c_char_p, c_void_p)
_run = _declare("run", c_int, c_void_p, c_char_p, c_size_t, c_char_p)
_get = _declare("get", c_int, c_void_p, c_char_p, POINTER(c_void_p))
_call = _declare("call", c_int, c_void_p, POINTER(_Value), c_size_t, POINTER(_Value), POINTER(c_size_t), c_double)
_function_release = _declare("function_release", c_int, c_void_p)
_array_release = _declare("array_release", c_int, c_void_p)
_array_dtype = _declare("array_dtype", c_char_p, c_void_p)
_array_device_name = _declare("array_device_name", c_char_p, c_void_p)
_array_ndim = _declare("array_ndim", c_int, c_void_p)
_array_shape = _declare("array_shape", POINTER(c_int64), c_void_p)
_evaluate = _declare("array_evaluate", c_int, c_void_p, c_void_p, POINTER(c_void_p))
_from_dlpack = _declare("array_from_dlpack", c_int, c_void_p, c_void_p, c_void_p, POINTER(c_void_p))
_from_dlpack_legacy = _declare("array_from_dlpack_legacy", c_int, c_void_p, c_void_p, c_void_p, POINTER(c_void_p))
_to_dlpack = _declare("array_to_dlpack", c_int, c_void_p, c_void_p, POINTER(c_void_p))
_to_dlpack_legacy = _declare("array_to_dlpack_legacy", c_int, c_void_p, c_void_p, POINTER(c_void_p))

# A capsule is passed by its address: its destructor must not make a new reference to it.
_python = ctypes.PyDLL(None)
_destructor_type = ctypes.PYFUNCTYPE(None, c_void_p)
_capsule_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, _destructor_type)(("PyCapsule_New", _python))
_capsule_is = ctypes.PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", _python))
_capsule_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _python))
_capsule_rename = ctypes.PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_SetName", _python))
_VERSIONED, _USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"
_UNVERSIONED, _USED_UNVERSIONED = b"dltensor", b"used_dltensor"


@_destructor_type
def _drop_capsule(capsule):
    """Deletes the tensor of a capsule that nobody has taken."""
    for name, struct in ((_VERSIONED, _Managed), (_UNVERSIONED, _Legacy)):
        if _capsule_is(capsule, name):
            tensor = _capsule_pointer(capsule, name)
            ctypes.CFUNCTYPE(None, c_void_p)(struct.from_address(tensor).deleter)(tensor)


class Error(RuntimeError):
    """What a function of the C interface or a script says."""


def _check(status):
    if status != 0:
        raise Error(_error(None).decode())


def _stream_of(stream):
    """The CUstream of DLPack's stream argument: None and 1 are the legacy default stream, -1 is none."""
    return c_void_p({None: 0, 1: 0}.get(stream, stream))


class Array:
    """An array of a state's, on its device."""

    def __init__(self, handle):
        self._handle = handle

    def __del__(self):
        _array_release(self._handle)

    @property
    def device(self):
        return _array_device_name(self._handle).decode()

    @property
    def dtype(self):
        return _array_dtype(self._handle).decode()

    @property
    def shape(self):
        return tuple(_array_shape(self._handle)[: _array_ndim(self._handle)])

    @property
    def pointer(self):
        """The address of the first element, on the device."""
        pointer = c_void_p()
        _check(_evaluate(self._handle, _NO_STREAM, byref(pointer)))
        return pointer.value

    def __dlpack_device__(self):
        kind, _, number = self.device.partition(":")
        return (2, int(number)) if kind == "cuda" else (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy:
            raise BufferError("gpulua shares its memory by DLPack, and makes no copy: call x:copy() in the script")
        if dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"the array is on {self.device}")
        tensor = c_void_p()
        versioned = max_version is not None and max_version[0] >= 1
        export = _to_dlpack if versioned else _to_dlpack_legacy
        _check(export(self._handle, _stream_of(stream), byref(tensor)))
        return _capsule_new(tensor, _VERSIONED if versioned else _UNVERSIONED, _drop_capsule)


def _value_of(python):
    value = _Value()
    if isinstance(python, bool):
        value.kind, value.as_.boolean = _BOOLEAN, python
    elif isinstance(python, int):
        value.kind, value.as_.integer = _INTEGER, python
    elif isinstance(python, float):
        value.kind, value.as_.number = _NUMBER, python
    elif isinstance(python, str):
        text = python.encode()
        value.kept = ctypes.create_string_buffer(text)  # lives as long as the value
        value.kind, value.as_.text = _TEXT, _Text(ctypes.addressof(value.kept), len(text))
    elif isinstance(python, Array):
        value.kind, value.as_.array = _ARRAY, python._handle
    elif python is not None:
        raise TypeError(f"gpulua takes None, bool, int, float, str and Array, not {type(python).__name__}")
    return value


def _python_of(value):
    if value.kind == _BOOLEAN:
        return bool(value.as_.boolean)
    if value.kind == _NUMBER:
        return value.as_.number
    if value.kind == _INTEGER:
        return value.as_.integer
    if value.kind == _TEXT:
        return ctypes.string_at(value.as_.text.data, value.as_.text.size).decode()
    return Array(value.as_.array) if value.kind == _ARRAY else None


class State:
    """Scripts with a device: State("cpu"), State("cuda:0"), or State() for the default one. All work of a GPU goes to the
    legacy default stream."""

    def __init__(self, device=None):
        options = _Options(ctypes.sizeof(_Options), device.encode() if device else None)
        self._handle = c_void_p()
        _check(_create(byref(options), byref(self._handle)))

    def __del__(self):
        if self._handle:
            _destroy(self._handle)

    def run(self, script, name="script"):
        text = script.encode()
        _check(_run(self._handle, text, len(text), name.encode()))

    def call(self, path, *arguments):
        """The first result of the function at the path, such as "gpu.sum"."""
        function = c_void_p()
        _check(_get(self._handle, path.encode(), byref(function)))
        try:
            values = [_value_of(argument) for argument in arguments]
            given = (_Value * len(values))(*values)
            result, count = _Value(), c_size_t(1)
            _check(_call(function, given, len(values), byref(result), byref(count), 0))
        finally:
            _function_release(function)
        return _python_of(result)

    def from_dlpack(self, producer):
        """An array over the memory of a NumPy, CuPy or PyTorch array. The producer's work on it is waited for on the GPU."""
        on_gpu = producer.__dlpack_device__()[0] != 1
        stream = {"stream": 1} if on_gpu else {}
        try:
            capsule = producer.__dlpack__(max_version=(1, 1), **stream)
        except TypeError:  # a producer from before DLPack 1.0
            capsule = producer.__dlpack__(**stream)
        address = c_void_p(id(capsule))
        versioned = _capsule_is(address, _VERSIONED)
        name, used = (_VERSIONED, _USED_VERSIONED) if versioned else (_UNVERSIONED, _USED_UNVERSIONED)
        tensor = c_void_p(_capsule_pointer(address, name))
        _capsule_rename(address, used)
        handle = c_void_p()
        take = _from_dlpack if versioned else _from_dlpack_legacy
        _check(take(self._handle, tensor, _NO_STREAM, byref(handle)))  # it has the tensor now, whatever comes
        return Array(handle)

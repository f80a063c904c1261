"""DLPack's tensors in Python's capsules."""
import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_void_p

from ._errors import check
from ._library import NO_STREAM, lib

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

_api = ctypes.pythonapi
_DESTRUCTOR = ctypes.CFUNCTYPE(None, c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, _DESTRUCTOR)(("PyCapsule_New", _api))
# The capsule by its address: a destructor gets one that has no references.
_is_valid = ctypes.PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _api))
_rename = ctypes.PYFUNCTYPE(c_int, ctypes.py_object, c_char_p)(("PyCapsule_SetName", _api))

# A capsule keeps the address of its name. {name: name once the tensor was taken}
_legacy, _versioned = b"dltensor", b"dltensor_versioned"
_taken = {_legacy: b"used_dltensor", _versioned: b"used_dltensor_versioned"}
# Where the tensor has its deleter.
_deleter_at = {_legacy: 56, _versioned: 16}


@_DESTRUCTOR
def _destroy(capsule):
    for name, offset in _deleter_at.items():
        if _is_valid(capsule, name):
            tensor = _pointer(capsule, name)
            deleter = ctypes.cast(tensor + offset, POINTER(c_void_p))[0]
            if deleter:
                ctypes.CFUNCTYPE(None, c_void_p)(deleter)(tensor)


def take(state, value):
    """The handle of an array over the elements of an object with __dlpack__."""
    device = value.__dlpack_device__()[0]
    # 1: the legacy default stream, which also is the writer's in the call below.
    arguments = {"stream": 1} if device == CUDA else {}
    try:
        capsule = value.__dlpack__(max_version=(1, 0), **arguments)
    except TypeError:
        capsule = value.__dlpack__(**arguments)
    name = _versioned if _is_valid(id(capsule), _versioned) else _legacy
    tensor = _pointer(id(capsule), name)
    _rename(capsule, _taken[name])
    handle = c_void_p()
    function = lib.array_from_dlpack if name == _versioned else lib.array_from_dlpack_legacy
    check(function(state, tensor, None, ctypes.byref(handle)), state)
    return handle


def give(array, state, stream, max_version):
    """A capsule with a tensor over the elements of the array's handle."""
    # None and 1 are CUDA's legacy default stream, -1 is no stream.
    reader = NO_STREAM if stream == -1 else c_void_p(None if stream in (None, 0, 1) else stream)
    versioned = max_version is not None and max_version[0] >= 1
    tensor = c_void_p()
    function = lib.array_to_dlpack if versioned else lib.array_to_dlpack_legacy
    check(function(array, reader, ctypes.byref(tensor)), state)
    return _new(tensor, _versioned if versioned else _legacy, _destroy)


def address_of(capsule):
    """The address of the first element of a tensor of the form from before 1.0."""
    tensor = _pointer(id(capsule), _legacy)
    data, byte_offset = (ctypes.cast(tensor + offset, POINTER(ctypes.c_uint64))[0] for offset in (0, 40))
    return data + byte_offset


def device_of(name):
    """(type, number) of a device of ours."""
    kind, _, number = name.partition(":")
    return (CUDA, int(number or 0)) if kind == "cuda" else (CPU, 0)

"""DLPack's tensors in Python's capsules."""
import ctypes
import sys
from ctypes import POINTER, c_char_p, c_int, c_void_p

from ._errors import check
from ._library import NO_STREAM, lib

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

_api = ctypes.pythonapi
_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", _api))
_is_valid = ctypes.PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _api))
_rename = ctypes.PYFUNCTYPE(c_int, ctypes.py_object, c_char_p)(("PyCapsule_SetName", _api))

# A capsule keeps the address of its name. {name: name once the tensor was taken}
_legacy, _versioned = b"dltensor", b"dltensor_versioned"
_taken = {_legacy: b"used_dltensor", _versioned: b"used_dltensor_versioned"}
# Where the tensor has its deleter.
_Deleter = ctypes.CFUNCTYPE(None, c_void_p)
_deleter_at = {_legacy: 56, _versioned: 16}
# In a tensor of version 1.
_flags_at, _data_at, _byte_offset_at = 24, 32, 72
_is_read_only, _is_copied = 1, 2


# Capsules that their consumers may not have taken yet. A destructor in Python would not do: it may run while an exception is on its way,
# and would lose it. So a capsule is kept here, and swept when nobody else has it.
_given = []


def _references(items):
    return sys.getrefcount(items[-1])


_alone = _references([object()])


def sweep():
    """Deletes the tensors of capsules that were dropped and not taken."""
    global _given
    given, _given = _given, []
    kept = []
    while given:
        name = next((name for name in _deleter_at if _is_valid(id(given[-1]), name)), None)
        if name is None:
            given.pop()
        elif _references(given) > _alone:
            kept.append(given.pop())
        else:
            capsule = given.pop()
            delete(_pointer(id(capsule), name), name)
            _rename(capsule, _taken[name])
    _given.extend(kept)


def delete(tensor, name=_versioned):
    """Calls the tensor's deleter."""
    deleter = _Deleter.from_address(tensor + _deleter_at[name])
    if deleter:
        deleter(tensor)


def take(state, value):
    """The handle of an array over the elements of an object with __dlpack__."""
    device = value.__dlpack_device__()[0]
    # 1: the legacy default stream, which also is the writer's in the call below.
    arguments = {"stream": 1} if device == CUDA else {}
    try:
        capsule = value.__dlpack__(max_version=(1, 0), **arguments)
    except TypeError:
        capsule = value.__dlpack__(**arguments)
    name = next((name for name in _taken if _is_valid(id(capsule), name)), None)
    if name is None:
        taken = any(_is_valid(id(capsule), used) for used in _taken.values())
        raise TypeError(f"[from_dlpack] expected a capsule named 'dltensor' or 'dltensor_versioned' from {type(value).__name__}.__dlpack__, got " +
                        ("one whose tensor was taken before; each call of __dlpack__ gives a new one" if taken else repr(capsule)))
    tensor = _pointer(id(capsule), name)
    _rename(capsule, _taken[name])
    handle = c_void_p()
    function = lib.array_from_dlpack if name == _versioned else lib.array_from_dlpack_legacy
    check(function(state, tensor, None, ctypes.byref(handle)), state)
    return handle


def export(array, state, reader, name=_versioned):
    """The address of a tensor over the elements of the array's handle, which `delete` ends."""
    sweep()
    tensor = c_void_p()
    function = lib.array_to_dlpack if name == _versioned else lib.array_to_dlpack_legacy
    check(function(array, reader, ctypes.byref(tensor)), state)
    return tensor.value


def give(array, state, stream, max_version, copied):
    """A capsule with such a tensor. `copied`: nobody else has its elements."""
    # None and 1 are CUDA's legacy default stream, -1 is no stream.
    reader = NO_STREAM if stream == -1 else c_void_p(None if stream in (None, 0, 1) else stream)
    name = _versioned if max_version is not None and max_version[0] >= 1 else _legacy
    tensor = export(array, state, reader, name)
    if copied and name == _versioned:
        _words(tensor)[_flags_at // 8] |= _is_copied
    capsule = _new(tensor, name, None)
    _given.append(capsule)
    return capsule


def _words(tensor):
    return ctypes.cast(tensor, POINTER(ctypes.c_uint64))


def first_element(tensor):
    """(address, whether it is read-only) of the first element of a tensor of version 1."""
    words = _words(tensor)
    return words[_data_at // 8] + words[_byte_offset_at // 8], bool(words[_flags_at // 8] & _is_read_only)


def device_of(name):
    """(type, number) of a device of ours."""
    kind, _, number = name.partition(":")
    return (CUDA, int(number or 0)) if kind == "cuda" else (CPU, 0)

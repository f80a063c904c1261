"""NumPy's arrays as memory of ours, and the reverse."""
import ctypes
from ctypes import POINTER, Structure, byref, c_int, c_int64, c_void_p

from . import _dlpack, _library, _values
from ._dtype import dtype_of
from ._errors import check
from ._library import COPY, NO_STREAM, READ_ONLY, RELEASE, lib

# NumPy's arrays whose memory arrays of ours use, by their id.
_lent = {}
no_release = RELEASE()


@RELEASE
def _release(owner, lent=_lent):
    arrays = lent[owner]
    arrays.pop()
    if not arrays:
        del lent[owner]


# The library calls it also at the end of the interpreter, which has cleared this module by then.
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_release))
ctypes.pythonapi.Py_IncRef(ctypes.py_object(no_release))


class _Header(Structure):
    """What an array of NumPy has after the head of an object: the same since NumPy 1.0."""
    _fields_ = [("data", c_void_p), ("ndim", c_int), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64))]


_header_at = object.__basicsize__

# {dtype of NumPy: its name here} of those that have been seen.
_names = {}


def _name_of(value):
    """The name of the dtype in the machine's byte order; nothing in another one."""
    name = _names.get(value.dtype)
    if name is None or type(value).__name__ == "MaskedArray":
        _values.check_array(value)
        if value.dtype.isnative:
            name = _names[value.dtype] = str(value.dtype).encode()
    return name


def take(state, value, copies):
    """The handle of an array over NumPy's memory, or of a copy on the device. Without `copies` what a script writes is in `value`, or an
    error: the array is read-only as `value` is, and where it has to be converted."""
    name = _name_of(value)
    flags = value.flags
    how = COPY if copies else 0 if flags.writeable else READ_ONLY
    if copies or name is None or not flags.aligned:
        import numpy
        value, how = numpy.array(value, value.dtype.newbyteorder("="), order="C"), how or READ_ONLY
        name = _name_of(value)
    header, handle, owner = _Header.from_address(id(value) + _header_at), c_void_p(), None
    if not copies:
        owner = id(value)
        _lent.setdefault(owner, []).append(value)
    status = lib.array_host(state, header.data, name, header.ndim, header.shape, header.strides, no_release if copies else _release, owner,
                            how, byref(handle))
    if status != _library.OK:
        if not copies:
            _release(owner)
        check(status, state)
    return handle


class _Memory:
    """The memory of an array on the cpu device, which a tensor keeps, for a NumPy before 2.3: its from_dlpack makes arrays read-only. And
    for bfloat16, which from_dlpack does not take."""

    _tensor = None

    def __init__(self, array, typestr):
        self._tensor = _dlpack.export(array._handle, array._state._handle, NO_STREAM)
        self.__array_interface__ = {
            "version": 3, "shape": array.shape, "strides": array.strides, "typestr": typestr, "data": _dlpack.first_element(self._tensor),
        }

    def __del__(self):
        if self._tensor is not None:
            _dlpack.delete(self._tensor)


def give(array):
    """A NumPy array: over the same memory on the cpu device, a copy from a GPU. Waits."""
    import numpy
    name, on_host = array._dtype, array.device == "cpu"
    if on_host and name != "bfloat16" and tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 3):
        return numpy.from_dlpack(array)
    dtype = dtype_of(name)
    if on_host and array.size > 0:
        return numpy.asarray(_Memory(array, "<u2")).view(dtype) if name == "bfloat16" else numpy.asarray(_Memory(array, dtype.str))
    result = numpy.empty(array.shape, dtype)
    check(lib.array_copy_to(array._handle, result.ctypes.data, array.nbytes), array._state._handle)
    return result

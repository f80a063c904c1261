"""Arrays of numbers on a device."""
import ctypes

from . import _dlpack
from ._errors import Error, check
from ._library import ARGUMENT, NO_STREAM, lib


class _Memory:
    """The memory of an array on the cpu device, which a tensor keeps, for NumPy. NumPy's own from_dlpack may make it read-only, and
    takes no bool before 1.25."""

    _tensor = None

    def __init__(self, array):
        self._tensor = _dlpack.export(array._handle, array._state._handle, NO_STREAM)
        self.__array_interface__ = {
            "version": 3, "shape": array.shape, "strides": array.strides, "typestr": _numpy_dtype(array).str,
            "data": _dlpack.first_element(self._tensor),
        }

    def __del__(self):
        if self._tensor is not None:
            _dlpack.delete(self._tensor)


def _numpy_dtype(array):
    import numpy
    if array.dtype == "bfloat16":
        raise TypeError("expected an array of a dtype that NumPy has, got bfloat16; x:astype('float32') in Lua makes one")
    return numpy.dtype(array.dtype)


def _opened(value, failure):
    """What a function has said of an array, unless it is what closed handles get."""
    if value == failure:
        check(ARGUMENT, None)
    return value


class Array:
    """An array of a state. NumPy, CuPy and torch take it by DLPack, without a copy: numpy.from_dlpack(x), torch.from_dlpack(x)."""

    def __init__(self, state, handle):
        self._state, self._handle = state, handle

    def __del__(self):
        lib.array_release(self._handle)

    @property
    def shape(self):
        ndim, shape = self.ndim, lib.array_shape(self._handle)
        return tuple(shape[i] for i in range(ndim))

    @property
    def strides(self):
        """In bytes."""
        ndim, strides = self.ndim, lib.array_strides(self._handle)
        return tuple(strides[i] for i in range(ndim))

    @property
    def ndim(self):
        return _opened(lib.array_ndim(self._handle), -1)

    @property
    def size(self):
        return _opened(lib.array_size(self._handle), -1)

    @property
    def nbytes(self):
        return _opened(lib.array_nbytes(self._handle), -1)

    @property
    def dtype(self):
        """The name of the elements' type, such as "float32"."""
        return _opened(lib.array_dtype(self._handle), None).decode()

    @property
    def device(self):
        return _opened(lib.array_device_name(self._handle), None).decode()

    @property
    def pointer(self):
        """The address of the first element, once the work that computes the elements is queued."""
        pointer = ctypes.c_void_p()
        check(lib.array_evaluate(self._handle, NO_STREAM, ctypes.byref(pointer)), self._state._handle)
        return pointer.value

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __getitem__(self, key):
        """As NumPy's array has it. Waits."""
        return self.numpy()[key]

    def __iter__(self):
        return iter(self.numpy())

    def item(self):
        """The one element as a number of Python. Waits."""
        return self.numpy().item()

    def __repr__(self):
        try:
            return f"gpulua.Array {self.dtype}{list(self.shape)} {self.device}"
        except Error:
            return "gpulua.Array of a closed state"

    def __copy__(self):
        """An array of its own, with the same elements."""
        return self._state.load("return (...):copy()", "copy")(self)

    def __deepcopy__(self, _):
        return self.__copy__()

    def __reduce_ex__(self, _):
        raise TypeError("an array of a state cannot be pickled; x.numpy() gives one that can")

    def tobytes(self):
        """The elements in row-major order. Waits."""
        elements = ctypes.create_string_buffer(max(self.nbytes, 1))
        check(lib.array_copy_to(self._handle, elements, self.nbytes), self._state._handle)
        return elements.raw[:self.nbytes]

    def numpy(self):
        """A NumPy array: over the same memory on the cpu device, a copy from a GPU. Waits."""
        import numpy
        if self.device == "cpu" and self.size > 0:
            return numpy.asarray(_Memory(self))
        result = numpy.empty(self.shape, _numpy_dtype(self))
        check(lib.array_copy_to(self._handle, result.ctypes.data, self.nbytes), self._state._handle)
        return result

    def __array__(self, dtype=None, copy=None):
        result = self.numpy()
        is_converted = dtype is not None and result.dtype != dtype
        is_copied = self.device != "cpu"
        if copy is False and (is_converted or is_copied):
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        if is_converted:
            return result.astype(dtype)
        return result.copy() if copy and not is_copied else result

    def __dlpack_device__(self):
        return _dlpack.device_of(self.device)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("expected a tensor on the array's own device; x:to(device) in Lua makes another array")
        array = self.__copy__() if copy else self
        return _dlpack.give(array._handle, self._state._handle, stream, max_version, bool(copy))

"""Arrays of numbers on a device."""
import ctypes

from . import _dlpack
from ._errors import check
from ._library import NO_STREAM, lib


class _Memory:
    """The memory of an array on the cpu device, which a tensor keeps, for NumPy. NumPy's own from_dlpack may make it read-only, and
    takes no bool before 1.25."""

    def __init__(self, array):
        import numpy
        self._capsule = array.__dlpack__()
        self.__array_interface__ = {
            "version": 3, "shape": array.shape, "strides": array.strides, "typestr": numpy.dtype(array.dtype).str,
            "data": (_dlpack.address_of(self._capsule), False),
        }


class Array:
    """An array of a state. NumPy, CuPy and torch take it by DLPack, without a copy: numpy.from_dlpack(x), torch.from_dlpack(x)."""

    def __init__(self, state, handle):
        self._state, self._handle = state, handle

    def __del__(self):
        lib.array_release(self._handle)

    @property
    def shape(self):
        shape = lib.array_shape(self._handle)
        return tuple(shape[i] for i in range(self.ndim))

    @property
    def strides(self):
        """In bytes."""
        strides = lib.array_strides(self._handle)
        return tuple(strides[i] for i in range(self.ndim))

    @property
    def ndim(self):
        return lib.array_ndim(self._handle)

    @property
    def size(self):
        return lib.array_size(self._handle)

    @property
    def nbytes(self):
        return lib.array_nbytes(self._handle)

    @property
    def dtype(self):
        """The name of the elements' type, such as "float32"."""
        return lib.array_dtype(self._handle).decode()

    @property
    def device(self):
        return lib.array_device_name(self._handle).decode()

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
        return f"gpulua.Array {self.dtype}{list(self.shape)} {self.device}"

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
        result = numpy.empty(self.shape, self.dtype)
        check(lib.array_copy_to(self._handle, result.ctypes.data, self.nbytes), self._state._handle)
        return result

    def __array__(self, dtype=None, copy=None):
        result = self.numpy()
        if dtype is not None and result.dtype != dtype:
            return result.astype(dtype)
        return result.copy() if copy else result

    def __dlpack_device__(self):
        return _dlpack.device_of(self.device)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("expected a tensor over the array's own memory; x:copy() and x:to(device) in Lua make another array")
        return _dlpack.give(self._handle, self._state._handle, stream, max_version)

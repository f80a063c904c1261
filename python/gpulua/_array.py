"""Arrays of numbers on a device."""
import ctypes
import struct

from . import _dlpack, _index, _numpy, _options
from ._dtype import of_name
from ._errors import Error, check
from ._library import ARGUMENT, NO_STREAM, lib
from ._operators import Operators

# Of an element, for struct.
_formats = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
            "float16": "e", "bfloat16": "H", "float32": "f", "float64": "d", "complex64": "ff", "complex128": "dd"}

_most_shown = 1000  # elements in a repr


def _opened(value, failure):
    """What a function has said of an array, unless it is what closed handles get."""
    if value == failure:
        check(ARGUMENT, None)
    return value


class Array(Operators):
    """An array of a state, with the operators, properties and methods of an array of NumPy: indices and axes count from 0. NumPy, CuPy and
    torch take it by DLPack, without a copy: numpy.from_dlpack(x), torch.from_dlpack(x)."""

    __slots__ = ("_state", "_handle", "__weakref__")

    def __init__(self, state, handle):
        self._state, self._handle = state, handle

    def __del__(self):
        lib.array_release(self._handle)

    @property
    def shape(self):
        ndim = lib.array_ndim(self._handle)
        return tuple(lib.array_shape(self._handle)[:_opened(ndim, -1)])

    @shape.setter
    def shape(self, shape):
        raise AttributeError(f"[shape] expected x = x.reshape({shape}), got an assignment to x.shape")

    @property
    def strides(self):
        """In bytes."""
        ndim = lib.array_ndim(self._handle)
        return tuple(lib.array_strides(self._handle)[:_opened(ndim, -1)])

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
        """The elements' type, which equals its name: x.dtype == "float32"."""
        return of_name(self._dtype)

    @dtype.setter
    def dtype(self, dtype):
        raise AttributeError(f"[dtype] expected x = x.astype({dtype!r}), which converts, got an assignment to x.dtype")

    @property
    def _dtype(self):
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

    # ---- elements ----

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("[len] expected an array with axes, got one without, which is a number; x.size is 1")
        return self.shape[0]

    def __getitem__(self, key):
        """The elements at a key of NumPy, as an Array: a view, or for index arrays and masks a new one."""
        return _index.get(self, key)

    def __setitem__(self, key, value):
        _index.put(self, key, value)

    def __iter__(self):
        """The views at the positions of the first axis. Waits."""
        length = len(self)
        if self.size > 0:
            self.pointer  # the errors that the device has found
        return (self[i] for i in range(length))

    def _numbers(self):
        """All elements as numbers of Python, in row-major order. Waits."""
        dtype, data = self._dtype, self.tobytes()
        one = _formats[dtype]
        numbers = struct.unpack("=" + one[0] * (len(data) // struct.calcsize("=" + one[0])), data)
        if len(one) == 2:
            return [complex(*pair) for pair in zip(numbers[::2], numbers[1::2])]
        if dtype == "bfloat16":
            return [struct.unpack("<f", struct.pack("<I", bits << 16))[0] for bits in numbers]
        return list(numbers)

    @_options.by_name("item", position="; x[0].item() is the number at a position")
    def item(self):
        """The one element as a number of Python. Waits."""
        if self.size != 1:
            raise ValueError(f"[item] expected an array of one element, got one of {self.size}; x[0].item() is that of one position, x.tolist() "
                             "gives all, and functions of xp, such as xp.sin(x), take arrays")
        return self._numbers()[0]

    def tolist(self):
        """The elements as numbers of Python, in nested lists. Waits."""
        def nested(numbers, shape):
            if not shape:
                return numbers[0]
            step = len(numbers) // max(shape[0], 1)
            return [nested(numbers[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]
        return nested(self._numbers(), self.shape)

    def __repr__(self):
        """With the elements of a small array, as print shows them. Waits for these."""
        try:
            head = f"{self._dtype}{list(self.shape)} {self.device}"
            if self.size > _most_shown:
                return "gpulua.Array " + head
        except Error:
            return "gpulua.Array of a closed state"
        try:
            return "gpulua.Array " + str(self)
        except Error as error:
            return f"gpulua.Array {head}, whose elements are not there: {str(error).splitlines()[0]}"

    def __str__(self):
        """The elements, too. Waits."""
        return self._state._lua("tostring")(self)

    # ---- copies ----

    def __copy__(self):
        """An array of its own, with the same elements."""
        return self._state._lua("gpu.copy")(self)

    def __deepcopy__(self, _):
        return self.__copy__()

    def __reduce_ex__(self, _):
        raise TypeError("[pickle] expected an array that can be pickled, got one of a state; x.numpy() gives one")

    def tobytes(self):
        """The elements in row-major order. Waits."""
        size = _opened(lib.array_nbytes(self._handle), -1)
        elements = ctypes.create_string_buffer(max(size, 1))
        check(lib.array_copy_to(self._handle, elements, size), self._state._handle)
        return elements.raw[:size]

    def numpy(self):
        """A NumPy array: over the same memory on the cpu device, a copy from a GPU. Waits."""
        return _numpy.give(self)

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
        host = (_dlpack.CPU, 0)
        if dl_device not in (None, self.__dlpack_device__()) and (dl_device != host or copy is False):
            raise BufferError("[__dlpack__] expected a tensor on the array's own device, or a copy on the cpu; x.to_device(name) makes another array")
        array = self
        if dl_device == host and self.device != "cpu":
            array, copy = self.to_device("cpu"), True
        elif copy:
            array = self.__copy__()
        return _dlpack.give(array._handle, self._state._handle, stream, max_version, bool(copy))

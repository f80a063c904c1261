"""Functions of shapes: views where the strides allow them."""
import operator

from .axes import given, lua_axes, lua_axis, shape_of


class Shapes:
    """Functions that change how elements are arranged."""

    def broadcast_arrays(self, *arrays):
        shape = self.broadcast_shapes(*[x.shape for x in arrays])
        return [self.broadcast_to(x, shape) for x in arrays]

    def broadcast_shapes(self, *shapes):
        """The shape to which arrays of these shapes broadcast."""
        return tuple(map(int, self._lua("gpu.broadcast_shapes")(*map(shape_of, shapes)))) if shapes else ()

    def broadcast_to(self, x, /, shape):
        return self._lua("gpu.broadcast_to")(x, shape_of(shape))

    def concat(self, arrays, /, *, axis=0):
        arrays = list(arrays)
        if axis is None:
            arrays, axis = [self.reshape(x, (-1,)) for x in arrays], 0
        return self._lua("gpu.concat")(arrays, lua_axis(axis, arrays[0].ndim))

    def expand_dims(self, x, /, axis):
        axes = [axis] if hasattr(axis, "__index__") else axis
        return self._lua("gpu.expand_dims")(x, lua_axes(axes, x.ndim + len(axes)))

    def flip(self, x, /, *, axis=None):
        return self._lua("gpu.flip")(x, *given(lua_axes(axis, x.ndim)))

    def moveaxis(self, x, source, destination, /):
        return self._lua("gpu.moveaxis")(x, lua_axes(source, x.ndim), lua_axes(destination, x.ndim))

    def permute_dims(self, x, /, axes):
        axes = lua_axes(axes, x.ndim)
        return self._lua("gpu.permute")(x, axes) if axes else x

    def repeat(self, x, repeats, /, *, axis=None):
        if not isinstance(repeats, int):
            repeats = self._asarray(repeats).tolist()
        if axis is None:
            x, axis = self.reshape(x, (-1,)), 0
        return self._lua("gpu.repeat_interleave")(x, repeats, lua_axis(axis, x.ndim))

    def reshape(self, x, /, shape, *, copy=None):
        y = self._lua("gpu.reshape")(x, shape_of(shape))
        if copy is False and y.pointer != x.pointer:
            raise ValueError("expected an array whose strides allow a view in that shape for copy=False; copy=None copies where they do not")
        return y.copy() if copy else y

    def roll(self, x, /, shift, *, axis=None):
        shift = shift if hasattr(shift, "__index__") else list(shift)
        if axis is None:
            return self.reshape(self._lua("gpu.roll")(self.reshape(x, (-1,)), shift, 1), x.shape)
        axes = lua_axes(axis, x.ndim)
        if isinstance(axes, list) and not isinstance(shift, list):
            shift = [shift] * len(axes)
        return self._lua("gpu.roll")(x, shift, axes)

    def squeeze(self, x, /, axis=None):
        return self._lua("gpu.squeeze")(x, *given(lua_axes(axis, x.ndim)))

    def stack(self, arrays, /, *, axis=0):
        arrays = list(arrays)
        return self._lua("gpu.stack")(arrays, lua_axis(axis, arrays[0].ndim + 1))

    def tile(self, x, repetitions, /):
        return self._lua("gpu.tile")(x, shape_of(repetitions))

    def unstack(self, x, /, *, axis=0):
        axis = operator.index(axis)
        lua_axis(axis, x.ndim)
        before = (slice(None),) * (axis % x.ndim)
        return tuple(x[(*before, i)] for i in range(x.shape[axis]))

"""Axes that count from 0 as Lua counts them."""
import operator

from .._errors import OutOfRangeError


def lua_axis(axis, ndim):
    """Of one axis."""
    if not hasattr(axis, "__index__"):
        raise TypeError(f"expected an axis, an integer from {-ndim} to {ndim - 1}, got {axis!r}")
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise OutOfRangeError(f"expected an axis from {-ndim} to {ndim - 1} for an array of {ndim} axes, got {axis}")
    return axis % ndim + 1


def lua_axes(axes, ndim):
    """Of one axis, several, or None for all."""
    if axes is None or hasattr(axes, "__index__") or isinstance(axes, str):
        return None if axes is None else lua_axis(axes, ndim)
    axes = [lua_axis(axis, ndim) for axis in axes]
    if len(set(axes)) < len(axes):
        raise ValueError(f"expected each axis once, got {tuple(axis - 1 for axis in axes)}")
    return axes


def given(value):
    """An argument that is left out for None, as Lua's functions want it."""
    return () if value is None else (value,)


def shape_of(shape):
    """A list of a shape that is a number or a sequence."""
    try:
        return [operator.index(shape)] if hasattr(shape, "__index__") else [operator.index(size) for size in shape]
    except TypeError:
        raise TypeError(f"expected a shape, an integer or a sequence of integers, got {shape!r}") from None

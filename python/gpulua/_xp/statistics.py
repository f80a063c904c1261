"""Reductions and scans."""
from .axes import given, lua_axes, lua_axis
from .dtypes import name_of


class Statistics:
    """Functions over axes."""

    def _reduce(self, name, x, axis, keepdims, **options):
        axes = lua_axes(axis, x.ndim)
        if isinstance(axes, list):  # an empty one alone would be a table of options
            axes, options["axis"] = None, axes
        return self._lua(f"gpu.{name}")(x, *given(axes), keepdims=keepdims or None, **options)

    def sum(self, x, /, *, axis=None, dtype=None, keepdims=False):
        return self._reduce("sum", x, axis, keepdims, dtype=name_of(dtype))

    def prod(self, x, /, *, axis=None, dtype=None, keepdims=False):
        return self._reduce("prod", x, axis, keepdims, dtype=name_of(dtype))

    def mean(self, x, /, *, axis=None, keepdims=False):
        return self._reduce("mean", x, axis, keepdims)

    def std(self, x, /, *, axis=None, correction=0.0, keepdims=False):
        return self._reduce("std", x, axis, keepdims, ddof=correction)

    def var(self, x, /, *, axis=None, correction=0.0, keepdims=False):
        return self._reduce("var", x, axis, keepdims, ddof=correction)

    def max(self, x, /, *, axis=None, keepdims=False):
        return self._reduce("max", x, axis, keepdims)

    def min(self, x, /, *, axis=None, keepdims=False):
        return self._reduce("min", x, axis, keepdims)

    def all(self, x, /, *, axis=None, keepdims=False):
        return self._reduce("all", x, axis, keepdims)

    def any(self, x, /, *, axis=None, keepdims=False):
        return self._reduce("any", x, axis, keepdims)

    def count_nonzero(self, x, /, *, axis=None, keepdims=False):
        return self._reduce("count_nonzero", x, axis, keepdims)

    def _scan(self, name, first, x, axis, dtype, include_initial):
        if axis is None:
            if x.ndim != 1:
                raise ValueError(f"expected an axis for an array of {x.ndim} axes, got None")
            axis = 0
        y = self._lua(f"gpu.{name}")(x, lua_axis(axis, x.ndim), dtype=name_of(dtype))
        if not include_initial:
            return y
        shape = list(y.shape)
        shape[axis] = 1
        return self.concat([self.full(shape, first, dtype=y.dtype, device=y.device), y], axis=axis)

    def cumulative_sum(self, x, /, *, axis=None, dtype=None, include_initial=False):
        return self._scan("cumsum", 0, x, axis, dtype, include_initial)

    def cumulative_prod(self, x, /, *, axis=None, dtype=None, include_initial=False):
        return self._scan("cumprod", 1, x, axis, dtype, include_initial)

    def diff(self, x, /, *, axis=-1, n=1, prepend=None, append=None):
        return self._lua("gpu.diff")(x, n, lua_axis(axis, x.ndim), prepend=prepend, append=append)

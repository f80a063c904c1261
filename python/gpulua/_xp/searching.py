"""Searching, sorting, sets and positions."""
from typing import NamedTuple

from .axes import given, lua_axes, lua_axis


class UniqueAll(NamedTuple):
    """Of unique_all."""
    values: object
    indices: object
    inverse_indices: object
    counts: object


class UniqueCounts(NamedTuple):
    """Of unique_counts."""
    values: object
    counts: object


class UniqueInverse(NamedTuple):
    """Of unique_inverse."""
    values: object
    inverse_indices: object


# Positions of 0 and more, or from the end.
_positions = "function(k) k = k:astype('int64') return gpu.where(k:lt(0), k, k + 1) end"


class Searching:
    """Functions that find, sort or take elements."""

    def argmax(self, x, /, *, axis=None, keepdims=False):
        return self._lua("gpu.argmax")(x, *given(lua_axes(axis, x.ndim)), keepdims=keepdims or None) - 1

    def argmin(self, x, /, *, axis=None, keepdims=False):
        return self._lua("gpu.argmin")(x, *given(lua_axes(axis, x.ndim)), keepdims=keepdims or None) - 1

    def argsort(self, x, /, *, axis=-1, descending=False, stable=True):
        return self._lua("gpu.argsort")(x, lua_axis(axis, x.ndim), descending=descending or None) - 1

    def sort(self, x, /, *, axis=-1, descending=False, stable=True):
        return self._lua("gpu.sort")(x, lua_axis(axis, x.ndim), descending=descending or None)

    def nonzero(self, x, /):
        positions = self._lua("gpu.nonzero")(x)
        return tuple(p - 1 for p in (positions if isinstance(positions, tuple) else (positions,)))

    def searchsorted(self, x1, x2, /, *, side="left", sorter=None):
        if sorter is not None:
            sorter = self._lua(_positions)(sorter)
        return self._lua("gpu.searchsorted")(x1, x2, side=side, sorter=sorter) - 1

    def where(self, condition, x1, x2, /):
        return self._lua("gpu.where")(condition, x1, x2)

    def take(self, x, indices, /, *, axis=None):
        if axis is None:
            if x.ndim != 1:
                raise ValueError(f"expected an axis for an array of {x.ndim} axes, got None")
            axis = 0
        return self._lua("gpu.take")(x, self._lua(_positions)(self._asarray(indices)), lua_axis(axis, x.ndim))

    def take_along_axis(self, x, indices, /, *, axis=-1):
        return self._lua("gpu.take_along_axis")(x, self._lua(_positions)(indices), lua_axis(axis, x.ndim))

    def isin(self, x1, x2, /, *, assume_unique=False, invert=False):
        """Whether each element is one of x2's. Of the standard's next version."""
        return self._lua("gpu.isin")(x1, x2, invert=invert)

    def _unique(self, x, *results):
        found = self._lua("gpu.unique")(x, equal_nan=False, **{f"return_{name}": True for name in results})
        found = found if isinstance(found, tuple) else (found,)
        return [found[0], *(y if name == "counts" else y - 1 for name, y in zip(results, found[1:]))]

    def unique_all(self, x, /):
        return UniqueAll(*self._unique(x, "index", "inverse", "counts"))

    def unique_counts(self, x, /):
        return UniqueCounts(*self._unique(x, "counts"))

    def unique_inverse(self, x, /):
        return UniqueInverse(*self._unique(x, "inverse"))

    def unique_values(self, x, /):
        return self._unique(x)[0]

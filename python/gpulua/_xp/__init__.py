"""Python's array API standard, version 2024.12, by the functions of a state. Each module here has the functions of one of its topics; most
are tables of names. Axes, indices and positions count from 0 here, and from 1 in Lua."""
import math
import types
import weakref

from .._border import hide_frames
from .advice import Missing, advise
from .creation import Creation
from .dtypes import DTypes
from .elementwise import Elementwise
from .fft import Fft
from .info import Info
from .linalg import Linalg, Products
from .searching import Searching
from .shapes import Shapes
from .statistics import Statistics

for _class in (Creation, DTypes, Elementwise, Fft, Linalg, Products, Searching, Shapes, Statistics):
    advise(_class)
    hide_frames(_class)

_versions = ["2021.12", "2022.12", "2023.12", "2024.12"]


class Namespace(Creation, DTypes, Elementwise, Products, Searching, Shapes, Statistics, Missing):
    """The functions of the standard for arrays of one state. `state`: the state, or a function that makes it at first use."""

    __name__ = "gpulua.xp"
    __array_api_version__ = "2024.12"
    e, inf, nan, pi, newaxis = math.e, math.inf, math.nan, math.pi, None

    def __init__(self, state):
        self._made, self.linalg, self.fft = None, Linalg(self), Fft(self)
        self._make = state if isinstance(state, types.FunctionType) else None
        if self._make is None:
            self._take(state)

    def _take(self, state):
        self._made = state
        state._namespace_reference = weakref.ref(self)

    def __repr__(self):
        return f"<namespace {self.__name__}>"

    def __dir__(self):
        return [name for name in super().__dir__() if not name.startswith("_")] + ["__array_api_version__", "__array_namespace_info__"]

    @property
    def _is_open(self):
        return self._made is not None

    @property
    def _state(self):
        if self._made is None:
            self._take(self._make())
        return self._made

    def _lua(self, text):
        return self._state._lua(text)

    def _of_version(self, version):
        if version is not None and version not in _versions:
            raise ValueError(f"expected a version of the standard up to {_versions[-1]}, got {version!r}")
        return self

    def __array_namespace_info__(self):
        return Info(self)

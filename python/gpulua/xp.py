"""The namespace of Python's array API standard: `from gpulua import xp`. Its state is made at first use, on the default device."""
import sys

from ._state import State
from ._xp import Namespace

sys.modules[__name__] = Namespace(lambda: State(default_dtype="float64"))

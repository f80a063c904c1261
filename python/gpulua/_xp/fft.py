"""Fourier transforms."""
from .advice import Part
from .axes import given, lua_axes, lua_axis
from .dtypes import name_of

_one_axis = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
_several_axes = ["fftn", "ifftn", "rfftn", "irfftn"]


def _along_axis(name):
    text = f"gpu.fft.{name}"

    def function(self, x, /, *, n=None, axis=-1, norm="backward"):
        return self._lua(text)(x, n=n, axis=lua_axis(axis, x.ndim), norm=norm)
    return function


def _along_axes(name):
    text = f"gpu.fft.{name}"

    def function(self, x, /, *, s=None, axes=None, norm="backward"):
        return self._lua(text)(x, s=None if s is None else list(s), axes=None if axes is None else lua_axes(list(axes), x.ndim), norm=norm)
    return function


class Fft(Part):
    """The functions of xp.fft."""
    _folder = ".fft"

    def fftfreq(self, n, /, *, d=1.0, dtype=None, device=None):
        return self._frequencies("fftfreq", n, d, dtype, device)

    def rfftfreq(self, n, /, *, d=1.0, dtype=None, device=None):
        return self._frequencies("rfftfreq", n, d, dtype, device)

    def _frequencies(self, name, n, d, dtype, device):
        dtype = name_of(dtype) or self._lua("gpu.default_dtype")()
        return self._lua(f"gpu.fft.{name}")(n, d, dtype=dtype, device=device)

    def fftshift(self, x, /, *, axes=None):
        return self._lua("gpu.fft.fftshift")(x, *given(lua_axes(axes, x.ndim)))

    def ifftshift(self, x, /, *, axes=None):
        return self._lua("gpu.fft.ifftshift")(x, *given(lua_axes(axes, x.ndim)))


for _names, _maker in ((_one_axis, _along_axis), (_several_axes, _along_axes)):
    for _name in _names:
        _function = _maker(_name)
        _function.__name__ = _function.__qualname__ = _name
        setattr(Fft, _name, _function)

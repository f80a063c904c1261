"""Products and linear algebra."""
from typing import NamedTuple

from .advice import Part
from .axes import lua_axes, lua_axis


class EighResult(NamedTuple):
    """Of eigh."""
    eigenvalues: object
    eigenvectors: object


class QRResult(NamedTuple):
    """Of qr."""
    Q: object
    R: object


class SlogdetResult(NamedTuple):
    """Of slogdet."""
    sign: object
    logabsdet: object


class SVDResult(NamedTuple):
    """Of svd."""
    U: object
    S: object
    Vh: object


class Products:
    """Products of vectors and matrices."""

    def matmul(self, x1, x2, /):
        return self._lua("gpu.matmul")(x1, x2)

    def matrix_transpose(self, x, /):
        return self._lua("gpu.linalg.matrix_transpose")(x)

    def tensordot(self, x1, x2, /, *, axes=2):
        if not hasattr(axes, "__index__"):
            axes = [[lua_axis(axis, x.ndim) for axis in part] for part, x in zip(axes, (x1, x2))]
        return self._lua("gpu.tensordot")(x1, x2, axes)

    def vecdot(self, x1, x2, /, *, axis=-1):
        ndim = min(x1.ndim, x2.ndim)
        if not -ndim <= axis < 0:
            raise ValueError(f"expected an axis from {-ndim} to -1, got {axis}")
        return self._lua("gpu.vecdot")(x1, x2, axis)


def _of_matrix(name):
    """A function of a matrix, or a batch of them, alone."""
    text = f"gpu.linalg.{name}"

    def function(self, x, /):
        return self._lua(text)(x)
    function.__name__ = function.__qualname__ = name
    return function


class Linalg(Part):
    """The functions of xp.linalg."""
    _folder = ".linalg"

    matmul, matrix_transpose, tensordot, vecdot = Products.matmul, Products.matrix_transpose, Products.tensordot, Products.vecdot

    def cholesky(self, x, /, *, upper=False):
        return self._lua("gpu.linalg.cholesky")(x, upper=upper)

    def cross(self, x1, x2, /, *, axis=-1):
        ndim = min(x1.ndim, x2.ndim)
        if not -ndim <= axis < 0:
            raise ValueError(f"expected an axis from {-ndim} to -1, got {axis}")
        return self._lua("gpu.cross")(x1, x2, axis)

    def diagonal(self, x, /, *, offset=0):
        return self._lua("gpu.diagonal")(x, offset, -2, -1)

    def eigh(self, x, /):
        return EighResult(*self._lua("gpu.linalg.eigh")(x))

    def matrix_norm(self, x, /, *, keepdims=False, ord="fro"):
        return self._lua("gpu.linalg.matrix_norm")(x, ord, keepdims=keepdims)

    def matrix_power(self, x, n, /):
        return self._lua("gpu.linalg.matrix_power")(x, n)

    def matrix_rank(self, x, /, *, rtol=None):
        return self._lua("gpu.linalg.matrix_rank")(x, rtol=self._tolerance(rtol))

    def _tolerance(self, rtol):
        """As an array, which may have any values."""
        return None if rtol is None else self._namespace._asarray(rtol)

    def outer(self, x1, x2, /):
        return self._lua("gpu.outer")(x1, x2)

    def pinv(self, x, /, *, rtol=None):
        return self._lua("gpu.linalg.pinv")(x, rcond=self._tolerance(rtol))

    def qr(self, x, /, *, mode="reduced"):
        return QRResult(*self._lua("gpu.linalg.qr")(x, mode))

    def slogdet(self, x, /):
        return SlogdetResult(*self._lua("gpu.linalg.slogdet")(x))

    def solve(self, x1, x2, /):
        return self._lua("gpu.linalg.solve")(x1, x2)

    def svd(self, x, /, *, full_matrices=True):
        return SVDResult(*self._lua("gpu.linalg.svd")(x, full_matrices))

    def trace(self, x, /, *, offset=0, dtype=None):
        return self._namespace.sum(self.diagonal(x, offset=offset), axis=-1, dtype=dtype)

    def vector_norm(self, x, /, *, axis=None, keepdims=False, ord=2):
        return self._lua("gpu.linalg.vector_norm")(x, order=ord, axis=lua_axes(axis, x.ndim), keepdims=keepdims)


for _name in ("det", "eigvalsh", "inv", "svdvals"):
    setattr(Linalg, _name, _of_matrix(_name))

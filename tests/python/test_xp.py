"""The namespace of Python's array API, and the operators of arrays. NumPy is the reference."""
import operator
import subprocess
import sys
import unittest

import numpy as np

import gpulua
from gpulua import xp

real = ["int8", "int64", "uint32", "float64"]


class Case(unittest.TestCase):
    def same(self, got, expected, **tolerance):
        expected = np.asarray(expected)
        self.assertEqual((got.shape, got.dtype), (expected.shape, str(expected.dtype)))
        (np.testing.assert_allclose if tolerance else np.testing.assert_array_equal)(got.numpy(), expected, **tolerance)


class Operators(Case):
    def test_binary(self):
        for dtype in real:
            a, b = np.array([7, 2, 9, 5], dtype), np.array([2, 3, 4, 5], dtype)
            x, y = xp.asarray(a), xp.asarray(b)
            for apply in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow, operator.eq, operator.ne,
                          operator.lt, operator.le, operator.gt, operator.ge, operator.matmul):
                self.same(apply(x, y), apply(a, b))
                if apply is not operator.matmul:
                    self.same(apply(x, 3), apply(a, a.dtype.type(3)))
                    self.same(apply(3, x), apply(a.dtype.type(3), a))
                    self.same(apply(x, b), apply(a, b))
                    self.same(apply(a, y), apply(a, b))
            if "int" in dtype:
                for apply in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
                    self.same(apply(x, y), apply(a, b))
                    self.same(apply(x, 1), apply(a, a.dtype.type(1)))
                self.same(~x, ~a)
            else:
                self.same(x / y, a / b)
                self.same(1 / x, a.dtype.type(1) / a)
            for apply in (operator.neg, operator.pos, abs):
                self.same(apply(x), apply(a))
        self.same(xp.asarray([True, False]) ^ True, [False, True])
        self.same(xp.asarray([1.5, 2]) * (1 + 2j), np.array([1.5, 2]) * (1 + 2j))
        self.same(2 ** xp.asarray([1.0, 3]), [2.0, 8])
        with self.assertRaises(TypeError):
            xp.ones(2) + "a"
        self.assertFalse(xp.ones(2) == None)  # noqa: E711

    def test_in_place(self):
        a = np.arange(1.0, 5)
        x = given = xp.asarray(a)  # over NumPy's memory
        x += 1
        x *= np.array([1.0, 2, 3, 4])
        x -= x
        x -= 2
        x **= 2
        x /= 2
        x //= 1
        x %= 2
        self.assertIs(x, given)
        self.assertEqual(x.tolist(), [0, 0, 0, 0])
        if x.device == "cpu":
            np.testing.assert_array_equal(a, [0, 0, 0, 0])
        n = xp.asarray([6, 5])
        n <<= 2
        n >>= 1
        n |= 1
        n &= 29
        n ^= 3
        self.assertEqual(n.tolist(), [14, 10])
        m = xp.asarray([[1, 2], [3, 4]])
        m @= m
        self.assertEqual(m.tolist(), [[7, 10], [15, 22]])

    def test_numbers(self):
        self.assertEqual((int(xp.asarray(3)), float(xp.asarray(2)), complex(xp.asarray(1j)), bool(xp.asarray([0]))), (3, 2.0, 1j, False))
        self.assertEqual("abc"[xp.asarray(1)], "b")
        for use, error in [(lambda: bool(xp.ones(2)), ValueError), (lambda: int(xp.ones(2)), ValueError), (lambda: "abc"[xp.asarray(1.0)], TypeError),
                           (lambda: float(xp.asarray(1j)), TypeError), (lambda: hash(xp.ones(1)), TypeError), (lambda: len(xp.ones(())), TypeError)]:
            with self.assertRaises(error):
                use()
        for dtype, value in [("float16", 0.5), ("bfloat16", -2.5), ("uint64", 2**64 - 1), ("int64", -2**63), ("complex64", 1 - 2j), ("bool", True)]:
            self.assertEqual(xp.full((1, 1), value, dtype=dtype).item(), value)
            self.assertEqual(xp.full((2, 1), value, dtype=dtype).tolist(), [[value], [value]])
        self.assertEqual(xp.zeros((2, 0)).tolist(), [[], []])

    def test_methods(self):
        a = np.arange(24.0).reshape(2, 3, 4)
        x = xp.asarray(a)
        for name in ("sum", "prod", "mean", "std", "var", "min", "max", "argmin", "argmax", "any", "all"):
            self.same(getattr(x, name)(), getattr(a, name)(), rtol=1e-14)
            self.same(getattr(x, name)(1), getattr(a, name)(1), rtol=1e-14)
            self.same(getattr(x, name)(axis=-1, keepdims=True), getattr(a, name)(axis=-1, keepdims=True), rtol=1e-14)
        for axis in ((), (0, 2), (-1, 0), (1,)):
            self.same(x.sum(axis), a.sum(axis))
            self.same(xp.max(x, axis=axis, keepdims=True), a.max(axis, keepdims=True))
        self.same(x.cumsum(axis=1), a.cumsum(axis=1))
        for function in (np.sum, np.mean, np.max, np.reshape):  # which call the methods
            arguments = (a.shape[::-1],) if function is np.reshape else ()
            self.assertEqual(np.asarray(function(x, *arguments)).tolist(), function(a, *arguments).tolist())
        for use in (lambda x: x.T, lambda x: x.mT if hasattr(x, "mT") else x.swapaxes(1, 2), lambda x: x.real, lambda x: x.imag,
                    lambda x: x.reshape(4, 6), lambda x: x.reshape((-1, 2)), lambda x: x.transpose(2, 0, 1), lambda x: x.transpose(),
                    lambda x: x.ravel(), lambda x: x.flatten(), lambda x: x.astype("int32"), lambda x: x[:1].squeeze(0), lambda x: x.copy(),
                    lambda x: x[0].dot(x[0].T), lambda x: x.take(np.array([2, 0]), axis=1), lambda x: x.repeat(2, axis=0), lambda x: x.conj(),
                    lambda x: x.argsort(axis=1) if isinstance(x, gpulua.Array) else x.argsort(1), lambda x: x.round()):
            self.same(use(x), use(a))
        self.assertEqual([p.tolist() for p in (x > 21).nonzero()], [p.tolist() for p in (a > 21).nonzero()])
        self.assertIs(x.__array_namespace__(), xp)
        self.assertIn("[0 1 2]", str(xp.arange(3)))
        with self.assertRaisesRegex(ValueError, "got '2030.12'"):
            x.__array_namespace__(api_version="2030.12")


class Keys(Case):
    def test_reads_and_writes(self):
        a = np.arange(60).reshape(3, 4, 5)
        x = xp.asarray(a.copy())
        rows, columns = np.array([2, 0, -1]), np.array([1, -4, 3])
        keys = [0, -1, (1, 2), (1, 2, 3), slice(None, None, -1), slice(1, 0), slice(-2, None), (slice(None), slice(3, None, -2)), ..., (..., 0), None,
                (None, 1, ..., None), (slice(5, 9), 0), rows, (rows, columns), (slice(None), rows), (rows, slice(None), columns), ([0, 2], 1),
                a > 30, (a > 30)[:, :, 0], (1, (a > 30)[0]), (slice(0, 2), slice(4, 1, -1), slice(0, 100, 3)), (), np.int64(1), np.array(2)]
        for key in keys:
            ours = tuple(map(self.given, key)) if isinstance(key, tuple) else self.given(key)
            self.same(x[ours], a[key])
            b, y = a.copy(), xp.asarray(a.copy())
            b[key] = -7
            y[ours] = -7
            self.same(y, b)
            if a[key].size:
                b[key] = np.arange(a[key].size).reshape(a[key].shape)
                y[ours] = xp.reshape(xp.arange(a[key].size), a[key].shape)
                if not isinstance(key, tuple) or not any(isinstance(part, np.ndarray) for part in key):
                    self.same(y, b)
        zero = xp.asarray(5)
        self.assertEqual((zero[True].tolist(), zero[False].tolist(), zero[()].item()), ([5], [], 5))
        zero[True], zero[False] = 6, 7
        self.assertEqual(zero.item(), 6)
        self.assertEqual(x[0, 0, 0].ndim, 0)

    def given(self, part):
        return xp.asarray(part) if isinstance(part, np.ndarray) and part.ndim > 0 else part

    def test_errors(self):
        x = xp.zeros((3, 4))
        for use, error in [(lambda: x[3], IndexError), (lambda: x[0, 0, 0], IndexError), (lambda: x["a"], IndexError), (lambda: x[1.5], IndexError),
                           (lambda: x[..., ...], IndexError), (lambda: x[xp.ones(3)], IndexError), (lambda: x[xp.ones(4, dtype=xp.bool)], IndexError),
                           (lambda: x[xp.asarray([5])].numpy(), IndexError), (lambda: x.__setitem__(0, xp.ones(3)), ValueError),
                           (lambda: x + xp.ones(3), ValueError), (lambda: xp.sum(x, axis=2), IndexError), (lambda: xp.sum(x, axis=(0, 0)), ValueError),
                           (lambda: xp.reshape(x, (5,)), ValueError), (lambda: x & x, TypeError), (lambda: xp.ones(2, dtype="nope"), TypeError)]:
            with self.assertRaises(error) as caught:
                use()
            self.assertIsInstance(caught.exception, (gpulua.Error, TypeError, ValueError))


class Functions(Case):
    def test_creation(self):
        for ours, theirs in [(xp.asarray([1, 2]), np.array([1, 2])), (xp.asarray([[1.5], [2]]), np.array([[1.5], [2]])), (xp.asarray(True), np.array(True)),
                             (xp.asarray([np.ones(2), [3, 4]]), np.array([np.ones(2), [3, 4]])),
                             (xp.asarray([1j, 2]), np.array([1j, 2])), (xp.asarray([True, 2]), np.array([1, 2])), (xp.asarray([]), np.array([])),
                             (xp.asarray(2**64 - 1), np.array(2**64 - 1)), (xp.asarray(memoryview(b"ab")), np.array([97, 98], "uint8")),
                             (xp.asarray([1e300, -1], dtype="float32"), np.array([np.inf, -1], "float32")), (xp.arange(5), np.arange(5)),
                             (xp.arange(1, 8, 3), np.arange(1, 8, 3)), (xp.arange(5, 0, -2, dtype="float32"), np.arange(5, 0, -2, dtype="float32")),
                             (xp.arange(0.0, 1, 0.25), np.arange(0, 1, 0.25)), (xp.linspace(0, 1, 5), np.linspace(0, 1, 5)),
                             (xp.linspace(0, 1, 4, endpoint=False), np.linspace(0, 1, 4, endpoint=False)), (xp.eye(2, 3, k=1), np.eye(2, 3, k=1)),
                             (xp.linspace(0, 1 + 2j, 3), np.linspace(0, 1 + 2j, 3)),
                             (xp.full(2, 3), np.full(2, 3)), (xp.full_like(xp.ones(2), 1.5), np.full(2, 1.5)), (xp.zeros((2, 0)), np.zeros((2, 0)))]:
            self.same(ours, theirs)
        a = np.ones(3)
        if xp.ones(1).device == "cpu":
            self.assertEqual(xp.asarray(a).pointer, a.ctypes.data)
        self.assertNotEqual(xp.asarray(a, copy=True).pointer, a.ctypes.data)
        x = xp.asarray(a)
        self.assertIs(xp.asarray(x), x)
        for use in (lambda: xp.asarray([1], copy=False), lambda: xp.asarray(x, dtype="int8", copy=False), lambda: xp.asarray([[1], [2, 3]])):
            with self.assertRaises(ValueError):
                use()
        with self.assertRaises(TypeError):
            xp.asarray(["a"])
        with self.assertRaises(OverflowError):
            xp.asarray([300], dtype="uint8")

    def test_axes_and_positions_from_0(self):
        a = np.array([[3.0, 1, 2], [6, 5, 4]])
        x = xp.asarray(a)
        self.same(xp.argmax(x, axis=1), a.argmax(axis=1))
        self.same(xp.argsort(x, axis=1, descending=True), np.argsort(-a, axis=1))
        self.same(xp.take(x, xp.asarray([2, -3, 0]), axis=1), np.take(a, [2, -3, 0], axis=1))
        self.same(xp.take_along_axis(x, xp.argsort(x), axis=-1), np.sort(a))
        v = np.array([5.0, 1, 3])
        order = np.argsort(v)
        for side in ("left", "right"):
            self.same(xp.searchsorted(xp.asarray(v), xp.asarray([0.0, 3, 9]), side=side, sorter=xp.asarray(order)),
                      np.searchsorted(v, [0.0, 3, 9], side=side, sorter=order))
        self.same(xp.cumulative_sum(x, axis=0, include_initial=True), np.concatenate([np.zeros((1, 3)), a.cumsum(axis=0)]))
        self.same(xp.cumulative_prod(xp.asarray(v), include_initial=True), [1.0, 5, 5, 15])
        self.same(xp.linalg.trace(xp.asarray([[1, 2], [3, 4]], dtype="int8"), dtype="float64"), 5.0)
        self.same(xp.roll(x, (1, -1), axis=(0, 1)), np.roll(a, (1, -1), axis=(0, 1)))
        self.same(xp.moveaxis(xp.ones((2, 3, 4)), (0, 1), (-1, 0)), np.moveaxis(np.ones((2, 3, 4)), (0, 1), (-1, 0)))
        self.same(xp.tensordot(x, x, axes=([1], [1])), np.tensordot(a, a, axes=([1], [1])))
        self.same(xp.fft.fft(x, axis=0), np.fft.fft(a, axis=0), atol=1e-14)
        self.same(xp.fft.fftshift(x, axes=1), np.fft.fftshift(a, axes=1))
        self.same(xp.vecdot(x, x), (a * a).sum(axis=1))

    def test_sets(self):
        values = np.array([3, np.nan, 1, np.nan, 3])
        found = xp.unique_all(xp.asarray(values))
        self.same(found.values, [1, 3, np.nan, np.nan])
        self.assertEqual((found.indices.tolist(), found.inverse_indices.tolist(), found.counts.tolist()), ([2, 0, 1, 3], [1, 2, 0, 3, 1], [1, 2, 1, 1]))
        z = np.array([1 + 2j, 5j, 1 - 2j, 1 + 2j])
        self.same(xp.unique_values(xp.asarray(z)), np.unique(z))
        self.same(xp.isin(xp.asarray([1, 2]), xp.asarray([2])), [False, True])
        self.same(xp.isin(2, xp.asarray([2])), True)

    def test_dtypes(self):
        self.assertEqual((repr(xp.float32), xp.float32 == "float32", xp.float32 == np.dtype("float32"), np.dtype(xp.int16)),
                         ("float32", True, True, np.dtype("int16")))
        for name in ("float32", "float64"):
            ours, theirs = xp.finfo(getattr(xp, name)), np.finfo(name)
            for field in ("bits", "eps", "max", "min", "smallest_normal"):
                self.assertEqual(getattr(ours, field), getattr(theirs, field))
        self.assertEqual(xp.finfo(xp.complex64), xp.finfo(xp.float32))
        self.assertEqual((xp.iinfo(xp.int8).min, xp.iinfo("uint64").max), (-128, 2**64 - 1))
        self.assertTrue(xp.isdtype(xp.int8, ("bool", "signed integer")))
        self.assertFalse(xp.isdtype(xp.bool, "numeric"))
        self.assertEqual(xp.result_type(xp.int8, xp.uint8, xp.ones(1, dtype="int32")), "int32")
        self.assertEqual(xp.result_type(xp.ones(1, dtype="float32"), 1.5), "float32")
        for use in (lambda: xp.finfo("int8"), lambda: xp.iinfo("bool"), lambda: xp.astype(xp.ones(1, dtype="complex64"), "float32"),
                    lambda: xp.ones(1, dtype=object)):
            with self.assertRaises(TypeError):
                use()
        info = xp.__array_namespace_info__()
        self.assertEqual(info.default_dtypes()["real floating"], xp.float64)
        self.assertIn(info.default_device(), info.devices())

    def test_linalg(self):
        a = np.array([[4.0, 1], [1, 3]])
        x = xp.asarray(a)
        self.same(xp.linalg.inv(x), np.linalg.inv(a), rtol=1e-14)
        self.same(xp.linalg.solve(x, xp.asarray([1.0, 2])), np.linalg.solve(a, [1.0, 2]), rtol=1e-14)
        w, v = xp.linalg.eigh(x)
        self.same(v @ (w[:, None] * v.mT), a, rtol=1e-14)
        q = xp.linalg.qr(x)
        self.same(q.Q @ q.R, a, rtol=1e-14)
        self.same(xp.linalg.vector_norm(x, axis=0, keepdims=True, ord=1), np.linalg.norm(a, 1, axis=0, keepdims=True))
        batch = xp.stack([x, x])
        self.assertEqual(xp.linalg.matrix_rank(batch, rtol=xp.asarray([0.0, 2])).tolist(), [2, 0])
        with self.assertRaises(IndexError):
            xp.linalg.vector_norm(x, axis=5)


class States(Case):
    def test_namespaces(self):
        with gpulua.State("cpu") as state:
            ours = gpulua.namespace(state)
            x = ours.ones(3)
            self.assertEqual((x.dtype, xp.ones(3).dtype), ("float32", "float64"))
            self.assertIs(x.__array_namespace__(), ours)
            self.assertIsNot(ours, xp)
            with self.assertRaisesRegex(gpulua.Error, "of this state"):
                xp.sum(x)
            kept = gpulua.namespace(gpulua.State("cpu"))
        self.assertEqual(kept.ones(2).sum().item(), 2)

    def test_end_of_the_process(self):
        code = """
import numpy
from gpulua import xp
import gpulua.xp
assert gpulua.xp is xp
a = numpy.ones(3)
x, y = xp.asarray(a), xp.asarray(a) + 1
view = x.numpy()
xp.cycle = [x]
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()

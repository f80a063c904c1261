"""The package gpulua at the border to Python: scalars, and memory that both sides have. NumPy is the reference."""
import unittest

import numpy as np

import gpulua


class Scalars(unittest.TestCase):
    def setUp(self):
        self.state = gpulua.State("cpu")
        self.kind = self.state.eval("function(v) return type(v), tostring(v), v and true or false end")
        self.same = self.state.eval("function(...) return ... end")

    def tearDown(self):
        self.state.close()

    def test_booleans(self):
        self.assertEqual(self.kind(np.bool_(False)), ("boolean", "false", False))
        self.assertEqual(self.kind(np.bool_(True)), ("boolean", "true", True))
        self.assertEqual(self.kind((np.arange(3) > 5).any()), ("boolean", "false", False))

    def test_integers(self):
        for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
            for value in (0, np.iinfo(kind).max, np.iinfo(kind).max // 2, np.iinfo(kind).min):
                self.assertEqual(self.same(kind(value)), int(value), kind)
        self.assertEqual(self.same(np.int64(2**62 + 1)), 2**62 + 1)
        class Index:
            def __index__(self):
                return 7
        self.assertEqual(self.same(Index()), 7)

    def test_floating(self):
        for value in (np.float16(0.1), np.float32(0.1), np.float64(0.1), np.float64("inf")):
            self.assertEqual(self.same(value), float(value))
        self.assertEqual(self.same(np.str_("text")), "text")

    def test_what_lua_does_not_have(self):
        import decimal
        import fractions
        for value in (np.datetime64("2026-01-01"), np.timedelta64(5, "D"), np.longdouble(1) / 3, np.void(b"ab"),
                      decimal.Decimal("0.1"), fractions.Fraction(1, 3)):
            with self.assertRaisesRegex(TypeError, "expected None, a boolean, a number", msg=repr(value)):
                self.same(value)
        for value in (np.complex64(1 + 2j), np.complex128(1 + 2j), 1 + 2j, np.array(1 + 2j)):
            self.assertEqual(complex(self.same(value)), 1 + 2j)
        for array in (np.zeros(2, "datetime64[D]"), np.array(["a"]), np.array([object()]), np.zeros(2, [("a", "f4")]), np.zeros(2, np.longdouble)):
            with self.assertRaisesRegex(TypeError, "expected an array of booleans or of numbers.*; (x|state)", msg=str(array.dtype)):
                self.same(array)
        with self.assertRaises(gpulua.WrongTypeError):
            gpulua.namespace(self.state).sin([1, 2])
        for shape in (2.5, "ab", (1, None)):
            with self.assertRaisesRegex(TypeError, "expected a shape"):
                gpulua.namespace(self.state).zeros(shape)
        with self.assertRaisesRegex(TypeError, "without a mask"):
            self.same(np.ma.masked_array([1.0, 2], [False, True]))

    def test_bfloat16(self):
        x = self.state.eval("gpu.array({0.5, -2}, 'bfloat16')")
        self.assertEqual(x.tolist(), [0.5, -2])
        try:
            import ml_dtypes
        except ImportError:
            with self.assertRaisesRegex(TypeError, "which the package ml_dtypes adds"):
                x.numpy()
            self.skipTest("no ml_dtypes")
        a = x.numpy()
        self.assertEqual((a.dtype, a.tolist()), (ml_dtypes.bfloat16, [0.5, -2]))
        a[0] = 3
        self.assertEqual(x.tolist(), [3, -2])
        self.assertEqual(self.same(np.ones(2, ml_dtypes.bfloat16)).dtype, "bfloat16")

    def test_numbers_and_texts_that_ctypes_would_change(self):
        for option in ("lua_memory", "device_memory", "launches", "compilations", "blocks", "cu_stream"):
            for value, error in ((-1, ValueError), (2**64, ValueError), (1.5, TypeError)):
                with self.assertRaises(error, msg=option):
                    gpulua.State("cpu", **{option: value})
        with self.assertRaises(TypeError):
            gpulua.State("cpu", nonsense=1)
        for use in (lambda: self.state["a\0b"], lambda: self.state.__setitem__("a\0b", 1), lambda: self.state.load("", "a\0b"),
                    lambda: gpulua.State("cpu\0")):
            with self.assertRaisesRegex(ValueError, "without zeros"):
                use()


class Memory(unittest.TestCase):
    def setUp(self):
        self.state = gpulua.State("cpu")
        self.state.run("function f(x) return x + 1 end function g(x) local y = x + 1; kept = y * 2; return y:exp() end")

    def tearDown(self):
        self.state.close()

    def test_writes_after_a_call(self):
        for size in (3, 1 << 20):
            a = np.zeros(size)
            y, z = self.state["f"](a), self.state["g"](a)
            a[:] = 100
            self.assertTrue((y.numpy() == 1).all() and (self.state["kept"].numpy() == 2).all())
            np.testing.assert_allclose(z.numpy(), np.exp(1))
            a += y.numpy()
            self.assertTrue((y.numpy() == 1).all() and (a == 101).all())

    def test_a_buffer_again_and_again(self):
        buffer, results = np.empty(3), []
        for i in range(4):
            buffer[:] = i
            results.append(self.state["f"](buffer))
        self.assertEqual([r.numpy().tolist() for r in results], [[i + 1] * 3 for i in range(4)])

    def test_a_temporary(self):
        def local():
            t = np.zeros(3)
            return self.state["f"](t)
        z = local()
        np.full(3, 7.0)
        self.assertEqual(z.numpy().tolist(), [1, 1, 1])

    def test_writes_to_an_array_of_the_state(self):
        x = self.state.eval("gpu.ones(3)")
        view = x.numpy()
        y = self.state["f"](x)
        view[:] = 5
        self.assertEqual((x.numpy().tolist(), y.numpy().tolist()), ([5, 5, 5], [2, 2, 2]))

    def test_writes_in_a_callback(self):
        a = np.zeros(3)
        self.state["a"] = a
        self.state["write"] = lambda: a.fill(9)
        self.assertEqual(self.state.run("local y = a + 1; write(); return y:sum():item(), a:sum():item()"), (3, 27))

    def test_read_only(self):
        for text in ("gpu.broadcast_to(gpu.ones(1), 3)", "gpu.broadcast_to(gpu.ones(2, 1), 2, 3)"):
            x = self.state.eval(text).numpy()
            self.assertFalse(x.flags.writeable)
            self.assertTrue((x == 1).all())
        self.assertTrue(self.state.eval("gpu.ones(2, 3).T").numpy().flags.writeable)
        self.assertTrue(self.state.eval("gpu.broadcast_to(gpu.ones(1), 3):copy()").numpy().flags.writeable)

    def test_read_only_arrays_of_numpy(self):
        data = np.arange(3.0).tobytes()
        fixed, spread, other, apart = (np.frombuffer(data), np.broadcast_to(np.arange(3.0), (2, 3)), np.arange(3, dtype=">f8"),
                                       np.zeros(25, "u1")[1:].view("f8"))
        self.state.run("function fill(x) x:fill_(7) end function put(x) x[1] = 7 end")
        message = r"reading only: x(:copy\(\) makes one; .*x\.copy\(\) in Python|\.copy\(\) makes one)"
        for x, refused in ((fixed, message), (other, message), (apart, message), (spread, "where several indices are one element")):
            before = x.tolist()
            self.state["x"] = x
            uses = [lambda: self.state["fill"](x), lambda: self.state["fill"](self.state.array(x)), lambda: self.state.run("x:fill_(7)"),
                    lambda: self.state["fill"](gpulua.namespace(self.state).asarray(x)),
                    lambda: self.state.array(x).__setitem__(0, 7), lambda: self.state["fill"](self.state["x"])]
            if x.ndim == 1:
                uses.append(lambda: self.state["put"](x))
            for i, use in enumerate(uses):
                with self.assertRaisesRegex(gpulua.Error, refused, msg=f"use {i}"):
                    use()
            self.assertEqual(self.state["f"](x).tolist(), (x + 1).tolist())
            self.assertEqual(self.state.eval("function(x) return x:copy():fill_(7) end")(x).tolist(), np.full(x.shape, 7.0).tolist())
            self.assertFalse(self.state.array(x).numpy().flags.writeable)
            self.assertEqual(x.tolist(), before)
        self.assertEqual(self.state.array(fixed).pointer, fixed.ctypes.data)
        own = fixed.copy()
        self.state["fill"](own)
        self.assertEqual(own.tolist(), [7, 7, 7])

    def test_copies_on_demand(self):
        x = self.state.eval("gpu.ones(3)")
        self.assertEqual(np.array(x, dtype="float64").dtype, "float64")
        np.array(x)[:] = 7
        self.assertEqual(x.numpy().tolist(), [1, 1, 1])
        self.assertEqual(x.__array__(copy=False).ctypes.data, x.pointer)
        self.assertNotEqual(x.__array__(copy=True).ctypes.data, x.pointer)
        with self.assertRaisesRegex(ValueError, "Unable to avoid copy"):
            x.__array__("float64", copy=False)
        with self.assertRaises(BufferError):
            x.__dlpack__(dl_device=(2, 0))
        if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
            self.assertEqual(np.asarray(x, copy=False).ctypes.data, x.pointer)
            with self.assertRaisesRegex(ValueError, "Unable to avoid copy"):
                np.asarray(x, dtype="float64", copy=False)
            own = np.from_dlpack(x, copy=True)
            own.flags.writeable or self.skipTest("NumPy 2.2 makes all that it imports read-only")
            own[:] = 7
            self.assertEqual((x.numpy().tolist(), own.tolist()), ([1, 1, 1], [7, 7, 7]))

    def test_layouts(self):
        whole, fields = np.arange(12.0).reshape(3, 4), np.ones(3, [("a", "f4"), ("b", "i2")])
        shifted = np.zeros(25, "u1")[1:].view("f8")
        shifted[:] = [1, 2, 3]
        for x in (whole[::2, 1::2], whole[::-1, ::-2], np.asfortranarray(whole), whole.T, whole.astype(">f8"), np.arange(3, dtype=">i2"),
                  np.broadcast_to(np.arange(3.0), (2, 3)), np.zeros((0, 3)), np.array(3.5), np.ones(2, "f2"), fields["a"], fields["b"],
                  shifted, np.array([2**64 - 1], "u8"), whole.astype(">c16")):
            y = self.state.eval("function(x) return x:copy() end")(x)
            self.assertEqual(y.dtype, x.dtype.newbyteorder("="))
            np.testing.assert_array_equal(y.numpy(), x)

    def test_arrays_that_never_change(self):
        class Tensor:
            """One of JAX's, which says nothing of that."""
            __module__ = "jaxlib._jax"

            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **_):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()
        values = np.ones(3)
        self.state["x"] = Tensor(values)
        self.state.run("x:fill_(7)")
        self.assertEqual((values.tolist(), self.state["x"].tolist()), ([1, 1, 1], [7, 7, 7]))


if __name__ == "__main__":
    unittest.main()

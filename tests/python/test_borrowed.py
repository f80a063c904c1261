"""The package gpulua at the border to Python: scalars, memory that both sides have, exceptions, copies, closed states. NumPy is the
reference."""
import copy
import gc
import pickle
import subprocess
import sys
import tempfile
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


class Failures(unittest.TestCase):
    def test_errors_found_on_the_device(self):
        reads = [lambda x: x.numpy(), np.asarray, np.from_dlpack, lambda x: x[0], lambda x: x.tobytes(), lambda x: x.pointer, list,
                 lambda x: x.item(), lambda x: x.__dlpack__(max_version=(1, 0)), copy.copy]
        for read in reads:
            with gpulua.State("cpu") as state:
                x = state.run("return gpu.arange(3, 'float32'):take(gpu.array({9}, 'int32'))")
                for _ in range(2):
                    with self.assertRaisesRegex(gpulua.Error, "9 in an index array is out of range"):
                        read(x).item()
        for text in ("gpu.linalg.inv(gpu.ones(2, 2))", "gpu.linalg.cholesky(-gpu.eye(2))",
                     "(function() local x = gpu.zeros(3); x[gpu.array({9}, 'int32')] = 1; return x end)()"):
            with gpulua.State("cpu") as state, self.assertRaises(gpulua.Error):
                state.eval(text).numpy()

    def test_exceptions_pass_where_memory_goes(self):
        with gpulua.State("cpu") as state:
            make = state.load("return gpu.ones(250000) + 1")
            for use, expected in [(lambda x: x[5000000], IndexError), (lambda x: x.item(), ValueError), (lambda x: int(x.numpy()), TypeError),
                                  (lambda x: x["a"], IndexError), (lambda x: np.from_dlpack(x)[5000000], IndexError),
                                  (lambda x: (x.__dlpack__(), [][0]), IndexError)]:
                state.collect()
                before = state.memory()[0]
                x = make()
                with self.assertRaises(expected):
                    use(x)
                del x
                gc.collect()
                state.collect()
                state.collect()
                self.assertEqual(state.memory()[0], before)

    def test_capsules(self):
        with gpulua.State("cpu") as state:
            used = state.memory()[0]
            x = state.eval("gpu.ones(1000)")
            kept = x.__dlpack__()
            x.__dlpack__()  # nobody has it
            state.collect()  # what the sweep keeps is whole
            y = np.from_dlpack(type("Tensor", (), {"__dlpack__": lambda self, **_: kept, "__dlpack_device__": lambda self: (1, 0)})())
            self.assertEqual(y.sum(), 1000)
            del x, kept, y
            gc.collect()
            state.collect()
            self.assertEqual(state.memory()[0], used)

    def test_capsules_of_other_names(self):
        class Tensor:
            def __init__(self, capsule):
                self.capsule = capsule

            def __dlpack__(self, **_):
                return self.capsule

            def __dlpack_device__(self):
                return 1, 0
        with gpulua.State("cpu") as state:
            once = Tensor(np.ones(3).__dlpack__())
            self.assertEqual(state.array(once).tolist(), [1, 1, 1])
            with self.assertRaisesRegex(TypeError, "from Tensor.__dlpack__, got one whose tensor was taken before"):
                state.array(once)
            import datetime
            for other in (datetime.datetime_CAPI, None, 5):
                with self.assertRaisesRegex(TypeError, "expected a capsule named 'dltensor' or 'dltensor_versioned'.*got "):
                    state.array(Tensor(other))

    def test_exceptions_in_functions(self):
        with gpulua.State("cpu") as state:
            def fails():
                raise KeyError("no such port")
            state["fails"] = fails
            with self.assertRaisesRegex(gpulua.Error, "KeyError: 'no such port'") as caught:
                state.run("fails()")
            self.assertIsInstance(caught.exception.__cause__, KeyError)
            self.assertEqual(state.run("return (pcall(fails))"), False)
            with self.assertRaises(gpulua.Error) as other:
                state.run("pcall(fails); error 'another'")
            self.assertIsNone(other.exception.__cause__)

            def stops():
                raise SystemExit(3)
            state["stops"] = stops
            with self.assertRaises(SystemExit):
                state.run("pcall(stops)")
            state["two"] = lambda: (state.eval, np.ones(3))
            with self.assertRaisesRegex(gpulua.Error, "TypeError"):
                state.run("two()")
            self.assertEqual(state.eval("1 + 1"), 2)

            def prints(line):
                raise OSError("the pipe is closed")
        with gpulua.State("cpu", print=prints) as state, self.assertRaisesRegex(OSError, "the pipe"):
            state.run("print 'x'")

    def test_a_function_that_replaces_another(self):
        with gpulua.State("cpu") as state:
            state["f"] = lambda: 1
            state.run("old = f")
            state["f"] = lambda: 2
            gc.collect()
            self.assertEqual(state.run("return old(), f()"), (1, 2))

    def test_hints(self):
        with gpulua.State("cpu") as state:
            with self.assertRaisesRegex(gpulua.ScriptSyntaxError, r"hint: Lua has no \+=: x = x \+ 1"):
                state.run("x += 1")
            with self.assertRaises(gpulua.ScriptSyntaxError) as short:  # has the size of a pointer, as a mistake in C has
                state.run("x = 1 + ")
            self.assertNotIn("pointer", str(short.exception))
            with self.assertRaisesRegex(gpulua.Error, r"np.*\nhint: local gpu = require"):
                state.run("return np.zeros(3)")
            with self.assertRaisesRegex(gpulua.Error, r"hint: the module is named gpu"):
                state.run("require 'gpulua'")
        with gpulua.State("cpu", sandbox=True) as state:
            with self.assertRaisesRegex(gpulua.ScriptSyntaxError, r"hint: Lua has no \+="):
                state.run("x += 1")
            # A file that a script names is not read for a hint.
            with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
                file.write("local secret = io.open('password')\n")
                file.flush()
                with self.assertRaises(gpulua.Error) as caught:
                    state.run(f"error(\"{file.name}:1: attempt to index local 'secret' (a nil value)\", 0)")
                self.assertNotIn("password", str(caught.exception))


class Lifetimes(unittest.TestCase):
    def test_copies(self):
        with gpulua.State("cpu") as state:
            x = state.eval("gpu.ones(3)")
            for make in (copy.copy, copy.deepcopy):
                y = make(x)
                y.numpy()[:] = 7
                del y
                self.assertEqual((x.shape, x.numpy().tolist()), ((3,), [1, 1, 1]))
            with self.assertRaisesRegex(TypeError, "x.numpy"):
                pickle.dumps(x)
            f = state.eval("function() return 5 end")
            self.assertIs(copy.copy(f), f)
            self.assertIs(copy.deepcopy([f])[0], f)
            for use in (lambda: pickle.dumps(f), lambda: copy.copy(state), lambda: copy.deepcopy(state), lambda: pickle.dumps(state)):
                with self.assertRaises(TypeError):
                    use()
            self.assertEqual((f(), state.eval("1")), (5, 1))

    def test_closed_states(self):
        state = gpulua.State("cpu")
        x, scalar, f = state.eval("gpu.ones(3)"), state.eval("gpu.full({}, 1)"), state.eval("function() end")
        state.close()
        uses = [lambda: x.shape, lambda: x.strides, lambda: x.ndim, lambda: x.size, lambda: x.nbytes, lambda: x.dtype, lambda: x.device,
                lambda: x.pointer, lambda: len(x), lambda: x[0], lambda: list(x), lambda: x.item(), lambda: x.numpy(), lambda: x.tobytes(),
                lambda: np.from_dlpack(x), lambda: copy.copy(x), lambda: scalar.shape, f, lambda: state.eval("1"), lambda: state["gpu"],
                lambda: state.memory(), lambda: state.sync(), lambda: state.collect(), lambda: state.device, lambda: state.array(np.ones(3)),
                lambda: state.interrupt()]
        for i, use in enumerate(uses):
            with self.assertRaises(gpulua.Error, msg=f"use {i}"):
                use()
        self.assertEqual(repr(x), "gpulua.Array of a closed state")
        state.close()
        with gpulua.State("cpu") as other, self.assertRaises(gpulua.Error):
            other.eval("function(x) return x end")(x)

    def test_nothing_is_printed_at_the_end(self):
        code = """
import gpulua, numpy
s = gpulua.State("cpu")
s["f"] = lambda x: x
x = s["f"](numpy.ones(3))
view, capsule = x.numpy(), x.__dlpack__()
try: gpulua.State(1, 2, 3)
except TypeError: pass
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()

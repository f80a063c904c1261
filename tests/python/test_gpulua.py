"""The package gpulua: values, arrays without copies, errors, and the magics. NumPy is the reference."""
import ctypes
import gc
import os
import pickle
import signal
import socket
import sys
import threading
import types
import unittest

import numpy as np

import gpulua


class Frame:
    """As pandas' DataFrames are."""
    ndim = 2

    def __init__(self, columns):
        self.items = columns.items


class Values(unittest.TestCase):
    def setUp(self):
        self.lines = []
        self.state = gpulua.State("cpu", print=self.lines.append)

    def tearDown(self):
        self.state.close()

    def test_round_trips(self):
        same = self.state.eval("function(...) return ... end")
        for value in [None, True, False, 0.5, 1e300, "text", "zero \0 inside", "ü", 2**53, 2**63 - 1, -2**63]:
            back = same(value)
            self.assertEqual(back, value)
            self.assertEqual(type(back) is bool, type(value) is bool)
        self.assertEqual(same(1, "a", None, True), (1, "a", None, True))
        self.assertIsNone(same())
        self.assertEqual(same(b"\xff").encode(errors="surrogateescape"), b"\xff")
        self.assertEqual(same(np.float32(0.5)), 0.5)
        self.assertEqual(same(self.state["math.sqrt"])(9), 3)
        with self.assertRaises(OverflowError):
            same(2**64)
        with self.assertRaisesRegex(TypeError, "expected None, a boolean, .* got object"):
            same(object())

    def test_lists_and_dicts(self):
        same = self.state.eval("function(...) return ... end")
        for value in [[1, 2, 3], [], [[1.5, [True, "a"]], "ü", [2**60 + 1, -2**62 - 1]], {"a": 1, "b": [1, {"c": "x\0y"}]}, {1: "a", 3: "b"},
                      1 + 2j, [1j], 2**63, 2**64 - 1, [2**64 - 1], {"z": -0.0, "inf": float("-inf")}]:
            back = same(value)
            self.assertEqual((back, type(back)), (value, type(value)))
        self.assertEqual(same((1, "a"), 2), ([1, "a"], 2))
        self.assertEqual(same({"a": None, "b": 1}), {"b": 1})
        self.assertTrue(np.isnan(same([float("nan")])[0]))
        arrays = same([np.arange(2.0) + i for i in range(200)])
        self.assertEqual([x.tolist() for x in arrays], [[i, i + 1] for i in range(200)])
        self.assertEqual(same([same])[0]([7]), [7])
        self.assertEqual(self.state.eval("{1, 2, nil, 4}"), {1: 1, 2: 2, 4: 4})
        self.assertEqual(self.state.eval("gpu.ones(2, 3).shape"), [2, 3])
        self.assertIn("used", self.state.eval("gpu.memory()"))
        self.assertEqual(self.state["gpu.devices"]()[0]["kind"], self.state.eval("gpu.devices()[1].kind"))
        heights = self.state.eval("gpu.signal.find_peaks")(np.array([0.0, 3, 0, 2, 0]), height=1)[1]["peak_heights"]
        self.assertEqual(heights.tolist(), [3, 2])
        self.assertEqual(self.state.eval("function(x, o) return x, o.rate, o.sizes[2] end")(1, rate=0.5, sizes=(4, 8)), (1, 0.5, 8))
        self.assertEqual(self.state.eval("function(...) return select('#', ...) end")(1, None, rate=None), 2)
        self.state.run("tostring, unpack, pcall = nil")
        self.assertEqual(same({"a": [1, 2j]}), {"a": [1, 2j]})
        self.state["config"] = {"rate": 0.25, "sizes": [1, 2], "x": np.ones(3)}
        self.assertEqual(self.state.run("return config.rate + config.sizes[2] + config.x:sum():item()"), 5.25)
        self.assertEqual(self.state["config.sizes"], [1, 2])
        loop, deep = [], []
        loop.append(loop)
        for _ in range(101):
            deep = [deep]
        for bad, error in [(loop, "without cycles"), (deep, "up to 100 levels"), ([1, None], r"None at position 1; float\('nan'\) stands for a missing number$"),
                           (["a", None], "None at position 1$"), ({(1, 2): 3}, r"got \(1, 2\)"),
                           ({"a": object()}, "got object"), ([2**64], "from -2\\*\\*63"), (2**64, "from -2"), (-2**63 - 1, "from -2")]:
            with self.assertRaisesRegex((ValueError, TypeError, OverflowError), error):
                same(bad)
        for text, error in [("local t = {} t.t = t return t", "without cycles"), ("local t = {} for i = 1, 101 do t = {t} end return t", "100 levels")]:
            with self.assertRaisesRegex(ValueError, error):
                self.state.run(text)

    def test_objects(self):
        matrix = self.state.eval("gpu.sparse.eye(3)")
        self.assertIsInstance(matrix, gpulua.Object)
        self.assertEqual(matrix["shape"], [3, 3])
        np.testing.assert_array_equal(matrix["toarray"](matrix).numpy(), np.eye(3))
        self.state["m"] = matrix
        self.assertIn("csr float32[3x3]", repr(self.state["m"]))
        with self.assertRaises(TypeError):
            pickle.dumps(matrix)
        kernel = self.state["gpu.kernel"]("__global__ void add(float* x, float y) { x[threadIdx.x] += y; }", "add")
        x = np.zeros(4, "float32")
        kernel(grid=1, block=4)(x, 2.5)
        self.state.sync()
        np.testing.assert_array_equal(x, [2.5] * 4)
        with self.assertRaisesRegex(gpulua.Error, "attempt to call a table value"):
            self.state.eval("setmetatable({}, {})")()
        with self.assertRaisesRegex(TypeError, "got function; state.name. = function makes one of Lua of it, and state.name. is that, which calls take$"):
            kernel(lambda: 1)

    def test_globals(self):
        self.state.run("config = {rate = 0.25}")
        self.assertEqual(self.state["config.rate"], 0.25)
        self.state["config.name"] = "x"
        self.assertEqual(self.state.run("return config.name, 1"), ("x", 1))
        self.assertIsNone(self.state.eval("nothing"))

    def test_tables(self):
        columns = {"n": np.arange(5), "x": np.array([1.5, np.nan, -0.0, 1e300, 3]), "ok": np.array([True, False, True, True, False]),
                   "city": ["Z\u00fcrich", "a:b\n", "", "Z\u00fcrich", "7:x"], "a name": np.arange(5, dtype="float32")[::-1],
                   "text": np.array(["b", None, "a", float("nan"), "b"], object)}
        self.state["t"] = self.state.new_table(columns)
        self.assertEqual(self.state.eval("table.concat(t.names, ',')"), "n,x,ok,city,a name,text")
        self.assertEqual(self.state.eval("table.concat(t:texts 'text', ',')"), ",a,b")
        back = self.state.table("t")
        self.assertEqual(list(back), list(columns))
        for name in ["n", "x", "ok", "a name"]:
            np.testing.assert_array_equal(back[name], columns[name])
            self.assertEqual(back[name].dtype, columns[name].dtype)
        self.assertEqual(back["city"].tolist(), columns["city"])
        self.assertEqual(back["text"].tolist(), ["b", "", "a", "", "b"])
        means = self.state.table("t:where('city', 'Z\u00fcrich'):group_by 'city':mean 'x'")
        self.assertEqual((means["city"].tolist(), means["x"].tolist()), (["Z\u00fcrich"], [5e299]))
        self.state.run("model = {}")
        self.state["model.t"] = self.state.new_table({"x": np.zeros(0), "s": np.zeros(0, object)})
        self.assertEqual([len(x) for x in self.state.table("model.t").values()], [0, 0])
        for bad, message in [({"d": np.zeros(2, "timedelta64[M]")}, "dates or durations of days, s, ms, us or ns in column d, got timedelta64"), ({"a": [1, "x"], "b": [1]}, "expected columns of one length, got 1 in column b, 2 in column a"),
                             ({"o": np.array([1, "x"], object)}, "in column o, got object with a value of int"), ({}, "at least one column")]:
            with self.assertRaisesRegex((TypeError, gpulua.Error), message):
                self.state.new_table(bad)
        self.assertEqual(list(self.state.table(self.state.eval("t"))), list(columns))
        with self.assertRaisesRegex(gpulua.Error, "expected a gpu.table, got 3"):
            self.state.table("1 + 2")
        self.assertEqual(self.state.eval("function(t) return t.rows end")(Frame(columns)), 5)

    def test_dates_in_tables(self):
        columns = {unit: np.array(["2024-03-01T12:30:15", "NaT", "1969-12-31"], f"datetime64[{unit}]") for unit in ["D", "s", "ms", "us", "ns"]}
        columns["gap"] = np.array([90, "NaT", -1], "timedelta64[s]")
        self.state["t"] = self.state.new_table(columns)
        self.assertEqual(self.state.eval("t.D[1] .. ' ' .. t.ns[3] .. ' ' .. t.gap[1] .. ' ' .. t.s[2]"),
                         "2024-03-01 1969-12-31 00:00:00.000000000 00:01:30 NaT")
        back = self.state.table("t")
        for name, values in columns.items():
            np.testing.assert_array_equal(back[name], values)
            self.assertEqual(back[name].dtype, values.dtype)
        self.state["t"] = self.state.new_table({"m": np.array(["2024-03"], "datetime64[M]"), "h": np.array(["2024-03-01T05"], "datetime64[h]")})
        self.assertEqual(self.state.eval("t.m[1] .. ' ' .. t.h[1]"), "2024-03-01 2024-03-01 05:00:00")

    def test_print(self):
        self.state.run("print('a', 1)\nprint(gpu.ones(2))")
        self.assertEqual(self.lines[0], "a\t1")
        self.assertIn("float32", self.lines[1])

    def test_python_functions(self):
        seen = []

        def function(x, text):
            seen.append((np.array(x), text))
            return x, text + "!", 2.0
        self.state["tell"] = function
        self.assertEqual(self.state.run("local x, t, n = tell(gpu.range(1, 3), 'hey'); return x:sum():item(), t, n"), (6, "hey!", 2))
        np.testing.assert_array_equal(seen[0][0], [1, 2, 3])

        def fails():
            raise KeyError("no such port")
        self.state["fails"] = fails
        with self.assertRaisesRegex(gpulua.Error, "^script:2: KeyError: 'no such port'"):
            self.state.run("\nfails()", "script")
        self.state["nested"] = lambda *a: ([len(a), *[x for x in a if x is not None]], {"last": a[-1] if a else "none"})
        self.assertEqual(self.state.run("local a, b = nested({x = 1}, nil, gpu.complex(1, 2)) return a[1], a[2].x, a[3], b.last"),
                         (3, 1, 1 + 2j, 1 + 2j))
        self.assertEqual(self.state.run("local a, b = nested() return #a, b.last"), (1, "none"))

    def test_errors(self):
        with self.assertRaisesRegex(gpulua.Error, r"script.lua:2: .*\[add\] operands could not be broadcast") as caught:
            self.state.run("\nreturn gpu.ones(2) + gpu.ones(3)", "script.lua")
        self.assertIn("traceback", str(caught.exception))
        self.assertEqual(caught.exception.status, "GPULUA_RUNTIME")
        with self.assertRaises(gpulua.ScriptSyntaxError):
            self.state.run("return +")
        for text, kind, python in [("gpu.ones(2):reshape(3)", gpulua.ArgumentError, ValueError), ("gpu.ones(2):sum(3)", gpulua.OutOfRangeError, IndexError),
                                   ("gpu.ones(2)(5)", gpulua.OutOfRangeError, IndexError), ("gpu.exp()", gpulua.WrongTypeError, TypeError),
                                   ("gpu.bitwise_and(gpu.ones(1), 1)", gpulua.WrongTypeError, TypeError), ("error('x', 0)", gpulua.Error, RuntimeError),
                                   ("gpu.ones(2):sum {axes = 1}", gpulua.ArgumentError, ValueError),
                                   ("gpu.ones(1, 'int8') + 300", gpulua.ArgumentError, ValueError), ("nothing.x", gpulua.Error, RuntimeError)]:
            with self.assertRaises(python) as caught:
                self.state.eval(text)
            self.assertIs(type(caught.exception), kind, text)
        with self.assertRaises(gpulua.DeadlineError) as late:
            self.state.eval("function() while true do end end")(deadline=0.05)
        self.assertIsInstance(late.exception, TimeoutError)
        with self.assertRaisesRegex(gpulua.ArgumentError, "expected a device of the kinds .*cpu.*, got \"nonsense\""):
            gpulua.State("nonsense")
        self.assertEqual(self.state.eval("1 + 1"), 2)
        self.state.close()
        with self.assertRaises(gpulua.ArgumentError):
            self.state.eval("1")

    def test_sandbox(self):
        with gpulua.State("cpu", sandbox=True, lua_memory=64 << 20) as state:
            self.assertEqual(state.eval("gpu.arange(5):sum():item()"), 10)
            for script in ["gpu.load('a.csv')", "gpu.save('a.csv', gpu.ones(2))", "gpu.save('a.bin', gpu.ones(2))", "gpu.from_arrow(1, 2)",
                           "gpu.to_arrow({}, 1, 2)"]:
                with self.assertRaisesRegex(gpulua.Error, "expected a function for scripts in a sandbox"):
                    state.run(script)
            self.assertEqual(state.eval("gpu.table({k = {1, 1, 2}}):group_by('k'):count().rows"), 2)

    def test_default_dtype(self):
        with gpulua.State("cpu", default_dtype="float64") as state:
            self.assertEqual(state.eval("(gpu.arange(3) / 3).dtype"), "float64")
        self.assertEqual(self.state.eval("gpu.default_dtype()"), "float32")
        with self.assertRaisesRegex(gpulua.ArgumentError, 'expected the default_dtype "float32", .* or "float64", .* got "int8"'):
            gpulua.State("cpu", default_dtype="int8")

    def test_interrupt(self):
        with gpulua.State("cpu", interruptible=True) as state:
            timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                state.run("while true do end")
            timer.join()
            self.assertEqual(state.eval("1"), 1)
            # A signal of before stops no later call, and another reader of signals gets them, too.
            reader, writer = socket.socketpair()
            writer.setblocking(False)
            before = signal.set_wakeup_fd(writer.fileno())
            try:
                with self.assertRaises(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)
                self.assertEqual(reader.recv(10), bytes([signal.SIGINT]))
                self.assertEqual(state.run("local n = 0 for i = 1, 1e6 do n = n + 1 end return n"), 1e6)
                threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT)).start()
                with self.assertRaises(KeyboardInterrupt):
                    state.run("while true do end")
                self.assertEqual(reader.recv(10), bytes([signal.SIGINT]))
                self.assertEqual(signal.set_wakeup_fd(writer.fileno()), writer.fileno())
            finally:
                signal.set_wakeup_fd(before)
                reader.close()
                writer.close()
            self.assertEqual([threading.Thread(target=lambda: self.assertEqual(state.eval("2"), 2)).run()], [None])
            if hasattr(os, "fork"):
                child = os.fork()
                if child == 0:
                    os._exit(0 if state.eval("3") == 3 else 1)
                self.assertEqual(os.waitpid(child, 0)[1], 0)


class Arrays(unittest.TestCase):
    def setUp(self):
        self.state = gpulua.State("cpu")

    def tearDown(self):
        self.state.close()

    def test_dtypes_and_shapes(self):
        same = self.state.eval("function(x) return x end")
        for dtype in ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
                      "complex64", "complex128"]:
            x = np.arange(12).reshape(3, 4).astype(dtype)
            for view in [x, x.T, x[::2, 1:], x[:0], x[1, 1:2].reshape(())]:
                back = same(view)
                self.assertEqual((back.dtype, back.shape, back.size, back.device), (dtype, view.shape, view.size, "cpu"))
                np.testing.assert_array_equal(back.numpy(), view)
                np.testing.assert_array_equal(np.asarray(back), view)
                self.assertEqual(back.tobytes(), view.tobytes())

    def test_elements(self):
        x = self.state.eval("gpu.arange(6, 'float64'):reshape(2, 3)")
        np.testing.assert_array_equal(x[1], [3, 4, 5])
        self.assertEqual((x[0, 2], [row.sum() for row in x]), (2, [3, 12]))
        self.assertEqual(self.state.eval("gpu.ones(3):sum()").item(), 3)

        class Series:  # as pandas has them
            ndim = 1
            items = None

            def to_numpy(self):
                return np.arange(3.0)
        self.assertEqual(self.state["gpu.sum"](Series()).item(), 3)

    def test_no_copy(self):
        x = np.zeros(4, "float32")
        self.state["x"] = x
        self.state.run("x[2] = 7; x:add_(1)")
        np.testing.assert_array_equal(x, [1, 8, 1, 1])
        self.assertEqual(np.from_dlpack(self.state["x"]).ctypes.data, x.ctypes.data)
        back = self.state["x"].numpy()
        self.assertEqual(back.ctypes.data, x.ctypes.data)
        back[0] = 5
        self.assertEqual(self.state.eval("x[1]"), 5)

    def test_read_only_is_not_written(self):
        x = np.arange(3.0)
        x.flags.writeable = False
        self.state["x"] = x
        if self.state.device == "cpu":
            with self.assertRaisesRegex(gpulua.Error, "reading only"):
                self.state.run("x:fill_(9)")
        np.testing.assert_array_equal(x, [0, 1, 2])

    def test_lifetimes(self):
        x = np.ones(1000)
        before = sys.getrefcount(x)
        self.state["x"] = x
        self.assertGreater(sys.getrefcount(x), before)
        self.state["x"] = None
        self.state.collect()
        gc.collect()
        self.assertEqual(sys.getrefcount(x), before)
        # Elements outlive the state that computed them.
        array = self.state.eval("gpu.full(1000, 3, 'float64') * 2")
        y, z = np.from_dlpack(array), array.numpy()
        del array
        self.state.close()
        gc.collect()
        self.assertTrue((y == 6).all() and (z == 6).all())

    def test_capsule_that_nobody_takes(self):
        array = self.state.eval("gpu.ones(1000000)")
        used = self.state.memory()[0]
        capsules = [array.__dlpack__(), array.__dlpack__(max_version=(1, 0))]
        names = [ctypes.pythonapi.PyCapsule_GetName]
        names[0].restype, names[0].argtypes = ctypes.c_char_p, [ctypes.py_object]
        self.assertEqual([names[0](capsule) for capsule in capsules], [b"dltensor", b"dltensor_versioned"])
        del array, capsules
        gc.collect()
        self.state.collect()
        self.assertLessEqual(self.state.memory()[0], used - 4000000)

    def test_kernel(self):
        self.state.run("""
            local saxpy = gpu.kernel([[
            __global__ void saxpy(float a, const float* x, float* y, int n) {
              const int i = blockIdx.x * blockDim.x + threadIdx.x;
              if (i < n) y[i] += a * x[i];
            }]], "saxpy")
            function run(a, x, y) saxpy:over(#x)(a, x, y, #x) end""")
        x, y = np.arange(1000, dtype="float32"), np.ones(1000, "float32")
        self.state["run"](2, x, y)
        self.state.sync()
        np.testing.assert_array_equal(y, 1 + 2 * np.arange(1000))


class Magics(unittest.TestCase):
    def test_cells(self):
        functions = {}
        shell = types.SimpleNamespace(user_ns={"x": np.arange(4.0)},
                                      register_magic_function=lambda fn, kind, name: functions.__setitem__((kind, name), fn))
        gpulua.load_ipython_extension(shell)
        cell, line = functions["cell", "gpulua"], functions["line", "gpulua"]
        self.assertEqual(cell("-i x -o y,n --device cpu", "y = x * 2\nn = #x\nreturn 'done'"), "done")
        np.testing.assert_array_equal(np.from_dlpack(shell.user_ns["y"]), [0, 2, 4, 6])
        self.assertEqual(shell.user_ns["n"], 4)
        self.assertEqual(line("y:sum():item()"), 12)
        shell.user_ns["frame"] = Frame({"k": ["a", "b", "a"], "v": np.array([1.0, 2, 4])})
        cell("-i frame -o sums", "sums = frame:group_by 'k':sum 'v'")
        self.assertEqual((shell.user_ns["sums"]["k"].tolist(), shell.user_ns["sums"]["v"].tolist()), (["a", "b"], [5, 2]))
        with self.assertRaisesRegex(NameError, "got z"):
            cell("-i z", "")
        with self.assertRaisesRegex(ValueError, "got --devise"):
            cell("--devise cpu", "")


if __name__ == "__main__":
    unittest.main()

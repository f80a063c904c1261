"""What people who come from NumPy try first: it works, or the error says what to do. NumPy is the reference."""
import operator
import types
import unittest

import numpy as np

import gpulua
from gpulua import xp


class DTypes(unittest.TestCase):
    def test_types_of_numpy(self):
        for kind in (np.bool_, np.int8, np.int64, np.uint32, np.float16, np.float32, np.float64, np.complex64, bool, int, float, complex):
            name = np.dtype(kind).name
            for x in (xp.zeros(2, dtype=kind), xp.ones(2).astype(kind), gpulua.State("cpu")["gpu.ones"](3, dtype=kind)):
                self.assertEqual(x.numpy().dtype, np.dtype(kind), kind)
            self.assertEqual(gpulua.State("cpu")["gpu.ones"](3, np.dtype(kind)).dtype, name)
            for other in (np.float32, np.float64, np.int64, np.bool_, float, int, str, np.str_, np.floating):
                dtype = getattr(xp, name)
                expected = name == {bool: "bool", int: "int64", float: "float64"}.get(other, other.__name__.rstrip("_"))
                self.assertEqual((dtype == other, other == dtype, dtype != other), (expected, expected, not expected), (name, other))
        self.assertEqual(xp.sum(xp.ones(3, dtype="float32"), dtype=np.float64).dtype, np.float64)
        self.assertIn(xp.zeros(3).dtype, (np.float32, np.float64))
        self.assertEqual({"float64": 1}[xp.zeros(3).dtype], 1)
        for wrong in (str, np.str_, np.floating, list, object(), "double"):
            with self.assertRaisesRegex(TypeError, "expected a dtype"):
                xp.zeros(3, dtype=wrong)
        state = gpulua.State("cpu")
        state["kind"] = np.float32
        self.assertEqual(state["kind"], "float32")
        with self.assertRaisesRegex(TypeError, "got the type str"):
            state["gpu.ones"](3, str)


class NamesOfCalls(unittest.TestCase):
    def test_errors_name_what_python_has_called(self):
        state, ragged = gpulua.State("cpu"), [[1.0, 2.0], [3.0]]
        x = state.array([1.0, 2.0, 3.0])
        for op, call in (("array", lambda: state.array(ragged)), ("asarray", lambda: xp.asarray(ragged)),
                         ("array", lambda: state.array(["a"])), ("index", lambda: x[ragged]),
                         ("take", lambda: xp.take(xp.ones(3), ragged)), ("repeat", lambda: xp.repeat(xp.ones(3), ragged)),
                         ("array", lambda: state.array([np.ones(2), np.ones(3)])),
                         ("asarray", lambda: xp.asarray([np.ones(2), np.ones(3)])),
                         ("stack", lambda: xp.stack([xp.ones(2), xp.ones(3)]))):
            with self.assertRaisesRegex(Exception, rf"^\[{op}\] expected "):
                call()


class Idioms(unittest.TestCase):
    a = np.array([1.5, 2, 3])

    def setUp(self):
        self.x = xp.asarray(self.a, copy=True)

    def says(self, kind, pattern, function, *arguments, **options):
        with self.assertRaisesRegex(kind, pattern):
            function(*arguments, **options)

    def test_lists(self):
        for function in (xp.sum, xp.exp, xp.sort, xp.linalg.inv, xp.fft.fft):
            self.says(TypeError, "expected an array for x of xp.*, got list; xp.asarray", function, [1.0, 2])
        self.says(TypeError, "for x of xp.sum, got float", xp.sum, 3.0)
        self.says(TypeError, "for arrays of xp.concat, got list", xp.concat, [[1], [2]])
        self.says(TypeError, "for x2 of xp.add, got list", xp.add, self.x, [1, 2, 3])
        for apply in (operator.eq, operator.ne, operator.add, operator.lt):
            self.says(TypeError, "got list; xp.asarray", apply, self.x, [1, 2, 3])
            self.says(TypeError, "got tuple; xp.asarray", apply, (1, 2, 3), self.x)
        self.assertFalse(self.x == None)  # noqa: E711
        state = gpulua.State("cpu", default_dtype="float64")
        for values in ([1, 2, 3], [[1.5, 2], [3, 4]], (True, False)):
            np.testing.assert_array_equal(state.array(values).numpy(), np.asarray(values))
            self.assertEqual(state.array(values).dtype, np.asarray(values).dtype)

    def test_numbers(self):
        mean = np.mean(self.a)
        for spec in (".2f", "", "8.3e"):
            self.assertEqual(format(xp.mean(self.x), spec), format(mean, spec))
        self.assertEqual((round(xp.mean(self.x), 2), round(xp.mean(self.x))), (round(mean, 2), round(mean)))
        self.says(TypeError, "without axes for the format", format, self.x, ".2f")
        self.says(ValueError, "one element", round, self.x, 1)
        self.says(TypeError, r"got True; int\(True\)", operator.add, self.x, True)
        self.says(TypeError, r"got True; int\(True\)", operator.iadd, self.x, True)
        self.assertTrue(xp.all(xp.ones(3, dtype="bool") == True))  # noqa: E712

    def test_options(self):
        for function in (np.std, np.var):
            np.testing.assert_allclose(float(function(self.x)), function(self.a))
            np.testing.assert_allclose(float(getattr(self.x, function.__name__)(ddof=1)), function(self.a, ddof=1))
        self.says(TypeError, "expected xp.std.x.*got the keyword ddof; correction=1", xp.std, self.x, ddof=1)
        self.says(TypeError, "xp.mean.*got the keyword dtype; xp.astype", self.x.mean, dtype="float32")
        self.says(TypeError, "expected xp.sum.x, /, .*axis=None.*got 2 arguments", xp.sum, self.x, 0)

    def test_names(self):
        for name, there in [("concatenate", "xp.concat"), ("absolute", "xp.abs"), ("power", "xp.pow"), ("dot", "xp.matmul, xp.vecdot or xp.tensordot"),
                            ("median", "gpu.median"), ("random", "gpu.random")]:
            self.says(AttributeError, f"has no '{name}', but .*{there}", getattr, xp, name)
        self.says(AttributeError, "xp.linalg has no 'norm', but xp.linalg.vector_norm", getattr, xp.linalg, "norm")
        self.says(AttributeError, "but Lua has gpu.linalg.lstsq", getattr, xp.linalg, "lstsq")
        self.says(AttributeError, "but Lua has gpu.fft.rfft2", getattr, xp.fft, "rfft2")
        self.assertFalse(hasattr(xp, "nothing_so") or hasattr(xp, "__path__"))

    def test_repr(self):
        self.assertEqual(repr(self.x), f"gpulua.Array {self.x}")
        self.assertIn("[1.5 2   3  ]", repr(self.x))
        self.assertNotIn("\n", repr(xp.zeros((100, 100))))
        self.assertIn("[100, 100]", repr(xp.zeros((100, 100))))


class States(unittest.TestCase):
    def setUp(self):
        self.state = gpulua.State("cpu")

    def says(self, kind, pattern, function):
        with self.assertRaisesRegex(kind, pattern) as context:
            function()
        return context.exception

    def test_missing_files(self):
        for call in (lambda: self.state["gpu.load"]("nothere.npy"), lambda: self.state.eval("gpu.load 'nothere.npy'"),
                     lambda: self.state["gpu.image.load"]("nothere.png"), lambda: self.state["gpu.load_module"]("nothere.ptx")):
            error = self.says(FileNotFoundError, "nothere", call)
            self.assertIsInstance(error, gpulua.Error)
        # Errors of a script about a file are such, too.
        for call in (lambda: self.state.run("return assert(gpu.load 'nothere.npy')"), lambda: self.state.run("gpu.save('/nothere/x.npy', gpu.ones(2))")):
            self.assertIsInstance(self.says(FileNotFoundError, "nothere", call), gpulua.Error)
        self.assertNotIsInstance(self.says(OSError, "Is a directory", lambda: self.state["gpu.load"]("/tmp")), FileNotFoundError)
        self.says(gpulua.UnavailableError, "expected one of", lambda: self.state["gpu.device"]("cuda:77"))
        self.assertEqual(self.state.eval("nil, 'text'"), (None, "text"))

    def test_nil(self):
        self.state.run("velocity = 1; model = {rate = 2}")
        self.says(KeyError, "got 'velocty', which is nil; did you mean velocity.; state.eval", lambda: self.state["velocty"])
        self.says(KeyError, "did you mean model.rate", lambda: self.state["model.rat"])
        self.says(gpulua.UndefinedError, "'f', which is nil", lambda: self.state["f"])
        self.says(KeyError, "got 'pirce', which is nil; state.eval", lambda: self.state["pirce"])
        self.state.run("function price() end")
        self.says(KeyError, "did you mean price", lambda: self.state["pirce"])
        self.assertIsNone(self.state.eval("f"))

    def test_a_closed_state(self):
        self.state.close()
        for call in (lambda: self.state["gpu.load"], lambda: self.state.eval("1"), lambda: self.state.device, lambda: self.state.array(np.ones(3))):
            self.says(gpulua.ArgumentError, "expected an open state, got a closed one", call)

    def test_tables_and_keywords(self):
        self.state["t"] = {"a": [1, 2]}
        self.says(gpulua.Error, "state.new_table", lambda: self.state.run("t:group_by 'a'"))
        self.state.run("function g(x, n) return x * n end function h(x, n) return n + 1 end")
        for name in "gh":
            self.says(gpulua.Error, r"keywords become the last argument, a table: {n = \.\.\.}\n", lambda: self.state[name](np.ones(3), n=2))

    def test_the_source_of_a_nil(self):
        self.state.run("d = gpu.load 'nothere.csv'")
        self.says(gpulua.Error, "global 'd' .*perhaps from python:1: .load. cannot open", lambda: self.state.run("return d + 1"))
        error = self.says(gpulua.Error, "global 'zz'", lambda: self.state.run("return zz + 1"))
        self.assertNotIn("perhaps", str(error))
        self.state.run("d = 1")
        error = self.says(gpulua.Error, "global 'zz'", lambda: self.state.run("return d + zz"))
        self.assertNotIn("perhaps", str(error))


class Arguments(unittest.TestCase):
    """A wrong name, type or use of what a State takes."""

    def setUp(self):
        self.state = gpulua.State("cpu")

    def says(self, kind, text, call):
        with self.assertRaisesRegex(kind, text):
            call()

    def test_names(self):
        for name, near in [("dtype", "default_dtype"), ("sandboxed", "sandbox"), ("memory", "lua_memory or device_memory"), ("stdout", "print")]:
            self.says(TypeError, rf"\[State\] expected the arguments device, sandbox, .* print, got {name}; did you mean {near}\?",
                      lambda: gpulua.State("cpu", **{name: 1}))
        self.says(TypeError, r"got nonsense$", lambda: gpulua.State("cpu", nonsense=1))
        self.says(TypeError, r"up to 1 argument by position, device, got 2; others have names: sandbox, ", lambda: gpulua.State("cpu", True))
        self.says(TypeError, r"\[run\] expected the arguments text, name, deadline, got timeout; did you mean deadline\?",
                  lambda: self.state.run("x = 1", timeout=1))
        self.says(TypeError, r"\[array\] expected the argument value, got dtype; state.array\(x\).astype\(dtype\)",
                  lambda: self.state.array([1], dtype="float32"))

    def test_types_of_options(self):
        for option, value, text in [("sandbox", "yes", "True or False, got 'yes'"), ("kernels", 2, "True or False, got 2"),
                                    ("lua_memory", "1MB", "an integer, bytes, got '1MB'; 256 << 20"), ("launches", 1e6, r"int\(1000000.0\) is one"),
                                    ("device_memory", -1, "from 0 to"), ("print", 3, "a function of a line, got 3"), ("print", [], "a function of a line"),
                                    ("cache_directory", 3, "a path, got 3"), ("default_dtype", 32, '"float32" or "float64", got 32')]:
            self.says((TypeError, ValueError), rf"\[State\] expected {option} .*{text}", lambda: gpulua.State("cpu", **{option: value}))
        self.says(TypeError, "the name of one, such as", lambda: gpulua.State(0))
        self.assertEqual(gpulua.State("cpu", default_dtype=np.float64).eval("gpu.zeros(1)").dtype, "float64")
        self.says(gpulua.ArgumentError, r"\[State\] expected sandbox=True with kernels=True", lambda: gpulua.State("cpu", kernels=True))
        self.says(gpulua.ArgumentError, "the argument device of State", lambda: gpulua.State("gpu"))

    def test_texts_of_dates(self):
        self.state["f"] = lambda x: None
        for dates in (["2024-01-01"], np.array(["2024-01-01"]), np.array(["2024-01-01"], object), np.array([b"2024-01-01"])):
            dates = np.asarray(dates)
            self.says(TypeError, r"x\.astype\('datetime64\[D\]'\)}\) makes a column of dates", lambda: self.state["f"](dates))
            self.state["t"] = self.state.new_table({"x": dates.astype("datetime64[D]")})
            self.assertEqual(self.state.eval("t.x[1]"), "2024-01-01")
        for texts in (np.array(["2024-01-0199"]), np.array(["a"]), np.array([], "U1"), np.array([None])):
            with self.assertRaises(TypeError) as caught:
                self.state["f"](texts)
            self.assertNotIn("datetime64", str(caught.exception))

    def test_scripts_and_deadlines(self):
        self.says(TypeError, r"the text of a script, got b'x=1'; text.decode\(\)", lambda: self.state.run(b"x=1"))
        self.says(TypeError, r"read_text\(\)", lambda: self.state.load(__import__("pathlib").Path("a.lua")))
        with open(__file__) as file:
            self.says(TypeError, r"; file\.read\(\) is its text$", lambda: self.state.run(file))
        self.says(TypeError, r"the script's name.*got 3; state.load\(text\)\(1, 2\) passes arguments", lambda: self.state.run("return ...", 3))
        self.says(TypeError, r"\[eval\] expected the text of an expression", lambda: self.state.eval(""))
        for deadline, text in [("5s", "in seconds, 0 for none, got '5s'"), (-1, "of 0 seconds, for none, or more, got -1"), (float("nan"), "got nan"),
                               (__import__("datetime").timedelta(seconds=1), r"deadline.total_seconds\(\)"), (True, "got True")]:
            self.says((TypeError, ValueError), rf"\[call\] expected deadline.*{text}", lambda: self.state.run("x = 1", deadline=deadline))
        self.assertEqual(self.state.run("return 1", deadline=None), 1)

    def test_uses_of_a_state(self):
        for call, kind, text in [(lambda s: s.x, AttributeError, r"state\['x'\] is the global"), (lambda s: s.execute("x"), AttributeError, "state.run"),
                                 (lambda s: setattr(s, "x", 1), AttributeError, r"state\['x'\] = value"), (lambda s: "x" in s, TypeError, "is not None"),
                                 (list, TypeError, "a loop over a state"), (lambda s: s.__delitem__("x"), TypeError, r"state\['x'\] = None"),
                                 (lambda s: s("x = 1"), TypeError, r"state.run\(text\)"), (lambda s: s[3], TypeError, "a path as a text"),
                                 (lambda s: s.__setitem__("gpu", 1), ValueError, "outside of gpu"),
                                 (lambda s: s.__setitem__("x", range(3)), TypeError, r"list\(x\) is"),
                                 (lambda s: s.new_table([1]), TypeError, r"\[new_table\] expected a dict of columns"),
                                 (lambda s: s.new_table({"a": [1, 2], "b": [1]}), ValueError, r"^\[table\] expected columns of one length, got 1 in column b, 2 in column a"),
                                 (lambda s: s.array(3), TypeError, r"got 3; scripts take it as it is")]:
            self.says(kind, text, lambda: call(self.state))
        self.assertFalse(hasattr(self.state, "_repr_html_"))

    def test_a_missing_number_is_nan(self):
        self.says(TypeError, r"got None at position 1; float\('nan'\) stands for a missing number", lambda: self.state.__setitem__("curve", [0.03, None]))
        self.says(TypeError, r"expected numbers, got NoneType; float\('nan'\) stands for a missing number", lambda: self.state.array([0.03, None]))

    def test_messages_name_what_python_writes(self):
        with gpulua.State("cpu", sandbox=True) as guest:
            self.says(gpulua.Error, r"State\(sandbox=True, kernels=True\) all kernels", lambda: guest.run("gpu.kernel('__global__ void k() {}', 'k')"))
            self.says(gpulua.Error, r'a sandbox has no io: .* what they may reach, state\["name"\] = value', lambda: guest.run("io.open('x')"))
            self.says(gpulua.Error, "State\(default_dtype='float64'\) sets it", lambda: guest.run("gpu.default_dtype 'float64'"))
        self.state.run("k = gpu.kernel('__global__ void k(float* x) { x[0] = 1; }', 'k')")
        k, x = self.state["k"], self.state["gpu.ones"](3)
        self.says(gpulua.Error, r"as in k\['over'\]\(k, count\)\(arguments\) or k\(grid=n, block=256\)\(arguments\) in Python",
                  lambda: k(x))
        self.says(gpulua.Error, r"expected k\['over'\]\(k, count\)\(arguments...\), the object first", lambda: k["over"](3))
        self.says(AttributeError, r"x\['over'\]\(x, arguments\) calls a method", lambda: k.over(3))
        k["over"](k, 1)(x)
        k(grid=1, block=32)(x)
        self.assertEqual(x.tolist(), [1, 1, 1])

    def test_launches_advise_in_python(self):
        k = self.state.eval("gpu.kernel('__global__ void k(float* x, int n) { x[0] = 1; }', 'k')")
        x = self.state["gpu.zeros"](3, "float64")
        for launch in (lambda: k(grid=1, block=1)(x, 3), lambda: k["over"](k, 3)(x, 3)):
            self.says(gpulua.Error, r'the memory itself is to be of float32: x\.astype\("float32"\) is a copy$', launch)
        self.says(gpulua.Error, r"the memory itself is to be row-major: x\.copy\(\) is a copy", lambda: k(grid=1, block=1)(self.state.eval("gpu.zeros(3, 4).T"), 3))
        # A script's launch advises in Lua.
        self.state["x"], self.state["k"] = x, k
        self.says(gpulua.Error, r'x:astype\("float32"\) is a copy', lambda: self.state.run("k {grid = 1, block = 1}(x, 3)"))

    def test_functions_of_python_that_fail(self):
        def read():
            try:
                raise ValueError("socket closed")
            except ValueError as error:
                raise RuntimeError("cannot read port") from error

        def look():
            try:
                raise KeyError("rate")
            except KeyError:
                raise LookupError("no such model")
        self.state["read"], self.state["look"], self.state["price"] = read, look, lambda spots, strike: spots * strike
        self.says(gpulua.Error, "^python:1: RuntimeError: cannot read port\ncaused by: ValueError: socket closed\n", lambda: self.state.run("read()"))
        self.says(gpulua.Error, "LookupError: no such model\ncaused by: KeyError: 'rate'\n", lambda: self.state.run("look()"))
        try:
            raise OSError("of the caller")
        except OSError:
            with self.assertRaises(gpulua.Error) as context:
                self.state.run("read()")
        self.assertNotIn("of the caller", str(context.exception))
        self.says(gpulua.Error, "argument 1 is None, as the call got nil; the global 'sptos' is not defined\n",
                  lambda: self.state.run("local value = price(sptos, 3)"))

    def test_states_in_functions(self):
        inner = gpulua.State("cpu")
        inner.run("function spin() while true do end end")
        self.state["work"] = lambda: inner["spin"](deadline=0.02)
        self.says(gpulua.DeadlineError, "the call's deadline of 20 ms has passed", lambda: self.state.run("work()"))
        self.assertFalse(self.state.run("return (pcall(work))"))
        self.state["quit"] = self.state.close
        self.says(gpulua.Error, r"\[close\] expected no callback of this state to run, got 'quit', which python:2 has called", lambda: self.state.run("\nquit()"))

    def test_limits_name_their_argument(self):
        state = gpulua.State("cpu", compilations=1, blocks=2, device_memory=1 << 20, lua_memory=32 << 20)
        for text, name in [("gpu.exp(gpu.ones(3)):eval() gpu.sin(gpu.ones(3, 4)):sum():eval()", "compilations"),
                           ("gpu.ones(1000000):eval()", "device_memory"), ("local t = {} for i = 1, 1e8 do t[i] = {} end", "lua_memory"),
                           ("gpu.kernel('__global__ void k(float* x) { x[0] = 1; }', 'k') {grid = 100, block = 1}(gpu.ones(3))", "blocks")]:
            self.says(gpulua.Error, rf"State\({name}=\.\.\.\)", lambda: state.run(text))

    def test_messages_begin_with_what_was_called(self):
        x = self.state["gpu.ones"](3)
        for call, op in [(lambda: self.state.array("x"), "array"), (lambda: self.state["nothing"], "State"), (lambda: x[5], "index"),
                         (lambda: x.astype("float99"), "astype"), (lambda: x.sum(axis=3), "sum"), (lambda: x.tobytes() and x.item(), "item"),
                         (lambda: __import__("pickle").dumps(x), "pickle"), (lambda: x + [1], "operator"), (lambda: xp.zeros("a"), "zeros"),
                         (lambda: xp.linalg.cross(x, x, axis=4), "linalg.cross"), (lambda: self.state.run("x = 1", deadline=-1), "call")]:
            self.says(Exception, rf"^\[{op}\] expected ", call)
        self.says(gpulua.ScriptSyntaxError, r"this looks like a path.*read_text\(\)", lambda: self.state.run("plugins/my plugin.lua"))

    def test_arrays_as_numbers(self):
        x = self.state["gpu.arange"](3)
        for use in (lambda: bool(x), lambda: x and 1, lambda: 0 < x < 2, lambda: bool(x[:0])):
            self.says(ValueError, r"\[bool\] expected an array of one element as a condition, got shape \(\d,\); x.any\(\) and x.all\(\)", use)
        self.assertTrue(bool(x[1:2]))
        self.says(ValueError, r"\[item\] expected an array of one element, got one of 3; x\[0\].item\(\)", lambda: float(x))
        self.says(TypeError, r"\[item\] expected no arguments, got 1; x\[0\].item\(\)", lambda: x.item(0))
        self.says(AttributeError, r"x.reshape\(\(3, 1\)\)", lambda: setattr(x, "shape", (3, 1)))
        self.says(AttributeError, r"x.astype\('float64'\)", lambda: setattr(x, "dtype", "float64"))
        self.says(AttributeError, "no attribute 'other'", lambda: setattr(x, "other", 1))
        self.says(AttributeError, r"x.to_device\('cpu'\)", lambda: x.cpu())
        self.says(TypeError, "expected an axis, an integer from -1 to 0, got 'rows'", lambda: x.sum(axis="rows"))


class Names(unittest.TestCase):
    def test_functions_of_lua(self):
        x = xp.ones(3)
        with self.assertRaisesRegex(AttributeError, r"no attribute 'quantile'; Lua has gpu.quantile: state\['gpu.quantile'\]\(x\), with axes from 1"):
            x.quantile(0.5)
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'$"):
            x.nothing
        self.assertFalse(hasattr(x, "__array_interface__"))
        with self.assertRaisesRegex(AttributeError, "has no 'normcdf'.*gpu.normcdf"):
            xp.normcdf

    def test_namespace_without_a_state(self):
        from gpulua._xp import Namespace
        with self.assertRaisesRegex(AttributeError, r"where Lua has gpu.normcdf, it is state\['gpu.normcdf'\] of a gpulua.State"):
            Namespace(lambda: None).normcdf

    def test_arrays_of_states(self):
        one, other = gpulua.State("cpu"), gpulua.State("cpu")
        x, y = one["gpu.ones"](3), other["gpu.ones"](3)
        with self.assertRaisesRegex(gpulua.ArgumentError, r"an array of this state, got one of another state; state.array\(x.numpy\(\)\) copies"):
            x + y
        one.close()
        for use in (lambda: x.sum(), lambda: x.shape, lambda: x.numpy(), lambda: x.dtype):
            with self.assertRaisesRegex(gpulua.ArgumentError, r"an array of an open state, got one whose state was closed; x.numpy\(\)"):
                use()

    def test_statements_for_expressions(self):
        for text in ("local x = 1; return x", "x = 1", "for i = 1, 2 do end", "return 1"):
            with self.assertRaisesRegex(gpulua.ScriptSyntaxError, "state.eval takes an expression, state.run statements"):
                gpulua.State("cpu").eval(text)
        with self.assertRaisesRegex(gpulua.ScriptSyntaxError, "near '<eof>'$|near '\\+'$|<eof>"):
            gpulua.State("cpu").eval("1 +")

    def test_what_cannot_be_set_names_the_path(self):
        with gpulua.State("cpu") as state:
            for value in (object(), 2**64, {"x": object()}, [object()]):
                with self.assertRaisesRegex((TypeError, OverflowError), r"^\[State\] 'model\.rate': expected .*, got "):
                    state["model.rate"] = value
            self.assertIsNone(state.eval("model"))

    def test_scripts_that_give_no_result(self):
        with gpulua.State("cpu") as state:
            for use in (state.table, state.array):
                with self.assertRaisesRegex(TypeError, "got None; state.run gives None for a script without `return value`"):
                    use(state.run("function price(x) return x end"))
            self.assertEqual(state["price"](3), 3)


class Magics(unittest.TestCase):
    def setUp(self):
        functions = {}
        self.shell = types.SimpleNamespace(user_ns={"x": np.arange(4.0)},
                                           register_magic_function=lambda fn, kind, name: functions.__setitem__((kind, name), fn))
        gpulua.load_ipython_extension(self.shell)
        self.cell, self.line = functions["cell", "gpulua"], functions["line", "gpulua"]

    def test_outputs(self):
        with self.assertRaisesRegex(NameError, "after -o, got w, which is nil$"):
            self.cell("-o w --device cpu", "q = 3")
        with self.assertRaisesRegex(NameError, "a local variable ends with its cell"):
            self.cell("-i x -o x2", "local x2 = x * 2")
        self.assertEqual(self.line("-i x x:sum():item()"), 6)
        self.line("-i x -o y y = x + 1")
        np.testing.assert_array_equal(self.shell.user_ns["y"].numpy(), [1, 2, 3, 4])
        with self.assertRaisesRegex(ValueError, "got -q"):
            self.cell("-q", "")

    def test_results(self):
        for code, result in [("6 * 7", 42), ("x = 2\nx + 1 -- more", 3), ("x = 2; x + 2", 4), ("x + 2;", None), ("1, 'two'\n", (1, "two")), ("", None),
                             ("function f() return 3 end\nf()", 3), ("return 8", 8), ("for i = 1, 2 do\n  x = i\nend", None), ("y = 5\n- 3", None)]:
            self.assertEqual(self.cell("--device cpu", code), result, code)
        with self.assertRaisesRegex(gpulua.Error, "^cell:3: "):
            self.cell("", "x = 1\n\nerror 'no'")
        with self.assertRaisesRegex(gpulua.ScriptSyntaxError, "^cell:2: "):
            self.cell("", "x = 1\nx = = 1")
        for code, hint in [("x = 1\n\n%timeit (x)", "lines with % are IPython's: gpu.benchmark"),
                           ("x = 1\n\n%%gpulua\ny = 2", "begin a line and a cell of Python's notebooks")]:
            with self.assertRaisesRegex(gpulua.ScriptSyntaxError, "^cell:3: (.|\n)*" + hint):
                self.cell("", code)
        self.assertEqual(self.cell("", "s = [[\n%timeit]]; #s"), 7)
        forms = self.cell("", "gpu.plot.line {1, 4, 9}")._repr_mimebundle_()
        self.assertEqual([row["y"] for row in forms["application/vnd.vegalite.v5+json"]["layer"][0]["data"]["values"]], [1, 4, 9])
        self.assertIn("<table", self.cell("", "gpu.table {a = {1, 2}}")._repr_mimebundle_()["text/html"])
        self.assertEqual(list(self.cell("", "gpu.kernel")._repr_mimebundle_()), ["text/plain"])


if __name__ == "__main__":
    unittest.main()

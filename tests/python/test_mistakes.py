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
            Namespace(None).normcdf

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
        forms = self.cell("", "gpu.plot.line {1, 4, 9}")._repr_mimebundle_()
        self.assertEqual([row["y"] for row in forms["application/vnd.vegalite.v5+json"]["layer"][0]["data"]["values"]], [1, 4, 9])
        self.assertIn("<table", self.cell("", "gpu.table {a = {1, 2}}")._repr_mimebundle_()["text/html"])
        self.assertEqual(list(self.cell("", "gpu.kernel")._repr_mimebundle_()), ["text/plain"])


if __name__ == "__main__":
    unittest.main()

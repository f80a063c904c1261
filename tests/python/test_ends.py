"""The package gpulua where something ends: errors that the device finds, exceptions in functions of Python's, copies, closed states."""
import copy
import gc
import pickle
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import gpulua


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

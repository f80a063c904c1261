"""What the traceback of an error shows, and which names it asks about."""
import os
import traceback
import unittest

import gpulua
from gpulua import xp


class Tracebacks(unittest.TestCase):
    def frames(self, call):
        """The files and functions of the frames of an error, without that of the call itself."""
        try:
            call()
        except Exception as error:
            return [(os.path.basename(frame.filename), frame.name) for frame in traceback.extract_tb(error.__traceback__)][1:]
        self.fail("expected an error")

    def test_one_frame_of_the_package(self):
        state = gpulua.State("cpu")
        state.run("function f(x) error 'no' end function g(h) local y = h(1) return y end")
        here, x = os.path.basename(__file__), xp.ones(3)
        for call in (lambda: state.run("error 'no'"), lambda: state.run(5), lambda: state.eval("x +"), lambda: state["f"](1), lambda: state["f"]([1]),
                     lambda: state["ff"], lambda: state["gpu.add"](1), lambda: gpulua.State("tpu"), lambda: gpulua.State(lua_memory="x"),
                     lambda: state.array(5), lambda: x + xp.ones(4), lambda: x[7], lambda: xp.zeros(2, dtype=list), lambda: x.reshape(5),
                     lambda: xp.linalg.inv(x), lambda: xp.concatenated(x), lambda: state.__setitem__("t", object())):
            names = self.frames(call)
            self.assertEqual([name for name, _ in names].count(here), 1, names)  # the lambda
            self.assertEqual(len(names), 2, names)

    def test_frames_of_the_caller(self):
        state = gpulua.State("cpu")

        def inner(_):
            raise OSError("the port is shut")

        with self.assertRaises(gpulua.Error) as caught:
            state["port"] = inner
            state.run("port(1)")
        self.assertIsInstance(caught.exception.__cause__, OSError)
        self.assertEqual(traceback.extract_tb(caught.exception.__cause__.__traceback__)[-1].name, "inner")

        class Wrong:
            def __index__(self):
                raise OverflowError("too much")
        names = [name for _, name in self.frames(lambda: gpulua.State(lua_memory=Wrong()))]
        self.assertEqual(names[-1], "__index__")

    def test_names_of_one_letter(self):
        state = gpulua.State("cpu")
        state.run("function f() end dt = 1")
        for wrong, right in (("ff", "f"), ("dtt", "dt"), ("ddt", "dt")):
            with self.assertRaisesRegex(KeyError, f"did you mean {right}\\?"):
                state[wrong]
        with self.assertRaises(KeyError) as caught:
            state["fx"]
        self.assertNotIn("did you mean", str(caught.exception))


if __name__ == "__main__":
    unittest.main()

"""Functions of Python's that Lua calls, and that call Lua again."""
import threading
import unittest

import numpy as np

import gpulua


class Nested(unittest.TestCase):
    def test_exceptions_three_levels_deep(self):
        class Jam(Exception):
            def __init__(self, port):
                super().__init__(f"port {port} is jammed")
                self.port = port

        def causes(use):
            """The chain of an exception's causes, from the outermost."""
            with self.assertRaises(Exception) as caught:
                use()
            error, chain = caught.exception, []
            while error is not None:
                chain.append(error)
                error = error.__cause__
            return chain

        with gpulua.State("cpu") as state:
            def jam(*_):
                raise Jam(3)
            for jams, two, one in [(jam, lambda: state.run("jam()", "two"), lambda: state.run("two()", "one")),
                                   (lambda _: jam(), lambda _: state["jam"]([1]), lambda _: state["two"]({"a": 1}))]:
                state["jam"], state["two"], state["one"] = jams, two, one
                call = (lambda: state.run("one()", "zero")) if two.__code__.co_argcount == 0 else (lambda: state["one"]([2]))
                chain = causes(call)
                self.assertEqual([type(error) for error in chain], [gpulua.Error, gpulua.Error, gpulua.Error, Jam])
                self.assertEqual(chain[-1].port, 3)
                for error in chain[:-1]:
                    self.assertIn("Jam: port 3 is jammed", str(error).split("stack traceback")[0])

            def answers():
                try:
                    state.run("jam()")
                except gpulua.Error as error:
                    raise Jam(2) from error
            state["jam"], state["answers"] = jam, answers
            chain = causes(lambda: state.run("answers()"))
            self.assertEqual([(type(error), getattr(error, "port", 0)) for error in chain],
                             [(gpulua.Error, 0), (Jam, 2), (gpulua.Error, 0), (Jam, 3)])

            # What a call in between has done is not the script's error.
            state["calm"] = lambda: state.run("pcall(jam)")
            self.assertEqual(causes(lambda: state.run("local _, why = pcall(answers); calm(); error(why, 0)"))[1].port, 2)
            self.assertEqual(len(causes(lambda: state.run("pcall(jam); error 'of the script'"))), 1)

            for message in ("", "zero \0 and \udc80, é\nand a line"):
                def fails():
                    raise KeyError() if not message else Jam(message)
                state["fails"] = fails
                self.assertEqual([type(error) for error in causes(lambda: state.run("fails()"))][1:], [Jam if message else KeyError])

            class Mute(Exception):
                def __str__(self):
                    raise ValueError
            def mute():
                raise Mute
            state["fails"] = mute
            chain = causes(lambda: state.run("fails()"))
            self.assertIsInstance(chain[1], Mute)
            self.assertIn("Mute: a message that fails with ValueError", str(chain[0]))

            def stops():
                raise SystemExit(4)
            state["stops"], state["two"] = stops, lambda: state.run("pcall(stops)")
            with self.assertRaises(SystemExit):
                state.run("pcall(two)")
            with gpulua.State("cpu") as other:
                other["jam"] = lambda: state.run("jam()")
                state["away"] = lambda: other.run("jam()")
                self.assertIsInstance(causes(lambda: state.run("away()"))[-1], Jam)
            self.assertEqual(state.eval("1 + 1"), 2)

    def test_functions_that_call_lua(self):
        with gpulua.State("cpu") as state:
            state["shifted"] = lambda x: (x + 1) * 2
            self.assertEqual(state["shifted"](np.arange(3.0)).tolist(), [2, 4, 6])
            state.run("function down(n) if n == 0 then return 0 end return up(n - 1) + 1 end")
            state["up"] = lambda n: state["down"](n)
            self.assertEqual(state["down"](20), 20)
            state["endless"] = lambda: state.run("endless()")
            with self.assertRaises(gpulua.Error):
                state.run("endless()")
            state["loops"] = lambda: state.run("while true do end")
            with self.assertRaises(gpulua.DeadlineError):
                state.run("pcall(loops)", deadline=0.05)
            # A deadline in a callback ends that call alone.
            state["hasty"] = lambda: state.run("while true do end", deadline=0.05)
            good, why, n = state.run("local good, why = pcall(hasty); local n = 0; for i = 1, 1e5 do n = n + 1 end; return good, why, n")
            self.assertEqual((good, n), (False, 1e5))
            self.assertIn("the call's deadline of 50 ms has passed", why)
            with self.assertRaisesRegex(gpulua.Error, "^python:1: DeadlineError") as caught:
                state.run("return hasty()")
            self.assertIsInstance(caught.exception.__cause__, gpulua.DeadlineError)

    def test_the_line_of_a_tail_call(self):
        def shut(*_):
            raise ValueError("no port")
        with gpulua.State("cpu") as state:
            state["shut"] = shut
            for text, line in [("\nreturn shut()", 2), ("\n\nreturn shut({1})", 3), ("\nlocal x = shut()", 2),
                               ("local function f()\n  return shut()\nend\nlocal y = f()", 2)]:
                with self.assertRaisesRegex(gpulua.Error, rf"^port.lua:{line}: ValueError: no port") as caught:
                    state.run(text, "port.lua")
                self.assertNotIn("gpulua:", str(caught.exception))
            self.assertEqual(state.run("\nreturn pcall(shut)"), (False, "python:2: ValueError: no port"))

    def test_a_state_that_another_thread_works_in(self):
        with gpulua.State("cpu") as state:
            with self.assertRaisesRegex(gpulua.Error, "an error of before"):
                state.run("error 'an error of before'")
            messages = []

            def meanwhile():
                def use():
                    try:
                        state.run("return")
                    except gpulua.Error as error:
                        messages.append(str(error))
                thread = threading.Thread(target=use)
                thread.start()
                thread.join()
            state["meanwhile"] = meanwhile
            state.run("meanwhile()")
            self.assertEqual(messages, ["[run] another thread works in this state: one at a time can; give each "
                                    "thread a state of its own, or a mutex for all calls"])
            state["ends"] = state.close
            with self.assertRaisesRegex(gpulua.Error, "expected no callback of this state to run"):
                state.run("ends()")
            self.assertEqual(state.eval("1 + 1"), 2)


if __name__ == "__main__":
    unittest.main()

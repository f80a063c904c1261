"""bench/python/calls.py: what calls from Python cost, in microseconds, and beside the call with an Array or NumPy's own function. The least of
several rounds, which alternate, so that a busy machine counts little. Needs the package and NumPy; any device."""
import time

import numpy as np

import gpulua

state = gpulua.State()
given = np.ones(16)
x = state.array(given)
same, nothing = state.load("local x = ...; return x"), state.load("return 1")

rows = [
    ("a call without arguments", lambda: nothing(), None),
    ("with an Array", lambda: same(x), None),
    ("with an array of NumPy", lambda: same(given), "with an Array"),
    ("with two options", lambda: nothing(scale=2, name="x"), "with an Array"),
    ("with a list of three numbers", lambda: nothing([1, 2, 3]), "with an Array"),
    ("run: load, and a call that Ctrl-C stops", lambda: state.run("return 1"), "with an Array"),
    ("numpy.from_dlpack(x)", lambda: np.from_dlpack(x), None),
    ("x.numpy()", lambda: x.numpy(), "numpy.from_dlpack(x)"),
    ("x + x", lambda: x + x, "with an Array"),
    ("x[1:3]", lambda: x[1:3], "with an Array"),
    ("x.sum(0)", lambda: x.sum(0), "with an Array"),
]

calls, rounds = 20, 300
least = {name: float("inf") for name, _, _ in rows}
for _ in range(rounds):
    for name, call, _ in rows:
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        least[name] = min(least[name], (time.perf_counter() - begin) / calls)

for name, _, peer in rows:
    print(f"{name:42}{1e6 * least[name]:8.1f}" + (f"{least[name] / least[peer]:8.2f} x {peer}" if peer else ""))

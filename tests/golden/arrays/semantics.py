"""Writes semantics.lua: promotion between arrays, arrays without elements and without dimensions, index arrays apart."""

import itertools
import os
import warnings

import numpy as np

from cases import Cases

warnings.simplefilter("ignore")  # means of nothing
rng = np.random.default_rng(4)
dtypes = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
          "complex64", "complex128"]
inputs = {f"x_{dtype}": np.array([1, 0, 1], dtype) for dtype in dtypes}
empty = {
    "e": np.zeros((0,), np.float32),
    "z": np.zeros((0, 3), np.float32),
    "y": np.zeros((2, 0), np.float32),
    "w": np.zeros((2, 0, 3), np.int32),
    "b": np.zeros((0, 2), bool),
    "h": np.zeros((3, 0), np.float16),
}
scalar = {"s": np.array(0.5, np.float32), "k": np.array(-7, np.int32), "q": np.array(True)}
inputs |= {**empty, **scalar} | {
    "one": np.array([2.0], np.float32),
    "t": rng.integers(-99, 99, (3, 4, 5)).astype(np.int16),
    "f": rng.integers(-99, 99, (2, 3, 4, 5)).astype(np.int16),
    "i": np.array([1, 3, 2], np.int64),
    "j": np.array([[4, 1, 2], [3, 3, 1]], np.int64),
    "pair": np.array([5, 1], np.int64),
    "mask": np.array([True, False, True]),
}
cases = Cases(inputs)
add = cases.add


def try_add(lua, python, dtype=None):
    """Where NumPy raises, numpy_semantics_spec.lua says what we do."""
    try:
        add(lua, python, dtype)
    except (ValueError, TypeError, np.exceptions.AxisError):
        pass


# ---- 8: promotion --------------------------------------------------------------------------------------------------------------

for a, b in itertools.combinations_with_replacement(dtypes, 2):
    add(f"x_{a} * x_{b}")

# ---- 5: empty reductions ---------------------------------------------------------------------------------------------------------

for name, x in {**empty, **scalar}.items():
    axes = [("", "None")] + [(str(axis + 1), str(axis)) for axis in range(x.ndim)]
    if x.ndim > 1:
        axes += [("-1", "-1"), ("{1, 2}", "(0, 1)")]
    for ours, theirs in axes:
        for keep in (False, True) if x.ndim else (False,):
            options = "{keepdims = true}" if keep else ""
            arguments = "(" + ", ".join(filter(None, (ours, options))) + ")"
            rest = f"(axis={theirs}, keepdims={keep})"
            for reducer in ("sum", "prod", "any", "all", "max", "min"):
                try_add(f"{name}:{reducer}{arguments}", f"{name}.{reducer}{rest}")
            for reducer in ("mean", "var", "std"):
                dtype = None if x.dtype.kind == "f" else "float32"
                try_add(f"{name}:{reducer}{arguments}", f"{name}.{reducer}{rest}", dtype)
            if not ours.startswith("{"):
                for reducer in ("argmax", "argmin"):
                    try_add(f"{name}:{reducer}{arguments}", f"{name}.{reducer}{rest} + 1", "int64")
                try_add(f"{name}:count_nonzero{arguments}", f"np.count_nonzero({name}, axis={theirs}, keepdims={keep})", "int64")

# ---- 12: index arrays apart from each other --------------------------------------------------------------------------------------

for ours, theirs in {
    't(i, ":", i)': "t[i-1, :, i-1]",
    't(":", i, i)': "t[:, i-1, i-1]",
    't(i, ":", 2)': "t[i-1, :, 1]",
    't(2, ":", i)': "t[1, :, i-1]",
    't(":", i, 2)': "t[:, i-1, 1]",
    'f(":", i, ":", i)': "f[:, i-1, :, i-1]",
    'f(":", i, i, ":")': "f[:, i-1, i-1, :]",
    'f(1, i, ":", i)': "f[0, i-1, :, i-1]",
    'f(":", i, "::-1", j)': "f[:, i-1, ::-1, j-1]",
    'f("...", i, j)': "f[..., i-1, j-1]",
    'f(":", i, gpu.newaxis, j)': "f[:, i-1, None, j-1]",
    'f(":", mask, "2:3", pair)': "f[:, mask, 1:3, pair-1]",
    't(i, gpu.newaxis, ":", i)': "t[i-1, None, :, i-1]",
}.items():
    add(ours, theirs)

# ---- 13: no elements, no dimensions ----------------------------------------------------------------------------------------------

unary = ["exp", "negative", "abs", "square", "floor", "isnan", "logical_not", "sign", "rint"]
for name, x in {**empty, **scalar}.items():
    for function in unary:
        if x.dtype.kind == "b" and function in ("floor", "square"):  # stays bool
            continue
        # Functions of real numbers give float32 for integers and bool.
        cast = ".astype('float32')" if x.dtype.kind != "f" and function in ("exp", "rint") else ""
        try_add(f"gpu.{function}({name})", f"np.{function}({name}{cast})")
    for other in ("one", "s"):
        if x.dtype == np.float32:
            add(f"{name} + {other}", f"np.add({name}, {other})", "float32")
        add(f"gpu.lt({name}, {other})", f"np.less({name}, {other})")
    add(f"{name}:copy()", f"{name}.copy()")
    add(f"{name}:astype('float64')", f"{name}.astype('float64')")
    add(f"{name}:flatten()", f"{name}.ravel()")
    add(f"{name}.T", f"{name}.T")
    add(f"{name}:flip()", f"np.flip({name})")
    add(f"{name}(gpu.newaxis, '...')", f"{name}[None, ...]")
    add(f"gpu.stack({{{name}, {name}}})", f"np.stack([{name}, {name}])")
    add(f"gpu.where({name}, {name}, {name})", f"np.where({name}, {name}, {name})")
    add(f"gpu.zeros_like({name})", f"np.zeros_like({name})")
    add(f"{name}:cumsum()", f"{name}.cumsum()", None if x.dtype.kind == "f" else "int64")
    if x.ndim:
        add(f"{name}:sort()", f"np.sort({name})")
        add(f"{name}:argsort()", f"np.argsort({name}, kind='stable') + 1")
        add(f"{name}:cumsum(1)", f"{name}.cumsum(0)", None if x.dtype.kind == "f" else "int64")
        add(f"gpu.concat({{{name}, {name}}})", f"np.concatenate([{name}, {name}])")
        add(f"{name}:roll(1)", f"np.roll({name}, 1)")
        add(f"{name}:tile(2)", f"np.tile({name}, 2)")
        add(f"{name}:repeat_interleave(3)", f"np.repeat({name}, 3)")
        add(f"{name}('::-1')", f"{name}[::-1]")
        add(f"{name}:unique()", f"np.unique({name})")
        add(f"{name}({name}:ge(0))", f"{name}[{name} >= 0]")
        add(f"{name}:flatnonzero()", f"np.flatnonzero({name}) + 1")
        add(f"{name}:take(gpu.zeros(0, 'int64'))", f"{name}.take(np.zeros(0, int))")
add("e + z(':', 1)", "e + z[:, 0]")
add("z + one", "z + one")
add("z + z:sum(1)", "z + z.sum(0)")
add("y:reshape(0, 2)", "y.reshape(0, 2)")
add("y:reshape(0, 5, 7)", "y.reshape(0, 5, 7)")
add("gpu.pad(e, 2)", "np.pad(e, 2)")
add("gpu.concat({z, gpu.ones(1, 3)})", "np.concatenate([z, np.ones((1, 3), 'float32')])")
add("gpu.ones(3, 0):matmul(gpu.ones(0, 2))", "np.ones((3, 0), 'float32') @ np.ones((0, 2), 'float32')")
add("gpu.ones(0, 3):matmul(gpu.ones(3, 2))", "np.ones((0, 3), 'float32') @ np.ones((3, 2), 'float32')")
add("s + k")
add("gpu.arange(0)", "np.arange(0)")
add("gpu.arange(3, 3)", "np.arange(3, 3)")
add("gpu.linspace(0, 1, 0)", "np.linspace(0, 1, 0, dtype='float32')")
add("gpu.eye(0)", "np.eye(0, dtype='float32')")
add("gpu.diag(e)", "np.diag(e)")
add("gpu.histogram(e, 3, {range = {0, 1}})", "np.histogram(e, 3, range=(0, 1))")

cases.write(os.path.join(os.path.dirname(os.path.abspath(__file__)), "semantics.lua"), "tests/golden/arrays/semantics.py")

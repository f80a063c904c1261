"""Writes products.lua: products of matrices and vectors, of each dtype and layout. The elements are small integers, so that each
product and sum is exact."""

import itertools
import os
import re

import ml_dtypes
import numpy as np

from cases import Cases

rng = np.random.default_rng(14)

dtypes = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
          "float64", "complex64", "complex128"]


def some(dtype, *shape):
    if dtype == "bool":
        return rng.random(shape) < 0.3
    low = 0 if dtype.startswith("uint") else -3
    x = rng.integers(low, 4, shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.integers(low, 4, shape)
    return x.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


inputs = {}
for dtype in dtypes:
    inputs[f"v_{dtype}"] = some(dtype, 5)
    inputs[f"m_{dtype}"] = some(dtype, 4, 5)
    inputs[f"n_{dtype}"] = some(dtype, 5, 35 if dtype in ("int32", "float32") else 9)
    inputs[f"t_{dtype}"] = some(dtype, 2, 3, 4, 5)
inputs["big_int8"] = rng.integers(-128, 128, (9, 9)).astype(np.int8)  # sums wrap
inputs["big_int64"] = rng.integers(-2**50, 2**50, (5, 5))
inputs["k0"] = np.zeros((3, 0), np.float32)
inputs["l0"] = np.zeros((0, 2), np.float32)
inputs["b0"] = np.zeros((0, 3, 4), np.int32)

cases = Cases(inputs)

# An operand on the left with 5 columns or on the right with 5 rows, in Lua and in Python.
left = {
    "v": "v", "m": "m", "t": "t", "n.T": "n.T", 'm("::-1", ":")': "m[::-1]", 'm(":", "::-1")': "m[:, ::-1]",
    'n(":", "3:9:4").T': "n[:, 2:9:4].T", 'n(":", "3:7").T': "n[:, 2:7].T",
    "t:transpose(2, 1, 3, 4)": "t.transpose(1, 0, 2, 3)", 't(":", 2)': "t[:, 1]", 't("::-1", ":", "2:3")': "t[::-1, :, 1:3]",
    "m:broadcast_to(2, 1, 4, 5)": "np.broadcast_to(m, (2, 1, 4, 5))",
    "v:broadcast_to(3, 5)": "np.broadcast_to(v, (3, 5))",
    't(":", ":", {1, 1})': "t[:, :, 0:1]",
}
right = {
    "v": "v", "n": "n", "m.T": "m.T", 'n(":", "::-2")': "n[:, ::-2]", 'n(":", {4, 4})': "n[:, 3:4]", 'n("::-1", ":")': "n[::-1]",
    "t:transpose(1, 2, 4, 3)": "t.transpose(0, 1, 3, 2)", "t:transpose(2, 1, 4, 3)": "t.transpose(1, 0, 3, 2)",
    't:transpose(1, 2, 4, 3)({1, 1}, ":", ":", "::2")': "t.transpose(0, 1, 3, 2)[0:1, :, :, ::2]",
}


def of(dtype, text):
    """The text with the operands' names of that dtype."""
    return re.sub(r"\b([vmnt])\b", rf"\1_{dtype}", text)


for dtype in dtypes:
    pairs = itertools.product(left.items(), right.items())
    for i, ((a, py_a), (b, py_b)) in enumerate(pairs):
        # All of them for one dtype of each kind of product, a part for the others.
        if dtype not in ("int32", "float32", "complex64") and i % 7:
            continue
        try:
            value = eval(f"np.matmul({of(dtype, py_a)}, {of(dtype, py_b)})", {"np": np, **inputs})
        except ValueError:
            continue
        if value.size <= 840:
            # NumPy's products of bfloat16 are float32.
            cases.add(of(dtype, f"gpu.matmul({a}, {b})"), value, dtype=inputs[f"m_{dtype}"].dtype)

for a, b in [("int8", "int16"), ("int32", "float32"), ("uint8", "int8"), ("bool", "float16"), ("float32", "complex64"),
             ("bool", "int32"), ("int64", "uint64"), ("float64", "float16")]:
    cases.add(f"m_{a}:matmul(n_{b})", f"m_{a} @ n_{b}")

for dtype in dtypes:
    own = inputs[f"m_{dtype}"].dtype
    for call in ["dot(v, v)", "dot(m, v)", "dot(m, n)", "dot(v, n)", "dot(t, n)", "dot(n.T, m.T)", "inner(v, v)", "inner(m, v)",
                 "inner(v, m)", "inner(n.T, m)", "inner(t, m)", "outer(v, v)", "outer(m, v)", "vdot(v, v)", "vdot(m, m)",
                 "kron(v, m)", "kron(m, v)", "kron(t, m)", "vecdot(t, v)", "vecdot(t, t)", "vecdot(t, m, -2)",
                 "tensordot(m, n, 1)", "tensordot(m, v, 0)"]:
        cases.add(of(dtype, f"gpu.{call}"), of(dtype, "np." + call.replace(", -2)", ", axis=-2)")), dtype=own)
    for lua, python in [
            ("dot(t(1, 2, 3, 4), m)", "dot(t[0, 1, 2, 3], m)"), ("inner(m, t(1, 2, 3, 4))", "inner(m, t[0, 1, 2, 3])"),
            ("dot(v, t:transpose(1, 2, 4, 3))", "dot(v, t.transpose(0, 1, 3, 2))"),
            ("dot(t, t:transpose(1, 2, 4, 3))", "dot(t, t.transpose(0, 1, 3, 2))"),
            ('kron(t("::-1", ":", 2), v)', "kron(t[::-1, :, 1], v)"),
            ("tensordot(t, t:transpose(3, 4, 1, 2))", "tensordot(t, t.transpose(2, 3, 0, 1))"),
            ("tensordot(t, t, {{4, 1}, {4, -4}})", "tensordot(t, t, ([3, 0], [3, 0]))"),
            ("tensordot(t, t, {{1, 2, 3, 4}, {1, 2, 3, 4}})", "tensordot(t, t, 4)"),
            ("tensordot(m, t, {2, 4})", "tensordot(m, t, (1, 3))")]:
        cases.add(of(dtype, f"gpu.{lua}"), of(dtype, f"np.{python}"), dtype=own)

for dtype in ["complex64", "complex128"]:
    for lua, python in [("n.T:conj(), n", "n.T.conj(), n"), ("m, m.T:conj()", "m, m.T.conj()"), ("m:conj(), m.T", "m.conj(), m.T"),
                        ("n.T:conj(), t:transpose(1, 2, 4, 3):conj()", "n.T.conj(), t.transpose(0, 1, 3, 2).conj()")]:
        cases.add(of(dtype, f"gpu.matmul({lua})"), of(dtype, f"np.matmul({python})"))

for a, b in [("k0", "l0.T"), ("l0.T", "k0")]:
    cases.add(f"gpu.inner({a}, {b})", f"np.inner({a}, {b})")
cases.add("gpu.vdot(k0, l0)", "np.vdot(k0, l0)")
cases.add("gpu.kron(k0, m_float32)", "np.kron(k0, m_float32)")
cases.add("gpu.outer(l0, v_float32)", "np.outer(l0, v_float32)")
cases.add("gpu.tensordot(k0, l0, 1)", "np.tensordot(k0, l0, 1)")
cases.add("gpu.tensordot(k0, k0, {{1, 2}, {1, 2}})", "np.tensordot(k0, k0, ([0, 1], [0, 1]))")
cases.add("gpu.dot(m_int32, n_float32)", "np.dot(m_int32, n_float32)")
cases.add("gpu.vecdot(m_int8, v_int16)", "np.vecdot(m_int8, v_int16)")

cases.add("big_int8:matmul(big_int8)", "big_int8 @ big_int8")
cases.add("big_int64:matmul(big_int64.T)", "big_int64 @ big_int64.T")
for a, b in [("k0", "l0"), ("l0.T", "k0.T"), ("l0", "l0.T"), ("k0", "l0[:, 0]"), ("l0.T[0]", "l0"), ("l0.T[0]", "l0[:, 0]")]:
    lua = [x.replace("[:, 0]", '(":", 1)').replace(".T[0]", ".T(1)") for x in (a, b)]
    cases.add(f"gpu.matmul({lua[0]}, {lua[1]})", f"{a} @ {b}")
cases.add("gpu.matmul(b0, m_int32)", "b0 @ m_int32")
cases.add("gpu.matmul(t_int32(\":\", {2, 1}), n_int32)", "t_int32[:, 0:0] @ n_int32")

cases.write("products.lua", os.path.basename(__file__))

"""Writes sparse.lua: sparse matrices. Matrices are given as dense arrays; results are dense arrays, or data, indices and indptr."""

import math
import os

import numpy as np
import scipy.sparse as sp

from cases import Cases

rng = np.random.default_rng(11)


def matrix(rows, columns, density, dtype=np.float64):
    dense = np.where(rng.random((rows, columns)) < density, np.round(rng.normal(size=(rows, columns)) * 8) / 4, 0)
    if np.dtype(dtype).kind == "c":
        dense = dense * (1 + 2j) + np.where(dense != 0, 1j * np.round(rng.normal(size=dense.shape) * 4), 0)
    return dense.astype(dtype)


inputs = {
    "a": matrix(7, 5, 0.35),
    "b": matrix(7, 5, 0.35),
    "c": matrix(5, 6, 0.4),
    "f": matrix(7, 5, 0.3, np.float32),
    "z": matrix(6, 6, 0.4, np.complex128),
    "w": matrix(6, 6, 0.3, np.complex64),
    "e": np.zeros((4, 3)),
    "one": np.array([[2.5]]),
    "row": matrix(1, 40, 0.5),
    "s": matrix(30, 30, 0.1),
    "n": np.array([[np.nan, 0, 1], [0, 0, -1], [0, np.inf, 0]]),
    "x": rng.normal(size=5),
    "X": rng.normal(size=(5, 3)),
    "y": rng.normal(size=7),
    "v": rng.normal(size=6) + 1j * rng.normal(size=6),
    "d": rng.normal(size=(7, 5)),
    "rows": rng.integers(1, 6, 40).astype(np.int32),
    "cols": rng.integers(1, 9, 40).astype(np.int64),
    "vals": np.round(rng.normal(size=40) * 16) / 16,
}
cases = Cases(inputs)
csr = {name: sp.csr_array(array) for name, array in inputs.items() if array.ndim == 2}


def dense(value):
    return value.toarray() if sp.issparse(value) else np.asarray(value)


def add(lua, python, dtype=None):
    """`python`: text over matrices in csr by the inputs' names, np and sp."""
    value = eval(python, {"np": np, "sp": sp, "inputs": inputs, "math": math, **{**inputs, **csr}})
    value = [dense(one) for one in value] if isinstance(value, tuple) else dense(value)
    cases.add(lua, value, dtype)


def stored(lua, python):
    """Structure and entries, row by row."""
    value = eval(python, {"np": np, "sp": sp, "inputs": inputs, **{**inputs, **csr}}).tocsr()
    value.sort_indices()
    cases.add(f"stored({lua})",
              (value.data, (value.indices + 1).astype(np.int32), (value.indptr + 1).astype(np.int32)))


formats = ("csr", "csc", "coo")
for form in formats:
    for name in ("a", "f", "z", "w", "e", "one", "row", "n"):
        stored(f"gpu.sparse.{form}({name})", name)
        add(f"gpu.sparse.{form}({name}):todense()", name)
        add(f"gpu.sparse.{form}({name}).T:todense()", f"{name}.T")
    A = f"gpu.sparse.{form}(a)"
    add(f"{A}:matmul(x)", "a @ x")
    add(f"{A}:matmul(X)", "a @ X")
    add(f"y:matmul({A})", "y @ a")
    add(f"gpu.matmul(d.T, {A})", "inputs['d'].T @ a")
    add(f"gpu.sparse.{form}(z):matmul(v)", "z @ v")
    add(f"gpu.sparse.{form}(w):matmul(v)", "w @ v")
    add(f"gpu.sparse.{form}(s):matmul(s)", "s @ inputs['s']")
    for other in formats:
        B = f"gpu.sparse.{other}(b)"
        stored(f"{A} + {B}", "a + b")
        stored(f"{A} - {B}", "a - b")
        stored(f"{A} * {B}", "a.multiply(b)")
        stored(f"{A}:maximum({B})", "a.maximum(b)")
        stored(f"gpu.minimum({A}, {B})", "a.minimum(b)")
        add(f"{A}:matmul(gpu.sparse.{other}(c)):todense()", "a @ c")
    for op in ("sum", "mean", "max", "min"):
        for axis in ("", 1, 2):
            add(f"{A}:{op}({axis})", f"a.{op}({'' if axis == '' else f'axis={axis - 1}'})")
    for axis in (1, 2):
        add(f"{A}:count_nonzero({axis})", f"(inputs['a'] != 0).sum({axis - 1})", "int64")
    for offset in range(-7, 6):
        add(f"{A}:diagonal({offset})", f"a.diagonal({offset})")
    for offset in (-2, 0, 1):
        stored(f"{A}:tril({offset})", f"sp.tril(a, {offset})")
        stored(f"gpu.sparse.triu({A}, {offset})", f"sp.triu(a, {offset})")
    for lua, python in (("3", "[2]"), ("-1", "[-1]"), ("{2, 5}", "1:5"), ("{7, 1, -2}", "::-2"), ("'3:'", "2:"), ("gpu.array({3, 1, 1}, 'int32')", "[2, 0, 0]")):
        add(f"{A}({lua}):todense()", f"a[{python}, :]")
    for lua, python in (("2", "[1]"), ("{2, 4}", "1:4"), ("'::-1'", "::-1"), ("gpu.array({5, 1, 5}, 'int32')", "[4, 0, 4]")):
        add(f"{A}(':', {lua}):todense()", f"a[:, {python}]")
    add(f"{A}({{2, 6}}, {{1, 3}}):todense()", "a[1:6, 0:3]")
    add(f"{A}(4, 2)", "np.asarray(inputs['a'][3, 1])")
    add(f"{A}(y:gt(0)):todense()", "a[np.flatnonzero(inputs['y'] > 0), :]")
    add(f"gpu.sparse.kron({A}, gpu.sparse.{form}(c)):todense()", "sp.kron(a, c)")
    add(f"gpu.sparse.hstack({{{A}, gpu.sparse.csc(b)}}):todense()", "sp.hstack([a, b])")
    add(f"gpu.sparse.vstack({{{A}, gpu.sparse.coo(b), gpu.sparse.csr(a)}}):todense()", "sp.vstack([a, b, a])")
    add(f"gpu.sparse.block_diag({{{A}, gpu.sparse.csr(c), gpu.sparse.csr(e)}}):todense()", "sp.block_diag([a, c, e])")
    add(f"({A} * d):todense()", "a.multiply(inputs['d'])")
    add(f"(d * {A}):todense()", "a.multiply(inputs['d'])")
    add(f"({A} * x):todense()", "a.multiply(inputs['x'])")
    add(f"({A} * y:reshape(7, 1)):todense()", "a.multiply(inputs['y'][:, None])")
    add(f"({A} / x):todense()", "a.multiply(1 / inputs['x'])")
    add(f"{A} + d", "a + inputs['d']")
    add(f"d - {A}", "inputs['d'] - a")
    add(f"({A} * 2.5):todense()", "a * 2.5")
    add(f"(2.5 * {A} / 4):todense()", "a * 2.5 / 4")
    add(f"(-{A}):todense()", "-a")
    add(f"({A} ^ 2):todense()", "a.power(2)")
    for op in ("abs", "sqrt", "sin", "tan", "asinh", "atan", "expm1", "sign", "floor", "ceil", "trunc", "rint", "tanh", "sinh"):
        numpy = {"asinh": "arcsinh", "atan": "arctan"}.get(op, op)
        argument = "abs(a)" if op == "sqrt" else "a"
        add(f"gpu.{op}({A.replace('(a)', '(a:abs())') if op == 'sqrt' else A}):todense()", f"{argument}.{numpy}()" if op != "abs" else "abs(a)")
    add(f"gpu.sparse.{form}(z):abs():todense()", "abs(z)")
    add(f"gpu.sparse.{form}(z):conj():todense()", "z.conj()")
    add(f"gpu.sparse.{form}(z):imag():todense()", "z.imag")
    add(f"({A} + gpu.sparse.{form}(f)):todense()", "a + f")
    for order, python in (("", "'fro'"), ("1", "1"), ("-1", "-1"), ("inf", "np.inf"), ("-inf", "-np.inf")):
        add(f"{A}:norm({order})", f"np.linalg.norm(inputs['a'], {python})")
    add(f"gpu.sparse.{form}(z):norm(1)", "np.linalg.norm(inputs['z'], 1)")
    add(f"gpu.sparse.{form}(n):max(1)", "n.max(axis=0)")
    add(f"gpu.sparse.{form}(n):min(2)", "n.min(axis=1)")
    add(f"gpu.sparse.{form}(n):max()", "n.max()")
    add(f"{A}:setdiag(y({{1, 5}})):todense()", "(lambda m: (m.setdiag(inputs['y'][:5]), m)[1])(a.tolil())")
    add(f"{A}:setdiag(3, 2):todense()", "(lambda m: (m.setdiag(3, 2), m)[1])(a.tolil())")
    add(f"{A}:trace(), {A}:trace(-1)", "(np.trace(inputs['a']), np.trace(inputs['a'], -1))")

# Duplicates
given = "sp.coo_array((inputs['vals'], (inputs['rows'] - 1, inputs['cols'] - 1)), shape=(6, 9))"
made = "gpu.sparse.coo(rows, cols, vals, {6, 9})"
stored(made, given)
stored(f"{made}:tocsc()", given)
stored(f"{made}:sum_duplicates()", given)
add(f"{made}:matmul(gpu.ones(9, 'float64'))", f"{given} @ np.ones(9)")
add(f"{made}:abs():todense()", f"abs({given}.tocsr())")
add(f"{made}:max(2)", f"{given}.tocsr().max(axis=1)")
add(f"{made}:norm()", f"np.linalg.norm({given}.toarray())")
rows, columns, values = sp.find(sp.coo_array((inputs["vals"], (inputs["rows"] - 1, inputs["cols"] - 1)), shape=(6, 9)))
order = np.lexsort((columns, rows))
cases.add(f"gpu.sparse.find({made})", ((rows + 1)[order].astype(np.int32), (columns + 1)[order].astype(np.int32), values[order]))
stored(f"{made} + {made}", f"{given}.tocsr() + {given}.tocsr()")

# Patterns
add("gpu.sparse.eye(3, 5, 1, 'float64'):todense()", "sp.eye_array(3, 5, k=1)")
add("gpu.sparse.eye(5, 3, -2, {dtype = 'float64', format = 'csc'}):todense()", "sp.eye_array(5, 3, k=-2)")
add("gpu.sparse.identity(4, 'complex128'):todense()", "sp.eye_array(4, dtype=complex)")
add("gpu.sparse.diags({{1, 2, 3}, {4, 5}, {6, 7}}, {0, 1, -1}, {dtype = 'float64'}):todense()", "sp.diags_array([[1., 2, 3], [4, 5], [6, 7]], offsets=[0, 1, -1])")
add("gpu.sparse.diags({-1, 2, -1}, {-1, 0, 1}, {4, 5}, {dtype = 'float64', format = 'coo'}):todense()", "sp.diags_array([-1., 2, -1], offsets=[-1, 0, 1], shape=(4, 5))")
add("gpu.sparse.diags(x, 2):todense()", "sp.diags_array([inputs['x']], offsets=[2])")

# Powers of a matrix: products of products.
add("gpu.sparse.csr(s):matmul(gpu.sparse.csr(s)):matmul(gpu.sparse.csc(s)):todense()", "s @ s @ s")
stored("gpu.sparse.csr(s):matmul(gpu.sparse.csr(s)):eliminate_zeros()", "s @ s")
add("gpu.sparse.csr(z):matmul(gpu.sparse.csr(w)):todense()", "z @ w")
add("gpu.sparse.csr(e):matmul(gpu.sparse.csr(e).T):todense()", "e @ e.T")
add("gpu.sparse.csr(row):matmul(gpu.sparse.csr(row).T):todense()", "row @ row.T")
add("gpu.sparse.csr(row).T:matmul(gpu.sparse.csr(row)):todense()", "row.T @ row")

cases.write(os.path.join(os.path.dirname(__file__), "sparse.lua"), "sparse.py")

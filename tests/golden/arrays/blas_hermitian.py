"""Writes blas_hermitian.lua: Hermitian routines of the BLAS, by their definitions."""

import itertools
import os

import numpy as np
from scipy.linalg import blas

from cases import Cases

rng = np.random.default_rng(31)


def some(kind, *shape):
    x = rng.integers(-4, 5, shape).astype("float64")
    return x + 1j * rng.integers(-4, 5, shape) if kind == "z" else x


inputs = {}
for p in "dz":
    inputs |= {f"x{p}": some(p, 4), f"y{p}": some(p, 4), f"a{p}": some(p, 4, 4), f"b{p}": some(p, 4, 3), f"c{p}": some(p, 3, 4),
               f"k{p}": some(p, 4, 4), f"g{p}": some(p, 4, 3), f"h{p}": some(p, 3, 4)}
cases = Cases(inputs)


def hermitian(a, uplo):
    half = np.tril(a, -1) if uplo == "L" else np.triu(a, 1)
    return half + half.conj().T + np.diag(a.diagonal().real).astype(a.dtype)


def triangle(value, out, uplo, real_diagonal):
    inside = np.tri(4, dtype=bool) if uplo == "L" else np.tri(4, dtype=bool).T
    if real_diagonal:
        value = value.copy()
        value[np.diag_indices(4)] = value.diagonal().real
    return np.where(inside, value, out)


for p, uplo in itertools.product("dz", "LU"):
    v = {name[0]: array for name, array in inputs.items() if name[1] == p}
    alpha, py = ("gpu.complex(2, -1)", 2 - 1j) if p == "z" else ("1.5", 1.5)
    beta, py_beta = ("gpu.complex(0, 3)", 3j) if p == "z" else ("-2", -2)
    a = hermitian(v["a"], uplo)
    u = f"uplo = '{uplo}'"
    cases.add(f"gpu.blas.hemm(a{p}, b{p}, {{{u}}})", a @ v["b"])
    cases.add(f"gpu.blas.hemm(a{p}, c{p}, {{{u}, side = 'R', alpha = {alpha}, beta = {beta}, out = h{p}:copy()}})",
              py * (v["c"] @ a) + py_beta * v["h"])
    cases.add(f"gpu.blas.hemv(a{p}, x{p}, {{{u}, alpha = {alpha}, beta = {beta}, out = y{p}:copy()}})", py * (a @ v["x"]) + py_beta * v["y"])
    for way, x, y in (("N", "b", "g"), ("C", "c", "h")):
        left = lambda m, n: m @ n.conj().T if way == "N" else m.conj().T @ n
        cases.add(f"gpu.blas.herk({x}{p}, {{{u}, trans = '{way}'}})", triangle(left(v[x], v[x]), 0, uplo, True))
        cases.add(f"gpu.blas.herk({x}{p}, {{{u}, trans = '{way}', alpha = 1.5, beta = -2, out = k{p}:copy()}})",
                  triangle(1.5 * left(v[x], v[x]) - 2 * v["k"], v["k"], uplo, True))
        both = py * left(v[x], v[y]) + np.conj(py) * left(v[y], v[x])
        cases.add(f"gpu.blas.her2k({x}{p}, {y}{p}, {{{u}, trans = '{way}', alpha = {alpha}}})", triangle(both, 0, uplo, True))
        cases.add(f"gpu.blas.her2k({x}{p}, {y}{p}, {{{u}, trans = '{way}', alpha = {alpha}, beta = 3, out = k{p}:copy()}})",
                  triangle(both + 3 * v["k"], v["k"], uplo, True))
    x, y = v["x"][:, None], v["y"][:, None]
    for out, before in (("", 0), (f", out = k{p}:copy()", v["k"])):
        cases.add(f"gpu.blas.syr(x{p}, {{{u}, alpha = {alpha}{out}}})", triangle(py * x @ x.T + before, before, uplo, False))
        cases.add(f"gpu.blas.her(x{p}, {{{u}, alpha = 1.5{out}}})", triangle(1.5 * x @ x.conj().T + before, before, uplo, True))
        cases.add(f"gpu.blas.syr2(x{p}, y{p}, {{{u}, alpha = {alpha}{out}}})",
                  triangle(py * (x @ y.T + y @ x.T) + before, before, uplo, False))
        cases.add(f"gpu.blas.her2(x{p}, y{p}, {{{u}, alpha = {alpha}{out}}})",
                  triangle(py * x @ y.conj().T + np.conj(py) * y @ x.conj().T + before, before, uplo, True))
        cases.add(f"gpu.blas.gerc(x{p}, y{p}, {{alpha = {alpha}{out}}})", py * x @ y.conj().T + before)
    for way, diag in itertools.product("NTC", "NU"):
        m = np.tril(v["a"]) if uplo == "L" else np.triu(v["a"])
        if diag == "U":
            m[np.diag_indices(4)] = 1
        m = {"N": m, "T": m.T, "C": m.conj().T}[way]
        cases.add(f"gpu.blas.trmv(a{p}, x{p}, {{{u}, trans = '{way}', diag = '{diag}'}})", m @ v["x"])
for p in "dz":
    cases.add(f"gpu.blas.dotc(x{p}, y{p})", np.asarray(np.vdot(inputs[f"x{p}"], inputs[f"y{p}"])))
    sizes = abs(inputs[f"x{p}"].real) + abs(inputs[f"x{p}"].imag)
    cases.add(f"gpu.blas.iamin(x{p})", np.int64(sizes.argmin() + 1))
for a, b in ((3, 4), (-4, 3), (0, 2), (2, 0), (-5, -5), (0, 0)):
    c, s = blas.drotg(a, b)
    r = c * a + s * b
    cases.add(f"gpu.array({{(gpu.blas.rotg({a}, {b})), select(3, gpu.blas.rotg({a}, {b}))}}, 'float64')", np.array([r, c, s]))
for flag in (-2, -1, 0, 1):
    parameters = [flag, 0.5, -1.5, 2, 0.25]
    x, y = blas.drotm(inputs["xd"].copy(), inputs["yd"].copy(), parameters)
    cases.add(f"gpu.stack({{gpu.blas.rotm(xd:copy(), yd:copy(), {{{', '.join(map(str, parameters))}}})}})", np.stack([x, y]))

here = os.path.dirname(os.path.abspath(__file__))
cases.write(os.path.join(here, "blas_hermitian.lua"), "blas_hermitian.py")

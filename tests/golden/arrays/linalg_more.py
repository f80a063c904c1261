"""Writes linalg_more.lua: SciPy's special matrices, bases, polar decompositions and structured systems."""

import os

import numpy as np
from scipy import linalg as sl

from cases import Cases

rng = np.random.default_rng(41)
inputs = {
    "v": rng.normal(size=5),
    "w": rng.normal(size=4),
    "r": rng.normal(size=5),
    "z": rng.normal(size=5) + 1j * rng.normal(size=5),
    "one": rng.normal(size=1),
    "i": rng.integers(1, 9, 4),
    "a": rng.normal(size=(4, 6)),
    "tall": rng.normal(size=(6, 4)),
    "c": rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4)),
    "low": rng.normal(size=(5, 2)) @ rng.normal(size=(2, 6)),
    "k": rng.normal(size=(3, 6)),
    "bands": rng.normal(size=(4, 7)) + np.array([[0], [0], [5], [0]]),
    "zbands": rng.normal(size=(3, 7)) + 1j * rng.normal(size=(3, 7)),
    "b": rng.normal(size=7),
    "bm": rng.normal(size=(7, 3)),
    "b5": rng.normal(size=5),
    "bm5": rng.normal(size=(5, 2)),
}
inputs["zbands"][2] = 8
m = rng.normal(size=(5, 5))
inputs["s"] = m + m.T
inputs["p"] = m @ m.T + 3 * np.eye(5)
cases = Cases(inputs)
scope = {"np": np, "sl": sl, **inputs}


def add(lua, python, dtype=None):
    cases.add(lua, eval(python, dict(scope)), dtype)


L = "gpu.linalg."
for x in ("v", "z", "one", "i"):
    add(f"{L}circulant({x})", f"sl.circulant({x})")
    add(f"{L}hankel({x})", f"sl.hankel({x})")
    add(f"{L}fiedler({x})", f"sl.fiedler({x})") if x != "z" else None
    for mode in ("full", "same", "valid"):
        for n in (1, 3, 8):
            add(f"{L}convolution_matrix({x}, {n}, '{mode}')", f"sl.convolution_matrix({x}, {n}, '{mode}')")
add(f"{L}hankel(v, w)", "sl.hankel(v, w)")
for x in ("v", "z", "w"):
    add(f"{L}companion({x})", f"sl.companion({x})")
add(f"{L}companion(v({{1, 2}}))", "sl.companion(v[:2])")
for n in (1, 2, 5, 8):
    for scale in (None, "sqrtn", "n"):
        add(f"{L}dft({n}, {{dtype = 'complex128'{f', scale = {scale!r}' if scale else ''}}})", f"sl.dft({n}, {scale!r})")
    add(f"{L}hilbert({n}, 'float64')", f"sl.hilbert({n})")
    add(f"{L}helmert({n}, 'float64')", f"sl.helmert({n})")
    add(f"{L}helmert({n}, {{full = true, dtype = 'float64'}})", f"sl.helmert({n}, full=True)")
    if n != 5:
        add(f"{L}hadamard({n}, 'int32')", f"sl.hadamard({n}, dtype='int32')")
add(f"{L}leslie(v, w)", "sl.leslie(v, w)")
add(f"{L}khatri_rao(k, a)", "sl.khatri_rao(k, a)")
for x in ("a", "tall", "c"):
    for side in ("right", "left"):
        add(f"{L}polar({x}, {{side = '{side}'}})", f"sl.polar({x}, '{side}')")
add(f"{L}solve_banded({{1, 2}}, bands, b)", "sl.solve_banded((1, 2), bands, b)")
add(f"{L}solve_banded({{1, 2}}, bands, bm)", "sl.solve_banded((1, 2), bands, bm)")
add(f"{L}solveh_banded(zbands, b)", "sl.solveh_banded(zbands, b)")
add(f"{L}solveh_banded(zbands:flip(1), bm, {{lower = true}})", "sl.solveh_banded(zbands[::-1], bm, lower=True)")
add(f"{L}solve_toeplitz(v, b5)", "sl.solve_toeplitz(v, b5)")
add(f"{L}solve_toeplitz(v, bm5, r)", "sl.solve_toeplitz((v, r), bm5)")
add(f"{L}solve_circulant(v, b5)", "sl.solve_circulant(v, b5)")
add(f"{L}solve_circulant(z, bm5)", "sl.solve_circulant(z, bm5, baxis=0, outaxis=0)")
for uplo in "LU":
    w, x = sl.eigh(inputs["s"], inputs["p"])
    cases.add(f"(function() local w, x = {L}eigh(s, {{b = p, uplo = '{uplo}'}}) return w, x:abs() end)()", (w, abs(x)))

here = os.path.dirname(os.path.abspath(__file__))
cases.write(os.path.join(here, "linalg_more.lua"), "linalg_more.py")

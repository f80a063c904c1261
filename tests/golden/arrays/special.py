"""Writes special.npz: arguments of special functions, and their values: Bessel functions by mpmath, incomplete gamma and beta functions
by SciPy, which mpmath checks where it is fast enough.
"""

import pathlib

import mpmath
import numpy as np
from scipy import special

mpmath.mp.dps = 40
rng = np.random.default_rng(3)


def exact(function, check, *arguments):
    with mpmath.workdps(40):
        values = np.array([float(function(*[mpmath.mpf(float(v)) for v in row])) for row in zip(*arguments)])
    reference = check(*arguments)
    assert np.allclose(values, reference, rtol=1e-10, atol=1e-13), function
    return values


def checked(function, check, *arguments):
    some = np.flatnonzero(np.maximum(*arguments[:2]) < 50)[::3]
    exact(function, check, *[values[some] for values in arguments])
    return check(*arguments)


bessel = np.concatenate([[0, 1e-20, 1e-3, 0.5, 2.404825557695773, 3.8317059702075125], rng.uniform(0.01, 30, 40), rng.uniform(30, 300, 20)])
signed = np.concatenate([bessel, -bessel])
shapes = np.concatenate([[1e-5, 0.1, 0.5, 1, 2, 5, 15.9, 16, 100, 1000, 1e4, 1e5], 10 ** rng.uniform(-2, 4, 60)])
a, ratio = np.repeat(shapes, 7), np.tile([1e-8, 0.01, 0.5, 0.97, 1.02, 1.7, 6], len(shapes))
x = a * ratio
p, q = 10 ** rng.uniform(-1.5, 4, 150), 10 ** rng.uniform(-1.5, 4, 150)
p, q = np.append(p, [0.5, 1, 2, 20, 5000, 1e5]), np.append(q, [0.5, 1, 3, 16, 2, 1e5])
mean, width = p / (p + q), np.sqrt(p * q / (p + q + 1)) / (p + q)
p, q = np.repeat(p, 4), np.repeat(q, 4)
t = np.concatenate([np.clip(m + w * np.array([-3, -0.5, 0.4, 4]), 1e-12, 1 - 1e-5) for m, w in zip(mean, width)])


def lower(s, z):
    return mpmath.gammainc(s, 0, z, regularized=True)


def upper(s, z):
    return mpmath.gammainc(s, z, mpmath.inf, regularized=True)


arrays = {
    "signed": signed, "positive": bessel[1:], "a": a, "x": x, "p": p, "q": q, "t": t,
    "j0": exact(mpmath.j0, special.j0, signed), "j1": exact(mpmath.j1, special.j1, signed),
    "y0": exact(lambda v: mpmath.bessely(0, v), special.y0, bessel[1:]), "y1": exact(lambda v: mpmath.bessely(1, v), special.y1, bessel[1:]),
    "i0": exact(lambda v: mpmath.besseli(0, v), special.i0, signed), "i1": exact(lambda v: mpmath.besseli(1, v), special.i1, signed),
    "gammainc": checked(lower, special.gammainc, a, x), "gammaincc": checked(upper, special.gammaincc, a, x),
    "betainc": checked(lambda c, d, v: mpmath.betainc(c, d, 0, v, regularized=True), special.betainc, p, q, t),
}
np.savez_compressed(pathlib.Path(__file__).with_name("special.npz"), **arrays)

"""Writes convolution.lua: convolutions, correlations and windows."""

import os

import numpy as np
import scipy.signal

from cases import Cases

rng = np.random.default_rng(43)


def integers(dtype, *shape):
    return rng.integers(-9, 10, shape).astype(dtype)


inputs = {
    "a": integers(np.float32, 12), "k": integers(np.float32, 4), "l": integers(np.float32, 5), "u": integers(np.float32, 1),
    "long": integers(np.float32, 700), "wide": integers(np.float32, 70), "d": rng.standard_normal(100), "e": rng.standard_normal(81),
    "i": integers(np.int32, 9), "j": integers(np.int8, 9), "b": rng.random(9) < 0.5, "h": integers(np.float16, 9),
    "c": (integers(np.float32, 7) + 1j * integers(np.float32, 7)).astype(np.complex64),
    "z": (integers(np.float32, 90) + 1j * integers(np.float32, 90)).astype(np.complex64),
    "m": integers(np.float32, 6, 9), "n": integers(np.float32, 3, 4), "t": rng.standard_normal((2, 5, 6)),
    "s": rng.standard_normal((2, 3, 2)), "o": rng.standard_normal((1, 3, 2)), "big": integers(np.float32, 3, 600),
    "p": integers(np.float32, 5, 3),
}
cases = Cases(inputs)
modes = ("full", "same", "valid")

for x, y in (("a", "k"), ("k", "a"), ("a", "l"), ("l", "a"), ("l", "k"), ("a", "u"), ("u", "u"), ("d", "e"), ("e", "d"), ("c", "a"),
             ("a", "c"), ("c", "c"), ("z", "c"), ("c", "z"), ("z", "z"), ("i", "i"), ("i", "j"), ("j", "j"), ("b", "b"), ("i", "k"),
             ("h", "k"), ("d", "k"), ("wide", "a"), ("z", "wide")):
    for mode in modes:
        for name in ("convolve", "correlate"):
            cases.add(f'gpu.{name}({x}, {y}, "{mode}")', getattr(np, name)(inputs[x], inputs[y], mode))
cases.add("gpu.convolve(long, wide)", np.convolve(inputs["long"], inputs["wide"]))
cases.add("gpu.correlate(a, k)", "np.correlate(a, k)")
cases.add('gpu.convolve(a("::-2"), k("::2"))', "np.convolve(a[::-2], k[::2])")

for x, y in (("a", "k"), ("k", "a"), ("long", "wide"), ("wide", "long"), ("c", "a"), ("z", "c"), ("i", "i"), ("m", "n"), ("n", "m"),
             ("m", "p"), ("t", "s"), ("s", "t"), ("t", "o"), ("big", "n"), ("big", "p"), ("p", "big"), ("d", "e")):
    for mode in modes:
        try:
            exact = getattr(scipy.signal, "fftconvolve")(inputs[x].astype(np.complex128), inputs[y].astype(np.complex128), mode)
        except ValueError:
            continue  # "valid" of arrays neither of which is larger
        for name in ("fftconvolve", "oaconvolve"):
            dtype = np.result_type(inputs[x].dtype, inputs[y].dtype)
            dtype = np.dtype(np.float32) if dtype.kind in "iu" else dtype
            value = exact if dtype.kind == "c" else exact.real
            cases.add(f'gpu.{name}({x}, {y}, "{mode}")', value, dtype=dtype)
for axes, lua in (((1, 2), "{2, 3}"), ((2,), "3"), ((1,), "{2}")):
    for mode in modes:
        y = {"{2, 3}": "o", "3": 't(":", ":", {1, 3})', "{2}": 't(":", {1, 2}, ":")'}[lua]
        right = {"{2, 3}": inputs["o"], "3": inputs["t"][:, :, :3], "{2}": inputs["t"][:, :2, :]}[lua]
        value = scipy.signal.fftconvolve(inputs["t"], right, mode, axes)
        for name in ("fftconvolve", "oaconvolve"):
            cases.add(f'gpu.{name}(t, {y}, {{mode = "{mode}", axes = {lua}}})', value)

for name in ("hann", "hamming", "blackman", "bartlett"):
    for n in (0, 1, 2, 7, 8):
        for sym in (True, False):
            window = getattr(scipy.signal.windows, name)(n, sym)
            cases.add(f'gpu.{name}({n}, {{sym = {"true" if sym else "false"}, dtype = "float64"}})', window, dtype=np.float64)
    cases.add(f"gpu.{name}(33)", getattr(scipy.signal.windows, name)(33), dtype=np.float32)
for n in (0, 1, 2, 7, 8):
    for beta in (0, 2.5, 14, 100):
        cases.add(f'gpu.kaiser({n}, {beta}, "float64")', scipy.signal.windows.kaiser(n, beta), dtype=np.float64)
        cases.add(f"gpu.kaiser({n}, {beta}, {{sym = false}})", scipy.signal.windows.kaiser(n, beta, False), dtype=np.float32)

cases.write(os.path.splitext(os.path.abspath(__file__))[0] + ".lua", "convolution.py")

"""Writes fft.lua: discrete Fourier transforms of each kind, length, norm, axis, dtype and layout."""

import os

import ml_dtypes
import numpy as np
import scipy.fft

from cases import Cases

rng = np.random.default_rng(41)

inputs = {
    "r": rng.integers(-9, 10, (4, 5)).astype(np.float32),
    "c": (rng.standard_normal((3, 6)) + 1j * rng.standard_normal((3, 6))).astype(np.complex64),
    "d": rng.standard_normal((2, 7)),
    "z": rng.standard_normal((2, 3, 4)) + 1j * rng.standard_normal((2, 3, 4)),
    "v": rng.standard_normal(22).astype(np.float32),
    "w": rng.standard_normal(1).astype(np.float32),
    "i": rng.integers(-99, 99, (3, 8)).astype(np.int32),
    "b": rng.random((3, 8)) < 0.5,
    "h": rng.integers(-9, 10, 8).astype(np.float16),
    "e": np.zeros((0, 6), np.float32),
    "f": np.zeros((3, 0), np.complex64),
}
real, mixed = ["r", "d", "v", "w"], ["r", "c", "d", "z", "v", "w"]
cases = Cases(inputs)


def options(**fields):
    """The same options in Lua and in Python."""
    lua = [f'{name} = "{value}"' if isinstance(value, str) else
           f"{name} = {{{', '.join(map(str, value))}}}" if isinstance(value, tuple) else f"{name} = {value}"
           for name, value in fields.items()]
    shifted = {"axis": lambda a: a - 1 if a > 0 else a, "axes": lambda a: tuple(i - 1 if i > 0 else i for i in a)}
    return "{" + ", ".join(lua) + "}", {name: shifted.get(name, lambda a: a)(value) for name, value in fields.items()}


def dtype_of(array):
    double = array.dtype in (np.float64, np.complex128)
    return np.complex128 if double else np.complex64


def add(name, code, array, **fields):
    lua, python = options(**fields)
    result = getattr(np.fft, name)(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64), **python)
    wanted = dtype_of(array)
    if result.dtype.kind == "f":
        wanted = np.float64 if wanted == np.complex128 else np.float32
    cases.add(f"gpu.fft.{name}({code}, {lua})", result, dtype=wanted)


for norm in ("backward", "ortho", "forward"):
    for name in mixed:
        for kind in ("fft", "ifft", "irfft", "hfft"):
            if name == "w" and kind in ("irfft", "hfft"):
                continue  # 0 points
            add(kind, name, inputs[name], norm=norm)
    for name in real:
        for kind in ("rfft", "ihfft"):
            add(kind, name, inputs[name], norm=norm)
    for name in ("r", "c", "d", "z"):
        for kind in ("fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn"):
            add(kind, name, inputs[name], norm=norm)
    for name in ("r", "d"):
        for kind in ("rfft2", "rfftn"):
            add(kind, name, inputs[name], norm=norm)

for n in (1, 3, 4, 17, 20):
    for kind in ("fft", "ifft", "irfft", "hfft"):
        add(kind, "c", inputs["c"], n=n)
        add(kind, "z", inputs["z"], n=n, axis=2)
    for kind in ("rfft", "ihfft"):
        add(kind, "r", inputs["r"], n=n)
        add(kind, "d", inputs["d"], n=n, axis=1)

for axis in (1, 2, 3, -1, -3):
    for kind in ("fft", "ifft", "irfft"):
        add(kind, "z", inputs["z"], axis=axis)
add("rfft", "d", inputs["d"], axis=1)
for axes in ((1, 2), (3, 1), (2,), (3, 2, 1)):
    for kind in ("fftn", "ifftn", "irfftn"):
        add(kind, "z", inputs["z"], axes=axes)
        add(kind, "z", inputs["z"], axes=axes, s=(6, 3, 5)[: len(axes)])
    if len(axes) == 2:
        add("fft2", "z", inputs["z"], axes=axes)
        add("irfft2", "z", inputs["z"], axes=axes, s=(4, 6))
for s in ((3, 8), (6, 5)):
    add("rfft2", "r", inputs["r"], s=s)
    add("rfftn", "r", inputs["r"], s=s, axes=(1, 2))

# Views.
views = {
    "r.T": "r.T", 'c("::-1", "::2")': "c[::-1, ::2]", 'z(2)': "z[1]",
    "z:transpose(3, 1, 2)": "z.transpose(2, 0, 1)", 'z(":", {2, 3}, "::-1")': "z[:, 1:3, ::-1]",
    "v({2, 22})": "v[1:]", 'v("2:22:3")': "v[1:22:3]", "c:broadcast_to(2, 3, 6)": "np.broadcast_to(c, (2, 3, 6))",
    "c:real()": "c.real", "c:imag()": "c.imag",
}
for lua, python in views.items():
    array = eval(python, {"np": np, **inputs})
    for kind in ("fft", "ifft", "irfft"):
        add(kind, lua, array, axis=1)
        add(kind, lua, array)
    if array.dtype.kind != "c":
        add("rfft", lua, array)
        add("rfft", lua, array, axis=1)

# Other dtypes, and arrays without elements.
for name in ("i", "b", "h"):
    for kind in ("fft", "ifft", "rfft", "irfft", "fft2"):
        if kind != "fft2" or name != "h":
            add(kind, name, inputs[name])
for kind in ("fft", "ifft", "rfft", "irfft"):
    add(kind, "e", inputs["e"])
    add(kind, "f:real()", inputs["f"].real, axis=1) if kind != "irfft" else add(kind, "f", inputs["f"], axis=1)
    add(kind, "e", inputs["e"], n=4)

for n in (1, 2, 7, 8):
    cases.add(f"gpu.fft.fftfreq({n}, 0.5)", np.fft.fftfreq(n, 0.5), dtype=np.float32)
    cases.add(f'gpu.fft.rfftfreq({n}, {{dtype = "float64"}})', np.fft.rfftfreq(n))
for name in ("r", "z", "v"):
    cases.add(f"gpu.fft.fftshift({name})", np.fft.fftshift(inputs[name]))
    cases.add(f"gpu.fft.ifftshift({name})", np.fft.ifftshift(inputs[name]))
cases.add("gpu.fft.fftshift(z, {1, -1})", np.fft.fftshift(inputs["z"], (0, -1)))
cases.add("gpu.fft.ifftshift(z, 2)", np.fft.ifftshift(inputs["z"], 1))

# Cosine and sine transforms.
for kind in ("dct", "idct", "dst", "idst"):
    for which in (1, 2, 3, 4):
        for name in ("r", "d", "v"):
            array = inputs[name]
            for norm in ("backward", "ortho", "forward"):
                result = getattr(scipy.fft, kind)(array.astype(np.float64), which, norm=norm)
                cases.add(f'gpu.fft.{kind}({name}, {{type = {which}, norm = "{norm}"}})', result, dtype=array.dtype)
        cases.add(f"gpu.fft.{kind}(d, {{type = {which}, axis = 1}})", getattr(scipy.fft, kind)(inputs["d"], which, axis=0))
        cases.add(f"gpu.fft.{kind}(i, {{type = {which}, n = 5}})",
                  getattr(scipy.fft, kind)(inputs["i"].astype(np.float64), which, n=5), dtype=np.float32)

cases.write(os.path.splitext(os.path.abspath(__file__))[0] + ".lua", "fft.py")

"""Writes transforms.lua: SciPy's cosine, sine and Hermitian transforms of several axes, cross spectra, coherence, spectrograms."""

import os

import numpy as np
from scipy import fft, signal

from cases import Cases

rng = np.random.default_rng(51)
inputs = {
    "m": rng.normal(size=(4, 6)),
    "t": rng.normal(size=(3, 4, 5)),
    "f": rng.normal(size=(4, 6)).astype("float32"),
    "z": rng.normal(size=(4, 5)) + 1j * rng.normal(size=(4, 5)),
    "v": rng.normal(size=600),
    "w": rng.normal(size=600),
    "a": rng.normal(size=(2, 300)),
    "b": rng.normal(size=(2, 300)),
    "c": rng.normal(size=300) + 1j * rng.normal(size=300),
    "e": rng.normal(size=300) + 1j * rng.normal(size=300),
}
cases = Cases(inputs)
scope = {"np": np, "fft": fft, "sg": signal, **inputs}


def add(lua, python, dtype=None):
    cases.add(lua, eval(python, dict(scope)), dtype)


for name in ("dctn", "idctn", "dstn", "idstn"):
    for kind in (1, 2, 3, 4):
        for norm in ("backward", "ortho", "forward"):
            add(f"gpu.fft.{name}(m, {kind}, {{norm = '{norm}'}})", f"fft.{name}(m, {kind}, norm='{norm}')")
    add(f"gpu.fft.{name}(t)", f"fft.{name}(t)")
    add(f"gpu.fft.{name}(t, {{axes = {{1, 3}}}})", f"fft.{name}(t, axes=(0, 2))")
    add(f"gpu.fft.{name}(t, {{s = {{6, 3}}, type = 3}})", f"fft.{name}(t, 3, s=(6, 3))")
    add(f"gpu.fft.{name}(f)", f"fft.{name}(f)", "float32")
for norm in ("backward", "ortho", "forward"):
    for name, x in (("hfft2", "z"), ("hfftn", "z"), ("ihfft2", "m"), ("ihfftn", "t"), ("hfftn", "t")):
        add(f"gpu.fft.{name}({x}, {{norm = '{norm}'}})", f"fft.{name}({x}, norm='{norm}')")
add("gpu.fft.hfftn(z, {5, 7})", "fft.hfftn(z, (5, 7))")
add("gpu.fft.ihfftn(t, {axes = {3, 1}})", "fft.ihfftn(t, axes=(2, 0))")
options, theirs = "{fs = 100, nperseg = 64}", "fs=100, nperseg=64"
for x, y in (("v", "w"), ("a", "b"), ("c", "e")):
    side, more = ("{nperseg = 64, onesided = false}", "nperseg=64, return_onesided=False") if x == "c" else (options, theirs)
    add(f"gpu.csd({x}, {y}, {side})", f"sg.csd({x}, {y}, {more})")
    add(f"gpu.csd({x}, {y}, {{nperseg = 50, nfft = 80, scaling = 'spectrum', detrend = 'linear'}})",
        f"sg.csd({x}, {y}, nperseg=50, nfft=80, scaling='spectrum', detrend='linear')")
    if x != "c":
        add(f"gpu.coherence({x}, {y}, {options})", f"sg.coherence({x}, {y}, {theirs})")
        add(f"gpu.csd({x}, {y}, {{nperseg = 64, average = 'median'}})", f"sg.csd({x}, {y}, nperseg=64, average='median')")
for mode in ("psd", "magnitude", "complex"):
    add(f"gpu.spectrogram(v, {{fs = 100, nperseg = 64, mode = '{mode}'}})", f"sg.spectrogram(v, 100, nperseg=64, mode='{mode}')")
add("gpu.spectrogram(v)", "sg.spectrogram(v)")
add("gpu.spectrogram(a, {nperseg = 32, noverlap = 8, window = 'hann', scaling = 'spectrum', detrend = false})",
    "sg.spectrogram(a, nperseg=32, noverlap=8, window='hann', scaling='spectrum', detrend=False)")

here = os.path.dirname(os.path.abspath(__file__))
cases.write(os.path.join(here, "transforms.lua"), "transforms.py")

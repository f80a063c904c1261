"""Writes spectra.lua: short-time Fourier transforms, their inverses, and power spectra."""

import os
import warnings

import numpy as np
import scipy.signal

from cases import Cases

warnings.simplefilter("ignore")
rng = np.random.default_rng(47)
inputs = {
    "x": rng.standard_normal(50).astype(np.float32),
    "d": rng.standard_normal((2, 36)) + np.arange(36) / 10,
    "c": (rng.standard_normal(30) + 1j * rng.standard_normal(30)).astype(np.complex64),
    "e": rng.standard_normal((31, 2)).astype(np.float32),
    "w": rng.random(12) + 0.5,
    "long": rng.standard_normal(600).astype(np.float32),
}
cases = Cases(inputs)


def lua_of(value):
    if isinstance(value, bool) or value is None:
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "{" + ", ".join(map(lua_of, value)) + "}"
    return "w" if isinstance(value, np.ndarray) else str(value)


def add(name, code, **options):
    shifted = {key: value - 1 if key.endswith("axis") and value > 0 else value for key, value in options.items()}
    array = inputs[code]
    double = array.dtype.name in ("float64", "complex128")
    if "onesided" in shifted:
        shifted["return_onesided"] = shifted.pop("onesided")
    results = getattr(scipy.signal, name)(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64), **shifted)
    narrow = {"f": np.float32, "c": np.complex64}
    results = [result if double else result.astype(narrow[result.dtype.kind]) for result in results]
    lua = ", ".join(f"{key} = {lua_of(value)}" for key, value in options.items())
    call = f"gpu.{name}({code}, {{{lua}}})"
    if name == "istft":  # SciPy's times have the length of the first axis
        cases.add(f"select(2, {call})", results[1])
    else:
        cases.add(call, results)


some = [dict(nperseg=16), dict(nperseg=15, fs=100.0), dict(nperseg=16, noverlap=12, nfft=20), dict(nperseg=9, noverlap=0, nfft=21),
        dict(window="boxcar", nperseg=8), dict(window=("kaiser", 5.0), nperseg=10), dict(window=inputs["w"], nperseg=12),
        dict(window="hamming", nperseg=16, onesided=False), dict(window="blackman", nperseg=11, detrend="linear"),
        dict(window="bartlett", nperseg=14, detrend="constant")]
for options in some:
    for code in ("x", "d", "c"):
        for name, extra in (("stft", [{}, dict(boundary=None), dict(padded=False), dict(scaling="psd")]),
                            ("welch", [{}, dict(scaling="spectrum"), dict(average="median")])):
            for more in extra if code == "x" else [{}]:
                add(name, code, **options, **more)
for boundary in ("even", "odd", "constant"):
    add("stft", "x", nperseg=12, boundary=boundary)
    add("stft", "d", nperseg=13, boundary=boundary)
add("stft", "e", nperseg=12, axis=1)
add("welch", "e", nperseg=12, axis=1)
add("welch", "long")
for code in ("x", "d", "c", "e"):
    for options in (dict(), dict(fs=10.0, nfft=64), dict(nfft=32), dict(scaling="spectrum", window="hann"), dict(detrend=False),
                    dict(detrend="linear"), dict(onesided=False)):
        add("periodogram", code, **options)
add("periodogram", "e", axis=1)
add("welch", "d", nperseg=16, detrend=False)

# Inverses: of the transforms that are inputs.
for i, options in enumerate(some):
    if "detrend" in options:
        continue
    for code in ("x", "d"):
        given = {"return_onesided" if key == "onesided" else key: value for key, value in options.items()}
        _, _, spectra = scipy.signal.stft(inputs[code], **given)
        name = f"z{i}{code}"
        inputs[name] = spectra
        back = {key: value for key, value in options.items() if key != "onesided"}
        if "onesided" in options:
            back["input_onesided"] = options["onesided"]
        if "nfft" in back and "nperseg" not in back:
            back["nperseg"] = 16
        add("istft", name, **back)
inputs["zt"] = np.moveaxis(inputs["z0d"], (1, 2), (2, 0)).copy()
add("istft", "zt", nperseg=16, time_axis=1, freq_axis=3)
add("istft", "z0d", nperseg=16, boundary=False)
add("istft", "z0d", nperseg=16, scaling="psd")

cases.write(os.path.splitext(os.path.abspath(__file__))[0] + ".lua", "spectra.py")

"""Writes signals.lua: what SciPy's signal gives: filters and their design, resampling, peaks, waveforms, windows."""

import os

import numpy as np
from scipy import signal as sg

from cases import Cases

rng = np.random.default_rng(21)
t = np.linspace(0, 1, 200)
inputs = {
    "v": rng.normal(size=150),
    "odd": rng.normal(size=51),
    "m": rng.normal(size=(6, 40)),
    "f": rng.normal(size=(3, 60)).astype("float32"),
    "ints": rng.integers(-9, 9, 60),
    "z": rng.normal(size=40) + 1j * rng.normal(size=40),
    "long": rng.normal(size=3000),
    "lines": rng.normal(size=(1030, 3)),
    "wave": np.sin(2 * np.pi * 7 * t) + 0.5 * np.sin(2 * np.pi * 23 * t) + 0.1 * rng.normal(size=200),
    "flat": np.array([0, 1, 1, 0, 2, 2, 2, 1, 3, 3, 3, 0, 5, 0, 4, 4.0]),
    "p": rng.normal(size=(7, 9)),
    "q": rng.normal(size=(3, 4)),
    "time": np.linspace(-3, 12, 61),
    "zi": rng.normal(size=2),
    "zm": rng.normal(size=(6, 2)),
    "zs": rng.normal(size=(2, 6, 2)),
    "h": rng.normal(size=7),
    "pc": rng.normal(size=(4, 5)) + 1j * rng.normal(size=(4, 5)),
}
cases = Cases(inputs)
scope = {"np": np, "sg": sg, **inputs}


def add(lua, python, dtype=None):
    cases.add(lua, eval(python, dict(scope)), dtype)


# ---- design
for name, before in (("butter", ""), ("cheby1", "1, "), ("cheby2", "40, ")):
    for order in (1, 4, 5):
        for kind, w, theirs in (("lowpass", "0.3", "0.3"), ("highpass", "0.6", "0.6"), ("bandpass", "{0.2, 0.5}", "[0.2, 0.5]"),
                                ("bandstop", "{0.2, 0.5}", "[0.2, 0.5]")):
            add(f"gpu.signal.{name}({order}, {before}{w}, '{kind}')", f"sg.{name}({order}, {before}{theirs}, '{kind}')")
            if order == 5 and kind in ("lowpass", "bandpass"):
                add(f"gpu.signal.sosfreqz(gpu.signal.{name}({order}, {before}{w}, {{btype = '{kind}', output = 'sos'}}), {{points = 16}})",
                    f"sg.freqz(*sg.{name}({order}, {before}{theirs}, '{kind}'), worN=16)")
add("gpu.signal.butter(4, 50, {fs = 1000})", "sg.butter(4, 50, fs=1000)")
add("gpu.signal.butter(4, 0.2, {output = 'sos'})", "sg.butter(4, 0.2, output='sos')")
add("gpu.signal.butter(3, {0.2, 0.4}, {output = 'sos'})", "sg.butter(3, [0.2, 0.4], 'bandpass', output='sos')")
add("gpu.signal.iirnotch(60, 30, {fs = 1000})", "sg.iirnotch(60, 30, 1000)")
add("gpu.signal.iirpeak(0.3, 10)", "sg.iirpeak(0.3, 10)")
for points in ("", ", {points = 33, whole = true}", ", {points = {0.1, 0.5, 2}}", ", {points = {1, 20}, fs = 100}"):
    theirs = {"": "", ", {points = 33, whole = true}": ", worN=33, whole=True", ", {points = {0.1, 0.5, 2}}": ", worN=[0.1, 0.5, 2]",
              ", {points = {1, 20}, fs = 100}": ", worN=[1, 20], fs=100"}[points]
    add(f"gpu.signal.freqz(h, {{1, -0.5, 0.2}}{points})", f"sg.freqz(h, [1, -0.5, 0.2]{theirs})")
for args, theirs in (("11, 0.3", "11, 0.3"), ("12, 0.3", "12, 0.3"), ("11, 0.4, {pass_zero = false}", "11, 0.4, pass_zero=False"),
                     ("21, {0.2, 0.5}, {pass_zero = 'bandpass'}", "21, [0.2, 0.5], pass_zero='bandpass'"),
                     ("21, {0.2, 0.5}", "21, [0.2, 0.5]"), ("21, {0.2, 0.5, 0.7}, {window = 'hann', scale = false}",
                                                           "21, [0.2, 0.5, 0.7], window='hann', scale=False"),
                     ("31, 100, {fs = 1000, window = {'kaiser', 6}}", "31, 100, fs=1000, window=('kaiser', 6)"),
                     ("31, 100, {fs = 1000, width = 50}", "31, 100, fs=1000, width=50")):
    add(f"gpu.signal.firwin({args})", f"sg.firwin({theirs})")
for window, theirs in [(f"'{w}'", f"'{w}'") for w in (
        "boxcar", "hann", "hamming", "blackman", "bartlett", "blackmanharris", "nuttall", "flattop", "cosine", "triang", "bohman",
        "parzen", "lanczos", "tukey")] + [("{'gaussian', 3}", "('gaussian', 3)"), ("{'tukey', 0.25}", "('tukey', 0.25)"),
                                          ("{'exponential', 4}", "('exponential', None, 4)"), ("{'kaiser', 5}", "('kaiser', 5)"),
                                          ("{'general_hamming', 0.7}", "('general_hamming', 0.7)")]:
    for n in (8, 9):
        for sym in (n == 9,):
            add(f"gpu.signal.get_window({window}, {n}, {{sym = {str(sym).lower()}, dtype = 'float64'}})",
                f"np.asarray(sg.get_window({theirs}, {n}, fftbins={not sym}), 'float64')")
for length, degree in ((5, 2), (11, 3), (9, 4), (31, 5), (6, 2), (1, 0)):
    for deriv in (0, 1, 2):
        add(f"gpu.signal.savgol_coeffs({length}, {degree}, {{deriv = {deriv}, delta = 0.5}})",
            f"sg.savgol_coeffs({length}, {degree}, deriv={deriv}, delta=0.5)")
add("gpu.signal.savgol_coeffs(7, 3, {pos = 2})", "sg.savgol_coeffs(7, 3, pos=1)")

# ---- filters
b, a = "{0.1, 0.3, 0.2}", "{2, -0.6, 0.4}"
pb, pa = "[0.1, 0.3, 0.2]", "[2, -0.6, 0.4]"
for x in ("v", "m", "ints", "long", "lines", "z"):
    dtype = "float32" if x == "ints" else None
    add(f"gpu.signal.lfilter({b}, {a}, {x})", f"sg.lfilter({pb}, {pa}, {x})", dtype)
    add(f"gpu.signal.lfilter(h, {{1}}, {x})", f"sg.lfilter(h, [1], {x})", dtype)
    if x != "z":
        add(f"gpu.signal.sosfilt(gpu.signal.butter(5, 0.1, {{output = 'sos'}}), {x})",
            f"sg.sosfilt(sg.butter(5, 0.1, output='sos'), {x})", dtype)
add(f"gpu.signal.lfilter({b}, {a}, m, 1)", f"sg.lfilter({pb}, {pa}, m, 0)")
add(f"gpu.signal.lfilter({b}, {a}, f)", f"sg.lfilter({pb}, {pa}, f.astype('float64'))", "float32")
add(f"gpu.signal.lfilter({b}, {a}, v, {{zi = zi}})", f"sg.lfilter({pb}, {pa}, v, zi=zi)")
add(f"gpu.signal.lfilter({b}, {a}, m, {{zi = zm}})", f"sg.lfilter({pb}, {pa}, m, zi=zm)")
add("gpu.signal.lfilter({1, 2, 3}, {1}, v, {zi = zi})", "sg.lfilter([1, 2, 3], [1], v, zi=zi)")
add("gpu.signal.lfilter({2}, {4}, v)", "sg.lfilter([2], [4], v)")
add("gpu.signal.lfilter(gpu.signal.firwin(129, 0.2), {1}, long)", "sg.lfilter(sg.firwin(129, 0.2), [1], long)")
add(f"gpu.signal.lfilter_zi({b}, {a})", f"sg.lfilter_zi({pb}, {pa})")
add("gpu.signal.sosfilt_zi(gpu.signal.butter(4, 0.2, {output = 'sos'}))", "sg.sosfilt_zi(sg.butter(4, 0.2, output='sos'))")
add("gpu.signal.sosfilt(gpu.signal.butter(4, 0.2, {output = 'sos'}), m, {zi = zs})",
    "sg.sosfilt(sg.butter(4, 0.2, output='sos'), m, zi=zs)")
for x, axis in (("v", -1), ("m", -1), ("m", 1)):
    for pad in ("odd", "even", "constant"):
        add(f"gpu.signal.filtfilt({b}, {a}, {x}, {axis}, {{padtype = '{pad}'}})", f"sg.filtfilt({pb}, {pa}, {x}, axis=-1, padtype='{pad}')") \
            if axis == -1 else None
    add(f"gpu.signal.sosfiltfilt(gpu.signal.butter(4, 0.2, {{output = 'sos'}}), {x})", f"sg.sosfiltfilt(sg.butter(4, 0.2, output='sos'), {x})")
add(f"gpu.signal.filtfilt({b}, {a}, v, {{padtype = false}})", f"sg.filtfilt({pb}, {pa}, v, padtype=None)")
add(f"gpu.signal.filtfilt({b}, {a}, v, {{padlen = 20}})", f"sg.filtfilt({pb}, {pa}, v, padlen=20)")
add("gpu.signal.filtfilt(h, {1}, m)", "sg.filtfilt(h, [1], m)")
add("gpu.signal.sosfiltfilt(gpu.signal.butter(3, 0.2, {output = 'sos'}), m, {axis = -1})", "sg.sosfiltfilt(sg.butter(3, 0.2, output='sos'), m)")
for mode in ("interp", "mirror", "nearest", "constant", "wrap"):
    add(f"gpu.signal.savgol_filter(m, 11, 3, {{mode = '{mode}'}})", f"sg.savgol_filter(m, 11, 3, mode='{mode}')")
    add(f"gpu.signal.savgol_filter(m, 5, 2, {{mode = '{mode}', deriv = 1, delta = 0.1, axis = 1}})",
        f"sg.savgol_filter(m, 5, 2, mode='{mode}', deriv=1, delta=0.1, axis=0)")
add("gpu.signal.savgol_filter(f, 9, 4)", "sg.savgol_filter(f.astype('float64'), 9, 4)", "float32")

# ---- samples
for up, down in ((1, 1), (3, 2), (2, 5), (1, 4), (7, 1)):
    add(f"gpu.signal.upfirdn(h, v, {up}, {down})", f"sg.upfirdn(h, v, {up}, {down})")
    add(f"gpu.signal.resample_poly(v, {up}, {down})", f"sg.resample_poly(v, {up}, {down})")
    add(f"gpu.signal.resample_poly(m, {up}, {down}, 1)", f"sg.resample_poly(m, {up}, {down}, 0)")
add("gpu.signal.upfirdn(h, m, 2, 3, 1)", "sg.upfirdn(h, m, 2, 3, 0)")
add("gpu.signal.upfirdn(h, z, 2, 3)", "sg.upfirdn(h, z, 2, 3)")
add("gpu.signal.resample_poly(v, 3, 2, {window = h})", "sg.resample_poly(v, 3, 2, window=h)")
for x, n in (("v", 150), ("odd", 51), ("m", 40)):
    for count in (n // 2, n // 2 + 1, n, n + 1, n + 2, 2 * n):
        add(f"gpu.signal.resample({x}, {count})", f"sg.resample({x}, {count}, axis=-1)")
add("gpu.signal.resample(m, 8, 1)", "sg.resample(m, 8, axis=0)")
add("gpu.signal.resample(z, 30)", "sg.resample(z, 30)")
add("gpu.signal.resample(z, 61)", "sg.resample(z, 61)")
for q in (2, 3, 5):
    add(f"gpu.signal.decimate(v, {q})", f"sg.decimate(v, {q})")
    add(f"gpu.signal.decimate(v, {q}, {{zero_phase = false}})", f"sg.decimate(v, {q}, zero_phase=False)")
    add(f"gpu.signal.decimate(v, {q}, {{ftype = 'fir'}})", f"sg.decimate(v, {q}, ftype='fir')")
    add(f"gpu.signal.decimate(v, {q}, {{ftype = 'fir', zero_phase = false, n = 12}})", f"sg.decimate(v, {q}, 12, ftype='fir', zero_phase=False)")
for kind in ("linear", "constant"):
    add(f"gpu.signal.detrend(m, {{type = '{kind}'}})", f"sg.detrend(m, type='{kind}')")
    add(f"gpu.signal.detrend(m, 1, {{type = '{kind}'}})", f"sg.detrend(m, 0, type='{kind}')")
for x in ("v", "odd", "m"):
    add(f"gpu.signal.hilbert({x})", f"sg.hilbert({x})")
add("gpu.signal.hilbert(v, 256)", "sg.hilbert(v, 256)")
add("gpu.signal.hilbert(m, {axis = 1})", "sg.hilbert(m, axis=0)")
add("gpu.signal.medfilt(v, 5)", "sg.medfilt(v, 5)")
add("gpu.signal.medfilt(p)", "sg.medfilt(p)")
add("gpu.signal.medfilt(p, {1, 5})", "sg.medfilt(p, (1, 5))")
add("gpu.signal.wiener(p)", "sg.wiener(p)")
add("gpu.signal.wiener(p, {3, 5}, {noise = 0.3})", "sg.wiener(p, (3, 5), 0.3)")
for name in ("convolve2d", "correlate2d"):
    for mode in ("full", "same", "valid"):
        for boundary in ("fill", "wrap", "symm"):
            add(f"gpu.signal.{name}(p, q, '{mode}', {{boundary = '{boundary}'}})", f"sg.{name}(p, q, '{mode}', '{boundary}')")
    add(f"gpu.signal.{name}(q, p, 'valid')", f"sg.{name}(q, p, 'valid')")
    add(f"gpu.signal.{name}(p, q, {{fillvalue = 2}})", f"sg.{name}(p, q, fillvalue=2)")
    add(f"gpu.signal.{name}(pc, q({{1, 2}}, {{1, 3}}):astype('complex128') * gpu.complex(1, 2))", f"sg.{name}(pc, q[:2, :3] * (1 + 2j))")

# ---- peaks and waveforms
names = ("plateau_sizes", "left_edges", "right_edges", "peak_heights", "left_thresholds", "right_thresholds", "prominences",
         "left_bases", "right_bases", "widths", "width_heights", "left_ips", "right_ips")
positions = {"left_edges", "right_edges", "left_bases", "right_bases", "left_ips", "right_ips"}
for x in ("wave", "flat", "v", "ints"):
    for ours, theirs in (("", {}), ("height = 0.3", {"height": 0.3}), ("height = {0, 1}", {"height": (0, 1)}),
                         ("threshold = 0.02", {"threshold": 0.02}), ("distance = 10", {"distance": 10}),
                         ("prominence = 0.5", {"prominence": 0.5}), ("prominence = 0.2, wlen = 21", {"prominence": 0.2, "wlen": 21}),
                         ("width = 2", {"width": 2}), ("width = 1, rel_height = 0.8", {"width": 1, "rel_height": 0.8}),
                         ("plateau_size = {1, 2}", {"plateau_size": (1, 2)}),
                         ("height = 0, distance = 5, prominence = 0.3, width = 1", {"height": 0, "distance": 5, "prominence": 0.3, "width": 1})):
        peaks, properties = sg.find_peaks(inputs[x], **theirs)
        if x == "ints" and "distance" in theirs:  # equal peaks: SciPy's sort is not stable
            continue
        cases.add(f"(gpu.signal.find_peaks({x}, {{{ours}}}))", peaks + 1)
        for name in names:
            if name in properties:
                value = properties[name] + (1 if name in positions else 0)
                if value.dtype == np.int32 or value.dtype == np.intp:
                    value = value.astype("int64")
                if x == "ints" and name in ("prominences", "peak_heights", "left_thresholds", "right_thresholds"):
                    value = value.astype("int64")
                cases.add(f"select(2, gpu.signal.find_peaks({x}, {{{ours}}})).{name}", value)
for x in ("v", "p"):
    for order in (1, 3):
        for mode in ("clip", "wrap"):
            for name in ("argrelmax", "argrelmin"):
                value = getattr(sg, name)(inputs[x], axis=-1, order=order, mode=mode)
                cases.add(f"gpu.signal.{name}({x}, {{order = {order}, mode = '{mode}'}})", tuple(i + 1 for i in value))
for name, args, theirs in (("sawtooth", "", ""), ("sawtooth", ", 0.3", ", 0.3"), ("sawtooth", ", 0", ", 0"), ("square", "", ""),
                           ("square", ", 0.2", ", 0.2"), ("gausspulse", ", 0.3, 0.6", ", 0.3, 0.6")):
    add(f"gpu.signal.{name}(time{args})", f"sg.{name}(time{theirs})")
for method in ("linear", "quadratic", "logarithmic", "hyperbolic"):
    add(f"gpu.signal.chirp(time, 0.2, 15, 0.05, {{method = '{method}', phi = 30}})", f"sg.chirp(time, 0.2, 15, 0.05, '{method}', 30)")
    add(f"gpu.signal.chirp(time, 0.2, 15, 0.2, {{method = '{method}'}})", f"sg.chirp(time, 0.2, 15, 0.2, '{method}')")

# ---- forms of filters, spectra at any frequencies
for ours, theirs in (("{1, 0.5, 0.2}", "[1, 0.5, 0.2]"), ("{1, -0.5}", "[1, -0.5]")):
    for w in ("", ", {points = 20, fs = 100}", ", {points = {0.3, 1}}"):
        more = {"": "", ", {points = 20, fs = 100}": ", 20, fs=100", ", {points = {0.3, 1}}": ", [0.3, 1]"}[w]
        add(f"gpu.signal.group_delay(h, {ours}{w})", f"sg.group_delay((h, {theirs}){more})")
add("gpu.signal.zpk2tf({1, gpu.complex(0, 1), gpu.complex(0, -1)}, {0.5}, 3)", "sg.zpk2tf([1, 1j, -1j], [0.5], 3)")
add("gpu.signal.sos2tf(gpu.signal.butter(4, 0.2, {output = 'sos'}))", "sg.sos2tf(sg.butter(4, 0.2, output='sos'))")
add("gpu.signal.zpk2sos(gpu.signal.butter(4, 0.2, {output = 'zpk'}))", "sg.butter(4, 0.2, output='sos')")
add("gpu.signal.tf2sos({1, 0.3}, {1, -0.4, 0.3})", "sg.tf2sos([1, 0.3], [1, -0.4, 0.3])")
for flags, theirs in (("", ""), (", {precenter = true}", ", precenter=True"), (", {normalize = true}", ", normalize=True")):
    if "precenter" in theirs:
        value = sg.lombscargle(inputs["time"], inputs["v"][:61] - inputs["v"][:61].mean(), [0.5, 1, 2.5])
        cases.add(f"gpu.signal.lombscargle(time, v({{1, 61}}), {{0.5, 1, 2.5}}{flags})", value)
    else:
        add(f"gpu.signal.lombscargle(time, v({{1, 61}}), {{0.5, 1, 2.5}}{flags})", f"sg.lombscargle(time, v[:61], [0.5, 1, 2.5]{theirs})")
for x in ("v", "z", "m"):
    add(f"gpu.signal.czt({x})", f"sg.czt({x})")
    add(f"gpu.signal.czt({x}, 33, {{w = gpu.complex(0.98, 0.1), a = gpu.complex(0.9, -0.3)}})", f"sg.czt({x}, 33, 0.98 + 0.1j, 0.9 - 0.3j)") if x == "z" else None
    add(f"gpu.signal.zoom_fft({x}, {{0.2, 0.5}}, 21)", f"sg.zoom_fft({x}, [0.2, 0.5], 21)")
add("gpu.signal.zoom_fft(v, 30, {fs = 100, endpoint = true})", "sg.zoom_fft(v, 30, fs=100, endpoint=True)")
add("gpu.signal.czt(m, 7, {axis = 1})", "sg.czt(m, 7, axis=0)")
add("gpu.signal.unit_impulse(5, {dtype = 'float64'})", "sg.unit_impulse(5)")
add("gpu.signal.unit_impulse({3, 4}, 'mid', {dtype = 'float64'})", "sg.unit_impulse((3, 4), 'mid')")
add("gpu.signal.unit_impulse({3, 4}, {2, 4}, {dtype = 'float64'})", "sg.unit_impulse((3, 4), (1, 3))")
for n, m in ((5, 3), (3, 5), (4, 4), (6, 3)):
    for mode in ("full", "same", "valid"):
        add(f"gpu.signal.correlation_lags({n}, {m}, '{mode}')", f"sg.correlation_lags({n}, {m}, '{mode}')", "int64")

here = os.path.dirname(os.path.abspath(__file__))
cases.write(os.path.join(here, "signals.lua"), "signals.py")

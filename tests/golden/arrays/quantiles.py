"""Writes quantiles.lua: medians, quantiles and percentiles by each method, along axes, and without NaN."""

import os

import numpy as np

from cases import Cases

rng = np.random.default_rng(6)
methods = ["linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
           "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased"]


def holes(dtype, *shape):
    """Numbers with NaN among them."""
    x = (rng.integers(-40, 40, shape) / 8).astype(dtype)
    x[rng.random(shape) < 0.2] = np.nan
    return x


inputs = {
    "v": rng.integers(-99, 99, 50).astype(np.int32),
    "m": rng.standard_normal((4, 10)),
    "n": (rng.integers(-64, 64, (5, 6)) / 16).astype(np.float32),
    "t": rng.integers(0, 200, (3, 4, 5)).astype(np.uint8),
    "f": (rng.integers(-64, 64, (2, 3, 2, 3)) / 16).astype(np.float64),
    "h": (rng.integers(-64, 64, (3, 7)) / 16).astype(np.float16),
    "b": rng.random((4, 5)) < 0.6,
    "k": holes(np.float32, 6, 9),
    "l": holes(np.float64, 3, 4, 5),
    "s": np.array(3, np.float32),
    "z": np.zeros((0, 3), np.float32),
    "i": np.array([[1, np.inf, -np.inf, 2], [np.inf, np.inf, 0, 1], [-np.inf, -np.inf, -np.inf, 3]], np.float32),
    "w": np.arange(9.0),
    "q": np.array([[0, 0.25], [0.6, 1]]),
}
inputs["k"][2] = np.nan
inputs["l"][:, 1, 2] = np.nan
cases = Cases(inputs)
add = cases.add


def ours(name, method="linear"):
    """The dtype of what is computed from integers."""
    discrete = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
    return "float32" if inputs[name].dtype.kind in "bui" and method not in discrete else inputs[name].dtype.name


def axes(ndim):
    """Lua's and Python's: none, each, one from the end, and the outer ones."""
    yield "", "None"
    for axis in range(ndim):
        yield str(axis + 1), str(axis)
    if ndim > 1:
        yield "-1", "-1"
        yield f"{{1, {ndim}}}", f"(0, {ndim - 1})"


for name in ("v", "m", "n", "t", "f", "h", "b", "k", "l", "s", "i"):
    for mine, theirs in axes(inputs[name].ndim):
        add(f"{name}:median({mine})", f"np.median({name}, axis={theirs})", ours(name))
        add(f"gpu.nanmedian({name}{', ' if mine else ''}{mine})", f"np.nanmedian({name}, axis={theirs})", ours(name))
add("l:median({1, 3}, {keepdims = true})", "np.median(l, axis=(0, 2), keepdims=True)")
add("k:nanmedian({keepdims = true})", "np.nanmedian(k, keepdims=True)")
add("z:median()", "np.median(z)")
add("z:median(1)", "np.median(z, axis=0)")
add("z:nanmedian(2)", "np.nanmedian(z, axis=1)")
add("m.T:median(1)", "np.median(m.T, axis=0)")

levels = [0, 0.1, 1 / 8, 0.25, 0.3, 0.5, 0.7, 0.9, 0.95, 1]
text = "{" + ", ".join(repr(level) for level in levels) + "}"
for method in methods:
    for name, mine, axis in (("v", "", None), ("m", ", 2", 1), ("w", "", 0), ("f", ", {2, 4}", (1, 3)), ("k", ", 1", 0),
                             ("h", ", 2", 1), ("t", ", 3", 2)):
        x = inputs[name].astype("float64") if inputs[name].dtype.kind == "f" else inputs[name]
        options = f"{mine}, {{method = '{method}'}}"
        add(f"{name}:quantile({text}{options})", np.quantile(x, levels, axis=axis, method=method), ours(name, method))
        add(f"{name}:nanquantile({text}{options})", np.nanquantile(x, levels, axis=axis, method=method), ours(name, method))
    add(f"m:quantile(0.35, 1, {{method = '{method}', keepdims = true}})",
        f"np.quantile(m, 0.35, axis=0, method='{method}', keepdims=True)")
    add(f"l:nanquantile(0.2, {{axis = -1, method = '{method}'}})", f"np.nanquantile(l, 0.2, axis=-1, method='{method}')")

for name in ("v", "m", "t", "b"):
    x = inputs[name].astype("uint8") if name == "b" else inputs[name]
    for q in (0, 33, 50, 99.5, 100):
        add(f"{name}:percentile({q})", np.percentile(x, q), ours(name))
add("gpu.percentile(l, {10, 50}, {1, 2}, {keepdims = true})", "np.percentile(l, [10, 50], axis=(0, 1), keepdims=True)")
add("gpu.nanpercentile(l, {10, 50}, {1, 2}, {keepdims = true})", "np.nanpercentile(l, [10, 50], axis=(0, 1), keepdims=True)")
add("m:quantile(q, 2)", "np.quantile(m, q, axis=1)")
add("m:quantile(q)", "np.quantile(m, q)")
add("m:nanquantile(q, 1, {keepdims = true})", "np.nanquantile(m, q, axis=0, keepdims=True)")
add("m:quantile({{0.1, 0.2}, {0.3, 0.4}}, 1)", "np.quantile(m, [[0.1, 0.2], [0.3, 0.4]], axis=0)")
add("v:quantile(0.3, {dtype = 'float64'})", "np.quantile(v, 0.3)")

cases.write(os.path.join(os.path.dirname(__file__), "quantiles.lua"), "quantiles.py")

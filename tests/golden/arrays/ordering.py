"""Writes ordering.lua: distinct elements, orders by several keys, and sets."""

import os

import numpy as np

from cases import Cases

rng = np.random.default_rng(5)
dtypes = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64"]


def ties(dtype, *shape):
    """Few different numbers, NaN, infinities and both zeros among those of floating dtypes, and the limits of integers."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.6
    if kind == "f":
        x = (rng.integers(-8, 8, shape) / 4).astype(dtype)
        x.ravel()[rng.integers(0, x.size, x.size // 3)] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], x.size // 3)
        return x
    limits = np.iinfo(dtype)
    limits = np.array([max(limits.min, 1 - 2**53), min(limits.max, 2**53 - 1)], dtype)  # numbers in Lua
    x = rng.integers(0 if kind == "u" else -5, 6, shape).astype(dtype)
    x.ravel()[rng.integers(0, x.size, x.size // 4)] = rng.choice(limits, x.size // 4)
    return x


inputs = {f"x_{dtype}": ties(dtype, 5, 9) for dtype in dtypes}
inputs |= {
    "v": rng.integers(-300, 300, 3000).astype(np.int16),
    "m": rng.integers(0, 2, (40, 3)).astype(np.int32),
    "t": rng.integers(0, 2, (2, 12, 3)).astype(np.uint8),
    "f": (rng.integers(0, 3, (6, 30)) / 2).astype(np.float32),
    "a": rng.integers(0, 3, (4, 6, 10)).astype(np.int8),
    "b": (rng.integers(0, 3, (6, 10)) / 2).astype(np.float64),
    "c": rng.integers(0, 3, (6, 10)).astype(np.float32),
    "e": np.zeros(0, np.float32),
    "p": np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32),
    "q": np.array([2, 7, 1, 8, 2, 8], np.int32),
    "r": np.array([1.5, 2, 9, np.nan, -np.inf, 2, np.nan], np.float32),
    "s": np.array([9, np.nan, 2, 2.5], np.float64),
}
cases = Cases(inputs)
add = cases.add
names = ("return_index", "return_inverse", "return_counts")


def unique(x, chosen=names, axis=None):
    """Positions from 1."""
    results = np.unique(x, axis=axis, **{name: True for name in chosen})
    if not chosen:
        return results
    return [results[0]] + [r + (name != "return_counts") for r, name in zip(results[1:], chosen)]


def options(chosen, axis=None):
    fields = ([] if axis is None else [f"axis = {axis + 1}"]) + [f"{name} = true" for name in chosen]
    return "{" + ", ".join(fields) + "}"


for name in [f"x_{dtype}" for dtype in dtypes] + ["v", "e"]:
    add(f"gpu.unique({name}, {options(names)})", unique(inputs[name]))
    add(f"{name}:unique()", unique(inputs[name], ()))
for chosen in (names[:1], names[1:2], names[2:], names[::2], names[1:]):
    add(f"x_float32:unique({options(chosen)})", unique(inputs["x_float32"], chosen))
for name, axes in {"m": (0, 1), "t": (0, 1, 2), "f": (0, 1), "v": (0,)}.items():
    for axis in axes:
        add(f"{name}:unique({options((), axis)})", unique(inputs[name], (), axis))
        add(f"{name}:unique({options(names, axis)})", unique(inputs[name], names, axis))
add("m.T:unique({axis = -1})", "np.unique(m.T, axis=-1)")

for axis in (0, 1, -1):
    place = axis + 1 if axis >= 0 else axis
    add(f"gpu.lexsort({{b, c, a(1)({{1, 6}})}}, {place})", np.lexsort((inputs["b"], inputs["c"], inputs["a"][0]), axis) + 1)
    add(f"gpu.lexsort({{c, b}}, {place})", np.lexsort((inputs["c"], inputs["b"]), axis) + 1)
    add(f"a:lexsort({place})", np.lexsort(inputs["a"], axis) + 1)
add("gpu.lexsort {b, c}", "np.lexsort((b, c)) + 1")
add("gpu.lexsort {v}", "np.lexsort((v,)) + 1")
add("gpu.lexsort {x_float16, x_uint64, x_bool}", "np.lexsort((x_float16, x_uint64, x_bool)) + 1")

pairs = [("p", "q"), ("q", "p"), ("p", "r"), ("r", "s"), ("s", "r"), ("p", "e"), ("e", "p"), ("v", "p"), ("x_int8", "x_uint8"),
         ("x_uint64", "x_uint32"), ("x_bool", "x_int16")]
for x, y in pairs:
    add(f"gpu.isin({x}, {y})", f"np.isin({x}, {y})")
    add(f"{x}:isin({y}, {{invert = true}})", f"np.isin({x}, {y}, invert=True)")
    add(f"gpu.union1d({x}, {y})", f"np.union1d({x}, {y})")
    add(f"gpu.intersect1d({x}, {y})", f"np.intersect1d({x}, {y})")
    common, at_x, at_y = np.intersect1d(inputs[x], inputs[y], return_indices=True)
    add(f"gpu.intersect1d({x}, {y}, {{return_indices = true}})", [common, at_x + 1, at_y + 1])
    add(f"gpu.setdiff1d({x}, {y})", f"np.setdiff1d({x}, {y})")
    add(f"gpu.setxor1d({x}, {y})", f"np.setxor1d({x}, {y})")
add("p:isin({1, 9.5})", "np.isin(p, [1, 9.5])")
add("s:isin(2.5)", "np.isin(s, 2.5)")

cases.write(os.path.join(os.path.dirname(__file__), "ordering.lua"), "ordering.py")

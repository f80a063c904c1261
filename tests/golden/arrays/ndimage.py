"""Writes ndimage.lua: what SciPy's ndimage, and its and NumPy's integrals, splines and fits give."""

import os

import numpy as np
from scipy import integrate, interpolate, ndimage

from cases import Cases

rng = np.random.default_rng(11)
inputs = {
    "v": rng.normal(size=13),
    "m": rng.normal(size=(9, 7)),
    "f": rng.normal(size=(8, 11)).astype("float32"),
    "u": rng.integers(0, 255, (6, 8)).astype("uint8"),
    "t": rng.normal(size=(4, 6, 5)),
    "w": rng.normal(size=(3, 3)),
    "w2": rng.normal(size=(2, 4)),
    "k": np.array([0.25, 0.5, 1, -0.5]),
    "h": rng.integers(0, 2, (3, 5)) > 0,
    "x": np.cumsum(rng.uniform(0.2, 1.5, 9)),
    "y": rng.normal(size=9),
    "c": np.stack([rng.uniform(-3, 12, 40), rng.uniform(-3, 10, 40)]),
    "a": rng.uniform(-1, 12, 15),
    "g": rng.uniform(-1, 14, (3, 4)),
    "n": np.full((5, 5), np.nan),
}
inputs["h"][1, 2] = True
inputs["n"][1:, 2:] = rng.normal(size=(4, 3))
inputs["ym"] = rng.normal(size=(9, 3))
inputs["yt"] = rng.normal(size=(2, 9))
inputs["yp"] = inputs["y"].copy()
inputs["yp"][-1] = inputs["yp"][0]
cases = Cases(inputs)
scope = {"np": np, "nd": ndimage, **inputs}


def add(lua, python, dtype=None):
    value = eval(python, dict(scope))
    cases.add(lua, value, dtype)


modes = ("reflect", "constant", "nearest", "mirror", "wrap")
for mode in modes:
    for name in ("correlate", "convolve"):
        add(f"gpu.ndimage.{name}(m, w, {{mode = '{mode}'}})", f"nd.{name}(m, w, mode='{mode}')")
        add(f"gpu.ndimage.{name}(m.T, w2, {{mode = '{mode}'}})", f"nd.{name}(m.T, w2, mode='{mode}')")
        add(f"gpu.ndimage.{name}(v, k, {{mode = '{mode}'}})", f"nd.{name}(v, k, mode='{mode}')")
        add(f"gpu.ndimage.{name}(f, w, {{mode = '{mode}'}})", f"nd.{name}(f.astype('float64'), w, mode='{mode}')", "float32")
    add(f"gpu.ndimage.gaussian_filter(m, 1.5, {{mode = '{mode}'}})", f"nd.gaussian_filter(m, 1.5, mode='{mode}')")
    add(f"gpu.ndimage.gaussian_filter(t, {{1, 0, 2.5}}, {{mode = '{mode}'}})", f"nd.gaussian_filter(t, (1, 0, 2.5), mode='{mode}')")
    add(f"gpu.ndimage.sobel(m, {{mode = '{mode}'}})", f"nd.sobel(m, mode='{mode}')")
    add(f"gpu.ndimage.uniform_filter(t, {{size = 3, mode = '{mode}'}})", f"nd.uniform_filter(t, 3, mode='{mode}')")
    for name in ("median_filter", "minimum_filter", "maximum_filter"):
        add(f"gpu.ndimage.{name}(m, 3, {{mode = '{mode}'}})", f"nd.{name}(m, 3, mode='{mode}')")
        add(f"gpu.ndimage.{name}(u, {{2, 4}}, {{mode = '{mode}'}})", f"nd.{name}(u, (2, 4), mode='{mode}')")
        add(f"gpu.ndimage.{name}(m, {{footprint = h, mode = '{mode}'}})", f"nd.{name}(m, footprint=h, mode='{mode}')")
add("gpu.ndimage.correlate(m, w, {origin = {1, -1}})", "nd.correlate(m, w, origin=(1, -1))")
add("gpu.ndimage.convolve(m, w2, {origin = {0, 1}})", "nd.convolve(m, w2, origin=(0, 1))")
add("gpu.ndimage.convolve(m, w, {mode = 'constant', cval = 2.5})", "nd.convolve(m, w, mode='constant', cval=2.5)")
add("gpu.ndimage.convolve(u, w)", "nd.convolve(u.astype('float64'), w)", "float32")
add("gpu.ndimage.convolve(m('::2', '::-1'), w)", "nd.convolve(m[::2, ::-1], w)")
for order in (1, 2, 3):
    add(f"gpu.ndimage.gaussian_filter(m, 1, {{order = {order}}})", f"nd.gaussian_filter(m, 1, order={order})")
add("gpu.ndimage.gaussian_filter(m, 2, {truncate = 2, axes = 1, order = 1})", "nd.gaussian_filter(m, 2, truncate=2, axes=(0,), order=1)")
add("gpu.ndimage.gaussian_filter(m, 2, {radius = 3})", "nd.gaussian_filter(m, 2, radius=3)")
add("gpu.ndimage.gaussian_filter(u, 1)", "nd.gaussian_filter(u.astype('float64'), 1)", "float32")
for axis in (0, 1, 2):
    add(f"gpu.ndimage.sobel(t, {axis + 1})", f"nd.sobel(t, {axis})")
    add(f"gpu.ndimage.prewitt(t, {axis + 1})", f"nd.prewitt(t, {axis})")
add("gpu.ndimage.uniform_filter(v, 4)", "nd.uniform_filter(v, 4)")

every = ("constant", "grid-constant", "nearest", "mirror", "reflect", "grid-wrap", "wrap")
for mode in every:
    for order in (0, 1, 3):
        if mode == "reflect" and order == 3:  # SciPy's spline does not pass through the elements then, by up to 1e-5
            continue
        args, theirs = f"{{order = {order}, mode = '{mode}'}}", f"order={order}, mode='{mode}'"
        add(f"gpu.ndimage.map_coordinates(m, c + 1, {args})", f"nd.map_coordinates(m, c, {theirs})")
        add(f"gpu.ndimage.map_coordinates(v, {{g + 1}}, {args})", f"nd.map_coordinates(v, [g], {theirs})")
        add(f"gpu.ndimage.shift(m, {{1.3, -2.6}}, {args})", f"nd.shift(m, (1.3, -2.6), {theirs})")
        add(f"gpu.ndimage.rotate(m, 33, {args})", f"nd.rotate(m, 33, {theirs})")
        if order:
            add(f"gpu.ndimage.zoom(m, 1.7, {args})", f"nd.zoom(m, 1.7, {theirs})")
            add(f"gpu.ndimage.zoom(t, {{0.5, 1, 2.3}}, {args})", f"nd.zoom(t, (0.5, 1, 2.3), {theirs})")
add("gpu.ndimage.rotate(m, 90)", "nd.rotate(m, 90)")
add("gpu.ndimage.rotate(t, -20, {axes = {1, 3}, order = 1})", "nd.rotate(t, -20, axes=(0, 2), order=1)")
add("gpu.ndimage.rotate(m, 33, {reshape = false, cval = 7, order = 1})", "nd.rotate(m, 33, reshape=False, cval=7, order=1)")
add("gpu.ndimage.zoom(m, 2, {grid_mode = true, mode = 'nearest', order = 1})", "nd.zoom(m, 2, grid_mode=True, mode='nearest', order=1)")
add("gpu.ndimage.map_coordinates(f, c + 1, {mode = 'mirror'})", "nd.map_coordinates(f.astype('float64'), c, mode='mirror')", "float32")
add("gpu.ndimage.map_coordinates(u, {{{1, 2.5}}, {{3, 3.5}}}, {order = 1})",
    "nd.map_coordinates(u.astype('float64'), [[[0, 1.5]], [[2, 2.5]]], order=1)", "float32")
add("gpu.ndimage.map_coordinates(m, c + 1, {prefilter = false, mode = 'mirror'})", "nd.map_coordinates(m, c, prefilter=False, mode='mirror')")

# ---- integrals, splines, polynomials
scope.update(simpson=integrate.simpson, cumulative=integrate.cumulative_trapezoid, spline=interpolate.CubicSpline)
for n in range(1, 10):
    add(f"gpu.simpson(y('1:{n}'))", f"np.float64(simpson(y[:{n}]))")
    add(f"gpu.simpson(y('1:{n}'), x('1:{n}'))", f"np.float64(simpson(y[:{n}], x=x[:{n}]))")
add("gpu.simpson(t, 0.5, 2)", "simpson(t, dx=0.5, axis=1)")
add("gpu.simpson(t)", "simpson(t)")
add("gpu.simpson(ym, x, 1)", "simpson(ym, x=x, axis=0)")
add("gpu.simpson(u)", "simpson(u)", "float32")
for axis in (0, 1):
    add(f"gpu.cumulative_trapezoid(m, 0.5, {axis + 1})", f"cumulative(m, dx=0.5, axis={axis})")
    add(f"gpu.cumulative_trapezoid(m, {{initial = 0, axis = {axis + 1}}})", f"cumulative(m, initial=0, axis={axis})")
add("gpu.cumulative_trapezoid(y, x)", "cumulative(y, x)")
for ends in ("not-a-knot", "natural", "clamped", "periodic"):
    for nu in range(4):
        y = "yp" if ends == "periodic" else "y"
        add(f"gpu.cubic_spline(x, {y}, {{ends = '{ends}'}})(a, {nu})", f"spline(x, {y}, bc_type='{ends}')(a, {nu})")
    if ends != "periodic":
        add(f"gpu.cubic_spline(x, ym, {{ends = '{ends}'}})(g)", f"spline(x, ym, bc_type='{ends}')(g)")
        add(f"gpu.cubic_spline(x, yt, {{ends = '{ends}', axis = 2}})(g)", f"spline(x, yt, bc_type='{ends}', axis=1)(g)")
    for n in (2, 3, 4, 5):
        rows = f"x[:{n}], " + (f"np.append(y[:{n - 1}], y[0])" if ends == "periodic" else f"y[:{n}]")
        mine = f"x('1:{n}'), " + (f"gpu.concat{{y('1:{n - 1}'), y('1:1')}}" if ends == "periodic" else f"y('1:{n}')")
        add(f"gpu.cubic_spline({mine}, {{ends = '{ends}'}})(a)", f"spline({rows}, bc_type='{ends}')(a)")
add("gpu.cubic_spline(x, y, {ends = {{1, 0.5}, {2, -1}}})(a)", "spline(x, y, bc_type=((1, 0.5), (2, -1)))(a)")
add("gpu.cubic_spline(x, y, {ends = {{2, 0.5}, 'not-a-knot'}})(a)", "spline(x, y, bc_type=((2, 0.5), 'not-a-knot'))(a)")
add("gpu.cubic_spline(x, y, {extrapolate = false})(a)", "spline(x, y, extrapolate=False)(a)")
add("gpu.cubic_spline(x, y)(a, -1)", "spline(x, y).antiderivative()(a)")
for degree in range(5):
    add(f"gpu.polyfit(x, y, {degree})", f"np.polyfit(x, y, {degree})")
add("gpu.polyfit(x, ym, 2)", "np.polyfit(x, ym, 2)")
add("gpu.polyfit(x, y, 3, {weights = x})", "np.polyfit(x, y, 3, w=x)")

here = os.path.dirname(os.path.abspath(__file__))
cases.write(os.path.join(here, "ndimage.lua"), "ndimage.py")

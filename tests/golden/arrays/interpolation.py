"""Writes interpolation.lua: linear interpolation."""

import os

import numpy as np

from cases import Cases

rng = np.random.default_rng(7)
inputs = {
    "x": np.concatenate([rng.random(60) * 12 - 1, [0, 0.5, 10, 10.5, np.inf, -np.inf, np.nan]]),
    "xp": np.array([0, 0.5, 0.75, 2, 2, 3, 7, 7.5, 10]),
    "fp": np.array([1, -1, 5, 0, 3, 3, 1e6, 8, -4]),
    "i": rng.integers(-3, 14, (4, 5)).astype(np.int32),
    "ip": np.array([0, 2, 5, 10], np.int16),
    "jp": np.array([7, 1, 100, -50], np.int64),
    "hp": np.array([0, np.inf, np.inf, -np.inf]),
    "f": (rng.random((3, 20)) * 12 - 1).astype(np.float32),
    "a": np.array([-180, -170, -185, 185, -10, -5, 0, 365], np.float64),
    "ap": np.array([190, -190, 350, -350], np.float64),
    "af": np.array([5, 10, 3, 4], np.float64),
}
cases = Cases(inputs)
add = cases.add

add("gpu.interp(x, xp, fp)", "np.interp(x, xp, fp)")
add("x:interp(xp, fp, {left = -7})", "np.interp(x, xp, fp, left=-7)")
add("x:interp(xp, fp, {left = nan, right = 1e9})", "np.interp(x, xp, fp, left=np.nan, right=1e9)")
add("x:interp(ip, hp)", "np.interp(x, ip, hp)")
add("i:interp(ip, jp)", "np.interp(i, ip, jp)", "float32")
add("i:interp(xp, fp)", "np.interp(i, xp, fp)")
add("f:interp(ip, jp)", "np.interp(f, ip, jp)")
add("f:interp(ip, ip)", "np.interp(f, ip, ip)", "float32")
add("f:T:interp(ip, {7, 1, 100, -50})".replace("f:T", "f.T"), "np.interp(f.T, ip, jp)", "float32")
add("gpu.interp(2.5, xp, fp)", "np.interp(2.5, xp, fp)")
add("gpu.interp({{2.5, 0}, {1, 11}}, xp, fp)", "np.interp([[2.5, 0], [1, 11]], xp, fp)")
add("x(':60'):interp({3}, {7}, {left = 1, right = 2})", "np.interp(x[:60], [3], [7], left=1, right=2)")
add("a:interp(ap, af, {period = 360})", "np.interp(a, ap, af, period=360)")
add("a:interp(ap, af, {period = -360, left = 3})", "np.interp(a, ap, af, period=-360)")
add("x(':64'):interp(xp({1, 4}), fp({1, 4}), {period = 3})", "np.interp(x[:64], xp[:4], fp[:4], period=3)")

cases.write(os.path.join(os.path.dirname(__file__), "interpolation.lua"), "interpolation.py")

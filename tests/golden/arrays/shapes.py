"""Writes shapes.lua: shapes, views, joins, copies and creation."""

import itertools
import os

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from cases import Cases

rng = np.random.default_rng(1)


def some(*shape, dtype=np.int16):
    return rng.integers(-99, 99, shape).astype(dtype)


inputs = {
    "s": np.array(7, np.float32),
    "e": np.zeros((0,), np.float32),
    "z": np.zeros((2, 0, 3), np.float32),
    "v": some(7),
    "one": some(1, 3, 1),
    "m": some(3, 4),
    "n": some(4, 4),
    "t": some(2, 3, 4),
    "f": some(2, 3, 2, 2),
    "g": some(2, 1, 3, 2, 2),
    "b": some(3, 4) > 0,
    "c": (some(2, 3) + 1j * some(2, 3)).astype(np.complex64),
    "u": some(3, 4, dtype=np.uint8),
    "d": some(2, 3, dtype=np.float64) / 8,
}
# Views of them, written once for each side.
views = {
    "s": "s", "e": "e", "z": "z", "v": "v", "one": "one", "m": "m", "t": "t", "f": "f", "g": "g", "b": "b", "c": "c",
    'v("::-2")': "v[::-2]",
    "m.T": "m.T",
    'm("2:3", "1:3")': "m[1:3, 0:3]",
    't("::-1", ":", "1:4:2")': "t[::-1, :, 0:4:2]",
    "t:permute(2, 3, 1)": "t.transpose(1, 2, 0)",
    "v:broadcast_to(2, 7)": "np.broadcast_to(v, (2, 7))",
    "(t + 1)": "(t + 1)",
}
cases = Cases(inputs)
add = cases.add


def value(python):
    return eval(python, {"np": np, **inputs})


def lua_table(numbers):
    return "{" + ", ".join(map(str, numbers)) + "}"


def axes_of(ndim):
    """Each axis from both ends, in Lua's and Python's counting."""
    return [(axis + 1, axis) for axis in range(ndim)] + ([(-1, -1)] if ndim else [])


for lua, python in views.items():
    x = value(python)
    ndim = x.ndim
    add(f"{lua}:copy()", f"{python}.copy()")
    add(f"{lua}:flatten()", f"{python}.flatten()")
    add(f"{lua}:ravel()", f"{python}.ravel()")
    if x.size > 0:
        add(f"{lua}:reshape(-1)", f"{python}.reshape(-1)")
    add(f"{lua}:reshape({x.size})", f"{python}.reshape({x.size})")
    if x.size % 2 == 0 and x.size > 0:
        add(f"{lua}:reshape(2, -1)", f"{python}.reshape(2, -1)")
        add(f"{lua}:reshape{{-1, 1, 2}}", f"{python}.reshape((-1, 1, 2))")
    add(f"{lua}:transpose()", f"{python}.transpose()")
    add(f"{lua}:squeeze()", f"{python}.squeeze()")
    add(f"{lua}:flip()", f"np.flip({python})")
    add(f"{lua}:tile(2)", f"np.tile({python}, 2)")
    add(f"{lua}:tile(2, 1, 3)", f"np.tile({python}, (2, 1, 3))")
    add(f"{lua}:repeat_interleave(2)", f"np.repeat({python}, 2)")
    add(f"{lua}:roll(3)", f"np.roll({python}, 3)")
    for n in (1, 2, 3):
        add(f"gpu.atleast_{n}d({lua})", f"np.atleast_{n}d({python})")
    for mine, theirs in axes_of(ndim):
        add(f"{lua}:flip({mine})", f"np.flip({python}, {theirs})")
        add(f"{lua}:roll(2, {mine})", f"np.roll({python}, 2, {theirs})")
        add(f"{lua}:roll(-1, {mine})", f"np.roll({python}, -1, {theirs})")
        add(f"{lua}:repeat_interleave(3, {mine})", f"np.repeat({python}, 3, {theirs})")
        add(f"{lua}:expand_dims({mine})", f"np.expand_dims({python}, {theirs})")
        add(f"gpu.array_split({lua}, 3, {mine})[2]", f"np.array_split({python}, 3, {theirs})[1]")
        if x.shape[theirs] >= 3:  # NumPy takes positions beyond the axis, gpu.split does not
            add(f"gpu.split({lua}, {{1, 3}}, {mine})[2]", f"np.split({python}, [1, 3], {theirs})[1]")
        add(f"gpu.concat({{{lua}, {lua}}}, {mine})", f"np.concatenate(({python}, {python}), {theirs})")
        add(f"gpu.stack({{{lua}, {lua}, {lua}}}, {mine})", f"np.stack(({python}, {python}, {python}), {theirs})")
        add(f"{lua}:swapaxes(1, {mine})", f"{python}.swapaxes(0, {theirs})")
        add(f"{lua}:moveaxis({mine}, 1)", f"np.moveaxis({python}, {theirs}, 0)")
        add(f"{lua}:moveaxis(1, {mine})", f"np.moveaxis({python}, 0, {theirs})")
    add(f"gpu.stack{{{lua}, {lua}}}", f"np.stack(({python}, {python}))")
    for stack in ("hstack", "vstack", "dstack"):
        add(f"gpu.{stack}{{{lua}, {lua}}}", f"np.{stack}(({python}, {python}))")
    if ndim:
        add(f"{lua}:pad(1)", f"np.pad({python}, 1)")
        add(f"{lua}:pad({{1, 2}}, {{value = 5}})", f"np.pad({python}, (1, 2), constant_values=5)")
    if x.size and ndim and ndim < 4:
        for mode in ("edge", "reflect", "symmetric", "wrap"):
            add(f"{lua}:pad({{1, 2}}, {{mode = '{mode}'}})", f"np.pad({python}, (1, 2), mode='{mode}')")
    if ndim >= 2:
        for k in (-2, -1, 0, 1, 5):
            add(f"{lua}:diagonal({k})", f"{python}.diagonal({k})")
            add(f"gpu.tril({lua}, {k})", f"np.tril({python}, {k})")
            add(f"gpu.triu({lua}, {k})", f"np.triu({python}, {k})")
        if x.dtype.kind != "c":
            add(f"{lua}:trace()", f"np.trace({python})")
        for k in range(-1, 5):
            add(f"gpu.rot90({lua}, {k})", f"np.rot90({python}, {k})")
        add(f"{lua}:flip{{1, -1}}", f"np.flip({python}, (0, -1))")
        add(f"{lua}:roll({{1, 2}}, {{1, 2}})", f"np.roll({python}, (1, 2), (0, 1))")
        add(f"{lua}:expand_dims{{1, -1}}", f"np.expand_dims({python}, (0, -1))")
    if ndim == 3:
        for order in itertools.permutations(range(3)):
            mine = ", ".join(str(axis + 1) for axis in order)
            add(f"{lua}:transpose({mine})", f"{python}.transpose({order})")
        add(f"{lua}:diagonal(1, 3, 1)", f"{python}.diagonal(1, 2, 0)")
        add(f"{lua}:diagonal(0, 2, -1)", f"{python}.diagonal(0, 1, -1)")
        add(f"gpu.rot90({lua}, 1, {{2, 3}})", f"np.rot90({python}, 1, (1, 2))")
        add(f"{lua}:moveaxis({{1, 2}}, {{-1, 1}})", f"np.moveaxis({python}, (0, 1), (-1, 0))")

add("f:permute{4, 1, 3, 2}", "f.transpose(3, 0, 2, 1)")
add("g:squeeze(2)", "g.squeeze(1)")
add("one:squeeze{1, -1}", "one.squeeze((0, -1))")
add("s:broadcast_to(2, 3)", "np.broadcast_to(s, (2, 3))")
add("s:reshape{}", "s.reshape(())")
add("s:reshape(1, 1)", "s.reshape(1, 1)")
add("z:reshape(0, 7)", "z.reshape(0, 7)")
add("one:broadcast_to{2, 3, 4}", "np.broadcast_to(one, (2, 3, 4))")
add("one:broadcast_to{5, 1, 3, 0}", "np.broadcast_to(one, (5, 1, 3, 0))")
add("gpu.broadcast_arrays(one, m(1), s)", "np.broadcast_arrays(one, m[0], s)")
add("gpu.concat({m, u, b}, 2)", "np.concatenate((m, u, b), 1)")
add("gpu.concat({c, d}, 1)", "np.concatenate((c, d), 0)")
add("gpu.concat({m('1:2'), m.T('2:1'):reshape(0, 4), m})", "np.concatenate((m[:2], m.T[:0].reshape(0, 4), m))")
add("gpu.concat({m('2:3') * 2, m('1:1')})", "np.concatenate((m[1:3] * 2, m[0:1]))")
add("gpu.stack({u, m}, -1)", "np.stack((u, m), -1)")
add("gpu.hstack{v, v('1:2')}", "np.hstack((v, v[:2]))")
add("v:repeat_interleave({1, 0, 2, 0, 3, 1, 1})", "np.repeat(v, [1, 0, 2, 0, 3, 1, 1])")
add("m:repeat_interleave({1, 0, 2}, 1)", "np.repeat(m, [1, 0, 2], 0)")
add("m.T:repeat_interleave({0, 0, 0}, 2)", "np.repeat(m.T, [0, 0, 0], 1)")
add("m:tile{2, 2}", "np.tile(m, (2, 2))")
add("m:tile(0)", "np.tile(m, 0)")
add("gpu.split(t, 2, -1)", "np.split(t, 2, -1)")
add("gpu.split(v, {3, 3, -1})", "np.split(v, [3, 3, -1])")
add("gpu.array_split(v, 9)", "np.array_split(v, 9)")
for w, s in (("m:pad({{0, 2}, {3, 1}}, MODE)", "np.pad(m, ((0, 2), (3, 1)), MODE)"),
             ("v:pad({9, 25}, MODE)", "np.pad(v, (9, 25), MODE)"),
             ("v('3:3'):pad(2, MODE)", "np.pad(v[2:3], 2, MODE)")):
    for mode in ("'constant'", "'edge'", "'reflect'", "'symmetric'", "'wrap'"):
        add(w.replace("MODE", mode), s.replace("MODE", mode))
inputs["window"] = sliding_window_view
for lua, python in (("v:sliding_window(3)", "window(v, 3)"), ("v:sliding_window(7)", "window(v, 7)"),
                    ("m:sliding_window{2, 2}", "window(m, (2, 2))"), ("m:sliding_window(3, 2)", "window(m, 3, 1)"),
                    ("t:sliding_window({2, 3}, {-1, 2})", "window(t, (2, 3), (-1, 1))"),
                    ("m.T:sliding_window{2, 3}", "window(m.T, (2, 3))")):
    add(lua, python)
del inputs["window"]

# ---- creation

for args, theirs in (("3", "3"), ("3, 5", "3, 5"), ("5, 3, 1", "5, 3, 1"), ("3, 4, -2", "3, 4, -2"), ("0", "0"),
                     ("3, 3, 7", "3, 3, 7")):
    add(f"gpu.eye({args})", f"np.eye({theirs}, dtype='float32')")
    add(f"gpu.tri({args})", f"np.tri({theirs}, dtype='float32')")
add("gpu.eye(3, 'int8')", "np.eye(3, dtype='int8')")
add("gpu.identity(2, {dtype = 'complex64'})", "np.identity(2, dtype='complex64')")
add("gpu.tril(v)", "np.tril(v)")
add("gpu.triu(v, 2)", "np.triu(v, 2)")
for k in (-2, 0, 1):
    add(f"gpu.diag(v, {k})", f"np.diag(v, {k})")
    add(f"gpu.diag(m, {k})", f"np.diag(m, {k})")
    add(f"n:trace({k})", f"np.trace(n, {k}).astype('int64')")
add("gpu.diag(e)", "np.diag(e)")
add("t:trace(1, 3, 2)", "np.trace(t, 1, 2, 1)")
add("b:trace()", "np.trace(b)")
add("gpu.meshgrid(v, m(1))", "np.meshgrid(v, m[0])")
add("gpu.meshgrid(v, m(1), {indexing = 'ij'})", "np.meshgrid(v, m[0], indexing='ij')")
add("gpu.meshgrid(m(1), v('1:2'), d(1))", "np.meshgrid(m[0], v[:2], d[0])")
add("gpu.meshgrid(v)", "np.meshgrid(v)")
add("gpu.indices{2, 3}", "list(np.indices((2, 3)) + 1)")
add("gpu.indices({2, 0, 3}, 'float32')", "list(np.indices((2, 0, 3)).astype('float32') + 1)")
add("gpu.fromfunction(function(i, j) return i * 10 + j end, {2, 3})", "np.fromfunction(lambda i, j: i * 10 + j + 11, (2, 3), dtype=int)")
for args in ("0, 3, 7", "2, -2, 5", "1, 1, 1", "0, 1, 0"):
    add(f"gpu.logspace({args}, 'float64')", f"np.logspace({args})")
    add(f"gpu.logspace({args})", f"np.logspace({args}, dtype='float32')")
add("gpu.logspace(0, 8, 9, 2, 'int32')", "np.logspace(0, 8, 9, base=2, dtype='int32')")
for args in ("1, 1000, 4", "0.5, 32, 13", "-1, -1000, 7", "5, 1, 6", "3, 9, 1", "3, 9, 0"):
    add(f"gpu.geomspace({args}, 'float64')", f"np.geomspace({args})")
    add(f"gpu.geomspace({args})", f"np.geomspace({args}, dtype='float32')")
add("gpu.vander(d(1))", "np.vander(d[0])")
add("gpu.vander(d(1), 5, {increasing = true})", "np.vander(d[0], 5, True)")
add("gpu.vander(d(1):astype 'int32', 2)", "np.vander(d[0].astype('int32'), 2)", dtype="int32")
add("gpu.vander(d(1), 0)", "np.vander(d[0], 0)")

here = os.path.dirname(os.path.abspath(__file__))
cases.write(os.path.join(here, "shapes.lua"), "shapes.py")

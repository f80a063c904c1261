"""Writes editing.lua: insertion and deletion, blocks, positions, choices, the parts of numbers, bits and phases."""

import os

import numpy as np

from cases import Cases

rng = np.random.default_rng(7)


def some(*shape, dtype=np.int16, low=-99):
    return rng.integers(low, 99, shape).astype(dtype)


inputs = {
    "s": np.array(7, np.float32),
    "e": np.zeros((0,), np.float32),
    "z": np.zeros((2, 0, 3), np.float32),
    "v": some(7),
    "m": some(3, 4),
    "t": some(2, 3, 4, dtype=np.float32),
    "w": np.array([0, 0, 3, 0, -1, 0], np.float32),
    "zero": np.zeros((2, 3), np.float32),
    "framed": np.pad(some(2, 2, low=1), ((1, 2), (0, 3))),
    "u": some(3, 11, dtype=np.uint8, low=0),
    "b": some(3, 11) > 0,
    "c": (some(3, 5, low=-2) % 3 + 1j * (some(3, 5) % 4)).astype(np.complex64),
    "f": np.array([0, -0.0, 1, -1, 0.75, -6.5, 1e-42, 3e38, np.inf, -np.inf, np.nan, 8, 1e10], np.float32),
    "d": np.array([0, 5e-324, -3.7, 1e300, 2**-1030, np.inf, np.nan, 123456.789]),
    "h": np.array([0, 6e-8, -3.5, 65504, 0.1, np.inf], np.float16),
    "n": np.array([[1, np.nan, 3, 2], [np.nan, 4, np.nan, 0.5]], np.float32),
    "p": np.array([0, 1.5, 3.5, -2.5, -6, 9, 9.1, 9.1 - 2 * np.pi], np.float64),
    "q": np.array([[0, 90, 200, 350, 10], [180, 0, -180, 359, 1]], np.int32),
    "k": np.array([[1, 8, 24], [13, 2, 6]], np.int32),
}
cases = Cases(inputs)
add = cases.add


def value_of(name):
    return eval(name, dict(inputs))


# ---- insertion and deletion: positions are counted from 1 there, from 0 here
for x in ("v", "m", "t", "m.T", "e"):
    for axis in [None] + list(range(value_of(x).ndim)):
        size = value_of(x).size if axis is None else value_of(x).shape[axis]
        mine, theirs = ("", "") if axis is None else (f", {axis + 1}", f", axis={axis}")
        for at in {1, size + 1, max(size, 1), -1 if size else 1}:
            add(f"gpu.insert({x}, {at}, 5{mine})", f"np.insert({x}, {at - 1 if at > 0 else at}, 5{theirs})")
        add(f"gpu.insert({x}, {{1, {size + 1}, 1}}, 5{mine})", f"np.insert({x}, [0, {size}, 0], 5{theirs})")
        if size > 1:
            add(f"gpu.insert({x}, {{2, -1}}, 5{mine})", f"np.insert({x}, [1, -1], 5{theirs})")
            add(f"gpu.delete({x}, 2{mine})", f"np.delete({x}, 1{theirs})")
            add(f"gpu.delete({x}, -1{mine})", f"np.delete({x}, -1{theirs})")
            add(f"gpu.delete({x}, {{1, -1, 1}}{mine})", f"np.delete({x}, [0, -1, 0]{theirs})")
            add(f"gpu.delete({x}, '2:'{mine})", f"np.delete({x}, slice(1, None){theirs})")
            add(f"gpu.delete({x}, '::2'{mine})", f"np.delete({x}, slice(None, None, 2){theirs})")
        add(f"gpu.delete({x}, {{}}{mine})", f"np.delete({x}, []{theirs})")
add("gpu.insert(v, 3, {7, 8, 9})", "np.insert(v, 2, [7, 8, 9])")
add("gpu.insert(v, {3, 1, 8}, {7, 8, 9})", "np.insert(v, [2, 0, 7], [7, 8, 9])")
add("gpu.insert(v, '1:3', v('1:3'))", "np.insert(v, slice(0, 3), v[:3])")
add("gpu.insert(m, 2, m(1), 1)", "np.insert(m, 1, m[0], 0)")
add("gpu.insert(m, 2, m(':', 1), 2)", "np.insert(m, 1, m[:, 0], 1)")
add("gpu.insert(m, {2}, m(':', '1:1'), 2)", "np.insert(m, [1], m[:, :1], 1)")
add("gpu.insert(m, 2, m, 1)", "np.insert(m, 1, m, 0)")
add("gpu.insert(m, {1, 3}, m({1, 2}), 1)", "np.insert(m, [0, 2], m[:2], 0)")
add("gpu.insert(t, {2}, m('1:2', '1:3'):reshape(2, 3, 1), 3)", "np.insert(t, [1], m[:2, :3].reshape(2, 3, 1), 2)")
add("gpu.insert(v, gpu.array({2, 2}, 'int32'), 17)", "np.insert(v, np.array([1, 1]), 17)")
add("gpu.delete(v, v:gt(0))", "np.delete(v, v > 0)")
add("gpu.delete(m, gpu.array({true, false, true}), 1)", "np.delete(m, np.array([True, False, True]), 0)")
add("gpu.delete(v, gpu.array({7, 1}, 'int64'))", "np.delete(v, np.array([6, 0]))")

for x in ("v", "m", "s", "e", "m.T"):
    for shape in ("5", "2, 3", "0, 2", "4, 7"):
        add(f"gpu.resize({x}, {{{shape}}})", f"np.resize({x}, ({shape},))")
add("gpu.resize(v, 20)", "np.resize(v, 20)")

add("gpu.block{m, m}", "np.block([m, m])")
add("gpu.block{{m, m('1:3', '1:2')}, {m('1:1', '1:2'), m('1:1')}}", "np.block([[m, m[:, :2]], [m[:1, :2], m[:1]]])")
add("gpu.block{{v, 3}, {4, v}}", "np.block([[v, 3], [4, v]]).astype('float32')")
add("gpu.block{{{t, t}}, {{t, t}}}", "np.block([[[t, t]], [[t, t]]])")
add("gpu.block{1, 2, 3}", "np.block([1, 2, 3]).astype('float32')")
add("gpu.block(m)", "np.block(m)")
add("gpu.column_stack{v, v}", "np.column_stack((v, v))")
add("gpu.column_stack{m(':', 1), m}", "np.column_stack((m[:, 0], m))")
add("gpu.column_stack{e, e}", "np.column_stack((e, e))")
for axis in (0, 1, -1):
    add(f"gpu.unstack(t, {axis + 1 if axis >= 0 else axis})", f"np.unstack(t, axis={axis})")
add("gpu.unstack(m.T)", "np.unstack(m.T)")

for x in ("w", "zero", "framed", "framed.T", "e", "v"):
    for trim in ("f", "b", "fb"):
        add(f"gpu.trim_zeros({x}, '{trim}')", f"np.trim_zeros({x}, '{trim}')")
add("framed:trim_zeros('fb', 1)", "np.trim_zeros(framed, axis=0)")
add("framed:trim_zeros('f', -1)", "np.trim_zeros(framed, 'f', axis=-1)")

# ---- positions and choices
for shape in ("4, 6", "24", "2, 3, 4"):
    for order in "CF":
        add(f"gpu.unravel_index(k, {{{shape}}}, {{order = '{order}'}})",
            f"[i + 1 for i in np.unravel_index(k - 1, ({shape},), order='{order}')]", dtype="int64")
add("gpu.unravel_index(5, {2, 3})", "[i + 1 for i in np.unravel_index(4, (2, 3))]", dtype="int64")
for order in "CF":
    add(f"gpu.ravel_multi_index({{{{1, 2, 3}}, {{4, 1, 2}}}}, {{3, 4}}, {{order = '{order}'}})",
        f"np.ravel_multi_index(([0, 1, 2], [3, 0, 1]), (3, 4), order='{order}') + 1", dtype="int64")
add("gpu.ravel_multi_index({{0, 5}, {9, -3}}, {3, 4}, {mode = 'wrap'})", "np.ravel_multi_index(([-1, 4], [8, -4]), (3, 4), mode='wrap') + 1")
add("gpu.ravel_multi_index({{0, 5}, {9, -3}}, {3, 4}, {mode = {'clip', 'wrap'}})",
    "np.ravel_multi_index(([-1, 4], [8, -4]), (3, 4), mode=('clip', 'wrap')) + 1")
add("m(gpu.ix_({1, 3}, {4, 1, 1}))", "m[np.ix_([0, 2], [3, 0, 0])]")
add("m(gpu.ix_(m(':', 1):gt(0), gpu.array({2, 3}, 'int32')))", "m[np.ix_(m[:, 0] > 0, [1, 2])]")
for n, k, columns in ((4, 0, 4), (4, 1, 4), (4, -2, 3), (3, 0, 5), (3, 9, 2), (3, -9, 3), (0, 0, 0), (5, -1, 2)):
    for side in "lu":
        add(f"gpu.tri{side}_indices({n}, {k}, {columns})", f"[i + 1 for i in np.tri{side}_indices({n}, {k}, {columns})]", dtype="int64")
        if columns:
            add(f"gpu.tri{side}_indices_from(gpu.zeros({n}, {columns}), {k})",
                f"[i + 1 for i in np.tri{side}_indices({n}, {k}, {columns})]", dtype="int64")
add("gpu.diag_indices(3)", "[i + 1 for i in np.diag_indices(3)]", dtype="int64")
add("gpu.diag_indices(2, 3)", "[i + 1 for i in np.diag_indices(2, 3)]", dtype="int64")
add("gpu.select({m:gt(50), m:lt(0)}, {m, m * 2}, -7)", "np.select([m > 50, m < 0], [m, m * 2], -7)")
add("gpu.select({t:gt(0), t:lt(-20)}, {1, t})", "np.select([t > 0, t < -20], [1, t])")
add("gpu.select({v:gt(0)}, {v:astype 'float64'})", "np.select([v > 0], [v.astype('float64')])")
add("gpu.piecewise(t, {t:lt(0), t:ge(0)}, {function(x) return -x end, function(x) return x * 2 end})",
    "np.piecewise(t, [t < 0, t >= 0], [lambda x: -x, lambda x: x * 2])")
add("m:piecewise({m:lt(0), m:lt(-20)}, {1, 2, function(x) return x / 3 end})",
    "np.piecewise(m, [m < 0, m < -20], [1, 2, lambda x: x / 3])")

# ---- the parts of numbers, bits, phases
for x in "fdh":
    add(f"gpu.frexp({x})", f"np.frexp({x})")
    add(f"gpu.modf({x})", f"np.modf({x})")
add("gpu.modf(v / 4)", "np.modf((v / 4).astype('float32'))")
for x in ("n", "n.T", "v", "t", "c", "e"):
    axes = range(value_of(x).ndim)
    for name in ("nancumsum", "nancumprod"):
        if x in ("v", "c") and name == "nancumprod":
            continue
        if x == "t" and name == "nancumprod":
            continue
        add(f"gpu.{name}({x})", f"np.{name}({x})")
        for axis in axes:
            add(f"{x}:{name}({axis + 1})", f"np.{name}({x}, {axis})")
add("gpu.unwrap(p)", "np.unwrap(p)")
add("p:unwrap{discont = 4}", "np.unwrap(p, 4)")
add("p:astype 'float32':unwrap()", "np.unwrap(p.astype('float32'))")
for axis in (0, 1):
    add(f"q:unwrap{{period = 360, axis = {axis + 1}}}", f"np.unwrap(q, period=360, axis={axis})", dtype="int64")
    add(f"q:unwrap{{period = 7, axis = {axis + 1}}}", f"np.unwrap(q, period=7, axis={axis})", dtype="int64")
add("q:astype 'float64':unwrap{period = 360}", "np.unwrap(q.astype('float64'), period=360)")
for order in ("big", "little"):
    for axis in (None, 0, 1):
        mine, theirs = ("", "None") if axis is None else (f"{axis + 1}, ", str(axis))
        for x in ("b", "u", "b.T"):
            add(f"{x}:packbits({mine}{{bitorder = '{order}'}})", f"np.packbits({x}, {theirs}, bitorder='{order}')")
        for count in ("", "5", "100", "-3"):
            more, other = (f", count = {count}", f", count={count}") if count else ("", "")
            add(f"u:unpackbits({mine}{{bitorder = '{order}'{more}}})", f"np.unpackbits(u, {theirs}, bitorder='{order}'{other})")
add("e:ne(0):packbits()", "np.packbits(e != 0)")
add("gpu.sort_complex(c)", "np.sort_complex(c)")
add("gpu.sort_complex(c.T)", "np.sort_complex(c.T)")
add("gpu.sort_complex(t)", "np.sort_complex(t)", dtype="complex64")
for axis in (0, 1, 2):
    add(f"gpu.apply_along_axis(function(r) return r:sum() end, {axis + 1}, t)", f"np.apply_along_axis(lambda r: r.sum(), {axis}, t)")
    add(f"gpu.apply_along_axis(function(r, n) return r:tile(n) end, {axis + 1}, t, 2)", f"np.apply_along_axis(lambda r: np.tile(r, 2), {axis}, t)")
    add(f"gpu.apply_along_axis(function(r) return gpu.outer(r, r) end, {axis + 1}, t)", f"np.apply_along_axis(lambda r: np.outer(r, r), {axis}, t)")
add("gpu.array_equiv(m, m:copy())", "bool(np.array_equiv(m, m.copy()))")
add("gpu.array_equiv(m, m(1))", "bool(np.array_equiv(m, m[0]))")
add("gpu.array_equiv(m(1), m(1):broadcast_to(2, 4))", "bool(np.array_equiv(m[0], np.broadcast_to(m[0], (2, 4))))")
add("gpu.array_equiv(m, m.T)", "bool(np.array_equiv(m, m.T))")

here = os.path.dirname(os.path.abspath(__file__))
cases.write(os.path.join(here, "editing.lua"), "editing.py")

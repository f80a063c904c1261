"""Writes reductions.lua: reductions over axes, layouts and dtypes, and what is composed of them; and reductions.npz."""

import itertools
import os

import numpy as np

from cases import Cases

rng = np.random.default_rng(2)


def holes(*shape):
    """Numbers with NaN among them, and one column of NaN alone."""
    x = (rng.integers(-40, 40, shape) / 8).astype(np.float32)
    x[rng.random(shape) < 0.3] = np.nan
    x[..., 1] = np.nan
    x[..., 0] = 1.5
    return x


inputs = {
    "s": np.array(3, np.float32),
    "e": np.zeros((0,), np.float32),
    "z": np.zeros((0, 3), np.float32),
    "v": rng.integers(-9, 9, 50).astype(np.int32),
    "m": (rng.integers(-64, 64, (5, 7)) / 16).astype(np.float32),
    "t": rng.integers(-9, 9, (3, 4, 5)).astype(np.int16),
    "f": (rng.integers(-64, 64, (2, 3, 2, 3)) / 16).astype(np.float64),
    "g": rng.integers(0, 9, (2, 1, 3, 2, 2)).astype(np.uint8),
    "b": rng.random((4, 6)) < 0.6,
    "h": (rng.integers(-64, 64, (4, 5)) / 16).astype(np.float16),
    "d": np.sort(rng.random(6)) * 4,
    "k": holes(4, 5),
    "a": np.array([1, np.inf, -np.inf, np.nan, 2], np.float32),
    "w": (rng.integers(1, 16, (5, 7)) / 4).astype(np.float32),
    "c": np.array([True, False, True, False, True]),
}
integers = {"v", "t", "g", "b"}
views = {
    "s": "s", "v": "v", "m": "m", "t": "t", "f": "f", "g": "g", "b": "b", "h": "h", "z": "z",
    "m.T": "m.T",
    't("::-1", ":", "1:5:2")': "t[::-1, :, 0:5:2]",
    "t:permute(3, 1, 2)": "t.transpose(2, 0, 1)",
    "v:broadcast_to(3, 50)": "np.broadcast_to(v, (3, 50))",
    "(f * 2)": "(f * 2)",
}
cases = Cases(inputs)
add = cases.add


def is_integer(python):
    return eval(python, {"np": np, **inputs}).dtype.kind in "biu"


def axis_sets(ndim):
    """Lua's and Python's axes: none, each, from the end, and pairs."""
    sets = [("", "axis=None")] + [(str(axis + 1), f"axis={axis}") for axis in range(ndim)]
    if ndim:
        sets.append(("-1", "axis=-1"))
    for a, b in itertools.combinations(range(ndim), 2):
        sets.append((f"{{{a + 1}, {b + 1}}}", f"axis=({a}, {b})"))
    return sets


exact = ("sum", "prod", "max", "min", "any", "all")
real = ("mean", "var", "std")
for lua, python in views.items():
    x = eval(python, {"np": np, **inputs})
    for mine, theirs in axis_sets(x.ndim):
        for name in exact + real + ("count_nonzero", "ptp", "argmax", "argmin"):
            pair = mine.startswith("{")
            if pair and (name.startswith("arg") or x.ndim > 3 and name not in ("sum", "max")):
                continue
            # Each kernel is compiled: the counterparts of others are tried on whole arrays, and along one axis.
            if name in ("prod", "min", "any", "argmin", "var", "count_nonzero") and (lua not in inputs or mine not in ("", "1")):
                continue
            if name in ("max", "min", "ptp", "argmax", "argmin") and x.size == 0 and theirs != "axis=1":
                continue
            if name == "ptp" and x.dtype.kind == "b" or name == "prod" and x.size > 60:
                continue
            dtype = "float32" if name in real and is_integer(python) else None
            if name in ("any", "all") or name.startswith("count"):
                dtype = None
            suffix = " + 1" if name.startswith("arg") else ""
            add(f"{lua}:{name}({mine})", f"np.{name}({python}, {theirs}){suffix}", dtype)
    if x.ndim:
        for name in ("sum", "max", "mean", "ptp"):
            if x.size and x.dtype.kind != "b":
                dtype = "float32" if name == "mean" and is_integer(python) else None
                add(f"{lua}:{name}(1, {{keepdims = true}})", f"np.{name}({python}, axis=0, keepdims=True)", dtype)

for name in ("sum", "prod", "mean", "var", "any", "all", "count_nonzero"):
    add(f"e:{name}()", f"np.{name}(e)", "int64" if name == "count_nonzero" else None)
for name in ("max", "min", "sum", "mean", "argmax", "argmin"):
    add(f"a:{name}()", f"np.{name}(a)" + (" + 1" if name.startswith("arg") else ""))
add("m:sum(1, {dtype = 'float64'})", "m.sum(0, dtype='float64')")
add("t:sum({1, -1}, {dtype = 'int8'})", "t.sum((0, -1), dtype='int8')")
add("g:prod({dtype = 'float32'})", "g.prod(dtype='float32')")
add("m:var(2, {ddof = 1})", "m.var(1, ddof=1)")
add("m:std({ddof = 7, axis = 2})", "m.std(1, ddof=7)")
add("h:sum(1)", "h.sum(0)")
for name, options in (("nansum", "initial=3"), ("nanprod", "initial=3"), ("nanmin", "initial=3"), ("nanmax", "initial=-3"),
                      ("nanmean", ""), ("nanvar", "ddof=1"), ("nanstd", "")):
    fields = ", ".join(filter(None, ("where = c", options)))
    add(f"k:{name}(2, {{{fields}}})", f"np.{name}(k, 1, where=c{', ' + options if options else ''})")

# ---- without NaN

for name in ("nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd"):
    for x in ("k", "k.T", "m", "t", "a"):
        for mine, theirs in axis_sets(inputs[x[0]].ndim):
            dtype = "float32" if x == "t" and name in ("nanmean", "nanvar", "nanstd") else None
            if name == "nanprod" and x == "t" and mine == "":
                continue
            if x == "a" and name in ("nanvar", "nanstd"):
                continue
            add(f"{x}:{name}({mine})", f"np.{name}({x}, {theirs})", dtype)
add("k:nanvar(1, {ddof = 2})", "np.nanvar(k, 0, ddof=2)")
add("k:nanmean(1, {keepdims = true})", "np.nanmean(k, 0, keepdims=True)")
for name in ("nanargmin", "nanargmax"):
    for x, axis in (("k", None), ("k", 1), ("m", 0), ("t", None)):
        add(f"gpu.{name}({x}{'' if axis is None else f', {axis + 1}'})", f"np.{name}({x}, axis={axis}) + 1")

# ---- averages, norms, exponentials

add("m:average()", "np.average(m)")
add("m:average(1)", "np.average(m, 0)")
add("m:average({weights = w})", "np.average(m, weights=w)")
add("m:average(2, {weights = w})", "np.average(m, 1, weights=w)")
add("m:average(2, {weights = w(1)})", "np.average(m, 1, weights=w[0])")
add("m:average(1, {weights = w(':', 2), keepdims = true})", "np.average(m, 0, weights=w[:, 1], keepdims=True)")
add("t:average(3, {weights = w(1, {1, 5})})", "np.average(t, 2, weights=w[0, :5])", "float32")


def norm(x, order, axis="", keepdims=False):
    """The call of gpu.norm; without an order, the axis is an option."""
    options = [f"axis = {axis}"] * bool(axis and not order) + ["keepdims = true"] * keepdims
    arguments = [x] + [order, axis] * bool(order) + ["{" + ", ".join(options) + "}"] * bool(options)
    return f"gpu.norm({', '.join(filter(None, arguments))})"


for order, theirs in (("", "None"), ("1", "1"), ("2", "2"), ("3", "3"), ("0.5", "0.5"), ("-1", "-1"), ("0", "0"),
                      ("inf", "np.inf"), ("-inf", "-np.inf")):
    for x, dtype in (("(v + 0.5)", "float32"), ("d", None), ("w(1)", None)):
        python = x.replace("w(1)", "w[0]").replace("(v + 0.5)", "(v + np.float32(0.5))")
        add(norm(x, order), f"np.linalg.norm({python}, {theirs})", dtype)
    add(norm("w", order, "1"), f"np.linalg.norm(w, {theirs}, 0)")
    add(norm("f + 0.125", order, "-1", True), f"np.linalg.norm(f + 0.125, {theirs}, -1, keepdims=True)")
for order, theirs in (("", "None"), ("'fro'", "'fro'"), ("1", "1"), ("-1", "-1"), ("inf", "np.inf"), ("-inf", "-np.inf")):
    add(norm("m", order), f"np.linalg.norm(m, {theirs})")
    add(norm("f", order, "{1, 3}"), f"np.linalg.norm(f, {theirs}, (0, 2))")
    add(norm("f", order, "{4, 2}", True), f"np.linalg.norm(f, {theirs}, (3, 1), keepdims=True)")
add("t:norm()", "np.linalg.norm(t)", "float32")
add("f:norm()", "np.linalg.norm(f)")
for x in ("m", "f", "d", "(m * 1000)"):
    python = x.replace("(m * 1000)", "(m.astype('float64') * 1000)")
    dtype = "float32" if "m" in x else None
    for mine, theirs, keep in (("", "None", "False"), ("1", "0", "False"), ("-1", "-1", "False"), ("1, {keepdims = true}", "0", "True")):
        add(f"gpu.logsumexp({x}{', ' + mine if mine else ''})",
            f"(lambda top: np.log(np.sum(np.exp({python} - top), axis={theirs}, keepdims={keep})) + np.sum(top * 0 + np.max({python}, axis={theirs}, keepdims=True), axis={theirs}, keepdims={keep}) / (1 if {theirs} is not None or {keep} else 1))(np.max({python}, axis={theirs}, keepdims=True))", dtype)
    add(f"gpu.softmax({x}, -1)", f"(lambda e: e / e.sum(-1, keepdims=True))(np.exp({python} - {python}.max(-1, keepdims=True)))", dtype)
    add(f"gpu.log_softmax({x}, -1)", f"(lambda y: y - np.log(np.exp(y).sum(-1, keepdims=True)))({python} - {python}.max(-1, keepdims=True))", dtype)
add("gpu.logsumexp(a({1, 2}))", "np.float32(np.inf)")
add("gpu.logsumexp(a({3, 3}))", "np.float32(-np.inf)")
add("m:cov()", "np.cov(m)", "float32")
add("m:cov({rowvar = false, bias = true})", "np.cov(m, rowvar=False, bias=True)", "float32")
add("m:cov({ddof = 3})", "np.cov(m, ddof=3)", "float32")
add("d:cov()", "np.cov(d)")
add("t(1):cov()", "np.cov(t[0])", "float32")
add("m:corrcoef()", "np.corrcoef(m)", "float32")
add("gpu.corrcoef(m, {rowvar = false})", "np.corrcoef(m, rowvar=False)", "float32")

# ---- comparison

for x, y, options, theirs in (("m", "m", "", ""), ("m", "w", "", ""), ("a", "a", "", ""), ("k", "k", "{equal_nan = true}", "equal_nan=True"),
                              ("m", "m + 1e-6", "", ""), ("m", "m + 1e-3", "1e-2, 1e-1", "rtol=1e-2, atol=1e-1"), ("a", "a * 1.0", "{equal_nan = true}", "equal_nan=True"),
                              ("t", "t + 1", "{atol = 1}", "atol=1"), ("v", "v", "0, 0", "rtol=0, atol=0"), ("m", "s", "", ""), ("z", "z", "", "")):
    mine = f", {options}" if options else ""
    theirs = f", {theirs}" if theirs else ""
    add(f"gpu.isclose({x}, {y}{mine})", f"np.isclose({x}, {y}{theirs})")
    add(f"gpu.allclose({x}, {y}{mine})", f"np.allclose({x}, {y}{theirs})")
    add(f"gpu.equal({x}, {y})", f"np.array_equal({x}, {y})")
add("m:array_equal(m.T)", "np.array_equal(m, m.T)")
add("gpu.isclose(m, 1, {atol = 0.5})", "np.isclose(m, 1, atol=0.5)")
add("z:equal(e)", "np.array_equal(z, e)")

# ---- differences

for x in ("v", "m", "t", "f", "b", "g", "h", "m.T", "z"):
    ndim = inputs[x[0]].ndim
    add(f"{x}:diff()", f"np.diff({x})")
    add(f"{x}:diff(2)", f"np.diff({x}, 2)")
    add(f"{x}:diff(0)", f"np.diff({x}, 0)")
    for axis in range(ndim):
        add(f"{x}:diff(1, {axis + 1})", f"np.diff({x}, 1, {axis})")
    if x != "b":
        add(f"{x}:ediff1d()", f"np.ediff1d({x})")
add("v:diff(9, {prepend = 5, append = v})", "np.diff(v, 9, prepend=np.int32(5), append=v)")
add("m:diff(1, 1, {prepend = 0, append = m({1, 2})})", "np.diff(m, 1, 0, prepend=np.float32(0), append=m[:2])")
add("v({1, 3}):ediff1d{to_begin = -7, to_end = v({4, 5})}", "np.ediff1d(v[:3], to_begin=-7, to_end=v[3:5])")
add("v({1, 2}):diff(5)", "np.diff(v[:2], 5)")
for order in (1, 2):
    add(f"d:gradient{{edge_order = {order}}}", f"np.gradient(d, edge_order={order})")
    add(f"d:gradient(0.5, {{edge_order = {order}}})", f"np.gradient(d, 0.5, edge_order={order})")
    add(f"gpu.gradient(w(1, {{1, 6}}):astype 'float64', d, {{edge_order = {order}}})", f"np.gradient(w[0, :6].astype('float64'), d, edge_order={order})")
    add(f"m:gradient{{edge_order = {order}}}", f"np.gradient(m, edge_order={order})")
    add(f"m:gradient(2, {{axis = 2, edge_order = {order}}})", f"np.gradient(m, 2, axis=1, edge_order={order})")
add("m:gradient(2, 3)", "np.gradient(m, 2, 3)")
add("t:gradient{axis = -1}", "np.gradient(t, axis=-1)", "float32")
add("v({1, 2}):gradient()", "np.gradient(v[:2])", "float32")
add("d:trapezoid()", "np.trapezoid(d)")
add("m:trapezoid(0.5)", "np.trapezoid(m, dx=0.5)")
add("m:trapezoid(0.5, 1)", "np.trapezoid(m, dx=0.5, axis=0)")
add("m({1, 5}, {1, 6}):trapezoid(d)", "np.trapezoid(m[:, :6], d)")
add("f({1, 2}, 1):trapezoid(d({1, 2}), 1)", "np.trapezoid(f[:, 0], d[:2], axis=0)")
add("m:trapezoid(w)", "np.trapezoid(m, w)")
add("t:trapezoid()", "np.trapezoid(t)", "float32")

# ---- vectors and polynomials

add("gpu.cross(d({1, 3}), d({4, 6}))", "np.cross(d[:3], d[3:])")
add("gpu.cross(t(':', ':', {1, 3}), t(1, ':', {2, 4}))", "np.cross(t[:, :, :3], t[0, :, 1:4])")
add("gpu.cross(f, f('::-1'), 2)", "np.cross(f, f[::-1], axis=1)")
add("gpu.polyval({1, -2, 0.5}, d)", "np.polyval([1, -2, 0.5], d)")
add("gpu.polyval(d, m)", "np.polyval(d, m)")
add("gpu.polyval(v({1, 3}), v)", "np.polyval(v[:3], v)")
add("gpu.polyval({3}, m)", "np.polyval([3], m).astype('float32')")

here = os.path.dirname(os.path.abspath(__file__))
cases.write(os.path.join(here, "reductions.lua"), "reductions.py")

# ---- reductions.npz: each reduction of each dtype, with where and initial
#
# Names: x_DTYPE and where_LAYOUT, the mask; NAME_DTYPE is a vector of what the reduction gives, for each layout, then along
# each set of axes, without and with a mask. tests/lua/reduction_dtypes_spec.lua goes through them in this order.

dtypes = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
          "bfloat16", "complex64", "complex128")
layouts = {"contiguous": lambda x: x, "transposed": lambda x: x.transpose(2, 0, 1), "strided": lambda x: x[:, ::-1, ::2]}
axes_of = {"contiguous": (None, (0,), (2,), (0, 2)), "transposed": ((0,), (0, 2)), "strided": (None, (2,))}
shape = (2, 3, 4)


def make_input(dtype):
    kind = np.dtype(dtype).kind if dtype != "bfloat16" else "f"
    if kind == "b":
        return rng.random(shape) < 0.7
    if kind in "iu":
        return rng.integers(0 if kind == "u" else -3, 4, shape).astype(dtype)
    x = rng.integers(-12, 13, shape) / 8  # sums are exact in every dtype
    if kind == "c":
        x = x + 1j * rng.integers(-12, 13, shape) / 8
    return x.astype("float32" if dtype == "bfloat16" else dtype)


def reduce_golden(name, x, axes, mask):
    """What NumPy gives; 16-bit floating types are computed in float32, and not rounded."""
    if name.startswith("arg"):
        axes = tuple(range(x.ndim)) if axes is None else axes
        moved = np.moveaxis(x, axes, range(-len(axes), 0))
        moved = moved.reshape(moved.shape[: x.ndim - len(axes)] + (-1,))
        return getattr(np, name)(moved, axis=-1) + 1
    if name == "count_nonzero":
        return np.sum(x != 0, axis=axes, where=True if mask is None else mask)
    options = {} if mask is None else {"where": mask}
    if mask is not None and name in ("sum", "prod", "max", "min"):
        options["initial"] = 1
    with np.errstate(all="ignore"):
        return getattr(np, name)(x, axis=axes, **options)


golden = {f"where_{layout}": rng.random(view(np.zeros(shape)).shape[1:]) < 0.6 for layout, view in layouts.items()}
for dtype in dtypes:
    x = make_input(dtype)
    golden[f"x_{dtype}"] = x
    for name in exact + real + ("count_nonzero", "argmax", "argmin"):
        if x.dtype.kind == "c" and name in ("max", "min", "argmax", "argmin"):
            continue
        results = []
        for layout, view in layouts.items():
            for axes in axes_of[layout]:
                for mask in (None,) if name.startswith("arg") else (None, golden[f"where_{layout}"]):
                    wide = view(x).astype("float32") if dtype == "float16" else view(x)
                    results.append(np.ravel(reduce_golden(name, wide, axes, mask)))
        results = np.concatenate(results)
        if name in real and x.dtype.kind in "biu":
            results = results.astype("float32")
        golden[f"{name}_{dtype}"] = results
np.savez_compressed(os.path.join(here, "reductions.npz"), **golden)

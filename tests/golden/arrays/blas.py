"""Writes blas.lua: gpu.blas against SciPy's BLAS, for each option, and operands in several layouts."""

import itertools
import os

import numpy as np
from scipy.linalg import blas

from cases import Cases

rng = np.random.default_rng(3)
types = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def some(p, *shape):
    x = rng.integers(-4, 5, shape).astype(types[p])
    return x + 1j * rng.integers(-4, 5, shape).astype(types[p]) if p in "cz" else x


inputs = {}
for p in types:
    inputs |= {f"x{p}": some(p, 5), f"y{p}": some(p, 5), f"a{p}": some(p, 4, 5), f"b{p}": some(p, 5, 3), f"o{p}": some(p, 4, 3),
               f"u{p}": some(p, 4), f"n{p}": some(p, 3), f"q{p}": some(p, 4, 4), f"g{p}": some(p, 4, 5)}
    # Triangles with a diagonal of 1, 2 or 4: solutions stay small.
    inputs[f"q{p}"][np.diag_indices(4)] = rng.choice([1, 2, 4], 4)

cases = Cases(inputs)
count = 0


def layout(name):
    """The array in one of three layouts."""
    global count
    count += 1
    ndim = inputs[name].ndim
    if count % 3 == 1:
        return f"{name}:copy()"
    if ndim == 1:
        return f'{name}:repeat_interleave(2)("1:-1:2")'
    return f"{name}.T:copy().T" if count % 3 == 2 else f'gpu.pad({name}, 1)("2:-2", "2:-2")'


def options(**fields):
    text = ", ".join(f"{name} = {value}" for name, value in fields.items())
    return "{" + text + "}"


def quoted(letter):
    return f'"{letter}"'


for p, dtype in types.items():
    of = lambda name: getattr(blas, p + name)
    value = {name[:-1]: array for name, array in inputs.items() if name[-1] == p}
    alpha, py_alpha = ("gpu.complex(2, -1)", 2 - 1j) if p in "cz" else ("1.5", 1.5)
    ways = "NTC"
    cases.add(f"gpu.blas.axpy({alpha}, x{p}, {layout('y' + p)})", of("axpy")(value["x"], value["y"].copy(), a=py_alpha))
    cases.add(f"gpu.blas.scal({alpha}, {layout('x' + p)})", of("scal")(py_alpha, value["x"].copy()))
    cases.add(f"gpu.blas.copy(x{p}, {layout('y' + p)})", value["x"])
    cases.add(f"gpu.stack({{gpu.blas.swap(x{p}:copy(), y{p}:copy())}})", np.stack([value["y"], value["x"]]))
    rot = {"s": "srot", "d": "drot", "c": "csrot", "z": "zdrot"}[p]
    cases.add(f"gpu.stack({{gpu.blas.rot({layout('x' + p)}, {layout('y' + p)}, 0.75, -0.5)}})",
              np.stack(getattr(blas, rot)(value["x"].copy(), value["y"].copy(), 0.75, -0.5)))
    cases.add(f"gpu.blas.dot(x{p}, y{p})", np.asarray(of("dotu" if p in "cz" else "dot")(value["x"], value["y"])), dtype=dtype)
    real = np.float32 if p in "sc" else np.float64
    prefix = {"c": "sc", "z": "dz"}.get(p, p)
    cases.add(f"gpu.blas.nrm2(x{p})", getattr(blas, prefix + "nrm2")(value["x"]), dtype=real)
    cases.add(f"gpu.blas.asum(x{p})", getattr(blas, prefix + "asum")(value["x"]), dtype=real)
    cases.add(f"gpu.blas.iamax(x{p})", int(getattr(blas, f"i{p}amax")(value["x"])) + 1, dtype=np.int64)

    for way in ways:
        trans = ways.index(way)
        x, y, py_x, py_y = ("x", "u", value["x"], value["u"]) if way == "N" else ("u", "x", value["u"], value["x"])
        cases.add(f"gpu.blas.gemv({layout('a' + p)}, {layout(x + p)}, {options(trans=quoted(way))})",
                  of("gemv")(1, value["a"], py_x, trans=trans))
        cases.add(f"gpu.blas.gemv({layout('a' + p)}, {layout(x + p)}, "
                  f"{options(trans=quoted(way), alpha=alpha, beta=-2, out=layout(y + p))})",
                  of("gemv")(py_alpha, value["a"], py_x, -2, py_y.copy(), trans=trans))
    ger = of("geru" if p in "cz" else "ger")
    cases.add(f"gpu.blas.ger(u{p}, x{p})", ger(1, value["u"], value["x"]))
    cases.add(f"gpu.blas.ger(u{p}, x{p}, {options(alpha=alpha, out=layout('a' + p))})",
              ger(py_alpha, value["u"], value["x"], a=value["a"].copy()))

    for way_a, way_b in itertools.product(ways, ways):
        a = value["a"] if way_a == "N" else np.ascontiguousarray(value["a"].T)
        b = value["b"] if way_b == "N" else np.ascontiguousarray(value["b"].T)
        lua_a = layout("a" + p) if way_a == "N" else f"({layout('a' + p)}).T"
        lua_b = layout("b" + p) if way_b == "N" else f"({layout('b' + p)}).T"
        cases.add(f"gpu.blas.gemm({lua_a}, {lua_b}, {options(trans_a=quoted(way_a), trans_b=quoted(way_b))})",
                  of("gemm")(1, a, b, trans_a=ways.index(way_a), trans_b=ways.index(way_b)))
        call = options(trans_a=quoted(way_a), trans_b=quoted(way_b), alpha=alpha, beta=0.5, out=layout("o" + p))
        cases.add(f"gpu.blas.gemm({lua_a}, {lua_b}, {call})",
                  of("gemm")(py_alpha, a, b, 0.5, value["o"], trans_a=ways.index(way_a), trans_b=ways.index(way_b)))
    cases.add(f"gpu.blas.gemm_batched({{a{p}, a{p} * 2}}, {{b{p}, {layout('b' + p)}}})",
              [of("gemm")(1, value["a"], value["b"]), of("gemm")(2, value["a"], value["b"])])
    cases.add(f"gpu.blas.gemm_batched({{a{p}, a{p} * 2}}, {{b{p}, {layout('b' + p)}}}, "
              f"{options(alpha=alpha, beta=3, out='{' + layout('o' + p) + ', ' + layout('o' + p) + '}')})",
              [of("gemm")(py_alpha, value["a"], value["b"], 3, value["o"]), of("gemm")(2 * py_alpha, value["a"], value["b"], 3, value["o"])])
    cases.add(f"gpu.blas.gemm_strided_batched(gpu.stack {{a{p}, a{p} * 2}}, b{p}:reshape(1, 5, 3), {options(alpha=alpha)})",
              np.stack([of("gemm")(py_alpha, value["a"], value["b"]), of("gemm")(2 * py_alpha, value["a"], value["b"])]))
    cases.add(f"gpu.blas.gemm_strided_batched(gpu.stack {{a{p}, a{p} * 2}}, gpu.stack {{o{p}, o{p}}}, {options(trans_a=quoted('C'))})",
              np.stack([of("gemm")(1, value["a"], value["o"], trans_a=2), of("gemm")(2, value["a"], value["o"], trans_a=2)]))

    for uplo in "LU":
        lower = uplo == "L"
        full = np.where(np.tri(4, dtype=bool) if lower else np.tri(4, dtype=bool).T, value["q"], value["q"].T)
        cases.add(f"gpu.blas.symv({layout('q' + p)}, {layout('u' + p)}, {options(uplo=quoted(uplo))})", full @ value["u"])
        cases.add(f"gpu.blas.symv({layout('q' + p)}, u{p}, {options(uplo=quoted(uplo), alpha=alpha, beta=2, out=layout('u' + p))})",
                  (py_alpha * (full @ value["u"]) + 2 * value["u"]).astype(dtype))
        for side in "LR":
            b = value["o"] if side == "L" else np.ascontiguousarray(value["o"].T)
            lua_b = layout("o" + p) if side == "L" else f"({layout('o' + p)}).T"
            fields = dict(side=quoted(side), uplo=quoted(uplo), alpha=alpha)
            cases.add(f"gpu.blas.symm({layout('q' + p)}, {lua_b}, {options(**fields)})",
                      of("symm")(py_alpha, value["q"], b, side=side == "R", lower=lower))
            cases.add(f"gpu.blas.symm({layout('q' + p)}, {lua_b}, {options(**fields, beta=-1, out=lua_b)})",
                      of("symm")(py_alpha, value["q"], b, -1, b, side=side == "R", lower=lower))
            for way, diag in itertools.product(ways, "NU"):
                fields = dict(side=quoted(side), uplo=quoted(uplo), trans_a=quoted(way), diag=quoted(diag), alpha=alpha)
                arguments = dict(side=side == "R", lower=lower, trans_a=ways.index(way), diag=diag == "U")
                for name in ("trmm", "trsm"):
                    out = {"out": lua_b} if way == "T" else {}
                    cases.add(f"gpu.blas.{name}({layout('q' + p)}, {lua_b}, {options(**fields, **out)})",
                              of(name)(py_alpha, value["q"], b, **arguments))
        for way, diag in itertools.product(ways, "NU"):
            cases.add(f"gpu.blas.trsv({layout('q' + p)}, {layout('u' + p)}, "
                      f"{options(uplo=quoted(uplo), trans=quoted(way), diag=quoted(diag))})",
                      of("trsv")(value["q"], value["u"], lower=lower, trans=ways.index(way), diag=diag == "U"))
        for way in "NT":
            a, g = (value["a"], value["g"]) if way == "N" else [np.ascontiguousarray(value[name].T) for name in "ag"]
            lua_a, lua_g = [layout(name + p) if way == "N" else f"({layout(name + p)}).T" for name in "ag"]
            fields = dict(uplo=quoted(uplo), trans=quoted(way))
            arguments = dict(lower=lower, trans=way == "T")
            cases.add(f"gpu.blas.syrk({lua_a}, {options(**fields)})", of("syrk")(1, a, **arguments))
            cases.add(f"gpu.blas.syrk({lua_a}, {options(**fields, alpha=alpha, beta=2, out=layout('q' + p))})",
                      of("syrk")(py_alpha, a, 2, value["q"], **arguments))
            cases.add(f"gpu.blas.syr2k({lua_a}, {lua_g}, {options(**fields)})", of("syr2k")(1, a, g, **arguments))
            cases.add(f"gpu.blas.syr2k({lua_a}, {lua_g}, {options(**fields, alpha=alpha, beta=2, out=layout('q' + p))})",
                      of("syr2k")(py_alpha, a, g, 2, value["q"], **arguments))
    cases.add(f"gpu.blas.geam(a{p}, {layout('g' + p)}, {options(alpha=alpha)})", (py_alpha * value["a"] + value["g"]).astype(dtype))
    cases.add(f"gpu.blas.geam(a{p}, {layout('g' + p)}.T, {options(trans_a=quoted('C'), beta=-2)})",
              (value["a"].conj().T - 2 * value["g"].T).astype(dtype))
    cases.add(f"gpu.blas.dgmm(a{p}, x{p})", value["a"] * value["x"])
    cases.add(f"gpu.blas.dgmm(a{p}, u{p}, {options(side=quoted('L'))})", value["a"] * value["u"][:, None])

cases.write("blas.lua", os.path.basename(__file__))

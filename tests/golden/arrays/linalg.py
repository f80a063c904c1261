"""Writes linalg.lua: systems, inverses, determinants, norms, ranks, eigenvalues and singular values, of each dtype and layout.
The references are NumPy's and SciPy's in double precision, of well-conditioned matrices."""

import numpy as np
import scipy.linalg

from cases import Cases

rng = np.random.default_rng(141)
dtypes = ["float32", "float64", "complex64", "complex128", "int32"]


def some(dtype, *shape):
    x = rng.integers(-4, 5, shape) / (1 if dtype == "int32" else 8)
    if dtype.startswith("complex"):
        x = x + 1j * rng.integers(-4, 5, shape) / 8
    if len(shape) > 1 and shape[-1] == shape[-2]:
        x = x + 4 * np.eye(shape[-1])
    return x.astype(dtype)


inputs = {}
for dtype in dtypes:
    inputs[f"a_{dtype}"] = some(dtype, 5, 5)
    inputs[f"t_{dtype}"] = some(dtype, 2, 3, 4, 4)
    inputs[f"w_{dtype}"] = some(dtype, 3, 6)
    inputs[f"b_{dtype}"] = some(dtype, 5)
    inputs[f"c_{dtype}"] = some(dtype, 5, 3)
    inputs[f"d_{dtype}"] = some(dtype, 3, 1, 4, 2)
inputs["z"] = np.zeros((0, 3, 3), np.float32)
inputs["e"] = np.zeros((0, 0), np.float32)
inputs["low"] = np.array([[1, 2, 3], [2, 4, 6], [1, 0, 1], [3, 4, 7]], np.float64)

cases = Cases(inputs)


def double(dtype):
    return "complex128" if dtype.startswith("complex") else "float64"


def real(dtype):
    return {"complex64": "float32", "complex128": "float64", "int32": "float32"}.get(dtype, dtype)


def convert(x, dtype):
    x = np.asarray(x)
    own = "float32" if dtype == "int32" else dtype
    return x.astype(real(dtype) if x.dtype.kind == "f" and own.startswith("complex") else own)


def add(lua, value, dtype):
    """`value`: one result or a tuple of them; the dtype of each is ours for the kind that it has."""
    cases.add(lua, tuple(convert(x, dtype) for x in value) if isinstance(value, tuple) else convert(value, dtype))


def adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


square = {
    "a": "a", "a.T": "a.T", 'a("::-1", ":")': "a[::-1]", 'a("2:5:3", "1:4:3")': "a[1:5:3, 0:4:3]", "t": "t",
    "t:swapaxes(1, 2)": "t.swapaxes(0, 1)", "t:swapaxes(-1, -2)": "t.swapaxes(-1, -2)", 't(":", 2)': "t[:, 1]",
    'w(":", "::2")': "w[:, ::2] + 0",
}
matrices = dict(square, **{"w": "w", "w.T": "w.T", "c": "c", "d": "d", "d:swapaxes(-1, -2)": "d.swapaxes(-1, -2)"})

for dtype in dtypes:
    names = {name[:1]: x for name, x in inputs.items() if name.endswith(f"_{dtype}")}
    wide = {name: x.astype(double(dtype)) for name, x in names.items()}

    def lua_of(text):
        return "".join(f"{c}_{dtype}" if c in names and (i == 0 or not text[i - 1].isalnum()) and
                       (i + 1 == len(text) or not text[i + 1].isalnum()) else c for i, c in enumerate(text))

    def value_of(text):
        return eval(text, {"np": np, **wide})

    few = dtype not in ("float32", "complex128")  # layouts; the other dtypes take the same way
    for lua, python in square.items():
        if few and lua not in "at":
            continue
        x, mine = value_of(python), lua_of(lua)
        well = np.linalg.cond(x).max() < 100
        add(f"gpu.linalg.det({mine})", np.linalg.det(x), dtype)
        add(f"gpu.linalg.slogdet({mine})", tuple(np.linalg.slogdet(x)), dtype)
        if well:
            add(f"gpu.linalg.inv({mine})", np.linalg.inv(x), dtype)
            add(f"gpu.linalg.matrix_power({mine}, -2)", np.linalg.matrix_power(x, -2), dtype)
            for order in [1, -1, "inf", '"fro"', '"nuc"']:
                p = {"inf": np.inf, '"fro"': "fro", '"nuc"': "nuc"}.get(order, order)
                add(f"gpu.linalg.cond({mine}, {order})", np.linalg.cond(x, p), real(dtype))
        h = x + adjoint(x)
        of_h = f"{mine} + gpu.linalg.matrix_transpose({mine}):conj()" if np.iscomplexobj(x) else \
            f"{mine} + gpu.linalg.matrix_transpose({mine})"
        add(f"gpu.linalg.eigvalsh({of_h})", np.linalg.eigvalsh(h), real(dtype))
        add(f'gpu.linalg.eigvalsh({mine}, {{uplo = "U"}})', np.linalg.eigvalsh(x, "U"), real(dtype))
        add(f"gpu.linalg.eigvals({mine}):sum(-1)", np.linalg.eigvals(x).sum(-1) + 0j, 
            "complex128" if real(dtype) == "float64" else "complex64")
        p = x @ adjoint(x) + np.eye(x.shape[-1])
        of_p = f"({mine}):astype('{'float32' if dtype == 'int32' else dtype}')"
        of_p = f"{of_p}:matmul(gpu.linalg.matrix_transpose({of_p}):conj()) + gpu.eye({x.shape[-1]})"
        add(f"gpu.linalg.cholesky({of_p})", np.linalg.cholesky(p), dtype)
        add(f"gpu.linalg.cholesky({of_p}, {{upper = true}})", adjoint(np.linalg.cholesky(p)), dtype)

    for lua, python in matrices.items():
        if few and lua not in ("a", "w", "c", "d"):
            continue
        x, mine = value_of(python), lua_of(lua)
        add(f"gpu.linalg.svdvals({mine})", np.linalg.svd(x, compute_uv=False), real(dtype))
        cases.add(f"gpu.linalg.matrix_rank({mine})", np.linalg.matrix_rank(x))
        if np.linalg.cond(x).max() < 100:
            add(f"gpu.linalg.pinv({mine})", np.linalg.pinv(x), dtype)
            add(f"gpu.linalg.cond({mine})", np.linalg.cond(x), real(dtype))
            add(f"gpu.linalg.cond({mine}, -2)", np.linalg.cond(x, -2), real(dtype))
        for order in [2, -2, 1, -1, "inf", "-inf", '"fro"', '"nuc"']:
            p = {"inf": np.inf, "-inf": -np.inf, '"fro"': "fro", '"nuc"': "nuc"}.get(order, order)
            add(f"gpu.linalg.matrix_norm({mine}, {order})", np.linalg.norm(x, p, axis=(-2, -1)), real(dtype))

    a, t, w, b, c, d = (wide[name] for name in "atwbcd")
    add(f"gpu.linalg.solve(a_{dtype}, b_{dtype})", np.linalg.solve(a, b), dtype)
    add(f"gpu.linalg.solve(a_{dtype}, c_{dtype})", np.linalg.solve(a, c), dtype)
    add(f"gpu.linalg.solve(a_{dtype}.T, c_{dtype}('::-1', ':'))", np.linalg.solve(a.T, c[::-1]), dtype)
    add(f"gpu.linalg.solve(t_{dtype}(1), d_{dtype}(':', 1))", np.linalg.solve(t[0], d[:, 0]), dtype)
    add(f"gpu.linalg.solve(t_{dtype}(1, 1), d_{dtype})", np.linalg.solve(t[0, 0], d), dtype)
    add(f"gpu.linalg.solve(t_{dtype}, d_{dtype}(1, 1))", np.linalg.solve(t, d[0, 0]), dtype)
    for way, letter in [(0, "N"), (1, "T"), (2, "C")]:
        add(f"(function() local f, p = gpu.linalg.lu_factor(a_{dtype}) "
            f"return gpu.linalg.lu_solve(f, p, c_{dtype}, {{trans = '{letter}'}}) end)()",
            scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), c, way), dtype)
        for lower in (False, True):
            for unit in (False, True):
                add(f"gpu.linalg.solve_triangular(a_{dtype}, c_{dtype}, {{trans = '{letter}', lower = {str(lower).lower()}, "
                    f"unit_diagonal = {str(unit).lower()}}})",
                    scipy.linalg.solve_triangular(a, c, way, lower, unit), dtype)
    add(f"gpu.linalg.lu(a_{dtype})", tuple(scipy.linalg.lu(a)), dtype)
    add(f"gpu.linalg.lu(w_{dtype})", tuple(scipy.linalg.lu(w)), dtype)
    add(f"gpu.linalg.lu(w_{dtype}.T)", tuple(scipy.linalg.lu(w.T)), dtype)
    p, exact = a @ adjoint(a) + np.eye(5), "float64" if dtype == "int32" else dtype  # int32 + float32
    own = f"(a_{dtype}:matmul(a_{dtype}.T:conj()) + gpu.eye(5))"
    add(f"gpu.linalg.cho_solve(gpu.linalg.cholesky({own}), b_{dtype})", np.linalg.solve(p, b), exact)
    add(f"gpu.linalg.cho_solve(gpu.linalg.cholesky({own}, {{upper = true}}), c_{dtype}, {{upper = true}})",
        np.linalg.solve(p, c), exact)
    for left, right in [("c", "b"), ("c", "a"), ("w.T", None), ("w", None)]:
        x = eval(left, {}, wide)
        y = wide[right] if right else eval(f"{left}[:, :2] * 2 + 1", {}, wide)
        own = f"{left[0]}_{dtype}{left[1:]}"
        of_y = f"{right}_{dtype}" if right else f"{own}(':', '1:2') * 2 + 1"
        found = np.linalg.lstsq(x, y, rcond=None)
        cases.add(f"gpu.linalg.lstsq({own}, {of_y})", (convert(found[0], dtype), convert(found[1], real(dtype)),
                                                       np.int64(found[2]), convert(found[3], real(dtype))))
    small = "/ 8" if dtype != "int32" else ":astype('float32') / 8"
    add(f"gpu.linalg.expm(a_{dtype} {small})", scipy.linalg.expm(a / 8), dtype)
    add(f"gpu.linalg.expm(t_{dtype} {small})", scipy.linalg.expm(t / 8), dtype)
    cases.add(f"gpu.linalg.matrix_power(a_{dtype}, 3)", f"np.linalg.matrix_power(a_{dtype}, 3)")
    cases.add(f"gpu.linalg.matrix_power(t_{dtype}, 0)", f"np.linalg.matrix_power(t_{dtype}, 0)")
    cases.add(f"gpu.linalg.multi_dot {{b_{dtype}, a_{dtype}, c_{dtype}, w_{dtype}}}",
              f"np.linalg.multi_dot([b_{dtype}, a_{dtype}, c_{dtype}, w_{dtype}])")
    cases.add(f"gpu.linalg.block_diag(a_{dtype}, b_{dtype}, c_{dtype})",
              scipy.linalg.block_diag(*(names[name] for name in "abc")))
    cases.add(f"gpu.linalg.toeplitz(b_{dtype})", scipy.linalg.toeplitz(names["b"]))
    cases.add(f"gpu.linalg.toeplitz(b_{dtype}, w_{dtype}(1))", scipy.linalg.toeplitz(names["b"], names["w"][0]))

low = inputs["low"]
cases.add("gpu.linalg.matrix_rank(low)", np.linalg.matrix_rank(low))
cases.add("gpu.linalg.matrix_rank(low, 100)", np.linalg.matrix_rank(low, 100))
cases.add("gpu.linalg.pinv(low)", np.linalg.pinv(low))
cases.add("gpu.linalg.pinv(low, 0.5)", np.linalg.pinv(low, 0.5))
cases.add("gpu.linalg.pinv(low):matmul(low(':', 1))", np.linalg.lstsq(low, low[:, 0], rcond=None)[0])
for call in ["det(z)", "det(e)", "inv(z)", "inv(e)", "cholesky(z)", "eigvalsh(z)", "svdvals(z)", "eigvalsh(e)"]:
    cases.add(f"gpu.linalg.{call}", f"np.linalg.{call}")
cases.add("gpu.linalg.slogdet(e)", tuple(np.linalg.slogdet(inputs["e"])))
cases.add("gpu.linalg.solve(e, gpu.zeros(0, 3))", np.zeros((0, 3), np.float32))
cases.add("gpu.linalg.qr(gpu.zeros(3, 0), 'complete')", (np.eye(3, dtype=np.float32), np.zeros((3, 0), np.float32)))
cases.add("gpu.linalg.svd(gpu.zeros(2, 0))", (np.eye(2, dtype=np.float32), np.zeros(0, np.float32), np.zeros((0, 0), np.float32)))
cases.add("gpu.linalg.eig(e)", (np.zeros(0, np.complex64), np.zeros((0, 0), np.complex64)))
cases.add("gpu.linalg.lu(gpu.zeros(0, 2))", (np.zeros((0, 0), np.float32),) * 2 + (np.zeros((0, 2), np.float32),))
cases.add("gpu.linalg.vector_norm(t_float32, 3, {1, 3})", "np.linalg.vector_norm(t_float32, ord=3, axis=(0, 2))")
cases.add("gpu.linalg.vector_norm(t_float32, {keepdims = true})", "np.linalg.vector_norm(t_float32, keepdims=True)")
cases.add("gpu.linalg.norm(t_float32, 2, {2, 4})", "np.linalg.norm(t_float32, 2, (1, 3))")
cases.add("gpu.linalg.norm(t_float32, 'nuc', {4, 2}, {keepdims = true})", "np.linalg.norm(t_float32, 'nuc', (3, 1), True)")
cases.write("linalg.lua", "linalg.py")

"""Writes sparse_linalg.lua: solutions, eigenvalues and singular values of sparse matrices, of each dtype and format. The references
are SciPy's in double precision, of well-conditioned matrices."""

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from cases import Cases

rng = np.random.default_rng(77)
dtypes = ["float32", "float64", "complex64", "complex128"]


def some(dtype, *shape):
    x = rng.integers(-8, 9, shape) / 16
    if dtype.startswith("complex"):
        x = x + 1j * rng.integers(-8, 9, shape) / 16
    return x


def sparse_matrix(dtype, m, n):
    return some(dtype, m, n) * (rng.random((m, n)) < 0.15)


inputs = {}
for dtype in dtypes:
    n = 20
    general = sparse_matrix(dtype, n, n) + 4 * np.eye(n)
    inputs[f"a_{dtype}"] = general.astype(dtype)
    inputs[f"h_{dtype}"] = ((general + general.conj().T) / 2).astype(dtype)
    inputs[f"r_{dtype}"] = sparse_matrix(dtype, 12, 18).astype(dtype)
    inputs[f"b_{dtype}"] = some(dtype, n).astype(dtype)
    inputs[f"c_{dtype}"] = some(dtype, n, 3).astype(dtype)
# As many rows as Lanczos' method takes: the second derivative on 70 points, with a potential.
size = 70
inputs["well"] = np.diag(2 + np.linspace(-1, 1, size) ** 2) - np.eye(size, k=1) - np.eye(size, k=-1)
inputs["tall"] = np.diag(np.linspace(1, 2, 80))[:, :70] + np.eye(80, 70, 3) / 4

cases = Cases(inputs)


def double(x):
    return sparse.csc_matrix(x.astype(np.complex128 if np.iscomplexobj(x) else np.float64))


def real(dtype):
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


for dtype in dtypes:
    a, h, r, b, c = (inputs[f"{name}_{dtype}"] for name in "ahrbc")
    factors = linalg.splu(double(a))
    single, several = double(b[:, None]).toarray()[:, 0], double(c).toarray()
    for form in ["csr", "csc", "coo"]:
        cases.add(f"gpu.sparse.linalg.spsolve(gpu.sparse.{form}(a_{dtype}), b_{dtype})", factors.solve(single), dtype)
    for way, letter in zip("NTC", "NTH"):
        cases.add(f"gpu.sparse.linalg.splu(gpu.sparse.csr(a_{dtype})):solve(c_{dtype}, {{trans = '{way}'}})",
                  factors.solve(several, letter), dtype)
    for lower, part in [("true", np.tril(a)), ("false", np.triu(a))]:
        lua = f"gpu.tril(a_{dtype})" if lower == "true" else f"gpu.triu(a_{dtype})"
        for unit in ["false", "true"]:
            options = f"{{lower = {lower}, unit_diagonal = {unit}}}"
            x = linalg.spsolve_triangular(double(part).tocsr(), several, lower == "true", unit_diagonal=unit == "true")
            cases.add(f"gpu.sparse.linalg.spsolve_triangular(gpu.sparse.csr({lua}), c_{dtype}, {options})", x, dtype)
    rtol = "1e-7" if real(dtype) == "float32" else "1e-15"
    for solver, name in [("cg", "h"), ("minres", "h"), ("bicgstab", "a"), ("gmres", "a")]:
        matrix = double({"a": a, "h": h}[name])
        cases.add(f"(gpu.sparse.linalg.{solver}(gpu.sparse.csr({name}_{dtype}), b_{dtype}, {{rtol = {rtol}}}))",
                  linalg.spsolve(matrix, b.astype(matrix.dtype)), dtype)
    values = np.linalg.eigvalsh(double(h).toarray())
    wanted = {"LA": values[-3:], "SA": values[:3], "LM": np.sort(values[np.argsort(-abs(values))[:3]]),
              "SM": np.sort(values[np.argsort(abs(values))[:3]])}
    for which, expected in wanted.items():
        options = f"{{which = '{which}', vectors = false}}"
        cases.add(f"gpu.sparse.linalg.eigsh(gpu.sparse.csr(h_{dtype}), 3, {options})", expected, real(dtype))
    cases.add(f"gpu.sparse.linalg.svds(gpu.sparse.csr(r_{dtype}), 4, {{vectors = false}})",
              np.linalg.svd(double(r).toarray(), compute_uv=False)[:4], real(dtype))

well = double(inputs["well"])
begin = np.arange(1.0, size + 1)  # by default random
for which in ["LA", "SA", "LM"]:
    cases.add(f"gpu.sparse.linalg.eigsh(gpu.sparse.csr(well), 4, {{which = '{which}', vectors = false}})",
              np.sort(linalg.eigsh(well, 4, which=which, v0=begin, return_eigenvectors=False)))
cases.add("gpu.sparse.linalg.eigsh(gpu.sparse.csr(well), 4, {which = 'SM', vectors = false})",
          np.sort(linalg.eigsh(well, 4, sigma=0, v0=begin, return_eigenvectors=False)))
cases.add("gpu.sparse.linalg.eigsh(gpu.sparse.csr(well), 5, {sigma = 2.05, vectors = false})",
          np.sort(linalg.eigsh(well, 5, sigma=2.05, v0=begin, return_eigenvectors=False)))
cases.add("gpu.sparse.linalg.eigsh(well, 5, {sigma = 2.05, vectors = false})",
          np.sort(linalg.eigsh(well, 5, sigma=2.05, v0=begin, return_eigenvectors=False)))
cases.add("gpu.sparse.linalg.svds(gpu.sparse.csr(tall), 5, {vectors = false})",
          np.sort(linalg.svds(double(inputs["tall"]), 5, v0=begin, return_singular_vectors=False))[::-1])
cases.write("sparse_linalg.lua", "sparse_linalg.py")

"""Writes stats.lua: SciPy's statistics of samples, and NumPy's arithmetic of polynomials."""

import os

import numpy as np
from scipy import stats

from cases import Cases

rng = np.random.default_rng(61)
inputs = {
    "v": rng.normal(size=20),
    "w": rng.normal(size=20),
    "m": rng.normal(size=(12, 5)) + 1,
    "n": rng.normal(size=(9, 5)) * 2,
    "p": rng.uniform(0.1, 3, (6, 4)),
    "q": rng.uniform(0.1, 3, (6, 4)),
    "ties": rng.integers(0, 5, 15),
    "f": rng.normal(size=30).astype("float32"),
    "i": rng.integers(-5, 9, 25),
}
inputs["w"] += 0.7 * inputs["v"]
inputs["gap"] = np.array([1, 2, np.nan, 4, 5, 6, 8, 7])
inputs["gaps"] = np.where(np.arange(24).reshape(6, 4) == 9, np.nan, inputs["p"])
cases = Cases(inputs)
scope = {"np": np, "stats": stats, **inputs}


def add(lua, python, dtype=None):
    value = eval(python, dict(scope))
    value = tuple(np.float64(x) for x in value) if isinstance(value, tuple) and np.ndim(value[0]) == 0 else value
    cases.add(lua, tuple(value) if isinstance(value, tuple) else value, dtype)


S = "gpu.stats."
for x in ("v", "m", "i"):
    dtype = "float32" if x == "i" else "float64"
    for name in ("zscore", "sem", "skew", "kurtosis", "moment"):
        python = f"stats.{name}({x}{', 2' if name == 'moment' else ''})"
        add(f"{S}{name}({x})", python, dtype)
    add(f"{S}trim_mean({x}, 0.1)", f"stats.trim_mean({x}, 0.1)", dtype)
    add(f"{S}iqr({x}, 1)", f"stats.iqr({x}, axis=0)", dtype)
for name in ("zscore", "sem", "skew", "kurtosis"):
    add(f"{S}{name}(m, 2)", f"stats.{name}(m, axis=1)")
for name in ("zscore", "sem"):
    add(f"{S}{name}(m, {{ddof = 2}})", f"stats.{name}(m, ddof=2)")
for name in ("skew", "kurtosis"):
    add(f"{S}{name}(m, {{bias = false}})", f"stats.{name}(m, bias=False)")
add(f"{S}kurtosis(m, {{fisher = false, axis = 2}})", "stats.kurtosis(m, 1, fisher=False)")
add(f"{S}zmap(n, m)", "stats.zmap(n, m)")
for order in (1, 2, 3, 5):
    add(f"{S}moment(m, {order}, 2)", f"stats.moment(m, {order}, axis=1)")
for name in ("gmean", "hmean"):
    add(f"{S}{name}(p)", f"stats.{name}(p)")
    add(f"{S}{name}(p, -1)", f"stats.{name}(p, axis=-1)")
add(f"{S}iqr(m, {{axis = 2, range = {{10, 80}}}})", "stats.iqr(m, axis=1, rng=(10, 80))")
add(f"{S}entropy(p)", "stats.entropy(p)")
add(f"{S}entropy(p, q, {{base = 2, axis = 2}})", "stats.entropy(p, q, base=2, axis=1)")
for method in ("average", "min", "max", "dense", "ordinal"):
    for x in ("ties", "i", "v", "gap"):
        dtype = "int64" if x in ("ties", "i") and method != "average" else "float64"
        add(f"{S}rankdata({x}, {{method = '{method}'}})", f"stats.rankdata({x}, '{method}')", dtype)
# NaN and infinities: what has a NaN is NaN.
for name in ("zscore", "gmean", "hmean", "sem", "skew", "kurtosis", "iqr", "entropy"):
    add(f"{S}{name}(gaps)", f"stats.{name}(gaps, axis=0)")
    add(f"{S}{name}(gaps, {{axis = 2}})", f"stats.{name}(gaps, axis=1)")
add(f"{S}moment(gaps, 3)", "stats.moment(gaps, 3)")
for part in (0, 0.25, 0.4):
    add(f"{S}trim_mean(gaps, {part})", f"stats.trim_mean(gaps, {part})")
    add(f"{S}trim_mean(gaps, {part}, 2)", f"stats.trim_mean(gaps, {part}, axis=1)")
for name in ("spearmanr", "pearsonr"):
    add(f"{S}{name}(gap, v({{1, 8}}))", f"tuple(stats.{name}(gap, v[:8]))")
    add(f"{S}{name}(v({{1, 8}}), gap)", f"tuple(stats.{name}(v[:8], gap))")
add(f"{S}ttest_1samp(gaps, 0.8)", "(lambda r: (r.statistic, r.pvalue))(stats.ttest_1samp(gaps, 0.8))")
add(f"{S}ttest_ind(gaps, p, {{equal_var = false}})", "(lambda r: (r.statistic, r.pvalue))(stats.ttest_ind(gaps, p, equal_var=False))")
for numbers in ("0, 1, 2", "-1, 1, 2", "-1, -2, -4"):
    for name in ("gmean", "hmean", "entropy"):
        add(f"{S}{name}(gpu.array({{{numbers}}}, 'float64'))", f"stats.{name}(np.array([{numbers}.0]))")
add(f"{S}pearsonr(v, w)", "tuple(stats.pearsonr(v, w))")
add(f"{S}spearmanr(v, w)", "tuple(stats.spearmanr(v, w))")
add(f"{S}spearmanr(ties, i({{1, 15}}))", "tuple(stats.spearmanr(ties, i[:15]))", "float32")
add(f"{S}linregress(v, w)", "(lambda r: (r.slope, r.intercept, r.rvalue, r.pvalue, r.stderr))(stats.linregress(v, w))")
add(f"{S}ttest_1samp(m, 0.8)", "(lambda r: (r.statistic, r.pvalue))(stats.ttest_1samp(m, 0.8))")
add(f"{S}ttest_1samp(f, 0.2)", "(lambda r: (r.statistic, r.pvalue))(stats.ttest_1samp(f.astype('float64'), 0.2))", "float32")
for equal in (True, False):
    add(f"{S}ttest_ind(m, n, {{equal_var = {str(equal).lower()}}})",
        f"(lambda r: (r.statistic, r.pvalue))(stats.ttest_ind(m, n, equal_var={equal}))")

# ---- polynomials
for a, b in (("v({1, 4})", "w({1, 2})"), ("w({1, 2})", "v({1, 4})"), ("i({1, 3})", "i({5, 6})")):
    pa, pb = ((t[0], int(t[3]) - 1, int(t[6])) for t in (a, b))
    x, y = inputs[pa[0]][pa[1]:pa[2]], inputs[pb[0]][pb[1]:pb[2]]
    for name in ("polyadd", "polysub", "polymul"):
        cases.add(f"gpu.{name}({a}, {b})", getattr(np, name)(x, y))
    if a[0] != "i":
        cases.add(f"gpu.polydiv({a}, {b})", tuple(np.polydiv(x, y)))
    for m in (0, 1, 2):
        cases.add(f"gpu.polyder({a}, {m})", np.polyder(x, m) if len(x) > m else np.zeros(1))
        cases.add(f"gpu.polyint({a}, {m})", np.polyint(x, m), "float32" if a[0] == "i" else None)
cases.add("gpu.poly(v({1, 5}))", np.poly(inputs["v"][:5]))
cases.add("gpu.poly(m({1, 5}))", np.poly(inputs["m"][:5]))
cases.add("gpu.poly {gpu.complex(1, 2), gpu.complex(1, -2), 3}", np.poly([1 + 2j, 1 - 2j, 3]))
cases.add("gpu.poly {gpu.complex(1, 2), 3}", np.poly([1 + 2j, 3]))

here = os.path.dirname(os.path.abspath(__file__))
cases.write(os.path.join(here, "stats.lua"), "stats.py")

"""Covariances, correlations, applied functions and exponential weights of the windows of random vectors, as pandas has them. Writes
windows.npz: for each name the arrays of all cases, one after the other, and in NAME_sizes how long each is."""
import numpy as np
import pandas as pd

rng = np.random.default_rng(20240302)
CASES = 24
parts = {}


def record(name, values):
    parts.setdefault(name, []).append(np.asarray(values, "float64").ravel())


def spread(values):
    return np.nanmax(values) - np.nanmin(values)


for case in range(CASES):
    n = int(rng.integers(1, 20)) if case % 4 == 0 else int(rng.integers(20, 300))
    x, y, keys = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4) + 5, rng.normal(size=n), rng.integers(0, 3, n)
    y += x
    absent = rng.choice([0, 0.1, 0.5])
    x[rng.random(n) < absent] = np.nan
    y[rng.random(n) < absent / 2] = np.nan
    window, speed = int(rng.integers(2, 60)), float(rng.uniform(1, 20))
    for name, values in (("x", x), ("y", y), ("keys", keys), ("window", [window]), ("speed", [speed])):
        record(name, values)
    x, y, keys = pd.Series(x), pd.Series(y), pd.Series(keys)

    rolls = x.rolling(window, min_periods=2)
    record("cov", rolls.cov(y))
    record("corr", rolls.corr(y))
    record("expanding_cov", x.expanding().cov(y, ddof=0))
    apart = []
    for k in (0, 1, 2):
        own = keys == k
        apart.append(x[own].rolling(window, min_periods=2).cov(y[own]))
    record("cov_by", pd.concat(apart).sort_index())
    record("apply", x.rolling(window, min_periods=1).apply(spread, raw=True))
    record("apply_by", x.groupby(keys).rolling(window, min_periods=1).apply(spread, raw=True).droplevel(0).sort_index())
    for adjust in (False, True):
        for ignore_na in (False, True):
            fading = x.ewm(span=speed, adjust=adjust, ignore_na=ignore_na, min_periods=2)
            name = f"ewm_{int(adjust)}{int(ignore_na)}_"
            record(name + "mean", fading.mean())
            record(name + "var", fading.var())
            record(name + "std", fading.std(bias=True))
    record("com", x.ewm(com=speed).mean())
    record("halflife", x.groupby(keys).ewm(halflife=speed).mean().droplevel(0).sort_index())

arrays = {}
for name, values in parts.items():
    arrays[name] = np.concatenate(values)
    arrays[name + "_sizes"] = np.array([len(value) for value in values], "int64")
np.savez_compressed("windows.npz", **arrays)

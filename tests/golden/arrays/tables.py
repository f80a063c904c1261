"""Joins, windows, groups and dates of 200 random tables, as pandas has them. Writes tables.npz: for each name the arrays of all tables, one
after the other, and in NAME_sizes how long each is."""
import numpy as np
import pandas as pd

rng = np.random.default_rng(20240301)
TABLES = 200
parts = {}


def record(name, values, dtype="float64"):
    parts.setdefault(name, []).append(np.asarray(values).astype(dtype).ravel())


def pairs(name, merged):
    """The rows of the left and the right table that each row of a join comes from, counted from 1; 0 for none."""
    record(name + "_left", merged["l"].fillna(0), "int64")
    record(name + "_right", merged["r"].fillna(0), "int64")


UNITS = ["s", "ms", "us", "ns"]


def make(rows, kinds, row_name):
    day = rng.integers(0, 6, rows).astype("int64") * 86400 + rng.integers(0, 3, rows) * 3600
    dates = pd.Series(pd.to_datetime(day, unit="s")).astype(f"datetime64[{UNITS[rng.integers(4)]}]")
    dates[rng.random(rows) < 0.1] = pd.NaT
    real = rng.integers(0, 5, rows) / 4
    real[rng.random(rows) < 0.2] = np.nan
    x = rng.normal(size=rows) * 10.0 ** rng.integers(-3, 6)
    x[rng.random(rows) < rng.choice([0, 0.1, 0.5])] = np.nan
    return pd.DataFrame({"k": rng.integers(-2, kinds, rows), "s": rng.integers(1, 5, rows), "f": real, "d": dates, "x": x,
                         "y": rng.integers(-100, 100, rows), row_name: np.arange(1, rows + 1)})


for index in range(TABLES):
    n, m = (int(rng.integers(0, 3)) if rng.random() < 0.15 else int(rng.integers(1, 60)) for _ in range(2))
    kinds = int(rng.choice([3, 8, 1000]))
    t, u = make(n, kinds, "l"), make(m, kinds, "r")
    for prefix, table in (("t", t), ("u", u)):
        for name in "ksfxy":
            record(f"{prefix}_{name}", table[name], "float64" if name in "fx" else "int64")
        record(f"{prefix}_d", table["d"].astype("datetime64[ns]"), "int64")

    # Joins. pandas converts keys of other units itself.
    for name, keys in (("k", ["k"]), ("s", ["s"]), ("f", ["f"]), ("d", ["d"]), ("ks", ["k", "s"]), ("fds", ["f", "d", "s"])):
        left, right = t[[*keys, "l"]], u[[*keys, "r"]]
        pairs(f"inner_{name}", left.merge(right, on=keys))
        pairs(f"left_{name}", left.merge(right, on=keys, how="left"))
        pairs(f"outer_{name}", left.merge(right, on=keys, how="outer").fillna({"l": 0, "r": 0}).sort_values(["l", "r"]))
    for direction in ("backward", "forward", "nearest"):
        left = t.dropna(subset="d").astype({"d": "datetime64[ns]"}).sort_values("d", kind="stable")
        right = u.dropna(subset="d").astype({"d": "datetime64[ns]"}).sort_values("d", kind="stable")
        # Of several rows as near, pandas and gpulua take the last before and the first after.
        found = pd.merge_asof(left[["d", "s", "l"]], right[["d", "s", "r"]], on="d", by="s", direction=direction,
                              tolerance=pd.Timedelta(hours=30)) if len(left) else left.assign(r=0)
        pairs(f"asof_{direction}", found.sort_values("l"))

    # Windows.
    window, least = int(rng.integers(1, 40)), int(rng.integers(1, 4))
    least = min(least, window)
    record("window", [window, least], "int64")
    x = t["x"]
    rolls = {"plain": x.rolling(window), "least": x.rolling(window, min_periods=least), "expanding": x.expanding(),
             "by": t.groupby("s")["x"].rolling(window, min_periods=least)}
    stamped = t.dropna(subset="d").sort_values("d", kind="stable")
    record("stamped", stamped["l"], "int64")
    rolls["time"] = stamped.set_index("d")["x"].rolling("2D")
    rolls["time_by"] = stamped.set_index("d").groupby("s")["x"].rolling("2D")
    for name, roll in rolls.items():
        for op in ("sum", "mean", "std", "var", "min", "max", "median", "count", "quantile"):
            result = roll.quantile(0.3) if op == "quantile" else getattr(roll, op)()
            if name == "by":
                result = result.droplevel(0).sort_index() if len(t) else []
            if name == "time_by":
                result = result.to_numpy()[np.argsort(np.argsort(stamped["s"].to_numpy(), kind="stable"), kind="stable")] if len(stamped) else []
            record(f"{name}_{op}", result)

    # Series.
    record("shift_by", t.groupby("s")["x"].shift(1))
    record("shift_back", t["y"].shift(-2))
    record("change", t["x"].pct_change(2))
    record("forward", t.groupby("s")["x"].ffill())
    record("backward", t["x"].bfill())

    # Groups, whose missing keys gpulua keeps.
    groups = t.groupby("f", dropna=False)
    for op in ("first", "last", "nunique", "median", "count"):
        record(f"group_{op}", getattr(groups["x"], op)())
    record("group_quantile", groups["x"].quantile(0.3) if n else [])
    record("group_std", groups["x"].std(ddof=1))
    for op in ("min", "max", "first", "last"):
        record(f"group_date_{op}", getattr(groups["d"], op)().astype("datetime64[ns]"), "int64")
    record("group_date_nunique", groups["d"].nunique())
    wide = t.pivot_table(index="k", columns="s", values="y", aggfunc="sum")
    record("pivot", wide.to_numpy())
    record("pivot_shape", [len(wide), len(wide.columns) if n else 0], "int64")
    record("describe", t["x"].describe() if t["x"].notna().any() else [])

    # Dates of some centuries, and missing ones.
    unit = rng.choice(["days", "s", "ms", "us", "ns"])
    step = {"days": 1, "s": 86400, "ms": 86400 * 10**3, "us": 86400 * 10**6, "ns": 86400 * 10**9}[unit]
    counts = rng.integers(-90000 * step, 90000 * step, n + 2)
    counts[rng.random(n + 2) < 0.1] = np.iinfo("int64").min
    record("date_unit", [["days", "s", "ms", "us", "ns"].index(unit) + 1], "int64")
    record("dates", counts, "int64")
    moments = pd.Series(counts.astype(f"datetime64[{'D' if unit == 'days' else unit}]"))
    if unit != "days":
        assert moments.dt.unit == unit
    for part in ("year", "month", "day", "quarter", "hour", "minute", "second"):
        record(f"date_{part}", getattr(moments.dt, part))
    record("date_weekday", moments.dt.day_of_week + 1)
    record("date_yearday", moments.dt.day_of_year)
    days = moments.astype("datetime64[us]")
    for name, alias in (("day", "D"), ("month", "M"), ("quarter", "Q"), ("year", "Y"), ("week", "W-SUN")):
        begins = days.dt.floor("D") if name == "day" else days.dt.to_period(alias).dt.start_time
        record(f"floor_{name}", begins.astype("datetime64[s]"), "int64")
    if unit != "days":
        record("floor_quarters_of_hours", days.dt.floor("15min").astype("datetime64[s]"), "int64")
    else:
        record("floor_quarters_of_hours", [], "int64")
    months = int(rng.integers(-30, 30))
    record("months", [months], "int64")
    record("months_later", [(d + pd.DateOffset(months=months)).floor("s").asm8.astype("datetime64[s]").astype("int64")
                            if d is not pd.NaT else np.iinfo("int64").min for d in days], "int64")

arrays = {}
for name, values in parts.items():
    arrays[name] = np.concatenate(values)
    arrays[name + "_sizes"] = np.array([len(value) for value in values], "int64")
np.savez_compressed("tables.npz", **arrays)

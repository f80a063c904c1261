"""python3 bench/tables/joins.py FOLDER: pandas does the work of joins.lua; milliseconds and its time over ours."""
import pathlib
import sys
import time

import numpy
import pandas

folder = pathlib.Path(sys.argv[1])


def frame(name):
    with numpy.load(folder / f"{name}.npz") as arrays:
        return pandas.DataFrame({key: arrays[key] for key in arrays})


t, quotes = frame("joins"), frame("quotes")
few, many, wide = (frame(name).rename(columns={"key": name}) for name in ("few", "many", "wide"))
t["time"] = t["seconds"].astype("datetime64[s]")
quotes["time"] = quotes["seconds"].astype("datetime64[s]")
x, holes, stamped = t["x"], t["x"].mask(t["x"] > 1), t.set_index("time")["x"]
work = {
    "join few": lambda: t[["few", "x"]].merge(few, on="few"),
    "join many": lambda: t[["many", "x"]].merge(many, on="many"),
    "join wide": lambda: t[["wide", "x"]].merge(wide, on="wide"),
    "join left": lambda: t[["many", "x"]].merge(many, on="many", how="left"),
    "asof": lambda: pandas.merge_asof(t[["time", "x"]], quotes[["time", "y"]], on="time"),
    "asof by": lambda: pandas.merge_asof(t[["time", "few", "x"]], quotes[["time", "few", "y"]], on="time", by="few"),
    "expanding mean": lambda: x.expanding().mean(),
    "rolling time": lambda: stamped.rolling("5min").mean(),
    "rolling by": lambda: t.groupby("few")["x"].rolling(20).mean(),
    "shift by": lambda: t.groupby("few")["x"].shift(1),
    "forward fill": lambda: holes.ffill(),
    "year": lambda: t["time"].dt.year,
    "floor month": lambda: t["time"].dt.to_period("M").dt.start_time,
    "aggregate": lambda: t.groupby("few")["x"].agg(["mean", "std", "first", "nunique"]),
}
for window in (20, 250):
    for op in ("mean", "std", "max", "median"):
        work[f"rolling {window} {op}"] = lambda window=window, op=op: getattr(x.rolling(window), op)()
for line in (folder / "joins").read_text().splitlines():
    name, ours = line.split(" ours ")
    name, best = name.strip(), float("inf")
    for _ in range(9):
        start = time.perf_counter()
        work[name]()
        best = min(best, time.perf_counter() - start)
    print(f"{name:20} pandas {best * 1e3:.2f} ms   ratio {best * 1e3 / float(ours.split()[0]):.2f}")

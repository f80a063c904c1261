"""python3 bench/tables/groups.py FOLDER: pandas does the work of groups.lua; milliseconds and its time over ours."""
import pathlib
import sys
import time

import pandas

folder = pathlib.Path(sys.argv[1])
table = pandas.read_csv(folder / "groups.csv")
for line in (folder / "groups").read_text().splitlines():
    keys, op, _, ours, _ = line.split()
    best = float("inf")
    for _ in range(9):
        start = time.perf_counter()
        groups = table.groupby(keys.split("+"))
        groups.size() if op == "count" else getattr(groups["x"], op)()
        best = min(best, time.perf_counter() - start)
    print(f"{keys:9} {op:6} pandas {best * 1e3:.2f} ms   ratio {best * 1e3 / float(ours):.2f}")

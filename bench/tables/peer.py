"""python3 bench/tables/peer.py FOLDER: pandas and pyarrow write and read the files of ours.lua; processor time."""
import pathlib
import re
import sys
import time

folder = pathlib.Path(sys.argv[1])
ours = {line.split()[0]: [float(x) for x in re.findall(r"(\S+) s ", line)] for line in (folder / "ours").read_text().splitlines()}


def seconds(work):
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def show(peer, write, read):
    for name, (our_write, our_read) in ours.items():
        path = str(folder / f"{name}.csv")
        size = pathlib.Path(path).stat().st_size / 1e6
        table = read(path)
        times = seconds(lambda: write(table, path + ".peer")), seconds(lambda: read(path))
        print(f"{name:9} {peer:8} {size:5.1f} MB   write {times[0]:.3f} s {size / times[0]:5.0f} MB/s   read {times[1]:.3f} s "
              f"{size / times[1]:5.0f} MB/s   ratio write {times[0] / our_write:.2f} read {times[1] / our_read:.2f}")


try:
    import pandas
    show("pandas", lambda t, path: t.to_csv(path, index=False), pandas.read_csv)
except ImportError:
    print("pandas is not installed")
try:
    import pyarrow
    import pyarrow.csv
    pyarrow.set_cpu_count(1)
    show("pyarrow", pyarrow.csv.write_csv, pyarrow.csv.read_csv)
except ImportError:
    print("pyarrow is not installed")

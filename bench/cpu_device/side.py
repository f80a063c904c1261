"""What the Python sides of each workload share: `python workloads/NAME.py folder size variant`.

side.h makes the inputs and the results to check by."""

import sys
import time as clock

import numpy as np

folder, size, variant = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def load(name, dtype):
    """Inputs or results that the C++ side made."""
    return np.fromfile(f"{folder}/{name}", dtype)


def check(name, values, tolerance, share=0):
    """Ends the program if the values differ from the C++ side's results of that name: if more than `share` of them are further
    off than `tolerance` times the largest."""
    values = np.asarray(values).ravel()
    expected = load(name, values.dtype).astype(np.float64)
    wrong = np.count_nonzero(~(np.abs(values - expected) <= tolerance * np.abs(expected).max()))
    if wrong > share * values.size:
        sys.exit(f"{name}: {wrong} of {values.size} results are wrong")


def time(work):
    """Prints the median time of `work` in milliseconds: at least 5 repeats and half a second. The caller has run it once
    already."""
    times = []
    begin = clock.perf_counter()
    while len(times) < 5 or clock.perf_counter() - begin < 0.5:
        start = clock.perf_counter()
        work()
        times.append(clock.perf_counter() - start)
    print(f"{sorted(times)[len(times) // 2] * 1e3:.4f}")

"""Writes sorting.npz beside itself: inputs, and what NumPy's stable sorts and its searches give for them.

Names: x_DTYPE, and sort_DTYPE_AXIS and argsort_DTYPE_AXIS, axes and positions from 1.
"""

import pathlib

import numpy as np

dtypes = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64"]
shape = (3, 5, 40)
random = np.random.default_rng(2)
arrays = {}

for dtype in dtypes:
    kind = np.dtype(dtype).kind
    if kind == "f":
        x = np.round(random.standard_normal(shape) * 4) / 4  # with ties
        x.ravel()[random.integers(0, x.size, 60)] = random.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], 60)
    elif kind == "b":
        x = random.integers(0, 2, shape)
    else:
        limits = np.iinfo(dtype)
        x = random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        x[:, :, ::3] = x[:, :, 1::3][:, :, :1]  # ties
    x = x.astype(dtype)
    arrays[f"x_{dtype}"] = x
    for axis in (1, 2, 3):
        positions = np.argsort(x, axis=axis - 1, kind="stable")
        arrays[f"argsort_{dtype}_{axis}"] = positions + 1
        arrays[f"sort_{dtype}_{axis}"] = np.take_along_axis(x, positions, axis=axis - 1)

for dtype in ("int32", "float16", "float32", "uint64"):
    # Unstable sorts order 0 and -0 as the machine's vectors do.
    table = np.sort(arrays[f"x_{dtype}"].ravel(), kind="stable")[::4]
    values = arrays[f"x_{dtype}"][0]
    arrays[f"table_{dtype}"] = table
    for side in ("left", "right"):
        arrays[f"search_{dtype}_{side}"] = np.searchsorted(table, values, side=side) + 1

np.savez_compressed(pathlib.Path(__file__).with_name("sorting.npz"), **arrays)

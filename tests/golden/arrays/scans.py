"""Writes scans.npz beside itself: inputs, and what NumPy's scans give for them.

Names: x_DTYPE, and OPERATION_DTYPE_AXIS with axes from 1; axis 0 stands for the flattened array.
"""

import pathlib

import numpy as np

dtypes = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64", "complex64", "complex128"]
# Beside cumsum, which has them all.
others = {"cumprod": ["int8", "uint64", "float32", "float64", "complex64", "complex128"],
          "cummax": ["bool", "int16", "uint64", "float16", "float32", "float64"],
          "cummin": ["int64", "uint8", "float32", "float64"]}
operations = {"cumsum": np.cumsum, "cumprod": np.cumprod,
              "cummax": np.maximum.accumulate, "cummin": np.minimum.accumulate}
shape = (3, 5, 7)
random = np.random.default_rng(1)
arrays = {}

for dtype in dtypes:
    kind = np.dtype(dtype).kind
    if kind in "fc":
        x = random.standard_normal(shape) + (1j * random.standard_normal(shape) if kind == "c" else 0)
    elif kind == "b":
        x = random.integers(0, 2, shape)
    else:
        x = random.integers(0 if kind == "u" else -100, 100, shape)
    x = x.astype(dtype)
    arrays[f"x_{dtype}"] = x
    for name, operation in operations.items():
        if dtype not in others.get(name, dtypes):
            continue
        for axis in range(4):
            along, data = (axis - 1, x) if axis else (0, x.ravel())
            if name == "cumsum" and dtype == "float16":  # NumPy rounds each sum to float16
                result = np.cumsum(data, axis=along, dtype="float32").astype(dtype)
            else:
                result = operation(data, axis=along)
            arrays[f"{name}_{dtype}_{axis}"] = result

# NaN, infinities and -0 in each direction.
special = np.array([[-0.0, -0.0, 1, np.inf, 2, -np.inf, 3], [5, np.nan, 7, -np.inf, np.inf, 1, np.nan],
                    [-np.inf, -0.0, 0.0, -0.0, np.inf, np.inf, 0]])
for dtype in ("float32", "float64"):
    x = special.astype(dtype)
    arrays[f"special_{dtype}"] = x
    with np.errstate(invalid="ignore"):
        for name, operation in operations.items():
            for axis in (1, 2):
                arrays[f"special_{name}_{dtype}_{axis}"] = operation(x, axis=axis - 1)

np.savez_compressed(pathlib.Path(__file__).with_name("scans.npz"), **arrays)

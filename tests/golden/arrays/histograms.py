"""Writes histograms.npz beside itself: inputs, and what NumPy counts in them."""

import pathlib

import numpy as np

random = np.random.default_rng(3)
arrays = {}
for dtype in ("int16", "float32", "float64"):
    x = (random.standard_normal((40, 50)) * 50).astype(dtype)
    edges = np.array([-80, -20.5, 0, 0, 3, 77])
    weights = random.random((40, 50))
    arrays[f"x_{dtype}"] = x
    arrays[f"weights_{dtype}"] = weights
    counts, arrays[f"edges_{dtype}"] = np.histogram(x.astype("float64") if dtype == "int16" else x, 10)
    arrays[f"count_{dtype}"] = counts
    arrays[f"many_{dtype}"] = np.histogram(x, 5000, range=(-30, 31))[0]
    arrays[f"range_{dtype}"] = np.histogram(x, 7, range=(-10, 30))[0]
    arrays[f"given_{dtype}"] = np.histogram(x, edges)[0]
    arrays[f"weighted_{dtype}"] = np.histogram(x, 10, weights=weights)[0]
    arrays[f"density_{dtype}"] = np.histogram(x, 10, density=True)[0].astype("float64")
    arrays[f"left_{dtype}"] = np.digitize(x, edges)
    arrays[f"right_{dtype}"] = np.digitize(x, edges, right=True)

np.savez_compressed(pathlib.Path(__file__).with_name("histograms.npz"), **arrays)

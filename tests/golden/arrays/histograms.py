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

x, y, weights = arrays["x_float64"][0], arrays["x_float64"][1] / 8, arrays["weights_float64"][0]
x, y = np.append(x, [10, np.inf, 0]), np.append(y, [1, 2, np.nan])
weights = np.append(weights, [1, 2, 3])
arrays |= {"joint_x": x, "joint_y": y, "joint_weights": weights}
ranges = [[-60, 50], [-8, 10]]
uneven = [[-80, -20.5, 0, 0, 3, 10], [-10, -1, 1, 2]]
arrays["joint_range"], _, _ = np.histogram2d(x, y, [7, 5], range=ranges)
arrays["joint_given"], _, _ = np.histogram2d(x, y, uneven)
arrays["joint_mixed"], _, arrays["joint_mixed_edges"] = np.histogram2d(x, y, [uneven[0], 3], range=[None, ranges[1]])
arrays["joint_same"], _, _ = np.histogram2d(x, y, uneven[1])
arrays["joint_weighted"], _, _ = np.histogram2d(x, y, 6, range=ranges, weights=weights)
arrays["joint_density"], _, _ = np.histogram2d(x, y, [uneven[0][:3], 4], range=ranges, density=True)
arrays["joint_default"], _, arrays["joint_default_edges"] = np.histogram2d(x[:50], y[:50])
points = np.round(random.standard_normal((300, 3)) * 2)
arrays["points"] = points.astype("float32")
arrays["points_count"] = np.histogramdd(points, [3, [-2, 0, 2], 4], range=[[-2, 2], None, [-4, 4]])[0]
arrays["points_density"] = np.histogramdd(points, 3, density=True)[0]

np.savez_compressed(pathlib.Path(__file__).with_name("histograms.npz"), **arrays)

"""Writes ndimage_parts.lua: SciPy's filters along lines and by rank, morphology, labels, measurements, distances, affine maps."""

import os

import numpy as np
from scipy import ndimage as nd

from cases import Cases

rng = np.random.default_rng(12)
inputs = {
    "v": rng.normal(size=13),
    "m": rng.normal(size=(9, 7)),
    "f": rng.normal(size=(8, 11)).astype("float32"),
    "u": rng.integers(0, 255, (6, 8)).astype("uint8"),
    "t": rng.normal(size=(4, 6, 5)),
    "k": np.array([0.25, 0.5, 1, -0.5]),
    "b": rng.random((12, 17)) < 0.55,
    "b3": rng.random((5, 6, 7)) < 0.4,
    "b1": rng.random(30) < 0.6,
    "few": rng.random((10, 11)) < 0.1,
    "h": rng.integers(0, 2, (3, 4)) > 0,
    "mask": rng.random((12, 17)) < 0.7,
    "s": rng.normal(size=(2, 3)),
    "data": rng.normal(size=(12, 17)),
    "ints": rng.integers(-5, 5, (12, 17)),
    "a": np.array([[0.8, 0.3], [-0.2, 1.1]]),
}
inputs["h"][1, 1] = True
inputs["labels"] = nd.label(inputs["b"])[0]
cases = Cases(inputs)
scope = {"np": np, "nd": nd, **inputs}


def add(lua, python, dtype=None):
    cases.add(lua, eval(python, dict(scope)), dtype)


for axis in (0, 1, 2):
    for name in ("correlate1d", "convolve1d"):
        add(f"gpu.ndimage.{name}(t, k, {axis + 1}, {{mode = 'mirror'}})", f"nd.{name}(t, k, {axis}, mode='mirror')")
        add(f"gpu.ndimage.{name}(t, {{1, 2, 4}}, {{axis = {axis + 1}, origin = 1}})", f"nd.{name}(t, [1, 2, 4], {axis}, origin=1)")
    add(f"gpu.ndimage.gaussian_filter1d(t, 1.2, {axis + 1}, {{order = 1}})", f"nd.gaussian_filter1d(t, 1.2, {axis}, order=1)")
    for name in ("uniform_filter1d", "minimum_filter1d", "maximum_filter1d"):
        add(f"gpu.ndimage.{name}(t, 3, {axis + 1})", f"nd.{name}(t, 3, {axis})")
        add(f"gpu.ndimage.{name}(t, 4, {axis + 1}, {{mode = 'constant', cval = -1, origin = -1}})",
            f"nd.{name}(t, 4, {axis}, mode='constant', cval=-1, origin=-1)")
add("gpu.ndimage.correlate1d(f, k)", "nd.correlate1d(f.astype('float64'), k)", "float32")
for mode in ("reflect", "constant", "nearest", "mirror", "wrap"):
    add(f"gpu.ndimage.laplace(m, {{mode = '{mode}'}})", f"nd.laplace(m, mode='{mode}')")
    add(f"gpu.ndimage.gaussian_laplace(m, 1.5, {{mode = '{mode}'}})", f"nd.gaussian_laplace(m, 1.5, mode='{mode}')")
    add(f"gpu.ndimage.gaussian_gradient_magnitude(m, {{1, 2}}, {{mode = '{mode}'}})",
        f"nd.gaussian_gradient_magnitude(m, (1, 2), mode='{mode}')")
add("gpu.ndimage.laplace(t, {axes = {1, 3}})", "nd.laplace(t, axes=(0, 2))")
add("gpu.ndimage.laplace(f)", "nd.laplace(f.astype('float64'))", "float32")

for rank in (0, 2, -1, -3):
    ours = rank + 1 if rank >= 0 else rank
    add(f"gpu.ndimage.rank_filter(m, {ours}, 3)", f"nd.rank_filter(m, {rank}, 3)")
    add(f"gpu.ndimage.rank_filter(u, {ours}, {{footprint = h}})", f"nd.rank_filter(u, {rank}, footprint=h)")
for percentile in (0, 20, 50, 75, 100):
    add(f"gpu.ndimage.percentile_filter(m, {percentile}, {{3, 4}})", f"nd.percentile_filter(m, {percentile}, (3, 4))")

# ---- morphology
for rank in range(4):
    for connectivity in range(1, rank + 1):
        add(f"gpu.ndimage.generate_binary_structure({rank}, {connectivity})", f"nd.generate_binary_structure({rank}, {connectivity})")
for n in (1, 2, 3):
    add(f"gpu.ndimage.iterate_structure(gpu.ndimage.generate_binary_structure(2, 1), {n})",
        f"nd.iterate_structure(nd.generate_binary_structure(2, 1), {n})")
for name in ("binary_erosion", "binary_dilation", "binary_opening", "binary_closing"):
    add(f"gpu.ndimage.{name}(b)", f"nd.{name}(b)")
    add(f"gpu.ndimage.{name}(b3, {{structure = gpu.ndimage.generate_binary_structure(3, 2)}})",
        f"nd.{name}(b3, nd.generate_binary_structure(3, 2))")
    add(f"gpu.ndimage.{name}(b1, {{structure = {{1, 1}}}})", f"nd.{name}(b1, [1, 1])")
    add(f"gpu.ndimage.{name}(b, {{structure = h, iterations = 2, border_value = true}})", f"nd.{name}(b, h, 2, border_value=1)")
    add(f"gpu.ndimage.{name}(b, {{mask = mask}})", f"nd.{name}(b, mask=mask)")
    add(f"gpu.ndimage.{name}(ints)", f"nd.{name}(ints)")
for name in ("binary_erosion", "binary_dilation"):
    add(f"gpu.ndimage.{name}(b, {{structure = h, origin = {{1, -1}}}})", f"nd.{name}(b, h, origin=(1, -1))")
    add(f"gpu.ndimage.{name}(b, {{iterations = 0, mask = mask}})", f"nd.{name}(b, iterations=0, mask=mask)")
add("gpu.ndimage.binary_propagation(b, {mask = mask})", "nd.binary_propagation(b, mask=mask)")
add("gpu.ndimage.binary_hit_or_miss(b)", "nd.binary_hit_or_miss(b)")
add("gpu.ndimage.binary_hit_or_miss(b, {structure1 = {{1, 0}, {0, 1}}, structure2 = {{0, 1}, {0, 0}}})",
    "nd.binary_hit_or_miss(b, [[1, 0], [0, 1]], [[0, 1], [0, 0]])")
for b in ("b", "b3", "b1", "few"):
    add(f"gpu.ndimage.binary_fill_holes({b})", f"nd.binary_fill_holes({b})")
    rank = inputs[b].ndim
    add(f"gpu.ndimage.binary_fill_holes({b}, {{structure = gpu.ndimage.generate_binary_structure({rank}, {rank})}})",
        f"nd.binary_fill_holes({b}, nd.generate_binary_structure({rank}, {rank}))")
for name in ("grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "morphological_gradient", "morphological_laplace",
             "white_tophat", "black_tophat"):
    add(f"gpu.ndimage.{name}(m, 3)", f"nd.{name}(m, 3)")
    add(f"gpu.ndimage.{name}(m, {{size = {{2, 4}}, mode = 'nearest'}})", f"nd.{name}(m, (2, 4), mode='nearest')")
    add(f"gpu.ndimage.{name}(m, {{footprint = h}})", f"nd.{name}(m, footprint=h)")
    add(f"gpu.ndimage.{name}(m, {{structure = s}})", f"nd.{name}(m, structure=s)")
add("gpu.ndimage.grey_dilation(u, 3)", "nd.grey_dilation(u, 3)")

# ---- labels and measurements
for b in ("b", "b3", "b1", "few"):
    for connectivity in range(1, inputs[b].ndim + 1):
        structure = f"generate_binary_structure({inputs[b].ndim}, {connectivity})"
        add(f"(gpu.ndimage.label({b}, {{structure = gpu.ndimage.{structure}}}))", f"nd.label({b}, nd.{structure})[0]")
add("(gpu.ndimage.label(ints, {structure = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}))", "nd.label(ints, [[1, 0, 0], [0, 1, 0], [0, 0, 1]])[0]")
for data, dtype in (("data", "float64"), ("ints", "float32")):
    for name in ("mean", "variance", "standard_deviation", "sum_labels"):
        add(f"gpu.ndimage.{name}({data})", f"np.float64(nd.{name}({data}))", dtype)
        add(f"gpu.ndimage.{name}({data}, labels)", f"np.float64(nd.{name}({data}, labels))", dtype)
        add(f"gpu.ndimage.{name}({data}, labels, 2)", f"np.float64(nd.{name}({data}, labels, 2))", dtype)
        add(f"gpu.ndimage.{name}({data}, labels, {{{{3, 1}}, {{0, 3}}}})", f"nd.{name}({data}, labels, np.array([[3, 1], [0, 3]]))", dtype)
    add(f"gpu.ndimage.median({data})", f"np.float64(nd.median({data}))", dtype)
    add(f"gpu.ndimage.median({data}, labels, {{3, 1, 2, 5}})", f"nd.median({data}, labels, np.array([3, 1, 2, 5]))", dtype)
for data in ("data", "ints"):
    for name in ("minimum", "maximum"):
        add(f"gpu.ndimage.{name}({data})", f"nd.{name}({data})")
        add(f"gpu.ndimage.{name}({data}, labels)", f"nd.{name}({data}, labels)")
        add(f"gpu.ndimage.{name}({data}, labels, {{1, 5, 3}})", f"np.asarray(nd.{name}({data}, labels, [1, 5, 3]), {data}.dtype)")
for name in ("minimum_position", "maximum_position"):
    add(f"gpu.ndimage.{name}(data)", f"np.array(nd.{name}(data)) + 1")
    add(f"gpu.ndimage.{name}(data, labels, {{4, 2}})", f"np.array(nd.{name}(data, labels, [4, 2])) + 1")
add("gpu.ndimage.center_of_mass(data:abs())", "np.array(nd.center_of_mass(abs(data))) + 1")
add("gpu.ndimage.center_of_mass(data:abs(), labels, {2, 1, 3})", "np.array(nd.center_of_mass(abs(data), labels, [2, 1, 3])) + 1")

# ---- distances, affine maps
for b in ("b", "b3", "b1"):
    add(f"gpu.ndimage.distance_transform_edt({b})", f"nd.distance_transform_edt({b})")
add("gpu.ndimage.distance_transform_edt(few:logical_not(), {sampling = {1, 2.5}})", "nd.distance_transform_edt(~few, (1, 2.5))")
for mode in ("constant", "nearest", "mirror", "grid-wrap"):
    for order in (0, 1, 3):
        add(f"gpu.ndimage.affine_transform(m, a, {{offset = {{0.4, 1.3}}, order = {order}, mode = '{mode}'}})",
            f"nd.affine_transform(m, a, (0.4, 1.3), order={order}, mode='{mode}')")
add("gpu.ndimage.affine_transform(m, {0.7, 1.2}, 1, {order = 1, output_shape = {12, 5}})",
    "nd.affine_transform(m, [0.7, 1.2], 1, (12, 5), order=1)")
add("gpu.ndimage.affine_transform(m, {{0.8, 0.3, 1}, {-0.2, 1.1, 0.5}, {0, 0, 1}}, {order = 1})",
    "nd.affine_transform(m, [[0.8, 0.3, 1], [-0.2, 1.1, 0.5], [0, 0, 1]], order=1)")

here = os.path.dirname(os.path.abspath(__file__))
cases.write(os.path.join(here, "ndimage_parts.lua"), "ndimage_parts.py")

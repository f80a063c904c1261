"""Writes einsums.lua: random einsums, and of each result the shape and a sum of its elements with weights.

The elements of operand number n, from 0, are (7 i + 5 n) mod 5 - 2 at the row-major position i, so each result is exact. The weight
at position i of a result is 31 i mod 97 + 1.
"""

import os

import numpy as np

rng = np.random.default_rng(2000)
letters = "abcXYZ"
dtypes = ["float64"] * 12 + ["float32", "int32", "complex64", "bool"] + ["float64"] * 3 + ["float16"]
exact = {"float32": 2**24, "int32": 2**31, "complex64": 2**24, "float16": 2**11}


def operand(n, shape):
    positions = np.arange(int(np.prod(shape)))
    return ((7 * positions + 5 * n) % 5 - 2).reshape(shape)


def some_equation():
    count = int(rng.choice([1, 2, 2, 2, 3, 3, 4, 5, 6]))
    pool = letters[:rng.integers(1, 7)]
    extents = {letter: int(rng.choice([1, 2, 3, 4, 5])) for letter in pool}
    if rng.random() < 0.03:
        extents[pool[0]] = 0
    ellipsis = [int(rng.choice([1, 2, 3])) for _ in range(2)]
    terms, shapes = [], []
    for _ in range(count):
        own = [str(rng.choice(list(pool))) for _ in range(rng.integers(0, 4))]
        if own and rng.random() < 0.1:
            own.append(own[0])  # a diagonal
        shape = [extents[letter] for letter in own]
        if len(set(own)) == len(own):
            shape = [1 if rng.random() < 0.04 else extent for extent in shape]
        if rng.random() < 0.15:
            at = int(rng.integers(0, len(own) + 1))
            axes = ellipsis[int(rng.integers(0, 3)):]
            own.insert(at, "...")
            shape[at:at] = axes
        terms.append("".join(own))
        shapes.append(tuple(shape))
    equation = ",".join(terms)
    if rng.random() < 0.8:
        used = sorted(set(equation) - set(",."))
        kept = [letter for letter in used if rng.random() < 0.5]
        rng.shuffle(kept)
        if "..." in equation:
            kept.insert(int(rng.integers(0, len(kept) + 1)), "...")
        equation += ("->" if rng.random() < 0.8 else " -> ") + "".join(kept)
    return equation, shapes


lines = []
while len(lines) < 2000:
    equation, shapes = some_equation()
    operands = [operand(n, shape) for n, shape in enumerate(shapes)]
    work = 1
    for extent in (shape[i] for shape in shapes for i in range(len(shape))):
        work *= max(extent, 1)
    if work > 1e9:
        continue
    try:
        bound = np.einsum(equation.split("->")[0].strip().replace(" ", "") + "->" + ("..." if "..." in equation else ""),
                          *[abs(x) for x in operands])
        value = np.einsum(equation, *operands)
    except ValueError:
        continue
    dtype = dtypes[len(lines) % len(dtypes)]
    if bound.size and bound.max() >= exact.get(dtype, 2**53):
        dtype = "float64"
    if dtype == "bool":
        value = np.einsum(equation, *[x != 0 for x in operands])
    positions = np.arange(value.size)
    total = int((value.astype(np.int64).ravel() * (31 * positions % 97 + 1)).sum())
    texts = ["{" + ",".join(map(str, shape)) + "}" for shape in shapes + [value.shape]]
    lines.append(f'{{"{equation}","{dtype}",{total},{texts[-1]},{",".join(texts[:-1])}}},')

with open("einsums.lua", "w") as file:
    file.write(f"-- Made by {os.path.basename(__file__)} with NumPy {np.__version__}.\nreturn {{\n")
    file.write("\n".join(lines) + "\n}\n")

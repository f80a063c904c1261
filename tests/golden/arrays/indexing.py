"""Random indexing expressions and what NumPy makes of them: writes indexing.lua beside this file.

Arrays hold their elements' row-major positions, all below 64, and each element of a result is one character. Indices are
written as gpulua has them: from 1, both ends of a range included.
"""
import random
from pathlib import Path

import numpy as np

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/"
rng = random.Random(2024)


def dims(shape):
    return ",".join(map(str, shape))


def text(array):
    return "".join(ALPHABET[int(value)] for value in array.ravel())


def nested(array):
    return "{" + ",".join(nested(a) if array.ndim > 1 else str(int(a)) for a in array) + "}"


def random_shape():
    while True:
        shape = tuple(rng.choice([1, 2, 3, 3, 4, 5, rng.choice([0, 2])]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 3, 4])))
        if np.prod(shape, dtype=int) < 64:
            return shape


def random_range(extent):
    """A range as gpulua writes it, and NumPy's slice."""
    step = rng.choice([1, 1, 1, 2, -1, -1, -2, 3])
    first, last = (rng.choice([None, *range(-extent - 2, 0), *range(1, extent + 3)]) for _ in range(2))
    start = first if first is None or first < 0 else first - 1
    if last is None:
        stop = None
    elif step > 0:
        stop = last if last > 0 else (None if last == -1 else last + 1)
    else:
        stop = last - 1 if last < 0 else (None if last == 1 else last - 2)
    if first is not None and last is not None and rng.random() < 0.5:
        spec = f"{{{first},{last}}}" if step == 1 else f"{{{first},{last},{step}}}"
    else:
        spec = f'"{"" if first is None else first}:{"" if last is None else last}' + (f':{step}"' if step != 1 else '"')
    return spec, slice(start, stop, step)


def random_integers(extent, shape, dtype):
    signed = np.dtype(dtype).kind == "i"
    zero_based = np.array([rng.randrange(extent) for _ in range(int(np.prod(shape)))], int).reshape(shape)
    negative = np.array([signed and rng.random() < 0.3 for _ in range(zero_based.size)], bool).reshape(shape)
    values = np.where(negative, zero_based - extent, zero_based + 1)
    if values.size == 0:
        spec = f'Z"{dims(shape)}"'
    elif shape == ():
        spec = f"I({int(values)})"
    else:
        spec = "I" + nested(values) if dtype == "int64" else f'I({nested(values)},"{dtype}")'
    return spec, zero_based


def random_index(shape):
    specs, index = [], []
    arrays = rng.random() < 0.7
    common = tuple(rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 1, 1, 1, 2])))
    if rng.random() < 0.05:
        common += (0,)
    dtype = "int64" if rng.random() < 0.9 else rng.choice(["int32", "int8", "uint8", "uint64", "int16"])
    ellipsis = False
    axis = 0

    def add(spec, item):
        specs.append(spec)
        index.append(item)

    while axis < len(shape) or rng.random() < 0.1:
        kind = rng.random()
        if kind < 0.07:
            add("N", None)
        elif kind < 0.16 and not ellipsis:
            ellipsis = True
            skipped = rng.randint(0, len(shape) - axis)
            axis += skipped
            rest = len(shape) - axis
            add('"..."', Ellipsis)
            # What follows has to take all axes that are left.
            for _ in range(rest):
                add(*item_for(shape[axis], arrays, common, dtype))
                axis += 1
            break
        elif axis == len(shape):
            break
        elif kind < 0.30 and arrays:
            count = rng.randint(1, len(shape) - axis)
            extents = shape[axis : axis + count]
            mask = np.array([rng.random() < 0.4 for _ in range(int(np.prod(extents)))], bool).reshape(extents)
            add(f'M("{dims(extents)}","{"".join(str(int(m)) for m in mask.ravel())}")', mask)
            axis += count
        elif kind < 0.36:
            break
        else:
            add(*item_for(shape[axis], arrays, common, dtype))
            axis += 1
    return specs, tuple(index)


def item_for(extent, arrays, common, dtype):
    kind = rng.random()
    if kind < 0.2 and extent > 0:
        at = rng.randrange(extent)
        return (str(at + 1), at) if rng.random() < 0.6 else (str(at - extent), at - extent)
    if kind < 0.55 and arrays and (extent > 0 or 0 in common):
        shape = tuple(1 if rng.random() < 0.2 and n != 0 else n for n in common)
        return random_integers(extent, shape, dtype)
    return random_range(extent)


def case():
    """An array's shape, whether it is transposed, an index, and what it selects."""
    while True:
        shape = random_shape()
        transposed = len(shape) > 1 and rng.random() < 0.2
        x = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
        if transposed:
            x = x.T
        specs, index = random_index(x.shape)
        try:
            selected = np.asarray(x[index])
        except IndexError:  # masks and arrays whose shapes do not broadcast, or more than one ellipsis
            continue
        if selected.size < 64:
            return x, dims(shape) + ("T" if transposed else ""), specs, index, selected


def random_value(selected):
    """A value that broadcasts to the selection's shape: as gpulua writes it, and as an array."""
    if rng.random() < 0.4:
        return "63", np.array(63)
    shape = [1 if rng.random() < 0.2 else n for n in selected.shape]
    while shape and rng.random() < 0.2:
        shape.pop(0)
    if rng.random() < 0.1:
        shape.insert(0, 1)
    value = 63 - np.arange(int(np.prod(shape))).reshape(shape)
    return f'V"{dims(shape)}"', value


def main():
    lines = ["-- Written by indexing.py.", "return {", "  reads = {"]
    seen = set()
    while len(seen) < 2400:
        x, shape, specs, index, selected = case()
        line = f"    {{[[{shape}]],[[{','.join(specs)}]],[[{dims(selected.shape)}]],[[{text(selected)}]]}},"
        if line not in seen:
            seen.add(line)
            lines.append(line)
    lines += ["  },", "  writes = {"]
    seen.clear()
    while len(seen) < 1400:
        x, shape, specs, index, selected = case()
        spec, value = random_value(selected)
        # The last of several writes to one element is not defined.
        if value.size > 1 and len(np.unique(selected)) < selected.size:
            continue
        after = x.copy()
        try:
            after[index] = value
        except (TypeError, ValueError):
            continue
        line = f"    {{[[{shape}]],[[{','.join(specs)}]],[[{spec}]],[[{text(after)}]]}},"
        if line not in seen:
            seen.add(line)
            lines.append(line)
    lines += ["  },", "}", ""]
    Path(__file__).with_suffix(".lua").write_text("\n".join(lines))


main()

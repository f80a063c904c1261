"""Cases of array functions: a Lua expression, and what NumPy gives for the same. tests/lua/golden_cases.lua runs them."""

import numpy as np


def number(value):
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (int, np.integer)):
        return str(int(value)) if abs(int(value)) < 2**53 else f'"{int(value)}"'
    value = float(value)
    if value != value:
        return '"nan"'
    if value in (float("inf"), float("-inf")):
        return '"inf"' if value > 0 else '"-inf"'
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def numbers(array):
    if array.dtype.kind == "c":
        array = np.ascontiguousarray(array).view(array.real.dtype)
    return "{" + ",".join(number(value) for value in array.ravel().tolist()) + "}"


def shape(array):
    return "{" + ",".join(map(str, array.shape)) + "}"


class Cases:
    """`inputs`: name -> array, which both sides know by that name."""

    def __init__(self, inputs):
        self.inputs = inputs
        self.lines = []

    def add(self, lua, python=None, dtype=None):
        """`python`: text over `np` and the inputs, or the value. `dtype`: ours, where it is another one than NumPy's."""
        value = lua if python is None else python
        if isinstance(value, str):
            with np.errstate(all="ignore"):
                value = eval(value, {"np": np, **self.inputs})
        results = []
        for result in value if isinstance(value, (tuple, list)) else [value]:
            if isinstance(result, bool):
                results.append("true" if result else "false")
                continue
            result = np.asarray(result)
            if dtype is not None:
                result = result.astype(dtype)
            name = {"bool_": "bool"}.get(result.dtype.name, result.dtype.name)
            results.append(f'{{"{name}",{shape(result)},{numbers(result)}}}')
        self.lines.append(f"{{[==[{lua}]==],{','.join(results)}}},")

    def write(self, path, generator):
        with open(path, "w") as file:
            file.write(f"-- Made by {generator} with NumPy {np.__version__}.\nreturn {{\ninputs = {{\n")
            for name, array in self.inputs.items():
                kind = {"bool_": "bool"}.get(array.dtype.name, array.dtype.name)
                file.write(f'{name}={{"{kind}",{shape(array)},{numbers(array)}}},\n')
            file.write("},\n")
            file.write("\n".join(self.lines))
            file.write("\n}\n")

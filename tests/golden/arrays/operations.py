"""What NumPy gives for every elementwise operation and dtype: python3 operations.py, in this folder.

Needs numpy, scipy, mpmath and ml_dtypes. Writes operations.npz (operands and results) and operations.lua (what they are, and
the dtypes of all pairs of dtypes). Where gpulua differs from NumPy on purpose, this file says so:
  - functions of real numbers give float32 for integers and bool, not float16 or float64; float_power does not widen;
  - integers divided by 0, and the reciprocal of 0, are 0;
  - spacing has the number's sign in 16-bit floats too;
  - round leaves bool as it is; ldexp takes exponents of uint64.
Functions of float32 are compared with those of float64, functions of float64 with mpmath's.
"""
import itertools
import warnings

import ml_dtypes
import mpmath
import numpy as np
from scipy import special

warnings.simplefilter("ignore")
np.seterr(all="ignore")
mpmath.mp.dps = 60

DTYPES = ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128").split()
LETTERS = dict(zip(DTYPES, "?bhilBHILegfdFD"))
TYPES = {name: np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name) for name in DTYPES}


def is_float(name):
    return name in ("float16", "bfloat16", "float32", "float64")


def is_complex(name):
    return name.startswith("complex")


def is_exact(name):  # integers and bool
    return not is_float(name) and not is_complex(name)


# ---- operations: NumPy's function, the arity, and how many units in the last place the result may be off ----------------------

EXACT = 0
S = special
UNARY = {  # name: (function, ulps, mpmath's function)
    "negative": (np.negative, EXACT), "positive": (np.positive, EXACT), "abs": (np.abs, EXACT), "fabs": (np.fabs, EXACT),
    "sign": (np.sign, EXACT), "square": (np.square, EXACT), "reciprocal": (lambda x: np.divide(1, x) if x.dtype.kind == "c" else np.reciprocal(x), EXACT),
    "floor": (np.floor, EXACT), "ceil": (np.ceil, EXACT), "trunc": (np.trunc, EXACT), "rint": (np.rint, EXACT),
    "round": (np.round, EXACT), "isnan": (np.isnan, EXACT), "isinf": (np.isinf, EXACT), "isfinite": (np.isfinite, EXACT),
    "signbit": (np.signbit, EXACT), "logical_not": (np.logical_not, EXACT), "bitwise_not": (np.invert, EXACT),
    "bitwise_count": (np.bitwise_count, EXACT), "real": (np.real, EXACT), "imag": (np.imag, EXACT),
    "conj": (np.conj, EXACT), "angle": (np.angle, 4), "nan_to_num": (np.nan_to_num, EXACT), "sqrt": (np.sqrt, EXACT),
    "cbrt": (np.cbrt, 1, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2, lambda x: 1 / mpmath.sqrt(x)),
    "exp": (np.exp, 2, mpmath.exp), "exp2": (np.exp2, 2, lambda x: mpmath.mpf(2) ** x), "expm1": (np.expm1, 1, mpmath.expm1),
    "log": (np.log, 1, mpmath.log), "log2": (np.log2, 2, lambda x: mpmath.log(x, 2)), "log10": (np.log10, 2, mpmath.log10),
    "log1p": (np.log1p, 1, mpmath.log1p), "sin": (np.sin, 2, mpmath.sin), "cos": (np.cos, 2, mpmath.cos),
    "tan": (np.tan, 4, mpmath.tan), "asin": (np.arcsin, 3, mpmath.asin), "acos": (np.arccos, 3, mpmath.acos),
    "atan": (np.arctan, 2, mpmath.atan), "sinh": (np.sinh, 3, mpmath.sinh), "cosh": (np.cosh, 2, mpmath.cosh),
    "tanh": (np.tanh, 2, mpmath.tanh), "asinh": (np.arcsinh, 3, mpmath.asinh), "acosh": (np.arccosh, 4, mpmath.acosh),
    "atanh": (np.arctanh, 3, mpmath.atanh), "degrees": (np.degrees, 2, mpmath.degrees),
    "radians": (np.radians, 2, mpmath.radians), "sinc": (np.sinc, 5, mpmath.sincpi),
    "sigmoid": (S.expit, 4, lambda x: 1 / (1 + mpmath.exp(-x))), "erf": (S.erf, 2, mpmath.erf), "erfc": (S.erfc, 5, mpmath.erfc),
    "erfinv": (S.erfinv, 5, mpmath.erfinv), "erfcinv": (S.erfcinv, 6, lambda x: -mpmath.sqrt(2) / 2 * quantile(x / 2)),
    "gamma": (S.gamma, 11, mpmath.gamma), "lgamma": (S.gammaln, 6, lambda x: mpmath.log(abs(mpmath.gamma(x)))),
    "isposinf": (np.isposinf, EXACT), "isneginf": (np.isneginf, EXACT), "isreal": (np.isreal, EXACT), "iscomplex": (np.iscomplex, EXACT),
    "spacing": (np.spacing, EXACT), "logb": (lambda x: logb(x), EXACT),
    "normcdf": (S.ndtr, 6, mpmath.ncdf), "normcdfinv": (S.ndtri, 8, lambda x: quantile(x)),
}
BINARY = {
    "add": (np.add, EXACT), "subtract": (np.subtract, EXACT), "multiply": (np.multiply, EXACT), "divide": (np.divide, EXACT),
    "floor_divide": (np.floor_divide, EXACT), "remainder": (np.remainder, EXACT), "fmod": (np.fmod, EXACT),
    "power": (np.power, 5, mpmath.power), "float_power": (np.float_power, 5, mpmath.power), "hypot": (np.hypot, 3, mpmath.hypot),
    "atan2": (np.arctan2, 3, mpmath.atan2), "gcd": (np.gcd, EXACT), "lcm": (np.lcm, EXACT),
    "logaddexp": (np.logaddexp, 4, lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y))),
    "logaddexp2": (np.logaddexp2, 4, lambda x, y: mpmath.log(mpmath.mpf(2) ** x + mpmath.mpf(2) ** y, 2)),
    "heaviside": (np.heaviside, EXACT), "copysign": (np.copysign, EXACT), "nextafter": (np.nextafter, EXACT),
    "maximum": (np.maximum, EXACT), "minimum": (np.minimum, EXACT), "fmax": (np.fmax, EXACT), "fmin": (np.fmin, EXACT),
    "eq": (np.equal, EXACT), "ne": (np.not_equal, EXACT), "lt": (np.less, EXACT), "le": (np.less_equal, EXACT),
    "gt": (np.greater, EXACT), "ge": (np.greater_equal, EXACT), "logical_and": (np.logical_and, EXACT),
    "logical_or": (np.logical_or, EXACT), "logical_xor": (np.logical_xor, EXACT), "bitwise_and": (np.bitwise_and, EXACT),
    "bitwise_or": (np.bitwise_or, EXACT), "bitwise_xor": (np.bitwise_xor, EXACT), "left_shift": (np.left_shift, EXACT),
    "right_shift": (np.right_shift, EXACT), "ldexp": (np.ldexp, EXACT),
    "clip": (lambda x, y: np.clip(x, y, x), EXACT),
    "where": (lambda x, y: np.where(x, x, y), EXACT),
}
OPS = {**UNARY, **BINARY}
# Some of these take complex numbers in scipy and NumPy; ours do not.
REAL_ONLY = {"sigmoid", "erf", "erfc", "erfinv", "erfcinv", "gamma", "lgamma", "normcdf", "normcdfinv", "rsqrt", "sinc"}
MIXED = ["add", "multiply", "maximum", "lt", "eq"]  # whose values are compared for all pairs of dtypes


def logb(x):
    """The exponent of the highest binary digit."""
    mantissa, exponent = np.frexp(x)
    special = np.where(x == 0, -np.inf, np.abs(mantissa))
    return np.where(np.isfinite(x) & (x != 0), exponent - 1, special).astype(mantissa.dtype)


def quantile(p):
    """The inverse of the normal distribution, by Newton's method."""
    p = mpmath.mpf(p)
    if not 0 < p < 1:
        raise ValueError(p)
    if p > 0.5:
        return -quantile(1 - p)
    with np.errstate(all="ignore"):
        x = mpmath.mpf(float(S.ndtri(float(p)))) if p > 1e-300 else mpmath.mpf(-38)
    for _ in range(60):
        step = (mpmath.ncdf(x) - p) / mpmath.npdf(x)
        step = max(min(step, mpmath.mpf(0.5)), mpmath.mpf(-0.5))
        x -= step
        if abs(step) < mpmath.mpf(10) ** -40:
            break
    return x


# ---- dtypes -------------------------------------------------------------------------------------------------------------------


def one(name):
    return np.ones(1, "float16" if name == "bfloat16" else name)


def result_dtype(op, *names):
    """The dtype that gpulua is to give, or None where it is to raise."""
    if op == "round" and names == ("bool",):
        return "bool"
    if op in REAL_ONLY and is_complex(names[0]):
        return None
    if op == "ldexp" and names[1] == "uint64":  # NumPy's exponents are at most int64
        return result_dtype(op, names[0], "int64")
    if op == "float_power":
        return result_dtype("divide", *names)
    if op in ("erfcinv", "rsqrt", "normcdf", "normcdfinv", "sigmoid", "erf", "erfc", "erfinv", "gamma", "lgamma"):
        return result_dtype("cbrt", *names)
    halves = {name for name in names if name in ("float16", "bfloat16")}
    if halves == {"float16", "bfloat16"}:  # meet in float32
        return result_dtype(op, *["float32"] * len(names))
    try:
        got = OPS[op][0](*[one(name) for name in names]).dtype.name
    except TypeError:
        return None
    numbers = names[:1] if op == "ldexp" else names
    if op != "where" and all(is_exact(name) for name in numbers) and is_float(got):
        promoted = np.result_type(*[one(name) for name in numbers]).name
        return "float32" if is_exact(promoted) or op == "ldexp" else promoted
    return "bfloat16" if got == "float16" and "bfloat16" in halves else got


# ---- operands ---------------------------------------------------------------------------------------------------------------


def integers(name, few):
    if name == "bool":
        return [False, True]
    limits = np.iinfo(name)
    values = [0, 1, 2, 3, 7, 13, -1, -7, limits.min, limits.max, limits.max - 1]
    if not few:
        values += [-2, -3, 4, 5, 6, 8, 10, 31, 32, 63, 64, 100, limits.min + 1, limits.max // 2, limits.max // 2 + 1]
    return sorted({value for value in values if limits.min <= value <= limits.max})


def floats(name, few):
    limits = ml_dtypes.finfo(TYPES[name])
    tiny, least, most = float(limits.smallest_normal), float(limits.smallest_subnormal), float(limits.max)
    values = [0.0, -0.0, 1, -1, 0.1, 2.5, -7, 3, np.inf, -np.inf, np.nan, most, least]
    if not few:
        values += [0.5, -0.5, 1.5, -1.5, -2.5, 3.5, -0.1, -most, tiny, -least, 3.14159265, 2.718281828, 10, -10, 100.5, 0.001, 5, 7.3]
        values += [20.7, 0.99, -0.99, 10000, 60000, 0.25, 0.75, 1 + float(limits.eps), -30.5, 0.4999, 12.5, 1.9999]
    return values


def complexes(few):
    parts = [0.0, -0.0, 1, -2.5, np.inf, np.nan] if few else [0.0, -0.0, 1, -1, 0.5, -2.5, 30, np.inf, -np.inf, np.nan]
    return [complex(re, im) for re in parts for im in parts]


def values(name, few=False):
    if is_complex(name):
        return np.array(complexes(few), name)
    return np.array(floats(name, few) if is_float(name) else integers(name, few)).astype(TYPES[name])


def pairs(name):
    few = values(name, True)
    if is_complex(name):
        few = few[::3]
    x, y = zip(*itertools.product(few, few))
    return np.array(x, few.dtype), np.array(y, few.dtype)


# ---- results ----------------------------------------------------------------------------------------------------------------


def precise(op, arguments, approximate):
    """float64 results, from mpmath where that and NumPy give numbers."""
    result = approximate.copy()
    for i, numbers in enumerate(zip(*arguments)):
        if not all(np.isfinite(numbers)) or any(number == 0 for number in numbers) or np.isnan(approximate[i]):
            continue
        if approximate[i] == 0 or (abs(approximate[i]) > 1e300 and op not in ("erfcinv", "lgamma")):
            continue
        try:
            value = OPS[op][2](*[mpmath.mpf(float(number)) for number in numbers])
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        if not isinstance(value, mpmath.mpc):
            result[i] = float(value)
    return result


def compute(op, result, *arguments):
    """The operation's result, of dtype `result`, on arguments of one dtype, which is what it computes in."""
    name = "bfloat16" if arguments[0].dtype == TYPES["bfloat16"] else arguments[0].dtype.name
    if op == "ldexp":
        function = OPS[op][0]
        return function(arguments[0].astype("float64"), np.clip(arguments[1], -5000, 5000)).astype(TYPES[result])
    if op == "round" and name == "bool":
        return arguments[0]
    if op == "nextafter" and name == "bfloat16":
        return np.nextafter(*arguments)
    if op == "spacing" and name in ("float16", "bfloat16"):
        x = arguments[0]
        return np.nextafter(x, np.where(x < 0, -np.inf, np.inf).astype(x.dtype)) - x
    if op == "nan_to_num" and name == "bfloat16":
        most = ml_dtypes.finfo(TYPES[name]).max.astype("float32")
        return np.nan_to_num(arguments[0].astype("float32"), posinf=most, neginf=-most).astype(TYPES[name])
    if is_exact(name) and is_float(result):
        name = "float32"
        arguments = [a.astype("float32") for a in arguments]
    function, ulps = OPS[op][:2]
    if is_complex(name):
        wide = name if ulps == EXACT and op not in ("divide", "abs", "sqrt", "reciprocal") else "complex128"
        return function(*[a.astype(wide) for a in arguments]).astype(TYPES[result])
    if is_float(name) and ulps != EXACT:
        arguments = [a.astype("float64") for a in arguments]
        approximate = function(*arguments).astype("float64")
        if op == "gamma":
            approximate[arguments[0] == -np.inf] = np.nan
        if op == "erfinv":
            approximate[arguments[0] == 0] = arguments[0][arguments[0] == 0]
        if op == "lgamma":
            approximate[arguments[0] == -np.inf] = np.inf
        if op == "sinc":
            approximate[np.abs(arguments[0]) == np.finfo(float).max] = 0
        if op == "erfcinv":
            approximate[arguments[0] == 1] = 0
        if op == "rsqrt":
            approximate[arguments[0] == 0] = np.copysign(np.inf, arguments[0][arguments[0] == 0])
        return (precise(op, arguments, approximate) if len(OPS[op]) > 2 else approximate).astype(TYPES[result])
    if name == "bfloat16":
        arguments = [a.astype("float32") for a in arguments]
    got = function(*arguments)
    if op == "reciprocal" and is_exact(name):
        got = np.where(arguments[0] == 0, 0, got)
    return got.astype(TYPES[result])


def stored(array):
    return array.astype("float32") if array.dtype == TYPES["bfloat16"] else array


def main():
    exponents = np.resize(np.array([0, 1, -1, 5, -30, 2000, -(2**40)], "int64"), 400)
    arrays, unary, binary, tables = {"exponents": exponents}, [], [], []
    for name in DTYPES:
        arrays[f"values_{name}"] = stored(values(name))
        x, y = pairs(name)
        arrays[f"x_{name}"], arrays[f"y_{name}"] = stored(x), stored(y)
        for kind, ops, operands in (("unary", UNARY, [values(name)]), ("binary", BINARY, [x, y])):
            groups = {}
            for op in ops:
                given = operands
                if op == "ldexp":
                    given = [x, exponents[: len(x)]]
                if op == "power" and is_exact(name) and name != "bool":
                    given = [x, y % y.dtype.type(13)]
                kinds = [name] if kind == "unary" else [name, "int64" if op == "ldexp" else name]
                result = result_dtype(op, *kinds)
                if result is None:
                    continue
                groups.setdefault(result, []).append((op, stored(compute(op, result, *given))))
            for result, rows in groups.items():
                key = f"{kind}_{name}_{result}"
                arrays[key] = np.stack([row for _, row in rows])
                names = " ".join(op for op, _ in rows)
                (unary if kind == "unary" else binary).append(f'  {{ "{name}", "{result}", "{names}" }},')
    left = {name: np.resize(values(name, True), 13) for name in DTYPES}
    right = {name: np.roll(left[name], 3) for name in DTYPES}
    for a in DTYPES:
        arrays[f"left_{a}"], arrays[f"right_{a}"] = stored(left[a]), stored(right[a])
        rows = {}
        for b in DTYPES:
            promoted = TYPES[result_dtype("maximum", a, b)]
            for op in MIXED:
                x, y = left[a], right[b]
                if op not in ("lt", "eq") or {a, b} != {"int64", "uint64"}:  # which NumPy compares exactly
                    x, y = x.astype(promoted), y.astype(promoted)
                got = stored(compute(op, result_dtype(op, a, b), x, y))
                rows.setdefault(got.dtype.name, []).append(got)
        for result, group in rows.items():
            arrays[f"mixed_{a}_{result}"] = np.stack(group)
    for op in OPS:
        if op in UNARY:
            letters = [[result_dtype(op, a)] for a in DTYPES]
        else:
            letters = [[result_dtype(op, a, b) for b in DTYPES] for a in DTYPES]
        text = "".join(LETTERS[name] if name else "-" for row in letters for name in row)
        tables.append(f'  {op} = "{text}",')
    np.savez_compressed("operations.npz", **arrays)
    with open("operations.lua", "w") as file:
        file.write("-- Made by operations.py.\nreturn {\n")
        file.write('dtypes = "%s",\nletters = "%s",\n' % (" ".join(DTYPES), "".join(LETTERS.values())))
        file.write("-- The results in operations.npz: operands' dtype, results' dtype, operations.\n")
        file.write("unary = {\n%s\n},\nbinary = {\n%s\n},\n" % ("\n".join(unary), "\n".join(binary)))
        file.write("-- Units in the last place that float32 and float64 may be off; 0 for those not named.\n")
        ulps = ", ".join(f"{op} = {row[1]}" for op, row in OPS.items() if row[1] != EXACT)
        file.write("ulps = { %s },\n" % ulps)
        file.write('mixed = "%s",\n' % " ".join(MIXED))
        file.write("-- The result's dtype for each operand's dtype, or for each pair of them; - is an error.\n")
        file.write("results = {\n%s\n},\n}\n" % "\n".join(tables))


main()

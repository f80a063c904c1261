"""The elementwise operations by mpmath, and the formulas of their partial derivatives, as src/ops/op_table.cpp has them."""

import pathlib
import re

import mpmath as mp

mp.mp.dps = 60
inf, nan = mp.inf, mp.nan
source = (pathlib.Path(__file__).resolve().parents[3] / "src/ops/op_table.cpp").read_text()

# ---- the rows and their formulas --------------------------------------------------------------------------------------------------

strings = dict(re.findall(r'string_view (\w+) =\s+"([^"]*)";', source))
formulas, rules, arities, hidden = {}, {}, {}, set()
for text in re.findall(r'\{\s*\.name = .*?\},?\n(?=\s*(?:\{|//|\};))', source, re.S):
    name = re.search(r'name = "(\w+)"', text)[1]
    rules[name] = re.search(r"rule = (\w+)", text)[1]
    arities[name] = int(re.search(r"arity = (\d)", text)[1])
    if ".hidden = true" in text:
        hidden.add(name)
    found = re.search(r"\.partials = \{(.*?)\}", text, re.S)
    items = re.findall(r'"[^"]*"|\bof_\w+', re.sub(r'"\s+"', "", found[1])) if found else []
    formulas[name] = [strings[item] if item in strings else item.strip('"') for item in items]

constants = {float(value): value for value in [
    mp.log(2), 1 / mp.log(2), 1 / mp.log(10), mp.sqrt(2 / mp.pi), 1 / mp.sqrt(2), 2 / mp.sqrt(mp.pi), mp.sqrt(mp.pi) / 2,
    1 / mp.sqrt(2 * mp.pi), mp.sqrt(2 * mp.pi), 180 / mp.pi, mp.pi / 180]}


def parse(text):
    """The formula as nested tuples: ("number", v), ("operand", i), ("result",), (row, inputs...)."""
    tokens = re.findall(r"[a-z_]\w*|[\d.]+(?:e-?\d+)?|[-+*/(),]", text) + [""]

    def take(*wanted):
        return tokens.pop(0) if tokens[0] in wanted else None

    def chain(part, names):
        tree = part()
        while sign := take(*names):
            tree = (names[sign], tree, part())
        return tree

    def sums():
        return chain(products, {"+": "add", "-": "subtract"})

    def products():
        return chain(factor, {"*": "multiply", "/": "divide"})

    def factor():
        if take("-"):
            return ("negative", factor())
        if take("("):
            tree = sums()
            assert take(")"), text
            return tree
        token = tokens.pop(0)
        if token[0].isdigit():
            number = float(token)
            assert number in constants or len(token) < 6, f"{token} in {text} is the number of no name"
            return ("number", constants.get(number, mp.mpf(number)))
        if token in ("x", "y", "z", "w"):
            return ("operand", "xyzw".index(token))
        if token == "r":
            return ("result",)
        assert take("("), text
        inputs = [sums()]
        while take(","):
            inputs.append(sums())
        assert take(")"), text
        return (token, *inputs)

    tree = sums()
    assert tokens == [""], text
    return tree


def number(value):
    return ("number", mp.mpf(value))


zero = number(0)


def with_inputs(tree, inputs, result):
    """The formula of a row that is called with these inputs."""
    if tree[0] == "operand":
        return inputs[tree[1]]
    if tree[0] == "result":
        return result
    return tree if tree[0] == "number" else (tree[0], *[with_inputs(part, inputs, result) for part in tree[1:]])


def derived(tree, operand):
    """The derivative of a call of rows by an operand, as the reverse pass makes it."""
    if tree[0] == "number":
        return zero
    if tree[0] == "operand":
        return number(tree[1] == operand)
    if tree[0] == "where":
        yes, no = (derived(part, operand) for part in tree[2:])
        return zero if yes == zero and no == zero else ("where", tree[1], yes, no)
    total = zero
    for place, inner in enumerate(tree[1:]):
        slope = derived(inner, operand)
        texts = formulas[tree[0]]
        if slope == zero or place >= len(texts) or texts[place] in ("", "0"):
            continue
        assert texts[place] != "none", (tree[0], place)
        factor = with_inputs(parse(texts[place]), tree[1:], tree)
        term = factor if slope == number(1) else ("multiply", slope, factor)
        total = term if total == zero else ("add", total, term)
    return total


# ---- what the rows compute, and how exactly ---------------------------------------------------------------------------------------


def truth(condition):
    return mp.mpf(bool(condition))


def quotient(x, y):
    return (nan if x == 0 or mp.isnan(x) else mp.sign(x) * inf) if y == 0 else x / y


def power(x, y):
    if x == 0 and y < 0:
        return inf
    return mp.power(x, y)


def logarithm(x):
    return -inf if x == 0 else mp.log(x)


def beta_inverse(a, b, p):
    def off(v):
        return mp.betainc(a, b, 0, v, regularized=True) - p

    return mp.findroot(off, (mp.mpf(0), mp.mpf(1)), solver="anderson", tol=1e-100, verify=False)


def gamma_inverse(a, p, upper):
    guess = mp.mpf(a)
    for _ in range(400):  # Newton's steps, which stay positive
        slope = mp.exp((a - 1) * mp.log(guess) - guess - mp.loggamma(a)) * (-1 if upper else 1)
        share = mp.gammainc(a, guess, inf, regularized=True) if upper else mp.gammainc(a, 0, guess, regularized=True)
        step = min(max((share - p) / slope, -guess), guess / 2)
        guess -= step
        if abs(step) < guess * mp.mpf(10) ** (5 - mp.mp.dps):
            break
    return guess


def moment(n, x):
    return mp.hyp1f1(n + 1, n + 2, x) / (n + 1)


def sinc_derivative(n, x):
    n = int(n)
    if abs(x) < 1e-3:
        first = n % 2
        sign = -1 if n % 4 in (1, 2) else 1
        terms = ((-1) ** (k // 2) * (mp.pi * x) ** k / mp.factorial(k) / (n + k + 1) for k in range(first, 30, 2))
        return sign * mp.pi ** n * mp.fsum(terms)
    value = mp.sin(mp.pi * x) / (mp.pi * x)
    for k in range(1, n + 1):
        value = (mp.pi ** (k - 1) * mp.sin(mp.pi * x + k * mp.pi / 2) - k * value) / x
    return value


def remainder(x, y):
    return x - y * mp.floor(x / y)


def fmod(x, y):
    quotient = x / y
    return x - y * (mp.floor(quotient) if quotient > 0 else mp.ceil(quotient))


def boxcox(x, y):
    return mp.log(x) if y == 0 else mp.expm1(y * mp.log(x)) / y


def huber(x, y):
    return y * y / 2 if abs(y) <= x else x * (abs(y) - x / 2)


values = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y, "divide": quotient,
    "remainder": remainder, "fmod": fmod, "floor_divide": lambda x, y: mp.floor(x / y), "power": power, "float_power": power,
    "power_of_halves": power, "negative": lambda x: -x, "positive": lambda x: x, "abs": abs, "fabs": abs, "sign": mp.sign,
    "square": lambda x: x * x, "reciprocal": lambda x: inf if x == 0 else 1 / x, "hypot": mp.hypot, "sqrt": mp.sqrt,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)), "rsqrt": lambda x: 1 / mp.sqrt(x), "exp": mp.exp, "exp2": lambda x: mp.power(2, x),
    "expm1": mp.expm1, "log": logarithm, "log2": lambda x: mp.log(x) / mp.log(2), "log10": lambda x: mp.log(x) / mp.log(10),
    "log1p": lambda x: -inf if x == -1 else mp.log1p(x), "logaddexp": lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
    "logaddexp2": lambda x, y: mp.log(mp.power(2, x) + mp.power(2, y)) / mp.log(2), "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "asin": mp.asin, "acos": mp.acos, "atan": mp.atan, "atan2": mp.atan2, "sinh": mp.sinh,
    "cosh": mp.cosh, "tanh": mp.tanh, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh, "degrees": lambda x: x * 180 / mp.pi,
    "radians": lambda x: x * mp.pi / 180, "sinc": lambda x: sinc_derivative(0, x), "sinc_derivative": sinc_derivative, "erf": mp.erf,
    "erfc": mp.erfc, "erfinv": mp.erfinv, "erfcinv": lambda x: mp.erfinv(1 - x), "gamma": mp.gamma,
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))), "normcdf": mp.ncdf, "normcdfinv": lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1),
    "gammainc": lambda x, y: mp.gammainc(x, 0, y, regularized=True), "gammaincc": lambda x, y: mp.gammainc(x, y, inf, regularized=True),
    "betainc": lambda x, y, z: mp.betainc(x, y, 0, z, regularized=True),
    "gamma_density": lambda x, y: mp.exp((x - 1) * mp.log(y) - y - mp.loggamma(x)),
    "beta_density": lambda x, y, z: z ** (x - 1) * (1 - z) ** (y - 1) / mp.beta(x, y), "j0": mp.j0, "j1": mp.j1,
    "y0": lambda x: mp.bessely(0, x), "y1": lambda x: mp.bessely(1, x), "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x), "i0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    "i1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), "k0": lambda x: mp.besselk(0, x), "k1": lambda x: mp.besselk(1, x),
    "k0e": lambda x: mp.besselk(0, x) * mp.exp(x), "k1e": lambda x: mp.besselk(1, x) * mp.exp(x), "digamma": mp.digamma,
    "polygamma": lambda x, y: mp.polygamma(int(x), y), "zeta": mp.zeta, "beta": mp.beta, "betaln": lambda x, y: mp.log(mp.beta(x, y)),
    "binom": mp.binomial, "gammaincinv": lambda x, y: gamma_inverse(x, y, False),
    "gammainccinv": lambda x, y: gamma_inverse(x, y, True), "betaincinv": beta_inverse, "exp1": mp.e1,
    "expn": lambda x, y: mp.expint(int(x), y), "expi": mp.ei, "exprel": lambda x: moment(0, x), "exp_moment": moment,
    "erfcx": lambda x: mp.erfc(x) * mp.exp(x * x), "log_normcdf": lambda x: mp.log(mp.ncdf(x)),
    "log_sigmoid": lambda x: -mp.log1p(mp.exp(-x)), "logit": lambda x: mp.log(x / (1 - x)),
    "xlogy": lambda x, y: mp.mpf(0) if x == 0 else x * logarithm(y), "xlog1py": lambda x, y: mp.mpf(0) if x == 0 else x * mp.log1p(y),
    "entr": lambda x: -x * mp.log(x), "rel_entr": lambda x, y: x * mp.log(x / y), "kl_div": lambda x, y: x * mp.log(x / y) - x + y,
    "huber": huber, "pseudo_huber": lambda x, y: x * x * (mp.sqrt(1 + (y / x) ** 2) - 1), "boxcox": boxcox,
    "inv_boxcox": lambda x, y: mp.exp(x) if y == 0 else mp.exp(mp.log1p(x * y) / y),
    "heaviside": lambda x, y: truth(x > 0) if x != 0 else y, "rint": mp.nint, "trunc": lambda x: mp.floor(x) if x > 0 else mp.ceil(x),
    "copysign": lambda x, y: abs(x) * (-1 if y < 0 else 1), "nextafter": lambda x, y: x, "ldexp": lambda x, y: mp.ldexp(x, int(y)),
    "maximum": max, "minimum": min, "fmax": max, "fmin": min, "clip": lambda x, y, z: min(max(x, y), z),
    "eq": lambda x, y: truth(x == y), "lt": lambda x, y: truth(x < y), "le": lambda x, y: truth(x <= y),
    "gt": lambda x, y: truth(x > y), "ge": lambda x, y: truth(x >= y), "isnan": lambda x: truth(mp.isnan(x)),
    "isfinite": lambda x: truth(mp.isfinite(x)), "isposinf": lambda x: truth(x == inf), "isneginf": lambda x: truth(x == -inf),
    "nan_to_num": lambda x, y, z, w: y if mp.isnan(x) else z if x == inf else w if x == -inf else x, "real": lambda x: x,
    "conj": lambda x: x,
}

# Errors of the rows in units of 2^-53, as CUDA and the rows' own specs promise: relative to the value, or where it is less than the second
# number, or than what that gives for the arguments, relative to this. 4 where none is given.
exact = ["negative", "positive", "abs", "fabs", "sign", "eq", "lt", "le", "gt", "ge", "isnan", "isfinite", "isposinf", "isneginf",
         "rint", "trunc", "maximum", "minimum", "fmax", "fmin", "clip", "copysign", "ldexp", "real", "conj", "heaviside"]
rounded = ["add", "subtract", "multiply", "divide", "reciprocal", "square", "sqrt"]
errors = {name: (0, 0) for name in exact} | {name: (1, 0) for name in rounded} | {
    "digamma": (20, 1), "polygamma": (20, 0), "zeta": (20, 0), "beta": (50, 0), "betaln": (20, 1), "binom": (50, 0), "gamma": (20, 0),
    "lgamma": (20, 1), "exp1": (50, 0), "expn": (50, 0), "expi": (50, 0.1), "k0": (20, 0), "k1": (20, 0), "k0e": (20, 0),
    "k1e": (20, 0), "i0": (20, 0), "i1": (20, 0), "i0e": (20, 0), "i1e": (20, 0), "j0": (20, 0.3), "j1": (20, lambda x: min(abs(x), 0.3)),
    "y0": (20, 0.3), "y1": (20, 0.3), "erfcx": (20, 0), "erfinv": (20, 0), "erfcinv": (20, 0), "normcdf": (20, 0),
    "normcdfinv": (20, 0), "gammaincinv": (50, 0), "gammainccinv": (50, 0), "betaincinv": (50, 0),
    "gamma_density": (50, 0), "beta_density": (50, 0),
    "exp_moment": (20, 0), "sinc": (8, 0.3), "sinc_derivative": (20, lambda n, x: min(abs(x), 1) if n % 2 else 1),
    "asinh": (8, 0), "acosh": (8, 0), "atanh": (8, 0)}
unit = mp.mpf(2) ** -53


def evaluated(tree, arguments):
    """The value of a formula, and a bound of its error in float64 in units of 2^-53."""
    if tree[0] == "number":
        return tree[1], (0 if mp.mpf(float(tree[1])) == tree[1] else abs(tree[1]))
    if tree[0] == "operand":
        return arguments[tree[1]], mp.mpf(0)
    if tree[0] == "where":
        condition, _ = evaluated(tree[1], arguments)
        return evaluated(tree[2] if condition else tree[3], arguments)
    inputs = [evaluated(part, arguments) for part in tree[1:]]
    return called(tree[0], inputs)


def called(name, inputs):
    function, points = values[name], [value for value, _ in inputs]
    value = function(*points)
    scale, floor = errors.get(name, (4, 0))
    is_exact = name in rounded and not any(own for _, own in inputs) and mp.mpf(float(value)) == value
    error = mp.mpf(0)
    if mp.isfinite(value) and not is_exact:
        error = scale * max(abs(value), mp.mpf(floor(*points) if callable(floor) else floor))
    for place, (point, own) in enumerate(inputs):
        if own == 0 or not mp.isfinite(point) or not mp.isfinite(value):
            continue
        moved = []
        for sign in (1, -1):
            at = points[:]
            at[place] = point + sign * own * unit
            try:
                other = function(*at)
                if not isinstance(other, mp.mpc) and mp.isfinite(other):
                    moved.append(abs(other - value) / unit)
            except (ValueError, ZeroDivisionError):
                pass
        error += max(moved, default=mp.mpf(0))
    return value, error

"""Writes partials.npz: arguments of the elementwise operations, their first and second partial derivatives by mpmath, and how far a
result in float64 may be from these.

The formulas of src/ops/op_table.cpp are computed with 60 digits beside mpmath's derivatives, so a wrong formula or a constant with a
wrong digit ends this program. The bound of a derivative is 4 units in its last place, beyond what the formula makes of the rounding
errors of its operations (rows.py says how exact these are). It prints the formulas that make most of them.

For a row `log`: log is a table of its arguments, a column for each operand; log.1 the derivatives by the first one, log.12 those by the
first and the second one; log.1.bound the bounds, less than 0 where any number is right.
"""

import pathlib

import mpmath as mp
import numpy as np

from rows import arities, derived, evaluated, formulas, hidden, inf, nan, parse, rules, unit, values, with_inputs

# ---- the points -------------------------------------------------------------------------------------------------------------------

rng = np.random.default_rng(11)


def uniform(low, high, count=12):
    return [float(v) for v in rng.uniform(low, high, count).astype("float32")]


def tuples(*columns):
    return list(zip(*columns))


def pairs(low, high, low2, high2, count=12):
    return tuples(uniform(low, high, count), uniform(low2, high2, count))


tiny, huge = 2.0 ** -30, 2.0 ** 30
around = uniform(-3, 3) + [tiny, -tiny, 1e-4, -20.25, 20.25]
positive = uniform(0.05, 4) + [tiny, 1e-3, 30.5, 1e4]
inside = uniform(-0.95, 0.95) + [tiny, 0.999, -0.999]
bessel = uniform(0.05, 7) + [tiny, 1e-3]  # a GPU's j0 and its kin have a greater absolute error from 8 on
share = uniform(0.02, 0.98) + [1e-6, 1 - 1e-6, 0.5]

# Where a row is smooth. A row of several operands has a tuple for each point.
smooth = {
    "positive": around, "negative": around, "abs": around, "fabs": around, "real": around, "conj": around, "square": around + [0.0],
    "reciprocal": around + [huge], "sqrt": positive, "cbrt": around, "rsqrt": positive, "exp": around + [0.0, -700.0],
    "exp2": around + [0.0], "expm1": around + [0.0, -40.0], "log": positive, "log2": positive, "log10": positive,
    "log1p": positive + [0.0, -0.5, -0.999, -tiny], "sigmoid": around + [0.0, 40.0, -300.0], "sin": around + [0.0],
    "cos": around + [0.0], "tan": uniform(-1.5, 1.5) + [0.0, 1.57], "asin": inside + [0.0], "acos": inside + [0.0],
    "atan": around + [0.0, huge], "sinh": around + [0.0], "cosh": around + [0.0], "tanh": around + [0.0], "asinh": around + [0.0, huge],
    "acosh": [1 + v for v in positive], "atanh": inside + [0.0], "degrees": around, "radians": around,
    "sinc": around + [0.0, 0.5, 1.0, -2.0, 0.7, 0.8], "erf": around + [0.0], "erfc": uniform(-3, 3) + [0.0, 20.25],
    "erfinv": inside + [0.0], "erfcinv": [2 * v for v in share], "gamma": uniform(0.1, 6) + [1.0, -0.5, -2.25, 40.5],
    "lgamma": uniform(0.1, 6) + [1.0, -0.5, 1e4], "normcdf": around + [0.0], "normcdfinv": share,
    "j0": bessel + [-v for v in bessel] + [0.0], "j1": bessel + [-v for v in bessel] + [0.0], "y0": bessel, "y1": bessel,
    "i0": around + [0.0], "i1": around + [0.0], "i0e": around, "i1e": around, "k0": positive[:-1], "k1": positive[:-1],
    "k0e": positive[:-1], "k1e": positive[:-1], "digamma": uniform(0.1, 6) + [1.0, -0.5, 1e4], "exp1": positive[:-1],
    "expi": uniform(0.05, 4) + [20.25, -0.5, -3.0], "exprel": around + [0.0, 700.0, -700.0, 19.0, 25.0, -25.0],
    "erfcx": uniform(-3, 3) + [0.0, 10.0], "log_normcdf": around + [0.0, -300.0], "log_sigmoid": around + [0.0, 300.0, -300.0],
    "logit": share, "entr": positive, "add": pairs(-3, 3, -3, 3), "subtract": pairs(-3, 3, -3, 3),
    "multiply": pairs(-3, 3, -3, 3) + [(0.0, 2.0), (0.0, 0.0)],
    "divide": pairs(-3, 3, 0.1, 3) + [(0.0, 2.0), (1.0, -tiny), (2.0, huge)], "remainder": pairs(-9, 9, 0.5, 3) + [(7.0, -2.0)],
    "fmod": pairs(-9, 9, 0.5, 3) + [(7.0, -2.0), (2.9999999999999996, 1.0)],
    "power": pairs(0.1, 4, -3, 3) + [(2.0, 2.0), (2.0, 1.0), (2.0, 0.0), (1.0, 3.0), (tiny, 0.5)],
    "float_power": pairs(0.1, 4, -3, 3) + [(2.0, 0.0)], "hypot": pairs(-3, 3, -3, 3) + [(0.0, 2.0), (-2.0, 0.0)],
    "logaddexp": pairs(-3, 3, -3, 3) + [(1.0, 1.0), (300.0, -300.0), (0.0, 0.0)],
    "logaddexp2": pairs(-3, 3, -3, 3) + [(1.0, 1.0), (300.0, -300.0)],
    "atan2": pairs(-3, 3, -3, 3) + [(0.0, 2.0), (2.0, 0.0), (1e-100, 1.0)],
    "gammainc": pairs(0.3, 6, 0.1, 8) + [(0.5, 1e-3), (100.0, 90.0), (100.0, 130.0), (1e4, 1.01e4)],
    "gammaincc": pairs(0.3, 6, 0.1, 8) + [(100.0, 90.0), (1.0, 30.0)],
    "betainc": tuples(uniform(0.3, 6), uniform(0.3, 6), uniform(0.05, 0.95)) + [(200.0, 300.0, 0.41), (2.0, 3.0, 1e-6)],
    "gammaincinv": pairs(0.5, 6, 0.05, 0.95), "gammainccinv": pairs(0.5, 6, 0.05, 0.95),
    "betaincinv": tuples(uniform(0.6, 4, 6), uniform(0.6, 4, 6), uniform(0.05, 0.95, 6)),
    "polygamma": [(float(k), v) for k in (0, 1, 2, 5) for v in (0.3, 1.0, 2.5, 30.0)],
    "zeta": [(k, v) for k in (1.5, 2.0, 4.25) for v in (0.3, 1.0, 2.5, 30.0)], "beta": pairs(0.2, 6, 0.2, 6),
    "betaln": pairs(0.2, 6, 0.2, 6) + [(300.0, 0.5)], "binom": pairs(3, 20, 0.2, 2.8) + [(52.0, 5.0), (7.5, 2.5)],
    "expn": [(float(k), v) for k in (0, 1, 2, 5) for v in (0.01, 0.3, 1.0, 2.5, 30.0)], "xlogy": pairs(-3, 3, 0.1, 4) + [(0.0, 2.0)],
    "xlog1py": pairs(-3, 3, -0.9, 4) + [(0.0, 2.0), (1.0, 0.0)], "rel_entr": pairs(0.05, 3, 0.05, 3) + [(1.0, 1.0)],
    "kl_div": pairs(0.05, 3, 0.05, 3) + [(1.0, 1.0), (1.0, 1.0000001)], "huber": pairs(0.5, 2, -4, 4),
    "pseudo_huber": pairs(0.5, 2, -4, 4) + [(1.0, 0.0), (1.0, 1e-5), (1.0, -huge), (1e5, 0.5)],
    "boxcox": pairs(0.1, 4, -2, 2) + [(2.0, 0.0), (2.0, tiny), (3.0, -1e-5), (1.0, 0.5), (1.0, 0.0)],
    "inv_boxcox": pairs(0.1, 2, -0.45, 2) + [(2.0, 0.0), (2.0, tiny), (-0.5, 1e-5), (0.0, 0.5), (0.0, 0.0)],
    "heaviside": pairs(-3, 3, -3, 3), "copysign": pairs(-3, 3, -3, 3), "nextafter": pairs(-3, 3, 4, 5), "maximum": pairs(-3, 3, -3, 3),
    "minimum": pairs(-3, 3, -3, 3), "fmax": pairs(-3, 3, -3, 3), "fmin": pairs(-3, 3, -3, 3),
    "clip": tuples(uniform(-3, 3), uniform(-1.5, -0.5), uniform(0.5, 1.5)),
    "ldexp": [(v, float(k)) for v, k in zip(uniform(-3, 3), range(-6, 6))],
    "nan_to_num": tuples(uniform(-3, 3), uniform(-3, 3), uniform(-3, 3), uniform(-3, 3)),
}

# Poles, ties, zeros and infinities: the point, the first derivatives, and the second ones: by the first operand twice, by the first and the
# second, by the second twice. None: any number, or NaN.
special = {
    "abs": [(0.0, [0], [0]), (-0.0, [0], [0]), (-inf, [-1], [0])], "fabs": [(0.0, [0], [0])],
    "square": [(inf, [inf], [2]), (-0.0, [0], [2])], "reciprocal": [(0.0, [-inf], None), (inf, [0], [0])],
    "sqrt": [(0.0, [inf], None), (inf, [0], None)], "cbrt": [(0.0, [inf], None)], "rsqrt": [(0.0, [-inf], None)],
    "exp": [(-inf, [0], [0]), (inf, [inf], [inf])], "expm1": [(-inf, [0], [0])], "log": [(0.0, [inf], [-inf]), (inf, [0], [0])],
    "log1p": [(-1.0, [inf], [-inf]), (inf, [0], [0])], "sigmoid": [(inf, [0], [0]), (-inf, [0], [0])],
    "tanh": [(inf, [0], [0]), (-inf, [0], [0])], "asin": [(1.0, [inf], None), (-1.0, [inf], None)], "acos": [(1.0, [-inf], None)],
    "atan": [(inf, [0], None)], "acosh": [(1.0, [inf], None)], "atanh": [(1.0, [inf], None)], "erf": [(inf, [0], None)],
    "erfinv": [(1.0, [inf], None)], "normcdf": [(inf, [0], None), (-inf, [0], None)],
    "normcdfinv": [(0.0, [inf], None), (1.0, [inf], None)], "exprel": [(-inf, [0], [0]), (inf, [inf], [inf])],
    "log_normcdf": [(inf, [0], None), (40.0, [0], None)], "log_sigmoid": [(inf, [0], [0]), (-inf, [1], [0])],
    "logit": [(0.0, [inf], None), (1.0, [inf], None)], "entr": [(0.0, [inf], [-inf])], "i0e": [(0.0, [0], None)],
    "divide": [((1.0, 0.0), [inf, -inf], None), ((1.0, inf), [0, 0], None)],
    "power": [((0.0, 2.0), [0, 0], [2, None, None]), ((0.0, 1.0), [1, 0], [0, None, None]), ((0.0, 0.0), [0, 0], None),
              ((0.0, 0.5), [inf, 0], None), ((0.0, -1.0), [-inf, None], None), ((-2.0, 3.0), [12, nan], [-12, None, None]),
              ((-2.0, 0.0), [0, nan], [0, None, None]), ((inf, 2.0), [inf, inf], None), ((0.0, 3.0), [0, 0], [0, 0, 0])],
    "float_power": [((0.0, 2.0), [0, 0], None), ((0.0, 0.0), [0, 0], None)],
    "hypot": [((1e200, 1.0), [1, 1e-200], None), ((0.0, 0.0), [0, 0], None), ((-0.0, 0.0), [0, 0], None)],
    "logaddexp": [((-inf, -inf), [0, 0], [0, 0, 0]), ((-inf, 2.0), [0, 1], [0, 0, 0]), ((2.0, inf), [0, 1], [0, 0, 0])],
    "logaddexp2": [((-inf, -inf), [0, 0], [0, 0, 0])], "atan2": [((0.0, -2.0), [-0.5, 0], None)],
    "gammainc": [((1.0, 0.0), [None, 1], None), ((2.0, 0.0), [None, 0], None), ((0.5, 0.0), [None, inf], None)],
    "betainc": [((1.0, 3.0, 0.0), [None, None, 3], None), ((2.0, 1.0, 1.0), [None, None, 2], None),
              ((2.0, 3.0, 0.0), [None, None, 0], None)], "xlogy": [((0.0, 0.0), [-inf, 0], None), ((2.0, 0.0), [-inf, inf], None)],
    "xlog1py": [((0.0, -1.0), [-inf, 0], None)], "rel_entr": [((0.0, 0.0), [0, 0], None), ((0.0, 2.0), [-inf, 0], None)],
    "kl_div": [((0.0, 0.0), [0, 1], None), ((0.0, 2.0), [-inf, 1], None)],
    "huber": [((1.0, 1.0), [0, 1], None), ((1.0, -1.0), [0, -1], None), ((1.0, 0.0), [0, 0], [0, 0, 1]), ((1.0, inf), [inf, 1], None),
       ((0.0, 0.0), [0, 0], None)], "pseudo_huber": [((0.0, 2.0), [2, 0], None), ((0.0, 0.0), [0, 0], None)],
    "heaviside": [((0.0, 0.5), [0, 1], [0, 0, 0]), ((-0.0, 0.5), [0, 1], [0, 0, 0])],
    "copysign": [((0.0, -1.0), [0, 0], None), ((2.0, -0.0), [-1, 0], [0, 0, 0])],
    "maximum": [((2.0, 2.0), [0.5, 0.5], [0, 0, 0]), ((0.0, -0.0), [0.5, 0.5], None), ((inf, 1.0), [1, 0], None)],
    "minimum": [((2.0, 2.0), [0.5, 0.5], [0, 0, 0]), ((-inf, 1.0), [1, 0], None)], "fmax": [((2.0, 2.0), [0.5, 0.5], [0, 0, 0])],
    "fmin": [((2.0, 2.0), [0.5, 0.5], [0, 0, 0])],
    "clip": [((1.0, 1.0, 2.0), [0, 1, 0], None), ((2.0, 1.0, 2.0), [0, 0, 1], None), ((0.0, 2.0, 1.0), [0, 0, 1], None)],
    "nan_to_num": [((inf, 1.0, 2.0, 3.0), [0, 0, 1, 0], None), ((-inf, 1.0, 2.0, 3.0), [0, 0, 0, 1], None),
              ((nan, 1.0, 2.0, 3.0), [0, 1, 0, 0], None)], "remainder": [((1.0, inf), [1, 0], None)], "fmod": [((1.0, inf), [1, 0], None)],
}


def as_tuple(point):
    return point if isinstance(point, tuple) else (point,)


def derivative(name, arguments, orders):
    """mpmath's derivative, of these orders by the operands. Operands without a formula are parameters."""
    free = [place for place, order in enumerate(orders) if order]

    def function(*moved):
        at = list(arguments)
        for place, value in zip(free, moved):
            at[place] = value
        return values[name](*at)

    with mp.workdps(50):
        return mp.diff(function, tuple(arguments[place] for place in free), tuple(orders[place] for place in free))


def formulas_of(name, known):
    """The formulas of the first and second derivatives of a row, by the operands that they are for."""
    own = (name, *[("operand", place) for place in range(arities[name])])
    trees = {(place,): with_inputs(parse(formulas[name][place]), own[1:], own) for place in known}
    return trees | {(i, j): derived(trees[i,], j) for i in known for j in known if i <= j}


def bound_of(value, error):
    return float(error * unit + 8 * abs(value) * unit + mp.mpf(2) ** -1070) if mp.isfinite(value) else 0.0


def at_smooth(name, key, tree, point):
    """The derivative and its bound, and the formula's error relative to it in units of 2^-53."""
    value, error = evaluated(tree, point)
    other = derivative(name, point, [key.count(place) for place in range(arities[name])])
    assert abs(value - other) <= mp.mpf("1e-17") * (abs(other) + mp.mpf("1e-6")), (name, key, point, value, other)
    # Where a function is flat, the formula has more digits than a difference.
    return float(value), bound_of(value, error), float(error / abs(value)) if abs(value) > 1e-6 else 0


def at_special(key, firsts, seconds):
    orders = [(0, 0), (0, 1), (1, 1)]
    value = firsts[key[0]] if len(key) == 1 else seconds[orders.index(key)] if seconds and key in orders else None
    return (nan, -1.0) if value is None else (float(value), bound_of(mp.mpf(value), 0))


def main():
    arrays, worst = {}, []
    for name, rule in rules.items():
        texts = formulas[name]
        known = [place for place, text in enumerate(texts) if text not in ("", "0", "none")]
        if rule in ("numeric", "floating", "magnitude", "phase", "scaled"):
            assert texts and all(texts), f"{name} says nothing about a partial derivative"
        if not known or name in hidden or name in ("where", "astype"):
            continue
        points = [tuple(mp.mpf(v) for v in as_tuple(point)) for point in smooth[name]]
        extra = special.get(name, [])
        for key, tree in formulas_of(name, known).items():
            rows = [at_smooth(name, key, tree, point) for point in points]
            worst.append((max(row[2] for row in rows), name, [place + 1 for place in key]))
            rows += [at_special(key, firsts, seconds) for _, firsts, seconds in extra]
            label = name + "." + "".join(str(place + 1) for place in key)
            arrays[label], arrays[label + ".bound"] = np.array([row[0] for row in rows], float), np.array([row[1] for row in rows])
        arrays[name] = np.array([[float(v) for v in point] for point in points] + [as_tuple(point) for point, _, _ in extra], float)
    np.savez_compressed(pathlib.Path(__file__).with_name("partials.npz"), **arrays)
    for error, name, operands in sorted(worst, reverse=True)[:20]:
        print(f"{name} by {operands}: {error:.3g} units of 2^-53")


main()

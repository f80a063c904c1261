"""Writes differential.lua: solutions of differential equations, times of their events and integrals that have no closed form, by
mpmath: Taylor series and tanh-sinh rules with 30 digits."""

import os

from mpmath import cos, exp, mp, mpf, odefun, quad, sin, sqrt

mp.dps = 30


def solution(slope, start, times):
    """The points at the times, and the function of time."""
    y = odefun(slope, 0, [mpf(x) for x in start], tol=mpf(10) ** -25)
    return [[float(x) for x in y(mpf(t))] for t in times], y


def roots_of(y, end):
    """The times at which the first element changes its sign, by bisection."""
    roots, step = [], mpf(1) / 16
    for k in range(1, int(end / step) + 1):
        low, high = (k - 1) * step, k * step
        below = y(low)[0] < 0
        if below == (y(high)[0] < 0):
            continue
        for _ in range(70):
            middle = (low + high) / 2
            if (y(middle)[0] < 0) == below:
                low = middle
            else:
                high = middle
        roots.append(float(low))
    return roots


def text(value):
    if isinstance(value, list):
        return "{" + ", ".join(text(item) for item in value) + "}"
    return repr(value)


def lorenz(_, y):
    return [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - mpf(8) / 3 * y[2]]


def van_der_pol(_, y):
    return [y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]]


def driven_pendulum(t, y):
    return [y[1], -sin(y[0]) - y[1] / 4 + 3 * cos(2 * t) / 2]


lines = []
for name, slope, start, times in (
        ("lorenz", lorenz, [1, 1, 1], [0.5, 1.0, 5.0]),
        ("van_der_pol", van_der_pol, [2, 0], [1.0, 5.0, 12.0]),
        ("driven_pendulum", driven_pendulum, [0.5, 0], [2.0, 8.0, 15.0])):
    points, y = solution(slope, start, times)
    roots = roots_of(y, times[-1])
    lines += [f"  {name} = {{", f"    start = {text(start)}, times = {text(times)},", "    points = {"]
    lines += [f"      {text(point)}," for point in points] + ["    },", "    roots = {"]
    lines += [f"      {root!r}," for root in roots] + ["    },", "  },"]

lines.append(f"  sin_exp = {float(quad(lambda x: sin(exp(x)), [0, 1, 2, 3]))!r}, -- of sin(exp(x)) from 0 to 3")
lines.append(f"  bell_root = {float(quad(lambda x: exp(-x * x) / sqrt(x + x ** 3), [0, 0.5, 1, 2, 4, mp.inf]))!r},"
             " -- of exp(-x^2) / sqrt(x + x^3) from 0 on")
with open(os.path.join(os.path.dirname(__file__), "differential.lua"), "w") as file:
    file.write("-- Written by differential.py.\nreturn {\n" + "\n".join(lines) + "\n}\n")

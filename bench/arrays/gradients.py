"""Derivatives: the inputs and formulas that the Python sides share, as in gradient_rows.lua."""

from everyday import *

GREEKS = (0, 1, 2, 3, 4)


def call_price(xp, ndtr, S, K, T, r, v):
    deviation = v * xp.sqrt(T)
    d1 = (xp.log(S / K) + (r + 0.5 * v * v) * T) / deviation
    return S * ndtr(d1) - K * xp.exp(-r * T) * ndtr(d1 - deviation)


def option_input():
    n = size(64e6, 4e6, 1000)
    return spread(n, 80, 120, "float32"), spread(n + 1, 90, 110, "float32")[1:].copy(), spread(n + 2, 0.25, 2, "float32")[2:].copy()


def implied_input():
    """Prices, spots, strikes and years of options."""
    n = size(1e6, 1e5, 1000)
    S, K = spread(n, 80, 120, "float64"), spread(n + 1, 90, 110, "float64")[1:].copy()
    T, v = spread(n + 2, 0.25, 2, "float64")[2:].copy(), spread(n + 3, 0.1, 0.6, "float64")[3:].copy()
    ndtr = numpy.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))
    return call_price(numpy, ndtr, S, K, T, 0.02, v), S, K, T


def numbers(*values):
    return tuple(numpy.asarray(value, "float32") for value in values)


def discounted_payoff(xp, normal, S, v):
    return xp.maximum(S * xp.exp((0.02 - 0.5 * v * v) + v * normal) - 100, 0).mean() * math.exp(-0.02)


def payoff_rounded(y, width):
    return math.floor(float(y) / (10 * width if TINY else width / 2) + 0.5)


def network():
    """Weights and biases from 784 inputs to 10 classes, with two layers of 1024 between."""
    parameters = []
    for inputs, outputs in ((784, 1024), (1024, 1024), (1024, 10)):
        bound = 1 / math.sqrt(inputs)
        parameters += [spread(inputs * outputs, -bound, bound, "float32").reshape(inputs, outputs), numpy.zeros(outputs, "float32")]
    return parameters


def training_input(batch):
    n = 16 if TINY else batch
    return spread(n * 784, 0, 1, "float32").reshape(n, 784), spread(n, 0, 10, "int64")


def classes(relu, x, w1, b1, w2, b2, w3, b3):
    return relu(relu(x @ w1 + b1) @ w2 + b2) @ w3 + b3


def small_input():
    return spread(1000, 0, 1, "float32"), spread(1000, 1, 2, "float32")


def small_loss(xp, x, b):
    for _ in range(50):
        x = xp.sin(x * 0.99 + b)
    return (x * x).mean()

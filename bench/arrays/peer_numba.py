"""Numba's parallel loops, with fastmath, on the CPU."""

import math

import numba
import numpy as np

from workloads import *


@numba.njit(fastmath=True, inline="always")
def cnd_of(d):
    k = 1 / (1 + 0.2316419 * abs(d))
    tail = (0.39894228040143267793994605993438 * math.exp(-0.5 * d * d)
            * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))))
    return 1 - tail if d > 0 else tail


@numba.njit(parallel=True, fastmath=True)
def options_loop(S, X, T):
    call, put = np.empty_like(S), np.empty_like(S)
    for i in numba.prange(len(S)):
        root = math.sqrt(T[i])
        d1 = (math.log(S[i] / X[i]) + (R + 0.5 * V * V) * T[i]) / (V * root)
        d2 = d1 - V * root
        c1, c2 = cnd_of(d1), cnd_of(d2)
        discounted = X[i] * math.exp(-R * T[i])
        call[i] = S[i] * c1 - discounted * c2
        put[i] = discounted * (1 - c2) - S[i] * (1 - c1)
    return call, put


@numba.njit(parallel=True, fastmath=True)
def simulate(n):
    total = 0.0
    for i in numba.prange(n):
        total += max(100 * math.exp((R - 0.5 * V * V) + V * np.random.normal()) - 100, 0)
    return total / n


@numba.njit(parallel=True, fastmath=True)
def chain_loop(x):
    y = np.empty_like(x)
    for i in numba.prange(len(x)):
        y[i] = math.sqrt(x[i] * np.float32(2) + np.float32(1))
    return y


@numba.njit(parallel=True, fastmath=True)
def sum_loop(x):
    total = 0.0
    for i in numba.prange(len(x)):
        total += x[i]
    return total


def run(name, function, check, *host, scale=1.0):
    measure(name, lambda: function(*host), lambda _: None, check, scale)


def mean_of_both(pair):
    return pair[0].mean(dtype="float64") + pair[1].mean(dtype="float64")


run("bs64", lambda *a: ten_times(options_loop, *a), mean_of_both, *options(size(4e6, 4e6, 1000), "float64"), scale=1 / 10)
run("bs32", options_loop, mean_of_both, *options(size(64e6, 4e6, 1000), "float32"))
run("mc", lambda: simulate(size(256e6, 16e6, 100000)), price)
run("chain", chain_loop, lambda y: y.mean(dtype="float64"), spread(size(256e6, 16e6, 1000), 0, 1, "float32"))
run("sum", sum_loop, lambda y: y, spread(size(256e6, 64e6, 1000), 0, 1, "float32"))

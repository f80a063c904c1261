from math import exp, log, sqrt

import numpy as np
from numba import njit, prange

import side

dtype = np.dtype(side.variant).type
A1, A2, A3, A4, A5 = (dtype(a) for a in (0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429))
ONE, HALF, SLOPE, SCALE = (dtype(a) for a in (1, 0.5, 0.2316419, 0.39894228040143267793994605993438))


@njit(fastmath=True)
def cnd(d):
    k = ONE / (ONE + SLOPE * abs(d))
    tail = SCALE * exp(-HALF * d * d) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))))
    return ONE - tail if d > 0 else tail


@njit(parallel=True, fastmath=True)
def black_scholes(call, put, S, X, T, r, v):
    for i in prange(S.size):
        root = sqrt(T[i])
        d1 = (log(S[i] / X[i]) + (r + HALF * v * v) * T[i]) / (v * root)
        d2 = d1 - v * root
        discounted = X[i] * exp(-r * T[i])
        call[i] = S[i] * cnd(d1) - discounted * cnd(d2)
        put[i] = discounted * (ONE - cnd(d2)) - S[i] * (ONE - cnd(d1))


S, X, T = (side.load(name, dtype) for name in "SXT")
call, put = np.empty_like(S), np.empty_like(S)


def work():
    black_scholes(call, put, S, X, T, dtype(0.02), dtype(0.30))


work()
tolerance = 1e-13 if dtype is np.float64 else 1e-5
side.check("call", call, tolerance)
side.check("put", put, tolerance)
side.time(work)

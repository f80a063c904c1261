import math

import numpy as np
from numba import njit, prange

import side

loop = njit(parallel=True, fastmath=True)


@loop
def copy(s, a, b, x, out):
    for i in prange(a.size):
        out[i] = a[i]


@loop
def triad(s, a, b, x, out):
    for i in prange(a.size):
        out[i] = a[i] + np.float32(2.5) * b[i]


@loop
def axpy(s, a, b, x, out):
    for i in prange(a.size):
        out[i] += np.float32(2**-20) * a[i]


@loop
def stencil3(s, a, b, x, out):
    for i in prange(1, a.size - 1):
        out[i] = np.float32(0.25) * a[i - 1] + np.float32(0.5) * a[i] + np.float32(0.25) * a[i + 1]


@loop
def stencil7(s, a, b, x, out):
    m = s[1]
    for z in prange(1, m - 1):
        for y in range(1, m - 1):
            for u in range(1, m - 1):
                i = (z * m + y) * m + u
                near = a[i - 1] + a[i + 1] + a[i - m] + a[i + m] + a[i - m * m] + a[i + m * m]
                out[i] = np.float32(0.4) * a[i] + np.float32(0.1) * near


@loop
def jacobi(s, a, b, x, out):
    m = s[0]
    for y in prange(1, m - 1):
        for u in range(1, m - 1):
            i = y * m + u
            out[i] = np.float32(0.25) * (a[i - 1] + a[i + 1] + a[i - m] + a[i + m])


@loop
def fdtd(s, a, b, x, out):
    m = s[0]
    for y in prange(1, m):
        for u in range(m):
            out[y * m + u] = b[y * m + u] - np.float32(0.5) * (a[y * m + u] - a[(y - 1) * m + u])


@loop
def normalise(s, a, b, x, out):
    m = a.size // 3
    mean = np.array([0.485, 0.456, 0.406], np.float32)
    scale = np.array([4.367, 4.464, 4.444], np.float32)
    for c in prange(3):
        for i in range(m):
            out[c * m + i] = (a[c * m + i] - mean[c]) * scale[c]


@loop
def maxpool(s, a, b, x, out):
    m = s[0]
    h = m // 2
    for y in prange(h):
        for u in range(h):
            i = 2 * y * m + 2 * u
            out[y * h + u] = max(max(a[i], a[i + 1]), max(a[i + m], a[i + m + 1]))


@loop
def upsample(s, a, b, x, out):
    m = s[0]
    for y in prange(m):
        for u in range(m):
            out[y * m + u] = a[y // 2 * (m // 2) + u // 2]


@loop
def convolution(s, a, b, x, out):
    m = s[0]
    for y in prange(1, m - 1):
        for u in range(1, m - 1):
            total = np.float32(0)
            for v in range(3):
                for w in range(3):
                    total += b[v * 3 + w] * a[(y + v - 1) * m + u + w - 1]
            out[y * m + u] = total


@loop
def im2col(s, a, b, x, out):
    m = 58
    h = m - 2
    for c in prange(a.size // (9 * m * m)):
        for y in range(h):
            for u in range(h):
                for k in range(9):
                    out[((c * 9 + k) * h + y) * h + u] = a[(c * m + y + k // 3) * m + u + k % 3]


@loop
def gemm(s, a, b, x, out):
    m = 256
    for i in prange(a.size // m):
        row = out[i * m : (i + 1) * m]
        row[:] = 0
        for k in range(m):
            for j in range(m):
                row[j] += a[i * m + k] * b[k * m + j]


@loop
def atax(s, a, b, x, out):
    m = s[0]
    for j in prange(m):
        out[j] = 0
    for i in range(m):
        for j in range(m):
            out[j] += a[i * m + j] * x[i]


first, columns = side.load("first", np.int32), side.load("columns", np.int32)


@loop
def spmv(s, a, b, x, out):
    for i in prange(first.size - 1):
        total = np.float32(0)
        for k in range(first[i], first[i + 1]):
            total += a[k] * x[columns[k]]
        out[i] = total


a, b, x = side.load("a", np.float32), side.load("b", np.float32), side.load("x", np.float32)
out = np.zeros_like(a)
sides = (math.isqrt(a.size), int(a.size ** (1 / 3) + 1e-6))


def work():
    globals()[side.variant](sides, a, b, x, out)


work()
side.check("out", out, 1e-5)
side.time(work)

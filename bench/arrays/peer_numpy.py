import numpy as np

try:
    import scipy.fft as fourier
except ImportError:
    from numpy import fft as fourier

try:
    import scipy.sparse as sparse
except ImportError:
    sparse = ndimage = None

from everyday import *
from solvers import *


def sync(_):
    pass


def run(name, function, check, *host, scale=1.0):
    measure(name, lambda: function(*host), sync, check, scale)


def run_in_place(name, function, check, *host):
    measure_in_place(name, function, sync, check, np.copy, host)


def small(a, b):
    for _ in range(1000):
        c = a + b
    return c


def mean_of_both(pair):
    return pair[0].mean(dtype="float64") + pair[1].mean(dtype="float64")


generator = np.random.Generator(np.random.PCG64(1))


def simulate():
    normal = generator.standard_normal(size(256e6, 16e6, 100000), dtype="float32")
    return np.maximum(100 * np.exp(np.float32(R - 0.5 * V * V) + np.float32(V) * normal) - 100, 0).mean(dtype="float64")


def add_at(at, values):
    sums = np.zeros(len(values))
    np.add.at(sums, at, values)
    return sums


library_rows(run, np.linalg, fourier, lambda y: y.mean(dtype="float64"))
if sparse:
    from scipy import ndimage, signal

    sparse_products(run, sparse, np)
    pictures_and_signals(run, ndimage, signal, lambda y: y.mean(dtype="float64"))
if LIBRARIES:
    sys.exit()
if sparse:
    from scipy import special

    element_rows(run, np, sparse, special, ndimage, lambda y: y.mean(dtype="float64"))
if sparse:
    from scipy.integrate import solve_ivp

    lazily(run)("ensemble", lambda *a: scipy_ensemble(np, solve_ivp, *a), ensemble_mean, ensemble_input)
everyday_rows(lazily(run), lazily(run_in_place), np, lambda x: generator.standard_normal(x.size, dtype="float32"), ndimage,
              lambda p: generator.choice(len(p), DRAWS, p=p))
if finished():
    sys.exit()
run("small", small, lambda c: c.sum(), spread(16, 0, 1, "float32"), spread(16, 0, 1, "float32"), scale=1 / 1000)
run("bs64", lambda *a: ten_times(black_scholes, np, *a), mean_of_both, *options(size(4e6, 4e6, 1000), "float64"), scale=1 / 10)
run("bs32", lambda *a: black_scholes(np, *a), mean_of_both, *options(size(64e6, 4e6, 1000), "float32"))
run("mc", simulate, price)
run("rand", lambda: generator.random(size(256e6, 16e6, 1000), dtype="float32"), lambda y: square((y * y).mean()))
run("randn", lambda: generator.standard_normal(size(256e6, 16e6, 1000), dtype="float32"), lambda y: square((y * y).mean()))
big = spread(size(256e6, 16e6, 1000), 0, 1, "float32")
run("chain", lambda x: np.sqrt(x * 2 + 1), lambda y: y.mean(dtype="float64"), big)
run("sum", lambda x: x.sum(), lambda y: y, spread(size(256e6, 64e6, 1000), 0, 1, "float32"))
run("sum1", lambda x: x.sum(axis=0), lambda y: y[2], matrix())
run("sum2", lambda x: x.sum(axis=1), lambda y: y[2], matrix())
run("center", lambda x: x - x.mean(axis=1, keepdims=True), lambda y: y[1, 2], matrix())
run("softmax", lambda x: softmax(np, x), lambda y: y[1, 2], rows())
run("layernorm", lambda *a: layer_norm(np, *a), lambda y: y[1, 2], rows(), *weights())
run("var", lambda x: x.var(axis=1), lambda y: y[2], matrix())
run("var1", lambda x: x.var(axis=0), lambda y: y[2], matrix())
run("stencil", stencil, lambda y: y[1, 2], stencil_input())
run("life", lambda x: life(np.roll, x), lambda y: y.sum(), life_input())
run("floordiv", lambda x: x // 7 + x % 13, lambda y: y[999], spread(size(256e6, 16e6, 1000), -1e9, 1e9, "int32"))
run("distances", nearest, lambda y: y.mean(dtype="float64") + 1, *points())
run("shortsum", lambda x: x.sum(axis=1), lambda y: y[2], short_rows())
run("shortargmax", lambda x: x.argmax(axis=1), lambda y: y.mean(dtype="float64") + 1, short_rows())
run("einsum", lambda x: np.einsum("bqhd,bkhd->bhqk", x, x, optimize=True), lambda y: y.mean(dtype="float64"), heads())
run("cumsum", lambda x: np.cumsum(x), lambda y: y[999], big)
run("select", lambda x: x[x > 0.5], lambda y: y.size, big)
run("sort", lambda x: np.sort(x), lambda y: y[9], spread(size(64e6, 4e6, 1000), 0, 1, "float32"))
run("median", lambda x: np.median(x), lambda y: y, spread(size(64e6, 4e6, 1000), 0, 1, "float32"))
run("medians", lambda x: np.median(x, axis=1), lambda y: y[2], rows())
run("permutation", lambda: generator.permutation(size(16e6, 1e6, 1000)), lambda y: y.sum(dtype="float64"))
run("scatter", add_at, lambda y: y.sum(), *scatter_input())
run("histogram", lambda x: np.histogram(x, 256, range=(0, 1))[0], lambda y: y[9],
    spread(size(256e6, 16e6, 1000), 0, 1, "float32"))
run("topk", lambda x: np.sort(np.partition(x, x.size - 100)[-100:])[::-1], lambda y: y[99],
    spread(size(64e6, 4e6, 1000), 0, 1, "float32"))
run("argmax", lambda x: x.argmax(), lambda y: y + 1, spread(size(256e6, 64e6, 1000), 0, 1, "float32"))
run("transpose", lambda x: np.ascontiguousarray(x.T), lambda y: y[1, 4], matrix())

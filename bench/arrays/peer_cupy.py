import cupy as cp
from cupyx.scipy import ndimage, signal, sparse, special

from everyday import *

pool = cp.get_default_memory_pool()


def sync(_):
    cp.cuda.Device().synchronize()


def run(name, function, check, *host, scale=1.0):
    arrays = [cp.asarray(x) for x in host]
    measure(name, lambda: function(*arrays), sync, check, scale)
    del arrays
    pool.free_all_blocks()


def run_in_place(name, function, check, *host):
    measure_in_place(name, function, sync, check, cp.array, host)
    pool.free_all_blocks()


def small(a, b):
    for _ in range(1000):
        c = a + b
    return c


def simulate():
    payoff = cp.maximum(100 * cp.exp((R - 0.5 * V * V) + V * cp.random.standard_normal(size(256e6, 16e6, 100000), dtype="float32")) - 100, 0)
    return payoff.mean(dtype="float64")


def mean_of_both(pair):
    return pair[0].mean(dtype="float64") + pair[1].mean(dtype="float64")


def add_at(at, values):
    sums = cp.zeros(len(values))
    cp.add.at(sums, at, values)
    return sums


def choose(p):
    """As cp.random.choice with p would, which takes memory for each draw and item."""
    bounds = cp.cumsum(p)
    return cp.searchsorted(bounds, cp.random.random(DRAWS) * bounds[-1])


library_rows(run, cp.linalg, cp.fft, lambda y: y.mean(dtype="float64"))
sparse_products(run, sparse, cp)
pictures_and_signals(run, ndimage, signal, lambda y: y.mean(dtype="float64"))
if LIBRARIES:
    sys.exit()
element_rows(run, cp, sparse, special, ndimage, lambda y: y.mean(dtype="float64"))
everyday_rows(lazily(run), lazily(run_in_place), cp, lambda x: cp.random.standard_normal(x.size, dtype="float32"), ndimage, choose)
if finished():
    sys.exit()
run("small", small, lambda c: c.sum(), spread(16, 0, 1, "float32"), spread(16, 0, 1, "float32"), scale=1 / 1000)
if cp.cuda.runtime.getDeviceCount() > 1:
    # What the driver's own copy takes.
    def peer_copy(x):
        cp.cuda.runtime.memcpyPeerAsync(there.data.ptr, 1, x.data.ptr, 0, x.nbytes, cp.cuda.get_current_stream().ptr)
        return there

    count = size(256e6, 0, 1000)
    with cp.cuda.Device(1):
        there = cp.empty(count, dtype="float32")
        cp.cuda.runtime.deviceEnablePeerAccess(0)
    cp.cuda.runtime.deviceEnablePeerAccess(1)
    run("peercopy", peer_copy, lambda y: y.get()[9], spread(count, 0, 1, "float32"))
    del there
run("bs64", lambda *a: ten_times(black_scholes, cp, *a), mean_of_both, *options(size(4e6, 4e6, 1000), "float64"), scale=1 / 10)
run("bs32", lambda *a: black_scholes(cp, *a), mean_of_both, *options(size(64e6, 4e6, 1000), "float32"))
run("mc", simulate, price)
run("rand", lambda: cp.random.random(size(256e6, 16e6, 1000), dtype="float32"), lambda y: square((y * y).mean()))
run("randn", lambda: cp.random.standard_normal(size(256e6, 16e6, 1000), dtype="float32"), lambda y: square((y * y).mean()))
big = spread(size(256e6, 16e6, 1000), 0, 1, "float32")
run("chain", lambda x: cp.sqrt(x * 2 + 1), lambda y: y.mean(dtype="float64"), big)
run("sum", lambda x: x.sum(), lambda y: y, spread(size(256e6, 64e6, 1000), 0, 1, "float32"))
run("sum1", lambda x: x.sum(axis=0), lambda y: y[2], matrix())
run("sum2", lambda x: x.sum(axis=1), lambda y: y[2], matrix())
run("center", lambda x: x - x.mean(axis=1, keepdims=True), lambda y: y[1, 2], matrix())
run("softmax", lambda x: softmax(cp, x), lambda y: y[1, 2], rows())
run("layernorm", lambda *a: layer_norm(cp, *a), lambda y: y[1, 2], rows(), *weights())
run("var", lambda x: x.var(axis=1), lambda y: y[2], matrix())
run("var1", lambda x: x.var(axis=0), lambda y: y[2], matrix())
run("stencil", stencil, lambda y: y[1, 2], stencil_input())
run("life", lambda x: life(cp.roll, x), lambda y: y.sum(), life_input())
run("floordiv", lambda x: x // 7 + x % 13, lambda y: y[999], spread(size(256e6, 16e6, 1000), -1e9, 1e9, "int32"))
run("distances", nearest, lambda y: y.mean(dtype="float64") + 1, *points())
run("shortsum", lambda x: x.sum(axis=1), lambda y: y[2], short_rows())
run("shortargmax", lambda x: x.argmax(axis=1), lambda y: y.mean(dtype="float64") + 1, short_rows())
run("einsum", lambda x: cp.einsum("bqhd,bkhd->bhqk", x, x, optimize=True), lambda y: y.mean(dtype="float64"), heads())
run("cumsum", lambda x: cp.cumsum(x), lambda y: y[999], big)
run("select", lambda x: x[x > 0.5], lambda y: y.size, big)
run("sort", lambda x: cp.sort(x), lambda y: y[9], spread(size(64e6, 4e6, 1000), 0, 1, "float32"))
run("median", lambda x: cp.median(x), lambda y: y, spread(size(64e6, 4e6, 1000), 0, 1, "float32"))
run("medians", lambda x: cp.median(x, axis=1), lambda y: y[2], rows())
run("permutation", lambda: cp.random.permutation(size(16e6, 1e6, 1000)), lambda y: y.sum(dtype="float64"))
run("scatter", add_at, lambda y: y.sum(), *scatter_input())
run("histogram", lambda x: cp.histogram(x, 256, range=(0, 1))[0], lambda y: y[9],
    spread(size(256e6, 16e6, 1000), 0, 1, "float32"))
run("topk", lambda x: cp.sort(cp.partition(x, x.size - 100)[-100:])[::-1], lambda y: y[99],
    spread(size(64e6, 4e6, 1000), 0, 1, "float32"))
run("argmax", lambda x: x.argmax(), lambda y: y + 1, spread(size(256e6, 64e6, 1000), 0, 1, "float32"))
run("transpose", lambda x: cp.ascontiguousarray(x.T), lambda y: y[1, 4], matrix())
run("chain1000", chain1000, lambda y: y[16], *chain_input())
run("lorenz", lambda *a: orbit(runge_kutta, *a), orbit_mean, *orbit_input())

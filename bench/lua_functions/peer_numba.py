"""Numba's @vectorize and @cuda.jit, on the CPU @vectorize(target="parallel") and a parallel loop.

python peer_numba.py cpu|gpu [tiny] [workload...]: prints a line for each workload: name, milliseconds (the first
quartile), a number."""

import math
import sys
import time

import numba
import numpy as np

on_gpu = sys.argv[1] == "gpu"
tiny = "tiny" in sys.argv
names = [word for word in sys.argv[2:] if word != "tiny"]
if on_gpu:
    from numba import cuda
target = "cuda" if on_gpu else "parallel"


def size(large, small, least):
    return int(least if tiny else large if on_gpu else small)


def spread(n, low, high, dtype):
    return ((np.arange(n, dtype="float64") * 0.6180339887498949) % 1 * (high - low) + low).astype(dtype)


def to_device(x):
    return cuda.to_device(x) if on_gpu else x


def wait():
    if on_gpu:
        cuda.synchronize()


def measure(name, run, check, runs=1):
    if names and name not in names:
        return
    for _ in range(3):
        run()
    wait()
    times, begin = [], time.perf_counter()
    while len(times) < 11 or (time.perf_counter() - begin < 1 and len(times) < 301 and not tiny):
        start = time.perf_counter()
        for _ in range(runs):
            run()
        wait()
        times.append((time.perf_counter() - start) / runs * 1e3)
    print(name, "%.6g" % sorted(times)[len(times) // 4], "%.9g" % check(), flush=True)


def host(x):
    return x.copy_to_host() if on_gpu else x


def price_function(dtype):
    """The constants are of the dtype: else Numba computes in float64."""
    one, half, rate, volatility, zero = dtype(1), dtype(0.5), dtype(0.02), dtype(0.30), dtype(0)
    drift, c = dtype(0.02 + 0.5 * 0.30 * 0.30), dtype(0.2316419)
    scale = dtype(0.39894228040143267793994605993438)
    p = [dtype(v) for v in (0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429)]
    p1, p2, p3, p4, p5 = p
    device = cuda.jit(device=True) if on_gpu else numba.njit(inline="always")

    @device
    def cnd(d):
        k = one / (one + c * abs(d))
        tail = scale * math.exp(-half * d * d) * (k * (p1 + k * (p2 + k * (p3 + k * (p4 + k * p5)))))
        return one - tail if d > zero else tail

    text = "float32(float32, float32, float32)" if dtype is np.float32 else "float64(float64, float64, float64)"

    @numba.vectorize([text], target=target)
    def price(s, x, t):
        root = math.sqrt(t)
        d1 = (math.log(s / x) + drift * t) / (volatility * root)
        d2 = d1 - volatility * root
        return s * cnd(d1) - x * math.exp(-rate * t) * cnd(d2)

    return price


for name, dtype in (("black_scholes32", np.float32), ("black_scholes64", np.float64)):
    if names and name not in names:
        continue
    n = size(64e6, 4e6, 1000)
    S, X, T = spread(n, 5, 30, dtype), spread(n, 1, 100, dtype)[::-1].copy(), spread(n, 0.25, 10, dtype)
    S, X, T = to_device(S), to_device(X), to_device(T)
    price = price_function(dtype)
    result = [None]

    def run():
        result[0] = price(S, X, T)

    measure(name, run, lambda: host(result[0]).mean(dtype="float64"))

if not names or "mandelbrot" in names:
    zero, two, four = np.float32(0), np.float32(2), np.float32(4)

    @numba.vectorize(["int32(float32, float32)"], target=target)
    def escape(cx, cy):
        x, y = zero, zero
        for n in range(1, 201):
            x, y = x * x - y * y + cx, two * x * y + cy
            if x * x + y * y > four:
                return n
        return 200

    width = height = size(4096, 1024, 64)
    cx = np.broadcast_to(np.linspace(-2, 1, width, dtype="float32"), (height, width)).copy()
    cy = np.broadcast_to(np.linspace(-1.5, 1.5, height, dtype="float32").reshape(height, 1), (height, width)).copy()
    cx, cy = to_device(cx), to_device(cy)
    steps = [None]

    def run_escape():
        steps[0] = escape(cx, cy)

    measure("mandelbrot", run_escape, lambda: host(steps[0]).mean(dtype="float64"))

n = size(4096, 1024, 64)
if on_gpu and (not names or "matmul" in names):

    @cuda.jit
    def product(a, b, c):
        ta = cuda.shared.array((16, 16), numba.float32)
        tb = cuda.shared.array((16, 16), numba.float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        column, row = cuda.grid(2)
        total = np.float32(0)
        for t in range(0, a.shape[1], 16):
            ta[ty, tx] = a[row, t + tx] if row < a.shape[0] and t + tx < a.shape[1] else 0
            tb[ty, tx] = b[t + ty, column] if t + ty < b.shape[0] and column < b.shape[1] else 0
            cuda.syncthreads()
            for k in range(16):
                total += ta[ty, k] * tb[k, tx]
            cuda.syncthreads()
        if row < c.shape[0] and column < c.shape[1]:
            c[row, column] = total

    a = to_device(spread(n * n, 0, 1, "float32").reshape(n, n))
    b = to_device(spread(n * n, -1, 1, "float32").reshape(n, n))
    c = cuda.device_array((n, n), "float32")
    measure("matmul", lambda: product[(n // 16, n // 16), (16, 16)](a, b, c), lambda: abs(host(c)).mean())

if on_gpu and (not names or "call" in names):

    @cuda.jit
    def scale(f, x, y, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = f * x[i] + y[i]

    x, y, out = (to_device(np.ones(128, "float32")) for _ in range(3))
    measure("call", lambda: scale[1, 128](2.0, x, y, out), lambda: host(out).sum(), 500)

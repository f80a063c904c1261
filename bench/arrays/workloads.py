"""What the Python sides share: sizes, inputs and timing, as in ours.lua."""

import gc
import math
import statistics
import sys
import time

import numpy

TINY = "tiny" in sys.argv[1:]
ON_GPU = "cpu" not in sys.argv[1:]
LIBRARIES = "libraries" in sys.argv[1:]  # only the rows of library_rows() and sparse_products(), without the inputs of others
WANTED = [name for name in sys.argv[1:] if name not in ("tiny", "cpu", "libraries")]

R, V = 0.02, 0.30


def size(large, small, least):
    return int(least if TINY else large if ON_GPU else small)


def spread(n, low, high, dtype):
    x = numpy.arange(n, dtype="float64") * 0.6180339887498949
    return ((x - numpy.floor(x)) * (high - low) + low).astype(dtype)


def options(n, dtype):
    return spread(n, 5, 30, dtype), spread(n + 1, 1, 100, dtype)[1:].copy(), spread(n + 2, 0.25, 10, dtype)[2:].copy()


def matrix():
    n = size(16384, 4096, 32)
    return spread(n * n, 0, 1, "float32").reshape(n, n)


def rows():
    return spread(size(65536, 4096, 32) * 1024, -4, 4, "float32").reshape(-1, 1024)


def points():
    """Points, and centres among them."""
    n = size(1e6, 1e5, 300)
    centres = (spread(64 * 16, 0, 1, "float64") * 7.3 % 1).astype("float32")
    return spread(n * 16, 0, 1, "float32").reshape(n, 16), centres.reshape(64, 16)


def nearest(x, c):
    return ((x[:, None] - c) ** 2).sum(2).argmin(1)


def short_rows():
    n = size(16e6, 1e6, 100)
    return spread(n * 16, 0, 1, "float32").reshape(n, 16)


def weights():
    return spread(1024, 0, 1, "float32"), spread(1024, 1, 2, "float32")


def softmax(xp, x):
    e = xp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer_norm(xp, x, weight, bias):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / xp.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5) * weight + bias


def stencil_input():
    n = size(8192, 2048, 32)
    return spread(n * n, 0, 1, "float32").reshape(n, n)


def stencil(x):
    return 0.2 * (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])


def life_input():
    n = size(4096, 512, 32)
    return (spread(n * n, 0, 1, "float32").reshape(n, n) < 0.4).astype("uint8")


def life(roll, x):
    neighbours = -x
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            neighbours = neighbours + roll(x, (i, j), (0, 1))
    return (neighbours == 3) | ((neighbours == 2) & (x == 1))


def square_matrix(dtype, large, small):
    n = size(large, small, 32)
    return spread(n * n, 0, 8 if dtype == "int32" else 1, "float32").reshape(n, n).astype(dtype)


def batch():
    n = size(10000, 10000, 10)
    return spread(n * 32 * 32, 0, 1, "float32").reshape(n, 32, 32)


def complex_rows(rows, n):
    return spread(2 * rows * n, -1, 1, "float32").view("complex64").reshape(rows, n)


def fft_inputs():
    """Inputs of fft16m, fft2_4096 and fft1009: one long row, a picture, rows whose length is a prime."""
    n = size(4096, 1024, 32)
    return (complex_rows(1, size(2**24, 2**20, 1024)), complex_rows(n, n), complex_rows(size(10000, 1000, 3), 1009))


def dominant(batch, n):
    return spread(batch * n * n, 0, 1, "float32").reshape(batch, n, n) + numpy.eye(n, dtype="float32") * n


def positive(batch, n):
    x = dominant(batch, n)
    return x @ x.swapaxes(-1, -2)


def small_products(x):
    for _ in range(1000):
        y = x @ x
    return y


def library_rows(run, linalg, fft, mean):
    """Products, Fourier transforms and linear algebra. `mean`: of an array, in float64."""
    for name, *matrix in (("gemm", "float32", 4096, 2048), ("gemm64", "float64", 4096, 1024), ("gemm16", "float16", 4096, 256),
                          ("gemmint", "int32", 4096, 512)):
        run(name, lambda x: x @ x, lambda y: mean(y) / len(y), square_matrix(*matrix))
    run("gemmcall", small_products, mean, spread(256, 0, 1, "float32").reshape(16, 16), scale=1 / 1000)
    run("batched", lambda x: x @ x, mean, batch())
    for name, transform, x in zip(("fft16m", "fft2_4096", "fft1009"), (fft.fft, fft.fft2, fft.fft), fft_inputs()):
        run(name, transform, lambda y: mean(abs(y)) / y.shape[1] ** 0.5, x)
    linear_algebra(run, linalg, mean)


def linear_algebra(run, linalg, mean):
    """Of one matrix, and of 100,000 with 8 rows. `mean`: of an array, in float64."""
    large, middle, many = size(4096, 1024, 32), size(2048, 512, 32), size(100000, 100000, 20)
    run("inv", linalg.inv, mean, dominant(1, large))
    run("solve", linalg.solve, mean, dominant(1, large), spread(large * 64, 0, 1, "float32").reshape(1, large, 64))
    run("cholesky", linalg.cholesky, mean, positive(1, large))
    run("eigvalsh", linalg.eigvalsh, lambda y: mean(y) / middle, positive(1, middle))
    values = getattr(linalg, "svdvals", None) or (lambda x: linalg.svd(x, compute_uv=False))
    run("svdvals", values, mean, dominant(1, middle))
    run("inv8", linalg.inv, mean, dominant(many, 8))
    run("det8", linalg.det, mean, dominant(many, 8))
    run("cholesky8", linalg.cholesky, mean, positive(many, 8))
    run("qr8", lambda x: linalg.qr(x)[0], mean, dominant(size(1000, 100000, 20), 8))
    run("svdvals8", values, mean, dominant(size(1000, 100000, 20), 8))
    run("solve8", linalg.solve, mean, dominant(many, 8), spread(many * 8, 0, 1, "float32").reshape(many, 8, 1))
    run("eigh16", linalg.eigvalsh, lambda y: mean(y[:, 0]), positive(size(10000, 10000, 20), 16))
    n = size(100000, 10000, 200)
    run("lstsq", lambda a, b: linalg.lstsq(a, b, rcond=None)[0], lambda x: 100 * mean(abs(x)),
        spread(n * 64, 0, 1, "float32").reshape(n, 64), spread(n, 0, 1, "float32").reshape(n, 1))


def heads():
    n = size(512, 128, 8)
    return spread(8 * n * 16 * 64, 0, 1, "float32").reshape(8, n, 16, 64)


def scatter_input():
    n = size(16e6, 500000, 1000)
    return spread(n, 0, n, "int64"), spread(n, 0, 1, "float64")


def laplacian(sparse, n):
    """The five-point Laplacian of a grid."""
    line, unit = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n), dtype="float32"), sparse.identity(n, dtype="float32")
    return (sparse.kron(line, unit) + sparse.kron(unit, line)).tocsr()


def power_law(sparse, xp, n, count):
    """Rows with as many entries as a power of their number says."""
    k = numpy.arange(count, dtype="float64")
    row, column = (k * 0.6180339887498949 % 1) ** 3 * n, k * 0.7548776662466927 % 1 * n
    entries = xp.ones(count, dtype="float32")
    return sparse.coo_matrix((entries, (xp.asarray(row.astype("int32")), xp.asarray(column.astype("int32")))), shape=(n, n)).tocsr()


def sparse_products(run, sparse, xp):
    def mean(y):
        return abs(y).mean(dtype="float64")

    A = laplacian(sparse, size(2048, 1024, 20))
    run("spmv", lambda x: A @ x, mean, spread(A.shape[1], 0, 1, "float32"))
    A = power_law(sparse, xp, size(1e6, 250000, 1000), size(16e6, 4e6, 5000))
    run("spmv_power", lambda x: A @ x, mean, spread(A.shape[1], 0, 1, "float32"))
    B = laplacian(sparse, size(2048, 512, 20))
    run("spgemm", lambda: B @ B, lambda C: mean(C.data))


def scattered(n, dtype):
    """n values over [0, 1) without a pattern."""
    k = numpy.arange(n, dtype="float64")
    return (k * k * 0.6180339887498949 % 1).astype(dtype)


def pictures_and_signals(run, ndimage, signal, mean):
    """Parts of a picture and their distances, filters of rows, peaks. `mean`: of an array, in float64."""
    n = size(4096, 1024, 32)
    picture = scattered(n * n, "float32").reshape(n, n) > 0.55
    run("label", lambda x: ndimage.label(x)[0], lambda y: mean(y) / n, picture)
    run("edt", ndimage.distance_transform_edt, mean, ~(scattered(n * n, "float32").reshape(n, n) > 0.98))
    run("opening", lambda x: ndimage.binary_opening(x, iterations=3), lambda y: mean(y) + 1, scattered(n * n, "float32").reshape(n, n) > 0.02)
    sections = signal.butter(6, 0.1, output="sos")
    run("sosfilt", lambda x: signal.sosfilt(sections, x), mean, scattered(size(16e6, 1e6, 1000), "float64"))
    run("sosfilt1000", lambda x: signal.sosfilt(sections, x), mean, scattered(1000 * size(16384, 4096, 64), "float64").reshape(1000, -1))
    run("resample32", lambda x: signal.resample_poly(x, 3, 2), mean, scattered(size(16e6, 1e6, 1000), "float64"))
    run("peaks", lambda x: signal.find_peaks(x, prominence=0.5, distance=5)[0], lambda y: mean(y) / 1e6, scattered(size(4e6, 1e6, 1000), "float64"))


def element_rows(run, xp, sparse, special, ndimage, mean):
    """One function each: bits, sets, counts, diagonals, inverses of the normal distribution, medians of windows."""
    run("packbits", xp.packbits, mean, spread(size(64e6, 4e6, 1000), 0, 2, "uint8"))
    run("unpackbits", xp.unpackbits, mean, spread(size(64e6, 1e6, 1000), 0, 256, "uint8"))
    run("isin", xp.isin, lambda y: y.sum(), spread(size(16e6, 1e6, 1000), 0, 1e6, "int64"), spread(1000, 0, 1e6, "int64"))
    run("isin5", xp.isin, lambda y: y.sum(), numpy.floor(spread(size(16e6, 1e6, 1000), 0, 100, "float64")),
        numpy.array([3, 14, 15, 92, 65], "float64"))
    run("bincount", xp.bincount, lambda y: y[9], spread(size(64e6, 4e6, 1000), 0, 1000, "int64"))
    n = size(2048, 1024, 16)
    m = n * n
    values = [xp.asarray(x) for x in (spread(m, 1, 2, "float32"), spread(m - 1, 0, 1, "float32"), spread(m - n, 0, 1, "float32"))]
    A = sparse.diags([values[0], values[1], values[1], values[2], values[2]], [0, 1, -1, n, -n]).tocsr()
    run("diagonal", lambda: A.diagonal(), mean)
    for dtype in ("float64", "float32"):
        run("erfinv" + dtype[-2:], special.erfinv, lambda y: mean(y * y), spread(size(64e6, 1e6, 1000), -0.999, 0.999, dtype))
        run("normcdfinv" + dtype[-2:], special.ndtri, lambda y: mean(y * y), spread(size(64e6, 1e6, 1000), 0.001, 0.999, dtype))
    n = size(4096, 512, 32)
    for width in (3, 5, 7, 9):
        run(f"median{width}", lambda x: ndimage.median_filter(x, width), mean, spread(n * n, 0, 1, "float32").reshape(n, n))


def chain_input():
    n = size(1e6, 1e6, 1000)
    return spread(n, 0, 1, "float32"), spread(n + 1, 0, 1, "float32")[1:].copy()


def chain1000(a, b):
    for _ in range(1000):
        a = a * 0.99 + b
    return a


def orbit_input():
    return spread(1000, 1, 2, "float32"), spread(1000, 1, 2, "float32"), spread(1000, 20, 21, "float32")


def lorenz(x, y, z):
    return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z


def runge_kutta(x, y, z):
    h = 0.01
    a1, b1, c1 = lorenz(x, y, z)
    a2, b2, c2 = lorenz(x + 0.5 * h * a1, y + 0.5 * h * b1, z + 0.5 * h * c1)
    a3, b3, c3 = lorenz(x + 0.5 * h * a2, y + 0.5 * h * b2, z + 0.5 * h * c2)
    a4, b4, c4 = lorenz(x + h * a3, y + h * b3, z + h * c3)
    s = h / 6
    return x + s * (a1 + 2 * a2 + 2 * a3 + a4), y + s * (b1 + 2 * b2 + 2 * b3 + b4), z + s * (c1 + 2 * c2 + 2 * c3 + c4)


def orbit(step, x, y, z):
    for _ in range(200):
        x, y, z = step(x, y, z)
    return x


def orbit_mean(x):
    """Orbits agree to this: they are chaotic."""
    return math.floor(float(x.mean()) * 4 + 0.5)


def cnd(xp, d):
    k = 1 / (1 + 0.2316419 * xp.abs(d))
    tail = (0.39894228040143267793994605993438 * xp.exp(-0.5 * d * d)
            * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))))
    return xp.where(d > 0, 1 - tail, tail)


def black_scholes(xp, S, X, T):
    root = xp.sqrt(T)
    d1 = (xp.log(S / X) + (R + 0.5 * V * V) * T) / (V * root)
    d2 = d1 - V * root
    c1, c2 = cnd(xp, d1), cnd(xp, d2)
    discounted = X * xp.exp(-R * T)
    return S * c1 - discounted * c2, discounted * (1 - c2) - S * (1 - c1)


def ten_times(function, *arguments):
    for _ in range(10):
        result = function(*arguments)
    return result


def price(mean):
    """Prices of a simulation agree to this."""
    return math.floor(float(mean) * math.exp(-R) / (10 if TINY else 0.5) + 0.5)


def square(mean_square):
    """Random numbers of a distribution agree to this."""
    return math.floor(2 * float(mean_square) + 0.5)


OFFERED = {"tinygraph", "tinydevice", "hestondevice"}  # the rows that a side has had so far, and those that are gpulua's alone


def finished():
    """Whether a side has had all rows that are wanted, so that the inputs of others need not be made."""
    return bool(WANTED) and OFFERED.issuperset(WANTED)


def complain(name, error):
    """Another side's failure is a missing number here, not the end of the bench."""
    print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", file=sys.stderr)


def measure(name, run, sync, check, scale=1.0):
    """Prints a line as ours.lua does; a workload that fails is left out, and says why."""
    OFFERED.add(name)
    if WANTED and name not in WANTED:
        return
    try:
        for _ in range(3):
            result = run()
        sync(result)
        times, begin = [], time.perf_counter()
        while len(times) < 5 or (time.perf_counter() - begin < 0.333 and len(times) < 1000):
            start = time.perf_counter()
            result = run()
            sync(result)
            times.append(time.perf_counter() - start)
        print(f"{name} {statistics.median(times) * 1e3 * scale:.6g} {float(check(result)):.9g}", flush=True)
    except Exception as error:
        complain(name, error)
    gc.collect()


def measure_in_place(name, function, sync, check, copy, host):
    """Of a function that writes to its arguments. The number to agree on is that of one call from the start."""
    arrays = [copy(x) for x in host]
    measure(name, lambda: function(*arrays), sync, lambda _: check(function(*(copy(x) for x in host))))


def lazily(run):
    """`run` for a function that makes the arrays: those of a row that is not wanted are not made, and one that fails ends no other."""
    def row(name, function, check, inputs=tuple, **options):
        OFFERED.add(name)
        if WANTED and name not in WANTED:
            return
        try:
            run(name, function, check, *inputs(), **options)
        except Exception as error:
            complain(name, error)

    return row

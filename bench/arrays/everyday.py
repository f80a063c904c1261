"""Everyday work: the inputs and formulas that the Python sides share, as in everyday_rows.lua. Inputs are functions, for lazily()."""

from workloads import *


def adam_input():
    """Parameters, the means of their gradient and of its square, the gradient."""
    n = size(64e6, 4e6, 1000)
    return (spread(n, -1, 1, "float32"), spread(n, 0, 0.1, "float32"), spread(n, 0.1, 1, "float32"),
            spread(n + 7, 0, 1, "float32")[7:].copy())


def loss_input():
    n = size(65536, 4096, 32)
    return spread(n * 1000, -4, 4, "float32").reshape(n, 1000), spread(n, 0, 1000, "int64")


# Lattice Boltzmann, D2Q9: each population's velocity along the last and the first axis, and its weight.
VELOCITIES = ((0, 0, 4 / 9), (1, 0, 1 / 9), (0, 1, 1 / 9), (-1, 0, 1 / 9), (0, -1, 1 / 9),
              (1, 1, 1 / 36), (-1, 1, 1 / 36), (-1, -1, 1 / 36), (1, -1, 1 / 36))


def populations():
    n = size(2048, 512, 32)
    return [weight * spread(n * n, 0.9, 1 + (i + 1) / 50, "float32").reshape(n, n) for i, (_, _, weight) in enumerate(VELOCITIES)]


def collide_and_stream(roll, *f):
    density = f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8]
    ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / density
    uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / density
    rest, moved = 1 - 1.5 * (ux * ux + uy * uy), []
    for population, (cx, cy, weight) in zip(f, VELOCITIES):
        along = cx * ux + cy * uy
        equilibrium = weight * density * (rest + 3 * along + 4.5 * along * along)
        moved.append(roll(roll(population + 0.6 * (equilibrium - population), cx, 1), cy, 0))
    return moved


def population_value(moved):
    return 1000 * moved[5][1, 2]


def bodies():
    n = size(16384, 2048, 64)
    return (spread(n * 3, 0, 1, "float32").reshape(n, 3),)


def forces(x):
    apart = x[None] - x[:, None]
    squares = (apart * apart).sum(2) + 0.01
    return (apart / squares[:, :, None] ** 1.5).sum(1)


def mean_force(y):
    return abs(y).mean() / len(y)


def density_input():
    """Points, and the samples."""
    return spread(size(1000, 100, 10), 0, 1, "float32"), spread(size(1e6, 1e5, 1000), 0, 1, "float32")


def kernel_density(xp, points, samples):
    width = 0.05
    distances = (points[:, None] - samples) / width
    return xp.exp(-0.5 * distances ** 2).mean(1) / (width * math.sqrt(2 * math.pi))


def group_input():
    """Keys below 1000, and weights."""
    n = size(64e6, 4e6, 20000)
    return spread(n, 0, 1000, "int32"), spread(n + 1, 0, 1, "float32")[1:].copy()


def kernel_input():
    """A picture, and 5 x 5 weights."""
    return picture(4096, 1024) + (spread(25, 0, 0.1, "float32").reshape(5, 5),)


def picture(large, small):
    n = size(large, small, 32)
    return (spread(n * n, 0, 1, "float32").reshape(n, n),)


def least_squares():
    """A matrix, the right-hand side, and where descents start."""
    return spread(64 * 8, 0, 1, "float32").reshape(64, 8), spread(64, 0, 1, "float32"), numpy.zeros(8, "float32")


def descend(A, b, w):
    return w - 0.01 * (A.T @ (A @ w - b))


def descent(step, A, b, w):
    for _ in range(1000):
        w = step(A, b, w)
    return w


def heston_input():
    """Logarithms of prices, and variances."""
    n = size(1e6, 1e5, 1000)
    return numpy.zeros(n, "float32"), numpy.full(n, 0.09, "float32")


def heston_step(xp, z, noise, x, v):
    """Of Euler's method with full truncation; z and noise: normal numbers."""
    dt, rate, speed, mean, volatility, correlation = 1 / 50, 0.02, 1.5, 0.09, 0.5, -0.7
    w = correlation * z + math.sqrt(1 - correlation ** 2) * noise
    variance = xp.maximum(v, 0)
    root = xp.sqrt(variance * dt)
    return x + (rate - 0.5 * variance) * dt + root * z, v + speed * (mean - variance) * dt + volatility * root * w


def heston(step, payoff, x, v):
    for _ in range(50):
        x, v = step(x, v)
    return payoff(x)


def mean_payoff(xp, x):
    return xp.maximum(100 * xp.exp(x) - 101, 0).mean()


def rounded(value):
    """What is drawn at random agrees to this."""
    return math.floor(float(value) / (10 if TINY else 1) + 0.5)


def waves():
    """A grid, and the one before it."""
    n = size(4096, 1024, 32)
    return spread(n * n, 0, 1, "float32").reshape(n, n), spread(n * n, 1, 2, "float32").reshape(n, n)


def wave(roll, u, before):
    around = roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1)
    return 2 * u - before + 0.25 * (around - 4 * u)


def power_input():
    n = size(4096, 1024, 32)
    return spread(n * n, 0, 1, "float32").reshape(n, n), spread(n, 0, 1, "float32")


def power_step(norm, A, x):
    y = A @ x
    return y / norm(y)


def power_iteration(step, A, x):
    for _ in range(100):
        x = step(A, x)
    return x


def power_value(x):
    return x[2] * math.sqrt(len(x))


DRAWS = size(16e6, 1e6, 1000)


def probabilities():
    weight = numpy.arange(1, size(1e6, 1e5, 1000) + 1, dtype="float64")
    return (weight / weight.sum(),)


def mean_drawn(mean):
    """The mean position that was drawn, counted from 0, as a percentage of the last."""
    return rounded(100 * (float(mean) + 1) / size(1e6, 1e5, 1000))


def masked_input():
    return (spread(size(256e6, 16e6, 1000), 0, 1, "float32"),)


def everyday_rows(row, update, xp, normal, ndimage, choose):
    """The rows of NumPy and of CuPy. `normal`: as many normal numbers as an array has; `choose`: draws positions by probabilities."""
    def adam(p, m, v, g):
        m *= 0.9
        m += 0.1 * g
        v *= 0.999
        v += 0.001 * g * g
        p -= 0.1 * m / (xp.sqrt(v) + 1e-8)
        return p

    def loss(x, label):
        greatest = x.max(axis=1, keepdims=True)
        logs = xp.log(xp.exp(x - greatest).sum(axis=1)) + greatest[:, 0]
        return (logs - x[xp.arange(len(x)), label]).mean()

    def step(x, v):
        return heston_step(xp, normal(x), normal(x), x, v)

    def masked(x):
        x[x > 0.5] = 0.25
        return x

    update("adam", adam, lambda p: 100 * p.mean(dtype="float64"), adam_input)
    row("xent", loss, lambda y: y, loss_input)
    row("lbm", lambda *f: collide_and_stream(xp.roll, *f), population_value, populations)
    row("nbody", forces, mean_force, bodies)
    row("kde", lambda *a: kernel_density(xp, *a), lambda y: y[2], density_input)
    row("groupsum", lambda keys, weights: xp.bincount(keys, weights=weights), lambda y: y[9], group_input)
    row("conv5", lambda x, weights: ndimage.convolve(x, weights), lambda y: y[9, 10], kernel_input)
    row("tinyloop", lambda *a: descent(descend, *a), lambda w: 10 * w[2], least_squares, scale=1 / 1000)
    row("heston", lambda *a: heston(step, lambda x: mean_payoff(xp, x), *a), rounded, heston_input)
    row("wave", lambda *a: wave(xp.roll, *a), lambda y: y[1, 2], waves)
    row("gemv100", lambda *a: power_iteration(lambda A, x: power_step(xp.linalg.norm, A, x), *a), power_value, power_input)
    row("choice", choose, lambda y: mean_drawn(y.mean()), probabilities)
    update("masked", masked, lambda x: x.sum(dtype="float64"), masked_input)

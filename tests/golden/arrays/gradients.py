"""Writes gradients.npz: arguments of composed functions, their values and gradients in float64 by JAX; PyTorch has to agree to 1e-11.

For a function `attention` with three arguments: attention.1 to attention.3, attention.value, attention.d1 to attention.d3.
tests/lua/composed_gradients_spec.lua has the same functions. `gradients.py conventions` prints what JAX and PyTorch give where a
derivative is a matter of convention (ties, masks, zeros, complex numbers): docs/site/from-jax-and-pytorch.md has the table.
"""

import math
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import torch

jax.config.update("jax_enable_x64", True)


class Jax:
    exp, log, log1p, sin, cos, tanh, sqrt, where, maximum, minimum = (
        jnp.exp, jnp.log, jnp.log1p, jnp.sin, jnp.cos, jnp.tanh, jnp.sqrt, jnp.where, jnp.maximum, jnp.minimum)
    abs, arctan2, hypot, clip, roll, einsum, stack, concat = (
        jnp.abs, jnp.arctan2, jnp.hypot, jnp.clip, jnp.roll, jnp.einsum, jnp.stack, jnp.concatenate)
    cumsum, cumprod, cummax = jnp.cumsum, jnp.cumprod, jax.lax.cummax
    erf, lgamma, ndtr, i0e, logsumexp = (
        jax.scipy.special.erf, jax.scipy.special.gammaln, jax.scipy.special.ndtr, jax.scipy.special.i0e, lambda x, axis: jax.scipy.special.logsumexp(x, axis))
    sum, mean, max, min, prod, sort = jnp.sum, jnp.mean, jnp.max, jnp.min, jnp.prod, jnp.sort
    constant = staticmethod(jnp.asarray)
    cholesky, solve, inv, det, eigvalsh, slogdet = (
        jnp.linalg.cholesky, jnp.linalg.solve, jnp.linalg.inv, jnp.linalg.det, jnp.linalg.eigvalsh, lambda a: jnp.linalg.slogdet(a)[1])
    expm, fft, rfft, svdvals = (
        jax.scipy.linalg.expm, jnp.fft.fft, jnp.fft.rfft, lambda a: jnp.linalg.svd(a, compute_uv=False))
    T = staticmethod(lambda a: a.T)


class Torch:
    exp, log, log1p, sin, cos, tanh, sqrt = torch.exp, torch.log, torch.log1p, torch.sin, torch.cos, torch.tanh, torch.sqrt
    abs, arctan2, hypot, einsum, stack = torch.abs, torch.arctan2, torch.hypot, torch.einsum, torch.stack
    erf, lgamma, ndtr, i0e, logsumexp = torch.erf, torch.lgamma, torch.special.ndtr, torch.special.i0e, torch.logsumexp
    concat = staticmethod(lambda parts: torch.cat(parts))
    where = staticmethod(torch.where)
    cumsum, cumprod = torch.cumsum, torch.cumprod
    cummax = staticmethod(lambda x, axis: torch.cummax(x, axis)[0])
    maximum = staticmethod(lambda x, y: torch.maximum(x, torch.as_tensor(y, dtype=torch.float64).expand_as(x)))
    minimum = staticmethod(lambda x, y: torch.minimum(x, torch.as_tensor(y, dtype=torch.float64).expand_as(x)))
    clip = torch.clip
    roll = torch.roll
    constant = staticmethod(torch.from_numpy)
    cholesky, solve, inv, det, eigvalsh, slogdet = (
        torch.linalg.cholesky, torch.linalg.solve, torch.linalg.inv, torch.linalg.det, torch.linalg.eigvalsh,
        lambda a: torch.linalg.slogdet(a)[1])
    expm, fft, rfft, svdvals = torch.linalg.matrix_exp, torch.fft.fft, torch.fft.rfft, torch.linalg.svdvals
    T = staticmethod(lambda a: a.T)

    @staticmethod
    def sum(x, axis=None, keepdims=False):
        return torch.sum(x) if axis is None else torch.sum(x, axis, keepdim=keepdims)

    @staticmethod
    def mean(x, axis=None, keepdims=False):
        return torch.mean(x) if axis is None else torch.mean(x, axis, keepdim=keepdims)

    @staticmethod
    def max(x, axis=None, keepdims=False):
        return torch.amax(x) if axis is None else torch.amax(x, axis, keepdim=keepdims)

    @staticmethod
    def min(x, axis=None, keepdims=False):
        return torch.amin(x) if axis is None else torch.amin(x, axis, keepdim=keepdims)

    @staticmethod
    def prod(x, axis=None):
        return torch.prod(x) if axis is None else torch.prod(x, axis)

    @staticmethod
    def sort(x, axis=-1):
        return torch.sort(x, dim=axis, stable=True)[0]


rng = np.random.default_rng(34)
cases = {}


def case(*inputs):
    """A function of F, the library, and of arrays, with its arguments."""
    def add(function):
        cases[function.__name__] = (function, [np.asarray(x, "float64") for x in inputs])
        return function

    return add


def normal(*shape):
    return rng.normal(size=shape).round(3)


def uniform(low, high, *shape):
    return rng.uniform(low, high, shape).round(3)


def positive_definite(n):
    a = normal(n, n)
    return a @ a.T + n * np.eye(n)


# ---- networks -----------------------------------------------------------------------------------------------------------------------


@case(normal(4, 5), np.eye(5)[[0, 2, 4, 2]])
def cross_entropy(F, x, target):
    return F.mean(F.logsumexp(x, 1) - F.sum(x * target, 1))


@case(normal(3, 6), normal(6), normal(6))
def layer_norm(F, x, w, b):
    centred = x - F.mean(x, 1, keepdims=True)
    y = centred / F.sqrt(F.mean(centred * centred, 1, keepdims=True) + 1e-5) * w + b
    return F.sum(F.sin(y))


@case(normal(3, 6), normal(6))
def rms_norm(F, x, w):
    return F.sum(F.cos(x / F.sqrt(F.mean(x * x, 1, keepdims=True) + 1e-6) * w))


@case(normal(4, 3), normal(5, 3), normal(5, 2))
def attention(F, q, k, v):
    s = F.einsum("id,jd->ij", q, k) / math.sqrt(3)
    p = F.exp(s - F.logsumexp(s, 1)[:, None])
    return F.sum(F.einsum("ij,jd->id", p, v) ** 2)


@case(normal(7))
def gelu(F, x):
    return F.sum(0.5 * x * (1 + F.erf(x / math.sqrt(2))))


@case(normal(7))
def silu(F, x):
    return F.sum(x / (1 + F.exp(-x)))


@case(normal(5, 4), normal(4, 3), normal(3), normal(3, 2))
def perceptron(F, x, w, b, v):
    return F.mean(F.tanh(F.tanh(x @ w + b) @ v) ** 2)


@case(normal(6), normal(6), normal(4, 3))
def lstm(F, x, h, w):
    c, y = h * 0.1, h * 0.2
    for _ in range(3):
        gate = 1 / (1 + F.exp(-(w[0, 0] * x + w[1, 0] * y + w[2, 0])))
        forget = 1 / (1 + F.exp(-(w[0, 1] * x + w[1, 1] * y + w[2, 1])))
        c = forget * c + gate * F.tanh(w[0, 2] * x + w[1, 2] * y + w[2, 2])
        y = F.tanh(c) * w[3, 0]
    return F.sum(y * y)


@case(normal(8), normal(3))
def convolution(F, x, w):
    y = w[0] * x[:-2] + w[1] * x[1:-1] + w[2] * x[2:]
    return F.sum(F.maximum(y, 0) ** 2)


@case(normal(5, 3), normal(4, 3))
def contrastive(F, x, y):
    x, y = x / F.sqrt(F.sum(x * x, 1, keepdims=True)), y / F.sqrt(F.sum(y * y, 1, keepdims=True))
    s = 5 * (x @ F.T(y))
    return F.mean(F.logsumexp(s, 1)) - F.mean(s[:, 0])


@case(normal(6, 4))
def embedding(F, table):
    return F.sum(F.sin(table[np.array([0, 3, 3, 5, 1, 3])]) * F.constant(np.arange(1.0, 7.0))[:, None])


@case(normal(9), normal(9))
def huber(F, x, y):
    d = F.abs(x - y)
    return F.mean(F.where(d < 0.7, 0.5 * d * d, 0.7 * (d - 0.35)))


# ---- statistics ---------------------------------------------------------------------------------------------------------------------


@case(normal(6, 3), normal(3), np.array([0, 1, 1, 0, 1, 1.0]))
def logistic(F, x, w, y):
    z = x @ w
    return F.mean(F.maximum(z, 0) - z * y + F.log1p(F.exp(-F.abs(z))))


@case(normal(6, 3), normal(3), np.array([0, 3, 1, 2, 5, 1.0]))
def poisson(F, x, w, y):
    z = x @ w
    return F.mean(F.exp(z) - y * z + F.lgamma(y + 1))


@case(normal(8), normal(3), uniform(0.5, 2, 3), normal(3))
def mixture(F, x, mean, scale, weight):
    log_density = -0.5 * ((x[:, None] - mean) / scale) ** 2 - F.log(scale) - 0.5 * math.log(2 * math.pi)
    return -F.sum(F.logsumexp(log_density + weight - F.logsumexp(weight, 0), 1))


@case(normal(8), uniform(2, 5, 1))
def student(F, x, nu):
    return -F.sum(F.lgamma((nu + 1) / 2) - F.lgamma(nu / 2) - 0.5 * F.log(nu * math.pi) - (nu + 1) / 2 * F.log1p(x * x / nu))


@case(uniform(0.1, 0.9, 6), uniform(1, 3, 1), uniform(1, 3, 1))
def beta(F, x, a, b):
    return F.sum((a - 1) * F.log(x) + (b - 1) * F.log1p(-x) - F.lgamma(a) - F.lgamma(b) + F.lgamma(a + b))


@case(uniform(0.3, 3, 6), uniform(1, 3, 1))
def entropy_of_gamma(F, x, k):
    return F.sum(k - F.log(x) + F.lgamma(k) + (1 - k) * x)


@case(uniform(-3, 3, 6), uniform(0.5, 3, 1), normal(1))
def von_mises(F, x, kappa, mean):
    return F.sum(kappa * (F.cos(x - mean) - 1) - F.log(2 * math.pi * F.i0e(kappa)))


@case(uniform(0.1, 1, 4), uniform(0.5, 3, 4))
def dirichlet(F, x, a):
    p = x / F.sum(x)
    return F.sum((a - 1) * F.log(p)) + F.lgamma(F.sum(a)) - F.sum(F.lgamma(a))


@case(normal(9), normal(9))
def correlation(F, x, y):
    x, y = x - F.mean(x), y - F.mean(y)
    return F.sum(x * y) / F.sqrt(F.sum(x * x) * F.sum(y * y))


@case(normal(7, 3))
def log_determinant(F, x):
    centred = x - F.mean(x, 0)
    c = F.T(centred) @ centred / 6 + F.constant(0.1 * np.eye(3))
    return F.slogdet(c)


@case(uniform(0, 1, 5), normal(5), uniform(0.5, 1, 1), uniform(0.1, 0.5, 1))
def gaussian_process(F, x, y, length, noise):
    k = F.exp(-0.5 * ((x[:, None] - x) / length) ** 2) + noise * F.constant(np.eye(5))
    low = F.cholesky(k)
    return 0.5 * F.sum(y * F.solve(k, y)) + F.sum(F.log(F.einsum("ii->i", low)))


@case(normal(8))
def order_statistics(F, x):
    return F.sum(F.sort(x) * F.constant(np.linspace(-1, 1, 8)))


@case(normal(5, 4))
def row_maximum(F, x):
    return F.sum(F.max(x, 1) ** 2) - F.sum(F.min(x, 0))


# ---- finance ------------------------------------------------------------------------------------------------------------------------


@case(uniform(80, 120, 4), uniform(90, 110, 4), uniform(0.2, 2, 4), uniform(0.01, 0.05, 1), uniform(0.1, 0.4, 4))
def call_price(F, s, k, t, r, v):
    deviation = v * F.sqrt(t)
    d1 = (F.log(s / k) + (r + 0.5 * v * v) * t) / deviation
    return F.sum(s * F.ndtr(d1) - k * F.exp(-r * t) * F.ndtr(d1 - deviation))


NOISE = rng.normal(size=(2, 12, 16)).round(3)


@case([0.04], [1.5], [0.06], [0.4], [-0.6])
def heston_paths(F, v0, speed, mean, noise, rho):
    z = F.constant(NOISE)
    x, v, dt = 0.0, v0 + 0 * z[0, 0], 1 / 12
    for i in range(12):
        positive = F.maximum(v, 1e-3)
        root = F.sqrt(positive * dt)
        x = x - 0.5 * positive * dt + root * z[0, i]
        v = v + speed * (mean - positive) * dt + noise * root * (rho * z[0, i] + F.sqrt(1 - rho * rho) * z[1, i])
    return F.mean(F.maximum(100 * F.exp(x) - 95, 0))


@case([100.0], [0.3])
def asian_option(F, s0, v):
    steps = (-0.5 * v * v) / 12 + v * math.sqrt(1 / 12) * F.constant(NOISE[0])
    return F.mean(F.maximum(F.mean(s0 * F.exp(F.cumsum(steps, 0)), 0) - 98, 0))


@case(uniform(-0.05, 0.05, 10))
def drawdown(F, returns):
    wealth = F.cumprod(1 + returns, 0)
    return F.mean(F.cummax(wealth, 0) / wealth)


@case(uniform(0.01, 0.05, 6), uniform(1, 5, 6))
def bond_curve(F, rates, flows):
    discount = F.exp(-F.cumsum(rates, 0))
    return F.sum(flows * discount) / F.sum(discount)


@case(uniform(0.1, 1, 4), normal(4, 4))
def portfolio(F, weights, factors):
    w = weights / F.sum(weights)
    c = factors @ F.T(factors)
    risk = F.sqrt(w @ c @ w)
    share = w * (c @ w) / risk
    return F.sum((share - risk / 4) ** 2)


@case(normal(10), [0.1], [0.2], [0.7])
def garch(F, returns, omega, alpha, persistence):
    v, total = omega / (1 - alpha - persistence), 0
    for i in range(10):
        total = total + F.log(v) + returns[i] ** 2 / v
        v = omega + alpha * returns[i] ** 2 + persistence * v
    return 0.5 * F.sum(total)


@case(normal(8), [0.8], [0.5], [0.3])
def kalman_filter(F, y, a, q, r):
    m, p, total = 0 * a, 1 + 0 * a, 0
    for i in range(8):
        m, p = a * m, a * a * p + q
        s = p + r
        total = total + 0.5 * (F.log(s) + (y[i] - m) ** 2 / s)
        gain = p / s
        m, p = m + gain * (y[i] - m), (1 - gain) * p
    return F.sum(total)


# ---- physics ------------------------------------------------------------------------------------------------------------------------


@case([1.0, 1.5], [1.0, 0.5], [20.0, 22.0], [10.0], [28.0])
def lorenz(F, x, y, z, sigma, rho):
    def slope(x, y, z):
        return sigma * (y - x), x * (rho - z) - y, x * y - 8 / 3 * z

    h = 0.02
    for _ in range(10):
        k = slope(x, y, z)
        m = slope(x + 0.5 * h * k[0], y + 0.5 * h * k[1], z + 0.5 * h * k[2])
        x, y, z = x + h * m[0], y + h * m[1], z + h * m[2]
    return F.sum(x * x + y - z)


@case(uniform(-1, 1, 3), uniform(-1, 1, 3), [1.3])
def pendulum(F, q, p, length):
    for _ in range(15):
        p = p - 0.05 * F.sin(q) / length
        q = q + 0.1 * p
        p = p - 0.05 * F.sin(q) / length
    return F.sum(0.5 * p * p - F.cos(q) / length)


@case(uniform(0, 3, 5, 3))
def lennard_jones(F, x):
    d = x[:, None] - x
    mask = F.constant(np.eye(5)) > 0
    r2 = F.where(mask, F.constant(np.ones((5, 5))), F.sum(d * d, 2))
    s6 = 1 / (r2 * r2 * r2)
    return F.sum(F.where(mask, F.constant(np.zeros((5, 5))), 2 * (s6 * s6 - s6)))


@case(uniform(-1, 1, 5, 2), uniform(0.5, 1, 5))
def coulomb(F, x, charge):
    d = x[:, None] - x
    r = F.sqrt(F.sum(d * d, 2) + 0.01)
    return 0.5 * F.sum(F.einsum("i,j->ij", charge, charge) / r)


@case(normal(12))
def heat(F, u):
    for _ in range(5):
        u = u + 0.2 * (F.roll(u, 1) - 2 * u + F.roll(u, -1))
    return F.sum(u ** 4)


@case(normal(12))
def burgers(F, u):
    for _ in range(4):
        u = u - 0.05 * u * (F.roll(u, -1) - F.roll(u, 1)) + 0.02 * (F.roll(u, 1) - 2 * u + F.roll(u, -1))
    return F.sum(u * u)


@case(normal(5, 6))
def total_variation(F, x):
    dx, dy = x[1:, :-1] - x[:-1, :-1], x[:-1, 1:] - x[:-1, :-1]
    return F.sum(F.sqrt(dx * dx + dy * dy + 1e-3))


@case(normal(16))
def spectrum(F, x):
    y = F.fft(x)
    return F.sum(F.abs(y) ** 2 * F.constant(np.arange(16.0))) + F.sum(F.log(F.abs(F.rfft(x * x)) + 1))


@case(uniform(0.2, 2, 4), uniform(0.2, 2, 4))
def polar(F, x, y):
    return F.sum(F.hypot(x, y) * F.arctan2(y, x))


@case(uniform(-1, 1, 4))
def springs(F, x):
    length = F.abs(x[1:] - x[:-1])
    return F.sum((length - 0.5) ** 2) + F.sum(F.clip(x, -0.5, 0.5))


# ---- linear algebra -----------------------------------------------------------------------------------------------------------------


@case(normal(4, 4) + 4 * np.eye(4), normal(4))
def solution(F, a, b):
    return F.sum(F.sin(F.solve(a, b)))


@case(normal(4, 4) + 4 * np.eye(4))
def inverse(F, a):
    return F.sum(F.inv(a) ** 2)


@case(normal(4, 4))
def determinant(F, a):
    return F.det(a)


@case(positive_definite(4))
def eigenvalues(F, a):
    return F.sum(F.log(F.eigvalsh(0.5 * (a + F.T(a)))) ** 2)


@case(normal(5, 3))
def nuclear_norm(F, a):
    return F.sum(F.svdvals(a))


@case(0.3 * normal(3, 3))
def exponential(F, a):
    return F.sum(F.expm(a) ** 2)


@case(positive_definite(4))
def factor(F, a):
    return F.sum(F.sin(F.cholesky(0.5 * (a + F.T(a)))))


@case(normal(4, 4))
def trace_of_cube(F, a):
    return F.einsum("ij,jk,ki->", a, a, a)


@case(normal(3, 4), normal(4, 5, 2), normal(5))
def bilinear(F, a, b, c):
    return F.sum(F.tanh(F.einsum("ij,jkl,k->il", a, b, c)))


@case(normal(4), normal(4, 4))
def quadratic(F, x, a):
    return x @ a @ x


@case(normal(6, 3), normal(6), [0.3])
def ridge(F, x, y, penalty):
    w = F.solve(F.T(x) @ x + penalty * F.constant(np.eye(3)), F.T(x) @ y)
    return F.sum((x @ w - y) ** 2) + F.sum(w ** 4)


@case(normal(2, 3, 3) + 3 * np.eye(3), normal(2, 3, 2))
def batched(F, a, b):
    return F.sum(F.solve(a, b) ** 3)


# ---- plain ones ---------------------------------------------------------------------------------------------------------------------


@case(uniform(-2, 2, 5))
def rosenbrock(F, x):
    return F.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@case(uniform(-2, 2, 5))
def rastrigin(F, x):
    return F.sum(x * x - 10 * F.cos(2 * math.pi * x) + 10)


@case(uniform(-2, 2, 6))
def ackley(F, x):
    return -20 * F.exp(-0.2 * F.sqrt(F.mean(x * x))) - F.exp(F.mean(F.cos(2 * math.pi * x)))


@case(uniform(0.5, 2, 4), uniform(-1, 2, 4))
def powers(F, x, y):
    return F.sum(x ** y + x ** 3 - 2.0 ** y)


@case([1.5, 0.0, -0.7, 2.0])
def product(F, x):
    return F.prod(x) + F.prod(x[2:])


@case(normal(6))
def masked_root(F, x):
    safe = F.where(x > 0, x, 1 + 0 * x)
    return F.sum(F.where(x > 0, F.sqrt(safe), 0 * x))


@case(normal(3, 4), normal(3, 2))
def joined(F, x, y):
    return F.sum(F.sin(F.concat([F.T(x), F.T(y)])) * F.constant(np.arange(18.0).reshape(6, 3)))


@case(normal(5), normal(5))
def stacked(F, x, y):
    return F.sum(F.prod(F.stack([x, y, x + y]), 0))


def write():
    arrays, worst = {"noise": NOISE}, 0
    for name, (function, inputs) in cases.items():
        positions = tuple(range(len(inputs)))
        scalar = lambda library: lambda *a: library.sum(function(library, *a))
        value, gradient = jax.value_and_grad(scalar(Jax), positions)(*map(jnp.asarray, inputs))
        tensors = [torch.tensor(x, requires_grad=True) for x in inputs]
        other = scalar(Torch)(*tensors)
        other.backward()
        arrays[f"{name}.value"] = np.asarray(value)
        for i, (x, g, tensor) in enumerate(zip(inputs, gradient, tensors), 1):
            g = np.asarray(g)
            difference = np.abs(g - tensor.grad.numpy()).max() / max(1, np.abs(g).max())
            if not difference < 1e-11:
                sys.exit(f"{name}: JAX and PyTorch differ by {difference} in the derivative by argument {i}")
            worst = max(worst, difference)
            arrays[f"{name}.{i}"], arrays[f"{name}.d{i}"] = x, g
    np.savez_compressed(pathlib.Path(__file__).with_name("gradients.npz"), **arrays)
    print(len(cases), "functions, JAX and PyTorch agree to", worst)


# ---- conventions --------------------------------------------------------------------------------------------------------------------


def conventions():
    """Prints a row for each question: what JAX and PyTorch give."""
    def row(what, of_jax, of_torch, *inputs):
        tensors = [torch.tensor(x, requires_grad=True) for x in inputs]
        of_torch(*tensors).backward()
        g = jax.grad(of_jax, tuple(range(len(inputs))))(*map(jnp.asarray, inputs))
        print("|", what, "|", ", ".join(str(np.asarray(x)) for x in g), "|", ", ".join(str(x.grad.numpy()) for x in tensors), "|")

    zero, two = 0.0, np.array([2.0, 2.0])
    row("abs(0)", jnp.abs, torch.abs, zero)
    row("sign(0)", jnp.sign, torch.sign, zero)
    row("maximum(x, 0) at 0", lambda x: jnp.maximum(x, 0.0), lambda x: torch.clamp(x, min=0), zero)
    row("relu at 0", jax.nn.relu, torch.relu, zero)
    row("maximum(x, y) at x = y", lambda x, y: jnp.maximum(x, y), torch.maximum, 1.0, 1.0)
    row("clip(x, 0, 1) at 0", lambda x: jnp.clip(x, 0.0, 1.0), lambda x: torch.clip(x, 0, 1), zero)
    row("max of equal elements", jnp.max, torch.amax, two)
    row("sqrt(x) at 0", jnp.sqrt, torch.sqrt, zero)
    row("where(x > 0, sqrt(x), 0) at 0", lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0), lambda x: torch.where(x > 0, torch.sqrt(x), 0.0), zero)
    row("norm of zeros", lambda x: jnp.sqrt(jnp.sum(x * x)), lambda x: torch.sqrt(torch.sum(x * x)), 0 * two)
    row("linalg.norm of zeros", jnp.linalg.norm, torch.linalg.norm, 0 * two)
    row("x ^ 0 at 0", lambda x: x ** jnp.asarray(0.0), lambda x: x ** torch.tensor(0.0), zero)
    row("x ^ y at (0, 2)", lambda x, y: x ** y, lambda x, y: x ** y, 0.0, 2.0)
    row("x ^ y at (0, 0)", lambda x, y: x ** y, lambda x, y: x ** y, 0.0, 0.0)
    row("prod with one 0", jnp.prod, torch.prod, np.array([0.0, 3.0]))
    row("atan2(0, 0)", jnp.arctan2, torch.arctan2, 0.0, 0.0)
    row("hypot(0, 0)", jnp.hypot, torch.hypot, 0.0, 0.0)
    row("floor", lambda x: jnp.floor(x), torch.floor, 0.5)
    row("mod(x, y) at (5, 3)", lambda x, y: jnp.mod(x, y), torch.remainder, 5.0, 3.0)
    row("sinc(0)", jnp.sinc, torch.sinc, zero)
    row("abs of 3 + 4i", lambda z: jnp.abs(z), torch.abs, 3 + 4j)
    row("real(z * z) at 1 + 2i", lambda z: jnp.real(z * z), lambda z: torch.real(z * z), 1 + 2j)


if __name__ == "__main__":
    conventions() if "conventions" in sys.argv[1:] else write()

import functools

import jax
import jax.numpy as jnp

from gradients import *
from solvers import *

try:
    import diffrax
except ImportError:
    diffrax = None

jax.config.update("jax_enable_x64", True)


def sync(result):
    jax.block_until_ready(result)


def run(name, function, check, *host, scale=1.0, times=1):
    arrays = [jnp.asarray(x) for x in host]
    function = jax.jit(function)
    measure(name, lambda: ten_times(function, *arrays) if times == 10 else function(*arrays), sync, check, scale)


def run_in_place(name, function, check, *host, donated):
    """Of a function that gives new values of its first arguments, as many as are donated, which take their memory."""
    arrays, function = [jnp.array(x) for x in host], jax.jit(function, donate_argnums=tuple(range(donated)))

    def step():
        arrays[:donated] = function(*arrays)
        return arrays[0]

    measure(name, step, sync, lambda _: check(function(*(jnp.array(x) for x in host))[0]))


def mean_of_both(pair):
    return pair[0].mean(dtype="float64") + pair[1].mean(dtype="float64")


n_paths, n_numbers = size(256e6, 16e6, 100000), size(256e6, 16e6, 1000)
key = jax.random.key(42)


def simulate():
    normal = jax.random.normal(key, (n_paths,), dtype="float32")
    return jnp.maximum(100 * jnp.exp((R - 0.5 * V * V) + V * normal) - 100, 0).mean(dtype="float64")


add = jax.jit(lambda a, b: a + b)
a16 = jnp.asarray(spread(16, 0, 1, "float32"))


def small():
    for _ in range(1000):
        c = add(a16, a16)
    return c


def adam(p, m, v, g):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 0.1 * m / (jnp.sqrt(v) + 1e-8), m, v


def median3(x):
    n, wide = len(x), jnp.pad(x, 1, mode="edge")
    return jnp.sort(jnp.stack([wide[i:i + n, j:j + n] for i in range(3) for j in range(3)]), axis=0)[4]


def heston_paths(x, v):
    def step(i, state):
        z, noise = jax.random.normal(jax.random.fold_in(key, i), (2, x.size), dtype="float32")
        return heston_step(jnp, z, noise, *state)

    return mean_payoff(jnp, jax.lax.fori_loop(0, 50, step, (x, v))[0])


def training(batch):
    """A step by Adam, and the loss after five steps from the start."""
    def loss(p, x, label):
        z = classes(jax.nn.relu, x, *p)
        return (jax.nn.logsumexp(z, axis=1) - z[jnp.arange(len(x)), label]).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2, 3))
    def step(p, m, v, t, x, label):
        with jax.default_matmul_precision("float32"):
            value, g = jax.value_and_grad(loss)(p, x, label)
        t = t + 1
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g)]
        p = [a - 1e-3 * (b / (1 - 0.9 ** t)) / (jnp.sqrt(c / (1 - 0.999 ** t)) + 1e-8) for a, b, c in zip(p, m, v)]
        return (p, m, v, t), value

    data = [jnp.asarray(x) for x in training_input(batch)]

    def start():
        p = [jnp.asarray(x) for x in network()]
        return p, [jnp.zeros_like(x) for x in p], [jnp.zeros_like(x) for x in p], jnp.float32(0)

    state = start()

    def run_step():
        nonlocal state
        state, value = step(*state, *data)
        return value

    def check(_):
        again = start()
        for _ in range(5):
            again, value = step(*again, *data)
        return value

    return run_step, check


def gradient_rows():
    ndtr = jax.scipy.special.ndtr
    call = lambda *a: call_price(jnp, ndtr, *a)
    row("price", call, lambda y: y.mean(dtype="float64"), lambda: option_input() + numbers(0.02, 0.3))
    each = jax.vmap(jax.value_and_grad(call, GREEKS), (0, 0, 0, None, None))
    row("greeks", each, lambda y: y[0].mean(dtype="float64") + sum(g.mean(dtype="float64") for g in y[1]),
        lambda: option_input() + numbers(0.02, 0.3))

    def implied(price, S, K, T):
        """Newton's method: vmap makes one loop of all options, which goes on until the last one is done."""
        value_and_slope = jax.value_and_grad(lambda v: call(S, K, T, 0.02, v) - price)

        def step(state):
            v, _, count = state
            f, slope = value_and_slope(v)
            new = jnp.clip(v - f / slope, 0.01, 3)
            return new, jnp.abs(new - v), count + 1

        going = lambda state: (state[1] > 2e-12) & (state[2] < 100)
        return jax.lax.while_loop(going, step, (jnp.float64(0.3), jnp.float64(1), 0))[0]

    row("implied", jax.vmap(implied), lambda v: v.mean(), implied_input)
    paths = size(256e6, 4e6, 1000)
    payoff = lambda S, v: discounted_payoff(jnp, jax.random.normal(key, (paths,), dtype="float32"), S, v)
    row("payoff", payoff, lambda y: payoff_rounded(y, 1), lambda: numbers(100, 0.3))
    row("pathwise", jax.value_and_grad(payoff, (0, 1)), lambda y: payoff_rounded(y[0] + y[1][1], 4 if not TINY else 10),
        lambda: numbers(100, 0.3))
    for batch in 4096, 128:
        lazily(lambda name, make, check, batch: (lambda step, check: measure(name, step, sync, check))(*make(batch)))(
            f"mlp{batch}", training, None, lambda batch=batch: (batch,))
    row("smallloss", jax.grad(lambda x, b: small_loss(jnp, x, b)), lambda g: 1e6 * g[16], small_input)
    row("smallvalue", lambda x, b: small_loss(jnp, x, b), lambda y: y, small_input)


linear_algebra(run, jnp.linalg, lambda y: y.mean(dtype="float64"))
row, update = lazily(run), lazily(run_in_place)
update("adam", adam, lambda p: 100 * p.mean(dtype="float64"), adam_input, donated=3)
row("xent", lambda x, label: (jax.nn.logsumexp(x, axis=1) - x[jnp.arange(len(x)), label]).mean(), lambda y: y, loss_input)
row("lbm", lambda *f: collide_and_stream(jnp.roll, *f), population_value, populations)
row("nbody", forces, mean_force, bodies)
row("kde", lambda *a: kernel_density(jnp, *a), lambda y: y[2], density_input)
row("groupsum", lambda keys, weights: jnp.bincount(keys, weights=weights, length=1000), lambda y: y[9], group_input)
row("conv5", lambda x, weights: jax.scipy.signal.convolve(jnp.pad(x, 2, mode="symmetric"), weights, mode="valid"),
    lambda y: y[9, 10], kernel_input)
row("median3", median3, lambda y: y.mean(dtype="float64"), lambda: picture(4096, 512))
row("tinyloop", lambda A, b, w: jax.lax.fori_loop(0, 1000, lambda _, w: descend(A, b, w), w), lambda w: 10 * w[2], least_squares,
    scale=1 / 1000)
row("heston", heston_paths, rounded, heston_input)
row("wave", lambda *a: wave(jnp.roll, *a), lambda y: y[1, 2], waves)
row("gemv100", lambda A, x: jax.lax.fori_loop(0, 100, lambda _, x: power_step(jnp.linalg.norm, A, x), x), power_value, power_input)
row("choice", lambda p: jax.random.choice(key, len(p), (DRAWS,), p=p), lambda y: mean_drawn(y.mean()), probabilities)
update("masked", lambda x: (jnp.where(x > 0.5, 0.25, x),), lambda x: x.sum(dtype="float64"), masked_input, donated=1)
gradient_rows()
row("ensemble", lambda *a: odeint_ensemble(jax, *a), ensemble_mean, ensemble_input)
row("ensemble32", lambda *a: odeint_ensemble(jax, *a), ensemble_mean, lambda: ensemble_input("float32"))
if diffrax:
    row("ensemble_diffrax", lambda *a: diffrax_ensemble(jax, diffrax, *a), ensemble_mean, ensemble_input)
if finished():
    sys.exit()
measure("small", small, sync, lambda c: c.sum(), 1 / 1000)
run("bs64", lambda *a: black_scholes(jnp, *a), mean_of_both, *options(size(4e6, 4e6, 1000), "float64"), scale=1 / 10, times=10)
run("bs32", lambda *a: black_scholes(jnp, *a), mean_of_both, *options(size(64e6, 4e6, 1000), "float32"))
run("mc", simulate, price)
run("rand", lambda: jax.random.uniform(key, (n_numbers,), dtype="float32"), lambda y: square((y * y).mean()))
run("randn", lambda: jax.random.normal(key, (n_numbers,), dtype="float32"), lambda y: square((y * y).mean()))
big = spread(size(256e6, 16e6, 1000), 0, 1, "float32")
run("chain", lambda x: jnp.sqrt(x * 2 + 1), lambda y: y.mean(dtype="float64"), big)
run("sum", lambda x: x.sum(), lambda y: y, spread(size(256e6, 64e6, 1000), 0, 1, "float32"))
run("sum1", lambda x: x.sum(axis=0), lambda y: y[2], matrix())
run("sum2", lambda x: x.sum(axis=1), lambda y: y[2], matrix())
run("center", lambda x: x - x.mean(axis=1, keepdims=True), lambda y: y[1, 2], matrix())
run("softmax", lambda x: softmax(jnp, x), lambda y: y[1, 2], rows())
run("layernorm", lambda *a: layer_norm(jnp, *a), lambda y: y[1, 2], rows(), *weights())
run("var", lambda x: x.var(axis=1), lambda y: y[2], matrix())
run("var1", lambda x: x.var(axis=0), lambda y: y[2], matrix())
run("stencil", stencil, lambda y: y[1, 2], stencil_input())
run("life", lambda x: life(jnp.roll, x), lambda y: y.sum(), life_input())
run("floordiv", lambda x: x // 7 + x % 13, lambda y: y[999], spread(size(256e6, 16e6, 1000), -1e9, 1e9, "int32"))
run("distances", nearest, lambda y: y.mean(dtype="float64") + 1, *points())
run("shortsum", lambda x: x.sum(axis=1), lambda y: y[2], short_rows())
run("shortargmax", lambda x: x.argmax(axis=1), lambda y: y.mean(dtype="float64") + 1, short_rows())
run("gemm", lambda x: x @ x, lambda y: y.mean(dtype="float64") / len(y), square_matrix("float32", 4096, 2048))
run("gemm16", lambda x: x @ x, lambda y: y.mean(dtype="float64") / len(y), square_matrix("float16", 4096, 256))
run("gemmint", lambda x: x @ x, lambda y: y.mean(dtype="float64") / len(y), square_matrix("int32", 4096, 512))
run("batched", lambda x: x @ x, lambda y: y.mean(dtype="float64"), batch())
run("einsum", lambda x: jnp.einsum("bqhd,bkhd->bhqk", x, x), lambda y: y.mean(dtype="float64"), heads())
run("fft16m", jnp.fft.fft, lambda y: jnp.abs(y).mean(dtype="float64") / y.shape[1] ** 0.5, fft_inputs()[0])
run("fft2_4096", jnp.fft.fft2, lambda y: jnp.abs(y).mean(dtype="float64") / y.shape[1] ** 0.5, fft_inputs()[1])
run("fft1009", jnp.fft.fft, lambda y: jnp.abs(y).mean(dtype="float64") / y.shape[1] ** 0.5, fft_inputs()[2])
run("cumsum", lambda x: jnp.cumsum(x), lambda y: y[999], big)
run("median", lambda x: jnp.median(x), lambda y: y, spread(size(64e6, 4e6, 1000), 0, 1, "float32"))
run("medians", lambda x: jnp.median(x, axis=1), lambda y: y[2], rows())
run("permutation", lambda: jax.random.permutation(key, size(16e6, 1e6, 1000)), lambda y: y.sum(dtype="float64"))
run("scatter", lambda at, values: jnp.zeros(len(values)).at[at].add(values), lambda y: y.sum(), *scatter_input())
run("argmax", lambda x: x.argmax(), lambda y: y + 1, spread(size(256e6, 64e6, 1000), 0, 1, "float32"))
run("transpose", lambda x: x.T.copy(), lambda y: y[1, 4], matrix())

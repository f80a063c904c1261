import jax
import jax.numpy as jnp
import numpy as np

import side

jax.config.update("jax_enable_x64", side.variant == "float64")
dtype = np.dtype(side.variant).type


def cnd(d):
    k = 1 / (1 + 0.2316419 * jnp.abs(d))
    tail = 0.39894228040143267793994605993438 * jnp.exp(-0.5 * d * d) * (
        k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
    return jnp.where(d > 0, 1 - tail, tail)


@jax.jit
def black_scholes(S, X, T, r, v):
    root = jnp.sqrt(T)
    d1 = (jnp.log(S / X) + (r + 0.5 * v * v) * T) / (v * root)
    d2 = d1 - v * root
    discounted = X * jnp.exp(-r * T)
    return S * cnd(d1) - discounted * cnd(d2), discounted * (1 - cnd(d2)) - S * (1 - cnd(d1))


S, X, T = (jax.device_put(side.load(name, dtype)) for name in "SXT")


def work():
    return jax.block_until_ready(black_scholes(S, X, T, dtype(0.02), dtype(0.30)))


call, put = work()
tolerance = 1e-13 if dtype is np.float64 else 1e-5
side.check("call", call, tolerance)
side.check("put", put, tolerance)
side.time(work)

import jax
import jax.numpy as jnp
import numpy as np

import side

reduce = jax.jit(jnp.sum)
x = jax.device_put(side.load("x", np.float32))


def work():
    return reduce(x).block_until_ready()


side.check("sum", work(), 1e-4)
side.time(work)

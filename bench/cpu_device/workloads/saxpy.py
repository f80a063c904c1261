import numpy as np
from numba import njit, prange

import side


@njit(parallel=True, fastmath=True)
def saxpy(a, x, y, out):
    for i in prange(x.size):
        out[i] = a * x[i] + y[i]


x, y = side.load("x", np.float32), side.load("y", np.float32)
out = np.empty_like(x)


def work():
    saxpy(np.float32(2.5), x, y, out)


work()
side.check("out", out, 1e-6)
side.time(work)

import numpy as np
from numba import njit, prange

import side


@njit(parallel=True, fastmath=True)
def reduce(x):
    total = np.float32(0)
    for i in prange(x.size):
        total += x[i]
    return total


x = side.load("x", np.float32)


def work():
    return reduce(x)


side.check("sum", np.float32(work()), 1e-4)
side.time(work)

import numpy as np
from numba import get_num_threads, njit, prange

import side


@njit(parallel=True)
def histogram(values, parts):
    bins = np.zeros((parts, 256), np.uint32)
    chunk = (values.size + parts - 1) // parts
    for part in prange(parts):
        own = bins[part]
        for i in range(part * chunk, min((part + 1) * chunk, values.size)):
            own[values[i]] += 1
    return bins.sum(axis=0).astype(np.uint32)


values = side.load("values", np.uint8)


def work():
    return histogram(values, get_num_threads())


side.check("bins", work(), 0)
side.time(work)

import numpy as np
from numba import njit, prange

import side


@njit(parallel=True, fastmath=True)
def matmul(A, B, C):
    n = A.shape[0]
    for i in prange(n):
        C[i, :] = 0
        for k in range(n):
            a = A[i, k]
            for j in range(n):
                C[i, j] += a * B[k, j]


n = side.size
A, B = side.load("A", np.float32).reshape(n, n), side.load("B", np.float32).reshape(n, n)
C = np.empty_like(A)


def work():
    matmul(A, B, C)


work()
side.check("C", C, 1e-5)
side.time(work)

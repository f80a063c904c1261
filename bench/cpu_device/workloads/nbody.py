from math import sqrt

import numpy as np
from numba import njit, prange

import side

ONE, SOFTENING = np.float32(1), np.float32(0.05)


@njit(fastmath=True)
def cell_of(position, cells):
    return min(int(position), cells - 1)


@njit(parallel=True, fastmath=True)
def nbody(x, y, z, heads, next_body, ax, ay, az, cells):
    for i in prange(x.size):
        cx, cy, cz = cell_of(x[i], cells), cell_of(y[i], cells), cell_of(z[i], cells)
        sx = sy = sz = np.float32(0)
        for w in range(max(cz - 1, 0), min(cz + 2, cells)):
            for v in range(max(cy - 1, 0), min(cy + 2, cells)):
                for u in range(max(cx - 1, 0), min(cx + 2, cells)):
                    j = heads[(w * cells + v) * cells + u]
                    while j >= 0:
                        dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                        r2 = dx * dx + dy * dy + dz * dz
                        if r2 < ONE:
                            force = (ONE - r2) / (sqrt(r2) + SOFTENING)
                            sx += force * dx
                            sy += force * dy
                            sz += force * dz
                        j = next_body[j]
        ax[i], ay[i], az[i] = sx, sy, sz


x, y, z = (side.load(name, np.float32) for name in "xyz")
heads, next_body = side.load("heads", np.int32), side.load("next", np.int32)
ax, ay, az = np.empty_like(x), np.empty_like(x), np.empty_like(x)


def work():
    nbody(x, y, z, heads, next_body, ax, ay, az, side.size)


work()
side.check("ax", ax, 1e-5)
side.check("ay", ay, 1e-5)
side.check("az", az, 1e-5)
side.time(work)

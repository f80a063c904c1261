from math import sqrt

import numpy as np
from numba import njit, prange

import side

ONE, SOFTENING = np.float32(1), np.float32(0.05)


@njit(fastmath=True)
def cell_of(position, cells):
    return min(int(position), cells - 1)


@njit(parallel=True, fastmath=True)
def nbody(x, y, z, starts, ax, ay, az, cells):
    for i in prange(x.size):
        cx, cy, cz = cell_of(x[i], cells), cell_of(y[i], cells), cell_of(z[i], cells)
        sx = sy = sz = np.float32(0)
        for w in range(max(cz - 1, 0), min(cz + 2, cells)):
            for v in range(max(cy - 1, 0), min(cy + 2, cells)):
                row = (w * cells + v) * cells
                for j in range(starts[row + max(cx - 1, 0)], starts[row + min(cx + 1, cells - 1) + 1]):
                    dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                    r2 = dx * dx + dy * dy + dz * dz
                    if r2 < ONE:
                        force = (ONE - r2) / (sqrt(r2) + SOFTENING)
                        sx += force * dx
                        sy += force * dy
                        sz += force * dz
        ax[i], ay[i], az[i] = sx, sy, sz


x, y, z = (side.load(name, np.float32) for name in "xyz")
starts = side.load("starts", np.int32)
ax, ay, az = np.empty_like(x), np.empty_like(x), np.empty_like(x)


def work():
    nbody(x, y, z, starts, ax, ay, az, side.size)


work()
side.check("ax", ax, 1e-5)
side.check("ay", ay, 1e-5)
side.check("az", az, 1e-5)
side.time(work)

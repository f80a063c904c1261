import numba
import numpy as np
from numba import njit, prange

import side

MOST = 200


@njit(fastmath=True)
def escape_time(re, im):
    x = y = 0.0
    for i in range(MOST):
        x, y = x * x - y * y + re, 2 * x * y + im
        if x * x + y * y >= 4:
            return i
    return MOST


@njit(parallel=True, fastmath=True)
def mandelbrot(image):
    height, width = image.shape
    dx, dy = 3.0 / width, 2.0 / height
    for row in prange(height):
        for column in range(width):
            image[row, column] = escape_time(-2 + column * dx, -1 + row * dy)


height = side.size
image = np.empty((height, height * 3 // 2), np.uint8)
numba.set_parallel_chunksize(8)  # rows differ, as in the C++ loop's dynamic schedule


def work():
    mandelbrot(image)


work()
side.check("image", image, 0, 1e-3)
side.time(work)

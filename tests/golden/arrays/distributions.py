"""Writes distributions.npz beside itself: the first numbers of each of gpu.random's distributions, from Philox4x32-10 in NumPy.

Philox itself is checked against the known answers of its authors' library, Random123.
"""

import pathlib

import numpy as np

COUNT = 1000
SEED = 2026


def philox(counters, key):
    a, b, c, d = (counters[:, i].astype("uint64") for i in range(4))
    k, l = (np.uint64(word) for word in key)
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        p, q = np.uint64(0xD2511F53) * a, np.uint64(0xCD9E8D57) * c
        a, b, c, d = (q >> shift) ^ b ^ k, q & low, (p >> shift) ^ d ^ l, p & low
        k, l = (k + np.uint64(0x9E3779B9)) & low, (l + np.uint64(0xBB67AE85)) & low
    return np.stack([a, b, c, d], axis=1)


answer = philox(np.array([[0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]], "uint64"), (0xA4093822, 0x299F31D0))
assert answer.tolist() == [[0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]]


class Stream:
    """Hands out words from the beginning, by fours."""

    def __init__(self):
        self.offset = 0

    def words(self, count):
        blocks = np.arange(self.offset // 4, self.offset // 4 + (count + 3) // 4, dtype="uint64")
        counters = np.zeros((blocks.size, 4), "uint64")
        counters[:, 0] = blocks
        self.offset += 4 * blocks.size
        return philox(counters, (SEED, 0)).ravel()[:count]

    def uniform(self):  # rounded to float32 as the device does, then exact
        return ((self.words(COUNT).astype("float32") * 2.0**-32 + 2.0**-33).astype("float32")).astype("float64")

    def uniform64(self):
        pairs = self.words(2 * COUNT).reshape(-1, 2)
        bits = pairs[:, 1] * np.uint64(2**21) + (pairs[:, 0] >> np.uint64(11))
        return (bits.astype("float64") + 1) * 2.0**-53

    def normal(self):
        pairs = self.words(COUNT).reshape(-1, 2)
        u = ((pairs[:, 0].astype("float32") * 2.0**-32 + 2.0**-33).astype("float32")).astype("float64")
        quarter, rest = pairs[:, 1] >> np.uint64(30), (pairs[:, 1] & np.uint64(2**30 - 1)).astype("int64")
        rest = np.where(rest >= 2**29, rest - 2**30, rest)
        angle = rest * 2.0**-30 * np.pi / 2
        r = np.sqrt(-2 * np.log(u)) * np.where(quarter >= 2, -1, 1)
        x, y = np.cos(angle), np.sin(angle)
        turned = quarter % 2 == 1
        return np.stack([r * np.where(turned, y, x), r * np.where(turned, x, y)], axis=1).ravel()

    def inner(self):
        return np.minimum(self.uniform(), 1 - 2.0**-24)

    def decay(self):
        return np.log(self.uniform())


def triangular(s, left, mode, right):
    u, width = s.uniform(), right - left
    below = (mode - left) / width
    return np.where(u <= below, left + np.sqrt(u * below) * width, right - np.sqrt((1 - u) * (1 - below)) * width)


def integers(s, low, high):
    pairs = s.words(2 * COUNT).reshape(-1, 2)
    return np.array([low + (((int(b) << 32) + int(a)) * (high - low) >> 64) for a, b in pairs])


def logistic(s):
    u = s.inner()
    return 1 + 2 * np.log(u / (1 - u))


distributions = {
    "uniform": lambda s: -2 + 7 * s.uniform(),
    "normal": lambda s: 3 + 2 * s.normal(),
    "lognormal": lambda s: np.exp(0.5 + 0.25 * s.normal()),
    "exponential": lambda s: -2 * s.decay(),
    "laplace": lambda s: 1 + 2 * (s.decay() - s.decay()),
    "logistic": logistic,
    "gumbel": lambda s: 1 - 2 * np.log(-np.log(s.inner())),
    "rayleigh": lambda s: 2 * np.sqrt(-2 * s.decay()),
    "weibull": lambda s: (-s.decay()) ** (1 / 1.5),
    "pareto": lambda s: np.exp(-s.decay() / 3) - 1,
    "power": lambda s: s.uniform() ** (1 / 2.5),
    "triangular": lambda s: triangular(s, -1, 0, 3),
    "bernoulli": lambda s: s.uniform() <= 0.3,
    "integers": lambda s: integers(s, -5, 1000),
}
arrays = {name: make(Stream()) for name, make in distributions.items()}
arrays = {name: x.astype("float32") if x.dtype == "float64" else x for name, x in arrays.items()}
arrays["uniform_float64"] = Stream().uniform64()
np.savez_compressed(pathlib.Path(__file__).with_name("distributions.npz"), **arrays)

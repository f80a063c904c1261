"""Writes special_more.npz: arguments of gamma's relatives, exponential integrals, Bessel functions with a factor, entropies and losses,
and their values by mpmath, or by SciPy where its digits are all right.
"""

import pathlib

import mpmath as mp
import numpy as np
from scipy import special

mp.mp.dps = 40
rng = np.random.default_rng(7)


def exact(function, *arguments):
    return np.array([float(function(*[mp.mpf(float(v)) for v in row])) for row in zip(*np.broadcast_arrays(*arguments))])


def hurwitz(u, v):
    with mp.workdps(120):  # with 40 digits some values have ten
        return mp.zeta(u, v)


positive = np.concatenate([[1e-30, 1e-8, 0.01, 0.5, 1, 1.5, 2, 9.99, 10, 30, 100, 600], 10 ** rng.uniform(-3, 2.5, 60)])
real = np.concatenate([positive, -positive[3:30] - 0.3, [0.3, -0.7, -33.25]])
x = np.concatenate([[1e-6, 0.02, 0.5, 0.999, 1.001, 5, 29, 31, 200, 600], 10 ** rng.uniform(-2, 2.5, 50)])
order = np.tile([1.0, 2, 3, 6, 11], 16)
q = np.concatenate([10 ** rng.uniform(-2, 3, 78), [1, 0.5]])
s = np.concatenate([[1.001, 1.5, 2, 3, 20], 1 + 10 ** rng.uniform(-2, 1.5, 75)])
a, b = 10 ** rng.uniform(-2, 4, 80), 10 ** rng.uniform(-2, 4, 80)
many, few = np.floor(10 ** rng.uniform(0, 4, 60)), np.floor(10 ** rng.uniform(0, 2, 60))
many, few = np.append(many, [5, 52, 10, 3, 7.5, 4.2]), np.append(few, [2, 5, 10, 4, 2.5, 3])
unit = np.concatenate([[1e-20, 0.1, 0.5, 0.9, 1 - 1e-9], rng.uniform(0, 1, 40)])
wide = np.concatenate([[-300, -40, -30, -5, -1, -1e-10, 0, 1e-10, 1, 5, 40, 300], rng.normal(size=40) * 5])
y1, y2 = rng.uniform(0, 3, 50), rng.uniform(0, 3, 50)
y1[:4], y2[2:6] = 0, 0
signed = rng.normal(size=50)
arrays = {
    "positive": positive, "real": real, "x": x, "order": order, "q": q, "s": s, "a": a, "b": b, "many": many, "few": few, "unit": unit,
    "wide": wide, "y1": y1, "y2": y2, "signed": signed,
    "digamma": exact(mp.digamma, real), "polygamma": exact(lambda n, v: mp.polygamma(int(n), v), order, q),
    "zeta": exact(hurwitz, s, q), "beta": exact(mp.beta, a / 100, b / 100), "betaln": exact(lambda u, v: mp.log(mp.beta(u, v)), a, b),
    "binom": exact(mp.binomial, many, few),
    "exp1": exact(mp.e1, x), "expn": exact(lambda n, v: mp.expint(int(n), v), order[:60], x), "expi": exact(mp.ei, x),
    "expi_negative": exact(mp.ei, -x),
    "exprel": exact(lambda v: mp.expm1(v) / v if v else mp.mpf(1), wide),
    "k0": exact(lambda v: mp.besselk(0, v), x), "k1": exact(lambda v: mp.besselk(1, v), x),
    "k0e": exact(lambda v: mp.besselk(0, v) * mp.exp(v), positive), "k1e": exact(lambda v: mp.besselk(1, v) * mp.exp(v), positive),
    "i0e": exact(lambda v: mp.besseli(0, v) * mp.exp(-abs(v)), real * 4), "i1e": exact(lambda v: mp.besseli(1, v) * mp.exp(-abs(v)), real * 4),
    "erfcx": exact(lambda v: mp.erfc(v) * mp.exp(v * v), wide[1:]), "log_normcdf": exact(lambda v: mp.log(mp.ncdf(v)), wide),
    "log_sigmoid": exact(lambda v: -mp.log1p(mp.exp(-v)), wide), "logit": exact(lambda v: mp.log(v / (1 - v)), unit),
    "xlogy": special.xlogy(y1, y2), "xlog1py": special.xlog1py(y1, y2), "entr": special.entr(signed.clip(0)),
    "rel_entr": special.rel_entr(y1, y2), "kl_div": special.kl_div(y1, y2), "huber": special.huber(y1, signed),
    "pseudo_huber": special.pseudo_huber(y1, signed), "boxcox": special.boxcox(y2, signed), "inv_boxcox": special.inv_boxcox(y2, y1),
}
np.savez_compressed(pathlib.Path(__file__).with_name("special_more.npz"), **arrays)

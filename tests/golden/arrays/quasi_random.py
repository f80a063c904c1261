"""Writes quasi_random.npz: SciPy's Sobol and Halton sequences without scrambling."""

import pathlib
import warnings

import numpy as np
from scipy.stats import qmc

warnings.simplefilter("ignore")
points = qmc.Sobol(100, scramble=False).random(1000)
engine = qmc.Sobol(1111, scramble=False)
arrays = {
    "sobol": (points * 2**30).astype("uint32"),
    # The number of the point 2^k - 1 is the direction number of the digit k, counted from 1: all of them, for all dimensions.
    "directions": engine._sv[:, :30].astype("uint32").T,
    "halton": qmc.Halton(50, scramble=False).random(1000).astype("float64"),
}
assert (arrays["sobol"] == points * 2**30).all()
np.savez_compressed(pathlib.Path(__file__).with_name("quasi_random.npz"), **arrays)

"""Writes random_tables.lua: what SciPy gives of distributions, for the tests of gpu.random's numbers.

`quantiles`: for each call the 49 inner edges of 50 cells that are equally likely. `probabilities`: those of the counts from `first` on.
`outcomes`: the probabilities of vectors of counts.
"""

import itertools
import os

import numpy as np
import scipy
from scipy import stats

edges = np.arange(1, 50) / 50


def numbers(values):
    return "{" + ",".join(repr(float(value)) for value in values) + "}"


def table(values):  # a list of Lua
    return "{" + ",".join(repr(value) for value in values) + "}"


quantiles, probabilities, outcomes = [], [], []


def continuous(name, parameters, distribution):
    quantiles.append(f'{{"{name}",{table(parameters)},{numbers(distribution.ppf(edges))}}},')


for freedom, noncentrality in ((3, 2.5), (0.7, 1), (1, 10), (20, 0.3), (5, 200)):
    continuous("noncentral_chisquare", (freedom, noncentrality), stats.ncx2(freedom, noncentrality))
for above, below, noncentrality in ((3, 20, 3), (1, 5, 0.5), (10, 10, 2), (2, 50, 30), (7.5, 4.5, 1)):
    continuous("noncentral_f", (above, below, noncentrality), stats.ncf(above, below, noncentrality))
for shape in (0.3, 1, 2.5, 20, 400):
    continuous("standard_gamma", (shape,), stats.gamma(shape))
continuous("standard_normal", (), stats.norm())
continuous("standard_exponential", (), stats.expon())
continuous("standard_cauchy", (), stats.cauchy())
# The first number of a draw: its distribution is beta.
dirichlet = []
for parameters in ((1, 1, 1), (0.5, 2), (0.05, 0.02, 0.03), (10, 20, 5, 1), (300, 0.2, 200)):
    law = stats.beta(parameters[0], sum(parameters[1:]))
    dirichlet.append(f"{{{table(parameters)},{numbers(law.ppf(edges))}}},")


def discrete(name, parameters, distribution, first, last):
    probabilities.append(f'{{"{name}",{table(parameters)},{first},{numbers(distribution.pmf(np.arange(first, last + 1)))}}},')


for good, bad, sample in ((20, 30, 7), (15, 15, 25), (100, 900, 300), (5000, 3000, 4000), (3, 100000, 50000), (40, 1000, 900)):
    law = stats.hypergeom(good + bad, good, sample)
    discrete("hypergeometric", (good, bad, sample), law, int(law.ppf(1e-9)), int(law.isf(1e-9)))
for exponent in (1.1, 1.5, 2, 3.3, 8):
    discrete("zipf", (exponent,), stats.zipf(exponent), 1, 400)
for p in (0.05, 0.3, 0.7, 0.95, 0.999):
    discrete("logseries", (p,), stats.logser(p), 1, 1500 if p > 0.99 else 200)


def vectors(name, total, weights, law):
    rows = []
    for counts in itertools.product(range(total + 1), repeat=len(weights) - 1):
        if sum(counts) <= total:
            counts = counts + (total - sum(counts),)
            rows.append(f'["{" ".join(map(str, counts))}"]={float(law.pmf(counts))!r}')
    outcomes.append(f'{{"{name}",{total},{table(weights)},{{{",".join(rows)}}}}},')


for n, p in ((5, (0.2, 0.3, 0.5)), (3, (0.1, 0.2, 0.3, 0.4)), (8, (0.9, 0.1)), (4, (0.25, 0, 0.5, 0.125, 0.125)), (12, (0.05, 0.35, 0.6))):
    vectors("multinomial", n, p, stats.multinomial(n, p))
for n, m in ((5, (4, 6, 10)), (3, (2, 2, 2, 5)), (9, (9, 3)), (4, (1, 0, 3, 2, 4)), (15, (8, 9, 10))):
    vectors("multivariate_hypergeometric", n, m, stats.multivariate_hypergeom(m, n))

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "random_tables.lua"), "w") as file:
    file.write(f"-- Made by random_tables.py with SciPy {scipy.__version__}.\nreturn {{\n")
    for name in ("quantiles", "dirichlet", "probabilities", "outcomes"):
        text = "\n".join(globals()[name]).replace("(", "{").replace(")", "}").replace(",}", "}")
        file.write(f"{name} = {{\n{text}\n}},\n")
    file.write("}\n")

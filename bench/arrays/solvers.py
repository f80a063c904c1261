"""Workloads of ordinary differential equations: many small systems."""

from workloads import *

TOLERANCES = {"rtol": 1e-6, "atol": 1e-6}


def ensemble_input(dtype="float64"):
    """Starts (n,3) and parameters (n,) of Lorenz's system."""
    n = size(1e6, 1e5, 100)
    return spread(3 * n, 1, 2, dtype).reshape(n, 3), spread(n, 20, 30, dtype)


def ensemble_mean(y):
    return abs(y).mean(dtype="float64")


def ensemble_slope(xp, y, rho):
    """Of one system, or of many whose last axis has the three elements."""
    a, b, c = y[..., 0], y[..., 1], y[..., 2]
    return xp.stack([10 * (b - a), a * (rho - c) - b, a * b - 8 / 3 * c], axis=-1)


def scipy_ensemble(xp, solve_ivp, start, rho):
    """As one system, whose steps are the same for all."""
    def slope(t, y):
        return ensemble_slope(xp, y.reshape(start.shape), rho).reshape(-1)

    return solve_ivp(slope, (0, 1), start.reshape(-1), **TOLERANCES).y[:, -1].reshape(start.shape)


def odeint_ensemble(jax, start, rho):
    from jax.experimental.ode import odeint

    times = jax.numpy.asarray([0, 1], dtype=start.dtype)

    def solve(y, r):
        return odeint(lambda y, t, r: ensemble_slope(jax.numpy, y, r), y, times, r, **TOLERANCES)[-1]

    return jax.vmap(solve)(start, rho)


def diffrax_ensemble(jax, diffrax, start, rho):
    def solve(y, r):
        term = diffrax.ODETerm(lambda t, y, r: ensemble_slope(jax.numpy, y, r))
        return diffrax.diffeqsolve(term, diffrax.Tsit5(), t0=0, t1=1, dt0=None, y0=y, args=r, saveat=diffrax.SaveAt(t1=True),
                                   stepsize_controller=diffrax.PIDController(**TOLERANCES)).ys[-1]

    return jax.vmap(solve)(start, rho)

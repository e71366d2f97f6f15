"""Clean logs of robots that move within their limits, to be examined or spoiled."""

import numpy as np

from dynamis.identification.logs import Log


def motion(robot, seed=1, seconds=6.0, rate=200.0, reach=0.6):
    """Sums of sines within the limits: t, q, v, a."""
    rng = np.random.default_rng(seed)
    lower, upper = (np.clip(robot.limits[key], -2.0, 2.0) for key in ("lower", "upper"))
    t = np.arange(round(seconds * rate)) / rate
    w = 2.0 * np.pi / seconds * np.arange(1, 6)[:, None, None]
    phase = w * t[:, None] + rng.uniform(0.0, 6.0, size=(5, 1, robot.n))
    c = rng.normal(size=(5, 1, robot.n)) / np.arange(1, 6)[:, None, None]
    q, v, a = (c * np.sin(phase)).sum(0), (c * w * np.cos(phase)).sum(0), -(c * w**2 * np.sin(phase)).sum(0)
    # within what the joints can do
    size = reach * (upper - lower) / 2.0 / np.abs(q).max(0)
    size = np.minimum(size, 0.9 * robot.limits["velocity"] / np.abs(v).max(0))
    return t, (lower + upper) / 2.0 + q * size, v * size, a * size


def measured(robot, seed=1, noise=1e-4, **options):
    """A clean log: a bit of noise, encoders of 17 bits, some friction."""
    t, q, v, a = motion(robot, seed, **options)
    rng = np.random.default_rng(seed + 100)
    tau = robot.inverse_dynamics(q, v, a)
    tau = tau + 0.1 * np.abs(tau).max(0) * np.tanh(v / 0.01) + 0.01 * rng.normal(size=tau.shape) * tau.std(0)
    step = 2.0 * np.pi / 2**17
    q = np.round((q + noise * rng.normal(size=q.shape)) / step) * step
    v = v + 0.01 * rng.normal(size=v.shape) * v.std(0)
    return Log(t, q, tau, v=v, names=robot.coordinate_names, source="run.csv", first_row=2, row_word="line")

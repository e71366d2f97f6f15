"""Samples of simulated motions, and changes of their columns."""

from types import SimpleNamespace

import numpy as np

RATE = 50.0  # Hz


def sampled(robot, seed=3, friction=0.3, noise=0.02, reach=0.5, seconds=8.0, rate=RATE):
    """Samples of a motion: joints with dry friction, as large a part of their torque as wished, and noise."""
    rng = np.random.default_rng(seed)
    lower, upper = (np.where(np.isfinite(robot.limits[k]), robot.limits[k], s * 2.0) for k, s in (("lower", -1), ("upper", 1)))
    t = np.arange(round(seconds * rate)) / rate
    w = 2.0 * np.pi / seconds * np.arange(1, 6)[:, None, None]
    phase = w * t[:, None] + rng.uniform(0.0, 6.0, size=(5, 1, robot.n))
    c = rng.normal(size=(5, 1, robot.n)) / np.arange(1, 6)[:, None, None]
    q, v, a = (c * np.sin(phase)).sum(0), (c * w * np.cos(phase)).sum(0), -(c * w**2 * np.sin(phase)).sum(0)
    size = reach * np.minimum((upper - lower) / 2.0, 2.0) / np.abs(q).max(0)
    q, v, a = (lower + upper) / 2.0 + q * size, v * size, a * size
    tau = robot.inverse_dynamics(q, v, a)
    tau = tau + friction * np.abs(tau).max(0) * np.tanh(v / 0.01)
    return SimpleNamespace(t=t, q=q, v=v, a=a, tau=tau + noise * tau.std(0) * rng.normal(size=tau.shape), source="run")


def changed(samples, **arrays):
    return SimpleNamespace(**(vars(samples) | arrays))


def turned(n, joint):
    return np.where(np.arange(n) == joint, -1.0, 1.0)


def exchanged(n, i, j):
    order = np.arange(n)
    order[[i, j]] = j, i
    return order

"""Many motions at once: robot, controller and integrator in one compiled step, marched over a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, unknown_name
from dynamis.robot import Robot
from dynamis.simulation.fixed_step import STEPS

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rollouts:
    """``t`` (T), ``q`` (T, …, nq) and ``v`` (T, …, n): one motion for each state of the batch."""

    t: Array
    q: Any
    v: Any
    step: float
    method: str


def step_function(robot: Robot, controller: Callable[..., Any] | None, method: str) -> Any:
    """(q, v, t, h, …) → (q', v') over one step, compiled: the controller is evaluated at every stage of the method."""
    if method not in STEPS:
        raise unknown_name("fixed-step method", method, STEPS)
    rule = STEPS[method]

    def step(robot: Robot, q: Array, v: Array, t: Array, h: Array) -> Array:
        def acceleration(q: Array, v: Array) -> Array:
            tau = np.zeros(robot.n) if controller is None else controller(robot, t[0], q, v)
            return robot.forward_dynamics(q, v, tau)

        return np.concatenate(rule(robot.model, acceleration, q, v, h[0]))

    return robot.compile(step, t=1, h=1)


def rollouts(
    robot: Robot,
    t: float,
    q0: Any,
    v0: Any = None,
    *,
    controller: Callable[..., Any] | None = None,
    step: float = 1e-3,
    method: str = "rk4",
    every: int = 1,
) -> Rollouts:
    """Motions of a batch of states for the time ``t``, reported every so many steps.

    ``controller(robot, t, q, v)`` is written for one state with NumPy and must not branch on it (`dynamis.where` chooses):
    it is traced and compiled together with robot and integrator. Arrays on a GPU stay there.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("planar_2r_melchiorri")
    >>> def law(robot, t, q, v):
    ...     return robot.gravity(q) - 4000.0 * q - 800.0 * v
    >>> made = rollouts(robot, 2.0, np.random.default_rng(0).uniform(-1, 1, (64, 2)), controller=law, every=100)
    >>> made.q.shape, bool(abs(made.q[-1]).max() < 0.05 * abs(made.q[0]).max())
    ((21, 64, 2), True)
    """
    if not isinstance(every, int) or every < 1:
        raise InputError(f"every= takes a whole number of steps from 1, got {every!r}")
    if not (step > 0 and t > 0):
        raise InputError(f"time and step must be positive, got t={t!r} and step={step!r}")
    kernel = step_function(robot, controller, method)
    xp = np if not hasattr(q0, "__cuda_array_interface__") else _cupy()
    q = xp.asarray(q0, dtype=float)
    v = xp.zeros((*q.shape[:-1], robot.n)) if v0 is None else xp.asarray(v0, dtype=float)
    steps = max(1, round(t / (step * every))) * every
    h = t / steps
    kept_q, kept_v, times = [q], [v], [0.0]
    length = xp.asarray([h])
    for k in range(steps):
        y = kernel(q, v, xp.asarray([k * h]), length)
        q, v = y[..., : robot.nq], y[..., robot.nq :]
        if (k + 1) % every == 0:
            kept_q.append(q)
            kept_v.append(v)
            times.append((k + 1) * h)
    return Rollouts(np.array(times), xp.stack(kept_q), xp.stack(kept_v), h, method)


def _cupy() -> Any:
    import cupy

    return cupy

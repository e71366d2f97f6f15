"""Many motions at once: robot, controller and integrator in one compiled step, marched over a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, unknown_name
from dynamis.inputs import broadcast_batch
from dynamis.robot import Robot
from dynamis.simulation.fixed_step import STEPS
from dynamis.simulation.friction import Smooth, laws_of
from dynamis.simulation.motion import without_dry_friction

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rollouts:
    """``t`` (T), ``q`` (T, …, nq) and ``v`` (T, …, n): one motion for each state of the batch."""

    t: Array
    q: Any
    v: Any
    step: float
    method: str


def step_function(robot: Robot, controller: Callable[..., Any] | None, method: str, laws: Mapping[int, Smooth]) -> Any:
    """(q, v, t, h, …) → (q', v') over one step, compiled: the controller is evaluated at every stage of the method."""
    if method not in STEPS:
        raise unknown_name("fixed-step method", method, STEPS)
    rule = STEPS[method]

    def step(robot: Robot, q: Array, v: Array, t: Array, h: Array) -> Array:
        smooth = without_dry_friction(robot)

        def acceleration(t: Any, q: Array, v: Array) -> Array:
            tau = np.zeros(robot.n) if controller is None else controller(robot, t, q, v)
            if laws:
                tau = np.asarray(tau) - np.array([laws[k].torque(v[k]) if k in laws else 0.0 for k in range(robot.n)])
            return smooth.forward_dynamics(q, v, tau)

        return np.concatenate(rule(robot.model, acceleration, t[0], q, v, h[0]))

    return robot.compile(step, t=1, h=1)


def rollouts(
    robot: Robot,
    t: float,
    q0: Any,
    v0: Any = None,
    *,
    controller: Callable[..., Any] | None = None,
    friction: Any = "model",
    step: float = 1e-3,
    method: str = "rk4",
    every: int = 1,
) -> Rollouts:
    """Motions of a batch of states for the time ``t``, reported every so many steps.

    ``controller(robot, t, q, v)`` is written for one state with NumPy and must not branch on it (`dynamis.where` chooses):
    it is traced and compiled together with robot and integrator. ``friction`` is as for `simulate`, where none sticks.
    Arrays on a GPU stay there.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("planar_2r_melchiorri")
    >>> def law(robot, t, q, v):
    ...     return robot.gravity(q) - 4000.0 * q - 800.0 * v
    >>> made = rollouts(robot, 2.0, np.random.default_rng(0).uniform(-1, 1, (64, 2)), controller=law, every=100)
    >>> made.q.shape, bool(abs(made.q[-1]).max() < 0.05 * abs(made.q[0]).max())
    ((21, 64, 2), True)
    """
    if not isinstance(robot, Robot):
        raise InputError(f"rollouts takes a robot, got {type(robot).__name__}; dynamis.load gives one")
    if robot.model.symbolic:
        raise InputError(f"robot {robot.name!r} has parameters without values: give them with load(…, parameters={{…}})")
    if controller is not None and not callable(controller):
        raise InputError("controller= takes a function of (robot, t, q, v)")
    if not isinstance(every, int | np.integer) or every < 1:
        raise InputError(f"every= takes a whole number of steps from 1, got {every!r}")
    if not all(isinstance(x, int | float | np.number) and 0 < x < np.inf for x in (t, step)):
        raise InputError(f"time and step must be positive numbers, got t={t!r} and step={step!r}")
    # a mass matrix that cannot be inverted is refused here, by the joint's name
    robot.forward_dynamics(robot.neutral(), np.zeros(robot.n), np.zeros(robot.n))
    kernel = step_function(robot, controller, method, _smooth_laws(robot, friction))
    xp, q, v = _states(robot, q0, np.zeros(robot.n) if v0 is None else v0)
    steps = max(1, int(np.ceil(t / (step * every) - 1e-9))) * every
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


def _smooth_laws(robot: Robot, friction: Any) -> dict[int, Smooth]:
    laws = laws_of(robot.model, friction)
    smooth = {k: law for k, law in laws.items() if isinstance(law, Smooth)}
    if len(smooth) != len(laws):
        raise InputError("rollouts do not locate where joints stick: use friction='smooth' or 'none', or simulate one by one")
    return smooth


def _states(robot: Robot, q0: Any, v0: Any) -> tuple[Any, Any, Any]:
    """(NumPy or CuPy, q, v) with the leading axes both have together."""
    if hasattr(q0, "__cuda_array_interface__"):
        import cupy

        xp, q, v = cupy, q0.astype(float), cupy.asarray(v0, dtype=float)
    else:
        inputs = robot._evaluator.inputs
        xp, q, v = np, inputs.vector(q0, robot.nq, "q0").astype(float), inputs.vector(v0, robot.n, "v0").astype(float)
    batch = broadcast_batch({"q0": q, "v0": v})
    return xp, xp.broadcast_to(q, (*batch, robot.nq)), xp.broadcast_to(v, (*batch, robot.n))

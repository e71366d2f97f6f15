"""Reaching tasks for reinforcement learning: a robot moved by torques, as environments of Gymnasium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError
from dynamis.optimize.reaching import Reaching
from dynamis.optimize.steps import Step
from dynamis.robot import Robot
from dynamis.robot.checks import check_count, check_numeric
from dynamis.scalar import is_number
from dynamis.trajectories.validate import number

WEIGHTS = {"goal": 1.0, "effort": 0.1}


def environment(
    robot: Robot, goal: Any = None, *, count: int | None = None, step: float = 0.02, duration: float = 4.0, substeps: int = 4,
    limits: bool = True, weights: Mapping[str, float] | None = None, actuated: Any = "joints",
) -> Any:  # fmt: skip
    """A Gymnasium environment in which torques bring the robot to a goal; with ``count``, that many in one `VectorEnv`.

    An observation is (q, v, way from q to the goal along the entries of v), an action the torques of the ``actuated``
    coordinates divided by their limits, in [−1, 1]. The reward of a ``step`` (s) is −step (w_g ‖way to the goal‖² +
    w_u mean(action²)) with ``weights`` "goal" (1) and "effort" (0.1). Episodes begin at rest in random configurations, with
    random goals unless ``goal`` is a configuration; ``reset(options={"q": …, "v": …, "goal": …})`` sets them. They are
    truncated after ``duration`` (s), and terminate where a position leaves its limits or is not finite: the last cost then
    counts for all steps that are left. Velocities stay within their limits, as those of drives do. ``limits=False`` ignores
    both limits; with limits, goals and starts outside of them are refused. A step consists of ``substeps`` steps of
    semi-implicit Euler, with the friction of `Step`.

    >>> import dynamis as dy
    >>> env = dy.optimize.environment(dy.load("ur5e"))  # doctest: +SKIP
    >>> observation, _ = env.reset(seed=0)  # doctest: +SKIP
    >>> env.step(env.action_space.sample())[1] < 0  # doctest: +SKIP
    True
    >>> many = dy.optimize.environment(dy.load("ur5e"), count=4096)  # doctest: +SKIP
    """
    try:
        from dynamis.optimize.gymnasium_environments import Environment, Environments
    except ModuleNotFoundError as error:
        if error.name != "gymnasium":
            raise
        raise MissingExtraError("environments require Gymnasium: pip install 'dynamis[gymnasium]'") from None
    check_numeric(robot)
    if weights is not None and not isinstance(weights, Mapping):
        raise InputError(f"weights must be a mapping such as {WEIGHTS}, got {weights!r}")
    w = {**WEIGHTS, **(weights or {})}
    if unknown := sorted(set(w) - set(WEIGHTS), key=str):
        raise InputError(f"weight {unknown[0]!r} is unknown; weights are 'goal' and 'effort'")
    w = {name: number(x, f"the weight of {name!r}") for name, x in w.items()}
    if min(w.values()) < 0.0:
        raise InputError(f"weights must not be negative, got {w}: with them the reward would grow with the error")
    _check_count("substeps", substeps)
    if count is not None:
        _check_count("count", count)
    if not (is_number(step) and is_number(duration) and 0.0 < step <= duration < np.inf):
        raise InputError(
            f"step and duration must be positive, finite numbers [s], and duration not shorter; got {step!r} and {duration!r}"
        )
    small = Step(robot, step / substeps, actuated=actuated)
    reaching = Reaching(small, substeps, goal, w, limits)
    steps = round(duration / step)
    return Environment(reaching, steps) if count is None else Environments(reaching, steps, count)


def _check_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be a positive integer, got {value!r}")
    check_count(name, value, 1)

"""Reaching tasks for reinforcement learning: a robot moved by torques, as environments of Gymnasium."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dynamis.display import counted
from dynamis.errors import InputError, MissingExtraError
from dynamis.optimize.reaching import Reaching
from dynamis.optimize.steps import Step
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric
from dynamis.scalar import is_number


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
    both limits. A step consists of ``substeps`` steps of
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
    if unknown := sorted(set(weights or {}) - {"goal", "effort"}):
        raise InputError(f"weight {unknown[0]!r} is unknown; weights are 'goal' and 'effort'")
    if not isinstance(substeps, int) or substeps < 1:
        raise InputError(f"substeps must be a positive integer, got {substeps!r}")
    if count is not None and (not isinstance(count, int) or count < 1):
        raise InputError(f"count must be a positive integer, got {count!r}")
    if not (is_number(step) and is_number(duration) and 0.0 < step <= duration < np.inf):
        raise InputError(
            f"step and duration must be positive, finite numbers [s], and duration not shorter; got {step!r} and {duration!r}"
        )
    if goal is not None and np.shape(goal) != (robot.nq,):
        raise InputError(
            f"goal must be a configuration with {counted(robot.nq, 'entry', 'entries')}, got shape {np.shape(goal)}"
        )
    small = Step(robot, step / substeps, actuated=actuated)
    fixed = None if goal is None else np.asarray(goal, float)
    reaching = Reaching(small, substeps, fixed, {"goal": 1.0, "effort": 0.1, **(weights or {})}, limits)
    steps = round(duration / step)
    return Environment(reaching, steps) if count is None else Environments(reaching, steps, count)

"""Steps, and derivatives of steps, that are not finite because the mass matrix is singular."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.singularity import singular_mass_error
from dynamis.compiler.cuda import on_gpu
from dynamis.model.massless import massless_motion
from dynamis.optimize.step_dynamics import StepDynamics
from dynamis.robot import Robot
from dynamis.robot.replacement import replace_symbols

Array = npt.NDArray[Any]


def refuse_failure(step: StepDynamics, found: Array, q: Array, *others: Array) -> None:
    """`refuse_singular` at the first state of a batch whose result is not finite; ``others`` are v, u, p and what follows."""
    if on_gpu(found) or np.isfinite(found).all():
        return
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in (q, *others)))
    lost = tuple(np.argwhere(~np.isfinite(found).reshape(*batch, -1).all(axis=-1))[0])
    refuse_singular(step, *(np.broadcast_to(x, (*batch, x.shape[-1]))[lost] for x in (q, *others[2:])))


def refuse_singular(step: StepDynamics, q: Array, *p: Array) -> None:
    """Raise the `SingularError` of a singular mass matrix at one configuration, for the values p of the parameters."""
    robot = step.robot
    if step.parameters:
        names = robot.description.symbol_names()
        values = {str(x): value for x, value in zip(step.parameters, p[0], strict=True) if str(x) in names}
        robot = Robot(replace_symbols(robot.description, values), _quiet=True)
    if massless_motion(robot.model, q) is not None:
        raise singular_mass_error(robot.model, q)

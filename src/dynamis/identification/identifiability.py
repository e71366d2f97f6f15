"""Why a parameter is unidentifiable: from the joints that move its link and the gravity load on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import printable

if TYPE_CHECKING:
    from dynamis.identification.base_parameters import BaseParameters
    from dynamis.identification.linear_model import LinearModel

Array = npt.NDArray[Any]
NEVER = 1e-12


def reasons(base: BaseParameters) -> dict[str, str]:
    """Return, for every parameter that is not itself a base parameter, the reason."""
    model = base.model
    tilted = _shows_if_tilted(model)
    movers = _movers(model)
    result = {}
    for k in base.dependent:
        partners = [base.names[row] for row in np.flatnonzero(base.B[:, k])]
        owner = model.owner[k]
        alone = _alone(movers.get(owner, ()))
        if partners:
            together = " and ".join(partners) if len(partners) < 3 else ", ".join(partners[:-1]) + " and " + partners[-1]
            text = f"it is identifiable only in combination with {together}"
        elif tilted[k]:
            text = f"gravity does not act on it{alone}: it would be identifiable if the base were tilted"
        else:
            text = f"no torque depends on it{alone}"
        result[model.names[k]] = text
    return result


def _alone(joints: tuple[str, ...]) -> str:
    if len(joints) == 1:
        return f", because only {printable(joints[0])} moves this link"
    if len(joints) == 2:
        return f", because only {printable(joints[0])} and {printable(joints[1])} move this link"
    return ""


def _movers(model: LinearModel) -> dict[str, tuple[str, ...]]:
    """Return the joints between the base and each link."""
    robot = model.robot
    found: dict[int, tuple[int, ...]] = {0: ()}
    for i, body in robot.model.moving:
        found[i] = tuple(dict.fromkeys((*found[body.parent], *body.dof)))
    return {body.name: tuple(robot.coordinate_names[k] for k in found[i]) for i, body in robot.model.moving}


def _shows_if_tilted(model: LinearModel) -> Array:
    """Return whether some torque would depend on a parameter under gravity in another direction."""
    robot = model.robot.replace(gravity=(3.1, -4.2, -7.9))
    rng = np.random.default_rng(3)
    shown = np.zeros(len(model.names), bool)
    for _ in range(3):
        q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.n))
        shown |= np.abs(model.rows(robot, q, v, a, np.ones(model.past_size))).max(axis=0) > NEVER
    return shown

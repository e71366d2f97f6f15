"""Writing identified parameters to a robot and its file, verified by loading the file."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms import regressor
from dynamis.display import as_table, short
from dynamis.errors import InputError, ModelWarning, printable
from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.full_parameters import full_parameters
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.written_drives import set_drives
from dynamis.identification.written_links import set_inertias
from dynamis.model.description import Description, Drive
from dynamis.robot import Robot, load

__all__ = ["Edited", "Written", "edit", "full_parameters", "prove_round_trip", "with_parameters", "write", "write_identified"]

Array = npt.NDArray[Any]

ELSEWHERE = ("coulomb_bias", "rotor_inertia", "gear_ratio", "stiffness", "rest")
STATES = 32


@dataclass(frozen=True, eq=False, repr=False)
class Edited:
    """A robot with new parameters, and notes on those it could not represent or where they were stored."""

    robot: Robot
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Edited {self.robot!r}: {len(self.notes)} notes>"

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class Written:
    """A written file, its robot, notes, and the error of its torques.

    ``difference`` is the largest error over random states, relative to each joint's largest torque.
    """

    path: Path
    robot: Robot
    notes: tuple[str, ...]
    difference: float

    def __repr__(self) -> str:
        return short(
            f"<Written {printable(self.path.name)} of {printable(self.robot.name)}: "
            f"torques within {100.0 * self.difference:.2g} %>"
        )

    _repr_html_ = as_table


def with_parameters(robot: Robot, model: LinearModel, parameters: Any, *, offsets: str = "coulomb_bias") -> Robot:
    """Return a new robot whose torques are ``model.regressor(q, v, a) @ parameters``; `edit` also returns notes.

    >>> import dynamis as dy
    >>> robot = dy.load("ur5e")
    >>> model = dy.identification.LinearModel(robot)
    >>> heavier = with_parameters(robot, model, 1.1 * model.prior)
    >>> round(float(heavier.mass - heavier.model.base.mass), 3)  # of what moves
    19.47
    """
    return edit(robot, model, parameters, offsets=offsets).robot


def edit(robot: Robot, model: LinearModel, parameters: Any, *, offsets: str = "coulomb_bias") -> Edited:
    """Return a new robot with all parameters of a model, and notes.

    A moving body may consist of several links of the file, joined by fixed joints. Fixed links are unchanged and the moving
    link takes the difference, unless it would be physically inconsistent: then it takes everything. Friction and springs of
    mimic joints are treated alike. Terms not in the model (such as rotors) become zero in the new robot. ``offsets`` are stored
    in "coulomb_bias" (equivalent while the joint moves), or dropped with "drop".
    """
    if offsets not in ("coulomb_bias", "drop"):
        raise InputError(f"offsets={offsets!r} is not supported; choose 'coulomb_bias' or 'drop'")
    values = np.asarray(parameters, dtype=float)
    if values.shape != (len(model.names),) or not np.isfinite(values).all():
        raise InputError(f"parameters takes {len(model.names)} finite values, one per parameter; got shape {values.shape}")
    if robot.coordinate_names != model.robot.coordinate_names or robot.link_names != model.robot.link_names:
        raise InputError(f"the model belongs to another robot than {printable(robot.name)}: their joints or links differ")
    description = robot.description
    notes: list[str] = []
    set_inertias(description, robot.model, model, values, notes)
    set_drives(description, robot.model, model, values, notes, offsets)
    return Edited(Robot(description), tuple(notes))


def write(robot: Robot, path: str | os.PathLike[str], form: str = "link") -> tuple[str, ...]:
    """Write a robot as .urdf or .toml, and return notes on extensions of the URDF that only Dynamis reads."""
    robot.write(path, form)
    return _unread(robot.description, Path(path).name) if Path(path).suffix == ".urdf" else ()


def write_identified(
    robot: Robot,
    base: BaseParameters,
    coef: Any,
    path: str | os.PathLike[str],
    *,
    full: Any = None,
    prior: Any = None,
    consistent: bool = True,
    infeasible: str = "raise",
    covariance: Any = None,
    offsets: str = "coulomb_bias",
    form: str = "link",
) -> Written:
    """Write the identified robot to a file, and verify it by loading it.

    ``full`` are all parameters, if known (``PhysicallyConsistent.full_``); by default they are computed by
    `full_parameters`, with the other options.
    """
    if full is None:
        full = full_parameters(base, coef, prior=prior, consistent=consistent, infeasible=infeasible, covariance=covariance)
    edited = edit(robot, base.model, full, offsets=offsets)
    notes = (*edited.notes, *write(edited.robot, path, form))
    return Written(Path(path), edited.robot, notes, prove_round_trip(path, base, coef))


def prove_round_trip(
    path: str | os.PathLike[str], base: BaseParameters, coef: Any, *, states: int = STATES, rng: np.random.Generator | int = 0
) -> float:
    """Return the largest torque error of a file with respect to base parameters, over random states and joints, relative to
    the joint's largest torque. It is about 1e-15 if the file represents all identified terms."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        there = load(path)
    robot = base.model.robot
    if there.coordinate_names != robot.coordinate_names:
        raise InputError(f"{printable(str(path))} has other joints than robot {printable(robot.name)}, or in another order")
    generator = np.random.default_rng(rng)
    q, (v, a) = robot.random(generator, size=states), generator.normal(size=(2, states, robot.n))
    # files cannot hold presliding friction: compared at zero presliding state
    wanted = base.regressor(q, v, a, np.zeros((states, base.model.past_size))) @ np.asarray(coef, dtype=float)
    # not compiled: used once, and the uncompiled algorithm is the reference
    found = np.array([regressor.regressor(there.model, *state) @ there.parameters for state in zip(q, v, a, strict=True)])
    size = np.maximum(np.abs(wanted).max(axis=0), 1e-6 * np.abs(wanted).max())
    return float((np.abs(found - wanted).max(axis=0) / np.maximum(size, 1e-300)).max())


def _unread(description: Description, file: str) -> tuple[str, ...]:
    plain, found = Drive(), []
    moving = [joint for joint in description.joints if joint.type != "fixed"]
    for name in ELSEWHERE:
        joints = [printable(joint.name) for joint in moving if getattr(joint.drive, name) != getattr(plain, name)]
        if joints:
            found.append(f"{name.replace('_', ' ')} of {', '.join(joints)}")
    if not found:
        return ()
    where = "They are stored in <dynamis> elements, which other tools ignore"
    return (f"{printable(file)}: URDF cannot represent {'; '.join(found)}. {where}",)

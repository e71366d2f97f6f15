"""Checks of a payload estimate: the logs as in `identify`, and whether it explains logs with load as well as those without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.corrections import verified
from dynamis.identification.equations import equations
from dynamis.identification.identify import beginning, chosen, look_at
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.logs.examine_torques import FEWEST, examine_torques
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.payload_causes import likeliest, links, parts, refitted, scales
from dynamis.identification.payload_fit import Determined, FittedLoad, PayloadRows, solve
from dynamis.identification.samples import Samples
from dynamis.identification.validation.held_out import Folds
from dynamis.robot import Robot
from dynamis.spatial import PARAMETER_NAMES

Array = npt.NDArray[Any]
DOUBTFUL = 2  # `LogFinding.caps` of findings with which `identify` calls a result doubtful
FAR = 5.0  # residual with load relative to that of the reference: not explained
NOTABLE = 0.05  # residual with load relative to the torque missing in the arm's model: smaller ones do not matter
CLEAR, AGREES = 3.0, 0.05  # difference of two fits: standard errors of the less certain one, and relative
CERTAIN = 5.0  # standard errors of the fit with friction and offsets of their own for the logs with load
PASSES = 3  # iterations of the noise of the joints


def log_doubts(robot: Robot, runs: Sequence[Samples], notes: list[str], *, carrying: Robot | None) -> list[str]:
    """Return findings that make logs doubtful; those with which `identify` rejects a log raise an error, others are notes.

    ``carrying`` is the robot with the load of the logs, if they have one: findings must persist with it.
    """
    doubts: list[str] = []
    for source in dict.fromkeys(run.source for run in runs):
        own = [run for run in runs if run.source == source]
        if sum(map(len, own)) < FEWEST:
            continue
        some, caps = beginning(own), list[LogFinding]()
        findings = examine_torques(some, robot)
        if findings and carrying is not None:
            left = {finding.code for finding in examine_torques(some, carrying)}
            findings = [finding for finding in findings if finding.code in left]
        look_at(findings, notes, caps)
        sure = [kept for finding in caps if (kept := _verified(finding, robot, own)) is not None]
        doubts += [f"{finding.text}; {finding.cure}" for finding in sure if finding.caps >= DOUBTFUL]
        notes += [finding.text for finding in sure if finding.caps < DOUBTFUL]
    return doubts


def _verified(finding: LogFinding, robot: Robot, runs: Sequence[Samples]) -> LogFinding | None:
    base = base_parameters(LinearModel(robot, offset=True))
    try:
        return verified(finding, Folds(equations(base, runs)), runs, chosen("consistent", base))
    except InputError:  # too few samples to hold some out
        return finding


class ResidualFinding(NamedTuple):
    """Why logs with load and without contradict each other, whether that is a ``doubt``, and whether the fit with friction and
    offsets of their own for the logs with load, ``separate``, is the better one."""

    text: str
    doubt: bool
    separate: bool


def residual_finding(
    robot: Robot, rows_of: Callable[[str], PayloadRows], frame: str, common: FittedLoad, separate: FittedLoad
) -> ResidualFinding | None:
    """Return why the residuals with load are not those of the reference, or the weight of the load not that of its inertia;
    None if they are. Friction and offsets are ``common`` to both logs, or ``separate`` ones for the logs with load.

    Another scale of the torques is looked for in any case: the load absorbs most of a small one.
    """
    rows, before, after = rows_of(frame), common.before, common.after
    noise = _without_load(rows)
    tiny = 1e-6 * before.max(initial=0.0)  # of logs without noise
    times = np.where((after > NOTABLE * before) & (after > tiny), after / np.maximum(noise, 1e-300), 0.0)
    j = int(np.argmax(times))
    unit, name = robot.model.coordinates[j].effort_unit, printable(robot.coordinate_names[j])
    text = f"the RMS residual of {name} is {after[j]:.3g} {unit} with load, and {noise[j]:.3g} {unit} in the reference"
    own, far = rows.separated(), times[j] >= FAR
    base, least = refitted(own), np.where(np.arange(robot.n) == j, tiny, NOTABLE * before)

    def explained(left: Array) -> bool:
        return not ((left > FAR * noise) & (left > least)).any()

    causes = [*scales(robot, own), *([*parts(own), *links(robot, frame, rows_of)] if far else [])]
    cause = likeliest(base, causes, explained)
    if cause is not None:
        mass = f"the mass {cause.mass:.4g} kg, standard error {cause.error:.2g} kg"
        text = text if far else "the logs with load and without contradict each other"
        return ResidualFinding(f"{text}: {cause.text}, the residual is {cause.left[j]:.3g} {unit} and {mass}", True, False)
    if far and not explained(base.left):
        cure = (
            "neither another scale of the torques, nor another link with the load, nor a load in a part of the log does: check "
            "that both are of the same arm, with the same signs, units and order of columns, and that the load is rigid"
        )
        return ResidualFinding(f"{text}: the load does not explain the difference of the logs; {cure}", True, False)
    found, k = separate.found, _differing(common.found, separate.found)
    possible = bool(found.filled[0] > -CLEAR * found.standard_errors[0])
    if k is not None:
        text = _contradiction(robot, rows, k, common, separate)
        return ResidualFinding(f"{text}; the values given are those with their own" if possible else text, True, possible)
    if not far:
        return None
    better = possible and bool((found.identifiable >= common.found.identifiable).all())
    text += ": friction or offsets seem to differ between the logs, as by temperature; with their own for the logs with load,"
    text += " from which the values given are," if better else ""
    text += f" the residual is {separate.after[j]:.3g} {unit} and the mass {_value(found, 0)}"
    return ResidualFinding(f"{text}, instead of {_value(common.found, 0)}", False, better)


def _differing(common: Determined, separate: Determined) -> int | None:
    """Return the index of the mass or first moment that clearly differs between the fits; None if none does."""
    errors = np.maximum(CERTAIN * separate.standard_errors[:4], CLEAR * common.standard_errors[:4])
    change = np.abs(separate.filled - common.filled)[:4]
    found = np.flatnonzero(separate.determined[:4] & (change > np.maximum(errors, AGREES * common.plausible[:4])))
    return int(found[0]) if len(found) else None


def _contradiction(robot: Robot, rows: PayloadRows, k: int, common: FittedLoad, separate: FittedLoad) -> str:
    """Describe the difference of the mass or first moment k of two fits, with the offset that it is equal to."""
    column = rows.own + len(rows.belief) + k
    torques = [float(joint.A[joint.loaded, column].mean()) if joint.loaded.any() else 0.0 for joint in rows.joints]
    j = int(np.argmax(np.abs(torques) / np.maximum(separate.after, 1e-300)))
    offset = f"{torques[j] * (common.found.filled[k] - separate.found.filled[k]):.3g} {robot.model.coordinates[j].effort_unit}"
    what, name = "mass" if k == 0 else f"first moment {PARAMETER_NAMES[k]}", printable(robot.coordinate_names[j])
    return (
        f"the {what} is {_value(common.found, k)}, with the friction and offsets of the reference, and "
        f"{_value(separate.found, k)}, with their own for the logs with load: the weight of the load contradicts its inertial "
        f"forces, as with an offset of {offset} of {name} in the logs with load only"
    )


def _value(found: Determined, k: int) -> str:
    unit = "kg" if k == 0 else "kg m"
    return f"{found.filled[k]:.4g} {unit}, standard error {found.standard_errors[k]:.2g} {unit}"


def _without_load(rows: PayloadRows) -> Array:
    """Return the RMS residuals (n) of the logs without load, fitted alone."""
    terms = rows.own + len(rows.belief)
    tables = [np.delete(joint.A, np.s_[terms:-1], axis=1)[~joint.loaded] for joint in rows.joints]
    believed = np.zeros((len(rows.belief), tables[0].shape[1]))
    believed[:, rows.own : terms] = np.diag(rows.belief)
    factors = [np.linalg.qr(A, mode="r") if len(A) > A.shape[1] else A for A in tables]
    noise = np.array([max(float(np.linalg.norm(A[:, -1])) / np.sqrt(max(len(A), 1)), 1e-300) for A in tables])
    for _ in range(PASSES):
        stacked = np.vstack([*(A / s for A, s in zip(factors, noise, strict=True)), believed])
        x = solve(stacked[:, :-1], stacked[:, -1])
        rest = [A[:, -1] - A[:, :-1] @ x for A in tables]
        level = np.array([np.linalg.norm(e) / np.sqrt(max(len(e), 1)) for e in rest])
        noise = np.maximum(level, 1e-9 * level.max() + 1e-300)
    spent = len(x) / len(tables)
    return np.sqrt([float(e @ e) / max(len(e) - spent, 1.0) for e in rest])

"""Mistakes in the columns of measured poses: each is undone, and named if the calibrated robot then predicts held-out poses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, printable
from dynamis.identification.poses import Poses, alignment, checked
from dynamis.identification.static_mistakes import check_angles
from dynamis.robot import Robot

Array = npt.NDArray[Any]
LARGEST_SPAN = 5.0  # of measured positions relative to those of the robot
COARSE = 0.1  # held-out error relative to the spread of the poses, above which they are not those of a nearly correct robot
HALF = 0.5  # ratio of held-out errors after and before: a calibration, or the correction of a mistake, explains most of them
TRIED = 3  # mistakes for which the calibration is repeated


def check_units(robot: Robot, measured: Poses, frame: str | None) -> None:
    """Positions in mm and angles in degrees are recognised by their size."""
    q = checked(measured, robot)
    check_angles(robot, q)
    spans = [float(np.ptp(p, axis=0).max()) for p in (measured.position, robot.pose(q, frame)[:, :3, 3])]
    if not np.ptp(q, axis=0).any():
        raise InputError("all poses were measured at the same joint positions: measure at least 20, far apart from each other")
    if spans[0] < spans[1] / LARGEST_SPAN**2:
        raise InputError(
            f"the measured positions span {spans[0]:.3g} m, those of the robot at these joint positions {spans[1]:.3g} m: "
            "are they the positions of the moving frame, in m?"
        )
    if spans[0] > LARGEST_SPAN * spans[1]:
        raise InputError(
            f"the measured positions span {spans[0]:.3g}, those of the robot {spans[1]:.3g} m: are they in mm? Give them in m"
        )


def doubt(
    robot: Robot,
    measured: Poses,
    frame: str | None,
    before: Array,
    after: Array,
    distances: Array,
    calibrated: Callable[[Poses], Array],
) -> str:
    """Return why a calibration with these held-out errors of position and orientation is nonsense, or "".

    ``distances`` (N,) are the errors of position of each pose, whose median single outliers do not change; ``calibrated``
    returns the held-out errors of other poses, with which suspected mistakes are verified.
    """
    spread = np.sqrt(np.sum((measured.position - measured.position.mean(axis=0)) ** 2) / len(measured))
    # orientations of large motions spread by about 1 rad
    coarse = np.array([np.median(distances) / spread, *after[1:]]) > COARSE
    if not coarse.any():
        return ""
    trials = list(_mistakes(robot))
    for k in np.argsort([_aligned_error(robot, undo(measured), frame) for _, undo in trials], kind="stable")[:TRIED]:
        text, undo = trials[k]
        try:
            then = calibrated(undo(measured))
        except InputError:
            continue
        if (then[coarse] < HALF * np.minimum(after, before)[coarse]).all() and not (then > np.maximum(after, before)).any():
            return f"{text}: corrected, the held-out error is {then[coarse][0]:.3g} instead of {_in_words(after, coarse)}"
    if not (coarse & (after > HALF * before)).any():
        return ""
    return (
        f"the calibrated robot does not explain the poses: the held-out error is {_in_words(after, coarse)}, "
        f"{100.0 * after[0] / spread:.2g} % of the spread of the positions; look for the order, signs and units of the "
        "columns, the measured frame and the file of the robot"
    )


def _in_words(errors: Array, which: Array) -> str:
    return f"{errors[which][0]:.3g} {'m' if which[0] else 'rad'}"


def _mistakes(robot: Robot) -> Iterator[tuple[str, Callable[[Poses], Poses]]]:
    """Yield mistakes in words and their corrections."""
    n, names = robot.n, [printable(name) for name in robot.coordinate_names]
    turning = np.array([c.revolute for c in robot.model.coordinates])

    def scaled(factors: Array) -> Callable[[Poses], Poses]:
        return lambda poses: replace(poses, q=poses.q * factors)

    def swapped(field: str, i: int, j: int) -> Callable[[Poses], Poses]:
        order = np.arange(n if field == "q" else 3)
        order[[i, j]] = j, i
        return lambda poses: replace(poses, **{field: getattr(poses, field)[:, order]})

    for i, one in enumerate(np.eye(n, dtype=bool)):
        yield f"the positions of {names[i]} seem to have the wrong sign", scaled(np.where(one, -1.0, 1.0))
    for i, j in combinations(range(n), 2):
        yield f"the positions of {names[i]} and {names[j]} seem to be exchanged", swapped("q", i, j)
    yield "all joint angles seem to be in degrees", scaled(np.where(turning, np.pi / 180.0, 1.0))
    for i, one in enumerate(np.eye(n, dtype=bool)):
        if turning[i]:
            yield f"the positions of {names[i]} seem to be in degrees", scaled(np.where(one, np.pi / 180.0, 1.0))
    mirrored = "the measured positions seem to be mirrored, as if two of x, y, z were exchanged or one had the wrong sign"
    for i, j in combinations(range(3), 2):  # the same up to the pose of the base, if that is free
        yield mirrored, swapped("position", i, j)


def _aligned_error(robot: Robot, measured: Poses, frame: str | None) -> float:
    """Return the RMS distance of the positions from those of the file's robot, aligned with them."""
    computed = robot.pose(measured.q, frame)[:, :3, 3]
    place = alignment(computed, measured.position)
    return float(np.sqrt(np.mean((measured.position - place.p - computed @ place.R.T) ** 2)))

"""Calibration: joint zeros, lengths, tilts, elasticity, base and tool pose, gains, biases and delays from poses or torques."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_text, counted
from dynamis.errors import InputError, ModelWarning, printable, unknown_name
from dynamis.identification.calibration_rows import AXES, SIX, STATES, Extended, PoseRows, largest_errors, torque_rows
from dynamis.identification.estimators.factors import one_blas_thread
from dynamis.identification.logs.free_fit import TorqueRows
from dynamis.identification.logs.log import Log
from dynamis.identification.nonlinear import Solution, Unknown, held_out_residuals, noise_by_group, solve
from dynamis.identification.pose_mistakes import check_units, doubt
from dynamis.identification.poses import Poses, pose_errors
from dynamis.identification.samples import Samples
from dynamis.identification.validation.distributions import t_quantile
from dynamis.identification.write_back import Written, write
from dynamis.model.description import Description, Fresh, Joint
from dynamis.robot import Robot, load
from dynamis.spatial import rotation
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]
PLACE = ("x", "y", "z", "roll", "pitch", "yaw")
GEOMETRIC = {"zero": ("",), "length": tuple(AXES), "tilt": tuple(AXES), "compliance": ("",), "base": SIX, "tool": SIX}
SIGNALS = {"gain": ("",), "bias": ("",), "delay": ("",)}
LOWEST = {"compliance": 0.0, "gain": -0.9}
CONFIRMED = 2.0  # standard errors of the decrease of held-out errors of torques, from its scatter over blocks of time
OUTLIER = 6.0  # error of a pose, relative to the median, of an outlier


@one_blas_thread()
def calibrate(
    robot: Robot | str | os.PathLike[str],
    measured: Poses | Log | Samples | Sequence[Samples] | str | os.PathLike[str],
    unknowns: Sequence[Unknown | str] | None = None,
    *,
    frame: str | None = None,
    mapping: Any = None,
    signals: Mapping[str, Any] | None = None,
    folds: int = 5,
) -> Calibration:
    """Estimate unknowns of a robot's geometry or sensors from measured poses of a frame, or from a log of torques.

    ``unknowns`` are `Unknown`s or kinds of them, such as "zero" or "length" for all joints; the default is base, tool, zero and
    length for poses, and zero for torques. The first have precedence: one whose effect is a combination of those before it is
    not identifiable and keeps its prior value, as one whose standard error would be too large to be of use. With torques, all
    dynamic parameters are free, so that only ratios of gains are identifiable: "gain" gives those relative to the first joint.
    ``frame`` is the measured frame, by default the tip; ``mapping`` and ``signals`` are those of `identify`. Errors are given
    for measurements in ``folds`` held out of the fit.

    >>> import dynamis as dy, numpy as np
    >>> robot = dy.load("ur5e")
    >>> q = robot.random(0, size=40)
    >>> off = q + [0, 0.02, -0.01, 0, 0, 0]
    >>> found = calibrate(robot, Poses.of(q, robot.pose(off)), ["zero"])
    >>> round(found.values["zero.shoulder_lift_joint"], 6)
    0.02
    """
    robot = robot if isinstance(robot, Robot) else load(robot)
    if robot.nq != robot.n:
        raise InputError(
            f"robot {printable(robot.name)} has joints without one coordinate per degree of freedom: not supported"
        )
    poses = isinstance(measured, Poses)
    chosen = _expanded(unknowns or (("base", "tool", "zero", "length") if poses else ("zero",)), robot, poses)
    if not isinstance(measured, Poses):
        wide = Extended(robot, chosen, frame)
        rows = torque_rows(wide, measured, chosen, mapping, signals)
        return _solved(robot, rows, chosen, robot.coordinate_names, frame, folds)
    check_units(robot, measured, frame)
    found = _of_poses(robot, measured, chosen, frame, folds)

    def again(others: Poses) -> Array:
        return _of_poses(robot, others, chosen, frame, folds).after

    why = doubt(robot, measured, frame, found.before, found.after, found.pose_errors, again)
    return replace(found, doubt=why)


def _of_poses(robot: Robot, measured: Poses, chosen: list[Unknown], frame: str | None, folds: int) -> Calibration:
    groups = ("position [m]", "orientation [rad]")[: 1 if measured.rotation is None else 2]
    return _solved(robot, PoseRows(Extended(robot, chosen, frame), measured, chosen), chosen, groups, frame, folds)


def _solved(
    robot: Robot, rows: PoseRows | TorqueRows, chosen: list[Unknown], groups: Sequence[str], frame: str | None, folds: int
) -> Calibration:
    poses = isinstance(rows, PoseRows)
    free = sum(not u.frozen and np.isinf(u.sigma) for u in chosen)
    if len(rows.group) < 2 * free:
        raise InputError(
            f"{len(rows.group)} measured numbers are too few for {counted(free, 'unknown')} without priors: "
            "measure at least twice as many as there are unknowns, or estimate fewer"
        )
    largest = largest_errors(robot, rows, chosen)
    fitted, vague = list(chosen), np.ones(1, bool)
    while vague.any():
        solution = solve(rows, fitted, group=rows.group, block=rows.block, largest=largest)
        vague = np.array([not u.frozen and np.isinf(u.sigma) for u in fitted]) & (solution.errors > largest)
        without = {*solution.dependent, *[u.name for u, x in zip(fitted, vague, strict=True) if x][-1:]}
        fitted = [replace(u, frozen=u.frozen or u.name in without) for u in fitted]
    dependent = tuple(u.name for u, own in zip(chosen, fitted, strict=True) if own.frozen and not u.frozen)
    solution = replace(solution, dependent=dependent)
    both = held_out_residuals(rows, fitted, solution.values, group=rows.group, block=rows.block, folds=folds)
    count = np.bincount(rows.group) / (3 if poses else 1)
    before, after = (np.sqrt(np.bincount(rows.group, e**2) / count) for e in both)
    own = rows.group == 0  # positions
    errors = np.sqrt(np.bincount(rows.block[own], both[1][own] ** 2)) if poses else np.zeros(0)
    at = getattr(rows, "aligned", Pose.identity())
    freedom = max(len(np.unique(rows.block)) - len(chosen), 1)
    why = "" if isinstance(rows, PoseRows) else _unconfirmed(both, rows)
    return Calibration(robot, tuple(chosen), solution, tuple(groups), before, after, frame or "", at, freedom, errors, why)


def _unconfirmed(residuals: tuple[Array, Array], rows: TorqueRows) -> str:
    """Return why held-out torques do not confirm the unknowns, from their residuals before and after; "" if they do."""
    noise = noise_by_group(residuals[0], rows.group)
    before, after = (np.sqrt(np.bincount(rows.block, (e / noise) ** 2)) for e in residuals)
    gained = before - after
    if gained.mean() > CONFIRMED * gained.std() / np.sqrt(max(len(gained) - 1, 1)):
        return ""
    return (
        "held-out torques are not predicted better with these unknowns than with the values of the file: the log does not "
        "confirm them"
    )


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """The ``solution`` for the ``unknowns``, and the RMS errors ``before`` and ``after`` on held-out measurements, by
    ``groups``: position and orientation, or the joints' torques. ``aligned`` is the pose of the base in the measuring
    frame to which the unknowns "base" are corrections; ``freedom`` are the degrees of freedom of the intervals; ``pose_errors``
    [m] are the distances between each measured position and that predicted with it held out. ``doubt`` says why the errors are
    too large for a calibration of measured poses, or that held-out torques do not confirm the unknowns; else it is empty."""

    original: Robot
    unknowns: tuple[Unknown, ...]
    solution: Solution
    groups: tuple[str, ...]
    before: Array
    after: Array
    frame: str
    aligned: Pose
    freedom: int
    pose_errors: Array
    doubt: str = ""

    @property
    def values(self) -> dict[str, float]:
        """The unknowns by name."""
        return {u.name: float(x) for u, x in zip(self.unknowns, self.solution.values, strict=True)}

    @property
    def errors(self) -> dict[str, float]:
        """The standard errors by name; NaN for unknowns that are frozen or not identifiable."""
        fixed = {u.name for u in self.unknowns if u.frozen} | set(self.solution.dependent)
        both = zip(self.unknowns, self.solution.errors, strict=True)
        return {u.name: float("nan") if u.name in fixed else float(x) for u, x in both}

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The 95 % confidence intervals by name."""
        wide, errors = t_quantile(self.freedom, 0.975), self.errors
        return {name: (x - wide * errors[name], x + wide * errors[name]) for name, x in self.values.items()}

    @property
    def outliers(self) -> tuple[int, ...]:
        """The indices of poses whose error is many times the median, the largest first."""
        errors = self.pose_errors
        order = np.argsort(-errors, kind="stable")
        return tuple(int(k) for k in order if errors[k] > OUTLIER * np.median(errors))

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """The unknowns whose effect is a combination of those of others, or whose standard error would be too large to be of
        use; they keep their prior values."""
        return self.solution.dependent

    @property
    def base(self) -> Pose:
        """The pose of the robot's base in the measuring frame."""
        return self.aligned @ self._six("base")

    @property
    def base_intervals(self) -> dict[str, tuple[float, float]]:
        """The 95 % confidence intervals of x, y, z [m], roll, pitch and yaw [rad] of `base`."""
        loose, (theta, P) = np.isnan(list(self.errors.values())), (self.solution.values, self.solution.covariance)
        errors = pose_errors(lambda x: self.aligned @ self._six("base", x), theta, P, loose)
        halves, values = t_quantile(self.freedom, 0.975) * errors, [*self.base.p, *rotation.to_rpy(self.base.R)]
        return {name: (float(x - d), float(x + d)) for name, x, d in zip(PLACE, values, halves, strict=True)}

    def _six(self, kind: str, values: Array | None = None) -> Pose:
        place = Pose.identity()
        for unknown, value in zip(self.unknowns, self.solution.values if values is None else values, strict=True):
            if unknown.kind == kind:
                place = place @ _displaced(np.array(AXES[unknown.axis[-1]]), float(value), unknown.axis.startswith("r"))
        return place

    @property
    def robot(self) -> Robot:
        """The robot with the estimated geometry; elasticity, gains, biases, delays and the base pose are not part of it."""
        description = self.original.description
        for unknown, value in zip(self.unknowns, map(float, self.solution.values), strict=True):
            if unknown.kind in ("zero", "length", "tilt") and value != 0.0:
                _correct(description.joint(unknown.joint), unknown, value)
        if any(u.kind == "tool" for u in self.unknowns):
            _move_frame(description, self.original.model.frame(self.frame or None), self._six("tool"))
        return Robot(description, _quiet=True)

    def write(self, path: str | os.PathLike[str]) -> Written:
        """Write the calibrated robot as .urdf or .toml; ``difference`` is the largest deviation of a link's pose, read back.

        A calibration with a `doubt` is not written.
        """
        if self.doubt:
            raise InputError(f"the calibrated robot is not written: {self.doubt}")
        robot = self.robot
        notes = write(robot, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            there = load(path)
        q = robot.random(0, size=STATES)
        apart = [np.abs(robot.pose(q, name) - there.pose(q, name)).max() for name in robot.link_names]
        return Written(Path(path), robot, notes, float(max(apart)))

    def __repr__(self) -> str:
        fitted = len(self.unknowns) - len(self.unidentifiable)
        return f"<Calibration of {self.original.name!r}: {fitted} of {counted(len(self.unknowns), 'unknown')}>"

    def __str__(self) -> str:
        parts = zip(self.groups, self.before, self.after, strict=True)
        lines = [repr(self), *(f"held-out error, {name}: {old:.3g} before, {new:.3g} after" for name, old, new in parts)]
        spans = self.intervals
        if any(u.kind == "base" for u in self.unknowns):
            both = zip([*self.base.p, *rotation.to_rpy(self.base.R)], self.base_intervals.items(), strict=True)
            place = (f"{name} {x:.6g} ± {x - low:.2g}" for x, (name, (low, _)) in both)
            lines.append(f"base in the measuring frame [m, rad]: {', '.join(place)}")
        for name, value in ((u.name, self.values[u.name]) for u in self.unknowns if u.kind != "base"):
            half = value - spans[name][0]
            lines.append(f"{name}: {value:.6g}" + (f" ± {half:.2g}" if np.isfinite(half) else " (prior value)"))
        return "\n".join([*lines, *([f"doubtful: {self.doubt}"] if self.doubt else [])])

    _repr_html_ = as_text


def _expanded(given: Sequence[Unknown | str], robot: Robot, poses: bool) -> list[Unknown]:
    """Return the unknowns, with kinds replaced by those of all joints and axes."""
    kinds = GEOMETRIC if poses else {**{k: GEOMETRIC[k] for k in ("zero", "length", "tilt", "compliance")}, **SIGNALS}
    names, found = robot.coordinate_names, list[Unknown]()
    for each in given:
        if isinstance(each, Unknown):
            found.append(each)
            if each.change is not None:
                if poses:
                    raise InputError(f"unknown {each.name}: change= corrects logs of torques, not poses")
                continue
        kind = each.kind if isinstance(each, Unknown) else each
        if kind not in kinds:
            raise unknown_name("kind of unknown", kind, kinds)
        if isinstance(each, Unknown):
            if each.axis not in kinds[kind]:
                expected = ", ".join(filter(None, kinds[kind])) or "none"
                raise InputError(f"unknown {each.name}: axis={each.axis!r}; expected {expected}")
            if kind not in ("base", "tool", "delay") and each.joint not in names:
                raise unknown_name("joint", each.joint, names)
            continue
        whose = ("",) if each in ("base", "tool", "delay") else names
        found += [Unknown(each, joint, axis) for joint in (whose[::-1] if each == "gain" else whose) for axis in kinds[each]]
    found = [replace(u, lower=max(u.lower, min(LOWEST.get(u.kind, -np.inf), u.prior))) for u in found]
    twice = [u.name for u in found if [x.name for x in found].count(u.name) > 1]
    if twice or not found:
        raise InputError(f"unknown {twice[0]} is given twice" if twice else "no unknowns given: give one, such as 'zero'")
    return found


def _displaced(axis: Array, value: float, turning: bool) -> Pose:
    return Pose.rotation(rotation.about_axis(axis, value)) if turning else Pose.translation(value * axis)


def _correct(joint: Joint, unknown: Unknown, value: float) -> None:
    """Change the origin of a joint by an unknown."""
    if unknown.kind == "length":
        joint.origin = Pose(joint.origin.R, joint.origin.p + value * np.array(AXES[unknown.axis]))
    elif unknown.kind == "tilt":
        joint.origin = joint.origin @ _displaced(np.array(AXES[unknown.axis]), value, True)
    elif joint.type in ("revolute", "continuous", "prismatic"):
        joint.origin = joint.origin @ _displaced(joint.axis, value, joint.type != "prismatic")
        joint.limits = replace(joint.limits, lower=joint.limits.lower - value, upper=joint.limits.upper - value)
    else:
        raise InputError(f"the zero of joint {printable(joint.name)} cannot be written: it is a {joint.type} joint")


def _move_frame(description: Description, frame: Any, place: Pose) -> None:
    """Move a frame that a fixed joint carries; another one gets a frame named "tool" beside it."""
    for joint in description.joints:
        if joint.child == frame.name and joint.type == "fixed":
            joint.origin = joint.origin @ place
            return
    taken = [link.name for link in description.links]
    description.add_link(Fresh(taken).name("tool"), frame.name, origin=place)

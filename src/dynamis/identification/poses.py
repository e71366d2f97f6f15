"""Measured poses of a frame, by a laser tracker or a camera, with the joint positions at which they were measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, counted
from dynamis.errors import InputError, printable
from dynamis.identification.logs.column_names import locking
from dynamis.identification.logs.csv_table import CsvTable
from dynamis.identification.logs.units import LENGTHS, bare, factor
from dynamis.robot import Robot
from dynamis.spatial import rotation
from dynamis.spatial.pose import Pose
from dynamis.tolerances import CENTRAL_DIFFERENCE_STEP, NEGLIGIBLE

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Poses:
    """Measured poses of a frame: joint positions ``q`` (N, n), ``position`` (N, 3) and, if measured, ``rotation`` (N, 3, 3)."""

    q: Array
    position: Array
    rotation: Array | None = None

    @classmethod
    def of(cls, q: Any, poses: Any) -> Poses:
        """Return poses from positions (N, 3), positions and quaternions x, y, z, w (N, 7), or matrices (N, 4, 4).

        >>> Poses.of(np.zeros((5, 6)), np.zeros((5, 3)))
        <Poses: 5 positions>
        """
        q, given = np.asarray(q, float), np.asarray(poses, float)
        shapes = "(N, 3), (N, 7) or (N, 4, 4)"
        if q.ndim != 2 or given.shape[:1] != q.shape[:1] or given.shape[1:] not in ((3,), (7,), (4, 4)):
            raise InputError(f"q has shape {q.shape} and the poses {given.shape}; expected (N, joints) and {shapes}")
        if not (np.isfinite(q).all() and np.isfinite(given).all()):
            raise InputError("some joint positions or poses are not finite numbers: leave these measurements out")
        if given.ndim == 3:
            return cls(q, given[:, :3, 3], given[:, :3, :3])
        if given.shape[1] == 3:
            return cls(q, given)
        lengths = np.linalg.norm(given[:, 3:], axis=1, keepdims=True)
        if (np.abs(lengths - 1.0) > 0.01).any():
            raise InputError("quaternions x, y, z, w of the poses must have unit length")
        return cls(q, given[:, :3], np.array([rotation.from_quaternion(x) for x in given[:, 3:] / lengths]))

    @classmethod
    def read(cls, path: str | os.PathLike[str], robot: Robot) -> Poses:
        """Read a CSV file with a column for each joint (its name, or q1, q2, …), x, y, z and optionally qx, qy, qz, qw.

        Units are rad and m, or those in the names of the columns, such as "q1 [deg]" and "x [mm]".
        """
        table = CsvTable(Path(path))
        columns = {name: (column, unit or "m") for column in table.names for name, unit in [bare(column, "position")]}
        ways = [list(robot.coordinate_names), [f"q{k + 1}" for k in range(robot.n)]]
        names = max(ways, key=lambda way: sum(name in columns for name in way))
        wanted = [*names, "x", "y", "z"]
        if "qw" in columns:
            wanted += ["qx", "qy", "qz", "qw"]
        missing = [name for name in wanted if name not in columns]
        if missing:
            expected = f"{', '.join(names)}, x, y, z and, if measured, qx, qy, qz, qw"
            joints = [joint for joint, name in zip(robot.coordinate_names, names, strict=True) if name in missing]
            cure = f"; {locking(joints)}" if 0 < 2 * len(joints) < robot.n else ""
            lacks = f"has no column {', '.join(map(printable, missing))}"
            raise InputError(f"{printable(str(path))} {lacks}; expected {expected}{cure}")
        lengths = [not c.revolute for c in robot.model.coordinates] + [True] * 3
        for name, length in zip(wanted, lengths, strict=False):
            column, unit = columns[name]
            if column != name and length != (unit in LENGTHS):
                raise InputError(f"{printable(str(path))}: column {printable(column)} has a unit of {_kind(not length)}")
        scale = np.array([factor("position", columns[name][1]) for name in wanted])
        blocks = [np.column_stack(block.columns) for block in table.blocks([columns[x][0] for x in wanted], 1 << 16)]
        values = np.concatenate(blocks).astype(float) * scale
        return cls.of(values[:, : robot.n], values[:, robot.n :])

    def without(self, poses: Sequence[int]) -> Poses:
        """Return all but some poses, given by their indices.

        >>> Poses.of(np.zeros((5, 6)), np.zeros((5, 3))).without([0, 3])
        <Poses: 3 positions>
        """
        if wrong := [k for k in poses if not 0 <= k < len(self)]:
            raise InputError(f"there is no pose {wrong[0] + 1} to leave out: there are {len(self)}")
        kept = np.setdiff1d(np.arange(len(self)), poses)
        return Poses(self.q[kept], self.position[kept], None if self.rotation is None else self.rotation[kept])

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        return f"<Poses: {len(self)} {'positions' if self.rotation is None else 'poses'}>"

    _repr_html_ = as_table


def pose_errors(pose: Callable[[Array], Pose], values: Array, covariance: Array, unknown: Array) -> Array:
    """Return the standard errors (6,) of x, y, z [m], roll, pitch and yaw [rad] of a pose that depends on uncertain values;
    NaN for those that depend on values in the mask ``unknown``."""

    def numbers(x: Array) -> Array:
        there = pose(x)
        return np.concatenate([there.p, rotation.to_rpy(there.R)])

    steps = CENTRAL_DIFFERENCE_STEP * np.eye(len(values))
    change = np.array([numbers(values + step) - numbers(values - step) for step in steps]).reshape(-1, 6)
    change[:, 3:] = np.remainder(change[:, 3:] + np.pi, 2.0 * np.pi) - np.pi  # of angles near ±π
    J = change.T / (2.0 * CENTRAL_DIFFERENCE_STEP)
    errors = np.sqrt(np.maximum(np.diag(J @ covariance @ J.T), 0.0))
    return np.where((np.abs(J[:, unknown]) > NEGLIGIBLE).any(axis=1), np.nan, errors)


def checked(measured: Poses, robot: Robot) -> Array:
    if measured.q.shape[1] != robot.n:
        raise InputError(
            f"{measured!r} has {counted(measured.q.shape[1], 'joint')}; robot {printable(robot.name)} has {robot.n}"
        )
    return measured.q


def alignment(computed: Array, measured: Array) -> Pose:
    """Return the pose of the base that brings computed positions closest to measured ones [Kabsch 1976]."""
    a, b = computed - computed.mean(axis=0), measured - measured.mean(axis=0)
    U, _, Vt = np.linalg.svd(b.T @ a)
    R = U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt
    return Pose(R, measured.mean(axis=0) - R @ computed.mean(axis=0))


def _kind(length: bool) -> str:
    return "length" if length else "angle"

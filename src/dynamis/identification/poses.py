"""Measured poses of a frame, by a laser tracker or a camera, with the joint positions at which they were measured."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table
from dynamis.errors import InputError, printable
from dynamis.identification.logs.table import CsvTable
from dynamis.robot import Robot
from dynamis.spatial import rotation

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
        """Read a CSV file with a column for each joint (its name, or q1, q2, …), x, y, z [m] and optionally qx, qy, qz, qw."""
        table = CsvTable(Path(path))
        names = list(robot.coordinate_names)
        if not set(names) <= set(table.names):
            names = [f"q{k + 1}" for k in range(robot.n)]
        wanted = [*names, "x", "y", "z"]
        if "qw" in table.names:
            wanted += ["qx", "qy", "qz", "qw"]
        missing = [name for name in wanted if name not in table.names]
        if missing:
            expected = f"{', '.join(names)}, x, y, z and, if measured, qx, qy, qz, qw"
            raise InputError(f"{printable(str(path))} has no column {printable(missing[0])}; expected {expected}")
        blocks = [np.column_stack(block.columns) for block in table.blocks(wanted, 1 << 16)]
        values = np.concatenate(blocks).astype(float)
        return cls.of(values[:, : robot.n], values[:, robot.n :])

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        return f"<Poses: {len(self)} {'positions' if self.rotation is None else 'poses'}>"

    _repr_html_ = as_table

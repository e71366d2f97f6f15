"""Files of motions: time, positions, velocities and accelerations by the names of the joints."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.files.atomic_write import write_file
from dynamis.files.paths import path_of
from dynamis.robot import Robot
from dynamis.robot.checks import check_is_robot

Array = npt.NDArray[Any]


def columns(states: Sequence[Array], robot: Robot | None) -> dict[str, Array]:
    """t (N) and q, v, a (N, n) of each joint, such as q.elbow; without a robot q1, q2, …"""
    t, *values = states
    if values[0].ndim != 2:
        raise InputError("a motion of one variable has no joints: save one of joints, such as that of joint_move")
    n = values[0].shape[1]
    if robot is not None:
        check_is_robot(robot)
        if (robot.n, robot.nq) != (n, n):
            raise InputError(
                f"the motion has {counted(n, 'joint')}, robot {printable(robot.name)} {counted(robot.n, 'coordinate')}"
            )
    names = [f".{name}" for name in robot.coordinate_names] if robot is not None else [str(k + 1) for k in range(n)]
    table = {"t": t}
    for letter, x in zip("qva", values, strict=True):
        table |= {f"{letter}{name}": x[:, k] for k, name in enumerate(names)}
    return table


def save(states: Sequence[Array], path: str | os.PathLike[str], robot: Robot | None) -> Path:
    """Write (t, q, v, a) as a table; the suffix determines the format."""
    target, table = path_of(path), columns(states, robot)
    match target.suffix:
        case ".csv":
            text = io.StringIO()
            csv.writer(text).writerow(table)
            np.savetxt(text, np.column_stack(list(table.values())), delimiter=",", fmt="%.17g", newline="\r\n")
            return write_file(target, text.getvalue().encode())
        case ".npz":
            data = io.BytesIO()
            arrays: dict[str, Any] = {name.replace("/", "_"): x for name, x in table.items()}  # names of files
            np.savez_compressed(data, **arrays)
            return write_file(target, data.getvalue())
    raise InputError(f"{printable(target.name)}: the suffix must be .csv or .npz")

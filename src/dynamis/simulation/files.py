"""Trajectories in files: NumPy's .npz, .csv with named columns, .parquet."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError, printable

if TYPE_CHECKING:
    from dynamis.simulation.trajectory import Trajectory


def columns(trajectory: Trajectory) -> dict[str, Any]:
    """One named column for each number of a state, in SI units."""
    robot = trajectory.robot
    names = robot.coordinate_names
    q_names = names if robot.nq == robot.n else [f"q[{k}]" for k in range(robot.nq)]
    table: dict[str, Any] = {"t": trajectory.t}
    table |= {f"q.{name}": trajectory.q[:, k] for k, name in enumerate(q_names)}
    for letter in ("v", "tau", "friction"):
        values = getattr(trajectory, letter)
        table |= {f"{letter}.{name}": values[:, k] for k, name in enumerate(names)}
    return table | {
        "kinetic_energy": trajectory.kinetic_energy,
        "potential_energy": trajectory.potential_energy,
        "work": trajectory.work,
    }


def save(trajectory: Trajectory, path: str | os.PathLike[str]) -> Path:
    """Write a trajectory; the suffix says how."""
    target = Path(path)
    table = columns(trajectory)
    note = {"robot": trajectory.robot.name, "status": trajectory.status, "events": [str(e) for e in trajectory.events]}
    try:
        match target.suffix:
            case ".npz":
                np.savez_compressed(target, note=np.array(json.dumps(note)), **_npz_names(table))
            case ".csv":
                header = ",".join(map(_csv_name, table))
                rows = np.column_stack(list(table.values()))
                np.savetxt(target, rows, delimiter=",", header=header, comments="", fmt="%.17g", encoding="utf-8")
            case ".parquet":
                _parquet(target, table, note)
            case _:
                raise InputError(f"{printable(target.name)}: name the file .npz, .csv or .parquet")
    except OSError as error:
        raise InputError(f"{printable(str(target))} cannot be written: {error.strerror or error}") from None
    return target


def _npz_names(table: dict[str, Any]) -> dict[str, Any]:
    """The columns by names that can be files in an archive; where two would become one, a number tells them apart."""
    named: dict[str, Any] = {}
    for name, values in table.items():
        plain = free = name.replace("/", "_")
        k = 2
        while free in named:
            free, k = f"{plain}_{k}", k + 1
        named[free] = values
    return named


def _csv_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"\n\r') else name


def _parquet(target: Path, table: dict[str, Any], note: dict[str, Any]) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Parquet files need pyarrow: pip install 'dynamis[parquet]'") from None
    made = pyarrow.table(table).replace_schema_metadata({"dynamis": json.dumps(note)})
    parquet.write_table(made, target)

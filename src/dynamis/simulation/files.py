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
                np.savez_compressed(
                    target, note=np.array(json.dumps(note)), **{k.replace("/", "_"): v for k, v in table.items()}
                )
            case ".csv":
                header = ",".join(f'"{name}"' if "," in name else name for name in table)
                rows = np.column_stack(list(table.values()))
                np.savetxt(target, rows, delimiter=",", header=header, comments="", fmt="%.17g")
            case ".parquet":
                _parquet(target, table, note)
            case _:
                raise InputError(f"{printable(target.name)}: name the file .npz, .csv or .parquet")
    except OSError as error:
        raise InputError(f"{printable(str(target))} cannot be written: {error.strerror}") from None
    return target


def _parquet(target: Path, table: dict[str, Any], note: dict[str, Any]) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Parquet files need pyarrow: pip install 'dynamis[parquet]'") from None
    made = pyarrow.table(table).replace_schema_metadata({"dynamis": json.dumps(note)})
    parquet.write_table(made, target)

"""Output of trajectories: NumPy's .npz, .csv with named columns, .parquet, and .json for viewers.

Files are written atomically.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError, MissingExtraError, printable
from dynamis.files.atomic_write import write_file
from dynamis.files.paths import path_of
from dynamis.robot import Robot
from dynamis.simulation.loops.loop_trajectory import LoopTrajectory
from dynamis.simulation.loops.stored import stored
from dynamis.simulation.resume import model_digest
from dynamis.simulation.trajectory import FinalState, Trajectory

Array = npt.NDArray[Any]
Table = dict[str, Any]
FORMAT = "dynamis motion 1"
COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")
PARQUET_NEEDS = "Parquet files need pyarrow: pip install 'dynamis[parquet]'"


def columns(trajectory: Trajectory) -> Table:
    """One named column per component of the state, in SI units."""
    robot = trajectory.robot
    table: Table = {"t": trajectory.t}
    for letter, names in letters_of(robot, getattr(trajectory, "stop_torque", None) is not None).items():
        values = getattr(trajectory, letter)
        table |= {f"{letter}.{name}": values[:, k] for k, name in enumerate(names)}
        if letter == "v":  # accelerations follow from the others, and are not read back
            table |= {f"a.{name}": trajectory.acceleration[:, k] for k, name in enumerate(names)}
    for frame, wrench in trajectory.wrenches.items():
        table |= {f"wrench.{frame}.{c}": wrench[:, k] for k, c in enumerate(COMPONENTS)}
    for name, states in trajectory.actuator_states.items():
        table |= {f"actuator.{name}.{k}": states[:, k] for k in range(states.shape[1])}
    return table | {
        "kinetic_energy": trajectory.kinetic_energy,
        "potential_energy": trajectory.potential_energy,
        "work": trajectory.work,
    }


def letters_of(robot: Robot, stops: bool) -> dict[str, Any]:
    """The arrays with one column per joint, and their names; ``stops`` states whether stop torques are included."""
    names = robot.coordinate_names
    q_names = names if robot.nq == robot.n else [f"q[{k}]" for k in range(robot.nq)]
    letters: dict[str, Any] = {"q": q_names, "v": names, "tau": names, "friction": names}
    return {**letters, "stop_torque": names} if stops else letters


def save(trajectory: Trajectory, path: str | os.PathLike[str]) -> Path:
    """Write a trajectory; the suffix determines the format."""
    target = path_of(path)
    match target.suffix:
        case ".npz":
            data = _npz(trajectory)
        case ".csv":
            data = _csv(columns(trajectory))
        case ".parquet":
            data = _parquet(columns(trajectory), _note(trajectory))
        case ".json":
            data = json.dumps(trajectory.animation(), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        case _:
            raise InputError(f"{printable(target.name)}: the suffix must be .npz, .csv or .parquet, or .json for a viewer")
    return write_file(target, data)


def _note(trajectory: Trajectory) -> dict[str, Any]:
    """Metadata that the table does not contain."""
    counts = {k: x for k, x in trajectory.statistics.items() if isinstance(x, int | float | str)}
    return {
        "format": FORMAT,
        "robot": trajectory.robot.name,
        "fingerprint": model_digest(trajectory.robot),
        "status": trajectory.status,
        "events": [dataclasses.asdict(e) for e in trajectory.events],
        "statistics": counts,
        **(stored(trajectory) if isinstance(trajectory, LoopTrajectory) else {}),
    }


def _npz(trajectory: Trajectory) -> bytes:
    table, note = columns(trajectory), _note(trajectory)
    arrays = dict(zip(npz_names(table), table.values(), strict=True))
    if trajectory.final_state is not None:
        note["stop"], extra = _stop_parts(trajectory.final_state)
        arrays |= extra
    stream = io.BytesIO()
    np.savez_compressed(stream, note=np.array(json.dumps({**note, "columns": list(table)})), **arrays)
    return stream.getvalue()


def _stop_parts(stop: FinalState) -> tuple[dict[str, Any], dict[str, Array]]:
    """The final state, as JSON values and as arrays."""
    note: dict[str, Any] = {"t": stop.t, "inside": list(stop.inside), "adaptive": stop.adaptive}
    note |= {name: [list(x) for x in getattr(stop, name).items()] for name in ("directions", "resting")}
    arrays = {"at_stop.y": stop.y, "at_stop.planned": stop.planned}
    if stop.samples is not None:
        s = stop.samples
        note["samples"] = {"rate": s.rate, "delay": s.delay, "origin": s.origin, "count": s.count}
        arrays |= {"at_stop.times": s.times, "at_stop.torques": s.torques}
        arrays |= {f"at_stop.{name}": x for name, x in (("seen", s.seen), ("states", s.states)) if x is not None}
    return note, arrays


def npz_names(names: Any) -> list[str]:
    """Column names as valid archive file names; a number distinguishes duplicates."""
    given: dict[str, None] = {}
    for name in names:
        plain = free = name.replace("/", "_")
        k = 2
        while free in given:
            free, k = f"{plain}_{k}", k + 1
        given[free] = None
    return list(given)


def _csv(table: Table) -> bytes:
    text = io.StringIO(newline="")
    np.savetxt(text, np.column_stack(list(table.values())), delimiter=",", header=",".join(map(_csv_name, table)),
               comments="", fmt="%.17g")  # fmt: skip
    return text.getvalue().encode()


def _csv_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"\n\r') else name


def _parquet(table: Table, note: dict[str, Any]) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError(PARQUET_NEEDS) from None
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(table).replace_schema_metadata({"dynamis": json.dumps(note)}), stream)
    return stream.getvalue()

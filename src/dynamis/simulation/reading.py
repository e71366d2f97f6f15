"""Input of trajectories from .npz, .csv and .parquet files.

Contents are validated: damaged files, other formats and files of another robot are rejected. No code from a file is executed.
"""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import DynamisError, InputError, MissingExtraError, escaped, printable, reason_of
from dynamis.files.limits import array_header, check_size
from dynamis.files.paths import path_of
from dynamis.robot import Robot
from dynamis.simulation.events import EventRecord
from dynamis.simulation.files import COMPONENTS, FORMAT, PARQUET_NEEDS, Table, letters_of, npz_names
from dynamis.simulation.loops.constrained_robot import ConstrainedRobot
from dynamis.simulation.loops.stored import with_loops
from dynamis.simulation.motion import controller_name
from dynamis.simulation.resume import model_digest
from dynamis.simulation.sampling import Samples
from dynamis.simulation.trajectory import FinalState, Trajectory
from dynamis.tolerances import FILE_PRECISION

Array = npt.NDArray[Any]
Contents = tuple[Table, dict[str, Any] | None, dict[str, Array]]  # columns, what else is known, what resuming needs


class _WrongFileError(Exception):
    """A defect of a file; the file name is added by the caller."""


def load(path: str | os.PathLike[str], robot: Robot | ConstrainedRobot) -> Trajectory:
    """The motion of this robot from a file."""
    constrained = robot if isinstance(robot, ConstrainedRobot) else None
    robot = robot.robot if isinstance(robot, ConstrainedRobot) else robot
    if not isinstance(robot, Robot):
        raise InputError(f"Trajectory.load takes a file and its robot, got {type(robot).__name__}; dynamis.load gives one")
    source = path_of(path)
    readers = {".npz": _read_npz, ".csv": _read_csv, ".parquet": _read_parquet}
    if source.suffix not in readers:
        raise InputError(f"{printable(source.name)}: a motion file must be .npz, .csv or .parquet")
    try:
        table, note, arrays = readers[source.suffix](source.read_bytes(), printable(str(source), 400))
        with _reading("its contents are inconsistent"):
            return with_loops(_motion(robot, table, note, arrays, source.name), note, constrained)
    except OSError as error:
        raise InputError(f"{printable(str(source), 400)} cannot be read: {error.strerror or error}") from None
    except _WrongFileError as wrong:
        raise InputError(f"{printable(str(source), 400)} is not a motion of {printable(robot.name)}: {wrong}") from None


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Convert any exception on damaged contents to the message that the file is invalid."""
    try:
        yield
    except (_WrongFileError, DynamisError):
        raise
    except KeyError as missing:
        raise _WrongFileError(f"{what}: it has no {printable(missing.args[0])}; save the motion again") from None
    except Exception as error:  # libraries meet damaged bytes with whatever breaks first
        raise _WrongFileError(f"{what} ({type(error).__name__}: {reason_of(error)}); save the motion again") from None


def _read_npz(data: bytes, label: str) -> Contents:
    with _reading("it is damaged or of another format"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            check_size(label, sum(info.file_size for info in members), len(data))
            for info in members:
                if not array_header(archive, info).fits:
                    raise ValueError(f"{info.filename} does not have the number of bytes of its shape")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays_of:
            arrays = {name: arrays_of[name] for name in arrays_of.files}
        note = json.loads(str(arrays.pop("note")))
        named = list(map(str, note["columns"]))
        table = {name: arrays.pop(stored) for name, stored in zip(named, npz_names(named), strict=True)}
    return table, note, arrays


def _read_csv(data: bytes, label: str) -> Contents:  # noqa: ARG001 - as the other readers
    try:
        header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    except (ValueError, csv.Error):
        raise _WrongFileError("it is not a table of numbers with a header row") from None
    for k, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise _WrongFileError(
                f"row {k} has {counted(len(row), 'number')} for {counted(len(header), 'column')}: the file was cut or edited"
            )
    try:
        values = np.array(rows, dtype=float).reshape(len(rows), len(header))
    except ValueError as error:
        raise _WrongFileError(f"it contains a value that is not a number ({reason_of(error)})") from None
    return {name: values[:, k].copy() for k, name in enumerate(header)}, None, {}


def _read_parquet(data: bytes, label: str) -> Contents:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError(PARQUET_NEEDS) from None
    with _reading("it is damaged or of another format"):
        metadata = parquet.read_metadata(pyarrow.BufferReader(data))
        unpacked = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
        check_size(label, max(unpacked, 8 * metadata.num_rows * metadata.num_columns), len(data))
        read = parquet.read_table(pyarrow.BufferReader(data))
        table = {name: read[name].to_numpy() for name in read.column_names}
        stored = (read.schema.metadata or {}).get(b"dynamis")
        return table, None if stored is None else json.loads(stored), {}


def _motion(robot: Robot, table: Table, note: Any, arrays: dict[str, Array], name: str) -> Trajectory:
    _check_numbers(table)
    if note is not None and not (isinstance(note, dict) and note.get("format") == FORMAT):
        raise _WrongFileError(f"its format is not {FORMAT!r}; save the motion again")
    letters = letters_of(robot, any(column.startswith("stop_torque.") for column in table))
    parts: dict[str, Any] = {x: _matrix(table, [f"{x}.{name}" for name in names]) for x, names in letters.items()}
    drives = _drives(robot, table)
    robot = _moving_robot(robot, drives, table, parts, note)
    status = f"read from {printable(name)}, which does not contain the final status"
    facts: dict[str, Any] = {"status": status}
    if note is not None:
        statistics = {escaped(str(name)): x for name, x in (note.get("statistics") or {}).items()}
        facts = {"status": escaped(str(note.get("status"))), "events": _events(note), "statistics": statistics}
        if "stop" in note:
            facts["final_state"] = _stop(note["stop"], arrays, robot)
    return Trajectory(
        robot=robot, t=table["t"], work=_column(table, "work"), wrenches=_wrenches(robot, table), actuator_states=drives,
        **parts, **facts,
    )  # fmt: skip


def _check_numbers(table: Table) -> None:
    lengths = {len(x) if getattr(x, "ndim", 0) == 1 and x.dtype.kind in "fiu" else -1 for x in table.values()}
    if len(lengths) != 1 or min(lengths) < 1:
        raise _WrongFileError("its columns are not numbers, or not of equal length; save the motion again")
    for name, values in table.items():
        table[name] = np.asarray(values, dtype=float)
        if not np.isfinite(table[name]).all():
            raise _WrongFileError(f"column {printable(name)} contains a value that is not finite")
    if np.any(np.diff(_column(table, "t")) <= 0):
        raise _WrongFileError("its times are not increasing")


def _column(table: Table, name: str) -> Array:
    if name not in table:
        known = ", ".join(map(printable, list(table)[:6])) + (", …" if len(table) > 6 else "")
        raise _WrongFileError(f"column {printable(name)} is missing (present: {known}); give the robot that was simulated")
    return np.asarray(table[name])


def _matrix(table: Table, names: list[str]) -> Array:
    return np.column_stack([_column(table, name) for name in names]) if names else np.zeros((len(table["t"]), 0))


def _wrenches(robot: Robot, table: Table) -> dict[str, Array]:
    frames = [name[len("wrench.") : -len(".fx")] for name in table if name.startswith("wrench.") and name.endswith(".fx")]
    for frame in frames:
        if frame not in robot.model.frames:
            what = f"the robot has no frame {printable(frame)}, on which a wrench acted"
            raise _WrongFileError(f"{what}; give the robot that was simulated")
    return {frame: _matrix(table, [f"wrench.{frame}.{c}" for c in COMPONENTS]) for frame in frames}


def _drives(robot: Robot, table: Table) -> dict[str, Array]:
    found = {}
    for name in (*robot.coordinate_names, controller_name(robot)):
        count = 0
        while f"actuator.{name}.{count}" in table:
            count += 1
        if count:
            found[name] = _matrix(table, [f"actuator.{name}.{k}" for k in range(count)])
    return found


def _moving_robot(robot: Robot, drives: Mapping[str, Array], table: Table, parts: Mapping[str, Array], note: Any) -> Robot:
    """The robot of the file: the given one, or the same with the rotors of elastic drives removed from its links."""
    candidates = [robot]
    if robot.actuators:
        candidates.append(robot.replace(actuators=dict.fromkeys(robot.actuators)))
    springs = {c.joint: {"rotor_inertia": 0.0} for c in robot.model.coordinates if c.name in drives}
    if springs:
        candidates.append(candidates[-1].replace(friction=springs))
    for one in candidates:
        if note is not None and note.get("fingerprint") == model_digest(one):
            return one
        if note is None and _same_energies(one, table, parts):
            return one
    whose = "the energies are" if note is None else f"it is of {printable(str(note.get('robot')))}, and the numbers are"
    raise _WrongFileError(f"{whose} those of another robot; give the robot that was simulated")


def _same_energies(robot: Robot, table: Table, parts: Mapping[str, Array]) -> bool:
    try:
        found = robot.kinetic_energy(parts["q"], parts["v"]), robot.potential_energy(parts["q"])
    except DynamisError as error:
        raise _WrongFileError(f"its states are invalid: {error}") from None
    written = [_column(table, "kinetic_energy"), _column(table, "potential_energy")]
    scale = max(1e-300, *(float(np.abs(x).max()) for x in written))
    return all(np.abs(a - b).max() <= FILE_PRECISION * scale for a, b in zip(found, written, strict=True))


def _events(note: Mapping[str, Any]) -> tuple[EventRecord, ...]:
    with _reading("its events cannot be read"):
        return tuple(EventRecord(float(e["time"]), escaped(str(e["kind"])), escaped(str(e["joint"]))) for e in note["events"])


def _stop(note: Any, arrays: Mapping[str, Array], robot: Robot) -> FinalState:
    try:
        y, samples, inside = arrays["at_stop.y"].astype(float), None, tuple(map(str, note["inside"]))
        if y.shape != (robot.nq + robot.n + len(inside) + 1,) or not np.isfinite(y).all():
            raise ValueError("its final state has the wrong length")
        if "samples" in note:
            seen, states = (arrays.get(f"at_stop.{name}") for name in ("seen", "states"))
            times, torques = (arrays[f"at_stop.{name}"] for name in ("times", "torques"))
            samples = Samples(**note["samples"], times=times, torques=torques, seen=seen, states=states)
        directions, resting = ({int(k): int(s) for k, s in note[name]} for name in ("directions", "resting"))
        planned = arrays["at_stop.planned"]
        return FinalState(float(note["t"]), y, inside, directions, resting, planned, samples, bool(note["adaptive"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _WrongFileError(f"its final state cannot be read ({reason_of(error)}); save the motion again") from None

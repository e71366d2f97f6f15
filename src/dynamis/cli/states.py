"""States from the command line or from the rows of a file, and tables of results."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.configurations import angles_of_rows, configuration, degrees_option, warn_fast
from dynamis.cli.console import clean_name, echo
from dynamis.cli.options import (
    EXISTING,
    FILE,
    assignments,
    floating_option,
    json_option,
    numbers,
    q_option,
    set_option,
    v_option,
)
from dynamis.cli.output_files import whole
from dynamis.display import counted
from dynamis.errors import InputError, printable

if TYPE_CHECKING:
    from dynamis.robot import Robot

SIGNALS = {"q": "position", "v": "velocity", "a": "acceleration", "tau": "torque"}
ROWS_PER_BLOCK = 65536  # of a table that is read


@dataclass(frozen=True, eq=False)
class Rows:
    """The states of a file: arrays by letter, and the times where the file has them."""

    arrays: dict[str, Any]
    times: Any

    @property
    def timed(self) -> bool:
        """Whether the rows are a motion: times that do not decrease, over more than none."""
        import numpy as np

        return (
            self.times is not None and len(self.times) > 1 and bool(np.all(np.diff(self.times) >= 0) and np.ptp(self.times) > 0)
        )

    @property
    def rms_heading(self) -> str:
        """What the root mean square is taken over."""
        return "RMS over time" if self.timed else "RMS of the rows"

    @property
    def note_on_times(self) -> str:
        """Why a column of times is not used; empty if it is, or if there is none."""
        import numpy as np

        if self.timed or self.times is None or len(self.times) < 2:
            return ""
        if not np.isfinite(self.times).all():
            why = "has entries that are not finite"
        else:
            why = "decreases" if np.any(np.diff(self.times) < 0) else "does not increase"
        return f"the column t {why}: the RMS is that of the rows, not over time"

    def rms(self, values: Any) -> Any:
        """Root mean square of values (rows, n): √(∫x²dt / T) by the trapezoidal rule, without times that of the rows."""
        import numpy as np

        if not self.timed:
            return np.sqrt(np.mean(values**2, axis=0))
        return np.sqrt(np.trapezoid(values**2, self.times, axis=0) / np.ptp(self.times))


def state_options(third: str, about: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """ROBOT, --q, --v, the third vector, --degrees, --states, --wrench, --set, --floating, --out and --json."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in (
            json_option,
            click.option("-o", "--out", "--output", "out", type=FILE, metavar="FILE",
                         help="Write the results of --states: .csv or .npz."),
            floating_option,
            set_option,
            click.option(
                "--wrench", "wrenches", multiple=True, metavar="[FRAME:]NUMBERS",
                help="External wrench on the robot at a frame (default: the tip), in world axes: a force (3 numbers, N) or "
                     "force and moment (6 numbers, N and N m); repeatable.",
            ),
            click.option(
                "--states", "--csv", "table", type=EXISTING, metavar="FILE",
                help=f"Evaluate every row of a .csv, .npz or .parquet file with columns such as q1, v1, {third}1 or q.JOINT.",
            ),
            degrees_option("--q", "--states"),
            click.option(f"--{third}", "third", metavar="NUMBERS", help=about),
            v_option,
            q_option,
            click.argument("robot"),
        ):  # fmt: skip
            command = option(command)
        return command

    return add


def loaded(robot: str, settings: tuple[str, ...], floating: bool = False, kinematic: bool = False) -> Robot:
    """The robot. Refused are parameters without values, with the options that give them, and robots without moving joints.

    With ``kinematic`` only the parameters on which the poses of the links depend need values; where others have none, gravity,
    inertias and drives are not those of the robot.
    """
    from dynamis.cli.loading import load

    found = load(robot, base="floating" if floating else "fixed", parameters=assignments(settings) or None)
    if found.model.symbolic:
        symbols = found.description.symbol_names(kinematic=kinematic)
        if symbols:
            example = " ".join(f"--set {name}={9.81 if name == 'g' else 1}" for name in symbols[:3])
            raise InputError(
                f"{printable(found.name)} has symbolic parameters without values: {', '.join(symbols)}. "
                f"Give each a number, in SI units: {example}{' …' if len(symbols) > 3 else ''}"
            )
        found = _kinematics_of(found)
    require_joints(found)
    return found


def _kinematics_of(robot: Robot) -> Robot:
    """The robot with unit inertias, without drives."""
    import numpy as np

    from dynamis.model.description import STANDARD_GRAVITY, Drive, MassProperties
    from dynamis.robot import Robot as Made

    d = robot.description
    d.gravity = np.array(STANDARD_GRAVITY)
    for link in d.links:
        if link.mass_properties is not None:
            link.mass_properties = MassProperties(1.0, np.zeros(3), np.eye(3))
    for joint in d.joints:
        joint.drive, joint.actuator = Drive(), None
    return Made(d)


def require_joints(robot: Robot) -> None:
    """Refuse a robot without moving joints; where the command has --floating, name it."""
    if robot.n == 0:
        context = click.get_current_context(silent=True)
        floating = context is not None and any(p.name == "floating" for p in context.command.params)
        cure = "; for a free body add --floating" if floating else ""
        raise InputError(f"robot {printable(robot.name)} has no moving joints{cure}")


def vector(robot: Robot, text: str | None, letter: str, option: str = "", degrees: bool | None = None) -> Any:
    """The numbers of an option, one standing for all joints; without it the home configuration, or zeros."""
    import numpy as np

    option = option or f"--{letter}"
    if letter == "q":
        return robot.home() if text is None else configuration(robot, text, option, degrees)
    given = numbers(text, option)
    if given is None:
        return np.zeros(robot.n)
    if len(given) not in (1, robot.n):
        names = ", ".join(robot.coordinate_names[:8]) + (", …" if robot.n > 8 else "")
        raise InputError(
            f"{option} takes {counted(robot.n, 'number')} for {printable(robot.name)} ({names}), or one for "
            f"all; got {len(given)}"
        )
    values = np.full(robot.n, given[0]) if len(given) == 1 else np.array(given)
    if letter == "v":
        warn_fast(robot, option, values)
    return values


def wrenches_of(robot: Robot, texts: tuple[str, ...]) -> dict[str, Any] | None:
    """{frame: wrench} of FRAME:NUMBERS, the tip where no frame is named."""
    found: dict[str, Any] = {}
    for text in texts:
        frame, _, rest = text.rpartition(":")
        values = numbers(rest, "--wrench")
        if values is None or len(values) not in (3, 6):
            raise InputError(f"--wrench takes 3 numbers (a force) or 6, such as --wrench tool0:0,0,-50, got {text!r}")
        name = robot.model.frame(frame or None, "--wrench FRAME:NUMBERS").name
        if name in found:
            raise InputError(f"--wrench is given twice for the frame {printable(name)}")
        found[name] = [*values, 0.0, 0.0, 0.0][:6]
    return found or None


def rows_of(
    robot: Robot, path: Path, given: Mapping[str, str | None], progress: Callable[[float, str], None],
    degrees: bool | None = None,
) -> Rows:  # fmt: skip
    """The states of a file: its columns by their names, and for what it does not have, the options."""
    import numpy as np

    from dynamis.identification.logs.column_names import signal_found, time_found
    from dynamis.identification.logs.plan import open_table
    from dynamis.identification.logs.table import regrouped, together
    from dynamis.identification.logs.units import factor

    table = open_table(path, None, robot.joint_names)
    time = time_found(table.names)
    places: dict[str, slice] = {}
    scales: dict[str, Any] = {}
    unstated: dict[str, list[bool]] = {}
    wanted = [] if time is None else [time[0]]
    for letter, text in given.items():
        found = None if text is not None else signal_found(SIGNALS[letter], table.names, robot)
        if found is None and text is None:
            size = robot.nq if letter == "q" else robot.n
            names = ", ".join(map(printable, table.names[:8])) + (", …" if len(table.names) > 8 else "")
            raise InputError(
                f"{table.label} has no columns for {letter}: name them {letter}1 to {letter}{size} or {letter}.JOINT, or give "
                f"--{letter} for all rows. Its columns are {names}"
            )
        if found is not None:
            places[letter] = slice(len(wanted), len(wanted) + len(found))
            scales[letter] = np.array([factor(SIGNALS[letter], unit) if unit else 1.0 for _, unit in found])
            unstated[letter] = [not unit for _, unit in found]
            wanted += [column for column, _ in found]
    blocks = []
    for block in regrouped(table.blocks(wanted, ROWS_PER_BLOCK), ROWS_PER_BLOCK):
        blocks.append(block)
        progress(0.0 if not table.count else min(1.0, ROWS_PER_BLOCK * len(blocks) / table.count), "reading")
    if not blocks:
        raise InputError(f"{table.label} has no rows")
    columns = together(blocks).columns
    arrays = {
        letter: np.column_stack(columns[places[letter]]) * scales[letter]
        if letter in places
        else vector(robot, text, letter, degrees=degrees)
        for letter, text in given.items()
    }
    if "q" in places:
        arrays["q"] = angles_of_rows(robot, arrays["q"], unstated["q"], table.label, degrees)
    rows = Rows(arrays, None if time is None else columns[0])
    if rows.note_on_times:
        echo((f"dynamis: warning: {table.label}: {rows.note_on_times}", {"fg": "yellow"}), err=True)
    return rows


def write_table(path: Path, columns: Mapping[str, Any]) -> Path:
    """Write named columns of numbers as .csv or .npz."""
    import numpy as np

    if path.suffix not in (".csv", ".npz"):
        raise InputError(f"{printable(path.name)}: the file name must end in .csv or .npz")

    def as_csv(file: Path) -> None:
        with file.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerow(columns)
            np.savetxt(stream, np.column_stack(list(columns.values())), delimiter=",", fmt="%.17g", newline="\r\n")

    def as_npz(file: Path) -> None:
        from dynamis.simulation.files import npz_names

        np.savez_compressed(file, **dict(zip(npz_names(columns), columns.values(), strict=True)))

    return whole(path, as_csv if path.suffix == ".csv" else as_npz)


def named_columns(letter: str, names: Sequence[str], values: Any) -> dict[str, Any]:
    """One column per joint, named such as tau.elbow."""
    return {f"{letter}.{name}": values[:, k] for k, name in enumerate(names)}


def available_torques(robot: Robot, v: Any, tau: Any) -> Any:
    """The largest torques in the directions of tau (…, n): effort limits, and what drives give at the velocities v."""
    import numpy as np

    tau = np.asarray(tau)
    limits = np.array(np.broadcast_to(robot.limits["effort"], tau.shape))
    speeds = np.broadcast_to(v, tau.shape)
    for k, drive in enumerate(robot.model.actuators):
        if drive is not None:
            limits[..., k] = np.minimum(limits[..., k], drive.largest(speeds[..., k], np.where(tau[..., k] < 0.0, -1.0, 1.0)))
    return limits


def beyond_limits(robot: Robot, tau: Any, limits: Any) -> list[str]:
    """The coordinates whose torques (…, n) exceed their limits."""
    import numpy as np

    over = (np.abs(np.asarray(tau)) > limits).reshape(-1, robot.n).any(axis=0)
    return [name for name, is_over in zip(robot.coordinate_names, over, strict=True) if is_over]


def beyond_effort_limits(robot: Robot, tau: Any) -> list[str]:
    """The coordinates whose torques (…, n) exceed their effort limits."""
    return beyond_limits(robot, tau, robot.limits["effort"])


def print_exceeded_torque_limits(names: Sequence[str]) -> None:
    """Name the joints whose torques exceed their effort limits, if any."""
    if names:
        echo((f"  torque limits exceeded: {', '.join(map(clean_name, names))}", {"fg": "red"}), hang=4)


def units(robot: Robot) -> list[str]:
    """The unit of the torque or force of each coordinate."""
    return [c.effort_unit for c in robot.model.coordinates]

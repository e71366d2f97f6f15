"""``dynamis id``: inverse dynamics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.console import clean_name, echo, print_json, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.layout import print_table
from dynamis.cli.output_files import check_output
from dynamis.cli.progress import Bar
from dynamis.cli.states import (
    available_torques,
    beyond_limits,
    loaded,
    named_columns,
    print_exceeded_torque_limits,
    rows_of,
    state_options,
    units,
    vector,
    wrenches_of,
    write_table,
)
from dynamis.display import counted
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.robot import Robot

HELP = """Inverse dynamics: joint torques from positions, velocities and accelerations.

    Evaluates one state, or every row of a file (--states): for each joint the RMS of its torque, over time where the file
    has a column t (trapezoidal rule), otherwise of the rows; the largest torque, the largest power at the joint, and the
    largest use of the limit: the effort limit or what the drive of the model gives at that speed.

    \b
    Examples:
      dynamis id ur5e --q 0,-70,90,-50,-75,0 --degrees --a 1 --ledger
      dynamis id ur5e --q 0,-1.2,1.6,-0.9,-1.3,0 --wrench tool0:0,0,-50 --json
      dynamis id ur5e --states motion.csv --out torques.csv --ledger
    """


@click.command("id", help=HELP, short_help="Inverse dynamics: torques from q, v and a.")
@state_options("a", "Accelerations in rad/s² and m/s²: one number per joint, or one for all. Default: zeros.")
@click.option("--ledger", is_flag=True, help="List the terms of each torque: inertia, Coriolis, gravity, friction, …")
@plain_errors
def inverse(
    robot: str, q: str | None, v: str | None, third: str | None, degrees: bool | None, table: Path | None,
    wrenches: tuple[str, ...], settings: tuple[str, ...], floating: bool, out: Path | None, as_json: bool, ledger: bool,
) -> None:  # fmt: skip
    import numpy as np

    from dynamis.robot.checks import warn_of_open_loops

    check_output(out, (".csv", ".npz"), (table,))
    found = loaded(robot, settings, floating)
    warn_of_open_loops(found, "these torques", closed="dynamis.constrained(robot).inverse_dynamics")
    load = wrenches_of(found, wrenches)
    if table is None:
        state = [vector(found, text, letter, degrees=degrees) for letter, text in (("q", q), ("v", v), ("a", third))]
        _one(found, state, load, ledger, out, as_json)
        return
    with Bar() as bar:
        rows = rows_of(found, table, {"q": q, "v": v, "a": third}, bar.show, degrees)
        bar.show(1.0, "computing")
        at, rates, accelerations = rows.arrays.values()
        terms = found.torque_ledger(at, rates, accelerations, load).as_dict() if ledger else {}
        tau = found.inverse_dynamics(at, rates, accelerations, load)
    columns = {} if rows.times is None else {"t": rows.times}
    for letter, values in {"tau": tau, **terms}.items():
        columns |= named_columns(letter, found.coordinate_names, np.atleast_2d(values))
    if out is not None:
        write_table(out, columns)
    tau = np.atleast_2d(tau)
    available = available_torques(found, rates, tau)
    beyond = beyond_limits(found, tau, available)
    rms, largest, power = rows.rms(tau), np.abs(tau).max(axis=0), np.abs(tau * rates).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        use = np.nan_to_num(np.abs(tau) / available, posinf=np.inf)
    worst, each = use.argmax(axis=0), np.arange(found.n)
    if as_json:
        print_json({
            "robot": found.name, "rows": len(tau), "joints": list(found.coordinate_names), "rms": rms,
            "rms_over": "time" if rows.timed else "rows", "largest": largest, "largest_power": power, "use": use.max(axis=0),
            "beyond_limits": beyond, "written": [] if out is None else [str(out)],
            **({} if out is not None else {"tau": tau, "ledger": terms}),
        })  # fmt: skip
        return
    limits = [x if np.isfinite(x) else None for x in available[worst, each]]
    shares = [100.0 * x if limit is not None else None for x, limit in zip(use[worst, each], limits, strict=True)]
    lines = list(zip(found.coordinate_names, units(found), rms, largest, limits, shares, power, strict=True))
    headings = ("joint", "unit", rows.rms_heading, "largest", "limit at largest use", "use, %", "largest power, W")
    print_table(f"{found.name}: torques of {counted(len(tau), 'row')}", headings, lines)
    print_exceeded_torque_limits(beyond)
    _print_drives(found)
    if terms:
        noise = 1e-12 * largest.max(initial=0.0)
        sizes = {name: rows.rms(x) for name, x in terms.items()}
        parts = [(name, *np.where(x > noise, x, 0.0)) for name, x in sizes.items() if x.max(initial=0.0) > noise]
        print_table(f"Terms of the torques ({rows.rms_heading})", ("term", *found.coordinate_names), parts)
    if out is not None:
        print_written([out])


def _one(robot: Robot, state: list[Any], load: Any, ledger: bool, out: Path | None, as_json: bool) -> None:
    if out is not None:
        raise InputError("--out writes the results of --states; the result of one state is printed (--json for programs)")
    q, v, a = state
    tau, terms = robot.inverse_dynamics(q, v, a, load), robot.torque_ledger(q, v, a, load).as_dict()
    limits = available_torques(robot, v, tau)
    beyond = beyond_limits(robot, tau, limits)
    if as_json:
        print_json({
            "robot": robot.name, "joints": list(robot.coordinate_names), **dict(zip(("q", "v", "a"), state, strict=True)),
            "tau": tau, "limits": limits, "beyond_limits": beyond, **({"ledger": terms} if ledger else {}),
        })  # fmt: skip
        return
    noise = 1e-12 * max(1.0, float(abs(tau).max(initial=0.0)))
    shown = {name: x for name, x in terms.items() if abs(x).max(initial=0.0) > noise} if ledger else {}
    rows = [
        (name, unit, _clear(t, noise), *(_clear(x[k], noise) for x in shown.values()), None if top == float("inf") else top)
        for k, (name, unit, t, top) in enumerate(zip(robot.coordinate_names, units(robot), tau, limits, strict=True))
    ]
    print_table(f"{robot.name}: inverse dynamics", ("joint", "unit", "torque", *shown, "limit"), rows)
    print_exceeded_torque_limits(beyond)
    _print_drives(robot)


def _print_drives(robot: Robot) -> None:
    """Name the drives, of which only the limits count here."""
    if robot.actuators:
        names = ", ".join(map(clean_name, robot.actuators))
        echo(
            f"  The torques are those at the joints. Of the drives of {names}, only the limits at the speed of each state are "
            "included, not voltages, currents, springs and dead zones."
        )


def _clear(x: float, noise: float) -> float:
    """Zero where x is rounding error."""
    return x if abs(x) > noise else 0.0

"""``dynamis fd``: forward dynamics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dynamis.cli.console import clean_name, echo, print_json, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.layout import print_table
from dynamis.cli.output_files import check_output
from dynamis.cli.progress import Bar
from dynamis.cli.states import (
    beyond_effort_limits,
    loaded,
    named_columns,
    print_exceeded_torque_limits,
    rows_of,
    state_options,
    vector,
    wrenches_of,
    write_table,
)
from dynamis.display import counted
from dynamis.errors import InputError

HELP = """Forward dynamics: joint accelerations from positions, velocities and torques.

    Evaluates one state, or every row of a file (--states). Coulomb friction is zero at zero velocity, and torques are those
    at the joints; dynamis simulate includes static friction and drives. Torques above the effort limits are applied as
    given, and reported.

    \b
    Examples:
      dynamis fd planar_2r_melchiorri --q 0.3,0.9 --tau 500,100
      dynamis fd ur5e --q 0,-1.2,1.6,-0.9,-1.3,0 --wrench 0,0,-50 --json
      dynamis fd ur5e --states motion.csv --out accelerations.npz
    """


@click.command("fd", help=HELP, short_help="Forward dynamics: accelerations from q, v and torques.")
@state_options("tau", "Torques in N m and N: one number per joint, or one for all. Default: zeros.")
@plain_errors
def forward(
    robot: str, q: str | None, v: str | None, third: str | None, degrees: bool | None, table: Path | None,
    wrenches: tuple[str, ...], settings: tuple[str, ...], floating: bool, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    import numpy as np

    from dynamis.robot.checks import warn_of_open_loops

    check_output(out, (".csv", ".npz"), (table,))
    found = loaded(robot, settings, floating)
    warn_of_open_loops(found, "these accelerations", closed="dynamis.constrained(robot).forward_dynamics")
    load = wrenches_of(found, wrenches)
    given = {"q": q, "v": v, "tau": third}
    unit = ["rad/s²" if c.revolute else "m/s²" for c in found.model.coordinates]
    if table is None:
        if out is not None:
            raise InputError("--out writes the results of --states; the result of one state is printed (--json for programs)")
        state = {letter: vector(found, text, letter, degrees=degrees) for letter, text in given.items()}
        a = found.forward_dynamics(state["q"], state["v"], state["tau"], load)
        beyond = beyond_effort_limits(found, state["tau"])
        if as_json:
            print_json({"robot": found.name, "joints": list(found.coordinate_names), **state, "a": a, "beyond_limits": beyond})
            return
        lines = list(zip(found.coordinate_names, a, unit, state["v"], state["tau"], strict=True))
        print_table(f"{found.name}: forward dynamics", ("joint", "acceleration", "unit", "velocity", "torque"), lines)
        print_exceeded_torque_limits(beyond)
        _notes(found, state["v"])
        return
    with Bar() as bar:
        rows = rows_of(found, table, given, bar.show, degrees)
        bar.show(1.0, "computing")
        x = rows.arrays
        a = found.forward_dynamics(x["q"], x["v"], x["tau"], load)
    if out is not None:
        times = {} if rows.times is None else {"t": rows.times}
        write_table(out, times | named_columns("a", found.coordinate_names, np.atleast_2d(a)))
    beyond = beyond_effort_limits(found, x["tau"])
    a = np.atleast_2d(a)
    rms, largest = rows.rms(a), np.abs(a).max(axis=0)
    if as_json:
        print_json({
            "robot": found.name, "rows": len(a), "joints": list(found.coordinate_names), "rms": rms,
            "rms_over": "time" if rows.timed else "rows", "largest": largest,
            "beyond_limits": beyond, "written": [] if out is None else [str(out)], **({} if out is not None else {"a": a}),
        })  # fmt: skip
        return
    sizes = list(zip(found.coordinate_names, unit, rms, largest, strict=True))
    print_table(
        f"{found.name}: accelerations of {counted(len(a), 'row')}", ("joint", "unit", rows.rms_heading, "largest"), sizes
    )
    print_exceeded_torque_limits(beyond)
    _notes(found, x["v"])
    if out is not None:
        print_written([out])


def _notes(robot: Any, v: Any) -> None:
    if robot.actuators:
        names = ", ".join(map(clean_name, robot.actuators))
        echo(f"  The drives of {names} are not included: --tau is what reaches the joints. dynamis simulate includes them.")
    if ((robot.model.coulomb != 0.0) & (v == 0.0)).any():
        echo("  Static friction is not included: Coulomb friction is zero at rest. dynamis simulate includes it.")

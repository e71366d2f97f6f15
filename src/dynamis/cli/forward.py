"""``dynamis fd``: the accelerations that torques produce."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.questions import finite, print_table
from dynamis.cli.states import loaded, named_columns, rows_of, state_options, vector, wrenches_of, write_table
from dynamis.cli.writing import check_output
from dynamis.errors import InputError


@click.command("fd")
@state_options("tau", "The torques, one or one a joint, in N m and N; none unless given.")
@plain_errors
def forward(
    robot: str, q: str | None, v: str | None, third: str | None, table: Path | None, wrenches: tuple[str, ...],
    settings: tuple[str, ...], floating: bool, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Forward dynamics: the accelerations that torques produce, at one state or at every row of a file.

    \b
    Examples:
      dynamis fd planar_2r_melchiorri --q 0.3,0.9 --tau 500,100
      dynamis fd ur5e --q 0,-1.2,1.6,-0.9,-1.3,0 --wrench 0,0,-50 --json
      dynamis fd ur5e --states motion.csv --out accelerations.npz
    """
    import numpy as np

    check_output(out, (".csv", ".npz"), (table,))
    found = loaded(robot, settings, floating)
    load = wrenches_of(found, wrenches)
    given = {"q": q, "v": v, "tau": third}
    if table is None:
        if out is not None:
            raise InputError("--out writes what --states was asked for; one state is printed, with --json for machines")
        state = {letter: vector(found, text, letter) for letter, text in given.items()}
        a = found.forward_dynamics(state["q"], state["v"], state["tau"], load)
        if as_json:
            facts: dict[str, Any] = {"robot": found.name, "joints": list(found.coordinate_names), **state, "a": a}
            click.echo(json.dumps(finite(facts), indent=2, ensure_ascii=False))
            return
        unit = ["rad/s²" if c.revolute else "m/s²" for c in found.model.coordinates]
        rows_ = list(zip(found.coordinate_names, unit, a, state["v"], state["tau"], strict=True))
        print_table(f"{found.name}: accelerations", ("joint", "", "acceleration", "velocity", "torque"), rows_)
        return
    with Bar() as bar:
        rows = rows_of(found, table, given, bar.show)
        bar.show(1.0, "computing")
        x = rows.arrays
        a = found.forward_dynamics(x["q"], x["v"], x["tau"], load)
    if out is not None:
        times = {} if rows.times is None else {"t": rows.times}
        write_table(out, times | named_columns("a", found.coordinate_names, np.atleast_2d(a)))
    rms, largest = np.sqrt(np.mean(a**2, axis=0)), np.abs(a).max(axis=0)
    if as_json:
        facts = {
            "robot": found.name, "rows": len(a), "joints": list(found.coordinate_names), "rms": rms, "largest": largest,
            "written": [] if out is None else [str(out)], **({} if out is not None else {"a": a}),
        }  # fmt: skip
        click.echo(json.dumps(finite(facts), indent=2, ensure_ascii=False))
        return
    lines = list(zip(found.coordinate_names, rms, largest, strict=True))
    print_table(f"{found.name}: accelerations of {len(a)} rows", ("joint", "root mean square", "largest"), lines)
    if out is not None:
        click.echo(f"wrote {out}")

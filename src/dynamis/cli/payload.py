"""``dynamis payload``: what a known arm carries, from a log of it carrying."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.log_options import log_options, signals
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import waiting
from dynamis.cli.questions import finite
from dynamis.cli.writing import check_output, whole
from dynamis.errors import printable

if TYPE_CHECKING:
    from dynamis.identification import PayloadEstimate, Samples
    from dynamis.robot import Robot


@click.command()
@click.argument("robot")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option(
    "--reference", multiple=True, metavar="LOG", help="A log without the load, to correct the arm's model; repeatable."
)
@click.option("--frame", metavar="NAME", help="Where the load is; the tip unless given.")
@click.option("--size", type=float, default=0.1, show_default=True, help="Roughly how large the load is, in m.")
@click.option("--arm", type=float, metavar="SHARE", help="By which share the arm's own parameters may be off, such as 0.1.")
@log_options
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the robot with its load, .urdf or .toml.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def payload(
    robot: str, logs: tuple[str, ...], reference: tuple[str, ...], frame: str | None, size: float, arm: float | None,
    mapping: Path | None, out: Path | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Find mass, centre of mass and inertia of what an arm carries.

    What the motion does not show is said, and not made up.

    \b
    Examples:
      dynamis payload ur5e carrying.csv --reference empty.csv
      dynamis payload panda carrying.npz --frame panda_link8 --arm 0.1 --out loaded.urdf --json
    """
    from dynamis.identification import identify_payload
    from dynamis.robot import load

    check_output(out, (".urdf", ".toml"), (*logs, *reference, mapping))
    prepared = signals(options)
    loaded = load(robot)
    notes: list[str] = []
    with waiting("reading and estimating"):
        runs = _runs(logs, loaded, mapping, prepared, notes)
        empty = _runs(reference, loaded, mapping, prepared, notes) if reference else None
        found = identify_payload(loaded, runs, frame=frame, reference=empty, arm=arm, size=size)
    if out is not None:
        whole(out, found.robot.write)
    if as_json:
        written = {"notes": notes, "written": [] if out is None else [str(out)]}
        click.echo(json.dumps(finite({**_as_dict(found), **written}), indent=2, ensure_ascii=False))
    else:
        _print(found, loaded, notes, out)


def _runs(
    logs: tuple[str, ...], robot: Robot, mapping: Path | None, prepared: dict[str, Any], notes: list[str]
) -> list[Samples]:
    from dynamis.identification import examine, prepare, read_log
    from dynamis.identification.identify import look_at

    runs: list[Samples] = []
    for path in logs:
        log = read_log(path, robot, mapping)
        look_at(examine(log, robot), notes)
        ready = prepare(log, robot, **prepared)
        notes += [f"{printable(log.source)}: {note}" for note in ready.notes]
        runs += ready.samples
    return runs


def _as_dict(found: PayloadEstimate) -> dict[str, Any]:
    from dynamis.spatial import PARAMETER_NAMES

    rows = zip(PARAMETER_NAMES, found.parameters, found.standard_errors, found.identifiable, strict=True)
    return {
        "frame": found.frame,
        "mass": found.mass,
        "centre_of_mass": [float(x) for x in found.com],
        "inertia_about_frame": [[float(x) for x in row] for row in found.inertia.tensor],
        "parameters": {
            name: {"value": float(value) if shown else None, "standard_error": float(error) if shown else None}
            for name, value, error, shown in rows
        },
        "residual_before": [float(x) for x in found.residual_before],
        "residual_after": [float(x) for x in found.residual_after],
        "verdict": list(found.verdict),
    }


def _print(found: PayloadEstimate, robot: Robot, notes: list[str], out: Path | None) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from dynamis.cli.sentences import say
    from dynamis.cli.tables import number, safe
    from dynamis.spatial import PARAMETER_NAMES

    console = Console(soft_wrap=True)
    centre = ", ".join(number(1000.0 * float(x), 3) for x in found.com)
    console.print(
        f"[bold]{safe(robot.name)}[/bold] carries [bold]{found.mass:.3g} kg[/bold] at {safe(found.frame)}, centre of mass "
        f"({centre}) mm", highlight=False,
    )  # fmt: skip
    for sentence in found.verdict:
        say(console, "•", sentence)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title="The load about the frame", title_justify="left", title_style="bold")
    for head in ("parameter", "value", "± 1 σ", "unit"):
        table.add_column(head, justify="right" if head in ("value", "± 1 σ") else "left")
    for k, name in enumerate(PARAMETER_NAMES):
        unit = "kg" if name == "m" else "kg·m" if name[0] == "m" else "kg·m²"
        shown = bool(found.identifiable[k])
        value = number(float(found.parameters[k])) if shown else "not shown"
        table.add_row(name, value, number(float(found.standard_errors[k]), 2) if shown else "–", unit)
    console.print(table)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title="Residual (RMS)", title_justify="left", title_style="bold")
    for head in ("joint", "without load", "with it"):
        table.add_column(head, justify="left" if head == "joint" else "right")
    for k, name in enumerate(robot.coordinate_names):
        table.add_row(safe(name), number(float(found.residual_before[k]), 3), number(float(found.residual_after[k]), 3))
    console.print(table)
    for note in notes:
        say(console, "note:", note, "dim")
    if out is not None:
        console.print(f"wrote {safe(str(out))}", highlight=False)

"""``dynamis excite``: a motion that tells a robot's parameters, within everything it must not do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.bounds import assignments, numbers
from dynamis.cli.kinds import POSITIVE, SEED
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.questions import finite
from dynamis.cli.writing import check_output, check_pictures, whole
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.identification.excitation import Excitation, Region
    from dynamis.robot import Robot

NAMES = ("condition", "plain-condition", "d-optimal", "a-optimal", "e-optimal", "combined")


@click.command()
@click.argument("robot")
@click.option("--time", "duration", type=float, default=10.0, show_default=True, help="Seconds the motion takes.")
@click.option("--kind", type=click.Choice(("fourier", "spline")), default="fourier", show_default=True,
              help="Fourier series, or B-splines of fifth degree.")  # fmt: skip
@click.option("--harmonics", type=int, default=5, show_default=True,
              help="Of 1/time, the same for all joints; of splines, half the control points.")  # fmt: skip
@click.option("--periodic", is_flag=True, help="A series that does not stop between periods.")
@click.option("--criterion", type=click.Choice(NAMES), default="condition", show_default=True, help="What is made small.")
@click.option("--friction", metavar="TERMS",
              help="What to look for, such as viscous,coulomb,quadratic; or none.")  # fmt: skip
@click.option(
    "--q0", "--start", "start", metavar="NUMBERS", help="Where it starts and ends, in rad and m; chosen unless given."
)
@click.option(
    "--velocity", metavar="NUMBERS", help="Velocity limits, one or one a joint, in rad/s and m/s, where below the robot's own."
)
@click.option("--acceleration", metavar="NUMBERS", help="Acceleration limits, in rad/s² and m/s²; none unless given.")
@click.option("--effort", metavar="NUMBERS", help="Torque limits, in N m and N, where below the robot's own.")
@click.option("--no-torque", is_flag=True, help="Leave torque limits out.")
@click.option("--box", "boxes", multiple=True, metavar="FRAME:XMIN,XMAX,YMIN,YMAX,ZMIN,ZMAX",
              help="Where a frame may be, in m; without a frame, the tip. inf where there is no wall; repeatable.")  # fmt: skip
@click.option("--above", "height", type=float, metavar="Z", help="Keep all links above this height, in m.")
@click.option("--margin", type=float, default=5.0, show_default=True, help="Per cent of joint limits that are left.")
@click.option("--seconds", type=float, default=60.0, show_default=True, help="How long to search at most.")
@click.option("--restarts", type=int, default=4, show_default=True, help="From how many random motions to search.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the random motions.")
@click.option("--rate", type=POSITIVE, default=1000.0, show_default=True,
              help="Samples a second in the file.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), multiple=True, metavar="FILE",
              help="Write it: .csv or .npz with samples, .json or .toml with coefficients; repeatable.")  # fmt: skip
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draw motion, limits and search.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def excite(
    robot: str, duration: float, kind: str, harmonics: int, periodic: bool, criterion: str, friction: str | None,
    start: str | None, velocity: str | None, acceleration: str | None, effort: str | None, no_torque: bool,
    boxes: tuple[str, ...], height: float | None, margin: float, seconds: float, restarts: int, seed: int, rate: float,
    settings: tuple[str, ...], out: tuple[Path, ...], plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Design a motion that tells a robot's parameters best, for a log to identify them from.

    It starts and ends at rest, and is inside all limits at every time. Ctrl-C keeps the best so far.

    Exit status: 0 it was found; 2 bad input, or limits that no configuration fulfils; 130 interrupted, with the best so far
    written all the same.

    \b
    Examples:
      dynamis excite kuka_iiwa14 --out motion.csv --rate 500 --plot motion.png
      dynamis excite panda --above 0.1 --box panda_link8:0.2,0.8,-0.5,0.5,0.1,0.9 --out motion.csv --out motion.json
      dynamis excite ur5e --q0 0,-1.2,1.6,-2,-1.5,0 --acceleration 3 --kind spline --harmonics 6
      dynamis excite puma560 --criterion d-optimal --friction none --velocity 2 --time 20 --json
    """
    from dynamis.identification.base_parameters import base_parameters
    from dynamis.identification.excitation import design_excitation
    from dynamis.identification.excitation.files import check_name
    from dynamis.identification.linear_model import LinearModel
    from dynamis.robot import load

    if not 0.0 <= margin < 100.0:
        raise InputError(f"--margin takes per cent from 0 to 100, such as --margin 5, got {margin:g}")
    for path in out:
        check_name(path)
        check_output(path)
    check_pictures(plot)
    loaded = load(robot, parameters=assignments(settings) or None)
    terms = None if friction is None else tuple(word for word in friction.replace(",", " ").split() if word != "none")
    base = base_parameters(LinearModel(loaded, friction=terms))
    with Bar() as bar:
        found = design_excitation(
            base, duration=duration, kind=kind, harmonics=harmonics, periodic=periodic, criterion=criterion,
            start=_one_or_all(start, "--q0"), velocity=_one_or_all(velocity, "--velocity"),
            acceleration=_one_or_all(acceleration, "--acceleration"), effort=_one_or_all(effort, "--effort"),
            torque=not no_torque, regions=_regions(loaded, boxes, height), margin=margin / 100.0, seconds=seconds,
            restarts=restarts, seed=seed, progress=bar.show,
        )  # fmt: skip
    written = [str(whole(file, lambda made: found.write(made, rate=rate))) for file in out]
    if plot is not None:
        whole(plot, found.plot)
        written.append(str(plot))
    if as_json:
        click.echo(json.dumps(finite({**found.as_dict(), "written": written}), indent=2, ensure_ascii=False))
    else:
        _print(found)
        for name in written:
            click.echo(f"wrote {name}")
    sys.exit(130 if found.status.startswith("interrupted") else 0)


def _one_or_all(text: str | None, option: str) -> Any:
    values = numbers(text, option)
    return values[0] if values is not None and len(values) == 1 else values


def _regions(robot: Robot, boxes: tuple[str, ...], height: float | None) -> list[Region]:
    from dynamis.identification.excitation import Box, above

    found: list[Region] = []
    for text in boxes:
        frame, colon, rest = text.rpartition(":")
        values = numbers(rest, "--box")
        if values is None or len(values) != 6:
            raise InputError(f"--box takes FRAME:xmin,xmax,ymin,ymax,zmin,zmax, six numbers in m, got {text!r}")
        found.append(Box(values[0::2], values[1::2], frame if colon and frame else None))
    return found + (list(above(robot, height)) if height is not None else [])


def _print(found: Excitation) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from dynamis.cli.tables import number, safe

    console = Console(soft_wrap=True)
    facts = f"{found.kind}, {found.duration:g} s, {found.parameters} parameters, criterion {found.criterion}: {found.status}"
    console.print(f"[bold]{safe(found.robot_name)}[/bold]  {safe(facts)}", highlight=False)
    before, after = (number(x, 4) for x in (found.condition_before, found.condition))
    console.print(f"condition number [bold green]{after}[/], that of the best random motion {before}", highlight=False)
    console.print(f"starts at {', '.join(f'{x:.4g}' for x in found.start)}", highlight=False)
    kinds = [kind for kind in ("position", "velocity", "acceleration", "torque") if kind in found.used]
    joints = Table(box=SIMPLE_HEAD, pad_edge=False, title="Limits used", title_justify="left", title_style="bold")
    joints.add_column("joint")
    for kind in kinds:
        joints.add_column(kind, justify="right")
    for name in found.joint_names:
        shares = [found.used[kind].get(name) for kind in kinds]
        joints.add_row(safe(name), *("–" if x is None else f"{x:.0f} %" for x in shares))
    console.print(joints)
    places = [use for use in found.uses if use.kind in ("place", "constraint")]
    if not places:
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title="Places", title_justify="left", title_style="bold")
    for head in ("", "lowest", "highest", "allowed"):
        table.add_column(head, justify="right" if head else "left")
    for use in places:
        low, high = (number(x, 3) if abs(x) < float("inf") else "" for x in (use.lower, use.upper))
        allowed = f"{low} … {high}"
        table.add_row(safe(use.name), number(use.lowest, 3), number(use.highest, 3), allowed)
    console.print(table)

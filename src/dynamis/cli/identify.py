"""``dynamis identify``: from logs of a robot to a better model file."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.log_options import log_options, signals
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.questions import finite
from dynamis.cli.writing import check_output
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.identification import Identification, LinearModel
    from dynamis.identification.write_back import Written

NAMES = ("ordinary", "weighted", "robust", "total", "ridge", "consistent")
SHOWN = 15


@click.command()
@click.argument("robot")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option(
    "--validate", multiple=True, metavar="LOG", help="Judge by this log instead of by blocks of the others; repeatable."
)
@click.option("--estimator", type=click.Choice(NAMES), default="consistent", show_default=True, help="How it is estimated.")
@click.option("--compare", metavar="NAMES", default="ordinary,weighted,ridge,consistent", show_default=True,
              help="Estimators to try as well; 'none' saves the time.")  # fmt: skip
@click.option("--friction", metavar="TERMS",
              help="Of viscous, coulomb, coulomb_bias, stribeck, quadratic, power; or none.")  # fmt: skip
@click.option("--offset", is_flag=True, help="A constant torque for each joint.")
@click.option("--no-rotor", is_flag=True, help="No rotor inertias.")
@click.option("--spring", is_flag=True, help="Springs in the joints.")
@click.option("--smooth", type=float, metavar="SPEED", help="Dry friction as tanh(v / SPEED), in rad/s or m/s.")
@click.option(
    "--stribeck", type=float, metavar="SPEED", help="The speed over which Stribeck friction falls off, in rad/s or m/s."
)
@click.option("--presliding", multiple=True, metavar="[JOINT=]ANGLE",
              help="Friction that yields before it slides, over ANGLE, in rad; for all joints or one; repeatable.")  # fmt: skip
@click.option("--couple", multiple=True, metavar="A,B", help="The motor of joint B turns with A as well; repeatable.")
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Parts of the motion left out in turn.")
@click.option("--block", type=float, metavar="SECONDS", help="Length of the blocks these parts are made of.")
@log_options
@click.option("--unexamined", is_flag=True, help="Do not refuse logs that look wrong.")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the identified robot, .urdf or .toml.")  # fmt: skip
@click.option("--report", is_flag=False, flag_value="identification.html", type=click.Path(dir_okay=False, path_type=Path),
              metavar="[FILE]", help="Write everything as HTML; identification.html unless named.")  # fmt: skip
@click.option("--all", "show_all", is_flag=True, help="Show every parameter.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def identify(robot: str, logs: tuple[str, ...], **options: Any) -> None:
    """Identify a robot's parameters from LOGs: CSV, NPZ, Parquet, HDF5, ROS 2 bags, MCAP, or a mapping's TOML.

    Exit status: 0 the result is good or usable; 1 it is doubtful or not usable; 2 bad input.

    \b
    Examples:
      dynamis identify ur5e run.csv --out better.urdf --report
      dynamis identify arm.urdf train.npz --validate other.npz --estimator ridge --parallel 10
      dynamis identify tx40.urdf tx40.toml --friction viscous,coulomb,power --offset --couple joint_5,joint_6 \\
          --cutoff 100 --parallel 20 --slow 0.06 --block 0.75 --report tx40.html
      dynamis identify ur10.urdf bag.db3 --offset --smooth 0.05 --presliding wrist_3_joint=0.01 \\
          --logged v --parallel 2 --smooth-torque
    """
    from dynamis.drawing import new_figure
    from dynamis.identification import identify as run
    from dynamis.robot import load

    mapping, compare = options["mapping"], options["compare"]
    inputs = (*logs, *options["validate"], mapping)
    check_output(options["out"], (".urdf", ".toml"), inputs)
    check_output(options["report"], (".html", ".htm"), inputs)
    if options["report"] is not None:
        new_figure(1.0, 1.0)  # without the library there is no report, and that is said before the work
    prepared = signals(options)
    model = _model(load(robot), options)
    wanted = () if compare == "none" else tuple(x.strip() for x in compare.split(","))
    with Bar() as bar:
        found = run(
            model, list(logs), validate=list(options["validate"]) or None, mapping=mapping, signals=prepared,
            estimator=options["estimator"], compare=wanted, folds=options["folds"], block_seconds=options["block"],
            examined=not options["unexamined"], progress=bar.show,
        )  # fmt: skip
        bar.show(1.0, "judging")
        grade = found.verdict.grade
    written = None if options["out"] is None else found.write(options["out"])
    if options["report"] is not None:
        found.report(options["report"], command=shlex.join(["dynamis", *sys.argv[1:]]))
    if as_json(options):
        files = [str(path) for path in (options["out"], options["report"]) if path is not None]
        proven = None if written is None else {"difference": written.difference, "notes": list(written.notes)}
        click.echo(
            json.dumps(finite({**found.as_dict(), "written": files, "round_trip": proven}), indent=2, ensure_ascii=False)
        )
    else:
        _print(found, written, options["report"], options["show_all"])
    sys.exit(0 if grade in ("good", "usable") else 1)


def as_json(options: dict[str, Any]) -> bool:
    return bool(options["as_json"])


def _model(robot: Any, options: dict[str, Any]) -> LinearModel:
    from dynamis.identification import LinearModel

    friction = options["friction"]
    terms = None if friction is None else () if friction == "none" else tuple(x.strip() for x in friction.split(","))
    pairs = [tuple(name.strip() for name in pair.split(",")) for pair in options["couple"]]
    for pair in pairs:
        if len(pair) != 2:
            raise InputError(f"--couple takes two joints, such as --couple wrist_2,wrist_3, got {','.join(pair)!r}")
    return LinearModel(
        robot, friction=terms, offset=options["offset"], rotor=not options["no_rotor"], spring=options["spring"] or None,
        smooth=options["smooth"], stribeck_speed=options["stribeck"], presliding=_presliding(options["presliding"]),
        couplings=[(first, second) for first, second in pairs],
    )  # fmt: skip


def _presliding(given: tuple[str, ...]) -> float | dict[str, float] | None:
    found: dict[str, float] = {}
    for text in given:
        name, _, value = text.rpartition("=")
        try:
            angle = float(value)
        except ValueError:
            raise InputError(f"--presliding takes an angle, or JOINT=ANGLE, such as wrist_3=0.01; got {text!r}") from None
        if not name:
            if len(given) > 1:
                raise InputError("--presliding with one angle is for all joints: give it once, or name the joints")
            return angle
        found[name] = angle
    return found or None


def _print(found: Identification, written: Written | None, report: Path | None, show_all: bool) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from dynamis.cli.sentences import say
    from dynamis.cli.tables import number, safe

    console = Console(soft_wrap=True)
    colour = {"good": "green", "usable": "green", "doubtful": "yellow"}.get(found.verdict.grade, "red")
    robot = found.base.model.robot
    console.print(
        f"[bold]{safe(robot.name)}[/bold]  {found.base.rank} base parameters from {len(found.equations)} equations: "
        f"[bold {colour}]{found.verdict.grade}[/]", highlight=False,
    )  # fmt: skip
    for sentence in found.verdict.sentences:
        say(console, "•", sentence)
    where = "on the other log" if found.validated else "on blocks left out"
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=f"Torque left unexplained, {where}", title_justify="left",
                  title_style="bold")  # fmt: skip
    for head in ("estimator", "fitted", "held out"):
        table.add_column(head, justify="left" if head == "estimator" else "right")
    for name, v in found.comparison.items():
        mark = " ◀" if name == found.name else ""
        table.add_row(name + mark, f"{v.train:.2f} %", f"{v.held_out:.2f} %")
    v = found.validation
    if v.prior is not None:
        table.add_row("the model before", "", f"{v.prior:.2f} %")
    console.print(table)
    table = Table(
        box=SIMPLE_HEAD, pad_edge=False, title=f"Joint by joint ({found.name})", title_justify="left", title_style="bold"
    )
    for head in ("joint", "residual (RMS)", "fitted", "held out", "before"):
        table.add_column(head, justify="left" if head == "joint" else "right")
    before = [None] * robot.n if v.prior_joints is None else v.prior_joints
    for k, joint in enumerate(found.statistics.joints):
        shares = (f"{x:.1f} %" for x in (v.train_joints[k], v.held_out_joints[k]))
        old = before[k]
        table.add_row(safe(joint.joint), f"{number(joint.rms, 3)} N·m", *shares, "–" if old is None else f"{old:.1f} %")
    console.print(table)
    s, base = found.statistics, found.base
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title="Parameters", title_justify="left", title_style="bold")
    for head in ("parameter", "value", "± 95 %", "before", "unit"):
        table.add_column(head, justify="left" if head in ("parameter", "unit") else "right")
    order = range(base.rank) if show_all else sorted(range(base.rank), key=lambda k: -s.share[k])[:SHOWN]
    for k in order:
        half = 0.5 * float(s.interval[k, 1] - s.interval[k, 0])
        row = (number(float(s.coef[k])), number(half, 2), number(float(base.prior[k])))
        table.add_row(safe(base.names[k]), *row, base.model.unit(int(base.independent[k])))
    console.print(table)
    if not show_all and base.rank > SHOWN:
        console.print(f"  the {SHOWN} that move the torques most; --all shows {base.rank}", style="dim")
    for note in found.notes:
        say(console, "note:", note, "dim")
    if written is not None:
        console.print(
            f"wrote {safe(str(written.path))}: read again, its torques differ by {written.difference:.1e}", highlight=False
        )
        for note in written.notes:
            say(console, "note:", note, "dim")
    if report is not None:
        console.print(f"wrote {safe(str(report))}", highlight=False)

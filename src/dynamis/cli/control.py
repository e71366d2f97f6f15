"""``dynamis control``: a controller tried out on a robot that it does not know exactly."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dynamis.cli.bounds import assignments, numbers
from dynamis.cli.kinds import POSITIVE, SEED
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.questions import finite
from dynamis.cli.states import vector
from dynamis.cli.writing import check_pictures, whole
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.control.trials import Trial

LAWS = (
    "gravity-compensation", "pd-gravity", "pd-bounded", "feedforward-pd", "computed-torque", "slotine-li",
    "operational-space", "impedance",
)  # fmt: skip


@click.command()
@click.argument("robot")
@click.option("--law", type=click.Choice(LAWS), default="computed-torque", show_default=True, help="The controller.")
@click.option("--goal", metavar="NUMBERS",
              help="Where to go: joints in rad and m, or the tip in m for operational-space and impedance.")  # fmt: skip
@click.option("--q0", "--start", "start", metavar="NUMBERS",
              help="Where it starts, one number or one a joint, in rad and m; neutral unless given.")  # fmt: skip
@click.option("--bandwidth", type=float, default=10.0, show_default=True, help="How fast errors shall vanish, in rad/s.")
@click.option("--damping", type=float, default=1.0, show_default=True, help="Damping ratio; 1 does not overshoot.")
@click.option("--stiffness", type=float, default=1000.0, show_default=True, help="Of impedance, in N/m.")
@click.option("--time", "duration", type=float, default=2.0, show_default=True, help="Seconds to simulate.")
@click.option("--move", type=float, help="Seconds the reference takes to the goal; half the time unless given.")
@click.option("--error", type=float, default=0.0, show_default=True,
              help="Per cent by which masses, centres of mass and inertias may be off.")  # fmt: skip
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the parameters' errors.")
@click.option("--rate", type=POSITIVE, help="The controller's sample rate in Hz, to be judged.")
@click.option("--step", type=POSITIVE, help="The integrator's step in s; chosen by the law unless given.")
@click.option("--seconds", type=float, help="The time that integration may take.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option("--c", "folder", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
              help="Also write the law as C99, with the robot as its model.")  # fmt: skip
@click.option("--name", metavar="NAME", help="Name of the C function and its files, with --c; control_LAW unless given.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Draw motion, errors and torques.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def control(
    robot: str, law: str, goal: str | None, start: str | None, bandwidth: float, damping: float, stiffness: float,
    duration: float, move: float | None, error: float, seed: int, rate: float | None, step: float | None,
    seconds: float | None, settings: tuple[str, ...], folder: Path | None, name: str | None, plot: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Try out a controller: a smooth move to a goal, and what is known about stability.

    Exit status: 0 all went well; 1 the motion stopped before its end, torques went beyond their limits, or a
    condition for stability fails; 2 bad input.

    \b
    Examples:
      dynamis control planar_2r_melchiorri --law pd-gravity --goal 0.8,-0.6 --error 5
      dynamis control kuka_iiwa14 --law computed-torque --bandwidth 15 --goal 0.6 --error 5 --plot iiwa.png
      dynamis control puma560 --law slotine-li --goal 0.5,0.7,-0.4,0.2,0.8,0.1 --rate 1000 --json
      dynamis control ur5e --law operational-space --q0 0,-1.2,1.6,-2,-1.5,0 --goal=-0.4,0.2,0.5
      dynamis control ur5e --law computed-torque --goal 0.5 --c code
    """
    from dynamis.control.c_export import write_c
    from dynamis.control.trials import trial
    from dynamis.robot import load

    if not 0.0 <= error < 100.0:
        raise InputError(f"--error takes per cent from 0 to 100, such as --error 5, got {error:g}")
    check_pictures(plot)
    loaded = load(robot, parameters=assignments(settings) or None)
    with Bar() as bar:
        made = trial(
            loaded, law, numbers(goal, "--goal"), start=vector(loaded, start, "q", "--q0"), bandwidth=bandwidth,
            damping=damping, stiffness=stiffness, duration=duration, move=move, error=error / 100.0, seed=seed,
            rate=rate, step=step, seconds=seconds, progress=lambda x: bar.show(x, "simulating"),
        )  # fmt: skip
    written = [] if folder is None else [str(path) for path in write_c(loaded, made.law, folder, name=name)]
    if plot is not None:
        whole(plot, made.plot)
        written.append(str(plot))
    if as_json:
        click.echo(json.dumps(finite({**made.as_dict(), "written": written}), indent=2, ensure_ascii=False))
    else:
        _print(made)
        for path in written:
            click.echo(f"wrote {path}")
    interrupted = made.motion.status.startswith("interrupted")
    well = made.motion.complete and made.stability.stable and not made.beyond_limits
    sys.exit(130 if interrupted else 0 if well else 1)


def _print(made: Trial) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from dynamis.cli.tables import number, safe

    console, track, robot = Console(soft_wrap=True), made.tracking, made.motion.robot
    off = f", parameters off by up to {100.0 * made.error:g} %" if made.error else ", the model exact"
    console.print(f"[bold]{safe(robot.name)}[/bold]  {safe(made.law_name)}{off}: {safe(made.motion.status)}", highlight=False)
    errors = Table(box=SIMPLE_HEAD, pad_edge=False, title="Tracking", title_justify="left", title_style="bold")
    for head in ("", "largest error", "at the end", "root mean square", "expected below", ""):
        errors.add_column(head, justify="right" if head else "left")
    for k, name in enumerate(track.names):
        bound = None if made.bound is None else float(made.bound[k])
        row = (track.largest[k], track.last[k], track.rms[k])
        errors.add_row(safe(name), *(number(float(x), 3) for x in row), number(bound, 3), made.units[k])
    console.print(errors)
    torques = Table(box=SIMPLE_HEAD, pad_edge=False, title="Torques", title_justify="left", title_style="bold")
    for head in ("joint", "peak", "limit", "used"):
        torques.add_column(head, justify="left" if head == "joint" else "right")
    for name, peak, limit in zip(robot.coordinate_names, track.peak, robot.limits["effort"], strict=True):
        share = float(peak / limit)
        colour = "red" if share > 1.0 else "green"
        used = f"[{colour}]{100.0 * share:.0f} %[/]" if limit < float("inf") else "–"
        torques.add_row(safe(name), number(float(peak), 4), number(float(limit), 4) if limit < float("inf") else "–", used)
    console.print(torques)
    if made.beyond_limits:
        names = safe(", ".join(made.beyond_limits))
        console.print(f"[bold red]the real robot cannot do this: torques beyond the limits of {names}[/]", highlight=False)
    report = made.stability
    console.print(f"[bold {'green' if report.stable else 'red'}]{safe(report.verdict)}[/]", highlight=False)
    for condition in report.conditions:
        advice = condition.basis == "rule of thumb"
        mark = "[green]holds [/]" if condition.holds else "[yellow]not so[/]" if advice else "[red]FAILS [/]"
        facts = f"{safe(condition.what)} {condition.found:.4g}, needed {condition.needed:.4g} [dim]({condition.basis})[/]"
        console.print(f"  {mark}  {facts}", highlight=False)
        if condition.why:
            console.print(f"          [dim]{safe(condition.why)}[/]", highlight=False)
    for note in report.notes:
        console.print(f"  [dim]{safe(note)}[/]", highlight=False)

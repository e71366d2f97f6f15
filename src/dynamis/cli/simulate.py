"""``dynamis simulate`` and ``dynamis study``: motion in time."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.bounds import assignments
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar, waiting
from dynamis.cli.questions import finite
from dynamis.cli.states import vector
from dynamis.cli.writing import check_output, check_pictures, whole

if TYPE_CHECKING:
    from dynamis.robot import Robot

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("robot")
@click.option("--time", "duration", type=float, default=5.0, show_default=True, help="Seconds to simulate.")
@click.option("--q0", metavar="NUMBERS", help="Where it starts, one number or one a joint, in rad and m; neutral unless given.")
@click.option("--v0", metavar="NUMBERS", help="Velocities at the start, in rad/s and m/s; at rest unless given.")
@click.option("--tau", "--torque", "torque", metavar="NUMBERS", help="Constant torques, in N m and N; none unless given.")
@click.option("--friction", type=click.Choice(["model", "smooth", "none"]), default="model", show_default=True,
              help="Dry friction: the robot's with true sticking, smoothed, or none.")  # fmt: skip
@click.option(
    "--method", default="DOP853", show_default=True, help="RK45, DOP853, Radau, LSODA; euler, rk4, midpoint, time_stepping."
)
@click.option("--step", type=float, help="The step of euler, rk4 and midpoint, in s.")
@click.option("--stops", type=click.Choice(["hard", "compliant"]),
              help="The ends of the joints' ranges: hit without a bounce, or springs of 10 000 N m/rad (N/m).")  # fmt: skip
@click.option("--seconds", type=float, help="The time that integration may take; what was simulated until then is kept.")
@click.option("--points", type=int, default=501, show_default=True, help="How many points to report.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option(
    "-o",
    "--out",
    "--output",
    "output",
    type=FILE,
    metavar="FILE",
    help="Write the motion: .csv, .npz or .parquet; .json for a viewer.",
)
@click.option("--plot", type=FILE, metavar="FILE", help="Draw positions, velocities, torques and energies.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def simulate(
    robot: str, duration: float, q0: str | None, v0: str | None, torque: str | None, friction: str, method: str,
    step: float | None, stops: str | None, seconds: float | None, points: int, settings: tuple[str, ...],
    output: Path | None, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Let a robot move from a state, under its weight, friction and constant torques.

    \b
    Examples:
      dynamis simulate planar_2r_melchiorri --time 10 --plot fall.png
      dynamis simulate puma560 --time 0.5 --q0 0,0.7,-0.5,0.3,0.2,0.1 -o fall.csv
      dynamis simulate scara --v0 1,1,0,0 --method rk4 --step 1e-3 --friction none
      dynamis simulate scara --time 2 --stops hard

    \b
    Ctrl-C ends the motion where it is: what was simulated is reported and written, and the exit status is 130.
    """
    from dynamis.robot import load
    from dynamis.simulation.simulate import simulate as run

    check_output(output, (".csv", ".npz", ".parquet", ".json"))
    check_pictures(plot)
    loaded = load(robot, parameters=assignments(settings) or None)
    start, rates = vector(loaded, q0, "q", "--q0"), vector(loaded, v0, "v", "--v0")
    with Bar() as bar:
        motion = run(
            loaded, duration, start, rates, torque=None if torque is None else vector(loaded, torque, "tau"),
            friction=friction, method=method, step=step, stops=_stops(loaded, stops), seconds=seconds, points=points,
            progress=lambda x: bar.show(x, "simulating"),
        )  # fmt: skip
    interrupted = motion.status.startswith("interrupted")
    for target, write in ((output, motion.save), (plot, motion.plot)):
        if target is not None:
            whole(target, write)
    balance = float(abs(motion.energy_error).max())
    if as_json:
        facts = {
            "status": motion.status, "t": float(motion.t[-1]), "q": motion.q[-1].tolist(), "v": motion.v[-1].tolist(),
            "energy": float(motion.energy[-1]), "energy_error": balance, "events": [str(e) for e in motion.events],
            "written": [str(target) for target in (output, plot) if target is not None],
        }  # fmt: skip
        click.echo(json.dumps(finite(facts), indent=2, ensure_ascii=False))
        sys.exit(130 if interrupted else 0)
    click.echo(f"{loaded.name}: {motion.status} ({motion.t[-1]:g} s)")
    for name, values in (("q", motion.q), ("v", motion.v)):
        click.echo(f"  {name} at the end: " + " ".join(f"{x:.6g}" for x in values[-1]))
    click.echo(
        f"  energy {motion.energy[0]:.6g} J at the start, {motion.energy[-1]:.6g} J at the end; balance to {balance:.1e} J"
    )
    for event in motion.events[:20]:
        click.echo(f"  {event}")
    if len(motion.events) > 20:
        click.echo(f"  … and {len(motion.events) - 20} more events")
    for target in (output, plot):
        if target is not None:
            click.echo(f"wrote {target}{', as far as it went' if interrupted else ''}")
    if interrupted:
        sys.exit(130)


def _stops(robot: Robot, kind: str | None) -> Any:
    from dynamis.simulation.hard_stops import HardStops
    from dynamis.simulation.surroundings import joint_stops

    match kind:
        case "hard":
            return HardStops()
        case "compliant":
            return joint_stops(robot, stiffness=1e4, damping=1.0)
    return None


@click.command()
@click.option("--plot", type=FILE, metavar="FILE", help="Draw angles, velocities, energy and the tip's path.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def study(plot: Path | None, as_json: bool) -> None:
    """The lectures' study of a two-link arm: ten seconds from rest with three amounts of friction.

    \b
    Example:
      dynamis study --plot study.png
    """
    from dynamis.simulation.two_link_study import two_link_study

    check_pictures(plot)
    with waiting("simulating"):
        made = two_link_study()
    if plot is not None:
        whole(plot, made.plot)
    if as_json:
        facts = {"summary": made.summary().splitlines(), "written": [] if plot is None else [str(plot)]}
        click.echo(json.dumps(finite(facts), indent=2, ensure_ascii=False))
        return
    click.echo(made.summary())
    if plot is not None:
        click.echo(f"wrote {plot}")

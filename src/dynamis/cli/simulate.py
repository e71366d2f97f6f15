"""``dynamis simulate`` and ``dynamis study``: motion in time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.configurations import degrees_option
from dynamis.cli.console import clean_name, echo, print_json, print_written
from dynamis.cli.error_handling import plain_errors, print_warning
from dynamis.cli.formatting import number, with_units
from dynamis.cli.hints import for_command_line
from dynamis.cli.layout import print_table
from dynamis.cli.limits import warn_excess, warn_limits
from dynamis.cli.options import FILE, floating_option, json_option, plot_option, set_option, start_option
from dynamis.cli.output_files import check_output, check_pictures, whole
from dynamis.cli.param_types import POSITIVE, Integer
from dynamis.cli.progress import Bar, waiting
from dynamis.cli.states import beyond_effort_limits, loaded, units, vector
from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.tolerances import SAME_STATE

if TYPE_CHECKING:
    from dynamis.robot import Robot
    from dynamis.simulation.trajectory import Trajectory

MAX_EVENTS_LISTED = 20  # listed

HELP = """Simulate the motion of a robot under gravity, friction and constant torques.

    Torques above the effort limits are applied as given, and reported. Loops that the file closes are closed; the initial state
    is the nearest one with closed loops.

    Ctrl-C and the limit of computing time (--seconds) end the simulation: the motion up to then is reported and written.

    Exit status: 0 completed, 1 stopped before the end of --time, 2 bad input, 130 interrupted by Ctrl-C.

    \b
    Examples:
      dynamis simulate planar_2r_melchiorri --time 10 --plot fall.png
      dynamis simulate puma560 --time 0.5 --q0 0,0.7,-0.5,0.3,0.2,0.1 -o fall.csv
      dynamis simulate scara --v0 1,1,0,0 --method rk4 --step 1e-3 --friction none
      dynamis simulate scara --time 2 --stops hard
    """


@click.command(help=HELP, short_help="Simulate a motion under gravity, friction and torques.")
@click.argument("robot")
@click.option("--time", "--duration", "duration", type=POSITIVE, default=5.0, show_default=True, help="Simulated time in s.")
@start_option()
@click.option("--v0", metavar="NUMBERS", help="Initial velocities in rad/s and m/s. Default: zeros.")
@degrees_option("--q0")
@click.option(
    "--tau",
    "--torque",
    "torque",
    metavar="NUMBERS",
    help="Constant torques in N m and N, voltages in V for joints with a DC motor. Default: zeros.",
)
@click.option("--friction", type=click.Choice(["model", "smooth", "none"]), default="model", show_default=True,
              help="Coulomb friction: with stick-slip as in the model, smoothed, or none.")  # fmt: skip
@click.option("--method", default="DOP853", show_default=True,
              help="Integration method: RK23, RK45, DOP853, Radau, BDF, LSODA; with fixed steps: euler, rk4, midpoint, "
                   "time_stepping.")  # fmt: skip
@click.option("--step", type=POSITIVE, help="Step of the fixed-step methods, largest step of the adaptive ones, in s.")
@click.option("--stops", type=click.Choice(["hard", "compliant"]),
              help="Joint limits as inelastic stops, or as springs of 10 000 N m/rad (N/m). Default: no stops.")  # fmt: skip
@click.option("--open-loops", is_flag=True, help="Leave the loops that the file closes open.")
@click.option("--keep", metavar="JOINTS", help="Joints whose initial values stay as given when loops close, such as crank.")
@click.option("--seconds", type=POSITIVE, default=60.0, show_default=True,
              help="Limit of the computing time in s; the motion until then is kept.")  # fmt: skip
@click.option("--points", type=Integer(2), show_default="501, or that of the steps", help="Number of output points.")
@floating_option
@set_option
@click.option("-o", "--out", "--output", "output", type=FILE, metavar="FILE",
              help="Write the motion: .csv, .npz or .parquet; .json for a viewer.")  # fmt: skip
@plot_option("Plot positions, velocities, torques and energies.")
@json_option
@plain_errors
def simulate(
    robot: str, duration: float, q0: str | None, v0: str | None, degrees: bool | None, torque: str | None, friction: str,
    method: str, step: float | None, stops: str | None, open_loops: bool, keep: str | None, seconds: float, points: int | None,
    floating: bool, settings: tuple[str, ...], output: Path | None, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    check_output(output, (".csv", ".npz", ".parquet", ".json"))
    check_pictures(plot)
    found = loaded(robot, settings, floating)
    start, rates = vector(found, q0, "q", "--q0", degrees), vector(found, v0, "v", "--v0")
    if torque is not None:
        _note_voltages(found)
    method = _method(method)
    run, start, rates, chosen = _prepared(found, None if q0 is None else start, rates, method, open_loops, keep)
    with Bar() as bar:
        motion = run(
            duration, start, rates, torque=None if torque is None else vector(found, torque, "tau", "--tau / --torque"),
            friction=friction, step=step, stops=_stops(found, stops), seconds=seconds, points=points, **chosen,
            progress=lambda x: bar.show(x, f"simulating, t = {x * duration:.4g} s of {duration:g} s"),
        )  # fmt: skip
    _note_step(method, step)
    interrupted = motion.status.startswith("interrupted")
    for target, write in ((output, motion.save), (plot, motion.plot)):
        if target is not None:
            whole(target, write)
    written = [str(target) for target in (output, plot) if target is not None]
    if as_json:
        print_json({
            "status": for_command_line(motion.status), "t": float(motion.t[-1]), "q": motion.q[-1], "v": motion.v[-1],
            "energy": float(motion.energy[-1]), "energy_error": float(abs(motion.energy_error).max()),
            "beyond_limits": beyond_effort_limits(found, motion.tau),
            "events": [str(e) for e in motion.events], "written": written,
        })  # fmt: skip
    else:
        _print(motion)
        print_written(written)
        if interrupted and written:
            echo("  with the motion up to the interruption")
    sys.exit(130 if interrupted else 0 if motion.complete else 1)


def _method(given: str) -> str:
    """The name of a method, which may be given in any case."""
    from dynamis.simulation.adaptive import METHODS
    from dynamis.simulation.fixed_step import RULES

    return next((name for name in (*METHODS, *RULES) if name.lower() == given.lower()), given)


def _prepared(
    robot: Robot, q: Any, v: Any, method: str, open_loops: bool, keep: str | None
) -> tuple[Callable[..., Trajectory], Any, Any, dict[str, str]]:  # fmt: skip
    """What simulates the robot, with its loops closed if it has any, its initial state (default: home), and the method."""
    from dynamis.simulation.loops.constrain import constrained
    from dynamis.simulation.simulate import simulate as run

    if open_loops or not robot.description.closures:
        if keep is not None:
            raise InputError("--keep is for robots whose loops are closed")
        return partial(run, robot), q, v, {"method": method}
    closed, kept = constrained(robot), [name.strip() for name in keep.split(",")] if keep else []
    found = closed.home() if q is None else closed.assemble(q, kept)
    rates = closed.assemble_velocity(found, v, kept)
    if q is not None:
        _note_assembly("q0", robot.by_name(q), robot.by_name(found), keep)
    if v is not None:
        _note_assembly("v0", robot.by_name(v), robot.by_name(rates), keep)
    context = click.get_current_context()
    given = context.get_parameter_source("method") is not click.core.ParameterSource.DEFAULT
    return closed.simulate, found, rates, {"method": method} if given else {}


def _note_assembly(name: str, given: Mapping[str, Any], found: Mapping[str, Any], keep: str | None) -> None:
    """State which coordinates the closed loops change."""
    import numpy as np

    pairs = {joint: (np.atleast_1d(x), np.atleast_1d(given[joint])) for joint, x in found.items()}
    apart = {joint: pair for joint, pair in pairs.items() if np.abs(pair[0] - pair[1]).max() > SAME_STATE}
    each = {joint: [",".join(f"{x:.6g}" for x in part) for part in pair] for joint, pair in apart.items()}
    changed = [f"{clean_name(joint)} {there} instead of {here}" for joint, (there, here) in each.items()]
    if changed:
        kept = f" with {clean_name(keep)} as given" if keep else " (see --keep)"
        print_warning(
            f"--{name} does not close the loops; the nearest state that does{kept} has {', '.join(changed)}",
            label="note: ",
        )


def _note_voltages(robot: Robot) -> None:
    """State for which joints --tau is a voltage."""
    from dynamis.model.actuators import DCMotor

    motors = [clean_name(name) for name, actuator in robot.actuators.items() if isinstance(actuator, DCMotor)]
    if motors:
        print_warning(f"--tau is in V for {', '.join(motors)}, which a DC motor drives", label="note: ")


def _note_step(method: str, step: float | None) -> None:
    """State what --step means for an adaptive method."""
    from dynamis.simulation.adaptive import METHODS

    if step is not None and method in METHODS:
        print_warning(
            f"{method} adapts its step: --step {step:g} is only its largest value; fixed steps need --method rk4, midpoint, "
            f"euler or time_stepping",
            label="note: ",
        )


def _print(motion: Trajectory) -> None:
    robot = motion.robot
    echo(
        (clean_name(robot.name), {"bold": True}),
        f": {for_command_line(motion.status)}{'' if 't =' in motion.status else f' at t = {motion.t[-1]:g} s'}",
    )
    if robot.nq == robot.n:
        names, unit = with_units(robot.coordinate_names, ["rad" if c.revolute else "m" for c in robot.model.coordinates])
        rows = list(zip(names, motion.q[-1], motion.v[-1], strict=True))
        heads = ("joint", f"q [{unit}]", f"v [{unit}/s]") if unit else ("joint", "q", "v (per second)")
        print_table("Final state", heads, rows, digits=6)
    else:
        for name, values in (("q", motion.q), ("v", motion.v)):
            echo(f"  final {name}: " + " ".join(number(float(x), 6) for x in values[-1]), hang=4)
    warn_limits(motion, "; --stops keeps joints within their limits")
    warn_excess(motion.robot, "effort", motion.tau, units(motion.robot))
    drift = getattr(motion, "drift", None)  # of closed loops
    if drift is not None:
        loops = counted(len(robot.description.closures), "closure")
        echo(f"  loops closed by {loops}: largest error {float(drift.max()):.1e} m or rad", hang=4)
    start, end = (number(float(x), 6) for x in (motion.energy[0], motion.energy[-1]))
    error = float(abs(motion.energy_error).max())
    echo(f"  energy: initial {start} J, final {end} J; largest error of the energy balance {error:.1e} J", hang=4)
    for event in motion.events[:MAX_EVENTS_LISTED]:
        echo(f"  {event}", hang=4)
    if len(motion.events) > MAX_EVENTS_LISTED:
        echo(f"  … and {counted(len(motion.events) - MAX_EVENTS_LISTED, 'more event')}")


def _stops(robot: Robot, kind: str | None) -> Any:
    from dynamis.simulation.contact import joint_stops
    from dynamis.simulation.hard_stops import HardStops

    match kind:
        case "hard":
            return HardStops()
        case "compliant":
            return joint_stops(robot, stiffness=1e4, damping=1.0)
    return None


STUDY_HELP = """Simulate the two-link arm of the lectures for ten seconds from rest, with three values of viscous friction.

    \b
    Example:
      dynamis study --plot study.png
    """


@click.command(help=STUDY_HELP, short_help="Two-link example: ten seconds from rest, three frictions.")
@plot_option("Plot angles, velocities, energy and the path of the tip.")
@json_option
@plain_errors
def study(plot: Path | None, as_json: bool) -> None:
    from dynamis.simulation.two_link_study import two_link_study

    check_pictures(plot)
    with waiting("simulating"):
        made = two_link_study()
    if plot is not None:
        whole(plot, made.plot)
    written = [] if plot is None else [str(plot)]
    if as_json:
        print_json({"summary": made.summary().splitlines(), "written": written})
        return
    rows = [
        (f"{d:g}", *(f"{x:.4f}" for x in motion.q[-1]), motion.energy[0] - motion.energy[-1],
         f"{abs(motion.energy_error).max():.1e}")
        for d, motion in zip(made.damping, made.motions, strict=True)
    ]  # fmt: skip
    heads = ("D [N m s/rad]", "final q_1 [rad]", "final q_2 [rad]", "energy loss [J]", "balance error [J]")
    print_table("Two-link arm, 10 s from rest", heads, rows)
    print_written(written)

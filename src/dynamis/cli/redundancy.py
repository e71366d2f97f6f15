"""``dynamis redundancy``: redundancy resolution laws, simulated on the same task motion."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.configurations import degrees_option
from dynamis.cli.console import echo, print_json, print_written
from dynamis.cli.error_handling import plain_errors, print_warning
from dynamis.cli.formatting import number
from dynamis.cli.layout import print_table
from dynamis.cli.options import json_option, numbers, plot_option, set_option
from dynamis.cli.output_files import check_pictures, whole
from dynamis.cli.param_types import NOT_NEGATIVE, NUMBER, POSITIVE, Integer
from dynamis.cli.progress import Bar
from dynamis.cli.states import loaded, vector
from dynamis.display import counted
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.control.law_runs import LawComparison
    from dynamis.kinematics.tasks import Task
    from dynamis.robot import Robot

COSTS = ("∫½ τᵀM⁻²τ dt", "∫½ τᵀM⁻¹τ dt", "∫½ τᵀτ dt")
AXES = "xyz"
ABOUT = {"roll": "x", "pitch": "y", "yaw": "z"}  # the axis of each angle

HELP = """Compare redundancy resolution laws on the same task motion: tracking, torques, null-space motion.

    Each law takes the torque that executes the task with the least cost: driven-acceleration ½ τᵀM⁻²τ, acceleration-energy
    ½ τᵀM⁻¹τ, torque ½ τᵀτ.

    The task motion must lie in the workspace of the start --q0, and the start must not be singular. Without damping in the
    null space (--null-damping 0) the velocities of the law torque may diverge.

    A simulation that exceeds --seconds is stopped; the motion up to then is reported.

    Exit status: 0 all simulations completed, 1 some stopped early, 2 the command could not run, 130 interrupted.

    \b
    Examples:
      dynamis redundancy panda
      dynamis redundancy kuka_iiwa14 --task pose --q0 0,0.6,0,-1.2,0,0.8,0 \\
          --along z --motion line --no-gravity
      dynamis redundancy planar_2r_melchiorri --rows x --q0 0.3,0.8 \\
          --motion line --along x --cycles 1 --plot laws.png
    """


@click.command(help=HELP, short_help="Compare redundancy resolution laws on a task motion.")
@click.argument("robot")
@click.option("--task", "kind", type=click.Choice(["position", "orientation", "pose"]), default="position", show_default=True,
              help="Task: position, orientation or pose of a frame.")  # fmt: skip
@click.option("--rows", metavar="LETTERS", help="Task components out of x, y, z, such as xy for a planar arm. Default: all.")
@click.option("--frame", metavar="NAME", help="Frame of the task. Default: the tip.")
@click.option("--law", "laws", multiple=True, metavar="NAME",
              help="driven-acceleration, acceleration-energy or torque; repeatable. Default: all.")  # fmt: skip
@click.option("--q0", metavar="NUMBERS",
              help="Initial configuration in rad and m. Default: one with the motion far from singularities.")  # fmt: skip
@degrees_option("--q0")
@click.option("--motion", "shape", type=click.Choice(["circle", "line"]), default="circle", show_default=True,
              help="Shape of the task motion.")  # fmt: skip
@click.option("--size", type=POSITIVE, default=0.1, show_default=True, help="Radius of the circle or length of the line, in m.")
@click.option("--along", metavar="LETTERS", help="Moving task components, such as xy or z. Default: the first ones.")
@click.option("--period", type=POSITIVE, default=2.0, show_default=True, help="Duration of a cycle in s.")
@click.option("--cycles", type=Integer(1, 1000), default=2, show_default=True, help="Number of cycles.")
@click.option("--gains", metavar="K_P,K_D", help="Feedback gains. Default: 100 and critical damping.")
@click.option("--null-damping", type=NUMBER, default=20.0, show_default=True, metavar="RATE",
              help="Damping of null-space motion, in 1/s; 0 for none.")  # fmt: skip
@click.option("--compensate/--no-compensate", default=True, show_default=True,
              help="Compensate gravity in the null space.")  # fmt: skip
@click.option("--regularisation", type=NOT_NEGATIVE, default=0.0, show_default=True, help="λ of damped least squares.")
@click.option("--no-gravity", is_flag=True, help="Without gravity, as on a horizontal plane.")
@click.option("--seconds", type=POSITIVE, default=60.0, show_default=True, help="Time limit of each simulation in s.")
@set_option
@plot_option("Plot the laws side by side.")
@json_option
@plain_errors
def redundancy(
    robot: str, kind: str, rows: str | None, frame: str | None, laws: tuple[str, ...], q0: str | None, degrees: bool | None,
    shape: str, size: float, along: str | None, period: float, cycles: int, gains: str | None, null_damping: float,
    compensate: bool, regularisation: float, no_gravity: bool, seconds: float, settings: tuple[str, ...], plot: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    from dynamis.control.experiments import compare_laws
    from dynamis.control.named_laws import LawDesign
    from dynamis.task_space.motions import Circle, Line
    from dynamis.task_space.null_space import Compensation, Damping

    check_pictures(plot)
    arm = loaded(robot, settings)
    arm = arm.replace(gravity=(0.0, 0.0, 0.0)) if no_gravity else arm
    task = _task(kind, rows, frame)
    axes = _moving_components(along, task, 2 if shape == "circle" else 1)
    motion = Circle(size, period, cycles, (axes[0], axes[1])) if shape == "circle" else Line(size, period, cycles, axes[0])
    bandwidth, damping = _bandwidth(gains)
    preferences: list[Any] = [Damping(null_damping)] if null_damping else []
    preferences += [Compensation()] if compensate else []
    start = _start(arm, task, motion) if q0 is None else vector(arm, q0, "q", "--q0", degrees)
    with Bar() as bar:
        found = compare_laws(
            arm, laws or None, motion, task=task, q0=start,
            design=LawDesign(bandwidth, damping, null_space=preferences, regularisation=regularisation), seconds=seconds,
            progress=bar.show,
        )  # fmt: skip
    if plot is not None:
        whole(plot, found.plot)
    written = [] if plot is None else [str(plot)]
    if as_json:
        facts = {**found.as_dict(), "q0": start, "written": written}
        for law in facts["laws"]:
            law["status"] = _advised(law["status"])
        print_json(facts)
    else:
        _print(found)
        echo(f"  start: q0 = {', '.join(f'{x + 0.0:.4g}' for x in start)}", hang=4)
        for run in found.runs:
            if not run.trajectory.complete:
                echo(f"{run.name}: {_advised(run.trajectory.status)}")
        print_written(written)
    interrupted = any(run.trajectory.status.startswith("interrupted") for run in found.runs)
    sys.exit(130 if interrupted else 0 if found.complete else 1)


def _start(robot: Robot, task: Task, motion: Any) -> Any:
    """A start from which the motion can be followed with a well-conditioned Jacobian; home where none is found."""
    from dynamis.task_space.path_check import suggested_start

    found = suggested_start(robot, task, motion)
    return robot.home() if found is None else found


def _print(found: LawComparison) -> None:
    """The cost of each law, its tracking error and its null-space motion."""
    from dynamis.control.comparison_table import BEST, least_costs

    least = least_costs(found)
    rows, loads, drifts = [], [], []
    for run in found.runs:
        moved = run.null_space
        assert moved is not None  # the motion is periodic
        costs = [f"{number(x)}{BEST if x == least[key] else ''}" for key, x in moved.costs.items()]
        rows.append((run.name, *costs))
        loads.append((run.name, f"{number(run.peak_torque)} {run.peak_unit}", run.peak_joint, f"{run.error.max():.1e}"))
        drifts.append((run.name, moved.drift[-1] if len(moved.drift) else None, str(moved)))
    motion, names = found.motion, found.runs[0].tracking.names
    shape = f"{type(motion).__name__.lower()}, {counted(motion.cycles, 'cycle')} of {motion.period:g} s"
    title = f"{found.robot.name}: task {', '.join(names)}; {shape}"
    print_table(title, ("law", *COSTS), rows)
    if any(x is not None for x in least.values()):
        echo(f"  {BEST} lowest of the column, of the completed motions")
    print_table("Torques and tracking", ("law", "peak torque", "at joint", "task error"), loads)
    print_table("Null space", ("law", "joint drift", "null-space velocity"), drifts, texts=(2,))
    echo("  joint drift: distance of the final from the initial configuration, after the last cycle; in rad and rad/s", hang=4)
    for run in found.runs:
        for text in _beyond(found.robot, run.trajectory):
            print_warning(f"{run.name} exceeds limits, which these laws do not consider: {text}")


def _beyond(robot: Robot, motion: Any) -> list[str]:
    """The joint farthest beyond its velocity limit, and that farthest beyond its position limit."""
    import numpy as np

    limits, found = robot.limits, []
    for x, low, high, unit in ((motion.v, -limits["velocity"], limits["velocity"], "rad/s"),
                               (motion.q, limits["lower"], limits["upper"], "rad")):  # fmt: skip
        if x.shape[1] != robot.n:
            continue
        over = np.maximum(x - high, low - x)
        row, k = np.unravel_index(int(np.argmax(over)), over.shape)
        if over[row, k] > 0.0:
            far = number(float(x[row, k]), 3)
            found.append(f"{robot.coordinate_names[k]} reaches {far} {unit}, limits {low[k]:.3g} … {high[k]:.3g}")
    return found


def _advised(status: str) -> str:
    """A simulation's status, with advice that this command can follow."""
    return status.replace("try method='Radau' or 'LSODA'", "try a larger --null-damping, or --regularisation")


def _letters(text: str, option: str, known: str) -> tuple[int, ...]:
    letters = text.replace(",", "").replace(" ", "").lower()
    if not letters or len(set(letters)) != len(letters) or not set(letters) <= set(known):
        raise InputError(f"{option} takes some of {', '.join(known)}, each once, such as {option} {known[:2]}; got {text!r}")
    return tuple(known.index(letter) for letter in letters)


def _task(kind: str, rows: str | None, frame: str | None) -> Task:
    from dynamis.kinematics.tasks import Orientation, PoseTask, Position

    chosen = (0, 1, 2) if rows is None else _letters(rows, "--rows", AXES)
    match kind:
        case "position":
            return Position(frame, chosen)
        case "orientation":
            # some of the rows need coordinates: roll, pitch and yaw
            return Orientation(frame, rows=chosen, coordinates="geometric" if len(chosen) == 3 else "rpy")
    if rows is not None:
        raise InputError("--rows goes with --task position or orientation; a pose has all six rows")
    return PoseTask(frame)


def _moving_components(text: str | None, task: Task, count: int) -> tuple[int, ...]:
    """The components of the task that move; letters are those of the axes."""
    if text is None:
        if task.size < count:
            raise InputError("a circle needs two components of the task: choose more --rows, or --motion line")
        return tuple(range(count))
    letters = [ABOUT.get(name, name.removeprefix("r")) for name in task.names[:3]]
    found = _letters(text, "--along", "".join(letters))
    if len(found) != count:
        raise InputError(
            f"--along takes {count} of {', '.join(letters)} for a {'circle' if count == 2 else 'line'}, got {text!r}"
        )
    return found


def _bandwidth(text: str | None) -> tuple[float, float]:
    """Bandwidth ω and damping ratio ζ of the gains K_P = ω² and K_D = 2 ζ ω."""
    values = numbers(text, "--gains")
    if values is None:
        return 10.0, 1.0
    if len(values) > 2 or min(values) <= 0.0:
        raise InputError(f"--gains takes K_P or K_P,K_D, positive numbers such as --gains 400,40; got {text!r}")
    bandwidth = values[0] ** 0.5
    return bandwidth, values[1] / (2.0 * bandwidth) if len(values) == 2 else 1.0

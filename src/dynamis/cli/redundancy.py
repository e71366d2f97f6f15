"""``dynamis redundancy``: laws for redundant robots, simulated on the same motion of a task."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.bounds import assignments, numbers
from dynamis.cli.kinds import NOT_NEGATIVE
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.questions import finite
from dynamis.cli.states import vector
from dynamis.cli.writing import check_pictures, whole
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.task_space.tasks import Task

AXES = "xyz"
ABOUT = {"roll": "x", "pitch": "y", "yaw": "z"}  # the axis of each angle


@click.command()
@click.argument("robot")
@click.option("--task", "kind", type=click.Choice(["position", "orientation", "pose"]), default="position", show_default=True,
              help="What is moved: a frame's position, orientation, or both.")  # fmt: skip
@click.option("--rows", metavar="LETTERS", help="Some of x, y, z, such as xy for a planar arm; all unless given.")
@click.option("--frame", metavar="NAME", help="The frame that is moved; the tip unless given.")
@click.option("--law", "laws", multiple=True, metavar="NAME",
              help="driven-acceleration, acceleration-energy or torque; repeatable, all unless given.")  # fmt: skip
@click.option("--q0", metavar="NUMBERS", help="Where it starts, one number or one a joint, in rad and m; neutral unless given.")
@click.option("--motion", "shape", type=click.Choice(["circle", "line"]), default="circle", show_default=True,
              help="What the task does.")  # fmt: skip
@click.option("--size", type=float, default=0.1, show_default=True, help="Radius of the circle or length of the line, in m.")
@click.option("--along", metavar="LETTERS", help="The components that move, such as xy or z; the first ones unless given.")
@click.option("--period", type=float, default=2.0, show_default=True, help="Seconds for a cycle.")
@click.option("--cycles", type=int, default=3, show_default=True, help="How many.")
@click.option("--gains", metavar="K_P,K_D", help="Of the feedback; 100 and critical damping unless given.")
@click.option("--null-damping", type=float, metavar="RATE", help="Damp motion that the task does not see, in 1/s.")
@click.option("--compensate", is_flag=True, help="Carry the weight in the null space too, so that nothing falls there.")
@click.option("--regularisation", type=NOT_NEGATIVE, default=0.0, show_default=True, help="λ of damped least squares.")
@click.option("--no-gravity", is_flag=True, help="As on a horizontal plane.")
@click.option("--seconds", type=float, default=60.0, show_default=True, help="The time that each simulation may take.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draw the laws side by side.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def redundancy(
    robot: str, kind: str, rows: str | None, frame: str | None, laws: tuple[str, ...], q0: str | None, shape: str, size: float,
    along: str | None, period: float, cycles: int, gains: str | None, null_damping: float | None, compensate: bool,
    regularisation: float, no_gravity: bool, seconds: float, settings: tuple[str, ...], plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Compare torques that execute the same task: what each costs, and what becomes of the motion the task does not see.

    A redundant robot has many torques for one motion of its tip. Each law takes the one with the least of something:
    driven-acceleration ½ τᵀM⁻²τ, acceleration-energy ½ τᵀM⁻¹τ, torque ½ τᵀτ.

    \b
    Examples:
      dynamis redundancy panda --q0 0,-0.5,0,-2,0,1.6,0.8 --along yz --compensate --null-damping 3
      dynamis redundancy kuka_iiwa14 --task pose --q0 0,0.6,0,-1.2,0,0.8,0 --along z --motion line --no-gravity
      dynamis redundancy planar_2r_melchiorri --rows x --q0 0.3,0.8 --motion line --along x --cycles 1 --plot laws.png

    \b
    A law that runs away is stopped after --seconds and reported as far as it came.
    Exit status: 0 all laws done, 1 some gave up, 2 the command could not run, 130 interrupted.
    """
    from dynamis.robot import load
    from dynamis.task_space.comparison import compare_laws
    from dynamis.task_space.motions import Circle, Line
    from dynamis.task_space.null_space import Compensation, Damping
    from dynamis.task_space.redundancy import LAWS

    check_pictures(plot)
    loaded = load(robot, parameters=assignments(settings) or None)
    loaded = loaded.replace(gravity=(0.0, 0.0, 0.0)) if no_gravity else loaded
    task = _task(kind, rows, frame)
    axes = _along(along, task, 2 if shape == "circle" else 1)
    motion = Circle(size, period, cycles, (axes[0], axes[1])) if shape == "circle" else Line(size, period, cycles, axes[0])
    K_P, K_D = _gains(gains)
    preferences: list[Any] = [Damping(null_damping)] if null_damping is not None else []
    preferences += [Compensation()] if compensate else []
    with Bar() as bar:
        found = compare_laws(
            loaded, task, motion, laws or tuple(LAWS), q0=vector(loaded, q0, "q", "--q0"), K_P=K_P, K_D=K_D,
            null_space=preferences, regularisation=regularisation, seconds=seconds, progress=bar.show,
        )  # fmt: skip
    if plot is not None:
        whole(plot, found.plot)
    if as_json:
        facts = {**found.as_dict(), "written": [] if plot is None else [str(plot)]}
        for law in facts["laws"]:
            law["status"] = _advised(law["status"])
        click.echo(json.dumps(finite(facts), indent=2, ensure_ascii=False))
    else:
        click.echo(found.table())
        for run in found.runs:
            if not run.trajectory.complete:
                click.echo(f"{run.name}: {_advised(run.status)}")
        if plot is not None:
            click.echo(f"wrote {plot}")
    sys.exit(0 if all(run.trajectory.complete for run in found.runs) else 1)


def _advised(status: str) -> str:
    """A simulation's status, with advice that this command can follow."""
    return status.replace("try method='Radau' or 'LSODA'", "try --null-damping, --compensate or --regularisation")


def _letters(text: str, option: str, known: str) -> tuple[int, ...]:
    letters = text.replace(",", "").replace(" ", "").lower()
    if not letters or len(set(letters)) != len(letters) or not set(letters) <= set(known):
        raise InputError(f"{option} takes some of {', '.join(known)}, each once, such as {option} {known[:2]}; got {text!r}")
    return tuple(known.index(letter) for letter in letters)


def _task(kind: str, rows: str | None, frame: str | None) -> Task:
    from dynamis.task_space.tasks import Orientation, PoseTask, Position

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


def _along(text: str | None, task: Task, count: int) -> tuple[int, ...]:
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


def _gains(text: str | None) -> tuple[float | None, float | None]:
    values = numbers(text, "--gains")
    if values is None:
        return None, None
    if len(values) > 2:
        raise InputError(f"--gains takes K_P or K_P,K_D, such as --gains 400,40; got {text!r}")
    return values[0], values[1] if len(values) == 2 else None

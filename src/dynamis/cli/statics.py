"""``dynamis statics``: static torques, largest static forces, and the kineto-static duality."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.console import echo, print_json, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import column
from dynamis.cli.layout import print_table
from dynamis.cli.options import FILE, json_option, numbers, one_or_all, plot_option
from dynamis.cli.output_files import check_pictures, whole
from dynamis.cli.robot_options import ROW_NAMES, load_at, robot_options, wrench_of
from dynamis.cli.states import print_exceeded_torque_limits, units
from dynamis.display import counted
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.robot import Robot
    from dynamis.statics.duality import Duality

HELP = """Static torques under weight and load, largest static forces, and force and motion subspaces of a frame.

    \b
    Examples:
      dynamis statics ur5e --q 0,-70,90,-50,-75,0 --degrees --wrench 0,0,-50
      dynamis statics planar_2r_melchiorri --q 0.3,0 --rows xy --plot duality.png
      dynamis statics planar_2r_melchiorri --q 0.3,0.9 --wrench 0,10,0 \\
          --by robot --limits 1500,600
      dynamis statics panda --q 0,-0.5,0,-2,0,1.6,0.8 --polytope forces.png --json
    """


@click.command(help=HELP, short_help="Static torques, largest static forces, force subspaces.")
@robot_options
@click.option("--wrench", metavar="NUMBERS",
              help="Load at the frame in world axes: a force (3 numbers, N) or force and moment (6, N and N m).")  # fmt: skip
@click.option("--by", type=click.Choice(["environment", "robot"]), default="environment", show_default=True,
              help="Sign of the load: exerted by the environment on the robot, or by the robot.")  # fmt: skip
@click.option("--rows", default="all", show_default=True,
              help="Task directions of the subspaces: all, linear, angular, xy, x,y,rz, …")  # fmt: skip
@click.option("--limits", metavar="NUMBERS",
              help="Torque limits in N m and N: one number per joint, or one for all. Default: the robot's.")  # fmt: skip
@plot_option("Plot velocity and force ellipsoids at the frame and the four subspaces.")
@click.option("--polytope", type=FILE, metavar="FILE",
              help="Plot the polytope of static forces within the torque limits, along two or three --rows.")  # fmt: skip
@json_option
@plain_errors
def statics(
    robot: str, q: str | None, degrees: bool | None, frame: str | None, settings: tuple[str, ...], wrench: str | None, by: str,
    rows: str, limits: str | None, plot: Path | None, polytope: Path | None, as_json: bool,
) -> None:  # fmt: skip
    from dynamis.statics import duality, static_torques

    check_pictures(plot, polytope)
    loaded, at = load_at(robot, q, degrees, settings)
    most = one_or_all(numbers(limits, "--limits"))
    held = static_torques(loaded, at, wrench_of(wrench), frame, by=by, torque_limits=most)
    spaces = duality(loaded, at, frame, rows=rows)
    strength = _strength(loaded, at, frame, by, most)
    written = [str(path) for path in (plot, polytope) if path is not None]

    def draw() -> None:
        if plot is not None:
            whole(plot, spaces.plot)
        if polytope is not None:
            chosen = rows if rows != "all" and spaces.task.size in (2, 3) else None
            _draw_forces(loaded, at, frame, chosen, by, most, polytope)

    if as_json:
        draw()  # first: a program that gets an error must not find a result as well
        print_json({
            "robot": loaded.name, "frame": spaces.task.frame.name, "by": by, "q": at, "total": held.total,
            "weight": held.weight, "load": held.load, "spring": held.spring,
            "limits": held.limits, "possible": bool(held.possible),
            "beyond_limits": list(held.beyond_limits),
            "duality": spaces.as_dict(),
            "largest_forces": {name: {"size": x.size, "limited_by": list(x.limited_by)} for name, x in strength.items()},
            "written": written,
        })  # fmt: skip
        return
    _print(loaded, held, by if wrench is not None else None)
    if strength:
        without = "" if wrench is None else ", without the load of --wrench"
        echo((f"Largest single force within the torque limits, under the robot's weight{without}", {"bold": True}))
    for found in strength.values():
        echo(f"  {found.sentence}", hang=4)
    _print_subspaces(spaces)
    draw()
    print_written(written)


def _print_subspaces(spaces: Duality) -> None:
    m, n, r = spaces.task.size, spaces.robot.n, spaces.rank
    state = "singular" if spaces.singular else "regular"
    rows = [
        ("R(J)", r, "possible velocities of the frame"), ("N(J)", n - r, "self-motions: joint motions with the frame at rest"),
        ("R(Jᵀ)", r, "torques balanced by a wrench at the frame"), ("N(Jᵀ)", m - r, "wrenches that need no torque"),
    ]  # fmt: skip
    name = spaces.task.frame.name
    title = (
        f"{name}: {counted(m, 'task direction')} ({', '.join(spaces.task.names)}), {counted(n, 'joint')}, "
        f"rank {r}, {state} configuration"
    )
    print_table(title, ("subspace", "dimension", ""), rows, texts=(2,))
    values = ", ".join(column(list(spaces.singular_values)))
    echo(f"  singular values {values} ({spaces.task.unit()}); below {spaces.gap:g} of the largest counts as 0", hang=4)
    for sentence in spaces.sentences:
        echo(f"  {sentence}", hang=4)


def _print(robot: Robot, held: Any, by: str | None) -> None:
    """The torques; ``by`` is None without a load."""
    import numpy as np

    noise = 1e-12 * max(1.0, float(abs(held.total).max(initial=0.0)))
    springs = {"springs": held.spring} if held.spring.any() else {}
    given = {"total": held.total, "weight": held.weight, "load": held.load, **springs}
    parts = (np.where(np.abs(x) < noise, 0.0, x) for x in given.values())
    table = zip(held.names, units(robot), *parts, held.limits, strict=True)
    rows = [(name, unit, *torques, top if top != float("inf") else None) for name, unit, *torques, top in table]
    load = "" if by is None else f" and the load exerted by the {by}"
    title = f"{robot.name}: static torques under weight{', springs' if springs else ''}{load}"
    print_table(title, ("joint", "unit", *given, "limit"), rows)
    print_exceeded_torque_limits(held.beyond_limits)


def _strength(robot: Robot, q: Any, frame: str | None, by: str, limits: Any) -> dict[str, Any]:
    """The largest force along each axis and against it, where limits are stated."""
    import numpy as np

    from dynamis.kinematics.state_measures import free_coordinates, torque_bounds
    from dynamis.statics import largest_force

    if not np.isfinite(torque_bounds(robot, limits)).any() or free_coordinates(robot).any():
        return {}
    axes = {f"{sign}{name}": s * np.eye(3)[k] for k, name in enumerate(ROW_NAMES[:3]) for sign, s in (("+", 1.0), ("-", -1.0))}
    return {name: largest_force(robot, q, d, frame, torque_limits=limits, by=by) for name, d in axes.items()}


def _draw_forces(robot: Robot, q: Any, frame: str | None, rows: Any, by: str, limits: Any, path: Path) -> None:
    from dynamis.statics import force_polytope

    found = force_polytope(robot, q, frame, rows=rows, torque_limits=limits, by=by)
    if found.task.size not in (2, 3):
        raise InputError(
            f"--polytope plots two or three directions; {found.task.frame.name} moves in {found.task.size}: choose with --rows"
        )
    whole(path, found.plot)

"""``dynamis statics``: what holds a robot still, what it can hold, and what its structure carries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.bounds import numbers
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.questions import ROW_NAMES, finite, load_at, one_or_all, print_table, robot_options, wrench_of
from dynamis.cli.writing import check_pictures, whole
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.robot import Robot

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@robot_options
@click.option("--wrench", metavar="NUMBERS", help="A force (3 numbers) or a wrench (6) at the frame, in world axes; N and N m.")
@click.option("--by", type=click.Choice(["environment", "robot"]), default="environment", show_default=True,
              help="Who exerts the wrench: the environment on the robot, or the robot on the environment.")  # fmt: skip
@click.option(
    "--rows", default="all", show_default=True, help="Directions for the subspaces: all, linear, angular, xy, x,y,rz …"
)
@click.option(
    "--limits", metavar="NUMBERS", help="Torque limits, one or one a joint, in N m and N; the robot's efforts unless given."
)
@click.option("--plot", type=FILE, metavar="FILE", help="Draw motion and force at the frame, and the four subspaces.")
@click.option("--polytope", type=FILE, metavar="FILE",
              help="Draw the forces that the motors can hold, along --rows where these are two or three.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def statics(
    robot: str, q: str | None, frame: str | None, settings: tuple[str, ...], wrench: str | None, by: str, rows: str,
    limits: str | None, plot: Path | None, polytope: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Hold a robot still: torques of weight and load, forces it can take, what its structure carries.

    \b
    Examples:
      dynamis statics ur5e --q 0,-1.2,1.6,-0.9,-1.3,0 --wrench 0,0,-50
      dynamis statics planar_2r_melchiorri --q 0.3,0 --rows xy --plot duality.png
      dynamis statics planar_2r_melchiorri --q 0.3,0.9 --wrench 0,10,0 --by robot --limits 1500,600
      dynamis statics panda --q 0,-0.5,0,-2,0,1.6,0.8 --polytope forces.png --json
    """
    import numpy as np

    from dynamis.statics import duality, holding_torque

    check_pictures(plot, polytope)
    loaded, at = load_at(robot, q, settings)
    most = one_or_all(numbers(limits, "--limits"))
    held = holding_torque(loaded, at, wrench_of(wrench), frame, by=by, torque_limits=most)
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
        draw()  # first: a program that is told of an error must not find an answer as well
        facts = {
            "robot": loaded.name, "frame": spaces.task.frame.name, "by": by, "q": at, "total": held.total,
            "weight": held.weight, "load": held.load, "limits": held.limits, "possible": bool(held.possible),
            "duality": spaces.as_dict(),
            "largest_forces": {name: {"size": x.size, "limited_by": list(x.limited_by)} for name, x in strength.items()},
            "written": written,
        }  # fmt: skip
        click.echo(json.dumps(finite(facts), indent=2, ensure_ascii=False))
        return
    unit = ["N m" if c.revolute else "N" for c in loaded.model.coordinates]
    noise = 1e-12 * max(1.0, float(abs(held.total).max(initial=0.0)))
    parts = (np.where(np.abs(x) < noise, 0.0, x) for x in (held.total, held.weight, held.load))
    table = zip(held.names, unit, *parts, held.limits, strict=True)
    rows_ = [(name, u, t, w, l, top if top != float("inf") else None) for name, u, t, w, l, top in table]
    who = "the environment exerts" if by == "environment" else "the robot exerts"
    load = f" and the wrench that {who}" if wrench is not None else ""
    print_table(f"{loaded.name}: torques that hold the weight{load}", ("joint", "", "torque", "weight", "load", "limit"), rows_)
    if not held.possible:
        click.secho("  some torques are beyond their limits", fg="red")
    for found in strength.values():
        click.echo(f"  {found.sentence}")
    click.echo(spaces.summary())
    draw()
    for path in written:
        click.echo(f"wrote {path}")


def _strength(robot: Robot, q: Any, frame: str | None, by: str, limits: Any) -> dict[str, Any]:
    """The largest force along each axis and against it, where limits are stated."""
    import numpy as np

    from dynamis.analysis.capacity import free_coordinates, torque_bounds
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
            f"--polytope draws two or three directions; {found.task.frame.name} moves in {found.task.size}; choose with --rows"
        )
    whole(path, found.plot)

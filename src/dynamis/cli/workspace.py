"""``dynamis workspace``: where a robot can reach, and how well it works there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from dynamis.cli.bounds import assignments, numbers
from dynamis.cli.kinds import SEED
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.questions import finite, one_or_all, print_table
from dynamis.cli.writing import check_pictures, whole

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("robot")
@click.option("--frame", metavar="NAME", help="The frame; the tip of a serial arm unless given.")
@click.option("--colour", metavar="MEASURE",
              help="Colour a slice by manipulability, force, dynamic, condition, inertia, least_inertia, felt_mass, "
                   "least_felt_mass, payload or stiffness; without it the whole cloud is shown.")  # fmt: skip
@click.option("--plane", type=click.Choice(["xy", "xz", "yz"]), help="The plane of the slice.")
@click.option("--level", type=float, help="Where the plane cuts the third axis [m]; at the first joint unless given.")
@click.option("--rows", metavar="ROWS", help="Directions of the task: all, linear, xy …; the position unless given.")
@click.option("--pick", type=click.Choice(["best", "worst", "mean"]), default="best", show_default=True,
              help="Which of the configurations that reach a place is drawn.")  # fmt: skip
@click.option("--limits", metavar="NUMBERS", help="Torque limits for payload, in N m and N; the robot's unless given.")
@click.option("--springs", metavar="NUMBERS", help="Joint stiffness for stiffness, one or one a joint; N m/rad and N/m.")
@click.option(
    "--lower", metavar="NUMBERS", help="Lower ends of the joints' ranges, in rad and m; the robot's limits unless given."
)
@click.option("--upper", metavar="NUMBERS", help="Upper ends of the joints' ranges.")
@click.option("--samples", type=int, default=200_000, show_default=True, help="How many configurations to try.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the random configurations.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option("--plot", type=FILE, metavar="FILE", help="Draw it.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def workspace(
    robot: str, frame: str | None, colour: str | None, plane: str | None, level: float | None, rows: str | None, pick: str,
    limits: str | None, springs: str | None, lower: str | None, upper: str | None, samples: int, seed: int,
    settings: tuple[str, ...], plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Show where a frame can be, or map over a plane what the robot can do there.

    \b
    Examples:
      dynamis workspace ur5e --plot reach.png
      dynamis workspace panda --colour condition --plot condition.png
      dynamis workspace ur5e --colour payload --plane xz --plot payload.png
      dynamis workspace planar_2r_melchiorri --colour stiffness --springs 20000,10000 --json
    """
    from dynamis.analysis.workspace import workspace as find
    from dynamis.analysis.workspace import workspace_slice
    from dynamis.robot import load

    check_pictures(plot)
    loaded = load(robot, parameters=assignments(settings) or None)
    ends: dict[str, Any] = {"lower": one_or_all(numbers(lower, "--lower")), "upper": one_or_all(numbers(upper, "--upper"))}
    with Bar() as bar:
        found: Any
        if colour is None:
            found = find(loaded, frame, samples=samples, seed=seed, progress=bar.show, **ends)
        else:
            found = workspace_slice(
                loaded, colour, frame=frame, plane=plane, level=level, rows=rows, samples=samples, seed=seed, progress=bar.show,
                torque_limits=one_or_all(numbers(limits, "--limits")),
                joint_stiffness=one_or_all(numbers(springs, "--springs")), **ends,
            )  # fmt: skip
        if plot is not None:
            bar.show(1.0, "drawing")
            whole(plot, lambda file: found.plot(file, **({} if colour is None else {"pick": pick})))
    if as_json:
        click.echo(
            json.dumps(
                finite({**found.as_dict(), "written": [] if plot is None else [str(plot)]}), indent=2, ensure_ascii=False
            )
        )
        return
    (_print_cloud if colour is None else _print_slice)(found)
    if plot is not None:
        click.echo(f"wrote {plot}")


def _print_cloud(cloud: Any) -> None:
    low, high = cloud.box
    print_table(f"{cloud.robot.name}: where {cloud.frame} can be", ("axis", "from [m]", "to [m]"),
                [(axis, float(a), float(b)) for axis, a, b in zip("xyz", low, high, strict=True)])  # fmt: skip
    for line in cloud.summary().splitlines()[:2]:
        click.echo(f"  {line.strip()}")


def _print_slice(found: Any) -> None:
    import numpy as np

    told = found.values[np.isfinite(found.values)]
    unit = found.measure.unit or "–"
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    rows = [
        (f"{100 * share:.0f} % have less than", unit, float(x))
        for share, x in zip(shares, np.quantile(told, shares), strict=True)
    ]
    print_table(f"{found.robot.name}: {found.measure.label}", ("of all configurations", "", "value"), rows if len(told) else [])
    for line in found.summary().splitlines()[:2]:
        click.echo(f"  {line.strip()}")

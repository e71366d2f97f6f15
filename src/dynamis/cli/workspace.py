"""``dynamis workspace``: reachable positions of a frame, and maps of performance measures."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from dynamis.cli.configurations import configuration, degrees_option
from dynamis.cli.console import bullet, echo, print_json, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import number
from dynamis.cli.layout import print_table
from dynamis.cli.options import frame_option, json_option, numbers, one_or_all, plot_option, set_option
from dynamis.cli.output_files import check_pictures, whole
from dynamis.cli.param_types import NUMBER, SEED, Integer
from dynamis.cli.progress import Bar
from dynamis.cli.states import loaded
from dynamis.display import counted
from dynamis.errors import InputError

SIZES = {1: ("Length", "m"), 2: ("Area", "m²"), 3: ("Volume", "m³")}  # by dimension of the workspace

HELP = """Reachable positions of a frame, or a map of a performance measure over a plane.

    \b
    Examples:
      dynamis workspace ur5e --plot reach.png
      dynamis workspace panda --colour condition --plot condition.png
      dynamis workspace ur5e --colour payload --plane xz --plot payload.png
      dynamis workspace planar_2r_melchiorri --colour stiffness \\
          --springs 20000,10000 --json
    """


@click.command(help=HELP, short_help="Reachable positions, maps of performance measures.")
@click.argument("robot")
@frame_option
@click.option("--colour", metavar="MEASURE",
              help="Map this measure over a plane: manipulability, force, dynamic, condition, inertia, least_inertia, "
                   "effective_mass, least_effective_mass, payload or stiffness. Default: reachable positions.")  # fmt: skip
@click.option("--plane", type=click.Choice(["xy", "xz", "yz"]), help="Plane of the map.")
@click.option("--level", type=NUMBER, help="Position of the plane along its normal, in m. Default: at the first joint.")
@click.option("--rows", metavar="ROWS", help="Task directions: all, linear, xy, … Default: the position.")
@click.option("--pick", type=click.Choice(["best", "worst", "mean"]),
              help="Value drawn where several configurations reach the same place. Default: best.")  # fmt: skip
@click.option("--limits", metavar="NUMBERS", help="Torque limits for --colour payload, in N m and N. Default: the robot's.")
@click.option("--springs", metavar="NUMBERS",
              help="Joint stiffness for --colour stiffness, in N m/rad and N/m: one for all, or one per joint.")  # fmt: skip
@click.option("--lower", metavar="NUMBERS", help="Lower joint limits in rad and m. Default: those of the robot.")
@click.option("--upper", metavar="NUMBERS", help="Upper joint limits in rad and m. Default: those of the robot.")
@degrees_option("--lower", "--upper")
@click.option("--samples", type=Integer(1), default=200_000, show_default=True, help="Number of random configurations.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the random configurations.")
@set_option
@plot_option("Plot the workspace or the map.")
@json_option
@plain_errors
def workspace(
    robot: str, frame: str | None, colour: str | None, plane: str | None, level: float | None, rows: str | None,
    pick: str | None, limits: str | None, springs: str | None, lower: str | None, upper: str | None, degrees: bool | None,
    samples: int, seed: int, settings: tuple[str, ...], plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    from dynamis.kinematics.workspace import workspace as find
    from dynamis.kinematics.workspace import workspace_slice

    check_pictures(plot)
    of_maps = {"--plane": plane, "--level": level, "--rows": rows, "--limits": limits, "--springs": springs, "--pick": pick}
    if colour is None and (given := [name for name, value in of_maps.items() if value is not None]):
        raise InputError(f"{given[0]} is an option of maps: give --colour too, such as --colour manipulability")
    arm = loaded(robot, settings)
    ends = {
        name: None if text is None else configuration(arm, text, f"--{name}", degrees, within_limits=False)
        for name, text in (("lower", lower), ("upper", upper))
    }
    with Bar() as bar:
        found: Any
        if colour is None:
            found = find(arm, frame, samples=samples, seed=seed, progress=bar.show, **ends)
        else:
            found = workspace_slice(
                arm, colour, frame=frame, plane=plane, level=level, rows=rows, samples=samples, seed=seed, progress=bar.show,
                torque_limits=one_or_all(numbers(limits, "--limits")),
                joint_stiffness=one_or_all(numbers(springs, "--springs")), **ends,
            )  # fmt: skip
        if plot is not None:
            bar.show(1.0, "plotting")
            whole(plot, lambda file: found.plot(file, **({} if colour is None else {"pick": pick or "best"})))
    written = [] if plot is None else [str(plot)]
    if as_json:
        print_json({**found.as_dict(), "written": written})
        return
    (_print_cloud if colour is None else _print_slice)(found)
    print_written(written)


def _print_cloud(cloud: Any) -> None:
    low, high = cloud.extent
    rows = [(axis, float(a), float(b)) for axis, a, b in zip("xyz", low, high, strict=True)]
    print_table(f"{cloud.robot.name}: reachable positions of {cloud.frame}", ("axis", "min [m]", "max [m]"), rows)
    if cloud.dimension:
        name, unit = SIZES[cloud.dimension]
        size = (
            f"{number(cloud.volume, 3)} ± {number(cloud.volume_error, 1)} {unit}"
            if cloud.volume
            else "none: a lower-dimensional set"
        )
        echo(f"  {name} {size}")
    if cloud.has_reach:
        nearest, reach, origin = number(cloud.nearest), number(cloud.reach), cloud.measured_from
        echo(f"  Reach: {reach} m, smallest distance {nearest} m, from {origin} to the origin of {cloud.frame}", hang=4)
    echo(f"  {counted(len(cloud.points), 'sampled configuration')}")


def _print_slice(found: Any) -> None:
    from dynamis.kinematics.workspace import QUANTILES

    unit = found.measure.unit
    title = (
        f"{found.robot.name}: {found.measure.label}{f' [{unit}]' if unit else ''}, "
        f"{counted(len(found.points), 'configuration')}"
    )
    values = found.quantiles(QUANTILES)
    rows = [(f"{100 * share:.0f} %", "∞" if x == math.inf else x) for share, x in zip(QUANTILES, values, strict=True)]
    print_table(title, ("quantile", "value"), rows)
    a, b = found.plane
    for name, (value, place, q) in (("Best", found.best), ("Worst", found.worst)):
        where = f"{a} = {number(place[0])} m, {b} = {number(place[1])} m, q = {', '.join(number(float(x)) for x in q)}"
        echo(f"  {name}: {number(value)}{f' {unit}' if unit else ''} at {where}", hang=4)
    if found.note:
        bullet("note:", found.note, dim=True)

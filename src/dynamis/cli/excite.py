"""``dynamis excite``: excitation trajectories for identification, within the limits of the robot."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamis.cli.configurations import configuration, degrees_option
from dynamis.cli.console import clean_name, echo, print_json, print_written
from dynamis.cli.error_handling import plain_errors, print_warning
from dynamis.cli.formatting import number
from dynamis.cli.layout import print_table
from dynamis.cli.options import FILE, json_option, numbers, one_or_all, plot_option, set_option
from dynamis.cli.output_files import check_output, check_pictures, whole
from dynamis.cli.param_types import NUMBER, POSITIVE, SEED, Integer
from dynamis.cli.progress import Bar
from dynamis.cli.states import loaded
from dynamis.display import counted
from dynamis.errors import InputError, MissingExtraError, ModelError

if TYPE_CHECKING:
    from dynamis.collision import Scene
    from dynamis.identification.excitation import Excitation, Region
    from dynamis.identification.excitation.log_information import ExpectedErrors
    from dynamis.model.model import Coordinate
    from dynamis.robot import Robot

NAMES = ("condition", "plain-condition", "d-optimal", "a-optimal", "e-optimal", "combined")
LIMITED = ("position", "velocity", "acceleration", "torque")
CHECKED_RATE = 200.0  # Hz: the smallest distance of links is found at these samples and between them
LEAST_CERTAIN = 8  # parameters whose expected standard errors are printed
PEAK_UNITS = {"velocity": ("rad/s", "m/s"), "acceleration": ("rad/s²", "m/s²")}

HELP = """Design an excitation trajectory for parameter identification.

    The trajectory starts and ends at rest and stays within the limits of the file and of the options at all times. Where the
    links have shapes and the library coal is installed, it is free of collisions of links; --above adds a floor. Ctrl-C ends
    the search and keeps the best trajectory found so far.

    A revolute joint without position limits is kept within ±π rad of the start, or of zero; a prismatic joint without
    limits needs --lower and --upper. A joint without velocity and torque limits moves as fast as the criterion demands:
    limit it with --velocity and --acceleration.

    Exit status: 0 found; 2 bad input, or limits that no configuration satisfies; 130 interrupted, best trajectory written.

    \b
    Examples:
      dynamis excite kuka_iiwa14 --out motion.csv --rate 500 --plot motion.png
      dynamis excite panda --above 0.1 --out motion.csv --out motion.json \\
          --box panda_link8:0.2,0.8,-0.5,0.5,0.1,0.9
      dynamis excite ur5e --q0 0,-1.2,1.6,-2,-1.5,0 --acceleration 3 \\
          --kind spline --harmonics 6
      dynamis excite ur5e --after run.csv --out next.csv
      dynamis excite puma560 --criterion d-optimal --friction none --velocity 2 \\
          --acceleration 10 --time 20 --json
    """


@click.command(help=HELP, short_help="Design an excitation trajectory for identification.")
@click.argument("robot")
@click.option(
    "--time", "--duration", "duration", type=POSITIVE, default=10.0, show_default=True, help="Duration of the trajectory in s."
)
@click.option("--kind", type=click.Choice(("fourier", "spline")), default="fourier", show_default=True,
              help="Fourier series, or B-splines of degree 5.")  # fmt: skip
@click.option("--harmonics", type=Integer(1, 1000), default=5, show_default=True,
              help="Number of harmonics of 1/time; for splines, half the control points.")  # fmt: skip
@click.option("--periodic", is_flag=True, help="Periodic series that does not stop between periods.")
@click.option("--criterion", type=click.Choice(NAMES), show_default="condition; a-optimal with --after",
              help="Criterion that is minimized.")  # fmt: skip
@click.option("--after", multiple=True, metavar="LOG",
              help="Log recorded before: the trajectory excites what it leaves uncertain; repeatable.")  # fmt: skip
@click.option("--friction", metavar="TERMS",
              help="Friction terms to identify, such as viscous,coulomb,quadratic; or none.")  # fmt: skip
@click.option("--q0", "--start", "start", metavar="NUMBERS",
              help="Configuration at start and end, in rad and m. Default: chosen by the search.")  # fmt: skip
@click.option("--lower", metavar="NUMBERS", help="Lower position limits in rad and m, where higher than the robot's.")
@click.option("--upper", metavar="NUMBERS", help="Upper position limits in rad and m, where lower than the robot's.")
@degrees_option("--q0", "--lower", "--upper")
@click.option("--velocity", metavar="NUMBERS",
              help="Velocity limits in rad/s and m/s, where lower than the robot's; one per joint or for all.")  # fmt: skip
@click.option("--acceleration", metavar="NUMBERS", help="Acceleration limits in rad/s² and m/s². Default: none.")
@click.option("--effort", metavar="NUMBERS", help="Torque limits in N m and N, where lower than the robot's.")
@click.option("--no-torque", is_flag=True, help="Ignore torque limits.")
@click.option("--box", "boxes", multiple=True, metavar="FRAME:XMIN,XMAX,YMIN,YMAX,ZMIN,ZMAX",
              help="Box in m that a frame (default: the tip) must stay in; inf for an open side; repeatable.")  # fmt: skip
@click.option("--above", "height", type=NUMBER, metavar="Z", help="Height in m that all links must stay above.")
@click.option("--clearance", type=NUMBER, default=0.01, show_default=True, metavar="M",
              help="Least distance in m of links from each other, and from a floor at the height of --above.")  # fmt: skip
@click.option("--no-collision", is_flag=True, help="Ignore collisions of links.")
@click.option("--margin", type=NUMBER, default=5.0, show_default=True, help="Margin to the joint limits, in percent.")
@click.option("--seconds", type=POSITIVE, default=60.0, show_default=True, help="Time limit of the search in s.")
@click.option("--restarts", type=Integer(1, 1000), default=4, show_default=True, help="Number of random initial trajectories.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the random trajectories.")
@click.option("--rate", type=POSITIVE, default=1000.0, show_default=True, help="Sample rate of the written file, in Hz.")
@set_option
@click.option("-o", "--out", "--output", "out", type=FILE, multiple=True, metavar="FILE",
              help="Write samples (.csv, .npz) or coefficients (.json, .toml); repeatable.")  # fmt: skip
@plot_option("Plot trajectory, limits and progress of the search.")
@json_option
@plain_errors
def excite(
    robot: str, duration: float, kind: str, harmonics: int, periodic: bool, criterion: str | None, after: tuple[str, ...],
    friction: str | None,
    start: str | None, lower: str | None, upper: str | None, degrees: bool | None, velocity: str | None,
    acceleration: str | None, effort: str | None, no_torque: bool, boxes: tuple[str, ...], height: float | None,
    clearance: float, no_collision: bool,
    margin: float, seconds: float, restarts: int, seed: int, rate: float, settings: tuple[str, ...], out: tuple[Path, ...],
    plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    from dynamis.identification.base_parameters import base_parameters
    from dynamis.identification.excitation import design_excitation
    from dynamis.identification.excitation.excitation import check_name
    from dynamis.identification.identify import identify
    from dynamis.identification.linear_model import LinearModel

    if not 0.0 <= margin < 100.0:
        raise InputError(f"--margin takes percent from 0 to 100, such as --margin 5, got {margin:g}")
    for path in out:
        check_name(path)
        check_output(path)
    check_pictures(plot)
    arm = loaded(robot, settings)
    terms = None if friction is None else tuple(word for word in friction.replace(",", " ").split() if word != "none")
    base = base_parameters(LinearModel(arm, friction=terms))
    scene = None if no_collision else _scene(arm, height, clearance)
    with Bar() as bar:
        earlier = identify(base.model, list(after), compare=(), progress=bar.show) if after else None
        found = design_excitation(
            base, duration=duration, kind=kind, harmonics=harmonics, periodic=periodic, criterion=criterion,
            after=earlier, start=None if start is None else configuration(arm, start, "--q0", degrees, within_limits=False),
            position=_position(arm, lower, upper, degrees), velocity=one_or_all(numbers(velocity, "--velocity")),
            acceleration=one_or_all(numbers(acceleration, "--acceleration")), effort=one_or_all(numbers(effort, "--effort")),
            torque=not no_torque, regions=_regions(arm, boxes, height), collision=scene, margin=margin / 100.0, seconds=seconds,
            restarts=restarts, seed=seed, progress=bar.show,
        )  # fmt: skip
    _warn_unlimited(arm, found)
    near = None if scene is None else scene.along(found.motion, samples=int(CHECKED_RATE * found.duration) + 2)
    written = [str(whole(file, lambda made: found.write(made, rate=rate))) for file in out]
    if plot is not None:
        whole(plot, found.plot)
        written.append(str(plot))
    if as_json:
        distance = None if near is None else {"distance": near.distance, "pair": list(near.pair), "time": near.time}
        errors = None if found.expected is None else [
            {"name": name, "before": before, "after": later, "unit": unit} for name, before, later, unit in found.expected.rows
        ]  # fmt: skip
        facts = {"peaks": found.peaks, "nearest": distance, "expected_errors": errors, "written": written}
        print_json({**found.as_dict(), **facts})
    else:
        _print(arm, found)
        if found.expected is not None:
            _print_expected(found.expected)
        if near is not None:
            echo(near.status)
        print_written(written)
    sys.exit(130 if found.status.startswith("interrupted") else 0)


def _position(robot: Robot, lower: str | None, upper: str | None, degrees: bool | None) -> tuple[Any, Any] | None:
    """The position limits of the options; infinite for the one that is not given."""
    if lower is None and upper is None:
        return None
    ends = (("--lower", lower, -math.inf), ("--upper", upper, math.inf))
    low, high = (
        missing if text is None else configuration(robot, text, option, degrees, within_limits=False)
        for option, text, missing in ends
    )
    return low, high


def _warn_unlimited(robot: Robot, found: Excitation) -> None:
    """Name the joints whose motion is bounded by an assumption, or not at all."""
    ranges = [
        f"{use.name} {number(middle - (use.limit or 0.0), 3)} … {number(middle + (use.limit or 0.0), 3)} rad"
        for use in found.uses
        if use.assumed
        for middle in [0.5 * (use.lower + use.upper)]
    ]
    if ranges:
        print_warning(f"no position limits, range assumed: {', '.join(ranges)}; give --lower and --upper if less is free")
    limited = {kind: {use.name for use in found.uses if use.kind == kind} for kind in LIMITED}
    for kind, others in (("velocity", ()), ("acceleration", ("torque",))):
        bounded = limited[kind].union(*(limited[other] for other in others))
        peaks = [
            f"{c.name} {_peak(c, kind, x)}"
            for c, x in zip(robot.model.coordinates, found.peaks[kind], strict=True)
            if c.name not in bounded
        ]
        if peaks:
            print_warning(f"no {' or '.join((kind, *others))} limits; peak {kind}: {', '.join(peaks)}; limit it with --{kind}")


def _scene(robot: Robot, height: float | None, clearance: float) -> Scene | None:
    """The links, and a floor; None, with a warning, where they have no shapes or the library of collisions is missing."""
    from dynamis.collision import Obstacle, Scene

    obstacles = {} if height is None else {"floor": Obstacle("half_space", (), (0.0, 0.0, height))}
    try:
        return Scene(robot, obstacles=obstacles, margin=clearance)
    except (MissingExtraError, ModelError) as error:
        print_warning(f"collisions are not checked: {error}")
        return None


def _peak(c: Coordinate, kind: str, value: float) -> str:
    return f"{number(value, 3)} {PEAK_UNITS[kind][0 if c.revolute else 1]}"


def _regions(robot: Robot, boxes: tuple[str, ...], height: float | None) -> list[Region]:
    from dynamis.identification.excitation import Box, above

    found: list[Region] = []
    for text in boxes:
        frame, colon, rest = text.rpartition(":")
        values = numbers(rest, "--box")
        if values is None or len(values) != 6:
            raise InputError(f"--box takes FRAME:xmin,xmax,ymin,ymax,zmin,zmax, six numbers in m, got {text!r}")
        found.append(Box(values[0::2], values[1::2], frame if colon and frame else None))
    return found + (list(above(robot, height)) if height is not None else [])


def _print_expected(expected: ExpectedErrors) -> None:
    rows = [(name, number(before, 3), number(after, 3), unit) for name, before, after, unit in expected.rows[:LEAST_CERTAIN]]
    print_table("Standard errors of the least certain base parameters", ("parameter", "so far", "expected", "unit"), rows)
    name, before, after, _ = expected.rows[0]
    if math.isfinite(before):
        echo(f"the largest, of {name}, is expected to fall to {100.0 * after / before:.2g} % of its value")
    else:
        echo(f"the logs so far do not determine {name}")


def _print(robot: Robot, found: Excitation) -> None:
    facts = f"{found.kind}, {found.duration:g} s, {counted(found.parameters, 'base parameter')}, criterion {found.criterion}"
    echo((clean_name(found.robot_name), {"bold": True}), f"  {facts}: {found.status}")
    after = (number(found.condition), {"fg": "green", "bold": True})
    echo("condition number ", after, f"; best random trajectory {number(found.condition_before)}")
    echo(f"start: {', '.join(number(float(x)) for x in found.start)}")
    kinds = [kind for kind in LIMITED if kind in found.used]
    rows: list[tuple[Any, ...]] = []
    assumed = {(use.kind, use.name): " (assumed)" for use in found.uses if use.assumed}
    for k, c in enumerate(robot.model.coordinates):
        shares = [(kind, found.used[kind].get(c.name)) for kind in kinds]
        percentages = [None if x is None else f"{x:.0f} %{assumed.get((kind, c.name), '')}" for kind, x in shares]
        rows.append((c.name, *percentages, *(_peak(c, kind, found.peaks[kind][k]) for kind in PEAK_UNITS)))
    title = "Share of the limits used, peak velocity and peak acceleration"
    print_table(title, ("joint", *kinds, "peak v", "peak a"), rows)
    places = [use for use in found.uses if use.kind in ("place", "constraint")]
    if places:
        allowed = [" … ".join(number(x, 3) if abs(x) < math.inf else "" for x in (use.lower, use.upper)) for use in places]
        lines = [(use.name, use.lowest, use.highest, text) for use, text in zip(places, allowed, strict=True)]
        print_table("Cartesian constraints", ("", "lowest", "highest", "allowed"), lines, digits=3)

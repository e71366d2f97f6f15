"""``dynamis fmu``: a robot as a Functional Mock-up Unit."""

from __future__ import annotations

from pathlib import Path

import click

from dynamis.cli.console import print_json, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.options import FILE, floating_option, frame_option, json_option, set_option
from dynamis.cli.output_files import check_output
from dynamis.cli.param_types import POSITIVE
from dynamis.cli.progress import waiting
from dynamis.cli.states import loaded

HELP = """Write the forward dynamics of a robot as a Functional Mock-up Unit (FMI), for model exchange and co-simulation.

    Inputs are joint torques, outputs positions, velocities, accelerations and the pose of a frame. The file has the C sources
    and, where a C compiler is found, a library for this machine.

    \b
    Examples:
      dynamis fmu ur5e ur5e.fmu
      dynamis fmu my_arm.urdf my_arm.fmu --fmi 2 --wrench tool0 --gravity
    """


@click.command(help=HELP, short_help="Write a Functional Mock-up Unit for other simulators.")
@click.argument("robot")
@click.argument("out", type=FILE)
@click.option("--fmi", type=click.Choice(["2", "3"]), default="3", show_default=True, help="Version of FMI.")
@click.option("--friction", type=click.Choice(["smooth", "none"]), default="smooth", show_default=True,
              help="Coulomb friction of the model, smoothed, or none.")  # fmt: skip
@frame_option
@click.option("--wrench", metavar="FRAME", help="Add the wrench on a frame, in world axes, to the inputs.")
@click.option("--gravity", is_flag=True, help="Add the acceleration of gravity to the parameters.")
@click.option("--step", type=POSITIVE,
              help="Longest step in co-simulation, in s. Default: 0.001, less for fast equations.")  # fmt: skip
@click.option("--no-derivatives", is_flag=True, help="Leave out directional derivatives, whose code is long.")
@click.option("--sources-only", is_flag=True, help="Do not compile.")
@floating_option
@set_option
@json_option
@plain_errors
def fmu(
    robot: str, out: Path, fmi: str, friction: str, frame: str | None, wrench: str | None, gravity: bool, step: float | None,
    no_derivatives: bool, sources_only: bool, floating: bool, settings: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    from dynamis.simulation.fmu.export import write_fmu

    check_output(out, (".fmu",), (robot,))
    found = loaded(robot, settings, floating)
    with waiting("compiling"):
        write_fmu(
            found, out, version=int(fmi), friction=friction, frame=frame, wrench=wrench, gravity=gravity, step=step,
            derivatives=not no_derivatives, binary=not sources_only,
        )  # fmt: skip
    if as_json:
        print_json({"written": [str(out)]})
    else:
        print_written([out])

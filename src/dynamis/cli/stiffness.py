"""``dynamis stiffness``: Cartesian stiffness at a frame, and the deflection under a load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dynamis.cli.console import echo, print_json, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import number
from dynamis.cli.layout import print_table
from dynamis.cli.options import FILE, json_option, numbers, one_or_all, plot_option
from dynamis.cli.output_files import check_pictures, whole
from dynamis.cli.progress import Bar
from dynamis.cli.robot_options import ROW_NAMES, load_at, robot_options, wrench_of
from dynamis.display import counted
from dynamis.errors import InputError, printable

HELP = """Cartesian stiffness of a frame from joint stiffness, and the deflection under a load.

    \b
    Examples:
      dynamis stiffness planar_2r_melchiorri --q 0.3,0.9 --springs 20000,10000 \\
          --plot stiffness.png
      dynamis stiffness ur5e --q 0,-70,90,-50,-75,0 --degrees --springs 20000 \\
          --wrench 0,0,-50
      dynamis stiffness ur5e --springs 20000 --json \\
          --base 1e-6,1e-6,1e-6,1e-6,1e-6,1e-6
      dynamis stiffness planar_2r_melchiorri --q 0.3,0.9 --springs 20000 \\
          --map map.png
    """


@click.command(help=HELP, short_help="Cartesian stiffness of a frame, deflection under a load.")
@robot_options
@click.option("--springs", metavar="NUMBERS",
              help="Joint stiffness in N m/rad and N/m (required): one number per joint, or one for all. Where the file closes "
                   "loops: 0 of passive joints.")  # fmt: skip
@click.option("--wrench", metavar="NUMBERS",
              help="Load at the frame in world axes: a force (3 numbers, N) or force and moment (6, N and N m).")  # fmt: skip
@click.option("--by", type=click.Choice(["environment", "robot"]), default="environment", show_default=True,
              help="Sign of the load: exerted by the environment on the robot, or by the robot.")  # fmt: skip
@click.option("--base", metavar="NUMBERS",
              help="Compliance of the base at the world origin: 6 numbers in m/N and rad/(N m).")  # fmt: skip
@plot_option("Plot the robot and its compliance ellipsoid.")
@click.option("--map", "chart", type=FILE, metavar="FILE", help="Plot the stiffness over the workspace.")
@json_option
@plain_errors
def stiffness(
    robot: str, q: str | None, degrees: bool | None, frame: str | None, settings: tuple[str, ...], springs: str | None,
    wrench: str | None, by: str, base: str | None, plot: Path | None, chart: Path | None, as_json: bool,
) -> None:  # fmt: skip
    import numpy as np

    from dynamis.simulation.loops.constrain import constrained
    from dynamis.statics import deflection, stiffness_map
    from dynamis.statics import stiffness as find

    if springs is None:
        raise InputError(
            "--springs is missing: give the joint stiffness in N m/rad (revolute) or N/m (prismatic), one number per joint "
            "or one for all, such as --springs 20000"
        )
    check_pictures(plot, chart)
    loaded, at = load_at(robot, q, degrees, settings)
    k, load = one_or_all(numbers(springs, "--springs")), wrench_of(wrench)
    under = numbers(base, "--base")
    if under is not None and len(under) != 6:
        raise InputError(f"--base takes 6 numbers, got {len(under)}")
    closed = constrained(loaded) if loaded.description.closures else None
    if closed is not None:
        if chart is not None:
            raise InputError(f"--map is for trees: the file of robot {printable(loaded.name)} closes loops")
        at = closed.home() if q is None else closed.assemble(at)
        if np.size(k) != loaded.n:
            raise InputError(
                f"--springs takes {counted(loaded.n, 'number')} where loops are closed, 0 of passive joints; the joints are "
                f"{', '.join(loaded.coordinate_names)}"
            )
    found = find(closed or loaded, at, k, frame, wrench=load, by=by, base_compliance=under)
    bent = None if load is None or closed else deflection(loaded, at, k, load, frame, by=by, base_compliance=under)
    if plot is not None:
        whole(plot, found.plot)
    if chart is not None:
        with Bar() as bar:
            whole(chart, stiffness_map(loaded, k, frame, progress=bar.show).plot)
    written = [str(path) for path in (plot, chart) if path is not None]
    if as_json:
        print_json(found.as_dict() | ({} if bent is None else {"deflection": bent.as_dict()}) | {"written": written})
        return
    _print(found, bent)
    if closed is not None:
        echo(f"  Loops are closed, at q = {', '.join(number(x) for x in found.q)}.", hang=4)
    print_written(written)


def _print(found: Any, bent: Any) -> None:
    C = found.compliance
    stiff = [1.0 / C[k, k] if gives or C[k, k] < 0.0 else None for k, gives in enumerate(found.gives_way)]
    units = ["N/m"] * 3 + ["N m/rad"] * 3
    rows = [
        (name, "rigid" if s is None else s, unit, C[k, k])
        for k, (name, unit, s) in enumerate(zip(ROW_NAMES, units, stiff, strict=True))
    ]
    title = f"{found.robot.name}: stiffness at {found.frame}, one direction at a time"
    print_table(title, ("direction", "stiffness", "unit", "compliance"), rows)
    if any(s is not None and s < 0.0 for s in stiff):
        echo(("  negative stiffness: beyond buckling, the equilibrium under this load is unstable", {"fg": "yellow"}), hang=4)
    for sentence in found.sentences:
        echo(f"  {sentence}", hang=4)
    if bent is None:
        return
    pairs = zip(ROW_NAMES, ["m"] * 3 + ["rad"] * 3, bent.displacement, bent.predicted, strict=True)
    title = "Deflection under the load" + (", that of the base to first order" if bent.base.any() else "")
    print_table(title, ("direction", "unit", "deflection", "linear: C w"), list(pairs))
    echo(
        f"  equilibrium to {bent.residual:.1e} after {counted(bent.iterations, 'iteration')}; error of the linear prediction "
        f"{100 * bent.linear_error:.2g} %; the deflected equilibrium is "
        + ("stable" if bent.stable else "unstable"), hang=4,
    )  # fmt: skip

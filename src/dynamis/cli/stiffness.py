"""``dynamis stiffness``: how a robot gives way at a frame, and where it rests under a load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from dynamis.cli.bounds import numbers
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.questions import ROW_NAMES, finite, load_at, one_or_all, print_table, robot_options, wrench_of
from dynamis.cli.writing import check_pictures, whole
from dynamis.errors import InputError

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@robot_options
@click.option("--springs", metavar="NUMBERS", required=True, help="Joint stiffness, one or one a joint; N m/rad and N/m.")
@click.option("--wrench", metavar="NUMBERS", help="The load: a force (3 numbers) or a wrench (6), in world axes; N and N m.")
@click.option("--by", type=click.Choice(["environment", "robot"]), default="environment", show_default=True,
              help="Who exerts the load: the environment on the robot, or the robot on the environment.")  # fmt: skip
@click.option(
    "--base", metavar="NUMBERS", help="Compliance under the base, 6 numbers in m/N and rad/(N m), at the world's origin."
)
@click.option("--plot", type=FILE, metavar="FILE", help="Draw the robot and how it gives way.")
@click.option("--map", "chart", type=FILE, metavar="FILE", help="Draw the stiffness over the workspace.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def stiffness(
    robot: str, q: str | None, frame: str | None, settings: tuple[str, ...], springs: str, wrench: str | None, by: str,
    base: str | None, plot: Path | None, chart: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Find the stiffness at a frame from the springs in the joints, and the rest position under a load.

    \b
    Examples:
      dynamis stiffness planar_2r_melchiorri --q 0.3,0.9 --springs 20000,10000 --plot stiffness.png
      dynamis stiffness ur5e --q 0,-1.2,1.6,-0.9,-1.3,0 --springs 20000 --wrench 0,0,-50
      dynamis stiffness ur5e --springs 20000 --base 1e-6,1e-6,1e-6,1e-6,1e-6,1e-6 --json
      dynamis stiffness planar_2r_melchiorri --q 0.3,0.9 --springs 20000 --map map.png
    """
    from dynamis.statics import deflection, stiffness_map
    from dynamis.statics import stiffness as find

    check_pictures(plot, chart)
    loaded, at = load_at(robot, q, settings)
    k, load = one_or_all(numbers(springs, "--springs")), wrench_of(wrench)
    under = numbers(base, "--base")
    if under is not None and len(under) != 6:
        raise InputError(f"--base takes 6 numbers, got {len(under)}")
    found = find(loaded, at, k, frame, wrench=load, by=by, base_compliance=under)
    bent = None if load is None else deflection(loaded, at, k, load, frame, by=by, base_compliance=under)
    if plot is not None:
        whole(plot, found.plot)
    if chart is not None:
        with Bar() as bar:
            whole(chart, stiffness_map(loaded, k, frame, progress=bar.show).plot)
    written = [str(path) for path in (plot, chart) if path is not None]
    if as_json:
        facts = found.as_dict() | ({} if bent is None else {"deflection": bent.as_dict()}) | {"written": written}
        click.echo(json.dumps(finite(facts), indent=2, ensure_ascii=False))
        return
    _print(found, bent)
    for path in written:
        click.echo(f"wrote {path}")


def _print(found: Any, bent: Any) -> None:
    C = found.compliance
    stiff = [1.0 / C[k, k] if gives else None for k, gives in enumerate(found.gives_way)]
    units = ["N/m"] * 3 + ["N m/rad"] * 3
    rows = [
        (name, unit, "rigid" if s is None else s, C[k, k])
        for k, (name, unit, s) in enumerate(zip(ROW_NAMES, units, stiff, strict=True))
    ]
    title = f"{found.robot.name}: stiffness at {found.frame}, each direction alone"
    print_table(title, ("direction", "", "stiffness", "compliance"), rows)
    for sentence in found.sentences:
        click.echo(f"  {sentence}")
    if bent is None:
        return
    pairs = zip(ROW_NAMES, bent.displacement, bent.predicted, strict=True)
    title = "under the load" + (", the base to first order" if bent.base.any() else "")
    print_table(title, ("direction", "moves", "predicted C w"), [(name, x, y) for name, x, y in pairs])
    click.echo(
        f"  at rest to {bent.residual:.1e} after {bent.iterations} steps; "
        f"the prediction is {100 * bent.linear_error:.2g} % off; " + ("stable" if bent.stable else "not stable")
    )

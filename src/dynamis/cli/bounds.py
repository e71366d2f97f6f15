"""``dynamis bounds``: the structural properties of a robot over a box of configurations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.writing import check_pictures, whole
from dynamis.errors import InputError


def numbers(text: str | None, option: str) -> list[float] | None:
    """Numbers separated by commas or spaces; one stands for all coordinates."""
    if text is None:
        return None
    try:
        # a piece that is missing, as in 1,,2, is a mistake: the numbers after it would move to other joints
        values = [float(word) for piece in text.split(",") for word in piece.split() or [""]]
    except ValueError:
        values = []
    if not values:
        raise InputError(f"{option} takes numbers separated by commas, such as {option} -1.5,-1.5, got {text!r}")
    return values


def assignments(texts: tuple[str, ...]) -> dict[str, float]:
    """{name: value} of NAME=VALUE."""
    result = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            result[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise InputError(f"--set takes NAME=VALUE with a number, such as --set m_1=50, got {text!r}")
    return result


@click.command()
@click.argument("robot")
@click.option(
    "--lower", metavar="NUMBERS", help="Lower ends of the box, one or one a coordinate, in rad and m; the limits unless given."
)
@click.option("--upper", metavar="NUMBERS", help="Upper ends of the box.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option("--tolerance", type=float, default=1e-3, show_default=True, help="How narrow the enclosures should be.")
@click.option("--seconds", type=float, default=10.0, show_default=True, help="How long to narrow them at most.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Also draw the eigenvalues of M along the joint that changes them most.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def bounds(
    robot: str, lower: str | None, upper: str | None, settings: tuple[str, ...], tolerance: float, seconds: float,
    plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Bound M(q), C(q, q̇) q̇, g(q) and friction over a box of configurations, with proof.

    \b
    Examples:
      dynamis bounds scara
      dynamis bounds planar_2r_melchiorri --lower=-1.5708 --upper=1.5708 --plot eigenvalues.png
      dynamis bounds cartesian_2p --set m_1=1 --set m_2=2 --set g=9.81 --lower=-1 --upper=1 --json
    """
    from dynamis.analysis.bounds import structural_bounds
    from dynamis.robot import load

    check_pictures(plot)
    loaded = load(robot, parameters=assignments(settings) or None)
    ends = [_one_or_all(numbers(text, option)) for text, option in ((lower, "--lower"), (upper, "--upper"))]
    with Bar() as bar:
        found = structural_bounds(loaded, *ends, tolerance=tolerance, seconds=seconds, progress=bar.show)
    if plot is not None:
        from dynamis.analysis.eigenvalues import eigenvalue_plot

        whole(plot, lambda file: eigenvalue_plot(loaded, path=file, lower=ends[0], upper=ends[1]))
    if as_json:
        click.echo(
            json.dumps({**found.as_dict(), "written": [] if plot is None else [str(plot)]}, indent=2, ensure_ascii=False)
        )
    else:
        click.echo(found.report())
        if plot is not None:
            click.echo(f"wrote {plot}")


def _one_or_all(values: list[float] | None) -> Any:
    return values[0] if values is not None and len(values) == 1 else values

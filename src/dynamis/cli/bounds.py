"""``dynamis bounds``: the structural properties of a robot over a box of configurations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dynamis.cli.configurations import configuration, degrees_option
from dynamis.cli.console import echo, print_json, print_written
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import number, scale_of
from dynamis.cli.layout import print_table
from dynamis.cli.options import assignments, json_option, numbers, plot_option, set_option
from dynamis.cli.output_files import check_pictures, whole
from dynamis.cli.param_types import POSITIVE
from dynamis.cli.progress import Bar
from dynamis.cli.states import loaded
from dynamis.display import counted

__all__ = ["assignments", "bounds", "numbers"]  # the parsers too: commands may import them from here

if TYPE_CHECKING:
    from dynamis.analysis.report import StructuralBounds


HELP = """Guaranteed bounds of M(q), C(q, v) v, g(q) and friction over a box of configurations.

    \b
    Examples:
      dynamis bounds scara
      dynamis bounds planar_2r_melchiorri --lower=-90deg --upper=90deg \\
          --plot eigenvalues.png
      dynamis bounds cartesian_2p --set m_1=1 --set m_2=2 --set g=9.81 \\
          --lower=-1 --upper=1 --json
    """


@click.command(help=HELP, short_help="Guaranteed bounds of M, C and g over a box of configurations.")
@click.argument("robot")
@click.option("--lower", metavar="NUMBERS",
              help="Lower ends of the box in rad and m: one per joint, or one for all. Default: the joint limits.")  # fmt: skip
@click.option("--upper", metavar="NUMBERS", help="Upper ends of the box.")
@degrees_option("--lower", "--upper")
@set_option
@click.option("--tolerance", type=POSITIVE, default=1e-3, show_default=True, help="Relative width of the enclosures.")
@click.option("--seconds", type=POSITIVE, default=10.0, show_default=True, help="Time limit in s.")
@plot_option("Plot the eigenvalues of M along the joint that changes them most.")
@json_option
@plain_errors
def bounds(
    robot: str, lower: str | None, upper: str | None, degrees: bool | None, settings: tuple[str, ...], tolerance: float,
    seconds: float, plot: Path | None, as_json: bool,
) -> None:  # fmt: skip
    from dynamis.analysis.bounds import structural_bounds

    check_pictures(plot)
    found = loaded(robot, settings)
    low, high = (
        None if text is None else configuration(found, text, option, degrees, within_limits=False)
        for text, option in ((lower, "--lower"), (upper, "--upper"))
    )
    with Bar() as bar:
        bound = structural_bounds(found, low, high, tolerance=tolerance, seconds=seconds, progress=bar.show)
    if plot is not None:
        from dynamis.analysis.eigenvalues import eigenvalue_plot

        whole(plot, lambda file: eigenvalue_plot(found, path=file, lower=low, upper=high))
    written = [] if plot is None else [str(plot)]
    if as_json:
        print_json({**bound.as_dict(), "written": written})
        return
    _print(bound)
    print_written(written)


def _note(status: str) -> str:
    """The status without the number of boxes, which differs between the bounds."""
    return re.sub(r" after \d+ boxe?s?| \(\d+ boxe?s?\)", "", status)


def _print(bound: StructuralBounds) -> None:
    shown = [b for b in bound if any(x != 0.0 for x in (b.value, b.lower, b.upper))]
    notes: dict[str, list[str]] = {}
    rows = []
    for b in shown:
        values = (b.value, b.lower, b.upper)
        scale = scale_of([x for other in shown if other.meaning == b.meaning for x in (other.value, other.lower, other.upper)])
        rows.append((b.name, b.meaning, *(number(x, 5, scale) for x in values)))
        notes.setdefault(_note(b.status), []).append(b.name)
    print_table(f"{bound.robot}: structural properties", ("bound", "meaning", "found", "proven ≥", "proven ≤"), rows)
    for note, names in notes.items():
        echo(f"  {', '.join(names) if len(notes) > 1 else 'all'}: {note}", hang=4)
    zero = list(dict.fromkeys(b.meaning for b in bound if b not in shown))
    if zero:
        omitted = sum(b not in shown for b in bound)
        echo(f"  {counted(omitted, 'bound')} omitted because the value is 0: {', '.join(zero)}", hang=4)
    echo()
    echo(f"M depends on {', '.join(bound.depends_on) or 'no coordinate: it is constant'}", hang=2)
    if bound.prismatic_dependence:
        joints = ", ".join(bound.prismatic_dependence)
        echo(f"The bounds depend on the range of {joints}; without limits of the range there are none", hang=2)
    box = (f"{name} {a:.4g} … {b:.4g}" for name, a, b in zip(bound.coordinates, bound.lower, bound.upper, strict=True))
    echo(f"Box of configurations: {', '.join(box)}", hang=2)

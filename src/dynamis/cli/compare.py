"""``dynamis compare``: differences between two models and their effect on the torques."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import click

from dynamis.cli.console import clean_name, echo, print_json
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import number, percent
from dynamis.cli.layout import print_table
from dynamis.cli.options import floating_option, json_option, set_option
from dynamis.cli.param_types import NOT_NEGATIVE, SEED, Integer
from dynamis.cli.progress import Bar
from dynamis.cli.states import loaded, units
from dynamis.display import counted
from dynamis.tolerances import PRINTED_AS_ZERO

MAX_ROWS = 15

HELP = """Compare two models of a robot: their differences, sorted by the effect on the torques.

    FIRST and SECOND are names of the library or files, of the same or different formats (URDF, Denavit–Hartenberg table, …).

    Exit status: 0 equal to --tolerance, 1 different, 2 the command could not run.

    \b
    Examples:
      dynamis compare arm.urdf better.urdf
      dynamis compare ur5e my_ur5e.urdf --tolerance 1e-3 --json
    """


@click.command(help=HELP, short_help="Differences of two models and their effect on torques.")
@click.argument("first")
@click.argument("second")
@click.option("--tolerance", type=NOT_NEGATIVE, default=1e-6, show_default=True,
              help="Largest relative difference of torques and limits that counts as equal.")  # fmt: skip
@click.option("--samples", type=Integer(1), default=200, show_default=True, help="Number of random states.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the random states.")
@floating_option
@set_option
@click.option("--all", "show_all", is_flag=True, help="Show every difference.")
@json_option
@plain_errors
def compare(
    first: str, second: str, tolerance: float, samples: int, seed: int, floating: bool, settings: tuple[str, ...],
    show_all: bool, as_json: bool,
) -> None:  # fmt: skip
    from dynamis.analysis.comparison import compare as find

    # parameters belong to the TOML file or the robot of the library, not to the file that was made of it
    given = [settings if Path(name).suffix in ("", ".toml") else () for name in (first, second)]
    if settings and not any(given):
        given = [settings, ()]  # refused, with the reason
    one, two = (loaded(name, own, floating) for name, own in zip((first, second), given, strict=True))
    with Bar() as bar:
        found = find(one, two, states=samples, seed=seed, progress=bar.show)
    same = found.same(tolerance)
    if as_json:
        print_json({**found.as_dict(), "tolerance": tolerance, "same": same})
    else:
        _print(found, f"{clean_name(first)} and {clean_name(second)}", same, tolerance, show_all)
    sys.exit(0 if same else 1)


def _print(found: Any, both: str, same: bool, tolerance: float, show_all: bool) -> None:
    for sentence in found.obstacles:
        echo(f"  {sentence}")
    for note in found.notes:
        echo(f"  note: {note}", hang=8)
    if found.obstacles:
        echo((f"{both} are different robots", {"fg": "red", "bold": True}))
        return
    robot = found.first
    rows = [
        (name, unit, t, *((0.0, 0.0, percent(0.0)) if r <= PRINTED_AS_ZERO else (d, m, percent(r))))
        for name, unit, t, d, m, r in zip(
            robot.coordinate_names, units(robot), found.torques, found.torque_differences, found.largest, found.relative,
            strict=True,
        )
    ]  # fmt: skip
    heads = ("joint", "unit", "torque (RMS)", "difference (RMS)", "largest difference", "relative")
    print_table(f"Torques at {counted(found.states, 'random state')}", heads, rows)
    light = [k for k, x in enumerate(found.torques) if x < found.relative_to[k] and found.relative[k] > PRINTED_AS_ZERO]
    if light:
        names = ", ".join(clean_name(robot.coordinate_names[k]) for k in light)
        least = number(float(found.relative_to[light[0]]), 3)
        echo(f"  relative to {least}, 0.1 % of the largest torque, where a joint's own is smaller: {names}", hang=4)
    rounding = 1e-12 * found.torques.max(initial=0.0)
    terms = [(name, *x) for name, x in found.terms.items() if x.max(initial=0.0) > rounding]
    if terms:
        print_table("Differences (RMS) by term", ("term", *robot.coordinate_names), terms)
    most = None if show_all else MAX_ROWS
    _print_differences(
        "Differing parameters, largest effect first",
        ("of", "parameter", "first", "second", "change", "unit", "effect", "on joint"),
        [
            (d.where, d.what, *_values(d), d.change, d.unit, percent(d.effect), d.joint)
            for d in found.differences if d.effect is not None
        ],
        most,
    )  # fmt: skip
    _print_differences(
        "Differing limits",
        ("joint", "limit", "first", "second", "change", "unit"),
        [
            (d.where, d.what.removesuffix(" limit"), _limit(d.first), _limit(d.second),
             d.change if isfinite(d.change) else None, d.unit)
            for d in found.differences if d.effect is None
        ],
        most,
    )  # fmt: skip
    how = f"{_summary(found, tolerance)}, tolerance {percent(tolerance)}"
    if same:
        echo((f"{both} agree: {how}", {"fg": "green", "bold": True}))
    else:
        echo((f"{both} differ: {how}", {"fg": "red", "bold": True}))


def _print_differences(title: str, headings: Sequence[str], rows: Sequence[Sequence[Any]], most: int | None) -> None:
    """A table of the first ``most`` differences; nothing if there are none."""
    if rows:
        print_table(title, headings, rows[:most])
    if most is not None and len(rows) > most:
        echo(f"  … and {len(rows) - most} more (--all shows them)")


def _summary(found: Any, tolerance: float) -> str:
    """Which of torques and limits differ, and by how much."""
    if found.worst > PRINTED_AS_ZERO:
        torques = f"torques differ by up to {percent(found.worst)}"
    else:
        torques = "torques are equal to rounding" if found.worst else "torques are equal"
    limits = len(found.differing_limits(tolerance))
    if not limits:
        return torques
    return f"{counted(limits, 'limit')} {'differs' if limits == 1 else 'differ'}, {torques}"


def _limit(x: float) -> float | str:
    """A limit, or "none" where a robot has none."""
    return x if isfinite(x) else "none"


def _values(d: Any) -> tuple[Any, Any]:
    """Both values where they are numbers; positions and tensors are described by their change."""
    import numpy as np

    return tuple(x if isinstance(x, float) and np.isfinite(x) else None for x in (d.first, d.second))  # type: ignore[return-value]  # of two

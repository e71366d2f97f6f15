"""``dynamis compare``: what differs between two models, and what that does to the torques."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from dynamis.cli.kinds import NOT_NEGATIVE, SEED
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.questions import finite, print_table
from dynamis.cli.states import loaded, units

SHOWN = 15


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--tolerance", type=NOT_NEGATIVE, default=1e-6, show_default=True,
              help="How far torques and limits may be apart, as a part of them.")  # fmt: skip
@click.option("--samples", type=click.IntRange(1), default=200, show_default=True, help="How many random states to try.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the random states.")
@click.option("--floating", is_flag=True, help="Let the bases move freely.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of both robots; repeatable.")
@click.option("--all", "show_all", is_flag=True, help="Show every difference.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def compare(
    first: str, second: str, tolerance: float, samples: int, seed: int, floating: bool, settings: tuple[str, ...],
    show_all: bool, as_json: bool,
) -> None:  # fmt: skip
    """Compare two models of a robot: what differs, sorted by what it does to the torques.

    FIRST and SECOND are names of the library or files; a URDF and a table of Denavit and Hartenberg may be the same robot.
    Exit status: 0 they agree to --tolerance, 1 they differ, 2 the command could not run.

    \b
    Examples:
      dynamis compare arm.urdf better.urdf
      dynamis compare ur5e my_ur5e.urdf --tolerance 1e-3 --json
    """
    from dynamis.analysis.comparison import compare as find

    one, two = (loaded(name, settings, floating) for name in (first, second))
    with Bar() as bar:
        found = find(one, two, states=samples, seed=seed, progress=bar.show)
    same = found.same(tolerance)
    if as_json:
        click.echo(json.dumps(finite({**found.as_dict(), "tolerance": tolerance, "same": same}), indent=2, ensure_ascii=False))
    else:
        _print(found, first, second, same, tolerance, show_all)
    sys.exit(0 if same else 1)


def _print(found: Any, first: str, second: str, same: bool, tolerance: float, show_all: bool) -> None:
    for sentence in found.obstacles:
        click.echo(f"  {sentence}")
    for note in found.notes:
        click.echo(f"  note: {note}")
    if found.obstacles:
        click.secho(f"{first} and {second} are different robots", fg="red", bold=True)
        return
    robot = found.first
    rows = [
        (name, unit, t, d, m, _percent(r))
        for name, unit, t, d, m, r in zip(
            robot.coordinate_names, units(robot), found.torques, found.torque_differences, found.largest, found.relative,
            strict=True,
        )
    ]  # fmt: skip
    heads = ("joint", "", "torque (RMS)", "difference (RMS)", "largest", "part")
    print_table(f"torques at {found.states} random states", heads, rows)
    rounding = 1e-12 * found.torques.max(initial=0.0)
    terms = [(name, *x) for name, x in found.terms.items() if x.max(initial=0.0) > rounding]
    if terms:
        print_table("the differences (RMS) by what they are for", ("term", *robot.coordinate_names), terms)
    shown = found.differences if show_all else found.differences[:SHOWN]
    if shown:
        print_table(
            "what differs, the largest effect first", ("of", "what", "first", "second", "change", "", "effect", "on"),
            [(d.where, d.what, *_values(d), d.change, d.unit, _percent(d.effect), d.joint) for d in shown],
        )  # fmt: skip
    if len(found.differences) > len(shown):
        click.echo(f"  … and {len(found.differences) - len(shown)} more: --all shows them")
    how = f"torques differ by up to {_percent(found.worst)}, tolerance {_percent(tolerance)}"
    if same:
        click.secho(f"{first} and {second} agree: {how}", fg="green", bold=True)
    else:
        click.secho(f"{first} and {second} differ: {how}", fg="red", bold=True)


def _values(d: Any) -> tuple[Any, Any]:
    """Both values where they are numbers; places and tensors are said by their change."""
    import numpy as np

    return tuple(x if isinstance(x, float) and np.isfinite(x) else None for x in (d.first, d.second))  # type: ignore[return-value]  # of two


def _percent(x: float | None) -> str:
    return "–" if x is None else f"{100.0 * x:.3g} %"

"""``dynamis linearize``: the dynamics about a state as linear equations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import click

from dynamis.cli.configurations import degrees_option
from dynamis.cli.console import clean_name, echo, print_json
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import number
from dynamis.cli.layout import print_table
from dynamis.cli.options import floating_option, json_option, names, q_option, set_option, v_option
from dynamis.cli.param_types import POSITIVE
from dynamis.cli.states import loaded, units, vector
from dynamis.display import counted
from dynamis.robot import Robot
from dynamis.tolerances import NEGLIGIBLE

MAX_DOF_OF_MATRICES = 8  # larger matrices do not fit a terminal

HELP = """Linearize the dynamics about a state.

    Prints the torque that keeps the velocities, the modes, the lower halves of A and B, stability and controllability.
    Coulomb friction is taken as constant, as during motion; --friction-velocity smooths it. Loops that the file closes
    are closed, near --q.

    \b
    Examples:
      dynamis linearize planar_2r_melchiorri --q=-90deg,0
      dynamis linearize planar_2r_melchiorri --q 90deg,0 --actuated joint2
      dynamis linearize ur5e --q 0,-1.2,1.6,-0.9,-1.3,0 --json
    """


@click.command(help=HELP, short_help="Linearize the dynamics: A, B, modes, controllability.")
@click.argument("robot")
@q_option
@v_option
@click.option("--tau", metavar="NUMBERS", help="Torques in N m and N. Default: the torques that keep the velocities constant.")
@degrees_option("--q")
@click.option("--actuated", metavar="NAMES", help="Actuated coordinates, separated by commas. Default: all but a free base.")
@click.option(
    "--independent", metavar="NAMES", help="Independent coordinates, where loops are closed. Default: chosen automatically."
)
@click.option(
    "--friction-velocity", type=POSITIVE, metavar="NUMBER",
    help="Coulomb friction F tanh(v / NUMBER), in rad/s or m/s; not with closed loops.",
)  # fmt: skip
@floating_option
@set_option
@json_option
@plain_errors
def linearize(
    robot: str, q: str | None, v: str | None, tau: str | None, degrees: bool | None, actuated: str | None,
    independent: str | None, floating: bool, settings: tuple[str, ...], as_json: bool, friction_velocity: float | None,
) -> None:  # fmt: skip
    from dynamis.analysis.linearization import linearize as find
    from dynamis.simulation.loops.constrain import constrained

    found = loaded(robot, settings, floating)
    inputs = names(actuated, "--actuated", found.coordinate_names[0]) or "joints"
    rates = None if v is None else vector(found, v, "v")
    torques = None if tau is None else vector(found, tau, "tau")
    chosen = names(independent, "--independent", found.coordinate_names[0])
    closed: Any = constrained(found) if found.description.closures else found
    at = closed.home() if q is None else vector(found, q, "q", degrees=degrees)
    at = closed.assemble(at) if closed is not found else at
    near = find(closed, at, rates, torques, actuated=inputs, friction_velocity=friction_velocity, independent=chosen or None)
    if as_json:
        print_json(near.as_dict())
    else:
        _print(near, found)


def _print(near: Any, robot: Robot) -> None:
    n = len(near.coordinates)
    kind = "an equilibrium" if near.at_equilibrium else "not an equilibrium"
    size = f"{counted(2 * n, 'state')}, {counted(len(near.actuated), 'input')}"
    about = f"{clean_name(robot.name)}: dδx/dt = A δx + B δu with x = (q, v); {size}; {kind}"
    echo((about, {"bold": True}))
    torques = [
        (name, unit, _clear(t), _clear(a))
        for name, unit, t, a in zip(robot.coordinate_names, units(robot), near.tau, near.acceleration, strict=True)
    ]
    print_table("Torque and acceleration at the state", ("joint", "unit", "torque", "acceleration"), torques)
    if near.robot is not robot:
        echo(f"  Loops are closed, at q = {', '.join(number(x) for x in near.q)}; independent coordinates:", hang=4)
        echo(f"  {', '.join(map(clean_name, near.coordinates))}\n", hang=4)
    print_table(
        "Modes", ("mode", "dominant joint", "kind", "eigenvalue [1/s]", "frequency [Hz]", "damping ratio", "time constant [s]"),
        _mode_rows(near.modes),
    )  # fmt: skip
    if any(not m.coordinate for m in near.modes):
        echo("  – repeated eigenvalue: its modes have no dominant joint", hang=4)
    if any(row[-1] is not None and row[-1] < 0.0 for row in _mode_rows(near.modes)):
        echo("  – a negative time constant is that of an unstable mode: it grows by a factor of e in this time", hang=4)
    neutral = sum(m.kind == "neutral" for m in near.modes)
    if near.neutral_coordinates and neutral > 1:
        moved = ", ".join(map(clean_name, near.neutral_coordinates))
        echo(f"  {counted(neutral, 'neutral mode')} (eigenvalue 0): displacements without acceleration, of {moved}", hang=4)
    if n <= MAX_DOF_OF_MATRICES:
        names = near.coordinates
        blocks = (
            ("A, lower left block: ∂a/∂q", near.A[n:, :n], names), ("A, lower right block: ∂a/∂v", near.A[n:, n:], names),
            ("B, lower block: ∂a/∂τ", near.B[n:], near.actuated),
        )  # fmt: skip
        for title, block, heads in blocks:
            rows = [(name, *map(_clear, row)) for name, row in zip(names, block, strict=True)]
            if any(x for row in rows for x in row[1:]):
                print_table(title, ("", *heads), rows)
            else:
                echo((title, {"bold": True}), " is zero\n")
    else:
        echo("  A and B are too large to print; use --json")
    reached = near.controllable_dimension
    verdict = "controllable" if near.controllable else "not controllable"
    stable = "asymptotically stable" if near.stable else "not asymptotically stable"
    echo(f"  {stable}; {verdict}: rank {reached} of {2 * n}")


def _clear(x: Any) -> float:
    """Zero where x is rounding error."""
    return 0.0 if abs(x) < NEGLIGIBLE else float(x)


def _complex(x: complex) -> str:
    real, imag = _clear(x.real), _clear(x.imag)
    return f"{number(real)} ± {number(imag)} i" if imag else number(real)


def _mode_rows(modes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Numbered modes; consecutive neutral modes without a dominant joint share a row."""
    numbered = groupby(enumerate(modes, start=1), lambda x: x[0] if x[1].coordinate or x[1].kind != "neutral" else "neutral")
    rows = []
    for _, group in numbered:
        (first, mode), *rest = group
        label = f"{first}–{rest[-1][0]}" if rest else str(first)
        rows.append((label, mode.coordinate or None, mode.kind, *_figures(mode)))
    return rows


def _figures(mode: Any) -> tuple[Any, ...]:
    """Eigenvalue, frequency and damping ratio of an oscillation, time constant of a mode that decays or grows."""
    oscillation = (_clear(mode.frequency), _clear(mode.damping)) if mode.oscillates else (None, None)
    time = None if mode.kind in ("neutral", "undamped") else mode.time_constant
    return _complex(mode.eigenvalue), *oscillation, time

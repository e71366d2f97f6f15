"""``dynamis linearize``: the dynamics near a state as linear equations."""

from __future__ import annotations

import json
from typing import Any

import click

from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.questions import finite, print_table
from dynamis.cli.states import loaded, units, vector

MATRICES_UP_TO = 8  # degrees of freedom: wider ones do not fit a terminal


@click.command()
@click.argument("robot")
@click.option("--q", metavar="NUMBERS", help="The configuration, one number or one a joint, in rad and m; zeros unless given.")
@click.option("--v", metavar="NUMBERS", help="The velocities, one or one a joint, in rad/s and m/s; at rest unless given.")
@click.option("--tau", metavar="NUMBERS", help="The torques, in N m and N; those that keep the velocities unless given.")
@click.option("--actuated", metavar="NAMES", help="The coordinates with a motor; all but those of a free base unless given.")
@click.option("--floating", is_flag=True, help="Let the base move freely.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def linearize(
    robot: str, q: str | None, v: str | None, tau: str | None, actuated: str | None, floating: bool,
    settings: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Linearize the dynamics near a state: A, B, the torque that holds it, modes, controllability.

    \b
    Examples:
      dynamis linearize planar_2r_melchiorri --q=-1.5708,0
      dynamis linearize planar_2r_melchiorri --q 1.5708,0 --actuated joint2
      dynamis linearize ur5e --q 0,-1.2,1.6,-0.9,-1.3,0 --json
    """
    from dynamis.analysis.linearization import linearize as find

    found = loaded(robot, settings, floating)
    names = None if actuated is None else [x.strip() for x in actuated.split(",") if x.strip()]
    rates = None if v is None else vector(found, v, "v")
    torques = None if tau is None else vector(found, tau, "tau")
    near = find(found, vector(found, q, "q"), rates, torques, actuated=names)
    if as_json:
        click.echo(json.dumps(finite(near.as_dict()), indent=2, ensure_ascii=False))
    else:
        _print(near)


def _print(near: Any) -> None:
    robot, n = near.robot, near.robot.n
    kind = "an equilibrium" if near.at_equilibrium else "no equilibrium: the state itself moves on"
    click.secho(
        f"{robot.name}: dδx/dt = A δx + B δu, x = (q, v), {2 * n} states, {len(near.actuated)} inputs; {kind}", bold=True
    )
    torques = [
        (name, unit, float(t), float(a))
        for name, unit, t, a in zip(robot.coordinate_names, units(robot), near.tau, near.acceleration, strict=True)
    ]
    print_table("torque here", ("joint", "", "torque", "acceleration"), [(*row[:3], _clean(row[3])) for row in torques])
    print_table(
        "modes", ("moves most", "", "eigenvalue", "Hz", "damping", "decay [s]"),
        [(m.coordinate, m.kind, _complex(m.eigenvalue), _clean(m.frequency), _clean(m.damping), _time(m)) for m in near.modes],
    )  # fmt: skip
    if n <= MATRICES_UP_TO:
        names = robot.coordinate_names
        blocks = (
            ("A, lower left: ∂a/∂q", near.A[n:, :n], names), ("A, lower right: ∂a/∂v", near.A[n:, n:], names),
            ("B, lower half: ∂a/∂τ", near.B[n:], near.actuated),
        )  # fmt: skip
        for title, block, heads in blocks:
            print_table(title, ("", *heads), [(name, *map(_clean, row)) for name, row in zip(names, block, strict=True)])
    else:
        click.echo("  A and B are too wide to print: --json holds them")
    reached = near.controllable_dimension
    verdict = "controllable" if near.controllable else "not controllable"
    stable = "stable" if near.stable else "not asymptotically stable"
    click.echo(f"  {stable}; {verdict}: the inputs reach {reached} of {2 * n} states")


def _clean(x: Any) -> float:
    return 0.0 if abs(x) < 1e-9 else float(x)


def _complex(x: complex) -> str:
    real, imag = _clean(x.real), _clean(x.imag)
    return f"{real:.4g} ± {imag:.4g} i" if imag else f"{real:.4g}"


def _time(mode: Any) -> Any:
    return None if mode.kind in ("undamped", "indifferent") else mode.time_constant

"""``dynamis bench``: how quick the compiled functions of a robot are on this machine."""

from __future__ import annotations

import json
from typing import Any

import click

from dynamis.cli.kinds import POSITIVE
from dynamis.cli.plain_errors import plain_errors
from dynamis.cli.progress import Bar
from dynamis.cli.questions import finite, print_table
from dynamis.cli.states import loaded

USUAL = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)  # fmt: skip
RIVALS = ("pinocchio", "mujoco")


@click.command()
@click.argument("robot")
@click.option("--functions", metavar="NAMES", help="Which, with commas, or all; the six that are asked for most unless given.")
@click.option("--batch", type=click.IntRange(1), default=4096, show_default=True, help="How many states at once.")
@click.option("--threads", type=click.IntRange(1), help="How many threads beside one; all cores unless given.")
@click.option("--against", "others", multiple=True, type=click.Choice(RIVALS),
              help="Another library, in turns with ours, on the robot without friction and rotors; repeatable.")  # fmt: skip
@click.option("--seconds", type=POSITIVE, default=0.2, show_default=True, help="How long to measure each figure, about.")
@click.option("--floating", is_flag=True, help="Let the base move freely.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a symbol of the robot; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@plain_errors
def bench(
    robot: str, functions: str | None, batch: int, threads: int | None, others: tuple[str, ...], seconds: float,
    floating: bool, settings: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Measure the compiled functions of a robot on this machine: nanoseconds a state, and the first call.

    The first call compiles quick code and answers; better code follows in the background and is kept on disk. Times are the
    shortest of several turns, in double precision.

    \b
    Examples:
      dynamis bench planar_2r_melchiorri
      dynamis bench ur5e --functions inverse_dynamics,gravity --batch 1000 --threads 2 --json
    """
    from dynamis.cli.measuring import functions as known
    from dynamis.cli.measuring import machine, measure, states_of
    from dynamis.cli.rivals import bare, rivals
    from dynamis.compiler.kernel import thread_count
    from dynamis.errors import unknown_name

    found = loaded(robot, settings, floating)
    asked = ",".join(USUAL) if functions is None else functions
    names = list(known()) if asked == "all" else [x.strip() for x in asked.split(",")]
    for name in names:
        if name not in known():
            raise unknown_name("compiled function", name, known())
    found.kernel(names[0])  # robots that are not compiled say so
    found = bare(found) if others else found
    count = threads or thread_count()
    with Bar() as bar:
        states = states_of(found, batch)
        offers = {who: rivals(who, found, states) for who in dict.fromkeys(others)}
        rows = measure(found, names, batch, count, seconds, offers, bar.show)
    facts = {"robot": found.name, "degrees_of_freedom": found.n, "batch": batch, "machine": machine(count), "functions": rows}
    if as_json:
        click.echo(json.dumps(finite(facts), indent=2, ensure_ascii=False))
    else:
        _print(facts, count, list(offers))


def _print(facts: dict[str, Any], threads: int, others: list[str]) -> None:
    m = facts["machine"]
    several = [f"{threads} threads"] if threads > 1 else []
    heads = ("function", "operations", "a state", "checked", *several, "one call", "bare", "first call", "from disk", *others)
    rows = []
    for row in facts["functions"]:
        threaded = [_time(row["ns_per_state_threads"])] if threads > 1 else []
        ratios = [_rival(row["rivals"].get(who)) for who in others]
        rows.append((
            row["function"], str(row["operations"]), _time(row["ns_per_state"]), _time(row["ns_per_state_checked"]), *threaded,
            _time(1e3 * row["one_call_us"]), _time(1e3 * row["one_bare_call_us"]),
            _time(1e6 * row["first_call_ms"]), _time(1e6 * row["from_disk_ms"]), *ratios,
        ))  # fmt: skip
    print_table(f"{facts['robot']}: a state in a batch of {facts['batch']}, one state alone, and the first call", heads, rows)
    click.echo("  a state, bare: the compiled function; checked, one call: the robot's method, which looks at every number")
    click.echo(
        f"  {m['processor']}, {m['cores']} cores, {m['system']}, Python {m['python']}, NumPy {m['numpy']}; shortest times"
    )
    hows = dict.fromkeys(f"{who} {x['how']}" for row in facts["functions"] for who, x in row["rivals"].items())
    if hows:
        click.echo(f"  without friction and rotors; on one thread: {', '.join(hows)}; × is their time over ours")


def _rival(x: dict[str, Any] | None) -> str:
    return "–" if x is None else f"{_time(x['ns_per_state'])} ({x['times_ours']:.3g} ×)"


def _time(ns: float) -> str:
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"

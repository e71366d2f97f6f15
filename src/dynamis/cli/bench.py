"""``dynamis bench``: execution times of the compiled functions of a robot on this machine."""

from __future__ import annotations

from typing import Any

import click

from dynamis.cli.console import echo, print_json
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.formatting import duration
from dynamis.cli.layout import print_table
from dynamis.cli.options import floating_option, json_option, set_option
from dynamis.cli.param_types import POSITIVE, Integer
from dynamis.cli.progress import Bar
from dynamis.cli.states import loaded
from dynamis.display import counted

DEFAULT_FUNCTIONS = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)  # fmt: skip
RIVALS = ("pinocchio", "mujoco")

HELP = """Measure execution times of the compiled functions on this machine.

    Reports the time per state in a batch, of a single call, and of the first call without and with cached code.
    Optimised code is compiled in the background and cached on disk. Times are the shortest of several runs, in double
    precision.

    \b
    Examples:
      dynamis bench planar_2r_melchiorri
      dynamis bench ur5e --functions inverse_dynamics,gravity --batch 1000 \\
          --threads 2 --json
    """


@click.command(help=HELP, short_help="Execution times of the compiled functions.")
@click.argument("robot")
@click.option("--functions", metavar="NAMES",
              help="Functions separated by commas, or all. Default: the six most common ones.")  # fmt: skip
@click.option("--batch", type=Integer(1), default=4096, show_default=True, help="Number of states in a batch.")
@click.option("--threads", type=Integer(1, 1024), help="Number of threads of the parallel run. Default: all cores.")
@click.option("--against", "others", multiple=True, type=click.Choice(RIVALS),
              help="Also measure another library on the robot without friction and rotors; repeatable.")  # fmt: skip
@click.option("--seconds", type=POSITIVE, default=0.2, show_default=True, help="Approximate time for each measurement.")
@floating_option
@set_option
@json_option
@plain_errors
def bench(
    robot: str, functions: str | None, batch: int, threads: int | None, others: tuple[str, ...], seconds: float,
    floating: bool, settings: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    from dynamis.cli.rivals import bare, rivals
    from dynamis.cli.timing import functions as known
    from dynamis.cli.timing import machine, measure, states_of
    from dynamis.compiler.kernel import thread_count
    from dynamis.errors import unknown_name
    from dynamis.robot.checks import warn_of_open_loops

    found = loaded(robot, settings, floating)
    warn_of_open_loops(found, "the functions that are timed")
    asked = ",".join(DEFAULT_FUNCTIONS) if functions is None else functions
    names = list(known()) if asked == "all" else [x.strip() for x in asked.split(",")]
    for name in names:
        if name not in known():
            raise unknown_name("compiled function", name, known())
    found.kernel(names[0])  # robots that cannot be compiled raise here
    found = bare(found) if others else found
    count = threads or thread_count()
    with Bar() as bar:
        states = states_of(found, batch)
        offers = {who: rivals(who, found, states) for who in dict.fromkeys(others)}
        rows = measure(found, names, batch, count, seconds, offers, bar.show)
    facts = {"robot": found.name, "degrees_of_freedom": found.n, "batch": batch, "machine": machine(count), "functions": rows}
    if as_json:
        print_json(facts)
    else:
        _print(facts, count, list(offers))


def _print(facts: dict[str, Any], threads: int, others: list[str]) -> None:
    several = [counted(threads, "thread")] if threads > 1 else []
    heads = ("function", "operations", "kernel", "method", *several, *others)
    rows, calls = [], []
    for row in facts["functions"]:
        threaded = [_ns(row["ns_per_state_threads"])] if threads > 1 else []
        ratios = [_rival(row["rivals"].get(who)) for who in others]
        per_state = (_ns(row["ns_per_state"]), _ns(row["ns_per_state_checked"]))
        rows.append((row["function"], str(row["operations"]), *per_state, *threaded, *ratios))
        calls.append((row["function"], *map(duration, (
            1e-6 * row["one_call_us"], 1e-3 * row["first_call_ms"], 1e-3 * row["from_disk_ms"]
        ))))  # fmt: skip
    print_table(f"{facts['robot']}: time per state in a batch of {facts['batch']}", heads, rows)
    print_table("Single call", ("function", "method", "first call", "first call, cached"), calls)
    echo("  kernel: the compiled function, which writes into an existing array; method: the method of the robot, which also "
         "checks all values and allocates the result", hang=4)  # fmt: skip
    m = facts["machine"]
    versions = f"Python {m['python']}, NumPy {m['numpy']}"
    echo(f"  {m['processor']}, {counted(m['cores'], 'core')}, {m['system']}, {versions}; shortest of several runs", hang=4)
    hows = dict.fromkeys(f"{who} {x['how']}" for row in facts["functions"] for who, x in row["rivals"].items())
    if hows:
        echo(f"  Robot without friction and rotors, one thread: {', '.join(hows)}; × is their time divided by ours", hang=4)
    absent = [who for who in others if any(who not in row["rivals"] for row in facts["functions"])]
    if absent:
        echo(f"  –: no comparison with {' and '.join(absent)} for this function", hang=4)


def _rival(x: dict[str, Any] | None) -> str | None:
    return None if x is None else f"{_ns(x['ns_per_state'])} ({x['times_ours']:.3g} ×)"


def _ns(nanoseconds: float) -> str:
    return duration(1e-9 * nanoseconds)

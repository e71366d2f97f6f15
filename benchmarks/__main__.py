"""``python -m benchmarks``: this package against others, in one interleaved run, on the same states.

Writes results.json, prints tables, draws pictures, updates the tables of docs/benchmarks.md.
"""

from __future__ import annotations

from benchmarks import cores

cores.prepare_libraries()  # before anything below loads them

import json
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from benchmarks import (
    contact,
    derivatives,
    first_call,
    generated_c,
    gpu,
    growth,
    identification,
    integrators,
    inverse_kinematics,
    latency,
    optimal_control,
    optimizers,
    pages,
    plots,
    rollouts,
    tables,
    task_space,
    threads,
    throughput,
)
from benchmarks.closed_forms import suite as closed_forms
from benchmarks.closed_forms.contenders import CONTENDERS
from benchmarks.goals import disturbed, missing, outcomes
from benchmarks.machine import about
from benchmarks.options import CHAINS, QUICK_CHAINS, Options
from benchmarks.progress import tell
from benchmarks.rivals import RIVALS
from benchmarks.subjects import FLOATING

SECTIONS: dict[str, Callable[[Options], dict[str, Any]]] = {
    "throughput": throughput.measure,
    "latency": latency.measure,
    "first-call": first_call.measure,
    "growth": growth.measure,
    "threads": threads.measure,
    "closed-form": closed_forms.measure,
    "rollouts": rollouts.measure,
    "integrators": integrators.measure,
    "task-space": task_space.measure,
    "contact": contact.measure,
    "derivatives": derivatives.measure,
    "inverse-kinematics": inverse_kinematics.measure,
    "optimal-control": optimal_control.measure,
    "optimizers": optimizers.measure,
    "generated-c": generated_c.measure,
    "identification": identification.measure,
    "gpu": gpu.measure,
}
HERE = Path(__file__).parent
SYMBOLIC = tuple(dict.fromkeys(contender.library for contender in CONTENDERS.values()))
KNOWN_RIVALS = tuple(dict.fromkeys((*RIVALS, *SYMBOLIC)))
QUICK_ROBOTS = ("panda", "go2")
QUICK_RIVALS = tuple(key for key in KNOWN_RIVALS if key != "adam_jax")  # XLA takes half a minute for each robot


@click.command()
@click.argument("sections", nargs=-1, type=click.Choice(list(SECTIONS)))
@click.option(
    "--quick", is_flag=True, help="Seconds instead of minutes, for trying things out; kept apart in benchmarks/quick."
)
@click.option("--robots", help=f"Some of {','.join(FLOATING)}.")
@click.option("--rivals", help=f"Some of {','.join(KNOWN_RIVALS)}, or none.")
@click.option("--batch", default=4096, show_default=True, help="States in a batch.")
@click.option("--seconds", type=float, help="For each contender and function. [default: 0.7, quick 0.05]")
@click.option("--show", is_flag=True, help="Measure nothing: print and draw what was measured last.")
def main(
    sections: tuple[str, ...],
    quick: bool,
    robots: str | None,
    rivals: str | None,
    batch: int,
    seconds: float | None,
    show: bool,
) -> None:
    """Measure SECTIONS (all, unless some are named); the others keep what results.json has."""
    folder = HERE / "quick" if quick else HERE
    chosen = () if rivals == "none" else _chosen(rivals, KNOWN_RIVALS, QUICK_RIVALS if quick else KNOWN_RIVALS)
    options = Options(
        robots=_chosen(robots, tuple(FLOATING), QUICK_ROBOTS if quick else tuple(FLOATING)),
        rivals=tuple(key for key in chosen if key in RIVALS),
        batch=batch,
        seconds=seconds if seconds is not None else 0.05 if quick else 0.7,
        chains=QUICK_CHAINS if quick else CHAINS,
        fresh_starts=2 if quick else 7,
        symbolic_rivals=tuple(key for key in chosen if key in SYMBOLIC),
        limit_s=5.0 if quick else 120.0,
        joints=4 if quick else 8,
        tell=tell,
    )
    found = _results(folder / "results.json")
    console = Console(width=None if Console().is_terminal else 160)
    for name in sections or SECTIONS:
        if not show:
            found[name] = _measured(name, options)
            _keep(found, folder)
        if name in found:
            tables.print_section(console, name, found[name])
    tables.print_goals(console, outcomes(found), missing(found), disturbed(found))
    console.print(plots.draw(found, folder / "plots"), style="dim", highlight=False)
    if not quick:
        pages.write(found)


def _measured(name: str, options: Options) -> dict[str, Any]:
    options.tell(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the rivals and of vendors' robot files
        figures = SECTIONS[name](options)
    options.tell("")
    return {"measured": datetime.now(UTC).isoformat(timespec="seconds"), "on": about(), **figures}


def _chosen(text: str | None, known: tuple[str, ...], usual: tuple[str, ...]) -> tuple[str, ...]:
    if text is None:
        return usual
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in known:
            raise click.BadParameter(f"{name!r} is not known; choose from {', '.join(known)}")
    return names


def _results(path: Path) -> dict[str, Any]:
    """The sections measured before."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return dict(found.get("sections", {}))


def _keep(found: dict[str, Any], folder: Path) -> None:
    """After every section, so that a run that is broken off leaves what it has."""
    folder.mkdir(exist_ok=True)
    results = {"goals": outcomes(found), "sections": {name: found[name] for name in SECTIONS if name in found}}
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""The figures of closed forms as tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape

from benchmarks.cells import VERDICTS, empty_table, quantity, remark, shown
from benchmarks.closed_forms.comparison import CHAINS
from benchmarks.closed_forms.contenders import CONTENDERS

Row = Mapping[str, Any]
COUNTED = ("inertia matrix", "Coriolis matrix", "gravity", "inverse dynamics")


def print_closed_forms(console: Console, section: Row) -> None:
    _derivations(console, section)
    _comparison(console, section["comparison"])


def _derivations(console: Console, section: Row) -> None:
    title = (
        f"Deriving equations of motion, median of up to {section['fresh_starts']} fresh processes, after imports; "
        "operations are those in M, common parts counted once, or written out"
    )
    headings = ("arm", "by", "derived", "time", "wanted", "", "operations", "written out", "deviation")
    found = empty_table(title, *headings, names=3)
    for row in section["rows"]:
        ours = [row["title"], "Dynamis", row["what"]]
        if row["seconds"] is None:
            found.add_row(*ours, "–", f"≤ {quantity(row['wanted_s'], 's')}", VERDICTS[False], "–", "–", "–")
        else:
            verdict = VERDICTS[row["seconds"] <= row["wanted_s"]]
            found.add_row(*ours, quantity(row["seconds"], "s"), f"≤ {quantity(row['wanted_s'], 's')}", verdict, *_size(row))
        for key, rival in row["rivals"].items():
            contender = CONTENDERS[key]
            found.add_row("", contender.name, contender.gives, quantity(rival["seconds"], "s"), "", "", *_size(rival))
        for key in row["left_out"]:
            if key != "ours":
                found.add_row("", CONTENDERS[key].name, CONTENDERS[key].gives, "none", "", "", "–", "–", "–")
        found.add_section()
    console.print(found)
    for row in section["rows"]:
        for key, why in row["left_out"].items():
            name = CONTENDERS[key].name if key in CONTENDERS else "Dynamis"
            remark(console, f"[bold]{row['title']}[/bold]  {name}: {escape(why)}")
    imports = [row["import_s"] for row in section["rows"] if "import_s" in row]
    if imports:
        remark(console, f"Ours with imports: {quantity(min(imports), 's')} more", style="dim")
    if section["load_before"] is not None:
        remark(console, f"Load of the machine before: {section['load_before']:.1f}", style="dim")


def _size(figures: Row) -> list[str]:
    counts = [figures.get(key, {}).get("M") for key in ("operations", "operations_written_out")]
    deviation = figures.get("deviation")
    return [*("–" if n is None else f"{n}" for n in counts), "–" if deviation is None else f"{deviation:.0e}"]


def _comparison(console: Console, rows: list[Row]) -> None:
    for parameters in ("numbers", "symbols"):
        timed = ("closed, ns", "recursion, ns") if parameters == "numbers" else ()
        headings = [heading for name in ("M", "C", "g", "τ") for heading in (f"{name} closed", "recursion")]
        title = f"Lagrange against Newton–Euler: operations, parameters are {parameters}"
        title += "; inverse dynamics per state, one core" if timed else ""
        found = empty_table(title, "chain", "n", *headings, *timed)
        for row, following in zip(rows, [*rows[1:], None], strict=True):
            counts = [row["operations"][parameters][name][way] for name in COUNTED for way in ("closed", "recursion")]
            times = [shown(row, way, f"{row['ns'][way]:.0f}") for way in ("closed", "recursion")] if timed else []
            ends = following is None or following["chain"] != row["chain"]
            title = CHAINS[row["chain"]][0] if row["joints"] == 1 else ""
            found.add_row(title, str(row["joints"]), *map(str, counts), *times, end_section=ends)
        console.print(found)

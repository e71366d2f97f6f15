"""Tables of the documentation, written from the results between marks: ``<!-- table: NAME -->`` and ``<!-- end -->``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.goals import geometric_mean
from benchmarks.plots import ROBOTS
from benchmarks.subjects import FLOATING

Row = Mapping[str, Any]

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
CALLED = ("ur5e", "panda", "go2", "g1")  # robots in the table of single calls
MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def updated(text: str, sections: Mapping[str, Any]) -> str:
    """A page with its tables as the results have them; those of sections that were not measured stay."""

    def table(found: re.Match[str]) -> str:
        name = found[2]
        return f"{found[1]}{TABLES[name](sections[name])}{found[3]}" if name in sections else found[0]

    return MARKED.sub(table, text)


def write(sections: Mapping[str, Any]) -> None:
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8"), sections), encoding="utf-8")


def _robot(name: str) -> str:
    return ROBOTS[name] + (", floating" if FLOATING[name] else "")


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join(["", lines[0], "|" + "---|" * len(head), *lines[1:], "", ""])


def _throughput(section: Row) -> str:
    rows = {(row["robot"], row["function"]): row for row in section["rows"]}
    head = ["robot"]
    for function in FUNCTIONS:
        head += [f"{function.replace('_', ' ')}, ns", "ratio"]
    lines = []
    for name in dict.fromkeys(robot for robot, _ in rows):
        line = [_robot(name)]
        for function in FUNCTIONS:
            row = rows[name, function]
            rival = row["rivals"].get("pinocchio")
            line += [f"{row['ours_ns']['method, out']:,.0f}", "–" if rival is None else f"{rival['ratio']:.1f}×"]
        lines.append(line)
    mean = ["geometric mean"]
    for function in FUNCTIONS:
        ratios = [
            row["rivals"]["pinocchio"]["ratio"]
            for (_, f), row in rows.items()
            if f == function and "pinocchio" in row["rivals"]
        ]
        value = geometric_mean(ratios)
        mean += ["", "–" if value is None else f"{value:.1f}×"]
    return _table(head, [*lines, mean])


def _latency(section: Row) -> str:
    rivals = [("pinocchio", "Pinocchio"), ("dynibo", "dynibo"), ("mujoco", "MuJoCo")]
    rivals = [rival for rival in rivals if any(rival[0] in row["us"] for row in section["rows"])]
    lines = []
    for row in section["rows"]:
        if row["robot"] in CALLED and row["function"] in FUNCTIONS:
            us = row["us"]
            times = [f"{us[key]:.2f}" if key in us else "–" for key, _ in [("facade", ""), *rivals]]
            ratio = f"{us['facade'] / us['pinocchio']:.2f}" if "pinocchio" in us else "–"
            lines.append([f"{_robot(row['robot'])}: {row['function'].replace('_', ' ')}", *times, ratio])
    return _table(["function of", "method", *(name for _, name in rivals), "method / Pinocchio"], lines)


def _growth(section: Row) -> str:
    rows = {(row["links"], row["function"]): row for row in section["rows"]}
    head = ["links"]
    for function in FUNCTIONS[:2]:
        head += [f"{function.replace('_', ' ')}, ns per link", "Pinocchio", "ready after, s"]
    lines = []
    for links in dict.fromkeys(links for links, _ in rows):
        line = [str(links)]
        for function in FUNCTIONS[:2]:
            row = rows[links, function]
            rival = row.get("pinocchio_ns_per_link")
            line += [f"{row['ours_ns_per_link']:.1f}", "–" if rival is None else f"{rival:.0f}", _seconds(row["optimised_s"])]
        lines.append(line)
    return _table(head, lines)


def _seconds(value: float) -> str:
    return f"{value:.0f}" if value >= 99.5 else f"{value:.2g}"


def _contact(section: Row) -> str:
    head = ["function of", f"batch of {section['batch']}", "call", "Pinocchio's call", "Pinocchio / batch", "call / Pinocchio"]
    lines = []
    for row in section["rows"]:
        ns, known = row["ns"], row["times_faster"] is not None
        ratios = [f"{row['times_faster']:.1f}×", f"{row['single_ratio']:.2f}"] if known else ["–", "–"]
        rival = f"{ns['pinocchio']:.0f}" if "pinocchio" in ns else "–"
        what = f"{_robot(row['robot'])}: {row['function'].replace('_', ' ')}"
        lines.append([what, f"{ns['ours']:.0f}", f"{ns['single']:.0f}", rival, *ratios])
    return _table(head, lines)


def _derivatives(section: Row) -> str:
    batch = section["batch"]
    head = [
        "function of",
        f"batch of {batch}",
        "call",
        "Pinocchio's call",
        "and stored",
        "call / batch",
        "stored / batch",
        "call / call",
    ]
    lines = []
    for row in section["rows"]:
        ns = row["ns"]
        what = f"{_robot(row['robot'])}: {row['function'].replace('_', ' ')}"
        times = [f"{ns[x]:.0f}" if x in ns else "–" for x in ("ours", "single", "pinocchio", "stored")]
        known = [f"{ns[x] / ns['ours']:.1f}×" if x in ns else "–" for x in ("pinocchio", "stored")]
        lines.append([what, *times, *known, "–" if row["single_ratio"] is None else f"{row['single_ratio']:.2f}"])
    return _table(head, lines)


def _generated_c(section: Row) -> str:
    versions = section["rows"][0]["version"]
    head = ["function of", "operations", *(f"{x} {versions[x]} {section['flags'][x]}" for x in versions)]
    lines = [
        [
            f"{_robot(row['robot'])}: {row['function'].replace('_', ' ')}",
            str(row["operations"]),
            *(f"{row['ns'][x]:.0f}" for x in versions),
        ]
        for row in section["rows"]
    ]
    return _table(head, lines)


TABLES: dict[str, Callable[[Row], str]] = {
    "throughput": _throughput, "latency": _latency, "growth": _growth, "contact": _contact, "derivatives": _derivatives, "generated-c": _generated_c,
}  # fmt: skip

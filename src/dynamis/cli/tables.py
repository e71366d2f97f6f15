"""Summaries and reports as tables in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from dynamis.cli.questions import WIDEST, fitting
from dynamis.model.diagnostics import Report
from dynamis.robot import Robot

SHOWN = 40


def print_library(rows: list[tuple[str, str]]) -> None:
    console = Console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("robot", style="bold cyan", no_wrap=True)
    table.add_column("what it is")
    for name, about in rows:
        table.add_row(escape(name), escape(about))
    console.print(table)


def safe(text: str) -> str:
    """Text of a file, without the control characters a terminal would obey."""
    return escape("".join(c if c.isprintable() else "�" for c in text))


def number(value: Any, digits: int = 4) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return safe(value if len(value) <= 28 else value[:27] + "…")
    if value == 0.0:
        return "0"
    return f"{value:.{digits}g}"


def vector(values: Any) -> str:
    return "(" + ", ".join(number(v, 3) for v in values) + ")"


def print_summary(summary: dict[str, Any], robot: Robot) -> None:
    console = Console()
    if not console.is_terminal:  # a file or a pipe is as wide as it needs to be
        console.width = max(console.width, WIDEST)
    console.print()
    console.print(f"[bold]{safe(summary['name'])}[/bold]  {safe(summary['about'])}")
    if summary["source"]:
        console.print(Padding(f"[dim]{safe(summary['source'])}[/dim]", (0, 0, 0, 2)))
    facts = [
        f"{summary['degrees_of_freedom']} degrees of freedom",
        f"mass {number(summary['mass'])} kg",
        f"gravity {vector(summary['gravity'])} m/s²",
    ]
    if summary["tip"]:
        facts.append(f"tip [cyan]{safe(summary['tip'])}[/cyan]")
    console.print("  " + "  ·  ".join(facts))
    console.print()
    for table in _joints(summary["joints"], console.width):
        console.print(table)
    driven = [j for j in summary["joints"] if j["motor_link"] or j["actuator"]]
    if driven:
        console.print(_drives(driven))
    console.print(_links(summary["links"]))
    if "at_zero" in summary:
        _print_dynamics(console, summary, robot)


def _joints(joints: list[dict[str, Any]], width: int) -> Iterator[Table]:
    """A table, or where the terminal is narrow several, each with the names of the joints."""
    headings = ["joint", "type", "axis", "range", "speed", "effort"]
    physics = {"viscous": "viscous", "coulomb": "dry", "reflected_rotor_inertia": "rotor", "stiffness": "spring"}
    shown = {key: label for key, label in physics.items() if any(j[key] not in (0.0, None) for j in joints)}
    headings += shown.values()
    rows = []
    for j in joints[:SHOWN]:
        limits = j["limits"]
        bounds = f"{number(limits['lower'], 3)} … {number(limits['upper'], 3)}"
        bounds = "–" if limits["lower"] is None and limits["upper"] is None else bounds
        kind = j["type"] + (f" (follows {safe(j['follows'])})" if j["follows"] else "")
        row = [safe(j["name"]), kind, vector(j["axis"]), bounds, number(limits["velocity"], 3), number(limits["effort"], 3)]
        rows.append([*row, *(number(j[key], 3) for key in shown)])
    if len(joints) > SHOWN:
        rows.append([f"… and {len(joints) - SHOWN} more", *("" for _ in headings[1:])])
    for count, columns in enumerate(fitting(headings, rows, width)):
        table = Table(box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
        table.title = "Joints" if count == 0 else None
        for k in columns:
            table.add_column(headings[k], justify="left" if headings[k] in ("joint", "type") else "right", no_wrap=True)
        for row in rows:
            table.add_row(*(row[k] for k in columns))
        yield table


def _drives(joints: list[dict[str, Any]]) -> Table:
    table = Table(title="Drives", box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    for heading in ("joint", "motor on", "actuator"):
        table.add_column(heading)
    for j in joints[:SHOWN]:
        table.add_row(safe(j["name"]), _drive(j["motor_link"]), _drive(j["actuator"]))
    if len(joints) > SHOWN:
        table.add_row(f"… and {len(joints) - SHOWN} more")
    return table


def _drive(value: Any) -> str:
    """The link a motor is on, or an actuator with its numbers."""
    if not isinstance(value, dict):
        return "–" if value is None else safe(value)
    numbers = ", ".join(f"{key.replace('_', ' ')} {number(x, 3)}" for key, x in value.items() if key != "kind")
    kind = str(value["kind"]).replace("_", " ")
    return f"{kind}: {numbers}" if numbers else kind


def _links(links: list[dict[str, Any]]) -> Table:
    table = Table(title="Moving bodies", box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    table.add_column("body")
    table.add_column("mass \\[kg]", justify="right")
    table.add_column("centre of mass \\[m]", justify="right")
    table.add_column("principal moments \\[kg m²]", justify="right")
    for link in links[:SHOWN]:
        moments = vector(link["principal_moments"]) if link["principal_moments"] else "symbolic"
        table.add_row(safe(link["name"]), number(link["mass"]), vector(link["com"]), moments)
    if len(links) > SHOWN:
        table.add_row(f"… and {len(links) - SHOWN} more")
    return table


def _print_dynamics(console: Console, summary: dict[str, Any], robot: Robot) -> None:
    at = summary["at_zero"]
    if robot.n > SHOWN:
        return
    if robot.model.symbolic:
        console.print("[bold]At q = 0[/bold]")
        console.print(
            "  gravity torque  "
            + safe(", ".join(at["gravity"] if isinstance(at["gravity"][0], str) else map(str, at["gravity"])))
        )
        return
    table = Table(title="At q = 0", box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    table.add_column("coordinate")
    table.add_column("gravity torque", justify="right")
    table.add_column("inertia seen", justify="right")
    for name, torque, seen in zip(robot.coordinate_names, at["gravity"], at["mass_matrix_diagonal"], strict=True):
        table.add_row(safe(name), number(torque), number(seen))
    console.print(table)
    low, high = at["mass_matrix_eigenvalues"]
    condition = f", condition {high / low:.3g}" if low > 0 else ", singular: some motion moves no mass"
    console.print(f"  eigenvalues of M(0) from {low:.4g} to {high:.4g}{condition}")
    rng = np.random.default_rng(0)
    q, v, a = robot.random(rng), rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, robot.n)
    if low > 0:
        error = np.abs(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)) - a).max()
        console.print(f"  forward after inverse dynamics at a random state: acceleration back to {error:.1g}")
    console.print()


def print_report(report: Report, *, every: bool = False) -> None:
    """The findings of a report; warnings of one kind together where there are many, unless ``every`` one is asked for."""
    console = Console(soft_wrap=True)
    for problem in report if every else report.summarised():
        colour = "red" if problem.severity == "error" else "yellow"
        place = safe(problem.file) + (f":{problem.line}" if problem.line else "")
        head = f"{place}: " if place else ""
        console.print(
            f"{head}[bold {colour}]{problem.severity}[/] {safe(problem.where)}: {safe(problem.found)}", highlight=False
        )
        for label, text in (("allowed", problem.allowed), ("read as", problem.done), ("to repair", problem.repair)):
            if text:
                console.print(f"    [dim]{label}:[/] {safe(text)}", highlight=False)
    errors, warnings = len(report.errors), len(report.warnings)
    verdict = "[bold red]not usable[/]" if errors else "[bold green]usable[/]"
    more = "; --all lists each" if not every and len(report.summarised()) < len(report) else ""
    console.print(f"{safe(report.source)}: {verdict}, {errors} error(s), {warnings} warning(s){more}", highlight=False)

"""The table of a comparison of laws: one row per law, as text and for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dynamis.display import card, counted, tracking_card

LawComparison = Any  # of `experiments`, which imports this module
LawRun = Any

COSTS = ("∫½ τᵀM⁻²τ", "∫½ τᵀM⁻¹τ", "∫½ τᵀτ")
NULL_SPACE = ("drift", "null-space velocity")
STABLE = "stability"
BEST = "*"


def table(comparison: LawComparison) -> str:
    """One row per law; the lowest cost of each column is marked."""
    return "\n".join(
        [title(comparison), "", *_aligned([headings(comparison), *rows(comparison)]), "", *legend(comparison)]
    ).rstrip()


def html_table(comparison: LawComparison) -> str:
    """The same for notebooks."""
    return card(title(comparison), legend(comparison), headings(comparison), rows(comparison))


def run_card(run: LawRun) -> str:
    """The tracking errors of one law, for notebooks."""
    verdicts = [run.chatter_verdict, "" if run.stability is None else run.stability.verdict]
    sentences = [run.trajectory.status, *filter(None, verdicts)]
    return tracking_card(run.tracking, f"{run.name} on {run.trajectory.robot.name}", sentences, run.bound)


def title(comparison: LawComparison) -> str:
    """Robot, coordinates and motion."""
    names = "joints" if comparison.task is None else ", ".join(comparison.task.names)
    model = f", model parameters off by up to {100.0 * comparison.error:g} %" if comparison.error else ""
    if not comparison.periodic:
        return f"{comparison.robot.name}: {names} {'at rest' if comparison.motion is None else 'to a goal'}{model}"
    motion = comparison.motion
    cycles = (
        f"{counted(motion.cycles, 'cycle')} of {motion.period:g} s"
        if motion.cycles > 1
        else f"one cycle of {motion.period:g} s"
    )
    return f"{comparison.robot.name}: {names} along a {type(motion).__name__.lower()}, {cycles}{model}"


def headings(comparison: LawComparison) -> tuple[str, ...]:
    """The columns that at least one law has."""
    costs, moved = (COSTS, NULL_SPACE) if comparison.periodic else ((), ())
    stability = [STABLE] if any(run.stability is not None for run in comparison.runs) else []
    return ("law", *costs, "peak torque", *moved, "largest error", "final error", *stability)


def rows(comparison: LawComparison) -> list[tuple[str, ...]]:
    """The cells of each law."""
    least = least_costs(comparison)
    stability = STABLE in headings(comparison)
    made = []
    for run in comparison.runs:
        costs, moved = [], []
        if run.null_space is not None:
            costs = [f"{x:.4g}{BEST if x == least[key] else ' '}" for key, x in run.null_space.costs.items()]
            moved = [f"{run.null_space.drift[-1]:.3g}" if len(run.null_space.drift) else "–", str(run.null_space)]
        peak = f"{run.peak_torque:.4g} {run.peak_unit} ({run.peak_joint})"
        row = [run.name, *costs, peak, *moved, f"{run.error.max():.1e}", f"{run.error[-1]:.1e}"]
        if stability:
            row.append("–" if run.stability is None else run.stability.verdict)
        made.append(tuple(row))
    return made


def least_costs(comparison: LawComparison) -> dict[str, float | None]:
    """The lowest of each cost among the completed motions; none is marked where there is nothing to compare."""
    found = [run.null_space.costs for run in comparison.runs if run.null_space is not None and run.trajectory.complete]
    every = [run.null_space.costs for run in comparison.runs if run.null_space is not None]
    if not every or len(comparison.runs) < 2:
        return {key: None for costs in every for key in costs}
    return {key: min((costs[key] for costs in found), default=None) for key in every[0]}


def legend(comparison: LawComparison) -> list[str]:
    """The meaning of the mark and of the drift, the reason why a goal is out of reach, and torques that chatter."""
    notes = [comparison.unreachable] if comparison.unreachable else []
    notes += [f"{run.name}: {run.chatter_verdict}" for run in comparison.runs if run.chatter]
    if not comparison.periodic:
        return notes
    marked = any(x is not None for x in least_costs(comparison).values())
    best = [f"{BEST} lowest of the column, of the completed motions"] if marked else []
    return [*notes, *best, "drift: ‖q − q(0)‖ after the last cycle"]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width; numbers to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    right = [k for k, name in enumerate(rows[0]) if "error" in name or "∫" in name or name == "drift"]
    lines = []
    for row in rows:
        cells = [x.rjust(w) if k in right else x.ljust(w) for k, (x, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return [lines[0], "─" * max(map(len, lines)), *lines[1:]]

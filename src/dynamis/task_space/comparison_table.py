"""A comparison of laws as a text table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dynamis.display import card

if TYPE_CHECKING:
    from dynamis.task_space.comparison import LawComparison

HEADINGS = (
    "law", "∫½ τᵀM⁻²τ", "∫½ τᵀM⁻¹τ", "∫½ τᵀτ", "peak torque", "drift", "null-space velocity", "task error",
)  # fmt: skip
COST_COLUMNS = (1, 2, 3)
BEST = "*"


def table(comparison: LawComparison) -> str:
    """One row per law; the lowest cost of each column is marked."""
    return "\n".join([title(comparison), "", *_aligned([HEADINGS, *rows(comparison)]), "", *legend(comparison)])


def html_table(comparison: LawComparison) -> str:
    """The same for notebooks."""
    return card(title(comparison), legend(comparison), HEADINGS, rows(comparison))


def title(comparison: LawComparison) -> str:
    """Robot, task variables and path."""
    motion = comparison.motion
    cycles = f"{motion.cycles} cycles of {motion.period:g} s" if motion.cycles > 1 else f"one cycle of {motion.period:g} s"
    return f"{comparison.robot.name}: {', '.join(comparison.task.names)} along a {type(motion).__name__.lower()}, {cycles}"


def rows(comparison: LawComparison) -> list[tuple[str, ...]]:
    """The cells of each law."""
    runs = comparison.runs
    least = {key: min((run.costs[key] for run in runs if run.trajectory.complete), default=None) for key in runs[0].costs}
    result = []
    for run in runs:
        costs = [f"{x:.4g}{BEST if x == least[key] and len(runs) > 1 else ' '}" for key, x in run.costs.items()]
        drift = f"{run.drift[-1]:.3g}" if len(run.drift) else "–"
        peak = f"{run.peak_torque:.4g} ({run.peak_joint})"
        result.append((run.name, *costs, peak, drift, run.null_motion, f"{run.error.max():.1e}"))
    return result


def legend(comparison: LawComparison) -> list[str]:
    """The meaning of the mark and of the drift."""
    best = [f"{BEST} lowest of the column"] if len(comparison.runs) > 1 else []
    return [*best, "drift: ‖q − q(0)‖ after the last cycle"]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    right = {*COST_COLUMNS, 5, 7}
    lines = []
    for row in rows:
        cells = [x.rjust(w) if k in right else x.ljust(w) for k, (x, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return [lines[0], "─" * max(map(len, lines)), *lines[1:]]

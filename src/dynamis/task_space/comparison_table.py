"""A comparison of laws as a text table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynamis.task_space.comparison import Comparison

HEADINGS = (
    "law", "∫½ τᵀM⁻²τ", "∫½ τᵀM⁻¹τ", "∫½ τᵀτ", "peak torque", "drift", "null-space velocity", "task error",
)  # fmt: skip
COST_COLUMNS = (1, 2, 3)
BEST = "*"


def table(comparison: Comparison) -> str:
    """One row per law; the lowest cost of each column is marked."""
    runs = comparison.runs
    least = {key: min((run.costs[key] for run in runs if run.trajectory.complete), default=None) for key in runs[0].costs}
    rows = []
    for run in runs:
        costs = [f"{x:.4g}{BEST if x == least[key] and len(runs) > 1 else ' '}" for key, x in run.costs.items()]
        drift = f"{run.drift[-1]:.3g}" if len(run.drift) else "–"
        peak = f"{run.peak_torque:.4g} ({run.peak_joint})"
        rows.append((run.name, *costs, peak, drift, run.null_motion, f"{run.error.max():.1e}"))
    motion = comparison.motion
    cycles = f"{motion.cycles} cycles of {motion.period:g} s" if motion.cycles > 1 else f"one cycle of {motion.period:g} s"
    title = f"{comparison.robot.name}: {', '.join(comparison.task.names)} along a {type(motion).__name__.lower()}, {cycles}"
    lines = [title, "", *_aligned([HEADINGS, *rows])]
    stars = f"{BEST} lowest of the column" if len(runs) > 1 else ""
    drift = "drift: ‖q − q(0)‖ after the last cycle"
    return "\n".join([*lines, "", *([stars] if stars else []), drift])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    right = {*COST_COLUMNS, 5, 7}
    lines = []
    for row in rows:
        cells = [x.rjust(w) if k in right else x.ljust(w) for k, (x, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return [lines[0], "─" * max(map(len, lines)), *lines[1:]]

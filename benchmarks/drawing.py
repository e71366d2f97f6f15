"""What all pictures share: colours, sizes, and where the headline stands."""

from __future__ import annotations

from typing import Any

OURS = "#1f4e79"
STYLE = {
    "font.family": "DejaVu Sans", "font.size": 15, "axes.titlesize": 20, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.labelsize": 15, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#55595f",
    "axes.axisbelow": True, "xtick.color": "#33363b", "ytick.color": "#33363b", "axes.grid": True, "axes.grid.axis": "y",
    "grid.color": "#dfe2e6", "grid.linewidth": 1.0, "legend.frameon": False, "figure.dpi": 120, "savefig.dpi": 120,
}  # fmt: skip
WIDE = (16, 9)
TICKS = tuple(digit * 10**power for power in range(-1, 6) for digit in (1, 2, 5))


def headline(figure: Any, title: str, subtitle: str) -> None:
    figure.text(0.075, 0.945, title, fontsize=25, fontweight="bold", color="#1b1d20", va="center")
    figure.text(0.075, 0.895, subtitle, fontsize=15, color="#55595f", va="center")

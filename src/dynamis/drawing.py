"""What all pictures share: a figure, quiet axes, colours, ticks at quarter turns, and a file at the end."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError, printable

# one family of colours for all pictures: motion is blue, force is red, what cannot move is grey
MOTION, FORCE, STRUCTURE, INK, FAINT = "#2b5c8a", "#b5402f", "#7a7a7a", "#22303c", "#d7dde3"
GOOD, SEQUENCE = "#3f7d4e", "viridis"
DOTS, ON_SCREEN = 160, 90  # an inch, in files and in notebooks


def new_figure(width: float, height: float) -> Any:
    """An empty figure of this size in inches, drawn without a window; a notebook shows it where a cell ends with it."""
    try:
        import matplotlib as mpl  # noqa: F401 - the package itself must be there, not only parts already loaded
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("plots need matplotlib: pip install 'dynamis[plots]'") from None
    figure: Any = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure._repr_png_ = partial(_png, figure)  # matplotlib shows figures of pyplot only
    return figure


def _png(figure: Any) -> bytes:
    from io import BytesIO

    page = BytesIO()
    figure.savefig(page, format="png", dpi=ON_SCREEN)
    return page.getvalue()


def shades(count: int, name: str = SEQUENCE) -> Any:
    """So many colours of a sequence, easily told apart."""
    from matplotlib import colormaps

    return colormaps[name](np.linspace(0.1, 0.85, count))


def tidy(axes: Any) -> None:
    """Only the two lines that carry numbers, and a grid that stays behind."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)


def heading(axes: Any, text: str, size: float = 12) -> None:
    """The title, where reading begins."""
    axes.set_title(text, loc="left", fontsize=size, color=INK)


def mark_turns(axis: Any, low: float, high: float) -> None:
    """Quarter turns as ticks, where an angle spans at least one and not many."""
    quarters = np.arange(np.ceil(low / (np.pi / 2) - 1e-9), np.floor(high / (np.pi / 2) + 1e-9) + 1).astype(int)
    if not 3 <= len(quarters) <= 9:
        return
    names = {0: "0", 1: "π/2", -1: "−π/2", 2: "π", -2: "−π"}
    texts = [names.get(int(m)) or (f"{m // 2}π" if m % 2 == 0 else f"{m}π/2").replace("-", "−") for m in quarters]
    axis.set_ticks(quarters * (np.pi / 2), texts)


def square_limits(axes: Any, points: Iterable[Any], margin: float = 0.08, *, window: bool = False) -> None:
    """Equal scales, with all these points (…, 2) inside; ``window`` makes the axes as wide as high."""
    cloud = np.concatenate([np.asarray(p, dtype=float).reshape(-1, 2) for p in points])
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    if window:
        missing = 0.5 * (float((high - low).max()) - (high - low))
        low, high = low - missing, high + missing
    room = margin * max(float((high - low).max()), 1e-9)
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlim(low[0] - room, high[0] + room)
    axes.set_ylim(low[1] - room, high[1] + room)


def save(figure: Any, path: str | os.PathLike[str] | None) -> Any:
    """Write the figure to a file if there is a path; returns the figure."""
    if path is not None:
        try:
            figure.savefig(path, dpi=DOTS)
        except (OSError, ValueError) as error:
            raise InputError(f"{printable(str(path))} cannot be written: {error}") from None
    return figure

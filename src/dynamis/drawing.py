"""Figures: size and style of the axes, colours, ticks at multiples of π/2, files, display in notebooks."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError, printable
from dynamis.files.atomic_write import write_file
from dynamis.files.paths import path_of

# one family of colours for all pictures: motion is blue, force is red, what cannot move is grey
MOTION, FORCE, STRUCTURE, INK, FAINT = "#2b5c8a", "#b5402f", "#7a7a7a", "#22303c", "#d7dde3"
GOOD, SEQUENCE = "#3f7d4e", "viridis"
KINDS = ("png", "svg", "pdf", "jpg", "jpeg")
FILE_DPI, NOTEBOOK_DPI = 160, 90
VECTOR_DPI = 72  # of SVG and PDF in matplotlib
PADDING = 0.1  # inches around panels and between the title and the edge
CHARACTER_WIDTH, HANDLE_WIDTH, MAX_COLUMNS = 0.62, 5.0, 7  # of a legend; widths in font sizes
TICK_MARGIN = 0.08  # of a long edge of a 3-D plot, at its ends: free of ticks
DISTINCT_COLOURS = 10  # of matplotlib's default cycle
MAX_INTERVALS = 2000  # of a curve: more than a panel has dots


def new_figure(width: float, height: float) -> Any:
    """An empty figure of this size in inches, without a window."""
    try:
        import matplotlib as mpl  # noqa: F401 - the package itself must be there, not only parts already loaded
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "plots need matplotlib: pip install 'dynamis[plots]', in a checkout pip install '.[plots]'"
        ) from None
    figure: Any = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=PADDING, h_pad=PADDING)
    FigureCanvasAgg(figure)
    return figure


class Panels(tuple[Any, ...]):
    """The matplotlib axes of a plot as a tuple; ``figure`` is their figure, which a notebook displays."""

    figure: Any
    displayed: bool

    def __new__(cls, figure: Any) -> Panels:
        panels = super().__new__(cls, figure.axes)
        panels.figure, panels.displayed = figure, False
        return panels

    def __reduce__(self) -> Any:
        return Panels, (self.figure,)

    def _repr_png_(self) -> bytes:  # matplotlib itself shows figures of pyplot only
        self.displayed = True
        return _drawn(self.figure, "png", NOTEBOOK_DPI)

    def __repr__(self) -> str:
        return f"<Panels: {len(self)} axes; the figure is .figure>"


def _display_after_cell(panels: Panels) -> None:
    """In a notebook, display a figure when the cell ends, unless the cell's result has displayed it: also for ``plot();``."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or not hasattr(shell, "kernel"):
        return
    if not _waiting:
        shell.events.register("post_execute", _display_waiting)
    _waiting.append(panels)


_waiting: list[Panels] = []


def _display_waiting() -> None:
    display = importlib.import_module("IPython.display").display
    sys.modules["IPython"].get_ipython().events.unregister("post_execute", _display_waiting)
    panels, _waiting[:] = list(_waiting), []
    for one in panels:
        if not one.displayed:
            display(one)


def _drawn(figure: Any, kind: str, dots: int) -> bytes:
    page = io.BytesIO()
    with laid_out(figure, kind, dots):
        figure.savefig(page, format=kind, dpi=dots)
    return page.getvalue()


@contextmanager
def laid_out(figure: Any, kind: str, dots: float) -> Iterator[None]:
    """Margins for a file of this kind, then no layout engine: a figure that has one is drawn twice by matplotlib."""
    from matplotlib.backend_bases import get_registered_canvas_class

    layout, dpi, canvas = figure.get_layout_engine(), figure.dpi, figure.canvas
    try:
        if layout is not None:
            pixels = kind in ("png", "jpg", "jpeg")
            figure.dpi = dots if pixels else VECTOR_DPI
            if not pixels:  # they measure text in their own way
                get_registered_canvas_class(kind)(figure)
            layout.execute(figure)
            figure.set_layout_engine(None)
        figure.dpi = dpi
        figure.set_canvas(canvas)
        yield
    finally:
        figure.dpi = dpi
        figure.set_canvas(canvas)
        figure.set_layout_engine(layout)


def shades(count: int, name: str = SEQUENCE) -> Any:
    """Colours of a sequential map, for lines in an order; neighbours are similar."""
    from matplotlib import colormaps

    return colormaps[name](np.linspace(0.1, 0.85, count))


def line_colours(count: int) -> list[Any]:
    """Colours for lines without an order, such as joints: the default cycle, or a rainbow map for more than ten."""
    from matplotlib import colormaps

    if count <= DISTINCT_COLOURS:
        return [colormaps["tab10"](k) for k in range(count)]
    return [colormaps["turbo"](x) for x in np.linspace(0.05, 0.95, count)]


def with_extremes(t: Any, y: Any) -> tuple[Any, Any]:
    """A curve of at most twice `MAX_INTERVALS` points, with the smallest and the largest value of each interval of t."""
    if len(t) <= 2 * MAX_INTERVALS:
        return t, y
    parts = [part for part in np.array_split(np.arange(len(t)), MAX_INTERVALS) if len(part)]
    kept = np.unique([0, len(t) - 1, *(part[0] + k for part in parts for k in (np.argmin(y[part]), np.argmax(y[part])))])
    return t[kept], y[kept]


def legend_above(axes: Any, ncols: int, size: float = 8) -> None:
    """A legend in the line of the title, to its right, where it hides no data."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=ncols, fontsize=size, frameon=False, borderpad=0.1,
                handlelength=1.2, handletextpad=0.4, columnspacing=0.8, borderaxespad=0.2)  # fmt: skip


def legend_outside(figure: Any, handles: Any, labels: Sequence[str], size: float = 8, *, place: str = "lower left",
                   **style: Any) -> None:  # fmt: skip
    """A legend below or above all panels, with as many columns as fit the width of the figure."""
    points = 72.0 * figure.bbox.width / figure.dpi - 2.0 * size
    column = size * (CHARACTER_WIDTH * max(map(len, labels), default=0) + HANDLE_WIDTH)
    fitting = int(np.clip(points // column, 1, MAX_COLUMNS))
    figure.legend(handles, labels, loc=f"outside {place}", fontsize=size, frameon=False,
                  ncols=min(fitting, max(len(labels), 1)), **style)  # fmt: skip


def space_axes(axes: Any, labels: Sequence[str]) -> None:
    """Label the three axes of a 3-D plot, with few ticks and the labels clear of the tick labels."""
    from matplotlib.ticker import MaxNLocator

    axes.set(xlabel=labels[0], ylabel=labels[1], zlabel=labels[2])
    extents = [abs(high - low) for low, high in (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())]
    for axis, extent in zip((axes.xaxis, axes.yaxis, axes.zaxis), extents, strict=True):
        # a short edge of the box has room for fewer ticks; on the long ones those in a corner would meet those of the others
        short = extent < 0.6 * max(extents)
        room = 0.0 if short else TICK_MARGIN * extent
        low, high = axis.get_view_interval()
        for bins in (2, 3, 4, 5) if short else (4, 5, 7):
            ticks = MaxNLocator(nbins=bins, steps=[1, 2, 5, 10]).tick_values(low, high)
            ticks = ticks[(ticks >= low + room) & (ticks <= high - room)]
            if len(ticks) >= 2:
                break
        axis.set_ticks(ticks)
        axis.labelpad = 8.0
    axes.tick_params(labelsize=8, pad=3)


def tidy(axes: Any) -> None:
    """Hide the top and right spines, and draw a grid behind the data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)


def heading(axes: Any, text: str, size: float = 12) -> None:
    """The title, left-aligned."""
    axes.set_title(text, loc="left", fontsize=size, color=INK)


def mark_turns(axis: Any, low: float, high: float) -> None:
    """Ticks at multiples of π/2, if between 3 and 9 of them fit."""
    quarters = np.arange(np.ceil(low / (np.pi / 2) - 1e-9), np.floor(high / (np.pi / 2) + 1e-9) + 1).astype(int)
    if not 3 <= len(quarters) <= 9:
        return
    names = {0: "0", 1: "π/2", -1: "−π/2", 2: "π", -2: "−π"}
    texts = [names.get(int(m)) or (f"{m // 2}π" if m % 2 == 0 else f"{m}π/2").replace("-", "−") for m in quarters]
    axis.set_ticks(quarters * (np.pi / 2), texts)


def square_limits(axes: Any, points: Iterable[Any], margin: float = 0.08, *, window: bool = False) -> None:
    """Equal scales with all points (…, 2) inside; ``window`` makes the axes square."""
    cloud = np.concatenate([np.asarray(p, dtype=float).reshape(-1, 2) for p in points])
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    if window:
        missing = 0.5 * (float((high - low).max()) - (high - low))
        low, high = low - missing, high + missing
    room = margin * max(float((high - low).max()), 1e-9)
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlim(low[0] - room, high[0] + room)
    axes.set_ylim(low[1] - room, high[1] + room)


def save(figure: Any, path: str | os.PathLike[str] | None) -> Panels:
    """Write the figure atomically to a file if there is a path; returns its axes, which a notebook displays."""
    if path is not None:
        target = path_of(path)
        kind = target.suffix.lower().removeprefix(".")
        if kind not in KINDS:
            raise InputError(
                f"{printable(str(path), 400)} cannot be written: the file name must end in .png, .svg, .pdf or .jpg"
            )
        write_file(target, _drawn(figure, kind, FILE_DPI))
    panels = Panels(figure)
    if path is None:
        _display_after_cell(panels)
    return panels

"""Plot of a force polytope as a polygon or polyhedron."""

from __future__ import annotations

import importlib
import os
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynamis.drawing import FORCE, GOOD, INK, new_figure, save, space_axes, square_limits, tidy
from dynamis.errors import InputError

if TYPE_CHECKING:
    from dynamis.statics.force_polytope import ForcePolytope

Array = npt.NDArray[Any]
MIN_EDGE = 0.3  # of the longest edge of a 3-D plot: a shorter edge has no room for its ticks
ZOOMS = np.linspace(1.0, 0.4, 16)  # of a 3-D plot, tried until the labels of its axes are inside the figure


def plot(found: ForcePolytope, path: str | os.PathLike[str] | None) -> Any:
    m = found.task.size
    if m not in (2, 3):
        raise InputError(
            f"a plot of the force polytope requires 2 or 3 directions, this one has {m}; select rows such as 'xy' or 'xyz'"
        )
    if found.empty:
        raise InputError("the force polytope is empty: " + found.sentences[0])
    figure = new_figure(7.4, 6.8)
    who = f"forces exerted by the {found.by}, in static equilibrium within the torque limits"
    names = [
        f"force along {name} [N]" if straight else f"moment about {name.removeprefix('r')} [N m]"
        for name, straight in zip(found.task.names, found.task.linear, strict=True)
    ]
    if m == 2:
        axes = figure.add_subplot()
        _polygon(axes, found)
        axes.set(xlabel=names[0], ylabel=names[1])
        tidy(axes)
    else:
        axes = figure.add_subplot(projection="3d")
        _polyhedron(axes, found)
        space_axes(axes, names)
    figure.suptitle(
        f"{found.robot.name}: force polytope at {found.task.frame.name}\n{who}", fontsize=12, x=0.02, ha="left", color=INK
    )
    if found.sentences:
        caption = textwrap.fill("; ".join(found.sentences), 95)
        figure.supxlabel(caption, fontsize=9.5, color="0.4", x=0.02, ha="left")
    if m == 3:
        _fit(figure, axes, np.ptp([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()], axis=1))
    return save(figure, path)


def _fit(figure: Any, axes: Any, size: Array) -> None:
    """Draw a 3-D box of this size as large as its axis labels allow: the layout engine leaves no room for them."""
    for zoom in ZOOMS:
        axes.set_box_aspect(size, zoom=zoom)
        figure.draw_without_rendering()
        labels = [axis.get_tightbbox() for axis in (axes.xaxis, axes.yaxis, axes.zaxis)]
        bottom = 0.0 if figure._supxlabel is None else figure._supxlabel.get_window_extent().y1
        top = figure._suptitle.get_window_extent().y0
        if all(x.x0 >= 0.0 and x.x1 <= figure.bbox.x1 and bottom <= x.y0 and x.y1 <= top for x in labels):
            return


def _polygon(axes: Any, found: ForcePolytope) -> None:
    corners = found.vertices
    if not found.bounded:
        _band(axes, found)
        return
    if found.span < 2:
        _segment(axes, found)
        return
    closed = np.vstack([corners, corners[:1]])
    axes.fill(*closed.T, color=FORCE, alpha=0.18)
    axes.plot(*closed.T, color=FORCE, linewidth=2.2)
    axes.plot(*corners.T, "o", color=FORCE, markersize=6)
    _limit_names(axes, found)
    axes.plot(0.0, 0.0, "+", color=INK, markersize=14, markeredgewidth=2)
    square_limits(axes, [corners, np.zeros((1, 2))], 0.12, window=True)


def _limit_names(axes: Any, found: ForcePolytope) -> None:
    """Label each edge with the joint at its limit."""
    size = float(np.ptp(found.vertices, axis=0).max())
    sizes = np.linalg.norm(found.A, axis=1)
    for a, b in zip(found.vertices, np.roll(found.vertices, -1, axis=0), strict=True):
        middle, along = 0.5 * (a + b), b - a
        if np.linalg.norm(along) < 0.12 * size:
            continue
        off = np.where(sizes > 0.0, np.abs(found.A @ middle - found.b) / np.where(sizes > 0.0, sizes, 1.0), np.inf)
        row = int(np.argmin(off))
        outward = found.A[row] / sizes[row]
        angle = np.degrees(np.arctan2(along[1], along[0]))
        angle = angle - 180.0 if angle > 90.0 else angle + 180.0 if angle < -90.0 else angle
        at = middle + 0.035 * size * outward
        axes.text(*at, found.limits[row], rotation=angle, ha="center", va="center", fontsize=8.5, color="0.35",
                  rotation_mode="anchor")  # fmt: skip


def _segment(axes: Any, found: ForcePolytope) -> None:
    """Plot a degenerate set: a segment or a point."""
    axes.plot(*found.vertices.T, "o-", color=FORCE, linewidth=2.2, markersize=6)
    axes.plot(0.0, 0.0, "+", color=INK, markersize=14, markeredgewidth=2)
    size = max(float(np.abs(found.vertices).max()), 1e-9)
    square_limits(axes, [1.2 * size * np.array([[-1.0, -1.0], [1.0, 1.0]])], 0.0)


def _band(axes: Any, found: ForcePolytope) -> None:
    """Plot a set that is bounded in one direction and unbounded in the other."""
    size = max(float(np.abs(found.vertices).max()), 1.0)
    far = 4.0 * size
    along = found.unbounded[:, 0]
    ends = found.vertices
    corners = np.array([ends[0] - far * along, ends[0] + far * along, ends[-1] + far * along, ends[-1] - far * along])
    axes.fill(*corners.T, color=FORCE, alpha=0.18)
    for end in ends:
        line = np.array([end - far * along, end + far * along])
        axes.plot(*line.T, color=FORCE, linewidth=2.2)
    axes.annotate("unbounded", xy=tuple(1.2 * size * along + ends.mean(axis=0)), ha="center", color=FORCE, fontsize=10)
    axes.plot(0.0, 0.0, "+", color=INK, markersize=14, markeredgewidth=2)
    window = 1.8 * size * np.array([[-1.0, -1.0], [1.0, 1.0]]) + ends.mean(axis=0)
    square_limits(axes, [window], 0.0)


def _polyhedron(axes: Any, found: ForcePolytope) -> None:
    if not found.bounded:
        raise InputError(
            "; ".join(found.sentences) + ": an unbounded polytope cannot be plotted in three directions; select two with "
            "rows=, on the command line --rows, such as xz"
        )
    art = importlib.import_module("mpl_toolkits.mplot3d.art3d")  # a part of matplotlib that has no types
    faces = _faces(found) if found.span == 3 else [found.vertices]
    skin = art.Poly3DCollection(faces, facecolor=FORCE, alpha=0.16, edgecolor="none")
    axes.add_collection3d(skin)
    edges = {
        tuple(sorted((tuple(np.round(a, 6)), tuple(np.round(b, 6)))))
        for f in faces
        for a, b in zip(f, np.roll(f, -1, axis=0), strict=True)
    }
    axes.add_collection3d(art.Line3DCollection(sorted(edges), colors=FORCE, linewidths=1.8))
    axes.scatter(*found.vertices.T, color=FORCE, s=22, depthshade=False)
    axes.scatter(0.0, 0.0, 0.0, color=INK, marker="+", s=120, linewidths=2.0)
    down = found.task.selection[:, :3] @ found.robot.model.gravity.astype(float)
    if np.linalg.norm(down) > 0.0:
        end = 0.25 * float(np.linalg.norm(found.vertices, axis=1).max()) * down / np.linalg.norm(down)
        axes.plot(*np.array([0.0 * end, end]).T, color=GOOD, linewidth=2.0)
        axes.text(*(1.2 * end), "gravity", color=GOOD, fontsize=9, ha="center")
    low, high = found.vertices.min(axis=0), found.vertices.max(axis=0)
    if found.span < 3:
        size = max(float(np.abs(found.vertices).max()), 1e-9)
        low, high = np.full(3, -size), np.full(3, size)
    missing = np.maximum(MIN_EDGE * float((high - low).max()) - (high - low), 0.0)
    low, high = low - 0.5 * missing, high + 0.5 * missing
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.view_init(elev=20, azim=-58)


def _faces(found: ForcePolytope) -> list[Array]:
    """The vertices of each face, in order."""
    faces = []
    sizes = np.linalg.norm(found.A, axis=1)
    reach = float(np.abs(found.vertices).max())
    for normal, b, size in zip(found.A, found.b, sizes, strict=True):
        if size < 1e-12:
            continue
        on = found.vertices[np.abs(found.vertices @ normal - b) / size < 1e-6 * reach]
        if len(on) < 3:
            continue
        middle = on.mean(axis=0)
        x = on[0] - middle
        y = np.cross(normal / size, x)
        around = np.arctan2((on - middle) @ y, (on - middle) @ x)
        faces.append(on[np.argsort(around)])
    return faces

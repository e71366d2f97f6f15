"""Labels, legends and ticks of plots: inside the figure, and clear of the drawing."""

import re
from pathlib import Path

import numpy as np
import pytest

import dynamis as dy

pytest.importorskip("matplotlib", reason="needs Matplotlib: pip install matplotlib")

from dynamis import drawing
from dynamis.drawing import legend_outside, new_figure, space_axes
from dynamis.plotting.workspace import _clipped_extremes


def boxes(figure, artists):
    figure.draw_without_rendering()
    return [artist.get_window_extent() for artist in artists]


def inside(box, outer):
    return box.x0 >= outer.x0 and box.y0 >= outer.y0 and box.x1 <= outer.x1 and box.y1 <= outer.y1


@pytest.mark.parametrize(("width", "count", "length"), [(10.0, 29, 26), (5.2, 6, 22), (11.0, 3, 60)])
@pytest.mark.parametrize("place", ["lower left", "upper right"])
def test_a_legend_outside_the_panels_is_inside_the_figure(width, count, length, place):
    figure = new_figure(width, 8.0)
    axes = figure.subplots()
    lines = [axes.plot([0, 1], [0, k])[0] for k in range(count)]
    legend_outside(figure, lines, ["w" * (length // 3) + "i" * (length - length // 3)] * count, place=place)
    (box,) = boxes(figure, figure.legends)
    assert inside(box, figure.bbox)


@pytest.mark.parametrize(
    ("name", "q", "wrench"),
    [
        ("planar_2r_melchiorri", [0.3, 0.9], [-20.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ("ur5e", [0.0, -1.2, 1.6, -0.9, -1.3, 0.0], None),
        # a drawing that fills the height of the figure
        ("ur5e", [0.0, -2.2, 1.9, 0.2, 0.2, 0.0], [0.0, 0.0, -20.0, 0.0, 0.0, 0.0]),
    ],
)
def test_the_legend_of_a_stiffness_plot_is_inside_the_figure_and_clear_of_all_else(name, q, wrench):
    found = dy.statics.stiffness(dy.load(name), q, 2e3, wrench=wrench)
    figure = found.plot().figure
    drawing, (legend,) = figure.axes[0], figure.legends
    assert not drawing.texts
    box, *others = boxes(figure, [legend, drawing, figure._suptitle, *([figure._supxlabel] if figure._supxlabel else [])])
    axes = [ax.get_tightbbox() for ax in figure.axes]
    assert not any(box.overlaps(other) for other in (*others, *axes))
    assert inside(box, figure.bbox)
    assert sum("N/mm" in text.get_text() for text in legend.get_texts()) == 2
    assert found.buckling in figure._suptitle.get_text()


def elbow_arm():
    """Three revolute joints and a tool, with links of 0.3, 0.4 and 0.3 m."""
    d = dy.Description("arm").add_link("base")
    inertia = dy.Inertia.about_com(2.0, [0.15, 0.0, 0.0], 0.02 * np.eye(3))
    d.add_link("column", "base", "revolute", axis=(0, 0, 1), inertia=inertia)
    d.add_link(
        "upper", "column", "revolute", axis=(0, 1, 0), inertia=inertia, origin=dy.Pose(np.eye(3), np.array([0.0, 0.0, 0.3]))
    )
    d.add_link(
        "lower", "upper", "revolute", axis=(0, 1, 0), inertia=inertia, origin=dy.Pose(np.eye(3), np.array([0.4, 0.0, 0.0]))
    )
    d.add_link("tool", "lower", "fixed", origin=dy.Pose(np.eye(3), np.array([0.3, 0.0, 0.0])))
    for joint, effort in zip(d.joints, (60.0, 60.0, 20.0), strict=False):
        joint.limits.effort = effort
    return dy.Robot(d)


@pytest.mark.parametrize(
    ("name", "q"),
    [
        ("panda", [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]),
        ("arm", [0.0, 0.5, 0.8]),  # tall
        ("arm", [0.0, -0.3, 0.1]),  # wide and flat
    ],
)
def test_titles_and_labels_of_force_polytopes_are_inside_the_figure_and_ticks_are_few(name, q):
    robot = elbow_arm() if name == "arm" else dy.load(name)
    figure = dy.statics.force_polytope(robot, q, rows="xyz").plot().figure
    (axes,) = figure.axes
    title, *labels = boxes(figure, [figure._suptitle, *(axis.label for axis in (axes.xaxis, axes.yaxis, axes.zaxis))])
    assert all(inside(box, figure.bbox) for box in (title, *labels))
    assert not any(box.overlaps(title) for box in labels)
    assert all(2 <= len(axis.get_ticklocs()) <= 5 for axis in (axes.xaxis, axes.yaxis, axes.zaxis))


def test_views_of_a_low_workspace_end_with_the_data_and_labels_are_inside_the_figure(tmp_path):
    arm = dy.load("scara")
    cloud = dy.workspace(arm, samples=4000, lower=[-3.0, -2.5, 0.0, -3.0], upper=[3.0, 2.5, 0.2, 3.0])
    figure = cloud.plot(tmp_path / "low.png").figure
    space, *views = figure.axes
    for view, (a, b) in zip(views, ((0, 1), (0, 2), (1, 2)), strict=True):
        (mesh,) = view.collections
        edges = mesh.get_coordinates().reshape(-1, 2)
        assert edges.min(axis=0).tolist() == pytest.approx(cloud.points[:, (a, b)].min(axis=0).tolist())
        assert edges.max(axis=0).tolist() == pytest.approx(cloud.points[:, (a, b)].max(axis=0).tolist())
    labels = boxes(figure, [axis.label for axis in (space.xaxis, space.yaxis, space.zaxis)])
    assert all(inside(label, figure.bbox) for label in labels)
    others = [view.get_tightbbox() for view in views]
    assert not any(label.overlaps(other) for label in labels for other in others)


def test_a_colour_scale_names_only_values_that_differ_from_its_ends_in_the_printed_digits():
    values = np.array([0.0, 0.1, 0.2499, 0.25001])
    assert _clipped_extremes(values, 0.0, 0.25) == {}
    assert _clipped_extremes(values, 0.0, 0.2) == {"above": "above 0.2 (largest value 0.25)"}
    assert list(_clipped_extremes(values, 0.05, 0.2)) == ["below", "above"]
    assert list(_clipped_extremes(np.array([1.0, np.inf]), 1.0, 5.0)) == ["above"]


@pytest.mark.parametrize("size", [(1.0, 1.0, 1.0), (2.0, 0.9, 1.9), (300.0, 250.0, 40.0)])
def test_ticks_of_a_3d_plot_keep_away_from_the_corners(size):
    axes = new_figure(5.0, 5.0).add_subplot(projection="3d")
    axes.set(xlim=(-size[0], size[0]), ylim=(0.0, size[1]), zlim=(0.3 * size[2], 1.3 * size[2]))
    space_axes(axes, ("x [m]", "y [m]", "z [m]"))
    longest = max(np.ptp(axis.get_view_interval()) for axis in (axes.xaxis, axes.yaxis, axes.zaxis))
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        low, high = axis.get_view_interval()
        ticks = axis.get_ticklocs()
        if high - low < 0.55 * longest:
            assert 2 <= len(ticks) <= 3
        else:
            assert 2 <= len(ticks) <= 6
            assert np.all((ticks > low) & (ticks < high))


def test_labels_have_their_units_in_brackets():
    unit = re.compile(r"""label.*[\w}‖] in (s|m|mm|rad|deg|rad/s|m/s|N|N m|J|W|Hz|kg)["']""")
    package = Path(dy.__file__).parent
    places = [
        f"{path.name}: {line.strip()}"
        for path in package.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if unit.search(line)
    ]
    assert places == []


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_figure_is_drawn_once_in_the_same_layout_and_can_be_changed_afterwards(kind, tmp_path, monkeypatch):
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # no time of writing in the files
    monkeypatch.setitem(rcParams, "svg.hashsalt", "the same")

    figures = [new_figure(5.0, 3.0) for _ in range(2)]
    for figure in figures:
        figure.subplots(1, 2)[0].set(ylabel="N m", title="torque")
    figures[1].savefig(tmp_path / f"twice.{kind}", dpi=drawing.FILE_DPI)
    draw, drawn = Figure.draw, []
    monkeypatch.setattr(Figure, "draw", lambda figure, renderer: drawn.append(figure) or draw(figure, renderer))
    before = figures[0].get_layout_engine(), figures[0].dpi, figures[0].canvas
    drawing.save(figures[0], tmp_path / f"once.{kind}")
    assert len(drawn) == 1
    assert (tmp_path / f"once.{kind}").read_bytes() == (tmp_path / f"twice.{kind}").read_bytes()
    assert (figures[0].get_layout_engine(), figures[0].dpi, figures[0].canvas) == before

"""Pictures of a fit: that they show what they say."""

import dataclasses
import functools
import itertools

import numpy as np
import pytest
from judged_fits import simulated

import dynamis as dy
from dynamis.identification.estimators.estimator import WeightedLeastSquares
from dynamis.identification.validation.held_out import cross_validate
from dynamis.identification.validation.plots import (
    inline_svg,
    plot_excitation,
    plot_friction,
    plot_parameters,
    plot_residuals,
    plot_torques,
    plot_validation,
    shown_time,
)

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'dynamis[plots]'")


@functools.cache
def arm():
    case = simulated("planar_2r_melchiorri", seconds=8.0)
    return case, case.judged()


def visible(panels):
    return [ax for ax in panels if ax.get_visible()]


def test_torques_stand_beside_their_prediction(tmp_path):
    case, s = arm()
    panels = plot_torques(case.rows, case.rows.X @ s.coef, tmp_path / "torques.png")
    first, second = visible(panels)
    measured = next(line for line in first.lines if line.get_label() == "measured")
    assert np.array_equal(measured.get_ydata(), case.rows.y[case.rows.joint == 0])
    assert "residual" in second.get_title(loc="left")
    assert (tmp_path / "torques.png").stat().st_size > 5000


def test_lines_are_interrupted_where_rows_are_left_out():
    case, s = arm()
    kept = case.rows.select((case.rows.t < 2.0) | (case.rows.t > 5.0))
    first, _ = visible(plot_torques(kept, kept.X @ s.coef))
    for line in first.lines:
        t = line.get_xdata()
        assert np.isnan(line.get_ydata()).sum() == 1
        assert np.diff(t)[np.isfinite(np.diff(t))].max() < 1.0
    (residual,) = first.collections
    assert len(residual.get_paths()) == 2


def test_what_is_not_shown_is_said():
    case, _ = arm()
    assert shown_time(case.rows) == ""
    longer = dataclasses.replace(case.rows, t=4.0 * case.rows.t)
    seconds = np.ptp(longer.t)
    assert shown_time(longer) == f" Shown: the first 20 s of {seconds:.3g} s of the log."
    twice = dataclasses.replace(case.rows, run=(case.rows.t > 4.0).astype(int))
    assert shown_time(twice) == " Shown: the first of 2 runs."


def test_every_joint_has_its_bars_and_its_line():
    case, s = arm()
    v = cross_validate(WeightedLeastSquares(), case.rows, k=3, prior=case.prior)
    (ax,) = plot_validation(v)
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == pytest.approx([*v.train_joints, *v.held_out_joints, *v.prior_joints])
    spread, memory = plot_residuals(s, case.rows)
    assert memory.lines[0].get_ydata()[0] == 1.0
    slow = [
        dataclasses.replace(x, whiteness=dataclasses.replace(x.whiteness, correlation=np.array([1.0, -0.8, 0.1])))
        for x in s.joints
    ]
    _, memory = plot_residuals(dataclasses.replace(s, joints=tuple(slow)), case.rows)
    assert memory.get_ylim()[0] < -0.8  # nothing is cut off
    assert len(spread.patches) == 2
    assert len(visible(plot_friction(case.rows, s.coef))) == 2


def test_numbers_of_a_validation_are_clear_of_the_line_and_joint_names_are_whole():
    case, _ = arm()
    v = cross_validate(WeightedLeastSquares(), case.rows, k=3, prior=case.prior)
    names = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint")
    six = dataclasses.replace(
        v, joints=names, train_joints=np.array([12.0, 60.0, 95.0, 99.0, 70.0, 3.0]),
        held_out_joints=np.array([20.0, 61.0, 96.0, 100.0, 97.5, 4.0]), prior_joints=np.full(6, 100.0),
        mean_joints=np.array([101.0, 65.0, 100.0, 100.0, 101.9, 9.0]),
    )  # fmt: skip
    (ax,) = plot_validation(six)
    ax.figure.draw_without_rendering()
    ticks = ax.get_xticklabels()
    assert tuple(tick.get_text() for tick in ticks) == names
    extents = [tick.get_window_extent() for tick in ticks]
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(extents))
    (lines,) = (c for c in ax.collections if "mean" in str(c.get_label()))
    levels = [ax.transData.transform(segment) for segment in lines.get_segments()]
    for text in ax.texts:
        box = text.get_window_extent()
        assert not any(box.y0 < y < box.y1 and x0 < box.x1 and box.x0 < x1 for (x0, y), (x1, _) in levels)


def test_every_parameter_has_its_row_and_the_weakest_come_first():
    case, s = arm()
    (ax,) = plot_parameters(s, case.prior)
    assert [text.get_text() for text in ax.get_yticklabels()] == list(s.names)
    assert len(plot_parameters(s)) == 1
    _, weakest = plot_excitation(s.excitation)
    widths = [bar.get_width() for bar in weakest.patches]
    assert widths == sorted(widths)


def test_svg_for_a_page_has_its_own_names_and_no_address():
    _, s = arm()
    text = inline_svg(plot_excitation(s.excitation), 'say "this"', 4)
    assert text.startswith("<svg")
    assert "http" not in text
    assert 'aria-label="say &quot;this&quot;"' in text
    assert 'id="f4-' in text


def test_names_in_other_scripts_and_of_any_length_can_be_drawn():
    case, s = arm()
    rows = dataclasses.replace(case.rows, joints=("肩" * 50, "$x$_"))
    assert "肩" in inline_svg(plot_torques(rows, rows.X @ s.coef), "torques")


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    _, s = arm()
    with pytest.raises(dy.InputError, match="cannot be written"):
        plot_excitation(s.excitation, tmp_path / "nowhere" / "x.png")


def test_forces_of_prismatic_joints_are_in_newtons():
    case = simulated("scara", seconds=4.0)
    s = case.judged()
    assert [j.unit for j in s.joints] == ["N m", "N m", "N", "N m"]
    for panels in (plot_torques(case.rows, case.rows.X @ s.coef), plot_friction(case.rows, s.coef)):
        assert [ax.get_ylabel() for ax in visible(panels)] == ["N m", "N m", "N", "N m"]


def test_friction_is_a_curve_of_the_velocity_with_the_unit_of_each_joint():
    case = simulated("scara", seconds=4.0)
    panels = visible(plot_friction(case.rows, case.judged().coef))
    assert [ax.get_xlabel() for ax in panels] == ["rad/s", "rad/s", "m/s", "rad/s"]
    for ax in panels:
        (curve,) = [line for line in ax.lines if line.get_label() == "friction of the model"]
        v, friction = curve.get_data()
        assert (np.diff(v) > 0.0).all()
        assert (np.diff(friction) >= -1e-9 * np.ptp(friction)).all()  # viscous and Coulomb friction: no spikes
    planar, s = arm()
    assert plot_friction(planar.rows, s.coef).figure.get_supxlabel() == "velocity [rad/s]"

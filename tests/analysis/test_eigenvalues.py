"""The picture of the eigenvalues shows what is computed, and refuses what cannot be drawn."""

import sys

import numpy as np
import pytest

import dynamis as dy
from dynamis.analysis.eigenvalues import eigenvalue_plot

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r_melchiorri")


def test_curves_are_the_eigenvalues_along_the_joint_m_depends_on(arm):
    figure = eigenvalue_plot(arm, points=41).figure
    (axes,) = figure.axes
    assert axes.get_xlabel() == "joint2 [rad]"
    assert "kg m²" in axes.get_ylabel()
    assert "planar 2R" in axes.get_title(loc="left")
    x = axes.lines[0].get_xdata()
    expected = np.linalg.eigvalsh(arm.mass_matrix(np.column_stack([0 * x, x])))
    drawn = np.column_stack([line.get_ydata() for line in axes.lines])[:, ::-1]
    np.testing.assert_allclose(drawn, expected, rtol=1e-12)


def test_two_joints_are_drawn_as_surfaces(arm):
    (axes,) = eigenvalue_plot(arm, ["joint1", "joint2"], points=15)
    assert axes.name == "3d"
    assert len(axes.collections) == 2
    assert axes.get_zlabel().startswith("eigenvalues of M")


def test_wide_spans_are_logarithmic_unless_told_otherwise():
    robot = dy.load("ur5e")
    assert eigenvalue_plot(robot, points=11)[0].get_yscale() == "log"
    assert eigenvalue_plot(robot, points=11, logarithmic=False)[0].get_yscale() == "linear"


def test_a_prismatic_joint_is_labelled_in_metres():
    assert eigenvalue_plot(dy.load("stanford"), "boom", points=11)[0].get_xlabel() == "boom [m]"


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_picture_is_written(arm, tmp_path, suffix):
    path = tmp_path / f"eigenvalues.{suffix}"
    eigenvalue_plot(arm, path=path, points=11)
    assert path.stat().st_size > 2000


@pytest.mark.parametrize(
    ("joint", "words"),
    [("joint3", "joint2"), (2, "there are"), (["joint1"] * 2, "different"), ([0, 1, 0], "one or two"), ([], "one or two")],
)
def test_unknown_or_too_many_joints_are_refused(arm, joint, words):
    with pytest.raises(dy.DynamisError, match=words):
        eigenvalue_plot(arm, joint)


@pytest.mark.parametrize(
    "options", [{"q": [0.0]}, {"q": [np.nan, 0.0]}, {"points": 1}, {"points": 2.5}, {"lower": 1, "upper": 0}]
)
def test_bad_options_are_refused(arm, options):
    with pytest.raises(dy.InputError):
        eigenvalue_plot(arm, **options)


def test_a_file_that_cannot_be_written_is_refused(arm, tmp_path):
    for path in (tmp_path / "missing" / "a.png", tmp_path / "a.nonsense"):
        with pytest.raises(dy.InputError, match="cannot be written"):
            eigenvalue_plot(arm, path=path, points=11)


def test_missing_matplotlib_is_said_with_the_cure(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(dy.MissingExtraError, match=r"dynamis\[plots\]"):
        eigenvalue_plot(arm)

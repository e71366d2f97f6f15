"""What objects show in a notebook: well-formed, escaped, complete, and never an error."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import dynamis as dy
from dynamis.display import MOST_ROWS, card

LIBRARY = ("ur5e", "planar_2r", "scara", "puma560", "rod_and_disc", "nine_body_tree", "motor_with_load", "baxter")


def parsed(shown):
    """The text of the cells, row by row; HTML that is not well-formed raises."""
    return [[cell.text or "" for cell in row] for row in ElementTree.fromstring(shown._repr_html_()).iter("tr")]


@pytest.mark.parametrize("name", LIBRARY)
def test_a_robot_has_a_row_for_each_degree_of_freedom(name):
    robot = dy.load(name)
    rows = parsed(robot)
    assert [row[0] for row in rows[1:]] == list(robot.coordinate_names)


def test_a_floating_robot_shows_its_base():
    assert len(parsed(dy.load("go2", base="floating"))) == 1 + 18


def test_the_numbers_of_a_robot_are_those_of_its_file():
    head, *rows = parsed(dy.load("ur5e"))
    row = dict(zip(head, rows[2], strict=True))
    assert row["joint"] == "elbow_joint"
    assert row["range"] == "−3.142 … 3.142 rad"
    assert row["effort"] == "150"


def test_names_from_files_are_escaped():
    d = dy.Description("<script>alert(1)</script>").add_link("base")
    d.add_link("a&b", "base", "revolute", inertia=dy.solids.sphere(0.1, mass=1.0))
    shown = dy.Robot(d)._repr_html_()
    assert "<script>" not in shown
    assert "a&amp;b" in shown


def test_a_long_table_is_cut_and_says_so():
    shown = card("many", [], ("row",), [(str(k),) for k in range(MOST_ROWS + 7)])
    assert shown.count("<tr>") == MOST_ROWS + 1
    assert "and 7 more" in shown


def test_a_motion_shows_where_it_went_and_how_it_ended():
    motion = dy.simulate(dy.load("planar_2r_melchiorri"), 0.1, points=11)
    shown = motion._repr_html_()
    assert "reached the end" in shown
    assert len(parsed(motion)) == 3
    floating = dy.simulate(dy.load("go2", base="floating"), 0.01, points=3)
    assert parsed(floating)[1][1:3] == ["", ""]  # the numbers of a quaternion are no coordinates


def test_evidence_and_base_parameters_show_themselves():
    arm, rng = dy.load("planar_2r_melchiorri"), np.random.default_rng(0)
    base = dy.identification.base_parameters(arm)
    assert len(parsed(base)) == 1 + base.rank
    q, v, a = rng.normal(size=(3, 50, 2))
    evidence = dy.identification.evidence(base, dy.identification.Samples.of(q, v, a, arm.inverse_dynamics(q, v, a)))
    assert [row[0] for row in parsed(evidence)[1:]] == list(arm.joint_names)


def test_an_identification_shows_every_parameter_with_its_error():
    arm, rng = dy.load("planar_2r_melchiorri"), np.random.default_rng(0)
    t = np.arange(0.0, 4.0, 0.004)
    phase = np.outer(t, [2.0, 3.1])
    q, v, a = np.sin(phase), np.cos(phase) * [2.0, 3.1], -np.sin(phase) * [4.0, 9.61]
    tau = arm.inverse_dynamics(q, v, a) + rng.normal(scale=0.5, size=q.shape)
    found = dy.identify(arm, dy.identification.Samples.of(q, v, a, tau, period=0.004))
    rows = parsed(found)
    assert rows[0][:3] == ["base parameter, named after", "found", "standard error"]
    assert len(rows) == 1 + found.base.rank


@pytest.mark.parametrize(
    "make",
    [
        lambda: dy.load("planar_2r").closed_form().check_answer("gravity", "g_2 = m_2 g l_2 s_{12}"),
        lambda: dy.structural_bounds(dy.load("planar_2r_melchiorri"), lower=-1.0, upper=1.0),
        lambda: dy.control.ComputedTorque.designed(np.zeros(2), bandwidth=5.0).check(dy.load("planar_2r_melchiorri")),
    ],
    ids=["answer", "bounds", "stability"],
)
def test_what_prints_as_text_shows_as_that_text(make):
    made = make()
    assert "".join(ElementTree.fromstring(made._repr_html_()).itertext()) == str(made)


def test_a_figure_shows_itself_without_pyplot():
    pytest.importorskip("matplotlib")
    arm = dy.load("planar_2r_melchiorri")
    for figure in (dy.simulate(arm, 0.1, points=11).plot(), dy.trajectories.joint_move([0, 0], [1, 1], duration=1.0).plot()):
        assert figure._repr_png_().startswith(b"\x89PNG")

"""The robot library: every robot loads offline, weighs what it should, and says where its numbers come from."""

import warnings

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.library import library_names

DEGREES = {
    "baxter": 15, "cartesian_2p": 2, "g1": 29, "go2": 12, "kuka_iiwa14": 7, "motor_with_load": 1, "nine_body_tree": 9,
    "panda": 7, "pendulum_from_horizontal": 1, "pendulum_from_vertical": 1, "planar_2r": 2, "planar_2r_melchiorri": 2,
    "planar_3r": 3, "planar_prp": 3, "puma560": 6, "rod_and_disc": 7, "scara": 4, "stanford": 6, "ur5e": 6, "xarm7": 7,
}  # fmt: skip


def test_the_library_holds_the_robots_of_the_lectures_and_real_ones():
    assert set(library_names()) == set(DEGREES)
    assert list(dy.library()) == library_names()
    assert all(dy.library().values())


@pytest.mark.parametrize("name", DEGREES)
def test_every_robot_loads_silently_and_names_its_source(name):
    robot = dy.load(name)
    assert robot.n == DEGREES[name]
    assert robot.description.source
    assert dy.check(name).ok


@pytest.mark.parametrize("name", [n for n in DEGREES if not dy.load(n).model.symbolic])
def test_every_numeric_robot_has_a_positive_definite_inertia_matrix(name):
    robot = dy.load(name)
    for q in robot.random(0, 20):
        assert np.linalg.eigvalsh(robot.mass_matrix(q))[0] > 0.0


def test_what_is_known_to_be_wrong_with_published_numbers_is_found():
    doubtful = {name: sorted({p.code for p in dy.check(name)}) for name in DEGREES if len(dy.check(name))}
    # the masses of their first links, which only turn about a fixed axis, were not published
    assert doubtful == {"puma560": ["inertia-triangle", "inertia-without-mass"], "scara": ["inertia-without-mass"]}


@pytest.mark.parametrize(
    ("spelling", "name"), [("UR5e", "UR5e"), ("ur5e", "UR5e"), ("kuka-iiwa14", "KUKA LBR iiwa 14"), ("Planar 2R", "planar 2R")]
)
def test_case_hyphens_and_spaces_do_not_matter(spelling, name):
    assert dy.load(spelling).name == name


def test_values_of_parameters_that_no_body_has_are_doubted_as_in_a_file():
    given = {"m_1": 1.0, "m_2": 1.0, "l_1": 1.0, "l_2": 1.0, "a_1": 0.5, "a_2": 0.5, "I_2": 0.1, "g": 9.81}
    with pytest.warns(dy.ModelWarning, match=r"link1.*principal moments are \(-5, 0, 0\)"):
        dy.load("planar_2r", parameters={**given, "I_1": -5.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dy.load("planar_2r", parameters={**given, "I_1": 0.1})
        dy.load("planar_2r", parameters={**given, "I_1": 0.0})


def test_an_unknown_name_lists_near_ones():
    with pytest.raises(dy.NameLookupError, match="did you mean 'ur5e'"):
        dy.load("ur5")


@pytest.mark.parametrize("name", ["../ur5e", "..", "/etc/passwd", "ur5e.toml/../x", "", "ur5e\0"])
def test_a_name_never_leads_out_of_the_library(name):
    with pytest.raises(dy.DynamisError):
        dy.load(name)


@pytest.mark.parametrize(
    ("name", "tip"),
    [("ur5e", (-0.8172, -0.2329, 0.0628)), ("kuka_iiwa14", (0.0, 0.0, 1.306)), ("scara", (1.0, 0.0, 1.0))],
)
def test_known_lengths_come_out(name, tip):
    """At zero: UR5e's a2 + a3, d4 + d6 and d1 − d5; the iiwa upright; the SCARA's two arms at their height."""
    robot = dy.load(name)
    assert robot.pose(robot.neutral())[:3, 3] == pytest.approx(tip, abs=1e-4)


def test_ur5e_masses_are_the_vendors():
    assert dy.load("ur5e").mass == pytest.approx(3.761 + 8.058 + 2.846 + 1.37 + 1.3 + 0.365)


def test_puma_gravity_torques_are_the_published_ones():
    """Corke's tutorial prints the gravity load at the nominal pose: 37.48 N m at the shoulder for qz."""
    robot = dy.load("puma560")
    g = robot.gravity(np.zeros(6))
    assert g[1] == pytest.approx(37.4837, abs=2e-3)
    assert g[2] == pytest.approx(0.2489, abs=2e-3)

"""Comparison of two models: differences and their effects; the form in which a robot is written makes no difference."""

import warnings

import numpy as np
import pytest

import dynamis as dy
from dynamis.spatial import about_axis


@pytest.fixture(autouse=True)
def quick_code(monkeypatch):
    monkeypatch.setenv("DYNAMIS_TIER", "quick")


@pytest.fixture(scope="module")
def arm():
    return dy.load("ur5e")


def changed(robot, change):
    d = robot.description
    change(d)
    return dy.Robot(d)


@pytest.mark.parametrize(("name", "form"), [("ur5e", "link"), ("puma560", "dh"), ("stanford", "mdh"), ("scara", "poe")])
def test_a_robot_written_in_another_form_is_the_same(tmp_path, name, form):
    """Link frames elsewhere, links renamed: not a difference."""
    robot = dy.load(name)
    robot.write(tmp_path / "other.toml", form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)  # of Puma's own numbers
        other = dy.load(tmp_path / "other.toml")
    found = dy.compare(robot, other)
    assert found.same(1e-9)
    assert found.worst < 1e-12
    assert [d for d in found.differences if d.effect and d.effect > 1e-9] == []


def test_a_changed_mass_is_found_with_exactly_what_it_does(arm):
    def heavier(d):
        d.link("forearm_link").mass_properties.mass *= 1.1

    other = changed(arm, heavier)
    found = dy.compare(arm, other, states=50)
    assert not found.same()
    (only,) = found.differences
    assert (only.what, only.where) == ("mass", "forearm_link")
    assert only.change == pytest.approx(0.1 * only.first)
    # it is the one difference, so its effect is that on the torques
    assert only.effect == pytest.approx(found.worst)
    assert found.terms["gravity"].max() > found.terms["coriolis"].max() > 0.0
    assert found.terms["viscous"].max() == 0.0


def test_differences_are_sorted_by_their_effects_and_limits_come_last(arm):
    def many(d):
        d.link("upper_arm_link").mass_properties.com = d.link("upper_arm_link").mass_properties.com + np.array([0.0, 0.0, 0.02])
        d.link("wrist_3_link").mass_properties.tensor = 1.5 * d.link("wrist_3_link").mass_properties.tensor
        d.joint("elbow_joint").drive.viscous = 2.0
        d.joint("elbow_joint").limits.effort = 10.0

    found = dy.compare(arm, changed(arm, many))
    assert {d.what for d in found.differences} == {"centre of mass", "inertia", "viscous friction", "effort limit"}
    effects = [d.effect for d in found.differences if d.effect is not None]
    assert effects == sorted(effects, reverse=True)
    last = found.differences[-1]
    assert (last.what, last.where, last.effect, last.second) == ("effort limit", "elbow_joint", None, 10.0)
    friction = next(d for d in found.differences if d.what == "viscous friction")
    assert (friction.joint, friction.change) == ("elbow_joint", 2.0)
    assert found.as_dict()["differences"][0]["what"] == found.differences[0].what


def test_limits_alone_are_a_difference(arm):
    def weaker(d):
        d.joint("elbow_joint").limits.velocity *= 0.5

    found = dy.compare(arm, changed(arm, weaker))
    assert found.worst == 0.0
    assert not found.same(1e-3)
    assert found.same(0.6)


def test_a_limit_that_one_robot_lacks_is_a_difference(arm):
    def unlimited(d):
        d.joint("elbow_joint").limits.velocity = np.inf

    for found in (dy.compare(arm, changed(arm, unlimited)), dy.compare(changed(arm, unlimited), arm)):
        assert [(d.what, d.where) for d in found.differences] == [("velocity limit", "elbow_joint")]
        assert not found.same(0.9)
        assert found.as_dict()["differences"][0]["change"] is None
        assert "inf" in repr(found.differences[0])


def test_a_longer_link_is_a_difference_of_places_with_an_effect(arm):
    def longer(d):
        joint = d.joint("elbow_joint")
        joint.origin = type(joint.origin)(joint.origin.R, joint.origin.p + np.array([0.01, 0.0, 0.0]))

    found = dy.compare(arm, changed(arm, longer))
    place = next(d for d in found.differences if d.what == "joint position")
    assert place.where == "forearm_link"
    assert place.change == pytest.approx(0.01)
    assert place.effect == pytest.approx(found.worst)
    assert {d.what for d in found.differences} == {"joint position"}  # inertias stay in their links


@pytest.mark.parametrize("angle", [1e-6, 0.05, 0.5, 1.5, np.pi])
def test_a_tilted_joint_axis_is_a_difference_of_its_angle_and_the_joint_does_not_move(arm, angle):
    def tilted(d):
        d.joint("elbow_joint").axis = np.array([np.sin(angle), 0.0, np.cos(angle)])

    found = dy.compare(arm, changed(arm, tilted), states=5)
    (only,) = found.differences
    assert (only.what, only.where, only.unit) == ("joint axis", "forearm_link", "rad")
    assert only.change == pytest.approx(angle, rel=1e-9)


@pytest.mark.parametrize("angle", [0.05, 0.5, np.pi])
def test_a_tilted_axis_has_its_angle_also_where_the_link_frames_differ(tmp_path, arm, angle):
    """Frames of Denavit and Hartenberg: the axes are compared as lines in the world."""
    arm.write(tmp_path / "arm.toml", "dh")

    def tilted(d):
        # about the joint's own origin, with a link that keeps its place at q = 0
        d.joint("wrist_3_joint").axis = np.array([np.sin(angle), 0.0, np.cos(angle)])

    found = dy.compare(dy.load(tmp_path / "arm.toml"), changed(arm, tilted), states=5)
    (only,) = [d for d in found.differences if d.what.startswith("joint")]
    assert (only.what, only.unit) == ("joint orientation", "rad")
    assert only.change == pytest.approx(angle, abs=1e-9)


def test_a_joint_frame_rotated_in_its_parent_link_is_the_only_difference(arm):
    """All links beyond it are rotated in the world, but unchanged in their parents."""
    R = about_axis(np.array([1.0, 0.0, 0.0]), 0.5)

    def rotated(d):
        joint = d.joint("elbow_joint")
        joint.origin = type(joint.origin)(joint.origin.R @ R, joint.origin.p)

    (only,) = dy.compare(arm, changed(arm, rotated), states=5).differences
    assert (only.what, only.where) == ("joint orientation", "forearm_link")
    assert only.change == pytest.approx(0.5)


def test_the_direction_of_a_prismatic_joint_is_an_angle_and_no_distance(tmp_path):
    robot = dy.load("stanford")
    robot.write(tmp_path / "arm.toml", "mdh")

    def tilted(d):
        joint = next(j for j in d.joints if j.type == "prismatic")
        joint.axis = np.array([0.0, np.sin(0.3), np.cos(0.3)])

    found = dy.compare(dy.load(tmp_path / "arm.toml"), changed(robot, tilted), states=5)
    assert [(d.what, d.unit, round(d.change, 9)) for d in found.differences if d.what.startswith("joint")] == [
        ("joint orientation", "rad", 0.3)
    ]


def test_gravity_is_a_difference(arm):
    found = dy.compare(arm, arm.replace(gravity=(0.0, 0.0, -1.62)))
    assert [d.what for d in found.differences] == ["gravity"]
    assert found.terms["gravity"].max() > 0.0
    assert found.terms["inertia"].max() < 1e-12


def test_other_robots_are_other_robots(arm):
    found = dy.compare(arm, dy.load("panda"))
    assert found.worst == np.inf
    assert not found.same(1e9)
    assert any("only the first robot has the joint elbow_joint" in x for x in found.obstacles)

    def slides(d):
        d.joint("elbow_joint").type = "prismatic"

    assert any(
        "forearm_link has a revolute joint in the first robot, a prismatic joint" in x
        for x in dy.compare(arm, changed(arm, slides)).obstacles
    )


def test_branches_in_another_order_correspond_by_name(tmp_path):
    robot = dy.load("go2")

    def shuffled(d):
        d.joints.reverse()
        d.links.reverse()

    other = changed(robot, shuffled)
    assert other.joint_names != robot.joint_names
    found = dy.compare(robot, other, states=20)
    assert found.worst < 1e-12


def test_bad_input_says_so(arm):
    with pytest.raises(dy.InputError, match="states="):
        dy.compare(arm, arm, states=0)
    with pytest.raises(dy.InputError, match="without values"):
        dy.compare(arm, dy.load("planar_2r"))
    with pytest.raises(dy.InputError, match="must be a Robot"):
        dy.compare(arm, "ur5e")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        post = dy.Robot(dy.Description("post").add_link("base"))
    assert dy.compare(post, post).same()


def test_robots_whose_loops_are_closed_differently_are_different_robots(tmp_path):
    """However the same constraint is written."""

    def of(mechanism, name):
        mechanism.write(tmp_path / name)
        with pytest.warns(dy.ModelWarning, match="loops closed by"):
            return dy.load(tmp_path / name)

    plane, point = of(dy.loops.four_bar(), "plane.toml"), of(dy.loops.four_bar(closed_by="point"), "point.toml")
    assert dy.compare(plane, point).same()
    found = dy.compare(plane, dy.loops.four_bar().robot)
    assert found.obstacles == ("loops are closed differently: 1 closure (InPlane) in the first robot, none in the second",)
    assert not found.same()
    delta = of(dy.loops.delta(), "delta.toml")
    longer = delta.description
    longer.closures[0].length += 0.001
    assert dy.compare(delta, delta).same()
    assert not dy.compare(delta, dy.Robot(longer)).same()

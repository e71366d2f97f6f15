"""Joints beside the tree: the motions that they allow, the freedoms that they take, and which of several joints they are."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.description import Drive, Fresh, Joint, Mimic
from dynamis.model.readers.loop_joints import LOOP_ARM, close_loop, second_parents
from dynamis.spatial import rotation
from dynamis.spatial.pose import Pose
from dynamis.tolerances import RANK_TOLERANCE, RECURSION_ROUNDING

pytestmark = pytest.mark.usefixtures("without_compilation")
AXIS = np.array([1.0, -2.0, 0.5])
U = AXIS / np.linalg.norm(AXIS)
INERTIA = dy.Inertia.about_com(1.0, (0.0, 0.0, 0.0), np.eye(3))
TURNED = Pose(rotation.about_axis(U, 0.7), np.zeros(3))  # about the axis
SLID = Pose.translation(0.3 * U)  # along the axis
TILTED = Pose(rotation.about_axis(np.array([0.0, 0.6, 0.8]), 0.7), np.zeros(3))
ASIDE = Pose.translation(np.cross(U, [0.0, 0.0, 0.3]))


def two_bodies(kind):
    """Bodies that float, and a joint between frames of each, none of them along the axes of a body."""
    rng = np.random.default_rng(5)
    d = dy.Description("pair").add_link("world")
    for name in ("left", "right"):
        d.add_link(name, "world", "free", inertia=INERTIA)
    ends = [(name, Pose(rotation.about_axis(*turn), rng.normal(size=3)))
            for name, turn in (("left", (np.array([0.6, 0.8, 0.0]), 1.1)), ("right", (np.array([0.0, 0.0, 1.0]), -0.4)))]  # fmt: skip
    close_loop(d, kind, "loop", ends, AXIS, Fresh(["world", "left", "right"]), Fresh([]))
    return dy.Robot(d), [at for _, at in ends]


def gap_and_rows(robot, ends, moved):
    """With the joint's frame of the right body ``moved`` in that of the left one."""
    left = Pose(rotation.about_axis(np.array([0.0, 1.0, 0.0]), 0.3), np.array([0.1, 0.2, 0.3]))
    q = np.concatenate([part for X in (left, left @ ends[0] @ moved @ ends[1].inverse())
                        for part in (X.p, rotation.to_quaternion(X.R))])  # fmt: skip
    parts = [closure.rows(robot, q, np.zeros(robot.n)) for closure in dy.loops.closures(robot)]
    return np.abs(np.concatenate([h for h, *_ in parts])).max(), np.vstack([H for _, H, *_ in parts])


@pytest.mark.parametrize(
    ("kind", "allowed", "refused", "freedoms"),
    [("spherical", [TURNED, TILTED], [SLID, ASIDE], 3), ("fixed", [], [TURNED, TILTED, SLID, ASIDE], 0),
     ("revolute", [TURNED], [TILTED, SLID, ASIDE], 1), ("continuous", [TURNED], [TILTED, SLID, ASIDE], 1),
     ("prismatic", [SLID], [TURNED, TILTED, ASIDE], 1)],
)  # fmt: skip
def test_a_joint_allows_its_own_motion_and_no_other(kind, allowed, refused, freedoms):
    robot, ends = two_bodies(kind)
    for moved in [Pose.identity(), *allowed]:
        gap, rows = gap_and_rows(robot, ends, moved)
        assert gap < RECURSION_ROUNDING
        assert np.linalg.matrix_rank(rows, tol=RANK_TOLERANCE) == 6 - freedoms
    for moved in refused:
        assert gap_and_rows(robot, ends, moved)[0] > 0.01


def test_a_slide_is_three_points_at_a_right_angle_on_lines_of_its_first_link():
    robot, _ = two_bodies("prismatic")
    parents = {joint.child: joint.parent for joint in robot.description.joints}
    for closure in robot.description.closures:
        assert (parents[closure.first], parents[closure.second]) == ("right", "left")
        assert np.allclose(closure.axis, U, rtol=1e-15)
    corner, along, aside = (robot.pose(robot.neutral(), name)[:3, 3] for name in ("loop_a", "loop_a1", "loop_a2"))
    sides = np.array([along - corner, aside - corner])
    assert np.allclose(sides @ sides.T, LOOP_ARM**2 * np.eye(2), atol=1e-15)


def joint(name, parent, child, **given):
    return Joint(name, "revolute", parent, child, **given)


SPRING = {"drive": Drive(stiffness=5.0)}
STEM, FIRST = joint("stem", "base", "a"), joint("first", "a", "b")


@pytest.mark.parametrize(
    ("joints", "closing"),
    [([STEM, FIRST], []),
     ([STEM, FIRST, joint("other", "base", "b")], ["other"]),
     ([STEM, FIRST, joint("other", "base", "b", **SPRING)], ["first"]),
     ([STEM, FIRST, joint("other", "base", "b"), joint("led", "base", "c", mimic=Mimic("other"))], ["first"]),
     ([STEM, FIRST, joint("other", "base", "b", **SPRING), joint("led", "base", "c", mimic=Mimic("first"))], ["other"]),
     # a spring in a joint from a link that this joint would carry itself
     ([STEM, FIRST, joint("next", "b", "c"), joint("back", "c", "b", **SPRING)], ["back"]),
     ([STEM, FIRST, joint("back", "b", "b", **SPRING)], ["back"]),
     # from a ring that no joint connects to the base
     ([STEM, FIRST, joint("ring1", "c", "d"), joint("ring2", "d", "c"), joint("other", "d", "b", **SPRING)], ["first"])],
)  # fmt: skip
def test_the_first_joint_stays_in_the_tree_unless_a_later_one_has_a_spring_or_a_follower(joints, closing):
    assert [x.name for x in second_parents(joints)] == closing

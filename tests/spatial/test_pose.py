"""Poses that users give: the same check at every entrance, operators, roll-pitch-yaw."""

import copy
import pickle

import numpy as np
import pytest

import dynamis as dy
from dynamis.spatial import from_rpy

REFLECTION = np.diag([1.0, 1.0, -1.0])
SHEARED = np.array([[1.0, 1e-3, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
SPHERE = dy.solids.sphere(0.1, mass=2.0)
UP = dy.Pose.translation([0.0, 0.0, 0.1])


def homogeneous(R, p=(0.0, 0.0, 0.0)):
    return np.vstack([np.column_stack([R, p]), [0.0, 0.0, 0.0, 1.0]])


ENTRANCES = {
    "from_matrix": dy.Pose.from_matrix,
    "seen_from": SPHERE.seen_from,
    "@": lambda X: UP @ X,
    "MovingBase": lambda X: dy.MovingBase(X, np.zeros(6), np.zeros(6)),
    "add_link": lambda X: dy.Description("arm").add_link("base").add_link("link", "base", origin=X),
    "with_frame": lambda X: dy.load("planar_2r_melchiorri").with_frame("camera", pose=X),
    "placed": lambda X: dy.load("planar_2r_melchiorri").placed(X),
    "attach": lambda X: dy.load("planar_2r_melchiorri").attach(dy.load("planar_2r_melchiorri"), pose=X, prefix="finger_"),
    "obstacle": lambda X: dy.collision.Obstacle("sphere", 0.1, X),
}


@pytest.mark.parametrize("entrance", ENTRANCES.values(), ids=ENTRANCES)
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (homogeneous(2.0 * np.eye(3)), "column 0 of its rotation has length 2, not 1"),
        (homogeneous(SHEARED), "columns 0 and 1 of its rotation are not orthogonal"),
        (homogeneous(REFLECTION), "reflection"),
        (homogeneous(np.eye(3), [0.0, np.nan, 0.0]), "contains nan"),
        (2.0 * np.eye(4), "last row"),
        (np.eye(3), r"must be a Pose or a 4 × 4 matrix, got an array of shape \(3, 3\)"),
        ("tool0", "must be a Pose or a 4 × 4 matrix, got str"),
    ],
)
def test_what_is_no_pose_is_refused_at_every_entrance(entrance, matrix, message):
    with pytest.raises(dy.InputError, match=message):
        entrance(matrix)


@pytest.mark.parametrize("entrance", [x for name, x in ENTRANCES.items() if name not in ("from_matrix", "@")])
@pytest.mark.parametrize("R", [2.0 * np.eye(3), SHEARED, REFLECTION, np.full((3, 3), np.nan)])
def test_poses_with_a_wrong_rotation_are_refused_alike(entrance, R):
    with pytest.raises(dy.InputError):
        entrance(dy.Pose(R, np.zeros(3)))


def test_matrices_and_poses_are_accepted_alike():
    robot = dy.load("ur5e")
    matrix = robot.pose(robot.home())
    X = dy.Pose.from_matrix(matrix)
    assert SPHERE.seen_from(matrix) == SPHERE.seen_from(X)
    assert UP @ matrix == UP @ X
    assert matrix @ UP == X @ UP
    assert dy.MovingBase(matrix, np.zeros(6), np.zeros(6)).pose == X
    assert dy.Description("arm").add_link("base").add_link("link", "base", origin=matrix).joint("link_joint").origin == X
    motion = np.zeros(6), np.array([0.0, 0.0, 1.0, 0.0, 0.2, 0.0])
    state = robot.home(), np.ones(6), np.ones(6)
    tau = [robot.inverse_dynamics(*state, base=dy.MovingBase(x, *motion)) for x in (matrix, X)]
    assert (tau[0] == tau[1]).all()


def test_a_refused_link_leaves_the_description_as_it_was():
    d = dy.Description("arm").add_link("base")
    with pytest.raises(dy.InputError):
        d.add_link("link", "base", origin=np.eye(3))
    assert len(d.links) == 1


def test_poses_of_symbols_are_accepted():
    l, angle = dy.symbol("l"), dy.symbol("a")
    X = dy.Pose.from_rpy([0.0, 0.0, angle], [l, 0.0, 0.0])
    assert dy.evaluate(SPHERE.seen_from(X).first_moment, {l: 0.5, angle: 0.3}) == pytest.approx([1.0, 0.0, 0.0])
    assert dy.Pose.translation([l, 0.0, 0.0]) == dy.Pose.translation([l, 0.0, 0.0]) != dy.Pose.translation([angle, 0.0, 0.0])


def test_lists_become_arrays():
    X = dy.Pose([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 1])
    assert X.inverse().p.tolist() == [0.0, 0.0, -1.0]
    assert SPHERE.seen_from(dy.Pose(np.eye(3), [0, 0, 0.1])) == SPHERE.seen_from(UP)


@pytest.mark.parametrize(
    "call",
    [
        lambda: dy.Pose(np.eye(3), "up"),
        lambda: dy.Pose(np.eye(3), 5.0),
        lambda: dy.Pose([[1, 0], [0]], np.zeros(3)),
        lambda: dy.Pose.translation(None),
        lambda: dy.Pose.rotation("x"),
        lambda: dy.Pose.from_rpy("up"),
        lambda: dy.Pose.from_rpy([0.0, 0.0, np.nan]),
        lambda: dy.Pose.from_rpy([0.0, 0.0, 0.0], [0.0, 0.0]),
        lambda: UP + UP,
        lambda: (1.0,) + UP,  # noqa: RUF005
        lambda: 2 * UP,
        lambda: UP * 2,
    ],
)
def test_what_is_no_part_of_a_pose_and_other_operators_are_refused(call):
    with pytest.raises(dy.InputError):
        call()


def test_poses_are_equal_if_their_numbers_are():
    same = dy.Pose.translation([0.0, 0.0, 0.1])
    assert (same == UP) is True
    assert (same != UP) is False
    assert (dy.Pose.identity() == UP) is False
    assert (UP.R, UP.p) != UP
    assert UP == copy.deepcopy(UP) == pickle.loads(pickle.dumps(UP))


def test_roll_pitch_and_yaw_turn_about_fixed_axes_in_this_order():
    X = dy.Pose.from_rpy([0.1, -0.4, 2.0], [1.0, 2.0, 3.0])
    turns = [from_rpy(np.where(np.arange(3) == k, [0.1, -0.4, 2.0], 0.0)) for k in range(3)]
    assert pytest.approx(turns[2] @ turns[1] @ turns[0]) == X.R
    assert X.p.tolist() == [1.0, 2.0, 3.0]
    urdf = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/>
    <origin rpy="0.1 -0.4 2.0" xyz="1 2 3"/></joint></robot>"""
    assert dy.load(urdf).pose([], "b") == pytest.approx(X.matrix())


@pytest.mark.parametrize(
    ("R", "message"),
    [
        (2 * np.eye(3), "column 0 of its rotation has length 2, not 1"),
        (SHEARED.tolist(), "columns 0 and 1 of its rotation are not orthogonal"),
        (REFLECTION.tolist(), "its rotation is a reflection"),
    ],
)
def test_a_typed_pose_has_a_rotation(R, message):
    with pytest.raises(dy.InputError, match=f"this is not a pose: {message}"):
        dy.Pose(R, [0, 0, 0])
    assert dy.Pose([[0, -1, 0], [1, 0, 0], [0, 0, 1]], (0, 0, 0)).R[1, 0] == 1.0

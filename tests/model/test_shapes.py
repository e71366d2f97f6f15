"""Shapes of links and how a robot is shown: read, refused, written and read again, by both formats."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.shapes import balls
from dynamis.spatial.rotation import from_rpy

ROBOT = """
[robot]
name = "shown"
[appearance]
pose = {{ joint1 = 0.4 }}
mobile = true
meshes = "package://some/robot.urdf"
[base]
[[link]]
link = "arm"
mass = 1.0
com = [0.2, 0, 0]
inertia = {{ xx = 0.1, yy = 0.1, zz = 0.1 }}
shapes = [{shapes}]
"""
EXACT = [
    '{ kind = "tapered_capsule", from = [0, 0, 0], to = [0.4, 0, 0.3], size = [0.06, 0.04] }',
    '{ kind = "rounded_box", size = [0.1, 0.2, 0.3, 0.02], xyz = [0, 0, 0.1], rgba = [1, 0, 0, 1] }',
    '{ kind = "ellipsoid", size = [0.1, 0.2, 0.3] }',
    '{ kind = "capsule", from = [0, 0, 0], to = [0, 0.2, 0], size = [0.05], role = "collision" }',
]


@pytest.fixture
def load(tmp_path):
    def from_shapes(*shapes):
        path = tmp_path / "shown.toml"
        path.write_text(ROBOT.format(shapes=", ".join(shapes)))
        return dy.load(path)

    return from_shapes


def test_a_shape_from_one_point_to_another_lies_between_them(load):
    shape = load(EXACT[0]).description.link("arm").shapes[0]
    assert shape.size == pytest.approx((0.06, 0.04, 0.5))
    centres, radii = balls(shape)
    assert centres == pytest.approx(np.array([[0, 0, 0], [0.4, 0, 0.3]]), abs=1e-12)
    assert radii == pytest.approx([0.06, 0.04])
    assert np.linalg.det(shape.origin.R) == pytest.approx(1.0)


@pytest.mark.parametrize("suffix", ["toml", "urdf"])
def test_shapes_and_appearance_survive_writing(load, tmp_path, suffix):
    robot = load(*EXACT)
    again = dy.load(robot.write(tmp_path / f"again.{suffix}") or tmp_path / f"again.{suffix}").description
    # URDF holds what is visible and what collides in two lists
    for one, other in zip(robot.description.link("arm").shapes, again.link("arm").shapes, strict=True):
        assert (one.kind, one.role, one.rgba) == (other.kind, other.role, other.rgba)
        assert other.size == pytest.approx(one.size)
        assert np.allclose(other.origin.R, one.origin.R, rtol=0, atol=1e-12)
        assert other.origin.p == pytest.approx(one.origin.p)
    assert vars(again.appearance) == vars(robot.description.appearance)


def test_a_urdf_holds_the_nearest_shapes_that_other_tools_know(load, tmp_path):
    load(*EXACT).write(tmp_path / "shown.urdf")
    text = (tmp_path / "shown.urdf").read_text()
    assert '<cylinder radius="0.05" length="0.5"/>' in text
    assert (
        '<cylinder radius="0.05" length="0.30000000000000004"/>' in text
    )  # a capsule of 0.2 m between the centres of its ends
    assert "<capsule" not in text
    assert '<box size="0.1 0.2 0.3"/>' in text
    assert text.count("<sphere radius=") == 1


def test_a_denavit_hartenberg_table_keeps_the_shapes_where_they_are(tmp_path):
    robot = dy.load("ur5e")
    robot.write(tmp_path / "again.toml", form="dh")
    again = dy.load(tmp_path / "again.toml")
    q = robot.random(0)
    for name in ("upper_arm_link", "wrist_2_link"):
        for one, other in zip(robot.description.link(name).shapes, again.description.link(name).shapes, strict=True):
            X, Y = robot.pose(q, name), again.pose(q, name)
            (p, r), (s, t) = balls(one), balls(other)
            assert p @ X[:3, :3].T + X[:3, 3] == pytest.approx(s @ Y[:3, :3].T + Y[:3, 3], abs=1e-9)
            assert r == pytest.approx(t)
    assert again.description.appearance.pose == robot.description.appearance.pose


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        ('{ kind = "cone", size = [1, 1] }', "kind = box, rounded_box, cylinder, capsule, tapered_capsule"),
        ('{ kind = "sphere", from = [0, 0, 0], to = [1, 0, 0], size = [1] }', "a sphere with from and to"),
        ('{ kind = "capsule", from = [0, 0, 0], to = [1, 0, 0], xyz = [0, 0, 0], size = [1] }', "neither xyz nor rpy"),
        ('{ kind = "rounded_box", size = [1, 1, 0.1, 0.2] }', "more than half of the shortest side"),
        ('{ kind = "tapered_capsule", size = [-0.1, 0.1, 1] }', "not a length"),
        ('{ kind = "capsule", from = [0, 0, 0], to = [1, 0, 0], size = [0.1, 1] }', "a list of 1 number"),
    ],
)
def test_shapes_that_mean_nothing_are_refused_with_the_reason(load, shape, why):
    with pytest.raises(dy.DynamisError, match=why):
        load(shape)


def test_a_pose_names_joints_of_the_robot(load, tmp_path):
    text = ROBOT.format(shapes="").replace("joint1 =", "joint7 =")
    (tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(dy.DynamisError, match="joint7"):
        dy.load(tmp_path / "wrong.toml")


@pytest.mark.parametrize("kind", ["box", "rounded_box", "cylinder", "capsule", "tapered_capsule", "sphere", "ellipsoid"])
def test_the_balls_of_a_shape_reach_as_far_as_the_shape(kind):
    """Against the support function of each shape, along the axes of a turned frame."""
    from dynamis.model.description import Shape
    from dynamis.spatial.pose import Pose

    size = {
        "box": (0.2, 0.4, 0.6), "rounded_box": (0.2, 0.4, 0.6, 0.05), "cylinder": (0.2, 0.6), "capsule": (0.2, 0.6),
        "tapered_capsule": (0.2, 0.1, 0.6), "sphere": (0.2,), "ellipsoid": (0.2, 0.3, 0.4),
    }[kind]  # fmt: skip
    farthest = {
        "box": (0.1, 0.2, 0.3), "rounded_box": (0.1, 0.2, 0.3), "cylinder": (0.2, 0.2, 0.3), "capsule": (0.2, 0.2, 0.5),
        "tapered_capsule": (0.2, 0.2, 0.4), "sphere": (0.2, 0.2, 0.2), "ellipsoid": (0.2, 0.3, 0.4),
    }[kind]  # fmt: skip
    R, p = from_rpy([0.3, -0.4, 1.2]), np.array([1.0, 2.0, 3.0])
    centres, radii = balls(Shape("visual", kind, size, Pose(R, p)))
    reached = ((centres - p) @ R + radii[:, None]).max(axis=0)
    assert reached == pytest.approx(farthest, rel=1e-9)

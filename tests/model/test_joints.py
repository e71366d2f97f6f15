"""Joint types: what q means, what v means, and how to move between configurations."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.model import joints
from dynamis.model.forms import joint_from_screw
from dynamis.model.joints import JOINT_TYPES, Helical, JointType, Stage
from dynamis.spatial import Pose

MOVING = [kind for kind in JOINT_TYPES if kind != "fixed"]


def one_joint(kind, axis=(0.3, -0.5, 0.8)):
    fields = {"axis2": np.array([0.9, 0.1, 0.2])} if kind == "universal" else {"pitch": 0.2} if kind == "helical" else {}
    inertia = dy.solids.box(0.3, 0.2, 0.1, mass=2.0)
    d = dy.Description("one joint").add_link("base").add_link("body", "base", kind, axis=axis, inertia=inertia, **fields)
    return dy.Robot(d)


@pytest.mark.parametrize("kind", MOVING)
def test_every_type_has_its_degrees_of_freedom(kind):
    robot = one_joint(kind)
    assert robot.n == JOINT_TYPES[kind].degrees
    assert robot.nq == robot.n + (kind in ("spherical", "free"))


@pytest.mark.parametrize("kind", MOVING)
def test_at_its_neutral_configuration_a_joint_has_not_moved(kind):
    robot = one_joint(kind)
    assert robot.pose(robot.neutral(), "body") == pytest.approx(np.eye(4), abs=1e-15)


@pytest.mark.parametrize("kind", MOVING)
def test_integrate_and_difference_are_inverse(kind):
    robot = one_joint(kind)
    rng = np.random.default_rng(0)
    q, dv = robot.random(rng, 40), rng.uniform(-1.5, 1.5, (40, robot.n))
    assert robot.difference(q, robot.integrate(q, dv)) == pytest.approx(dv, abs=1e-12)
    other = robot.random(rng, 40)
    for a, b in zip(q, other, strict=True):
        assert robot.pose(robot.integrate(a, robot.difference(a, b)), "body") == pytest.approx(robot.pose(b, "body"), abs=1e-11)
    assert robot.difference(q, q) == pytest.approx(np.zeros_like(dv), abs=1e-12)


@pytest.mark.parametrize("kind", MOVING)
def test_a_constant_velocity_integrates_to_the_same_place_in_one_step_or_many(kind):
    robot = one_joint(kind)
    rng = np.random.default_rng(1)
    q, v = robot.random(rng), rng.uniform(-1, 1, robot.n)
    many = q
    for _ in range(100):
        many = robot.integrate(many, v / 100)
    assert robot.pose(many, "body") == pytest.approx(robot.pose(robot.integrate(q, v), "body"), abs=1e-12)
    if kind in ("spherical", "free"):
        assert np.linalg.norm(many[-4:]) == pytest.approx(1.0, abs=1e-15)


def test_what_the_numbers_of_each_type_mean():
    z = (0.0, 0.0, 1.0)
    turn = lambda t: np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])  # noqa: E731
    assert one_joint("revolute", z).pose([0.4], "body")[:2, :2] == pytest.approx(turn(0.4))
    assert one_joint("continuous", z).pose([7.0], "body")[:2, :2] == pytest.approx(turn(7.0))
    assert one_joint("prismatic", z).pose([0.4], "body")[:3, 3] == pytest.approx([0, 0, 0.4])
    screw = one_joint("helical", z).pose([0.5], "body")
    assert screw[2, 3] == pytest.approx(0.1)
    assert screw[:2, :2] == pytest.approx(turn(0.5))
    cylinder = one_joint("cylindrical", z).pose([0.3, 0.5], "body")
    assert cylinder[2, 3] == pytest.approx(0.3)
    assert cylinder[:2, :2] == pytest.approx(turn(0.5))
    plane = one_joint("planar", z).pose([0.1, 0.2, 0.3], "body")
    assert plane[:3, 3] == pytest.approx([0.1, 0.2, 0.0])
    assert plane[:2, :2] == pytest.approx(turn(0.3))
    half = np.sqrt(0.5)
    assert one_joint("spherical").pose([0, 0, half, half], "body")[:2, :2] == pytest.approx(turn(np.pi / 2), abs=1e-15)
    free = one_joint("free").pose([1, 2, 3, 0, 0, half, half], "body")
    assert free[:3, 3] == pytest.approx([1, 2, 3])


@pytest.mark.parametrize("normal", [(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, -1.0, 0.0), (0.6, 0.0, 0.8)])
def test_a_planar_joint_stays_in_the_plane_of_its_normal(normal):
    robot = one_joint("planar", normal)
    for q in robot.random(0, 5):
        X = robot.pose(q, "body")
        assert X[:3, 3] @ normal == pytest.approx(0.0, abs=1e-15)
        assert X[:3, :3] @ normal == pytest.approx(normal)
        assert np.linalg.norm(X[:3, 3]) == pytest.approx(np.hypot(q[0], q[1]))


@pytest.mark.filterwarnings("ignore:.*mass")
def test_a_follower_moves_by_ratio_and_offset_and_has_no_coordinate():
    from dynamis.model.description import Mimic

    bar = dy.solids.rod(1.0, mass=1.0)
    d = dy.Description("gripper").add_link("palm").add_link("left", "palm", "revolute", inertia=bar)
    d.add_link("right", "palm", "revolute", inertia=bar, mimic=Mimic("left_joint", -2.0, 0.5))
    robot = dy.Robot(d)
    assert robot.n == 1
    assert robot.joint_names == ("left_joint",)
    angle = np.arctan2(*robot.pose([0.3], "right")[[1, 0], 0])
    assert angle == pytest.approx(-2.0 * 0.3 + 0.5)
    single = bar.tensor[2, 2]
    assert robot.mass_matrix([0.3]) == pytest.approx(np.array([[single * (1.0 + 4.0)]]))


@pytest.mark.parametrize("ratio", [-2.0, 0.25])
@pytest.mark.filterwarnings("ignore:.*mass")
def test_a_leader_is_as_slow_as_its_follower_needs(ratio):
    from dynamis.model.description import Limits, Mimic

    def fastest(leader, follower):
        d = dy.Description("gripper").add_link("palm")
        d.add_link("left", "palm", "revolute", limits=Limits(-1.0, 1.0, velocity=leader))
        d.add_link("right", "palm", "revolute", limits=Limits(-9.0, 9.0, velocity=follower), mimic=Mimic("left_joint", ratio))
        return dy.Robot(d).limits["velocity"].tolist()

    assert fastest(100.0, 3.0) == [3.0 / abs(ratio)]  # the follower turns at ratio times the leader's speed
    assert fastest(0.1, 3.0) == [0.1]


def test_random_configurations_respect_limits():
    robot = dy.load("panda")
    q = robot.random(0, 500)
    assert (q >= robot.limits["lower"]).all()
    assert (q <= robot.limits["upper"]).all()
    assert np.array_equal(robot.random(3), robot.random(3))


def test_a_new_row_of_the_table_is_a_joint_type_that_is_computed_written_and_read(monkeypatch, tmp_path):
    """A screw whose axis is given by its pitch alone, as someone might add it."""
    screw = JointType(1, ("axis", "pitch"), lambda axis, pitch: [Stage(Helical(axis, 2.0 * pitch), "")])
    monkeypatch.setitem(joints.JOINT_TYPES, "double_screw", screw)
    monkeypatch.setattr(joints, "USES_AXIS", joints.USES_AXIS | {"double_screw"})
    inertia = dy.solids.box(0.3, 0.2, 0.1, mass=2.0)
    d = (
        dy.Description("new")
        .add_link("base")
        .add_link("body", "base", "double_screw", axis=(0, 0, 1), pitch=0.3, inertia=inertia)
    )
    robot = dy.Robot(d)
    assert robot.mass_matrix([0.4])[0, 0] == pytest.approx(inertia.tensor[2, 2] + 2.0 * 0.6**2)
    robot.write(tmp_path / "new.toml")
    again = dy.load(tmp_path / "new.toml")
    assert np.array_equal(again.mass_matrix([0.4]), robot.mass_matrix([0.4]))
    with pytest.raises(dy.ConversionError, match="URDF has no such joint"):
        robot.write(tmp_path / "new.urdf")


def test_joint_axes_along_coordinates_leave_no_rounding_in_the_model():
    d = dy.Description("turned").add_link("base")
    from dynamis.spatial import from_rpy

    d.add_link("body", "base", "revolute", origin=Pose(from_rpy((np.pi / 2, -np.pi / 2, np.pi)), np.zeros(3)),
               inertia=dy.solids.sphere(0.1, mass=1.0))  # fmt: skip
    R = dy.Robot(d).model.moving[0][1].placement.R
    assert set(R.flat) <= {0.0, 1.0, -1.0}


def test_a_pitch_beyond_rounding_is_kept_where_the_type_says_that_there_is_one():
    screw = np.array([0.0, 0.0, 5e-15, 0.0, 0.0, 1.0])
    kinds = {said: joint_from_screw(Pose.identity(), screw, said)[:4:3] for said in ("helical", "revolute", None)}
    assert kinds == {"helical": ("helical", 5e-15), "revolute": ("revolute", 0.0), None: ("revolute", 0.0)}
    aside = np.array([0.0, -3.0, 4e-16, 0.0, 0.0, 1.0])  # rounding of a rotation about an axis 3 m away
    assert joint_from_screw(Pose.identity(), aside, "helical")[3] == 0.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"limits": {"lo": -1}}, "no entry of limits= named 'lo'; did you mean 'lower'"),
        ({"mimic": {"ratio": -1}}, "mimic= has no 'joint'"),
        ({"drive": 3.0}, r"drive is 3.0; allowed: a mapping, such as \{\"viscous\": 0.1\}"),
        ({"limits": (-1, 1)}, r"limits is \(-1, 1\); allowed: a mapping, such as"),
        ({"mimic": "first"}, "mimic is 'first'; allowed: a mapping, such as"),
    ],
)
def test_wrong_parts_of_a_joint_are_refused_with_an_example(given, message):
    d = dy.Description("two").add_link("base").add_link("a", "base", "revolute", inertia=dy.solids.sphere(0.1, mass=1))
    with pytest.raises(dy.DynamisError, match=message):
        dy.Robot(d.add_link("b", "a", "revolute", inertia=dy.solids.sphere(0.1, mass=1), **given))


def test_limits_drive_and_mimic_are_given_as_mappings():
    body = dy.solids.sphere(0.1, mass=1)
    d = dy.Description("two").add_link("base")
    d.add_link(
        "a", "base", "revolute", joint_name="first", inertia=body, limits={"upper": 2, "effort": 5}, drive={"viscous": 0.5}
    )
    d.add_link("b", "a", "revolute", inertia=body, mimic={"joint": "first", "ratio": -2})
    robot = dy.Robot(d)
    assert robot.n == 1
    assert (robot.limits["upper"][0], robot.limits["effort"][0]) == (2.0, 5.0)
    assert robot.model.viscous[0] == 0.5
    assert d.joints[1].mimic.ratio == -2


def test_fields_that_a_type_does_not_use_and_a_thread_without_pitch_are_refused(tmp_path):
    ball = dy.solids.sphere(0.1, mass=1.0)
    for kind, given, text in [
        ("helical", {}, "the helical joint 'nut_joint' has no pitch: give pitch=, the lead of the thread divided by 2π"),
        (
            "revolute",
            {"pitch": 0.1},
            "pitch= has no effect on joint 'nut_joint', which is revolute; types that use it: helical",
        ),
        ("revolute", {"axis2": (1, 0, 0)}, "axis2= has no effect .* types that use it: universal"),
    ]:
        with pytest.raises(dy.InputError, match=text):
            dy.Description().add_link("base").add_link("nut", "base", kind, inertia=ball, **given)
    file = tmp_path / "nut.toml"
    file.write_text('[base]\nname = "base"\n[[link]]\nlink = "nut"\nparent = "base"\nmass = 1\npitch = 0.1\n')
    with pytest.raises(dy.ModelError, match="a revolute joint does not use pitch; allowed: pitch of helical"):
        dy.load(file)

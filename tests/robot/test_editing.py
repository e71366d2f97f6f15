"""Robots made of robots: locked joints, tools, other roots, branches, frames; and vectors by name."""

import copy
import pickle

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot, zoo_states
from random_trees import random_pose

import dynamis as dy
from dynamis.algorithms.configurations import independent_bodies
from dynamis.spatial import to_quaternion

pytestmark = pytest.mark.usefixtures("without_compilation")


def parts_of(robot):
    """(joint, its places in q, its places in v) of the independent joints."""
    found = {}
    for body in independent_bodies(robot.model):
        name = robot.model.coordinates[body.dof[0]].joint
        q, v = found.setdefault(name, ([], []))
        q += range(body.q_index.start, body.q_index.stop)
        v += body.dof
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_locked_joint_leaves_the_dynamics_of_the_others(name):
    """Each joint in turn, of all types: M, torques at rest of the locked joint, and poses are those of the whole robot."""
    robot = zoo_robot(name)
    q, v, a = (x[1] for x in zoo_states(robot, 2, seed=2))
    for joint, (at_q, at_v) in parts_of(robot).items():
        if len(parts_of(robot)) == 1:
            continue
        reduced = robot.reduced({joint: q[at_q]})
        others_q = np.setdiff1d(np.arange(robot.nq), at_q)
        others_v = np.setdiff1d(np.arange(robot.n), at_v)
        still, rest = v.copy(), a.copy()
        still[at_v], rest[at_v] = 0.0, 0.0
        assert reduced.joint_names == tuple(x for x in robot.joint_names if x != joint)
        found = reduced.inverse_dynamics(q[others_q], still[others_v], rest[others_v])
        np.testing.assert_allclose(found, robot.inverse_dynamics(q, still, rest)[others_v], atol=1e-10)
        np.testing.assert_allclose(
            reduced.mass_matrix(q[others_q]), robot.mass_matrix(q)[np.ix_(others_v, others_v)], atol=1e-11
        )
        np.testing.assert_allclose(reduced.pose(q[others_q], "tool"), robot.pose(q, "tool"), atol=1e-13)


def test_pinocchio_reduces_a_robot_to_the_same(tmp_path):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'dynamis[oracles]'")
    d = dy.load("panda").replace(friction=0).description
    for link in d.links:
        link.shapes = []
    for joint in d.joints:
        joint.drive.rotor_inertia = 0.0
    robot = dy.Robot(d)
    robot.write(tmp_path / "panda.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "panda.urdf"))
    q = robot.random(1)
    names = [robot.joint_names[1], robot.joint_names[4]]
    less = pin.buildReducedModel(model, [model.getJointId(x) for x in names], q)
    reduced = robot.reduced({x: robot.by_name(q)[x] for x in names})
    kept = robot.indices([x for x in robot.joint_names if x not in names])
    M = pin.crba(less, less.createData(), q[kept])
    np.testing.assert_allclose(reduced.mass_matrix(q[kept]), np.triu(M) + np.triu(M, 1).T, atol=1e-12)
    v = np.linspace(-1.0, 1.0, reduced.n)
    expected = pin.rnea(less, less.createData(), q[kept], v, v[::-1].copy())
    np.testing.assert_allclose(reduced.inverse_dynamics(q[kept], v, v[::-1]), expected, atol=1e-11)


def test_a_tool_is_attached_with_its_joints_and_carried_as_a_payload_when_locked():
    arm, hand = dy.load("ur5e"), dy.load("planar_2r_melchiorri")
    pose = dy.Pose.translation([0.0, 0.1, 0.05])
    both = arm.attach(hand, "tool0", pose=pose, prefix="hand_")
    q = both.random(3)
    expected = arm.pose(q[:6], "tool0") @ pose.matrix() @ hand.pose(q[6:], "link2")
    np.testing.assert_allclose(both.pose(q, "hand_link2"), expected, atol=1e-14)
    assert both.mass == pytest.approx(arm.mass + hand.mass)
    again = arm.attach(hand.rerooted(hand.link_names[0]), "tool0", pose=pose.matrix(), prefix="hand_")
    np.testing.assert_allclose(again.mass_matrix(q), both.mass_matrix(q), atol=1e-13)
    with pytest.raises(dy.InputError, match="prefix='tool_'"):
        arm.attach(arm)


def test_a_robot_with_a_floating_base_is_attached_once_the_joint_named_in_the_error_is_locked():
    arm = dy.load("ur5e")
    d = dy.Description("dog").add_link("world")
    d.add_link("trunk", "world", "free", joint_name="root", inertia=dy.solids.box(0.4, 0.2, 0.1, mass=5.0))
    for dog, name in ((dy.load("go2", base="floating"), "floating_base"), (dy.Robot(d), "root")):
        advice = rf"the joint '{name}': .* robot.reduced\({{'{name}': \[0, 0, 0, 0, 0, 0, 1\]}}\)"
        with pytest.raises(dy.InputError, match=advice):
            arm.attach(dog, prefix="dog_")
        held = arm.attach(dog.reduced({name: [0, 0, 0, 0, 0, 0, 1]}), prefix="dog_")
        assert held.n == arm.n + dog.n - 6


@pytest.mark.parametrize("root", ["belt", "link2", "tool"])
def test_poses_between_links_do_not_depend_on_the_root(root):
    """Over revolute, helical and prismatic joints, some of which follow others."""
    robot = zoo_robot("screws")
    other = robot.rerooted(root)
    q = robot.random(4)
    mine = other.q(robot.by_name(q))
    assert np.abs(other.pose(mine, root) - np.eye(4)).max() < 1e-14
    for a, b in (("tool", "belt"), ("base", "tool"), ("link2", "base")):
        before = np.linalg.inv(robot.pose(q, a)) @ robot.pose(q, b)
        after = np.linalg.inv(other.pose(mine, a)) @ other.pose(mine, b)
        np.testing.assert_allclose(after, before, atol=1e-13)
    with pytest.raises(dy.InputError, match="is spherical: only joints with one degree of freedom"):
        zoo_robot("wrists").rerooted("tool")


def test_a_root_without_mass_that_moves_is_named(recwarn):
    dy.load("panda").rerooted("panda_link8")
    assert not recwarn.list
    with pytest.warns(
        dy.ModelWarning, match="'tool0' as its root: joint 'shoulder_pan_joint' can move without moving any mass"
    ):
        dy.load("ur5e").rerooted("tool0")


def test_a_floating_robot_rerooted_is_the_same_robot():
    riding = dy.load("puma560").replace(rotors="riding")
    with pytest.raises(dy.InputError, match=r"replace\(rotors='reflected'\)"):
        riding.rerooted(riding.link_names[-1])
    robot = dy.load("go2", base="floating").replace(friction=0, rotors="reflected")
    other = robot.rerooted("FL_calf")
    q, v = robot.random(5), np.random.default_rng(5).normal(size=robot.n)
    x = np.empty(robot.nq)
    X = robot.pose(q, "FL_calf")
    by_joint = dict(zip(robot.joint_names[1:], q[7:], strict=True))
    x[:3], x[3:7] = X[:3, 3], to_quaternion(X[:3, :3])
    x[7:] = [by_joint[name] for name in other.joint_names[1:]]
    np.testing.assert_allclose(other.center_of_mass(x), robot.center_of_mass(q), atol=1e-13)
    assert other.potential_energy(x) == pytest.approx(robot.potential_energy(q), rel=1e-12)
    rates = dict(zip(robot.joint_names[1:], v[6:], strict=True))
    twist = robot.velocity(q, v, "FL_calf")
    y = np.concatenate([X[:3, :3].T @ twist[:3], X[:3, :3].T @ twist[3:], [rates[name] for name in other.joint_names[1:]]])
    np.testing.assert_allclose(other.centroidal_momentum(x, y), robot.centroidal_momentum(q, v), atol=1e-11)
    assert other.kinetic_energy(x, y) == pytest.approx(robot.kinetic_energy(q, v), rel=1e-12)


def test_a_branch_is_a_robot_of_its_own():
    arm = dy.load("ur5e")
    wrist = arm.subtree("forearm_link")
    q = arm.random(6)
    expected = np.linalg.inv(arm.pose(q, "forearm_link")) @ arm.pose(q, "tool0")
    np.testing.assert_allclose(wrist.pose(q[3:], "tool0"), expected, atol=1e-14)
    coupled = zoo_robot("screws")  # joint 3 is carried by link 2 and follows joint 1
    with pytest.raises(dy.InputError, match="'joint3' follows 'joint1'"):
        coupled.subtree("link2")


def test_frames_are_added_and_names_are_checked():
    arm = dy.load("ur5e")
    pose = dy.Pose.translation([0.0, 0.05, 0.02])
    more = arm.with_frame("camera", "tool0", pose)
    q = arm.random(7)
    np.testing.assert_allclose(more.pose(q, "camera"), arm.pose(q, "tool0") @ pose.matrix(), atol=1e-15)
    with pytest.raises(dy.InputError, match="there is a link 'tool0' already"):
        arm.with_frame("tool0")
    with pytest.raises(dy.InputError, match="4 × 4"):
        arm.with_frame("camera", pose=np.eye(3))
    with pytest.raises(dy.NameLookupError, match="did you mean 'elbow_joint'"):
        arm.reduced({"elbow": 0.0})
    for wrong in ([0.1, 0.2], np.nan, "up", None):
        with pytest.raises(dy.InputError, match="'elbow_joint'"):
            arm.reduced({"elbow_joint": wrong})
    for call in (arm.reduced, arm.q):
        with pytest.raises(dy.InputError, match="mapping"):
            call(["elbow_joint"])
    base = zoo_robot("flyer").joint_names[0]
    for wrong in ([0.0] * 7, [0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.5]):
        with pytest.raises(dy.InputError, match="must have norm 1"):
            zoo_robot("flyer").reduced({base: wrong})
    follower = zoo_robot("screws")
    assert "joint3" not in follower.joint_names
    with pytest.raises(dy.InputError, match="joint 'joint3' follows 'joint1'"):
        follower.reduced({"joint3": 0.0})


def test_vectors_by_name_and_in_the_order_of_a_message():
    robot = dy.load("ur5e")
    q = robot.q({"elbow_joint": 1.2, "wrist_3_joint": -1}, start=robot.home())
    assert robot.by_name(q)["elbow_joint"] == 1.2
    assert robot.q(robot.by_name(q)).tolist() == q.tolist()
    assert robot.by_name(np.stack([q, q]))["wrist_3_joint"].tolist() == [-1.0, -1.0]
    names = list(reversed(robot.joint_names))
    assert q[robot.indices(names)].tolist() == q[::-1].tolist()
    dog = dy.load("go2", base="floating")
    q, v, names = dog.random(1), np.arange(18.0), ["FL_thigh_joint", "FR_hip_joint"]
    assert q[dog.indices(names, of="q")].tolist() == [dog.by_name(q)[name] for name in names]
    assert all(type(x) is float for x in list(dog.by_name(q).values())[1:])  # as on a fixed base
    assert dog.q(dog.by_name(q)).tolist() == q.tolist()
    batch = dog.by_name(np.stack([q, q, q]))
    assert (batch[names[0]].shape, batch[dog.joint_names[0]].shape) == ((3,), (3, 7))
    assert v[dog.indices(names)].tolist() == [dog.by_name(v)[name] for name in names]
    assert dog.indices(names[0], of="q") == dog.indices(names[0]) + 1
    assert dog.indices(["FL_hip_joint", "floating_base"], of="q").tolist() == [7, 0, 1, 2, 3, 4, 5, 6]
    assert dog.indices(dog.joint_names).tolist() == list(range(18))
    with pytest.raises(dy.InputError, match=r"q\[3:7\] is a quaternion of norm 2"):
        dog.q({"floating_base": [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0]})
    with pytest.raises(dy.InputError, match="has no place in q, where the orientation is a quaternion"):
        dog.indices(dog.coordinate_names[3], of="q")
    with pytest.raises(dy.InputError, match="of='a' is unknown; choose 'q'"):
        dog.indices(names, of="a")
    flyer = zoo_robot("flyer")
    x = flyer.q({flyer.joint_names[0]: [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]})
    assert flyer.by_name(x)[flyer.joint_names[0]].tolist() == [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]
    for values, cause in (
        ({"elbow": 1.0}, "did you mean"),
        ({"elbow_joint": [1.0, 2.0]}, "1 finite number"),
        ({"elbow_joint": "x"}, "1 finite number"),
        ({"elbow_joint": np.nan}, "1 finite number"),
    ):
        with pytest.raises(dy.DynamisError, match=cause):
            robot.q(values)
    with pytest.raises(dy.InputError, match="expected 6 entries"):
        robot.by_name(np.zeros(4))
    with pytest.raises(dy.NameLookupError):
        robot.indices(["elbow"])


@pytest.mark.parametrize("name", ["ur5e", "planar_2r", "go2"])
def test_a_robot_is_pickled_by_its_description_and_copies_of_it_are_itself(name):
    robot = dy.load(name)
    again = pickle.loads(pickle.dumps(robot))
    assert copy.copy(robot) is robot
    assert copy.deepcopy(robot) is robot
    assert again.joint_names == robot.joint_names
    if robot.model.symbolic:
        q = np.array([dy.symbol(f"q{k}") for k in range(robot.n)])
        assert (again.mass_matrix(q) == robot.mass_matrix(q)).all()  # the same expressions
    else:
        q = robot.random(0)
        assert np.array_equal(again.mass_matrix(q), robot.mass_matrix(q))


def test_limits_and_inertias_are_replaced():
    robot = dy.load("ur5e")
    changed = robot.replace(
        limits={"elbow_joint": {"lower": -1.0, "upper": 1.5, "velocity": 2.0, "effort": 30.0}},
        inertias={"forearm_link": dy.solids.sphere(0.1, mass=3.0)},
    )
    k = robot.coordinate_names.index("elbow_joint")
    assert [changed.limits[name][k] for name in ("lower", "upper", "velocity", "effort")] == [-1.0, 1.5, 2.0, 30.0]
    assert changed.limits["velocity"][0] == robot.limits["velocity"][0]
    assert abs(changed.mass - robot.mass - (3.0 - robot.description.link("forearm_link").mass_properties.mass)) < 1e-12
    for wrong, message in (
        ({"limits": {"elbow_joint": {"speed": 1.0}}}, "choose from lower, upper, velocity, effort"),
        ({"limits": {"elbow_joint": {"velocity": -1.0}}}, "not negative"),
        ({"limits": {"elbow_joint": {"lower": 7.0}}}, "above the upper"),
        ({"limits": {"elbow_joint": 3.0}}, "must be a mapping"),
        ({"inertias": {"forearm_link": 3.0}}, "must be a dynamis.Inertia"),
    ):
        with pytest.raises(dy.InputError, match=message):
            robot.replace(**wrong)


def test_methods_and_what_robots_make_are_pickled():
    robot = dy.load("ur5e")
    q = robot.random(0)
    for name in ("gravity", "pose", "inverse_dynamics_derivatives"):
        method = pickle.loads(pickle.dumps(getattr(robot, name)))
        assert method.__name__ == name
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(robot.gravity))(q), robot.gravity(q))
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(robot.model)).frame("tool0").pose.p, robot.model.frame("tool0").pose.p
    )
    form = dy.load("planar_2r").closed_form(notation="rocco")
    assert str(pickle.loads(pickle.dumps(form)).M[0, 0]) == str(form.M[0, 0])


def test_a_missing_argument_is_that_of_a_robot():
    with pytest.raises(TypeError, match=r"^Robot\.inverse_dynamics\(\) missing"):
        dy.load("planar_2r_melchiorri").inverse_dynamics([0.0, 0.0])


@pytest.mark.parametrize("name", ["ur5e", "go2", "planar_2r_melchiorri"])
def test_a_placed_robot_is_that_on_a_base_at_rest_there(name):
    robot, rng = dy.load(name), np.random.default_rng(4)
    pose = random_pose(rng)
    placed, (q, (v, a)) = robot.placed(pose), (robot.random(1), rng.normal(size=(2, robot.n)))
    frame = robot.link_names[-1]
    base = dy.MovingBase(pose, np.zeros(6), np.zeros(6))
    assert np.allclose(placed.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a, base=base), atol=1e-9)
    assert np.allclose(placed.pose(q, frame), pose.matrix() @ robot.pose(q, frame), atol=1e-12)
    assert np.allclose(placed.mass_matrix(q), robot.mass_matrix(q), atol=1e-12)
    assert placed.joint_names == robot.joint_names
    assert placed.mass == pytest.approx(robot.mass)
    moving = dy.load("go2", base="floating").placed(pose)
    assert np.allclose(moving.pose(moving.neutral(), "base"), pose.matrix(), atol=1e-12)


def test_joints_locked_outside_their_limits_are_reported():
    arm = dy.load("ur5e")
    with pytest.warns(dy.ModelWarning, match=r"outside the joint limits: elbow_joint = 10, limits -3.142 … 3.142 rad"):
        arm.reduced({"elbow_joint": 10.0, "wrist_1_joint": 1.0})


def test_a_prefix_separates_the_symbols_of_two_robots():
    arm = dy.load("planar_2r")
    both = arm.attach(arm.replace(gravity=[0.0, 0.0, dy.symbol("G")]), "link2", prefix="b_")
    own = {"a_1", "a_2", "l_1", "l_2", "m_1", "m_2", "I_1", "I_2"}
    assert set(both.description.symbol_names()) == own | {f"b_{name}" for name in own} | {"g"}
    assert set(arm.description.symbol_names()) == own | {"g"}
    assert str(both.closed_form().M[3, 3]) == str(arm.closed_form().M[1, 1]).replace("m_2", "b_m_2").replace(
        "l_2", "b_l_2"
    ).replace("I_2", "b_I_2")
    hand = dy.load("ur5e").replace(payload=dy.solids.point_mass(mass=dy.symbol("m_load")))
    assert "m_load" in arm.attach(hand, "link2", prefix="b_").description.symbol_names()  # no other robot has it

"""Joints that follow others, to and from Pinocchio: M, inverse dynamics and poses of Pinocchio's own algorithms."""

import numpy as np
import pytest
from random_trees import relative_error

import dynamis as dy
from dynamis.model.description import Drive, Mimic

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'dynamis[oracles]'")
if not hasattr(pin, "JointModelMimic"):
    pytest.skip("Pinocchio has mimic joints from 3.7 on", allow_module_level=True)
pytestmark = [
    pytest.mark.usefixtures("without_compilation"),
    pytest.mark.filterwarnings("ignore::dynamis.ModelWarning"),
]
AGREE = 1e-12
ROBOTS = [
    "panda_description/urdf/panda.urdf",
    "baxter_description/urdf/baxter.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf",
]


def there(model, q):
    """Our q as Pinocchio's, which has (cos, sin) for joints without limits; the joints have one order."""
    parts, angles = [], iter(q)
    for joint in list(model.joints)[1:]:
        if joint.nq:
            angle = next(angles)
            parts += [np.cos(angle), np.sin(angle)] if joint.nq == 2 else [angle]
    return np.array(parts)


def agree(robot, model):
    robot = robot.replace(friction=0)  # which Pinocchio's algorithms do not use
    assert robot.n == model.nv
    rng = np.random.default_rng(5)
    q, (v, a) = robot.random(rng), rng.uniform(-1, 1, (2, robot.n))
    data, pq = model.createData(), there(model, q)
    M = pin.crba(model, data, pq)
    assert relative_error(robot.mass_matrix(q), np.triu(M) + np.triu(M, 1).T) < AGREE
    assert relative_error(robot.inverse_dynamics(q, v, a), pin.rnea(model, data, pq, v, a)) < AGREE
    pin.framesForwardKinematics(model, data, pq)
    for frame in robot.link_names:
        place = data.oMf[model.getFrameId(frame, pin.FrameType.BODY)].homogeneous
        assert relative_error(robot.pose(q, frame), place) < AGREE


@pytest.mark.parametrize("path", [*ROBOTS, "romeo_description/urdf/romeo.urdf"])
def test_a_robot_with_followers_is_the_same_in_pinocchio_and_back(folder, path):
    robot = dy.load(folder / path)
    model = robot.to_pinocchio()
    followers = [j for j in robot.description.joints if j.follows is not None]
    assert len(followers) == len(model.mimicking_joints) > 0
    np.testing.assert_allclose(model.damping, robot.model.viscous)
    agree(robot, model)
    again = dy.from_pinocchio(model)
    agree(again, model)
    for bound in ("lower", "upper", "velocity"):
        np.testing.assert_array_equal(again.limits[bound], robot.limits[bound])
    for joint in followers:
        assert again.description.joint(joint.name).mimic is not None


@pytest.mark.parametrize("path", ROBOTS)
def test_a_model_with_followers_that_pinocchio_read_is_the_same(folder, path):
    model = pin.buildModelFromUrdf(str(folder / path), mimic=True)
    assert len(model.mimicking_joints) > 0
    agree(dy.from_pinocchio(model), model)


def hand(followers, kind="revolute"):
    """A palm with a driving finger, and followers of (name, parent, type, leader, ratio, offset)."""
    u = (0.0, 0.6, 0.8)
    d = dy.Description("hand").add_link("palm")
    body, place = dy.solids.box(0.1, 0.02, 0.02, mass=0.2), dy.Pose.translation([0.1, 0.02, 0.0])
    early = [f for f in followers if f[0] == "early"]
    for name, parent, type_, *mimic in early + [("drive", "palm", kind)] + [f for f in followers if f not in early]:
        more = ({"mimic": Mimic(*mimic)} if mimic else {}) | ({"pitch": 0.05} if type_ == "helical" else {})
        drive = Drive(viscous=0.1, coulomb=0.2, rotor_inertia=1e-3, gear_ratio=2.0)
        d.add_link(f"{name}_link", parent, type_, joint_name=name, origin=place, axis=u, inertia=body, drive=drive, **more)
    return dy.Robot(d)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous", "helical"])
def test_followers_of_every_kind_of_leader(kind):
    robot = hand(
        [
            ("early", "palm", "prismatic", "drive", -0.5, 0.01),  # before its leader in the file
            ("slide", "drive_link", "prismatic", "drive", 0.3, 0.02),
            ("bend", "slide_link", "continuous", "slide", -2.0, 0.1),  # follows a follower
            ("free_joint", "bend_link", "revolute"),
            ("tip", "free_joint_link", "revolute", "free_joint", 0.7, -0.2),
        ],
        kind,
    )
    model = robot.to_pinocchio()
    assert model.nv == 2
    np.testing.assert_allclose(model.armature, robot.model.rotor)
    agree(robot, model)
    agree(dy.from_pinocchio(model), model)


@pytest.mark.parametrize("inner", [pin.JointModelHY(0.3), pin.JointModelRZ(), pin.JointModelPX()])
@pytest.mark.parametrize("ratio", [-1.5, 0.0])
def test_followers_of_models_made_by_hand(inner, ratio):
    """A ratio of zero is a fixed joint. M of a helical follower contradicts its velocities in Pinocchio: ours is of these."""
    model, rng = pin.Model(), np.random.default_rng(2)
    number = model.addJoint(0, pin.JointModelRX(), pin.SE3.Random(), "leader")
    leader = model.joints[number]
    inner.setIndexes(leader.id, leader.idx_q, leader.idx_v, leader.idx_vExtended)
    number = model.addJoint(number, pin.JointModelMimic(inner, ratio, 0.4), pin.SE3.Random(), "follower")
    inertia = pin.Inertia(1.0, rng.normal(size=3), np.diag([0.1, 0.12, 0.15]))
    model.appendBodyToJoint(number, inertia, pin.SE3.Random())
    model.addFrame(pin.Frame("body", number, pin.SE3.Identity(), pin.FrameType.BODY), False)
    robot = dy.from_pinocchio(model)
    q, v = rng.uniform(-1, 1, (2, 1))
    data = model.createData()
    pin.forwardKinematics(model, data, q, v)
    assert relative_error(robot.pose(q, "body"), data.oMi[number].homogeneous) < AGREE
    motion = data.v[number].vector
    assert robot.kinetic_energy(q, v) == pytest.approx(0.5 * motion @ model.inertias[number].matrix() @ motion, rel=AGREE)

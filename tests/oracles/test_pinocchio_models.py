"""Pinocchio models in and out: M and bias torques of Pinocchio itself, with the same q and v."""

import warnings

import numpy as np
import pytest
from random_trees import relative_error

import dynamis as dy
from dynamis.model.closures import LoopClosure
from dynamis.model.description import Drive

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'dynamis[oracles]'")
pytestmark = pytest.mark.usefixtures("without_compilation")
AGREE = 1e-11
ROBOTS = [("ur5e", "fixed"), ("puma560", "fixed"), ("stanford", "fixed"), ("go2", "floating")]


def without_friction(robot):
    """Pinocchio keeps damping and friction in the model, but its algorithms do not use them."""
    return robot.replace(friction=0)


def compare(robot, model, q, pq, v, order=slice(None)):
    data = model.createData()
    M = pin.crba(model, data, pq)
    M = (np.triu(M) + np.triu(M, 1).T)[order][:, order]
    assert relative_error(robot.mass_matrix(q), M) < AGREE
    pv = np.zeros(model.nv)
    pv[order] = v
    terms = without_friction(robot).bias(q, v)
    assert relative_error(terms, pin.nonLinearEffects(model, data, pq, pv)[order]) < AGREE
    return data


@pytest.mark.parametrize(("name", "base"), ROBOTS)
def test_a_robot_for_pinocchio_is_the_same_there_and_back(name, base):
    robot = dy.load(name, base=base)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)  # friction of the Puma depends on the direction
        model = robot.to_pinocchio()
    assert (model.nq, model.nv) == (robot.nq, robot.n)
    rng = np.random.default_rng(3)
    q, v = robot.random(rng), rng.uniform(-1, 1, robot.n)
    data = compare(robot, model, q, q, v)
    pin.framesForwardKinematics(model, data, q)
    for frame in robot.link_names:
        assert relative_error(robot.pose(q, frame), data.oMf[model.getFrameId(frame)].homogeneous) < AGREE
    np.testing.assert_array_equal(model.damping, robot.model.viscous)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        again = dy.from_pinocchio(model)
    compare(again, model, q, q, v)
    assert set(robot.link_names) <= set(again.link_names)
    assert again.joint_names[-1] == robot.joint_names[-1]
    np.testing.assert_array_equal(again.model.coulomb, robot.model.coulomb)
    np.testing.assert_array_equal(again.limits["upper"], robot.limits["upper"])
    for frame in robot.link_names:
        assert relative_error(again.pose(q, frame), robot.pose(q, frame)) < AGREE


def test_joints_of_every_type_of_a_pinocchio_model():
    model, rng = pin.Model(), np.random.default_rng(0)
    u = np.array([0.0, 0.6, 0.8])
    joints = [pin.JointModelRX(), pin.JointModelPrismaticUnaligned(u), pin.JointModelRUBZ(), pin.JointModelHY(0.3), pin.JointModelSpherical(),
              pin.JointModelRUBY(), pin.JointModelHelicalUnaligned(u, 0.2), pin.JointModelRevoluteUnaligned(u), pin.JointModelPZ()]  # fmt: skip
    number = 0
    for k, joint in enumerate(joints):
        number = model.addJoint(number, joint, pin.SE3.Random(), f"j{k}")
        model.appendBodyToJoint(number, pin.Inertia(1.0, rng.normal(size=3), np.diag([0.1, 0.12, 0.15])), pin.SE3.Random())
    model.armature = np.array([0.0, 0.3, 0.0, 0.0, 0.2, 0.2, 0.2, 0.0, 0.0, 0.0, 0.0])  # of a ball joint too
    robot = dy.Robot(dy.from_pinocchio(model).description)
    assert (robot.n, robot.nq) == (model.nv, model.nq - 2)
    q = robot.random(rng)
    pq = []
    for angle in (at := iter(q)):
        k = len(pq)
        pq += [np.cos(angle), np.sin(angle)] if k in (2, 9) else [angle]
    del at
    compare(robot, model, q, np.array(pq), rng.uniform(-1, 1, robot.n))


@pytest.mark.parametrize("kind", ["spherical", "free", "planar", "universal"])
def test_rotors_of_joints_with_several_coordinates_are_armature_there_and_back(kind):
    body = dy.Inertia.about_com(1.3, (0.1, -0.2, 0.3), np.diag([0.02, 0.03, 0.035]))
    axes = {"axis": (1, 0, 0), "axis2": np.array([0.0, 1.0, 0.0])} if kind == "universal" else {}
    d = dy.Description("ball").add_link("base").add_link("arm", "base", "revolute", axis=(0, 1, 0), inertia=body)
    d.add_link("ball", "arm", kind, inertia=body, drive=Drive(rotor_inertia=0.1, gear_ratio=2.0), **axes)
    robot = dy.Robot(d)
    model = robot.to_pinocchio()
    np.testing.assert_allclose(model.armature, [0.0] + [0.4] * (robot.n - 1))
    q, v = robot.random(4), np.random.default_rng(4).uniform(-1, 1, robot.n)
    compare(robot, model, q, q, v)
    compare(dy.from_pinocchio(model), model, q, q, v)


def _composite():
    joint = pin.JointModelComposite(2)
    joint.addJoint(pin.JointModelRX(), pin.SE3.Random())
    joint.addJoint(pin.JointModelPY(), pin.SE3.Random())
    return joint


@pytest.mark.parametrize("joint", [_composite, pin.JointModelTranslation, pin.JointModelSphericalZYX])
def test_composite_joints_are_chains_of_single_joints(joint):
    pin.seed(3)
    model = pin.Model()
    for name, one in [("first", pin.JointModelRY()), ("several", joint()), ("last", pin.JointModelRZ())]:
        k = model.addJoint(model.njoints - 1, one, pin.SE3.Random(), name)
        model.appendBodyToJoint(k, pin.Inertia.FromBox(1.3, 0.1, 0.2, 0.3), pin.SE3.Random())
    model.armature = np.linspace(0.1, 0.2, model.nv)
    model.upperPositionLimit = np.linspace(1.0, 2.0, model.nq)
    model.lowerPositionLimit = -model.upperPositionLimit
    robot = dy.from_pinocchio(model)
    assert robot.joint_names == ("first", *(f"several.{k + 1}" for k in range(model.nv - 2)), "last")
    np.testing.assert_allclose(robot.limits["upper"], model.upperPositionLimit)
    q, v = np.random.default_rng(1).uniform(-1, 1, (2, robot.n))
    data = compare(robot, model, q, q, v)
    pin.forwardKinematics(model, data, q)
    np.testing.assert_allclose(robot.pose(q), data.oMi[model.njoints - 1].homogeneous, atol=1e-13)


def test_rotors_that_pinocchio_does_not_use_are_left_out_with_a_warning():
    model = dy.load("ur5e").to_pinocchio()
    model.rotorInertia = np.full(6, 1e-4)
    model.rotorGearRatio = np.full(6, 100.0)
    with pytest.warns(dy.ModelWarning, match=r"rotorInertia and rotorGearRatio are not read.*set model\.armature") as caught:
        robot = dy.from_pinocchio(model)
    assert caught[0].filename == __file__
    compare(robot, model, robot.home(), robot.home(), np.ones(6))


def test_what_has_no_counterpart_is_refused():
    with pytest.raises(dy.InputError, match=r"takes a pinocchio\.Model, got dict"):
        dy.from_pinocchio({})
    model = pin.Model()
    model.addJoint(0, pin.JointModelEllipsoid(0.3, 0.2, 0.1), pin.SE3.Identity(), "e")
    with pytest.raises(dy.ConversionError, match=r"joint 'e' is a JointModelEllipsoid.*make it a chain of single joints"):
        dy.from_pinocchio(model)
    model = pin.Model()
    model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    model.addJoint(1, pin.JointModelPlanar(), pin.SE3.Identity(), "table")
    model.armature = np.array([0.0, 0.0, 0.0, 0.1, 0.1, 0.1])
    with pytest.raises(dy.ConversionError, match=r"'table': its 3 coordinates act along the axes of the body.*armature\[3:6\]"):
        dy.from_pinocchio(model)
    model.armature = np.array([0.1, 0.1, 0.2, 0.0, 0.0, 0.0])
    with pytest.raises(dy.ConversionError, match=r"'ball': its 3 coordinates have different values of model\.armature"):
        dy.from_pinocchio(model)
    with pytest.warns(dy.ModelWarning, match=r"depends on the direction.*left out"):
        dy.load("puma560").to_pinocchio()
    riding = dy.load("puma560").replace(rotors="riding", friction=0)
    with pytest.raises(dy.ConversionError, match=r"has a motor on a link.*rotors=.reflected"):
        riding.to_pinocchio()


def test_closures_of_loops_that_pinocchio_does_not_get_have_a_warning():
    d = dy.load("ur5e").description
    d.closures += [LoopClosure("point", d.links[0].name, d.links[-1].name), LoopClosure("coupled", "elbow_joint")]
    with pytest.warns(
        dy.ModelWarning, match=r"closures of loops \(point of .* and .*, coupled of .elbow_joint.\), for which .*left out"
    ):
        dy.Robot(d).to_pinocchio()

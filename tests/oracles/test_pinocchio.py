"""Agreement with Pinocchio on real robots: dynamics, Jacobians and their rates, regressors, to 1e-11."""

import warnings

import numpy as np
import pytest
from campaign_params import few_of
from random_trees import relative_error
from real_robots import ROBOTS, USUAL

import dynamis as dy

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'dynamis[oracles]'")

AGREE = 1e-11
STATES = 3


def both(folder, path, base, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)  # what vendors ship; the model is used as written
        robot = dy.load(folder / path, base=base)
    d = robot.description
    for joint in d.joints:  # Pinocchio's algorithms know no friction
        joint.drive.viscous = joint.drive.coulomb = 0.0
    root = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    model = pin.buildModelFromUrdf(str(folder / path), *root, **options)
    return dy.Robot(d), model


class Ordering:
    """Joint order: ours is the file's, Pinocchio's is by name; continuous joints have cosine and sine there."""

    def __init__(self, robot, model):
        names = list(robot.joint_names)
        if robot.model.moving[0][1].motion.nv == 6:
            names[0] = "root_joint"
        self.ids = [model.getJointId(n) for n in names]
        assert all(i < model.njoints for i in self.ids)
        self.joints = [model.joints[i] for i in self.ids]
        self.v = np.concatenate([np.arange(j.idx_v, j.idx_v + j.nv) for j in self.joints])
        self.model = model

    def q(self, q):
        result = pin.neutral(self.model)
        at = 0
        for joint in self.joints:
            own = joint.nq if joint.nv == joint.nq or joint.nv > 1 else 1
            value = q[at : at + own]
            if joint.nq == 2 and joint.nv == 1:
                value = np.array([np.cos(value[0]), np.sin(value[0])])
            result[joint.idx_q : joint.idx_q + joint.nq] = value
            at += own
        return result

    def to_pin(self, v):
        result = np.zeros(self.model.nv)
        result[self.v] = v
        return result


def states(robot, seed):
    rng = np.random.default_rng(seed)
    for _ in range(STATES):
        yield robot.random(rng), *rng.uniform(-1.0, 1.0, (3, robot.n))


@pytest.mark.parametrize(("path", "base", "frame"), few_of(ROBOTS, USUAL))
def test_dynamics_agree(folder, path, base, frame):
    robot, model = both(folder, path, base)
    order, data = Ordering(robot, model), model.createData()
    assert robot.n == model.nv
    for q, v, a, tau in states(robot, 1):
        pq, pv, pa, ptau = order.q(q), order.to_pin(v), order.to_pin(a), order.to_pin(tau)
        assert relative_error(robot.inverse_dynamics(q, v, a), pin.rnea(model, data, pq, pv, pa)[order.v]) < AGREE
        M = pin.crba(model, data, pq)
        M = np.triu(M) + np.triu(M, 1).T
        assert relative_error(robot.mass_matrix(q), M[np.ix_(order.v, order.v)]) < AGREE
        acceleration = pin.aba(model, data, pq, pv, ptau)[order.v]
        singular = max(1.0, np.linalg.cond(M) * 1e-4)  # both lose digits to a badly conditioned M
        assert relative_error(robot.forward_dynamics(q, v, tau), acceleration) < AGREE * singular
        assert relative_error(robot.bias(q, v), pin.nonLinearEffects(model, data, pq, pv)[order.v]) < AGREE
        weight = pin.computeGeneralizedGravity(model, data, pq)[order.v]
        assert np.abs(robot.gravity(q) - weight).max() < AGREE * max(np.abs(weight).max(), 1.0)
        C = pin.computeCoriolisMatrix(model, data, pq, pv)[np.ix_(order.v, order.v)]
        assert relative_error(robot.coriolis_matrix(q, v), C) < AGREE
        kinetic, potential = pin.computeKineticEnergy(model, data, pq, pv), pin.computePotentialEnergy(model, data, pq)
        assert abs(robot.kinetic_energy(q, v) - kinetic) < AGREE * kinetic
        assert abs(robot.potential_energy(q) - potential) < AGREE * max(abs(potential), 1.0)


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize(("path", "base", "frame"), few_of(ROBOTS, USUAL))
def test_kinematics_agree(folder, path, base, frame):
    robot, model = both(folder, path, base)
    order, data = Ordering(robot, model), model.createData()
    name = frame or robot.link_names[-1]
    assert model.existBodyName(name)
    number = model.getFrameId(name, pin.FrameType.BODY)
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for q, v, a, _ in states(robot, 2):
        pq, pv, pa = order.q(q), order.to_pin(v), order.to_pin(a)
        pin.forwardKinematics(model, data, pq, pv, pa)
        pin.computeJointJacobiansTimeVariation(model, data, pq, pv)
        pin.updateFramePlacements(model, data)
        assert relative_error(robot.pose(q, name), data.oMf[number].homogeneous) < AGREE
        J = pin.computeFrameJacobian(model, data, pq, number, axes)[:, order.v]
        assert relative_error(robot.jacobian(q, name), J) < AGREE
        J_local = pin.computeFrameJacobian(model, data, pq, number, pin.ReferenceFrame.LOCAL)[:, order.v]
        assert relative_error(robot.jacobian(q, name, axes="local"), J_local) < AGREE
        velocity = pin.getFrameVelocity(model, data, number, axes).vector
        assert relative_error(robot.velocity(q, v, name), velocity) < AGREE
        acceleration = pin.getFrameClassicalAcceleration(model, data, number, axes).vector
        assert relative_error(robot.acceleration(q, v, a, name), acceleration) < AGREE
        rate = robot.jacobian_dot(q, v, name) @ v + robot.jacobian(q, name) @ a
        assert relative_error(rate, acceleration) < AGREE
        J_dot = pin.getFrameJacobianTimeVariation(model, data, number, axes)[:, order.v]
        assert relative_error(robot.jacobian_dot(q, v, name), J_dot) < AGREE


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize(("path", "base", "frame"), few_of(ROBOTS, USUAL))
def test_centre_of_mass_and_momentum_agree(folder, path, base, frame):
    robot, model = both(folder, path, base)
    order, data = Ordering(robot, model), model.createData()
    link = frame or robot.link_names[-1]
    beyond = model.frames[model.getFrameId(link, pin.FrameType.BODY)].parentJoint
    for q, v, a, _ in states(robot, 4):
        pq, pv, pa = order.q(q), order.to_pin(v), order.to_pin(a)
        pin.dccrba(model, data, pq, pv)
        assert relative_error(robot.centroidal_matrix(q), data.Ag[:, order.v]) < AGREE
        assert relative_error(robot.centroidal_matrix_dot(q, v), data.dAg[:, order.v]) < AGREE
        assert relative_error(robot.centroidal_momentum(q, v), data.hg.vector) < AGREE
        assert relative_error(robot.centroidal_inertia(q), data.Ig.inertia) < AGREE
        pin.centerOfMass(model, data, pq, pv, pa)
        assert relative_error(robot.center_of_mass(q), data.com[0]) < AGREE
        assert relative_error(robot.center_of_mass_velocity(q, v), data.vcom[0]) < AGREE
        assert relative_error(robot.center_of_mass_acceleration(q, v, a), data.acom[0]) < AGREE
        assert relative_error(robot.center_of_mass_jacobian(q), pin.jacobianCenterOfMass(model, data, pq)[:, order.v]) < AGREE
        pin.jacobianSubtreeCenterOfMass(model, data, pq, beyond)
        if data.mass[beyond] > 0.0:
            assert relative_error(robot.center_of_mass(q, link), data.com[beyond]) < AGREE
        inverse = pin.computeMinverse(model, data, pq)
        inverse = (np.triu(inverse) + np.triu(inverse, 1).T)[np.ix_(order.v, order.v)]
        conditioned = max(1.0, np.linalg.cond(inverse) * 1e-4)
        assert relative_error(robot.mass_matrix_inverse(q), inverse) < AGREE * conditioned


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize(("path", "base", "frame"), few_of(ROBOTS, USUAL))
def test_inertial_regressors_agree(folder, path, base, frame):
    robot, model = both(folder, path, base)
    order, data = Ordering(robot, model), model.createData()
    bodies = len(robot.model.moving)
    # Pinocchio numbers its columns by joint, we number ours by body; one body a joint in these files
    columns = np.concatenate([np.arange(10 * (i - 1), 10 * i) for i in order.ids])
    for q, v, a, _ in states(robot, 3):
        Y = pin.computeJointTorqueRegressor(model, data, order.q(q), order.to_pin(v), order.to_pin(a))
        ours = robot.regressor(q, v, a)[:, : 10 * bodies]
        assert relative_error(ours, Y[np.ix_(order.v, columns)]) < AGREE
        T = pin.computeKineticEnergyRegressor(model, data, order.q(q), order.to_pin(v))[columns]
        assert relative_error(robot.kinetic_energy_regressor(q, v)[: 10 * bodies], T) < AGREE
        U = pin.computePotentialEnergyRegressor(model, data, order.q(q))[columns]
        assert relative_error(robot.potential_energy_regressor(q)[: 10 * bodies], U) < AGREE


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize(("path", "base", "frame"), few_of(ROBOTS, USUAL))
def test_joint_wrenches_agree(folder, path, base, frame):
    robot, model = both(folder, path, base)
    order, data = Ordering(robot, model), model.createData()
    name = frame or robot.link_names[-1]
    number = model.getFrameId(name, pin.FrameType.BODY)
    rng = np.random.default_rng(5)
    for q, v, a, _ in states(robot, 5):
        wrench = rng.normal(size=6)
        external = [pin.Force.Zero() for _ in range(model.njoints)]
        carrier = model.frames[number]
        external[carrier.parentJoint] = carrier.placement.act(pin.Force(wrench))
        pin.rnea(model, data, order.q(q), order.to_pin(v), order.to_pin(a), pin.StdVec_Force(external))
        expected = np.array([data.f[i].vector for i in order.ids])
        assert relative_error(robot.joint_wrenches(q, v, a, {name: wrench}, axes="local"), expected) < AGREE


@pytest.mark.parametrize(
    ("path", "base"),
    [
        ("panda_description/urdf/panda.urdf", "fixed"),
        ("tiago_pro_description/robots/tiago_pro.urdf", "floating"),
        ("pr2_description/urdf/pr2.urdf", "fixed"),
        ("baxter_description/urdf/baxter.urdf", "fixed"),
    ],
)
def test_joints_that_follow_others_agree(folder, path, base):
    robot, model = both(folder, path, base, mimic=True)
    order, data = Ordering(robot, model), model.createData()
    assert robot.model.coupled
    assert robot.n == model.nv
    for q, v, a, _ in states(robot, 4):
        pq, pv, pa = order.q(q), order.to_pin(v), order.to_pin(a)
        assert relative_error(robot.inverse_dynamics(q, v, a), pin.rnea(model, data, pq, pv, pa)[order.v]) < AGREE
        M = pin.crba(model, data, pq)
        M = np.triu(M) + np.triu(M, 1).T
        assert relative_error(robot.mass_matrix(q), M[np.ix_(order.v, order.v)]) < AGREE


def test_wrenches_on_frames_agree(folder):
    robot, model = both(folder, "go2_description/urdf/go2.urdf", "floating")
    order, data = Ordering(robot, model), model.createData()
    rng = np.random.default_rng(5)
    for q, v, a, _ in states(robot, 6):
        feet = {name: rng.uniform(-20.0, 20.0, 6) for name in ("FL_foot", "RR_foot")}
        pq, pv, pa = order.q(q), order.to_pin(v), order.to_pin(a)
        pin.forwardKinematics(model, data, pq)
        pin.updateFramePlacements(model, data)
        forces = [pin.Force.Zero() for _ in range(model.njoints)]
        for name, wrench in feet.items():
            number = model.getFrameId(name)
            frame = model.frames[number]
            turn = pin.SE3(data.oMf[number].rotation, np.zeros(3))  # world axes to the frame's own
            forces[frame.parentJoint] += frame.placement.act(turn.actInv(pin.Force(wrench)))
        tau = pin.rnea(model, data, pq, pv, pa, forces)[order.v]
        assert relative_error(robot.inverse_dynamics(q, v, a, wrenches=feet), tau) < AGREE


@pytest.mark.parametrize(
    ("path", "points", "frames"),
    [
        ("solo_description/robots/solo12.urdf", ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"], []),
        ("anymal_b_simple_description/robots/anymal.urdf", ["RF_FOOT", "LH_FOOT"], ["LF_FOOT"]),
    ],
)
@pytest.mark.usefixtures("without_compilation")
def test_constrained_accelerations_forces_and_impulses_agree(folder, path, points, frames):
    """With forwardDynamics and impulseDynamics for our Jacobian, and with the contact models of constraintDynamics."""
    robot, model = both(folder, path, "floating")
    order, data = Ordering(robot, model), model.createData()
    held = dy.constrained(robot, points=points, frames=frames)
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    models = pin.StdVec_RigidConstraintModel()
    for kind, names in ((pin.ContactType.CONTACT_3D, points), (pin.ContactType.CONTACT_6D, frames)):
        for name in names:
            carrier = model.frames[model.getFrameId(name, pin.FrameType.BODY)]
            models.append(pin.RigidConstraintModel(kind, model, carrier.parentJoint, carrier.placement, axes))
    datas = pin.StdVec_RigidConstraintData()
    for one in models:
        datas.append(one.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    for q, v, _, tau in states(robot, 6):
        pq, pv, ptau = order.q(q), order.to_pin(v), order.to_pin(tau)
        a, forces = held.forward_dynamics(q, v, tau)
        J = np.zeros((held.rows, model.nv))
        J[:, order.v] = held.jacobian(q)
        rest = np.zeros(robot.n)
        gamma = np.concatenate([robot.acceleration(q, v, rest, x)[:3] for x in points]
                               + [robot.acceleration(q, v, rest, x) for x in frames])  # fmt: skip
        expected = pin.forwardDynamics(model, data, pq, pv, ptau, J, gamma, 0.0)[order.v]
        assert relative_error(a, expected) < 1e-8
        assert relative_error(forces, data.lambda_c) < 1e-8
        settings = pin.ProximalSettings(1e-12, 1e-8, 20)
        resting = held.impulse(q, v)[0]  # its frames are at rest, where spatial and classical accelerations are the same
        a, forces = held.forward_dynamics(q, resting, tau)
        contact = pin.constraintDynamics(model, data, pq, order.to_pin(resting), ptau, models, datas, settings)[order.v]
        assert relative_error(a, contact) < 1e-6
        a, forces = held.forward_dynamics_derivatives(q, rest, tau)
        pin.constraintDynamics(model, data, pq, rest, ptau, models, datas, settings)
        pin.computeConstraintDynamicsDerivatives(model, data, models, datas, settings)
        for found, theirs in zip(a, (data.ddq_dq, data.ddq_dv, data.ddq_dtau), strict=True):
            assert np.abs(found - theirs[np.ix_(order.v, order.v)]).max() < 1e-6 * (1.0 + np.abs(theirs).max())
        after, impulse = held.impulse(q, v, 0.3)
        assert relative_error(after, pin.impulseDynamics(model, data, pq, pv, J, 0.3, 0.0)[order.v]) < 1e-8
        assert relative_error(impulse, data.impulse_c) < 1e-8


def test_relative_accelerations_are_those_of_spatial_accelerations():
    robot = dy.load("panda")
    model = robot.to_pinocchio()
    data, rng = model.createData(), np.random.default_rng(0)
    q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.n))
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    A, B = (model.getFrameId(name) for name in ("panda_link3", "panda_link7"))
    (V_A, A_A), (V_B, A_B) = (
        (pin.getFrameVelocity(model, data, x, pin.LOCAL), pin.getFrameAcceleration(model, data, x, pin.LOCAL)) for x in (A, B)
    )
    X = data.oMf[A].actInv(data.oMf[B])
    V = V_B - X.actInv(V_A)
    spatial = A_B - X.actInv(A_A) + V.cross(X.actInv(V_A))
    expected = [*(spatial.linear + np.cross(V.angular, V.linear)), *spatial.angular]
    found = robot.acceleration(q, v, a, "panda_link7", relative_to="panda_link3", axes="local")
    np.testing.assert_allclose(found, expected, atol=1e-11)

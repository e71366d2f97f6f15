"""What must not change when the description changes in ways physics does not see."""

import copy

import numpy as np
import pytest
from campaign_params import seeds
from random_trees import random_inertia, random_pose, random_robot, random_states, relative_error

import dynamis as dy
from dynamis.algorithms.energy import spring_energy
from dynamis.model.build import with_floating_base
from dynamis.model.description import Drive, MassProperties
from dynamis.spatial import Pose

pytestmark = pytest.mark.usefixtures("without_compilation")
SEEDS = seeds(1, 3)


def dynamics(robot, q, v, a):
    tau = robot.inverse_dynamics(q, v, a)
    return tau, robot.mass_matrix(q), robot.coriolis_matrix(q, v), robot.forward_dynamics(q, v, tau)


def same(one, other, q, v, a, limit=1e-11):
    for x, y in zip(dynamics(one, q, v, a)[:3], dynamics(other, q, v, a)[:3], strict=True):
        assert relative_error(x, y) < limit


@pytest.fixture(params=SEEDS)
def case(request):
    rng = np.random.default_rng(request.param)
    robot = random_robot(rng, bodies=5, floating=False)
    while robot.n == 0:
        robot = random_robot(rng, bodies=5, floating=False)
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    return rng, robot, q, v, a


def root_of(d):
    carried = {joint.child for joint in d.joints}
    return next(link.name for link in d.links if link.name not in carried)


def test_turning_the_base_and_gravity_together(case):
    rng, robot, q, v, a = case
    d, turn = robot.description, random_pose(rng)
    root = root_of(d)
    for joint in d.joints:
        if joint.parent == root:
            joint.origin = turn @ joint.origin
    d.gravity = turn.R @ d.gravity
    same(dy.Robot(d), robot, q, v, a)


@pytest.mark.filterwarnings("ignore:random tree")
def test_splitting_a_link_by_a_fixed_joint(case):
    rng, robot, q, v, a = case
    d = robot.description
    link = d.links[rng.integers(len(d.links))]
    whole, share, place = link.mass_properties.inertia, random_inertia(rng), random_pose(rng)
    scaled = dy.Inertia.from_parameters(0.3 * share.parameters)
    rest = dy.Inertia.from_parameters(whole.parameters - scaled.seen_from(place).parameters)
    link.mass_properties = MassProperties(rest.mass, rest.com, rest.tensor_about_com)
    if rest.mass < 0.0:
        pytest.skip("the part would be heavier than the whole")
    d.add_link("part", link.name, origin=place, inertia=scaled)
    same(dy.Robot(d), robot, q, v, a)


def test_moving_a_links_frame_along_with_everything_given_in_it(case):
    rng, robot, q, v, a = case
    d, shift = robot.description, random_pose(rng)
    joint = d.joints[rng.integers(len(d.joints))]
    joint.tail = joint.tail @ shift
    link = d.link(joint.child)
    moved = link.mass_properties.inertia.seen_from(shift.inverse())
    link.mass_properties = MassProperties(moved.mass, moved.com, moved.tensor_about_com)
    for other in d.joints:
        if other.parent == link.name:
            other.origin = shift.inverse() @ other.origin
    same(dy.Robot(d), robot, q, v, a)


def test_adding_massless_frames(case):
    rng, robot, q, v, a = case
    d = robot.description
    for k in range(3):
        d.add_link(f"frame{k}", d.links[rng.integers(len(d.links))].name, origin=random_pose(rng))
    same(dy.Robot(d), robot, q, v, a)


def test_scaling_the_unit_of_mass(case):
    _, robot, q, v, a = case
    d = robot.description
    for link in d.links:
        m = link.mass_properties
        link.mass_properties = MassProperties(3.0 * m.mass, m.com, 3.0 * m.tensor)
    for joint in d.joints:
        for key in ("viscous", "coulomb", "coulomb_bias", "rotor_inertia", "stiffness"):
            setattr(joint.drive, key, 3.0 * getattr(joint.drive, key))
    scaled = dy.Robot(d)
    assert relative_error(scaled.inverse_dynamics(q, v, a), 3.0 * robot.inverse_dynamics(q, v, a)) < 1e-12


def test_scaling_the_unit_of_time(case):
    """With time running twice as fast, rates double, accelerations and torques quadruple, gravity too."""
    _, robot, q, v, a = case
    d = robot.description
    d.gravity = 4.0 * d.gravity
    for joint in d.joints:
        joint.drive.viscous *= 2.0
        joint.drive.coulomb *= 4.0
        joint.drive.coulomb_bias *= 4.0
        joint.drive.stiffness *= 4.0
    fast = dy.Robot(d)
    assert relative_error(fast.inverse_dynamics(q, 2.0 * v, 4.0 * a), 4.0 * robot.inverse_dynamics(q, v, a)) < 1e-12


@pytest.mark.parametrize("seed", seeds(3, 6))
def test_scaling_the_unit_of_length(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=5, floating=False, kinds=("revolute", "continuous", "universal"))
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    s, d = 2.5, robot.description
    stretch = lambda X: Pose(X.R, s * X.p)  # noqa: E731
    for link in d.links:
        m = link.mass_properties
        link.mass_properties = MassProperties(m.mass, s * m.com, s**2 * m.tensor)
    for joint in d.joints:
        joint.origin, joint.tail = stretch(joint.origin), stretch(joint.tail)
        for key in ("viscous", "coulomb", "coulomb_bias", "rotor_inertia", "stiffness"):
            setattr(joint.drive, key, s**2 * getattr(joint.drive, key))
    d.gravity = s * d.gravity
    assert relative_error(dy.Robot(d).inverse_dynamics(q, v, a), s**2 * robot.inverse_dynamics(q, v, a)) < 1e-12


@pytest.mark.parametrize("seed", seeds(3, 6))
def test_the_mirror_image_of_a_robot(seed):
    """Mirrored in the x–z plane: sliding coordinates stay, turning ones change sign."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=6, floating=False, kinds=("revolute", "prismatic", "fixed"), mimics=False)
    if robot.n == 0:
        pytest.skip("this seed made a robot of fixed joints only")
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    P = np.diag([1.0, -1.0, 1.0])
    mirror = lambda X: Pose(P @ X.R @ P, P @ X.p)  # noqa: E731
    d = copy.deepcopy(robot.description)
    for link in d.links:
        m = link.mass_properties
        link.mass_properties = MassProperties(m.mass, P @ m.com, P @ m.tensor @ P)
    for joint in d.joints:
        joint.origin, joint.tail = mirror(joint.origin), mirror(joint.tail)
        joint.axis = P @ joint.axis  # an angle about it now counts the other way round
        joint.drive.rest *= 1.0 if joint.type == "prismatic" else -1.0
        joint.drive.coulomb_bias *= 1.0 if joint.type == "prismatic" else -1.0
    d.gravity = P @ d.gravity
    sign = np.array([-1.0 if c.revolute else 1.0 for c in robot.model.coordinates])
    mirrored = dy.Robot(d).inverse_dynamics(sign * q, sign * v, sign * a)
    assert relative_error(sign * mirrored, robot.inverse_dynamics(q, v, a)) < 1e-12


def test_a_wrench_takes_its_power_from_the_joints_in_both_axes():
    robot, rng = dy.load("ur5e"), np.random.default_rng(7)
    (q,), (v,), (a,) = random_states(rng, robot, 1)
    wrench, tip = rng.standard_normal(6), robot.model.tip
    free, ledger = robot.inverse_dynamics(q, v, a), robot.torque_ledger(q, v, a)
    for axes in ("world", "local"):
        pushed = robot.jacobian(q, axes=axes).T @ wrench
        assert relative_error(robot.inverse_dynamics(q, v, a, {tip: wrench}, axes=axes), free - pushed) < 1e-12
        assert relative_error(robot.torque_ledger(q, v, a, {tip: wrench}, axes=axes).total, ledger.total - pushed) < 1e-12
        assert relative_error(robot.forward_dynamics(q, v, free - pushed, {tip: wrench}, axes=axes), a) < 1e-10


def test_a_spring_stores_half_its_stiffness_times_the_square_of_its_stretch():
    d = dy.Description("slider", gravity=[0.0, 0.0, 0.0]).add_link("base", inertia=random_inertia(np.random.default_rng(0)))
    d.add_link(
        "cart", "base", "prismatic", inertia=random_inertia(np.random.default_rng(1)), drive=Drive(stiffness=20.0, rest=0.3)
    )
    q = np.array([0.7])
    assert spring_energy(dy.Robot(d).model, q) == pytest.approx(0.5 * 20.0 * 0.4**2)
    flying = dy.Robot(with_floating_base(d))  # positions of a free joint have no springs
    assert flying.potential_energy(np.append(flying.neutral()[:-1], q)) == pytest.approx(0.5 * 20.0 * 0.4**2)

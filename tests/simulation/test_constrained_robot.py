"""Rigid contacts: equations of motion, redundancy, impacts, friction cones, loops."""

import pickle

import numpy as np
import pytest
from loop_mechanisms import rows

import dynamis as dy
from dynamis.simulation.loops.constrained import solve

FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]


@pytest.fixture(scope="module")
def go2():
    return dy.load("go2", base="floating")


@pytest.fixture(scope="module")
def stance(go2):
    return dy.constrained(go2, points=FEET)


@pytest.fixture(scope="module")
def standing(go2):
    return go2.q(go2.description.appearance.pose)


def states(robot, count, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng, count), *rng.normal(size=(2, count, robot.n))


def drift(robot, q, v, points):
    return np.concatenate([robot.acceleration(q, v, np.zeros(robot.n), name)[:3] for name in points])


def test_accelerations_and_forces_solve_the_equations_of_motion(go2, stance):
    q, v, tau = states(go2, 3)
    a, forces = stance.forward_dynamics(q, v, tau)
    D = stance.delassus(q)
    for k in range(3):
        J = stance.jacobian(q[k])
        balance = go2.inverse_dynamics(q[k], v[k], a[k]) - J.T @ forces[k]
        np.testing.assert_allclose(balance, tau[k], atol=1e-8)
        np.testing.assert_allclose(J @ a[k], -drift(go2, q[k], v[k], FEET), atol=1e-9)
        np.testing.assert_allclose(D[k], J @ np.linalg.solve(go2.mass_matrix(q[k]), J.T), atol=1e-10)
    wanted = np.linspace(-1.0, 1.0, 12)
    moved, _ = stance.forward_dynamics(q[0], v[0], tau[0], acceleration=wanted)
    np.testing.assert_allclose(stance.jacobian(q[0]) @ moved + drift(go2, q[0], v[0], FEET), wanted, atol=1e-9)


def test_compiled_batches_equal_single_states(go2, stance):
    q, v, tau = states(go2, 40, seed=1)
    a, forces = stance.forward_dynamics(q, v, tau)
    for k in (0, 39):
        one, force = stance.forward_dynamics(q[k], v[k], tau[k])
        np.testing.assert_allclose(one, a[k], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(force, forces[k], rtol=1e-9, atol=1e-9)


def test_redundant_contacts_give_the_same_motion(go2, stance):
    """Each foot twice: rank 12 of 24 rows, the forces shared."""
    q, v, tau = states(go2, 1, seed=2)
    double = dy.constrained(go2, points=FEET * 2)
    a, forces = double.forward_dynamics(q[0], v[0], tau[0])
    expected, single = stance.forward_dynamics(q[0], v[0], tau[0])
    np.testing.assert_allclose(a, expected, atol=1e-7)
    np.testing.assert_allclose(forces[:12] + forces[12:], single, atol=1e-6)
    np.testing.assert_allclose(forces[:12], forces[12:], atol=1e-4)


def test_an_impact_keeps_or_loses_energy_with_its_restitution(go2, stance):
    q, v, _ = states(go2, 1, seed=3)
    q, v = q[0], v[0]
    J, M = stance.jacobian(q), go2.mass_matrix(q)
    for e in (0.0, 0.5, 1.0):
        after, impulse = stance.impulse(q, v, e)
        np.testing.assert_allclose(J @ after, -e * (J @ v), atol=1e-9)
        np.testing.assert_allclose(M @ (after - v), J.T @ impulse, atol=1e-9)
    assert go2.kinetic_energy(q, after) == pytest.approx(go2.kinetic_energy(q, v), rel=1e-10)
    with pytest.raises(dy.InputError, match="between 0 and 1"):
        stance.impulse(q, v, 1.2)


def test_torques_of_a_standing_robot_hold_it_within_the_friction_cones(go2, stance, standing):
    rest = np.zeros(go2.n)
    tau, forces = stance.inverse_dynamics(standing, rest, rest, friction=0.5)
    assert not tau[:6].any()
    f = forces.reshape(4, 3)
    assert (np.hypot(f[:, 0], f[:, 1]) <= 0.5 * f[:, 2] + 1e-6).all()
    assert f[:, 2].sum() == pytest.approx(-go2.model.gravity[2] * go2.mass, rel=1e-6)
    a, reaction = stance.forward_dynamics(standing, rest, tau)
    np.testing.assert_allclose(a, 0.0, atol=1e-4)
    np.testing.assert_allclose(reaction, forces, atol=1e-3)
    free, _ = stance.inverse_dynamics(standing, rest, rest)
    assert np.linalg.norm(free) < np.linalg.norm(tau) + 1e-6  # without cones there is more to choose from


def test_inverse_dynamics_takes_batches(go2, stance, standing):
    tau, forces = stance.inverse_dynamics(np.tile(standing, (2, 1)), np.zeros(18), np.zeros((3, 1, 18)), friction=0.5)
    assert tau.shape == (3, 2, 18)
    assert forces.shape == (3, 2, 12)
    np.testing.assert_allclose(tau, np.broadcast_to(tau[0, 0], tau.shape), atol=1e-5)


def test_an_acceleration_beyond_friction_is_refused(go2, stance, standing):
    a = np.zeros(18)
    a[0] = 30.0  # forwards, three times g
    with pytest.raises(dy.InputError, match="no contact forces inside the friction cones"):
        stance.inverse_dynamics(standing, np.zeros(18), a, friction=0.5)


def test_the_centre_of_pressure_stays_inside_the_foot():
    """A humanoid on one foot: the wrench at the sole is that of its weight, and must pass through the sole."""
    d = dy.Description("block").add_link("world")
    d.add_link("foot", "world", "free", inertia=dy.solids.box(0.2, 0.1, 0.5, mass=10.0))
    d.add_link("arm", "foot", "prismatic", axis=(1, 0, 0), inertia=dy.solids.sphere(0.05, mass=10.0))
    robot = dy.Robot(d)
    held = dy.constrained(robot, frames="foot")
    rest = np.zeros(7)
    q = robot.q({"arm_joint": 0.15})
    _, wrench = held.inverse_dynamics(q, rest, rest, friction=0.8, support=(0.1, 0.05))
    # the weight of the arm acts at 0.15 m, that of the foot at its centre
    np.testing.assert_allclose(wrench, [0.0, 0.0, 196.2, 0.0, -0.15 * 98.1, 0.0], atol=1e-4)
    assert abs(wrench[4]) <= 0.1 * wrench[2] + 1e-6
    with pytest.raises(dy.InputError, match="no contact forces"):
        held.inverse_dynamics(robot.q({"arm_joint": 0.25}), rest, rest, friction=0.8, support=(0.1, 0.05))


@pytest.mark.parametrize("closed_by", ["plane", "pin"])
def test_forces_of_loops_are_those_in_the_null_space_of_their_rows(closed_by):
    """A pin of a planar loop has three redundant rows."""
    loop = dy.loops.four_bar(closed_by=closed_by)
    robot, q = loop.robot, loop.home()
    v = loop.assemble_velocity(q, np.array([1.0, 0.0, 0.0]))
    tau = np.array([0.5, 0.0, 0.0])
    c = rows(robot, loop.closures, q, v)
    expected = solve(robot.mass_matrix(q), tau - robot.bias(q, v), c.H, -c.bias)
    a, forces = loop.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a, expected.acceleration, atol=1e-10)
    np.testing.assert_allclose(forces, expected.multipliers, atol=1e-10)
    # inverse dynamics: the motor at the crank alone
    tau, forces = loop.inverse_dynamics(q, v, a, actuated=["crank"])
    np.testing.assert_allclose(tau, [0.5, 0.0, 0.0], atol=1e-6)


def test_baumgarte_terms_are_those_of_loops():
    loop = dy.loops.four_bar()
    robot, q = loop.robot, loop.home()
    v, tau = np.array([1.0, 0.3, -0.2]), np.zeros(3)
    off = q + np.array([0.0, 0.01, 0.0])
    a, _ = dy.constrained(robot, closures=loop.closures, alpha=3.0, beta=5.0).forward_dynamics(off, v, tau)
    c = rows(robot, loop.closures, off, v)
    np.testing.assert_allclose(c.H @ a, -c.bias - 6.0 * (c.H @ v) - 25.0 * c.h, atol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no contacts given"),
        ({"points": "FL_fot"}, "did you mean 'FL_foot'"),
        ({"points": FEET, "alpha": -1.0}, "alpha= must be a non-negative number"),
    ],
)
def test_wrong_contacts_are_refused(go2, arguments, message):
    with pytest.raises(dy.DynamisError, match=message):
        dy.constrained(go2, **arguments)


def test_contacts_on_the_base_and_wrong_cones_are_refused(stance, standing):
    with pytest.raises(dy.InputError, match="fixed to the base"):
        dy.constrained(dy.load("ur5e"), points="base")
    rest = np.zeros(18)
    with pytest.raises(dy.InputError, match="friction= must be a number that is not negative"):
        stance.inverse_dynamics(standing, rest, rest, friction=-0.5)
    with pytest.raises(dy.NameLookupError, match="no contact named 'foot'"):
        stance.inverse_dynamics(standing, rest, rest, friction={"foot": 0.5})
    with pytest.raises(dy.InputError, match=r"friction= has no value for .*None for a contact that may pull"):
        stance.inverse_dynamics(standing, rest, rest, friction={stance.contacts.points[0]: 0.5})


def test_a_constrained_robot_is_pickled_with_its_contacts_and_its_home(stance):
    loop = dy.loops.four_bar()
    assert pickle.loads(pickle.dumps(stance)).labels == stance.labels
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(loop)).home(), loop.home())


def test_wrenches_act_beside_torques(go2, stance):
    q, v, tau = states(go2, 3, seed=4)
    push = {"FL_thigh": np.arange(18.0).reshape(3, 6), "base": [1.0, -2.0, 3.0, 0.5, 0.0, -0.5]}
    pushed = sum(np.einsum("kij,...i->kj" if np.ndim(w) == 1 else "kij,ki->kj", go2.jacobian(q, x), w) for x, w in push.items())
    a, forces = stance.forward_dynamics(q, v, tau, push)
    expected, reaction = stance.forward_dynamics(q, v, tau + pushed)
    np.testing.assert_allclose(a, expected, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(forces, reaction, rtol=1e-9, atol=1e-8)


def test_contacts_have_the_functions_of_loops(go2, stance, standing):
    """Independent rows, a velocity that keeps the feet at rest, and the equation of motion in independent coordinates."""
    assert stance.independence(standing).degrees_of_freedom == 6
    assert len(dy.constrained(go2, points=FEET * 2).independence(standing).redundant) == 12
    np.testing.assert_array_equal(stance.assemble(standing), standing)
    v = stance.assemble_velocity(standing, np.ones(18))
    np.testing.assert_allclose(stance.jacobian(standing) @ v, 0.0, atol=1e-12)
    tau = np.linspace(-1.0, 1.0, 18)
    found = stance.reduced_dynamics(standing, v, tau, independent=range(6))
    np.testing.assert_allclose(found.full_acceleration, stance.forward_dynamics(standing, v, tau)[0], atol=1e-8)


def test_loops_are_assembled_with_contacts_where_they_are():
    loop = dy.loops.five_bar()
    held = dy.constrained(loop.robot, points="left_lower", closures=loop.closures)
    q = held.assemble(loop.home() + np.array([0.1, 0.2, -0.1, 0.1]))
    np.testing.assert_allclose(q[0], loop.home()[0] + 0.1, atol=1e-12)  # the elbow does not move
    assert np.abs(rows(loop.robot, loop.closures, q).h).max() < 1e-12


def test_accelerations_near_singular_configurations_satisfy_their_rows():
    """All joints of an arm are held, near a stretched elbow: the rows are nearly dependent."""
    robot = dy.load("ur5e")
    held, v = dy.constrained(robot, frames="tool0"), np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.6])
    for bend in (1e-3, 1e-5):
        q = np.array([[0.3, -1.2, bend, -0.4, 0.8, 0.1], [0.3, -1.2, 1.5, -0.4, 0.8, 0.1]])
        a, forces = held.forward_dynamics(q, v, np.zeros(6))
        for k in range(2):
            wanted = -robot.acceleration(q[k], v, np.zeros(6), "tool0")
            np.testing.assert_allclose(held.jacobian(q[k]) @ a[k], wanted, atol=1e-11 * (1.0 + np.abs(a[k]).max()))
        needed = robot.inverse_dynamics(q[1], v, a[1])
        np.testing.assert_allclose(needed, held.jacobian(q[1]).T @ forces[1], atol=1e-9)
    with pytest.raises(dy.SingularError, match=r"no acceleration keeps contacts.* \(state \[1\] of the batch\)"):
        held.forward_dynamics([[0.3, -1.2, 1.5, -0.4, 0.8, 0.1], [0.3, -1.2, 0.0, -0.4, 0.8, 0.1]], v, np.zeros(6))


def test_arguments_without_effect_are_refused():
    robot = dy.load("go2", base="floating")
    rest = np.zeros(robot.n)
    with pytest.raises(dy.InputError, match="names of frames"):
        dy.constrained(robot, points=3)
    foot = dy.constrained(robot, frames="FL_foot")
    with pytest.raises(dy.InputError, match="give friction= too"):
        foot.inverse_dynamics(robot.home(), rest, rest, support=(0.1, 0.1))
    point = dy.constrained(robot, points="FL_foot")
    with pytest.raises(dy.InputError, match="transmits no moments"):
        point.inverse_dynamics(robot.home(), rest, rest, friction=0.5, support=(0.1, 0.1))


@pytest.mark.filterwarnings("ignore::dynamis.ModelWarning")
def test_singular_robots_and_contacts_without_effect_are_named():
    d = dy.Description("arm").add_link("base")
    d.add_link("upper", "base", "revolute", joint_name="a", inertia=dy.solids.sphere(0.1, mass=1.0))
    on_the_axis = dy.constrained(dy.Robot(d), points="upper")
    with pytest.raises(dy.SingularError, match=r"no joint moves any of the contacts \(upper: x, upper: y.*choose points"):
        on_the_axis.forward_dynamics([0.1], [0.0], [1.0])
    d.add_link("hand", "upper", "revolute", joint_name="b", axis=[1, 0, 0], origin=dy.Pose.translation([0.3, 0.0, 0.0]))
    singular = dy.constrained(dy.Robot(d), points="hand")
    for call in (lambda q: singular.forward_dynamics(q, q, q), singular.delassus, lambda q: singular.impulse(q, q)):
        with pytest.raises(dy.SingularError, match="joint 'b' can move without moving any mass; give the links"):
            call(np.array([0.1, 0.2]))


def of_each(held, q, v, a, **options):
    """Torques and forces of states one by one."""
    return (
        np.array(x) for x in zip(*(held.inverse_dynamics(*one, **options) for one in zip(q, v, a, strict=True)), strict=True)
    )


def test_forces_inside_cones_of_a_batch_are_those_of_single_states(go2, stance, standing):
    rng = np.random.default_rng(0)
    q = go2.integrate(np.tile(standing, (24, 1)), 0.05 * rng.normal(size=(24, 18)))
    v, a = 0.1 * rng.normal(size=(24, 18)), 0.6 * rng.normal(size=(24, 18))
    tau, forces = stance.inverse_dynamics(q.reshape(4, 6, -1), v.reshape(4, 6, -1), a.reshape(4, 6, -1), friction=0.25)
    assert tau.shape == (4, 6, 18)
    assert forces.shape == (4, 6, 12)
    f = forces.reshape(24, 4, 3)
    assert (np.hypot(f[..., 0], f[..., 1]) <= 0.25 * f[..., 2] + 1e-6).all()
    assert (np.hypot(f[..., 0], f[..., 1]) > 0.249 * f[..., 2]).any()
    one_tau, one_forces = of_each(stance, q, v, a, friction=0.25)
    np.testing.assert_allclose(tau.reshape(24, -1), one_tau, atol=1e-3)
    np.testing.assert_allclose(forces.reshape(24, -1), one_forces, atol=1e-3)
    J = stance.jacobian(q)
    balance = np.einsum("krn,kr->kn", J, forces.reshape(24, 12)) + tau.reshape(24, 18)
    np.testing.assert_allclose(balance, go2.inverse_dynamics(q, v, a), atol=1e-7)


def test_wrenches_of_rectangular_feet_of_a_batch_are_those_of_single_states():
    robot = dy.load("ur5e")
    held, rng = dy.constrained(robot, frames="tool0"), np.random.default_rng(1)
    some, normal = robot.random(rng, 200), (0.0, 0.6, 0.8)
    q, rest = some[np.abs(robot.pose(some, "tool0")[:, :3, 2] @ normal) > 0.6][:20], np.zeros((20, 6))  # soles on the ground
    options = {"friction": 0.8, "support": (0.1, 0.05), "normal": normal}
    tau, wrenches = held.inverse_dynamics(q, rest, rest, **options)
    one_tau, one_wrenches = of_each(held, q, rest, rest, **options)
    np.testing.assert_allclose(tau, one_tau, atol=2e-3)
    np.testing.assert_allclose(wrenches, one_wrenches, atol=2e-2)


def test_a_state_of_a_batch_without_forces_inside_the_cones_is_named(stance, standing):
    a = np.zeros((30, 18))
    a[17, 2] = -20.0  # faster than falling
    with pytest.raises(dy.InputError, match=r"state \[17\] of the batch"):
        stance.inverse_dynamics(np.tile(standing, (30, 1)), np.zeros(18), a, friction=0.5)


def test_contacts_are_held_in_a_simulation(go2, stance, standing):
    tau, _ = stance.inverse_dynamics(standing, np.zeros(18), np.zeros(18))

    def law(_t, q, v):
        return tau + np.concatenate([np.zeros(6), 60.0 * (standing[7:] - q[7:]) - 3.0 * v[6:]])

    push = {"base": [20.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
    motion = stance.simulate(0.1, standing, controller=law, wrenches=push, points=6)
    assert motion.status == "completed"
    assert motion.constraint_names == stance.labels
    feet = np.array([go2.pose(motion.q, name)[:, :3, 3] for name in FEET])
    np.testing.assert_allclose(feet, feet[:, :1] + 0.0 * feet, atol=1e-12)
    assert motion.q[-1, 0] > standing[0] + 1e-4
    wrench = go2.jacobian(motion.q[-1], "base").T @ push["base"]
    a, forces = stance.forward_dynamics(motion.q[-1], motion.v[-1], motion.tau[-1] + wrench)
    np.testing.assert_allclose(motion.acceleration[-1], a, atol=1e-7)
    np.testing.assert_allclose(motion.constraint_forces[-1], forces, atol=1e-6)


def test_frames_are_held_in_their_pose_and_moving_contacts_are_refused():
    robot = dy.load("ur5e")
    held = dy.constrained(robot, frames="wrist_1_link")
    q = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])
    motion = held.simulate(0.1, q, [0.0, 0.0, 0.0, 0.0, 1.0, -1.0], points=3)
    X = robot.pose(q, "wrist_1_link")
    np.testing.assert_allclose(robot.pose(motion.q, "wrist_1_link"), np.tile(X, (3, 1, 1)), atol=1e-12)
    with pytest.raises(dy.InputError, match="v0 does not close"):
        held.simulate(0.1, q, np.ones(6))


def test_contacts_and_loops_hold_in_rollouts(go2, standing):
    stance = dy.constrained(go2.replace(friction=0), points=FEET, alpha=20.0)
    q0 = np.array([standing, standing])
    made = dy.rollouts(stance, 0.05, q0, every=25, step=1e-3)
    alone = stance.simulate(0.05, standing, points=3)
    np.testing.assert_allclose(made.q[:, 1], alone.q, atol=1e-8)
    loop = dy.loops.four_bar()
    bar = dy.constrained(loop.robot, closures=loop.closures, alpha=20.0, beta=20.0)
    push = {"coupler": [1.0, 2.0, 0.0, 0.0, 0.0, 0.5]}
    many = dy.rollouts(bar, 0.3, loop.home()[None], every=100, wrenches=push)
    one = loop.simulate(0.3, points=4, wrenches=push)
    np.testing.assert_allclose(many.q[:, 0], one.q, atol=1e-7)


def test_rollouts_with_contacts_refuse_implicit_methods_and_sticking_joints(go2, stance, standing):
    with pytest.raises(dy.InputError, match="the method must be 'rk4' or 'euler'"):
        dy.rollouts(stance, 0.1, standing[None], method="time_stepping")
    sticks = dict.fromkeys(go2.joint_names[1:], dy.Coulomb(1.0, 1.0))
    with pytest.raises(dy.InputError, match="joints do not stick"):
        dy.rollouts(stance, 0.1, standing[None], friction=sticks)


def test_torques_and_forces_for_a_motion_under_a_push_produce_it(stance, standing):
    push, rest = {"base": [40.0, -20.0, 0.0, 1.0, 2.0, 0.0]}, np.zeros(18)
    tau, forces = stance.inverse_dynamics(standing, rest, rest, push, friction=0.6)
    np.testing.assert_allclose(forces.reshape(4, 3)[:, :2].sum(axis=0), [-40.0, 20.0], atol=1e-6)
    np.testing.assert_allclose(stance.forward_dynamics(standing, rest, tau, push)[0], 0.0, atol=1e-6)


@pytest.mark.parametrize("batch", [(), (25,)])
def test_a_sole_whose_z_axis_is_far_from_the_normal_is_refused(batch):
    robot = dy.load("ur5e")
    for turn, allowed in ((0.0, True), (np.pi, True), (1.0, True), (1.1, False), (np.pi / 2, False)):
        q = robot.random(3)
        R = np.array(dy.Pose.from_rpy([turn, 0.0, 0.0], np.zeros(3)).R)  # of the frame, in axes whose z is the normal
        tilted = robot.with_frame("sole", "tool0", dy.Pose.rotation(robot.pose(q, "tool0")[:3, :3].T @ R))
        held, given = dy.constrained(tilted, frames="sole"), [np.broadcast_to(x, (*batch, 6)) for x in (q, 0.0, 0.0)]
        if allowed:
            assert np.isfinite(held.inverse_dynamics(*given, friction=0.5, support=(0.1, 0.05))[0]).all()
            continue
        text = f"x-y plane of its frame, whose z axis is {np.rad2deg(turn):.0f}° from the normal here, more than 60°"
        with pytest.raises(dy.InputError, match=text):
            held.inverse_dynamics(*given, friction=0.5, support=(0.1, 0.05))
        held.inverse_dynamics(*given, friction={"sole": None})  # without a sole nothing is assumed of the axes

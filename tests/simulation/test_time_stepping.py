"""Time stepping: joints that truly stop, contacts that stand still, order two, and the same in a batch."""

import numpy as np
import pytest

import dynamis as dy

PUMA = dy.load("puma560")
START = np.array([0.0, 0.7, -0.5, 0.3, 0.2, 0.1])
ARM = dy.load("planar_2r_melchiorri")
RUBBING = ARM.replace(friction={name: {"coulomb": 60.0, "viscous": 20.0} for name in ARM.joint_names})
FLOOR = dy.Plane()


def swing(_t, q, v):
    return -1500.0 * (q - np.array([-0.6, 0.4])) - 300.0 * v


def test_rollouts_of_a_robot_with_dry_friction_stick_by_default_and_say_so():
    exact = dy.simulate(PUMA, 0.5, START, points=6)
    made = dy.rollouts(PUMA, 0.5, START, every=100)
    assert made.method == "time_stepping"
    assert made.friction.startswith("Coulomb friction with sticking: waist, shoulder")
    np.testing.assert_allclose(made.q, exact.q, atol=1e-6)
    np.testing.assert_array_equal(made.v == 0.0, exact.v == 0.0)


@pytest.mark.parametrize("friction", ["model", {ARM.coordinate_names[0]: dy.Stribeck(40.0, 70.0, 0.1)}])
def test_the_error_beside_event_driven_integration_is_of_order_two(friction):
    exact = dy.simulate(RUBBING, 0.6, [-0.3, 0.2], controller=swing, friction=friction, points=13)
    assert exact.events
    errors = []
    for step in (2e-3, 1e-3):
        made = dy.rollouts(RUBBING, 0.6, [-0.3, 0.2], controller=swing, friction=friction, step=step, every=round(0.05 / step))
        errors.append(abs(made.q - exact.q).max())
    assert errors[1] < 2e-5
    assert errors[1] < 0.5 * errors[0]


def test_a_joint_that_is_held_does_not_creep():
    held = dy.rollouts(RUBBING, 2.0, [-np.pi / 2, 0.0], controller=lambda _t, _q, _v: np.array([30.0, -20.0]), every=2000)
    np.testing.assert_array_equal(held.q[-1], held.q[0])
    np.testing.assert_array_equal(held.v[-1], 0.0)


def test_simulate_takes_the_same_steps_and_tells_the_friction_that_holds():
    made = dy.rollouts(RUBBING, 0.3, [-0.3, 0.2], step=1e-3, every=10)
    one = dy.simulate(RUBBING, 0.3, [-0.3, 0.2], method="time_stepping", step=1e-3, points=31)
    np.testing.assert_allclose(one.q, made.q, atol=1e-12)
    held = dy.simulate(RUBBING, 0.1, [-np.pi / 2, 0.0], torque=[30.0, -20.0], method="time_stepping", points=3)
    np.testing.assert_allclose(held.friction, [[30.0, -20.0]] * 3, atol=1e-9)
    assert abs(one.energy_error).max() < 1e-3


def test_a_batch_in_single_precision_sticks_too():
    made = dy.rollouts(RUBBING, 0.3, np.array([[-np.pi / 2, 0.0]] * 3, np.float32), every=300)
    assert made.q.dtype == np.float32
    np.testing.assert_array_equal(made.v[-1], 0.0)


def test_explicit_methods_still_refuse_sticking_and_name_the_method_that_takes_it():
    with pytest.raises(dy.InputError, match="method='time_stepping'"):
        dy.rollouts(RUBBING, 0.1, [0.0, 0.0], method="rk4")
    with pytest.raises(dy.InputError, match="method='time_stepping'"):
        dy.simulate(RUBBING, 0.1, method="rk4", step=1e-3)


def ball(mass=2.0):
    d = dy.Description("ball", gravity=np.array([0.0, 0.0, -9.81])).add_link("base")
    d.add_link("ball", "base", "prismatic", axis=(0, 0, 1), inertia=dy.solids.sphere(0.1, mass=mass))
    return dy.Robot(d)


def test_a_ball_bounces_as_the_law_of_contact_says():
    robot = ball()
    floor = dy.contact(robot, "ball", FLOOR, stiffness=1e4, damping=0.3, radius=0.1)
    exact = dy.simulate(robot, 1.0, [0.5], wrenches={"ball": floor}, rtol=1e-9, atol=1e-11, points=21)
    made = dy.simulate(robot, 1.0, [0.5], wrenches={"ball": floor}, points=21)
    assert made.statistics["method"] == "time_stepping"
    np.testing.assert_allclose(made.q, exact.q, atol=0.01)
    assert made.energy.max() <= made.energy[0] + 1e-3


@pytest.mark.parametrize("step", [2e-4, 1e-3, 4e-3])
def test_the_energy_error_of_contacts_is_of_the_size_of_the_error_of_integration(step):
    robot = ball()
    floor = dy.contact(robot, "ball", FLOOR, stiffness=1e4, damping=0.3, radius=0.1)
    exact = dy.simulate(robot, 1.0, [0.5], wrenches={"ball": floor}, rtol=1e-9, atol=1e-11, points=21)
    made = dy.simulate(robot, 1.0, [0.5], wrenches={"ball": floor}, points=21, method="time_stepping", step=step)
    true = abs(made.energy[-1] - exact.energy[-1])
    assert 0.3 * true < abs(made.energy_error).max() < 40.0 * true


@pytest.mark.parametrize("options", [{}, {"damping": 0.5}, {"damping": 0.5, "friction": 0.4, "slip": 1e-2}])
def test_contacts_are_of_order_two_in_simulate_and_in_rollouts(options):
    arm = dy.load("planar_2r_melchiorri")
    floor = dy.contact(arm, None, dy.Plane((0.0, -0.9, 0.0), (0.0, 1.0, 0.0)), stiffness=1e4, **options)
    start, given = [-0.6, 0.3], {"wrenches": {floor.frame: floor}, "friction": "none"}
    exact = dy.simulate(arm, 0.5, start, **given, method="DOP853", rtol=1e-10, atol=1e-12, points=2).q[-1]
    errors = []
    for step in (2e-3, 1e-3, 5e-4):
        made = dy.simulate(arm, 0.5, start, **given, method="time_stepping", step=step, points=2).q[-1]
        batch = dy.rollouts(arm, 0.5, start, **given, method="time_stepping", step=step).q[-1]
        np.testing.assert_allclose(np.ravel(batch), made, rtol=1e-9, atol=1e-12)
        errors.append(abs(made - exact).max())
    # where a contact begins and ends within a step, the ratio scatters about four
    assert errors[0] > 6.0 * errors[2]
    assert errors[0] < 5e-5


def test_a_bounce_without_losses_keeps_the_energy():
    robot = ball()
    floor = dy.contact(robot, "ball", FLOOR, stiffness=1e4, radius=0.1)
    made = dy.simulate(robot, 1.0, [0.5], wrenches={"ball": floor})
    assert abs(made.energy[-1] - made.energy[0]) < 3e-3 * made.energy[0]


def test_a_ball_does_not_fall_through_a_floor_that_is_too_stiff_for_the_step():
    robot, start = ball(), np.linspace(0.5, 0.53, 13)[:, None]
    for damping in (0.0, 2.0):
        floor = dy.contact(robot, "ball", FLOOR, stiffness=1e6, damping=damping, radius=0.1)
        assert dy.rollouts(robot, 2.0, start, wrenches={"ball": floor}, step=8e-3).q.min() > 0.05


@pytest.mark.parametrize(("friction", "slides"), [(0.1, True), (0.6, False)])
def test_a_block_on_an_incline_slides_or_stays_as_its_friction_says(friction, slides):
    d = dy.Description("block", gravity=np.array([0.3 * 9.81, 0.0, -9.81])).add_link("base")
    d.add_link("cart", "base", "prismatic", axis=(1, 0, 0), inertia=dy.solids.sphere(0.1, mass=0.5))
    d.add_link("block", "cart", "prismatic", axis=(0, 0, 1), inertia=dy.solids.sphere(0.1, mass=0.5))
    robot = dy.Robot(d)
    floor = dy.contact(robot, "block", FLOOR, stiffness=1e4, damping=1.0, friction=friction, slip=1e-6)
    # only the block rests on the floor: the cart's weight is carried by its joint
    depth, normal = 0.5 * 9.81 / 1e4, 0.5 * 9.81
    motion = dy.simulate(robot, 0.5, [0.0, -depth], wrenches={"block": floor}, points=3)
    expected = 0.5 * (0.3 * 9.81 - friction * normal) * 0.25 if slides else 0.0
    np.testing.assert_allclose(motion.q[-1, 0], expected, rtol=5e-3, atol=5e-6)
    np.testing.assert_allclose(motion.q[-1, 1], -depth, atol=1e-6)


GO2_FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")


def test_a_quadruped_dropped_on_the_floor_comes_to_stand_and_gains_no_energy():
    dog = dy.load("go2", base="floating")
    floor = {foot: dy.contact(dog, foot, FLOOR, stiffness=2e4, damping=0.5, friction=0.8, radius=0.022) for foot in GO2_FEET}
    q = dog.neutral()
    q[2], q[7:] = 0.36, [0.0, 0.9, -1.8] * 4
    pose = q[7:].copy()

    def law(_t, q, v):
        return np.concatenate([np.zeros(6), -200.0 * (q[7:] - pose) - 8.0 * v[6:]])

    motion = dy.simulate(dog, 1.0, q, controller=law, wrenches=floor, points=101)
    assert motion.status == "completed"
    assert motion.energy_imbalance < 2e-3
    assert abs(motion.v[-20:]).max() < 0.02
    assert np.ptp(motion.q[-20:, :3], axis=0).max() < 1e-3
    np.testing.assert_allclose(sum(motion.wrenches[foot][-1, 2] for foot in GO2_FEET), 9.81 * dog.mass, rtol=0.02)

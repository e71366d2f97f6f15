"""Loops with joints that stick, motors and controllers with states: compared with trees that move alike."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.description import Drive, Mimic

loops = dy.loops
BODY = dy.Inertia.about_com(1.3, (0.1, -0.2, 0.15), np.diag([0.05, 0.06, 0.07]))
GEAR = loops.Coupled("two", "one", 1.0, 0.3)


def pendulums(mimic, coulomb=0.0):
    """Two pendulums that swing together, by a gear or by a joint that follows."""
    d = dy.Description("geared", gravity=np.array([0.0, -9.81, 0.0])).add_link("base")
    for name in ("one", "two"):
        d.add_link(name, "base", "continuous", joint_name=name, inertia=BODY)
    d.joint("one").drive = Drive(viscous=0.05, coulomb=coulomb)
    if mimic:
        d.joint("two").mimic = Mimic("one", 1.0, 0.3)
    return dy.Robot(d)


def geared(coulomb=0.0):
    return dy.constrained(pendulums(False, coulomb), closures=GEAR)


def both(t, q, coulomb=0.0, points=41, **options):
    loop_options = {key: options.pop(key) for key in ("step", "method", "stabilisation", "rtol", "atol") if key in options}
    torque = options.pop("torque", None)
    loop = geared(coulomb).simulate(
        t, [q, q + 0.3], points=points, **options, **loop_options,
        torque=None if torque is None else lambda t: [*torque(t), 0.0],
    )  # fmt: skip
    return loop, dy.simulate(pendulums(True, coulomb), t, [q], torque=torque, points=points, **options)


def test_joints_of_loops_stick_and_slide_like_those_of_trees():
    loop, tree = both(2.5, 0.4, coulomb=1.0, friction="model", step=2e-3)
    assert loop.status == "completed"
    np.testing.assert_allclose(loop.q[:, :1], tree.q, atol=1e-3)
    assert not tree.v[-1].any()
    assert not loop.v[-1].any()  # exactly
    np.testing.assert_allclose(loop.friction[-1, 0], tree.friction[-1, 0], atol=1e-3)
    assert loop.drift.max() < 1e-12


def test_time_stepping_of_loops_has_order_two():
    loop = loops.four_bar()
    exact = loop.simulate(0.4, rtol=1e-10, atol=1e-12, points=3)
    coarse, fine = (
        np.abs(loop.simulate(0.4, method="time_stepping", step=h, points=3).q - exact.q).max() for h in (4e-3, 2e-3)
    )
    assert 3.5 < coarse / fine < 4.5


def test_friction_shared_by_all_joints_holds_a_four_bar_at_rest():
    loop = loops.four_bar()
    robot, q = loop.robot, loop.home()
    sticks = dict.fromkeys(robot.joint_names, dy.Coulomb(1.0, 1.0))
    motion = loop.simulate(0.2, friction=sticks, step=1e-2, points=5)
    np.testing.assert_allclose(motion.q, np.tile(q, (5, 1)), atol=1e-14)
    assert not motion.v.any()
    assert np.abs(motion.friction).max() <= 1.0
    np.testing.assert_allclose(motion.ledger.total, motion.tau, atol=1e-10)
    # ten times the torque that friction can hold
    moving = loop.simulate(0.2, friction=sticks, torque=[20.0, 0.0, 0.0], step=1e-2, points=5)
    assert np.abs(moving.v[-1]).min() > 0.1
    np.testing.assert_allclose(moving.friction[-1], np.sign(moving.v[-1]))
    np.testing.assert_allclose(moving.ledger.total, moving.tau, atol=1e-10)


def test_stribeck_friction_breaks_away_at_its_static_value():
    law = {"one": dy.Stribeck(0.5, 2.0, 0.05)}
    loop = geared()
    weight = loop.robot.gravity([0.0, 0.3]).sum()
    for push, moves in ((1.9, False), (2.1, True)):
        motion = loop.simulate(0.1, [0.0, 0.3], friction=law, torque=[weight + push, 0.0], step=2e-3, points=3)
        assert motion.v.any() == moves


@pytest.mark.parametrize("friction", ["none", "smooth"])
@pytest.mark.parametrize(
    "actuator",
    [
        dy.DCMotor(resistance=0.5, constant=0.1, ratio=50.0, inductance=1e-3, supply=48.0),
        dy.Saturated(2.0),
        dy.Elastic(stiffness=500.0, inertia=0.02, damping=1.0),
    ],
    ids=lambda x: type(x).__name__,
)
def test_motors_drive_loops_like_trees(actuator, friction):
    exact = {"rtol": 1e-9, "atol": 1e-11}
    loop, tree = both(
        0.3, 0.4, coulomb=0.5, points=7, friction=friction, torque=lambda t: [6.0 + t], actuators={"one": actuator}, **exact
    )
    np.testing.assert_allclose(loop.q[:, :1], tree.q, atol=1e-6)
    np.testing.assert_allclose(loop.tau[:, 0], tree.tau[:, 0], atol=1e-3)
    for name, states in tree.actuator_states.items():
        np.testing.assert_allclose(loop.actuator_states[name], states, atol=1e-3)
    assert np.abs(loop.energy_error).max() < 1e-6


def test_motors_of_the_model_drive_loops():
    robot = pendulums(False).replace(actuators={"one": dy.Saturated(2.0)})
    motion = dy.constrained(robot, closures=GEAR).simulate(0.1, [0.4, 0.7], torque=[50.0, 0.0], points=3)
    np.testing.assert_allclose(motion.tau[:, 0], 2.0)


def test_motors_and_friction_that_sticks_act_together():
    motor = dy.DCMotor(resistance=0.5, constant=0.1, ratio=50.0, supply=48.0)
    loop, tree = both(1.0, 0.4, coulomb=1.0, friction="model", step=2e-3, torque=lambda t: [3.0 * np.sin(4.0 * t)],
                      actuators={"one": motor})  # fmt: skip
    np.testing.assert_allclose(loop.q[:, :1], tree.q, atol=1e-3)


def test_bristles_act_in_loops():
    friction = {"one": dy.LuGre(0.5, 0.8, 0.05, 200.0, 2.0)}
    loop, tree = both(0.5, 0.4, friction=friction, points=6)
    np.testing.assert_allclose(loop.q[:, :1], tree.q, atol=1e-6)
    np.testing.assert_allclose(loop.friction[:, 0], tree.friction[:, 0], atol=1e-4)


class Integral(dy.Controller):
    """PI control of the first joint about 0.5 rad."""

    size = 1

    def __call__(self, robot, _t, q, v, x):
        return np.array([-60.0 * (q[0] - 0.5) - 8.0 * v[0] - 40.0 * x[0], *np.zeros(robot.n - 1)])

    def rates(self, _robot, _t, q, _v, _x):
        return q[:1] - 0.5


def test_controllers_with_states_act_in_loops():
    loop, tree = both(1.0, 0.2, points=6, controller=Integral(), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(loop.q[:, :1], tree.q, atol=1e-6)
    np.testing.assert_allclose(loop.actuator_states["controller"], tree.actuator_states["controller"], atol=1e-6)
    assert np.abs(tree.actuator_states["controller"]).max() > 0.01


class TestALawOfTheTreeOnAMechanismWithMotorsAtSomeJoints:
    loop = dy.loops.five_bar()
    goal = loop.assemble(loop.home() + 0.1 * np.array([2, 0, 1, 0]), locked=["left", "right"])
    motors = ("left", "right")

    @pytest.mark.parametrize("sampled", [False, True])
    def test_it_reaches_its_goal_with_their_torques_alone(self, sampled):
        law = dy.control.ComputedTorque.designed(self.goal, bandwidth=8.0)
        given = dy.Sampled(law, 500.0) if sampled else law
        motion = self.loop.simulate(1.5, controller=given, actuated=self.motors, points=31)
        np.testing.assert_array_equal(motion.tau[:, [1, 3]], 0.0)
        np.testing.assert_allclose(motion.q[-1], self.goal, atol=1e-3)
        if not sampled:
            with pytest.warns(dy.ModelWarning, match="torques at all coordinates of the tree"):
                free = self.loop.simulate(1.5, controller=law, points=31)
            assert np.abs(free.tau[:, [1, 3]]).max() > 0.1
            np.testing.assert_allclose(motion.q, free.q, atol=1e-6)  # the same effect

    def test_one_with_states(self):
        class Integral(dy.Controller):
            size = 4

            def __call__(self, robot, t, q, v, x):
                return robot.gravity(q) - 40.0 * (q - TestALawOfTheTreeOnAMechanismWithMotorsAtSomeJoints.goal) - 4.0 * v - x

            def rates(self, robot, t, q, v, x):
                return q - TestALawOfTheTreeOnAMechanismWithMotorsAtSomeJoints.goal

        free = self.loop.simulate(0.3, controller=Integral(), points=4)
        motion = self.loop.simulate(0.3, controller=Integral(), actuated=self.motors, points=4)
        np.testing.assert_array_equal(motion.tau[:, [1, 3]], 0.0)
        np.testing.assert_allclose(motion.q, free.q, atol=1e-6)

    def test_torques_as_they_are_and_batches(self):
        with pytest.raises(dy.InputError, match="actuated= is for a controller="):
            self.loop.simulate(0.1, torque=[1.0, 0.0, 0.0, 0.0], actuated=self.motors)
        law = dy.control.ComputedTorque.designed(self.goal, bandwidth=8.0)
        held = dy.constrained(self.loop.robot, closures=self.loop.closures, alpha=20.0, beta=20.0)
        with pytest.warns(dy.ModelWarning, match="with motors at some, simulate one by one"):
            dy.rollouts(held, 0.01, self.loop.home(), controller=law)

"""PID: no steady-state error, anti-windup, and conditions that agree with simulations on both sides."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.control import PID

GOAL = np.array([0.5, -0.5])


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r_melchiorri")


@pytest.mark.parametrize("gravity", ["none", "here", "goal"])
def test_a_payload_that_the_law_does_not_know_leaves_no_error(arm, gravity):
    loaded = arm.replace(payload=dy.solids.sphere(0.1, mass=10.0))
    law = PID.designed(arm, GOAL, bandwidth=12.0, gravity=gravity)
    pd = dy.control.PDGravity.designed(arm, GOAL, bandwidth=12.0)
    at_end = [
        dy.simulate(loaded, 6.0, GOAL, controller=x.with_model(arm), method="rk4", step=1e-3, points=3).q[-1] - GOAL
        for x in (law, pd)
    ]
    assert np.abs(at_end[0]).max() < 1e-5
    assert np.abs(at_end[1]).max() > 1e-3
    assert (law.error_at_rest(arm) == 0.0).all()


@pytest.mark.parametrize("gravity", ["none", "here", "goal"])
def test_the_condition_separates_decay_from_growth(arm, gravity):
    """The largest K_i that passes the check is the largest with which small errors decay in a simulation."""
    integrals = np.linspace(0.5, 6.0, 12)
    laws = [PID.designed(arm, GOAL, bandwidth=10.0, integral=x, gravity=gravity) for x in integrals]
    stable = [law.check(arm).stable for law in laws]
    assert stable == sorted(stable, reverse=True)
    edge = stable.index(False)
    start = GOAL + 1e-3
    sizes = []
    for law in laws[edge - 1 : edge + 1]:
        at_rest = np.zeros(2) if gravity != "none" else arm.gravity(GOAL) / law.integral
        law_at_rest = Started(law, at_rest)
        motion = dy.simulate(arm, 10.0, start, controller=law_at_rest, method="rk4", step=1e-3, points=101)
        sizes.append(np.abs(motion.q[-20:] - GOAL).max() / np.abs(motion.q[20:40] - GOAL).max())
    assert sizes[0] < 1.0 < sizes[1]


class Started(dy.Controller):
    """A law whose integrals start at these values."""

    traceable = True

    def __init__(self, law, x):
        self.law, self.x, self.size = law, x, law.size

    def __call__(self, robot, t, q, v, x):
        return self.law(robot, t, q, v, x)

    def rates(self, robot, t, q, v, x):
        return self.law.rates(robot, t, q, v, x)

    def start(self, robot, q, v):
        return self.x


def test_the_decay_rate_is_that_of_the_loop_sampled_quickly(arm):
    """The sampled loop is linearised by differences of the law, the continuous one by its gains."""
    law = PID.designed(arm, GOAL, bandwidth=10.0, gravity="here")
    rate = law.check(arm).conditions[1].found
    assert law.check(arm, rate=5000.0).conditions[0].found == pytest.approx(rate, rel=0.003)


def test_a_wrong_model_of_gravity_is_part_of_the_condition(arm):
    heavy = arm.replace(payload=dy.solids.sphere(0.1, mass=60.0))
    up = np.array([np.pi / 2, 0.0])
    soft = PID(up, stiffness=[700.0, 500.0], integral=[100.0, 50.0], damping=[400.0, 200.0], gravity="here")
    assert soft.check(arm).stable
    assert soft.check(heavy, model=arm).stable is False  # it falls over
    assert soft.check(heavy, model=arm, rate=1000.0).stable is False
    assert soft.check(heavy, model=heavy).stable


def test_limits_below_the_torque_that_holds_the_goal_fail_the_check(arm):
    weight = np.abs(arm.gravity(GOAL))
    weak, strong = (PID.designed(arm, GOAL, bandwidth=10.0, torque_limits=x * weight) for x in (0.9, 1.1))
    assert weak.check(arm).stable is False
    assert "torques that hold the goal over the torque limits: 1.111, required < 1" in str(weak.check(arm))
    assert strong.check(arm).stable


def test_the_integral_does_not_wind_up_where_the_torque_is_cut(arm):
    far = np.array([1.5, -1.0])
    limits = 1.3 * np.abs(arm.gravity(np.zeros(2)))
    laws = [PID.designed(arm, far, bandwidth=10.0, torque_limits=x) for x in (limits, np.inf)]
    strong = arm.replace(actuators={j: dy.Saturated(effort=x) for j, x in zip(arm.joint_names, limits, strict=True)})
    held, wound = (dy.simulate(strong, 8.0, [-0.5, 0.5], controller=law, method="rk4", step=1e-3, points=401) for law in laws)
    assert (np.abs(held.tau).max(axis=0) <= limits * (1.0 + 1e-12)).all()
    assert np.abs(held.q[-1] - far).max() < 1e-3
    overshoot = [(motion.q[:, 0] - far[0]).max() for motion in (held, wound)]
    assert overshoot[0] < 0.5 * overshoot[1]
    x = np.abs(wound.actuator_states["controller"]).max(axis=0)
    assert (np.abs(held.actuator_states["controller"]).max(axis=0) <= x).all()


def test_dry_friction_and_moving_references_are_not_certified(arm):
    dry = arm.replace(friction={j: {"coulomb": 2.0} for j in arm.joint_names})
    found = PID.designed(dry, GOAL, bandwidth=10.0).check(dry)
    assert found.stable is None
    assert "until it breaks away" in str(found)

    def circle(t):
        s, c = np.sin(t), np.cos(t)
        return np.array([s, c]), np.array([c, -s]), np.array([-s, -c])

    assert PID.designed(arm, circle, bandwidth=10.0).check(arm).stable is None
    assert PID.designed(arm, dy.trajectories.joint_move([0.0, 0.0], GOAL, duration=1.0), bandwidth=10.0).check(arm).stable


def test_nothing_is_proven_of_growth_beside_dry_friction_and_moving_references(arm):
    """The loop linearised at one point of a motion, or without the friction, does not decide in either direction."""
    fast = PID.designed(arm, GOAL, bandwidth=10.0, integral=6.0)
    assert fast.check(arm).stable is False
    dry = arm.replace(friction={j: {"coulomb": 2.0} for j in arm.joint_names})
    assert fast.check(dry).stable is None

    def circle(t):
        s, c = np.sin(t), np.cos(t)
        return np.array([s, c]), np.array([c, -s]), np.array([-s, -c])

    weak = PID.designed(arm, circle, bandwidth=10.0, integral=6.0, torque_limits=0.1)
    assert weak.check(arm).stable is None


def test_the_compiled_sampled_law_has_the_states_and_torques_of_python(arm):
    law = PID.designed(arm, GOAL, bandwidth=10.0, torque_limits=[300.0, 100.0])
    compiled = dy.control.compile_law(arm, dy.Sampled(law, rate=1000.0))
    q, v, x = np.array([0.4, -0.7]), np.array([0.1, 0.2]), np.array([0.02, -0.03])
    tau, after = compiled(np.zeros(1), q, v, x)
    np.testing.assert_allclose(tau, law(arm, 0.0, q, v, x), rtol=1e-13)
    np.testing.assert_allclose(after, x + 1e-3 * law.rates(arm, 0.0, q, v, x), rtol=1e-13)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gravity": "there"}, "gravity='there' is unknown; choose 'none'"),
        ({"torque_limits": [1.0, 0.0]}, "torque_limits must be positive"),
        ({"torque_limits": "strong"}, "torque_limits must be positive, one number or one per joint, got 'strong'"),
        ({"integral": -1.0}, "integral must be positive"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    with pytest.raises(dy.InputError, match=message):
        PID(GOAL, **({"stiffness": 10.0, "integral": 1.0, "damping": 2.0} | change))

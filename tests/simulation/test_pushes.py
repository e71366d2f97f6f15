"""Wrenches in stated axes at stated points: what the robot feels is the same force."""

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot, zoo_states
from small_machines import pendulum

import dynamis as dy
from dynamis.simulation.sources import plain_wrenches

ARM = dy.load("planar_2r_melchiorri")
TIP = ARM.link_names[-1]
WRENCH = np.array([3.0, -2.0, 5.0, 0.4, -0.7, 0.9])
POINT = np.array([0.3, -0.2, 0.5])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axes", ["world", "local"])
def test_the_torque_at_the_joints_is_that_of_the_virtual_work_at_the_point(name, axes):
    """Jᵀ w with J of a frame that is really there, fixed at the point, is what inverse dynamics makes of the push."""
    robot = zoo_robot(name)
    d = robot.description
    d.add_link("fingertip", "tool", origin=dy.Pose.translation(POINT))
    longer = dy.Robot(d)
    for q, v, a in zip(*zoo_states(robot, 4), strict=True):
        pushed = {"tool": dy.Push(WRENCH, axes, POINT).at(robot, "tool")(0.0, q, v)}
        felt = robot.inverse_dynamics(q, v, a) - robot.inverse_dynamics(q, v, a, pushed)
        assert np.abs(felt - longer.jacobian(q, "fingertip", axes=axes).T @ WRENCH).max() < 1e-11
        power = pushed["tool"] @ robot.velocity(q, v, "tool")
        twist = longer.velocity(q, v, "fingertip")
        R = longer.pose(q, "fingertip")[:3, :3] if axes == "local" else np.eye(3)
        assert power == pytest.approx((R @ WRENCH[:3]) @ twist[:3] + (R @ WRENCH[3:]) @ twist[3:], abs=1e-10)


def test_a_plain_push_is_the_wrench_itself():
    plain = dy.simulate(ARM, 0.5, [0.2, 0.3], wrenches={TIP: WRENCH})
    pushed = dy.simulate(ARM, 0.5, [0.2, 0.3], wrenches={TIP: dy.Push(WRENCH)})
    assert np.array_equal(plain.q, pushed.q)
    assert np.array_equal(plain.wrenches[TIP], pushed.wrenches[TIP])


def test_a_follower_force_turns_with_its_frame_and_does_the_work_it_does():
    thrust = dy.Push((2.0, 0, 0, 0, 0, 0), axes="local", point=(0.0, 0.0, -1.0))
    motion = dy.simulate(pendulum().replace(gravity=(0, 0, 0)), 2.0, wrenches={"bob": thrust})
    # along the way of the bob at length 1, whatever the angle: q̈ = −F l / (m l²)
    assert np.abs(motion.q[:, 0] + 0.5 * 2.0 * motion.t**2).max() < 1e-7
    assert np.abs(motion.work + 2.0 * motion.q[:, 0]).max() < 1e-7
    assert np.abs(motion.energy_error).max() < 1e-7


def test_several_pushes_on_a_frame_add_up():
    parts = [dy.Push(WRENCH), dy.Push(WRENCH, "local", POINT), lambda t: [t, 0, 0, 0, 0, 0], WRENCH]
    total = plain_wrenches(ARM, {TIP: parts})[TIP]
    q, v = np.array([0.3, 0.7]), np.array([1.0, -1.0])
    one = dy.Push(WRENCH, "local", POINT).at(ARM, TIP)(0.5, q, v)
    assert np.allclose(total(0.5, q, v), 2 * WRENCH + one + np.array([0.5, 0, 0, 0, 0, 0]))
    motion = dy.simulate(ARM, 0.3, wrenches={TIP: parts}, points=7)
    assert np.allclose(motion.wrenches[TIP][-1], total(0.3, motion.q[-1], motion.v[-1]))


def test_functions_of_time_and_of_the_state_are_turned_at_their_time_and_state():
    by_time = dy.Push(lambda t: t * WRENCH, "local", POINT)
    by_state = dy.Push(lambda t, q, v: v[0] * WRENCH, "local", POINT)
    constant = dy.Push(WRENCH, "local", POINT)
    q, v = np.array([0.3, 0.7]), np.array([2.0, -1.0])
    whole = constant.at(ARM, TIP)(0.0, q, v)
    assert np.allclose(by_time.at(ARM, TIP)(3.0, q, v), 3.0 * whole)
    assert np.allclose(by_state.at(ARM, TIP)(0.0, q, v), 2.0 * whole)


def test_a_push_can_be_traced_and_compiled():
    push = dy.Push(WRENCH, "local", POINT).at(ARM, TIP)
    compiled = ARM.compile(lambda robot, q, v: push(0.0, q, v))
    q, v = np.random.default_rng(0).uniform(-1, 1, (2, 5, 2))
    assert np.allclose(compiled(q, v), [push(0.0, *state) for state in zip(q, v, strict=True)])
    assert push.traceable
    assert not dy.Push(lambda t: t * WRENCH).at(ARM, TIP).traceable


@pytest.mark.parametrize("method", ["rk4", "midpoint"])
def test_fixed_steps_compile_a_push_and_agree(method):
    given = {"friction": "none", "wrenches": {TIP: dy.Push((20.0, 5.0, 0, 0, 0, 1.0), "local", (0.5, 0, 0))}}
    exact = dy.simulate(ARM, 0.5, [0.2, 0.3], points=11, **given)
    stepped = dy.simulate(ARM, 0.5, [0.2, 0.3], points=11, method=method, step=1e-3, **given)
    assert stepped.statistics["compiled"]
    assert np.abs(exact.q - stepped.q).max() < 1e-5


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"wrench": [1, 2, 3]}, "6 finite numbers"),
        ({"wrench": [np.nan] * 6}, "6 finite numbers"),
        ({"wrench": WRENCH, "axes": "body"}, "choose 'world' or 'local'"),
        ({"wrench": WRENCH, "point": (1, 2)}, "the point of a push.* must be 3 finite numbers"),
        ({"wrench": lambda a, b: a}, r"a function of t, or of \(t, q, v\)"),
    ],
)
def test_what_is_no_push_is_refused(wrong, says):
    with pytest.raises(dy.InputError, match=says):
        dy.Push(**wrong)


def test_a_push_that_fails_on_the_way_ends_the_motion_with_its_frame():
    late = dy.Push(lambda t: [0.0] * (6 if t < 0.2 else 5), "local")
    motion = dy.simulate(ARM, 1.0, wrenches={TIP: late}, points=101)
    assert f"wrench on {TIP}" in motion.status
    assert "(5,)" in motion.status
    assert 0.1 < motion.t[-1] <= 0.2
    with pytest.raises(dy.NameLookupError):
        dy.simulate(ARM, 1.0, wrenches={"nowhere": dy.Push(WRENCH)})

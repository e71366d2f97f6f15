"""The momentum observer: external torques through a filter, and collisions found in motions."""

import numpy as np
import pytest

import dynamis as dy
from dynamis import control
from dynamis.trajectories.joint_moves import joint_move

ROBOT = dy.load("kuka_iiwa14")
Q = np.array([0.2, 0.6, 0.1, -1.3, 0.2, 0.9, 0.1])
MOVE = joint_move(Q, Q + np.linspace(0.6, -0.5, 7), duration=1.5)
INNER = control.ComputedTorque.designed(MOVE, bandwidth=15.0)
OUTSIDE = np.array([3.0, -5.0, 2.0, 4.0, -0.5, 0.3, 0.05])


def test_a_constant_torque_from_outside_is_recovered_with_the_time_constant_of_the_filter():
    K = 40.0
    watched = control.MomentumObserver(INNER, ROBOT.n, bandwidth=K)
    motion = dy.simulate(ROBOT, 0.5, Q, controller=watched, disturbance=OUTSIDE, method="rk4", step=5e-4, points=101)
    r = watched.residual(ROBOT, motion.q, motion.v, motion.actuator_states["controller"])
    expected = OUTSIDE * (1.0 - np.exp(-K * motion.t))[:, None]
    assert np.abs(r - expected).max() < 1e-6
    assert np.abs(motion.v).max() > 0.2  # while it moves


def test_the_torque_of_a_wrench_is_recovered():
    watched = control.MomentumObserver(INNER, ROBOT.n, bandwidth=60.0)
    wrench = np.array([5.0, -8.0, 4.0, 0.1, 0.2, -0.1])
    motion = dy.simulate(ROBOT, 1.9, Q, controller=watched, wrenches={"flange": wrench}, method="rk4", step=1e-3, points=20)
    r = watched.residual(ROBOT, motion.q[-1], motion.v[-1], motion.actuator_states["controller"][-1])
    assert np.abs(r - ROBOT.jacobian(motion.q[-1], "flange").T @ wrench).max() < 1e-3


def test_an_inner_law_with_states_keeps_them():
    arm = dy.load("planar_2r_melchiorri")
    inner = control.SlotineLi.designed(arm, [0.3, 0.4], bandwidth=6.0)
    watched = control.MomentumObserver(inner, 2, bandwidth=30.0)
    assert watched.size == inner.size + 2
    alone = dy.simulate(arm, 0.3, controller=inner, method="rk4", step=1e-3, points=4)
    both = dy.simulate(arm, 0.3, controller=watched, method="rk4", step=1e-3, points=4)
    assert np.abs(alone.q - both.q).max() < 1e-12
    assert "observer bandwidth" in str(watched.check(arm))


def test_residuals_of_a_log_are_those_of_the_observer():
    watched = control.MomentumObserver(INNER, ROBOT.n, bandwidth=30.0)
    model = control.perturbed(ROBOT, 0.05, seed=1)
    motion = dy.simulate(
        ROBOT, 0.6, Q, controller=watched.with_model(model), disturbance=OUTSIDE, method="rk4", step=1e-3, points=301
    )
    inside = watched.residual(model, motion.q, motion.v, motion.actuator_states["controller"])
    logged = control.observer_residuals(model, motion.t, motion.q, motion.v, motion.tau - OUTSIDE, bandwidth=30.0)
    assert np.abs(inside - logged).max() < 2e-3 * np.abs(inside).max()


@pytest.fixture(scope="module")
def bumped():
    """A tap of 40 N on link 4 from 0.8 s to 0.9 s, of which the controller's model is off by 5 %."""
    model = control.perturbed(ROBOT, 0.05, seed=1)

    def tap(t, q, v):
        return np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]) * np.where(t > 0.8, np.where(t < 0.9, 40.0, 0.0), 0.0)

    tap.traceable = True
    motion = dy.simulate(
        ROBOT, 1.4, Q, controller=INNER.with_model(model), wrenches={"link4": tap}, method="rk4", step=1e-3, points=701
    )
    return model, motion


def test_a_collision_is_found_when_it_happens_and_where(bumped):
    model, motion = bumped
    found = control.detect_collisions(motion, model, bandwidth=50.0, calm=0.7)
    assert len(found) >= 1
    first = found.found[0]
    assert 0.8 < first.start < 0.82
    assert first.end > 0.88
    assert ROBOT.coordinate_names.index(first.joint) <= 3  # joints beyond link 4 do not feel it
    assert "at or beyond" in str(found)
    assert np.abs(found.r[motion.t > 0.85][0] - ROBOT.jacobian(motion.q[425], "link4")[1] * 40.0).max() < 4.0


def test_without_a_push_there_is_none(bumped):
    model, _ = bumped
    calm = dy.simulate(ROBOT, 1.4, Q, controller=INNER.with_model(model), method="rk4", step=1e-3, points=351)
    nothing = control.detect_collisions(
        calm, model, bandwidth=50.0, threshold=control.detect_collisions(bumped[1], model, bandwidth=50.0, calm=0.7).threshold
    )
    assert len(nothing) == 0
    assert str(nothing).startswith("no collision")


def test_bad_input_says_what_to_do(bumped):
    model, motion = bumped
    with pytest.raises(dy.InputError, match="give threshold="):
        control.detect_collisions(motion, model)
    duration = motion.t[-1] - motion.t[0]
    for calm in (duration, 10.0 * duration, np.inf):
        with pytest.raises(dy.InputError, match=r"covers the whole motion of .* and leaves nothing to test"):
            control.detect_collisions(motion, model, calm=calm)
    with pytest.raises(dy.InputError, match="too coarse"):
        control.observer_residuals(model, motion.t[::300], motion.q[::300], motion.v[::300], motion.tau[::300])
    with pytest.raises(dy.InputError, match="must be a controller"):
        control.MomentumObserver(lambda t, q, v: q, 7)
    with pytest.raises(dy.InputError, match=r"robot\.n"):
        control.MomentumObserver(INNER, 0)


def test_the_residual_of_a_linear_axis_is_a_force():
    d = dy.Description("axis").add_link("base")
    d.add_link("x", "base", "prismatic", axis=(1, 0, 0), inertia=dy.solids.sphere(0.1, mass=5.0))
    t = np.linspace(0.0, 1.0, 501)
    still = np.zeros((501, 1))
    pushed = np.where(t > 0.5, 40.0, 0.0)[:, None]  # held against a push
    motion = dy.Trajectory(dy.Robot(d), t, still, still, pushed, still, still)
    assert str(control.detect_collisions(motion, calm=0.4)).endswith(" N")

"""A motion that diverges or takes too long ends with a sentence, and what was simulated until then is kept."""

import numpy as np
import pytest

import dynamis as dy

ARM = dy.load("planar_2r_melchiorri")


def hopeless(_t, q, v):
    return -1e9 * q - 1e8 * v


@pytest.mark.parametrize("method", ["rk4", "euler"])
@pytest.mark.parametrize("controller", [hopeless, dy.control.PDGravity([0.0, 0.0], stiffness=1e9, damping=1e8)])
def test_a_diverging_motion_with_fixed_steps_is_returned_as_far_as_it_came(method, controller):
    motion = dy.simulate(ARM, 1.0, [0.1, 0.1], controller=controller, method=method, step=1e-3, points=1001)
    assert motion.status.startswith("stopped: the velocity of joint")
    assert "singular" not in motion.status
    assert len(motion) < 1001
    assert np.isfinite(motion.q).all()


def stiff(robot, _t, q, v):
    return robot.gravity(q) + 2000.0 * (0.5 - q) - 20.0 * v


@pytest.mark.parametrize("options", [
    {"method": "time_stepping", "step": 0.02}, {"method": "euler", "friction": "smooth", "step": 0.1},
])  # fmt: skip
def test_rollouts_count_a_motion_whose_numbers_are_finite_but_beyond_all_bounds(options):
    puma = dy.load("puma560")
    made = dy.rollouts(puma, 20 * options["step"], np.zeros((2, 6)), controller=stiff, **options)
    assert not made.finite.any()
    assert "2 of 2 diverged" in made.status
    kept = np.isfinite(made.v[:, 0]).all(axis=-1)
    assert np.isnan(made.q[~kept]).all()
    assert np.abs(made.v[kept]).max() < 1e9
    one = dy.simulate(puma, made.t, np.zeros(6), controller=stiff, **options)
    assert one.status.startswith("stopped: the velocity of")


def test_the_other_motions_of_a_batch_go_on_beside_one_that_diverges():
    def law(_robot, _t, q, v, gain):
        return -gain * (q + v)

    made = dy.rollouts(ARM, 0.2, [0.1, 0.1], controller=law, parameters={"gain": [[10.0], [1e9]]}, step=0.02, method="euler")
    assert made.finite.tolist() == [True, False]
    assert np.isfinite(made.q[:, 0]).all()


def test_the_time_limit_is_honoured_between_two_reports(monkeypatch):
    now = iter(range(10**9))
    monkeypatch.setattr("dynamis.simulation.stepping.time.monotonic", lambda: float(next(now)))
    for controller in (None, hopeless):
        motion = dy.simulate(ARM, 1.0, [0.1, 0.1], controller=controller, method="euler", step=1e-7, points=2, seconds=5.0)
        assert motion.status == "stopped: took more than 5 s: use a longer step, or increase seconds="
        assert len(motion) == 1


@pytest.mark.parametrize(("t", "step", "says"), [
    ((0.0, 1.0), 1e-300, "below the rounding error"), ((0.0, 1.0), 1e-13, "means 1e.13 steps"), ((1e9, 1e9 + 1), 1e-8, "below the rounding error"),
])  # fmt: skip
def test_steps_that_cannot_be_taken_are_refused(t, step, says):
    with pytest.raises(dy.InputError, match=says):
        dy.simulate(ARM, t, method="rk4", step=step)


def test_rollouts_refuse_them_too():
    with pytest.raises(dy.InputError, match=r"means 1e.13 steps"):
        dy.rollouts(ARM, 1.0, [0.0, 0.0], step=1e-13)


@pytest.mark.parametrize(
    "law", [lambda _t, q, v: 1e6 * q + 1e4 * v, lambda _t, q, v: ARM.gravity(q) + 2000.0 * (q - 0.5) + 400.0 * v]
)
def test_feedback_of_the_wrong_sign_ends_the_motion_soon(law):
    motion = dy.simulate(ARM, 2.0, [0.1, 0.1], controller=law)
    assert "diverged" in motion.status
    assert "check the sign of the feedback, lower its gains" in motion.status
    assert motion.t[-1] < 0.5
    assert np.abs(motion.v).max() < 1e5


def test_a_fast_motion_under_control_is_no_divergence():
    fast = dy.simulate(ARM, 0.01, [0.1, 0.1], [2e4, 0.0], controller=lambda _t, _q, v: -1.0 * v)
    assert fast.status == "completed"

"""Controllers with states of their own: the same motion whoever integrates them."""

import numpy as np
import pytest

import dynamis as dy

ARM = dy.load("planar_2r_melchiorri")


class Integral(dy.Controller):
    """PID about 0.5 rad; the integral starts at a value that depends on where the arm is."""

    size = 2

    def start(self, _robot, q, _v):
        return 0.1 * q

    def __call__(self, robot, t, q, v, x):
        return robot.gravity(q) - 900.0 * (q - 0.5) - 300.0 * v - 200.0 * x + 10.0 * np.sin(5.0 * t)

    def rates(self, _robot, _t, q, _v, _x):
        return q - 0.5


class Compiled(Integral):
    traceable = True


def by_hand(q0, end):
    """The same as one system of eight first-order equations."""
    from scipy.integrate import solve_ivp

    law = Integral()

    def rates(t, y):
        q, v, x = y[:2], y[2:4], y[4:]
        a = ARM.forward_dynamics(q, v, law(ARM, t, q, v, x))
        return np.concatenate([v, a, law.rates(ARM, t, q, v, x)])

    return solve_ivp(rates, (0, end), [*q0, 0, 0, *(0.1 * np.array(q0))], rtol=1e-11, atol=1e-12, method="DOP853").y[:, -1]


@pytest.mark.parametrize(("law", "options", "tolerance"), [
    (Integral(), {"rtol": 1e-10, "atol": 1e-12}, 1e-8),
    (Integral(), {"method": "rk4", "step": 1e-3}, 1e-9),
    (Compiled(), {"method": "rk4", "step": 1e-3}, 1e-9),
    (Compiled(), {"method": "midpoint", "step": 1e-3}, 1e-4),
])  # fmt: skip
def test_the_motion_is_that_of_the_whole_system(law, options, tolerance):
    motion = dy.simulate(ARM, 1.0, [0.2, -0.3], controller=law, **options)
    expected = by_hand([0.2, -0.3], 1.0)
    found = np.concatenate([motion.q[-1], motion.v[-1], motion.actuator_states["controller"][-1]])
    assert np.abs(found - expected).max() < tolerance
    if "step" in options:
        assert motion.statistics["compiled"] is law.traceable


def test_many_at_once_are_compiled_and_each_starts_as_its_own():
    q = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    made = dy.rollouts(ARM, 0.3, q, controller=Integral())
    assert made.note == ""
    for k in range(5):
        one = dy.simulate(ARM, made.t, q[k], controller=Integral(), method="rk4", step=1e-3)
        assert np.abs(made.q[:, k] - one.q).max() < 1e-12
        assert np.abs(made.drives[:, k] - one.actuator_states["controller"]).max() < 1e-12


def test_it_goes_with_drives_and_sticking_and_is_resumed_and_read_back(tmp_path):
    joint = ARM.coordinate_names[0]
    options = {
        "controller": Integral(), "actuators": {joint: dy.Elastic(1e5, inertia=5.0, damping=50.0)},
        "friction": {ARM.coordinate_names[1]: dy.Coulomb(5.0, 5.0)},
    }  # fmt: skip
    whole = dy.simulate(ARM, 1.0, [0.2, -0.3], **options)
    part = dy.simulate(ARM, 0.4, [0.2, -0.3], **options)
    part.save(tmp_path / "part.npz")
    read = dy.Trajectory.load(tmp_path / "part.npz", ARM)
    for start in (part, read):
        both = dy.simulate(ARM, 1.0, resume=start, **options)
        assert np.abs(both.q[-1] - whole.q[-1]).max() < 1e-6
        for name in (joint, "controller"):
            assert np.abs(both.actuator_states[name][-1] - whole.actuator_states[name][-1]).max() < 1e-5


def test_a_law_that_fails_says_when_and_keeps_what_came_before():
    class Broken(Integral):
        def rates(self, _robot, t, q, _v, _x):
            return q * np.nan if t > 0.2 else q

    motion = dy.simulate(ARM, 1.0, [0.2, 0.1], controller=Broken())
    assert "rates of the controller returned" in motion.status
    assert 0.15 < motion.t[-1] <= 0.2

    class Short(Integral):
        def rates(self, _robot, _t, q, _v, _x):
            return q[:1]

    with pytest.raises(dy.DynamisError, match=r"rates of the controller returned shape \(1,\) instead of \(2,\)"):
        dy.simulate(ARM, 1.0, [0.2, 0.1], controller=Short())

"""Digital controllers with states: the states change at the samples only."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import dynamis as dy
from dynamis import control

ARM = dy.load("planar_2r_melchiorri")
GOAL = np.array([0.4, -0.3])


class PID(dy.Controller):
    """PI control with a derivative of the positions, filtered by z⁻¹: x are integral, last position and last derivative."""

    size = 6

    def __call__(self, robot, t, q, v, x):
        return robot.gravity(q) + 2000.0 * (GOAL - q) + 300.0 * x[:2] - 500.0 * self.derivative(q, x, 0.01)

    def derivative(self, q, x, period):
        return 0.5 * x[4:] + 0.5 * (q - x[2:4]) / period

    def update(self, robot, t, q, v, x, period):
        return np.concatenate([x[:2] + period * (GOAL - q), q, self.derivative(q, x, period)])

    def start(self, robot, q, v):
        return np.concatenate([np.zeros_like(v), q, np.zeros_like(v)], axis=-1)


class Remembering:
    """The same controller as a function that remembers its state itself."""

    def __init__(self):
        self.pid, self.x = PID(), None

    def __call__(self, t, q, v):
        if self.x is None:
            self.x = self.pid.start(ARM, q, v)
        tau = self.pid(ARM, t, q, v, self.x)
        self.x = self.pid.update(ARM, t, q, v, self.x, 0.01)
        return tau


SENSORS = {
    "plain": {},
    "late": {"delay": 0.013, "resolution": 1e-4},
    "differences": {"resolution": 1e-4, "velocity": "differences"},
}


@pytest.mark.parametrize("sensors", SENSORS.values(), ids=SENSORS)
def test_a_sampled_controller_has_states_of_its_own(sensors):
    start = [0.1, 0.2] if "resolution" not in sensors else [0.0, 0.0]  # a multiple of the resolution
    made = dy.simulate(ARM, 1.0, start, controller=dy.Sampled(PID(), 100.0, **sensors), points=21)
    same = dy.simulate(ARM, 1.0, start, controller=dy.Sampled(Remembering(), 100.0, **sensors), points=21)
    np.testing.assert_array_equal(made.q, same.q)
    assert sensors or abs(made.q[-1] - GOAL).max() < 0.1


@pytest.mark.parametrize("sensors", SENSORS.values(), ids=SENSORS)
def test_rollouts_take_the_same_samples(sensors):
    starts = np.array([[0.1, 0.2], [0.0, 0.5]])
    sampled = dy.Sampled(PID(), 100.0, **sensors)
    many = dy.rollouts(ARM, 0.5, starts, controller=sampled, step=1e-3, every=50)
    assert not many.note
    for start, q in zip(starts, np.moveaxis(many.q, 1, 0), strict=True):
        one = dy.simulate(ARM, 0.5, start, controller=sampled, points=11)
        np.testing.assert_allclose(q, one.q, atol=1e-6)


class Integral(dy.Controller):
    size = 2

    def __call__(self, robot, t, q, v, x):
        return robot.gravity(q) + 2000.0 * (GOAL - q) - 500.0 * v + 400.0 * x

    def rates(self, robot, t, q, v, x):
        return GOAL - q


def test_without_an_update_the_rates_are_integrated_from_sample_to_sample():
    x, q = np.array([0.1, 0.2]), np.array([0.3, 0.1])
    np.testing.assert_allclose(Integral().update(ARM, 0.0, q, 0.0 * q, x, 0.02), x + 0.02 * (GOAL - q))
    fast = dy.simulate(ARM, 1.0, controller=dy.Sampled(Integral(), 2000.0), points=5)
    np.testing.assert_allclose(fast.q, dy.simulate(ARM, 1.0, controller=Integral(), points=5).q, atol=2e-3)


def test_a_motion_resumed_from_a_file_goes_on_with_the_states(tmp_path):
    sampled = dy.Sampled(PID(), 100.0, delay=0.013)
    dy.simulate(ARM, 0.53, controller=sampled, points=7).save(tmp_path / "first.npz")
    first = dy.Trajectory.load(tmp_path / "first.npz", ARM)
    resumed = dy.simulate(ARM, 1.0, resume=first, controller=sampled)
    np.testing.assert_allclose(resumed.q[-1], dy.simulate(ARM, 1.0, controller=sampled).q[-1], atol=1e-8)
    with pytest.raises(dy.InputError, match="has 6 states, this one 2"):
        dy.simulate(ARM, 1.0, resume=first, controller=dy.Sampled(Integral(), 100.0, delay=0.013))


def test_the_function_in_c_returns_the_states_at_the_next_sample(tmp_path):
    sampled, rng = dy.Sampled(PID(), 100.0), np.random.default_rng(0)
    q, v, x = rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 6))
    tau, following = control.compile_law(ARM, sampled)(np.zeros(1), q, v, x)
    for k in range(2):
        np.testing.assert_allclose(tau[k], PID()(ARM, 0.0, q[k], v[k], x[k]), atol=1e-10)
        np.testing.assert_allclose(following[k], PID().update(ARM, 0.0, q[k], v[k], x[k], 0.01), atol=1e-10)
    header, source = control.write_c(ARM, sampled, tmp_path)
    assert "x_next" in header.read_text()
    if (compiler := shutil.which("cc")) is not None:
        flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-DCONTROL_PID_SELFTEST", "-lm"]
        program = tmp_path / "test"
        subprocess.run([compiler, str(source), "-o", str(program), *flags], check=True)
        assert subprocess.run([str(program)], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("option", [{"delay": 0.002}, {"resolution": 1e-3}, {"velocity": "differences"}])
def test_options_of_sampling_that_c_does_not_contain_are_refused(tmp_path, option):
    (name, value), *_ = option.items()
    with pytest.raises(dy.InputError, match=rf"without {name}={value!r} of Sampled: give Sampled\(law, rate\) alone"):
        control.write_c(ARM, dy.Sampled(PID(), 100.0, **option), tmp_path)


def test_an_update_of_the_wrong_length_is_refused():
    class Short(PID):
        def update(self, robot, t, q, v, x, period):
            return x[:2]

    sampled, what = dy.Sampled(Short(), 100.0), "update of the controller returned shape (2,) instead of (6,)"
    assert dy.simulate(ARM, 0.1, controller=sampled).status.startswith(f"stopped: {what}")
    with pytest.raises(dy.InputError, match=re.escape(what)):
        dy.rollouts(ARM, 0.1, np.zeros(2), controller=sampled)


def test_a_sampled_observer_in_c_has_its_residual():
    observer = control.MomentumObserver(control.ComputedTorque.designed(GOAL, bandwidth=5.0), 2)
    _, following, residual = control.compile_law(ARM, dy.Sampled(observer, 500.0))(np.zeros(1), GOAL, 0.0 * GOAL, np.ones(2))
    np.testing.assert_allclose(following, observer.update(ARM, 0.0, GOAL, 0.0 * GOAL, np.ones(2), 0.002), rtol=1e-12)
    np.testing.assert_allclose(residual, observer.residual(ARM, GOAL, 0.0 * GOAL, np.ones(2)), atol=1e-12)


def test_a_start_of_the_wrong_length_is_refused():
    class Longer(PID):
        def start(self, robot, q, v):
            return np.zeros(7)

    for controller in (dy.Sampled(Longer(), 100.0), Longer()):
        for call, q in ((dy.simulate, np.zeros(2)), (dy.rollouts, np.zeros((3, 2)))):
            with pytest.raises(dy.InputError, match=r"start of Longer returned shape \(7,\) for v .* the length of size, 6"):
                call(ARM, 0.1, q, controller=controller)

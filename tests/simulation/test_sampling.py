"""Digital control: laws act at their rate, late, and on what the sensors show."""

import numpy as np
import pytest
from small_machines import turning

import dynamis as dy
from dynamis.simulation.sampling import Held, Sampled, instants


def record(calls):
    def law(t, q, v):
        calls.append((t, q.copy(), v.copy()))
        return np.array([1.0 + t])

    return law


def test_the_law_is_asked_once_a_period_and_its_torque_is_held():
    calls = []
    motion = dy.simulate(turning(), 0.1, controller=dy.Sampled(record(calls), 100.0), points=1001)
    np.testing.assert_allclose([t for t, _, _ in calls], np.arange(10) / 100.0, atol=1e-12)
    held = 1.0 + np.floor(motion.t * 100.0 + 1e-9) / 100.0
    np.testing.assert_allclose(motion.tau[:-1, 0], held[:-1], atol=1e-12)


def test_held_torques_give_the_exact_motion():
    motion = dy.simulate(turning(inertia=1.0), 0.2, controller=dy.Sampled(lambda t, q, v: [1.0 if t < 0.1 else -1.0], 10.0))
    np.testing.assert_allclose(motion.v[-1], [0.0], atol=1e-9)
    np.testing.assert_allclose(motion.q[-1], [0.01], atol=1e-9)


def test_torques_come_late_by_the_delay():
    motion = dy.simulate(turning(), 0.1, controller=dy.Sampled(lambda t, q, v: [5.0], 100.0, delay=0.025), points=401)
    assert np.all(motion.tau[motion.t < 0.025 - 1e-9] == 0.0)
    assert np.all(motion.tau[motion.t > 0.025 + 1e-9] == 5.0)


def test_positions_are_seen_in_steps_of_the_encoder():
    calls = []
    dy.simulate(turning(), 0.2, v0=[1.0], controller=dy.Sampled(record(calls), 50.0, resolution=0.05))
    seen = np.array([q[0] for _, q, _ in calls])
    np.testing.assert_allclose(seen / 0.05, np.round(seen / 0.05), atol=1e-9)


def test_velocities_by_differences_are_those_of_the_encoder():
    calls = []
    dy.simulate(turning(), 0.2, v0=[1.0], controller=dy.Sampled(record(calls), 50.0, resolution=0.05, velocity="differences"))
    q, v = (np.array([c[k][0] for c in calls]) for k in (1, 2))
    assert v[0] == 0.0
    np.testing.assert_allclose(v[1:], np.diff(q) * 50.0)


def test_a_fast_sampled_law_is_the_continuous_one():
    robot = turning()
    law = lambda t, q, v: -20.0 * q - 8.0 * v  # noqa: E731
    digital = dy.simulate(robot, 1.0, q0=[1.0], controller=dy.Sampled(law, 2000.0))
    smooth = dy.simulate(robot, 1.0, q0=[1.0], controller=law)
    np.testing.assert_allclose(digital.q, smooth.q, atol=5e-3)


def test_a_law_that_fails_keeps_the_motion_before():
    def law(t, q, v):
        if t > 0.05:
            raise RuntimeError("sensor lost")
        return [0.0]

    motion = dy.simulate(turning(), 0.2, v0=[1.0], controller=dy.Sampled(law, 100.0), points=101)
    assert "RuntimeError: sensor lost" in motion.status
    assert 0.04 < motion.t[-1] < 0.07


def test_the_same_controller_serves_twice():
    sampled = dy.Sampled(lambda t, q, v: -q, 100.0, resolution=1e-3, velocity="differences")
    first, second = (dy.simulate(turning(), 0.3, q0=[0.5], controller=sampled) for _ in range(2))
    assert np.array_equal(first.q, second.q)


def test_a_period_given_as_the_rate_is_named_with_the_rate():
    with pytest.raises(
        dy.InputError, match=r"rate=0.001 is in Hz: one sample in 1000 s; for a period of 0.001 s give rate=1000"
    ):
        dy.Sampled(lambda t, q, v: q, 0.001)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 0.0},
        {"rate": "fast"},
        {"rate": True},
        {"rate": 10.0, "delay": -1.0},
        {"rate": 10.0, "delay": np.nan},
        {"rate": 10.0, "delay": np.inf},
        {"rate": np.inf},
        {"rate": np.nan},
        {"rate": 10.0, "resolution": np.inf},
        {"rate": 10.0, "velocity_resolution": -1.0},
        {"rate": 10.0, "velocity": "differences", "velocity_resolution": 0.3},
        {"rate": 10.0, "velocity": "guessed"},
    ],
)
def test_impossible_sampling_is_refused(wrong):
    with pytest.raises(dy.InputError):
        dy.Sampled(lambda t, q, v: q, **wrong)


@pytest.mark.parametrize("method", ["rk4", "midpoint", "euler"])
def test_fixed_steps_go_from_sample_to_sample_compiled(method):
    robot = dy.load("planar_2r_melchiorri")
    law = lambda t, q, v: robot.gravity(q) - 3000.0 * (q - 0.3) - 600.0 * v + 20.0 * np.sin(9 * t)  # noqa: E731
    digital = dy.Sampled(law, 130.0, delay=0.003, resolution=1e-3, velocity="differences")
    times = np.linspace(0.0, 0.5, 24)  # that are no samples
    stepped = dy.simulate(robot, times, [0.1, 0.2], controller=digital, method=method, step=1e-4)
    exact = dy.simulate(robot, times, [0.1, 0.2], controller=digital, rtol=1e-11, atol=1e-12)
    assert stepped.statistics["compiled"]
    # a position that lies on the edge of an encoder's step would be seen otherwise; here none does
    np.testing.assert_allclose(stepped.q, exact.q, atol={"rk4": 1e-10, "midpoint": 1e-6, "euler": 1e-3}[method])
    if method == "rk4":
        np.testing.assert_allclose(stepped.tau, exact.tau, atol=1e-8)
        parts = dy.simulate(robot, times[:11], [0.1, 0.2], controller=digital, method=method, step=1e-4)
        joined = dy.simulate(robot, times[10:], resume=parts, controller=digital, method=method, step=1e-4)
        np.testing.assert_allclose(joined.q, stepped.q, atol=1e-12)


@pytest.mark.parametrize("delay", [0.0, 0.0004, 0.003, 2.0])
def test_the_instants_of_a_long_motion_are_those_computed_at_once(delay):
    held = Held(Sampled(lambda t, q, v: [0.0], 1000.0, delay=delay), 1, 0.25, lambda t, q, v, x: ([0.0], x))
    noise = dy.Noise(1.0, hold=0.0007).source(1)
    start, end = 1.25, 4.0
    expected = {0.25 + k / 1000.0 for k in range(3750)} | {0.25 + k / 1000.0 + delay for k in range(3750)}
    expected |= {k * 0.0007 for k in range(1786, 5715)}
    merged = [start]
    for t in sorted(x for x in expected if start + 1e-12 < x < end - 1e-12):
        if t - merged[-1] > 1e-12:
            merged.append(t)
    assert list(instants([held, noise], start, end)) == pytest.approx([*merged, end], abs=1e-12)


def test_a_refusal_of_sampling_names_every_value():
    with pytest.raises(dy.InputError, match=r"rate=10.0, delay=inf, resolution=0.0, velocity_resolution=0.0"):
        dy.Sampled(lambda t, q, v: q, 10.0, delay=float("inf"))
    with pytest.raises(dy.InputError, match=r"velocity_resolution=0.3 quantises measured velocities"):
        dy.Sampled(lambda t, q, v: q, 10.0, resolution=0.01, velocity="differences", velocity_resolution=0.3)

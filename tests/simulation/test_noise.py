"""Random torques that are functions of numbers: distributed as they should, independent, and the same for ever."""

import numpy as np
import pytest
from small_machines import blocks, pendulum, turning

import dynamis as dy
from dynamis.simulation.noise import hashed, mixed, uniform

NOISE = dy.Noise(1.0, 0.01, seed=5)
REMEMBERED = [[-1.9888359461085874, 0.8366435889894277], [0.623686793878963, -1.8419198713394236]]
MANY = NOISE.values(np.arange(200), np.arange(500), 4)  # (intervals, rollouts, joints), 400 000 of them


def test_mean_deviation_and_the_fourth_moment_are_those_of_a_normal_distribution():
    count = MANY.size
    assert abs(MANY.mean()) < 4 / np.sqrt(count)
    assert abs(MANY.var() - 1.0) < 4 * np.sqrt(2 / count)
    assert abs((MANY**4).mean() - 3.0) < 4 * np.sqrt(96 / count)
    assert abs((MANY**3).mean()) < 4 * np.sqrt(15 / count)


def test_the_histogram_is_the_bell_curve():
    from scipy.stats import norm

    edges = norm.ppf(np.linspace(0, 1, 101)[1:-1])
    counts = np.bincount(np.searchsorted(edges, MANY.ravel()), minlength=100)
    expected = MANY.size / 100
    square = ((counts - expected) ** 2 / expected).sum()  # chi square with 99 degrees of freedom: 99 ± 14
    assert 45 < square < 170


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("lag", [1, 2, 3])
def test_neighbouring_intervals_rollouts_and_joints_know_nothing_of_each_other(axis, lag):
    x = np.moveaxis(MANY, axis, 0)
    products = x[lag:] * x[:-lag]
    assert abs(products.mean()) < 4 / np.sqrt(products.size)
    squares = (x[lag:] ** 2 - 1) * (x[:-lag] ** 2 - 1)
    assert abs(squares.mean()) < 4 * 2 / np.sqrt(squares.size)


def test_numbers_that_could_be_confused_are_not():
    """Rollout 1 in interval 2 is not rollout 2 in interval 1, and no two of a hundred thousand are alike."""
    assert len(np.unique(hashed(0, np.arange(60)[:, None, None], np.arange(60)[:, None], np.arange(30)))) == 60 * 60 * 30
    assert len(np.unique(hashed(1, np.arange(-50, 50)[:, None], np.arange(-50, 50), np.arange(1)))) == 10_000


def test_the_hash_is_uniform_in_every_byte_and_changes_half_of_its_bits_with_each_bit_of_the_input():
    bits = hashed(3, np.arange(65536), 0, 0)
    for shift in range(0, 64, 8):
        counts = np.bincount(((bits >> np.uint64(shift)) & np.uint64(255)).astype(int), minlength=256)
        assert 150 < ((counts - 256) ** 2 / 256).sum() < 370  # chi square with 255 degrees of freedom: 255 ± 23
    for bit in range(20):
        numbers = np.arange(40_000, dtype=np.int64)
        numbers = numbers[(numbers >> bit) % 2 == 0]  # each pair once
        changed = hashed(3, numbers, 7, 1) ^ hashed(3, numbers + (1 << bit), 7, 1)
        ones = np.unpackbits(changed.view(np.uint8).reshape(-1, 8), axis=1).mean(axis=0)
        assert np.abs(ones - 0.5).max() < 5 * 0.5 / np.sqrt(len(numbers))


def test_mixing_is_the_published_one():
    """The first outputs of SplitMix64 from the seed 1234567, as its authors and others give them."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    states = np.array([1234567], dtype=np.uint64) + golden * np.arange(1, 6, dtype=np.uint64)
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
    assert mixed(states).tolist() == known


def test_uniform_numbers_are_never_zero_or_one():
    ends = uniform(np.array([0, 2**64 - 1], dtype=np.uint64))
    assert 0.0 < ends[0] < 1e-15
    assert 0.0 < 1.0 - ends[1] < 1e-15


def test_a_batch_in_parts_and_one_alone_are_the_batch():
    whole = NOISE.values(3, np.arange(100), 6)
    parts = np.concatenate([NOISE.values(3, np.arange(k, k + 25), 6) for k in range(0, 100, 25)])
    assert np.array_equal(whole, parts)
    assert np.array_equal(NOISE.values(np.array([1, 3]), [42], 6)[1], whole[42:43])
    assert np.array_equal(NOISE.values(3, [42], 2)[0], whole[42, :2])


def test_these_numbers_stay_what_they_are():
    """A study is repeatable across versions: numbers that once were are never others."""
    assert np.allclose(dy.Noise(1.0, 0.1).values(0, [0, 1], 2), REMEMBERED, rtol=1e-12)


def test_seeds_differ_and_each_joint_has_its_deviation():
    assert not np.any(dy.Noise(1.0, 0.1, seed=1).values(0, [0], 6) == dy.Noise(1.0, 0.1, seed=2).values(0, [0], 6))
    spread = dy.Noise([1.0, 0.0, 5.0], 0.1).values(0, np.arange(20_000), 3).std(axis=0)
    assert np.allclose(spread, [1.0, 0.0, 5.0], rtol=0.03)


def test_a_disturbed_motion_is_exact_between_the_jumps():
    noise = dy.Noise(3.0, 0.05, seed=2)
    motion = dy.simulate(turning(inertia=2.0), 1.0, disturbance=noise, points=201)
    pushes = noise.values(np.arange(20), [0], 1)[:, 0, 0]
    v = np.concatenate([[0.0], np.cumsum(pushes / 2.0 * 0.05)])
    assert np.abs(motion.v[::10, 0] - v).max() < 1e-9
    assert np.array_equal(motion.tau[:-1, 0], np.repeat(pushes, 10))
    assert np.abs(motion.energy_error).max() < 1e-9


def test_every_method_meets_the_same_noise_and_no_stage_sees_the_next():
    options = {"disturbance": dy.Noise(0.5, 0.02, seed=1), "torque": [0.3], "friction": "none"}
    exact = dy.simulate(pendulum(), 0.5, [0.4], points=26, rtol=1e-11, atol=1e-12, **options)
    for method in (
        {"method": "Radau", "rtol": 1e-9, "atol": 1e-11},
        {"method": "rk4", "step": 1e-3},
        {"method": "midpoint", "step": 2e-4},
    ):
        made = dy.simulate(pendulum(), 0.5, [0.4], points=26, **method, **options)
        assert np.abs(made.q - exact.q).max() < 1e-7
        assert np.array_equal(made.tau, exact.tau)


def test_noise_comes_behind_the_drives_and_joins_a_sampled_controller():
    noise = dy.Noise(3.0, 0.05)
    weak = dy.simulate(turning(), 0.2, torque=[9.0], actuators={"axle": dy.Saturated(effort=1.0)}, disturbance=noise, points=41)
    alone = dy.simulate(turning(), 0.2, disturbance=noise, points=41)
    assert np.abs(weak.tau - alone.tau - 1.0).max() < 1e-12
    digital = dy.simulate(turning(), 0.2, controller=dy.Sampled(lambda t, q, v: [t], 70.0), disturbance=noise, points=41)
    held = np.floor(digital.t * 70.0 + 1e-9) / 70.0
    assert np.abs((digital.tau - alone.tau)[:-1, 0] - held[:-1]).max() < 1e-12


def test_constants_and_functions_of_time_disturb_too():
    by_number = dy.simulate(turning(inertia=2.0), 1.0, disturbance=[4.0])
    by_function = dy.simulate(turning(inertia=2.0), 1.0, disturbance=lambda t: [4.0])
    assert by_number.q[-1, 0] == pytest.approx(1.0)
    assert np.allclose(by_number.q, by_function.q)
    stepped = dy.simulate(turning(inertia=2.0), 1.0, disturbance=[4.0], method="rk4", step=0.01)
    assert stepped.q[-1, 0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "wrong",
    [(-1.0, 0.1), (np.nan, 0.1), ("a", 0.1), ([[1.0]], 0.1), (1.0, 0.0), (1.0, np.inf), (1.0, 0.1, 1.5), (1.0, 0.1, True)],
)
def test_impossible_noise_is_refused(wrong):
    with pytest.raises(dy.InputError, match="noise"):
        dy.Noise(*wrong)


def test_deviations_for_another_robot_are_refused():
    with pytest.raises(dy.InputError, match="2 standard deviations, the robot 3"):
        dy.simulate(blocks(3), 1.0, disturbance=dy.Noise([1.0, 2.0], 0.1))

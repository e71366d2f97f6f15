"""Output times of a motion, and the steps that fit between them."""

import warnings

import numpy as np
import pytest

import dynamis as dy
from dynamis.simulation.output_times import checked_times, times_of

ARM = dy.load("planar_2r_melchiorri")
UNEVEN = np.array([0.0, 0.1, 0.15, 0.2])  # the longest interval is one of 0.1 s


def check_step(step, times, method):
    assert np.array_equal(checked_times(times, None, None, method, step)[[0, -1]], times[[0, -1]])


@pytest.mark.parametrize("t", [object(), [1.0, "x"], [[0.0], [1.0, 2.0]], "1.0", [], [[0.0, 1.0]], [0.0, np.nan], None])
def test_what_is_no_time_is_refused_as_such(t):
    with pytest.raises(dy.InputError, match="t must be a duration"):
        times_of(t, None, None, None, None)


@pytest.mark.parametrize("points", [1, 0, -3, 2.0, "3", [3]])
def test_two_points_or_more_are_needed(points):
    with pytest.raises(dy.InputError, match="points must be an integer of at least 2"):
        times_of(1.0, points, None, None, None)


def test_more_points_than_fit_into_memory_are_refused():
    for points in (10**7 + 1, 10**9, 10**30):
        with pytest.raises(dy.InputError, match=f"points={points} is more than fits into memory: at most 10000000"):
            dy.simulate(dy.load("scara"), 1.0, points=points)
    with pytest.raises(dy.InputError, match="count=1000000000 is more than fits into memory"):
        dy.trajectories.joint_move([0.0], [1.0], duration=1.0).sample(10**9)


def test_points_beside_given_output_times_are_refused():
    with pytest.raises(dy.InputError, match="t holds 4 output times, so that points=11 has no meaning: leave points= out"):
        times_of(UNEVEN, 11, None, None, None)


@pytest.mark.parametrize("t", [[0.0, 1.0, 1.0], [0.0, 2.0, 1.0]])
def test_the_pair_of_times_that_does_not_increase_is_named(t):
    with pytest.raises(dy.InputError, match=f"t = 1 s follows {t[1]:g} s"):
        times_of(t, None, None, None, None)


@pytest.mark.parametrize(
    ("duration", "step", "steps"),
    [(1.0, 0.1, 10), (0.3, 0.1, 3), (1.0, 0.1 * (1.0 - 4e-9), 11), (1.0, 0.3, 4), (50.0, 0.1, 500), (50.1, 0.1, 251),
     (100.0, 0.1, 500), (100.1, 0.1, 334)],
)  # fmt: skip
def test_output_times_lie_on_the_steps_which_are_never_longer_than_asked_for(duration, step, steps):
    """At most 500 intervals, of the fewest whole steps each: 501 steps are 251 intervals of two, 1001 are 334 of three."""
    times = times_of(duration, None, None, "rk4", step)
    assert np.array_equal(times, np.linspace(0.0, duration, steps + 1))


@pytest.mark.parametrize("method", ["rk45", None])
def test_other_methods_have_their_usual_output_times(method):
    assert np.array_equal(times_of((1.0, 3.0), None, None, method, 0.1), np.linspace(1.0, 3.0, 501))


def test_a_step_as_long_as_the_longest_interval_is_accepted():
    check_step(0.1, UNEVEN, "rk4")
    check_step(float(np.diff([0.0, 0.3, 0.6]).max()), np.array([0.0, 0.3, 0.45, 0.6]), "rk4")  # by rounding not 0.3


@pytest.mark.parametrize("step", [0.1 * (1.0 + 1e-8), 0.15, 0.2])
def test_a_longer_one_that_would_always_be_cut_is_refused(step):
    with pytest.raises(dy.InputError, match=r"longer than the 0.1 s between output times.*or step=0.1 or less"):
        check_step(step, UNEVEN, "rk4")
    check_step(step, UNEVEN, "rk45")  # where it is a limit


def test_a_step_may_be_as_long_as_the_motion():
    check_step(2.0, np.array([1.0, 3.0]), "euler")
    check_step(2.0 * (1.0 + 1e-10), np.array([1.0, 3.0]), "euler")  # by rounding longer
    with pytest.raises(dy.InputError, match="longer than the motion: use at most step=2"):
        check_step(2.0 * (1.0 + 1e-8), np.array([1.0, 3.0]), "euler")


@pytest.mark.parametrize("step", [0.0, -0.1, np.inf, np.nan, True, "0.1"])
def test_a_step_is_a_positive_number(step):
    with pytest.raises(dy.InputError, match="step must be a positive number of seconds"):
        check_step(step, UNEVEN, "rk45")


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("noise", [None, dy.Noise(1.0, 0.003, seed=5)])
@pytest.mark.parametrize("every", [15, 20, 200])
def test_outputs_that_do_not_divide_the_steps_end_with_a_shorter_interval_of_the_same_steps(every, noise, compiled):
    def law(t, q, v):
        return -9.0 * q - v if compiled or float(v[0]) < 1e9 else v

    options = {"controller": law, "disturbance": noise, "step": 1e-3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.PerformanceWarning)
        every_step = dy.rollouts(ARM, 0.036, np.zeros((2, 2)), **options)
        made = dy.rollouts(ARM, 0.036, np.zeros((2, 2)), every=every, **options)
    places = [*range(0, 36, every), 36]
    assert made.step == every_step.step == pytest.approx(1e-3)
    np.testing.assert_allclose(made.t, every_step.t[places], rtol=1e-12)
    np.testing.assert_allclose(made.q, every_step.q[places], atol=1e-12)
    np.testing.assert_allclose(made.v, every_step.v[places], atol=1e-12)


def test_a_step_that_is_shortened_is_noted():
    made = dy.rollouts(ARM, 0.2, np.zeros((2, 2)), step=3e-3)
    assert "instead of 0.003 s: 0.2 s are no whole number of steps" in made.note
    assert dy.rollouts(ARM, 0.2, np.zeros((2, 2)), step=1e-3, every=100).note == ""
    with pytest.raises(dy.InputError, match="choose t or step so, as a sampled controller has a period of whole steps"):
        dy.rollouts(ARM, 0.2, np.zeros((2, 2)), step=3e-3, controller=dy.Sampled(lambda t, q, v: -q, rate=1 / 3e-3))

"""The functions that exciting motions are made of."""

import copy

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.excitation import Fourier, Splines

BASES = {
    "fourier": Fourier(7.0, 5),
    "fourier of two periods": Fourier(4.0, 3, periods=2),
    "fewest harmonics": Fourier(3.0, 2),
    "periodic": Fourier(3.0, 4, periodic=True),
    "spline": Splines(7.0, 10),
    "one point": Splines(2.0, 1),
    "open spline": Splines(5.0, 8, closed=False),
}


@pytest.fixture(params=BASES, ids=list(BASES))
def basis(request):
    return BASES[request.param]


def coefficients(basis, seed=0):
    return np.random.default_rng(seed).normal(size=(basis.size, 3))


def test_motions_start_and_end_at_rest(basis):
    c = coefficients(basis)
    ends = [basis.derivative([0.0, basis.duration], order) @ c for order in range(3)]
    if not getattr(basis, "periodic", False):
        np.testing.assert_allclose(ends[1:], 0.0, atol=1e-12)
    np.testing.assert_allclose(ends[0][0], 0.0, atol=1e-14)
    if getattr(basis, "closed", True):
        np.testing.assert_allclose(ends[0][1], ends[0][0], atol=1e-13)


@pytest.mark.parametrize("order", range(4))
def test_derivatives_are_those_of_the_functions(basis, order):
    t = np.linspace(0.01, 0.99, 53) * basis.duration
    h = 1e-5 * basis.duration
    numerical = (basis.derivative(t + h, order) - basis.derivative(t - h, order)) / (2.0 * h)
    exact = basis.derivative(t, order + 1)
    np.testing.assert_allclose(numerical, exact, atol=2e-4 * np.abs(exact).max())


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_bounds_are_not_exceeded_and_not_far_away(basis, order):
    for seed in range(5):
        c = coefficients(basis, seed)
        largest = np.abs(basis.derivative(np.linspace(0.0, basis.duration, 4001), order) @ c).max(axis=0)
        assert (largest <= basis.bound(c, order) * (1.0 + 1e-12)).all()
        assert (basis.bound(c, order) < 6.0 * largest).all()


def test_the_motion_is_what_the_matrices_say(basis):
    c, q0 = coefficients(basis), np.array([0.3, -1.0, 2.0])
    t = np.linspace(0.0, basis.duration, 301)
    expected = [basis.derivative(t, order) @ c for order in range(3)]
    expected[0] = expected[0] + q0
    for found, wanted in zip(basis.motion(q0, c).at(t), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-11 * max(1.0, np.abs(wanted).max()))


def test_after_the_end_a_motion_rests(basis):
    motion = basis.motion(np.zeros(3), coefficients(basis))
    q, v, a = motion.at(basis.duration + 1.0)
    np.testing.assert_allclose(q, motion.at(basis.duration)[0])
    assert not v.any()
    assert not a.any()


@pytest.mark.parametrize("name", ["fourier", "spline"])
def test_a_motion_can_be_traced_at_a_symbolic_time(name):
    basis = BASES[name]
    motion = basis.motion(np.zeros(2), coefficients(basis)[:, :2])
    robot = dy.load("planar_2r_melchiorri")
    follow = robot.compile(lambda robot, t: np.concatenate(motion.at(t[0])), t=1)
    t = np.linspace(-1.0, basis.duration + 1.0, 40)
    np.testing.assert_allclose(follow(t[:, None]), np.concatenate(motion.at(t), axis=-1), atol=1e-10)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Fourier(0.0), "duration must be positive"),
        (lambda: Fourier(5.0, 1), "harmonics must be an integer from 2"),
        (lambda: Fourier(5.0, 2.5), "harmonics must be an integer"),
        (lambda: Fourier(5.0, 3, periods=0), "periods must be"),
        (lambda: Splines(5.0, 0), "points must be"),
        (lambda: Splines(float("nan"), 3), "duration"),
    ],
)
def test_what_cannot_be_made_is_said(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


def test_a_free_start_is_a_constant_before_the_functions(basis):
    free, t = copy.copy(basis), np.linspace(0.0, basis.duration, 7)
    free.free_start = True
    for order, (with_start, without) in enumerate(zip(free.matrices(t), basis.matrices(t), strict=True)):
        np.testing.assert_array_equal(with_start[:, 0], float(order == 0))
        np.testing.assert_array_equal(with_start[:, 1:], without)

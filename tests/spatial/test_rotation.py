"""Rotations: every representation gives the same turn."""

import mpmath
import numpy as np
import pytest

from dynamis.spatial import rotation


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_axis_angle_matches_the_exponential_series(rng):
    for _ in range(20):
        axis = rng.standard_normal(3)
        axis /= np.linalg.norm(axis)
        angle = rng.uniform(-3, 3)
        S, term, total = rotation.skew(axis) * angle, np.eye(3), np.eye(3)
        for k in range(1, 40):
            term = term @ S / k
            total = total + term
        assert rotation.about_axis(axis, angle) == pytest.approx(total, abs=1e-13)


def test_roll_pitch_yaw_is_yaw_after_pitch_after_roll_and_comes_back(rng):
    x, y, z = np.eye(3)
    for _ in range(20):
        r, p, w = rng.uniform(-1.5, 1.5, 3)
        R = rotation.about_axis(z, w) @ rotation.about_axis(y, p) @ rotation.about_axis(x, r)
        assert rotation.from_rpy((r, p, w)) == pytest.approx(R, abs=1e-15)
        assert rotation.to_rpy(R) == pytest.approx([r, p, w])


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-8])
def test_at_the_singular_pitch_the_rotation_itself_survives(pitch, rng):
    R = rotation.from_rpy((0.4, pitch, 1.1))
    assert rotation.from_rpy(rotation.to_rpy(R)) == pytest.approx(R, abs=1e-12)


def test_quaternions_multiply_like_matrices_and_come_back(rng):
    for _ in range(50):
        a, b = (q / np.linalg.norm(q) for q in rng.standard_normal((2, 4)))
        Ra, Rb = rotation.from_quaternion(a), rotation.from_quaternion(b)
        assert rotation.from_quaternion(rotation.multiply_quaternions(a, b)) == pytest.approx(Ra @ Rb, abs=1e-14)
        again = rotation.to_quaternion(Ra)
        assert again[3] >= 0
        assert np.abs(again) == pytest.approx(np.abs(a), abs=1e-13)
        phi = rotation.log_quaternion(a)
        assert np.linalg.norm(phi) <= np.pi + 1e-12
        assert rotation.from_quaternion(rotation.exp_quaternion(phi)) == pytest.approx(Ra, abs=1e-13)


def test_tiny_and_half_turns_are_accurate():
    for phi in (np.array([1e-9, 0, 0]), np.zeros(3), np.array([0, np.pi - 1e-9, 0])):
        assert rotation.log_quaternion(rotation.exp_quaternion(phi)) == pytest.approx(phi, abs=1e-15, rel=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-13, 1e-9, 1e-6, 9e-3, 1.1e-2, 0.1, 1.0, 3.0, np.pi])
def test_exponential_logarithm_and_their_jacobians_are_exact_at_every_angle(angle):
    """Against forty digits; the closed forms cancel at small angles, where series take over."""
    phi = angle * np.array([0.6, -0.48, 0.64])
    with mpmath.workdps(40):
        x = [mpmath.mpf(float(v)) for v in phi]
        S = mpmath.matrix([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
        a = mpmath.sqrt(sum(v * v for v in x))
        one, b, c = (mpmath.sin(a / 2) / a, (1 - mpmath.cos(a)) / a**2, (a - mpmath.sin(a)) / a**3) if a else (0.5, 0.5, 0)
        V = mpmath.eye(3) + b * S + c * S * S
        expected = np.array([[float(V[i, j]) for j in range(3)] for i in range(3)])
        inverse = mpmath.inverse(V)
        backward = np.array([[float(inverse[i, j]) for j in range(3)] for i in range(3)])
        quaternion = np.array([*(float(one * v) for v in x), float(mpmath.cos(a / 2))])
    assert np.abs(rotation.left_jacobian(phi) - expected).max() < 1e-15
    assert np.abs(rotation.inverse_left_jacobian(phi) - backward).max() < 3e-15
    assert np.abs(rotation.exp_quaternion(phi) - quaternion).max() < 3e-16
    if angle < np.pi:
        assert np.abs(rotation.log_quaternion(quaternion) - phi).max() <= 4e-16 * max(angle, 1e-300) / np.sinc(angle / np.pi)

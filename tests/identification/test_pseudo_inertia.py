"""The cone of bodies: J both ways, its border, its distances."""

from __future__ import annotations

import numpy as np
import pytest

from dynamis.errors import InputError
from dynamis.identification import pseudo_inertia as body
from dynamis.spatial import Inertia


def random_body(rng):
    """The parameters of random point masses."""
    points = np.c_[rng.normal(scale=0.3, size=(6, 3)), np.ones(6)]
    return body.parameters_of((points * rng.uniform(0.1, 2.0, 6)[:, None]).T @ points)


def test_the_pseudo_inertia_is_that_of_the_spatial_inertia():
    pi = random_body(np.random.default_rng(0))
    np.testing.assert_allclose(body.pseudo_inertia(pi), Inertia.from_parameters(pi).pseudo_inertia, atol=1e-15)


def test_there_and_back_for_any_symmetric_matrix():
    rng = np.random.default_rng(1)
    pi = rng.normal(size=(20, 10))
    np.testing.assert_allclose(body.parameters_of(body.pseudo_inertia(pi)), pi, atol=1e-14)
    X = body.pseudo_inertia(pi)
    np.testing.assert_allclose(body.unpacked(body.packed(X)), X, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(body.packed(X), axis=-1), np.linalg.norm(X, axis=(-2, -1)))


def test_point_masses_are_consistent_and_a_moved_border_is_not():
    rng = np.random.default_rng(2)
    for _ in range(50):
        pi = random_body(rng)
        assert body.is_consistent(pi)
        J = body.pseudo_inertia(pi)
        values, vectors = np.linalg.eigh(J)
        outside = body.parameters_of(J - (values[0] + 1e-6 * values[-1]) * np.outer(vectors[:, 0], vectors[:, 0]))
        assert not body.is_consistent(outside)
        assert body.smallest_eigenvalue(outside) < 0.0


@pytest.mark.parametrize(
    "pi",
    [
        [-1.0, 0, 0, 0, 1, 0, 1, 0, 0, 1],  # negative mass
        [1.0, 0, 0, 0, 1, 0, 1, 0, 0, 2.001],  # triangle inequality
        [1.0, 0, 0, 0, -0.1, 0, 1, 0, 0, 1],  # negative moment
        [1.0, 1.0, 0, 0, 1, 0, 0.9, 0, 0, 0.9],  # less inertia than its own Steiner part
        [0.0, 0.1, 0, 0, 1, 0, 1, 0, 0, 1],  # first moment without mass
        [np.nan] * 10,
    ],
)
def test_what_no_body_can_have(pi):
    assert not body.is_consistent(pi)


def test_nothing_at_all_is_a_body_without_mass():
    assert body.is_consistent(np.zeros(10))


def test_divergence_is_positive_unless_equal_and_the_metric_is_its_second_order():
    rng = np.random.default_rng(3)
    a, b = random_body(rng), random_body(rng)
    assert body.entropic_divergence(a, b) > 0.0
    assert abs(body.entropic_divergence(a, a)) < 1e-12
    step = 1e-4 * rng.normal(size=10) * np.abs(a)
    inverse, change = np.linalg.inv(body.pseudo_inertia(a)), body.pseudo_inertia(step)
    squared = np.trace(inverse @ change @ inverse @ change)
    assert body.entropic_divergence(a + step, a) == pytest.approx(0.5 * squared, rel=1e-2)
    assert body.entropic_divergence([-1.0, *a[1:]], a) == np.inf
    with pytest.raises(InputError, match="must be positive definite"):
        body.entropic_divergence(a, np.zeros(10))


def test_the_divergence_does_not_depend_on_the_frame():
    rng = np.random.default_rng(4)
    a, b = random_body(rng), random_body(rng)
    T = np.eye(4)
    T[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    T[:3, 3] = rng.normal(size=3)
    moved = [body.parameters_of(T @ body.pseudo_inertia(x) @ T.T) for x in (a, b)]
    assert body.entropic_divergence(*moved) == pytest.approx(body.entropic_divergence(a, b), rel=1e-9)


def test_nearest_consistent_leaves_bodies_alone_and_repairs_others():
    rng = np.random.default_rng(5)
    pi = random_body(rng)
    np.testing.assert_array_equal(body.nearest_consistent(pi), pi)
    for _ in range(50):
        wrong = pi * rng.normal(1.0, 1.0, 10)
        wrong[0] = abs(wrong[0])
        assert body.is_consistent(body.nearest_consistent(wrong))
    with pytest.raises(InputError, match="no body is near"):
        body.nearest_consistent([-1.0, 0, 0, 0, -1, 0, -1, 0, 0, -1])


def test_well_inside_keeps_thick_bodies_and_thickens_others():
    pi = random_body(np.random.default_rng(6))
    np.testing.assert_array_equal(body.well_inside(pi), pi)
    rod = [2.0, 0, 0, 1.0, 2 / 3, 0, 2 / 3, 0, 0, 0]
    for thin in (rod, [1.0, 0.5, 0, 0, 0, 0, 0.25, 0, 0, 0.25], np.zeros(10), [2.0, 0, 0, 0, 0, 0, 0, 0, 0, 1.0]):
        assert body.smallest_eigenvalue(body.well_inside(thin)) > 1e-6
    np.testing.assert_allclose(body.well_inside(rod)[:4], rod[:4])


def test_the_wrong_number_of_parameters_is_said():
    with pytest.raises(InputError, match="ten inertial parameters"):
        body.pseudo_inertia(np.zeros(9))

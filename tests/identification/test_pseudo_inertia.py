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


def test_well_inside_keeps_thick_bodies_and_thickens_others():
    pi = random_body(np.random.default_rng(6))
    np.testing.assert_array_equal(body.well_inside(pi), pi)
    rod = [2.0, 0, 0, 1.0, 2 / 3, 0, 2 / 3, 0, 0, 0]
    for thin in (rod, [1.0, 0.5, 0, 0, 0, 0, 0.25, 0, 0, 0.25], np.zeros(10), [2.0, 0, 0, 0, 0, 0, 0, 0, 0, 1.0]):
        J = body.pseudo_inertia(body.well_inside(thin))
        assert np.linalg.eigvalsh(J)[0] > 1e-6 * np.trace(J)
    np.testing.assert_allclose(body.well_inside(rod)[:4], rod[:4])


def test_the_wrong_number_of_parameters_is_said():
    with pytest.raises(InputError, match="ten inertial parameters"):
        body.pseudo_inertia(np.zeros(9))

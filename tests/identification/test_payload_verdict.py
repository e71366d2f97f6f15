"""Sentences on a payload, and whether its frame is doubted, from numbers that are known."""

import re

import numpy as np
import pytest
from scipy.signal import lfilter
from small_machines import spatial_arm

from dynamis.errors import InputError
from dynamis.identification.payload import _better_frame, _spoiled, _terms, verdict
from dynamis.identification.payload_fit import Determined, _lasting, determined, solve
from dynamis.spatial import Inertia

ROBOT = spatial_arm()
BOX = Inertia.about_com(2.0, [0.02, -0.03, 0.08], np.diag([0.02, 0.015, 0.01]))


def estimate(body=BOX, mass_error=0.1):
    """All ten parameters, the first four with errors that depend on each other."""
    L = np.diag([mass_error, 0.01, 0.02, 0.03, *np.full(6, 1e-3)])
    L[1:4, 0] = 0.2 * mass_error, 0.1 * mass_error, -0.3 * mass_error
    covariance = L @ L.T
    yes, p = np.ones(10, bool), np.asarray(body.parameters)
    return Determined(p, p, np.sqrt(np.diag(covariance)), covariance, yes, yes, np.abs(p), ())


def sentences(found, inertia=BOX, **changes):
    usual = {"before": np.array([4.0, 3.0, 2.0]), "after": np.array([0.4, 0.6, 0.2]), "corrected": False, "trusted": False,
             "frame": "link2", "spoiled": np.zeros(3, bool), "better": None}  # fmt: skip
    return verdict(found, inertia, True, ROBOT, **{**usual, **changes})


def test_errors_of_the_centre_of_mass_follow_from_those_of_mass_and_moments():
    found = estimate()
    (line,) = [x for x in sentences(found) if x.startswith("centre of mass")]
    m, C, com = 2.0, found.covariance, np.array([0.02, -0.03, 0.08])
    # of c = h / m: var h / m² − 2 c cov(h, m) / m² + c² var m / m²
    errors = [np.sqrt(C[k, k] - 2.0 * c * C[k, 0] + c**2 * C[0, 0]) / m for k, c in enumerate(com, 1)]
    assert line == f"centre of mass (0.02, -0.03, 0.08) m, standard errors ({', '.join(f'{x:.4g}' for x in errors)}) m"


def test_the_centre_of_a_mass_that_is_not_significant_is_not_given():
    first, *others = sentences(estimate(mass_error=0.7))
    assert (
        first
        == "no load detected: least-squares mass 2 kg, standard error 0.7 kg; a load below 2.1 kg cannot be seen in these logs"
    )
    assert not any("centre of mass" in x for x in others)
    assert sentences(estimate(mass_error=0.6))[0] == "mass 2 kg, standard error 0.6 kg"


def test_the_standard_error_of_the_mass_is_said_to_be_that_with_an_exact_arm():
    first, *others = sentences(estimate(mass_error=0.6), trusted=True)
    assert first == "mass 2 kg, standard error 0.6 kg if the arm's model is exact"
    assert "reference=" in others[-1]


def test_an_estimate_that_no_body_can_have_is_named_with_its_centre_of_mass():
    wrong = Inertia.from_parameters([2.0, 0.04, -0.06, 0.16, *np.zeros(6)])
    (line,) = [x for x in sentences(estimate(wrong)) if "not consistent" in x]
    assert "(mass 2 kg, centre of mass (0.02, -0.03, 0.08) m)" in line


def test_the_joint_that_is_explained_least_is_named_with_the_share_of_all():
    (line,) = [x for x in sentences(estimate()) if "is explained" in x]
    share = 100.0 * (1.0 - (0.4**2 + 0.6**2 + 0.2**2) / (4.0**2 + 3.0**2 + 2.0**2))
    assert line.startswith(f"{share:.0f} % of the torque")
    assert line.endswith("least at 'joint1', RMS residual 3 → 0.6 N m")
    (line,) = [x for x in sentences(estimate(), before=np.array([0.0, 3.0, 2.0])) if "is explained" in x]
    assert "least at 'joint1'" in line  # the first had nothing to explain


def test_a_joint_that_is_explained_worse_comes_second():
    spoiled = np.array([False, True, True])
    lines = sentences(estimate(), after=np.array([9.0, 6.0, 5.0]), spoiled=spoiled, better="link1")
    assert "'joint2', RMS residual 2 → 5 N m, is explained worse" in lines[1]
    assert lines[1].endswith("'link1' fits clearly better: frame='link1'")


@pytest.mark.parametrize(
    ("before", "after", "spoiled"),
    [([1.0, 1.0], [1.49, 1.51], [False, True]), ([0.0, 1.0], [1e-7, 1.0], [False, False]),
     ([0.0, 1.0], [1e-5, 1.0], [True, False]), ([0.0, 0.0], [0.0, 0.0], [False, False])],
)  # fmt: skip
def test_a_residual_is_clearly_larger_by_half_and_above_rounding(before, after, spoiled):
    assert _spoiled(np.array(before), np.array(after)).tolist() == spoiled


@pytest.mark.parametrize(
    ("by_link", "best"),
    [({"link1": [0.1, 0.1, 0.1], "link0": [0.5, 0.5, 0.5]}, "link1"),
     ({"link1": [0.5, 0.5, 0.5], "link0": [0.1, 0.1, 0.1]}, "link0"),
     ({"link1": [0.95, 0.95, 0.95], "link0": [0.92, 0.91, 0.91]}, None),  # not clearly better
     ({"link1": [0.88, 0.89, 0.89], "link0": [0.95, 0.95, 0.95]}, "link1"),
     ({"link1": [0.1, 0.1, 4.0], "link0": [0.8, 0.8, 0.8]}, "link0"),  # it spoils a joint, too
     ({"link1": [0.01, 1.4, 1.4], "link0": [0.5, 0.5, 0.5]}, "link1")],  # the product counts: 0.27³ and 0.5³
)  # fmt: skip
def test_a_better_frame_has_clearly_smaller_residuals_and_spoils_none(by_link, best):
    asked = []

    def residuals(link):
        asked.append(link)
        return np.array([2.0, 2.0, 2.0]), np.array(by_link[link])

    body = ROBOT.model.frame("link2").body
    assert _better_frame(ROBOT, body, np.ones(3), residuals) == best
    assert sorted(asked) == ["link0", "link1"]  # the frame itself and the base are not tried


def test_corrections_are_listed_once_in_a_fixed_order():
    assert _terms("offset", False) == ("offset",)
    assert _terms(["coulomb", "offset"], True) == ("offset", "coulomb")
    assert _terms((), True) == ()
    assert _terms(None, True) == ("offset", "viscous", "coulomb")
    assert _terms(None, False) == ()
    with pytest.raises(InputError, match=re.escape("friction='stiction'")):
        _terms("stiction", True)


@pytest.mark.parametrize("size", [1.0, 0.1])
def test_combinations_of_parameters_are_those_that_the_rows_show(size):
    R = np.zeros((4, 10))
    R[0, 0], R[1, [4, 6]], R[2, [1, 2]], R[3, [2, 3]] = 10.0, (1.0, -2.0), (3.0, 3.0), (1.0, 1.0)
    found = determined(R, R @ BOX.parameters, size)
    assert found.determined.tolist() == [True] + [False] * 9
    assert found.combinations == ("mx − mz", "my + mz", "Ixx − 2 Iyy")
    assert found.parameters[0] == pytest.approx(2.0)
    assert found.standard_errors[0] == pytest.approx(0.1)
    assert np.isinf(found.standard_errors[1:]).all()
    assert np.allclose(R @ found.filled, R @ BOX.parameters)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_noise_that_lasts_counts_as_fewer_samples(rho):
    """x' = ρ x + e: 1 + 2 Σ ρᵏ = (1 + ρ) / (1 − ρ), in each of two runs."""
    rng = np.random.default_rng(3)
    x = lfilter([1.0], [1.0, -rho], rng.normal(size=(2, 20000)))
    assert _lasting(x.reshape(-1), np.array([0, 20000])) == pytest.approx((1.0 + rho) / (1.0 - rho), rel=0.1)
    assert _lasting(np.zeros(100), np.array([0])) == 1.0


def test_columns_of_any_unit_are_solved_and_repeated_ones_share_their_value():
    assert np.allclose(solve(np.diag([1.0, 1e-12]), np.array([3.0, 4e-12])), [3.0, 4.0])
    assert np.allclose(solve(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([3.0, 3.0])), [3.0, 0.0])
    for apart, expected in ((1e-9, [1.0, 2.0]), (1e-12, [1.5, 1.5])):
        assert np.allclose(solve(np.array([[1.0, 1.0], [0.0, apart]]), np.array([3.0, 2.0 * apart])), expected, atol=1e-5)

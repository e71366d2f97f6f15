"""Derivatives of sampled positions: order of accuracy, ends, noise against theory, and all methods alike."""

import numpy as np
import pytest
from scipy.signal import savgol_coeffs

from dynamis.errors import InputError, NameLookupError
from dynamis.identification.signals import derivatives
from dynamis.identification.signals.filters import METHODS, stencil

WAVES = ((1.0, 0.5, 0.3), (0.5, 1.15, 1.0), (0.3, 2.05, 2.0))  # amplitude, Hz, phase


def motion(t):
    q, v, a = (np.zeros((len(t), 2)) for _ in range(3))
    for column, shift in ((0, 0.0), (1, 0.7)):
        for c, f, phase in WAVES:
            w, angle = 2 * np.pi * f, 2 * np.pi * f * t + phase + shift
            q[:, column] += c * np.sin(angle)
            v[:, column] += c * w * np.cos(angle)
            a[:, column] -= c * w * w * np.sin(angle)
    return q, v, a


H = 1e-3
T = np.arange(8000) * H
Q, V, A = motion(T)
INSIDE = slice(300, -300)


@pytest.mark.parametrize("method", METHODS)
def test_a_motion_without_noise_is_differentiated(method):
    q, v, a = derivatives(Q, H, method, 20.0)
    assert np.abs(q - Q)[INSIDE].max() < 1e-6
    assert np.abs(v - V)[INSIDE].max() < 1e-5 * np.abs(V).max()
    assert np.abs(a - A)[INSIDE].max() < 5e-4 * np.abs(A).max()
    # at the ends less is known
    assert np.abs(v - V).max() < 1e-2 * np.abs(V).max()
    assert np.abs(a - A).max() < 5e-2 * np.abs(A).max()


@pytest.mark.parametrize("method", METHODS)
def test_one_joint_alone_gives_the_same(method):
    both, one = derivatives(Q, H, method, 20.0), derivatives(Q[:, 1], H, method, 20.0)
    for x, y in zip(both, one, strict=True):
        assert y.shape == (len(T),)
        assert np.allclose(x[:, 1], y, atol=1e-7 * np.abs(x).max())


@pytest.mark.parametrize("accuracy", [2, 4, 6])
def test_central_differences_have_their_order_to_the_ends(accuracy):
    errors = []
    for h in (0.04, 0.02):
        t = np.arange(int(8.0 / h)) * h
        _, v, a = motion(t)
        _, v_found, a_found = derivatives(motion(t)[0], h, accuracy=accuracy)
        half = accuracy // 2
        errors.append([np.abs(v_found - v).max(), np.abs(a_found - a)[half:-half].max(), np.abs(a_found - a).max()])
    order = np.log2(np.divide(*errors))
    assert order[0] > accuracy - 0.5
    assert order[1] > accuracy - 0.5
    assert order[2] > accuracy - 1.5  # one less at the ends, where the stencil is not symmetric


def test_a_stencil_is_exact_for_polynomials():
    places = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, 5.0])
    for power in range(6):
        assert np.isclose(stencil(places, 1) @ places**power, 1.0 if power == 1 else 0.0, atol=1e-10)
        assert np.isclose(stencil(places, 2) @ places**power, 2.0 if power == 2 else 0.0, atol=1e-10)


def test_savitzky_and_golay_are_exact_for_their_polynomials():
    t = T[:500]
    for k in range(6):
        q, v, a = derivatives(t**k, H, "savgol", window=31)
        assert np.allclose(q, t**k, atol=1e-9)
        assert np.allclose(v, k * t ** max(k - 1, 0), atol=1e-8)
        assert np.allclose(a, k * (k - 1) * t ** max(k - 2, 0), atol=1e-5)


def noise_of(method, count=60000, **options):
    noise = np.random.default_rng(5).normal(size=(count, 1))
    return [x[500:-500].std() for x in derivatives(noise, H, method, **options)]


def in_theory(gain, w_v, w_a):
    """Noise in q, v, a of unit white noise through |gain|², times |w|² of the derivative, over the spectrum."""
    return [np.sqrt(np.mean(gain**2 * w**2)) for w in (np.ones_like(w_v), w_v, w_a)]


def test_noise_is_amplified_as_theory_says():
    f = np.linspace(0.0, 0.5 / H, 20001)
    w = 2 * np.pi * f
    butterworth = 1.0 / (1.0 + (np.tan(np.pi * f[:-1] * H) / np.tan(np.pi * 40.0 * H)) ** 8)
    assert np.allclose(noise_of("central", cutoff=40.0), in_theory(butterworth, w[:-1], w[:-1] ** 2), rtol=0.05)
    weights = [np.linalg.norm(savgol_coeffs(41, 5, deriv=k, delta=H)) for k in range(3)]
    assert np.allclose(noise_of("savgol", window=41), weights, rtol=0.05)


def test_all_methods_amplify_noise_alike_for_the_same_cutoff():
    found = {m: noise_of(m, count=20000, cutoff=40.0) for m in METHODS}
    for m, (_, v, a) in found.items():
        assert 0.5 < v / found["central"][1] < 2.0, m
        assert 0.4 < a / found["central"][2] < 2.5, m


@pytest.mark.parametrize("method", METHODS)
def test_logged_velocities_are_differentiated_once(method):
    rng = np.random.default_rng(8)
    q, v = Q + 1e-3 * rng.normal(size=Q.shape), V + 1e-5 * rng.normal(size=V.shape)
    from_q, from_v = derivatives(q, H, method, 20.0), derivatives(q, H, method, 20.0, velocity=v)
    assert np.array_equal(from_q[0], from_v[0])
    assert np.abs(from_v[1] - V)[INSIDE].max() < 1e-4 * np.abs(V).max()
    assert (from_v[2] - A)[INSIDE].std() < 0.02 * (from_q[2] - A)[INSIDE].std()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: derivatives(Q, H, "savgol"), "needs cutoff"),
        (lambda: derivatives(Q, H, "spline"), "needs cutoff"),
        (lambda: derivatives(Q, H, "savgol", window=10), "must be odd"),
        (lambda: derivatives(Q[:20], H, "savgol", window=31), "too few"),
        (lambda: derivatives(Q[:5], H), "too few"),
        (lambda: derivatives(Q, H, "central", 900.0), "half the sampling rate"),
        (lambda: derivatives(Q, H, accuracy=3), "accuracy, the error order"),
        (lambda: derivatives(Q, H, colour=3), "does not accept"),
        (lambda: derivatives(Q, H, velocity=V[:5]), "they must be equal"),
        (lambda: derivatives(np.where(Q > 1.0, np.nan, Q), H), "non-finite"),
        (lambda: derivatives(Q[None], H), "shape"),
    ],
)
def test_what_cannot_be_differentiated_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()


def test_an_unknown_method_lists_the_known():
    with pytest.raises(NameLookupError, match="savgol"):
        derivatives(Q, H, "savgoll")

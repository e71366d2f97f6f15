"""Zero-phase low-pass filters and the spectra they are chosen by."""

import re

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from dynamis.errors import InputError
from dynamis.identification.signals import filters as module
from dynamis.identification.signals import low_pass, margin, suggest_cutoff

H = 1e-3
T = np.arange(6000) * H
RNG = np.random.default_rng(1)


@pytest.mark.parametrize("frequency", [3.0, 20.0, 40.0, 90.0])
@pytest.mark.parametrize("order", [2, 4])
def test_the_gain_is_the_square_of_butterworths_and_the_phase_is_zero(frequency, order):
    inside = slice(2000, 4000)
    wave = np.stack([np.sin(2 * np.pi * frequency * T), np.cos(2 * np.pi * frequency * T)], axis=1)
    warped = np.tan(np.pi * frequency * H) / np.tan(np.pi * 40.0 * H)
    gain = 1.0 / (1.0 + warped ** (2 * order))
    assert np.allclose(low_pass(wave, H, 40.0, order)[inside], gain * wave[inside], atol=1e-9)


def test_it_is_scipys_filter_with_longer_ends():
    x = np.cumsum(RNG.normal(size=(3000, 3)), axis=0)
    sos = butter(4, 30.0, fs=1.0 / H, output="sos")
    assert np.allclose(low_pass(x, H, 30.0), sosfiltfilt(sos, x, axis=0, padlen=200), atol=1e-12)


def test_lines_pass_unchanged_to_their_very_ends():
    x = np.stack([2.0 + 3.0 * T, -T], axis=1)
    assert np.allclose(low_pass(x, H, 15.0), x, atol=1e-7)


def test_both_sides_of_an_equation_stay_equal():
    Y, pi = RNG.normal(size=(500, 3, 7)), RNG.normal(size=7)
    assert np.allclose(low_pass(Y, H, 50.0) @ pi, low_pass(Y @ pi, H, 50.0), atol=1e-12)


def test_blocks_of_columns_make_no_difference(monkeypatch):
    Y = RNG.normal(size=(400, 3, 7))
    whole = low_pass(Y, H, 50.0)
    monkeypatch.setattr(module, "BLOCK", 1000)
    assert np.array_equal(low_pass(Y, H, 50.0), whole)
    assert np.array_equal(low_pass(Y[:, 0, 0], H, 50.0), whole[:, 0, 0])


@pytest.mark.parametrize("cutoff", [5.0, 50.0, 400.0])
def test_nothing_beyond_the_margin_matters(cutoff):
    m = margin(H, cutoff)
    x = np.zeros(6 * m + 20001)
    x[len(x) // 2] = 1.0
    response = np.abs(low_pass(x, H, cutoff))
    outside = np.abs(np.arange(len(x)) - len(x) // 2) > m
    assert response[outside].sum() < 1e-12
    # and it is not many times longer than it need be
    assert response[np.abs(np.arange(len(x)) - len(x) // 2) > m // 2].sum() > 1e-12


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: low_pass(T, H, 500.0), "half the sampling rate"),
        (lambda: low_pass(T, H, -1.0), "positive number of hertz"),
        (lambda: low_pass(T, 0.0, 10.0), "sampling period"),
        (lambda: low_pass(T, H, np.nan), "positive number of hertz"),
        (lambda: low_pass(T, H, 10.0, 0), "order must be"),
        (lambda: low_pass(T[:1], H, 10.0), "at least two"),
        (lambda: low_pass(3.0, H, 10.0), "first axis"),
        (lambda: suggest_cutoff(T[:20], H), f"20 samples, {20 * H:.3g} s, are too few .* or pass the cut-off as cutoff="),
        (lambda: suggest_cutoff(RNG.normal(size=5000), H), "more than its noise"),
    ],
)
def test_what_cannot_be_filtered_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()


@pytest.mark.parametrize("noise", [1e-6, 1e-5, 1e-4, 1e-3])
def test_the_suggested_cutoff_is_near_the_best(noise):
    waves = ((1.0, 0.5), (0.5, 1.2), (0.1, 3.0))
    t = np.arange(10000) * H
    q = sum(c * np.sin(2 * np.pi * f * t + f) for c, f in waves)
    a = sum(-c * (2 * np.pi * f) ** 2 * np.sin(2 * np.pi * f * t + f) for c, f in waves)
    measured = q + noise * RNG.normal(size=t.size)
    found = suggest_cutoff(measured, H)

    def error(cutoff):
        return np.std((np.diff(low_pass(measured, H, cutoff), 2) / H**2 - a[1:-1])[1000:-1000])

    assert error(found.value) < 1.6 * min(error(c) for c in np.geomspace(3.0, 100.0, 20))
    assert np.isclose(found.noise[0], noise, rtol=0.2)
    assert "Hz" in found.note


def test_the_cutoff_lies_between_those_of_the_joints_and_a_still_one_does_not_count():
    noise = 1e-5 * RNG.normal(size=(6000, 3))
    q = np.stack([np.sin(6.0 * T), 0.3 * np.sin(60.0 * T), 0.0 * T], axis=1) + noise
    found = suggest_cutoff(q, H, names=("slow", "fast", "still"), units=("rad", "m", "rad"))
    alone = suggest_cutoff(q[:, :2], H)
    assert found.joints[0] < found.value < found.joints[1]
    assert found.value == alone.value
    assert re.search(r"the noisiest, slow, has a noise floor of \S+ rad$", found.note)

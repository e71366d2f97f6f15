"""Recursive low-pass filters as machine code: the responses of the recursion, in both directions, accurate at any cut-off."""

import numpy as np
import pytest
from scipy.signal import butter, sosfilt, sosfilt_zi

from dynamis.compiler.recursion import low_pass_in_place
from dynamis.identification.signals.filters import _sections


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("backward", [False, True])
def test_sections_are_those_of_a_butterworth_filter(order, backward):
    x = np.asfortranarray(np.random.default_rng(order).normal(size=(500, 3)))
    sos = butter(order, 0.1, output="sos")
    way = slice(None, None, -1) if backward else slice(None)
    initial = sosfilt_zi(sos)[:, :, None] * x[way][0]
    expected = sosfilt(sos, x[way], axis=0, zi=initial)[0][way]
    low_pass_in_place(x, _sections(1.0, 0.05, order), backward=backward)
    assert np.allclose(x, expected, rtol=1e-11, atol=1e-12)


def test_a_constant_passes_unchanged_however_low_the_cut_off():
    x = np.full((10_000, 1), 3.3, order="F")
    low_pass_in_place(x, _sections(1e-3, 1e-2, 4))
    assert np.array_equal(x, np.full((10_000, 1), 3.3))


def test_rounding_errors_do_not_grow_as_the_cut_off_falls():
    t = np.arange(20_000) * 1e-3
    x = np.array(100.0 + 1e-3 * t, order="F")[:, None]
    low_pass_in_place(x, _sections(1e-3, 1.0, 4))
    assert np.abs(np.diff(x[10_000:, 0], 2)).max() < 1e-13  # a straight line stays one: the rounding of its values


@pytest.mark.parametrize("x", [np.zeros((4, 2)), np.zeros((4, 2), np.float32, order="F"), np.zeros(4)])
def test_other_arrays_are_refused(x):
    with pytest.raises(TypeError, match="contiguous columns"):
        low_pass_in_place(x, np.zeros((1, 3)))


def test_no_samples_are_left_alone():
    low_pass_in_place(np.zeros((0, 2), order="F"), np.zeros((1, 3)))

"""Weighted sums of rows as machine code: what NumPy gives, whatever the shapes, and the same wherever a matrix is cut."""

import numpy as np
import pytest

from dynamis.compiler.row_sums import row_sums


def sums(x, weights, step):
    rows = max(0, (len(x) - len(weights)) // step + 1)
    return row_sums(x, weights, step, np.full((rows, x.shape[1]), np.nan))


@pytest.mark.parametrize("step", [1, 2, 3, 7])
@pytest.mark.parametrize("taps", [1, 2, 21, 130])
@pytest.mark.parametrize("columns", [1, 2, 3, 8, 13, 45])
def test_sums_are_those_of_numpy(columns, taps, step):
    rng = np.random.default_rng(columns + taps)
    x, weights = rng.normal(size=(taps + 9 * step + 1, columns)), rng.normal(size=taps)
    expected = [weights @ x[start : start + taps] for start in range(0, len(x) - taps + 1, step)]
    assert np.allclose(sums(x, weights, step), expected, rtol=1e-13, atol=1e-13 * np.abs(weights).sum())


def test_every_bit_is_the_same_wherever_the_matrix_is_cut():
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(300, 29)), rng.normal(size=21)
    whole = sums(x, weights, 2)
    for start in range(6):
        assert np.array_equal(sums(x[2 * start :], weights, 2), whole[start:])
        assert np.array_equal(sums(np.ascontiguousarray(x[:, start:]), weights, 2), whole[:, start:])


def test_rows_may_lie_apart_in_memory():
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(60, 40)), rng.normal(size=5)
    out = np.zeros((56, 30))
    row_sums(x[:, 10:23], weights, 1, out[:, 4:17])
    assert np.array_equal(out[:, 4:17], sums(np.ascontiguousarray(x[:, 10:23]), weights, 1))
    assert not out[:, :4].any()
    assert not out[:, 17:].any()


def test_nothing_is_made_of_too_few_rows():
    assert sums(np.ones((3, 2)), np.ones(5), 1).shape == (0, 2)


def test_what_would_be_read_beyond_the_end_is_refused():
    x, weights = np.ones((10, 4)), np.ones(3)
    with pytest.raises(ValueError, match="is too small for 9 sums of 3 rows with step 1"):
        row_sums(x, weights, 1, np.empty((9, 4)))
    with pytest.raises(ValueError, match="contiguous"):
        row_sums(np.asfortranarray(x), weights, 1, np.empty((8, 4)))
    with pytest.raises(TypeError, match="double precision"):
        row_sums(x.astype(np.float32), weights, 1, np.empty((8, 4)))
    fixed = np.empty((8, 4))
    fixed.setflags(write=False)
    for weights_, step, out in ((weights, 1, fixed), (weights[:0], 1, np.empty((8, 4))), (weights, 0, np.empty((8, 4)))):
        with pytest.raises(ValueError, match="nonempty weights, a step of at least one, and a writable"):
            row_sums(x, weights_, step, out)

"""Steps in a row by the compiled driver: the same bits as one call after the other, however batches and reports are cut."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.compiler import time_stepper as module
from dynamis.compiler.kernel import Kernel
from dynamis.compiler.time_stepper import march


def oscillator():
    """y' of a forced oscillator by a step of Euler's; the last argument is its stiffness."""

    def step(y, t, h, k):
        return np.array([y[0] + h[0] * y[1], y[1] + h[0] * (np.sin(t[0]) - k[0] * y[0])])

    return Kernel([step], [("y", 2), ("t", 1), ("h", 1), ("k", 1)], "oscillator")


def by_hand(kernel, y, others, t, h, reports, every):
    kept = []
    for r in range(reports):
        for s in range(every):
            y = kernel(y, np.array([t + (r * every + s) * h], y.dtype), np.array([h], y.dtype), *others)
        kept.append(y)
    return np.array(kept)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("reports", "every"), [(1, 1), (1, 7), (5, 1), (4, 3), (3, 2)])
@pytest.mark.parametrize("batch", [(), (1,), (3,), (2, 5), (200,)])
def test_it_is_the_kernel_called_again_and_again(batch, reports, every, dtype):
    kernel, rng = oscillator(), np.random.default_rng(0)
    y, k = rng.normal(size=(*batch, 2)).astype(dtype), rng.uniform(1, 2, (*batch, 1)).astype(dtype)
    found = march(kernel, y, (k,), t=0.25, h=0.125, reports=reports, every=every)
    assert found.dtype == dtype
    assert np.array_equal(found, by_hand(kernel, y, (k,), 0.25, 0.125, reports, every))


def test_one_stiffness_goes_with_many_states_and_the_other_way_round():
    kernel, rng = oscillator(), np.random.default_rng(1)
    y, k = rng.normal(size=(5, 2)), np.array([1.5])
    options = {"t": 0.0, "h": 0.1, "reports": 2, "every": 3}
    assert np.array_equal(march(kernel, y, (k,), **options), march(kernel, y, (np.tile(k, (5, 1)),), **options))
    assert march(kernel, y[0], (rng.uniform(1, 2, (4, 1)),), **options).shape == (2, 4, 2)


def test_a_table_gives_an_argument_its_next_row_after_every_so_many_steps():
    kernel, rng = oscillator(), np.random.default_rng(3)
    y, rows = rng.normal(size=(5, 2)), rng.uniform(1, 2, (4, 5, 1))
    for values in (rows, rows[:, 0]):  # one row for each state, and one for all
        expected, state = [], y
        for k in range(2, 8):
            state = kernel(state, np.array([0.25 + k * 0.125]), np.array([0.125]), values[k // 3])
            expected += [state] if k % 2 else []
        found = march(kernel, y, (module.Table(values, 3),), t=0.25, h=0.125, reports=3, every=2, first=2)
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("first", "reports", "every", "fits"),
    [(0, 6, 2, True), (2, 5, 2, True), (1, 6, 2, False), (0, 13, 1, False), (0, 1, 13, False)],
)
def test_a_table_that_is_too_short_is_refused(first, reports, every, fits):
    table, options = module.Table(np.ones((4, 1)), 3), {"t": 0.0, "h": 0.1, "reports": reports, "every": every, "first": first}
    if fits:
        assert march(oscillator(), np.ones(2), (table,), **options).shape == (reports, 2)
        return
    with pytest.raises(dy.InputError, match=f"the table has 4 rows of 3 steps, but {first + reports * every} steps are taken"):
        march(oscillator(), np.ones(2), (table,), **options)


def test_blocks_and_threads_change_no_bit(monkeypatch):
    kernel, rng = oscillator(), np.random.default_rng(2)
    y, k = rng.normal(size=(1000, 2)), rng.uniform(1, 2, (1000, 1))
    options = {"t": 0.0, "h": 0.01, "reports": 3, "every": 5}
    whole = march(kernel, y, (k,), **options)
    monkeypatch.setattr(module, "WORTH_A_THREAD", 1)
    monkeypatch.setenv("DYNAMIS_NUM_THREADS", "3")
    monkeypatch.setattr(module, "LARGE_BLOCK", 7)
    monkeypatch.setattr(module, "AT_ONCE", 1)
    assert np.array_equal(march(kernel, y, (k,), **options), whole)


def test_what_is_given_is_left_as_it_was_and_may_lie_anyhow_in_memory():
    kernel, rng = oscillator(), np.random.default_rng(3)
    y, k = np.asfortranarray(rng.normal(size=(6, 2))), rng.uniform(1, 2, (12, 1))[::2]
    before = y.copy(), k.copy()
    found = march(kernel, y, (k,), t=0.0, h=0.1, reports=2, every=2)
    assert np.array_equal(y, before[0])
    assert np.array_equal(k, before[1])
    assert np.array_equal(found, march(kernel, before[0].copy(), (before[1].copy(),), t=0.0, h=0.1, reports=2, every=2))


def test_nothing_to_do_is_done():
    kernel = oscillator()
    assert march(kernel, np.zeros((0, 2)), (np.ones(1),), t=0.0, h=0.1, reports=2).shape == (2, 0, 2)
    assert march(kernel, np.zeros((3, 2)), (np.ones(1),), t=0.0, h=0.1, reports=0).shape == (0, 3, 2)


def test_wrong_arrays_are_refused_in_words():
    kernel = oscillator()
    with pytest.raises(dy.InputError, match="takes 4 arrays, got 3"):
        march(kernel, np.zeros(2), t=0.0, h=0.1, reports=1)
    with pytest.raises(dy.InputError, match="y must have 2 numbers"):
        march(kernel, np.zeros(3), (np.ones(1),), t=0.0, h=0.1, reports=1)

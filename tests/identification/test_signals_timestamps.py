"""Time stamps as logs really have them: uneven, missing, repeated, out of order, set back."""

import numpy as np
import pytest

from dynamis.errors import InputError
from dynamis.identification.signals import repair
from dynamis.identification.signals.outliers import CubicSpline

N, H = 5000, 0.002
EVEN = 5.0 + H * np.arange(N)


def rng():
    return np.random.default_rng(4)


def test_an_even_clock_is_left_alone():
    clock = repair(EVEN)
    (run,) = clock.runs
    assert np.isclose(clock.period, H, rtol=1e-12)
    assert np.array_equal(run.rows, np.arange(N))
    assert np.allclose(run.t, EVEN, atol=1e-12)
    assert (clock.dropped, clock.duplicated, clock.notes) == (0, 0, ())


@pytest.mark.parametrize("share", [0.05, 0.3])
@pytest.mark.parametrize("lost", [0.0, 0.01])
def test_uneven_stamps_of_even_samples_are_fitted_by_a_line(share, lost):
    r = rng()
    kept = r.random(N) >= lost
    kept[[0, -1]] = True
    clock = repair((EVEN + share * H * r.uniform(-1, 1, N))[kept])
    (run,) = clock.runs
    assert np.isclose(clock.period, H, rtol=1e-5)
    assert len(run) == N
    assert np.array_equal(run.missing, ~kept)
    assert clock.dropped == (~kept).sum()
    assert np.abs(run.t - EVEN).max() < 0.05 * H
    assert any("uneven stamps" in note for note in clock.notes)
    assert any("missing samples" in note for note in clock.notes) == bool(lost)


def test_the_rms_of_uneven_stamps_is_that_about_the_even_clock():
    late = np.where(np.arange(N) % 3 == 0, 0.3 * H, 0.0)  # not zero in the mean
    clock = repair(EVEN + late, period=H)
    (run,) = clock.runs
    off = EVEN + late - run.t
    assert f"RMS {100 * np.sqrt(np.mean(off**2)) / H:.1f} % of a period" in " ".join(clock.notes)
    assert np.sqrt(np.mean(off**2)) > 1.1 * off.std()


def test_missing_samples_are_splined():
    kept = np.ones(N, bool)
    kept[[70, 71, 72, 1000]] = False
    clock = repair(EVEN[kept])
    (run,) = clock.runs
    x = np.stack([np.sin(3 * EVEN), np.cos(5 * EVEN)], axis=1)
    assert np.abs(run.resample(x[kept]) - x).max() < 2e-8
    assert np.array_equal(run.resample(x[kept])[kept], x[kept])
    assert "4 missing samples" in clock.notes[0]
    assert "70" in clock.notes[0]


def test_samples_taken_at_uneven_times_are_interpolated_at_even_ones():
    times = EVEN + 0.3 * H * rng().uniform(-1, 1, N)
    x = np.sin(3 * times)
    trusted = repair(times, jitter="samples").runs[0]
    assert np.abs(trusted.resample(x) - np.sin(3 * trusted.t)).max() < 1e-7
    fitted = repair(times).runs[0]
    assert np.abs(fitted.resample(x) - np.sin(3 * fitted.t)).max() > 1e-4


def test_rows_logged_twice_count_once():
    times = np.where(rng().random(N) < 0.01, 2, 1)
    clock = repair(np.repeat(EVEN, times))
    assert clock.duplicated == (times == 2).sum()
    assert len(clock.runs[0].rows) == N
    assert "dropped" in clock.notes[0]
    twice = repair(np.repeat(EVEN, 2))
    assert twice.duplicated == N
    assert np.isclose(twice.period, H)


def test_stamps_coarser_than_the_sampling_do_not_lose_rows():
    coarse = np.round(0.0008 * np.arange(N), 3)
    clock = repair(coarse, repeats=np.zeros(N, bool))
    assert np.isclose(clock.period, 0.0008, rtol=1e-3)
    assert len(clock.runs[0].rows) == len(clock.runs[0]) == N
    assert "too coarse" in clock.notes[0]


def test_rows_out_of_order_find_their_place():
    order = np.arange(N)
    order[[100, 101]] = 101, 100
    order[500:504] = 501, 502, 503, 500
    clock = repair(EVEN[order])
    assert np.array_equal(order[clock.runs[0].rows], np.arange(N))
    assert "out of order" in clock.notes[0]
    assert "2 rows (101, 503)" in clock.notes[0]


def test_wrong_stamps_among_right_ones_are_replaced():
    stamps = EVEN.copy()
    stamps[300], stamps[400], stamps[7] = 99.0, 0.0, np.nan
    clock = repair(stamps)
    (run,) = clock.runs
    assert len(run) == N
    assert np.flatnonzero(run.missing).tolist() == [7]
    assert any("300, 400" in note for note in clock.notes)
    assert any("without a time" in note for note in clock.notes)


@pytest.mark.parametrize("jump", [3.0, -3.0, -300.0])
def test_a_gap_or_a_clock_set_back_begins_a_new_run(jump):
    stamps = EVEN.copy()
    stamps[2000:] += jump
    clock = repair(stamps)
    assert [len(run.rows) for run in clock.runs] == [2000, 3000]
    assert clock.runs[1].rows[0] == 2000
    assert "2000" in clock.notes[0]
    assert clock.dropped == 0


def test_gaps_are_bridged_up_to_the_length_allowed():
    kept = np.ones(N, bool)
    kept[100:108] = False
    assert [len(run) for run in repair(EVEN[kept]).runs] == [100, N - 108]
    assert [len(run) for run in repair(EVEN[kept], gap=10).runs] == [N]


def test_a_slightly_wrong_rate_is_found_and_a_given_one_believed():
    assert np.isclose(repair(EVEN * (1 + 1e-5)).period, H * (1 + 1e-5), rtol=1e-9)
    assert repair(EVEN, period=H).period == H


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: repair([0.0, 1.0]), "at least three"),
        (lambda: repair(np.zeros(10)), "do not increase"),
        (lambda: repair(EVEN, jitter="both"), "not supported"),
        (lambda: repair(EVEN, gap=0.5), "at least one period"),
        (lambda: repair(EVEN, repeats=[True]), "repeats"),
        (lambda: repair(EVEN).runs[0].resample([1.0]), "5000 rows"),
    ],
)
def test_what_is_no_time_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()


@pytest.mark.parametrize("size", [4, 10, 20])
def test_samples_that_come_in_bursts_are_one_run(size):
    arrival = EVEN[np.minimum((np.arange(N) // size + 1) * size - 1, N - 1)] + 1e-5 * (np.arange(N) % size)
    clock = repair(arrival)
    assert len(clock.runs) == 1
    assert np.isclose(clock.period, H, rtol=1e-3)
    assert len(clock.runs[0]) == N
    assert "in bursts" in clock.notes[0]


def test_random_damage_is_undone():
    for seed in range(20):
        r = np.random.default_rng(seed)
        kept = r.random(N) > 0.02
        kept[[0, -1]] = True
        cut = int(r.integers(1000, 4000))
        true = EVEN + (np.arange(N) >= cut) * 1000 * H
        rows = np.repeat(np.flatnonzero(kept), np.where(r.random(kept.sum()) < 0.01, 2, 1))
        for k in r.choice(len(rows) - 20, 10):
            rows[k], rows[k + 3] = rows[k + 3], rows[k]
        stamps = true + 0.2 * H * r.uniform(-1, 1, N)
        clock = repair(stamps[rows])
        found = np.concatenate([np.round((run.start - true[0]) / H) + run.ticks for run in clock.runs])
        wanted = np.flatnonzero(kept) + 1000 * (np.flatnonzero(kept) >= cut)
        assert np.array_equal(found, wanted), seed
        assert np.array_equal(np.concatenate([rows[run.rows] for run in clock.runs]), np.flatnonzero(kept))


@pytest.mark.parametrize("count", [4, 5, 6, 7, 40, 3001])
@pytest.mark.parametrize("steps", ["even", "uneven", "bursts"])
def test_the_spline_is_that_of_scipy(count, steps):
    from scipy.interpolate import CubicSpline as Reference

    source = np.random.default_rng(count)
    between = {
        "even": np.ones(count),
        "uneven": source.uniform(0.1, 2.0, count),
        "bursts": 10.0 ** source.integers(-3, 4, count),
    }
    t, x = np.cumsum(between[steps]), source.normal(size=(count, 3))
    wanted = np.sort(source.uniform(t[0], t[-1], 500))
    expected = Reference(t, x)(wanted)
    assert np.abs(CubicSpline(t, x)(wanted) - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("jitter", ["samples", "stamps"])
@pytest.mark.parametrize("kind", ["uniform", "delayed"])
def test_the_period_of_polled_stamps_is_their_mean_step_and_drift_is_not_missing_samples(jitter, kind):
    steps = rng().uniform(0.3, 1.7, N) if kind == "uniform" else 0.6 + rng().exponential(0.4, N).clip(0.0, 1.5)
    stamps = np.cumsum(H * steps)
    clock = repair(stamps, jitter=jitter)
    assert np.isclose(clock.period, np.diff(stamps).mean(), rtol=1e-3)
    assert clock.dropped == 0
    assert len(clock.runs) == 1
    if jitter == "samples":
        rms = 100 * np.sqrt(np.mean((np.diff(stamps) - clock.period) ** 2)) / clock.period
        assert f"RMS {rms:.1f} % of a period in their steps" in " ".join(clock.notes)


@pytest.mark.parametrize("jitter", ["samples", "stamps"])
def test_an_even_clock_is_found_behind_very_uneven_stamps(jitter):
    for seed in range(5):
        stamps = EVEN + 0.4 * H * np.random.default_rng(seed).uniform(-1, 1, N)
        clock = repair(stamps, jitter=jitter)
        assert np.isclose(clock.period, H, rtol=1e-5), seed
        assert clock.dropped <= 1  # the first or the last stamp may be nearer to another tick


def test_rounded_stamps_of_polled_samples_are_averaged_over_neighbours():
    times = np.cumsum(0.001 * rng().uniform(0.3, 1.7, N))
    clock = repair(np.round(times, 3), repeats=np.zeros(N, bool))
    (run,) = clock.runs
    assert (run.resample(times) - run.t).std() < 0.0004
    assert "of no even clock: averaged over neighbours" in clock.notes[0]


def test_noise_at_uneven_times_is_not_amplified_and_smooth_signals_are_splined():
    times = np.cumsum(H * rng().exponential(1.0, N))
    (run,) = repair(times, jitter="samples", gap=20.0).runs
    kept = times[run.rows]
    noise = rng().normal(size=len(kept))
    assert run.resample(noise).std() < 0.85
    assert np.abs(run.resample(np.sin(3 * kept)) - np.sin(3 * run.t)).max() < 1e-5

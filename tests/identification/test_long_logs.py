"""Logs longer than memory: what a file says does not depend on how it is read, nor on who reads it."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from processes import clean_environment

import dynamis as dy
from dynamis.identification import (
    LeastSquares,
    LinearModel,
    LongLog,
    WeightedLeastSquares,
    base_parameters,
    equations,
    merge,
    normal_equations,
    normal_equations_of_logs,
    prepare,
    read_log,
)
from dynamis.identification.logs import npz_table
from dynamis.identification.reduction import long_logs

PERIOD = 2e-3
ARM = "planar_2r_melchiorri"


@pytest.fixture(scope="module")
def base():
    return base_parameters(LinearModel(dy.load(ARM)))


def motion(robot, count, seed=0, start=0.0):
    """t, q, v, a, tau at 500 Hz, with noise on the torque."""
    rng = np.random.default_rng(seed)
    t = start + np.arange(count) * PERIOD
    w = 2.0 * np.pi * np.array([0.31, 0.73, 1.1])[:, None, None]
    phase, size = rng.uniform(0, 6, (3, 1, robot.n)), rng.uniform(0.3, 0.6, (3, 1, robot.n))
    angle = w * t[:, None] + phase
    q, v, a = (np.sum(x, axis=0) for x in (size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle)))
    return t, q, v, a, robot.inverse_dynamics(q, v, a) + rng.normal(size=q.shape)


def write_npz(path, arrays, names=("t", "q", "v", "a", "tau")):
    np.savez(path, **dict(zip(names, arrays, strict=True)))
    return path


def write_csv(path, t, q, tau):
    n = q.shape[1]
    head = ",".join(["t", *(f"q{k + 1}" for k in range(n)), *(f"tau{k + 1}" for k in range(n))])
    np.savetxt(path, np.column_stack([t, q, tau]), delimiter=",", header=head, comments="", fmt="%.12g")
    return path


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a.R, b.R, strict=True)) and np.array_equal(a.counts, b.counts)


def test_logged_motion_gives_every_bit_of_the_whole_log_whatever_the_stretches(base, tmp_path):
    path = write_npz(tmp_path / "run.npz", motion(base.model.robot, 20_000))
    log = read_log(path, base.model.robot)
    whole = normal_equations(base, dy.identification.Samples.of(log.q, log.v, log.a, log.tau, period=PERIOD))
    for size in (977, 4096, 20_000, 1_000_000):
        found = LongLog(logged=("v", "a"), size=size).normal_equations(base, path)
        assert same(found, whole), size
        assert found.samples == 20_000


@pytest.mark.parametrize("order", ["C", "F"])
def test_large_arrays_come_straight_from_the_archive_with_the_same_numbers(base, tmp_path, monkeypatch, order):
    t, *others = motion(base.model.robot, 3_000)
    path = write_npz(tmp_path / "run.npz", [t, *(np.asarray(x, order=order) for x in others)])
    slow = LongLog(logged=("v", "a"), size=700).normal_equations(base, path)
    monkeypatch.setattr(npz_table, "SUMMED", 0)
    assert same(LongLog(logged=("v", "a"), size=700).normal_equations(base, path), slow)
    data = path.read_bytes()
    second = data.index(b"PK\x03\x04", 1)
    path.write_bytes(data[:second] + b"XX" + data[second + 2 :])
    with pytest.raises(dy.InputError, match="corrupt"):
        LongLog(logged=("v", "a"), size=700).normal_equations(base, path)


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_every_bit_is_the_same_on_any_number_of_threads(base, tmp_path, monkeypatch, threads):
    path = write_npz(tmp_path / "run.npz", motion(base.model.robot, 50_000))
    whole = LongLog(logged=("v", "a"), size=9_000).normal_equations(base, path)
    monkeypatch.setenv("DYNAMIS_NUM_THREADS", threads)
    assert same(LongLog(logged=("v", "a"), size=9_000).normal_equations(base, path), whole)


@pytest.mark.parametrize(("parallel", "every"), [(None, 1), (15.0, 10)])
def test_derived_motion_gives_every_bit_whatever_the_stretches(base, tmp_path, monkeypatch, parallel, every):
    monkeypatch.setattr(long_logs, "WINDOW", 4096)  # several windows without a large file
    t, q, _, _, tau = motion(base.model.robot, 20_000)
    path = write_csv(tmp_path / "run.csv", t, q, tau)
    reading = {"cutoff": 10.0, "parallel": parallel, "every": every, "slow": 0.05}
    found = [LongLog(**reading, size=size).normal_equations(base, path) for size in (1000, 7777, 65_536)]
    assert same(found[0], found[1])
    assert same(found[0], found[2])
    # and the whole log, prepared at once, says the same
    robot = base.model.robot
    ready = prepare(read_log(path, robot), robot, **reading, outliers=False, period=PERIOD)
    whole = normal_equations(base, ready[0])
    assert np.array_equal(found[0].counts, whole.counts)
    fits = [WeightedLeastSquares().fit_normal_equations(x) for x in (found[0], whole)]
    # the ends of a log are guessed from what is seen of it; that is far below what noise does
    assert np.abs((fits[0].coef_ - fits[1].coef_) / fits[1].standard_errors_).max() < 0.05
    assert np.allclose(fits[0].noise_, fits[1].noise_, rtol=1e-4)
    e = equations(base, ready.samples)
    rows = WeightedLeastSquares().fit(e.X, e.y, joint=e.joint)
    assert np.allclose(fits[1].coef_, rows.coef_, rtol=1e-7, atol=1e-7 * np.abs(rows.coef_).max())


def test_windows_are_what_the_whole_log_gives_there(base, tmp_path, monkeypatch):
    monkeypatch.setattr(long_logs, "WINDOW", 4096)
    t, q, v, a, tau = motion(base.model.robot, 20_000)
    path, robot = write_csv(tmp_path / "run.csv", t, q, tau), base.model.robot
    whole = prepare(read_log(path, robot), robot, cutoff=20.0, outliers=False, period=PERIOD)[0]
    parts = list(LongLog(cutoff=20.0).samples(path, robot))
    assert len(parts) == 5
    assert sum(map(len, parts)) == len(whole) == 20_000 - 50  # of both ends, as long as the filter settles
    inside = slice(500, -500)
    for name, exact, close in (("t", t, 1e-9), ("q", q, 1e-4), ("v", v, 1e-3), ("a", a, 0.02)):
        exact = exact[25:-25]
        pieces, once = np.concatenate([getattr(part, name) for part in parts])[inside], getattr(whole, name)[inside]
        assert np.abs(pieces - once).max() < 1e-6 * np.abs(once).max(), name
        assert np.abs(pieces - exact[inside]).max() < close * np.abs(exact).max(), name


def test_slow_rows_are_those_of_the_whole_log(base, tmp_path, monkeypatch):
    """What is slow is judged after the parallel low-pass, which remembers far more than the other."""
    monkeypatch.setattr(long_logs, "WINDOW", 4096)
    t, q, _, _, tau = motion(base.model.robot, 20_000)
    path, robot = write_csv(tmp_path / "run.csv", t, q, tau), base.model.robot
    reading = {"cutoff": 40.0, "parallel": 2.0, "every": 10, "slow": 0.3}
    whole = prepare(read_log(path, robot), robot, **reading, outliers=False, period=PERIOD)[0]
    pieces = np.concatenate([part.use for part in LongLog(**reading).samples(path, robot)])
    assert np.array_equal(pieces, whole.use)
    assert 0.5 < pieces.mean() < 1.0


def test_progress_tells_the_samples_done(base, tmp_path):
    path, told = write_npz(tmp_path / "run.npz", motion(base.model.robot, 5000)), []
    LongLog(logged=("v", "a"), size=1000).normal_equations(base, path, told.append)
    assert told == sorted(told)
    assert told[-1] == 5000


@pytest.mark.parametrize("size", [64, 500, 501, 65_536])
@pytest.mark.parametrize("reading", [{"cutoff": 10.0}, {"logged": ("v", "a")}], ids=["derived", "logged"])
def test_a_gap_is_refused_with_its_row(base, tmp_path, reading, size):
    """Within a stretch and between two."""
    t, *rest = motion(base.model.robot, 2000)
    t[500:] += 0.2
    path = write_npz(tmp_path / "run.npz", (t, *rest))
    with pytest.raises(
        dy.InputError, match=r"'run\.npz' row 500: 0\.202 s after the previous sample, .*period is 0\.002 s; split"
    ):
        LongLog(**reading, size=size).normal_equations(base, path)


def test_what_cannot_be_read_in_stretches_says_why(base, tmp_path):
    t, q, v, a, tau = motion(base.model.robot, 2000)
    path = write_npz(tmp_path / "run.npz", (t, q, v, a, tau))
    with pytest.raises(dy.InputError, match="needs cutoff="):
        LongLog().normal_equations(base, path)
    with pytest.raises(dy.InputError, match="needs cutoff="):
        LongLog(logged=("v",)).normal_equations(base, path)
    bare = write_npz(tmp_path / "bare.npz", (t, q, tau), ("t", "q", "tau"))
    with pytest.raises(dy.InputError, match=r"bare\.npz' has no velocities or no accelerations: pass cutoff="):
        LongLog(logged=("v", "a")).normal_equations(base, bare)
    with pytest.raises(dy.InputError, match="size"):
        LongLog(logged=("v", "a"), size=0).normal_equations(base, path)
    q[1234, 1] = np.nan
    holed = write_npz(tmp_path / "holed.npz", (t, q, v, a, tau))
    for reading in ({"logged": ("v", "a")}, {"cutoff": 10.0}):
        with pytest.raises(dy.InputError, match=r"column 'q\[1\]' is nan at 'holed\.npz' row 1234"):
            LongLog(**reading, size=500).normal_equations(base, holed)
    with pytest.raises(dy.InputError, match="no logs"):
        normal_equations_of_logs(base, [])
    one = write_npz(tmp_path / "one.npz", [x[:1] for x in motion(base.model.robot, 2)])
    with pytest.raises(dy.InputError, match=r"one\.npz"):
        LongLog(logged=("v", "a")).normal_equations(base, one)


@pytest.fixture(scope="module")
def folder(base, tmp_path_factory):
    place = tmp_path_factory.mktemp("folder")
    return [write_npz(place / f"{k}.npz", motion(base.model.robot, 3000, seed=k, start=10.0 * k)) for k in range(4)]


READING = LongLog(logged=("v", "a"), parallel=20.0, every=5)


def test_several_logs_are_put_together_in_their_order(base, folder):
    told = []
    together = normal_equations_of_logs(base, folder, READING, progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert same(together, merge([READING.normal_equations(base, path) for path in folder]))
    fit = LeastSquares().fit_normal_equations(together)
    assert np.abs(fit.coef_ - base.prior).max() < 0.01 * np.abs(base.prior).max()


def test_workers_of_dask_give_every_bit_of_it(base, folder):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    alone = normal_equations_of_logs(base, folder, READING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of others
        with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster:
            spread = normal_equations_of_logs(base, folder, READING, scheduler=cluster.scheduler_address)
            with pytest.raises(dy.InputError, match=r"none\.npz"):
                normal_equations_of_logs(base, [*folder, "none.npz"], READING, scheduler=cluster.scheduler_address)
    assert same(alone, spread)
    assert alone.names == spread.names


MEMORY = """
import resource, sys
import dynamis as dy
from dynamis.identification import LinearModel, LongLog, base_parameters
base = base_parameters(LinearModel(dy.load("planar_2r_melchiorri")))
reading = LongLog(logged=("v", "a"), parallel=20.0, every=10) if sys.argv[2] == "logged" else LongLog(cutoff=10.0)
print(reading.normal_equations(base, sys.argv[1]).samples, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.campaign
@pytest.mark.parametrize("way", ["logged", "derived"])
def test_memory_does_not_grow_with_the_log(base, tmp_path, way):
    used = []
    for count in (1_000_000, 4_000_000):
        path = write_npz(tmp_path / f"{count}.npz", motion(base.model.robot, count))
        answer = subprocess.run(
            [sys.executable, "-c", MEMORY, str(path), way], env=clean_environment(), capture_output=True, text=True, check=True
        )
        samples, kilobytes = map(int, answer.stdout.split())
        assert samples == count
        used.append(kilobytes)
    assert used[1] < 1.1 * used[0] + 20_000, used

"""Logs longer than memory: the result does not depend on the windows in which a file is read and prepared."""

import subprocess
import sys

import numpy as np
import pytest
from processes import clean_environment

import dynamis as dy
import dynamis.identification.identify as entry
from dynamis.identification import LinearModel, base_parameters, prepare, read_log
from dynamis.identification.logs import array_tables, reading
from dynamis.identification.logs.reading import log_beginning, log_chunks
from dynamis.identification.signals import windows
from dynamis.identification.signals.windows import prepare_in_windows

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


@pytest.fixture
def small_windows(monkeypatch):
    """Several windows without a large file."""
    monkeypatch.setattr(windows, "WINDOW", 4096)
    monkeypatch.setattr(entry, "WINDOW", 4096)
    monkeypatch.setattr(reading, "WHOLE", 1000)


def in_windows(path, robot, **signals):
    log, more = log_beginning(path, robot, None, windows.WINDOW)
    assert more is not None
    return prepare_in_windows(log, more, robot, **signals)


@pytest.mark.parametrize("order", ["C", "F"])
def test_large_arrays_come_straight_from_the_archive_with_the_same_numbers(base, tmp_path, monkeypatch, order):
    t, *others = motion(base.model.robot, 3_000)
    path = write_npz(tmp_path / "run.npz", [t, *(np.asarray(x, order=order) for x in others)])

    def read():
        return np.concatenate([log.tau for log in log_chunks(path, base.model.robot, size=700)])

    slow = read()
    monkeypatch.setattr(array_tables, "SUMMED", 0)
    assert np.array_equal(read(), slow)
    data = path.read_bytes()
    second = data.index(b"PK\x03\x04", 1)
    path.write_bytes(data[:second] + b"XX" + data[second + 2 :])
    with pytest.raises(dy.InputError, match="corrupt"):
        read()


@pytest.mark.parametrize("signals", [
    {"cutoff": 20.0}, {"cutoff": 40.0, "parallel": 2.0, "every": 10, "slow": 0.3}, {"logged": ("v", "a")}, {"delay": 0.004}, {"cutoff": 20.0, "time_scale": 0.5},
], ids=["derived", "slow rows", "logged", "automatic", "clock"])  # fmt: skip
def test_windows_are_what_the_whole_log_gives_there(base, tmp_path, small_windows, signals):
    robot = base.model.robot
    path = write_npz(tmp_path / "run.npz", motion(robot, 20_000))
    found = in_windows(path, robot, **signals)
    whole = prepare(read_log(path, robot), robot, **{**signals, **found.settings, "rest": "keep"})
    assert len(found) == len(whole) == 1
    for name in ("t", "q", "v", "a", "tau"):
        pieces, once = getattr(found[0], name), getattr(whole[0], name)
        assert pieces.shape == once.shape, name
        # the ends of a log are extrapolated from less of it
        assert np.abs(pieces - once)[500:-500].max() < 1e-6 * np.abs(once).max(), name
    assert np.mean(found[0].use != whole[0].use) < 1e-3
    assert (found[0].period, found[0].parallel, found[0].every) == (whole[0].period, whole[0].parallel, whole[0].every)


def test_a_time_left_out_is_looked_for_in_the_whole_log(base, tmp_path, small_windows):
    path = write_npz(tmp_path / "run.npz", motion(base.model.robot, 10_000))
    found = in_windows(path, base.model.robot, cutoff=20.0, leave_out=[(15.0, 16.0), (50.0, 51.0)])
    (note,) = [note for note in found.notes if "outside of the log" in note]
    assert "50 … 51 s" in note
    assert "0 … 19.998 s" in note
    (run,) = found
    assert not run.use[(run.t >= 15.0) & (run.t <= 16.0)].any()


def test_a_log_in_windows_is_identified_as_at_once(base, tmp_path, monkeypatch, request):
    robot = base.model.robot
    t, q, _, _, tau = motion(robot, 20_000)
    path = write_csv(tmp_path / "run.csv", t, q, tau)
    options = {
        "signals": {"cutoff": 10.0, "parallel": 5.0},
        "estimator": "weighted",
        "compare": ("ordinary",),
        "examined": False,
    }
    whole = dy.identify(base.model, path, **options)
    assert "X" not in vars(whole.equations)  # the matrix of all rows is never built
    request.getfixturevalue("small_windows")
    found = dy.identify(base.model, path, **options)
    assert isinstance(found.samples[0].q, np.memmap)
    assert len(found.equations) == len(whole.equations)
    assert np.abs((found.statistics.coef - whole.statistics.coef) / whole.statistics.std).max() < 0.05
    assert found.validation.held_out == pytest.approx(whole.validation.held_out, rel=1e-3)
    assert found.statistics.std == pytest.approx(whole.statistics.std, rel=0.05)


def test_gaps_separate_runs_and_bad_rows_are_not_used(base, tmp_path, small_windows):
    robot = base.model.robot
    t, q, v, a, tau = motion(robot, 20_000)
    t[5000:] += 0.2
    t[12_288:] += 0.2  # between two windows
    tau[15_000, 0] = np.nan
    found = in_windows(write_npz(tmp_path / "run.npz", (t, q, v, a, tau)), robot, cutoff=10.0)
    assert [round(float(run.t[0]), 1) for run in found] == [0.1, 10.3, 25.1]
    assert sum(map(len, found)) == 20_000 - 6 * 50  # of both ends of each run, as long as the filter settles
    assert [int((~run.use).sum()) for run in found] == [0, 0, 1]
    assert any("non-finite" in note for note in found.notes)


def test_a_log_without_usable_runs_says_why(base, tmp_path, small_windows):
    robot = base.model.robot
    t, q, v, a, tau = motion(robot, 10_000)
    path = write_npz(tmp_path / "run.npz", (t, q, v, a, tau))
    with pytest.raises(dy.InputError, match="cut-off"):
        in_windows(path, robot, cutoff=1000.0)
    still = np.zeros_like(q) + np.nan
    with pytest.raises(dy.InputError, match="no run"):
        in_windows(write_npz(tmp_path / "still.npz", (t, still, v, a, tau)), robot, cutoff=10.0)


IMPORTS = """
import sys
import dynamis as dy
found = dy.identify("planar_2r_melchiorri", sys.argv[1])
assert found.verdict.grade
print([name for name in sys.modules if name.partition(".")[0] in ("scipy", "clarabel")])
"""


def test_the_defaults_do_without_what_takes_long_to_import(base, tmp_path):
    t, q, _, _, tau = motion(base.model.robot, 5000)
    path = write_npz(tmp_path / "run.npz", (t, q, tau), ("t", "q", "tau"))
    code = [sys.executable, "-c", IMPORTS, str(path)]
    answer = subprocess.run(code, env=clean_environment(), capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


MEMORY = """
import resource, sys
import dynamis as dy
found = dy.identify("planar_2r_melchiorri", sys.argv[1], compare=())
resident = open("/proc/self/status").read().split("RssAnon:")[1].split()[0]
print(len(found.samples[0]), resident)
"""


@pytest.mark.campaign
@pytest.mark.skipif(sys.platform != "linux", reason="memory without mapped files is read from /proc")
def test_memory_hardly_grows_with_the_log(base, tmp_path):
    used = []
    for count in (1_000_000, 4_000_000):
        t, q, _, _, tau = motion(base.model.robot, count)
        path = write_npz(tmp_path / f"{count}.npz", (t, q, tau), ("t", "q", "tau"))
        answer = subprocess.run(
            [sys.executable, "-c", MEMORY, str(path)], env=clean_environment(), capture_output=True, text=True, check=True
        )
        samples, kilobytes = map(int, answer.stdout.split())
        assert samples > 0.99 * count
        used.append(kilobytes)
    assert used[1] < 1.2 * used[0] + 20_000, used

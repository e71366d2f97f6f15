"""Sweeps: the same result whoever works, however often somebody is killed."""

import contextlib
import errno
import functools
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from processes import LIMIT, clean_environment, wait_until
from sweep_study import STUDY, TEXT, Serial

from dynamis.errors import InputError, MissingExtraError
from dynamis.sweeps import run, workers
from dynamis.sweeps.cases import run_case, run_part
from dynamis.sweeps.parts import SweepFolder
from dynamis.sweeps.run import sweep


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    path = tmp_path_factory.mktemp("reference")
    assert sweep(STUDY, path, Serial()).complete
    return contents(path)


def contents(path):
    """What must be the same: every file of the result."""
    return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file() and p.suffix != ".bad"}


def in_processes(path):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        return sweep(STUDY, path, pool)


def in_threads(path):
    with ThreadPoolExecutor(3) as pool:
        return sweep(STUDY, path, pool)


WAYS = {
    "threads": in_threads,
    "processes": in_processes,
    "own pool": lambda path: sweep(STUDY, path, workers=1),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_result_is_the_same_whoever_works(way, tmp_path, reference):
    assert WAYS[way](tmp_path).complete
    assert contents(tmp_path) == reference


def test_a_case_is_the_same_alone_and_in_any_order():
    rows = run_part(STUDY, range(12))
    for case in (7, 0, 11):
        assert run_case(STUDY, case) == rows[case]


def test_a_sweep_goes_on_where_it_was(tmp_path, reference):
    told = []
    sweep(STUDY, tmp_path, Serial())
    (tmp_path / "parts" / "part-000002.jsonl").unlink()
    damaged = tmp_path / "parts" / "part-000004.jsonl"
    damaged.write_bytes(damaged.read_bytes().replace(b"completed", b"compleded"))
    result = sweep(STUDY, tmp_path, Serial(), lambda fraction, sentence: told.append((fraction, sentence)))
    assert (result.resumed, len(result)) == (8, 12)
    assert told == [(8 / 12, "8 of 12 cases"), (10 / 12, "10 of 12 cases"), (1.0, "12 of 12 cases")]
    assert "part-000004.jsonl is damaged" in result.summary()
    assert "std. deviation" in result.summary()
    assert contents(tmp_path) == reference
    assert list(result["case"]) == list(range(12))


def test_a_full_disk_stops_cleanly_and_keeps_what_is_done(tmp_path, monkeypatch, reference):
    store = SweepFolder.store

    def limited(self, part, rows):
        if part == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        store(self, part, rows)

    monkeypatch.setattr(SweepFolder, "store", limited)
    result = sweep(STUDY, tmp_path, Serial())
    assert not result.complete
    assert "No space left on device" in result.status
    assert "free disk space" in result.status
    assert "6 of 12 cases are done and saved" in result.status
    assert not (tmp_path / "results.csv").exists()
    monkeypatch.undo()
    assert sweep(STUDY, tmp_path, Serial()).resumed == 6
    assert contents(tmp_path) == reference


def test_ctrl_c_leaves_a_folder_to_go_on_with(tmp_path, reference):
    def interrupt(fraction, _):
        if fraction > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(STUDY, tmp_path, progress=interrupt, workers=1)
    assert 4 <= sweep(STUDY, tmp_path, Serial()).resumed <= 8
    assert contents(tmp_path) == reference


def test_a_part_whose_worker_hiccups_is_done_again(tmp_path, monkeypatch, reference):
    tries = []

    def moody(study, cases):
        tries.append(cases[0])
        if cases[0] == 4 and tries.count(4) < 3:
            raise MemoryError("not now")
        return run_part(study, cases)

    monkeypatch.setattr(run, "run_part", moody)
    assert sweep(STUDY, tmp_path, Serial()).complete
    assert tries.count(4) == 3
    assert contents(tmp_path) == reference


def test_a_part_that_fails_again_and_again_is_named_and_the_rest_goes_on(tmp_path, monkeypatch, reference):
    def broken(study, cases):
        if cases[0] == 4:
            raise MemoryError("never")
        return run_part(study, cases)

    monkeypatch.setattr(run, "run_part", broken)
    result = sweep(STUDY, tmp_path, Serial())
    assert len(result) == 10
    assert "failed after 3 attempts: part 2 (cases 4 to 5): MemoryError: never" in result.status
    monkeypatch.undo()
    assert sweep(STUDY, tmp_path, Serial()).complete
    assert contents(tmp_path) == reference


def test_a_sweep_without_hope_stops(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "run_part", lambda *_: 1 / 0)
    assert "the first 5 parts all failed (ZeroDivisionError" in sweep(STUDY, tmp_path, Serial()).status


def killed_once(marker, study, cases):
    """A worker that dies in case 4 the first time."""
    if cases[0] == 4 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run_part(study, cases)


class Poisoned:
    """`run_part` that kills its process: once, or whenever it gets case 4."""

    def __init__(self, marker=None):
        self.marker = marker

    def __call__(self, study, cases):
        if self.marker is not None:
            return killed_once(self.marker, study, cases)
        if cases[0] == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return run_part(study, cases)


def test_a_killed_worker_costs_nothing_but_time(tmp_path, monkeypatch, reference):
    monkeypatch.setattr(run, "run_part", Poisoned(str(tmp_path / "marker")))
    result = sweep(STUDY, tmp_path / "s", workers=2)
    assert (tmp_path / "marker").exists()
    assert result.complete
    assert contents(tmp_path / "s") == reference


def test_a_part_that_kills_its_workers_is_named_and_the_rest_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "run_part", Poisoned())
    result = sweep(STUDY, tmp_path, workers=2)
    assert len(result) == 10
    assert "part 2 (cases 4 to 5): its worker process was killed" in result.status


def test_a_broken_executor_of_the_user_stops_with_the_cure(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "run_part", Poisoned())
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        result = sweep(STUDY, tmp_path, pool)
    assert "run sweep again with a new one" in result.status
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    assert "the executor is broken" in sweep(STUDY, tmp_path, pool).status


COORDINATOR = """
import sys
from dynamis.sweeps.run import sweep
from dynamis.sweeps.study_file import read_study
if __name__ == "__main__":
    sweep(read_study(sys.argv[1]), sys.argv[2], workers=int(sys.argv[3]))
"""


def kill_and_resume(tmp_path, kills, rng):
    """Start the coordinator as often, and kill it at random instants; returns how many parts each life added."""
    (tmp_path / "study.toml").write_text(TEXT)
    (tmp_path / "go.py").write_text(COORDINATOR)
    path = tmp_path / "s"
    added = []

    def count():
        return len(list((path / "parts").glob("part-*.jsonl")))

    def has_ended_or_written(process, parts):
        return process.poll() is not None or count() >= parts

    for _ in range(kills):
        before = count()
        if before > STUDY.parts - 2:  # nearly done: take some away, as if time were turned back
            for part in rng.sample(sorted((path / "parts").glob("part-*.jsonl")), 4):
                part.unlink()
            before = count()
        command = [sys.executable, "go.py", "study.toml", "s", str(rng.choice([1, 2]))]
        settings = clean_environment(DYNAMIS_TIER="quick", DYNAMIS_NO_CACHE="1")
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL, env=settings)
        try:
            if rng.random() < 0.7:  # in the middle of results, otherwise anywhere
                awaited = before + rng.choice([1, 1, 2])
                wait_until(functools.partial(has_ended_or_written, process, awaited), "no part was written")
                time.sleep(rng.uniform(0.0, 0.05))
            else:
                time.sleep(rng.uniform(0.1, 2.0))
        finally:
            process.kill()
            process.wait()
        added.append(count() - before)
    return path, added


def orphans(tmp_path):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if entry.joinpath("cwd").resolve() == tmp_path.resolve():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def check_after_kills(path, tmp_path, reference):
    result = sweep(STUDY, path, Serial())
    assert list(result["case"]) == list(range(12))
    assert contents(path) == reference
    if sys.platform == "linux":
        wait_until(lambda: not orphans(tmp_path), "workers of a coordinator that was killed go on")


def test_a_coordinator_killed_at_random_instants_is_resumed_to_the_same_result(tmp_path, reference):
    path, added = kill_and_resume(tmp_path, 8, random.Random(1))
    assert sum(added) > 3
    check_after_kills(path, tmp_path, reference)


@pytest.mark.campaign
def test_fifty_kills_change_nothing(tmp_path, reference):
    rng = random.Random(50)
    for k in range(10):
        folder = tmp_path / str(k)
        folder.mkdir()
        path, added = kill_and_resume(folder, 5, rng)
        assert len(added) == 5
        check_after_kills(path, folder, reference)


def test_dask_gives_the_same_result(tmp_path, reference):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of others
        with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster:
            result = sweep(STUDY, tmp_path, scheduler=cluster.scheduler_address)
    assert result.complete
    assert contents(tmp_path) == reference


def test_a_scheduler_that_is_not_there_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'dynamis\[distributed\]'"):
        sweep(STUDY, tmp_path, scheduler="tcp://127.0.0.1:1")
    monkeypatch.undo()
    pytest.importorskip("distributed", reason="distributed is not installed")
    monkeypatch.setattr(workers, "CONNECTION_TIMEOUT", 0.5)
    for address in ("tcp://127.0.0.1:1", "nowhere", "spam://x"):
        with pytest.raises(InputError, match=r"no Dask scheduler at .*dask scheduler"):
            sweep(STUDY, tmp_path, scheduler=address)


@pytest.mark.parametrize("arguments", [{"workers": 0}, {"executor": Serial()}], ids=["refused", "without hope"])
def test_a_failed_sweep_leaves_no_new_folder(tmp_path, monkeypatch, arguments):
    monkeypatch.setattr(run, "run_part", lambda *_: 1 / 0)
    with contextlib.suppress(InputError):
        sweep(STUDY, tmp_path / "new", **arguments)
    assert not (tmp_path / "new").exists()


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(InputError, match="executor= takes an Executor"):
        sweep(STUDY, tmp_path, 4)
    with pytest.raises(InputError, match="give one of executor=, workers= and scheduler="):
        sweep(STUDY, tmp_path, Serial(), workers=2)
    with pytest.raises(InputError, match="integer from 1 to 1024"):
        sweep(STUDY, tmp_path, workers=0)


def test_a_script_that_does_not_guard_itself_is_told_how(tmp_path):
    (tmp_path / "study.toml").write_text(TEXT)
    (tmp_path / "go.py").write_text(COORDINATOR.replace('if __name__ == "__main__":', "if True:"))
    process = subprocess.run(
        [sys.executable, "go.py", "study.toml", "s", "1"], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT,
        env=clean_environment(),
    )  # fmt: skip
    assert "call sweep under if __name__ == '__main__':" in process.stderr.splitlines()[-1]

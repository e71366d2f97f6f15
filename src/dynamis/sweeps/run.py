"""``sweep``: parallel, fault-tolerant execution of a study."""

from __future__ import annotations

import contextlib
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field

from dynamis.display import counted
from dynamis.errors import InputError
from dynamis.sweeps.cases import FAILED, Row, column_names, run_part
from dynamis.sweeps.parts import SweepFolder
from dynamis.sweeps.study import Study
from dynamis.sweeps.study_file import read_study
from dynamis.sweeps.table import SweepResult, torque_notes
from dynamis.sweeps.workers import Crew, LocalPool, dask_crew

MAX_ATTEMPTS = 3
MAX_INITIAL_FAILURES = 5  # parts that fail before any succeeds
POLL_INTERVAL = 2.0  # s without a result after which the workers are counted
Progress = Callable[[float, str], None]


def sweep(
    study: Study | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    executor: Executor | None = None,
    progress: Progress | None = None,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
) -> SweepResult:
    """Run a parameter study, or resume it; the results are written to ``folder`` and returned as a table.

    ``executor`` is an executor of concurrent.futures; without one, a process per core (or ``workers`` processes) or the
    workers of the Dask ``scheduler`` at an address are used, with the same results. If ``folder`` holds partial results,
    after a crash, Ctrl-C or a full disk, the sweep is resumed. ``progress(fraction, sentence)`` is called periodically.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from tempfile import TemporaryDirectory
    >>> import dynamis as dy
    >>> study = dy.read_study('''
    ... robot = "planar_2r_melchiorri"
    ... duration = 0.1
    ... [vary]
    ... "viscous.*" = { grid = [0, 30, 80] }
    ... ''')
    >>> with TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
    ...     result = sweep(study, folder, pool)
    >>> result.status, len(result), bool(result["energy_error"].max() < 1e-6)
    ('3 cases done', 3, True)
    """
    if sum(x is not None for x in (executor, workers, scheduler)) > 1:
        raise InputError("give one of executor=, workers= and scheduler=")
    if executor is not None and not isinstance(executor, Executor):
        raise InputError(f"executor= takes an Executor of concurrent.futures, got {type(executor).__name__}")
    if not isinstance(study, Study):
        study = read_study(study)
    place = SweepFolder(folder, study, column_names(study))
    with place.opened() as done:
        kept = sum(len(rows) for rows in done.values())
        job = _Job(study, place, done, progress, cases=kept)
        if len(done) < study.parts:
            with _crew(executor, workers, scheduler, job) as crew:
                job.run(crew)
        rows = job.rows()
        notes = (*place.notes, *torque_notes(study, place.columns, rows))
        result = SweepResult(study, place.columns, rows, job.status(), notes, dict(job.failed), kept)
        if job.stopped is None:
            result.write(place.path / "results.csv")
        return result


@contextlib.contextmanager
def _crew(executor: Executor | None, workers: int | None, scheduler: str | None, job: _Job) -> Iterator[Crew]:
    if executor is not None:
        yield Crew(executor, int(getattr(executor, "_max_workers", 16)))
    elif scheduler is not None:
        with dask_crew(scheduler) as crew:
            yield crew
    else:
        pool = LocalPool(workers)
        finished = False
        try:
            yield Crew(pool.executor, pool.size, pool.renew)
            finished = job.stopped is None
        finally:
            pool.close(at_once=not finished)


@dataclass
class _Job:
    """The pending parts and their results."""

    study: Study
    folder: SweepFolder
    done: dict[int, list[Row]]
    progress: Progress | None
    failed: dict[int, str] = field(default_factory=dict)
    tries: Counter[int] = field(default_factory=Counter)
    stopped: str | None = None
    cases: int = 0

    def run(self, crew: Crew) -> None:
        executor = crew.executor
        todo = deque(part for part in range(self.study.parts) if part not in self.done)
        suspects: deque[int] = deque()  # were at work when a process died: one by one, to see whose fault it was
        flying: dict[Future[list[Row]], int] = {}
        self._report_progress()
        try:
            while (todo or suspects or flying) and self.stopped is None:
                if suspects:
                    if not flying:
                        self._submit(executor, flying, suspects.popleft())
                else:
                    while todo and len(flying) < 2 * crew.size and self._submit(executor, flying, todo.popleft()):
                        pass
                landed = wait(flying, POLL_INTERVAL, FIRST_COMPLETED).done
                if not landed and crew.gone():
                    self.stopped = "connection to the scheduler lost: restart scheduler and workers, then the sweep"
                alone = len(flying) == 1
                broken = self._collect(landed, flying, todo)
                if broken and self.stopped is None:
                    if crew.renew is None:
                        self.stopped = "the executor is broken (a worker died): run sweep again with a new one"
                        break
                    executor = crew.renew()
                    if alone:
                        self._failed(broken[0], "its worker process was killed, crashed or ran out of memory", suspects)
                    else:
                        suspects.extend(sorted([*broken, *flying.values()]))
                        flying.clear()
        finally:
            for future in () if crew.gone() else flying:
                future.cancel()

    def _collect(
        self, landed: Iterable[Future[list[Row]]], flying: dict[Future[list[Row]], int], todo: deque[int]
    ) -> list[int]:
        """Store completed parts; return the parts whose executor broke."""
        broken = []
        for future in sorted(landed, key=flying.__getitem__):
            part = flying.pop(future)
            error = RuntimeError("cancelled") if future.cancelled() else future.exception()
            if error is None:
                self._keep(part, future.result())
            elif isinstance(error, BrokenExecutor):
                broken.append(part)
            else:
                self._failed(part, f"{type(error).__name__}: {error}", todo)
            if self.stopped is not None:
                break
        return broken

    def _submit(self, executor: Executor, flying: dict[Future[list[Row]], int], part: int) -> bool:
        """Submit a part; return whether to submit more before polling. A broken pool gives a failed future."""
        try:
            future = executor.submit(run_part, self.study, list(self.study.range_of(part)))
        except RuntimeError as error:  # BrokenExecutor is one; others: shut down
            future = Future()
            broken = error if isinstance(error, BrokenExecutor) else BrokenExecutor(str(error))
            future.set_exception(broken)
        flying[future] = part
        return not future.done()

    def _keep(self, part: int, rows: list[Row]) -> None:
        try:
            self.folder.store(part, rows)
        except OSError as error:
            reason = error.strerror or str(error)
            self.stopped = f"{self.folder.path} cannot be written ({reason}): free disk space, and run the sweep again"
            return
        self.done[part] = rows
        self.cases += len(rows)
        self._report_progress()

    def _failed(self, part: int, reason: str, again: deque[int]) -> None:
        self.tries[part] += 1
        if self.tries[part] < MAX_ATTEMPTS:
            again.appendleft(part)
            return
        self.failed[part] = reason
        if not self.done and len(self.failed) >= min(MAX_INITIAL_FAILURES, self.study.parts):
            self.stopped = f"the first {counted(len(self.failed), 'part')} all failed ({reason})"

    def _report_progress(self) -> None:
        if self.progress is not None:
            self.progress(self.cases / self.study.cases, f"{self.cases} of {counted(self.study.cases, 'case')}")

    def rows(self) -> list[Row]:
        return [row for part in sorted(self.done) for row in self.done[part]]

    def status(self) -> str:
        cases = self.cases
        if self.stopped is not None:
            return f"stopped: {self.stopped}; {cases} of {self.study.cases} cases are done and saved"
        if self.failed:
            names = "; ".join(self._name(part) for part in sorted(self.failed)[:5])
            return f"{cases} of {self.study.cases} cases done; failed after {MAX_ATTEMPTS} attempts: {names}"
        failed = sum(row[-1].startswith(FAILED) for row in self.rows())
        return f"{counted(cases, 'case')} done" + (f", {'all' if failed == cases else failed} of them failed" if failed else "")

    def _name(self, part: int) -> str:
        cases = self.study.range_of(part)
        return f"part {part} (cases {cases.start} to {cases.stop - 1}): {self.failed[part]}"

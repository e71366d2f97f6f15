"""Do the tests notice wrong source? A sample of small wrong changes (mutants), each tried against the tests that execute it.

Each mutant is drawn by a seed and made in a copy of the repository. The tests that execute the changed statement run there, the
quickest first, up to the first failure or until the processor time is used up: see campaigns/covering.py, patching.py and
forked.py. A mutant that no test executes has survived. Outcomes are kept in campaigns/mutation.jsonl, so that a run can be
interrupted and continued: seeds that are in the file are not tried again. "ran" is the number of tests that ran in time, where
these are not all. A mutant that changes no result ("equivalent") is marked by hand in the file, with the reason; it does not
count.

  python -m campaigns.mutation -n 100               the next 100 seeds
  python -m campaigns.mutation -n 20 -p spatial     of one package
  python -m campaigns.mutation -n 20 -m simulation/sources.py   of one module, with the tests of campaigns/modules.py
  python -m campaigns.mutation --longer --limit 60  survivors for which the time was too short, with more of it
  python -m campaigns.mutation --again              survivors once more, after tests were added
  python -m campaigns.mutation --score              what the file says

mutmut and cosmic-ray draw no samples; mutmut runs all tests before the first mutant, and cosmic-ray changes files in place.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from campaigns.covering import Covering, Recorder, Tracer
from campaigns.forked import OPTIONS, Verdict, import_third_party, in_child, judged
from campaigns.modules import MODULES, tests_of, traced_by
from campaigns.mutants import Mutant, mutants_of
from campaigns.patching import Collected

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("mutation.jsonl")
PACKAGES = ("spatial", "algorithms", "model", "compiler", "identification/estimators")
ESTIMATORS = ("least_squares", "ridge", "recursive", "coverage", "scale", "estimator_edge_cases", "consistent",
              "pseudo_inertia", "equations")  # fmt: skip
TESTS = [*(f"tests/{name}" for name in ("spatial", "algorithms", "model", "compiler", "robot")),
         *(f"tests/identification/test_{name}.py" for name in ESTIMATORS), "tests/reports/test_mesh_limits.py",
         *(f"src/dynamis/{package}" for package in PACKAGES)]  # fmt: skip
SECONDS = 60.0  # of processor time for the tests of one mutant
FIRST = 40, 5  # tests, and files they are in: these run before all others are collected

Record = dict[str, Any]
Case = tuple[Record, Mutant]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m campaigns.mutation", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("-n", "--count", type=int, default=20, help="mutants to try (default 20)")
    parser.add_argument("-p", "--package", action="append", choices=PACKAGES, help="packages to change (default: all)")
    parser.add_argument("-m", "--module", action="append", choices=list(MODULES), metavar="MODULE",
                        help="modules to change, in the place of packages: those of campaigns/modules.py")  # fmt: skip
    parser.add_argument("--seed", type=int, help="first seed; by default the one after those of earlier runs")
    parser.add_argument("--limit", type=float, default=SECONDS, help="processor time for one mutant in s (default 60)")
    parser.add_argument("--again", action="store_true", help="try the survivors of the file again")
    parser.add_argument("--longer", action="store_true", help="try survivors again of which not all tests, or none, ran")
    parser.add_argument("--score", action="store_true", help="print the score and the survivors, and try nothing")
    arguments = parser.parse_args()
    known = records()
    packages = arguments.module or arguments.package or list(PACKAGES)
    tests = tests_of(arguments.module) if arguments.module else TESTS
    if not arguments.score:
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(
                copied_tree(Path(folder)), arguments.limit, tests, traced_by if arguments.module else lambda _: list(PACKAGES)
            )
            if arguments.again or arguments.longer:
                try_all(trial, survivors(trial, packages, arguments.longer))
            else:
                first = max((r["seed"] for r in known), default=-1) + 1 if arguments.seed is None else arguments.seed
                done = {r["seed"] for r in known}
                try_all(trial, draw(trial, [s for s in range(first, first + arguments.count) if s not in done], packages))
    print(score(records()))
    return 0


def records() -> list[Record]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def score(known: list[Record]) -> str:
    """The share of mutants that were noticed, by package, and those that were not."""
    counted = [r for r in known if "equivalent" not in r]
    rows = []
    modules = [module for module in MODULES if any(r["package"] == module for r in known)]
    for package, members in [*((p, [p]) for p in PACKAGES), ("all packages", PACKAGES), *((m, [m]) for m in modules),
                             ("all modules", modules)]:  # fmt: skip
        own = Counter(r["outcome"] for r in counted if r["package"] in members)
        total, noticed = sum(own.values()), own["killed"] + own["timeout"]
        same = sum("equivalent" in r for r in known if r["package"] in members)
        late = sum("first" in r and r["outcome"] != "survived" for r in counted if r["package"] in members)
        share = f"{100.0 * noticed / total:5.1f} %" if total else "      -"
        counts = f"{noticed} of {total} noticed, {noticed - late} when first tried; {own['timeout']} by time; {same} equivalent"
        rows.append(f"{package:44} {share}  {counts}")
    for r in counted:
        if r["outcome"] == "survived":
            rows += [f"survived: seed {r['seed']}, {r['file']}:{r['line']}, {r['kind']}: {r['before']}  ->  {r['after']}"]
    return "\n".join(rows)


def copied_tree(folder: Path) -> Path:
    """A copy of all files of the repository, with the neighbouring folder of shared data within reach."""
    tree = folder / "tree"
    listed = subprocess.run(["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=ROOT, capture_output=True,  # noqa: S607
                            text=True, check=True).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    if (ROOT.parent / "shared").is_dir():
        (folder / "shared").symlink_to(ROOT.parent / "shared")
    return tree


class Trial:
    """A copy of the repository in which mutants are made, one at a time, and the tests that execute each line of it."""

    def __init__(self, tree: Path, limit: float, tests: list[str], traced: Callable[[str], list[str]]) -> None:
        self.tree, self.limit, self.tests, self.traced = tree, limit, tests, traced
        self.versions = itertools.count(int(time.time()))
        self.reliable: set[str] = set()  # tests that pass with the original source without those before them
        import_third_party()
        self.covering = Covering(tree, traced)
        files = test_files(tree, tests)
        known = {file: self.covering.stored(file) for file in files}
        added = any(stored["tests"] for stored in known.values())
        for file, stored in known.items():
            if stored["digest"] != self.covering.digest(file):
                self._record(file, stored["tests"], added)
        self.covering.load(files)

    def _record(self, file: str, known: dict[str, Any], added: bool) -> None:
        def run() -> dict[str, Any]:
            recorder = Recorder(Tracer(self.tree, self.traced(file)), known)
            pytest.main([*OPTIONS[1:], file], plugins=[recorder])
            return recorder.tests

        begun = time.monotonic()
        tests, status = in_child(self.tree, run)
        if tests is None:
            raise SystemExit(f"{file}: the tests could not be recorded; the process ended with status {status}")
        for name in tests.keys() - known.keys():
            tests[name]["added"] = added
        self.covering.store(file, tests)
        print(f"{file}: {len(tests.keys() - known.keys())} tests recorded in {time.monotonic() - begun:.0f} s", flush=True)

    def outcome(self, path: Path, mutant: Mutant) -> Record:
        original = (self.tree / path).read_text(encoding="utf-8")
        tests = self.covering.select(path.as_posix(), mutant.line)
        begun = time.monotonic()
        while True:
            self._write(path, mutant.applied(original))
            try:
                verdict, last = self._judged(tests)
            finally:
                self._write(path, original)
            wrong = self._unreliable(verdict, last) if verdict.outcome == "killed" else []
            if not wrong:
                return _result(verdict, begun, tests)
            for test in wrong:
                self.covering.forget(test)
            tests = [test for test in tests if test not in wrong]

    def patched_outcome(self, collected: Collected, path: Path, mutant: Mutant, compiler: bool) -> Record | None:
        """The same without importing the package anew; None for a mutant that this cannot make."""
        original = (self.tree / path).read_text(encoding="utf-8")
        patches = collected.patches(path, original, mutant.applied(original))
        if patches is None:
            return None
        begun = time.monotonic()
        while True:
            tests = self.covering.select(path.as_posix(), mutant.line)
            tests += collected.other_cases(tests, self.covering)
            verdict = collected.judged(patches, tests, self.covering.seconds, self.limit, compiler)
            if verdict.by not in tests or verdict.by in self.reliable:
                return _result(verdict, begun, tests)
            if collected.judged([], [verdict.by], self.covering.seconds, self.limit, compiler).outcome == "survived":
                self.reliable.add(verdict.by)
                return _result(verdict, begun, tests)
            self.covering.forget(verdict.by)

    def _judged(self, tests: list[str]) -> tuple[Verdict, list[str]]:
        """(verdict, its tests): of a few quick tests, and of all others where these notice nothing."""
        most, files = FIRST
        near = list(dict.fromkeys(test.partition("::")[0] for test in tests))[:files]
        quick = [test for test in tests if test.partition("::")[0] in near][:most]
        slow = [test for test in tests if test not in set(quick)]
        verdict = judged(self.tree, quick, self.covering.seconds, self.limit) if quick else Verdict("survived")
        if verdict.outcome != "survived" or not slow:
            return verdict, quick
        others = judged(self.tree, slow, self.covering.seconds, self.limit)
        others.ran += verdict.ran
        return others, slow

    def _unreliable(self, verdict: Verdict, tests: list[str]) -> list[str]:
        """Tests that fail with the original source, too, when those before them do not run."""
        if verdict.by in self.reliable:
            return []
        one = verdict.by in tests
        again = judged(self.tree, [verdict.by] if one else tests, self.covering.seconds, self.limit if one else 0.0)
        if again.outcome == "survived":
            self.reliable.update([verdict.by] if one else [])
            return []
        print(f"not used: {verdict.by}: {again.by}", flush=True)
        return [verdict.by] if one else [again.by] if again.by in tests else tests

    def _write(self, path: Path, text: str) -> None:
        (self.tree / path).write_text(text, encoding="utf-8")
        version = next(self.versions)
        os.utime(self.tree / path, (version, version))  # bytecode is known to be old by the second in which the source changed


def _result(verdict: Verdict, begun: float, tests: list[str]) -> Record:
    result: Record = {"outcome": verdict.outcome, "seconds": round(time.monotonic() - begun), "tests": len(tests)}
    if verdict.by:
        result["by"] = verdict.by
    if verdict.limited:
        result["ran"] = verdict.ran
    return result


def test_files(tree: Path, tests: list[str]) -> list[str]:
    """Files with tests, and folders of the source, whose examples are recorded together."""
    found: list[Path] = []
    for name in tests:
        place = tree / name
        found += sorted(place.rglob("test_*.py")) if name.startswith("tests/") and place.is_dir() else [place]
    return [p.relative_to(tree).as_posix() for p in found]


@functools.cache
def _places(tree: Path, package: str) -> dict[str, list[tuple[Path, Mutant]]]:
    places: dict[str, list[tuple[Path, Mutant]]] = {}
    place = tree / "src" / "dynamis" / package
    for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
        for mutant in mutants_of(path.read_text(encoding="utf-8")):
            places.setdefault(mutant.kind, []).append((path.relative_to(tree), mutant))
    return places


def drawn(tree: Path, seed: int, packages: list[str], known: list[Record]) -> tuple[str, Path, Mutant] | None:
    """(package, file, mutant) of a seed: package and kind of change are drawn first, so that none is drowned by the others.

    A mutant that is known is not drawn again; None if there is no other.
    """
    taken = {(r["file"], r["line"], r["kind"], r["before"]) for r in known}
    chance = random.Random(seed)  # noqa: S311 - not for security
    package = chance.choice(packages)
    places = {
        kind: new
        for kind, every in _places(tree, package).items()
        if (new := [(p, m) for p, m in every if (p.as_posix(), m.line, m.kind, m.before) not in taken])
    }
    while places:
        kind = chance.choice(sorted(places))
        path, mutant = places[kind].pop(chance.randrange(len(places[kind])))
        if mutant.compiles((tree / path).read_text(encoding="utf-8")):
            return package, path, mutant
        places = {kind: left for kind, left in places.items() if left}
    return None


def draw(trial: Trial, seeds: list[int], packages: list[str]) -> list[Case]:
    known, cases = records(), []
    for seed in seeds:
        found = drawn(trial.tree, seed, packages, known)
        if found is None:
            break
        package, path, mutant = found
        record = {"seed": seed, "package": package, "file": path.as_posix(), "line": mutant.line, "kind": mutant.kind,
                  "before": mutant.before, "after": mutant.after}  # fmt: skip
        known.append(record)
        cases.append((record, mutant))
    return cases


def survivors(trial: Trial, packages: list[str], longer: bool) -> list[Case]:
    """Survivors of earlier runs; a change whose text is no longer in the file at all is left as it is."""
    cases = []
    for record in records():
        if record["outcome"] != "survived" or "equivalent" in record or record["package"] not in packages:
            continue
        if longer and record.get("tests") and "ran" not in record:
            continue
        source = (trial.tree / record["file"]).read_text(encoding="utf-8")
        same = [m for m in mutants_of(source) if all(getattr(m, key) == record[key] for key in ("kind", "before"))]
        if same:
            mutant = min(same, key=lambda m: abs(m.line - record["line"]))
            again = {key: value for key, value in record.items() if key != "ran"} | {"line": mutant.line, "after": mutant.after}
            # the score of the tests before they knew this mutant
            cases.append((again if longer else again | {"first": "survived"}, mutant))
    return cases


def try_all(trial: Trial, cases: list[Case]) -> None:
    """Mutants of functions in a process that has collected all tests, all others each in a process that imports everything."""
    output = os.dup(1)
    answers = trial.tree.parent / "tried"
    answers.touch()

    def work(collected: Collected) -> None:
        for record, mutant in cases:
            outcome = trial.patched_outcome(collected, Path(record["file"]), mutant, record["package"].startswith("compiler"))
            if outcome is not None:
                save(record | outcome, output)
                with answers.open("a") as file:
                    file.write(f"{record['seed']}\n")

    def collect() -> int:
        return int(pytest.main([*OPTIONS[1:], *trial.tests], plugins=[Collected(trial.tree, work)]))

    in_child(trial.tree, collect)
    done = {int(seed) for seed in answers.read_text().split()}
    for record, mutant in cases:
        if record["seed"] not in done:
            save(record | trial.outcome(Path(record["file"]), mutant), output)


def save(record: Record, output: int) -> None:
    """Append a record to the file, or put it in the place of the one with its seed, and print it."""
    known = {r["seed"]: r for r in records()} | {record["seed"]: record}
    RESULTS.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in known.values()), encoding="utf-8")
    change = f"{record['before']}  ->  {record['after']}"
    line = f"seed {record['seed']}: {record['outcome']} in {record['seconds']} s: {record['file']}:{record['line']}, {change}\n"
    os.write(output, line.encode())


if __name__ == "__main__":
    sys.exit(main())

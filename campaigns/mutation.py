"""Do the tests notice wrong source? A sample of small wrong changes (mutants), each tried against the tests of its package.

Each mutant is drawn by a seed, made in a copy of the repository, and tested there in a process of its own, within a time limit.
Outcomes are appended to campaigns/mutation.jsonl, so that a run can be interrupted and continued: seeds that are in the file
are not tried again. A mutant that changes no result ("equivalent") is marked by hand in the file, with the reason, and not
counted. Mutants that the tests of their package do not notice may still be noticed by others.

  python -m campaigns.mutation -n 100               the next 100 seeds
  python -m campaigns.mutation -n 20 -p spatial     of one package
  python -m campaigns.mutation --again              survivors once more, after tests were added
  python -m campaigns.mutation --score              what the file says

mutmut and cosmic-ray draw no samples; mutmut runs all tests before the first mutant, and cosmic-ray changes files in place.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from campaigns.mutants import Mutant, mutants_of

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("mutation.jsonl")
ESTIMATORS = ("least_squares", "ridge", "recursive", "coverage", "scale", "estimator_edge_cases",
              "consistent")  # fmt: skip
TESTS = {  # package → the tests that mirror it, quick ones first
    "spatial": ["tests/spatial", "tests/algorithms/test_kinematics.py"],
    "algorithms": ["tests/algorithms", "tests/compiler/test_dynamics_derivatives.py", "tests/robot/test_against_reference.py"],
    "model": ["tests/model", "tests/robot/test_robot.py"],
    "compiler": ["tests/compiler"],
    "identification/estimators": [f"tests/identification/test_{name}.py" for name in ESTIMATORS],
}
SECONDS = 900.0  # for the tests of one mutant

Record = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m campaigns.mutation", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("-n", "--count", type=int, default=20, help="mutants to try (default 20)")
    parser.add_argument("-p", "--package", action="append", choices=TESTS, help="packages to change (default: all)")
    parser.add_argument("--seed", type=int, help="first seed; by default the one after those of earlier runs")
    parser.add_argument("--timeout", type=float, default=SECONDS, help="seconds for the tests of one mutant (default 900)")
    parser.add_argument("--again", action="store_true", help="try the survivors of the file again")
    parser.add_argument("--score", action="store_true", help="print the score and the survivors, and try nothing")
    arguments = parser.parse_args()
    known = records()
    packages = arguments.package or list(TESTS)
    if not arguments.score:
        with tempfile.TemporaryDirectory() as folder:
            tree = copied_tree(Path(folder))
            if arguments.again:
                _again(tree, known, packages, arguments.timeout)
            else:
                first = max((r["seed"] for r in known), default=-1) + 1 if arguments.seed is None else arguments.seed
                done = {r["seed"] for r in known}
                for seed in range(first, first + arguments.count):
                    if seed not in done:
                        _append(_show(tried(tree, seed, packages, arguments.timeout)))
    print(score(records()))
    return 0


def records() -> list[Record]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def score(known: list[Record]) -> str:
    """The share of mutants that were noticed, by package, and those that were not."""
    counted = [r for r in known if "equivalent" not in r]
    rows = []
    for package in [*TESTS, None]:
        own = Counter(r["outcome"] for r in counted if package in (None, r["package"]))
        total, noticed = sum(own.values()), own["killed"] + own["timeout"]
        same = sum("equivalent" in r for r in known if package in (None, r["package"]))
        late = sum("first" in r and r["outcome"] != "survived" for r in counted if package in (None, r["package"]))
        share = f"{100.0 * noticed / total:5.1f} %" if total else "      -"
        counts = f"{noticed} of {total} noticed, {noticed - late} when first tried; {own['timeout']} by time; {same} equivalent"
        rows.append(f"{package or 'all':28} {share}  {counts}")
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


def drawn(tree: Path, seed: int, packages: list[str]) -> tuple[str, Path, Mutant]:
    """(package, file, mutant) of a seed: package and kind of change are drawn first, so that none is drowned by the others."""
    chance = random.Random(seed)  # noqa: S311 - not for security
    package = chance.choice(packages)
    places: dict[str, list[tuple[Path, Mutant]]] = {}
    for path in sorted((tree / "src" / "dynamis" / package).rglob("*.py")):
        for mutant in mutants_of(path.read_text(encoding="utf-8")):
            places.setdefault(mutant.kind, []).append((path.relative_to(tree), mutant))
    while True:
        path, mutant = chance.choice(places[chance.choice(sorted(places))])
        if mutant.compiles((tree / path).read_text(encoding="utf-8")):
            return package, path, mutant


def tried(tree: Path, seed: int, packages: list[str], timeout: float) -> Record:
    package, path, mutant = drawn(tree, seed, packages)
    outcome = _outcome(tree, path, mutant.applied((tree / path).read_text(encoding="utf-8")), package, timeout)
    return {"seed": seed, "package": package, "file": path.as_posix(), "line": mutant.line, "kind": mutant.kind,
            "before": mutant.before, "after": mutant.after, **outcome}  # fmt: skip


def _outcome(tree: Path, path: Path, changed: str, package: str, timeout: float) -> Record:
    original = (tree / path).read_text(encoding="utf-8")
    begun = time.monotonic()
    try:
        (tree / path).write_text(changed, encoding="utf-8")
        status, output = _tested(tree, _ordered(path, package), timeout)
    finally:
        (tree / path).write_text(original, encoding="utf-8")
    result: Record = {
        "outcome": {0: "survived", None: "timeout"}.get(status, "killed"),
        "seconds": round(time.monotonic() - begun),
    }
    if result["outcome"] == "killed":
        lines = [line.split(" - ")[0] for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        result["by"] = lines[0].partition(" ")[2] if lines else output.strip().splitlines()[-1][:200]
    return result


def _ordered(path: Path, package: str) -> list[str]:
    """The tests of a package, those named like the changed module first."""
    files = [f for name in TESTS[package] for f in ([name] if name.endswith(".py") else sorted(
        p.relative_to(ROOT).as_posix() for p in (ROOT / name).rglob("test_*.py")))]  # fmt: skip
    return sorted(files, key=lambda name: path.stem not in name)


def _tested(tree: Path, tests: list[str], timeout: float) -> tuple[int | None, str]:
    """(exit status, or None where the time is over; output) of the tests, up to the first that fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", *tests]
    settings = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(command, cwd=tree, env=settings, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)  # fmt: skip
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # and the processes that tests have started
        process.communicate()
        return None, ""
    return process.returncode, output


def _again(tree: Path, known: list[Record], packages: list[str], timeout: float) -> None:
    """Try survivors of earlier runs; a change whose text is no longer in the file at all is left as it is."""
    for record in known:
        if record["outcome"] != "survived" or "equivalent" in record or record["package"] not in packages:
            continue
        path = Path(record["file"])
        source = (tree / path).read_text(encoding="utf-8")
        same = [m for m in mutants_of(source) if all(getattr(m, key) == record[key] for key in ("kind", "before", "after"))]
        if not same:
            continue
        mutant = min(same, key=lambda m: abs(m.line - record["line"]))
        record["first"] = "survived"  # the score of the tests before they knew this mutant
        record.update(line=mutant.line, **_outcome(tree, path, mutant.applied(source), record["package"], timeout))
        _show(record)
        RESULTS.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in known), encoding="utf-8")


def _append(record: Record) -> None:
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _show(record: Record) -> Record:
    change = f"{record['before']}  ->  {record['after']}"
    print(
        f"seed {record['seed']}: {record['outcome']} in {record['seconds']} s: {record['file']}:{record['line']}, {change}",
        flush=True,
    )
    return record


if __name__ == "__main__":
    sys.exit(main())

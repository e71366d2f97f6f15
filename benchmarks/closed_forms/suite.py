"""Closed forms: how long they take to derive, here and elsewhere, and what they cost against the recursions."""

from __future__ import annotations

import os
from statistics import median
from typing import Any

from benchmarks.closed_forms import comparison
from benchmarks.closed_forms.cases import CASES, Case
from benchmarks.closed_forms.contenders import CONTENDERS
from benchmarks.closed_forms.fresh import Run, derive
from benchmarks.options import Options

SLOW = 5.0  # seconds: what takes longer is run once
OURS_LAST = {"everything": "base parameters", "M, C, g": "g", "M, C, g, base parameters": "base parameters"}


def measure(options: Options) -> dict[str, Any]:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    rows: list[dict[str, Any]] = []
    for key, case in CASES.items():
        if case.robot is None or case.robot in options.robots:
            rows.append(_row(key, case, rows, options))
    return {
        "limit_s": options.limit_s, "fresh_starts": options.fresh_starts, "load_before": load, "rows": rows,
        "comparison": comparison.measure(options),
    }  # fmt: skip


def _row(key: str, case: Case, before: list[dict[str, Any]], options: Options) -> dict[str, Any]:
    """Ours and the others take turns, each in a fresh process every time."""
    last = {"ours": OURS_LAST[case.what]}
    last |= {name: CONTENDERS[name].last for name in case.contenders if CONTENDERS[name].library in options.symbolic_rivals}
    left_out = {name: why for name in last if (why := _hopeless(name, case, before))}
    runs: dict[str, list[Run]] = {name: [] for name in last if name not in left_out}
    for turn in range(options.fresh_starts):
        for name, done in runs.items():
            if turn and (name in left_out or done[0].stages[last[name]] > SLOW):
                continue
            options.tell(f"{case.title}: {CONTENDERS[name].name if name in CONTENDERS else 'ours'}, run {turn + 1}")
            run = derive(key, name, options.limit_s, examine=turn == 0)
            if last[name] not in run.stages:
                left_out[name] = _why(run)
            done.append(run)
    row = {
        "case": key,
        "title": case.title,
        "what": case.what,
        "wanted_s": case.wanted_s,
        "wanted_operations": case.wanted_operations,
    }
    row |= _figures(runs["ours"], last["ours"]) if "ours" not in left_out else {"seconds": None}
    rivals = {name: _figures(runs[name], last[name]) for name in last if name != "ours" and name not in left_out}
    return {**row, "rivals": rivals, "left_out": left_out}


def _hopeless(name: str, case: Case, before: list[dict[str, Any]]) -> str | None:
    """Why a contender that had no result for the same arm in numbers need not try with symbols."""
    for row in before:
        if row["case"] == case.simpler and name in row["left_out"]:
            return f"not tried, as there was none for {row['title']}"
    return None


def _why(run: Run) -> str:
    reached = [f"{stage} after {seconds:.3g} s" for stage, seconds in run.stages.items()]
    return ", ".join([run.stopped or "ended early", *reached])


def _figures(runs: list[Run], last: str) -> dict[str, Any]:
    facts = runs[0].facts  # the first was examined
    every = [run for run in runs if last in run.stages]
    stages = {stage: median(run.stages[stage] for run in every) for stage in every[0].stages if stage != "as graphs"}
    figures = {"seconds": stages[last], "runs": [run.stages[last] for run in every], "stages": stages}
    if "as graphs" in runs[0].stages:
        figures["as_graphs_s"] = runs[0].stages["as graphs"]
    if "import_s" in facts:
        figures["import_s"] = median(run.facts["import_s"] for run in every)
    kept = ("base_parameters", "operations", "operations_written_out", "terms", "deviation", "failed")
    return figures | {name: facts[name] for name in kept if name in facts}

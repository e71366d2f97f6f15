"""Lagrange against Newton–Euler: operations of the closed form and of the recursions, and the time both take when compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import dynamis as dy
from benchmarks import cores
from benchmarks.closed_forms.arms import of_library, planar, with_symbols
from benchmarks.options import Options
from benchmarks.timing import best_times, disturbed
from dynamis.compiler.kernel import wait_for_compiler
from dynamis.symbolic.closed_form import ClosedForm, closed_form
from dynamis.symbolic.derivation.recursion_steps import operation_counts

# of each kind of chain: its name, how many joints it has at most, and the arm with so many, in numbers and in symbols
CHAINS: dict[str, tuple[str, int, Callable[[int], dy.Robot], Callable[[int], Any]]] = {
    "planar": ("planar nR", 8, lambda n: planar(n, symbolic=False), lambda n: planar(n).model),
    "puma560": (
        "Puma 560, first n joints", 6, lambda n: of_library("puma560", n),
        lambda n: with_symbols(of_library("puma560", n).model, lengths=True),
    ),
    "iiwa14": (
        "iiwa 14, first n joints", 7, lambda n: of_library("kuka_iiwa14", n),
        lambda n: with_symbols(of_library("kuka_iiwa14", n).model, lengths=False),
    ),
}  # fmt: skip


def measure(options: Options) -> list[dict[str, Any]]:
    cores.use(1)
    rows = []
    for chain, (title, joints, in_numbers, in_symbols) in CHAINS.items():
        for n in range(1, min(joints, options.joints) + 1):
            options.tell(f"{title}, n = {n}: operations and time")
            robot = in_numbers(n)
            form = robot.closed_form()
            row = {"chain": chain, "joints": n, "operations": {"numbers": _operations(form)}}
            row |= _times(robot, form, options)
            row["operations"]["symbols"] = _operations(closed_form(in_symbols(n)))
            rows.append(row)
    return rows


def _operations(form: ClosedForm) -> dict[str, dict[str, int]]:
    counts = operation_counts(form, largest=float("inf"))
    return {name: {"closed": closed, "recursion": recursive} for name, closed, recursive in counts}


def _times(robot: dy.Robot, form: ClosedForm, options: Options) -> dict[str, Any]:
    """Inverse dynamics per state, as bare ufuncs on one core, and how far the two are apart."""
    rng = np.random.default_rng(0)
    given = tuple(rng.uniform(-1.0, 1.0, (3, options.batch, robot.n)))
    ufuncs = {"closed": form.kernel("inverse_dynamics").ufunc(), "recursion": robot.kernel("inverse_dynamics").ufunc()}
    wait_for_compiler()
    results = {name: ufunc(*given) for name, ufunc in ufuncs.items()}
    runs = {name: functools.partial(ufunc, *given, out=results[name]) for name, ufunc in ufuncs.items()}
    times = best_times(runs, options.seconds)
    return {
        "ns": {name: best.seconds / options.batch * 1e9 for name, best in times.items()},
        "deviation": float(np.abs(results["closed"] - results["recursion"]).max() / np.abs(results["recursion"]).max()),
        "disturbed": disturbed(times),
    }

"""What is derived, how fast that should be, and who else tries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.closed_forms.arms import of_library, planar, with_symbols
from dynamis.model.model import Model


@dataclass(frozen=True)
class Case:
    """``wanted_s`` is for everything in ``what``; ``robot`` names the arm of the library that `--robots` may leave out."""

    title: str
    what: str
    arm: Callable[[], Model]
    wanted_s: float
    contenders: tuple[str, ...]
    wanted_operations: int | None = None  # in M
    robot: str | None = None
    simpler: str | None = None  # who has no result for that case need not try this one


def _library(name: str, joints: int | None = None) -> Callable[[], Model]:
    return lambda: of_library(name, joints).model


def _symbols(name: str, joints: int | None = None, *, lengths: bool) -> Callable[[], Model]:
    return lambda: with_symbols(of_library(name, joints).model, lengths=lengths)


TERMS = "M, C, g"
LARGE = ("sympy_recursion", "sympy_jacobians", "toolbox")
CASES: dict[str, Case] = {
    "planar_2r": Case(
        "planar 2R", "everything", lambda: planar(2).model, 0.1, ("sympy_lagrange", "sympy_kane", "sympy_simplified")
    ),
    "planar_6r": Case("planar 6R", TERMS, lambda: planar(6).model, 0.5, ("sympy_lagrange", "sympy_kane"), 600),
    "spatial_3r": Case(
        "spatial 3R", TERMS, _symbols("puma560", 3, lengths=True), 0.3, ("sympy_simplified", "sympy_jacobians", "sympy_recursion")
    ),
    "puma560": Case(
        "Puma 560, all symbols", f"{TERMS}, base parameters", _symbols("puma560", lengths=True), 5.0,
        ("sympy_recursion", "sympy_jacobians"),
    ),
    "panda": Case("Panda, numbers", TERMS, _library("panda"), 10.0, LARGE, robot="panda"),
    "panda_inertias": Case(
        "Panda, inertias symbols", TERMS, _symbols("panda", lengths=False), 10.0, LARGE,
        robot="panda", simpler="panda",
    ),
    "iiwa14": Case("iiwa 14, numbers", TERMS, _library("kuka_iiwa14"), 10.0, LARGE, robot="kuka_iiwa14"),
    "iiwa14_inertias": Case(
        "iiwa 14, inertias symbols", TERMS, _symbols("kuka_iiwa14", lengths=False), 10.0, LARGE,
        robot="kuka_iiwa14", simpler="iiwa14",
    ),
}  # fmt: skip

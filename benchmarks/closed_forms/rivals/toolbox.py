"""The Robotics Toolbox with SymPy's symbols: its Newton–Euler in Python, one call for each column of M."""

from __future__ import annotations

import numpy as np
import sympy

from benchmarks.closed_forms.arms import of_library
from benchmarks.closed_forms.stages import Stages, say
from benchmarks.rivals.robotics_toolbox import arm_of
from dynamis.algorithms import mass_matrix


def derive(name: str, *, symbolic: bool, examine: bool) -> None:
    robot = of_library(name)
    arm = arm_of(robot.description)
    if symbolic:
        for k, link in enumerate(arm.links, 1):
            link.m = sympy.Symbol(f"m{k}", real=True)
            link.r = np.array(sympy.symbols(f"c_x{k} c_y{k} c_z{k}", real=True), dtype=object)
            xx, yy, zz, xy, yz, xz = sympy.symbols(f"I_xx{k} I_yy{k} I_zz{k} I_xy{k} I_yz{k} I_xz{k}", real=True)
            link.I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object)
    n = robot.n
    q, v = (np.array(sympy.symbols(f"{letter}1:{n + 1}", real=True), dtype=object) for letter in ("q", "qd"))
    nothing, weightless = np.zeros(n), [0, 0, 0]
    stages = Stages()
    M = sympy.Matrix([list(np.ravel(arm.rne(q, nothing, unit, gravity=weightless))) for unit in np.eye(n)])
    stages.reached("M")
    arm.rne(q, nothing, nothing)
    stages.reached("g")
    arm.rne(q, v, nothing, gravity=weightless)
    stages.reached("C q̇ + g")
    if examine:
        say(operations_written_out={"M": int(sympy.count_ops(M))})
        if not symbolic:
            at = np.linspace(0.3, 1.2, n)
            found = np.array(sympy.lambdify(list(q), M, cse=True)(*at), dtype=float)
            expected = np.asarray(mass_matrix.crba(robot.model, at), dtype=float)
            say(deviation=float(np.abs(found - expected).max() / np.abs(expected).max()))

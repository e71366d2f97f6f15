"""Run in a process of its own: one contender derives one arm's equations, and prints how long things took."""

from __future__ import annotations

import sys
import time
import warnings


def main(key: str, contender: str, examine: bool) -> None:
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    if contender == "ours":
        import dynamis
        from dynamis.symbolic import closed_form  # noqa: F401  # what the time with imports contains, and nothing else

        loaded = time.perf_counter() - began
        from benchmarks.closed_forms import ours
        from benchmarks.closed_forms.cases import CASES
        from benchmarks.closed_forms.stages import say

        say(import_s=loaded, version=dynamis.__version__)
        ours.derive(CASES[key].arm(), CASES[key].what, examine=examine)
        return
    from benchmarks.closed_forms.cases import CASES

    case = CASES[key]
    if contender == "toolbox":
        from benchmarks.closed_forms.rivals import toolbox

        assert case.robot is not None
        toolbox.derive(case.robot, symbolic=key.endswith("inertias"), examine=examine)
    elif contender == "sympy_recursion":
        from benchmarks.closed_forms.rivals import sympy_recursion

        sympy_recursion.derive(case.arm(), examine=examine)
    elif contender in ("sympy_lagrange", "sympy_kane"):
        from benchmarks.closed_forms.rivals import sympy_mechanics

        sympy_mechanics.derive(case.arm(), kane=contender == "sympy_kane", examine=examine)
    else:
        from benchmarks.closed_forms.rivals import sympy_jacobians

        sympy_jacobians.derive(case.arm(), simplified=contender == "sympy_simplified", examine=examine)


main(sys.argv[1], sys.argv[2], sys.argv[3] == "examine")

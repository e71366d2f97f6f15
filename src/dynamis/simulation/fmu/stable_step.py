"""The step of co-simulation: short enough for the fastest motion of the equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.tolerances import CENTRAL_DIFFERENCE_STEP

Array = npt.NDArray[Any]
LONGEST = 1e-3  # s
SHARE = 2.0  # of 1 / ρ; Runge–Kutta steps of fourth order are stable to 2.78 on the real and 2.83 on the imaginary axis


def stable_step(rates: Callable[[Array], Array], x: Array, width: float) -> float:
    """A step for ẋ = rates(x) near the state x: 2 / ρ, of two digits, with the spectral radius ρ of ∂ẋ/∂x, at most 1 ms.

    ``width`` is the distance within which the rates are nearly linear.
    """
    nudges = CENTRAL_DIFFERENCE_STEP * width * np.eye(len(x))
    A = np.column_stack([(rates(x + dx) - rates(x - dx)) / (2.0 * dx.sum()) for dx in nudges])
    fastest = float(np.abs(np.linalg.eigvals(A)).max(initial=0.0))
    if not np.isfinite(fastest) or fastest <= SHARE / LONGEST:
        return LONGEST
    step = SHARE / fastest
    digit = 10.0 ** (np.floor(np.log10(step)) - 1.0)
    return float(f"{np.floor(step / digit) * digit:.1e}")

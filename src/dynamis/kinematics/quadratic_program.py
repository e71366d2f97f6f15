"""Small dense quadratic programs, by DAQP, a dual active-set method (docs/decisions, "Task space")."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, MissingExtraError
from dynamis.tolerances import NEGLIGIBLE

Array = npt.NDArray[Any]
EQUALITY, INEQUALITY = 5, 0  # DAQP's kinds of constraints
SOLVED, INFINITE_BOUND = 1, 1e30  # DAQP's exit flag and bound


def load_solver(purpose: str) -> Any:
    """DAQP; the purpose begins the message if it is missing."""
    try:
        import daqp
    except ImportError:
        raise MissingExtraError(f"{purpose} require the quadratic-programming solver DAQP: pip install 'dynamis[qp]'") from None
    return daqp


def minimise(daqp: Any, H: Array, f: Array, rows: Array, low: Array, high: Array, sense: Array) -> Array | None:
    """x with the least ½ xᵀ H x + fᵀ x; None if there is none.

    ``low`` and ``high`` are bounds of x, if there are more of them than ``rows``, and of rows x behind them.
    """
    for firm in (0.0, 1e-6 * float(np.abs(H).max())):  # a singular cost on which the solver's own regularization fails
        costs = H + firm * np.eye(len(H))
        given = (costs, f, rows, np.minimum(high, INFINITE_BOUND), np.maximum(low, -INFINITE_BOUND))
        x, _, flag, _ = daqp.solve(*(np.ascontiguousarray(y, dtype=float) for y in given), sense, primal_tol=NEGLIGIBLE)
        if flag == SOLVED and np.isfinite(x).all():
            return np.array(x)
        if np.linalg.matrix_rank(H) == len(H):
            break
    return None


def symmetric_bounds(given: Any, n: int, name: str) -> tuple[Array, Array]:
    """(lower, upper) of None, one number or n for both sides, or a pair."""
    if given is None:
        return np.full(n, -np.inf), np.full(n, np.inf)
    pair = given if isinstance(given, tuple) and len(given) == 2 else None
    if n == 2 and pair is not None and not any(map(np.ndim, pair)):
        raise InputError(
            f"{name}={given!r} is ambiguous for 2 joints: write [{pair[0]!r}, {pair[1]!r}] for one limit per joint, "
            f"([{pair[0]!r}] * 2, [{pair[1]!r}] * 2) for (lower, upper) of both"
        )
    try:
        if pair is None:
            high = np.broadcast_to(np.asarray(given, dtype=float), (n,))
            low = -high
        else:
            low, high = (np.broadcast_to(np.asarray(x, dtype=float), (n,)) for x in pair)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} must be one number, {counted(n, 'number')}, or a pair (lower, upper) of these; got {given!r}"
        ) from None
    if np.isnan(low).any() or np.isnan(high).any() or np.any(low > high):
        raise InputError(f"{name}: lower limits must not exceed upper limits, and symmetric limits must not be negative")
    return low, high

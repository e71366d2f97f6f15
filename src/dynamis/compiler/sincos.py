"""Coefficients of the vector sine and cosine: reduction by multiples of π/2, then polynomials on [−π/4, π/4].

The polynomials are the minimax ones of the Cephes library (S. Moshier). Their error and that of the reduction stay within
2 units in the last place up to 1e5 rad; larger angles are first brought into range by the C library.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

LARGEST_ANGLE = 1e5  # that the reduction holds


@dataclass(frozen=True)
class Coefficients:
    two_over_pi: float
    half_pi: tuple[float, ...]  # parts that add up to π/2, all positive, so that −0 stays −0
    rounding: float  # added and taken away again, it leaves the nearest integer, and its lowest bits in the sum's own
    sine: tuple[float, ...]  # highest power first
    cosine: tuple[float, ...]


DOUBLE = Coefficients(
    two_over_pi=2.0 / math.pi,
    half_pi=(1.5707963267948966, 6.123233995736765e-17, 1.0828566739219139e-32),
    rounding=1.5 * 2.0**52,
    sine=(
        1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6, -1.98412698295895385996e-4,
        8.33333333332211858878e-3, -1.66666666666666307295e-1,
    ),
    cosine=(
        -1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7, 2.48015872888517045348e-5,
        -1.38888888888730564116e-3, 4.16666666666665929218e-2,
    ),
)  # fmt: skip
SINGLE = Coefficients(
    two_over_pi=0.6366197466850281,
    half_pi=(1.570796251296997, 7.549789415861596e-08, 5.390302529957765e-15),
    rounding=1.5 * 2.0**23,
    sine=(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1),
    cosine=(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2),
)

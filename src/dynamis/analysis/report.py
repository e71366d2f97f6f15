"""Results of the structural analysis: one bound, and all bounds of a robot, as objects, table and plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_table, bounds_card, short
from dynamis.errors import printable

Array = npt.NDArray[Any]

NORM_NAMES = {1: "1", 2: "2", np.inf: "∞"}


@dataclass(frozen=True, eq=False, repr=False)
class Bound:
    """An extreme value over the box.

    The extreme is proven to lie between ``lower`` and ``upper``. ``value`` is the most extreme value found, at configuration
    ``at`` (n,). ``certified`` states whether the enclosure is within the tolerance; ``status`` describes the result.
    """

    name: str
    meaning: str
    lower: float
    upper: float
    value: float
    at: Array | None
    certified: bool
    status: str
    largest: bool = True

    @property
    def safe(self) -> float:
        """The proven constant: ``upper`` of a largest value, ``lower`` of a smallest one."""
        return self.upper if self.largest else self.lower

    def as_dict(self) -> dict[str, Any]:
        """Plain data; infinities become None."""
        numbers = {key: getattr(self, key) for key in ("lower", "upper", "value")}
        plain: dict[str, Any] = {key: x if np.isfinite(x) else None for key, x in numbers.items()}
        return plain | {"at": None if self.at is None else self.at.tolist(), "certified": self.certified, "status": self.status}

    def __repr__(self) -> str:
        return short(f"<Bound {self.name}: {self.value:.4g}, proven between {self.lower:.4g} and {self.upper:.4g}>")

    _repr_html_ = as_table


Norms = Mapping[float, Bound]


@dataclass(frozen=True, eq=False, repr=False)
class StructuralBounds:
    """The structural properties of a robot over a box of q, in SI units.

    Mappings are by norm: 1, 2 and ``numpy.inf``.

        mu_1, mu_2    μ_1 1 ≤ M(q) ≤ μ_2 1
        M_1, M_2      M_1 ≤ ‖M(q)‖ ≤ M_2
        v_b           ‖C(q, q̇) q̇‖ ≤ v_b ‖q̇‖²
        g_b           ‖g(q)‖ ≤ g_b
        d_max         ‖D q̇‖ ≤ d_max ‖q̇‖, of viscous friction
        dry           ‖dry friction‖ ≤ dry

    ``depends_on`` names the coordinates on which M depends; ``prismatic_dependence`` those of prismatic joints on which M or
    g depends, which make the bounds functions of q where their range has no limits.
    """

    robot: str
    coordinates: tuple[str, ...]
    lower: Array
    upper: Array
    mu_1: Bound
    mu_2: Bound
    M_1: Norms
    M_2: Norms
    v_b: Norms
    g_b: Norms
    d_max: Norms
    dry: Norms
    depends_on: tuple[str, ...]
    prismatic_dependence: tuple[str, ...]

    def __iter__(self) -> Iterator[Bound]:
        yield self.mu_1
        yield self.mu_2
        for norms in (self.M_1, self.M_2, self.v_b, self.g_b, self.d_max, self.dry):
            yield from norms.values()

    @property
    def certified(self) -> bool:
        """Whether every enclosure is within the tolerance."""
        return all(bound.certified for bound in self)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        box = {
            name: [x if np.isfinite(x) else None for x in ends]
            for name, *ends in zip(self.coordinates, self.lower.tolist(), self.upper.tolist(), strict=True)
        }
        result: dict[str, Any] = {"robot": self.robot, "box": box, "mu_1": self.mu_1.as_dict(), "mu_2": self.mu_2.as_dict()}
        for key in ("M_1", "M_2", "v_b", "g_b", "d_max", "dry"):
            norms = getattr(self, key)
            result[key] = {"inf" if norm == np.inf else str(norm): bound.as_dict() for norm, bound in norms.items()}
        dependence = {"depends_on": list(self.depends_on), "prismatic_dependence": list(self.prismatic_dependence)}
        return result | dependence | {"certified": self.certified}

    def report(self) -> str:
        """A table of all bounds, and the coordinates M depends on."""
        rows = [("", "meaning", "found", "proven from", "to", "")]
        rows += [(b.name, b.meaning, f"{b.value:.6g}", f"{b.lower:.6g}", f"{b.upper:.6g}", b.status) for b in self]
        widths = [max(len(row[k]) for row in rows) for k in range(5)]
        lines = [f"Structural properties of {self.robot}", ""]
        for row in rows:
            cells = [row[k].ljust(widths[k]) if k < 2 else row[k].rjust(widths[k]) for k in range(5)]
            lines.append("  ".join([*cells, row[5]]).rstrip())
        return "\n".join([*lines, "", *self.remarks])

    @property
    def remarks(self) -> tuple[str, ...]:
        """The coordinates M depends on, limits that the bounds need, and the box."""
        lines = ["M depends on " + (", ".join(self.depends_on) or "no coordinate (constant)")]
        if self.prismatic_dependence:
            names = ", ".join(self.prismatic_dependence)
            lines.append(f"the bounds depend on the range of {names} and do not exist without limits")
        box = (f"{name} {a:.4g} … {b:.4g}" for name, a, b in zip(self.coordinates, self.lower, self.upper, strict=True))
        return (*lines, "over " + ", ".join(box))

    def __str__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        return bounds_card(self)

    def __repr__(self) -> str:
        sure = "certified" if self.mu_1.certified and self.mu_2.certified else "not certified"
        return f"<StructuralBounds of {printable(self.robot)}: {self.mu_1.safe:.4g} ≤ M ≤ {self.mu_2.safe:.4g}, {sure}>"

"""PD control with gains from on-line bounds of the dynamics, computed from the structural properties of the arm.

With e = q_d − q, v_r = v_d + λ e and s = v_r − v, in joints scaled by w = √(largest M_kk) (`structure`):

    τ = ĝ(q) + W (k + ρ / (‖s'‖ + ε)) s',   ρ = (1 + m) (μ' ‖a_r'‖ + v_b' ‖v'‖ ‖v_r'‖ + δ g' + d' ‖v_r'‖ + f')

It is a PD law: s is ė + λ e. Only gravity is taken from the model; inertia, Coriolis and friction are dominated because ρ
exceeds them by the margin m. With V = ½ sᵀ M s, whose rate is −s'ᵀ(k + ρ/(‖s'‖ + ε)) s' and the dominated terms, V decreases
wherever ‖s'‖ > ε / m [Slotine & Li 1991, §9], [Melchiorri, slides 44 to 53]. The result does not hold where τ
saturates: `check` reports the required torque.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.gains import gain, largest_gravity
from dynamis.control.law import ControlLaw, joint_reference
from dynamis.control.pd_gravity import springs
from dynamis.control.reference import Reference, reference_of
from dynamis.control.stability import PROVEN, RULE, SEARCHED, Condition, Stability, damped, positive, sampled_often_enough
from dynamis.control.structural_constants import ScaledBounds, scaled_bounds
from dynamis.display import as_call, as_table
from dynamis.errors import InputError
from dynamis.model.model import Coordinate
from dynamis.robot import Robot
from dynamis.scalar import maximum, minimum, sqrt
from dynamis.tolerances import NORM_SMOOTHING

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class RobustPD(ControlLaw):
    """A PD law with gains from ``bounds``, with a relative ``margin`` m.

    ``bandwidth`` λ [rad/s] of the error, ``settling`` k [1/s], ``width`` ε of the boundary layer [√J],
    ``unknown`` δ the relative error of gravity. ``torque_limits`` (n) saturate the torques (default: those of the robot;
    infinite for none). ``constants`` are the "proven" bounds, or the smaller ones "found" at sampled configurations.

    >>> import dynamis as dy, numpy as np
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> law = RobustPD.designed(arm, [0.5, -0.5], bandwidth=5.0)
    >>> motion = dy.simulate(arm, 3.0, controller=law, method="rk4", step=1e-3, points=31)
    >>> bool((abs(motion.q[-1] - [0.5, -0.5]) < law.ultimate_error()).all())
    True
    """

    reference: Any
    bounds: ScaledBounds
    bandwidth: float
    settling: float
    width: float
    margin: float = 0.5
    unknown: float = 0.05
    viscous: float = 0.0
    dry: float = 0.0
    torque_limits: Any = np.inf
    constants: str = "proven"
    _at: Reference = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.constants not in ("proven", "found"):
            raise InputError(f"constants={self.constants!r} is unknown; choose 'proven' or 'found'")
        for name in ("bandwidth", "settling", "width", "margin"):
            if gain(getattr(self, name), name).ndim:
                raise InputError(f"{name} must be one number for the whole arm")
        object.__setattr__(self, "_at", reference_of(self.reference))

    @staticmethod
    def designed(
        robot: Robot, reference: Any, *, bandwidth: float, width: float = 0.2, margin: float = 0.5, unknown: float = 0.05,
        torque_limits: Any = None, constants: str = "proven", seconds: float = 4.0,
    ) -> RobustPD:  # fmt: skip
        """Create the law with the bounds of this robot, searched for at most ``seconds``; k = λ."""
        bounds = scaled_bounds(robot, seconds=seconds)
        w, model = bounds.scale, robot.model
        viscous = float(np.abs(model.viscous / (w * w)).max(initial=0.0))
        dry = float(np.linalg.norm((np.abs(model.coulomb) + np.abs(model.coulomb_bias)) / w))
        return RobustPD(
            reference, bounds, float(gain(bandwidth, "bandwidth")), float(gain(bandwidth, "bandwidth")), width, margin,
            unknown, viscous, dry, robot.limits["effort"] if torque_limits is None else torque_limits, constants,
        )  # fmt: skip

    def constant(self, name: str) -> float:
        """One of the bounds "inertia", "coriolis" or "gravity", proven or found as selected."""
        bound = getattr(self.bounds, name)
        return float(bound.safe if self.constants == "proven" else bound.value)

    def overcome(self, v: Any, v_r: Any, a_r: Any) -> Any:
        """ρ without the margin, from scaled lengths ‖v'‖, ‖v_r'‖, ‖a_r'‖."""
        gravity = self.unknown * self.constant("gravity")
        return self.constant("inertia") * a_r + self.constant("coriolis") * v * v_r + gravity + self.viscous * v_r + self.dry

    def wanted(self, robot: Robot, t: Any) -> tuple[Array, Array, Array]:
        return joint_reference(robot, self._at, t, bounds=self.bounds.scale, torque_limits=self.torque_limits)

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array) -> Array:
        q_d, v_d, a_d = self.wanted(robot, t)
        w, lam = self.bounds.scale, self.bandwidth
        v_r, a_r = v_d + lam * (q_d - q), a_d + lam * (v_d - v)
        s = w * (v_r - v)
        rho = (1.0 + self.margin) * self.overcome(_length(w * v), _length(w * v_r), _length(w * a_r))
        tau = robot.gravity(q) + springs(robot, q) + w * ((self.settling + rho / (_length(s) + self.width)) * s)
        limits = np.broadcast_to(np.asarray(self.torque_limits, dtype=float), (robot.n,))
        return np.array([_cut(x, float(limit)) for x, limit in zip(tau, limits, strict=True)])

    def ultimate_error(self) -> Array:
        """The ultimate bound of |e_k| (n): ‖s'‖ ≤ √(μ'/λ') ε/m, divided by λ w_k.

        μ' and λ' are the extreme eigenvalues of M': the proven ones, or with "found" constants those of samples. Infinite
        if λ' > 0 was not proven in the time limit.
        """
        proven, most, least = self.constants == "proven", self.bounds.inertia, self.bounds.least
        over, under = (most.safe, least.safe) if proven else (most.value, least.value)
        reach = np.sqrt(over / under) if under > 0.0 else np.inf
        return np.asarray(reach * self.width / self.margin / (self.bandwidth * self.bounds.scale))

    def check(self, robot: Robot, *, rate: float | None = None, speed: float = 1.0, acceleration: float = 2.0) -> Stability:
        """Check stability, with torques for a reference of this speed [rad/s] and acceleration [rad/s²] of each joint."""
        w = self.bounds.scale
        lengths = (speed * np.linalg.norm(w), speed * np.linalg.norm(w), acceleration * np.linalg.norm(w))
        rho = (1.0 + self.margin) * self.overcome(*lengths)
        weight = largest_gravity(robot)
        needed = weight + w * (rho + self.settling * self.width)
        limits = np.broadcast_to(np.asarray(self.torque_limits, dtype=float), (robot.n,))
        worst = int(np.argmin(limits / needed))
        angle = " or ".join(sorted({_length_unit(c) for c in robot.model.coordinates}, reverse=True))
        conditions = (
            positive("margin m over the bounds", self.margin, "V decreases wherever ‖s'‖ > ε/m"),
            *((damped("W k W", w * w * self.settling, robot, "V decreases by sᵀ (W k W + F_v) s"),)
              if robot.model.viscous.min(initial=0.0) < 0.0 else ()),
            self._not_underestimated(),
            *self._holding(robot, weight, limits),
            Condition(f"torque limit of {_with_unit(robot, worst)}", bool(limits[worst] >= needed[worst]),
                      float(limits[worst]), float(needed[worst]), RULE,
                      f"no saturation at {speed:g} {angle}/s and {acceleration:g} {angle}/s²; with saturation the result does "
                      f"not hold", "≥"),
        )  # fmt: skip
        stiffest = self.settling + rho / self.width
        notes = (
            self._promise(robot),
            "the bounds are those of the design model: the margin must cover deviations of the real arm",
        )
        return Stability("PD with on-line bounds", (*conditions, *sampled_often_enough(rate, float(stiffest))), notes)

    def _not_underestimated(self) -> Condition:
        """The condition that the constants of the law, with their margin, exceed the largest sampled values."""
        sure = self.constants == "proven" or self.bounds.certified
        ratios = [
            (1.0 + self.margin) * self.constant(name) / found
            for name in ("inertia", "coriolis", "gravity")
            if (found := float(getattr(self.bounds, name).value)) > 0.0
        ]
        least = min(ratios, default=1.0 + self.margin)
        return Condition("constants with margin, divided by the largest values sampled", least >= 1.0 if sure else least > 1.0,
                         least, 1.0, PROVEN if sure else SEARCHED, "the dynamics are not underestimated",
                         "≥" if sure else ">")  # fmt: skip

    def _holding(self, robot: Robot, weight: Array, limits: Array) -> tuple[Condition, ...]:
        """The condition that the torque limits exceed gravity everywhere: proven by the gravity bound, or searched."""
        if not np.isfinite(limits).any():
            return ()
        k = int(np.argmin(limits / np.maximum(weight, 1e-300)))
        holds, surely = bool(limits[k] >= weight[k]), bool((limits >= self.bounds.scale * self.bounds.gravity.safe).all())
        basis = PROVEN if surely or not holds else SEARCHED
        return (Condition(f"torque limit of {_with_unit(robot, k)} over its largest gravity torque", holds,
                          float(limits[k]), float(weight[k]), basis,
                          "the arm can be held at rest in every configuration", "≥"),)  # fmt: skip

    def _promise(self, robot: Robot) -> str:
        error, of = self.ultimate_error(), np.array([_length_unit(c) for c in robot.model.coordinates])
        if not np.isfinite(error).all():
            return "no ultimate bound: λ' > 0 was not proven in the time limit, increase seconds=…"
        sure = "proven" if self.constants == "proven" else "constants from sampled configurations, not proven"
        uncut = ", without torque saturation" if np.isfinite(np.asarray(self.torque_limits, dtype=float)).any() else ""
        end = " and ".join(f"{error[of == unit].max():.3g} {unit}" for unit in ("rad", "m") if unit in of)
        ranges = [min(c.upper - c.lower, 2.0 * np.pi if c.revolute else np.inf) for c in robot.model.coordinates]
        if (error > ranges).any():
            cure = "larger gains are needed, by a higher bandwidth or a smaller width"
            return f"the ultimate bound of the error, {end}, says nothing, as it is larger than the range of motion: {cure}"
        return f"ultimate bound of the error {end}, for any arm within the bounds{uncut} ({sure})"

    __repr__ = as_call
    _repr_html_ = as_table


def _with_unit(robot: Robot, k: int) -> str:
    return f"{robot.coordinate_names[k]} [{robot.model.coordinates[k].effort_unit}]"


def _length_unit(coordinate: Coordinate) -> str:
    return "rad" if coordinate.revolute else "m"


def _length(x: Array) -> Any:
    return sqrt(np.dot(x, x) + NORM_SMOOTHING * NORM_SMOOTHING)


def _cut(x: Any, limit: float) -> Any:
    return minimum(maximum(x, -limit), limit) if np.isfinite(limit) else x

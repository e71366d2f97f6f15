"""Passivity-based adaptive control: on-line estimation of the parameters with a Lyapunov function.

With e = q_d − q, v_r = v_d + Λ e, a_r = a_d + Λ ė and s = v_r − v:

    τ = Y(q, v, v_r, a_r) θ̂ + K_D s,   θ̂˙ = Γ Yᵀ s

V = ½ sᵀ M s + ½ θ̃ᵀ Γ⁻¹ θ̃ has the rate −sᵀ (K_D + F) s: s → 0 and so e → 0 for any initial θ̂; θ̂ stays bounded, and
converges to θ under persistent excitation [Slotine & Li 1987], [Siciliano 2009, §8.5.4].
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.control.adapted_parameters import Adapted, adapted_parameters
from dynamis.control.dry_friction import dry_friction
from dynamis.control.gains import gain, max_diagonal_inertia
from dynamis.control.law import ControlLaw, joint_reference
from dynamis.control.reference import Reference, duration_of, reference_of
from dynamis.control.slotine_li_regressor import regressor_along
from dynamis.control.stability import SEARCHED, Condition, Stability, damped, positive, sampled_often_enough
from dynamis.display import as_call, as_table
from dynamis.errors import InputError, printable
from dynamis.robot import Robot
from dynamis.tolerances import SOLUTION_TOLERANCE

Array = npt.NDArray[Any]
REFERENCE_SAMPLES = 61  # times at which the size of the regressor is computed
STATE_SAMPLES = 64  # at which the model is compared with the robot


@dataclass(frozen=True, eq=False, repr=False)
class SlotineLi(ControlLaw):
    """Slotine–Li adaptive control.

    ``bandwidth`` Λ [1/s], ``damping`` K_D [N m s/rad], ``learning`` Γ (one number per ``adapted`` parameter). The states are θ̂
    minus θ of the model, initially zero.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> law = SlotineLi.designed(arm, [0.5, -0.5], bandwidth=5.0)
    >>> law.size, "link2.Izz" in law.adapted.names
    (6, True)
    """

    reference: Any
    bandwidth: Any
    damping: Any
    learning: Any
    adapted: Adapted
    slip: float = 0.05
    _at: Reference = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("bandwidth", "damping"):
            object.__setattr__(self, name, gain(getattr(self, name), name))
        object.__setattr__(self, "learning", gain(self.learning, "learning", self.size, zero=True))
        object.__setattr__(self, "_at", reference_of(self.reference))

    @property
    def size(self) -> int:  # type: ignore[override]
        return len(self.adapted.columns)

    @staticmethod
    def designed(
        robot: Robot, reference: Any, *, bandwidth: float, adapt: Any = "base", learning: float = 2.0,
        duration: float | None = None, slip: float = 0.05,
    ) -> SlotineLi:  # fmt: skip
        """Create the law with Λ = ω, K_D = ω times the largest inertia of each joint, and Γ such that each parameter alone
        would adapt at the rate ``learning`` [1/s] along the reference (default: its own duration)."""
        at = reference_of(reference)
        joint_reference(robot, at, 0.0, bandwidth=gain(bandwidth, "bandwidth"))
        damping = gain(bandwidth, "bandwidth") * max_diagonal_inertia(robot)
        adapted = adapted_parameters(robot, adapt)
        end = duration_of(reference, duration)
        rng = np.random.default_rng(0)
        along = [[np.asarray(x, dtype=float) for x in at(float(t))] for t in np.linspace(0.0, end, REFERENCE_SAMPLES)]
        q, v, a = (np.array(x) for x in zip(*along, strict=True))
        # about the reference, so that a goal at rest has something to learn from
        more = 0.1 * rng.standard_normal((REFERENCE_SAMPLES, 2, robot.n))
        v, a = v + more[:, 0], a + bandwidth * more[:, 1]
        Y = regressor_along(robot, q, v, v, a, slip)[..., list(adapted.columns)]
        squares = (Y * Y / damping[:, None]).sum(axis=(0, 1)) / REFERENCE_SAMPLES
        rates = learning / np.maximum(squares, 1e-3 * squares.max())  # adaptation gains differ by a factor of 1000 at most
        return SlotineLi(reference, bandwidth, damping, rates, adapted, slip)

    def start(self, robot: Robot, q: Array, v: Array) -> Array:  # noqa: ARG002 - the model is where learning starts
        return np.zeros((*v.shape[:-1], self.size))

    def wanted(self, robot: Robot, t: Any) -> tuple[Array, Array, Array]:
        found = joint_reference(robot, self._at, t, bandwidth=self.bandwidth, damping=self.damping)
        if self.adapted.lump.shape[1] != len(robot.parameters):
            raise InputError(
                f"the law adapts parameters of a robot with {self.adapted.lump.shape[1]}, {printable(robot.name)} has "
                f"{len(robot.parameters)}: design it for this robot, SlotineLi.designed(robot, …)"
            )
        return found

    def along(self, robot: Robot, t: Any, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """(v_r, a_r, s)."""
        q_d, v_d, a_d = self.wanted(robot, t)
        v_r = v_d + self.bandwidth * (q_d - q)
        return v_r, a_d + self.bandwidth * (v_d - v), v_r - v

    def __call__(self, robot: Robot, t: Any, q: Array, v: Array, x: Array) -> Array:
        q, v = np.asarray(q), np.asarray(v)
        v_r, a_r, s = self.along(robot, t, q, v)
        Y = regressor_along(robot, q, v, v_r, a_r, self.slip)
        # the model's own torque, and what was learnt on top of it
        return Y @ robot.parameters + Y[:, list(self.adapted.columns)] @ np.asarray(x) + self.damping * s

    def rates(self, robot: Robot, t: Any, q: Array, v: Array, x: Array) -> Array:  # noqa: ARG002 - it does not forget
        q, v = np.asarray(q), np.asarray(v)
        v_r, a_r, s = self.along(robot, t, q, v)
        Y = regressor_along(robot, q, v, v_r, a_r, self.slip)
        return np.asarray(self.learning * (Y[:, list(self.adapted.columns)].T @ s))

    def lyapunov(self, plant: Robot, model: Robot, t: Any, q: Array, v: Array, x: Array) -> float:
        """The Lyapunov function V = ½ sᵀ M s + ½ θ̃ᵀ Γ⁻¹ θ̃ [J] on a plant that differs from the model."""
        _, _, s = self.along(plant, t, np.asarray(q), np.asarray(v))
        missed = np.asarray(x) + self.adapted.values(model) - self.adapted.values(plant)
        return float(0.5 * s @ plant.mass_matrix(q) @ s + 0.5 * missed @ (missed / np.maximum(self.learning, 1e-300)))

    def check(self, robot: Robot, *, rate: float | None = None, model: Robot | None = None) -> Stability:
        """Check stability; ``model`` is the initial model, if different from the robot: the difference must be adapted."""
        conditions = (
            positive("smallest Λ", float(np.min(self.bandwidth)), "e decays on s = 0"),
            self._falling(robot),
            positive("smallest Γ", float(np.min(self.learning)), "estimates follow −∂V and stay bounded"),
            *(() if model is None else (self._learnt(robot, model),)),
        )
        end = "s → 0" if not dry_friction(robot).any() else "s → 0 without dry friction, s ends near zero with it,"
        notes = (
            f"{end} for every constant θ, of which {self.size} are adapted; the others must be known",
            "θ̂ converges to θ only under persistent excitation; noise makes unexcited parameters drift",
        )
        lightest = np.diagonal(robot.mass_matrix(robot.random(0, 256)), axis1=1, axis2=2).min(axis=0)
        fastest = float((gain(self.damping, "damping", robot.n) / lightest).max())
        return Stability("Slotine–Li adaptive", (*conditions, *sampled_often_enough(rate, fastest)), notes)

    def _learnt(self, robot: Robot, model: Robot) -> Condition:
        """The condition that some constant adapted parameters reproduce the robot's torques, at random states."""
        rng = np.random.default_rng(0)
        state = (robot.random(rng, STATE_SAMPLES), *rng.standard_normal((3, STATE_SAMPLES, robot.n)), self.slip)
        Y, tau = regressor_along(model, *state), regressor_along(robot, *state) @ robot.parameters
        size = float(np.abs(tau).max())
        A, b = Y[..., list(self.adapted.columns)].reshape(-1, self.size), (tau - Y @ model.parameters).reshape(-1)
        left = float(np.abs(b - A @ np.linalg.lstsq(A, b, rcond=None)[0]).max()) / max(size, 1e-300)
        known = max(1.0 - left, 0.0)
        why = "the rest is a disturbance: s does not converge to zero, and estimates may drift"
        what = "share of the torques that is modelled or adapted"
        return Condition(what, left < SOLUTION_TOLERANCE, known, 1.0 - SOLUTION_TOLERANCE, SEARCHED, why, "≥")

    def _falling(self, robot: Robot) -> Condition:
        """The condition that V decreases: a theorem for friction linear in known functions, unlike dry friction at rest."""
        dry = dry_friction(robot)
        why = "V = ½ sᵀMs + ½ θ̃ᵀΓ⁻¹θ̃ decreases by sᵀ(K_D + F_v) s"
        if not dry.any():
            return damped("K_D", self.damping, robot, why)
        k = int(np.argmax(dry))
        most = f"{dry[k]:.3g} {robot.model.coordinates[k].effort_unit}"
        why += f" with dry friction, of which up to {most} is smoothed below {self.slip:g} rad/s, where V may increase"
        return replace(damped("K_D", self.damping, robot, why), basis=SEARCHED)

    __repr__ = as_call
    _repr_html_ = as_table

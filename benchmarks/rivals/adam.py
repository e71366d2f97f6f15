"""adam: one set of algorithms over several array libraries, here CasADi and JAX.

Its robots always float. A fixed base is one that is given no velocity, with its six rows and columns left out; its own
forward dynamics lets the base move, so for a fixed one the equations of motion are solved. Its Newton–Euler takes no
accelerations, so inverse dynamics is M a + h.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.offers import NotOfferedError, Offer
from benchmarks.subjects import States, Subject
from benchmarks.xla import compiled_offer, jax_in_double
from dynamis.spatial.rotation import from_quaternion

Array = npt.NDArray[Any]

# XLA needs 17 s for the inverse dynamics of an arm with seven joints, 115 s with twelve and a free base
XLA_COMPILES_UP_TO = 8  # degrees of freedom


def _computations(library: str, subject: Subject) -> Any:
    module: Any = importlib.import_module(library)
    representations: Any = importlib.import_module("adam").Representations
    gravity = np.concatenate([np.asarray(subject.description.gravity, dtype=float), np.zeros(3)])
    found = module.KinDynComputations(subject.urdf, subject.actuated, gravity=gravity)
    found.set_frame_velocity_representation(representations.BODY_FIXED_REPRESENTATION)
    return found


def _base_poses(q: Array) -> Array:
    """The 4 × 4 pose of the base in each state."""
    result = np.tile(np.eye(4), (len(q), 1, 1))
    result[:, :3, :3] = [from_quaternion(row[3:7]) for row in q]
    result[:, :3, 3] = q[:, :3]
    return result


def casadi_offers(subject: Subject, states: States) -> Mapping[str, Callable[[], Offer]]:
    casadi: Any = importlib.import_module("casadi")
    adam = _computations("adam.casadi", subject)
    n, total = len(subject.actuated), subject.robot.n
    symbol = casadi.SX.sym
    s, rates, a, tau = symbol("s", n), symbol("rates", n), symbol("a", total), symbol("tau", n)
    if subject.floating:
        pose, twist = symbol("pose", 4, 4), symbol("twist", 6)
        M, h = adam.mass_matrix(pose, s), adam.bias_force(pose, s, twist, rates)
        acceleration = adam.aba(pose, s, twist, rates, tau)
        poses = np.concatenate(list(_base_poses(states.q)), axis=1)  # side by side: a state is four columns
        place = {"pose": (pose, poses), "s": (s, states.q[:, 7:].T)}
        motion = {"twist": (twist, states.v[:, :6].T), "rates": (rates, states.v[:, 6:].T)}
        torque = states.tau[:, 6:].T
    else:
        still, rest = np.eye(4), np.zeros(6)
        M, h = adam.mass_matrix(still, s)[6:, 6:], adam.bias_force(still, s, rest, rates)[6:]
        acceleration = casadi.solve(M, tau - h)
        place, motion, torque = {"s": (s, states.q.T)}, {"rates": (rates, states.v.T)}, states.tau.T
    found: dict[str, Any] = {}

    def offer(name: str, result: Any, inputs: dict[str, tuple[Any, Array]], as_ours: Callable[[Array], Array]) -> Offer:
        call = casadi.Function(name, [symbols for symbols, _ in inputs.values()], [result]).map(len(states))
        held = [casadi.DM(np.ascontiguousarray(values)) for _, values in inputs.values()]

        def run() -> None:
            found[name] = call(*held)

        how = "CasADi map of M a + h" if name == "inverse_dynamics" else "CasADi map"
        return Offer(run, lambda: as_ours(np.array(found[name])), len(states), how)

    def as_rows(columns: Array) -> Array:
        return columns.T

    def as_matrices(side_by_side: Array) -> Array:
        return side_by_side.reshape(total, len(states), total).transpose(1, 0, 2)

    given_a, given_tau = {"a": (a, states.a.T)}, {"tau": (tau, torque)}
    return {
        "inverse_dynamics": lambda: offer("inverse_dynamics", M @ a + h, place | motion | given_a, as_rows),
        "forward_dynamics": lambda: offer("forward_dynamics", acceleration, place | motion | given_tau, as_rows),
        "mass_matrix": lambda: offer("mass_matrix", M, place, as_matrices),
    }


def jax_offers(subject: Subject, states: States) -> Mapping[str, Callable[[], Offer]]:
    if subject.robot.n > XLA_COMPILES_UP_TO:
        raise NotOfferedError(f"not tried beyond {XLA_COMPILES_UP_TO} degrees of freedom: XLA takes minutes to compile it")
    jnp = jax_in_double().numpy
    adam = _computations("adam.jax", subject)
    still, rest = np.tile(np.eye(4), (len(states), 1, 1)), np.zeros((len(states), 6))

    # its functions take batches themselves
    def mass_matrix(s: Any, still: Any) -> Any:
        return adam.mass_matrix(still, s)[:, 6:, 6:]

    def bias(s: Any, rates: Any, still: Any, rest: Any) -> Any:
        return adam.bias_force(still, s, rest, rates)[:, 6:]

    def inverse(s: Any, rates: Any, a: Any, still: Any, rest: Any) -> Any:
        return (mass_matrix(s, still) @ a[..., None])[..., 0] + bias(s, rates, still, rest)

    def forward(s: Any, rates: Any, tau: Any, still: Any, rest: Any) -> Any:
        return jnp.linalg.solve(mass_matrix(s, still), (tau - bias(s, rates, still, rest))[..., None])[..., 0]

    def as_it_is(result: Array) -> Array:
        return result

    how = "jit, XLA on the CPU"
    q, v, a, tau = states.q, states.v, states.a, states.tau
    return {
        "inverse_dynamics": lambda: compiled_offer(inverse, (q, v, a, still, rest), as_it_is, f"{how}, M a + h"),
        "forward_dynamics": lambda: compiled_offer(forward, (q, v, tau, still, rest), as_it_is, f"{how}, M a = τ − h"),
        "mass_matrix": lambda: compiled_offer(mass_matrix, (q, still), as_it_is, how),
    }

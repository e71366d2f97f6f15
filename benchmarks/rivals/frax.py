"""frax: dynamics in JAX, compiled by XLA for a batch on the CPU."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.offers import Offer
from benchmarks.subjects import States, Subject
from benchmarks.world_axes import WorldAxes
from benchmarks.xla import compiled_offer, jax_in_double

HOW = "jit of vmap, XLA on the CPU"


def offers(subject: Subject, states: States) -> Mapping[str, Callable[[], Offer]]:
    jax = jax_in_double()
    library: Any = importlib.import_module("frax.core.robot")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(subject.urdf, encoding="utf-8")
        base = "quaternion" if subject.floating else None
        robot: Any = library.Robot(str(path), joint_ordering=subject.actuated, floating_base=base)
    x = WorldAxes(states, floating=subject.floating)
    lift = jax.numpy.asarray(np.concatenate([-np.asarray(subject.description.gravity, dtype=float), np.zeros(3)]))

    def inverse(q: Any, v: Any, a: Any) -> Any:
        return robot.rnea(q, v, a, lift, None)

    def forward(q: Any, v: Any, tau: Any) -> Any:
        return robot.forward_dynamics(q, v, tau, None)

    return {
        "inverse_dynamics": lambda: compiled_offer(jax.vmap(inverse), (x.q, x.v, x.a), x.our_forces, HOW),
        "forward_dynamics": lambda: compiled_offer(jax.vmap(forward), (x.q, x.v, x.tau), x.our_accelerations, HOW),
        "mass_matrix": lambda: compiled_offer(jax.vmap(robot.mass_matrix), (x.q,), x.our_matrices, HOW),
    }

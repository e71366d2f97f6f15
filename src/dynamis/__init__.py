"""Dynamis: the dynamics of robot manipulators.

>>> import dynamis as dy
>>> robot = dy.load("ur5e")
>>> tau = robot.inverse_dynamics(robot.neutral(), [0.0] * 6, [0.0] * 6)
>>> tau.shape
(6,)

Names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dynamis.version import __version__

if TYPE_CHECKING:
    from dynamis.algorithms.dynamics import TorqueLedger
    from dynamis.algorithms.kinematics import MovingBase
    from dynamis.analysis.bounds import structural_bounds
    from dynamis.errors import (
        ConversionError,
        DynamisError,
        FormatError,
        InputError,
        MissingExtraError,
        ModelError,
        ModelWarning,
        NameLookupError,
        SingularError,
    )
    from dynamis.model.description import Description
    from dynamis.model.load import check
    from dynamis.model.model import Model
    from dynamis.model.packages import resolve_mesh
    from dynamis.robot import Robot, load
    from dynamis.scalar import (
        acos,
        asin,
        atan2,
        cos,
        evaluate,
        exp,
        floor,
        log,
        maximum,
        minimum,
        sign,
        sin,
        sqrt,
        symbol,
        tanh,
        where,
    )
    from dynamis.simulation.actuators import DCMotor, Elastic, Saturated
    from dynamis.simulation.friction import Coulomb, LuGre, Smooth, Stribeck
    from dynamis.simulation.rollouts import rollouts
    from dynamis.simulation.sampling import Sampled
    from dynamis.simulation.simulate import simulate
    from dynamis.simulation.surroundings import Ball, Plane, contact, joint_stops
    from dynamis.simulation.trajectory import Trajectory
    from dynamis.spatial import Inertia, Pose, solids
    from dynamis.spatial.mesh import mesh_inertia
    from dynamis.symbolic.closed_form import ClosedForm
    from dynamis.symbolic.equivalence import equivalent
    from dynamis.symbolic.notation import Notation

_HOMES = {
    "dynamis.algorithms.dynamics": ("TorqueLedger",),
    "dynamis.algorithms.kinematics": ("MovingBase",),
    "dynamis.analysis.bounds": ("structural_bounds",),
    "dynamis.errors": (
        "ConversionError", "DynamisError", "FormatError", "InputError", "MissingExtraError", "ModelError",
        "ModelWarning", "NameLookupError", "SingularError",
    ),
    "dynamis.model.description": ("Description",),
    "dynamis.model.load": ("check",),
    "dynamis.model.model": ("Model",),
    "dynamis.robot": ("Robot", "load"),
    "dynamis.scalar": (
        "acos", "asin", "atan2", "cos", "evaluate", "exp", "floor", "log", "maximum", "minimum", "sign", "sin",
        "sqrt", "symbol", "tanh", "where",
    ),
    "dynamis.model.packages": ("resolve_mesh",),
    "dynamis.spatial": ("Inertia", "Pose", "solids"),
    "dynamis.simulation.actuators": ("DCMotor", "Elastic", "Saturated"),
    "dynamis.simulation.sampling": ("Sampled",),
    "dynamis.simulation.surroundings": ("Ball", "Plane", "contact", "joint_stops"),
    "dynamis.simulation.friction": ("Coulomb", "LuGre", "Smooth", "Stribeck"),
    "dynamis.simulation.rollouts": ("rollouts",),
    "dynamis.simulation.simulate": ("simulate",),
    "dynamis.simulation.trajectory": ("Trajectory",),
    "dynamis.spatial.mesh": ("mesh_inertia",),
    "dynamis.symbolic.closed_form": ("ClosedForm",),
    "dynamis.symbolic.equivalence": ("equivalent",),
    "dynamis.symbolic.notation": ("Notation",),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dynamis' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "Ball",
    "ClosedForm",
    "ConversionError",
    "Coulomb",
    "DCMotor",
    "Description",
    "DynamisError",
    "Elastic",
    "FormatError",
    "Inertia",
    "InputError",
    "LuGre",
    "MissingExtraError",
    "Model",
    "ModelError",
    "ModelWarning",
    "MovingBase",
    "NameLookupError",
    "Notation",
    "Plane",
    "Pose",
    "Robot",
    "Sampled",
    "Saturated",
    "SingularError",
    "Smooth",
    "Stribeck",
    "TorqueLedger",
    "Trajectory",
    "__version__",
    "acos",
    "asin",
    "atan2",
    "check",
    "contact",
    "cos",
    "equivalent",
    "evaluate",
    "exp",
    "floor",
    "joint_stops",
    "load",
    "log",
    "maximum",
    "mesh_inertia",
    "minimum",
    "resolve_mesh",
    "rollouts",
    "sign",
    "simulate",
    "sin",
    "solids",
    "sqrt",
    "structural_bounds",
    "symbol",
    "tanh",
    "where",
]

"""Dynamis: the dynamics of robot manipulators.

>>> import dynamis as dy
>>> robot = dy.load("ur5e")
>>> tau = robot.inverse_dynamics(robot.neutral(), [0.0] * 6, [0.0] * 6)
>>> tau.shape
(6,)

Submodules are imported when their names are first used, so that ``import dynamis`` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dynamis.version import __version__

if TYPE_CHECKING:
    from dynamis import collision, control, identification, optimize, statics, task_space, trajectories
    from dynamis.algorithms.kinematics import MovingBase
    from dynamis.analysis.bounds import structural_bounds
    from dynamis.analysis.comparison import compare
    from dynamis.analysis.linearization import linearize
    from dynamis.classroom.checking import check_answer
    from dynamis.errors import (
        ConversionError,
        DynamisError,
        FormatError,
        InputError,
        MissingExtraError,
        ModelError,
        ModelWarning,
        NameLookupError,
        PerformanceWarning,
        ReachWarning,
        SingularError,
        SingularityWarning,
    )
    from dynamis.identification.identify import identify
    from dynamis.kinematics.all_solutions import all_solutions
    from dynamis.kinematics.differential import differential_inverse_kinematics
    from dynamis.kinematics.inverse_kinematics import inverse_kinematics
    from dynamis.kinematics.manipulability import manipulability
    from dynamis.kinematics.workspace import workspace
    from dynamis.model.actuators import DCMotor, Elastic, Saturated
    from dynamis.model.description import Description
    from dynamis.model.library import library
    from dynamis.model.load import check
    from dynamis.reports.inline_view import view
    from dynamis.reports.report import report
    from dynamis.robot import Robot, from_mujoco, from_pinocchio, from_roboticstoolbox, load
    from dynamis.scalar import evaluate, symbol
    from dynamis.simulation import loops
    from dynamis.simulation.contact import Ball, Plane, contact, joint_stops
    from dynamis.simulation.controllers import Controller
    from dynamis.simulation.events import Event
    from dynamis.simulation.fmu.export import write_fmu
    from dynamis.simulation.friction import Coulomb, LuGre, Smooth, Stribeck
    from dynamis.simulation.hard_stops import HardStops
    from dynamis.simulation.loops.constrain import constrained
    from dynamis.simulation.noise import Noise
    from dynamis.simulation.rollouts import BatchSimulation, rollouts
    from dynamis.simulation.sampling import Sampled
    from dynamis.simulation.simulate import simulate
    from dynamis.simulation.sources import Push
    from dynamis.simulation.trajectory import Trajectory
    from dynamis.spatial import Inertia, Pose, solids
    from dynamis.spatial.mesh import mesh_inertia
    from dynamis.sweeps.run import sweep
    from dynamis.sweeps.study_file import read_study
    from dynamis.symbolic.equivalence import equivalent
    from dynamis.symbolic.notation import Notation
    from dynamis.task_space.operational import operational_space

_HOMES = {
    "dynamis.algorithms.kinematics": ("MovingBase",),
    "dynamis.analysis.bounds": ("structural_bounds",),
    "dynamis.analysis.comparison": ("compare",),
    "dynamis.analysis.linearization": ("linearize",),
    "dynamis.kinematics.manipulability": ("manipulability",),
    "dynamis.kinematics.workspace": ("workspace",),
    "dynamis.classroom.checking": ("check_answer",),
    "dynamis.errors": (
        "ConversionError", "DynamisError", "FormatError", "InputError", "MissingExtraError", "ModelError",
        "ModelWarning", "NameLookupError", "PerformanceWarning", "ReachWarning", "SingularError",
        "SingularityWarning",
    ),
    "dynamis.identification.identify": ("identify",),
    "dynamis.kinematics.all_solutions": ("all_solutions",),
    "dynamis.kinematics.differential": ("differential_inverse_kinematics",),
    "dynamis.kinematics.inverse_kinematics": ("inverse_kinematics",),
    "dynamis.model.actuators": ("DCMotor", "Elastic", "Saturated"),
    "dynamis.model.description": ("Description",),
    "dynamis.model.library": ("library",),
    "dynamis.model.load": ("check",),
    "dynamis.robot": ("Robot", "from_mujoco", "from_pinocchio", "from_roboticstoolbox", "load"),
    "dynamis.scalar": ("evaluate", "symbol"),
    "dynamis.spatial": ("Inertia", "Pose", "solids"),
    "dynamis.simulation.sampling": ("Sampled",),
    "dynamis.simulation.loops.constrain": ("constrained",),
    "dynamis.simulation.contact": ("Ball", "Plane", "contact", "joint_stops"),
    "dynamis.simulation.controllers": ("Controller",),
    "dynamis.simulation.fmu.export": ("write_fmu",),
    "dynamis.simulation.friction": ("Coulomb", "LuGre", "Smooth", "Stribeck"),
    "dynamis.simulation.hard_stops": ("HardStops",),
    "dynamis.simulation.noise": ("Noise",),
    "dynamis.simulation.rollouts": ("BatchSimulation", "rollouts"),
    "dynamis.simulation.simulate": ("simulate",),
    "dynamis.simulation.sources": ("Push",),
    "dynamis.sweeps.run": ("sweep",),
    "dynamis.sweeps.study_file": ("read_study",),
    "dynamis.simulation.trajectory": ("Trajectory",),
    "dynamis.reports.inline_view": ("view",),
    "dynamis.reports.report": ("report",),
    "dynamis.simulation.events": ("Event",),
    "dynamis.spatial.mesh": ("mesh_inertia",),
    "dynamis.symbolic.equivalence": ("equivalent",),
    "dynamis.symbolic.notation": ("Notation",),
    "dynamis.task_space.operational": ("operational_space",),
}  # fmt: skip
_MODULES = {  # that are used by their own name
    "collision": "dynamis.collision",
    "control": "dynamis.control",
    "identification": "dynamis.identification",
    "loops": "dynamis.simulation.loops",
    "optimize": "dynamis.optimize",
    "statics": "dynamis.statics",
    "task_space": "dynamis.task_space",
    "trajectories": "dynamis.trajectories",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _HOME:
        raise AttributeError(f"module 'dynamis' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "Ball",
    "BatchSimulation",
    "Controller",
    "ConversionError",
    "Coulomb",
    "DCMotor",
    "Description",
    "DynamisError",
    "Elastic",
    "Event",
    "FormatError",
    "HardStops",
    "Inertia",
    "InputError",
    "LuGre",
    "MissingExtraError",
    "ModelError",
    "ModelWarning",
    "MovingBase",
    "NameLookupError",
    "Noise",
    "Notation",
    "PerformanceWarning",
    "Plane",
    "Pose",
    "Push",
    "ReachWarning",
    "Robot",
    "Sampled",
    "Saturated",
    "SingularError",
    "SingularityWarning",
    "Smooth",
    "Stribeck",
    "Trajectory",
    "__version__",
    "all_solutions",
    "check",
    "check_answer",
    "collision",
    "compare",
    "constrained",
    "contact",
    "control",
    "differential_inverse_kinematics",
    "equivalent",
    "evaluate",
    "from_mujoco",
    "from_pinocchio",
    "from_roboticstoolbox",
    "identification",
    "identify",
    "inverse_kinematics",
    "joint_stops",
    "library",
    "linearize",
    "load",
    "loops",
    "manipulability",
    "mesh_inertia",
    "operational_space",
    "optimize",
    "read_study",
    "report",
    "rollouts",
    "simulate",
    "solids",
    "statics",
    "structural_bounds",
    "sweep",
    "symbol",
    "task_space",
    "trajectories",
    "view",
    "workspace",
    "write_fmu",
]

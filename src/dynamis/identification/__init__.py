"""Identification of robot parameters from logs.

In reading order: `logs` (reading and checking measurements), `signals` and `transmission` (clocks, filters, derivatives,
gears), `samples` (motion and torques, and their filter), `linear_model` (the parameters to identify), `base_parameters` (which
combinations can be identified), `equations` (rows of y = X β, evaluated in chunks), `estimators` (solving for β from triangular
factors), `validation` (held-out motion, verdict, reports), `full_parameters` and `write_back` (writing a model file);
`identify` runs all steps. Also: `excitation` (excitation trajectories), `payload`, `static_poses`, `floating_base` (samples
from an inertial measurement unit), `drive_gains`, `nonlinear` and `calibrate` (joint zeros, lengths, base and tool pose from
measured poses or torques).

`excitation` is imported when `design_excitation` is first used: no other part needs trajectories.
"""

from typing import TYPE_CHECKING, Any

from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.calibrate import calibrate
from dynamis.identification.drive_gains import estimate_drive_gains
from dynamis.identification.equations import equations
from dynamis.identification.estimators.estimator import LeastSquares, WeightedLeastSquares
from dynamis.identification.estimators.recursive import RecursiveLeastSquares
from dynamis.identification.estimators.regularised import PhysicallyConsistent, Ridge
from dynamis.identification.floating_base import imu_samples
from dynamis.identification.linear_model import Column, LinearModel
from dynamis.identification.logs import Log, Mapping, examine, read_log
from dynamis.identification.nonlinear import Unknown
from dynamis.identification.payload import identify_payload
from dynamis.identification.poses import Poses
from dynamis.identification.samples import Samples
from dynamis.identification.signals import prepare, suggest_cutoff
from dynamis.identification.static_poses import identify_static, identify_static_payload
from dynamis.identification.transmission import Transmission
from dynamis.identification.validation.held_out import cross_validate

if TYPE_CHECKING:
    from dynamis.identification.excitation import design_excitation

__all__ = [
    "Column",
    "LeastSquares",
    "LinearModel",
    "Log",
    "Mapping",
    "PhysicallyConsistent",
    "Poses",
    "RecursiveLeastSquares",
    "Ridge",
    "Samples",
    "Transmission",
    "Unknown",
    "WeightedLeastSquares",
    "base_parameters",
    "calibrate",
    "cross_validate",
    "design_excitation",
    "equations",
    "estimate_drive_gains",
    "examine",
    "identify_payload",
    "identify_static",
    "identify_static_payload",
    "imu_samples",
    "prepare",
    "read_log",
    "suggest_cutoff",
]


def __getattr__(name: str) -> Any:
    if name != "design_excitation":
        raise AttributeError(f"module 'dynamis.identification' has no attribute {name!r}")
    from dynamis.identification.excitation import design_excitation

    return design_excitation


def __dir__() -> list[str]:
    return sorted(__all__)

"""Identification of robot parameters from logs.

In reading order: `logs` (reading and checking measurements), `signals` and `transmission` (clocks, filters, derivatives,
gears), `samples` (motion and torques), `linear_model` (the parameters to identify), `base_parameters` and `identifiability`
(which combinations can be identified), `equations` and `decimation` (rows of y = X β), `estimators` (solving for β),
`reduction` (normal equations of logs of any length), `validation` (held-out motion, verdict, reports), `full_parameters` and
`write_back` (writing a model file); `identify` runs all steps. Also: `excitation` (excitation trajectories), `payload`,
`static_poses`, `drive_gains`.
"""

from dynamis.identification.base_parameters import BaseParameters, base_parameters
from dynamis.identification.decimation import Decimation
from dynamis.identification.drive_gains import DriveGains, estimate_drive_gains
from dynamis.identification.equations import Equations, equations
from dynamis.identification.estimators.consistent import PhysicallyConsistent
from dynamis.identification.estimators.estimator import Estimator
from dynamis.identification.estimators.least_squares import LeastSquares, WeightedLeastSquares
from dynamis.identification.estimators.recursive import RecursiveLeastSquares
from dynamis.identification.estimators.ridge import Ridge
from dynamis.identification.excitation import Excitation, design_excitation
from dynamis.identification.full_parameters import full_parameters
from dynamis.identification.identification import Identification
from dynamis.identification.identify import identify
from dynamis.identification.linear_model import Column, LinearModel
from dynamis.identification.logs import Log, Mapping, examine, examine_torques, log_chunks, raise_errors, read_log
from dynamis.identification.payload import PayloadEstimate, identify_payload
from dynamis.identification.reduction.long_logs import LongLog, normal_equations_of_logs
from dynamis.identification.reduction.normal_equations import NormalEquations, Stream, merge, normal_equations
from dynamis.identification.samples import Samples
from dynamis.identification.signals import derivatives, prepare, suggest_cutoff
from dynamis.identification.static_poses import identify_static, identify_static_payload
from dynamis.identification.transmission import Transmission
from dynamis.identification.validation.essential import essential_parameters
from dynamis.identification.validation.held_out import cross_validate, held_out
from dynamis.identification.validation.statistics import statistics
from dynamis.identification.validation.verdict import verdict
from dynamis.identification.write_back import with_parameters, write_identified

__all__ = [
    "BaseParameters",
    "Column",
    "Decimation",
    "DriveGains",
    "Equations",
    "Estimator",
    "Excitation",
    "Identification",
    "LeastSquares",
    "LinearModel",
    "Log",
    "LongLog",
    "Mapping",
    "NormalEquations",
    "PayloadEstimate",
    "PhysicallyConsistent",
    "RecursiveLeastSquares",
    "Ridge",
    "Samples",
    "Stream",
    "Transmission",
    "WeightedLeastSquares",
    "base_parameters",
    "cross_validate",
    "derivatives",
    "design_excitation",
    "equations",
    "essential_parameters",
    "estimate_drive_gains",
    "examine",
    "examine_torques",
    "full_parameters",
    "held_out",
    "identify",
    "identify_payload",
    "identify_static",
    "identify_static_payload",
    "log_chunks",
    "merge",
    "normal_equations",
    "normal_equations_of_logs",
    "prepare",
    "raise_errors",
    "read_log",
    "statistics",
    "suggest_cutoff",
    "verdict",
    "with_parameters",
    "write_identified",
]

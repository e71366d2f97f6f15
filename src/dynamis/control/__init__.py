"""Controllers: plain functions of the robot, for simulation, for compiled closed loops, and for C.

Common: `law` (call signature and model), `reference`, `gains`, `stability`. Joint space:
`gravity_compensation`, `pd_gravity`, `pid`, `robust_pd`, `feedforward_pd`, `computed_torque`, `slotine_li`. Task space:
`operational_space`, `impedance`, `hybrid`. Monitoring: `momentum_observer`, `collisions`. Tools: `tracking`, `chatter`,
`parameter_error`, `c_export`. Experiments: `named_laws`, `reachability`, `null_space_motion`, `comparison_table`,
`experiments`. Classes of results are documented with the functions that return them.
"""

from dynamis.control.c_export import compile_law, write_c
from dynamis.control.collisions import detect_collisions, observer_residuals
from dynamis.control.computed_torque import ComputedTorque
from dynamis.control.experiments import compare_laws
from dynamis.control.feedforward_pd import FeedforwardPD
from dynamis.control.gains import gains
from dynamis.control.gravity_compensation import GravityCompensation
from dynamis.control.hybrid import HybridForcePosition
from dynamis.control.impedance import Impedance
from dynamis.control.law import ControlLaw
from dynamis.control.momentum_observer import MomentumObserver
from dynamis.control.named_laws import LawDesign
from dynamis.control.operational_space import OperationalSpace
from dynamis.control.parameter_error import perturbed
from dynamis.control.pd_gravity import PDGravity
from dynamis.control.pid import PID
from dynamis.control.robust_pd import RobustPD
from dynamis.control.slotine_li import SlotineLi
from dynamis.control.tracking import tracking, tracking_bound

__all__ = [
    "PID",
    "ComputedTorque",
    "ControlLaw",
    "FeedforwardPD",
    "GravityCompensation",
    "HybridForcePosition",
    "Impedance",
    "LawDesign",
    "MomentumObserver",
    "OperationalSpace",
    "PDGravity",
    "RobustPD",
    "SlotineLi",
    "compare_laws",
    "compile_law",
    "detect_collisions",
    "gains",
    "observer_residuals",
    "perturbed",
    "tracking",
    "tracking_bound",
    "write_c",
]

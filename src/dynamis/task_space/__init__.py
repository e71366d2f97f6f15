"""Task space: operational-space dynamics, redundancy resolution, task priorities and limits.

Tasks are those of `dynamis.kinematics`. Modules, in order of dependence: `task_state` (robot
and task at one state), `singularities` (rank, damping, truncation), `operational` (Λ, μ, p), `redundancy` (the torque of least
cost), `null_space` (null-space objectives), `resolve` (the same with a report), `priorities`, `limits` (quadratic programs),
`kernels` (batches), `feedback` and `motions`. Classes of results are documented with the functions that return them.
"""

from dynamis.kinematics.goals import Goal
from dynamis.kinematics.posture_tasks import CenterOfMass, Direction, JointPositions, LookAt
from dynamis.kinematics.tasks import Function, Orientation, PoseTask, Position, Stacked, Task
from dynamis.task_space.feedback import Feedback
from dynamis.task_space.kernels import task_kernels
from dynamis.task_space.limits import limited_torque
from dynamis.task_space.motions import Circle, Line
from dynamis.task_space.null_space import AwayFromLimits, Compensation, Damping, Gradient, Posture
from dynamis.task_space.priorities import prioritised
from dynamis.task_space.redundancy import least_cost_torque
from dynamis.task_space.resolve import resolve

__all__ = [
    "AwayFromLimits",
    "CenterOfMass",
    "Circle",
    "Compensation",
    "Damping",
    "Direction",
    "Feedback",
    "Function",
    "Goal",
    "Gradient",
    "JointPositions",
    "Line",
    "LookAt",
    "Orientation",
    "PoseTask",
    "Position",
    "Posture",
    "Stacked",
    "Task",
    "least_cost_torque",
    "limited_torque",
    "prioritised",
    "resolve",
    "task_kernels",
]

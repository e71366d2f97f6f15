"""``simulate_loops``: simulation of a robot with loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dynamis.errors import InputError
from dynamis.kinematics.closures import Closure, closures_of
from dynamis.robot import Robot
from dynamis.simulation.loops.loop_motion import Loops
from dynamis.simulation.loops.loop_trajectory import LoopTrajectory
from dynamis.simulation.simulate import simulate


def simulate_loops(
    robot: Robot,
    closures: Closure | Sequence[Closure],
    t: Any,
    q0: Any = None,
    v0: Any = None,
    *,
    friction: Any = "smooth",
    stabilisation: str = "projection",
    alpha: float = 20.0,
    beta: float = 20.0,
    **options: Any,
) -> LoopTrajectory:
    """Simulate a robot with loops from q0 and v0 (default: at rest), which must satisfy the constraints: see `assemble`.

    ``options`` are those of `simulate`: torques, controllers, also sampled ones, wrenches, actuators, events, methods, output
    times, the motion to ``resume``; impacts at hard stops are not located. So are the laws of ``friction``, "smooth" by
    default. With laws that stick ("model", `Coulomb`, `Stribeck`) the method is "time_stepping", with steps of 1 ms unless
    ``step`` is given; otherwise one of SciPy's, "DOP853" by default, or "rk4" or "euler" with fixed steps, which are compiled.
    ``stabilisation`` is "projection" (with RK23, RK45, DOP853 or fixed steps), "baumgarte" (with any method but time stepping;
    ``alpha`` and ``beta`` in 1/s), or "none", for comparison.

    A function that raises an exception, or a singular configuration, ends the simulation: ``status`` gives the reason, and the
    motion so far is returned. Passing through a singular configuration is an event.

    >>> from dynamis.simulation.loops.mechanisms import four_bar
    >>> robot, closures, q0 = four_bar()
    >>> motion = simulate_loops(robot, closures, 0.5, q0, points=11)
    >>> motion.status, bool(motion.drift.max() < 1e-12), motion.constraint_forces.shape
    ('completed', True, (11, 2))
    """
    if not isinstance(robot, Robot):
        raise InputError(f"simulate_loops takes a robot, got {type(robot).__name__}; dynamis.load gives one")
    gains = (float(alpha), float(beta)) if stabilisation == "baumgarte" else (0.0, 0.0)
    loops = Loops(robot, closures_of(robot, closures), stabilisation, gains)
    motion = simulate(loops, t, q0, v0, friction=friction, **options)
    assert isinstance(motion, LoopTrajectory)
    return motion

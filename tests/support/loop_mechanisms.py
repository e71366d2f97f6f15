"""Mechanisms with loops, for tests of what holds for all of them."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.simulation.loops.constraints import evaluate
from dynamis.simulation.loops.mechanisms import delta, five_bar, four_bar, slider_crank

BODY = dy.Inertia.about_com(1.3, (0.1, -0.2, 0.15), np.diag([0.05, 0.06, 0.07]))
MECHANISMS = {
    "four-bar": four_bar(),
    "four-bar with a pin": four_bar(closed_by="pin"),
    "four-bar with a ball": four_bar(closed_by="point"),
    "five-bar": five_bar(),
    "slider-crank": slider_crank(offset=0.1),
    "delta": delta(angles=(0.2, 0.4, 0.5)),
}
every_mechanism = pytest.mark.parametrize("loop", MECHANISMS.values(), ids=MECHANISMS.keys())


def rows(robot, closures, q, v=None):
    """h, H and Ḣ v of closures."""
    held = dy.constrained(robot, closures=closures).closures
    return evaluate(robot, held, np.asarray(q, dtype=float), np.zeros(robot.n) if v is None else np.asarray(v))


def parts(loop):
    return loop.robot, loop.closures, loop.home()

"""dynamis redundancy: what is said of the limits, which the laws do not know."""

from types import SimpleNamespace

import numpy as np

import dynamis as dy
from dynamis.cli.redundancy import _beyond


def test_the_joint_farthest_beyond_its_limits_is_named():
    robot = dy.load("panda")
    q, v = np.tile(robot.home(), (5, 1)), np.zeros((5, 7))
    assert _beyond(robot, SimpleNamespace(q=q, v=v)) == []
    v[3, 6], q[2, 3] = -60.0, 1.5  # joint 4 has the range -3.07 … -0.07
    velocity, position = _beyond(robot, SimpleNamespace(q=q, v=v))
    assert velocity.startswith("panda_joint7 reaches -60 rad/s, limits -2.6")
    assert position.startswith("panda_joint4 reaches 1.5 rad, limits -3.07")

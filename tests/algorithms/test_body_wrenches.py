"""Wrenches on frames, summed for each body: forces turned, moments moved to the body's origin."""

import numpy as np
import pytest
from small_machines import spatial_arm

import dynamis as dy
from dynamis.algorithms.contact import body_wrenches
from dynamis.algorithms.kinematics import MovingBase, chain_pose
from dynamis.model.model import Frame

ROBOT = spatial_arm()
RNG = np.random.default_rng(6)
Q = RNG.normal(size=3)
FIRST, SECOND = (Frame(f"tool{k}", 3, dy.Pose.from_rpy(RNG.normal(size=3), RNG.normal(size=3))) for k in range(2))
PUSH, OTHER = RNG.normal(size=(2, 6))


def moved(frame, wrench, R):
    """A wrench at a frame's origin, of which R brings the axes to those of the body, at the body's origin."""
    force = R @ wrench[:3]
    return np.concatenate([force, R @ wrench[3:] + np.cross(frame.pose.p, force)])


def test_wrenches_in_the_axes_of_their_frames_add_up():
    found = body_wrenches(ROBOT.model, Q, [(FIRST, PUSH), (SECOND, OTHER)], in_world_axes=False)
    assert list(found) == [3]
    assert np.allclose(found[3], moved(FIRST, PUSH, FIRST.pose.R) + moved(SECOND, OTHER, SECOND.pose.R), rtol=1e-13)


@pytest.mark.parametrize("turned", [False, True])
def test_wrenches_in_the_axes_of_the_world_do_not_turn_with_their_frames(turned):
    base = MovingBase(dy.Pose.from_rpy([0.4, -1.0, 2.0] if turned else [0.0] * 3, [1.0, 2.0, 3.0]), np.zeros(6), np.zeros(6))
    to_body = (base.pose.R @ chain_pose(ROBOT.model, Q, 3).R).T
    found = body_wrenches(ROBOT.model, Q, [(FIRST, PUSH), (SECOND, OTHER)], base=base)
    assert np.allclose(found[3], moved(FIRST, PUSH, to_body) + moved(SECOND, OTHER, to_body), rtol=1e-13)


def test_a_wrench_on_the_base_is_left_out():
    assert body_wrenches(ROBOT.model, Q, [(ROBOT.model.frame("base"), PUSH)]) == {}
    both = body_wrenches(ROBOT.model, Q, [(ROBOT.model.frame("base"), PUSH), (FIRST, OTHER)])
    assert list(both) == [3]

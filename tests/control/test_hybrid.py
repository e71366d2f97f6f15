"""Hybrid force/position control: complementary directions, a stable integral, a force that is held while the tip moves."""

import numpy as np
import pytest

import dynamis as dy
from dynamis import control
from dynamis.trajectories.joint_moves import joint_move

ARM = dy.load("planar_2r_melchiorri")
TASK = dy.task_space.Position(rows=(0, 1))
Q = np.array([0.3, 1.2])
X = TASK.value(ARM, Q)


def law(**options):
    return control.HybridForcePosition.designed(X, 30.0, [0.0, 1.0], TASK, **{"bandwidth": 10.0, **options})


def test_no_direction_is_asked_for_both():
    slanted = control.HybridForcePosition.designed(X, 30.0, [3.0, 4.0], TASK, bandwidth=10.0)
    P_p, P_f = slanted.selection()
    assert np.allclose(P_p + P_f, np.eye(2))
    assert np.abs(P_p @ P_f).max() < 1e-15
    assert np.allclose(P_f @ [0.6, 0.8], [0.6, 0.8])


def test_the_force_is_held_on_a_slanted_surface_while_the_tip_moves_along_it():
    normal = np.array([-0.6, 0.8])
    plane = dy.Plane((*(X - 0.001 * normal), 0.0), (*normal, 0.0))
    push = dy.contact(ARM, "link2", plane, stiffness=5e4, damping=0.3)
    along = joint_move(X, X + 0.15 * np.array([-0.8, -0.6]), duration=2.0)
    hybrid = control.HybridForcePosition.designed(along, 40.0, normal, TASK, bandwidth=12.0, wrench=push)
    model = control.perturbed(ARM, 0.05, seed=4)
    motion = dy.simulate(
        ARM, 4.0, Q, controller=hybrid.with_model(model), wrenches={"link2": push}, method="rk4", step=1e-3, points=81
    )
    force = np.linalg.norm(motion.wrenches["link2"][:, :3], axis=1)
    assert abs(force[-1] - 40.0) < 0.01
    assert np.abs(force[motion.t > 2.0] - 40.0).max() < 2.0
    tangent = (np.array([along.at(float(t))[0] for t in motion.t]) - motion.path()[:, :2]) @ [0.8, 0.6]
    assert np.abs(tangent).max() < 2e-3


def test_an_integral_beyond_the_condition_of_routh_is_unstable_and_the_report_says_so():
    plane = dy.Plane((*(X - [0.0, 0.001]), 0.0), (0.0, 1.0, 0.0))
    push = dy.contact(ARM, "link2", plane, stiffness=2e4)
    ends = {}
    for integral in (6.0, 60.0):
        hybrid = law(wrench=push, integral=integral, speed=10.0, force_gain=0.5)
        assert hybrid.check(ARM, q=Q).stable is (integral < 15.0)
        motion = dy.simulate(ARM, 6.0, Q, controller=hybrid, wrenches={"link2": push}, method="rk4", step=1e-3, points=601)
        force = motion.wrenches["link2"][:, 1]
        ends[integral] = np.abs(force[-100:] - 30.0).max(), motion.complete
    assert ends[6.0][0] < 1.0
    assert ends[60.0][0] > 20.0 or not ends[60.0][1]


def test_what_is_measured_can_be_told_instead():
    told = law()
    assert told.measures == {"wrench": 6}
    assert np.allclose(told.rates(ARM, 0.0, Q, np.zeros(2), np.zeros(1), [0.0, 12.0, 0.0, 0.0, 0.0, 0.0]), 18.0)
    with pytest.raises(dy.InputError, match="requires the wrench at the tip"):
        told(ARM, 0.0, Q, np.zeros(2), np.zeros(1))


@pytest.mark.parametrize("normals", [[0.0, 0.0], [1.0, 0.0, 0.0], [[1.0, 0.0], [1.0, 1.0]], "up", [np.nan, 1.0]])
def test_normals_must_be_directions(normals):
    with pytest.raises(dy.InputError, match="normals"):
        control.HybridForcePosition.designed(X, 30.0, normals, TASK, bandwidth=10.0)


def test_a_force_for_each_normal():
    with pytest.raises(dy.InputError, match="one per normal"):
        control.HybridForcePosition.designed(X, [1.0, 2.0], [0.0, 1.0], TASK, bandwidth=10.0)
    rpy = dy.task_space.Orientation(coordinates="rpy")
    bad = control.HybridForcePosition.designed(np.zeros(3), 1.0, [0.0, 0.0, 1.0], rpy, bandwidth=10.0)
    with pytest.raises(dy.InputError, match="geometric"):
        bad.reaction(0.0, Q, Q, np.zeros(6))

"""Derivatives of the dynamics under external wrenches."""

import numpy as np
import pytest

import dynamis as dy

STEP = 1e-6


@pytest.mark.parametrize("axes", ["world", "local"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_derivatives_with_wrenches_are_differences(name, axes):
    robot, rng = dy.load("ur5e"), np.random.default_rng(0)
    state = rng.normal(size=(3, 4, 6))
    wrenches = {"tool0": rng.normal(size=(4, 6)), "forearm_link": rng.normal(size=6)}
    function = getattr(robot, name)
    found = getattr(robot, f"{name}_derivatives")(*state, wrenches, axes=axes).array
    for k in range(3):
        for j in range(6):
            ends = []
            for side in (1.0, -1.0):
                moved = state.copy()
                moved[k, :, j] += side * STEP
                ends.append(function(*moved, wrenches, axes=axes))
            slope = (ends[0] - ends[1]) / (2.0 * STEP)
            assert np.allclose(found[:, k, :, j], slope, rtol=1e-6, atol=1e-6 * (1.0 + np.abs(found).max()))


def test_no_wrench_changes_nothing_and_the_result_has_its_place():
    robot = dy.load("planar_2r_melchiorri")
    q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    plain = robot.inverse_dynamics_derivatives(q, v, a).array
    out = np.empty((3, 2, 2))
    frame = robot.model.tip
    pushed = robot.inverse_dynamics_derivatives(q, v, a, {frame: np.zeros(6)}, out=out)
    assert np.allclose(pushed.array, plain, atol=1e-10)
    assert np.array_equal(out, pushed.array)
    for name in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        function = getattr(robot, name)
        earlier = function(v, q, a)
        assert function(q, v, a, out=earlier).array is earlier.array
        assert np.array_equal(earlier.array, function(q, v, a).array)


def test_batches_that_do_not_match_are_refused_with_their_shapes():
    robot = dy.load("ur5e")
    q, others = np.zeros((3, 6)), np.zeros((4, 6))
    with pytest.raises(dy.InputError, match=r"do not broadcast: q \(3, 6\), v \(3, 6\), tau \(3, 6\), .*tool0 \(4, 6\)"):
        robot.forward_dynamics_derivatives(q, q, q, {"tool0": others})
    with pytest.raises(dy.InputError, match=r"do not broadcast: q \(3, 6\), v \(4, 6\)"):
        robot.differentiate("kinetic_energy").jacobian(q, others)
    with pytest.raises(dy.InputError, match=r"do not broadcast: q \(3, 6\), v \(4, 6\)"):
        robot.compile(lambda robot, q, v: robot.gravity(q) + v)(q, others)

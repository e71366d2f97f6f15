"""Stiffness of robots with closed loops, against the potential energy along the constraints."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.statics import stiffness

STEP = 1e-4


def five_bar(spring=0.0, gravity=True):
    loop = dy.loops.five_bar()
    d = loop.robot.description
    d.joint("left_lower").drive.stiffness, d.joint("left_lower").drive.rest = spring, 0.3
    robot = dy.Robot(d)
    return dy.constrained(robot if gravity else robot.replace(gravity=0.0), closures=loop.closures), loop.home()


def hessian(energy, size):
    steps = STEP * np.eye(size)
    found = [[energy(a + b) - energy(a - b) - energy(b - a) + energy(-a - b) for b in steps] for a in steps]
    return np.array(found) / (4.0 * STEP**2)


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("wrench", [None, [300.0, -200.0, 0.0, 0.0, 0.0, 40.0]])
def test_the_stiffness_is_the_curvature_of_the_energy_along_the_constraints(wrench, weight):
    loop, q0 = five_bar(spring=20.0)
    tree, k = loop.robot, np.array([900.0, 0.0, 700.0, 0.0])
    w = np.zeros(6) if wrench is None else np.array(wrench)
    near = loop.reduced_dynamics(q0, np.zeros(4), np.zeros(4), independent=["left", "right"])
    found = stiffness(loop, q0, k, "left_lower_end", wrench=wrench, weight=weight)
    wanted = loop.robot if weight else loop.robot.replace(gravity=0.0)
    load = tree.jacobian(q0, "left_lower_end").T @ w - wanted.static_torque(q0)
    torques = np.zeros(4)
    torques[[0, 2]] = -near.B.T @ load  # of the two motors, in equilibrium with the load

    def energy(z):
        q = loop.assemble(q0 + near.B @ z, locked=["left", "right"])
        moved = tree.pose(q, "left_lower_end") @ np.linalg.inv(tree.pose(q0, "left_lower_end"))
        turned = np.arctan2(moved[1, 0], moved[0, 0])
        place = tree.pose(q, "left_lower_end")[:3, 3] - tree.pose(q0, "left_lower_end")[:3, 3]
        springs = 0.5 * k @ (q - q0) ** 2 - torques @ (q - q0)
        return springs + wanted.potential_energy(q) - w[:3] @ place - w[5] * turned

    energies = hessian(energy, 2)
    T = loop.reduced_dynamics(q0, np.zeros(4), np.zeros(4)).B
    change = np.linalg.lstsq(near.B, T, rcond=None)[0]  # between the two choices of independent coordinates
    np.testing.assert_allclose(found.joint - found.load, change.T @ energies @ change, atol=2e-5 * np.abs(energies).max())
    J = tree.jacobian(q0, "left_lower_end") @ T
    np.testing.assert_allclose(found.compliance, J @ np.linalg.solve(found.joint - found.load, J.T), atol=1e-15)
    assert found.stable


def test_a_small_force_moves_the_platform_by_the_compliance():
    loop, q0 = five_bar(gravity=False)
    found = stiffness(loop, q0, {"left": 900.0, "right": 700.0}, "left_lower_end")
    force = np.array([0.3, -0.2, 0.0, 0.0, 0.0, 0.0])
    torque = loop.robot.jacobian(q0, "left_lower_end").T @ force
    near = loop.reduced_dynamics(q0, np.zeros(4), np.zeros(4), independent=["left", "right"])
    q = loop.assemble(q0 + near.B @ ((near.B.T @ torque) / [900.0, 700.0]), locked=["left", "right"])
    moved = (loop.robot.pose(q, "left_lower_end") - loop.robot.pose(q0, "left_lower_end"))[:2, 3]
    np.testing.assert_allclose(moved, (found.compliance @ force)[:2], rtol=3e-3)
    assert dy.statics.stiffness(loop.robot, q0, 900.0, "left_lower_end").compliance[0, 0] != pytest.approx(
        found.compliance[0, 0]
    )


def test_the_preload_of_springs_is_no_part_of_the_load_that_buckles():
    """At the critical factor of the load the stiffness is singular, also where a passive joint has a preloaded spring."""
    loop = dy.loops.four_bar()
    d = loop.robot.description
    d.joint("coupler").drive.stiffness, d.joint("coupler").drive.rest = 100.0, 3.0
    sprung, q = dy.constrained(dy.Robot(d), closures=loop.closures), loop.home()
    pull = np.array([100.0, 100.0, 0.0])
    sign = -1.0 if np.isfinite(stiffness(sprung, q, {"crank": 400.0}, "coupler", wrench=-pull).critical_load) else 1.0
    factor = stiffness(sprung, q, {"crank": 400.0}, "coupler", wrench=sign * pull).critical_load
    assert np.isfinite(factor)
    for share, stable in ((0.999, True), (1.001, False)):
        found = stiffness(sprung, q, {"crank": 400.0}, "coupler", wrench=share * factor * sign * pull)
        assert found.stable is stable


def test_a_free_platform_on_rods_has_the_stiffness_of_its_arms():
    delta = dy.loops.delta()
    found = stiffness(delta, delta.home(), {f"arm_{k}": 500.0 for k in (1, 2, 3)}, "platform")
    C = found.compliance_on("xyz")
    np.testing.assert_allclose(C, np.diag([C[0, 0], C[0, 0], C[2, 2]]), atol=1e-9 * C.max())


def test_what_does_not_hold_the_mechanism_is_refused():
    loop, q0 = five_bar()
    with pytest.raises(dy.SingularError, match="leave motions of 'five-bar' free: it has 2 degrees of freedom"):
        stiffness(loop, q0, {"left": 900.0}, "left_lower_end")
    with pytest.raises(dy.InputError, match=r"such as \{'left': 1e4\}, or one number for each"):
        stiffness(loop, q0, 900.0, "left_lower_end")
    with pytest.raises(dy.InputError, match="joint stiffness of a robot with closed loops"):
        stiffness(loop, q0, {"left": "stiff", "right": 1.0}, "left_lower_end")
    with pytest.raises(dy.NameLookupError, match="no coordinate named 'lift'; did you mean 'left'"):
        stiffness(loop, q0, {"lift": 900.0}, "left_lower_end")
    with pytest.raises(dy.InputError, match=r"q does not close the loops of 'five-bar': assemble\(q\) differs by"):
        stiffness(loop, q0 + 0.1, {"left": 900.0, "right": 700.0}, "left_lower_end")


def test_the_loops_of_a_file_are_closed_without_a_warning(tmp_path):
    loop = dy.loops.five_bar()
    loop.write(tmp_path / "five.toml")
    with pytest.warns(dy.ModelWarning, match="closes the loops|close the loops"):
        robot = dy.load(tmp_path / "five.toml")
    found = stiffness(dy.constrained(robot), loop.home(), {"left": 900.0, "right": 700.0}, "left_lower_end")
    assert found.on("xy").shape == (2, 2)
    with pytest.warns(dy.ModelWarning, match=r"in its statics: with the loops closed, .*stiffness takes dynamis.constrained"):
        stiffness(robot, loop.home(), 900.0, "left_lower_end")
    with pytest.warns(
        dy.ModelWarning, match="in this measure of a frame: with the loops closed, velocities of a frame are J B"
    ):
        dy.manipulability(robot, loop.home(), "left_lower_end")

"""Dry friction that a law does not cancel at rest: no report promises e → 0, and the stated error is the one that is held."""

import numpy as np
import pytest

import dynamis as dy
from dynamis import control

ARM = dy.load("planar_2r_melchiorri").replace(gravity=0)
DRY = ARM.replace(friction={"joint1": {"coulomb": 40.0}, "joint2": {"coulomb": 15.0}})
GOAL = np.array([0.3, 1.2])
TASK = dy.task_space.Position(rows=(0, 1))
LAWS = {
    "pd": control.PDGravity.designed(ARM, GOAL, bandwidth=4.0),
    "computed torque": control.ComputedTorque.designed(GOAL, bandwidth=4.0),
    "feedforward": control.FeedforwardPD.designed(ARM, GOAL, bandwidth=4.0),
    "operational space": control.OperationalSpace.designed(TASK.value(ARM, GOAL), TASK, bandwidth=4.0),
    "impedance": control.Impedance(TASK.value(ARM, GOAL), 800.0, TASK),
}


def of(law):
    return {"q": GOAL} if hasattr(law, "task") else {}


@pytest.mark.parametrize("name", LAWS)
def test_the_stated_error_is_the_largest_at_which_the_law_is_below_dry_friction(name):
    law = LAWS[name]
    # the torques within dry friction with the largest error are corners
    corners = np.array([[40.0, 15.0], [40.0, -15.0]])
    if hasattr(law, "task"):
        J, stated = TASK.jacobian(ARM, GOAL), law.error_at_rest(DRY, GOAL)
        slope = np.column_stack([law(DRY, 0.0, GOAL + d, 0 * d) - law(DRY, 0.0, GOAL - d, 0 * d) for d in 1e-6 * np.eye(2)])
        errors = J @ np.linalg.solve(slope / 2e-6, corners.T)
    else:
        stated = law.error_at_rest(DRY)
        slope = np.column_stack([law(DRY, 0.0, GOAL + d, 0 * d) - law(DRY, 0.0, GOAL - d, 0 * d) for d in 1e-6 * np.eye(2)])
        errors = np.linalg.solve(slope / 2e-6, corners.T)
    assert np.abs(errors).max(axis=1) == pytest.approx(stated, rel=1e-5)


@pytest.mark.parametrize("name", LAWS)
def test_no_report_promises_a_vanishing_error_with_dry_friction(name):
    law = LAWS[name]
    clean, report = str(law.check(ARM, **of(law))), law.check(DRY, **of(law))
    assert "steady-state error up to" not in clean
    error = law.error_at_rest(DRY, **of(law))
    names, unit = (TASK.names, "m") if hasattr(law, "task") else (DRY.coordinate_names, "rad")
    assert f"steady-state error up to {names[0]} {error[0]:.3g} {unit}, {names[1]} {error[1]:.3g} {unit}" in str(report)
    for promise in ("e → 0", "errors decay", "asymptotically stable"):
        assert promise not in str(report)


def test_one_joint_stays_within_the_stated_error_and_leaves_it_outside():
    cart = dy.load(
        "[robot]\nname='cart'\n[[link]]\nlink='c'\njoint='x'\ntype='prismatic'\naxis=[1,0,0]\nmass=2.0\ncoulomb=5.0\n"
    )
    law = control.ComputedTorque.designed([0.0], bandwidth=10.0)
    (left,) = law.error_at_rest(cart)
    assert left == pytest.approx(5.0 / (2.0 * 100.0))  # F_s / (m k_p)
    ends = [
        dy.simulate(cart, 0.5, [x * left], controller=law, method="time_stepping", step=1e-3).q[-1, 0] for x in (0.99, 1.01)
    ]
    assert ends[0] == pytest.approx(0.99 * left)
    assert ends[1] < 1.0095 * left


def test_the_hybrid_law_is_proven_without_dry_friction_only():
    law = control.HybridForcePosition.designed([1.0, 1.0], 20.0, [0.0, 1.0], TASK, bandwidth=5.0)
    assert "orthogonal to the normals converge" in str(law.check(ARM, q=GOAL))
    assert "orthogonal to the normals converge" not in str(law.check(DRY, q=GOAL))
    assert "without dry friction, which the law does not cancel" in str(law.check(DRY, q=GOAL))


def test_a_singular_task_has_no_bound_of_the_error():
    for law in (LAWS["operational space"], LAWS["impedance"]):
        assert np.isinf(law.error_at_rest(DRY, [0.3, 0.0])).all()


def test_a_law_with_a_model_has_the_error_of_its_law():
    assert np.array_equal(LAWS["pd"].with_model(ARM).error_at_rest(DRY), LAWS["pd"].error_at_rest(DRY))
    with pytest.raises(AttributeError, match="'PDGravity' object has no attribute 'residual'"):
        _ = LAWS["pd"].with_model(ARM).residual
    watched, q, v, x = control.MomentumObserver(LAWS["pd"], 2), GOAL, np.ones(2), np.zeros(2)
    heavy = ARM.replace(payload=dy.solids.sphere(0.1, mass=20.0))
    assert np.array_equal(watched.with_model(heavy).residual(ARM, q, v, x), watched.residual(heavy, q, v, x))

"""Rows of contacts and loops: states brought onto the loops, and contacts that nothing moves."""

import re

import numpy as np
import pytest
from small_machines import block

import dynamis as dy
from dynamis.errors import SingularError
from dynamis.kinematics.closures import closure_rows
from dynamis.simulation.contact_equations import Contacts, constraint_rows, largest, projected, solve_constrained
from dynamis.tolerances import RECURSION_ROUNDING


def test_a_state_is_brought_onto_the_loops_by_a_newton_step_and_the_nearest_velocity():
    loop = dy.loops.four_bar()
    robot, q = loop.robot, loop.home() + np.array([1e-3, -2e-3, 1e-3])
    v = np.array([1.0, -2.0, 0.5])
    h, H, _ = closure_rows(robot, loop.closures, q, v)
    there, along = projected(robot, loop.contacts, q, v)
    # the shortest step in the metric of M with H dq = −h, whatever the velocity
    M = robot.mass_matrix(q)
    assert there == pytest.approx(q - np.linalg.solve(M, H.T) @ np.linalg.solve(H @ np.linalg.solve(M, H.T), h), abs=1e-12)
    assert np.array_equal(there, projected(robot, loop.contacts, q, 0.0 * v)[0])
    left, H, _ = closure_rows(robot, loop.closures, there, v)
    assert np.abs(left).max() < 1e-2 * np.abs(h).max()
    assert np.abs(H @ along).max() < RECURSION_ROUNDING
    free = np.linalg.svd(H)[2][2:]  # motions that keep the loop closed: no change of momentum along them
    assert free @ robot.mass_matrix(there) @ (along - v) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("points", "named"), [(("a",), "(a: x, a: y, a: z)"), (("a", "b"), "b: y, b: z)"), (("a", "b", "c"), "b: y, b: z, …)")]
)
def test_contacts_that_no_joint_moves_are_named_up_to_six(points, named):
    contacts = Contacts(points=points)
    count = len(contacts.labels)
    with pytest.raises(SingularError, match=re.escape(named) + ", so that their forces are undetermined"):
        solve_constrained(block(), contacts, np.zeros(1), np.zeros((count, 1)), np.zeros(1), np.zeros(count))


def test_rows_are_those_of_the_loops_with_stabilisation_only_where_it_is_asked_for():
    loop = dy.loops.four_bar()
    robot, q, v = loop.robot, loop.home() + 0.1, np.array([1.0, -2.0, 0.5])
    h, H, bias = closure_rows(robot, loop.closures, q, v)
    for gains, expected in (({}, bias), ({"alpha": 3.0, "beta": 5.0}, bias + 6.0 * (H @ v) + 25.0 * h)):
        rows, drift = constraint_rows(robot, Contacts(closures=loop.closures, **gains), q, v)
        assert np.array_equal(rows, H)
        assert drift == pytest.approx(expected, rel=1e-13)


def test_the_largest_of_no_values_is_zero():
    assert largest(np.array([1.0, -3.0, 2.0])) == 3.0
    assert largest(np.zeros(0)) == 0.0

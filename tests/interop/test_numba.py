"""Functions for Numba: values inside compiled loops, strided and single-precision arguments, own functions, errors."""

import sys

import numpy as np
import pytest
from random_trees import random_states

import dynamis as dy

numba = pytest.importorskip("numba", reason="Numba is not installed: pip install numba")
ROBOT = dy.load("planar_2r_melchiorri")
STATES = random_states(np.random.default_rng(0), ROBOT, 5)


def test_a_compiled_loop_computes_what_the_method_does_for_a_batch():
    torques, energy = ROBOT.numba("inverse_dynamics"), ROBOT.numba("kinetic_energy")

    @numba.njit
    def loop(q, v, a):
        tau, T = np.empty_like(q), np.empty(len(q))
        for k in range(len(q)):
            tau[k], T[k] = torques(q[k], v[k], a[k]), energy(q[k], v[k])
        return tau, T

    tau, T = loop(*STATES)
    assert np.array_equal(tau, ROBOT.inverse_dynamics(*STATES))
    assert np.array_equal(T, ROBOT.kinetic_energy(*STATES[:2]))


def test_arrays_of_any_stride_and_precision_and_functions_of_ones_own():
    m = dy.symbol("m")
    loaded = ROBOT.replace(payload=dy.solids.sphere(0.05, mass=m))

    def jacobian_along(robot, q, v, goal):
        return robot.jacobian(q) * (goal - v)

    matrix = loaded.numba(jacobian_along, parameters=[m], goal=2)
    q, v, goal = np.arange(8.0)[::4], np.ones(2, np.float32), np.array([3, 4])
    assert np.array_equal(matrix(q, v, goal, np.ones(1)), ROBOT.jacobian(q) * (goal - v))
    assert np.array_equal(ROBOT.numba("pose", frame="link1")(q), ROBOT.pose(q, "link1"))


def test_wrong_lengths_and_several_results_are_refused():
    torques = ROBOT.numba("gravity")
    for arguments in ((np.zeros(3),), (np.zeros(2), np.zeros(2))):
        with pytest.raises(ValueError, match=r"gravity takes vectors with 2 \(q\) entries"):
            torques(*arguments)
    with pytest.raises(dy.InputError, match="returns 2 arrays"):
        ROBOT.numba(lambda robot, q: (q, robot.gravity(q)))


def test_without_numba_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(dy.MissingExtraError, match="pip install 'dynamis\\[numba\\]'"):
        ROBOT.numba("gravity")

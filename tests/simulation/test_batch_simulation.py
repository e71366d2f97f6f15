"""A simulation prepared once gives what `rollouts` gives, with other states, parameters and tables of inputs at each call."""

import copy
import pickle

import numpy as np
import pytest

import dynamis as dy
from dynamis.compiler import kernel as kernels


@pytest.fixture(scope="module")
def robot():
    return dy.load("planar_2r_melchiorri")


def pushed(robot, t, q, v, tau, damping):
    return robot.gravity(q) + tau - damping * v


@pytest.fixture(scope="module")
def simulation(robot):
    return dy.BatchSimulation(robot, 0.12, controller=pushed, parameters={"damping": 3.0}, inputs={"tau": 2}, step=0.01)


def test_a_table_is_the_input_of_each_part_of_the_duration(robot, simulation):
    """The same motion in pieces, each with the constant torque of its row."""
    tables = np.random.default_rng(0).normal(size=(4, 5, 2)) * 50.0
    made = simulation(np.ones(2), inputs={"tau": tables})
    assert made.q.shape == (13, 5, 2)
    q, v = np.ones((5, 2)), np.zeros((5, 2))
    for k in range(4):
        piece = dy.rollouts(robot, 0.03, q, v, controller=pushed, parameters={"tau": tables[k], "damping": 3.0}, step=0.01)
        assert np.allclose(made.q[3 * k + 1 : 3 * k + 4], piece.q[1:], rtol=0, atol=1e-13)
        q, v = piece.q[-1], piece.v[-1]
    assert np.ptp(made.q[-1], axis=0).min() > 1e-4


def test_it_is_what_rollouts_gives(robot, simulation):
    tables = np.random.default_rng(1).normal(size=(12, 7, 2))
    starts = np.random.default_rng(2).normal(size=(7, 2))
    options = {"controller": pushed, "parameters": {"damping": np.linspace(0, 1, 7)}, "inputs": {"tau": tables}, "step": 0.01}
    once = dy.rollouts(robot, 0.12, starts, -starts, **(options | {"parameters": {"damping": 3.0}}))
    again = simulation(starts, -starts, inputs={"tau": tables})
    assert once.q.tobytes() == again.q.tobytes()
    assert once.v.tobytes() == again.v.tobytes()


def test_it_is_copied_also_after_use(robot, simulation):
    tables = {"tau": np.random.default_rng(1).normal(size=(12, 7, 2))}
    made = simulation(np.ones(2), inputs=tables)
    for other in (pickle.loads(pickle.dumps(simulation)), copy.deepcopy(simulation)):
        assert other(np.ones(2), inputs=tables).q.tobytes() == made.q.tobytes()


def test_nothing_is_traced_again(robot, simulation, monkeypatch):
    table = {"tau": np.zeros((1, 2))}
    simulation(np.zeros(2), inputs=table)
    robot.kinetic_energy(np.zeros(2), np.zeros(2))
    kernels.wait_for_compiler()

    def refuse(*_, **__):
        raise AssertionError("traced or compiled again")

    monkeypatch.setattr(kernels, "trace", refuse)
    monkeypatch.setattr(kernels.jit, "assemble", refuse)
    light = simulation(np.ones(2), np.ones(2), inputs=table, parameters={"damping": 0.5})
    heavy = simulation(np.ones(2), np.ones(2), inputs=table, parameters={"damping": 50.0})
    assert robot.kinetic_energy(light.q[-1], light.v[-1]) > robot.kinetic_energy(heavy.q[-1], heavy.v[-1])


def test_tables_broadcast_and_split_into_blocks_and_threads(simulation, monkeypatch):
    tables = np.random.default_rng(3).normal(size=(6, 700, 2))
    whole = simulation(np.zeros(2), inputs={"tau": tables})
    monkeypatch.setattr("dynamis.compiler.time_stepper.WORTH_A_THREAD", 1)
    monkeypatch.setenv("DYNAMIS_NUM_THREADS", "3")
    assert simulation(np.zeros(2), inputs={"tau": tables}).q.tobytes() == whole.q.tobytes()
    shared = simulation(np.zeros((4, 5, 2)), inputs={"tau": tables[:, 0]})
    assert shared.q.shape == (13, 4, 5, 2)
    assert np.array_equal(shared.q[:, 2, 3], whole.q[:, 0])
    rows = simulation(np.zeros((4, 5, 2)), inputs={"tau": tables[:, :5]})
    assert np.array_equal(rows.q[:, 1], whole.q[:, :5])


def test_single_precision_stays_single(simulation):
    made = simulation(np.zeros(2, np.float32), inputs={"tau": np.ones((3, 8, 2))})
    assert made.q.dtype == np.float32
    double = simulation(np.zeros(2), inputs={"tau": np.ones((3, 8, 2))})
    assert np.allclose(made.q, double.q, atol=1e-5)


def test_a_controller_called_from_python_gets_the_table_too(robot, simulation):
    def branching(robot, t, q, v, tau, damping):
        return pushed(robot, t, q, v, tau, damping) if float(q[0]) < 1e9 else tau

    tables = np.random.default_rng(4).normal(size=(12, 2, 2))
    slow = dy.BatchSimulation(robot, 0.12, controller=branching, parameters={"damping": 3.0}, inputs={"tau": 2}, step=0.01)
    with pytest.warns(dy.PerformanceWarning, match="called from Python"):
        made = slow(np.zeros(2), inputs={"tau": tables})
    assert np.allclose(made.q, simulation(np.zeros(2), inputs={"tau": tables}).q, rtol=0, atol=1e-12)


def test_symbols_of_the_robot_take_new_values(robot):
    m = dy.symbol("m")
    loaded = robot.replace(payload=dy.solids.sphere(0.05, mass=m))
    simulation = dy.BatchSimulation(loaded, 0.05, parameters={"m": 1.0}, step=0.01)
    masses = np.array([0.0, 1.0, 30.0])
    made = simulation(np.ones(2), parameters={"m": masses})
    assert made.q.shape == (6, 3, 2)
    for k, mass in enumerate(masses):
        known = dy.rollouts(robot.replace(payload=dy.solids.sphere(0.05, mass=mass)), 0.05, np.ones(2), step=0.01)
        assert np.allclose(made.q[:, k], known.q, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({}, "'tau' is missing"),
        ({"tau": np.zeros((12, 2)), "force": np.zeros((12, 2))}, "'force' is not one of them"),
        ({"tau": np.zeros(2)}, "rows in time"),
        ({"tau": np.zeros((12, 3))}, r"\(rows in time, …, 2\), got shape \(12, 3\)"),
        ({"tau": np.zeros((7, 2))}, "12 steps must be a multiple"),
        ({"tau": np.full((12, 2), np.nan)}, "finite"),
        ({"tau": [["a", "b"]]}, "array of numbers"),
        ([1], "mapping"),
    ],
)
def test_tables_that_do_not_fit_are_refused(simulation, inputs, text):
    with pytest.raises(dy.InputError, match=text):
        simulation(np.zeros(2), inputs=inputs)


def test_what_does_not_fit_the_prepared_loop_is_refused(robot, simulation):
    table = {"tau": np.zeros((1, 2))}
    with pytest.raises(dy.InputError, match="must be a number, as it was"):
        simulation(np.zeros(2), inputs=table, parameters={"damping": np.ones(2)})
    with pytest.raises(dy.NameLookupError, match="dampnig"):
        simulation(np.zeros(2), inputs=table, parameters={"dampnig": 1.0})
    with pytest.raises(dy.InputError, match="no argument of the controller"):
        dy.BatchSimulation(robot, 0.1, inputs={"tau": 2})
    with pytest.raises(dy.InputError, match="lengths"):
        dy.BatchSimulation(robot, 0.1, controller=pushed, parameters={"damping": 1.0}, inputs={"tau": np.zeros((3, 2))})
    with pytest.raises(dy.InputError, match="inputs="):
        dy.BatchSimulation(robot, 0.1, controller=pushed)


def test_a_symbol_of_the_robot_that_the_simulation_was_prepared_without_is_named_with_the_remedy():
    d = dy.Description("pendulum").add_link("base")
    bob = dy.Inertia.about_com(dy.symbol("m"), (0.0, 0.0, -1.0), np.zeros((3, 3)))
    robot = dy.Robot(d.add_link("bob", "base", "revolute", axis=(0, 1, 0), inertia=bob))
    with pytest.raises(dy.InputError, match=r"without a value of the symbol 'm': .* BatchSimulation\(…, parameters={'m': …}\)"):
        dy.BatchSimulation(robot, 0.1)(np.zeros(1), parameters={"m": 2.0})
    prepared = dy.BatchSimulation(robot, 0.1, parameters={"m": 2.0})
    assert prepared(np.ones(1), parameters={"m": 3.0}).status == "completed"

"""Every form of a controller means the same in `simulate` and in `rollouts`."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.simulation.controllers import as_law

ARM = dy.load("planar_2r_melchiorri")
GOAL = np.array([0.3, -0.2])
START = np.array([0.1, 0.2])


def with_robot(robot, t, q, v):
    return robot.gravity(q) - 2000.0 * (q - GOAL * np.cos(t)) - 400.0 * v


def without_robot(t, q, v):
    return ARM.gravity(q) - 2000.0 * (q - GOAL * np.cos(t)) - 400.0 * v


def of_time(t):
    return np.array([500.0 + 10.0 * t, 200.0])


class Integral(dy.Controller):
    size = 2

    def __call__(self, robot, _t, q, v, x):
        return robot.gravity(q) - 4000.0 * (q - GOAL) - 900.0 * v - 3000.0 * x

    def rates(self, _robot, _t, q, _v, _x):
        return q - GOAL


class Bound:
    def law(self, robot, t, q, v, gain=2000.0):
        return robot.gravity(q) - gain * (q - GOAL * np.cos(t)) - 400.0 * v


PD = dy.control.PDGravity(GOAL, stiffness=4000.0, damping=900.0)
FORMS = {
    "(robot, t, q, v)": with_robot,
    "(t, q, v)": without_robot,
    "(t)": of_time,
    "method": Bound().law,
    "dynamis.control": PD,
    "with a model": PD.with_model(ARM),
    "states": Integral(),
    "sampled": dy.Sampled(with_robot, rate=100.0),
    "sampled (t, q, v)": dy.Sampled(without_robot, rate=100.0),
    "sampled dynamis.control": dy.Sampled(PD, rate=100.0),
    "delayed": dy.Sampled(with_robot, rate=100.0, delay=0.004, resolution=1e-3, velocity_resolution=1e-3),
    "delayed by more than a period": dy.Sampled(with_robot, rate=100.0, delay=0.023),
    "differences": dy.Sampled(with_robot, rate=100.0, resolution=1e-4, velocity="differences"),
}


@pytest.mark.parametrize("controller", FORMS.values(), ids=FORMS)
def test_simulate_and_rollouts_take_the_same_controllers_and_move_alike(controller):
    one = dy.simulate(ARM, 0.1, START, controller=controller, points=6)
    many = dy.rollouts(ARM, 0.1, START, controller=controller, step=1e-3, every=20)
    assert many.note == ""
    np.testing.assert_allclose(many.q, one.q, atol=1e-8)
    np.testing.assert_allclose(many.v, one.v, atol=1e-6)


def test_a_sampled_controller_that_cannot_be_compiled_is_called_once_for_each_sample():
    calls = []

    def law(t, q, v):
        calls.append(t)
        return ARM.gravity(q) - (2000.0 if float(q[0]) > -10.0 else 0.0) * (q - GOAL) - 400.0 * v

    with pytest.warns(dy.PerformanceWarning, match="called from Python"):
        many = dy.rollouts(ARM, 0.05, START, controller=dy.Sampled(law, rate=100.0), step=1e-3)
    one = dy.simulate(ARM, 0.05, START, controller=dy.Sampled(law, rate=100.0), points=2)
    np.testing.assert_allclose(many.q[-1], one.q[-1], atol=1e-8)
    np.testing.assert_allclose(calls[-10:-5], [0.0, 0.01, 0.02, 0.03, 0.04], atol=1e-12)


def test_a_period_that_is_no_whole_number_of_steps_is_refused():
    with pytest.raises(dy.InputError, match=r"period of the sampled controller, 0.003.* multiple of the step of 0.002 s"):
        dy.rollouts(ARM, 0.1, START, controller=dy.Sampled(with_robot, rate=1 / 0.003), step=2e-3)


def test_arguments_behind_the_state_have_their_values_in_parameters():
    def law(t, q, v, goal):
        return ARM.gravity(q) - 2000.0 * (q - goal * np.cos(t)) - 400.0 * v

    made = dy.rollouts(ARM, 0.05, START, controller=law, parameters={"goal": np.array([GOAL, 2 * GOAL])}, every=50)
    np.testing.assert_allclose(made.q[:, 0], dy.rollouts(ARM, 0.05, START, controller=without_robot, every=50).q, rtol=1e-13)
    with pytest.raises(dy.InputError, match="requires 'goal', which simulate does not provide"):
        dy.simulate(ARM, 0.05, START, controller=law)


class ProportionalIntegral(dy.Controller):
    """With the goal given for each motion, or its own."""

    size = 2

    def __init__(self, gain, goal=None):
        self.gain, self.goal = gain, goal

    def torques_to(self, robot, q, v, x, goal):
        return robot.gravity(q) - 4000.0 * (q - goal) - 900.0 * v + self.gain * x


class WithGoal(ProportionalIntegral):
    def __call__(self, robot, t, q, v, x, goal):
        return self.torques_to(robot, q, v, x, goal)

    def rates(self, robot, t, q, v, x, goal):
        return goal - q


class OfOneGoal(ProportionalIntegral):
    def __call__(self, robot, t, q, v, x):
        return self.torques_to(robot, q, v, x, self.goal)

    def rates(self, robot, t, q, v, x):
        return self.goal - q


class Shifted(WithGoal):
    """Its states change at samples in a way of its own, which depends on the goal."""

    def update(self, robot, t, q, v, x, period, goal):
        return x + 0.5 * period * (goal - q)


class ShiftedOfOneGoal(OfOneGoal):
    def update(self, robot, t, q, v, x, period):
        return x + 0.5 * period * (self.goal - q)


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize(("batched", "single"), [(WithGoal, OfOneGoal), (Shifted, ShiftedOfOneGoal)])
def test_goals_and_gains_of_a_controller_with_states_differ_between_motions(batched, single, sampled):
    def held(law):
        return dy.Sampled(law, rate=200.0) if sampled else law

    goals, gains = np.array([GOAL, 2.0 * GOAL, -GOAL]), np.array([10.0, 500.0, 2000.0])
    given = {"goal": goals, "k": gains}
    made = dy.rollouts(ARM, 0.1, np.tile(START, (3, 1)), controller=held(batched(dy.symbol("k"))), parameters=given, every=20)
    again = dy.BatchSimulation(ARM, 0.1, controller=held(batched(500.0)), inputs={"goal": 2}, every=20)
    tables = again(np.tile(START, (3, 1)), inputs={"goal": np.tile(goals, (10, 1, 1))})
    for k in range(3):
        one = dy.rollouts(ARM, 0.1, START, controller=held(single(gains[k], goals[k])), every=20)
        np.testing.assert_allclose(made.q[:, k], one.q, atol=1e-14)
        of_tables = dy.rollouts(ARM, 0.1, START, controller=held(single(500.0, goals[k])), every=20)
        np.testing.assert_allclose(tables.q[:, k], of_tables.q, atol=1e-14)
    exact = dy.simulate(ARM, 0.1, START, controller=held(single(gains[2], goals[2])), method="rk4", step=1e-3)
    np.testing.assert_allclose(made.q[-1, 2], exact.q[-1], atol=1e-12)


def test_arguments_and_symbols_of_a_controller_without_values_are_named():
    law = WithGoal(dy.symbol("k"))
    with pytest.raises(dy.InputError, match="the controller requires 'goal': give it with parameters="):
        dy.rollouts(ARM, 0.1, START, controller=law)
    with pytest.raises(dy.InputError, match="requires 'goal', which simulate does not provide"):
        dy.simulate(ARM, 0.1, START, controller=law)
    with pytest.raises(dy.InputError, match=r"the symbol k has no value.*parameters=\{name: values\}"):
        dy.rollouts(ARM, 0.1, START, controller=law, parameters={"goal": GOAL})
    with pytest.raises(dy.NameLookupError, match="parameter of robot or controller named 'gaol'; did you mean 'goal'"):
        dy.rollouts(ARM, 0.1, START, controller=WithGoal(1.0), parameters={"goal": GOAL, "gaol": 1.0})
    with pytest.raises(dy.InputError, match="'k' is no argument of the controller, and symbols in it have values only where"):
        dy.rollouts(ARM, 0.1, START, controller=lambda _t, q, _v: -float(q[0]) * q, parameters={"k": 1.0})


@pytest.mark.parametrize("given", [3.0, "law", lambda: 0, lambda _a, _b: 0])
def test_what_is_no_controller_is_refused_by_both_with_the_signatures(given):
    for call in (dy.simulate, dy.rollouts):
        with pytest.raises(dy.InputError, match=r"\(t, q, v\) or of \(robot, t, q, v\)"):
            call(ARM, 0.1, START, controller=given)


def test_a_law_of_a_law_is_itself():
    law = as_law(with_robot)
    assert as_law(law) is law


def test_a_controller_without_states_needs_only_its_call():
    class Damping(dy.Controller):
        def __call__(self, robot, t, q, v):
            return -5.0 * v

    made = dy.simulate(ARM, 0.2, v0=np.ones(ARM.n), controller=Damping(), points=5)
    same = dy.simulate(ARM, 0.2, v0=np.ones(ARM.n), controller=lambda t, q, v: -5.0 * v, points=5)
    assert np.array_equal(made.q, same.q)
    rolled = dy.rollouts(ARM, 0.2, ARM.home(), np.ones(ARM.n), controller=Damping(), step=1e-3)
    assert np.allclose(rolled.q[-1], made.q[-1], atol=1e-6)


@pytest.mark.parametrize("size", [-1, 1.5, "two", None])
def test_the_number_of_states_is_checked(size):
    law = Integral()
    law.size = size
    for run in (dy.simulate, dy.rollouts):
        with pytest.raises(dy.InputError, match="size of Integral must be the number of its states"):
            run(ARM, 0.1, START, controller=law)


@pytest.mark.parametrize(
    "wrong",
    [lambda q, v, t: 0.0 * q, lambda q: q, lambda t, v, q: 0.0 * v, lambda robot, q, v, t: 0.0 * q],
)
def test_the_state_in_another_order_is_refused(wrong):
    arm = dy.load("planar_2r_melchiorri")
    with pytest.raises(dy.InputError, match="would be given"):
        dy.simulate(arm, 0.01, [0.3, 0.2], controller=wrong)

"""What users give that is legitimate but unusual: functions that write into their arguments, laws that change, stiff steps."""

import dataclasses
import functools

import numpy as np
import pytest
from small_machines import pendulum

import dynamis as dy
from dynamis.errors import InputError
from dynamis.scalar import symbol
from dynamis.simulation.contact import Plane, contact
from dynamis.simulation.rollouts import rollouts
from dynamis.simulation.simulate import simulate

ARM = dy.load("planar_2r_melchiorri")
PENDULUM = pendulum()
STEPS = {"method": "rk4", "step": 1e-3, "points": 3}


class Remembering(dy.Controller):
    """A filter beside a spring; how many rates it gives is its own business."""

    size = 1
    traceable = True

    def __init__(self, stiffness=0.0, rates=lambda q, x: q - x):
        self.stiffness, self._rates = stiffness, rates

    def __call__(self, _robot, _t, q, _v, _x):
        return -self.stiffness * q

    def rates(self, _robot, _t, q, _v, x):
        return self._rates(q, x)


def test_too_many_rates_are_refused():
    with pytest.raises(InputError, match="rates"):
        rollouts(ARM, 0.05, np.zeros(2), controller=Remembering(rates=lambda q, _x: q))


def test_too_few_rates_are_refused():
    law = Remembering(rates=lambda q, _x: q[:1])
    law.size = 2
    with pytest.raises(dy.DynamisError):
        rollouts(ARM, 0.05, np.zeros(2), controller=law)


def test_stops_of_another_shape_are_refused():
    with pytest.raises(InputError):
        rollouts(ARM, 0.05, np.zeros(2), stops=lambda _t, _q, _v: 5.0)


def test_a_surface_on_another_frame_is_another_step():
    one, other = ARM.link_names[-2:]
    plane, constant = Plane((0, 10, 0), (0, 1, 0)), np.array([0.0, 3.0, 0.0, 0.0, 0.0, 0.0])
    simulate(ARM, 0.2, wrenches={one: contact(ARM, one, plane, stiffness=100.0), other: constant}, **STEPS)
    wrenches = {one: constant, other: contact(ARM, other, plane, stiffness=100.0)}
    stepped, adaptive = (simulate(ARM, 0.2, wrenches=wrenches, **how) for how in (STEPS, {"points": 3, "method": "DOP853"}))
    assert stepped.q == pytest.approx(adaptive.q, abs=1e-6)


def test_a_law_that_was_changed_is_compiled_again():
    law = Remembering()
    simulate(PENDULUM, 0.5, [1.0], controller=law, **STEPS)
    law.stiffness = 100.0
    stepped, adaptive = (simulate(PENDULUM, 0.5, [1.0], controller=law, **how) for how in (STEPS, {"points": 3}))
    assert stepped.q == pytest.approx(adaptive.q, abs=1e-6)


def test_in_rollouts_a_controller_that_was_changed_is_compiled_again():
    law = Remembering()
    before = rollouts(PENDULUM, 0.5, [1.0], controller=law).q
    law.stiffness = 100.0
    adaptive = simulate(PENDULUM, 0.5, [1.0], controller=law, points=3)
    assert rollouts(PENDULUM, 0.5, [1.0], controller=law).q[-1] == pytest.approx(adaptive.q[-1], abs=1e-6)
    assert np.abs(before[-1] - adaptive.q[-1]).max() > 0.1


@dataclasses.dataclass
class Spring:
    """Like every dataclass that can change, without a hash."""

    stiffness: float = 3.0

    def __call__(self, _t, q, _v):
        return -self.stiffness * q


def test_a_sampled_law_needs_no_hash():
    sampled = dy.Sampled(Spring(), 100.0)
    stepped, adaptive = (simulate(PENDULUM, 0.2, [1.0], controller=sampled, **how) for how in (STEPS, {"points": 3}))
    assert stepped.q == pytest.approx(adaptive.q, abs=1e-6)


def writes(_t, q, v):
    q[:] = 0.3
    return 0.0 * v


@pytest.mark.parametrize(
    "given",
    [
        {"controller": lambda _robot, t, q, v: writes(t, q, v)},
        {"stops": writes},
        {"wrenches": {None: lambda t, q, v: [*writes(t, q, v), 0, 0, 0, 0, 0]}},
    ],
)
def test_functions_that_write_into_their_arguments_do_not_reach_the_state(given):
    made = rollouts(PENDULUM, 0.1, [1.0], **given)
    assert made.q == pytest.approx(rollouts(PENDULUM, 0.1, [1.0]).q, abs=1e-12)


STIFF = 3e5  # N m/rad on 1 kg m²: with steps of 4 ms each round of the iteration is farther away


def test_a_midpoint_step_that_is_not_solved_says_so_when_the_controller_is_called():
    with pytest.raises(dy.DynamisError, match="did not converge"):
        simulate(PENDULUM, 0.1, [1.0], controller=lambda _t, q, _v: -STIFF * q, method="midpoint", step=4e-3, points=6)


def test_a_midpoint_step_that_is_not_solved_says_so_in_rollouts():
    made, longer = (
        rollouts(PENDULUM, t, [1.0], controller=lambda _r, _t, q, _v: -STIFF * q, method="midpoint", step=4e-3)
        for t in (0.02, 0.1)
    )
    assert "did not converge" in made.status + made.note
    assert longer.status.startswith("1 of 1 diverged (motion 0 before t = ")


def test_a_midpoint_step_that_is_not_solved_for_what_a_law_remembers_says_so():
    law = Remembering(rates=lambda q, x: 5000.0 * (q - x))
    try:
        made = simulate(PENDULUM, 0.05, [1.0], controller=law, method="midpoint", step=1e-3, points=6)
    except dy.DynamisError:
        return
    assert not made.complete or np.abs(made.actuator_states["controller"]).max() < 2.0


def towards(_robot, _t, q, _v, stiffness, goal):
    return -stiffness * (q - goal)


def keyword_only(robot, t, q, v, *, goal):
    return towards(robot, t, q, v, 3.0, goal)


@pytest.mark.parametrize("law", [keyword_only, functools.partial(towards, stiffness=3.0)], ids=["keyword-only", "partial"])
def test_further_arguments_may_be_keyword_only(law):
    goals = np.array([[0.1], [0.2]])
    made = rollouts(PENDULUM, 0.1, [1.0], controller=law, parameters={"goal": goals})
    plain = rollouts(PENDULUM, 0.1, [1.0], controller=towards, parameters={"goal": goals, "stiffness": 3.0})
    assert np.array_equal(made.q, plain.q)


def test_the_stiffness_of_a_spring_alone_can_be_a_parameter():
    stiffness = np.array([50.0, 100.0])
    spring = PENDULUM.replace(actuators={"hinge": dy.Elastic(symbol("K"), inertia=0.1)})
    made = rollouts(spring, 0.2, [1.0], parameters={"K": stiffness}, every=100)
    for k, K in enumerate(stiffness):
        one = simulate(PENDULUM, made.t, [1.0], actuators={"hinge": dy.Elastic(K, inertia=0.1)}, method="rk4", step=1e-3)
        assert made.q[:, k] == pytest.approx(one.q, abs=1e-12)


def test_wrenches_on_two_names_of_one_frame_add_up_or_are_refused():
    w = np.array([0.0, 300.0, 0.0, 0.0, 0.0, 0.0])
    name = ARM.model.frame(None).name
    try:
        both = simulate(ARM, 0.2, wrenches={None: w, name: w}, points=3)
    except InputError:
        return
    assert both.q == pytest.approx(simulate(ARM, 0.2, wrenches={name: 2 * w}, points=3).q, abs=1e-8)


@pytest.mark.filterwarnings("ignore::dynamis.PerformanceWarning")
def test_float32_stays_float32_where_the_controller_is_called():
    made = rollouts(PENDULUM, 0.01, np.float32([[1.0]]), controller=lambda _r, _t, q, _v: -q if q[0] > -5 else q)
    assert made.q.dtype == np.float32


def test_a_batch_of_one_parameter_is_a_batch_of_one():
    robot = pendulum(mass=symbol("m"))
    assert rollouts(robot, 0.01, [1.0], parameters={"m": [2.0, 3.0]}).q.shape == (11, 2, 1)
    assert rollouts(robot, 0.01, [1.0], parameters={"m": [2.0]}).q.shape == (11, 1, 1)


def test_a_joint_may_be_called_controller():
    robot = pendulum(name="controller")
    actuators = {"controller": dy.Elastic(1e3, inertia=0.2, damping=2.0)}
    made = simulate(robot, 0.1, [1.0], controller=Remembering(), actuators=actuators, points=3)
    assert sum(x.shape[1] for x in made.actuator_states.values()) == 3


def test_hard_stops_in_rollouts_are_refused_in_words():
    with pytest.raises(InputError, match="stops"):
        rollouts(ARM, 0.01, np.zeros(2), stops=dy.HardStops())


def test_parameters_that_do_not_go_with_the_states_are_refused_by_name():
    with pytest.raises(InputError, match="goal"):
        rollouts(PENDULUM, 0.01, np.zeros((3, 1)), controller=keyword_only, parameters={"goal": np.zeros((4, 1))})


@pytest.mark.filterwarnings("ignore::dynamis.PerformanceWarning")
def test_a_motion_that_diverges_does_not_take_the_others_along_where_the_controller_is_called():
    def runaway(_robot, _t, q, v):
        return 1e6 * q + 1e5 * v if q[0] > 0.5 else 0.0 * q

    made = rollouts(ARM, 0.6, [[0.0, 0.0], [1.0, 1.0]], controller=runaway)
    assert made.finite.tolist() == [True, False]
    assert "1 of 2 diverged (motion 1" in made.status


@pytest.mark.filterwarnings("ignore::dynamis.PerformanceWarning", "ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("method", ["rk4", "euler", "time_stepping", "midpoint"])
def test_a_motion_that_overflows_within_a_step_is_counted_where_the_controller_is_called(method):
    def bursts(_t, q, v):
        return 0.0 * v if float(q[0]) < 0.5 else 1e6 * v**3 + 1.0

    made = rollouts(ARM, 0.1, [[1.0, 1.0], [-0.6, 0.6]], controller=bursts, method=method)
    assert made.finite.tolist() == [False, True]
    assert "1 of 2 diverged (motion 0" in made.status


def test_values_of_symbols_that_no_body_can_have_are_refused():
    loaded = ARM.replace(payload=dy.solids.sphere(0.05, mass=symbol("m")))
    motions = rollouts(loaded, 0.01, np.zeros(2), parameters={"m": np.array([0.0, 1e-9, 3.0])}, step=0.005)
    assert motions.finite.all()
    with pytest.raises(InputError, match=r"the mass of the payload at 'link2' is -2 in motion 1, .* values of m: .* 0 or more"):
        rollouts(loaded, 0.01, np.zeros(2), parameters={"m": np.array([1.0, -2.0])}, step=0.005)
    prepared = dy.BatchSimulation(loaded, 0.01, parameters={"m": 1.0}, step=0.005)
    with pytest.raises(InputError, match="is -3, by the values of m"):
        prepared(np.zeros(2), parameters={"m": -3.0})
    two = dy.load("planar_2r")
    values = {"g": 9.81, "a_1": 1.0, "a_2": 1.0, "l_1": -0.5, "l_2": 0.5, "m_1": 0.0, "m_2": 1.0, "I_1": 0.1, "I_2": 0.1}
    assert rollouts(two, 0.01, np.zeros(2), parameters=values, step=0.005).finite.all()
    with pytest.raises(InputError, match=r"Izz of link 'link2' is -0.1, by the values of I_2: "):
        rollouts(two, 0.01, np.zeros(2), parameters={**values, "I_2": -0.1}, step=0.005)


def tracking(_robot, _t, q, v, goal):
    return 9.0 * (goal - q) - v


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": {"goal": np.zeros((0, 2))}}, "rows in time"),
        ({"inputs": {"goal": []}}, "rows in time"),
        ({"inputs": {"goal": [[1.0, 2.0], [3.0]]}}, "rows of the same length"),
        ({"parameters": {"goal": [[1.0, 2.0], [3.0]]}}, "rows of the same length"),
        ({"parameters": {"goal": np.zeros((5, 3)), "m": 1.0}}, r"the controller fails: ValueError.*'goal' of shape \(5, 3\)"),
        ({"controller": None, "wrenches": {"link2": lambda _t, q, _v: q @ np.zeros((5, 5))}, "parameters": {"m": 1.0}},
         "a function among wrenches=.* fails"),
        ({"parameters": {"goal": np.zeros(2), "m": 1.0}, "progress": 3}, "progress= must be a function"),
        ({"parameters": {"goal": np.zeros(2), "m": 1.0}, "first": "a"}, "an integer from 0 on"),
        ({"parameters": {"goal": np.zeros(2), "m": 1.0}, "method": ["rk4"]}, "fixed-step method must be a name"),
    ],
)  # fmt: skip
def test_arguments_of_other_kinds_are_refused_with_a_cure(options, message):
    loaded = ARM.replace(payload=dy.solids.sphere(0.05, mass=symbol("m")))
    with pytest.raises(dy.DynamisError, match=message):
        rollouts(loaded, 0.01, np.zeros(2), **{"controller": tracking, **options})


def test_no_motions_may_have_no_inputs():
    made = rollouts(ARM, 0.01, np.zeros((0, 2)), controller=tracking, inputs={"goal": np.zeros((10, 0, 2))})
    assert made.q.shape == (11, 0, 2)


@pytest.mark.parametrize("every", [1, 7, 50])
def test_a_function_that_returns_no_number_is_the_cause_that_is_named(every):
    def ends(t, q, v):
        return np.sqrt(0.0205 - t) * np.ones(2)

    def by_python(t, q, v):
        return np.array([float(np.sqrt(max(0.0205 - float(t), 0.0))) if t < 0.0205 else np.nan] * 2)

    pushed = {"link2": lambda t, _q, _v: np.sqrt(0.0205 - t) * np.ones(6)}
    start = np.zeros((3, 2))
    assert "the controller returned [nan nan] at t = 0.02" in rollouts(ARM, 0.05, start, controller=ends, every=every).status
    assert "the wrench on link2 returned [nan" in rollouts(ARM, 0.05, start, wrenches=pushed, every=every).status
    sampled = dy.Sampled(ends, 100.0)
    assert "the controller returned [nan nan] at t = 0.03" in rollouts(ARM, 0.05, start, controller=sampled, every=every).status
    with pytest.raises(InputError, match=r"the controller returned \[nan nan\] at t = 0.02"):
        rollouts(ARM, 0.05, start, controller=by_python, every=every)
    with np.errstate(all="ignore"):
        unstable = rollouts(ARM, 0.05, start + 0.1, controller=lambda _t, q, v: 1e12 * q + 1e9 * v, every=every)
    assert "diverged" in unstable.status

"""Many motions at once: each is the one that `simulate` gives, however they are batched."""

import warnings

import numpy as np
import pytest
from campaign_params import few_of
from joint_zoo import zoo_robot
from small_machines import pendulum

import dynamis as dy
from dynamis.simulation.rollouts import rollouts
from dynamis.simulation.simulate import simulate

ARM = dy.load("planar_2r_melchiorri")
FLYER = zoo_robot("flyer")


def states(robot, count, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng, count), rng.uniform(-1.0, 1.0, (count, robot.n))


def law(robot, t, q, v):
    return robot.gravity(q) - 400.0 * q - 80.0 * v + np.array([10.0, 5.0]) * np.sin(7.0 * t)


def same_law(t, q, v):
    return ARM.gravity(q) - 400.0 * q - 80.0 * v + np.array([10.0, 5.0]) * np.sin(7.0 * t)


@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4"])
def test_each_motion_is_the_one_simulate_gives(method):
    q, v = states(ARM, 4)
    made = rollouts(ARM, 0.2, q, v, controller=law, method=method, step=0.01)
    for k in range(4):
        one = simulate(ARM, made.t, q[k], v[k], controller=same_law, method=method, step=0.01)
        assert np.abs(made.q[:, k] - one.q).max() < 1e-12
        assert np.abs(made.v[:, k] - one.v).max() < 1e-11


@pytest.mark.parametrize("friction", ["none", "smooth"])
def test_quaternions_and_smooth_friction_are_the_same_as_in_simulate(friction):
    q, v = states(FLYER, 2)
    made = rollouts(FLYER, 0.1, q, v, step=0.01, friction=friction)
    for k in range(2):
        one = simulate(FLYER, made.t, q[k], v[k], method="rk4", step=0.01, friction=friction)
        assert np.abs(made.q[:, k] - one.q).max() < 1e-12
        assert np.abs(made.v[:, k] - one.v).max() < 1e-11
    assert np.linalg.norm(made.q[..., 3:7], axis=-1) == pytest.approx(np.ones((11, 2)), abs=1e-14)


def test_smooth_friction_makes_a_difference_and_a_controller_still_sees_the_robots_own():
    robot = pendulum(coulomb=2.0)
    rubbed = rollouts(robot, 0.2, [1.0], [3.0], friction="smooth")
    assert np.abs(rubbed.q - rollouts(robot, 0.2, [1.0], [3.0], friction="none").q).max() > 1e-3
    helped = rollouts(
        robot, 0.2, [1.0], [3.0], friction="none", controller=lambda robot, _t, q, v: robot.bias(q, v) - robot.gravity(q)
    )
    assert helped.v[1, 0] - 3.0 == pytest.approx(1e-3 * (2.0 - 9.81 * np.sin(1.0)), abs=1e-5)


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (2, 1, 3), (0,)])
def test_any_batch_has_its_own_shape(shape):
    q = np.zeros((*shape, 2))
    made = rollouts(ARM, 0.05, q, step=0.01)
    assert made.q.shape == made.v.shape == (6, *shape, 2)


def test_one_velocity_goes_with_many_positions_and_the_other_way_round():
    q, v = states(ARM, 3)
    assert np.array_equal(rollouts(ARM, 0.05, q, v[0]).q, rollouts(ARM, 0.05, q, np.tile(v[0], (3, 1))).q)
    assert np.array_equal(rollouts(ARM, 0.05, q[0], v).q, rollouts(ARM, 0.05, np.tile(q[0], (3, 1)), v).q)


def test_every_keeps_some_of_the_same_points():
    q, v = states(ARM, 3)
    all_of_them, some = rollouts(ARM, 0.1, q, v), rollouts(ARM, 0.1, q, v, every=10)
    assert np.array_equal(some.q, all_of_them.q[::10])
    assert some.t == pytest.approx(all_of_them.t[::10], abs=1e-15)
    assert some.t[-1] == 0.1


def test_steps_are_never_longer_than_asked_and_end_at_the_end():
    with pytest.warns(dy.ModelWarning, match="too long"):
        made = rollouts(ARM, 1.0, np.zeros(2), step=0.3)
    assert len(made.t) == 5
    assert made.step == 0.25
    assert made.t[-1] == 1.0


def test_the_bits_depend_neither_on_the_split_of_the_batch_nor_on_the_order_of_memory_nor_on_the_call():
    q, v = states(ARM, 2000)
    whole = rollouts(ARM, 0.01, q, v, controller=law)
    again = rollouts(ARM, 0.01, np.asfortranarray(q), v[::-1].copy()[::-1], controller=law)
    parts = [
        rollouts(ARM, 0.01, a, b, controller=law).q for a, b in zip(np.array_split(q, 7), np.array_split(v, 7), strict=True)
    ]
    assert np.array_equal(whole.q, again.q)
    assert np.array_equal(whole.q, np.concatenate(parts, axis=1))
    assert np.array_equal(whole.q[:, 17], rollouts(ARM, 0.01, q[17], v[17], controller=law).q)


def test_the_states_given_are_not_changed_and_integers_will_do():
    q = np.ones((3, 2), dtype=int)
    made = rollouts(ARM, 0.01, q)
    assert np.array_equal(made.q[0], q)
    assert np.all(q == 1)
    assert made.q.dtype == float


def with_numbers(robot, t, q, v):
    return law(robot, t, q, v) + 0.0 * float(q[0])


def test_a_controller_that_needs_numbers_is_called_from_python_with_a_note_that_says_why():
    q, v = states(ARM, 3)
    with pytest.warns(
        dy.PerformanceWarning, match=r"q\[0\] is symbolic: use functions of numpy without float.*test_rollouts.py"
    ):
        called = rollouts(ARM, 0.02, q, v, controller=with_numbers, every=5)
    assert "called from Python" in called.note
    compiled = rollouts(ARM, 0.02, q, v, controller=law, every=5)
    assert compiled.note == ""
    assert np.abs(called.q - compiled.q).max() < 1e-12
    chosen = rollouts(ARM, 0.1, np.zeros(2), controller=lambda _r, _t, q, _v: np.array([np.where(q[0] > 0, -x, x) for x in q]))
    assert chosen.note == ""
    assert np.isfinite(chosen.q).all()


def test_an_exception_of_a_controller_is_named_with_its_time():
    def broken(_robot, _t, q, _v):
        return q if q[0] > 0 else {}["nothing"]

    with pytest.raises(dy.InputError, match=r"raised KeyError: 'nothing' \(t = 0 s\)"):
        rollouts(ARM, 0.02, np.zeros(2), controller=broken)


def test_a_controller_takes_values_that_differ_from_motion_to_motion():
    def to_goal(robot, _t, q, v, goal, stiffness, damping):
        return robot.gravity(q) - stiffness[0] * (q - goal) - damping * v

    goals = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    stiffness = np.linspace(100, 500, 5)[:, None]
    made = rollouts(
        ARM, 0.1, np.zeros(2), controller=to_goal, parameters={"goal": goals, "stiffness": stiffness, "damping": 50.0}
    )
    assert made.q.shape == (101, 5, 2)
    for k in range(5):
        alone = rollouts(
            ARM, 0.1, np.zeros(2), controller=to_goal,
            parameters={"goal": goals[k], "stiffness": stiffness[k], "damping": 50.0},
        )  # fmt: skip
        assert np.array_equal(alone.q, made.q[:, k])


def test_symbols_of_the_robot_are_batched_like_states():
    loaded = ARM.replace(payload=dy.solids.sphere(0.05, mass=dy.symbol("m")))
    q, v = states(ARM, 3)
    masses = np.array([0.5, 2.0, 20.0])
    made = rollouts(loaded, 0.2, q, v, controller=law, parameters={"m": masses})
    for k, mass in enumerate(masses):
        alone = rollouts(ARM.replace(payload=dy.solids.sphere(0.05, mass=mass)), 0.2, q[k], v[k], controller=law)
        assert np.abs(made.q[:, k] - alone.q).max() < 1e-12
    # one state with many masses, and one mass with many states
    assert rollouts(loaded, 0.01, q[0], parameters={"m": masses}).q.shape == (11, 3, 2)
    assert rollouts(loaded, 0.01, q, parameters={"m": 1.0}).q.shape == (11, 3, 2)


@pytest.mark.parametrize(
    "drive",
    [
        dy.Saturated(effort=60.0, speed=2.0, dead_zone=1.0),
        dy.DCMotor(resistance=0.5, constant=0.1, ratio=100.0),
        dy.DCMotor(resistance=0.5, constant=0.1, ratio=100.0, inductance=5e-3, supply=48.0, efficiency=0.8),
        dy.Elastic(stiffness=2e4, inertia=2.0, damping=5.0),
        dy.Elastic(stiffness=2e4, inertia=2.0, backlash=0.01),
    ],
    ids=["saturated", "motor", "motor with inductance", "elastic", "backlash"],
)
def test_drives_are_compiled_in_and_move_as_in_simulate(drive):
    q, v = states(ARM, 3)
    drives = {ARM.coordinate_names[0]: drive}
    made = rollouts(ARM, 0.1, q, v, controller=law, actuators=drives)
    assert made.note == ""
    for k in range(3):
        one = simulate(ARM, made.t, q[k], v[k], controller=same_law, actuators=drives, method="rk4", step=1e-3)
        assert np.abs(made.q[:, k] - one.q).max() < 1e-10
        for states_of_drive in one.actuator_states.values():
            assert np.abs(made.drives[:, k] - states_of_drive).max() < 1e-8 * (1 + np.abs(states_of_drive).max())


def test_contacts_stops_wrenches_and_bristles_are_compiled_in():
    robot = dy.load("scara").replace(friction=0)
    q, v = states(robot, 3)
    tip = robot.link_names[-1]
    laws = {robot.coordinate_names[0]: dy.LuGre(1.0, 1.5, 0.1, 50.0, 1.0)}
    floor = dy.contact(robot, tip, dy.Plane((0, 0, 0.2)), stiffness=1e3, damping=0.1)
    stops = dy.joint_stops(robot, stiffness=1e3)
    options = {"friction": laws, "stops": stops, "wrenches": {tip: floor, robot.link_names[2]: [1.0, 2, 3, 0, 0, 0]}}
    made = rollouts(robot, 0.1, q, v, **options)
    assert made.note == ""
    for k in range(3):
        one = simulate(robot, made.t, q[k], v[k], method="rk4", step=1e-3, **options)
        assert one.statistics["compiled"]
        assert np.abs(made.q[:, k] - one.q).max() < 1e-10


def test_disturbances_belong_to_their_motion_whatever_the_batch():
    q, v = states(ARM, 40)
    noise = dy.Noise(50.0, hold=0.01, seed=3)
    whole = rollouts(ARM, 0.1, q, v, controller=law, disturbance=noise, every=4)
    some = rollouts(ARM, 0.1, q[30:], v[30:], controller=law, disturbance=noise, first=30, every=20)
    assert np.array_equal(whole.q[::5, 30:], some.q)
    assert np.array_equal(whole.q, rollouts(ARM, 0.1, q, v, controller=law, disturbance=noise, every=4).q)
    assert not np.array_equal(whole.q, rollouts(ARM, 0.1, q, v, controller=law, disturbance=dy.Noise(50.0, 0.01, 4), every=4).q)
    one = simulate(ARM, whole.t, q[0], v[0], controller=same_law, disturbance=noise, method="rk4", step=1e-3)
    assert np.abs(one.q - whole.q[:, 0]).max() < 1e-12
    with pytest.warns(dy.PerformanceWarning):
        called = rollouts(ARM, 0.02, q[:2], v[:2], controller=with_numbers, disturbance=noise, every=4)
    assert np.abs(called.q - whole.q[:6, :2]).max() < 1e-12


def test_single_precision_stays_single():
    q, v = states(ARM, 5)
    single = rollouts(ARM, 0.1, q.astype(np.float32), v.astype(np.float32), controller=law)
    assert single.q.dtype == single.v.dtype == np.float32
    assert np.abs(single.q - rollouts(ARM, 0.1, q, v, controller=law).q).max() < 1e-4
    assert rollouts(ARM, 0.01, q.astype(np.float32)).q.dtype == np.float32


def test_motions_that_grow_beyond_all_bounds_are_counted_and_named():
    def pushing(_robot, _t, q, v):
        return 1e6 * q + 1e5 * v

    made = rollouts(ARM, 1.0, np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), controller=pushing, every=100)
    assert made.finite.tolist() == [False, False, False] or made.finite.sum() < 3
    assert "of 3 diverged (motion" in made.status
    assert rollouts(ARM, 0.01, np.zeros((3, 2))).status == "all 3 completed"


def test_progress_goes_up_to_the_end():
    told = []
    rollouts(ARM, 0.1, np.zeros((3, 2)), progress=told.append, disturbance=dy.Noise(1.0, hold=0.02))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 3


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"every": 0}, "every= must be a number of steps"),
        ({"every": 1.5}, "every= must be a number of steps"),
        ({"step": 0.0}, "time and step must be positive"),
        ({"step": np.nan}, "time and step must be positive"),
        ({"t": np.inf}, "time and step must be positive"),
        ({"t": "1"}, "time and step must be positive"),
        ({"q0": [0.0, np.nan]}, r"q0\[1\] is nan"),
        ({"q0": np.zeros(3)}, r"q0 has shape \(3,\)"),
        ({"v0": np.zeros((4, 2)), "q0": np.zeros((3, 2))}, "do not broadcast"),
        ({"controller": 3}, r"a function of t, of \(t, q, v\) or of \(robot, t, q, v\)"),
        ({"controller": lambda _r, _t, _q, _v: [0.0]}, r"returned shape \(1,\) instead of \(2,\)"),
        ({"controller": lambda _r, _t, q, _v, goal: q - goal}, r"the controller requires 'goal': give it with parameters="),
        ({"parameters": {"m": 1.0}}, "no parameter of robot or controller named 'm'"),
        ({"parameters": [1.0]}, "parameters= must be a mapping"),
        ({"controller": lambda _r, _t, q, _v, goal: q - goal, "parameters": {"goal": [np.nan, 0]}}, "goal must hold finite"),
        ({"wrenches": {"link2": [1.0, 2.0]}}, "must be 6 numbers"),
        ({"disturbance": 3.0}, "must be a Noise"),
        ({"disturbance": dy.Noise(1.0, hold=0.0015)}, "not a multiple of the step"),
        ({"actuators": {"joint1": dy.Elastic(1e4, inertia=1.0)}, "method": "euler"}, "use method='rk4'"),
        ({"friction": {"joint1": dy.Coulomb(1, 1)}, "method": "rk4"}, "method='time_stepping', friction='smooth' or 'none'"),
        ({"method": "DOP853"}, "no fixed-step method named 'DOP853'"),
    ],
)
def test_wrong_arguments_are_refused_in_words(wrong, says):
    with pytest.raises((dy.InputError, dy.NameLookupError), match=says):
        rollouts(**{"robot": ARM, "t": 0.1, "q0": np.zeros(2), **wrong})


def test_what_is_no_robot_or_has_no_numbers_is_refused():
    with pytest.raises(dy.InputError, match="got str"):
        rollouts("ur5e", 0.1, np.zeros(6))
    with pytest.raises(dy.InputError, match=r"has no value.*parameters=\{name: values\}"):
        rollouts(dy.load("planar_2r"), 0.1, np.zeros(2))
    loaded = ARM.replace(payload=dy.solids.sphere(0.05, mass=dy.symbol("m")))
    with pytest.raises(dy.InputError, match="'k' is not a symbol in the equations of motion"):
        rollouts(loaded, 0.1, np.zeros(2), parameters={"m": 1.0, "k": 2.0})


def test_a_gain_for_each_motion_has_a_column_and_the_ambiguous_is_refused():
    def law(robot, _t, q, v, k):
        return robot.gravity(q) + k * (0.5 - q) - 400.0 * v

    gains = np.array([100.0, 5000.0])
    options = {"controller": law, "step": 0.01, "every": 10}
    with pytest.raises(
        dy.InputError, match=r"'k' .* shape \(2,\), and there are 2 motions: give shape \(2, 1\) .* or \(1, 2\)"
    ):
        rollouts(ARM, 0.1, np.zeros((2, 2)), parameters={"k": gains}, **options)
    each = rollouts(ARM, 0.1, np.zeros((2, 2)), parameters={"k": gains[:, None]}, **options).q[-1]
    for q, k in zip(each, gains, strict=True):
        np.testing.assert_allclose(q, rollouts(ARM, 0.1, np.zeros(2), parameters={"k": float(k)}, **options).q[-1], rtol=1e-12)
    joint = rollouts(ARM, 0.1, np.zeros((2, 2)), parameters={"k": gains[None]}, **options).q[-1]
    np.testing.assert_array_equal(joint[0], joint[1])
    with pytest.raises(dy.InputError, match=r"\(3,\), and there are 3 motions"):
        rollouts(ARM, 0.1, np.zeros((3, 2)), parameters={"k": np.ones(3)}, **options)
    with pytest.raises(dy.InputError, match=r"'k' has shape \(3,\): one vector for all motions; .* \(motions, 1\)"):
        rollouts(ARM, 0.1, np.zeros(2), parameters={"k": np.ones(3)}, **options)


def test_steps_that_are_too_long_are_named_even_where_limits_of_the_torques_hide_the_divergence():
    robot = dy.load("ur5e")
    goal, limit = robot.home() + 0.3, robot.limits["effort"]

    def law(robot, _t, q, v):
        return np.clip(robot.gravity(q) + 50.0 * (goal - q) - 5.0 * v, -limit, limit)

    starts = goal + np.random.default_rng(0).normal(scale=0.1, size=(5, 6))
    with pytest.warns(dy.ModelWarning, match=r"steps of 0.001 s are too long for .*wrist.* in . of 5 motions.*; use step="):
        made = rollouts(robot, 0.2, starts, controller=law)
    assert np.isfinite(made.q).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rollouts(robot, 0.02, starts, controller=law, step=2e-5, every=50)


NAMED = [(method, every) for method in ("rk4", "euler", "time_stepping") for every in (1, 7, 100)]


@pytest.mark.parametrize(("method", "every"), few_of(NAMED, NAMED[::4]))
def test_the_step_that_is_named_for_feedback_too_stiff_for_the_steps_gives_the_right_motion(method, every):
    robot = dy.load(
        """[robot]
        gravity = [0, 0, 0]
        [[link]]
        mass = 0.1
        inertia = { xx = 1e-3, yy = 1e-3, zz = 1e-3 }"""
    )

    def law(_t, q, v):
        return np.clip(-50.0 * q - 8.0 * v, -28.0, 28.0)

    q0, options = np.linspace(0.1, 0.5, 5)[:, None], {"controller": law, "method": method, "every": every}
    with pytest.warns(dy.ModelWarning, match="too long for 'joint1' in 5 of 5 motions: .*; use step=.* or shorter") as caught:
        wrong = rollouts(robot, 0.7, q0, **options)
    step = float(str(caught[0].message).split("step=")[1].split()[0])
    right = rollouts(robot, 0.7, q0, step=step, **options)  # warnings are errors
    exact = dy.simulate(robot, 0.7, q0[2], controller=law, points=2).q[-1]
    assert abs(wrong.q[-1, 2] - exact) > 0.1
    assert abs(right.q[-1, 2] - exact) < 1e-3


def test_steps_too_long_in_a_part_of_a_long_motion_and_of_a_large_batch_are_found():
    def law(_t, q, v, gain):
        return np.clip(-gain * v, -300.0, 300.0) - 20.0 * q

    gains = np.where(np.arange(400) < 300, 10.0, 1e5)[:, None]
    with pytest.warns(dy.ModelWarning, match=r"in \d+ of the \d+ motions checked"):
        rollouts(ARM, 1.0, np.tile([0.1, 0.1], (400, 1)), controller=law, parameters={"gain": gains}, every=10)
    with pytest.warns(dy.ModelWarning, match="in 1 of 1 motion"):
        rollouts(
            ARM, 30.0, np.array([0.1, 0.1]), controller=lambda t, q, v: -1e3 * v if t < 20.0 else np.clip(-1e6 * v, -300, 300)
        )


def test_a_torque_that_is_switched_on_and_saturates_is_no_sign_of_long_steps():
    robot = dy.load("ur5e")

    def limited(robot, t, q, v):
        tau = robot.gravity(q) - 50.0 * q - 5.0 * v  # a mode of 20 000 1/s at the last joint, which decays within a few steps
        return np.clip(tau, -28.0, 28.0) if t > 0.01 else 0.0 * tau

    starts = robot.random(0, size=20)
    made = rollouts(robot, 0.05, starts, controller=limited, step=1e-4, every=100)  # warnings are errors
    fine = rollouts(robot, 0.05, starts, controller=limited, step=1e-5, every=1000)
    assert abs(made.q - fine.q).max() < 2e-3


def test_torques_that_change_from_step_to_step_are_no_sign_of_long_steps():
    torques = np.random.default_rng(0).normal(scale=30.0, size=(500, 3, 2))
    rollouts(ARM, 0.5, np.zeros((3, 2)), controller=lambda robot, t, q, v, u: robot.gravity(q) + u, inputs={"u": torques})

"""Motions that go on from where they stopped are those that never stopped, whatever is hidden in their state."""

import dataclasses

import numpy as np
import pytest
from campaign_params import few_of
from small_machines import block, free_body, pendulum, turning

import dynamis as dy

ARM = dy.load("planar_2r_melchiorri")
TIP = ARM.link_names[-1]


def law(_t, q, v):
    return -40.0 * (q - 0.5) - 8.0 * v


def hold(_t, q, v):
    return ARM.gravity(q) - 3000.0 * (q - 0.5) - 600.0 * v


CASES = {
    "sticking": (pendulum(coulomb=0.7), {"q0": [1.2]}, 4.0),
    "sticking for good": (pendulum(coulomb=4.0), {"q0": [1.2]}, 3.0),
    "bristles": (block(slope=0.1), {"v0": [0.3], "friction": {"slide": dy.LuGre(6.0, 8.0, 0.05, 2e3, 20.0)}}, 1.0),
    "a spring": (turning(), {"torque": [1.0], "actuators": {"axle": dy.Elastic(50.0, inertia=0.3)}}, 2.0),
    "a current": (turning(), {"torque": [5.0], "actuators": {"axle": dy.DCMotor(1.0, 0.5, inductance=0.2)}}, 2.0),
    "samples": (turning(), {"q0": [1.0], "controller": dy.Sampled(law, 20.0, 0.03, 1e-3, "differences")}, 1.0),
    "late samples": (turning(), {"q0": [1.0], "controller": dy.Sampled(law, 20.0, 0.13)}, 1.0),
    "wrenches": (ARM, {"wrenches": {TIP: lambda t: [30.0 * np.sin(9.0 * t), 20.0, 0.0, 0.0, 0.0, 3.0]}}, 1.0),
    "a free body": (free_body(), {"v0": [0.1, 0.2, 0.3, 2.0, 0.1, -1.0]}, 1.0),
    "noise": (pendulum(coulomb=0.4), {"q0": [0.5], "disturbance": dy.Noise(2.0, 0.07)}, 1.0),
    "hard stops": (
        dy.load("panda"),
        {"stops": dy.HardStops(restitution=0.4), "friction": "none", "q0": [0, 0, 0, -1.5, 0, 1.5, 0]},
        0.6,
    ),
}


def agree(whole, resumed, tolerance=2e-6):
    assert resumed.complete
    assert np.array_equal(whole.t, resumed.t)
    for name in ("q", "v", "tau", "friction", "work"):
        one, other = getattr(whole, name), getattr(resumed, name)
        scale = max(1.0, np.abs(one).max())
        assert np.abs(one - other).max() < tolerance * scale, name
    assert [(e.kind, e.joint) for e in whole.events] == [(e.kind, e.joint) for e in resumed.events]
    assert np.allclose([e.time for e in whole.events], [e.time for e in resumed.events], atol=1e-5)
    assert np.abs(resumed.energy_error).max() < 1e-5 * max(1.0, np.abs(resumed.energy).max())
    for name, states in whole.actuator_states.items():
        assert np.abs(states - resumed.actuator_states[name]).max() < tolerance * max(1.0, np.abs(states).max())


PARTS = (0.237, 0.5, 0.7123)
EVERY_CASE = [(case, part) for case in CASES for part in PARTS]


@pytest.mark.parametrize(("case", "part"), few_of(EVERY_CASE, [(case, PARTS[k % 3]) for k, case in enumerate(CASES)]))
def test_a_motion_in_two_parts_is_the_motion_in_one(case, part):
    robot, given, end = CASES[case]
    options = {**given, "rtol": 1e-9, "atol": 1e-11}
    times = np.linspace(0.0, end, 101)
    whole = dy.simulate(robot, times, **options)
    stop = part * end
    first = dy.simulate(robot, [*times[times < stop], stop], **options)
    later = {k: x for k, x in options.items() if k not in ("q0", "v0")}
    resumed = dy.simulate(robot, times, resume=first, **later)
    keep = np.isin(resumed.t, times)
    assert resumed.t[~keep].tolist() in ([], [stop])
    agree(whole, _only(resumed, keep))
    assert resumed.statistics["evaluations"] > first.statistics["evaluations"]


def _only(motion, keep):
    names = ("t", "q", "v", "tau", "friction", "work")
    rows = {name: getattr(motion, name)[keep] for name in names}
    states = {name: x[keep] for name, x in motion.actuator_states.items()}
    wrenches = {name: x[keep] for name, x in motion.wrenches.items()}
    stops = None if motion.stop_torque is None else motion.stop_torque[keep]
    return dataclasses.replace(motion, **rows, actuator_states=states, wrenches=wrenches, stop_torque=stops)


@pytest.mark.parametrize("method", ["rk4", "midpoint", "euler"])
def test_fixed_steps_go_on_bit_by_bit(method):
    options = {"method": method, "step": 1e-3, "friction": "smooth"}
    times = np.linspace(0.0, 1.0, 51)
    first = dy.simulate(ARM, times[:21], [0.3, 0.2], **options)
    resumed = dy.simulate(ARM, times, resume=first, **options)
    whole = dy.simulate(ARM, times, [0.3, 0.2], **options)
    for name in ("t", "q", "v", "tau", "work"):
        assert np.array_equal(getattr(whole, name), getattr(resumed, name))
    assert resumed.statistics["steps"] == whole.statistics["steps"]


def test_a_motion_that_was_stopped_between_two_points_goes_on_from_there_to_the_times_that_were_planned():
    loose = [True]

    def careful(t, q, v):
        if t > 0.47 and loose[0]:
            raise RuntimeError("the cable is loose")
        return law(t, q, v)

    first = dy.simulate(turning(), 1.0, [1.0], controller=careful, points=11)
    assert not first.complete
    assert first.t[-1] < first.final_state.t <= 0.47
    loose[0] = False
    resumed = dy.simulate(turning(), 1.0, controller=careful, resume=first)
    assert np.array_equal(resumed.t, np.linspace(0.0, 1.0, 11))
    whole = dy.simulate(turning(), 1.0, [1.0], controller=law, points=11)
    assert np.abs(resumed.q - whole.q).max() < 1e-6


def test_ctrl_c_and_a_watch_that_ends_the_motion_can_be_gone_on_from():
    done = []

    def pressed(t, q, v):
        if t > 0.5 and not done:
            done.append(t)
            raise KeyboardInterrupt
        return law(t, q, v)

    whole = dy.simulate(turning(), 1.0, [1.0], controller=law, points=21)
    first = dy.simulate(turning(), 1.0, [1.0], controller=pressed, points=21)
    assert "interrupted" in first.status
    resumed = dy.simulate(turning(), 1.0, controller=pressed, resume=first)
    keep = np.isin(resumed.t, whole.t)
    assert np.abs(resumed.q[keep] - whole.q).max() < 1e-6
    watches = {"half": dy.Event(lambda t, q, v: q[0] - 0.7, stop=True)}
    first = dy.simulate(turning(), 1.0, [1.0], controller=law, points=21, events=watches)
    assert first.t[-1] < 1.0
    resumed = dy.simulate(turning(), 1.0, controller=law, resume=first, events=watches)
    assert resumed.t[-1] == 1.0
    assert [e.joint for e in resumed.events].count("half") == 1
    assert np.abs(resumed.at(whole.t)[0] - whole.q).max() < 1e-6


def test_a_finished_motion_goes_on_with_as_many_points_as_asked_and_is_dense_all_along():
    first = dy.simulate(ARM, 1.0, [0.3, 0.2], points=21)
    resumed = dy.simulate(ARM, 2.0, resume=first, points=6)
    assert np.allclose(resumed.t[20:], np.linspace(1.0, 2.0, 6))
    times = np.linspace(0.0, 2.0, 91)
    exact = dy.simulate(ARM, times, [0.3, 0.2])
    assert np.abs(resumed.at(times)[0] - exact.q).max() < 1e-5


def test_a_motion_can_be_resumed_again_and_again():
    motion = dy.simulate(ARM, 0.3, [0.3, 0.2], points=4)
    for end in (0.6, 0.9, 1.2):
        motion = dy.simulate(ARM, end, resume=motion, points=4)
    exact = dy.simulate(ARM, motion.t, [0.3, 0.2])
    assert len(motion) == 13
    assert np.abs(motion.q - exact.q).max() < 1e-5


def test_the_part_before_is_not_changed():
    first = dy.simulate(ARM, 0.3, points=4)
    q, stop = first.q.copy(), first.final_state.y.copy()
    dy.simulate(ARM, 0.6, resume=first)
    assert np.array_equal(first.q, q)
    assert np.array_equal(first.final_state.y, stop)
    assert len(first) == 4


def test_wrenches_that_begin_later_were_none_before():
    first = dy.simulate(ARM, 0.3, points=4)
    resumed = dy.simulate(ARM, 0.6, resume=first, points=4, wrenches={TIP: [1.0, 0, 0, 0, 0, 0]})
    assert resumed.wrenches[TIP][:, 0].tolist() == [0.0] * 4 + [1.0] * 3


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"robot": ARM.replace(gravity=(0, 0, -1))}, "another robot"),
        ({"robot": pendulum()}, "another robot"),
        ({"q0": [0.0, 0.0]}, "omit q0 and v0"),
        ({"v0": [0.0, 0.0]}, "omit q0 and v0"),
        ({"t": 0.2}, "stopped at t = 0.3 s: give an end after that"),
        ({"t": 0.3}, "give an end after that"),
        ({"resume": 3}, "must be a motion returned by simulate, got int"),
        ({"friction": {"joint1": dy.LuGre(1, 1, 0.1, 1e3)}}, "bristles of joint1"),
        ({"actuators": {"joint1": dy.DCMotor(1.0, 1.0, inductance=1.0)}}, "the drive of joint1"),
    ],
)
def test_what_cannot_go_on_is_refused_with_a_cure(wrong, says):
    first = dy.simulate(ARM, 0.3, points=4)
    given = {"robot": ARM, "t": 0.6, "resume": first, **wrong}
    with pytest.raises(dy.InputError, match=says):
        dy.simulate(given.pop("robot"), given.pop("t"), **given)


def test_another_rate_is_refused_and_a_first_sampled_controller_begins_where_it_comes():
    first = dy.simulate(turning(), 0.5, [1.0], controller=dy.Sampled(law, 20.0), points=4)
    with pytest.raises(dy.InputError, match="sampled at 20 Hz"):
        dy.simulate(turning(), 1.0, resume=first, controller=dy.Sampled(law, 30.0))
    plain = dy.simulate(turning(), 0.33, [1.0], controller=law, points=4)
    calls = []
    digital = dy.Sampled(lambda t, q, v: calls.append(t) or law(t, q, v), 10.0)
    dy.simulate(turning(), 0.8, resume=plain, controller=digital)
    assert np.allclose(calls, 0.33 + np.arange(5) / 10.0)


def test_a_joint_that_gives_way_just_where_the_motion_was_stopped_starts_there():
    robot = block(coulomb=5.0)
    push = {"torque": lambda t: [0.0 if t < 0.5 else 9.0]}
    first = dy.simulate(robot, 0.5, points=6, **push)
    resumed = dy.simulate(robot, 1.0, resume=first, points=6, **push)
    assert [str(e) for e in resumed.events] == ["0.5 s: slide starts"]


def test_a_joint_that_a_sample_sets_in_motion_starts_with_it():
    law = dy.Sampled(lambda t, q, v: [0.0 if t < 0.3 else 9.0], 10.0, delay=0.05)
    motion = dy.simulate(block(coulomb=5.0), 1.0, controller=law)
    assert [(e.kind, e.joint) for e in motion.events] == [("starts", "slide")]
    assert motion.events[0].time == pytest.approx(0.35)


@pytest.mark.parametrize("suffix", ["npz", "csv"])
def test_a_motion_from_a_file_goes_on_with_its_loops(suffix, tmp_path):
    loop = dy.loops.four_bar(closed_by="pin")
    file = tmp_path / f"m.{suffix}"
    half, whole = loop.simulate(0.2, points=11), loop.simulate((0.0, 0.4), points=21)
    half.save(file)
    read = dy.Trajectory.load(file, loop)
    np.testing.assert_array_equal(read.constraint_forces, half.constraint_forces)
    assert read.drift.max() < 1e-12
    on = loop.simulate(0.4, resume=read, points=21)
    np.testing.assert_allclose(on.q[-1], whole.q[-1], atol=1e-6)
    assert on.drift.max() < 1e-12
    with pytest.raises(dy.InputError, match="has other loops"):
        dy.simulate(loop.robot, 0.4, resume=read, points=3)


def test_the_file_of_a_motion_holds_its_loops(tmp_path):
    stance = dy.constrained(dy.load("ur5e").replace(friction=0), frames="tool0", closures=dy.loops.Coupled("wrist_3_joint"))
    held = stance.assemble(stance.robot.home())
    motion = stance.simulate(0.01, held, points=3)
    motion.save(tmp_path / "m.npz")
    for robot in (stance, stance.robot):
        read = dy.Trajectory.load(tmp_path / "m.npz", robot)
        assert read.closures == motion.closures
        assert read.stabilisation == "projection"
    other = dy.constrained(stance.robot, frames="tool0", closures=dy.loops.Coupled("wrist_2_joint", offset=held[4]))
    with pytest.raises(dy.InputError, match="it has other loops"):
        dy.Trajectory.load(tmp_path / "m.npz", other)


def test_a_table_of_a_motion_with_loops_is_not_continued_silently_without_them(tmp_path):
    loop = dy.loops.four_bar()
    loop.write(tmp_path / "loop.toml")
    with pytest.warns(dy.ModelWarning, match="loops closed by"):
        robot = dy.load(tmp_path / "loop.toml")
    dy.constrained(robot).simulate(0.05, points=3).save(tmp_path / "m.csv")
    with pytest.warns(dy.ModelWarning, match="which are open in this motion"):
        dy.simulate(robot, 0.1, resume=dy.Trajectory.load(tmp_path / "m.csv", robot), points=3)

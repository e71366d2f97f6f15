"""Events that users look for: where they are, which way, that they stop the motion, and what happens when they fail."""

import numpy as np
import pytest
from small_machines import GRAVITY, block, pendulum, point_mass, turning

import dynamis as dy
from dynamis.model.description import Limits
from dynamis.simulation.simulate import simulate


def times(motion, name):
    return [e.time for e in motion.events if e.joint == name]


def sine(t, _q, _v):
    return np.sin(2 * np.pi * t)


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau", "BDF", "LSODA"])
def test_zeros_are_found_where_they_are_each_time_and_by_direction(method):
    way = {"method": method}
    watched = {"all": sine, "up": dy.Event(sine, direction=1), "down": dy.Event(sine, direction=-1)}
    motion = simulate(pendulum(), (0.1, 2.9), [0.5], events=watched, **way)
    assert times(motion, "all") == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.5], abs=1e-12)
    assert times(motion, "up") == pytest.approx([1.0, 2.0], abs=1e-12)
    assert times(motion, "down") == pytest.approx([0.5, 1.5, 2.5], abs=1e-12)
    assert [e.time for e in motion.events] == sorted(e.time for e in motion.events)
    assert str(motion.events[0]) in ("0.5 s: all happens", "0.5 s: down happens")


def test_a_zero_of_the_state_is_as_exact_as_the_integration():
    # small swings: the velocity is zero every half period
    motion = simulate(pendulum(), 5.0, [1e-4], events={"turns": lambda t, q, v: v[0]}, rtol=1e-11, atol=1e-15)
    half = np.pi / np.sqrt(GRAVITY)
    assert times(motion, "turns") == pytest.approx([half, 2 * half, 3 * half, 4 * half], rel=1e-8)


def test_a_function_that_is_zero_at_the_start_does_not_happen_there():
    motion = simulate(pendulum(), 0.5, [0.5], events={"moves": lambda t, q, v: v[0], "never": lambda t, q, v: 0.0})
    assert motion.events == ()


def test_a_watch_that_stops_ends_the_motion_there_and_that_counts_as_complete():
    landing = dy.Event(lambda t, q, v: q[0] - 0.25, stop=True)
    motion = simulate(block(), 10.0, v0=[0.5], events={"landing": landing, "half": lambda t, q, v: q[0] - 0.125})
    assert motion.status == "stopped at t = 0.5 s: landing (stopping event)"
    assert motion.complete
    assert motion.t[-1] == pytest.approx(0.5, abs=1e-12)
    assert motion.q[-1, 0] == pytest.approx(0.25, abs=1e-12)
    assert [e.joint for e in motion.events] == ["half", "landing"]
    # it goes on from there without happening again
    on = simulate(block(), 1.0, resume=motion, events={"landing": landing})
    assert on.status == "completed"
    assert times(on, "landing") == times(motion, "landing")


def test_two_zeros_between_reported_points_are_seen_with_reported_points_between_them():
    dip = {"dip": lambda t, q, v: (t - 1.0) ** 2 - 1e-4}
    assert len(simulate(block(), 2.0, events=dip, points=401).events) == 2


def test_watches_see_joints_that_stick_and_start():
    watched = {"still": lambda t, q, v: v[0]}
    motion = simulate(block(2.0, coulomb=4.0), 2.0, v0=[1.5], events=watched)
    assert times(motion, "still") == pytest.approx([0.75], abs=1e-8)
    moved = simulate(block(2.0, coulomb=3.0), 3.0, torque=lambda t: [2.0 * t], events={"far": lambda t, q, v: q[0] - 0.1})
    assert times(moved, "far") == pytest.approx([1.5 + (0.1 * 6) ** (1 / 3)], abs=1e-6)


def test_watches_work_between_samples_and_are_not_told_twice():
    held = dy.Sampled(lambda t, q, v: [2.0], 20.0)
    motion = simulate(turning(2.0), 1.0, controller=held, events={"fast": lambda t, q, v: v[0] - 0.5, "tick": sine})
    assert times(motion, "fast") == pytest.approx([0.5], abs=1e-9)
    assert times(motion, "tick") == pytest.approx([0.5, 1.0][: len(times(motion, "tick"))], abs=1e-9)
    stopped = simulate(turning(2.0), 1.0, controller=held, events={"fast": dy.Event(lambda t, q, v: v[0] - 0.33, stop=True)})
    assert stopped.status == "stopped at t = 0.33 s: fast (stopping event)"


def test_a_jump_over_zero_at_a_hard_stop_is_reported_at_the_impact():
    d = dy.Description("ball", gravity=np.array([0.0, 0.0, -GRAVITY])).add_link("base")
    d.add_link(
        "ball", "base", "prismatic", joint_name="fall", axis=(0, 0, 1), inertia=point_mass(2.0), limits=Limits(lower=0.0)
    )
    turned = {"turns": dy.Event(lambda t, q, v: v[0], direction=1, stop=True)}
    motion = simulate(dy.Robot(d), 2.0, [0.5], stops=dy.HardStops(0.5), events=turned)
    hit = np.sqrt(2 * 0.5 / GRAVITY)
    assert [e.kind for e in motion.events] == ["hits its lower stop", "happens"]
    assert [e.time for e in motion.events] == pytest.approx([hit, hit], abs=1e-8)
    on = simulate(dy.Robot(d), 1.0, resume=motion, stops=dy.HardStops(0.5), events={})
    assert on.q[-1, 0] == pytest.approx(simulate(dy.Robot(d), 1.0, [0.5], stops=dy.HardStops(0.5)).q[-1, 0], abs=1e-6)


def test_a_function_that_fails_keeps_the_motion_before_and_says_where():
    def breaks(t, q, v):
        if t > 0.5:
            raise RuntimeError("lost")
        return 1.0

    motion = simulate(pendulum(), 1.0, [0.5], events={"bad": breaks})
    assert motion.status.startswith("stopped: event 'bad' raised RuntimeError: lost at t = 0.5")
    assert 0.3 < motion.t[-1] <= 0.5
    nan = simulate(pendulum(), 1.0, [0.5], events={"bad": lambda t, q, v: np.nan if t > 0.5 else 1.0})
    assert "event 'bad' returned [nan]" in nan.status


@pytest.mark.parametrize("broken", [lambda t, q, v: 1 / 0, lambda t, q, v: np.nan, lambda t, q, v: q[:0], lambda t: t])
def test_a_function_that_fails_at_the_start_raises(broken):
    with pytest.raises(dy.DynamisError, match="event 'bad'"):
        simulate(pendulum(), 1.0, [0.5], events={"bad": broken})


def test_functions_cannot_reach_the_state():
    def meddles(t, q, v):
        q[:], v[:] = 7.0, 7.0
        return 1.0

    plain, watched = (simulate(pendulum(), 1.0, [0.5], events=e, points=11) for e in (None, {"x": meddles}))
    assert watched.q == pytest.approx(plain.q, abs=1e-12)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ([sine], "events= must map names"),
        ({"x": 3.0}, "an Event requires a function"),
        ({3: sine}, "the name of an event"),
        ({"": sine}, "the name of an event"),
    ],
)
def test_events_that_are_none_are_refused(wrong, says):
    with pytest.raises(dy.InputError, match=says):
        simulate(pendulum(), 1.0, events=wrong)


def test_watches_that_cannot_be_are_refused():
    for wrong in ({"direction": 2}, {"direction": "up"}, {"stop": 1}):
        with pytest.raises(dy.InputError):
            dy.Event(sine, **wrong)
    with pytest.raises(dy.InputError, match="use method='DOP853'"):
        simulate(pendulum(), 1.0, events={"x": sine}, method="rk4", step=1e-3)

"""A motion that takes too long, or is interrupted, ends with a sentence, and what was simulated is kept."""

import time

import numpy as np
import pytest
from small_machines import block, pendulum, turning

import dynamis as dy
from dynamis.simulation import stepped, stepping
from dynamis.simulation.simulate import simulate
from dynamis.sweeps.cases import run_case
from dynamis.sweeps.run import sweep
from dynamis.sweeps.study_file import study_from_text


@pytest.fixture
def ticking(monkeypatch):
    """A clock that goes on by a millisecond whenever it is looked at."""
    now = [0.0]

    def monotonic():
        now[0] += 1e-3
        return now[0]

    monkeypatch.setattr(stepping.time, "monotonic", monotonic)


def stiff(_t, q, v):
    return -1e4 * q - 1e6 * v


def test_a_stiff_motion_ends_in_its_time_and_the_sentence_says_what_helps(ticking):
    motion = simulate(turning(1.0), 1.0, [0.5], controller=stiff, method="DOP853", seconds=2.0)
    assert motion.status.startswith("stopped at t = 0.000")
    assert "took more than 2 s (" in motion.status
    assert motion.status.endswith(" s: the equations are stiff; try method='Radau' or 'LSODA')")
    assert not motion.complete
    # the state that was reached is kept, though no time to report came
    assert 0.0 < motion.t[-1] < 0.01
    assert len(motion) == 1 + np.sum(np.linspace(0, 1, 501)[1:] < motion.t[-1]) + 1
    for method in ("LSODA", None):
        assert simulate(turning(1.0), 1.0, [0.5], controller=stiff, method=method, seconds=20.0).complete


def test_a_controller_that_jumps_is_named_as_the_reason_and_a_long_computation_reminds_once(ticking, monkeypatch):
    def switching(_t, q, _v):
        return np.where(q > 0.0, -3000.0, 3000.0)

    motion = simulate(turning(1.0), 1.0, [0.5], controller=switching, seconds=2.0)
    assert "may jump back and forth; smooth it, sample it by dynamis.Sampled" in motion.status
    monkeypatch.setattr(stepping, "REMIND_AFTER", 0.5)
    with pytest.warns(dy.PerformanceWarning, match=r"took more than 0.5 s .* goes on at t = ") as found:
        simulate(pendulum(), 20.0, [1.0])
    assert len(found) == 1


def test_a_slow_motion_that_is_not_stiff_is_given_other_advice(ticking):
    motion = simulate(pendulum(), 100.0, [1.0], seconds=0.5)
    assert "increase seconds= or rtol=, or simulate a shorter motion" in motion.status
    assert motion.t[-1] > 0.1
    sampled = simulate(turning(), 100.0, controller=dy.Sampled(lambda t, q, v: -q, 50.0), q0=[1.0], seconds=0.5)
    assert "took more than 0.5 s" in sampled.status
    assert sampled.t[-1] > 0.05


@pytest.mark.parametrize(("events", "speed", "reason"), [
    (50, 5e3, "50 events, each of which restarts the integration; try method='time_stepping'"),
    (2, 5e3, "velocities up to 5e+03 rad/s or m/s"), (2, 5.0, "stiff"),
])  # fmt: skip
def test_short_steps_of_a_fast_motion_or_one_with_many_events_are_not_called_stiff(events, speed, reason):
    clock = stepping.Clock(1.0)
    for _ in range(100):
        clock.stepped(1e-5)
    assert reason in clock.sentence("DOP853", events, speed)


def test_a_motion_of_fixed_steps_ends_in_its_time_too(ticking):
    motion = simulate(pendulum(), 100.0, [1.0], controller=lambda t, q, v: [0.0], method="rk4", step=1e-2, seconds=0.1)
    assert "took more than 0.1 s" in motion.status
    assert 1 < len(motion) < 501


def test_a_motion_that_is_out_of_time_can_be_gone_on_with(ticking):
    cut = simulate(pendulum(), 5.0, [1.0], seconds=0.3, points=51)
    whole = simulate(pendulum(), 5.0, resume=cut)
    assert not cut.complete
    assert whole.complete
    plain = simulate(pendulum(), 5.0, [1.0], points=51)
    assert whole.q[-1] == pytest.approx(plain.q[-1], abs=1e-6)


def zero(t, q, v):
    return [0.0]


SHORT_STEPS = {
    "compiled": {"method": "rk4"},
    "compiled, implicit": {"method": "midpoint"},
    "called": {"method": "rk4", "controller": zero},
    "compiled between calls": {"method": "time_stepping", "controller": zero},
    "adaptive": {"method": "DOP853"},
    "adaptive, implicit": {"method": "Radau"},
    "adaptive, multistep": {"method": "LSODA"},
    "adaptive, sampled": {"method": "DOP853", "controller": dy.Sampled(zero, 1e3)},
}


@pytest.mark.parametrize("options", SHORT_STEPS.values(), ids=SHORT_STEPS)
def test_steps_of_a_picosecond_end_in_their_time(options):
    started = time.monotonic()
    motion = simulate(pendulum(), 1e-3, [1.0], step=1e-12, seconds=0.2, points=3, **options)
    assert "took more than 0.2 s" in motion.status
    assert time.monotonic() - started < 30.0  # compiling counts too; all steps would take hours


@pytest.mark.parametrize("options", [{"controller": dy.Sampled(zero, 1e8)}, {"disturbance": dy.Noise(0.0, hold=1e-8)}])
@pytest.mark.parametrize("method", [{"method": "DOP853"}, {"method": "rk4", "step": 1e-3}])
def test_jumps_every_few_nanoseconds_end_in_their_time(options, method):
    started = time.monotonic()
    motion = simulate(pendulum(), 5.0, [1.0], seconds=0.2, points=3, **options, **method)
    assert "took more than 0.2 s" in motion.status
    assert time.monotonic() - started < 30.0


def test_expensive_compiled_steps_end_in_their_time(monkeypatch):
    steps = []

    def slow(_kernel, y, _given, *, every, **_others):
        steps.append(every)
        done = time.thread_time() + 1e-3 * every
        while time.thread_time() < done:
            pass
        return y[None]

    monkeypatch.setattr(stepped, "march", slow)
    motion = simulate(pendulum(), 1.0, method="rk4", step=1e-7, seconds=0.05, points=2)
    assert "took more than 0.05 s" in motion.status
    assert sum(steps) < 200


@pytest.mark.filterwarnings("ignore:.*viscous is -300000")
def test_a_compiled_motion_that_diverges_in_many_short_steps_is_told_where(monkeypatch):
    steps = []

    def counted(*args, every=1, **options):
        steps.append(every)
        return march(*args, every=every, **options)

    march = stepped.march
    monkeypatch.setattr(stepped, "march", counted)
    motion = simulate(turning(1.0, viscous=-3e5), [0.0, 1e-5, 1.0], v0=[1.0], method="rk4", step=1e-6)
    assert "the velocity of axle diverged" in motion.status
    assert 0.0 < float(motion.status.split("t = ")[1].split()[0]) < 0.01
    assert sum(steps) < 30_000  # not all the steps to the next point, and not all again one by one


@pytest.mark.parametrize("method", ["euler", "rk4", "midpoint", "time_stepping", "DOP853", "LSODA"])
@pytest.mark.parametrize(
    ("end", "step", "sentence"),
    [
        (1.0, 1e-12, r"step=1e-12 s means 1e\+12 steps for 1 s, more than 1e\+09: use at least step=1e-09"),
        (7.0, 1e-9, r"step=1e-09 s means 7e\+09 steps for 7 s, more than 1e\+09: use at least step=7e-09"),
        (1.0, 1e-300, r"step=1e-300 s is below the rounding error of t = 1 s: use at least step=1e-09"),
        ((1e6, 1e6 + 1e-3), 1e-11, r"step=1e-11 s is below the rounding error of t = 1e\+06 s: use at least step=9e-10"),
    ],
)
def test_absurd_steps_are_refused_at_once_and_the_message_names_one_that_works(method, end, step, sentence):
    with pytest.raises(dy.InputError, match=sentence + ", or simulate a shorter motion"):
        simulate(pendulum(), end, [1.0], method=method, step=step)


@pytest.mark.parametrize(
    ("options", "name"),
    [({"controller": dy.Sampled(zero, 1e12)}, "1/rate"), ({"disturbance": dy.Noise(1.0, hold=1e-12)}, "hold")],
)
def test_absurd_rates_of_jumps_are_refused_at_once(options, name):
    with pytest.raises(dy.InputError, match=rf"{name}=1e-12 s means 1e\+12 steps .* use at least {name}=1e-09"):
        simulate(pendulum(), 1.0, [1.0], **options)


@pytest.mark.parametrize("seconds", [0.0, -1.0, np.nan, np.inf, "10", True])
def test_times_that_are_none_are_refused(seconds):
    with pytest.raises(dy.InputError, match="seconds must be positive"):
        simulate(pendulum(), 1.0, seconds=seconds)


def interrupting(after):
    def law(t, _q, _v):
        if t > after:
            raise KeyboardInterrupt
        return [0.0]

    return law


def test_an_interrupt_keeps_what_was_simulated():
    motion = simulate(pendulum(), 5.0, [1.0], controller=interrupting(2.0))
    assert motion.status.startswith("interrupted at t = ")
    assert not motion.complete
    assert 1.0 < motion.t[-1] <= 2.0
    assert motion.t[-1] == pytest.approx(float(motion.status.split()[4]), rel=1e-5)
    assert motion.q == pytest.approx(simulate(pendulum(), motion.t, [1.0]).q, abs=1e-6)
    assert len(motion.tau) == len(motion.work) == len(motion)


def test_an_interrupt_between_samples_or_while_joints_stick_keeps_what_was_simulated():
    sampled = simulate(turning(), 1.0, v0=[1.0], controller=dy.Sampled(interrupting(0.55), 10.0))
    assert sampled.status == "interrupted at t = 0.6 s"
    assert sampled.q[-1, 0] == pytest.approx(0.6, abs=1e-9)
    sticking = simulate(block(2.0, coulomb=4.0), 5.0, v0=[1.5], controller=interrupting(3.0))
    assert sticking.status.startswith("interrupted")
    assert sticking.t[-1] >= 0.75


def test_an_interrupt_while_the_points_are_computed_keeps_those_that_are():
    calls = []

    def law(t, _q, _v):
        calls.append(1)
        return [0.0]

    simulate(pendulum(), 1.0, [1.0], controller=law, points=11)
    last = len(calls) - 4

    def stops(t, _q, _v):
        calls.append(1)
        if len(calls) == last:
            raise KeyboardInterrupt
        return [0.0]

    calls.clear()
    motion = simulate(pendulum(), 1.0, [1.0], controller=stops, points=11)
    assert motion.status == "interrupted at t = 0.5 s"
    assert len(motion) == len(motion.friction) == 6


def test_an_interrupt_before_the_first_step_gives_the_start():
    calls = []

    def law(_t, _q, _v):
        calls.append(1)
        if len(calls) == 3:  # after the two calls that compare its results
            raise KeyboardInterrupt
        return [0.0]

    motion = simulate(pendulum(), 1.0, [1.0], controller=law)
    assert motion.status == "interrupted at t = 0 s"
    assert len(motion) == 1


STUDY = """
robot = "planar_2r_melchiorri"
duration = 0.2
seconds = 30
points = 5
[hold]
q = [0, 0]
stiffness = 1e6
damping = 1e9
[vary]
"viscous.*" = { grid = [0, 30] }
"""


def test_a_case_of_a_sweep_that_takes_too_long_says_so_and_the_rest_goes_on(ticking, tmp_path):
    row = run_case(study_from_text(STUDY.replace("seconds = 30", "seconds = 0.5")), 0)
    assert "took more than 0.5 s" in row[-1]
    assert "'LSODA'" in row[-1]
    assert study_from_text(STUDY.replace("seconds = 30", "")).options["seconds"] == 60.0
    with pytest.raises(dy.InputError, match=r"line 4: seconds: -1: give a positive number"):
        study_from_text(STUDY.replace("seconds = 30", "seconds = -1"))


def test_an_interrupt_stops_the_whole_sweep(monkeypatch, tmp_path):
    from concurrent.futures import Executor, Future

    from dynamis.simulation import simulate as module

    class Serial(Executor):
        def submit(self, function, /, *args, **kwargs):
            future = Future()
            future.set_result(function(*args, **kwargs))
            return future

    def pressed(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.EquationsOfMotion, "torque", pressed)
    with pytest.raises(KeyboardInterrupt):
        sweep(study_from_text(STUDY), tmp_path / "results", Serial())

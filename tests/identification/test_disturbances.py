"""A push during a log is named with its time, and left out with the option that is named."""

import numpy as np
import pytest
from campaign_params import few_of

import dynamis as dy
from dynamis.cli.hints import for_command_line
from dynamis.identification import Log
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.disturbances import static_friction
from dynamis.identification.equations import equations
from dynamis.identification.linear_model import LinearModel

PUSHES = {"one": [(8.0, 8.6)], "two": [(4.0, 4.4), (12.5, 13.1)]}


def log(pushes, seed=0, soft=0.0):
    """A UR5e with friction, masses 10 % off, and noise; pushed at its tool, ``soft`` for the time of a bell curve at 8 s."""
    arm, rng, t = dy.load("ur5e"), np.random.default_rng(seed), np.arange(4000) / 200.0
    order = np.arange(1, 6)[:, None, None]
    w = 0.2 * np.pi * order
    angle, size = w * t[:, None] + rng.uniform(0.0, 2.0 * np.pi, (5, 1, 6)), rng.uniform(0.2, 0.6, (5, 1, 6)) / order**0.7
    q, v, a = (x.sum(axis=0) for x in (size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle)))
    wrench = np.zeros((len(t), 6))
    for start, end in pushes:
        wrench[(t >= start) & (t <= end)] = [30.0, -20.0, 40.0, 0.0, 0.0, 0.0]
    if soft:
        wrench = np.exp(-(((t - 8.0) / soft) ** 2))[:, None] * [30.0, -20.0, 40.0, 0.0, 0.0, 0.0]
    tau = dy.control.perturbed(arm, 0.1, seed=1).inverse_dynamics(q, v, a, wrenches={"tool0": wrench})
    noise = rng.normal(size=q.shape) * [1.0, 1.0, 0.6, 0.3, 0.3, 0.2]
    return Log(t, q, tau + 2.0 * v + 3.0 * np.tanh(1e3 * v) + noise)


def identified(log, **options):
    return dy.identify("ur5e", log, compare=(), **options)


@pytest.mark.parametrize("name", few_of(PUSHES, ["two"]))
def test_pushes_are_named_with_their_times_and_the_argument_that_leaves_them_out(name):
    pushed = log(PUSHES[name])
    found = identified(pushed)
    (finding,) = [f for f in found.log_findings if f.code == "disturbance"]
    given = eval(finding.cure.partition("leave_out=")[2])  # the argument as it is printed
    spans = np.atleast_2d(given)
    assert np.abs(spans - PUSHES[name]).max() < 0.3  # filters widen it
    assert found.verdict.grade == "doubtful"
    again = identified(pushed, signals={"leave_out": given})
    assert again.verdict.grade == "good"
    assert again.validation.held_out < 0.2 * found.validation.held_out
    assert not again.log_findings
    ready = dy.identification.prepare(pushed, dy.load("ur5e"), leave_out=given)
    (run,) = ready
    assert not [note for note in ready.notes if "outside of the log" in note]
    assert not any(run.use[(run.t >= start) & (run.t <= end)].any() for start, end in spans)


def test_a_time_left_out_that_is_not_in_the_log_is_noted():
    ready = dy.identification.prepare(log([]), dy.load("ur5e"), leave_out=[(-3.0, -1.0), (19.0, 21.0), (100.0, 101.0)])
    notes = [note for note in ready.notes if "outside of the log" in note]
    assert [note.partition(" s,")[0] for note in notes] == ["the time left out, -3 … -1", "the time left out, 100 … 101"]
    assert notes[0].endswith("the times of the log are 0 … 19.995 s")


def test_a_push_that_grows_and_falls_is_left_out_to_its_ends():
    (finding,) = identified(log([], soft=0.5)).log_findings
    start, end = eval(finding.cure.partition("leave_out=")[2])
    assert start < 7.2
    assert end > 8.8
    assert end - start < 2.2


def test_a_log_without_push_has_no_disturbance():
    assert not identified(log([])).log_findings


@pytest.mark.parametrize("width", [0.1, 0.15])
def test_the_only_fast_motion_of_a_log_is_no_disturbance(width):
    """A model error that only fast motion shows: positions that are read at half the rate of the torques."""
    robot, t, h = dy.load("planar_2r_melchiorri"), np.arange(1200) / 100.0, 1e-4

    def position(t):
        return 0.3 * np.sin(np.outer(t, [0.9, 1.3])) + 0.4 * np.outer(np.exp(-(((t - 6.0) / width) ** 2)), [1.0, -1.0])

    q, later, before = position(t), position(t + h), position(t - h)
    v, a = (later - before) / (2.0 * h), (later - 2.0 * q + before) / h**2
    tau = robot.inverse_dynamics(q, v, a) + 3.0 * v
    noise = 0.002 * np.random.default_rng(0).normal(size=q.shape) * tau.std(axis=0)
    found = dy.identify(robot, Log(t, position(t[np.arange(1200) // 2 * 2]), tau + noise), compare=())
    assert not [f.text for f in found.log_findings if f.code == "disturbance"]


def test_many_pushes_are_no_disturbance_but_what_the_robot_is_like():
    found = identified(log([(k, k + 0.3) for k in np.arange(2.0, 18.0, 2.0)]))
    assert not any(f.code == "disturbance" for f in found.log_findings)


def test_the_cure_is_that_of_the_command_line_there():
    assert (
        for_command_line("leave it out with leave_out=(7.965,8.666). More") == "leave it out with --leave-out 7.965,8.666. More"
    )
    both = for_command_line("leave them out with leave_out=[(1,2.5),(3,4)]; more")
    assert both == "leave them out with --leave-out 1,2.5 --leave-out 3,4; more"


@pytest.mark.parametrize("wrong", [(2.0, 1.0), (1.0,), "now", [(1.0, 2.0, 3.0)], (1.0, np.nan)])
def test_times_to_leave_out_are_pairs_in_order(wrong):
    with pytest.raises(dy.InputError, match=r"leave_out= takes the start and the end of a time in s"):
        identified(log([]), signals={"leave_out": wrong})


def teststatic_friction_explains_residuals_of_joints_at_rest_but_not_of_those_that_reverse():
    robot = dy.load("planar_2r_melchiorri")
    t = np.arange(2000) / 200.0
    moving = np.where((t > 4.0) & (t < 6.0), 0.0, 1.0)
    v = np.stack([np.cos(2.0 * t) * moving, np.sin(3.0 * t)], axis=1)  # the first joint rests for 2 s, the second reverses
    q, a = np.cumsum(v, axis=0) / 200.0, np.gradient(v, 1.0 / 200.0, axis=0)
    tau = robot.inverse_dynamics(q, v, a)
    run = dy.identification.Samples(t, q, v, a, tau, np.ones(tau.shape, bool), 1.0 / 200.0, 4.0, 5)
    rows = equations(base_parameters(LinearModel(robot, rotor=False)), [run])
    found = static_friction(rows, [run], {"joint1.coulomb": 3.0, "joint2.coulomb": 2.0})
    first, second = (found[rows.joint == j] for j in range(2))
    at = rows.t[rows.joint == 0]
    assert np.all(first[(at > 4.2) & (at < 5.8)] == 6.0)
    assert not first[(at < 3.7) | (at > 6.3)].any()
    assert not second.any()

"""Positions that jump while their joint moves on are named; held and late samples are no jumps."""

from dataclasses import replace

import numpy as np
import pytest
from examined_logs import measured
from spoiled_logs import three_joints

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.logs import Log, examine

ROBOTS = {name: dy.load(name) for name in ("ur5e", "stanford")}
UR = ROBOTS["ur5e"]
CLEAN = measured(UR)


@pytest.mark.parametrize("name", ["ur5e", "stanford"])
def test_a_position_that_jumps_while_its_joint_moves_on_is_named(name):
    robot, log = ROBOTS[name], measured(ROBOTS[name])
    q = log.q.copy()
    q[700:, 2] += 0.1
    (finding,) = [f for f in examine(replace(log, q=q, v=None), robot) if f.severity == "error"]
    assert (finding.code, finding.column, finding.row) == ("position jump", log.column("q", 2), 700)
    assert "leave_out=(3.5," in finding.cure
    spike, lost = log.q.copy(), np.delete(np.arange(1200), np.arange(600, 640))
    spike[700, 2] += 0.1
    kept = replace(log, q=log.q[lost], t=log.t[: len(lost)], tau=log.tau[lost], v=None)
    assert not any(f.code == "position jump" for each in (replace(log, q=spike, v=None), kept) for f in examine(each, robot))


def jumps(t, q):
    log = Log(t, q, np.ones_like(q), names=CLEAN.names)
    return [f.text for f in examine(log, UR) if f.code == "position jump"]


def test_samples_whose_message_waited_are_no_jump_of_the_position():
    t, q = CLEAN.t[::5].copy(), CLEAN.q[::5]
    fastest = int(np.argmax(np.abs(np.diff(q[:, 2]))[20:-20])) + 20
    t[fastest] = t[fastest + 1] - 4e-3
    assert not jumps(t, q)


def test_a_position_that_was_held_does_not_jump_when_it_is_read_again():
    q = CLEAN.q[::5].copy()
    fastest = int(np.argmax(np.abs(np.diff(q[:, 2]))[20:-20])) + 20
    q[fastest - 5 : fastest, 2] = q[fastest - 6, 2]
    assert not jumps(CLEAN.t[::5], q)


def test_a_jump_at_the_end_of_a_time_left_out_is_not_refused():
    arm = three_joints()
    log = replace(measured(arm), v=None)
    log.q[700:, 2] += 0.1
    with pytest.raises(InputError, match="jumps by"):
        dy.identify(arm, log, compare=(), estimator="weighted")
    dy.identify(arm, log, compare=(), estimator="weighted", signals={"leave_out": (3.5, 6.0)})

"""Raw logs examined: every mistake is named with its column and row, and clean logs of many robots pass in silence."""

from dataclasses import replace

import numpy as np
import pytest
from examined_logs import measured
from small_machines import ball_joint

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.identify import look_at
from dynamis.identification.logs import Log, LogFinding, examine, raise_errors
from dynamis.identification.signals import prepare

ROBOTS = {name: dy.load(name) for name in ("ur5e", "panda", "puma560", "stanford", "planar_2r_melchiorri")}
UR = ROBOTS["ur5e"]
CLEAN = measured(UR)


def only(findings, severity, code, column, row):
    (found,) = [f for f in findings if f.code == code and f.column == column]
    assert (found.severity, found.row) == (severity, row)
    place = f"line {row + 2}" if row is not None else ""
    assert place in found.text
    if column is not None:
        assert column in found.text or column == "t"
    assert found.cure
    assert found.text in str(found)
    return found


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_clean_logs_pass_in_silence(name, seed):
    robot = ROBOTS[name]
    log = measured(robot, seed)
    assert examine(log, robot) == []
    assert examine(replace(log, v=None), robot) == []
    assert examine(log[::20], robot) == []
    raise_errors(examine(log, robot))


def test_simulated_motions_pass_in_silence():
    for name in ("planar_2r_melchiorri", "puma560"):
        robot = ROBOTS[name]
        goal = np.linspace(0.5, 1.0, robot.n)

        def law(t, q, v, goal=goal):
            return -60.0 * (q - goal * np.sin(2.0 * t)) - 8.0 * v

        run = dy.simulate(robot, 2.0, torque=law, points=401)
        log = Log(run.t, run.q, run.tau, v=run.v, names=robot.coordinate_names)
        assert [f for f in examine(log, robot) if f.code != "beyond limits"] == []


def test_joints_in_step_and_plateaus_of_speed_are_no_mistakes():
    t = np.arange(800) / 200
    s = np.clip(t - 0.5, 0, 2.5)
    q = s[:, None] * np.linspace(0.2, 0.5, 6) - 0.5
    v = np.where((t > 0.5) & (t < 3.0), 1.0, 0.0)[:, None] * np.linspace(0.2, 0.5, 6)
    assert examine(Log(t, q, UR.inverse_dynamics(q, v, 0 * v), v=v, names=UR.coordinate_names), UR) == []


def test_numbers_that_are_none_are_named_and_counted():
    tau, q = CLEAN.tau.copy(), CLEAN.q.copy()
    tau[40:45, 2] = np.nan
    q[17, 0] = np.inf
    found = examine(replace(CLEAN, tau=tau, q=q), UR)
    assert "5 rows in total" in only(found, "error", "not a number", "tau.elbow_joint", 40).text
    assert "is inf" in only(found, "error", "not a number", "q.shoulder_pan_joint", 17).text
    assert len(found) == 2
    t = CLEAN.t.copy()
    t[3] = np.nan
    only(examine(replace(CLEAN, t=t), UR), "error", "not a number", "t", 3)
    assert {f.code for f in examine(replace(CLEAN, tau=np.full_like(tau, np.nan)), UR)} == {"not a number"}


def test_too_few_samples_are_named():
    found = examine(CLEAN[:12], UR)
    only(found, "error", "few samples", None, 11)
    with pytest.raises(InputError, match=r"cannot be used: the log has 12 samples, which end at 'run\.csv' line 13"):
        raise_errors(found)
    assert [f.code for f in examine(CLEAN[:0], UR)] == ["few samples"]


def test_times_that_go_back_stand_or_jump_are_named():
    t = CLEAN.t.copy()
    t[500:] -= 1.0
    only(examine(replace(CLEAN, t=t), UR), "error", "time goes back", "t", 500)
    t = CLEAN.t.copy()
    t[[300, 700]] = t[[299, 699]]
    assert "2 rows in total" in only(examine(replace(CLEAN, t=t), UR), "error", "time repeated", "t", 300).text
    t = CLEAN.t.copy()
    t[333:] += 5.0
    found = examine(replace(CLEAN, t=t), UR)
    assert "clock jumps by 5.005 s" in only(found, "error", "clock jump", "t", 333).text
    assert len(found) == 1


@pytest.mark.parametrize("back", [0.5, 0.5025])
def test_a_clock_set_back_in_rows_sorted_by_time_is_named_with_the_rows(back):
    t = np.where(np.arange(len(CLEAN)) >= 600, CLEAN.t - back, CLEAN.t)
    order = np.argsort(t, kind="stable")
    mixed = replace(CLEAN, **{name: getattr(CLEAN, name)[order] for name in ("q", "v", "tau")}, t=t[order])
    (found,) = [f for f in examine(mixed, UR) if f.column == "t"]
    assert (found.severity, found.code) == ("error", "two recordings")
    assert abs(found.row - 500) <= 3
    assert "the clock had been set back" in found.text
    assert "in the order in which they were recorded" in found.cure
    toggling = np.where(np.arange(len(CLEAN))[:, None] % 2, CLEAN.q[:1], CLEAN.q[:1] + 2.0 * np.pi / 2**17)  # at rest
    assert not [f for f in examine(replace(CLEAN, q=toggling), UR) if f.code == "two recordings"]


def test_rows_recorded_twice_are_used_once():
    rows = np.r_[0:700, 600 : len(CLEAN)]
    twice = replace(CLEAN, **{name: getattr(CLEAN, name)[rows] for name in ("t", "q", "v", "tau")})
    (run,) = prepare(twice, UR, cutoff=10.0)
    (once,) = prepare(CLEAN, UR, cutoff=10.0)
    assert np.array_equal(run.tau, once.tau)
    assert any(
        "recorded before, with the same time and values, dropped: 100 lines" in note for note in prepare(twice, UR).notes
    )


def test_missing_samples_are_told_from_jumps_of_the_clock():
    kept = np.r_[0:333, 363:1200]
    log = Log(CLEAN.t[kept], CLEAN.q[kept], CLEAN.tau[kept], v=CLEAN.v[kept], names=CLEAN.names, first_row=2, row_word="line")
    found = examine(log, UR)
    assert "30 samples are missing at one place" in only(found, "warning", "gap", "t", 333).text
    assert len(found) == 1
    rng = np.random.default_rng(0)
    jitter = CLEAN.t + 0.3 * 0.005 * rng.uniform(-1, 1, size=len(CLEAN))
    assert [f.code for f in examine(replace(CLEAN, t=jitter, v=None), UR)] == []


@pytest.mark.parametrize("rate", [250.0, 1000.0])
@pytest.mark.parametrize("lost", [0.01, 0.1, 0.2])
@pytest.mark.parametrize("resolution", [1e-4, 1e-5])
def test_lost_rows_of_coarse_encoders_are_no_clock_jumps(rate, lost, resolution):
    for seed in range(4):
        log = measured(UR, seed, noise=resolution, rate=rate, seconds=10.0)
        kept = np.random.default_rng(seed).random(len(log)) >= lost
        log = replace(log, t=log.t[kept], q=np.round(log.q[kept] / resolution) * resolution, v=None, tau=log.tau[kept])
        assert [f.code for f in examine(log, UR) if f.severity == "error"] == []


def test_polled_logs_have_no_clock_jumps():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        steps = np.where(rng.random(8000) < 0.05, rng.uniform(1, 8, 8000), rng.uniform(0.6, 1.4, 8000))
        t = np.cumsum(steps) * 1e-3
        q = np.sin(np.outer(t, 1.0 + 0.2 * np.arange(6))) + 1e-4 * rng.normal(size=(8000, 6))
        assert [f for f in examine(Log(t, q, np.cos(q), names=UR.coordinate_names), UR) if f.code == "clock jump"] == []


@pytest.mark.parametrize("periods", [5, 20, 200])
def test_clock_jumps_are_found_among_lost_rows(periods):
    for seed in range(4):
        log = measured(UR, seed, noise=1e-5)
        kept = np.random.default_rng(seed).random(len(log)) >= 0.05
        kept[595:606] = True
        t = np.where(np.arange(len(log)) >= 600, log.t + periods * 0.005, log.t)
        log = replace(log, t=t[kept], q=log.q[kept], v=None, tau=log.tau[kept])
        only(examine(log, UR), "error", "clock jump", "t", int(kept[:600].sum()))


def test_late_stamps_that_are_caught_up_are_no_clock_jumps():
    t = CLEAN.t.copy()
    for k in range(50, 1150, 50):
        t[k : k + 5] = t[k + 4] + 1e-4 * np.arange(5)
    assert not [f for f in examine(replace(CLEAN, t=t, v=None), UR) if f.severity == "error"]


def test_rounded_times_are_averaged_and_noted():
    log = measured(UR, noise=1e-5, rate=1000.0)
    t = np.cumsum(1e-3 * np.random.default_rng(3).uniform(0.3, 1.7, len(log)))
    found = examine(replace(log, t=np.round(t, 3), v=None), UR)
    (rounded,) = [f for f in found if f.column == "t"]
    assert (rounded.severity, rounded.code) == ("warning", "time rounded")
    assert "rounded to 0.001 s" in rounded.text
    rows = np.repeat(np.arange(len(log)), 1 + (np.arange(len(log)) % 10 == 0))  # each tenth row twice, with another torque
    log = replace(log, t=log.t[rows], q=log.q[rows], v=None, tau=log.tau[rows] + 1e-3 * np.arange(len(rows))[:, None])
    assert "time repeated" in [f.code for f in examine(log, UR) if f.severity == "error"]


def test_joints_that_are_held_are_named():
    q, v = CLEAN.q.copy(), CLEAN.v.copy()
    q[:, 3], v[:, 3] = 0.7, 0.0
    found = examine(replace(CLEAN, q=q, v=v), UR)
    only(found, "warning", "constant", "q.wrist_1_joint", 0)
    assert len(found) == 1
    found = examine(replace(CLEAN, q=0 * q, v=0 * v), UR)
    assert [f.severity for f in found if f.code == "constant"] == ["error"] * 6


@pytest.mark.parametrize("name", ["ur5e", "panda", "puma560"])
def test_degrees_for_radians_are_named(name):
    robot = ROBOTS[name]
    log = measured(robot)
    both = examine(replace(log, q=np.degrees(log.q), v=np.degrees(log.v)), robot)
    wide = [k for k in range(robot.n) if np.abs(np.degrees(log.q[:, k])).max() > 13]
    columns = {f.column for f in both if f.code == "degrees" and f.severity == "error"}
    assert {f"q.{robot.coordinate_names[k]}" for k in wide} <= columns
    row = int(
        np.argmax(
            np.abs(np.degrees(log.q[:, wide[0]]))
            > max(np.abs([robot.limits["lower"][wide[0]], robot.limits["upper"][wide[0]]]))
        )
    )
    only(both, "error", "degrees", f"q.{robot.coordinate_names[wide[0]]}", row)
    velocities = examine(replace(log, v=np.degrees(log.v)), robot)
    assert {f.column for f in velocities if f.code == "wrong unit"} == {f"v.{x}" for x in robot.coordinate_names}
    assert "degrees/s" in velocities[0].text


@pytest.mark.parametrize(
    ("column", "code", "cure"),
    [
        (
            "motor_pos_{} [rev]",
            "motor side",
            'set side = "motor" under [position] in a mapping, and ratios under [transmission]',
        ),
        ("antrieb_{}", "motor side", "; or, if it is of the joint, its true unit"),
        ("pos_{} [rev]", "motor side", "; or, if it is of the joint, its true unit"),
        ("pos_{}", "degrees", 'name the column "pos_0 [deg]"'),
    ],
)
def test_positions_of_motors_taken_for_those_of_joints_are_named(column, code, cure):
    columns = {"q": tuple(column.format(k) for k in range(UR.n))}
    found = examine(replace(CLEAN, q=60.0 * CLEAN.q, v=None, columns=columns), UR)
    first = next(f for f in found if f.severity == "error")
    assert (first.code, first.column) == (code, columns["q"][0])
    assert cure in first.cure


def test_small_motions_in_degrees_are_seen_by_their_velocities():
    log = measured(UR, reach=0.02, noise=0.0)
    found = examine(replace(log, q=np.degrees(log.q - log.q.mean(0))), UR)
    assert {f.code for f in found} <= {"wrong unit", "beyond limits", "degrees"}
    assert any("positions are in degrees" in f.text for f in found)


def test_angles_that_wrap_are_named():
    t = np.arange(1200) / 200
    q, v = CLEAN.q.copy(), CLEAN.v.copy()
    q[:, 5], v[:, 5] = 2.0 * t - 6.0, 2.0
    wrapped = q.copy()
    wrapped[:, 5] = (q[:, 5] + np.pi) % (2 * np.pi) - np.pi
    row = int(np.argmax(np.abs(np.diff(wrapped[:, 5])) > 3)) + 1
    only(examine(replace(CLEAN, q=wrapped, v=v), UR), "error", "wrapped", "q.wrist_3_joint", row)


def test_positions_beyond_limits_are_named():
    q = CLEAN.q.copy()
    q[:, 2] += 3.3
    lower, upper = UR.limits["lower"][2], UR.limits["upper"][2]
    row = int(np.argmax((q[:, 2] > upper + 0.05 * (upper - lower)) | (q[:, 2] < lower - 0.05 * (upper - lower))))
    found = only(examine(replace(CLEAN, q=q), UR), "warning", "beyond limits", "q.elbow_joint", row)
    assert "'elbow_joint'" in found.text
    motor = replace(CLEAN, q=100 * CLEAN.q, v=100 * CLEAN.v, tau=CLEAN.tau / 100, side="motor")
    assert examine(motor, UR) == []


def test_swapped_turned_and_foreign_velocities_are_named():
    found = examine(replace(CLEAN, v=CLEAN.v[:, [0, 4, 2, 3, 1, 5]]), UR)
    (one,) = found
    assert (one.severity, one.code, one.column, one.row) == ("error", "swapped velocities", "v.shoulder_lift_joint", 0)
    assert "'wrist_2_joint'" in one.text
    assert "v.wrist_2_joint" in one.text
    found = examine(replace(CLEAN, v=CLEAN.v * [1, 1, -1, 1, 1, 1]), UR)
    assert "signs = " in only(found, "error", "wrong sign", "v.elbow_joint", 0).cure
    assert len(found) == 1
    v = CLEAN.v.copy()
    v[:, 3] = np.random.default_rng(0).normal(size=len(v))
    only(examine(replace(CLEAN, v=v), UR), "warning", "velocity disagrees", "v.wrist_1_joint", 0)
    only(examine(replace(CLEAN, v=CLEAN.v * [1, 1, 1, 50, 1, 1]), UR), "error", "wrong unit", "v.wrist_1_joint", 0)


def test_torques_that_are_flat_clipped_or_too_large_are_named():
    tau = CLEAN.tau.copy()
    tau[:, 1] = 3.0
    only(examine(replace(CLEAN, tau=tau), UR), "error", "flat torque", "tau.shoulder_lift_joint", 0)
    tau = CLEAN.tau.copy()
    top = np.quantile(tau[:, 2], 0.9)
    tau[:, 2] = np.minimum(tau[:, 2], top)
    found = examine(replace(CLEAN, tau=tau), UR)
    (one,) = found
    assert (one.code, one.column) == ("clipped", "tau.elbow_joint")
    assert tau[one.row, 2] == top
    found = examine(replace(CLEAN, tau=CLEAN.tau * 1000), UR)
    assert {(f.code, f.severity) for f in found} >= {("beyond effort limit", "error")}


def test_a_rest_at_the_largest_torque_is_not_clipping():
    still = 400
    log = replace(
        CLEAN,
        t=np.arange(len(CLEAN) + still) / 200,
        q=np.concatenate([np.repeat(CLEAN.q[:1], still, 0), CLEAN.q]),
        v=np.concatenate([np.zeros((still, 6)), CLEAN.v]),
        tau=np.concatenate([np.repeat(CLEAN.tau.max(0)[None], still, 0), CLEAN.tau]),
    )
    assert examine(log, UR) == []


def test_robots_with_quaternions_are_examined_too():
    robot = ball_joint()
    run = dy.simulate(robot, 1.0, v0=[1.0, 2.0, 0.5], torque=lambda t, q, v: -0.1 * v, points=201)
    log = Log(run.t, run.q, run.tau, v=run.v, names=robot.coordinate_names)
    assert [f.code for f in examine(log, robot)] == []
    assert {f.code for f in examine(replace(log, v=-log.v), robot)} == {"wrong sign"}


def test_a_log_with_other_joints_is_refused():
    with pytest.raises(InputError, match="6 positions and 6 torques, the robot 7 and 7: it is a log of another robot"):
        examine(CLEAN, ROBOTS["panda"])


def test_one_cause_in_all_columns_is_one_error():
    with pytest.raises(InputError) as error:
        raise_errors(examine(replace(CLEAN, q=np.degrees(CLEAN.q), v=None), UR))
    assert str(error.value).count("degrees") == 1
    assert "likewise columns 'q.shoulder_lift_joint', 'q.elbow_joint'" in str(error.value)


def test_errors_are_listed_and_warnings_pass():
    warning = LogFinding("warning", "a", None, None, "something", "leave it")
    raise_errors([warning])
    errors = [LogFinding("error", "b", "q", 3, f"thing {k}", "mend it") for k in (1, 2)]
    with pytest.raises(InputError, match=r"cannot be used:\n- thing 1; mend it\n- thing 2; mend it"):
        raise_errors([warning, *errors])


def test_one_bad_row_is_a_spike_and_not_a_unit():
    q = CLEAN.q.copy()
    q[700] = 99.0
    found = examine(replace(CLEAN, q=q), UR)
    assert "degrees" not in {f.code for f in found}
    spike = only(found, "error", "beyond limits", f"q.{UR.coordinate_names[0]}", 700)
    assert spike.mends
    assert "in 1 row of 1200 only" in spike.text
    (run, *others) = prepare(replace(CLEAN, q=q), UR).samples
    assert not others
    assert np.abs(run.q).max() < 4.0
    look_at([spike], [])
    with pytest.raises(InputError, match="beyond the limits"):
        look_at([spike], [], outliers=False)


def test_positions_and_torques_in_each_others_columns_are_not_degrees():
    codes = {f.code for f in examine(replace(CLEAN, q=CLEAN.tau, tau=CLEAN.q, v=None), UR)}
    assert "swapped signals" in codes
    assert "degrees" not in codes


def test_a_fast_joint_without_limits_is_judged_by_its_speed_and_named_alone():
    robot = dy.load("scara")
    free = robot.replace(limits={robot.coordinate_names[3]: {"lower": -np.inf, "upper": np.inf, "velocity": np.inf}})
    log = measured(robot)
    q = log.q.copy()
    q[:, 3] = 40.0 * np.sin(2.0 * log.t)
    found = [f for f in examine(replace(log, q=q, v=None, a=None), free) if f.code == "degrees"]
    assert len(found) == 1
    assert "per second; in rad/s, no arm is that fast" in found[0].text
    assert "inf" not in found[0].text
    assert f'"{found[0].column} [deg]"' in found[0].cure

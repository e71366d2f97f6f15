"""Logs as they come from the shop floor: what must be read, mended or refused, and in which words."""

import re
from dataclasses import replace

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification import (
    LinearModel,
    Log,
    Mapping,
    examine,
    prepare,
    read_log,
)
from dynamis.identification.identify import identify
from dynamis.identification.signals.stages import notes_on_runs

ARM = dy.load("planar_2r_melchiorri")
T = np.arange(1500) * 0.004
W, PHASE = np.array([1.3, 2.1]), np.array([0.0, 1.0])
Q = np.sin(W * T[:, None] + PHASE)
V, A = W * np.cos(W * T[:, None] + PHASE), -(W**2) * Q
TAU = ARM.inverse_dynamics(Q, V, A) + np.random.default_rng(0).normal(size=Q.shape)
CLEAN = Log(T, Q, TAU, names=ARM.coordinate_names, source="run.csv", first_row=2, row_word="line")
HEAD = "t,q1,q2,tau1,tau2"


def lines(columns=(T, Q, TAU), pattern="{}"):
    return [pattern.format(",".join(f"{x:.9g}" for x in row)) for row in np.column_stack(columns)[:60]]


def read(tmp_path, *text, name="run.csv"):
    (tmp_path / name).write_text("\n".join(text) + "\n")
    return read_log(tmp_path / name, ARM)


def codes(log):
    return {f.code: f for f in examine(log, ARM)}


@pytest.mark.parametrize(("factor", "unit"), [(1e3, "ms"), (1e6, "us"), (1e9, "ns")])
def test_times_in_another_unit_are_refused(factor, unit):
    found = codes(replace(CLEAN, t=T * factor))["wrong unit"]
    assert (found.severity, found.column) == ("error", "t")
    assert f"the times seem to be in {unit}, 250 samples per second" in found.text
    assert f'"t [{unit}]"' in found.cure


def test_a_few_bad_rows_are_mended_by_identify_and_noted():
    tau = TAU.copy()
    tau[:3] = np.nan
    rows = np.sort(np.r_[np.arange(len(T)), [400, 400]])
    log = Log(T[rows], Q[rows], tau[rows], names=ARM.coordinate_names, source="run.csv")
    assert all(f.mends for f in examine(log, ARM) if f.severity == "error")
    found = identify(LinearModel(ARM, friction=(), rotor=False), log, estimator="ordinary", compare=())
    assert found.validation.held_out < 1.0
    mended = [note for note in found.notes if note.startswith("repaired: ")]
    assert len(mended) == 3
    assert any("is nan at 'run.csv' row 0, and in 3 rows" in note for note in mended)


def test_many_bad_rows_are_still_refused():
    tau = TAU.copy()
    tau[100:300, 1] = np.nan
    with pytest.raises(InputError, match=r"'tau\.joint2' is nan at 'run\.csv' line 102, and in 200 rows"):
        identify(ARM, replace(CLEAN, tau=tau))


def test_columns_nobody_asked_for_may_hold_words(tmp_path):
    log = read(tmp_path, HEAD + ",mode", *lines(pattern="{},AUTO"))
    assert len(log) == 60
    assert np.allclose(log.tau, TAU[:60])
    with pytest.raises(InputError, match=r"line 2, column 'tau2' contains 'AUTO', which is not a number"):
        read(tmp_path, "t,q1,q2,tau1,old,tau2", *lines(pattern="{},AUTO"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            [HEAD, "clock,near,far,up,down", *lines()],
            "line 2 has text ('clock', 'near', 'far', 'up') but no numbers; remove it, or comment it out with #",
        ),
        ([HEAD, *lines(pattern="{},")], "line 2 has 6 cells for 5 columns: it ends with ','"),
        (
            [HEAD, *lines(), "0.24,0.3"],
            "line 62 has 2 cells for 5 columns: the file is truncated or edited there; remove the line",
        ),
        ([HEAD, "0,1,5,2,5,3,5,4,5"], "line 2 has about twice as many numbers as there are columns, typical of decimal commas"),
        (
            [HEAD, "2024-13-01T10:00:00,1,2,3,4"],
            "column 't' contains '2024-13-01T10:00:00', which is not a date or a time of day; write",
        ),
        (
            ["t,q1,q2,q3,tau1,tau2,tau3", "0,1,2,3,4,5,6"],
            "'q1' to 'q3' are 3 columns, but the robot needs 2; it is a log of another",
        ),
    ],
)
def test_messages_name_the_place_and_the_cure(tmp_path, text, words):
    with pytest.raises(InputError, match=re.escape(words)):
        read(tmp_path, *text)


def test_a_joint_without_columns_is_named(tmp_path):
    arm = dy.load("scara")
    head = ",".join(["t", *(f"{word}.joint{k}" for word in ("position", "effort") for k in (1, 2, 4))])
    (tmp_path / "run.csv").write_text(f"{head}\n{','.join('0123456')}\n")
    with pytest.raises(
        InputError, match=r"no columns of position were recognised: there is no column for 'joint3'; it is a log"
    ):
        read_log(tmp_path / "run.csv", arm)


@pytest.mark.parametrize(
    "head",
    [
        "time (sec),q1 (rad),q2 (radians),tau1 (N.m),tau2 (N m)",
        "__time,/joint_states/joint1/position,/joint_states/joint2/position,/joint_states/joint1/effort,/joint_states/joint2/effort",
        "t,pos_joint1,pos_joint2,eff_joint1,eff_joint2",
    ],
)
def test_common_ways_to_name_columns_are_read(tmp_path, head):
    log = read(tmp_path, head, *lines())
    assert np.allclose(log.q, Q[:60])
    assert np.allclose(log.tau, TAU[:60])


def test_degrees_in_words_are_degrees(tmp_path):
    log = read(tmp_path, "t,q1 [degrees],q2 [degrees],tau1,tau2", *lines((T, np.degrees(Q), TAU)))
    assert np.allclose(log.q, Q[:60])


@pytest.mark.parametrize("names", ["desired/q{n}", "desired/q.joint{n}"])
def test_two_folders_with_the_same_signal_are_not_chosen_between(tmp_path, names):
    both = [names.format(n=k) for k in (1, 2)]
    both += [name.replace("desired", "measured") for name in both]
    with pytest.raises(InputError, match=r"the position is ambiguous: 'desired/q.*' or 'measured/q"):
        read(tmp_path, ",".join(["t", *both, "tau1", "tau2"]), *lines((T, Q, Q, TAU)))


def test_a_joint_that_hardly_moves_is_named():
    q = Q * [1.0, 0.01]
    found = codes(replace(CLEAN, q=q))["little motion"]
    assert (found.severity, found.column) == ("warning", "q.joint2")
    assert "does not move" not in found.text


def test_a_flat_torque_is_not_minus_zero():
    assert "is 0 in every row" in codes(replace(CLEAN, tau=TAU * [1.0, -0.0]))["flat torque"].text


def test_every_takes_whole_numbers_above_zero():
    with pytest.raises(InputError, match="every=0 must be an integer number of rows, 1 or more"):
        prepare(CLEAN, ARM, every=0, cutoff=10.0)


def test_messages_of_a_bag_without_efforts_at_first(tmp_path):
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore

    types = get_typestore(Stores.ROS2_HUMBLE)
    State, Header, Time = (
        types.types[x] for x in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )

    def bag(name, efforts_from):
        with Writer(tmp_path / name, version=8) as writer:
            topic = writer.add_connection("/joint_states", State.__msgtype__, typestore=types)
            for k in range(50):
                effort = TAU[k] if k >= efforts_from else np.zeros(0)
                header = Header(stamp=Time(sec=7, nanosec=4_000_000 * k), frame_id="")
                state = State(header=header, name=["joint1", "joint2"], position=Q[k], velocity=np.zeros(0), effort=effort)
                writer.write(topic, 4_000_000 * k, types.serialize_cdr(state, State.__msgtype__))
        return read_log(tmp_path / name, ARM)

    log = bag("late", 3)
    assert np.isnan(log.tau[:3]).all()
    assert np.allclose(log.tau[3:], TAU[3:50])
    with pytest.raises(
        InputError, match="no columns of torque were recognised; its messages have no effort, which the robot's driver"
    ):
        bag("never", 50)


def test_a_mapping_may_say_only_what_the_names_do_not(tmp_path):
    read(tmp_path, HEAD, *lines((T, np.degrees(Q), TAU * [1.0, -1.0])))
    mapping = Mapping.parse('[position]\nunit = "deg"\n[torque]\nsigns = [1, -1]\n')
    log = read_log(tmp_path / "run.csv", ARM, mapping)
    assert np.allclose(log.q, Q[:60])
    assert np.allclose(log.tau, TAU[:60])
    only_signs = read_log(tmp_path / "run.csv", ARM, Mapping.parse("[torque]\nsigns = [1, -1]"))
    assert np.allclose(only_signs.tau, log.tau)
    assert np.allclose(only_signs.q, np.degrees(Q[:60]))
    with pytest.raises(InputError, match=r"\[torque\] lists no columns for \[joints\] order"):
        read_log(tmp_path / "run.csv", ARM, Mapping.parse('[torque]\nunit = "Nm"\n[joints]\norder = ["joint2", "joint1"]'))
    with pytest.raises(InputError, match=r"takes either columns .* not both"):
        Mapping.parse('[torque]\ncolumns = ["a"]\npattern = "tau{n}"')


def test_matlab_files_and_newton_millimetres_are_read(tmp_path):
    from scipy.io import savemat

    run = {"time": T[:, None], "q": Q, "tau": TAU}
    savemat(tmp_path / "run.mat", run)
    savemat(tmp_path / "nested.mat", {"run": run, "title": "x"}, do_compression=True)
    for name in ("run.mat", "nested.mat"):
        log = read_log(tmp_path / name, ARM)
        assert np.allclose(log.q, Q)
        assert np.allclose(log.t, T)
    log = read_log(tmp_path / "run.mat", ARM, Mapping.parse('[torque]\nunit = "Nmm"'))
    assert np.allclose(log.tau, TAU / 1000.0)
    (tmp_path / "bad.mat").write_bytes((tmp_path / "nested.mat").read_bytes()[:300])
    with pytest.raises(InputError, match="it is corrupt or not a MATLAB file"):
        read_log(tmp_path / "bad.mat", ARM)


def test_matlab_files_of_version_7_3_are_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    plain = tmp_path / "plain.h5"
    with h5py.File(plain, "w", userblock_size=512) as file:
        file["t"], file["q"], file["tau"] = T[None, :], Q.T, TAU.T
    path = tmp_path / "new.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + plain.read_bytes()[512:])
    log = read_log(path, ARM)
    assert np.allclose(log.q, Q)
    assert np.allclose(log.tau, TAU)


def test_names_of_universal_robots_are_read(tmp_path):
    log = read(tmp_path, "timestamp,actual_q_0,actual_q_1,actual_current_as_torque_0,actual_current_as_torque_1", *lines())
    assert np.allclose(log.tau, TAU[:60])


def test_terms_that_the_log_needs_are_added_to_the_model():
    log = replace(CLEAN, tau=TAU + np.array([20.0, -10.0]))
    found = identify(ARM, log, compare=(), estimator="weighted")
    assert found.base.model.settings["offset"]
    assert any(note.startswith("terms added to the model") and "offsets" in note for note in found.notes)
    assert found.as_dict()["estimator"] == "WeightedLeastSquares, default settings"
    fast = np.gradient(CLEAN.q[:, 0], CLEAN.t)
    found = identify(ARM, replace(CLEAN, tau=TAU + np.outer(100.0 * fast * np.abs(fast), [1.0, 0.0])), compare=())
    assert any(f"quadratic friction of {ARM.coordinate_names[0]}" in note for note in found.notes)
    assert not any("terms added" in note for note in identify(ARM, CLEAN, compare=(), estimator="weighted").notes)


@pytest.mark.parametrize("kind", ["polled", "delayed", "lost", "rounded"])
def test_logs_of_uneven_and_lossy_clocks_are_identified(kind):
    rng, count = np.random.default_rng(7), 12_000
    steps = {
        "polled": rng.uniform(0.3, 1.7, count),
        "delayed": np.where(rng.random(count) < 0.05, rng.uniform(1.0, 8.0, count), rng.uniform(0.6, 1.4, count)),
        "lost": rng.geometric(0.8, count).astype(float),
        "rounded": rng.uniform(0.3, 1.7, count),
    }
    w, phase = np.array([1.3, 2.1]), np.array([0.0, 1.0])
    wanted = np.sin(np.outer(np.linspace(0.0, 8.0, 50), [1.7, 1.1])) * [1.0, 0.7]
    t = np.cumsum(steps[kind]) * 1e-3
    angle = w * t[:, None] + phase
    tau = ARM.inverse_dynamics(np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle))
    q = np.round((np.sin(angle) + 2e-5 * rng.normal(size=angle.shape)) / 5e-5) * 5e-5
    log = Log(np.round(t, 3 if kind == "rounded" else 6), q, tau + rng.normal(size=tau.shape), names=ARM.coordinate_names)
    found = identify(LinearModel(ARM, friction=(), rotor=False), log, estimator="ordinary", compare=())
    truth = ARM.inverse_dynamics(wanted, wanted[::-1], -wanted)
    error = np.linalg.norm(found.robot.inverse_dynamics(wanted, wanted[::-1], -wanted) - truth) / np.linalg.norm(truth)
    assert error < 5e-4


def test_a_joint_that_rests_in_one_run_only_is_not_said_to_rest_always():
    robot = dy.load("planar_2r_melchiorri")
    moving, first, both = np.array([False, False]), np.array([True, False]), np.array([True, True])
    assert notes_on_runs(3, 3, [moving] * 3, robot) == []
    assert notes_on_runs(2, 2, [first, first], robot) == ["joint1: does not move, taken to be at rest"]
    assert notes_on_runs(3, 4, [first, both, moving], robot) == [
        "joint1: does not move in 2 of 3 runs, taken to be at rest there",
        "joint2: does not move in 1 of 3 runs, taken to be at rest there",
        "1 of 4 runs dropped: too short for the filters, or without motion",
    ]

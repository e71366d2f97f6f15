"""The whole road: logs of a simulated robot in, a better model file out; logs that are wrong are refused where they are wrong."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from campaign_params import few_of
from click.testing import CliRunner
from spoiled_logs import three_joints

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.control import ComputedTorque, perturbed
from dynamis.identification import LeastSquares, LinearModel, Log, Ridge, Samples, WeightedLeastSquares, design_excitation

RATE = 250.0
SIGNALS = {"slow": 0.05}  # a joint that sticks has a friction that nobody knows


def with_friction(robot):
    d = robot.description
    for k, joint in enumerate(d.joints):
        joint.drive.viscous, joint.drive.coulomb, joint.drive.rotor_inertia = (3.0, 4.0, 0.5) if k < 3 else (1.0, 1.0, 0.1)
    return dy.Robot(d)


def write_csv(path, t, q, tau):
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["t", *(f"q{k + 1}" for k in range(q.shape[1])), *(f"tau{k + 1}" for k in range(tau.shape[1]))])
        table.writerows(np.column_stack([t, q, tau]).tolist())
    return path


@pytest.fixture(scope="module")
def truth():
    return with_friction(dy.load("ur5e"))


@pytest.fixture(scope="module")
def prior(truth):
    return perturbed(truth, 0.2, seed=1)


@pytest.fixture(scope="module")
def logs(truth, prior, tmp_path_factory):
    """Two runs of a controller that knows the prior and follows a designed motion, with noise of the sensors; no velocities."""
    folder, rng = tmp_path_factory.mktemp("logs"), np.random.default_rng(0)
    paths = []
    for seed, name in enumerate(("train.npz", "other.csv")):
        wanted = design_excitation(prior, duration=6.0, harmonics=4, restarts=1, seconds=0.5, seed=seed)
        law = ComputedTorque.designed(wanted.motion, bandwidth=20.0).with_model(prior)
        times = np.arange(round(6.0 * RATE)) / RATE
        motion = dy.simulate(truth, times, wanted.start, controller=law, method="RK45", rtol=1e-4, atol=1e-6)
        assert motion.status == "completed"
        q = motion.q + 1e-5 * rng.normal(size=motion.q.shape)
        tau = motion.tau + 0.01 * np.abs(motion.tau).max(axis=0) * rng.normal(size=motion.tau.shape)
        if name.endswith(".npz"):
            np.savez(folder / name, t=motion.t, q=q, tau=tau)
        else:
            write_csv(folder / name, motion.t, q, tau)
        paths.append(folder / name)
    return paths


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def found(prior, logs, told):
    return dy.identify(prior, logs[0], validate=logs[1], signals=SIGNALS, progress=lambda x, text: told.append((x, text)))


def error_of(robot, truth, seed=5):
    rng = np.random.default_rng(seed)
    q, (v, a) = truth.random(rng, size=200), 2.0 * rng.normal(size=(2, 200, truth.n))
    tau = truth.inverse_dynamics(q, v, a)
    return np.linalg.norm(robot.inverse_dynamics(q, v, a) - tau) / np.linalg.norm(tau)


def test_a_simulated_robot_is_found_again(truth, prior, found):
    expected = found.base.values(LinearModel(truth).prior)
    off, before = (np.abs(x - expected).max() for x in (found.estimator.coef_, found.base.prior))
    assert off < 0.1 * np.abs(expected).max()
    assert off < 0.5 * before
    inside = (found.statistics.interval[:, 0] <= expected) & (expected <= found.statistics.interval[:, 1])
    assert inside.mean() > 0.7  # sticking is no white noise
    assert error_of(found.robot, truth) < 0.5 * error_of(prior, truth)
    assert found.verdict.grade in ("good", "usable")
    assert found.validated
    assert found.validation.held_out < found.validation.prior
    assert set(found.comparison) == {"consistent", "ordinary", "weighted", "ridge"}
    assert found.parameters[found.base.names[0]] == found.estimator.coef_[0]
    assert "cut-off" in " ".join(found.notes)
    assert "train.npz" in " ".join(found.notes)


def test_progress_only_goes_forwards(told, found):
    fractions = [x for x, _ in told]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert all(text for _, text in told)


@pytest.mark.parametrize("name", ["better.urdf", "better.toml"])
def test_the_file_written_is_the_robot_found(name, truth, prior, found, tmp_path):
    written = found.write(tmp_path / name)
    assert written.difference < 1e-9
    again = dy.load(tmp_path / name)
    assert error_of(again, found.robot) < 1e-9
    assert error_of(again, truth) < 0.5 * error_of(prior, truth)


def test_all_numbers_go_into_json(found):
    facts = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert len(facts["parameters"]) == found.base.rank
    assert facts["verdict"]["grade"] == found.verdict.grade
    low, high = facts["parameters"][0]["interval"]
    assert low <= facts["parameters"][0]["value"] <= high


def test_a_table_of_text_gives_what_an_archive_gives(prior, logs, found, tmp_path):
    with np.load(logs[0]) as held:
        path = write_csv(tmp_path / "train.csv", held["t"], held["q"], held["tau"])
        log = Log(held["t"], held["q"], held["tau"], names=prior.coordinate_names)
    for source in (path, log):
        again = dy.identify(prior, source, validate=logs[1], signals=SIGNALS, compare=())
        assert np.allclose(again.estimator.coef_, found.estimator.coef_, rtol=1e-6, atol=1e-8)


def test_several_logs_and_estimators_of_ones_own(prior, logs, truth):
    both = dy.identify(prior, logs, signals=SIGNALS, estimator=WeightedLeastSquares(), compare=("ordinary",), folds=3)
    assert len(both.samples) == 2
    assert not both.validated
    assert set(both.comparison) == {"WeightedLeastSquares", "ordinary"}
    assert len(both.validation.folds) == 3
    # the estimator that is given back knows all rows, not those of the last fold
    e = both.equations
    assert np.allclose(WeightedLeastSquares().fit(e.X, e.y, joint=e.joint).coef_, both.estimator.coef_, rtol=1e-12)


def test_estimators_of_one_kind_are_told_apart(plain, prior):
    t, q, tau = plain
    log = Log(t, q, tau, names=prior.coordinate_names)
    own = Ridge(prior=np.zeros(52), strength=1e6)
    compare = ("ordinary", "ordinary", Ridge(), own, WeightedLeastSquares(), LeastSquares())
    found = dy.identify(prior, log, estimator=own, compare=compare, folds=2)
    assert list(found.comparison) == ["Ridge", "ordinary", "Ridge 2", "WeightedLeastSquares", "LeastSquares"]
    left = {name: v.held_out for name, v in found.comparison.items()}
    assert left["Ridge"] > left["Ridge 2"]
    assert left["ordinary"] == left["LeastSquares"]


def test_wrong_arguments_are_refused(prior, logs):
    with pytest.raises(dy.InputError, match="no logs"):
        dy.identify(prior, [])
    with pytest.raises(dy.DynamisError, match="no estimator named 'wieghted'; did you mean 'weighted'"):
        dy.identify(prior, logs[0], estimator="wieghted")
    with pytest.raises(dy.DynamisError, match="estimator"):
        dy.identify(prior, logs[0], compare=("nothing",))
    with pytest.raises(dy.DynamisError, match=r"none\.csv"):
        dy.identify(prior, "none.csv")
    with pytest.raises(dy.InputError, match=r"a log of type ndarray cannot be used; identify takes files, Log\("):
        dy.identify(prior, np.zeros((10, 3)))
    with pytest.raises(dy.InputError, match="a log of type ndarray"):
        dy.identify(prior, logs[0], validate=[np.zeros((10, 3))], compare=())


# what is wrong with a log, and what is said about it


def harmonics(robot):
    """t, q, tau of three harmonics with a little noise, 1000 rows."""
    rng = np.random.default_rng(2)
    t = np.arange(1000) / 100.0
    w = 2.0 * np.pi * 0.1 * np.array([1.0, 3.0, 6.0])[:, None, None]
    phase, size = (
        rng.uniform(0, 2 * np.pi, (3, 1, robot.n)),
        rng.uniform(0.5, 1.0, (3, 1, robot.n)) / np.array([1.0, 2.0, 4.0])[:, None, None],
    )
    angle = w * t[:, None] + phase
    q, v, a = (np.sum(x, axis=0) for x in (size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle)))
    tau = robot.inverse_dynamics(q, v, a)
    return t, q + 1e-6 * rng.normal(size=q.shape), tau + 0.01 * np.abs(tau).max(axis=0) * rng.normal(size=q.shape)


@pytest.fixture(scope="module")
def plain(truth):
    return harmonics(truth)


@pytest.fixture(scope="module")
def small():
    """An arm of three joints, what is believed of it, and its ``harmonics``: for what does not depend on the arm."""
    truth = with_friction(three_joints())
    return truth, perturbed(truth, 0.2, seed=1), harmonics(truth)


def not_a_number(t, q, tau):
    q[99:120, 2] = np.nan
    tau[400:430, 1] = np.nan


def swapped_torques(t, q, tau):
    tau[:, [1, 2]] = tau[:, [2, 1]]


def swapped_positions(t, q, tau):
    q[:, [0, 2]] = q[:, [2, 0]]


def degrees(t, q, tau):
    q *= 180.0 / np.pi


def wrong_sign(t, q, tau):
    tau[:, 1] *= -1.0


def wrong_direction(t, q, tau):
    q[:, 2] *= -1.0


def all_still(t, q, tau):
    q[:] = q[0]


def clock_jumps(t, q, tau):
    t[500:] += 3.0


def clock_in_milliseconds(t, q, tau):
    t *= 1000.0


def nothing_measured(t, q, tau):
    tau[:, 2] = 0.0


def too_few(t, q, tau):
    return t[:20], q[:20], tau[:20]


WRONG = {
    not_a_number: (r"'q3' is nan at .*line 101\b", r"'tau2' is nan at .*line 402\b"),
    swapped_torques: (r"columns 'tau[23]' and 'tau[23]'.* swapped.* at t = ",),
    swapped_positions: (r"columns '(q|tau)1' and '(q|tau)3'.* swapped.* at t = ",),
    degrees: (r"'q\d' seems to be in degrees: it reaches .* at .*line \d+",),
    wrong_sign: (r"column 'tau2'.* wrong sign.* at t = ",),
    wrong_direction: (r"column '(q|tau)3'.* wrong sign.* at t = ",),
    all_still: (r"joint 'joint0' does not move: column 'q1' .*line 2\b",),
    clock_jumps: (r"the clock jumps by 3\.\d+ s at .*line 502\b",),
    clock_in_milliseconds: (r"10 s apart from .*line 2 on: the times seem to be in ms",),
    nothing_measured: (r"column 'tau3' is 0 in every row",),
    too_few: (r"has 20 samples.*at least 30",),
}


@pytest.mark.parametrize("mistake", WRONG, ids=lambda f: f.__name__)
def test_a_log_that_is_wrong_is_refused_where_it_is_wrong(mistake, small, tmp_path):
    _, prior, plain = small
    arrays = [x.copy() for x in plain]
    arrays = mistake(*arrays) or arrays
    path = write_csv(tmp_path / "run.csv", *arrays)
    with pytest.raises(dy.InputError) as caught:
        dy.identify(prior, path)
    prior.write(tmp_path / "prior.toml")
    result = CliRunner().invoke(cli, ["identify", str(tmp_path / "prior.toml"), str(path)])
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)
    assert "dynamis: the log cannot be used:" in result.stderr
    for sentence in WRONG[mistake]:
        assert re.search(sentence, str(caught.value)), str(caught.value)
        assert re.search(sentence, " ".join(result.stderr.split())), result.stderr
    assert "run.csv" in str(caught.value)


def test_the_log_of_another_robot_is_refused(prior, tmp_path):
    rng = np.random.default_rng(3)
    t = np.arange(1000) / 100.0
    w, phase = np.linspace(1.0, 2.5, 7), rng.uniform(0, 6, 7)
    q, v, a = np.sin(w * t[:, None] + phase), w * np.cos(w * t[:, None] + phase), -(w**2) * np.sin(w * t[:, None] + phase)
    seven, six = dy.load("kuka_iiwa14"), dy.load("puma560")
    path = write_csv(tmp_path / "seven.csv", t, q, seven.inverse_dynamics(q, v, a))
    with pytest.raises(dy.InputError, match=r"seven\.csv"):
        dy.identify(prior, path)
    log = Log(t, q, seven.inverse_dynamics(q, v, a), names=seven.coordinate_names)
    with pytest.raises(dy.InputError, match="7 positions and 7 torques, the robot 6 and 6: it is a log of another robot"):
        dy.identify(prior, log)
    q, v, a = (x[:, :6] for x in (q, v, a))
    path = write_csv(tmp_path / "six.csv", t, q, six.inverse_dynamics(q, v, a))
    with pytest.raises(dy.InputError, match=r"log of another robot than 'UR5e', or the wrong file; for 'tau\w+', at t = "):
        dy.identify(prior, path)
    assert (
        dy.identify(prior, path, examined=False, compare=(), estimator="ordinary").verdict.grade
        in dy.identification.validation.verdict.GRADES
    )


def test_notes_name_the_lines_of_the_file(plain, prior, tmp_path):
    t, q, tau = (x.copy() for x in plain)
    tau[200, 3] = np.nan
    tau[400:700, 2] = 1.5
    notes = dy.identify(prior, write_csv(tmp_path / "run.csv", t, q, tau), compare=()).notes
    assert any("'tau4' is nan at 'run.csv' line 202" in note for note in notes)
    assert any("1 non-finite value replaced and not used (line 202)" in note for note in notes)
    assert any("the torque of elbow_joint is 1.5 from line 402 to 701 while the joint moves" in note for note in notes)


def test_rows_are_used_once_and_not_for_validation_too(small):
    _, prior, (t, q, tau) = small
    whole, half, other = Log(t, q, tau), Log(t[500:] - t[500], q[500:], tau[500:]), Log(t, q, tau + 1e-9)
    with pytest.raises(dy.InputError, match="validation needs rows that were not fitted, but 100 % of those of a log were"):
        dy.identify(prior, whole, validate=half, compare=())
    with pytest.raises(dy.InputError, match=r"100 % of those of 'b\.csv' were"):
        dy.identify(prior, whole, validate=[other, replace(whole, source="b.csv")], compare=())
    with pytest.raises(dy.InputError, match="50 % of the rows of a log are also in a log before it: give each row once"):
        dy.identify(prior, [half, whole], compare=())
    once, twice = dy.identify(prior, whole, compare=()), dy.identify(prior, [whole, replace(whole, source="b.csv")], compare=())
    assert twice.validation.held_out == once.validation.held_out
    assert "'b.csv' repeats the rows of a log before it and is not used" in twice.notes
    assert len(dy.identify(prior, [whole, whole], compare=(), examined=False).samples) == 2


def test_samples_that_are_missing_split_a_log_and_are_told(plain, prior, tmp_path):
    keep = np.r_[0:400, 460:1000]
    found = dy.identify(prior, write_csv(tmp_path / "run.csv", *(x[keep] for x in plain)), compare=())
    assert len(found.samples) == 2
    assert any(re.search(r"60 samples are missing at one place.*line 402", note) for note in found.notes), found.notes
    assert found.verdict.grade in ("good", "usable")


def test_what_can_be_mended_is_mended_and_told(plain, prior, tmp_path):
    t, q, tau = (x.copy() for x in plain)
    q[99, 2], tau[400:402, 1] = np.nan, np.nan
    t[700:] -= 0.5
    found = dy.identify(prior, write_csv(tmp_path / "run.csv", t, q, tau), compare=())
    told = "\n".join(found.notes)
    for sentence in (r"'q3' is nan at .*line 101\b", r"'tau2' is nan at .*line 402\b", r"decreases at .*line 702\b"):
        assert re.search(sentence, told), told
    assert "a new run starts" in told
    assert len(found.samples) == 2
    assert found.verdict.grade in ("good", "usable")


@pytest.mark.parametrize("noise", few_of([0.0, 1e-5], [1e-5]))
def test_a_joint_that_does_not_move_keeps_what_was_believed_and_leaves_plain_least_squares_without_an_answer(
    noise, plain, truth, prior
):
    t, q, _ = (x.copy() for x in plain)
    q[:, 3] = 0.4
    v = np.gradient(q, 0.01, axis=0)
    tau = truth.inverse_dynamics(q, v, np.gradient(v, 0.01, axis=0))
    q[:, 3] += noise * np.random.default_rng(0).normal(size=len(q))  # of the sensor: its sign is not that of a motion
    log = Log(t, q, tau, names=truth.coordinate_names, source="held.csv")
    for name in ("ordinary", "weighted"):
        with pytest.raises(dy.InputError, match=r"does not excite 'wrist_1_joint\.viscous', .*Move the joints"):
            dy.identify(prior, log, estimator=name, signals={"cutoff": 10.0})
    found = dy.identify(prior, log, signals={"cutoff": 10.0})
    assert any("joint 'wrist_1_joint' does not move: column 'q.wrist_1_joint'" in note for note in found.notes)
    assert any(note.startswith("ordinary: ") and "Move the joints" in note for note in found.notes), found.notes
    assert set(found.comparison) == {"consistent", "ridge"}
    model = found.base.model
    own = [model.index(f"wrist_1_joint.{kind}") for kind in ("viscous", "coulomb", "rotor")]
    assert np.allclose(found.full[own], model.prior[own], rtol=1e-6)
    assert found.verdict.grade == "doubtful"
    assert any("viscous friction of wrist_1_joint" in s for s in found.verdict.sentences), found.verdict.sentences
    json.dumps(found.as_dict(), allow_nan=False)


def test_samples_too_few_for_the_parameters_are_refused(truth):
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 8, 6))
    run = Samples.of(q, v, a, truth.inverse_dynamics(q, v, a))
    with pytest.raises(dy.InputError, match="8 samples; at least 30 are needed"):
        dy.identify(truth, run)
    with pytest.raises(dy.InputError, match="48 rows cannot determine 52 parameters"):
        dy.identify(truth, run, examined=False, estimator="ordinary", compare=())


@pytest.mark.parametrize(
    ("name", "seed", "noise"), [("scara", 4, 1e-5), ("planar_2r_melchiorri", 2, 0.0), ("planar_2r_melchiorri", 10, 0.0)]
)
def test_simulated_logs_almost_without_noise_give_the_parameters(name, seed, noise):
    arm, rng, t = dy.load(name), np.random.default_rng(seed), np.arange(1600) / 200.0
    real, order = perturbed(arm, 0.15, seed=seed), np.arange(1, 6)[:, None, None]
    w = 0.25 * np.pi * order
    angle, size = (
        w * t[:, None] + rng.uniform(0.0, 2.0 * np.pi, (5, 1, arm.n)),
        rng.uniform(0.1, 0.4, (5, 1, arm.n)) / order**0.7,
    )
    q, v, a = (x.sum(axis=0) for x in (size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle)))
    tau = real.inverse_dynamics(q, v, a)
    level = np.sqrt(np.mean(tau**2, axis=0))
    tau += level * (0.1 * v + 0.2 * np.sign(v) + noise * rng.normal(size=q.shape))
    found = dy.identify(name, Log(t, q, tau), compare=())
    assert found.validation.held_out < 0.1
    truth = found.base.values(LinearModel(real, **found.base.model.settings).prior)
    inertial = [k for k, x in enumerate(found.base.names) if x.rpartition(".")[2] not in ("viscous", "coulomb", "rotor")]
    np.testing.assert_allclose(found.estimator.coef_[inertial], truth[inertial], atol=0.01 * abs(truth).max())
    assert np.nanmax(found.statistics.std) < 0.01 * abs(truth).max()
    assert found.verdict.grade == "good"

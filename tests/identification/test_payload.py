"""The load of a known arm: found, with errors that can be trusted, and never made up where the motion does not show it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from campaign_params import few_of

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.payload import identify_payload
from dynamis.identification.payload_fit import payload_regressor
from dynamis.identification.samples import Samples
from dynamis.identification.signals.filters import low_pass
from dynamis.spatial import PARAMETER_NAMES, Inertia

BOX = Inertia.about_com(2.0, [0.02, -0.03, 0.08], np.diag([0.02, 0.015, 0.01]))


def motion(robot, count, rng, period=None):
    if period is None:
        return rng.normal(size=(3, count, robot.n))
    t = np.arange(count) * period
    shapes = [(rng.uniform(0.3, 1.0, robot.n), rng.uniform(2.0, 6.0, robot.n), rng.uniform(0, 6, robot.n)) for _ in range(3)]
    q = sum(A * np.sin(w * t[:, None] + f) for A, w, f in shapes)
    v = sum(A * w * np.cos(w * t[:, None] + f) for A, w, f in shapes)
    a = sum(-A * w**2 * np.sin(w * t[:, None] + f) for A, w, f in shapes)
    return q, v, a


@pytest.mark.parametrize(("name", "frame"), [("ur5e", None), ("panda", "panda_link5"), ("puma560", None)])
def test_the_columns_are_what_a_load_adds(name, frame):
    robot, rng = dy.load(name), np.random.default_rng(1)
    frame = frame if frame in robot.link_names else robot.link_names[-2]
    q, v, a = motion(robot, 20, rng)
    added = robot.replace(payload=BOX, payload_frame=frame).inverse_dynamics(q, v, a) - robot.inverse_dynamics(q, v, a)
    assert np.allclose(payload_regressor(robot, q, v, a, frame) @ BOX.parameters, added, atol=1e-9)


def test_an_exact_log_gives_the_load_exactly():
    robot, rng = dy.load("ur5e"), np.random.default_rng(2)
    q, v, a = motion(robot, 200, rng)
    found = identify_payload(robot, Samples.of(q, v, a, robot.replace(payload=BOX).inverse_dynamics(q, v, a)))
    assert np.allclose(found.inertia.parameters, BOX.parameters, atol=1e-9)
    assert np.allclose(found.robot.inverse_dynamics(q, v, a), robot.replace(payload=BOX).inverse_dynamics(q, v, a))
    assert found.identifiable.all()
    assert found.residual_after.max() < 1e-8 < found.residual_before.min()


@pytest.mark.filterwarnings("error")
def test_an_exact_log_without_a_load_shows_none():
    robot, rng = dy.load("planar_2r_melchiorri"), np.random.default_rng(2)
    q, v, a = motion(robot, 200, rng)
    found = identify_payload(robot, Samples.of(q, v, a, robot.inverse_dynamics(q, v, a)))
    assert abs(found.inertia.mass) < 1e-9
    assert str(found).startswith("no load detected")


def test_standard_errors_are_the_spread_of_repeated_logs():
    robot, rng = dy.load("ur5e"), np.random.default_rng(3)
    q, v, a = motion(robot, 300, rng)
    exact, noise = robot.replace(payload=BOX).inverse_dynamics(q, v, a), np.array([3.0, 3.0, 2.0, 0.3, 0.2, 0.1])
    runs = [identify_payload(robot, Samples.of(q, v, a, exact + noise * rng.normal(size=exact.shape)), consistent=False,
                             examined=False) for _ in range(100)]  # fmt: skip
    spread = np.std([run.parameters for run in runs], axis=0)
    claimed = np.mean([run.standard_errors for run in runs], axis=0)
    assert np.all(np.abs(spread / claimed - 1.0) < 0.25)


def test_errors_that_last_are_reckoned_with():
    robot, rng = dy.load("ur5e"), np.random.default_rng(4)
    q, v, a = motion(robot, 2000, rng, period=0.005)
    exact = robot.replace(payload=BOX).inverse_dynamics(q, v, a)

    def coloured():
        e = rng.normal(size=exact.shape)
        for k in range(1, len(e)):
            e[k] += 0.95 * e[k - 1]
        return 0.1 * e

    logs = [Samples.of(q, v, a, exact + coloured(), period=0.005) for _ in range(30)]
    runs = [identify_payload(robot, log, consistent=False, examined=False) for log in logs]
    spread = np.std([run.parameters[:4] for run in runs], axis=0)
    claimed = np.mean([run.standard_errors[:4] for run in runs], axis=0)
    assert np.all(spread < 1.5 * claimed)  # white errors would have claimed a sixth of it
    assert np.all(spread > 0.2 * claimed)


def test_the_load_of_noisy_logs_is_one_that_a_body_can_have():
    robot, rng = dy.load("ur5e"), np.random.default_rng(5)
    point = Inertia.about_com(1.0, [0.0, 0.0, 0.05], np.zeros((3, 3)))  # a point mass: at the edge of what can be
    q, v, a = motion(robot, 100, rng)
    tau = robot.replace(payload=point).inverse_dynamics(q, v, a) + rng.normal(scale=1.0, size=(100, 6))
    raw = identify_payload(robot, Samples.of(q, v, a, tau), consistent=False)
    assert not raw.inertia.is_consistent()
    found = identify_payload(robot, Samples.of(q, v, a, tau))
    assert found.inertia.is_consistent()
    assert abs(found.mass - 1.0) < 3.0 * found.standard_errors[0]
    assert any("not physically consistent" in line for line in raw.verdict)
    # one answer, that of the consistent body; the least-squares estimate is named as such
    assert found.verdict[0].startswith(f"mass {found.mass:.4g} kg, standard error")
    com = ", ".join(f"{x:.4g}" for x in found.com)
    assert found.verdict[1].startswith(f"centre of mass ({com}) m")
    (named,) = [line for line in found.verdict if "not consistent" in line]
    assert f"least-squares estimate (mass {found.parameters[0]:.4g} kg, centre of mass (" in named
    assert any(line.endswith(" N m") for line in found.verdict)  # of the residuals


def test_at_rest_only_weight_shows():
    robot, rng = dy.load("ur5e"), np.random.default_rng(6)
    q, rest = rng.uniform(-2, 2, (60, 6)), np.zeros((60, 6))
    tau = robot.replace(payload=BOX).inverse_dynamics(q, rest, rest) + rng.normal(scale=0.01, size=(60, 6))
    found = identify_payload(robot, Samples.of(q, rest, rest, tau))
    assert found.identifiable.tolist() == [True] * 4 + [False] * 6
    assert np.isnan(found.parameters[4:]).all()
    assert np.isinf(found.standard_errors[4:]).all()
    assert np.allclose(found.parameters[:4], BOX.parameters[:4], atol=0.02)
    assert found.inertia.is_consistent()
    assert any("from this motion: Ixx, Ixy, Iyy, Ixz, Iyz, Izz" in line for line in found.verdict)


def test_a_planar_arm_shows_combinations():
    robot, rng = dy.load("planar_2r_melchiorri"), np.random.default_rng(7)
    q, rest = rng.uniform(-2, 2, (30, 2)), np.zeros((30, 2))
    tau = robot.replace(payload=BOX).inverse_dynamics(q, rest, rest)
    found = identify_payload(robot, Samples.of(q, rest, rest, tau))
    shown = dict(zip(PARAMETER_NAMES, found.identifiable, strict=True))
    # the elbow's torque is the first moment's, the shoulder's has l m too
    assert [name for name in PARAMETER_NAMES if shown[name]] == ["m", "mx", "my"]
    across = dy.load("scara").replace(gravity=(0, 0, 0))
    q, v, a = motion(across, 60, rng)
    added = across.replace(payload=BOX)
    moving = identify_payload(across, Samples.of(q, v, a, added.inverse_dynamics(q, v, a)))
    assert not moving.identifiable[PARAMETER_NAMES.index("mz")]
    assert np.allclose(moving.robot.inverse_dynamics(q, v, a), added.inverse_dynamics(q, v, a), atol=1e-6)


def test_a_log_of_the_empty_arm_keeps_its_errors_out_of_the_load():
    robot, rng = dy.load("ur5e"), np.random.default_rng(8)
    offset, viscous, coulomb = rng.normal(size=(3, 6)) * np.array([[4.0], [2.0], [3.0]])

    def run(arm):
        q, v, a = motion(robot, 800, rng, period=0.01)
        wrong = offset + viscous * v + coulomb * np.sign(v)
        return Samples.of(q, v, a, arm.inverse_dynamics(q, v, a) + wrong + 0.05 * rng.normal(size=q.shape), period=0.01)

    loaded, empty = run(robot.replace(payload=BOX)), run(robot)
    naive = identify_payload(robot, loaded)
    found = identify_payload(robot, loaded, reference=[empty])
    assert abs(found.mass - 2.0) < 0.02 < abs(naive.mass - 2.0)
    assert np.all(np.abs(found.parameters - BOX.parameters) < 5.0 * found.standard_errors)
    for k, joint in enumerate(robot.coordinate_names):
        assert found.corrections[joint]["viscous"] == pytest.approx(viscous[k], abs=0.1)


def test_an_arm_whose_model_is_wrong_is_put_right_by_a_log_of_it_empty():
    truth, rng = dy.load("ur5e"), np.random.default_rng(11)
    heavier = dy.Inertia.about_com(1.0, [0.0, 0.05, 0.0], 0.01 * np.eye(3))
    believed = truth.replace(payload=heavier, payload_frame=truth.link_names[-3])  # a kilogramme too much in the wrist

    def run(arm):
        q, v, a = motion(truth, 800, rng, period=0.01)
        return Samples.of(q, v, a, arm.inverse_dynamics(q, v, a) + 0.1 * rng.normal(size=q.shape), period=0.01)

    loaded, empty = run(truth.replace(payload=BOX)), run(truth)
    trusting = identify_payload(believed, loaded, reference=empty, arm=0.0)
    found = identify_payload(believed, loaded, reference=empty)
    assert abs(trusting.mass - 2.0) > 0.2
    assert np.all(np.abs(found.parameters - BOX.parameters) < 4.0 * found.standard_errors)
    assert found.standard_errors[0] < 0.05
    doubtful = identify_payload(believed, loaded, arm=0.2)
    exact = identify_payload(believed, loaded)
    assert "assumed exact" in exact.verdict[-1]
    assert "assumed exact" not in str(found) + str(doubtful)
    assert doubtful.standard_errors[0] > 5.0 * exact.standard_errors[0]


def test_two_kilogrammes_added_to_a_real_log_are_found():
    path = Path(__file__).resolve().parents[3] / "shared" / "data" / "ur10_unisa"
    if not path.exists():
        pytest.skip("the UR10 log is not beside the checkout")
    with np.load(path / "ur10_exciting_trajectory.npz") as archive:
        log = dict(archive)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the file lacks is not the question here
        robot = dy.load(path / "ur10_robot.urdf")
    q, v, tau, half = log["q"], log["v"], log["e"], len(log["t"]) // 2
    a = np.gradient(low_pass(v, 0.008, 5.0), 0.008, axis=0)
    added = payload_regressor(robot, q, v, a) @ BOX.parameters
    parts = slice(0, half), slice(half, None)
    for loaded, empty in (parts, parts[::-1]):
        carrying = Samples.of(q[loaded], v[loaded], a[loaded], (tau + added)[loaded], period=0.008)
        reference = Samples.of(q[empty], v[empty], a[empty], tau[empty], period=0.008)
        found = identify_payload(robot, carrying, reference=reference)
        assert found.mass == pytest.approx(2.0, abs=0.25)
        assert abs(found.mass - 2.0) < 4.0 * found.standard_errors[0]
        assert found.inertia.is_consistent()


def test_no_body_is_named_where_no_value_is_given():
    robot, rng = dy.load("ur5e"), np.random.default_rng(0)
    q, v, a = motion(robot, 200, rng)
    tau = robot.inverse_dynamics(q, v, a) + rng.normal(scale=20.0, size=q.shape)
    found = identify_payload(robot, Samples.of(q, v, a, tau))
    assert not found.identifiable.any()
    assert not Inertia.from_parameters(found.parameters).is_consistent()
    assert not any("the values given" in sentence for sentence in found.verdict)


def test_no_load_is_not_one():
    robot, rng = dy.load("ur5e"), np.random.default_rng(9)
    q, v, a = motion(robot, 200, rng)
    tau = robot.inverse_dynamics(q, v, a) + rng.normal(scale=0.5, size=q.shape)
    found = identify_payload(robot, Samples.of(q, v, a, tau))
    assert "no load detected" in found.verdict[0]
    said = " ".join(found.verdict)
    assert f"m ({found.standard_errors[0]:.2g} > {abs(found.parameters[0]):.2g})" in said


def test_filtered_and_thinned_runs_give_the_same_load():
    robot, rng = dy.load("ur5e"), np.random.default_rng(10)
    q, v, a = motion(robot, 3000, rng, period=0.002)
    tau = robot.replace(payload=BOX).inverse_dynamics(q, v, a) + 0.2 * rng.normal(size=q.shape)
    use = np.abs(v) > 0.05
    found = identify_payload(robot, Samples.of(q, v, a, tau, period=0.002, parallel=10.0, every=10, use=use))
    assert found.mass == pytest.approx(2.0, abs=0.05)


def test_wrong_questions_are_answered():
    robot = dy.load("ur5e")
    run = Samples.of(*np.zeros((4, 20, 6)))
    with pytest.raises(InputError, match="does not move"):
        identify_payload(robot, run, frame=robot.link_names[0])
    with pytest.raises(InputError, match="'offset'"):
        identify_payload(robot, run, friction=["stiction"])
    with pytest.raises(InputError, match="arm="):
        identify_payload(robot, run, arm=-1.0)
    with pytest.raises(InputError, match=r"0\.15 for 15 %"):
        identify_payload(robot, run, arm=15)
    with pytest.raises(InputError, match="size="):
        identify_payload(robot, run, size=0.0)


def test_the_run_with_the_load_is_no_reference():
    arm = dy.load("planar_2r_melchiorri")
    q, v, a = np.random.default_rng(0).normal(size=(3, 50, 2))
    run = Samples.of(q, v, a, arm.inverse_dynamics(q, v, a))
    with pytest.raises(dy.InputError, match="a run without the load"):
        identify_payload(arm, run, reference=run)


@pytest.fixture(scope="module")
def with_finger():
    """An arm with a moving finger, to which a load is ascribed."""
    d = dy.load("ur5e").description.copy()
    finger = Inertia.about_com(0.05, [0.0, 0.02, 0.04], 1e-5 * np.eye(3))
    d.add_link("finger", d.links[-1].name, "revolute", joint_name="finger_joint", axis=(1, 0, 0), inertia=finger)
    return dy.Robot(d)


@pytest.mark.parametrize("noise", few_of([0.0, 0.02], [0.02]))
def test_a_load_before_the_finger_is_not_ascribed_to_the_finger(with_finger, noise):
    rng, hand = np.random.default_rng(12), "wrist_3_link"
    q, v, a = motion(with_finger, 600, rng, period=0.01)
    tau = with_finger.replace(payload=BOX, payload_frame=hand).inverse_dynamics(q, v, a) + noise * rng.normal(size=q.shape)
    samples = Samples.of(q, v, a, tau, period=0.01)
    found = identify_payload(with_finger, samples, frame="finger")
    assert found.worse == ("finger_joint",)
    assert found.better_frame == hand
    doubt = found.verdict[1]
    assert "'finger_joint', RMS residual" in doubt
    assert doubt.endswith(f"'finger' probably does not carry the load; '{hand}' fits clearly better: frame='{hand}'")
    assert "is explained; least at" not in str(found)
    there = identify_payload(with_finger, samples, frame=hand)
    assert (there.worse, there.better_frame) == ((), None)
    assert there.mass == pytest.approx(2.0, abs=0.01)


def test_a_load_of_the_finger_is_not_doubted(with_finger):
    rng = np.random.default_rng(13)
    q, v, a = motion(with_finger, 600, rng, period=0.01)
    tau = with_finger.replace(payload=BOX, payload_frame="finger").inverse_dynamics(q, v, a) + 0.1 * rng.normal(size=q.shape)
    found = identify_payload(with_finger, Samples.of(q, v, a, tau, period=0.01), frame="finger")
    assert found.worse == ()
    empty = Samples.of(q, v, a, with_finger.inverse_dynamics(q, v, a), period=0.01)
    none = identify_payload(with_finger, empty, frame="finger")
    assert none.worse == ()

"""Logs that contradict the arm or each other: refused as by `identify`, or doubted, and never answered confidently."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from click.testing import CliRunner
from spoiled_logs import motion, three_joints

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.errors import InputError
from dynamis.identification.payload import identify_payload
from dynamis.identification.payload_causes import parts
from dynamis.identification.payload_fit import CORRECTIONS, PayloadRows
from dynamis.identification.samples import Samples
from dynamis.identification.static_poses import identify_static_payload
from dynamis.spatial import Inertia

BOX = Inertia.about_com(2.0, [0.03, 0.0, 0.1], np.diag([0.01, 0.01, 0.005]))
FRICTION = [8.0, 8.0, 6.0, 1.5, 1.5, 1.2]


@pytest.fixture(scope="module")
def arm():
    return dy.load("ur5e")


@pytest.fixture(scope="module")
def real(arm):
    """An arm with other inertias than in its file, and friction."""
    laws = {name: {"viscous": f, "coulomb": f} for name, f in zip(arm.joint_names, FRICTION, strict=True)}
    return dy.control.perturbed(arm, 0.15, seed=4).replace(friction=laws)


# of each joint: frequency in Hz, size and middle of its motion, and its friction
SIX = (
    np.array([0.11, 0.17, 0.23, 0.31, 0.37, 0.43]), np.array([1.0, 0.6, 0.8, 1.0, 1.0, 1.2]),
    np.array([0.0, -1.3, 1.2, -0.5, 0.8, 0.0]), np.array(FRICTION),
)  # fmt: skip
THREE = np.array([0.23, 0.31, 0.43]), np.array([1.0, 0.8, 1.0]), np.array([0.0, 0.6, 0.8]), np.array([4.0, 6.0, 3.0])


def log_of(robot, source, gravity=None, count=3000):
    rng, t = np.random.default_rng(len(source)), np.arange(count) * 0.004
    frequency, sizes, middle, friction = SIX if robot.n == 6 else THREE
    w = 2.0 * np.pi * frequency
    angle, more = np.outer(t, w), np.outer(t, 2.9 * w) + np.arange(robot.n)
    q = sizes * np.sin(angle) + 0.2 * np.sin(more) + middle
    v = sizes * w * np.cos(angle) + 0.58 * w * np.cos(more)
    a = -sizes * w**2 * np.sin(angle) - 1.682 * w**2 * np.sin(more)
    moved = robot if gravity is None else robot.replace(gravity=gravity)
    tau = moved.inverse_dynamics(q, v, a) + 0.05 * friction * rng.normal(size=q.shape)
    return Samples.of(q, v, a, tau, period=0.004, parallel=20.0, every=5, source=source)


@pytest.fixture(scope="module")
def logs(real):
    return log_of(real.replace(payload=BOX), "loaded"), log_of(real, "empty")


@pytest.fixture(scope="module")
def clean(arm, logs):
    """What is found of logs without mistakes."""
    return identify_payload(arm, logs[0], reference=logs[1])


@dataclass(frozen=True)
class Case:
    """An arm, the real one, which differs from it, and logs of that with and without a load."""

    arm: dy.Robot
    real: dy.Robot
    loaded: Samples
    empty: Samples
    count: int  # rows of each


@pytest.fixture(scope="module", params=["three joints", pytest.param("ur5e", marks=pytest.mark.campaign)])
def case(request):
    """A small arm for what does not depend on the arm."""
    arm, count = (three_joints(), 2000) if request.param == "three joints" else (dy.load("ur5e"), 3000)
    sizes = (THREE if arm.n == 3 else SIX)[3]
    laws = {name: {"viscous": f, "coulomb": f} for name, f in zip(arm.joint_names, sizes, strict=True)}
    real = dy.control.perturbed(arm, 0.15, seed=4).replace(friction=laws)
    return Case(arm, real, log_of(real.replace(payload=BOX), "loaded", count=count), log_of(real, "empty", count=count), count)


def torques(log, change):
    return replace(log, tau=change(log.tau))


def test_logs_without_mistakes_are_not_doubted(clean):
    assert clean.doubts == ()
    assert not clean.negative
    assert clean.mass == pytest.approx(2.0, abs=0.05)


def test_rotors_that_the_file_lacks_are_corrected_with_the_reference(arm, logs, clean):
    rotors = np.array([4.0, 5.0, 2.2, 0.35, 0.25, 0.08])
    loaded, empty = (replace(log, tau=log.tau + rotors * log.a) for log in logs)
    found = identify_payload(arm, loaded, reference=empty)
    assert found.doubts == ()
    assert np.all(found.residual_after < 1.3 * clean.residual_after)
    assert np.all(found.standard_errors < 1.5 * clean.standard_errors)
    assert np.all(np.abs(found.parameters - BOX.parameters) < 5.0 * found.standard_errors)


def test_exchanged_logs_are_named_with_the_mass_that_they_give_exchanged(case):
    arm, loaded, empty = case.arm, case.loaded, case.empty
    found = identify_payload(arm, empty, reference=loaded)
    assert found.negative
    assert not found.detected
    assert len(found.verdict) == 2
    (doubt,) = found.doubts
    assert re.search("load and without seem to be exchanged; exchanged, they give (1.9|2)", doubt)
    with pytest.raises(InputError, match="seem to be exchanged: in the order"):
        identify_payload(arm, torques(loaded, lambda tau: np.roll(tau, -1, axis=1)), reference=empty)


def test_a_negative_mass_without_a_reference_is_doubted(arm):
    q = arm.random(0, size=60)
    found = identify_static_payload(arm, q, arm.gravity(q) - arm.replace(payload=BOX).gravity(q) + arm.gravity(q))
    assert found.negative
    assert "no load has a negative mass: torques or gravity have the wrong sign" in found.doubts[0]


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda tau: tau * np.where(np.arange(tau.shape[1]) == 2, -1, 1), "wrong sign"),
        (lambda tau: tau[:, [2, 1, 0, *range(3, tau.shape[1])]], "swapped"),
    ],
)
def test_logs_that_identify_rejects_are_rejected(case, change, cause):
    arm, loaded, empty = case.arm, case.loaded, case.empty
    both = torques(loaded, change), torques(empty, change)
    with pytest.raises(InputError, match=cause):
        identify_payload(arm, both[0], reference=both[1])
    assert identify_payload(arm, both[0], reference=both[1], examined=False).mass == pytest.approx(2.0, abs=0.1)


def test_an_arm_hung_from_the_ceiling_is_rejected_with_and_without_a_reference(case):
    up = [0.0, 0.0, 9.81]
    loaded = log_of(case.real.replace(payload=BOX), "loaded", up, case.count)
    for reference in (log_of(case.real, "empty", up, case.count), None):
        with pytest.raises(InputError, match="hung from the ceiling"):
            identify_payload(case.arm, loaded, reference=reference)


def test_torques_of_another_scale_in_both_logs_are_doubted(arm, logs):
    loaded, empty = (torques(log, lambda tau: 0.5 * tau) for log in logs)
    found = identify_payload(arm, loaded, reference=empty)
    assert any("times those of the model" in doubt for doubt in found.doubts)
    assert all(doubt in found.verdict for doubt in found.doubts)


def test_torques_of_another_scale_in_one_log_are_named_with_the_mass_without_it(arm, logs):
    loaded, empty = logs
    found = identify_payload(arm, torques(loaded, lambda tau: 1.3 * tau), reference=empty)
    (doubt,) = found.doubts
    assert re.search(r"torques with load seem to be 1\.(3|30.|299.) times those of the reference", doubt)
    assert "the mass 2.0" in doubt or "the mass 1.9" in doubt


@pytest.mark.parametrize("factor", [1.02, 0.95])
def test_a_small_scale_is_found_although_the_load_absorbs_most_of_it(arm, logs, factor):
    loaded, empty = logs
    found = identify_payload(arm, torques(loaded, lambda tau: factor * tau), reference=empty)
    (doubt,) = found.doubts
    (named,) = re.findall(r"torques with load seem to be ([0-9.]+) times", doubt)
    assert float(named) == pytest.approx(factor, abs=0.005)
    (mass, error) = map(float, re.findall(r"the mass ([0-9.]+) kg, standard error ([0-9.]+) kg", doubt)[0])
    assert abs(found.mass - 2.0) > 0.1
    assert mass == pytest.approx(2.0, abs=4.0 * error)


def test_the_joint_whose_torques_have_another_scale_is_named(case):
    scaled = torques(case.loaded, lambda tau: tau * np.where(np.arange(case.arm.n) == 2, 0.9, 1.0))
    found = identify_payload(case.arm, scaled, reference=case.empty)
    assert f"the torques with load of {case.arm.coordinate_names[2]!r} seem to be 0." in found.doubts[0]


@pytest.mark.parametrize(
    ("part", "words"), [(slice(0, 40), "the last (59|60|61) %"), (slice(63, 100), "the first (62|63|64) %")]
)
def test_a_load_carried_in_a_part_of_the_log_is_named(case, part, words):
    tau, rows = case.loaded.tau.copy(), slice(part.start * case.count // 100, part.stop * case.count // 100)
    tau[rows] = log_of(case.real, "loaded", count=case.count).tau[rows]
    found = identify_payload(case.arm, replace(case.loaded, tau=tau), reference=case.empty, examined=False)
    assert re.search(f"the load seems to have been carried in {words}", found.doubts[0])


def test_a_part_with_the_load_is_never_nearly_the_whole_log(case):
    rows = PayloadRows(case.arm, case.arm.link_names[-1], (case.loaded,), (case.empty,), CORRECTIONS, 3.0).separated()
    shares = [int(re.findall(r"([0-9]+) %", cause.text)[0]) for cause in parts(rows)]
    assert len(shares) == 2
    assert min(shares) >= 1
    assert max(shares) <= 99


def test_the_link_that_carries_the_load_is_named_beyond_the_frame_too(case):
    frame, carrying = ("forearm_link", "wrist_3_link") if case.arm.n == 6 else ("link0", "link2")
    found = identify_payload(case.arm, case.loaded, reference=case.empty, frame=frame)
    assert f"{carrying!r} seems to carry the load, not {frame!r}" in found.doubts[0]
    assert "the mass 2.0" in found.doubts[0] or "the mass 1.9" in found.doubts[0]


@pytest.mark.parametrize("name", ["ur5e", "kuka_iiwa14"])
def test_logs_with_friction_that_the_model_lacks_are_not_accused_of_a_scale(name):
    robot, rng = dy.load(name), np.random.default_rng(5)
    arm = dy.control.perturbed(robot, 0.15, seed=6).replace(friction=0)
    runs = []
    for number, each in enumerate((arm.replace(payload=BOX), arm)):
        t = np.arange(2500) * 0.004
        q, v, a = motion(robot, t, 10.0, rng)
        tau = each.inverse_dynamics(q, v, a)
        tau = tau + (2.0 + 0.05 * np.abs(tau) + 2.0 * np.exp(-((v / 0.2) ** 2))) * np.sign(v) + 3.0 * v
        tau = tau + 0.2 * rng.normal(size=q.shape)
        runs.append(Samples.of(q, v, a, tau, period=0.004, parallel=10.0, every=10, source=f"log {number}"))
    found = identify_payload(robot, runs[0], reference=runs[1], examined=False)
    assert found.doubts == ()


@pytest.mark.parametrize("other", [lambda tau: tau[::-1], lambda tau: np.roll(tau, 700, axis=0)])
def test_torques_that_no_load_explains_are_doubted(case, other):
    found = identify_payload(case.arm, torques(case.loaded, other), reference=case.empty, examined=False)
    assert any("the load does not explain the difference of the logs" in doubt for doubt in found.doubts)


def test_friction_of_the_log_with_load_is_its_own_where_it_differs_from_the_reference(arm, real, logs, clean):
    laws = {name: {"viscous": 0.8 * f, "coulomb": 0.8 * f} for name, f in zip(arm.joint_names, FRICTION, strict=True)}
    warm = real.replace(friction=laws)
    found = identify_payload(arm, log_of(warm.replace(payload=BOX), "loaded"), reference=logs[1])
    assert found.doubts == ()
    assert np.all(found.standard_errors < 2.0 * clean.standard_errors)
    assert np.all(np.abs(found.parameters - BOX.parameters) < 5.0 * found.standard_errors)
    (line,) = [line for line in found.verdict if "friction or offsets seem to differ between the logs" in line]
    assert f"from which the values given are, the residual is {found.residual_after[-1]:.3g} N m" in line
    assert f"and the mass {found.parameters[0]:.4g} kg, standard error {found.standard_errors[0]:.2g} kg, instead of" in line
    for joint, f in zip(arm.coordinate_names, FRICTION, strict=True):
        assert found.corrections[joint]["viscous"] == pytest.approx(0.8 * f, abs=0.2)


def portal_log(robot, source, offset=0.0):
    """A log of a vertical axis carried by a horizontal one; ``offset`` is one of the vertical axis in N."""
    rng, t = np.random.default_rng(len(source)), np.arange(3000) * 0.004
    w, sizes = 2.0 * np.pi * np.array([0.31, 0.43]), np.array([0.4, 0.2])
    angle = np.outer(t, w)
    q, v, a = sizes * np.sin(angle), sizes * w * np.cos(angle), -sizes * w**2 * np.sin(angle)
    tau = robot.inverse_dynamics(q, v, a) + 2.0 * rng.normal(size=q.shape) + [0.0, offset]
    return Samples.of(q, v, a, tau, period=0.004, parallel=20.0, every=5, source=source)


@pytest.fixture(scope="module")
def portal():
    d = dy.Description("portal").add_link("frame")
    d.add_link(
        "carriage", "frame", "prismatic", joint_name="X", axis=(1, 0, 0), inertia=dy.solids.box(0.3, 0.3, 0.3, mass=20.0)
    )
    d.add_link("ram", "carriage", "prismatic", joint_name="Z", axis=(0, 0, 1), inertia=dy.solids.box(0.1, 0.1, 0.8, mass=8.0))
    return dy.Robot(d)


@pytest.mark.parametrize("offset", [20.0, -20.0])
def test_a_weight_that_contradicts_the_inertial_forces_of_the_load_is_doubted(portal, offset):
    load = dy.solids.box(0.2, 0.2, 0.2, mass=5.0)
    found = identify_payload(
        portal, portal_log(portal.replace(payload=load), "loaded", offset), reference=portal_log(portal, "empty")
    )
    (doubt,) = found.doubts
    assert "the weight of the load contradicts its inertial forces" in doubt
    (named,) = re.findall(r"an offset of (-?[0-9.]+) N of 'Z' in the logs with load only", doubt)
    assert float(named) == pytest.approx(offset, abs=5.0)
    assert float(re.findall(r"the mass is ([0-9.]+) kg", doubt)[0]) == pytest.approx(5.0 + offset / 9.81, abs=0.2)
    assert abs(found.mass - 5.0) < 4.0 * found.standard_errors[0]


def test_a_weight_that_agrees_with_the_inertial_forces_of_the_load_gives_the_mass_precisely(portal):
    load = dy.solids.box(0.2, 0.2, 0.2, mass=5.0)
    found = identify_payload(portal, portal_log(portal.replace(payload=load), "loaded"), reference=portal_log(portal, "empty"))
    assert found.doubts == ()
    assert found.standard_errors[0] < 0.03
    assert abs(found.mass - 5.0) < 4.0 * found.standard_errors[0]


def test_a_mistake_of_the_loaded_log_alone_is_found_by_its_residual(case):
    inverted = torques(case.loaded, lambda tau: tau * np.where(np.arange(case.arm.n) == 1, -1, 1))
    with pytest.raises(InputError, match="wrong sign"):
        identify_payload(case.arm, inverted, reference=case.empty)


def test_a_heavy_load_is_no_mistake_of_the_log(case):
    heavy = Inertia.about_com(8.0, [0.0, 0.1, 0.2], 0.1 * np.eye(3))
    found = identify_payload(case.arm, log_of(case.arm.replace(payload=heavy), "heavy", count=case.count))
    assert found.doubts == ()
    assert found.mass == pytest.approx(8.0, abs=0.1)


def test_the_command_gives_no_values_for_a_negative_mass_and_ends_with_status_1(case, tmp_path):
    case.arm.write(tmp_path / "arm.toml")
    for log in (case.loaded, case.empty):
        np.savez(tmp_path / f"{log.source}.npz", t=log.t, q=log.q, tau=log.tau)
    files, out = [str(tmp_path / f"{name}.npz") for name in ("empty", "loaded")], tmp_path / "out.urdf"
    arm = str(tmp_path / "arm.toml")
    result = CliRunner().invoke(cli, ["payload", arm, files[0], "--reference", files[1], "--out", str(out)])
    words = " ".join(result.output.split())
    assert result.exit_code == 1, words
    assert f"{case.arm.name}: negative mass at {'tool0' if case.arm.n == 6 else 'link2'}" in words
    assert "seem to be exchanged" in words
    assert "Payload parameters" not in words
    assert not out.exists()
    right = CliRunner().invoke(cli, ["payload", arm, files[1], "--reference", files[0]])
    assert right.exit_code == 0, right.output

"""dynamis payload."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.spatial import PARAMETER_NAMES, Inertia

BOX = Inertia.about_com(2.0, [0.02, -0.03, 0.08], np.diag([0.02, 0.015, 0.01]))


def run(*arguments):
    return CliRunner().invoke(cli, ["payload", *map(str, arguments)])


def motion(robot, seed, noise, only=None):
    rng = np.random.default_rng(seed)
    t = np.arange(1500) / 250.0
    w = 2.0 * np.pi * np.array([0.3, 0.7, 1.1])[:, None, None]
    phase, size = rng.uniform(0, 6, (3, 1, robot.n)), rng.uniform(0.2, 0.5, (3, 1, robot.n))
    if only is not None:
        size[..., [k for k in range(robot.n) if k not in only]] = 0.0
    angle = w * t[:, None] + phase
    q, v, a = (np.sum(x, axis=0) for x in (size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle)))
    tau = robot.inverse_dynamics(q, v, a) + noise * rng.normal(size=q.shape)
    return {"t": t, "q": q, "tau": tau}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, arm = tmp_path_factory.mktemp("payload"), dy.load("ur5e")
    noise = np.array([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])
    np.savez(place / "empty.npz", **motion(arm, 0, noise))
    np.savez(place / "carrying.npz", **motion(arm.replace(payload=BOX), 1, noise))
    return place


def test_people_are_told_what_the_arm_carries(folder):
    result = run("ur5e", folder / "carrying.npz")
    assert result.exit_code == 0, result.output
    words = " ".join(result.output.split())
    for part in ("UR5e: payload 2", "kg", "centre of mass", "Payload parameters about the frame", "least squares ± 1 σ",
                 "Torque residual (RMS) [N m]", "give a log without load, --reference, or", "--arm"):  # fmt: skip
        assert part in words
    assert "reference=" not in words


def test_machines_get_everything_and_the_loaded_robot_is_written(folder, tmp_path):
    for name in ("loaded.urdf", "loaded.toml"):
        out = tmp_path / name
        result = run("ur5e", folder / "carrying.npz", "--reference", folder / "empty.npz", "--out", out, "--json")
        assert result.exit_code == 0, result.output
        facts = json.loads(result.stdout)
        assert abs(facts["mass"] - 2.0) < 0.1
        assert np.allclose(facts["centre_of_mass"], [0.02, -0.03, 0.08], atol=0.02)
        assert np.shape(facts["inertia_about_frame"]) == (3, 3)
        assert tuple(facts["parameters"]) == tuple(PARAMETER_NAMES)
        assert facts["parameters"]["m"]["value"] == facts["mass"]
        assert len(facts["residual_after"]) == 6
        assert sum(facts["residual_after"]) < sum(facts["residual_before"])
        assert facts["verdict"]
        assert (facts["detected"], facts["written"]) == (True, [str(out)])
        assert abs(dy.load(out).mass - dy.load("ur5e").mass - facts["mass"]) < 1e-6


def test_a_payload_that_is_not_detected_is_not_written(folder, tmp_path):
    out = tmp_path / "loaded.toml"
    result = run("ur5e", folder / "empty.npz", "--out", out)
    assert result.exit_code == 1, result.output
    words = " ".join(result.output.split())
    assert "detected at tool0; no file is written" in words
    assert not out.exists()
    facts = json.loads(run("ur5e", folder / "empty.npz", "--out", out, "--json").stdout)
    assert (facts["detected"], facts["written"]) == (False, [])
    without = run("ur5e", folder / "empty.npz")
    assert without.exit_code == 0, without.output
    assert "no file" not in without.output


def test_gravity_of_a_written_urdf_that_other_tools_ignore_is_noted(folder, tmp_path):
    arm = dy.load("ur5e").replace(gravity=[0.0, 0.0, 9.81])
    arm.write(tmp_path / "hung.toml")
    np.savez(tmp_path / "carrying.npz", **motion(arm.replace(payload=BOX), 1, 0.01))
    notes = {}
    for name in ("loaded.urdf", "loaded.toml"):
        result = run(tmp_path / "hung.toml", tmp_path / "carrying.npz", "--out", tmp_path / name, "--json")
        notes[name] = " ".join(json.loads(result.stdout)["notes"])
    assert "'loaded.urdf': URDF cannot represent gravity (0, 0, 9.81) m/s² in the base frame" in notes["loaded.urdf"]
    assert "gravity" not in notes["loaded.toml"]


def test_what_the_motion_does_not_show_is_not_made_up(tmp_path):
    """Turning the first joint only, about the vertical: gravity shows nothing of the load's height."""
    arm = dy.load("ur5e")
    np.savez(tmp_path / "turning.npz", **motion(arm.replace(payload=BOX), 1, 0.01, only=[0]))
    result = run("ur5e", tmp_path / "turning.npz", "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    hidden = [name for name, each in facts["parameters"].items() if each["value"] is None]
    assert hidden
    assert all(facts["parameters"][name]["standard_error"] is None for name in hidden)
    printed = run("ur5e", tmp_path / "turning.npz")
    assert printed.exit_code == 0, printed.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--frame", "nowhere"), "nowhere"),
        (("--size", "-1"), "size"),
        (("--arm", "-0.1"), "arm"),
        (("--slow", "x"), "--slow"),
        (("--cutoff", "400"), "half the sampling rate"),
        (("--reference", "none.npz"), "none.npz"),
        (("--out", "loaded.stl"), ".urdf"),
    ],
)
def test_bad_input_says_what_to_do(folder, arguments, sentence):
    result = run("ur5e", folder / "carrying.npz", *arguments)
    assert result.exit_code == 2, result.output
    assert sentence in result.stderr
    assert isinstance(result.exception, SystemExit)


def test_a_log_that_is_wrong_is_refused(folder, tmp_path):
    with np.load(folder / "carrying.npz") as held:
        arrays = dict(held)
    arrays["tau"][200:300, 2] = np.nan
    np.savez(tmp_path / "holed.npz", **arrays)
    result = run("ur5e", tmp_path / "holed.npz")
    assert result.exit_code == 2, result.output
    assert "'tau[2]' is nan at 'holed.npz' row 200" in result.stderr
    assert run("panda", folder / "carrying.npz").exit_code == 2
    assert run("ur5e").exit_code == 2


def test_a_height_that_no_torque_shows_is_not_a_number(tmp_path):
    arm = dy.load("planar_2r_melchiorri")
    box = Inertia.about_com(10.0, [0.2, 0.1, 0.3], np.eye(3))
    np.savez(tmp_path / "carrying.npz", **motion(arm.replace(payload=box), 1, 0.5))
    result = run("planar_2r_melchiorri", tmp_path / "carrying.npz")
    assert result.exit_code == 0, result.output
    assert ", –) mm" in result.output


def test_a_frame_that_does_not_carry_the_load_is_doubted(tmp_path):
    d = dy.load("ur5e").description.copy()
    finger = Inertia.about_com(0.05, [0.0, 0.02, 0.04], 1e-5 * np.eye(3))
    d.add_link("finger", d.links[-1].name, "revolute", joint_name="finger_joint", axis=(1, 0, 0), inertia=finger)
    arm = dy.Robot(d)
    arm.write(tmp_path / "arm.toml")
    np.savez(tmp_path / "carrying.npz", **motion(arm.replace(payload=BOX, payload_frame="wrist_3_link"), 1, 0.02))
    logged = tmp_path / "arm.toml", tmp_path / "carrying.npz"
    refused = run(*logged)
    assert refused.exit_code == 2
    assert "no single tip: name a frame with --frame, such as 'tool0', 'wrist_3_link', 'finger'" in refused.output
    result = run(*logged, "--frame", "finger")
    words = " ".join(result.output.split())
    assert result.exit_code == 1, words
    assert "mm: doubtful" in words
    assert "'wrist_3_link' fits clearly better: --frame wrist_3_link" in words
    facts = json.loads(run(*logged, "--frame", "finger", "--json").stdout)
    assert (facts["worse"], facts["better_frame"]) == (["finger_joint"], "wrist_3_link")
    assert run(*logged, "--frame", "wrist_3_link").exit_code == 0

"""dynamis linearize."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli

ARM = "planar_2r_melchiorri"


def run(*arguments):
    result = CliRunner().invoke(cli, ["linearize", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_machines_get_the_matrices():
    facts = json.loads(run(ARM, "--q=-1.5708,0", "--json").output)
    near = dy.linearize(dy.load(ARM), [-1.5708, 0.0])
    assert np.array(facts["A"]) == pytest.approx(near.A)
    assert np.array(facts["B"]) == pytest.approx(near.B)
    assert facts["controllable_dimension"] == 4
    assert facts["at_equilibrium"]
    assert [mode["kind"] for mode in facts["modes"]] == ["undamped", "undamped"]


def test_people_get_modes_torques_and_a_verdict():
    output = run(ARM, "--q=-1.5708,0").output
    for words in ("an equilibrium", "Torque and acceleration at the state", "Modes", "undamped", "± 5.257 i", "∂a/∂q", "∂a/∂τ",
                  "controllable: rank 4 of 4"):  # fmt: skip
        assert words in output
    assert "negative time constant" not in output
    upright = " ".join(run(ARM, "--q=1.5708,0").output.split())
    assert "a negative time constant is that of an unstable mode: it grows by a factor of e in this time" in upright
    moving = run(ARM, "--v", "1", "--tau", "0", "--actuated", "joint2").output
    assert "not an equilibrium" in moving
    assert "1 input;" in moving


def test_modes_are_numbered_and_real_eigenvalues_have_no_frequency():
    output = run("ur5e").output
    rows = [re.split(r"\s{2,}", line.strip()) for line in output.splitlines()]
    first = next(row for row in rows if row[:2] == ["1", "wrist_2_joint"])
    assert first == ["1", "wrist_2_joint", "unstable", "6.851", "–", "–", "-0.146"]
    assert ["2–9", "–", "neutral", "0", "–", "–", "–"] in rows
    assert ["10", "wrist_1_joint", "undamped", "0 ± 9.917 i", "1.578", "0", "–"] in rows


def test_matrices_too_wide_for_a_terminal_are_left_to_machines(tmp_path):
    d = dy.Description("rack").add_link("base")
    for k in range(9):
        d.add_link(f"slide{k}", "base", "prismatic", inertia=dy.solids.sphere(0.1, mass=1.0))
    dy.Robot(d).write(tmp_path / "rack.urdf")
    assert "use --json" in run(str(tmp_path / "rack.urdf")).output


def test_bad_input_ends_with_2():
    result = run(ARM, "--actuated", "joint_2")
    assert result.exit_code == 2
    assert "did you mean" in result.output
    assert run(ARM, "--q", "1,2,3").exit_code == 2


def test_dry_friction_at_rest_is_said_and_smoothed_on_request():
    at = ("puma560", "--q=0,0,0,0,0,0")
    said = " ".join(run(*at).stderr.split())
    assert "the dry friction of 'waist'" in said
    assert "coulomb · tanh(v / 0.05): --friction-velocity 0.05" in said
    smooth = run(*at, "--json", "--friction-velocity", "0.1")
    assert not smooth.stderr
    near = dy.linearize(dy.load("puma560"), np.zeros(6), friction_velocity=0.1)
    assert np.array(json.loads(smooth.stdout)["A"]) == pytest.approx(near.A)

"""Repairs: what is claimed to be repaired is gone from the written file, and nothing else in the file changes."""

from __future__ import annotations

import difflib
import warnings

import numpy as np
import pytest

import dynamis as dy
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.write_back import edit, write
from dynamis.model.load import read
from dynamis.model.repair import REPAIRED, repair, unrepaired
from dynamis.spatial import from_rpy

EXTRAS = """  <!-- the drives -->
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type>
    <joint name="shoulder"/><actuator name="m"><mechanicalReduction>100</mechanicalReduction></actuator></transmission>
  <gazebo reference="upper"><mu1>0.2</mu1></gazebo>
</robot>"""


def repaired(path, suffix="urdf"):
    """(the path of the repaired copy, what was changed)."""
    description, report = read(path)
    assert report.ok
    better, changes = repair(description)
    out = path.with_name(f"repaired.{suffix}")
    dy.Robot(better).write(out)
    return out, changes


def claimed(path):
    return {p.code for p in dy.check(path)} & REPAIRED


def changed_lines(one, other):
    """How many lines of the first document were replaced in the second; none may be added or removed elsewhere."""
    steps = difflib.SequenceMatcher(None, one.splitlines(), other.splitlines(), autojunk=False).get_opcodes()
    assert all(kind in ("equal", "replace") for kind, *_ in steps)
    return sum(end - start for kind, start, end, *_ in steps if kind == "replace")


def impossible(rng, case):
    """A tensor no body has: breaking the triangle inequality, negative, or on the border up to printed digits."""
    a, b = sorted(rng.uniform(0.1, 1.0, 2))
    c = {"triangle": (a + b) * rng.uniform(1.1, 5.0), "negative": b, "digits": a + b}[case]
    moments = np.array([-a if case == "negative" else a, b, c])
    R = from_rpy(rng.uniform(-3.0, 3.0, 3))
    return R @ np.diag(moments) @ R.T


@pytest.mark.parametrize("suffix", ["urdf", "toml"])
@pytest.mark.parametrize("digits", [3, 17])
@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e6, 1e20])
@pytest.mark.filterwarnings("ignore:.*a moment of")
def test_a_repaired_file_is_clean_of_what_was_repaired_at_any_magnitude(arm, save, scale, digits, suffix):
    rng = np.random.default_rng(7)
    for case in ("triangle", "negative", "digits"):
        for _ in range(3):
            I = scale * impossible(rng, case)
            entries = {"ixx": I[0, 0], "ixy": I[0, 1], "ixz": I[0, 2], "iyy": I[1, 1], "iyz": I[1, 2], "izz": I[2, 2]}
            tensor = " ".join(f'{key}="{value:.{digits}g}"' for key, value in entries.items())
            rpy = " ".join(f"{x:.6g}" for x in rng.uniform(-3, 3, 3))
            com = " ".join(f"{x:.6g}" for x in rng.uniform(-5, 5, 3))
            path = save(arm('ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.04"', tensor,
                            'xyz="0.1 0.02 0.03" rpy="0.1 0.2 0.3"', f'xyz="{com}" rpy="{rpy}"'))  # fmt: skip
            out, changes = repaired(path, suffix)
            assert claimed(out) == set()
            assert bool(changes) == bool(claimed(path))


def test_a_point_mass_with_the_noise_of_a_tensor_is_neither_doubted_nor_repaired(arm, save):
    noise = 'ixx="-2.4e-35" ixy="0" ixz="0" iyy="0" iyz="1e-21" izz="2.4e-35"'
    path = save(arm('ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.04"', noise))
    assert not dy.check(path).problems
    assert repaired(path)[1] == []


def test_both_axes_of_a_universal_joint_are_repaired(two_links, save):
    text = two_links('joint = "elbow"', 'joint = "elbow"\ntype = "universal"\naxis = [0, 2, 0]\naxis2 = [0, 0, 3]')
    path = save(text, "robot.toml")
    assert "axis-length" in claimed(path)
    assert claimed(repaired(path, "toml")[0]) == set()


def test_a_repair_changes_only_the_values_that_it_repairs(arm, save):
    text = arm(
        "</robot>",
        EXTRAS,
        'izz="0.02"',
        'izz="0.2"',
        'xyz="0 1 0"',
        'xyz="0 2 0"',
        'lower="-2" upper="2"',
        'lower="2" upper="-2"',
    )
    out, changes = repaired(save(text))
    again = out.read_text()
    assert len(changes) == 3
    assert changed_lines(text, again) == 3
    assert '<axis xyz="0 1 0"/>' in again
    assert 'lower="-2" upper="2" effort="50" velocity="3"' in again
    assert EXTRAS in again


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_repair_keeps_the_encoding_of_the_document(arm, save, encoding):
    name = encoding.removesuffix("-sig")
    text = arm('"1.0"', f'"1.0" encoding="{name}"', '"tool"', '"größe"', 'xyz="0 1 0"', 'xyz="0 2 0"').replace("\n", "\r\n")
    out, _ = repaired(save(text.encode(encoding)))
    assert out.read_bytes() == text.replace('xyz="0 2 0"', 'xyz="0 1 0"').encode(encoding)


def test_a_urdf_that_is_not_changed_is_written_byte_for_byte(arm, save, tmp_path):
    path = save(arm("</robot>", EXTRAS))
    dy.load(path).write(tmp_path / "again.urdf")
    assert (tmp_path / "again.urdf").read_bytes() == path.read_bytes()


@pytest.mark.filterwarnings("ignore:.*payloads as such, which become part of the links")
def test_other_friction_gravity_payload_and_rotors_are_edits_of_the_document(arm, save, tmp_path, same_dynamics):
    text = arm("</robot>", EXTRAS)
    robot = dy.load(save(text)).replace(
        friction={"shoulder": {"viscous": 1.5}, "elbow": {"coulomb": 0.2, "rotor_inertia": 1e-3, "stiffness": 2.0}},
        gravity=(0.0, 1.0, -9.0), payload=dy.solids.box(0.1, 0.2, 0.3, mass=2.0), payload_frame="tool",
    )  # fmt: skip
    robot.write(tmp_path / "again.urdf")
    again = (tmp_path / "again.urdf").read_text()
    assert EXTRAS.removesuffix("</robot>") in again
    assert '<dynamics damping="1.5" friction="0.3"/>' in again
    same_dynamics(robot, dy.load(tmp_path / "again.urdf"))
    assert robot.torque_ledger([0.1, 0.2], [1, 1], [1, 1]).total == pytest.approx(
        dy.load(tmp_path / "again.urdf").torque_ledger([0.1, 0.2], [1, 1], [1, 1]).total
    )


def test_a_robot_with_another_structure_is_written_anew(arm, save, tmp_path, same_dynamics):
    d = dy.load(save(arm("</robot>", EXTRAS))).description
    d.add_link("finger", "tool", "revolute", inertia=dy.solids.sphere(0.1, mass=0.2))
    dy.Robot(d).write(tmp_path / "again.urdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        same_dynamics(dy.Robot(d), dy.load(tmp_path / "again.urdf"))
    assert "transmission" not in (tmp_path / "again.urdf").read_text()


def test_identified_parameters_are_edits_of_the_document(arm, save, tmp_path, same_dynamics):
    text = arm("</robot>", EXTRAS)
    robot = dy.load(save(text))
    model = LinearModel(robot)
    better = edit(robot, model, 1.1 * model.prior).robot
    write(better, tmp_path / "better.urdf")
    again = (tmp_path / "better.urdf").read_text()
    assert EXTRAS in again
    assert len(again.splitlines()) == len(text.splitlines())
    assert again.index("<joint") > again.index('name="tool"')
    same_dynamics(better, dy.load(tmp_path / "better.urdf"))


def test_calibrated_origins_are_edits_of_the_document(arm, save, tmp_path, same_dynamics):
    d = dy.load(save(arm("</robot>", EXTRAS))).description
    moved = d.joint("elbow")
    moved.origin = moved.origin @ dy.Pose(from_rpy([0.01, 0.0, -0.02]), np.array([0.002, 0.0, -0.001]))
    robot = dy.Robot(d)
    robot.write(tmp_path / "again.urdf")
    assert EXTRAS.removesuffix("</robot>") in (tmp_path / "again.urdf").read_text()
    same_dynamics(robot, dy.load(tmp_path / "again.urdf"))


@pytest.mark.parametrize("newline", ["\n    ", " "])
def test_of_a_repeated_element_the_first_is_kept(arm, save, newline):
    """A joint with two <origin> loads with a warning; the repaired document has one."""
    first = '<parent link="base"/>'
    text = arm(first, f'<origin xyz="0 0 0.3"/>{newline}<origin xyz="9 9 9" rpy="0 0 1"></origin>{newline}{first}')
    path = save(text)
    assert "repeated-element" in claimed(path)
    out, changes = repaired(path)
    assert claimed(out) == set()
    assert any("<origin> was given" in change and "the first is kept" in change for change in changes)
    assert "9 9 9" not in out.read_text()
    assert [joint.origin.p.tolist() for joint in read(out)[0].joints] == [j.origin.p.tolist() for j in read(path)[0].joints]


def test_an_inertia_without_mass_is_cleared_unless_a_joint_then_moves_no_mass(arm, save, tmp_path):
    """At the fixed tool it is a frame; at the moved fore arm the mass is missing."""
    inertial = '<inertial><mass value="0"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="5"/></inertial>'
    path = save(arm('<link name="tool"/>', f'<link name="tool">{inertial}</link>'))
    assert "inertia-without-mass" in {p.code for p in dy.check(path)}
    out, changes = repaired(path)
    assert changes == ["link 'tool': inertia without mass → 0 kg m²"]
    assert dy.check(out).problems == []
    d = dy.Description("one").add_link("base").add_link("arm", "base", "revolute", inertia=dy.solids.sphere(0.1, mass=1.0))
    d.link("arm").mass_properties.mass = 0.0
    better, changes = repair(d)
    assert changes == []
    assert "link 'arm': the mass is 0 kg" in unrepaired(better)[0]


def test_negative_limits_and_friction_lose_their_sign(arm, save):
    text = arm('effort="50" velocity="3"', 'effort="-50" velocity="3"', 'damping="0.7"', 'damping="-0.7"')
    path = save(text)
    assert {"limits-negative", "negative-drive"} <= claimed(path)
    out, changes = repaired(path)
    assert claimed(out) == set()
    assert any("effort limit -50 → 50" in change for change in changes)
    assert any("damping -0.7 → 0.7" in change for change in changes)

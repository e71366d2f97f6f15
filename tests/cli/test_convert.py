"""`dynamis robots` and `dynamis convert`."""

import json

import pytest

import dynamis as dy


def test_the_library_is_listed_with_what_each_robot_is(run):
    listed, data = run("robots").output, json.loads(run("robots", "--json").output)
    assert {"ur5e", "panda", "planar_2r"} <= set(data)
    for name, about in data.items():
        assert name in listed
        assert about


@pytest.mark.parametrize(
    ("out", "form"),
    [("x.urdf", "link"), ("x.xml", "link"), ("x.toml", "link"), ("x.toml", "dh"), ("x.toml", "mdh"), ("x.toml", "poe")],
)
def test_a_converted_robot_has_the_same_mass_matrix(run, tmp_path, out, form):
    assert run("convert", "ur5e", tmp_path / out, "--form", form).exit_code == 0
    q = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert dy.load(tmp_path / out).mass_matrix(q) == pytest.approx(dy.load("ur5e").mass_matrix(q), abs=1e-12)


@pytest.mark.parametrize(
    ("robot", "out", "options"),
    [
        ("baxter", "x.toml", ["--form", "dh"]),
        ("planar_2r", "x.urdf", []),
        ("ur5e", "x.txt", []),
        ("ur5e", "missing/x.urdf", []),
    ],
)
def test_a_conversion_that_is_not_possible_ends_with_status_2_and_writes_nothing(run, tmp_path, robot, out, options):
    result = run("convert", robot, tmp_path / out, *options)
    assert result.exit_code == 2
    assert "dynamis: " in result.output
    assert not (tmp_path / out).exists()


def test_a_form_that_urdf_cannot_have_is_refused(run, tmp_path):
    assert run("convert", "ur5e", tmp_path / "x.urdf", "--form", "dh").exit_code == 2


def test_what_is_not_read_of_a_file_is_listed_by_check_and_convert(run, tmp_path):
    extensions = "".join(f'<transmission name="t{k}"/>' for k in range(7)) + "<gazebo/><gazebo/>"
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a"/>{extensions}</robot>')
    first, all_of_them = (f"<transmission> (7: 't0', 't1', 't2', 't3', {rest})" for rest in ("…", "'t4', 't5', 't6'"))
    checked, every = run("check", tmp_path / "r.urdf"), run("check", tmp_path / "r.urdf", "--all")
    assert f"note robot: left aside, without a counterpart: {first}" in checked.output
    assert "no errors or warnings; --all lists all notes" in checked.output
    assert all_of_them in every.output
    assert "--all" not in every.output
    notes = json.loads(run("check", tmp_path / "r.urdf", "--json").output)["notes"]
    assert "'t6')" in notes[0]["found"]
    made = run("convert", tmp_path / "r.urdf", tmp_path / "r.toml")
    assert f"not in the file: {all_of_them}" in made.output
    assert "not in the file: <gazebo> (2: robot ×2)" in made.output
    assert json.loads(run("convert", tmp_path / "r.urdf", tmp_path / "s.urdf", "--json").output)["lost"] == []
    assert (tmp_path / "s.urdf").read_text() == (tmp_path / "r.urdf").read_text()


def test_long_lists_of_names_are_printed_whole_and_wrapped(run, tmp_path):
    result = run("convert", "ur5e", tmp_path / "x.mjcf")
    assert "velocity limits: 6 elements" in result.output
    words = " ".join(result.output.split())
    assert all(repr(name) in words for name in dy.load("ur5e").joint_names)
    assert "…" not in result.output


def test_what_only_dynamis_reads_of_a_urdf_is_listed(run, tmp_path):
    hung = tmp_path / "hung.toml"
    dy.load("puma560").replace(gravity=(0.0, 0.0, 9.81)).write(hung)
    output = " ".join(run("convert", hung, tmp_path / "hung.urdf").output.split())
    assert "ignored by other tools: gravity (0, 0, 9.81) m/s² in the base frame" in output
    assert "ignored by other tools: rotor inertia of 'waist', 'shoulder'" in output
    data = json.loads(run("convert", hung, tmp_path / "hung.urdf", "--json").stdout)
    assert data["lost"] == []
    assert len(data["ignored_by_other_tools"]) == 4
    assert json.loads(run("convert", "panda", tmp_path / "panda.urdf", "--json").stdout)["ignored_by_other_tools"] == []
    assert json.loads(run("convert", hung, tmp_path / "copy.toml", "--json").stdout)["ignored_by_other_tools"] == []


def test_contacts_that_an_mjcf_file_excludes_are_listed(run, tmp_path):
    pytest.importorskip("coal", reason="coal is not installed: pip install coal")
    shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    links = "".join(f'<link name="{x}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
                    f"</inertial>{shape}</link>" for x in "abc")  # fmt: skip
    joint = '<joint name="{1}" type="continuous"><parent link="{0}"/><child link="{1}"/></joint>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links}{joint.format("a", "b")}{joint.format("b", "c")}</robot>')
    output = " ".join(run("convert", tmp_path / "r.urdf", tmp_path / "r.mjcf").output.split())
    assert "contacts excluded, adjacent: 'a' and 'b', 'b' and 'c' " in output
    assert "contacts excluded, in collision in 200 of 200 random postures: 'a' and 'c'" in output
    data = json.loads(run("convert", tmp_path / "r.urdf", tmp_path / "r.mjcf", "--json").stdout)
    assert data["contact_exclusions"][0] == {"pair": ["a", "b"], "reason": "adjacent"}

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
    ("out", "form"), [("x.urdf", "link"), ("x.toml", "link"), ("x.toml", "dh"), ("x.toml", "mdh"), ("x.toml", "poe")]
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

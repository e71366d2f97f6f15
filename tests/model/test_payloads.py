"""Payloads in robot files: what a link carries is kept apart from the link, so that it can be exchanged and removed."""

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.model.writers.toml import write_toml


def ball(mass):
    return dy.Inertia.about_com(mass, (0.01, 0.02, 0.05), 1e-3 * np.eye(3))


@pytest.mark.parametrize("form", ["link", "dh", "mdh", "poe"])
def test_a_payload_of_a_toml_is_exchanged_and_removed(form, tmp_path, same_dynamics):
    robot = dy.load("ur5e")
    loaded = robot.replace(payload=ball(2.0))
    loaded.write(tmp_path / "loaded.toml", form)
    again = dy.load(tmp_path / "loaded.toml")
    same_dynamics(again, loaded)
    same_dynamics(again.replace(payload=ball(3.0)), robot.replace(payload=ball(3.0)))
    same_dynamics(again.replace(payload=0), robot)
    done = CliRunner().invoke(cli, ["convert", str(tmp_path / "loaded.toml"), str(tmp_path / "copy.toml"), "--form", form])
    assert "not in the file" not in done.output
    same_dynamics(dy.load(tmp_path / "copy.toml").replace(payload=0), robot)


def test_payloads_of_several_frames_keep_their_frames_and_their_symbols():
    robot = dy.load("ur5e").replace(payload=dy.solids.sphere(0.1, mass=dy.symbol("m")), payload_frame="forearm_link")
    robot = robot.replace(payload=ball(2.0), payload_frame="tool0")
    again = dy.load(write_toml(robot.description), parameters={"m": 1.5})
    assert again.mass == pytest.approx(dy.load("ur5e").mass + 3.5)
    bare = again.replace(payload=0, payload_frame="forearm_link").replace(payload=0, payload_frame="tool0")
    assert bare.mass == pytest.approx(dy.load("ur5e").mass)


def test_a_payload_stays_in_a_link_whose_inertia_was_changed_since():
    d = dy.load("ur5e").replace(payload=ball(2.0)).description
    d.link("tool0").mass_properties.mass = 7.0
    text = write_toml(d)
    assert "[[payload]]" not in text
    assert dy.load(text).mass == dy.Robot(d).mass


@pytest.mark.parametrize("suffix", [".urdf", ".sdf", ".mjcf", ".usda"])
def test_other_formats_warn_that_a_payload_becomes_part_of_its_link(suffix, tmp_path):
    loaded = dy.load("ur5e").replace(payload=ball(2.0))
    with pytest.warns(
        dy.ModelWarning, match=r"payloads as such, which become part of the links that carry them \(1: 'tool0'\)"
    ):
        loaded.write(tmp_path / f"loaded{suffix}")


@pytest.mark.parametrize(("table", "message"), [
    ('frame = "hand"\nmass = 1', "no link named 'hand'"),
    ("mass = 1", "[[payload]] ''"),
    ('frame = "link1"', "no mass, or tip is not true or false"),
    ('frame = "link1"\nmass = 1\ntip = 3', "no mass, or tip is not true or false"),
    ('frame = "link1"\nmass = 1\n[[payload]]\nframe = "link1"\nmass = 1', "it has a payload already"),
    ('frame = "link1"\nmass = 1\nshapes = []', "no key named 'shapes'"),
])  # fmt: skip
def test_faulty_payloads_are_refused(table, message):
    text = f"[[link]]\nmass = 1\ninertia = {{ xx = 1, yy = 1, zz = 1 }}\n[[payload]]\n{table}\n"
    with pytest.raises(dy.ModelError) as raised:
        dy.load(text)
    assert message in str(raised.value)


def test_a_payload_that_no_body_has_is_doubted_with_its_line():
    text = "[[link]]\nmass = 9\ninertia = { xx = 1, yy = 1, zz = 1 }\n[[payload]]\nframe = 'link1'\nmass = -1\n"
    (problem,) = dy.check(text).problems
    assert (problem.code, problem.where, problem.line) == ("negative-mass", "[[payload]] 'link1'", 4)

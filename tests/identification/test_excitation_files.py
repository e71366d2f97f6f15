"""Exciting motions written, read, drawn, and followed."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.excitation import Excitation, Splines, above, design_excitation
from dynamis.identification.linear_model import LinearModel

ARM = dy.load("planar_2r_melchiorri")


@pytest.fixture(scope="module", params=["fourier", "spline"])
def found(request):
    return design_excitation(
        ARM, duration=4.0, kind=request.param, harmonics=3, restarts=1, velocity=3.0, acceleration=20.0, seconds=2.0
    )


@pytest.mark.parametrize("suffix", [".json", ".toml", ".npz"])
def test_what_is_written_is_read_again(found, tmp_path, suffix):
    again = Excitation.load(found.write(tmp_path / f"motion{suffix}"), ARM)
    np.testing.assert_array_equal(again.coefficients, found.coefficients)
    t = np.linspace(-1.0, 5.0, 201)
    for before, after in zip(found.at(t), again.at(t), strict=True):
        np.testing.assert_array_equal(before, after)
    assert again.as_dict() == found.as_dict()
    assert repr(again) == repr(found)
    assert again.uses == found.uses
    assert again._repr_html_().count("<tr>") == 1 + len(found.uses)  # a row for each limit


def test_a_table_for_controllers_has_every_sample(found, tmp_path):
    path = found.write(tmp_path / "motion.csv", rate=250.0)
    with path.open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["t", "q.joint1", "q.joint2", "v.joint1", "v.joint2", "a.joint1", "a.joint2"]
    assert len(rows) == 1001
    np.testing.assert_allclose(np.array(rows, float), np.column_stack(found.sample(250.0)), rtol=1e-11, atol=1e-11)


def test_samples_at_a_rate_that_does_not_divide_the_time_end_at_rest(found):
    t, q, v, a = found.sample(0.3)
    assert t[-1] >= found.duration
    np.testing.assert_allclose(q[-1], found.at(found.duration)[0])
    assert not v[-1].any()
    assert not a[-1].any()


def test_samples_are_those_of_the_believed_robot(found):
    samples = found.samples(100.0)
    base = base_parameters(LinearModel(ARM))
    np.testing.assert_allclose(base.regressor(samples.q, samples.v, samples.a) @ base.prior, samples.tau, atol=1e-9)
    assert samples.period == pytest.approx(0.01)


def test_a_controller_follows_it(found):
    law = dy.control.ComputedTorque.designed(found, bandwidth=20.0)
    trajectory = dy.simulate(ARM, 1.5, found.start, controller=law.with_model(ARM), method="rk4", step=2e-3, points=31)
    assert np.abs(trajectory.q - found.at(trajectory.t)[0]).max() < 1e-3


def test_motions_that_do_not_return_cannot_be_repeated(found):
    assert len(found.sample(100.0, repeats=2)[0]) == 801
    away = Splines(4.0, 3, closed=False)
    gone = replace(found, basis=away, coefficients=np.ones((away.size, 2)))
    assert len(gone.sample(100.0)[0]) == 401
    with pytest.raises(InputError, match="does not end at its start configuration"):
        gone.sample(100.0, repeats=2)
    with pytest.raises(InputError, match="repeats must be"):
        found.sample(100.0, repeats=0)
    with pytest.raises(InputError, match="rate must be positive"):
        found.sample(0.0)


def test_it_is_drawn(found, tmp_path):
    pytest.importorskip("matplotlib")
    found.plot(tmp_path / "motion.png")
    assert (tmp_path / "motion.png").read_bytes()[:4] == b"\x89PNG"
    alone = Excitation.load(found.write(tmp_path / "motion.json"))
    uses = tuple(replace(use, name=f"shoulder_lift_{use.name}") for use in found.uses)
    panels = replace(found, joint_names=tuple(f"shoulder_lift_{x}" for x in found.joint_names), uses=uses).plot()
    panels.figure.canvas.draw()
    for ax in panels:
        label = ax.xaxis.label.get_window_extent()
        assert label.x1 <= ax.get_window_extent().x1 + 1.0
    assert len(alone.plot()) == 5
    with pytest.raises(InputError, match="torques need the robot"):
        alone.samples()


def test_places_are_drawn_and_written(tmp_path):
    robot = dy.load("puma560")
    found = design_excitation(robot, duration=3.0, harmonics=2, restarts=1, regions=above(robot, 0.1), seconds=0.5)
    again = Excitation.load(found.write(tmp_path / "motion.toml"), robot)
    assert [use for use in again.uses if use.kind == "place"]
    assert again.uses == found.uses


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.csv", "t", "contains samples only"),
        ("a.txt", "t", "must be a .json, .toml or .npz file"),
        ("a.json", "{", "is not an excitation"),
        ("a.json", "[]", "its format is not"),
        ("a.toml", "x = ", "is not an excitation"),
        ("a.toml", "x = 1", "its format is not"),
        ("a.npz", "no archive", "is not an excitation"),
    ],
)
def test_other_files_are_refused(tmp_path, name, text, sentence):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=sentence):
        Excitation.load(path)


def test_damaged_files_are_refused(found, tmp_path):
    facts = found.as_dict()
    path = tmp_path / "motion.json"
    basis = facts["basis"]
    changes = (
        {"coefficients": facts["coefficients"][1:]},
        {"q0": [0.0]},
        {"q0": [0.0, "x"]},
        {"basis": {**basis, "kind": "zigzag"}},
        {"basis": {**basis, "duration": -1.0}},
        {"basis": {**basis, "strange": 1}},
        {"margin": None},
        {"uses": [{}]},
    )
    for change in changes:
        path.write_text(json.dumps({**facts, **change}))
        with pytest.raises(InputError, match="is corrupt"):
            Excitation.load(path)
    path.write_text(json.dumps(facts))
    with pytest.raises(InputError, match="not those of robot"):
        Excitation.load(path, dy.load("scara"))
    with pytest.raises(InputError, match="cannot be read"):
        Excitation.load(tmp_path / "nowhere.json")
    with pytest.raises(InputError, match="the file name must end in"):
        found.write(tmp_path / "motion.xls")
    with pytest.raises(InputError, match="cannot be written"):
        found.write(tmp_path / "nowhere" / "motion.csv")

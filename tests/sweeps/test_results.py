"""Tables and pictures of a sweep."""

import numpy as np
import pytest
from sweep_study import STUDY, Serial

import dynamis as dy
from dynamis.errors import InputError, NameLookupError
from dynamis.sweeps.run import sweep
from dynamis.sweeps.study_file import study_from_text
from dynamis.sweeps.table import _table
from dynamis.sweeps.units import unit_of


def test_the_table_holds_what_was_simulated(tmp_path):
    result = sweep(STUDY, tmp_path, Serial())
    table = np.genfromtxt(tmp_path / "results.csv", delimiter=",", names=True, dtype=None, encoding="utf-8", deletechars="")
    np.testing.assert_array_equal(table["q.joint1"], result["q.joint1"])
    assert set(table["status"]) == {"completed"}
    assert result["energy_error"].max() < 1e-5
    assert result["t"].min() == pytest.approx(0.2)
    with pytest.raises(NameLookupError, match="did you mean 'energy'"):
        result["enrgy"]


def test_a_gridded_input_has_a_bar_for_each_value(tmp_path):
    vary = '[vary]\n"viscous.*" = { grid = [0, 10, 80] }\n"payload.mass" = { grid = [0.0, 1.0, 3.0] }\n'
    study = study_from_text(f'robot = "planar_2r_melchiorri"\nduration = 0.02\npoints = 3\n{vary}', name="grid.toml")
    axes = sweep(study, tmp_path / "s", Serial()).plot()
    (gridded,) = [ax for ax in axes if ax.get_ylabel() == "cases" and ax.get_xlabel() == "payload.mass [kg]"]
    assert [bar.get_height() for bar in gridded.patches] == [3, 3, 3]
    assert gridded.get_title(loc="left") == "3 values"


def test_pictures_show_what_is_asked_for(tmp_path):
    result = sweep(STUDY, tmp_path / "s", Serial())
    axes = result.plot()
    assert {ax.get_xlabel() for ax in axes} >= {"q0.joint1 [rad]", "viscous.* [N m s/rad]"}
    assert axes[0].get_ylabel() == "q.joint1 [rad]"
    for name, options in {"a": {}, "b": {"output": "energy", "over": "viscous.*"}}.items():
        result.plot(tmp_path / f"{name}.png", **options)
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    with pytest.raises(NameLookupError, match="no output named 'energie'"):
        result.plot(output="energie")
    with pytest.raises(InputError, match="cannot be written"):
        result.plot(tmp_path / "none" / "a.png")


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("q.joint3", "m"), ("v0.joint3", "m/s"), ("peak_torque.joint3", "N"), ("stiffness.joint1", "N m/rad"), ("gravity.z", "m/s²"),
        ("viscous.*", "N m s/rad or N s/m"), ("payload.x", "m"), ("mass.link1", "kg"), ("gear_ratio.joint1", ""), ("parameters.a", ""),
    ],
)  # fmt: skip
def test_columns_have_the_unit_of_their_joint(column, unit):
    assert unit_of(column, dy.load("scara")) == unit


@pytest.mark.parametrize("name", ["mass.link1", "largest_torque.shoulder_lift_joint_of_the_left_arm"])
def test_the_table_of_a_summary_fits_100_columns(name):
    lines = _table([name, "t"], [["-1.234e-05"] * 7, ["1"] * 7])
    assert max(map(len, lines)) <= 100
    assert " ".join(lines).split().count("-1.234e-05") == 7
    assert len({len(line) for line in lines if line.strip() not in (name, "t")}) == 1  # columns are aligned


LIMITED = """
robot = "planar_2r_melchiorri"
duration = 0.02
method = "rk4"
step = 1e-3
q0 = [0.5, 0.5]
[hold]
q = [0.6, 0.6]
stiffness = 50000
[vary]
"payload.mass" = { grid = [0.0, 5.0] }
"""


def test_torques_beyond_the_effort_limits_are_noted(tmp_path):
    dy.load("planar_2r_melchiorri").replace(limits={"joint1": {"effort": 2000.0}}).write(tmp_path / "arm.toml")
    (tmp_path / "study.toml").write_text(LIMITED.replace("planar_2r_melchiorri", "arm.toml"))
    result = dy.sweep(tmp_path / "study.toml", tmp_path / "out", workers=1)
    assert len(result.notes) == 1
    assert "'joint1' exceeds its effort limit of 2000 in 2 cases, up to 5756" in result.notes[0]
    assert "effort limit" in result.summary()


def test_statistics_are_those_of_motions_that_ended(tmp_path):
    text = LIMITED.replace("duration = 0.02", "duration = 1.0").replace("stiffness = 50000", "stiffness = 1000")
    text = text.replace('"payload.mass" = { grid = [0.0, 5.0] }', '"stiffness.joint1" = { grid = [0.0, 1e9] }')
    result = dy.sweep(dy.read_study(text), tmp_path, workers=1)
    assert result.ended.tolist() == [True, False]  # a spring that is too stiff for the step
    assert result.statistics("energy")["mean"] == result["energy"][0]
    assert result.statistics("stiffness.joint1")["most"] == 1e9
    assert "without 1 case that did not reach the end" in result.summary()

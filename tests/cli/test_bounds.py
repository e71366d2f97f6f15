"""``dynamis bounds``: the table, the data, the picture, and sentences instead of tracebacks."""

import json

import pytest
from click.testing import CliRunner

from dynamis.cli.commands import cli

BOX = ["--lower=-1.5707963267948966", "--upper=1.5707963267948966"]


@pytest.fixture
def run():
    def invoke(*arguments):
        result = CliRunner().invoke(cli, ["bounds", *map(str, arguments)])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return invoke


def test_the_table_shows_the_figures_of_the_lecture(run):
    result = run("planar_2r_melchiorri", *BOX)
    assert result.exit_code == 0
    for word in ("117.5", "192.5", "161.26", "proven", "M depends on joint2"):
        assert word in result.output
    assert "6 bounds omitted because the value is 0: viscous friction, dry friction" in result.output
    assert "d_max" not in result.output
    table = result.output.split("M depends on")[0].splitlines()
    assert max(len(line) for line in table if "‖" in line or "proven ≥" in line) <= 80


def test_symbols_get_their_values_on_the_command_line(run):
    values = ["g=9.81", "a_1=1", "a_2=1", "l_1=0.5", "l_2=0.5", "m_1=50", "m_2=50", "I_1=10", "I_2=10"]
    settings = [word for value in values for word in ("--set", value)]
    data = json.loads(run("planar_2r", *settings, *BOX, "--json").output)
    assert data["M_1"]["1"]["value"] == pytest.approx(117.5)
    assert data["M_2"]["2"]["certified"] is True


def test_one_number_a_coordinate_is_read(run):
    result = run("scara", "--lower=-1,-1,0,-1", "--upper", "1 1 0.5 1", "--seconds", "2", "--json")
    assert json.loads(result.output)["box"]["joint3"] == [0.0, 0.5]


def test_the_picture_is_written(run, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    path = tmp_path / "eigenvalues.png"
    assert run("planar_2r_melchiorri", *BOX, "--plot", path).exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["planar_2r"], "--set"), (["planar_2r", "--set", "m_1"], "NAME=VALUE"), (["planar_2r", "--set", "m_1=heavy"], "NAME=VALUE"),
     (["scara", "--lower", "a,b"], "--lower takes numbers"), (["scara", "--lower", ""], "--lower takes numbers"),
     (["scara", "--lower=1,2"], "4 numbers"), (["scara", "--lower=2", "--upper=1"], "empty"),
     (["scara", "--tolerance", "0"], "tolerance"), (["scara", "--seconds", "nan"], "seconds"), (["nobody"], "nobody"),
     (["planar_prp", "--set", "m_9=1"], "m_9")],
)  # fmt: skip
def test_a_question_that_cannot_be_answered_ends_with_status_2_and_a_sentence(run, arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.output

"""The command line in rough hands: wrong numbers, outputs that cannot be written, closed pipes, narrow terminals, Ctrl-C."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from click.types import FloatParamType

import dynamis as dy
from dynamis.cli.bounds import numbers
from dynamis.cli.commands import cli
from dynamis.cli.error_handling import plain_errors
from dynamis.cli.layout import fitting, print_table
from dynamis.cli.param_types import SEED

SOURCE = Path(dy.__file__).parents[1]
TWO_LINK = "planar_2r_melchiorri"


def run(*arguments, env=None):
    result = CliRunner().invoke(cli, [str(x) for x in arguments], env=env)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def program(*arguments, first="", folder=None, stdout=subprocess.PIPE):
    """The command line as a program of its own, which runs some Python before anything else."""
    if folder is not None:
        (folder / "sitecustomize.py").write_text(first)
    environment = {**os.environ, "PYTHONPATH": f"{folder or ''}{os.pathsep}{SOURCE}"}
    words = [sys.executable, "-m", "dynamis", *arguments]
    return subprocess.run(words, stdout=stdout, stderr=subprocess.PIPE, text=True, env=environment, check=False)


# numbers


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", TWO_LINK, TWO_LINK, "--seed", "-1"], ["control", TWO_LINK, "--error", "5", "--seed", "-1"],
        ["compare", TWO_LINK, TWO_LINK, "--tolerance", "nan"], ["bench", TWO_LINK, "--seconds", "nan"],
        ["bench", TWO_LINK, "--functions", ""], ["derive", TWO_LINK, "--seconds", "-1"], ["derive", TWO_LINK, "--seconds", "nan"],
        ["control", TWO_LINK, "--rate", "-1"], ["control", TWO_LINK, "--step", "0"],
        ["redundancy", TWO_LINK, "--regularisation", "-1"], ["check-answer", "planar_2r", "--tolerance", "nan"],
        ["linearize", TWO_LINK, "--actuated", ""], ["collide", "ur5e", "--floor", "1e300"],
        ["redundancy", TWO_LINK, "--period", "0"], ["simulate", TWO_LINK, "--step", "-1"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_numbers_that_mean_nothing_are_refused_in_a_sentence_and_leave_no_output(arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr


def test_every_number_is_checked_when_the_command_line_is_parsed():
    options = [
        (name, x) for name, command in cli.commands.items() for x in command.params if isinstance(x.type, FloatParamType)
    ]
    assert len(options) > 30
    for name, option in options:
        for text in ("nan", "1e300"):
            with pytest.raises(click.BadParameter):
                option.type.convert(text, option, None)
                pytest.fail(f"{name} {option.opts[0]} {text}")
    ranges = [x for command in cli.commands.values() for x in command.params if isinstance(x.type, click.IntRange)]
    assert {x.type.name for x in ranges} == {"integer"}
    for option in ranges:
        for text in (str(10**30), "1e3", ""):
            with pytest.raises(click.BadParameter, match="is not an integer"):
                option.type.convert(text, option, None)


def test_every_seed_is_of_the_same_kind():
    seeds = [x for command in cli.commands.values() for x in command.params if "--seed" in x.opts]
    assert len(seeds) >= 4
    assert all(x.type is SEED for x in seeds)


@pytest.mark.parametrize("text", ["1,,2", ",1", "1,", "", " ", "a", "1;2"])
def test_a_gap_between_numbers_does_not_move_them_to_other_joints(text):
    with pytest.raises(dy.InputError, match="--q takes numbers"):
        numbers(text, "--q")


def test_numbers_are_separated_by_commas_or_spaces():
    assert numbers("1, 2 3", "--q") == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["simulate", TWO_LINK, "--time", "0.01"], "--q0"), (["statics", TWO_LINK], "--q"),
    ],
)  # fmt: skip
def test_one_number_stands_for_all_joints_in_every_command(arguments, option):
    assert run(*arguments, option, "0.2", "--json").exit_code in (0, 1)
    result = run(*arguments, option, "1,2,3", "--json")
    assert result.exit_code == 2
    assert f"{option} takes 2 numbers" in result.stderr


# files


def test_a_picture_that_cannot_be_drawn_is_refused_before_anything_is_computed_or_printed(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dy.Robot, "__init__", lambda *_, **__: pytest.fail("the robot is not needed for this"))
    drawing = [name for name, command in cli.commands.items() if any("--plot" in x.opts for x in command.params)]
    assert len(drawing) >= 10
    (tmp_path / "study.toml").write_text("")
    for name in drawing:
        about = {"study": [], "sweep": ["study.toml"], "stiffness": [TWO_LINK, "--springs", "1"]}.get(name, [TWO_LINK])
        for target in ("x.docx", "x", "no/x.png"):
            result = run(name, *about, "--plot", target, "--json")
            assert (result.exit_code, result.stdout) == (2, ""), name
            assert target.rpartition("/")[2] in result.stderr
    assert [x.name for x in tmp_path.iterdir()] == ["study.toml"]


def test_statics_prints_nothing_where_a_drawing_fails(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    result = run("statics", "panda", "--rows", "x,y,z,rx", "--limits", "inf", "--polytope", tmp_path / "x.png", "--json")
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(
    "line",
    [
        "simulate planar_2r_melchiorri --time 1e9 -o x.txt", "derive panda -o x.txt", "derive panda -o no/x.tex",
        "id ur5e --states motion.csv -o motion.csv", "fd ur5e --states motion.csv -o x.txt",
        "convert arm.urdf arm.urdf", "check arm.urdf --repair arm.urdf", "report ur5e -o no/x.html", "report arm.toml -o x.docx",
        "report ur5e --markdown -o x.html", "report ur5e --pdf -o x.html",
    ],
)  # fmt: skip
def test_outputs_are_refused_before_the_work_and_inputs_are_not_replaced(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("motion.csv", "arm.urdf"):
        (tmp_path / name).write_text("as it was")
    monkeypatch.setattr(dy.Robot, "__init__", lambda *_, **__: pytest.fail("the robot is not needed for this"))
    result = run(*line.split(), "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert sorted(x.name for x in tmp_path.iterdir()) == ["arm.urdf", "motion.csv"]
    assert (tmp_path / "motion.csv").read_text() == "as it was"


def test_an_answer_that_is_no_text_ends_with_a_sentence(tmp_path):
    (tmp_path / "answer.tex").write_bytes(b"\xb4\xff\x00")
    result = run("check-answer", "planar_2r", "--gravity", tmp_path / "answer.tex")
    assert result.exit_code == 2
    assert "not UTF-8 text" in result.stderr


def test_what_is_written_is_told_as_data(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    path = tmp_path / "x.png"
    assert json.loads(run("stiffness", TWO_LINK, "--springs", "1", "--plot", path, "--json").stdout)["written"] == [str(path)]
    assert json.loads(run("statics", TWO_LINK, "--json").stdout)["written"] == []


def test_texts_are_data_too():
    told = json.loads(run("show", TWO_LINK, "gravity", "--json").stdout)
    assert told["text"].strip() == run("show", TWO_LINK, "gravity").stdout.strip()
    assert "_DYNAMIS_COMPLETE" in json.loads(run("completion", "bash", "--json").stdout)["script"]


def test_functions_of_a_robot_with_symbols_say_how_to_give_them_values():
    for name in ("show", "export"):
        assert "--set a_1=1" in run(name, "planar_2r", "gravity").stderr


# terminals, pipes, signals


def test_no_colour_where_it_is_not_wanted(monkeypatch):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        with cli.make_context("dynamis", ["info", "no_such_robot"], color=True) as context:
            for key, value in env.items():
                monkeypatch.setenv(key, value)
            click.Command.invoke(cli, context)
        assert (context.color is not False) is coloured
        for key in env:
            monkeypatch.delenv(key)


def test_columns_that_do_not_fit_go_on_below_the_names():
    rows = [["first", "1.25", "22.5", "333"], ["second", "4", "5", "6"]]
    assert fitting(("name", "a", "b", "c"), rows, 100) == [[0, 1, 2, 3]]
    assert fitting(("name", "a", "b", "c"), rows, 26) == [[0, 1, 2, 3]]  # 6 + 4 + 4 + 3 cells and three gaps of 3
    assert fitting(("name", "a", "b", "c"), rows, 25) == [[0, 1, 2], [0, 3]]
    assert fitting(("name", "a", "b", "c"), rows, 1) == [[0, 1], [0, 2], [0, 3]]


def test_numbers_are_not_cut_off_on_a_narrow_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    names = [f"a_long_joint_{k}" for k in range(4)]
    print_table("torques", ("joint", *names), [(name, 1.0, -123.4, 5.678e-9, 0.0) for name in names])
    printed = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert "…" not in printed
    assert "-123.4" in printed
    assert "5.678e-09" in printed
    assert max(map(len, printed.splitlines())) <= 40


def test_names_that_look_like_markup_are_printed_as_they_are(capsys):
    print_table("[/bold] title", ("[/x]", "[red]"), [("[/bold] joint", 1.0)])
    printed = capsys.readouterr().out
    assert "[/bold] joint" in printed
    assert "[red]" in printed


def test_a_reader_that_has_gone_ends_a_command_silently_and_not_with_a_verdict():
    @plain_errors
    def told():
        raise BrokenPipeError

    @plain_errors
    def drawn():
        try:
            raise BrokenPipeError
        except BrokenPipeError:
            raise SystemExit(1)  # noqa: B904  # as rich does

    for command in (told, drawn):
        with pytest.raises(SystemExit) as end:
            command()
        assert end.value.code == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", [["--version"], ["completion", "bash"]])
def test_a_full_disk_behind_the_output_is_said(arguments):
    with open("/dev/full", "w") as full:  # noqa: PTH123  # a device
        done = program(*arguments, stdout=full)
    assert done.returncode == 2
    assert re.fullmatch(r"dynamis: .*space.*\n", done.stderr)


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
@pytest.mark.parametrize("inside", ["raise KeyboardInterrupt", "exec('raise KeyboardInterrupt')"])
def test_ctrl_c_ends_with_130_and_one_line_also_while_modules_are_loaded(tmp_path, inside):
    for name in ("dynamis.cli.commands", "dynamis.cli.summary"):
        first = f"""
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            {inside}
sys.meta_path.insert(0, Finder())
"""
        done = program("info", "ur5e", first=first, folder=tmp_path)
        assert (done.returncode, done.stderr) == (130, "dynamis: interrupted\n")


def test_the_help_says_what_the_exit_statuses_are():
    output = run("-h").output
    for status in ("0", "1", "2", "130", "141"):
        assert re.search(rf"^    {status} +\S", output, re.MULTILINE)


def test_measures_and_sections_are_completed():
    from click.shell_completion import ShellComplete

    def offered(*words):
        return [x.value for x in ShellComplete(cli, {}, "dynamis", "_X").get_completions(list(words[:-1]), words[-1])]

    assert offered("workspace", "ur5e", "--colour", "cond") == ["condition"]
    assert offered("report", "ur5e", "--sections", "robot,ch") == ["robot,check"]
    assert offered("identify", "ur5e", "--compare", "rid") == ["ridge"]


def test_nan_in_a_list_of_numbers_is_refused():
    result = CliRunner().invoke(cli, ["excite", "planar_2r_melchiorri", "--lower", "nan,0"])
    assert result.exit_code == 2
    assert "must be a finite number" in result.output

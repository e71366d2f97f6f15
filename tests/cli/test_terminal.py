"""What reaches a terminal: literal names, whole words and identifiers in its width, its encoding, numbers that are readable."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from processes import output_of
from rich.cells import cell_len

import dynamis as dy
from dynamis.cli import groups
from dynamis.cli.commands import SUBJECTS, cli
from dynamis.cli.console import print_notes, wrapped
from dynamis.cli.encoding import ascii_of
from dynamis.cli.layout import print_table
from dynamis.cli.progress import Bar, waiting

SOURCE = Path(dy.__file__).parents[1]
CLI = SOURCE / "dynamis" / "cli"
ARM = "planar_2r_melchiorri"


def run(*arguments, **env):
    result = CliRunner().invoke(cli, [str(x) for x in arguments], env=env, prog_name="dynamis")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def program(*arguments, python=(), **env):
    words = [sys.executable, *python, "-m", "dynamis", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), **env}
    return subprocess.run(words, capture_output=True, env=environment, check=False)


# names


TOML = """[robot]
name = "{name}0"
about = "{name}"
[[link]]
link = "{name}1"
joint = "{name}joint1"
mass = 1
com = [0.5, 0, 0]
axis = [0, 1, 0]
inertia = {{ xx = 0.1, yy = 0.1, zz = 0.1 }}
limits = {{ lower = -3, upper = 3, effort = 50, velocity = 3 }}
shapes = [{{ kind = "sphere", size = [0.1] }}]
[[link]]
link = "{name}2"
joint = "{name}joint2"
xyz = [1, 0, 0]
mass = 1
com = [0.5, 0, 0]
axis = [0, 1, 0]
inertia = {{ xx = 0.1, yy = 0.1, zz = 0.1 }}
limits = {{ lower = -3, upper = 3, effort = 50, velocity = 3 }}
shapes = [{{ kind = "sphere", size = [0.1] }}]
"""
STUDY = 'robot = "arm.toml"\nduration = 0.02\npoints = 3\n[vary]\n"viscous.*" = { grid = [0, 30] }\n'
QUICK = {
    "info": [], "check": [], "convert": ["out.toml"], "compare": ["arm.toml"], "id": ["--q", "0.3", "--a", "1", "--ledger"],
    "pose": ["--q", "0.3"], "ik": ["--position", "0.9,0,0.9"], "fd": ["--tau", "1"], "collide": ["--q", "0.3", "--floor", "-2"], "linearize": ["--q", "0.3"], "simulate": ["--time", "0.02"], "statics": ["--q", "0.3,0.2"],
    "stiffness": ["--springs", "1000", "--wrench", "0,0,-1"], "bounds": ["--seconds", "0.5"], "show": ["gravity"],
    "workspace": ["--samples", "300"], "control": ["--goal", "0.2", "--time", "0.05"], "export": ["gravity", "-o", "code"], "fmu": ["arm.fmu", "--sources-only"],
    "redundancy": ["--rows", "x", "--q0", "0.9,0.8", "--motion", "line", "--cycles", "1", "--period", "0.1", "--law", "torque"],
    "excite": ["--seconds", "0.2", "--restarts", "1", "--time", "2"], "identify": ["run.csv", "--compare", "none"],
    "payload": ["run.csv"], "calibrate": ["poses.csv", "--unknowns", "zero"], "derive": [], "bench": ["--functions", "gravity", "--batch", "10", "--seconds", "0.001"],
    "check-answer": ["--gravity", "answer.txt"], "report": ["--sections", "check", "--markdown", "-o", "page.md"],
}  # fmt: skip
WITHOUT_ROBOT = {"robots", "study", "completion", "sweep"}


HOSTILE = ":100:[bold]r:smile:[/]\\u001b[31m\\u202ea\\nb_and_a_name_that_fills_most_of_a_line_"  # as TOML writes it
SHOWN = ":100:[bold]r:smile:[/]\\x1b[31m\\u202ea\\nb_and_a_name_that_fills_most_of_a_line_"


def prepare(folder, name):
    (folder / "arm.toml").write_text(TOML.format(name=name), encoding="utf-8")
    (folder / "study.toml").write_text(STUDY)
    (folder / "answer.txt").write_text("g_1 = 0")
    t = np.arange(400) / 200.0
    q = np.column_stack([np.sin(3.0 * t), 0.5 * np.cos(5.0 * t)])
    table = np.column_stack([t, q, 5.0 * np.cos(q)])
    np.savetxt(folder / "run.csv", table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    tip = np.column_stack([np.cos(q).sum(axis=1), np.zeros(400), np.sin(q).sum(axis=1)])
    np.savetxt(folder / "poses.csv", np.hstack([q, tip])[::20], delimiter=",", header="q1,q2,x,y,z", comments="")


def lines():
    assert set(QUICK) | WITHOUT_ROBOT == set(cli.commands), "every command is tried"
    return [[name, "arm.toml", *rest] for name, rest in QUICK.items()] + [["sweep", "study.toml", "--workers", "1"]]


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What each command prints on 80 columns of a robot with hostile names: {command: (status, output)}."""
    folder = tmp_path_factory.mktemp("hostile")
    prepare(folder, HOSTILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found = {}
        for words in lines():
            result = run(*words, COLUMNS="80", DYNAMIS_TIER="quick")
            found[words[0]] = result.exit_code, result.output
    return found


NAMING = ("info", "pose", "ik", "id", "fd", "statics", "linearize", "simulate", "control", "compare")  # every joint


def test_names_are_printed_literally_by_every_command(printed):
    for command, (status, output) in printed.items():
        assert not set("\x1b\u202e💯😄") & set(output), command
        assert "Traceback" not in output, command
        missing = command == "collide" and "pip install" in output  # a library that is optional
        unlike = command in ("identify", "payload")  # the log is of no robot
        assert status in (0, 1) or unlike or missing, (command, output)
    for command in (*NAMING, "stiffness", "workspace", "bench", "bounds", "redundancy"):
        assert f"{SHOWN}0" in printed[command][1] or command == "compare", command


def test_output_fits_80_columns_and_names_stay_whole(printed):
    for command, (_, output) in printed.items():
        if command not in ("show", "derive", "check-answer"):  # code and formulas are not broken
            # a name that is longer than a line is not broken either
            assert not [line for line in too_wide(output, 80) if SHOWN not in line or " " in line.strip()], command
    for command in NAMING:
        for joint in (1, 2):
            assert f"{SHOWN}joint{joint}" in printed[command][1], command


@pytest.mark.parametrize("line", [100, 1234])
def test_the_number_of_a_line_is_a_number(tmp_path, line):
    path = tmp_path / "arm.urdf"
    path.write_text("<robot>" + "\n" * (line - 1) + "</link>")
    assert f"arm.urdf:{line}: error" in run("check", path).output


def test_messages_about_options_escape_control_characters():
    result = run("info", "ur5e", "--\x1b[31mred")
    assert result.exit_code == 2
    assert "\x1b" not in result.output
    assert "\\x1b[31mred" in result.output


def test_progress_is_not_markup(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    with waiting("[red]:smile:[/red]"):
        pass
    with Bar() as bar:
        bar.show(0.5, "[bold]:100:\x1b[5m")
        bar._progress.refresh()
    shown = capsys.readouterr().err
    assert not set("💯😄") & set(shown)
    for text in ("[red]:smile:[/red]", "[bold]:100:\\x1b[5m"):
        assert text in shown


def test_only_one_module_makes_consoles():
    makers = [
        x.name for x in CLI.glob("*.py") if re.search(r"rich\.console import Console|rich\.(markup|emoji)", x.read_text())
    ]
    assert makers == ["console.py"]


# width


def too_wide(text, width):
    return [line for line in text.splitlines() if cell_len(line) > width]


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("name", [None, *sorted(cli.commands)])
def test_help_fits_the_terminal_and_is_not_cut(name, width):
    text = run(*([] if name is None else [name]), "--help", COLUMNS=str(width)).output
    assert not too_wide(text, width)
    assert not re.search(r"\w…$|\.\.\.$", re.sub(r"\[ARGS\]\.\.\.|LOG\.\.\.", "", text), re.MULTILINE)


def test_every_command_has_a_subject_and_a_summary_of_one_line():
    placed = [name for names in SUBJECTS.values() for name in names]
    assert sorted(placed) == sorted(cli.commands)
    text = run("--help", COLUMNS="80").output
    for subject in SUBJECTS:
        assert f"\n{subject}:\n" in text
    for name, command in cli.commands.items():
        if name != "check-answer":
            assert f"  {name:<12}  {command.get_short_help_str(limit=200).rstrip('.')}\n" in text


@pytest.mark.parametrize("words", [["robots"], ["study"], ["info", "g1"], ["id", "g1"], ["linearize", "ur5e"], ["statics", "ur5e"],
                                   ["bounds", "scara", "--seconds", "0.2"], ["info", "nobody"], ["id", "ur5e", "--q", "0,-90"]],
                         ids=" ".join)  # fmt: skip
def test_robots_of_the_library_fit_80_columns(words):
    result = run(*words, COLUMNS="80")
    assert not too_wide(result.output, 80)
    if words[1:] == ["g1"]:
        assert all(name in result.output for name in dy.load("g1").joint_names)


def test_lines_are_broken_between_words_only():
    text = "the quick brown fox_jumps_over_the_lazy_dog"
    assert wrapped(text, 12) == ["the quick", "brown", "fox_jumps_over_the_lazy_dog"]
    assert wrapped(text, None) == [text]
    assert wrapped("一二三 四五", 6) == ["一二三", "四五"]


def test_a_row_too_wide_for_any_line_becomes_a_list(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    long = "a_name_that_is_almost_as_wide_as_this"
    print_table("title", ("joint", "torque"), [(long, 12345.678)])
    assert capsys.readouterr().out.splitlines()[:3] == ["title", f"  {long}", "    torque  12350"]


# encodings


@pytest.mark.parametrize(
    ("encoding", "words"),
    [("ascii", ["info", "ur5e"]), ("ascii", ["redundancy", "-h"]), ("cp1252", ["statics", ARM, "--q", "0.3,0"]),
     ("cp437", ["--help"]), ("gbk", ["control", "-h"])],
)  # fmt: skip
def test_an_encoding_without_greek_gets_readable_ascii(encoding, words):
    done = program(*words, PYTHONIOENCODING=encoding, COLUMNS="80")
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode(encoding)
    assert b"Traceback" not in done.stderr
    if encoding == "ascii":
        assert text.isascii()
        assert "\\u" not in text
        if words[0] == "info":
            assert "m/s^2" in text
            assert "----" in text
        if words[0] == "redundancy":
            assert "1/2 tau^TM^-^1tau" in text


def test_json_keeps_every_character_in_every_encoding(tmp_path):
    import json

    path = tmp_path / "arm.toml"
    path.write_text(TOML.format(name="φ"), encoding="utf-8")
    done = program("info", str(path), "--json", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout)["name"] == "φ0"


def test_characters_have_readable_forms():
    forms = {"τ": "tau", "Λ": "Lambda", "²": "^2", "é": "e", "…": "...", "─": "-", "≤": "<=", "\u00a0": " ", "₁": "1", "ö": "o"}
    assert {x: ascii_of(x) for x in forms} == forms
    assert ascii_of("\udcff") == "\\udcff"


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
def test_a_file_name_that_is_no_text_is_escaped(tmp_path):
    done = program("info", os.fsdecode(bytes(tmp_path) + b"/\xff.urdf"))
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert b"\\udcff" in done.stderr


def test_help_does_not_need_docstrings():
    done = program("--help", python=["-OO"])
    assert done.returncode == 0
    text = done.stdout.decode()
    for name in cli.commands:
        assert re.search(rf"^  {name} +\w", text, re.MULTILINE), name
    assert b"Examples:" in program("derive", "--help", python=["-OO"]).stdout


def test_the_help_of_every_command_is_the_same_without_docstrings():
    code = (
        "import click; from dynamis.cli.commands import cli; top = click.Context(cli, info_name='dynamis')\n"
        "for name in sorted(cli.commands): print(cli.commands[name].get_help(click.Context(cli.commands[name], top, name)))"
    )
    full = output_of(code, COLUMNS="100")
    assert full.count("Usage: ") == len(cli.commands)
    assert output_of(code, "-OO", COLUMNS="100") == full


def test_help_says_why_a_description_is_missing(monkeypatch):
    monkeypatch.setattr(groups.inspect, "getsource", lambda _: (_ for _ in ()).throw(OSError("no source")))
    group = groups.SubjectGroup(subjects={})
    group.add_command(click.Command("bare", callback=lambda: None))
    assert "Python runs with -OO, which removes it" in group.commands["bare"].help


def test_warnings_among_notes_keep_their_mark(capsys):
    print_notes(["the log has no velocities", "warning: column 'q' is beyond the limits"])
    assert capsys.readouterr().out == "  note: the log has no velocities\n  warning: column 'q' is beyond the limits\n"

"""What holds for every command: the same options for the same things, exit statuses, help whose examples run."""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import click
import numpy as np
import pytest
from browsers import find_browser_or_skip
from click.testing import CliRunner
from real_logs import TX40, TX40_MAPPING, UR10, needs

import dynamis as dy
from dynamis.cli.commands import cli

COMMANDS = dict(sorted(cli.commands.items()))
SOURCE = Path(dy.__file__).parents[1]
# examples that would search or measure for long are told to do so less long
HASTE = {
    "dynamis excite": " --seconds 0.2 --restarts 1 --time 4", "dynamis bench": " --seconds 0.02", "dynamis report": " --seconds 0.3",
    "dynamis redundancy": " --cycles 1 --period 0.25", "dynamis workspace": " --samples 20000",
    "dynamis sweep study.toml -o": " --workers 2",
}  # fmt: skip
# what an example needs besides: the recordings of real arms, a browser
NEEDS = {
    "dynamis identify tx40.urdf": lambda folder: recording(
        TX40, folder, {"tx40_mdh_modified.urdf": "tx40.urdf", "pos_read_data.csv": None, "curr_data.csv": None}
    ),
    "dynamis identify ur10.urdf": lambda folder: recording(
        UR10, folder, {"ur10_robot.urdf": "ur10.urdf", "ur10_exciting_trajectory.db3": "bag.db3"}
    ),
    "dynamis report scara --sections": lambda _: find_browser_or_skip(),
    "dynamis collide": lambda _: pytest.importorskip("coal", reason="coal is not installed: pip install 'dynamis[collision]'"),
    "dynamis convert my_arm.urdf.xacro": lambda folder: (folder / "my_arm.urdf.xacro").write_text(XACRO),
    "xacro my_arm.urdf.xacro": lambda folder: (
        pytest.importorskip("xacro", reason="xacro is not installed: pip install xacro")
        and (folder / "my_arm.urdf.xacro").write_text(XACRO)
    ),
}
XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="prefix" default=""/>
  <link name="$(arg prefix)base"/>
  <link name="$(arg prefix)arm">
    <inertial><origin xyz="0 0 0.2"/><mass value="1"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.001"/></inertial>
  </link>
  <joint name="$(arg prefix)joint" type="revolute">
    <parent link="$(arg prefix)base"/><child link="$(arg prefix)arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
  </joint>
</robot>
"""
# what an example may end with, where that is not 0
ENDS_WITH = {
    "echo 'g_1 = ": (1,),  # an answer that is wrong, to show what is said
    "dynamis compare arm.urdf better.urdf": (1,),  # they differ
    "dynamis identify": (0, 1),  # a verdict, here on a robot without friction and hardly any noise
}


def examples(name):
    """The lines of a command's help that are meant to be typed; those that go on after a backslash are joined."""
    text = (COMMANDS[name].help or "").replace("\b", "")
    block = re.search(r"Examples?:\n(.*?)(?:\n\s*\n|\Z)", text, re.DOTALL)
    return [] if block is None else [line.strip() for line in re.sub(r"\\\n\s*", "", block[1]).splitlines() if line.strip()]


EXAMPLES = [(name, line) for name in COMMANDS for line in examples(name)]


def looked_up(table, line):
    return next((value for start, value in table.items() if line.startswith(start)), None)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The files that the examples name."""
    folder = tmp_path_factory.mktemp("prepared")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        ur5e = dy.load("ur5e")
        for name in ("my_arm.urdf", "my_ur5e.urdf", "arm.urdf"):
            ur5e.write(folder / name)
        ur5e.replace(payload=dy.solids.sphere(0.05, mass=0.2)).write(folder / "better.urdf")
        log(folder / "motion.csv", ur5e, 40, accelerations=True)
        log(folder / "run.csv", ur5e, 1500)
        log(folder / "train.npz", ur5e, 1500)
        log(folder / "other.npz", ur5e, 1500, seed=1)
        carrying = ur5e.replace(payload=dy.solids.sphere(0.05, mass=2.0))
        log(folder / "carrying.csv", carrying, 1500)
        log(folder / "empty.csv", ur5e, 1500)
        q = ur5e.random(0, size=40)
        names = [*(f"q{k + 1}" for k in range(6)), "x", "y", "z"]
        tracked = np.column_stack([q, ur5e.pose(q + 0.01)[:, :3, 3]])
        np.savetxt(folder / "poses.csv", tracked, delimiter=",", header=",".join(names), comments="")
        panda = dy.load("panda")
        log(folder / "carrying.npz", panda.replace(payload=dy.solids.sphere(0.05, mass=2.0)), 1500)
    form = dy.load("planar_2r").closed_form()
    (folder / "answer.tex").write_text("\n".join(f"M_{i + 1}{j + 1} = {form.M[i, j]}" for i in range(2) for j in range(2)))
    (folder / "energy.tex").write_text(ENERGY)
    (folder / "study.toml").write_text(STUDY)
    for name in ("tx40.urdf", "tx40.toml", "ur10.urdf", "bag.db3"):
        (folder / name).write_text("")
    return folder


ENERGY = "T_2 = 1/2 m_2 (a_1^2 q_1'^2 + l_2^2 (q_1' + q_2')^2 + 2 a_1 l_2 c_2 (q_1'^2 + q_1' q_2')) + 1/2 I_2 (q_1' + q_2')^2"
STUDY = 'robot = "planar_2r_melchiorri"\nduration = 0.1\npoints = 5\n[vary]\n"viscous.*" = { grid = [0, 30, 80] }\n'


def log(path, robot, count, seed=0, accelerations=False):
    """A smooth motion with its torques, as a robot would log it."""
    rng = np.random.default_rng(seed)
    t = np.arange(count) / 250.0
    w = 2.0 * np.pi * np.array([0.3, 0.7, 1.1])
    amplitude, phase = rng.uniform(0.2, 0.4, (3, robot.n)), rng.uniform(0.0, 6.0, (3, robot.n))
    angle = w[:, None, None] * t[:, None] + phase[:, None, :]
    middle = 0.5 * (robot.limits["lower"] + robot.limits["upper"])
    q = middle + (amplitude[:, None] * np.sin(angle)).sum(axis=0)
    v = (amplitude[:, None] * w[:, None, None] * np.cos(angle)).sum(axis=0)
    a = -(amplitude[:, None] * w[:, None, None] ** 2 * np.sin(angle)).sum(axis=0)
    tau = robot.inverse_dynamics(q, v, a) + 0.01 * rng.standard_normal((count, robot.n))
    if path.suffix == ".npz":
        np.savez(path, t=t, q=q, tau=tau)
        return
    signals = {"q": q, "v": v, "a": a, "tau": tau} if accelerations else {"q": q, "tau": tau}
    names = [f"{letter}{k + 1}" for letter in signals for k in range(robot.n)]
    np.savetxt(path, np.column_stack([t, *signals.values()]), delimiter=",", header=",".join(["t", *names]), comments="")


@pytest.fixture
def folder(prepared, tmp_path, monkeypatch):
    """A folder of its own with those files, to work in."""
    for file in prepared.iterdir():
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DYNAMIS_TIER", "quick")
    return tmp_path


def typed(line, folder):
    """Type a line: in this process where it is a plain command, else in a shell."""
    words = shlex.split(line)
    if words[0] == "dynamis" and not {"|", ">", ">>", "&&"} & set(words):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = CliRunner().invoke(cli, words[1:], prog_name="dynamis")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        # what goes on after 30 s is said on standard error
        return result.exit_code, result.stdout if "--json" in words else result.output
    if os.name == "nt" or any(shutil.which(tool) is None for tool in ("bash", *(["cc"] if words[0] == "cc" else []))):
        pytest.skip("needs a Unix shell and a C compiler")
    if words[0] == "cc":
        CliRunner().invoke(cli, shlex.split(examples("export")[0])[1:])
    (folder / "bin").mkdir(exist_ok=True)
    script = folder / "bin" / "dynamis"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from dynamis.cli import main; main()" "$@"\n')
    script.chmod(0o755)
    path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, cwd=folder, check=False)
    return done.returncode, done.stdout if "--json" in words else done.stdout + done.stderr


def hastened(line):
    """The line with the options of `HASTE` in place of its own values of these."""
    options = looked_up(HASTE, line) or ""
    for option in re.findall(r" (--\S+)", options):
        line = re.sub(rf" {option} \S+", "", line)
    return line + options


def recording(source, folder, names):
    """The files of a real arm's recording under the names an example has for them."""
    needs(source)
    for name, here in names.items():
        shutil.copy(source / name, folder / (here or name))
    (folder / "tx40.toml").write_text(TX40_MAPPING)


@contextlib.contextmanager
def scheduler(line):
    """The line with the address of a scheduler that there is, where it names one."""
    if "--scheduler" not in line:
        yield line
        return
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install distributed")
    with distributed.LocalCluster(1, processes=False, threads_per_worker=2, protocol="tcp", dashboard_address=None) as cluster:
        yield re.sub(r"tcp://\S+", cluster.scheduler_address, line)


@pytest.mark.usefixtures("panels_are_not_arranged")
@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
def test_every_example_of_the_help_runs(folder, line, monkeypatch):
    (looked_up(NEEDS, line) or (lambda _: None))(folder)
    opened = []
    monkeypatch.setattr("click.launch", opened.append)
    with scheduler(line) as there:
        code, output = typed(hastened(there), folder)
    assert bool(opened) == ("--open" in line)
    assert code in (looked_up(ENDS_WITH, line) or (0,)), output
    assert "Traceback" not in output
    words = shlex.split(line)
    if "--json" in words:
        assert isinstance(json.loads(output), dict)
    for option in ("--plot", "--out", "-o"):
        for k in range(len(words) - 1):
            if words[k] == option:
                assert (folder / words[k + 1]).exists(), f"{words[k + 1]} was not written"


# rules

WITHOUT_JSON: dict[str, str] = {}
WITHOUT_SET = {
    "identify": "looks for the values itself", "payload": "reads measured robots", "calibrate": "looks for the values itself",
}  # fmt: skip
SAME_EVERYWHERE = ("as_json", "settings", "floating")


def options(command):
    return [x for x in command.params if isinstance(x, click.Option)]


def option(command, name):
    return next((x for x in options(command) if name in x.opts), None)


def takes_a_robot(command):
    return any(isinstance(x, click.Argument) and x.name in ("robot", "first") for x in command.params)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_a_worked_example(name):
    command = COMMANDS[name]
    for flag in ("-h", "--help"):
        result = CliRunner().invoke(cli, [name, flag])
        assert result.exit_code == 0
        assert f"Usage: cli {name}" in result.output
    assert command.help
    assert examples(name), "no example in the help"
    assert any(f"dynamis {name}" in line for line in examples(name))
    assert all("…" not in line for line in examples(name)), "an example must be complete"
    for parameter in options(command):
        assert parameter.help, f"{parameter.opts} has no help"
        assert parameter.help.endswith((".", "…")), parameter.opts
    assert command.get_short_help_str(limit=200)


def test_the_same_options_are_called_and_described_alike():
    seen = {}
    for name, command in COMMANDS.items():
        for parameter in options(command):
            if parameter.name in SAME_EVERYWHERE:
                about = (
                    parameter.help.replace("both robots", "the robot")
                    .replace("bases move", "base moves")
                    .replace("base moves", "base move")
                )
                first = seen.setdefault(parameter.name, (name, parameter.opts, about))
                assert (parameter.opts, about) == first[1:], f"{name} differs from {first[0]}"


@pytest.mark.parametrize("name", COMMANDS)
def test_options_of_the_same_meaning_have_the_same_names(name):
    command = COMMANDS[name]
    assert (option(command, "--json") is None) == (name in WITHOUT_JSON)
    if takes_a_robot(command):
        assert (option(command, "--set") is None) == (name in WITHOUT_SET)
    out = option(command, "--out")
    assert option(command, "-o") is out  # a short name belongs to --out, and --out has it
    assert option(command, "--output") in (None, out)
    for flag in ("--plot", "--report"):
        if (found := option(command, flag)) is not None:
            assert isinstance(found.type, click.Path)
            assert found.metavar in ("FILE", "[FILE]")
    if (seconds := option(command, "--seconds")) is not None:
        assert isinstance(seconds.type, click.types.FloatParamType)
    for parameter in options(command):
        for word in (*parameter.opts, *parameter.secondary_opts):
            assert re.fullmatch(r"--[a-z][a-z0-9-]*|-[a-zA-Z]", word), word
    start = option(command, "--start")
    assert start is None or "--q0" in start.opts


MORE = {"convert": ["out.urdf"], "export": ["gravity"], "fmu": ["out.fmu"], "show": ["gravity"], "identify": ["run.csv"], "payload": ["run.csv"], "calibrate": ["poses.csv"],
        "stiffness": ["--springs", "1"], "ik": ["--position", "0,0,0"], "compare": ["ur5e"], "check-answer": ["--gravity", "-"]}  # fmt: skip
ROBOT_COMMANDS = [name for name, command in COMMANDS.items() if takes_a_robot(command)]


@pytest.mark.parametrize("name", ROBOT_COMMANDS)
def test_an_unknown_robot_ends_with_2_and_names_that_are_near(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, [name, "ur5ee", *MORE.get(name, [])])
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 2
    assert "'ur5e'" in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ROBOT_COMMANDS)
def test_an_interruption_ends_with_130(name, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dynamis.robot.load", interrupted)
    monkeypatch.setattr("dynamis.reports.report.Robot", interrupted, raising=False)
    result = CliRunner().invoke(cli, [name, "ur5e", *MORE.get(name, [])])
    assert result.exit_code == 130
    assert "interrupted" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_ends_with_2(name):
    assert CliRunner().invoke(cli, [name, "--no-such-option"]).exit_code == 2


def test_what_is_interrupted_while_it_is_written_leaves_nothing(tmp_path):
    from dynamis.cli.output_files import whole

    def half(path):
        path.write_text("half of")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        whole(tmp_path / "new.csv", half)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old.csv").write_text("as it was")
    with pytest.raises(KeyboardInterrupt):
        whole(tmp_path / "old.csv", half)
    assert (tmp_path / "old.csv").read_text() == "as it was"
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(dy.InputError, match=re.escape(f"{tmp_path / 'no' / 'x.csv'}")):
        whole(tmp_path / "no" / "x.csv", half)


def completions(*words):
    from click.shell_completion import ShellComplete

    *arguments, incomplete = words
    return {
        item.value: item.type for item in ShellComplete(cli, {}, "dynamis", "_X").get_completions(list(arguments), incomplete)
    }


def test_shells_complete_commands_robots_files_choices_and_words():
    assert set(completions("lin")) == {"linearize"}
    assert {"panda", "planar_2r"} <= set(completions("info", "p"))
    assert "file" in completions("info", "my_").values()  # then the shell looks for files itself
    assert {"ur5e"} <= set(completions("compare", "panda", "ur"))
    assert set(completions("control", "ur5e", "--law", "comp")) == {"computed-torque"}
    assert "inverse_dynamics_derivatives" in completions("export", "ur5e", "inverse")
    assert "gravity,mass_matrix" in completions("bench", "ur5e", "--functions", "gravity,ma")
    assert completions("derive", "planar_2r", "--letters", "ro") == {"rocco": "plain"}
    assert completions("simulate", "scara", "--plot", "x") == {"x": "file"}
    assert completions("completion", "") == {"bash": "plain", "zsh": "plain", "fish": "plain"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_this_program(shell):
    output = CliRunner().invoke(cli, ["completion", shell]).output
    assert "_DYNAMIS_COMPLETE" in output
    assert f"{shell}_complete" in output
    if shutil.which(shell) and shell != "fish":
        assert subprocess.run([shell, "-n"], input=output, text=True, capture_output=True, check=False).returncode == 0


def test_every_command_is_listed_once_with_a_sentence():
    output = CliRunner().invoke(cli, ["-h"]).output
    for name in COMMANDS:
        assert re.search(rf"^  {name} +\S", output, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["statics", "ur5e", "--wrench", "0,0,-50", "--wrench", "0,0,-20"], "'--wrench': it is given twice"),
        (["pose", "ur5e", "--degrees", "--radians"], "'--degrees': it is given twice"),
        (["derive", "scara", "-o", "a.tex", "--out", "b.tex", "--output", "c.tex"], "it is given 3 times"),
        (["id", "planar_2r", "--set", "m_1=1", "--set", "m_1=2"], "--set: 'm_1' is given twice"),
        (["identify", "ur5e", __file__, "--lock", "a=1", "--lock", "a=2"], "--lock: 'a' is given twice"),
    ],
)
def test_no_value_of_an_option_given_twice_is_dropped(arguments, words):
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_flags_may_be_given_twice():
    assert CliRunner().invoke(cli, ["pose", "ur5e", "--json", "--json"]).exit_code == 0

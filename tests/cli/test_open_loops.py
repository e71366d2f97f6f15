"""Commands that compute the tree of a robot whose file closes loops."""

import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("derive",), "which are open in these equations"),
        (("id",), "which are open in these torques: dynamis.constrained(robot).inverse_dynamics closes them"),
        (("fd",), "which are open in these accelerations"),
        (("export", "gravity"), "which are open in the function that is written"),
        (("bench", "--functions", "gravity", "--seconds", "0.01", "--batch", "8"), "which are open in the functions"),
        (("excite", "--seconds", "0.1"), "a motion of all joints of the tree would tear"),
    ],
    ids=lambda x: x[0] if isinstance(x, tuple) else "",
)
def test_commands_for_trees_say_that_the_loops_of_a_file_are_open(command, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dy.loops.five_bar().write("five.toml")
    result = CliRunner().invoke(cli, [command[0], "five.toml", *command[1:]])
    assert words in " ".join(result.output.split())

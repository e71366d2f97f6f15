"""The help of the commands of identification: its examples can be typed, and it names what is accepted."""

import shlex

import click
import pytest
from click.testing import CliRunner

from dynamis.cli.commands import cli
from dynamis.cli.excite import excite
from dynamis.cli.identify import identify
from dynamis.cli.payload import payload
from dynamis.identification.identify import ESTIMATORS


def test_the_choices_are_those_of_identify():
    option = next(parameter for parameter in identify.params if parameter.name == "estimator")
    assert option.type.choices == tuple(ESTIMATORS)


def examples(command):
    """The lines of its help that are commands, those that go on put together."""
    text = command.help.split("Examples:")[1].replace("\\\\\n", " ").replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip().startswith("dynamis ")]


@pytest.mark.parametrize("command", [identify, payload, excite], ids=lambda c: c.name)
def test_every_example_of_the_help_can_be_typed(command):
    lines = examples(command)
    assert len(lines) >= 2
    for line in lines:
        _, name, *arguments = shlex.split(line)
        assert name == command.name
        context = click.Context(command)
        command.make_parser(context).parse_args(arguments)  # complains of options that are not there
    shown = CliRunner().invoke(cli, [command.name, "--help"]).output
    assert all(line[:45] in shown for line in lines)


def test_the_help_names_every_format_of_logs():
    text = CliRunner().invoke(cli, ["identify", "--help"]).output
    for name in ("CSV", "NPZ", ".mat", "Parquet", "HDF5", "ROS 2 bag", "MCAP"):
        assert name in text

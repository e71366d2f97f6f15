"""dynamis redundancy: its tables, and what is said of the limits, which the laws do not know."""

import re
from types import SimpleNamespace

import numpy as np
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.cli.redundancy import _beyond


def test_the_joint_farthest_beyond_its_limits_is_named():
    robot = dy.load("panda")
    q, v = np.tile(robot.home(), (5, 1)), np.zeros((5, 7))
    assert _beyond(robot, SimpleNamespace(q=q, v=v)) == []
    v[3, 6], q[2, 3] = -60.0, 1.5  # joint 4 has the range -3.07 … -0.07
    velocity, position = _beyond(robot, SimpleNamespace(q=q, v=v))
    assert velocity.startswith("panda_joint7 reaches -60 rad/s, limits -2.6")
    assert position.startswith("panda_joint4 reaches 1.5 rad, limits -3.07")


def test_every_table_fits_80_columns_with_each_value_beside_its_unit_and_joint(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    q0, quick = "0,-0.5,0,-2,0,1.6,0.8", ["--cycles", "1", "--period", "0.2", "--seconds", "60"]
    shown = CliRunner().invoke(
        cli, ["redundancy", "panda", "--q0", q0, "--along", "yz", "--law", "acceleration-energy", *quick]
    )
    assert shown.exit_code == 0, shown.output
    assert all(len(line) <= 80 for line in shown.stdout.splitlines())
    assert sum(line.startswith("law ") for line in shown.stdout.splitlines()) == 3  # no table is continued below
    assert re.search(r"^acceleration-energy +\S+ N m +panda_joint\d ", shown.stdout, re.MULTILINE)

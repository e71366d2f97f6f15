"""A tool that the file lacks, and zeros of joints that would move it towards the file."""

from dataclasses import replace

import numpy as np
import pytest
from examined_logs import measured

import dynamis as dy
from dynamis.identification import prepare
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.logs.examine_torques import zero_finding
from dynamis.identification.logs.free_fit import FreeFit
from dynamis.identification.logs.motion_summary import summary

FILE = 10.0  # weight of the file's inertias
TOOL = dy.Inertia.about_com(2.0, (0.03, 0.02, 0.08), 0.0034 * np.eye(3))


def with_tool(name, com):
    """An arm whose file has a light eccentric last link, a log of one that is not exactly this and carries a tool."""
    arm = dy.load(name)
    link = dy.Inertia.about_com(0.6, com, 1e-3 * np.eye(3))
    file = arm.replace(inertias={arm.model.bodies[-1].name: link})
    log = measured(dy.control.perturbed(file, 0.2, seed=2).replace(payload=TOOL), 2)
    return file, base_parameters(LinearModel(file)), log


@pytest.mark.parametrize(
    ("name", "com"), [("panda", (0.0, 0.002, 0.03)), ("ur5e", (0.03, 0.0, 0.03)), ("kuka_iiwa14", (0.03, 0.0, 0.03))]
)
def test_an_unknown_tool_is_not_taken_for_the_zero_of_a_joint_that_turns_it_towards_the_file(name, com):
    file, base, log = with_tool(name, com)
    runs = prepare(log, file).samples
    assert FreeFit(base, FILE).zeros(summary(runs)[0]) is not None  # with the inertias of the file alone
    assert zero_finding(runs, base, FILE) is None


def test_a_zero_is_found_beside_an_unknown_tool():
    file, base, log = with_tool("ur5e", (0.0, 0.002, 0.03))
    off = prepare(replace(log, q=log.q + 0.3 * np.eye(6)[2]), file).samples
    found = zero_finding(off, base, FILE)
    assert found is not None
    assert found.zero[2] == pytest.approx(-0.3, abs=0.03)

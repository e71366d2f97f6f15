"""Torques from which a controller has taken those of a gravity compensation, computed with a file that is not exact."""

from dataclasses import replace

import numpy as np
import pytest
from campaign_params import few_of
from examined_logs import measured

import dynamis as dy
from dynamis import control

ARMS = ["ur5e", "panda", "xarm7", "kuka_iiwa14"]
LOAD = dy.Inertia.about_com(2.0, (0.02, -0.03, 0.06), 0.003 * np.eye(3))


def without_compensation(name, seed=1, load=None):
    """A log of an arm whose masses differ from those of the file by up to 20 %, less the gravity of the file."""
    file = dy.load(name)
    true = control.perturbed(file, 0.2, seed=seed)
    log = measured(true if load is None else true.replace(payload=load), seed)
    return file, replace(log, tau=log.tau - file.gravity(log.q))


@pytest.mark.parametrize("name", few_of(ARMS, ARMS[:2]))
@pytest.mark.parametrize("load", [None, LOAD], ids=["empty", "loaded"])
def test_a_compensation_computed_with_an_inexact_file_is_named_and_no_clock_is_accused(name, load):
    file, log = without_compensation(name, load=load)
    with pytest.raises(dy.InputError, match="seem to lack those of a gravity compensation computed with this file"):
        dy.identify(file, log, compare=())


def test_with_the_torques_of_the_file_added_as_the_message_says_the_log_is_good():
    file, log = without_compensation("ur5e")
    found = dy.identify(file, replace(log, tau=log.tau + file.gravity(log.q)), compare=())
    assert found.verdict.grade == "good"


@pytest.mark.parametrize("name", few_of(ARMS, ARMS[:1]))
def test_whole_torques_of_an_inexact_file_are_not_accused(name):
    file = dy.load(name)
    for load in (None, LOAD):
        true = control.perturbed(file, 0.2, seed=2)
        log = measured(true if load is None else true.replace(payload=load), 2)
        found = dy.identify(file, log, compare=())
        assert not [x for x in found.log_findings if x.code == "no gravity"]

"""The common ground with the oracles is there: a version that ships few of its robots would leave little compared."""

import warnings

import numpy as np
import pytest
from campaign_params import few_of
from real_robots import ROBOTS

import dynamis as dy
from dynamis.tolerances import RECURSION_ROUNDING


def test_most_real_robots_are_shipped(folder):
    shipped = [path for path, _, _ in ROBOTS if (folder / path).is_file()]
    assert len(shipped) >= len(ROBOTS) - 4


def test_the_weights_and_speeds_of_real_robots_are_plausible(folder):
    files = [*dy.library(), *(folder / path for path, _, _ in ROBOTS if (folder / path).is_file())]
    assert not [str(path) for path in files if any(p.code in ("mass-unit", "speed-unit") for p in dy.check(path))]


WALKING = [f"cassie_description/robots/{name}.sdf" for name in ("cassie_simple", "cassie_v2", "cassie")]


@pytest.mark.parametrize("path", few_of(WALKING, WALKING[:2]))
def test_the_loops_of_a_walking_robot_are_closed_in_the_configuration_of_its_file(folder, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        robot = dy.load(folder / path)
    assert {x.kind for x in robot.description.closures} <= {"point", "plane"}
    closures = dy.loops.closures(robot)
    assert len(closures) >= 4
    for closure in closures:
        h, _, _ = closure.rows(robot, robot.neutral(), np.zeros(robot.n))
        assert np.abs(h).max() < RECURSION_ROUNDING


def test_no_real_robot_is_denser_than_any_material(folder):
    files = [folder / path for path, _, _ in ROBOTS if (folder / path).is_file()]
    assert not [path.name for path in files if any(note.code == "inertia-small" for note in dy.check(path).notes)]

"""The common ground with the oracles is there: a version that ships few of its robots would leave little compared."""

from real_robots import ROBOTS

import dynamis as dy


def test_most_real_robots_are_shipped(folder):
    shipped = [path for path, _, _ in ROBOTS if (folder / path).is_file()]
    assert len(shipped) >= len(ROBOTS) - 4


def test_the_weights_of_real_robots_agree_with_their_effort_limits(folder):
    files = [folder / path for path, _, _ in ROBOTS if (folder / path).is_file()]
    assert not [path.name for path in files if any(p.code == "mass-unit" for p in dy.check(path))]

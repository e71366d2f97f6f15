"""The common ground with the oracles is there: a version that ships few of its robots would leave little compared."""

from real_robots import ROBOTS


def test_most_real_robots_are_shipped(folder):
    shipped = [path for path, _, _ in ROBOTS if (folder / path).is_file()]
    assert len(shipped) >= len(ROBOTS) - 4
